"""Schemas whose root is no record: as the one field of a record, so that columns can be made of them.

An Avro record of one field is written as that field alone, so its payloads need no change; JSON documents get an object
around them. Must not know of Spark. Source: Avro specification 1.12, "Binary Encoding".
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from registry import Schema, SchemaReference
from serdes.errors import SerializationError
from serdes.formats.avro.codec import load as load_avro
from serdes.formats.json.codec import loads

ROOT: Final = "value"
"""The field that holds a root that is no record."""
NAME: Final = "KserdesRoot"
MAGIC_GUID: Final = b"\x01"
GUID_SIZE: Final = 17
ID_SIZE: Final = 5


def wrapped(schema: Schema) -> Schema:
    """The schema of a record whose one field has the given schema.

    Raises:
        ValueError: it is no JSON text.
    """
    inner = json.loads(schema.schema_str)
    if schema.schema_type == "AVRO":
        outer: Any = {"type": "record", "name": NAME, "fields": [{"name": ROOT, "type": inner}]}
    else:
        outer = {"type": "object", "properties": {ROOT: _moved(inner)}, "required": [ROOT]}
        if isinstance(inner, dict) and "$schema" in inner:
            outer["$schema"] = inner["$schema"]
    return dataclasses.replace(schema, schema_str=json.dumps(outer))


def _moved(inner: Any) -> Any:
    """A JSON Schema that stands one level deeper: references to its own parts point there."""
    if isinstance(inner, list):
        return [_moved(item) for item in inner]
    if not isinstance(inner, dict):
        return inner
    made = {name: _moved(item) for name, item in inner.items()}
    pointer = inner.get("$ref")
    if isinstance(pointer, str) and pointer.startswith("#"):
        made["$ref"] = f"#/properties/{ROOT}{pointer[1:]}"
    return made


def framed_as_objects(frames: pa.Array, ids: pa.Array | None) -> pa.Array:
    """Frames of JSON documents with an object around each document; what is no document stays as it is.

    Args:
        frames: a binary array.
        ids: headers that name schemas; where there is one the frame is a document alone.
    """
    headers = [None] * len(frames) if ids is None else ids.to_pylist()
    rows = zip(frames.to_pylist(), headers, strict=True)
    made = [None if frame is None else _object(frame, header is not None) for frame, header in rows]
    return pa.array(made, pa.binary())


def _object(frame: bytes, headed: bool) -> bytes:
    size = 0 if headed else GUID_SIZE if frame[:1] == MAGIC_GUID else ID_SIZE
    try:
        loads(frame[size:])  # `1, "value": 2` is none, but would be in an object
    except SerializationError:
        return frame
    return b'%b{"%b":%b}' % (frame[:size], ROOT.encode(), frame[size:])


def path_in_root(path: str) -> str | None:
    """A path in a wrapped schema's values as one in the root; None for the root itself."""
    return path.removeprefix(f"{NAME}.").removeprefix(ROOT).removeprefix(".") or None


def has_record(schema: Schema, resolve: Callable[[SchemaReference], Schema], wanted: str) -> bool:
    """Whether a schema is of the record of this name, which may lack the namespace.

    Avro: the full name. JSON: the title. Protobuf: one of its message types.

    Raises:
        SerializationError: it is no schema.
    """
    if schema.schema_type == "PROTOBUF":
        return _has_message(schema, resolve, wanted)
    if schema.schema_type == "AVRO":
        name = load_avro(schema, resolve).name
    else:
        document = json.loads(schema.schema_str)
        name = document.get("title") if isinstance(document, dict) else None
    return isinstance(name, str) and (name == wanted or name.rpartition(".")[2] == wanted)


def _has_message(schema: Schema, resolve: Callable[[SchemaReference], Schema], wanted: str) -> bool:
    from serdes.columnar.protobuf.format import load_resolved

    try:
        load_resolved(schema, resolve).named(wanted)
    except SerializationError:
        return False
    return True
