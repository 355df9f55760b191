"""The JSON Schema of an Arrow type.

Must not know of values. The table is in docs/guide/columns.md.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

from serdes.errors import SerializationError

MAX_LEVELS: Final = 100
DRAFT: Final = "http://json-schema.org/draft-07/schema#"


def json_schema_of(arrow_type: pa.DataType | pa.Schema, *, title: str = "Record") -> str:
    """The JSON Schema (draft 7) that columns of an Arrow type are written with, as JSON.

    A field that may be null takes null too; the others are required. Decimals are strings with the keyword `arrowType`,
    by which they are read as decimals again, as `uint64` is by that keyword; bytes are base64; time spans are integers
    with the keyword `arrowDuration` (their unit); points in time and times of day without a zone have the formats
    `date-time-local` and `time-local` of OpenAPI's registry.

    Args:
        arrow_type: a struct type, or a schema.
        title: of the schema, which strategies take as the record's name.

    Raises:
        SerializationError: JSON has no such type: unions, intervals, run-end encoded, or nested deeper than 100 levels.
    """
    kind = pa.struct(list(arrow_type)) if isinstance(arrow_type, pa.Schema) else arrow_type
    if not pa.types.is_struct(kind):
        raise SerializationError(f"an object is made of a struct, not of {kind}")
    return json.dumps({"$schema": DRAFT, "title": title, **_schema(kind, 0)}, ensure_ascii=False)


def _schema(kind: pa.DataType, level: int) -> dict[str, Any]:
    types = pa.types
    if level > MAX_LEVELS:
        raise SerializationError(f"the Arrow type is nested deeper than {MAX_LEVELS} levels")
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return {"type": "string", "format": "uuid"}
        return _schema(kind.storage_type, level + 1)
    if types.is_dictionary(kind):
        return _schema(kind.value_type, level + 1)
    if types.is_struct(kind):
        return _object(kind, level)
    if types.is_map(kind):
        if types.is_string(kind.key_type) or types.is_large_string(kind.key_type) or kind.key_type == pa.string_view():
            return {"type": "object", "additionalProperties": _member(kind.item_field, level)}
        entry = pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])
        return {"type": "array", "items": _schema(entry, level + 1)}
    if hasattr(kind, "value_field") and not types.is_run_end_encoded(kind):
        return {"type": "array", "items": _member(kind.value_field, level)}
    return _leaf(kind)


def _object(kind: pa.DataType, level: int) -> dict[str, Any]:
    fields = [kind.field(at) for at in range(kind.num_fields)]
    made: dict[str, Any] = {"type": "object", "properties": {one.name: _member(one, level) for one in fields}}
    needed = [one.name for one in fields if not one.nullable]
    if len(made["properties"]) < len(fields):
        raise SerializationError(f"two fields of the struct have the same name: {kind}")
    return {**made, "required": needed} if needed else made


def _member(one: pa.Field, level: int) -> dict[str, Any]:
    made = _schema(one.type, level + 1)
    return {**made, "type": [made["type"], "null"]} if one.nullable and made["type"] != "null" else made


def _leaf(kind: pa.DataType) -> dict[str, Any]:
    types = pa.types
    if types.is_decimal(kind):
        scale = max(kind.scale, 0)
        digits = max(kind.precision - min(kind.scale, 0), scale)
        return {"type": "string", "format": "decimal", "arrowType": f"decimal({digits}, {scale})"}
    if types.is_timestamp(kind):
        return {"type": "string", "format": "date-time" if kind.tz is not None else "date-time-local"}
    if types.is_duration(kind):
        return {"type": "integer", "arrowDuration": kind.unit}
    for is_one, schema in LEAVES:
        if is_one(kind):
            return dict(schema)
    raise SerializationError(f"JSON has no type for {kind}")


LEAVES: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (pa.types.is_null, {"type": "null"}),
    (pa.types.is_boolean, {"type": "boolean"}),
    (pa.types.is_uint64, {"type": "integer", "arrowType": "uint64"}),
    (pa.types.is_integer, {"type": "integer"}),
    (pa.types.is_floating, {"type": "number"}),
    (lambda kind: kind in (pa.string(), pa.large_string(), pa.string_view()), {"type": "string"}),
    (
        lambda kind: kind in (pa.binary(), pa.large_binary(), pa.binary_view()),
        {"type": "string", "contentEncoding": "base64"},
    ),
    (pa.types.is_fixed_size_binary, {"type": "string", "contentEncoding": "base64"}),
    (pa.types.is_date, {"type": "string", "format": "date"}),
    (pa.types.is_time, {"type": "string", "format": "time-local"}),
)
