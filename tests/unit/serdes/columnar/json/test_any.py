"""Values of any shape: read as JSON text, written as the JSON that the text is."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnarEncoder

ANY = {"type": ["array", "null", "string"]}
DOCUMENT = {
    "type": "object",
    "properties": {
        "any": {},
        "several": {"type": ["string", "integer"], "minLength": 2, "minimum": 5},
        "text": {"type": "string"},
        "list": {"type": "array"},
        "map": {"type": "object", "additionalProperties": ANY},
        "object": {"type": "object"},
        "inner": {"type": "object", "properties": {"yes": True, "tuple": {"type": "array", "prefixItems": [{}]}}},
    },
}
SCHEMA = Schema(json.dumps(DOCUMENT), "JSON")
HEAD = b"\0\0\0\0\1"


def written(struct: pa.Array, schema: Schema = SCHEMA) -> tuple[list[bytes | None], list[str | None]]:
    result = ColumnarEncoder(schema, 1).encode(struct)
    return result.frames.to_pylist(), result.errors.to_pylist()


def read(frames: list[bytes | None]) -> pa.Array:
    result = ColumnarDecoder(lambda schema_id: SCHEMA, SCHEMA).decode(pa.array(frames, pa.binary()))
    assert result.errors.null_count == len(result.errors)
    return result.struct


def test_documents_go_through_columns_and_back_to_the_letter() -> None:
    documents = [
        '{"any":{"b":[1,2.50,null,"q\\u20ac"]},"several":"text","text":"5","list":[1,"x",null],'
        '"map":{"k":[1],"z":"t"},"object":{"q":1},"inner":{"yes":false,"tuple":[1,"a"]}}',
        '{"any":123456789012345678901234567890,"several":7,"text":"{}","list":[],"map":{},"object":{},'
        '"inner":{"yes":"x","tuple":[]}}',
        '{"any":null}',
    ]
    frames, errors = written(read([HEAD + document.encode() for document in documents]))
    assert errors == [None, None, None]
    assert frames == [HEAD + document.encode() for document in documents]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_texts_of_all_kinds_are_json_and_others_are_errors(kind: pa.DataType) -> None:
    texts = ["hello", "NaN", '"hi"', "", "[1,]", " 7 ", None]
    frames, errors = written(pa.StructArray.from_arrays([pa.array(texts, pa.string()).cast(kind)], ["any"]))
    assert frames == [None, None, HEAD + b'{"any":"hi"}', None, None, HEAD + b'{"any": 7 }', HEAD + b'{"any":null}']
    assert [error is not None for error in errors] == [frame is None for frame in frames]
    assert str(errors[0]).startswith("at any: the schema takes values of any shape here, as texts of JSON")


def test_the_json_in_a_text_must_be_valid() -> None:
    frames, errors = written(pa.array([{"several": '"ab"'}, {"several": '"a"'}, {"several": "3"}, {"several": "[]"}]))
    assert frames == [HEAD + b'{"several":"ab"}', None, None, None]
    assert errors[0] is None
    assert None not in errors[1:]


def test_members_that_the_schema_does_not_name_stay_strings() -> None:
    rows: list[Any] = [{"any": "1", "more": "1", "object": {"inside": "2"}, "list": ["3"], "map": [("k", "[4]")]}]
    kind = pa.struct(
        [
            ("any", pa.string()),
            ("more", pa.string()),
            ("object", pa.struct([("inside", pa.string())])),
            ("list", pa.list_(pa.string())),
            ("map", pa.map_(pa.string(), pa.string())),
        ]
    )
    frames, errors = written(pa.array(rows, kind))
    assert errors == [None]
    assert frames == [HEAD + b'{"any":1,"more":"1","object":{"inside":"2"},"list":[3],"map":{"k":[4]}}']


def test_a_schema_that_is_not_read_as_columns_takes_texts_as_strings() -> None:
    frames, _ = written(pa.array([{"a": "1"}]), Schema("{}", "JSON"))
    assert frames == [HEAD + b'{"a":"1"}']
