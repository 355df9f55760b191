from __future__ import annotations

import dataclasses
import datetime
import decimal
import io
import json
import uuid
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from benchmarks.serdes import ORDER, text_of
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaReference
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, UnappliedRulesError, avro_schema_of, json_schema_of
from serdes.columnar.avro.encode import AvroFrames
from serdes.columnar.avro.writing import plan_of, verify
from serdes.errors import SerializationError
from serdes.formats.avro.codec import encoder, load_texts
from serdes.kernels.avro_frames import native_program

ORDERS = Schema(text_of("order.avsc"))
FINER = "at a: the value is finer than {}: digits would be lost"
TWO_INTS = [pa.field("x", pa.int32()), pa.field("y", pa.int32())]
FIXED = {"type": "fixed", "name": "F", "size": 2}
LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}
ROWS = [{**ORDER, "customer_id": at, "coupon": None if at % 2 else "X"} for at in range(5)]


def order_type() -> Any:
    return ColumnarDecoder(lambda schema_id: ORDERS, ORDERS).arrow_type


def record(*fields: Any) -> str:
    return json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in fields]}
    )


def errors(schema: str, struct: Any, **options: Any) -> list[str | None]:
    return ColumnarEncoder(Schema(schema), 7, **options).encode(struct).errors.to_pylist()


def column(values: list[Any], kind: pa.DataType) -> Any:
    return pa.StructArray.from_arrays([pa.array(values, kind)], ["a"])


def test_orders_are_written_as_objects_are_and_read_back() -> None:
    struct = pa.array([*ROWS, None], order_type())
    made = ColumnarEncoder(ORDERS, 7).encode(struct)
    write = encoder(load_texts(ORDERS.schema_str), b"\0\0\0\0\7")
    assert made.frames.to_pylist() == [*map(write, ROWS), None]
    assert made.errors.null_count == 6
    parsed = fastavro.parse_schema(json.loads(ORDERS.schema_str))
    found = [fastavro.schemaless_reader(io.BytesIO(frame[5:]), parsed, None) for frame in made.frames.to_pylist()[:-1]]
    assert found == ROWS
    decoder = ColumnarDecoder(lambda schema_id: ORDERS, ORDERS)
    assert decoder.decode(made.frames).struct.equals(struct)


def test_without_an_id_payloads_have_no_prefix() -> None:
    struct = pa.array(ROWS[:1], order_type())
    assert ColumnarEncoder(ORDERS).encode(struct).frames[0].as_py() == encoder(load_texts(ORDERS.schema_str))(ROWS[0])


def test_batches_tables_and_chunks_are_rows() -> None:
    struct = pa.array(ROWS, order_type())
    batch = pa.RecordBatch.from_struct_array(struct)
    made = ColumnarEncoder(ORDERS, 7)
    frames = made.encode(struct).frames
    for rows in (batch, pa.Table.from_batches([batch]), pa.chunked_array([struct[:2], struct[2:]])):
        assert made.encode(rows).frames.equals(frames)
    assert len(made.encode(pa.chunked_array([], order_type())).frames) == 0
    with pytest.raises(TypeError, match="struct array, not int64"):
        made.encode(pa.array([1]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("avro", "kind", "values", "wrong"),
    [
        (
            "int",
            pa.int64(),
            [1, 2**31, None],
            [None, "at a: the value is out of the range of int", "at a: null does not fit int"],
        ),
        ("long", pa.uint64(), [2**63 - 1, 2**63], [None, "at a: the value is out of the range of long"]),
        ("float", pa.float64(), [0.1, 1e39], [None, "at a: the value is out of the range of float"]),
        ("double", pa.int64(), [2**53, 2**53 + 1], [None, "at a: the whole number can't be written exactly as double"]),
        (
            {"type": "enum", "name": "E", "symbols": ["A", "B"]},
            pa.dictionary(pa.int8(), pa.string()),
            ["B", "C"],
            [None, "at a: the text is no symbol of enum E"],
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1},
            pa.decimal128(6, 2),
            [decimal.Decimal("99.90"), decimal.Decimal("0.01"), decimal.Decimal("100.00")],
            [None, FINER.format("decimal(3, 1)"), "at a: the value is out of the range of decimal(3, 1)"],
        ),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            pa.timestamp("us", "UTC"),
            [1000, 1001],
            [None, FINER.format("long (timestamp-millis)")],
        ),
        (FIXED, pa.binary(), [b"ab", b"a"], [None, "at a: the value has another number of bytes than fixed F"]),
        (
            {"type": "string", "logicalType": "uuid"},
            pa.string(),
            [str(uuid.UUID(int=1)), "x"],
            [None, "at a: the text is no UUID (8-4-4-4-12 hexadecimal digits)"],
        ),
        (
            {"type": "array", "items": "int"},
            pa.list_(pa.int32()),
            [[1], [1, None]],
            [None, "at a[1]: null does not fit int"],
        ),
        (
            {"type": "map", "values": "int"},
            pa.map_(pa.string(), pa.int32()),
            [[("k", 1)], [("k", 1), ("k", 2)]],
            [None, "at a[entry 1]: the map has the same key twice"],
        ),
    ],
)
def test_values_that_do_not_fit_are_errors_of_their_row(
    avro: Any, kind: pa.DataType, values: list[Any], wrong: list[str | None]
) -> None:
    struct = column(values, kind)
    found = ColumnarEncoder(Schema(record(("a", avro))), 7).encode(struct)
    assert found.errors.to_pylist() == wrong
    assert [frame is None for frame in found.frames.to_pylist()] == [error is not None for error in wrong]


def test_text_that_is_no_utf8() -> None:
    broken = pa.array([b"ok", b"\xff\xff", b"\xed\xa0\x80"]).view(pa.string())
    struct = pa.StructArray.from_arrays([broken], ["a"])
    assert errors(record(("a", "string")), struct) == [None, *["at a: the text is not UTF-8"] * 2]


def test_frames_that_are_too_long() -> None:
    struct = column(["x" * 10, "x" * 100_000, "y"], pa.string())
    assert errors(record(("a", "string")), struct, max_row_bytes=20) == [
        None,
        "the frame is longer than 20 bytes",
        None,
    ]
    with pytest.raises(ValueError, match="max_row_bytes=0"):
        ColumnarEncoder(Schema(record()), max_row_bytes=0)


def test_members_of_unions() -> None:
    kind = pa.struct([("member0", pa.int32()), ("member1", pa.string())])
    rows = [{"member0": 1, "member1": None}, {"member0": None, "member1": "x"}, None]
    wrong = [{"member0": 1, "member1": "x"}, {"member0": None, "member1": None}]
    schema = record(("a", ["int", "null", "string"]))
    found = ColumnarEncoder(Schema(schema)).encode(column([*rows, *wrong], kind))
    assert found.frames.to_pylist() == [b"\x00\x02", b"\x04\x02x", b"\x02", None, b"\x02"]
    assert found.errors.to_pylist()[3] == "at a: more than one member of the union [int, null, string] is set"


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_unions_of_arrow(mode: str) -> None:
    ids = pa.array([5, 9, 5, 9], pa.int8())
    members = [pa.array([1, 2, 3, 4], pa.int64()), pa.array(["a", "b", None, None])]
    if mode == "dense":
        made = pa.UnionArray.from_dense(ids, pa.array([0, 0, 3, 2], pa.int32()), members, ["n", "s"], [5, 9])
    else:
        made = pa.UnionArray.from_sparse(ids, members, ["n", "s"], [5, 9])
    struct = pa.StructArray.from_arrays([made], ["a"])
    schema = avro_schema_of(struct.type)
    assert json.loads(schema)["fields"][0]["type"] == ["null", "long", "string"]
    last = [b"\x02\x08", b"\x00"] if mode == "dense" else [b"\x02\x06", b"\x00"]
    second = b"\x04\x02a" if mode == "dense" else b"\x04\x02b"
    for pure in (False, True):
        plan = plan_of(struct.type, load_texts(schema).model)
        frames = AvroFrames(plan, pure=pure).encode(struct).frames.to_pylist()
        assert frames == [b"\x02\x02", second, *last]
        assert AvroFrames(plan, pure=pure).encode(struct[1:]).frames.to_pylist() == frames[1:]


def test_missing_columns_are_written_as_defaults() -> None:
    fields = [
        {"name": "a", "type": "int"},
        {"name": "b", "type": "string", "default": "é"},
        {"name": "c", "type": ["int", "null"]},
    ]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    assert ColumnarEncoder(Schema(schema)).encode(column([1], pa.int8())).frames[0].as_py() == b"\x02\x04\xc3\xa9\x02"


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ([("b", "int")], pa.int32(), "at b: the plan can't be made: the column is missing, and the field has no"),
        (
            [("a", "int"), ("c", ["null", "int"])],
            pa.string(),
            "at a: the plan can't be made: string can't be written as int",
        ),
        ([], pa.int32(), "record R has no field for 'a': drop them, or add them to the schema"),
        (
            [("a", {"type": "long", "logicalType": "timestamp-millis"})],
            pa.timestamp("ms"),
            "it has no time zone, so it is no point in time",
        ),
        ([("a", LOCAL)], pa.timestamp("ms", "UTC"), "its time zone would be lost"),
        ([("a", "long")], pa.timestamp("ms", "UTC"), "the schema does not say in which unit"),
        (
            [("a", ["int", "boolean"])],
            pa.string(),
            r"string can't be written as any branch of the union \[int, boolean\]",
        ),
        (
            [("a", {"type": "array", "items": "int"})],
            pa.list_(pa.string()),
            r"at a\[\]: the plan can't be made: string can't",
        ),
        ([("a", "int")], pa.run_end_encoded(pa.int32(), pa.int32()), "run-end encoded"),
    ],
)
def test_columns_that_fit_no_row_are_refused(fields: Any, kind: pa.DataType, message: str) -> None:
    with pytest.raises(SerializationError, match=message):
        ColumnarEncoder(Schema(record(*fields))).encoder(pa.struct([("a", kind)]))


def test_nesting_is_bounded() -> None:
    kind: pa.DataType = pa.int32()
    for _ in range(150):
        kind = pa.list_(kind)
    with pytest.raises(SerializationError, match="nested deeper than 100 levels"):
        avro_schema_of(pa.struct([("a", kind)]))
    with pytest.raises(SerializationError, match="nested deeper than 100 levels"):
        ColumnarEncoder(Schema(record(("a", "int")))).encoder(pa.struct([("a", kind)]))
    kind = pa.int32()
    for _ in range(90):
        kind = pa.struct([("a", pa.list_(kind))]) if kind == pa.int32() else pa.struct([("a", kind)])
    made = ColumnarEncoder(Schema(avro_schema_of(kind)), 1).encode(pa.nulls(3, kind))
    assert made.frames.null_count == 3


def test_a_record_may_hold_itself() -> None:
    fields = [{"name": "n", "type": "int"}, {"name": "next", "type": ["null", "Node"], "default": None}]
    schema = json.dumps({"type": "record", "name": "Node", "fields": fields})
    kind = pa.struct([("n", pa.int32()), ("next", pa.struct([("n", pa.int32())]))])
    struct = pa.array([{"n": 1, "next": {"n": 2}}, {"n": 3, "next": None}], kind)
    assert ColumnarEncoder(Schema(schema)).encode(struct).frames.to_pylist() == [b"\x02\x02\x04\x00", b"\x06\x00"]


def test_rules_are_not_left_out_silently() -> None:
    rule = Rule("encrypt", "", RuleKind.TRANSFORM, RuleMode.WRITEREAD, "ENCRYPT", ["PII"], {})
    schema = Schema(record(("a", "int")), rule_set=RuleSet([], [rule]))
    with pytest.raises(UnappliedRulesError, match="'encrypt'"):
        ColumnarEncoder(schema)


def test_references_are_resolved() -> None:
    other = Schema(json.dumps({"type": "enum", "name": "E", "symbols": ["A"]}))
    schema = Schema(record(("a", "E")), references=[SchemaReference("E", "e", 1)])
    made = ColumnarEncoder(schema, resolve_reference=lambda reference: other).encode(column(["A"], pa.string()))
    assert made.frames.to_pylist() == [b"\x00"]


def test_a_plan_is_printed_and_verified() -> None:
    plan = plan_of(order_type(), load_texts(ORDERS.schema_str).model)
    assert "  tags: list array of list<item: string>\n    each item: octets string of string" in str(plan)
    for change in ({"column": 99}, {"kids": (0,)}, {"times": 0}, {"op": plan.steps[0].op, "column": 2}):
        steps = list(plan.steps)
        steps[1] = dataclasses.replace(steps[1], **change)
        with pytest.raises(ValueError, match="step 1"):
            verify(dataclasses.replace(plan, steps=tuple(steps)))


def test_another_array_than_the_plans_is_refused_by_the_kernel() -> None:
    kernel = native_program()
    if kernel is None:
        pytest.skip("the compiled kernels are not in use")
    plan = plan_of(order_type(), load_texts(ORDERS.schema_str).model)
    for struct in (column([1], pa.int32()), pa.array([{}], pa.struct([]))):
        with pytest.raises(ValueError, match="not of the plan's Arrow type"):
            AvroFrames(plan).encode(struct)


@pytest.mark.skipif(native_program() is None, reason="the compiled kernels are not in use")
# --- schemas of types


def test_names_are_cleaned_and_come_back() -> None:
    kind = pa.struct([("order id", pa.int32()), ("order_id", pa.int32()), ("1st", pa.string()), ("", pa.string())])
    fields = json.loads(avro_schema_of(kind, name="Order", namespace="shop"))["fields"]
    assert [(field["name"], field.get("arrowName")) for field in fields] == [
        ("order_id_2", "order id"), ("order_id", None), ("_1st", "1st"), ("_", ""),
    ]  # fmt: skip
    struct = pa.array([{"order id": 1, "order_id": 2, "1st": "x", "": "y"}], kind)
    made = ColumnarEncoder(Schema(avro_schema_of(kind))).encode(struct)
    assert made.frames.to_pylist() == [b"\x02\x02\x02\x04\x02\x02x\x02\x02y"]


@pytest.mark.parametrize(
    ("kind", "avro"),
    [
        (pa.uint32(), "long"),
        (pa.float16(), "float"),
        (pa.timestamp("ns", "UTC"), {"type": "long", "logicalType": "timestamp-nanos"}),
        (pa.timestamp("s"), {"type": "long", "logicalType": "local-timestamp-millis"}),
        (pa.duration("us"), {"type": "long", "arrowDuration": "us"}),
        (pa.month_day_nano_interval(), {"type": "fixed", "name": "Record_a", "size": 12, "logicalType": "duration"}),
        (pa.decimal128(5, -2), {"type": "bytes", "logicalType": "decimal", "precision": 7, "scale": 0}),
        (pa.decimal128(2, 4), {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 4}),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.uuid(), {"type": "string", "logicalType": "uuid"}),
        (pa.map_(pa.string(), pa.int32()), {"type": "map", "values": ["null", "int"]}),
        (pa.list_(pa.field("x", pa.int32(), nullable=False)), {"type": "array", "items": "int"}),
    ],
)
def test_types(kind: pa.DataType, avro: Any) -> None:
    schema = avro_schema_of(pa.struct([pa.field("a", kind, nullable=False)]))
    assert json.loads(schema)["fields"] == [{"name": "a", "type": avro}]
    load_texts(schema)


def test_maps_whose_keys_are_no_texts_are_arrays_of_entries() -> None:
    struct = column([[(1, "x")]], pa.map_(pa.int32(), pa.string()))
    made = ColumnarEncoder(Schema(avro_schema_of(struct.type))).encode(struct)
    assert made.frames.to_pylist() == [b"\x02\x02\x02\x02\x02x\x00"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.int32(), "a record is made of a struct, not of int32"),
        (pa.struct([("a", pa.run_end_encoded(pa.int32(), pa.int32()))]), "Avro has no type for run_end_encoded"),
        (pa.struct([("a", pa.dense_union(TWO_INTS))]), "two members of a union"),
        (pa.struct([("a", pa.decimal256(76, -3))]), "more than 76 digits"),
    ],
)
def test_types_that_avro_lacks(kind: pa.DataType, message: str) -> None:
    with pytest.raises(SerializationError, match=message):
        avro_schema_of(kind)


def test_names_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="'1st' is no name in Avro"):
        avro_schema_of(pa.schema([]), name="1st")


def test_a_schema_is_a_record_too() -> None:
    made = json.loads(avro_schema_of(pa.schema([pa.field("at", pa.date32())]), name="Day"))
    assert made == {
        "type": "record",
        "name": "Day",
        "fields": [{"name": "at", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None}],
    }
    struct = pa.array([{"at": datetime.date(1970, 1, 3)}])
    assert ColumnarEncoder(Schema(json.dumps(made))).encode(struct).frames.to_pylist() == [b"\x02\x04"]


@pytest.mark.parametrize("form", ["AVRO", "JSON", "PROTOBUF"])
def test_nothing_is_looked_up_in_the_dictionary_of_a_null(form: str) -> None:
    """pyarrow makes places in it for nulls around it, of a dictionary that has no values at all."""
    inner = pa.struct([("c", pa.dictionary(pa.int8(), pa.string()))])
    rows = pa.array([{"b": None, "x": 1.0}, {"b": None, "x": 2.0}], pa.struct([("b", inner), ("x", pa.float64())]))
    assert len(rows.field("b").field("c").dictionary) == 0
    texts = {
        "AVRO": avro_schema_of(rows.type),
        "JSON": json_schema_of(rows.type),
        "PROTOBUF": 'syntax = "proto3"; message R { B b = 1; double x = 2; message B { optional string c = 1; } }',
    }
    schema = Schema(texts[form], form)
    made = ColumnarEncoder(schema, 7).encode(rows)
    assert made.errors.to_pylist() == [None, None]
    assert ColumnarDecoder(lambda _: schema, schema).decode(made.frames).struct.to_pylist() == rows.to_pylist()


def test_a_place_beyond_its_dictionary_is_an_error_of_its_row() -> None:
    places = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a"]), safe=False)
    rows = pa.StructArray.from_arrays([places, pa.array([1.0, float("nan")])], ["c", "x"])
    for form, text in (("AVRO", avro_schema_of(rows.type)), ("JSON", json_schema_of(rows.type))):
        made = ColumnarEncoder(Schema(text, form), 7).encode(rows)
        assert [error is None for error in made.errors.to_pylist()] == [True, False]
        assert "at c: " in made.errors.to_pylist()[1]
