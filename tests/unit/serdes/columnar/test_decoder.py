from __future__ import annotations

import dataclasses
import datetime
import json
import uuid
from typing import Any

import pyarrow as pa
import pytest

from registry import (
    ResponseError,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    TransportError,
)
from serdes.columnar import MAX_UNKNOWN_IDS, ColumnarDecoder, ColumnOptions, UnappliedRulesError
from serdes.errors import SerializationError
from serdes.formats.avro.codec import encoder, load_texts
from serdes.frames.framing import frame_prefix


def record(*fields: Any) -> Schema:
    made = [{"name": f[0], "type": f[1], **({"default": f[2]} if len(f) > 2 else {})} for f in fields]
    return Schema(json.dumps({"type": "record", "name": "shop.Order", "fields": made}))


V1 = record(("id", "string"), ("n", "int"))
V2 = record(("id", "string"), ("n", "long"), ("note", ["null", "string"], None))
SCHEMAS = {1: V1, 2: V2, 3: record(("id", "string"), ("n", "string")), 4: Schema("{}", "JSON")}


class Resolver:
    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, schema_id: int) -> Schema:
        self.asked.append(schema_id)
        if schema_id in SCHEMAS:
            return SCHEMAS[schema_id]
        raise ResponseError(404, 40403, f"Schema {schema_id} not found")


def frame(schema_id: int, value: Any) -> bytes:
    return encoder(load_texts(SCHEMAS[schema_id].schema_str), frame_prefix(schema_id))(value)


ONE, TWO = frame(1, {"id": "a", "n": 1}), frame(2, {"id": "b", "n": 2**40, "note": "hi"})


def test_several_ids_become_one_schema() -> None:
    resolve = Resolver()
    decoder = ColumnarDecoder(resolve, V2)
    assert decoder.arrow_type == pa.struct([("id", pa.string()), ("n", pa.int64()), ("note", pa.string())])
    for _ in range(2):
        result = decoder.decode(pa.array([TWO, ONE, None, ONE], pa.binary()))
        assert result.struct.to_pylist() == [
            {"id": "b", "n": 2**40, "note": "hi"},
            {"id": "a", "n": 1, "note": None},
            None,
            {"id": "a", "n": 1, "note": None},
        ]
        assert result.errors.to_pylist() == [None] * 4
    assert sorted(resolve.asked) == [1, 2]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (b"", "empty"),
        (b"\x00\x00", "has 2 bytes"),
        (b"\x09abcdef", "magic byte 9"),
        (frame_prefix(99) + b"x", "schema id 99: Schema 99 not found"),
        (frame_prefix(4) + b"x", "schema id 4: the schema is JSON"),
        (ONE[:-1], "schema id 1, at .*truncated"),
        (ONE + b"x", "schema id 1, at .* 1 bytes are left over"),
        (frame(3, {"id": "a", "n": "x"}), "schema id 3, at .*can't be resolved"),
    ],
)
def test_bad_rows_are_null_with_their_error_and_spoil_no_others(bad: bytes, text: str) -> None:
    result = ColumnarDecoder(Resolver(), V2).decode(pa.array([ONE, bad, TWO], pa.binary()))
    assert [row and row["id"] for row in result.struct.to_pylist()] == ["a", None, "b"]
    errors = result.errors.to_pylist()
    assert (errors[0], errors[2]) == (None, None)
    assert pa.compute.match_substring_regex(result.errors, text).to_pylist()[1] is True


def test_a_registry_that_is_away_is_no_rows_fault() -> None:
    def away(schema_id: int) -> Schema:
        raise TransportError(-1, -1, "no answer")

    with pytest.raises(TransportError):
        ColumnarDecoder(away, V2).decode(pa.array([ONE], pa.binary()))


def test_a_value_without_place_in_its_column_is_an_error_of_its_row() -> None:
    schema = record(("d", {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 2}))
    # 4 bytes hold more than the 2 digits the schema promises: as an object it is read, Arrow refuses it
    frames = [frame_prefix(1) + b"\x00\x00\x00\x05", frame_prefix(1) + b"\x7f\xff\xff\xff"]
    result = ColumnarDecoder(lambda _: schema, schema).decode(pa.array(frames, pa.binary()))
    assert str(result.struct.to_pylist()[0]["d"]) == "5"
    assert result.struct.to_pylist()[1] is None
    assert "does not fit its column" in result.errors.to_pylist()[1]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_kinds_of_binary_arrays(kind: pa.DataType) -> None:
    result = ColumnarDecoder(Resolver(), V2).decode(pa.array([ONE, None], kind))
    assert [row is None for row in result.struct.to_pylist()] == [False, True]


def test_other_arrays() -> None:
    decoder = ColumnarDecoder(Resolver(), V2)
    assert decoder.decode(pa.array([ONE], pa.binary(len(ONE)))).errors.null_count == 1
    assert decoder.decode(pa.chunked_array([pa.array([ONE]), pa.array([TWO])])).struct.to_pylist()[1]["id"] == "b"
    assert decoder.decode(pa.array([None, None])).struct.null_count == 2
    assert len(decoder.decode(pa.array([], pa.binary())).struct) == 0
    with pytest.raises(TypeError, match="binary array, not string"):
        decoder.decode(pa.array(["x"]))


def test_slices_of_arrays() -> None:
    whole = pa.array([b"garbage", ONE, TWO], pa.binary())
    result = ColumnarDecoder(Resolver(), V2).decode(whole[1:])
    assert [row["id"] for row in result.struct.to_pylist()] == ["a", "b"]


def test_only_records_can_be_columns() -> None:
    with pytest.raises(SerializationError, match="need a record schema, not int"):
        ColumnarDecoder(Resolver(), Schema('"int"'))


def test_references_on_both_sides() -> None:
    used = Schema('{"type":"enum","name":"x.E","symbols":["A"]}')
    using = Schema(record(("e", "x.E")).schema_str, references=[SchemaReference("x.E", "e", 1)])
    decoder = ColumnarDecoder(lambda _: using, using, lambda _: used)
    result = decoder.decode(pa.array([frame_prefix(1) + b"\x00"], pa.binary()))
    assert result.struct.to_pylist() == [{"e": "A"}]


def test_unions_are_structs_of_members() -> None:
    inner = {"type": "record", "name": "In", "fields": [{"name": "v", "type": "int"}]}
    schema = record(("u", ["null", "string", inner]))
    encode = encoder(load_texts(schema.schema_str), frame_prefix(1))
    frames = [encode({"u": value}) for value in ("x", {"v": 1}, None)]
    result = ColumnarDecoder(lambda _: schema, schema).decode(pa.array(frames, pa.binary()))
    assert [row["u"] for row in result.struct.to_pylist()] == [
        {"member0": "x", "member1": None},
        {"member0": None, "member1": {"v": 1}},
        None,
    ]


def test_timestamps_stay_exact() -> None:
    schema = record(("at", {"type": "long", "logicalType": "timestamp-millis"}))
    at = datetime.datetime(2013, 1, 1, 10, 0, 0, 123000, tzinfo=datetime.UTC)
    encode = encoder(load_texts(schema.schema_str), frame_prefix(1))
    result = ColumnarDecoder(lambda _: schema, schema).decode(pa.array([encode({"at": at})], pa.binary()))
    assert result.struct.field("at").cast(pa.int64()).to_pylist() == [int(at.timestamp() * 1000)]


@pytest.mark.parametrize(
    "error",
    [
        ResponseError(404, 404, "HTTP 404"),
        ResponseError(401, 40101, "Unauthorized"),
        ResponseError(403, 403, "HTTP 403: <html>"),
        ResponseError(200, -1, "the answer is not JSON"),
        ResponseError(503, 503, "busy"),
    ],
    ids=str,
)
def test_registry_errors_other_than_an_unknown_id_are_no_fault_of_a_row(error: ResponseError) -> None:
    def resolve(schema_id: int) -> Schema:
        raise error

    with pytest.raises(ResponseError) as caught:
        ColumnarDecoder(resolve, V2).decode(pa.array([ONE], pa.binary()))
    assert caught.value is error


def test_junk_costs_a_bounded_number_of_look_ups_and_takes_no_row_from_a_schema_in_use() -> None:
    resolve = Resolver()
    decoder = ColumnarDecoder(resolve, V2)
    decoder.decode(pa.array([TWO], pa.binary()))
    junk = [frame_prefix(100_000 + number) for number in range(2 * MAX_UNKNOWN_IDS)]
    result = decoder.decode(pa.array([*junk, ONE, ONE, TWO], pa.binary()))
    assert [row and row["id"] for row in result.struct.to_pylist()[-3:]] == ["a", "a", "b"]
    assert len(resolve.asked) == 2 + MAX_UNKNOWN_IDS
    texts = result.errors.to_pylist()
    assert sum("not found" in (text or "") for text in texts) == MAX_UNKNOWN_IDS
    assert sum("not looked up, for 1000 schema ids" in (text or "") for text in texts) == MAX_UNKNOWN_IDS
    assert texts[-3:] == [None] * 3


def test_columns_of_fixed_types_are_bytes() -> None:
    some = uuid.UUID(int=5)
    kinds = [
        ("u", {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}),
        ("d", {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}),
    ]
    schema = record(*kinds)
    encode = encoder(load_texts(schema.schema_str), frame_prefix(1))
    frames = [encode({"u": some, "d": (1, 2, 3)})]
    (row,) = ColumnarDecoder(lambda _: schema, schema).decode(pa.array(frames, pa.binary())).struct.to_pylist()
    assert row == {"u": some.bytes, "d": b"\x01\0\0\0\x02\0\0\0\x03\0\0\0"}


def test_defaults_in_columns_are_values() -> None:
    inner = {"type": "record", "name": "In", "fields": [{"name": "v", "type": "int", "default": 3}]}
    fields = [("b", "bytes", "\xff"), ("r", inner, {}), ("u", ["string", "int"], "x")]
    reader = Schema(
        json.dumps(
            {"type": "record", "name": "R", "fields": [{"name": n, "type": t, "default": d} for n, t, d in fields]}
        )
    )
    result = ColumnarDecoder(lambda _: record(), reader).decode(pa.array([frame_prefix(1)], pa.binary()))
    assert result.struct.to_pylist() == [{"b": b"\xff", "r": {"v": 3}, "u": {"member0": "x", "member1": None}}]


# --- rules: columns are decoded without, so that is said instead of ciphertext and values of old versions


def ruled(*domain: Rule, migration: tuple[Rule, ...] = (), encoding: tuple[Rule, ...] = ()) -> Schema:
    rules = RuleSet(migration_rules=list(migration), domain_rules=list(domain), encoding_rules=list(encoding))
    return Schema(V1.schema_str, rule_set=rules)


ENCRYPT = Rule("encrypt pii", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"])
UPGRADE = Rule("to v2", kind=RuleKind.TRANSFORM, mode=RuleMode.UPGRADE, type="JSONATA", expr="$")
CHECK = Rule("checked", kind=RuleKind.CONDITION, mode=RuleMode.READ, type="CEL", expr="true")
PAYLOAD = Rule("whole", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITE, type="ENCRYPT_PAYLOAD")
ON_WRITE = Rule("on write", kind=RuleKind.CONDITION, mode=RuleMode.WRITE, type="CEL", expr="true")


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (ruled(ON_WRITE, ENCRYPT), "encrypt pii"),
        (ruled(CHECK), "checked"),
        (ruled(migration=(UPGRADE,)), "to v2"),
        (ruled(encoding=(PAYLOAD,)), "whole"),
    ],
)
def test_a_schema_with_rules_is_refused_wherever_it_comes_from(schema: Schema, name: str) -> None:
    with pytest.raises(UnappliedRulesError, match=f"rules \\('{name}'\\)"):
        ColumnarDecoder(Resolver(), schema)
    later = ColumnarDecoder(lambda schema_id: schema if schema_id == 9 else V1, V1)
    assert later.decode(pa.array([ONE])).errors.to_pylist() == [None]
    with pytest.raises(UnappliedRulesError, match=f"'{name}'.*the deserializer of their format") as caught:
        later.decode(pa.array([ONE, frame_prefix(9) + ONE[5:]]))
    assert caught.value.schema_id == 9


@pytest.mark.parametrize("schema", [ruled(), ruled(ON_WRITE), ruled(dataclasses.replace(ENCRYPT, disabled=True))])
def test_rules_that_do_not_run_when_values_are_read_are_no_trouble(schema: Schema) -> None:
    decoder = ColumnarDecoder(lambda schema_id: schema, schema)
    assert decoder.decode(pa.array([ONE])).struct.to_pylist() == [{"id": "a", "n": 1}]


@pytest.mark.parametrize(
    "schema",
    [
        record(
            ("id", "string"), ("a", {"type": "record", "name": "A", "fields": [{"name": "city", "type": "string"}]})
        ),
        Schema('syntax = "proto3"; message M { int64 id = 1; A a = 2; } message A { string city = 1; }', "PROTOBUF"),
        Schema(
            '{"type": "object", "additionalProperties": false, "properties": {"id": {"type": "integer"}, "a": {"type":'
            ' "object", "additionalProperties": false, "properties": {"city": {"type": "string"}}}}}',
            "JSON",
        ),
    ],
    ids=["AVRO", "PROTOBUF", "JSON"],
)
@pytest.mark.parametrize("columns", [("id", "id.x"), ("a.nope", "a"), ("a", "id", "a.city.x"), ("a.nope",)])
def test_every_path_is_looked_up_also_below_one_that_is_taken_whole(schema: Schema, columns: tuple[str, ...]) -> None:
    for options in ({"columns": columns}, {"options": ColumnOptions(columns=columns)}):
        with pytest.raises(SerializationError, match=r"x|nope"):
            ColumnarDecoder(lambda _: schema, schema, **options)  # type: ignore[arg-type]
    whole = ColumnarDecoder(lambda _: schema, schema, columns=("a", "a.city")).arrow_type
    assert [field.name for field in whole] == ["a"]
