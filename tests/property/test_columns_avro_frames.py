"""Columns written as Avro: the kernel and the encoder of objects agree, byte for byte and error for error."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serdes.columnar import ColumnarEncoder, avro_schema_of
from serdes.columnar.avro.encode import AvroFrames
from serdes.columnar.avro.writing import plan_of
from serdes.errors import SerializationError
from serdes.formats.avro.codec import load_texts
from serdes.kernels.avro_frames import native_program
from tests.strategies.arrow import arrays, structs

PREFIX = b"\0\0\0\0\7"

needs_kernel = pytest.mark.skipif(native_program() is None, reason="the compiled kernels are not in use")


def both(kind: pa.DataType, schema: str, struct: Any) -> Any:
    """The kernel's result, which is that of the encoder of objects."""
    plan = plan_of(kind, load_texts(schema).model)
    kernel, objects = (AvroFrames(plan, PREFIX, pure=pure).encode(struct) for pure in (False, True))
    assert kernel.errors.to_pylist() == objects.errors.to_pylist()
    assert kernel.frames.to_pylist() == objects.frames.to_pylist()
    kernel.frames.validate(full=True)
    return kernel


@needs_kernel
@given(st.data())
def test_any_columns(data: st.DataObject) -> None:
    kind = data.draw(structs())
    struct = data.draw(arrays(kind))
    schema = avro_schema_of(kind)
    made = both(kind, schema, struct)
    assert len(made.frames) == len(struct)
    start = data.draw(st.integers(0, len(struct)))
    rest = both(kind, schema, struct[start:])
    assert rest.frames.to_pylist() == made.frames.to_pylist()[start:]
    chunked = pa.chunked_array([struct[:start], struct[start:]], kind)
    assert both(kind, schema, chunked).frames.equals(made.frames)


CHANGES: dict[str, list[Any]] = {
    "long": ["int", "double", "float", {"type": "long", "logicalType": "timestamp-millis"}],
    "int": ["long", "float", "double", {"type": "int", "logicalType": "date"}],
    "double": ["float"],
    "float": ["double"],
    "string": [
        {"type": "string", "logicalType": "uuid"},
        {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"},
        {"type": "enum", "name": "E", "symbols": ["A", "B", "a0"]},
    ],
    "bytes": [{"type": "fixed", "name": "F", "size": 2}, {"type": "string", "logicalType": "uuid"}],
}


def changed(data: st.DataObject, schema: Any) -> Any:
    """A schema whose types are others here and there."""
    if isinstance(schema, list):
        kept = [changed(data, branch) for branch in schema]
        return kept if data.draw(st.integers(0, 3)) else kept[-1]
    if isinstance(schema, str):
        return data.draw(st.sampled_from([schema, *CHANGES.get(schema, [])]))
    logical = schema.get("logicalType")
    if logical == "decimal":
        precision = data.draw(st.integers(1, 76))
        scale = data.draw(st.integers(0, precision))
        made = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        size = precision * 10 // 24 + 1
        return made if data.draw(st.booleans()) else {**made, "type": "fixed", "name": "D", "size": size}
    if logical is not None and "timestamp" in logical:
        units = st.sampled_from(["millis", "micros", "nanos"])
        return {"type": "long", "logicalType": logical.rpartition("-")[0] + "-" + data.draw(units)}
    made = dict(schema)
    for name in ("items", "values"):
        if name in schema:
            made[name] = changed(data, schema[name])
    if "fields" in schema:
        made["fields"] = [{"name": f["name"], "type": changed(data, f["type"])} | original(f) for f in schema["fields"]]
    return made


def original(field: Any) -> Any:
    return {"arrowName": field["arrowName"]} if "arrowName" in field else {}


def named_apart(schema: Any, seen: list[str]) -> Any:
    """A schema whose named types have names of their own."""
    if isinstance(schema, list):
        return [named_apart(branch, seen) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: named_apart(part, seen) if key in ("items", "values") else part for key, part in schema.items()}
    if "name" in made:
        made["name"] = f"{made['name']}_{len(seen)}"
        seen.append("")
    if "fields" in made:
        made["fields"] = [{**field, "type": named_apart(field["type"], seen)} for field in made["fields"]]
    return made


@needs_kernel
@given(st.data())
def test_columns_that_do_not_fit(data: st.DataObject) -> None:
    kind = data.draw(structs())
    schema = json.dumps(named_apart(changed(data, json.loads(avro_schema_of(kind))), []))
    struct = data.draw(arrays(kind))
    try:
        plan_of(kind, load_texts(schema).model)
    except SerializationError:  # no row can be of this schema
        return
    both(kind, schema, struct)


@given(st.data())
def test_rows_are_independent(data: st.DataObject) -> None:
    """A row comes out the same alone, whatever its neighbours are."""
    from registry import Schema

    kind = data.draw(structs(1))
    struct = data.draw(arrays(kind))
    encoder = ColumnarEncoder(Schema(avro_schema_of(kind)), 7)
    whole = encoder.encode(struct)
    for at in range(len(struct)):
        alone = encoder.encode(struct[at : at + 1])
        assert alone.frames[0].as_py() == whole.frames[at].as_py()
        assert alone.errors[0].as_py() == whole.errors[at].as_py()
