"""Rules inside JSON Schemas: which there are, and which values of a document they are for.

Must not know of rules' languages. Rules of a schema are for each value that it describes, wherever it stands: a
property, an item, an alternative, behind a reference; null is not looked at. Paths begin with `$`. What applies to a
value is found by `serdes.rules.walks.json`, as for tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from serdes.formats.json.codec import JsonSchema, resolver_of
from serdes.formats.json.validator import Engine
from serdes.rules.inline.model import (
    VALIDATION_RULES_PROP,
    Site,
    Sites,
    ValidationRule,
    ValidationRuleError,
    ValidationRuleExecutor,
    never,
    parse_validation_rules,
    rules_of,
    violations_of,
)
from serdes.rules.model import RuleError
from serdes.rules.walks.fields import plain, resolved
from serdes.rules.walks.json import MAX_DEPTH, Placed, Walk, of_item, of_property

NAMED: Final = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies")
"""Keywords that hold schemas by name."""
SINGLE: Final = ("items", "additionalItems", "additionalProperties", "then", "else")
LISTED: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
TESTED: Final = (
    *("not", "if", "contains", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
"""Keywords whose schemas are only asked whether something is valid, or for what others left over."""


def sites_of(parsed: JsonSchema) -> Sites | None:
    """The sites of a schema's rules; None if it has none.

    Raises:
        RuleThatNeverRunsError: a rule stands where nothing runs it.
    """
    places = [_places(document, "$", "") for document in (parsed.document, *parsed.referenced.values())]
    if not [place for found in places for place in found]:
        return None
    engine = parsed.engine or Engine(parsed.document, parsed.referenced)  # none where values are not checked
    base = resolver_of(parsed)
    return _Rules(parsed.document, base, lambda part, _, value: engine.part_is_valid(part, value), strict=True).sites


def validate_message(
    executor: ValidationRuleExecutor | None,
    schema: Any,
    ref_registry: Any,
    ref_resolver: Any,
    message: Any,
    fail_fast: bool = False,
) -> list[ValidationRuleError]:
    """All rules of a schema that a value breaks.

    Args:
        executor: evaluates them; None for no rules.
        schema: the schema as a value.
        ref_registry: the documents it refers to (`referencing.Registry`).
        ref_resolver: resolves its references (`referencing.Resolver`).
        message: the value.
        fail_fast: stop at the first one.
    """
    if executor is None or schema is None or message is None:
        return []
    engine = Engine(schema, {uri: ref_registry[uri].contents for uri in ref_registry or ()})
    rules = _Rules(schema, ref_resolver, lambda part, _, value: engine.part_is_valid(part, value), strict=False)
    return violations_of(executor, rules.sites(message), fail_fast)


def _places(schema: Any, place: str, tested: str) -> Iterator[str]:
    """The places of rules in a schema.

    Raises:
        RuleThatNeverRunsError: one of them is in a schema that is only asked whether something is valid.
    """
    if not isinstance(schema, Mapping):
        return
    if VALIDATION_RULES_PROP in schema:
        if tested:
            raise never(place, f"schemas within {tested!r} describe no value")
        rules_of(schema[VALIDATION_RULES_PROP], place)
        yield place
    for key in NAMED:
        for name, part in _entries(schema.get(key)):
            yield from _places(part, f"{place}.{key}.{name}", tested)
    for key in (*SINGLE, *TESTED):
        yield from _places(schema.get(key), f"{place}.{key}", tested or (key if key in TESTED else ""))
    for key in LISTED:
        parts = schema.get(key)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            yield from _places(part, f"{place}.{key}[{index}]", tested)


def _entries(found: Any) -> list[tuple[Any, Any]]:
    return list(found.items()) if isinstance(found, Mapping) else []


class _Rules:
    """The rules of one schema.

    Args:
        schema: the schema.
        base: what its references are relative to.
        is_valid: chooses among alternatives.
        strict: refuse values that are none of the alternatives; else the rules of these are left out.
    """

    def __init__(self, schema: Any, base: Any, is_valid: Any, strict: bool) -> None:
        self._root: Placed = (schema, base)
        self._walk = Walk(resolved, is_valid, _refuse if strict else None)
        self._parsed: dict[int, list[ValidationRule]] = {}

    def sites(self, value: Any) -> Iterator[Site]:
        """All that rules are for, in a value, outer values first."""
        return self._within([self._root], plain(value), "$", 0)

    def _within(self, schemas: list[Placed], value: Any, path: str, depth: int) -> Iterator[Site]:
        if value is None:
            return
        if depth > MAX_DEPTH:
            raise RuleError(f"the value is nested deeper than {MAX_DEPTH} levels")
        every = self._walk.applying(schemas, value)
        for schema, _ in every:
            if VALIDATION_RULES_PROP in schema:
                yield Site(self._rules_of(schema), schema, value, path)
        if isinstance(value, Mapping):
            for name, item in value.items():
                if parts := list(of_property(every, name)):
                    yield from self._within(parts, item, f"{path}.{name}", depth + 1)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                if parts := list(of_item(every, index)):
                    yield from self._within(parts, item, f"{path}[{index}]", depth + 1)

    def _rules_of(self, schema: Mapping[str, Any]) -> list[ValidationRule]:
        found = self._parsed.get(id(schema))
        if found is None:
            found = self._parsed[id(schema)] = parse_validation_rules(schema[VALIDATION_RULES_PROP])
        return found


def _refuse(keyword: str) -> None:
    raise RuleError(
        f"the value is valid by none of the schemas of {keyword!r}: which rules it has to keep is not known"
    )
