"""Functions on JSON Schemas by the names of confluent_kafka's `common.json_schema`.

Must not hold anything that serializers of ours need: they have `serdes.rules.walks.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from serdes.formats.json.validator import Engine
from serdes.rules import FieldTransform, FieldType, RuleContext
from serdes.rules.walks.fields import resolved
from serdes.rules.walks.json import Walk

__all__ = ["get_inline_tags", "get_type", "transform"]

TYPES: Final = {
    "object": FieldType.MAP,
    "array": FieldType.ARRAY,
    "string": FieldType.STRING,
    "integer": FieldType.INT,
    "number": FieldType.DOUBLE,
    "boolean": FieldType.BOOLEAN,
    "null": FieldType.NULL,
}


def get_type(schema: Any) -> FieldType:
    """The kind of a schema; NULL if it says none, or several."""
    if not isinstance(schema, Mapping):
        return FieldType.COMBINED
    if "const" in schema or "enum" in schema:
        return FieldType.ENUM
    if schema.get("properties"):
        return FieldType.RECORD
    return TYPES.get(str(schema.get("type")), FieldType.NULL)


def get_inline_tags(schema: Any) -> set[str]:
    """The tags written in a schema."""
    tags = schema.get("confluent:tags") if isinstance(schema, Mapping) else None
    return set(tags or ())


def transform(
    ctx: RuleContext,
    schema: Any,
    ref_registry: Any,
    ref_resolver: Any,
    path: str,
    message: Any,
    field_transform: FieldTransform,
) -> Any:
    """A copy of a value with a transform applied to its tagged fields.

    Args:
        ctx: what the rule may ask.
        schema: parsed JSON.
        ref_registry: not used.
        ref_resolver: resolves references.
        path: where the value is, `$` for the whole message; not used.
        message: the value.
        field_transform: the transform.
    """
    if message is None or not isinstance(schema, Mapping):
        return message
    engine = Engine(schema, {})
    walk = Walk(resolved, lambda part, base, value: engine.part_is_valid(part, value))
    return walk.value(ctx, field_transform, [(schema, ref_resolver)], "$", message, 0)
