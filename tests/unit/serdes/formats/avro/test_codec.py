from __future__ import annotations

import datetime
import decimal
import json
import struct
import uuid
from typing import Any

import pytest

from registry import Schema, SchemaReference
from serdes.errors import SerializationError
from serdes.formats.avro.codec import Tags, decoder, encoder, load, load_texts


def schema(*fields: tuple[str, Any], **more: Any) -> str:
    made = [{"name": name, "type": kind} for name, kind in fields]
    return json.dumps({"type": "record", "name": "shop.Order", "fields": made, **more})


def logical(kind: str, name: str, **more: Any) -> str:
    return json.dumps({"type": kind, "logicalType": name, **more})


UTC = datetime.UTC
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}


@pytest.mark.parametrize(
    ("text", "value", "payload"),
    [
        ('"int"', -1, b"\x01"),
        ('"long"', 64, b"\x80\x01"),
        ('"string"', "é", b"\x04\xc3\xa9"),
        ('"boolean"', True, b"\x01"),
        ('"null"', None, b""),
        ('"double"', 1.5, struct.pack("<d", 1.5)),
        ('"float"', 1.5, struct.pack("<f", 1.5)),
        ('["null","int"]', 3, b"\x02\x06"),
        ('{"type":"array","items":"int"}', [1, 2], b"\x04\x02\x04\x00"),
        ('{"type":"map","values":"int"}', {"a": 1}, b"\x02\x02a\x02\x00"),
        ('{"type":"enum","name":"E","symbols":["A","B"]}', "B", b"\x02"),
        ('{"type":"fixed","name":"F","size":2}', b"ab", b"ab"),
        (schema(("a", "int"), ("b", "string")), {"a": 1, "b": "x"}, b"\x02\x02x"),
        (schema(("a", DECIMAL)), {"a": decimal.Decimal("-1.50")}, b"\x04\xff\x6a"),
        (logical("int", "date"), datetime.date(1970, 1, 3), b"\x04"),
        (logical("int", "time-millis"), datetime.time(0, 0, 0, 2000), b"\x04"),
        (logical("long", "time-micros"), datetime.time(0, 0, 0, 2), b"\x04"),
        (logical("long", "timestamp-millis"), datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), b"\xd0\x0f"),
        (logical("long", "timestamp-micros"), datetime.datetime(1970, 1, 1, 0, 0, 0, 3, tzinfo=UTC), b"\x06"),
        (logical("long", "local-timestamp-millis"), datetime.datetime(1970, 1, 1, 0, 0, 1), b"\xd0\x0f"),
        (logical("string", "uuid"), uuid.UUID(int=1), b"\x48" + str(uuid.UUID(int=1)).encode()),
    ],
)
def test_bytes_of_the_specification_and_back(text: str, value: Any, payload: bytes) -> None:
    made = load_texts(text)
    assert encoder(made)(value) == payload
    assert decoder(made)(payload) == value


def test_top_level_bytes_are_written_raw() -> None:
    made = load_texts('"bytes"')
    assert encoder(made, b"\x00\x00\x00\x00\x01")(b"\x02\x03\x04") == b"\x00\x00\x00\x00\x01\x02\x03\x04"
    assert decoder(made, skip=5)(b"\x00\x00\x00\x00\x01\x02\x03\x04") == b"\x02\x03\x04"
    with pytest.raises(SerializationError, match="str does not fit bytes"):
        encoder(made)("x")


def test_top_level_decimals_have_no_length_either() -> None:
    made = load_texts(json.dumps(DECIMAL))
    assert encoder(made, b"head")(decimal.Decimal("-1.50")) == b"head\xff\x6a"
    assert encoder(made)(b"\xff\x6a") == b"\xff\x6a"
    assert decoder(made, skip=4)(b"head\xff\x6a") == decimal.Decimal("-1.50")
    with pytest.raises(SerializationError, match=r"decimal\(5, 2\)"):
        encoder(made)("1.5")


def test_top_level_bytes_with_properties_are_written_raw() -> None:
    made = load_texts('{"type":"bytes","connect.name":"x"}')
    assert encoder(made)(b"abc") == b"abc"
    assert decoder(made)(b"abc") == b"abc"


def test_top_level_bytes_are_resolved_to_the_reader() -> None:
    made = load_texts('"bytes"')
    assert decoder(made, load_texts('"string"'), skip=1)(b"!ab") == "ab"
    assert decoder(load_texts(json.dumps(DECIMAL)), made)(b"ab") == b"ab"
    with pytest.raises(SerializationError, match="can't be resolved"):
        decoder(made, load_texts('"int"'))(b"ab")


def test_schemas_that_do_not_fit_say_where_and_what_would_help() -> None:
    written = load_texts(schema(("a", ["null", "string"]), ("b", "int")))
    payload = encoder(written)({"a": "x", "b": 1})
    with pytest.raises(SerializationError, match=r"/fields/0/type .* has no branch that reads string"):
        decoder(written, load_texts(schema(("a", ["null", "int"]))))(payload)
    with pytest.raises(SerializationError, match=r"field 'c' of shop\.Order has no default .* give it a default"):
        decoder(written, load_texts(schema(("c", "int"))))(payload)


def test_schemas_too_costly_to_compare_say_what_the_decoder_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.compat.avro.MAX_AVRO_PAIRS", 0)
    written = load_texts(schema(("a", "string")))
    with pytest.raises(SerializationError, match="can't be resolved to the reader's: No default value for field c"):
        decoder(written, load_texts(schema(("c", "int"))))(b"\x02x")


def test_prefix_and_skip() -> None:
    made = load_texts('"int"')
    assert encoder(made, b"head")(1) == b"head\x02"
    assert decoder(made, skip=4)(b"head\x02") == 1


def test_names() -> None:
    assert load_texts(schema()).name == "shop.Order"
    assert load_texts('"int"').name == "int"
    assert load_texts('["int"]').name is None


def test_reader_schema_resolution() -> None:
    writer = load_texts(schema(("a", "int"), ("gone", "string"), ("old", "int")))
    fields = [
        {"name": "a", "type": "double"},
        {"name": "new", "type": "string", "default": "d"},
        {"name": "renamed", "type": "long", "aliases": ["old"]},
    ]
    reader = load_texts(json.dumps({"type": "record", "name": "shop.Order", "fields": fields}))
    payload = encoder(writer)({"a": 1, "gone": "x", "old": 7})
    assert decoder(writer, reader)(payload) == {"a": 1.0, "new": "d", "renamed": 7}


def test_schemas_that_can_not_be_resolved() -> None:
    writer, reader = load_texts(schema(("a", "string"))), load_texts(schema(("a", "int")))
    with pytest.raises(SerializationError, match="can't be resolved"):
        decoder(writer, reader)(encoder(writer)({"a": "x"}))


def test_record_names_of_unions() -> None:
    branch = {"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]}
    made = load_texts(json.dumps([branch, {**branch, "name": "B"}]))
    payload = encoder(made)(("B", {"x": 1}))
    assert decoder(made)(payload) == {"x": 1}
    assert decoder(made, tags=Tags.NAMES)(payload) == ("B", {"x": 1})


def test_references_nested_and_diamond() -> None:
    d = Schema('{"type":"enum","name":"x.D","symbols":["A"]}')
    b = Schema(schema(("d", "x.D"), name="x.B"), references=[SchemaReference("x.D", "d", 1)])
    c = Schema(schema(("d", "x.D"), name="x.C"), references=[SchemaReference("x.D", "d", 1)])
    references = [SchemaReference("x.B", "b", 1), SchemaReference("x.C", "c", 1)]
    a = Schema(schema(("b", "x.B"), ("c", {"type": "array", "items": "x.C"}), name="x.A"), references=references)
    made = load(a, lambda reference: {"b": b, "c": c, "d": d}[reference.subject])
    value = {"b": {"d": "A"}, "c": [{"d": "A"}]}
    assert decoder(made)(encoder(made)(value)) == value


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (Schema("{"), "not JSON"),
        (Schema('{"type":"nope"}'), "undefined name"),
        (Schema("{}", "JSON"), "the schema is JSON, Avro is needed"),
        (Schema('"x.B"', references=[SchemaReference("x.B", "b", 1)]), "nothing resolves it"),
    ],
)
def test_bad_schemas(bad: Schema, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        load(bad)


@pytest.mark.parametrize(
    ("text", "payload", "reason"),
    [
        ('"string"', b"", "truncated"),
        ('"string"', b"\x06ab", "truncated"),
        ('"string"', b"\xfe\xff\xff\xff\x0fab", "truncated"),
        ('"string"', b"\x01", "truncated"),
        ('"string"', b"\x02\xff", "can't be decoded"),
        ('"long"', b"\xff" * 20, "can't be decoded|truncated"),
        ('"int"', b"\x02\x02", "1 bytes are left over"),
        ('["null","int"]', b"\x08\x00", "can't be decoded"),
        ('{"type":"enum","name":"E","symbols":["A"]}', b"\x08", "can't be decoded"),
        (logical("long", "timestamp-millis"), b"\xfe" + b"\xff" * 8 + b"\x01", "can't be decoded"),
        (logical("string", "uuid"), b"\x02x", "can't be decoded"),
    ],
)
def test_hostile_payloads(text: str, payload: bytes, reason: str) -> None:
    with pytest.raises(SerializationError, match=reason):
        decoder(load_texts(text))(payload)


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"id": 5}, "Order.id", "a value of type int does not fit string"),
        ({"id": "x"}, "Order.items", "missing and has no default"),
        ({"id": "x", "items": [{"price": 1}, {"price": "2"}]}, "Order.items[1].price", "str does not fit long"),
        ({"id": "x", "items": [{"price": 2**70}]}, "Order.items[0].price", "out of the range of long"),
        ({"id": "x", "items": [{}]}, "Order.items[0].price", "missing"),
        ({"id": "x", "items": {}}, "Order.items", "dict does not fit array"),
        ("text", "Order", "str does not fit record shop.Order"),
    ],
)
def test_encode_errors_name_the_first_offending_place(value: Any, path: str, reason: str) -> None:
    item = {"type": "record", "name": "Item", "fields": [{"name": "price", "type": "long"}]}
    made = load_texts(schema(("id", "string"), ("items", {"type": "array", "items": item})))
    with pytest.raises(SerializationError, match=reason) as caught:
        encoder(made)(value)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("value", "strict", "allow_default", "path"),
    [
        ({"a": 1, "b": 2}, True, False, None),
        ({"a": 1, "b": 2, "extra": 3}, True, False, "Order"),
        ({"a": 1}, True, False, "Order.b"),
        ({"a": 1, "b": 2, "-type": "Order"}, True, False, None),
        ({"a": 1}, False, True, None),
        ({"a": 1}, False, False, None),
        ({"b": 1}, False, True, "Order.a"),
    ],
)
def test_strict(value: Any, strict: bool, allow_default: bool, path: str | None) -> None:
    fields = [{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 5}]
    made = load_texts(json.dumps({"type": "record", "name": "Order", "fields": fields}))
    encode = encoder(made, strict=strict, allow_default=allow_default)
    if path is None:
        assert decoder(made)(encode(value)) == {"a": 1, "b": value.get("b", 5)}
        return
    with pytest.raises(SerializationError) as caught:
        encode(value)
    assert caught.value.path == path


def test_named_types_of_references_outside_of_records() -> None:
    used = Schema('{"type":"record","name":"x.B","fields":[{"name":"v","type":"int"}]}')
    references = [SchemaReference("x.B", "b", 1)]
    for text, value, payload in (
        ('{"type":"array","items":"x.B"}', [{"v": 1}], b"\x02\x02\x00"),
        ('["null","x.B"]', {"v": 1}, b"\x02\x02"),
        ('"x.B"', {"v": 1}, b"\x02"),
        ('{"type":"map","values":"x.B"}', {"k": {"v": 1}}, b"\x02\x02k\x02\x00"),
    ):
        made = load(Schema(text, references=references), lambda _: used)
        assert encoder(made)(value) == payload
        assert decoder(made)(payload) == value


@pytest.mark.parametrize("value", ["1.234", "12345", "-0.001"])
def test_decimals_are_never_rounded(value: str) -> None:
    made = load_texts(logical("bytes", "decimal", precision=4, scale=2))
    with pytest.raises(SerializationError, match=r"decimal\(4, 2\)"):
        encoder(made)(decimal.Decimal(value))
