from __future__ import annotations

import json
from array import array
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.serdes import JSON_ORDER, text_of
from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, json_schema_of
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import frames_of
from serdes.columnar.json.format import JsonColumns
from serdes.columnar.json.writing import JsonFrames
from serdes.errors import SerializationError
from serdes.kernels import IMPL

ORDERS = text_of("order.schema.json")
DEFAULTS = ColumnOptions()


def decoded(schema: str, *payloads: bytes | None, options: ColumnOptions = DEFAULTS) -> DecodeResult:
    columns = JsonColumns()
    parsed = columns.load(Schema(schema, "JSON"), None)
    frames = frames_of(pa.array([None if p is None else b"\0\0\0\0\7" + p for p in payloads], pa.binary()))
    rows = array("i", [0] * len(payloads)).tobytes()
    return columns.decode(frames, [columns.plan(parsed, parsed, options)], rows, options)


def one(schema: Any) -> pa.DataType:
    columns = JsonColumns()
    parsed = columns.load(Schema(json.dumps({"properties": {"a": schema}, "$defs": DEFS}), "JSON"), None)
    return columns.arrow_type(parsed, DEFAULTS).field("a").type


DEFS = {
    "point": {"type": "object", "properties": {"x": {"type": "number"}}},
    "tree": {"type": "object", "properties": {"n": {"type": "integer"}, "left": {"$ref": "#/$defs/tree"}}},
}
MORE = {"properties": {"y": {"type": "integer"}}}
POINT = pa.struct([("x", pa.float64())])


def test_orders_become_columns() -> None:
    payload = json.dumps(JSON_ORDER).encode()
    found = decoded(ORDERS, payload, None, b"null", b"\n" + payload + b" ")
    assert found.errors.null_count == 4
    row = found.struct[0].as_py()
    assert row == {**JSON_ORDER, "created_at": row["created_at"]}
    assert row["created_at"].isoformat() == "2026-03-14T15:09:26.535000+00:00"
    assert found.struct.to_pylist() == [row, None, None, row]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, pa.int64()),
        ({"type": ["integer", "null"], "arrowType": "uint64"}, pa.uint64()),
        ({"type": ["number", "null"]}, pa.float64()),
        ({"type": ["integer", "number"]}, pa.float64()),
        ({"type": ["integer", "string"]}, pa.string()),
        ({"oneOf": [{"type": "null"}, {"type": "boolean"}]}, pa.bool_()),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, pa.float64()),
        ({"enum": ["A", "B", None]}, pa.string()),
        ({"const": 1}, pa.int64()),
        ({"type": "string", "format": "date"}, pa.date32()),
        ({"type": "string", "format": "date-time"}, pa.timestamp("us", "UTC")),
        ({"type": "string", "format": "time"}, pa.time64("us")),
        ({"type": "string", "format": "decimal", "arrowType": "decimal(40, 2)"}, pa.decimal256(40, 2)),
        ({"type": "string", "contentEncoding": "base64"}, pa.binary()),
        ({"type": "array", "items": {"type": "integer"}}, pa.list_(pa.int64())),
        ({"type": "array", "items": [{"type": "integer"}]}, pa.string()),
        ({"type": "object"}, pa.string()),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, pa.map_(pa.string(), pa.int64())),
        ({"$ref": "#/$defs/point"}, POINT),
        ({"allOf": [{"$ref": "#/$defs/point"}]}, POINT),
        ({"allOf": [{"$ref": "#/$defs/point"}, MORE]}, pa.struct([("x", pa.float64()), ("y", pa.int64())])),
        ({"$ref": "#/$defs/tree"}, pa.struct([("n", pa.int64()), ("left", pa.string())])),
        (True, pa.string()),
        ({"type": "null"}, pa.string()),
    ],
)  # fmt: skip
def test_types(schema: Any, kind: pa.DataType) -> None:
    assert one(schema) == kind


NEW = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {**DEFS, "more": MORE}}
SHAPES = {
    "oneOf": [
        {"properties": {"r": {"type": "number"}}, "required": ["r"]},
        {"properties": {"w": {"type": "integer"}}, "required": ["w"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"$ref": "#/$defs/point", **MORE}, {"x": pa.float64(), "y": pa.int64()}),
        ({"$ref": "#/$defs/point", "description": "a place"}, {"x": pa.float64()}),
        ({"properties": {"k": {"const": "c"}}, **SHAPES}, {"k": pa.string(), "r": pa.float64(), "w": pa.int64()}),
        ({**MORE, "if": {}, "then": {"$ref": "#/$defs/point"}}, {"y": pa.int64(), "x": pa.float64()}),
        ({**MORE, "dependentSchemas": {"y": {"$ref": "#/$defs/point"}}}, {"y": pa.int64(), "x": pa.float64()}),
        ({"allOf": [{"$ref": "#/$defs/more"}, SHAPES]}, {"y": pa.int64(), "r": pa.float64(), "w": pa.int64()}),
        ({**MORE, "anyOf": [{"properties": {"y": {"type": "number"}}}]}, {"y": pa.int64()}),
        ({**MORE, "dependencies": {"y": {"$ref": "#/$defs/point"}, "x": ["y"]}}, {"y": pa.int64(), "x": pa.float64()}),
        (
            {**MORE, "if": {"properties": {"k": {"const": 1}, "x": {}}}, "then": {"$ref": "#/$defs/point"}},
            {"y": pa.int64(), "x": pa.float64(), "k": pa.string()},
        ),
        (
            {**MORE, "anyOf": [{"properties": {"v": {"type": kind}}} for kind in ("string", "integer")]},
            {"y": pa.int64(), "v": pa.string()},
        ),
    ],
)  # fmt: skip
def test_members_beside_references_and_of_alternatives_have_columns(schema: Any, wanted: dict[str, Any]) -> None:
    columns = JsonColumns()
    for outer in (False, True):
        document = {**NEW, "type": "object", "properties": {"in": schema}} if outer else {**NEW, **schema}
        kind = columns.arrow_type(columns.load(Schema(json.dumps(document), "JSON"), None), DEFAULTS)
        kind = kind.field("in").type if outer else kind
        assert {field.name: field.type for field in kind} == wanted


def test_what_stands_beside_a_reference_is_nothing_up_to_draft_7() -> None:
    assert one({"$ref": "#/$defs/point", **MORE}) == POINT


def test_alternatives_that_hold_themselves_end() -> None:
    document: dict[str, Any] = {**NEW, "$ref": "#/$defs/a"}
    document["$defs"] = {"a": {**MORE, "anyOf": [{"$ref": "#/$defs/a"}], "allOf": [{"$ref": "#/$defs/b"}] * 2}}
    document["$defs"]["b"] = {"allOf": [{"$ref": "#/$defs/a"}] * 2}
    found = decoded(json.dumps(document), b'{"y": 1}')
    assert found.struct.to_pylist() == [{"y": 1}]


def test_members_of_alternatives_go_there_and_back() -> None:
    document = {**NEW, "properties": {"k": {"type": "string"}}, "required": ["k"], "allOf": [{"$ref": "#/$defs/point"}]}
    document |= SHAPES
    schema = Schema(json.dumps(document), "JSON")
    payloads = [b'{"k":"c","r":1.5}', b'{"k":"s","w":2,"x":0.5}']
    found = decoded(schema.schema_str, *payloads)
    assert found.struct.to_pylist()[1] == {"k": "s", "r": None, "w": 2, "x": 0.5}
    made = ColumnarEncoder(schema).encode(found.struct)
    assert made.errors.to_pylist() == [None, None]
    assert [json.loads(frame) for frame in made.frames.to_pylist()] == [json.loads(payload) for payload in payloads]


OPEN = {
    "properties": {"id": {"type": "integer"}, "in": {"type": "object", "properties": {"x": {}, "y": {}}}},
    "patternProperties": {"^p_": {"type": "string"}},
    "additionalProperties": {"type": "integer"},
}


@pytest.mark.parametrize("impl", ["pure", IMPL])
def test_members_that_the_schema_does_not_name_are_skipped_or_refused(impl: str) -> None:
    payloads = [b'{"id":1,"p_1":"a"}', b'{"id":2,"in":{"x":3,"y":4}}', b'{"id":3,"n":5}', b'{"in":{"z":6}}']
    schema = Schema(json.dumps(OPEN), "JSON")
    frames = pa.array([b"\0\0\0\0\7" + payload for payload in payloads], pa.binary())

    def found(**options: Any) -> tuple[list[Any], list[str | None]]:
        decoder = ColumnarDecoder(lambda _: schema, schema, options=ColumnOptions(**options), impl=impl)
        result = decoder.decode(frames)
        return result.struct.to_pylist(), result.errors.to_pylist()

    rows, errors = found()
    assert [row["id"] for row in rows] == [1, 2, 3, None]
    assert errors == [None] * 4
    rows, errors = found(unnamed="refuse")
    assert [row and row["id"] for row in rows] == [None, 2, None, None]
    assert ["does not name" in str(error) for error in errors] == [True, False, True, True]
    assert "at in: " in str(errors[3])
    rows, errors = found(unnamed="refuse", columns=("in.y",))
    assert rows == [None, {"in": {"y": "4"}}, None, None]
    with pytest.raises(ValueError, match="unnamed"):
        ColumnOptions(unnamed="keep")  # type: ignore[arg-type]


@pytest.mark.parametrize("impl", ["pure", IMPL])
def test_whole_numbers_without_a_sign_come_back_or_are_refused(impl: str) -> None:
    kind = pa.struct([("n", pa.uint64()), ("l", pa.list_(pa.uint64())), ("m", pa.map_(pa.string(), pa.uint64()))])
    struct = pa.array([{"n": 2**64 - 1, "l": [2**63]}, {"n": 5, "m": [("k", 2**63)]}, {"n": 2**63 - 1}], kind)
    derived = Schema(json_schema_of(kind), "JSON")
    frames = ColumnarEncoder(derived, 7).encode(struct).frames
    back = ColumnarDecoder(lambda _: derived, derived, impl=impl).decode(frames)
    assert back.struct.to_pylist() == struct.to_pylist()
    assert back.struct.type.field("n").type == pa.uint64()
    plain = Schema(json.dumps(without(json.loads(derived.schema_str or ""), "arrowType")), "JSON")
    parsed = JsonColumns().load(plain, None)
    made = JsonFrames(kind, parsed, b"\0\0\0\0\7", 1000, pure=impl == "pure").encode(struct)
    assert [error and error.partition(":")[0] for error in made.errors.to_pylist()] == ["at n", "at m[entry 0]", None]
    found = ColumnarDecoder(lambda _: plain, plain, impl=impl).decode(made.frames)
    assert found.errors.null_count == 3
    assert found.struct[2].as_py() == struct[2].as_py()


def without(schema: Any, keyword: str) -> Any:
    """The schema where no part of it has a keyword."""
    if not isinstance(schema, dict):
        return schema
    return {key: without(part, keyword) for key, part in schema.items() if key != keyword}


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (
            b'{"quantity": "3"}',
            "at quantity: the payload can't be read as JSON of its schema: an integer is needed here",
        ),
        (
            b'{"quantity": 1.5}',
            "at quantity: the payload can't be read as JSON of its schema: a number with a fraction",
        ),
        (b'{"customer_id": 9223372036854775808}', "a number that its column can't hold exactly: int64"),
        (b'{"score": 9007199254740993}', "a number that its column can't hold exactly: double"),
        (b'{"score": NaN}', "at score: the payload can't be read as JSON of its schema: this is not JSON"),
        (b'{"tags": ["a", 2]}', r"at tags\[1\]: "),
        (
            b'{"gift": true, "gift": true}',
            "at gift: the payload can't be read as JSON of its schema: a member comes twice",
        ),
        (b'{"id": "\xff"}', "a string that is not UTF-8"),
        (b'{"id": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"created_at": "yesterday"}', r"a string that is not a date and time with a zone \(RFC 3339\)"),
        (b'{"id": "x"} x', "something is left over after the document"),
        (b'{"id": "x"', "schema id 7"),
        (b"", "the document ends inside a value|this is not JSON"),
        (b"[]", "an object is needed here"),
    ],
)
def test_a_bad_row_costs_that_row_only(payload: bytes, error: str) -> None:
    fine = b'{"id": "x", "tags": ["t"], "unknown": {"deep": [1, 2]}}'
    found = decoded(ORDERS, fine, payload, fine)
    texts = found.errors.to_pylist()
    assert [text is None for text in texts] == [True, False, True]
    with pytest.raises(AssertionError, match=error):
        raise AssertionError(texts[1])
    assert found.struct[0].as_py()["tags"] == found.struct[2].as_py()["tags"] == ["t"]
    assert not found.struct[1].is_valid


@pytest.mark.parametrize("document", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 300 + b"]" * 300])
def test_nesting_is_bounded(document: bytes) -> None:
    schema = '{"properties": {"a": {"type": "integer"}}}'
    found = decoded(schema, b'{"unknown": ' + document + b"}", b'{"a": 1}')
    assert found.struct.to_pylist() == [None, {"a": 1}]


def test_columns_and_validation_are_options() -> None:
    payload = json.dumps({**JSON_ORDER, "quantity": 0}).encode()
    some = decoded(ORDERS, payload, options=ColumnOptions(columns=("address.city", "id")))
    assert some.struct.to_pylist() == [{"id": JSON_ORDER["id"], "address": {"city": "Hamburg"}}]
    checked = decoded(ORDERS, payload, json.dumps(JSON_ORDER).encode(), options=ColumnOptions(validate=True))
    assert "schema id 7, at quantity: an integer that breaks 'minimum': 1" in checked.errors[0].as_py()
    assert [value.is_valid for value in checked.struct] == [False, True]
    with pytest.raises(SerializationError, match="no column 'zip' is in the schema"):
        decoded(ORDERS, payload, options=ColumnOptions(columns=("address.zip",)))


def test_json_text_stays_as_it_was_written() -> None:
    found = decoded('{"properties": {"a": {}}}', b'{"a": {"n": 1.50,  "big": 123456789012345678901}}')
    assert found.struct[0]["a"].as_py() == '{"n": 1.50,  "big": 123456789012345678901}'


def test_a_row_takes_no_more_than_it_may() -> None:
    schema = '{"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}'
    document = b'{"a": [' + b",".join([b"1"] * 1000) + b"]}"
    options = ColumnOptions(max_row_bytes=1000)
    assert "see max_row_bytes" in decoded(schema, document, options=options).errors[0].as_py()
    assert decoded(schema, document).errors.null_count == 1


def test_schemas_without_columns_are_refused() -> None:
    for schema in ('{"type": "string"}', "true", '{"type": "object"}'):
        with pytest.raises(SerializationError, match="objects with properties"):
            decoded(schema, b"{}")
    with pytest.raises(SerializationError, match="refers to"):
        decoded('{"properties": {"a": {"$ref": "#/$defs/none"}}}', b"{}")


def test_a_plan_is_printed() -> None:
    columns = JsonColumns()
    parsed = columns.load(Schema(ORDERS, "JSON"), None)
    assert "tags: array, column 7\n    each item: text as string" in str(columns.plan(parsed, parsed, DEFAULTS))


@pytest.mark.skipif(IMPL != "native", reason="the compiled kernels are not in use")
def test_the_decoder_of_all_formats_reads_json() -> None:
    schema = Schema(ORDERS, "JSON")
    decoder = ColumnarDecoder(lambda schema_id: schema, schema, columns=["address.city", "quantity"])
    struct = pa.array([JSON_ORDER], pa.struct([("id", pa.string()), ("quantity", pa.int64())]))
    frame = b"\0\0\0\0\7" + json.dumps(JSON_ORDER).encode()
    found = decoder.decode(pa.array([frame, None, b"\0\0\0\0\7[]", b"x"], pa.binary()))
    assert found.struct.to_pylist() == [{"address": {"city": "Hamburg"}, "quantity": 3}, None, None, None]
    assert [error is None for error in found.errors.to_pylist()] == [True, True, False, False]
    assert (
        ColumnarDecoder(lambda schema_id: schema, schema)
        .decode(ColumnarEncoder(Schema(json_schema_of(struct.type), "JSON"), 7).encode(struct).frames)
        .struct[0]
        .as_py()["quantity"]
        == 3
    )


# --- writing


def test_columns_become_documents() -> None:
    kind = pa.struct(
        [
            pa.field("n", pa.int32(), nullable=False),
            pa.field("t", pa.timestamp("ms", "UTC")),
            pa.field("b", pa.binary()),
        ]
    )
    schema = json_schema_of(kind, title="Row")
    struct = pa.array([{"n": 1, "t": 1_500, "b": b"\0"}, None, {"n": None, "t": None, "b": None}], kind)
    made = ColumnarEncoder(Schema(schema, "JSON"), 7).encode(struct)
    assert made.frames.to_pylist() == [b'\0\0\0\0\7{"n":1,"t":"1970-01-01T00:00:01.500Z","b":"AA=="}', None, None]
    assert made.errors.to_pylist() == [None, None, "at n: null where integer is needed"]
    assert json.loads(schema) == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Row",
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "t": {"type": ["string", "null"], "format": "date-time"},
            "b": {"type": ["string", "null"], "contentEncoding": "base64"},
        },
        "required": ["n"],
    }


def test_null_leaves_out_what_may_be_missing_but_not_null() -> None:
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}}}'
    struct = pa.array([{"a": None, "b": None}], pa.struct([("a", pa.int32()), ("b", pa.int32())]))
    assert ColumnarEncoder(Schema(schema, "JSON")).encode(struct).frames.to_pylist() == [b'{"b":null}']


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (pa.float64(), float("nan"), "at a: JSON has no NaN and no infinities"),
        (pa.list_(pa.float64()), [1.0, float("inf")], "at a[1]: JSON has no NaN and no infinities"),
        (pa.map_(pa.string(), pa.int32()), [("k", 1), ("k", 2)], "at a[entry 1]: the map has the same key twice"),
        (pa.timestamp("s"), 10**12, "at a: a date outside of the years 1 to 9999"),
    ],
)
def test_values_without_a_json_form_are_errors_of_their_row(kind: pa.DataType, value: Any, error: str) -> None:
    stored = pa.array([value], pa.int64()).view(kind) if pa.types.is_timestamp(kind) else pa.array([value], kind)
    struct = pa.StructArray.from_arrays([stored], ["a"])
    made = ColumnarEncoder(Schema(json_schema_of(struct.type), "JSON")).encode(struct)
    assert (made.frames.to_pylist(), made.errors.to_pylist()) == ([None], [error])


def test_types_that_json_lacks() -> None:
    with pytest.raises(SerializationError, match="JSON has no type for month_day_nano_interval"):
        json_schema_of(pa.struct([("a", pa.month_day_nano_interval())]))
