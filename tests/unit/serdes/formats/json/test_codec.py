from __future__ import annotations

import collections
import datetime
import enum
import json
import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from registry import Schema, SchemaReference
from serdes import SerializationError
from serdes.engine.drivers import drive
from serdes.formats.json.codec import JsonSchema, decoder, dumps, encoder, load, loads, resolver_of
from serdes.formats.json.format import JsonFormat
from serdes.options import WriteOptions


def schema(**document: Any) -> JsonSchema:
    return load(Schema(json.dumps(document), "JSON"))


def refused(parsed: JsonSchema, value: Any) -> SerializationError:
    with pytest.raises(SerializationError) as caught:
        parsed.check(value)
    return caught.value


ORDER = {
    "title": "shop.Order",
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}},
        },
        "kind": {"enum": ["a", "b"]},
        "never": False,
    },
}


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"id": 5}, "id", "an integer where string is needed"),
        ({}, "", "'id' is a required property"),
        ({"id": "x", "items": [{}, {"price": "1"}]}, "items[1].price", "a string where number is needed"),
        ({"id": "x", "items": [{"price": -1.5}]}, "items[0].price", "a number that breaks 'minimum': 0"),
        ({"id": "x", "more": 1}, "", "it has properties that the schema does not allow: 'more'"),
        ({"id": "x", "kind": "c"}, "kind", 'a string that breaks \'enum\': ["a", "b"]'),
        ({"id": "x", "never": 1}, "never", "the schema allows no value here"),
        ([], "", "an array where object is needed"),
        (True, "", "a boolean where object is needed"),
        ({"id": object()}, "id", "not a JSON value: a value of type object"),
        ({"id": None}, "id", "null where string is needed"),
    ],
)
def test_errors_say_where_and_what_but_no_values(value: Any, path: str, reason: str) -> None:
    error = refused(schema(**ORDER), value)
    assert (error.path, error.reason) == (path, reason)


def test_valid_values_pass() -> None:
    parsed = schema(**ORDER)
    parsed.check({"id": "x", "items": [{"price": 2**70}]})
    assert parsed.name == "shop.Order"
    assert resolver_of(parsed).lookup("#").contents == parsed.document


@pytest.mark.parametrize(
    ("draft", "rule", "value"),
    [
        ("http://json-schema.org/draft-04/schema#", {"maximum": 5, "exclusiveMaximum": True}, 5),
        ("http://json-schema.org/draft-06/schema#", {"exclusiveMaximum": 5}, 5),
        ("http://json-schema.org/draft-07/schema#", {"if": {"type": "string"}, "then": {"minLength": 2}}, "x"),
        ("https://json-schema.org/draft/2019-09/schema", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "string"}]}, [5]),
    ],
)
def test_every_draft_has_its_own_rules(draft: str, rule: dict[str, Any], value: Any) -> None:
    refused(schema(**{"$schema": draft, **rule}), value)


def test_draft_7_without_a_word() -> None:
    schema(prefixItems=[{"type": "string"}]).check([5])
    refused(schema(**{"if": {"type": "string"}, "then": {"minLength": 2}}), "x")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2026-01-02T03:04:05.678+01:00", "2026-13-02T03:04:05Z"),
        ("date-time", "2026-01-02t03:04:05z", "2026-01-02 03:04:05"),
        ("date", "2026-01-02", "2026-02-30"),
        ("time", "03:04:05Z", "25:04:05Z"),
        ("email", "a@b.example", "ab"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://a.example/b", "a b"),
        ("hostname", "a-b.example", "-a"),
        ("json-pointer", "/a/~0", "a/~2"),
    ],
)
def test_formats_are_checked(name: str, good: str, bad: str) -> None:
    parsed = schema(format=name)
    parsed.check(good)
    parsed.check(5)
    refused(parsed, bad)


def test_references_are_found_among_the_schemas_at_hand() -> None:
    main = Schema('{"properties":{"a":{"$ref":"part.json#/definitions/n"},"b":{"$ref":"#/properties/a"}}}', "JSON")
    part = Schema('{"definitions":{"n":{"$ref":"leaf.json"}}}', "JSON")
    leaf = Schema('{"type":"integer"}', "JSON")
    references = [(SchemaReference("leaf.json", "l", 1), leaf), (SchemaReference("part.json", "p", 1), part)]
    parsed = load(main, references)
    parsed.check({"a": 1, "b": 2})
    assert refused(parsed, {"b": "x"}).path == "b"


def test_nothing_is_fetched() -> None:
    document = {"properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}, "y": {"$ref": "#/definitions/no"}}}
    with pytest.raises(SerializationError, match=r"refers to a name without a reference: .*127\.0\.0\.1:9"):
        schema(**document)
    del document["properties"]["x"]
    with pytest.raises(SerializationError, match=r"refers to a name without a reference: .*/definitions/no"):
        schema(**document)
    load(Schema(json.dumps(document), "JSON"), checked=False).check({"y": 5})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "an object or a boolean, not list"),
        ('{"properties": {"x": {"type": "text"}}}', r"is not valid at \$\.properties\.x\.type: "),
        ('{"$schema":"http://json-schema.org/draft-04/schema#","required":[]}', "is not valid"),
    ],
)
def test_bad_schemas(text: str, reason: str) -> None:
    with pytest.raises(SerializationError, match=reason):
        load(Schema(text, "JSON"))


def test_a_boolean_is_a_schema() -> None:
    load(Schema("true", "JSON")).check(5)
    assert refused(load(Schema("false", "JSON")), 5).reason == "the schema allows no value here"


def test_bytes() -> None:
    assert dumps({"ä": [1, 0.1, None, True], "b": "€"}) == '{"ä":[1,0.1,null,true],"b":"€"}'.encode()
    assert dumps(2**70) == str(2**70).encode()
    assert loads(b' {"a": [1, "\\u00e4"]} ') == {"a": [1, "ä"]}
    for bad, text in ((object(), "not a JSON value"), ({(1, 2): 1}, "not a JSON value")):
        with pytest.raises(SerializationError, match=text):
            dumps(bad)
    for data, text in (
        (b"{", "is not JSON"),
        (b'"\xff"', "not UTF-8|is not JSON"),
        (b"NaN", "NaN is not JSON"),
        (b"1e400", "too large"),
    ):
        with pytest.raises(SerializationError, match=text):
            loads(data)


def test_depth_is_an_error() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SerializationError, match="deeper than 250 levels"):
        dumps(deep)
    with pytest.raises(SerializationError, match="nested too deeply"):
        loads(b"[" * 100_000 + b"]" * 100_000)
    recursive = schema(type="array", items={"$ref": "#"})
    with pytest.raises(SerializationError, match="deeper than 250 levels"):
        recursive.check(deep)
    for depth, good in ((1, True), (250, True), (251, False), (900, False)):
        payload = b"[" * depth + b"]" * depth
        for validate in (True, False):
            decode, encode = decoder(recursive, 0, validate), encoder(recursive, b"", validate)
            if good:
                assert encode(decode(payload)) == payload
            else:
                with pytest.raises(SerializationError, match="deeper than 250 levels"):
                    decode(payload)
                value: Any = []
                for _ in range(depth - 1):
                    value = [value]
                with pytest.raises(SerializationError, match="deeper than 250 levels"):
                    encode(value)


def test_own_encoders_and_no_check() -> None:
    parsed = schema(type="integer")
    assert encoder(parsed, b"!", True, lambda value: f"<{value}>")(5) == b"!<5>"
    assert encoder(parsed, b"", False, lambda value: b"x")("no integer") == b"x"
    assert decoder(parsed, 1, False, lambda data: data.decode())(b"!x") == "x"
    assert decoder(None, 0, True)(b"[]") == []
    with pytest.raises(SerializationError, match="where integer is needed"):
        decoder(parsed, 0, True)(b'"x"')


def test_patterns_of_ecma_262_that_python_does_not_know() -> None:
    parsed = schema(pattern=r"^\p{L}+$")
    parsed.check("é")
    assert refused(parsed, "SECRET 1").reason == "a string that breaks 'pattern': \"^\\\\p{L}+$\""
    with pytest.raises(SerializationError, match="is not valid"):
        schema(pattern="(")


def test_numbers_are_exact() -> None:
    parsed = schema(multipleOf=0.1)
    parsed.check(0.3)
    schema(multipleOf=0.5).check(10**400)
    schema(maximum=2**64).check(2**64)
    refused(schema(maximum=2**64), 2**64 + 1)
    refused(schema(const=2**53 + 1), 2**53)
    schema(type="integer").check(1.0)
    refused(schema(type="integer"), 1.5)
    refused(schema(type="integer"), True)


@pytest.mark.parametrize(
    "value",
    [2**63, 2**64, -(2**63) - 1, 10**400, [2**70, 0.5, -0.0, 1e300, 1.0, 1e-320, -1e25], {"a": [{"b": 2**64 + 1}]}],
)
def test_numbers_come_out_as_they_went_in(value: Any) -> None:
    back = loads(dumps(value))
    assert repr(back) == repr(value)
    assert repr(decoder(schema(), 0, True)(encoder(schema(), b"", True)(value))) == repr(value)


class Color(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 5


class Plain(enum.Enum):
    X = "x"


class Text(str):
    __slots__ = ()


class Pair(NamedTuple):
    a: int
    b: str


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"x": [1, float("nan")]}, "x[1]", "no NaN and no infinities"),
        (float("inf"), None, "no NaN and no infinities"),
        ({"x": {"y": uuid.UUID(int=5)}}, "x.y", "type UUID"),
        ({"x": Plain.X}, "x", "type Plain"),
        ({"x": datetime.datetime(2020, 1, 1)}, "x", "type datetime"),
        ({"x": Decimal("1.10")}, "x", "type Decimal"),
        ({"x": {1, 2}}, "x", "type set"),
        ({"x": b"SECRET"}, "x", "type bytes"),
        ({"x": {1: "SECRET"}}, "x", "names of properties are str, not int"),
        ({"x": {None: 1}}, "x", "not NoneType"),
        ({"x": {True: 1}}, "x", "not bool"),
        ({"x": "SECRET\ud800"}, None, "half of a surrogate pair"),
        ({"x\udfff": 1}, None, "half of a surrogate pair"),
    ],
)
def test_values_without_a_json_form_are_refused_with_their_path(
    value: Any, path: str, reason: str, checked: bool
) -> None:
    with pytest.raises(SerializationError, match=reason) as caught:
        encoder(schema(), b"", checked)(value)
    assert caught.value.path == path
    assert "SECRET" not in str(caught.value)


def test_subclasses_count_as_what_they_derive_from() -> None:
    value = {Text("k"): [Color.RED, Size.BIG, Text("t"), Pair(1, "b"), (2,), collections.OrderedDict(a=1.5)]}
    assert encoder(schema(), b"", True)(value) == b'{"k":["red",5,"t",[1,"b"],[2],{"a":1.5}]}'
    schema(properties={"k": {"type": "array"}}, required=["k"]).check(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'"SECRET\\ud800"', "UTF-8"),
        (b"[1, Infinity]", "Infinity is not JSON"),
        (b"[-1e999]", "a number is too large"),
        (b"[1" + b"0" * 5000 + b"]", "an integer of 5,001 digits, more than Python converts"),
        (b'{"SECRET": 1', "at character 12"),
        (b"", "at character 0"),
        (b"\xff\xfe\xfd", "not UTF-8|not JSON"),
    ],
)
def test_payloads_that_are_no_json(data: bytes, reason: str) -> None:
    with pytest.raises(SerializationError, match=reason) as caught:
        loads(data)
    assert "SECRET" not in str(caught.value)


def test_a_byte_order_mark_is_passed_over_as_before() -> None:
    assert loads(b"\xef\xbb\xbf[1]") == [1]


# ---- the format


INTEGER, STRING = Schema('{"title":"N","type":"integer"}', "JSON"), Schema('{"type":"string"}', "JSON")


def test_the_readers_schema_counts() -> None:
    form = JsonFormat()
    writer, reader = form.parse(INTEGER, []), form.parse(STRING, [])
    assert (form.name(writer), form.name(reader), form.indexes(writer)) == ("N", None, None)
    assert form.decoder(writer, None, 1, None)(b"!5") == 5
    with pytest.raises(SerializationError, match="an integer where string"):
        form.decoder(writer, reader, 1, None)(b"!5")
    with pytest.raises(SerializationError, match="a string where integer"):
        form.encoder(writer, b"")("x")
    assert JsonFormat(validate=False).encoder(writer, b"!")("x") == b'!"x"'
    assert drive(None, form.complete(INTEGER, None, WriteOptions())) is INTEGER
