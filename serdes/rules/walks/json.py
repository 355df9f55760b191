"""Applies a transform to the properties of a JSON value, and knows the tags written in its schema.

Must not know of rules' languages. Nothing given is changed: what is transformed is copied. A value is walked by all
schemas that apply to it, and each single value is transformed once. Full names are paths: `$.address.zip`. Source:
Confluent's data contracts for JSON Schema (`confluent:tags` on properties); the applicators of JSON Schema 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from registry import RuleKind
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext, RuleError

TAGS: Final = "confluent:tags"
MAX_DEPTH: Final = 250
MAX_SCHEMAS: Final = 10_000
TYPES: Final = {
    "object": FieldType.RECORD,
    "array": FieldType.ARRAY,
    "string": FieldType.STRING,
    "integer": FieldType.INT,
    "number": FieldType.DOUBLE,
    "boolean": FieldType.BOOLEAN,
    "null": FieldType.NULL,
}
COMBINED: Final = ("allOf", "anyOf", "oneOf")

Lookup = Callable[[Any, str], tuple[Any, Any]]
"""Base (what references are relative to) and `$ref` → the schema it names, and that schema's base."""
Validity = Callable[[Any, Any, Any], bool]
"""Schema, its base and value → whether the value is valid."""
Placed: TypeAlias = tuple[Mapping[str, Any], Any]
"""A schema and its base."""
Reached: TypeAlias = tuple[Any, Any]
"""A keyword's content, a schema or not (true, false, missing), and its base."""


def field_transformer(schema: Any, base: Any, lookup: Lookup, is_valid: Validity) -> FieldTransformer:
    """The application of a transform to values of a schema.

    Args:
        schema: the JSON Schema, parsed.
        base: what its references are relative to.
        lookup: resolves references.
        is_valid: chooses among alternatives.
    """
    walk = Walk(lookup, is_valid)

    def apply(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
        return walk.value(ctx, transform, [(schema, base)], "$", message, 0)

    return apply


class Walk:
    """One schema's walk.

    Args:
        lookup: resolves references.
        is_valid: chooses among alternatives.
        unfit: called with the keyword where a value is valid by none of its alternatives; None for nothing.
    """

    def __init__(self, lookup: Lookup, is_valid: Validity, unfit: Callable[[str], None] | None = None) -> None:
        self._lookup = lookup
        self._is_valid = is_valid
        self._unfit = unfit

    def value(
        self, ctx: RuleContext, transform: FieldTransform, schemas: list[Placed], path: str, value: Any, depth: int
    ) -> Any:
        """Walks a value by the schemas that apply to it; null, and what none speaks of, stays as it is.

        Raises:
            RuleError: it is nested too deep: part of it would go untransformed.
        """
        if value is None:
            return None
        if depth > MAX_DEPTH:
            raise RuleError(f"the value is nested deeper than {MAX_DEPTH} levels: rules can't be applied to all of it")
        if isinstance(value, Mapping):
            return self._properties(ctx, transform, self.applying(schemas, value), path, value, depth)
        if isinstance(value, (list, tuple)):
            every = self.applying(schemas, value)
            return [
                self.value(ctx, transform, list(of_item(every, index)), path, item, depth + 1)
                for index, item in enumerate(value)
            ]
        entered = ctx.current_field()
        if entered is None or not ctx.is_tagged(entered):
            return value
        entered.field_type = _type(self.applying(schemas, value), value)
        return transform(ctx, entered, value)

    def _properties(
        self,
        ctx: RuleContext,
        transform: FieldTransform,
        schemas: list[Placed],
        path: str,
        value: Mapping[str, Any],
        depth: int,
    ) -> dict[str, Any]:
        made = dict(value)
        for name, item in value.items():
            parts = list(of_property(schemas, name))
            if item is None or not parts:
                continue
            every, full_name = self.applying(parts, item), f"{path}.{name}"
            tags = [tag for part, _ in every for tag in _tags(part)]
            ctx.enter_field(made, full_name, name, _type(every, item), tags)
            try:
                result = self.value(ctx, transform, parts, full_name, item, depth + 1)
            finally:
                ctx.exit_field()
            if ctx.rule.kind is not RuleKind.CONDITION:
                made[name] = result
            elif result is False:
                raise RuleConditionError(ctx.rule)
        return made

    def applying(self, schemas: Sequence[Placed], value: Any) -> list[Placed]:
        """These schemas and all within them that apply to a value: referenced, combined, conditional."""
        found: list[Placed] = []
        seen: set[int] = set()
        waiting: list[Reached] = list(reversed(schemas))
        while waiting:
            schema, base = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append((schema, base))
            if len(found) > MAX_SCHEMAS:
                raise RuleError(f"more than {MAX_SCHEMAS} schemas apply to one value: rules can't be applied to it")
            waiting += reversed(list(self._within(schema, base, value)))
        return found

    def _within(self, schema: Mapping[str, Any], base: Any, value: Any) -> Iterable[Reached]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(schema.get(keyword), str):
                yield self._lookup(base, schema[keyword])
        for part in schema.get("allOf") or ():
            yield part, base
        for keyword in ("oneOf", "anyOf"):
            valid = 0
            for part in schema.get(keyword) or ():
                if self._is_valid(part, base, value):
                    valid += 1
                    yield part, base
                    if keyword == "oneOf":
                        break
            if not valid and schema.get(keyword) and self._unfit is not None:
                self._unfit(keyword)
        if "if" in schema:
            branch = "then" if self._is_valid(schema["if"], base, value) else "else"
            yield schema.get(branch), base
        if isinstance(value, Mapping):
            for keyword in ("dependentSchemas", "dependencies"):
                for name, part in (schema.get(keyword) or {}).items():
                    if name in value:
                        yield part, base


def of_property(schemas: Iterable[Placed], name: str) -> Iterable[Placed]:
    """The schemas of a property."""
    for schema, base in schemas:
        named = [part for key, part in (schema.get("properties") or {}).items() if key == name]
        named += [part for key, part in (schema.get("patternProperties") or {}).items() if re.search(key, name)]
        if not named:
            named = [schema.get(key) for key in ("additionalProperties", "unevaluatedProperties")]
        for part in named:
            if isinstance(part, Mapping):
                yield part, base


def of_item(schemas: Iterable[Placed], index: int) -> Iterable[Placed]:
    """The schemas of an item of a list."""
    for schema, base in schemas:
        items, first = schema.get("items"), schema.get("prefixItems")
        fixed, rest = (items, "additionalItems") if isinstance(items, list) else (first or [], "items")
        part = fixed[index] if index < len(fixed) else schema.get(rest, schema.get("unevaluatedItems"))
        if isinstance(part, Mapping):
            yield part, base


def _tags(schema: Mapping[str, Any]) -> list[str]:
    tags = schema.get(TAGS)
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _type(schemas: Sequence[Placed], value: Any) -> FieldType:
    """The type that schemas give a value; of several types, or of none, the value's own."""
    if isinstance(value, (Mapping, list, tuple)) and any(key in schema for schema, _ in schemas for key in COMBINED):
        return FieldType.COMBINED
    own = _json_type(value)
    for schema, _ in schemas:
        if "enum" in schema or "const" in schema:
            return FieldType.ENUM
        named = schema.get("type")
        if isinstance(named, str) and named in TYPES:
            return TYPES[named]
    return TYPES[own]


def _json_type(value: Any) -> str:
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        ((list, tuple), "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "string")
