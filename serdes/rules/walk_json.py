"""Applies a transform to the properties of a JSON value, and knows the tags written in its schema.

Must not know of rules' languages. Nothing given is changed: what is transformed is copied. Full names are paths:
`$.address.zip`. Source: Confluent's data contracts for JSON Schema (`confluent:tags` on properties).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from registry import RuleKind
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext

__all__ = ["field_transformer"]

TAGS: Final = "confluent:tags"
MAX_DEPTH: Final = 200
TYPES: Final = {
    "object": FieldType.RECORD,
    "array": FieldType.ARRAY,
    "string": FieldType.STRING,
    "integer": FieldType.INT,
    "number": FieldType.DOUBLE,
    "boolean": FieldType.BOOLEAN,
    "null": FieldType.NULL,
}
LEAVES: Final = (FieldType.ENUM, FieldType.STRING, FieldType.INT, FieldType.DOUBLE, FieldType.BOOLEAN)

Lookup = Callable[[Any, str], tuple[Any, Any]]
"""Base (what references are relative to) and `$ref` → the schema it names, and that schema's base."""
Validity = Callable[[Any, Any, Any], bool]
"""Schema, its base and value → whether the value is valid."""


def field_transformer(schema: Any, base: Any, lookup: Lookup, is_valid: Validity) -> FieldTransformer:
    """How a transform is applied to values of a schema.

    Args:
        schema: the JSON Schema, parsed.
        base: what its references are relative to.
        lookup: resolves references.
        is_valid: chooses among alternatives.
    """
    walk = _Walk(lookup, is_valid)

    def apply(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
        return walk.value(ctx, transform, schema, base, "$", message, 0)

    return apply


class _Walk:
    """One schema's walk."""

    def __init__(self, lookup: Lookup, is_valid: Validity) -> None:
        self._lookup = lookup
        self._is_valid = is_valid

    def value(
        self, ctx: RuleContext, transform: FieldTransform, schema: Any, base: Any, path: str, value: Any, depth: int
    ) -> Any:
        """Walks a value; what no schema speaks of, and null, stays as it is."""
        if value is None or not isinstance(schema, dict) or depth > MAX_DEPTH:
            return value
        entered = ctx.current_field()
        if entered is not None:
            entered.field_type = _type(schema, value)
        rest = (ctx, transform)
        if "$ref" in schema:
            target, target_base = self._lookup(base, schema["$ref"])
            return self.value(*rest, target, target_base, path, value, depth + 1)
        for part in self._parts(schema, base, value):
            value = self.value(*rest, part, base, path, value, depth + 1)
        if isinstance(value, dict):
            return self._properties(ctx, transform, schema, base, path, value, depth)
        items = schema.get("items")
        if isinstance(value, list) and isinstance(items, dict):
            return [self.value(*rest, items, base, path, item, depth + 1) for item in value]
        if self._is_leaf(schema, value) and entered is not None and ctx.is_tagged(entered):
            return transform(ctx, entered, value)
        return value

    def _parts(self, schema: Mapping[str, Any], base: Any, value: Any) -> list[Any]:
        """The subschemas of a combined schema that a value is walked by."""
        parts = list(schema.get("allOf") or ())
        for name, first_only in (("oneOf", True), ("anyOf", False)):
            valid = [part for part in schema.get(name) or () if self._is_valid(part, base, value)]
            parts += valid[:1] if first_only else valid
        return parts

    @staticmethod
    def _is_leaf(schema: Mapping[str, Any], value: Any) -> bool:
        if any(name in schema for name in ("allOf", "oneOf", "anyOf")) or isinstance(value, (dict, list)):
            return False
        return _type(schema, value) in LEAVES

    def _properties(
        self,
        ctx: RuleContext,
        transform: FieldTransform,
        schema: Mapping[str, Any],
        base: Any,
        path: str,
        value: dict[str, Any],
        depth: int,
    ) -> dict[str, Any]:
        made = dict(value)
        for name, part in (schema.get("properties") or {}).items():
            if made.get(name) is None or not isinstance(part, dict):
                continue
            full_name = f"{path}.{name}"
            ctx.enter_field(made, full_name, name, _type(part, made[name]), _tags(part))
            try:
                result = self.value(ctx, transform, part, base, full_name, made[name], depth + 1)
            finally:
                ctx.exit_field()
            if ctx.rule.kind is not RuleKind.CONDITION:
                made[name] = result
            elif result is False:
                raise RuleConditionError(ctx.rule)
        return made


def _tags(schema: Mapping[str, Any]) -> frozenset[str]:
    tags = schema.get(TAGS)
    return frozenset(str(tag) for tag in tags) if isinstance(tags, list) else frozenset()


def _type(schema: Mapping[str, Any], value: Any) -> FieldType:
    """What a schema says a value is; of several types the value's own."""
    if any(name in schema for name in ("allOf", "oneOf", "anyOf")):
        return FieldType.COMBINED
    if "enum" in schema or "const" in schema:
        return FieldType.ENUM
    named = schema.get("type")
    if isinstance(named, list):
        named = _json_type(value) if _json_type(value) in named else "number"
    return TYPES.get(str(named), FieldType.RECORD if "properties" in schema else FieldType.NULL)


def _json_type(value: Any) -> str:
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")
