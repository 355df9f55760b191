"""Members of JSON objects that the schema does not name, as a map column: both directions, with kernels and without."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, ColumnOptions
from serdes.columnar.json.format import JsonColumns
from serdes.columnar.json.writing import JsonFrames
from serdes.errors import SerializationError
from serdes.kernels import IMPL

REST = ColumnOptions(unnamed="map")
TEXT, WHOLE, REAL = {"type": "string"}, {"type": "integer"}, {"type": "number"}
X: dict[str, Any] = {"properties": {"x": WHOLE}}
NEW = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"x": X}}
IMPLS = pytest.mark.parametrize("impl", ["pure", IMPL])


def decoded(document: Any, payloads: list[str], impl: str, **options: Any) -> tuple[list[Any], list[str | None]]:
    schema = Schema(json.dumps(document), "JSON")
    made = ColumnOptions(**{"unnamed": "map", **options})
    frames = pa.array([b"\0\0\0\0\7" + payload.encode() for payload in payloads])
    found = ColumnarDecoder(lambda _: schema, schema, options=made, impl=impl).decode(frames)
    found.struct.validate(full=True)
    return found.struct.to_pylist(maps_as_pydicts="strict"), found.errors.to_pylist()


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (X, pa.string()),
        ({**X, "additionalProperties": True}, pa.string()),
        ({**X, "additionalProperties": {}}, pa.string()),
        ({**X, "additionalProperties": False}, None),
        ({**X, "unevaluatedProperties": False}, None),
        ({**X, "unevaluatedProperties": REAL}, pa.float64()),
        ({**X, "additionalProperties": REAL}, pa.float64()),
        ({**X, "additionalProperties": {"type": ["array", "null"], "items": WHOLE}}, pa.list_(pa.int64())),
        ({**X, "additionalProperties": False, "patternProperties": {"^a": WHOLE}}, pa.int64()),
        ({**X, "additionalProperties": False, "patternProperties": {"^a": WHOLE, "^b": REAL}}, pa.string()),
        ({**X, "additionalProperties": False, "patternProperties": {"^a": WHOLE, "^b": False}}, pa.int64()),
        ({**X, "patternProperties": {"^a": WHOLE}}, pa.string()),
        ({**X, "additionalProperties": WHOLE, "patternProperties": {"^a": WHOLE}}, pa.int64()),
        ({"allOf": [{**X, "additionalProperties": WHOLE}, {"properties": {"y": WHOLE}}]}, pa.string()),
        ({"allOf": [{**X, "additionalProperties": False}, {"properties": {"y": WHOLE}}]}, None),
        ({"$ref": "#/$defs/x", "properties": {"y": WHOLE}}, pa.string()),
        ({"$ref": "#/$defs/x"}, pa.string()),
        ({**X, "oneOf": [{"properties": {"y": WHOLE}, "additionalProperties": False}]}, pa.string()),
    ],
)
def test_objects_that_admit_members_without_a_name_have_a_map_of_them(schema: Any, values: pa.DataType | None) -> None:
    columns = JsonColumns()
    for outer in (False, True):
        inside = {"properties": {"in": schema}, "additionalProperties": False} if outer else schema
        kind = columns.arrow_type(columns.load(Schema(json.dumps({**NEW, **inside}), "JSON"), None), REST)
        kind = kind.field("in").type if outer else kind
        names = [field.name for field in kind]
        assert ("additionalProperties" in names) is (values is not None)
        assert set(names) - {"additionalProperties"} in ({"x"}, {"x", "y"})
        if values is not None:
            assert names[-1] == "additionalProperties"
            assert kind.field("additionalProperties").type == pa.map_(pa.string(), values)


def test_a_member_that_is_called_like_the_map_is_refused() -> None:
    columns = JsonColumns()
    parsed = columns.load(Schema('{"properties": {"additionalProperties": {"type": "string"}}}', "JSON"), None)
    assert columns.arrow_type(parsed, ColumnOptions()) == pa.struct([("additionalProperties", pa.string())])
    with pytest.raises(SerializationError, match="names a member 'additionalProperties'"):
        columns.arrow_type(parsed, REST)


LIST = {"type": "array", "items": {**X, "additionalProperties": X}}
DEEP = {
    "properties": {"id": WHOLE, "in": {"type": "object", **X}, "list": LIST},
    "additionalProperties": REAL,
}


@IMPLS
def test_unnamed_members_are_read_wherever_they_stand(impl: str) -> None:
    payloads = [
        '{"a": 1.5, "id": 1, "in": {"\\u00fc": [1,  {"q": null}], "x": 2, "n": null}, "b": null, "\\u0063": 2}',
        '{"list": [{"x": 1}, {"k": {"x": 2, "y": "z"}, "l": null}, null], "in": null}',
        "{}",
        "null",
    ]
    rows, errors = decoded(DEEP, payloads, impl)
    assert errors == [None] * 4
    assert rows == [
        {
            "id": 1,
            "in": {"x": 2, "additionalProperties": {"ü": '[1,  {"q": null}]', "n": None}},
            "list": None,
            "additionalProperties": {"a": 1.5, "b": None, "c": 2.0},
        },
        {
            "id": None,
            "in": None,
            "list": [
                {"x": 1, "additionalProperties": {}},
                {"x": None, "additionalProperties": {"k": {"x": 2, "additionalProperties": {"y": '"z"'}}, "l": None}},
                None,
            ],
            "additionalProperties": {},
        },
        {"id": None, "in": None, "list": None, "additionalProperties": {}},
        None,
    ]


@IMPLS
def test_what_is_wrong_with_one_costs_its_row_and_says_where(impl: str) -> None:
    payloads = [
        '{"a": 1, "b": "x"}',
        '{"a": 1, "id": 1, "a": 2}',
        '{"list": [{"x": 1}, {"k": {"x": 1}, "l": {"x": 1.5}}]}',
        '{"in": {"q": 1, "q": 1}}',
        '{"in": {"q": tru}}',
        '{"a": 1}',
        f'{{"in": {{"q": "{"x" * 300}"}}}}',
        "{" + ",".join(f'"{at}": 1' for at in range(30)) + "}",
    ]
    rows, errors = decoded(DEEP, payloads, impl, max_row_bytes=200)
    assert [row is not None for row in rows] == [False] * 5 + [True] + [False] * 2
    places = [
        "additionalProperties[entry 1]", "additionalProperties[entry 1]", "list[1].additionalProperties[entry 1].x",
        "in.additionalProperties[entry 1]", "in.additionalProperties[entry 0]",
    ]  # fmt: skip
    for place, error in zip(places, errors, strict=False):
        assert f"at {place}: " in str(error)
    assert ["comes twice" in str(error) for error in errors[:5]] == [False, True, False, True, False]
    assert ["max_row_bytes" in str(error) for error in errors[6:]] == [True, True]


@IMPLS
def test_projections_take_them_or_leave_them(impl: str) -> None:
    payloads = ['{"id": 5, "a": 1, "in": {"x": 1, "y": 2}, "list": [{"k": {"x": 1, "y": 2}}]}']
    rows, _ = decoded(DEEP, payloads, impl, columns=("id",))
    assert rows == [{"id": 5}]
    rows, _ = decoded(DEEP, payloads, impl, columns=("additionalProperties", "in.additionalProperties"))
    assert rows == [{"in": {"additionalProperties": {"y": "2"}}, "additionalProperties": {"a": 1.0}}]
    rows, _ = decoded(DEEP, payloads, impl, columns=("list.additionalProperties.x",))
    assert rows == [{"list": [{"additionalProperties": {"k": {"x": 1}}}]}]


def encoded(document: Any, rows: pa.Array, impl: str, rest: bool = True) -> tuple[list[Any], list[str | None]]:
    parsed = JsonColumns().load(Schema(json.dumps(document), "JSON"), None)
    made = JsonFrames(rows.type, parsed, b"", 2**20, rest, pure=impl == "pure").encode(rows)
    frames = [None if frame is None else frame.decode() for frame in made.frames.to_pylist()]
    return frames, made.errors.to_pylist()


@IMPLS
def test_documents_come_back(impl: str) -> None:
    payloads = [
        '{"id":1,"in":{"x":2,"ü":[1, {"q":null}],"n":"text"},"a":1.5,"b":2.0}',
        '{"list":[{"x":1},{"k":{"x":2,"y":"z"}},{}]}',
        "{}",
    ]
    schema = Schema(json.dumps(DEEP), "JSON")
    frames = pa.array([payload.encode() for payload in payloads])
    decoder = ColumnarDecoder(lambda _: schema, schema, options=REST, impl=impl)
    framed = pa.array([b"\0\0\0\0\7" + payload.encode() for payload in payloads])
    struct = decoder.decode(framed).struct
    assert encoded(DEEP, struct, impl) == (payloads, [None] * 3)
    made = ColumnarEncoder(schema, unnamed="map").encode(struct)
    assert made.frames.equals(frames)
    again = ColumnarEncoder(schema).encode(struct)  # without the option they are members of a member
    assert again.errors.null_count == 0


@IMPLS
def test_names_are_written_once(impl: str) -> None:
    kind = pa.struct([("additionalProperties", pa.map_(pa.string(), pa.int64())), ("b", pa.int64())])
    document = {"properties": {"a": WHOLE, "b": WHOLE}, "additionalProperties": {"type": ["integer", "null"]}}
    maps = [[("k", 1)], [("a", 1)], [("k", 1), ("b", 2)], [("k", 1), ("k", 2)], [("k", None)], None, []]
    rows = pa.array([{"additionalProperties": one, "b": 5} for one in maps], kind)
    frames, errors = encoded(document, rows, impl)
    assert frames == ['{"b":5,"k":1}', None, None, None, '{"b":5,"k":null}', '{"b":5}', '{"b":5}']
    assert [error and error.partition(": ")[0] for error in errors] == [
        None, "at additionalProperties[entry 0]", "at additionalProperties[entry 1]",
        "at additionalProperties[entry 1]", None, None, None,
    ]  # fmt: skip


@IMPLS
def test_what_the_schema_refuses_is_an_error_of_its_row(impl: str) -> None:
    kind = pa.struct([("x", pa.int64()), ("additionalProperties", pa.map_(pa.string(), pa.int64()))])
    rows = pa.array(
        [{"x": 1, "additionalProperties": [("k", 1)]}, {"x": 1}, {"additionalProperties": [("p", 9)]}], kind
    )
    frames, errors = encoded({**X, "additionalProperties": False}, rows, impl)
    assert frames == [None, '{"x":1}', None]
    frames, errors = encoded(
        {**X, "patternProperties": {"p": {"maximum": 5}}, "additionalProperties": WHOLE}, rows, impl
    )
    assert frames == ['{"x":1,"k":1}', '{"x":1}', None]
    assert [error is None for error in errors] == [True, True, False]


@IMPLS
def test_a_required_member_of_the_map_s_name_is_not_there(impl: str) -> None:
    rows = pa.array(
        [{"additionalProperties": [("k", 1)]}], pa.struct([("additionalProperties", pa.map_(pa.string(), pa.int64()))])
    )
    frames, errors = encoded({"additionalProperties": WHOLE, "required": ["additionalProperties"]}, rows, impl)
    assert frames == [None]
    assert "required" in str(errors[0])


def test_maps_that_are_members_like_others_stay_members() -> None:
    kind = pa.struct([("additionalProperties", pa.map_(pa.string(), pa.int64()))])
    rows = pa.array([{"additionalProperties": [("k", 1)]}], kind)
    named = {"properties": {"additionalProperties": {"additionalProperties": WHOLE}}}
    assert encoded(named, rows, IMPL)[0] == ['{"additionalProperties":{"k":1}}']
    assert encoded({}, rows, IMPL, rest=False)[0] == ['{"additionalProperties":{"k":1}}']
    kind = pa.struct([("additionalProperties", pa.map_(pa.int8(), pa.int8()))])
    numbered = pa.array([{"additionalProperties": [(1, 1)]}], kind)
    assert encoded({}, numbered, IMPL)[0] == ['{"additionalProperties":[{"key":1,"value":1}]}']


def test_the_options_are_checked() -> None:
    schema = Schema("{}", "JSON")
    with pytest.raises(ValueError, match="unnamed='skip'"):
        ColumnarEncoder(schema, unnamed="skip")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only JSON"):
        ColumnarEncoder(Schema('"string"'), unnamed="map")


def test_plans_show_the_map() -> None:
    parsed = JsonColumns().load(Schema(json.dumps(X), "JSON"), None)
    assert "additionalProperties: map" in str(JsonColumns().plan(parsed, parsed, REST))
