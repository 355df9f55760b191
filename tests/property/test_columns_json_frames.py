"""Columns written as JSON: the kernel and the way by objects agree, byte for byte and error for error."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from serdes.columnar import json_schema_of
from serdes.columnar.contract import EncodeResult
from serdes.columnar.json.format import JsonColumns
from serdes.columnar.json.writing import JsonFrames
from serdes.errors import SerializationError
from serdes.kernels.json_frames import native_program
from tests.strategies.arrow import arrays, structs

pytestmark = pytest.mark.skipif(native_program() is None, reason="the compiled kernels are not in use")

PREFIX = b"\0\0\0\0\7"


def both(
    kind: pa.DataType, schema: Any, struct: Any, max_row_bytes: int = 2**20, rest: bool = False
) -> tuple[EncodeResult, JsonFrames]:
    """The kernel's result, which is that of objects; and the encoder."""
    parsed = JsonColumns().load(Schema(json.dumps(schema), "JSON"), None)
    kernel, objects = (JsonFrames(kind, parsed, PREFIX, max_row_bytes, rest, pure) for pure in (False, True))
    made, wanted = kernel.encode(struct), objects.encode(struct)
    assert made.errors.to_pylist() == wanted.errors.to_pylist()
    assert made.frames.to_pylist() == wanted.frames.to_pylist()
    made.frames.validate(full=True)
    return made, kernel


def schema_of(kind: pa.DataType) -> Any:
    return json.loads(json_schema_of(kind))


@given(st.data())
def test_any_columns(data: st.DataObject) -> None:
    kind = data.draw(structs())
    struct = data.draw(arrays(kind))
    try:
        schema = schema_of(kind)
    except SerializationError:  # JSON has no intervals
        return
    made, _ = both(kind, schema, struct)
    start = data.draw(st.integers(0, len(struct)))
    rest, _ = both(kind, schema, struct[start:], data.draw(st.sampled_from([20, 60, 2**20])))
    if not any(rest.errors.to_pylist()):
        assert rest.frames.to_pylist() == made.frames.to_pylist()[start:]
    chunked = pa.chunked_array([struct[:start], struct[start:]], kind)
    assert both(kind, schema, chunked)[0].frames.equals(made.frames)


def changed(data: st.DataObject, schema: Any) -> Any:
    """A schema that asks for something else here and there."""
    if not isinstance(schema, dict):
        return schema
    made = {
        key: changed(data, part) if key in ("items", "additionalProperties") else part for key, part in schema.items()
    }
    if "properties" in made:
        made["properties"] = {
            name: changed(data, part) for name, part in made["properties"].items() if data.draw(st.integers(0, 9))
        }
    how = data.draw(st.integers(0, 15))
    if how == 0 and isinstance(made.get("type"), list):
        made["type"] = made["type"][0]
    elif how == 1:
        made.pop("type", None)
    elif how == 2:
        return {data.draw(st.sampled_from(["oneOf", "anyOf"])): [{"type": "null"}, made]}
    elif how == 3 and "string" in made.get("type", ()):
        made["enum"] = data.draw(st.sampled_from([["a", "b"], ["", None], [1], []]))
    elif how == 4:
        made.update(data.draw(st.sampled_from([{"maxLength": 3}, {"minimum": 0}, {"maxItems": 1}, {"not": {}}])))
    elif how == 5 and "properties" in made:
        made["required"] = [*list(made["properties"])[:1], *data.draw(st.sampled_from([[], ["zzz"]]))]
    elif how == 6 and "properties" in made:
        made["additionalProperties"] = data.draw(st.sampled_from([False, True, {"type": "integer"}]))
    elif how == 7 and "properties" not in made:
        made["format"] = data.draw(st.sampled_from(["date", "uuid", "date-time", "ipv4"]))
    return made


@given(st.data())
def test_columns_that_are_not_valid(data: st.DataObject) -> None:
    kind = data.draw(structs(1))
    struct = data.draw(arrays(kind))
    try:
        schema = changed(data, schema_of(kind))
    except SerializationError:
        return
    if "properties" not in schema:
        schema = {"$ref": "#/definitions/it", "definitions": {"it": schema}}
    try:
        JsonColumns().load(Schema(json.dumps(schema), "JSON"), None)
    except SerializationError:  # `enum: []` is no schema
        return
    both(kind, schema, struct)


ROWS: list[dict[str, Any]] = [
    {"t": 'quote " and \\ and \x01 é 漢 😀' * 3, "x": 1.5, "n": -(2**63), "l": [1, None], "m": [("k", 1.0)]},
    {"t": None, "x": float("nan"), "n": 0, "l": None, "m": None},
    {"t": "", "x": -0.0, "n": 1, "l": [], "m": [("k", 1.0), ("k", 2.0)]},
    {"t": "a", "x": 1e300, "n": 2, "l": [3], "m": [("k", float("inf"))]},
]
KIND = pa.struct(
    [
        ("t", pa.string()),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("l", pa.list_(pa.int32())),
        ("m", pa.map_(pa.string(), pa.float64())),
    ]
)


def test_rows_that_have_no_form_cost_themselves_only() -> None:
    made, kernel = both(KIND, schema_of(KIND), pa.array(ROWS, KIND))
    assert kernel.plan is not None
    assert kernel.plan.proved
    assert [error is None for error in made.errors.to_pylist()] == [True, False, False, False]


@pytest.mark.parametrize("rule", ["oneOf", "anyOf"])
@pytest.mark.parametrize("named", [True, False])
def test_members_that_an_alternative_to_null_requires_are_not_left_out(rule: str, named: bool) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}
    schema: Any = {rule: [{"type": "null"}, inner]}
    schema = {"properties": {"in": schema}} if named else {"$ref": "#/definitions/it", "definitions": {"it": schema}}
    kind = pa.struct([("a", pa.int8()), ("b", pa.dictionary(pa.int8(), pa.string()))])
    rows = pa.array([{"a": 1, "b": "x"}, {"a": 1, "b": None}, {"a": None, "b": "x"}], kind)
    struct = pa.StructArray.from_arrays([rows], ["in"]) if named else rows
    made, kernel = both(struct.type, schema, struct)
    assert kernel.plan is not None
    assert kernel.plan.proved
    assert [error is None for error in made.errors.to_pylist()] == [True, True, False]


def test_texts_that_are_not_utf8() -> None:
    texts = pa.array([b"\xff", b"ok", b'"\xed\xa0\x80'], pa.binary()).view(pa.string())
    struct = pa.StructArray.from_arrays([texts], ["t"])
    made, _ = both(struct.type, schema_of(struct.type), struct)
    assert made.errors.to_pylist() == ["at t: the text is not UTF-8", None, "at t: the text is not UTF-8"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_points_in_time_of_all_centuries(unit: str, zone: str | None) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    seconds = [day * 86_400 + day % 86_400 for day in range(-719_170, 2_932_900, 1_009)]
    values = [second * per_second + second % per_second for second in seconds]
    near = [-(2**63), 2**63 - 1, 0, -1, 1, -62_135_596_800 * per_second, 253_402_300_800 * per_second - 1]
    kept = [value for value in [*values, *near] if -(2**63) <= value < 2**63]
    struct = pa.StructArray.from_arrays([pa.array(kept, pa.int64()).view(pa.timestamp(unit, zone))], ["t"])
    both(struct.type, schema_of(struct.type), struct)


def test_all_days() -> None:
    days = pa.array(range(-719_170, 2_932_900, 1_499), pa.int32()).view(pa.date32())
    leap = pa.array(range(10_950, 11_700), pa.int32()).view(pa.date32())
    for column in (days, leap):
        struct = pa.StructArray.from_arrays([column], ["d"])
        both(struct.type, schema_of(struct.type), struct)


@pytest.mark.parametrize(
    ("schema", "proved"),
    [
        ({"type": "object", "properties": {"t": {"type": ["string", "null"]}}}, True),
        ({"type": "object", "properties": {"t": {"oneOf": [{"type": "null"}, {"type": "string"}]}}}, True),
        ({"type": "object", "properties": {"t": {"enum": ["a", "b"]}}}, True),
        ({"properties": {"t": {"$ref": "#/definitions/s"}}, "definitions": {"s": {"type": "string"}}}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "required": ["u"]}, False),
        ({"type": "object", "properties": {"t": {"type": "string", "maxLength": 1}}}, False),
        ({"type": "object", "properties": {"t": {"type": "integer"}}}, False),
        ({"type": "object", "properties": {"t": {"type": "string", "format": "date"}}}, False),
        ({"type": "object", "properties": {"t": {"type": "string", "contentEncoding": "base64"}}}, False),
        ({"type": "object", "patternProperties": {"t": False}}, False),
        ({"allOf": [{"type": "object"}]}, False),
        ({"type": "array"}, False),
        ({"properties": {"n": {"const": 1}}}, False),
        ({"properties": {"n": {"type": "null"}}}, True),
        ({"properties": {"n": {"not": {"type": "null"}}}}, False),
        (True, True),
        (False, False),
    ],
)  # fmt: skip
def test_what_is_known_to_be_valid_before_it_is_written(schema: Any, proved: bool) -> None:
    kind = pa.struct([("t", pa.string()), ("n", pa.null())])
    struct = pa.array([{"t": text} for text in ("a", "bb", None, "2026-01-01")], kind)
    _, kernel = both(struct.type, schema, struct)
    assert kernel.plan is not None
    assert kernel.plan.proved is proved


RESTS: list[tuple[pa.DataType, Any]] = [
    (pa.int64(), {"type": ["integer", "null"]}),
    (pa.string(), {"type": ["string", "null"], "enum": ["a", "", None]}),
    (pa.list_(pa.int8()), {"type": ["array", "null"], "items": {"type": "integer"}}),
    (pa.string(), True),
    (pa.float64(), False),
]
"""Of members without a name: a column's type, and a schema."""


@given(st.data())
def test_members_without_a_name_in_the_schema(data: st.DataObject) -> None:
    """Beside other members, inside of others and in lists; keys that are taken, are null, or come twice."""
    keys = data.draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
    values, more = data.draw(st.sampled_from(RESTS))
    rest = pa.field("additionalProperties", pa.map_(keys, values))
    fields = data.draw(st.permutations([rest, pa.field("a", pa.string()), pa.field("b c", pa.int8())]))
    inner = pa.struct(fields[: data.draw(st.integers(1, 3))])
    kind = pa.struct([*inner, ("in", inner), ("list", pa.list_(inner))])
    part: Any = {"properties": {"a": {"type": ["string", "null"]}, "b c": {"type": ["integer", "null"]}, "d": {}}}
    part["additionalProperties"] = data.draw(st.sampled_from([more, more, more, True, {"type": "integer"}]))
    if not data.draw(st.integers(0, 3)):
        part["patternProperties"] = {"^a": data.draw(st.sampled_from([True, {"type": "integer"}]))}
    items = {"type": ["array", "null"], "items": part}
    schema = {**part, "properties": {**part["properties"], "in": part, "list": items}}
    made, _ = both(kind, schema, data.draw(arrays(kind)), rest=True)
    for frame in made.frames.to_pylist():
        if frame is not None:
            json.loads(frame[5:], object_pairs_hook=distinct)


def distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(members)) == len(members)
    return dict(members)
