"""Comparison of two schemas of one kind: strings, numbers, values, arrays, objects.

Must not know how a comparison is run, or policies. Source: the `…SchemaDiff` classes of Confluent's registry. The
original is the writer's schema, the update the reader's; rules name only what can be an incompatibility.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Final, TypeAlias

from registry.compat.json.kinds import JsonKind
from registry.schemas.json.model import (
    ANYTHING,
    ArrayNode,
    ConstNode,
    EnumNode,
    Node,
    NodeKind,
    NotNode,
    Number,
    NumberNode,
    ObjectNode,
    StringNode,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A difference, with the steps to it from the two schemas, and details for its message."""

    kind: JsonKind
    steps: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """Two schemas inside whose differences count as those of the whole."""

    original: Node
    update: Node
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether two schemas inside are compatible; the answer is sent back."""

    original: Node
    update: Node


Rule: TypeAlias = Generator[Found | Part | Ask, bool | None, None]
EXACT: Final = Context(prec=10_000, Emax=100_000, Emin=-100_000)

Occurs: TypeAlias = Callable[[str, str], bool]
"""Whether a regular expression occurs in a name."""


LENGTHS: Final = (
    ("maxLength", "max_length", True, (JsonKind.MAX_LENGTH_ADDED, JsonKind.MAX_LENGTH_DECREASED)),
    ("minLength", "min_length", False, (JsonKind.MIN_LENGTH_ADDED, JsonKind.MIN_LENGTH_INCREASED)),
)
LIMITS: Final = (
    ("maximum", "maximum", True, (JsonKind.MAXIMUM_ADDED, JsonKind.MAXIMUM_DECREASED)),
    ("minimum", "minimum", False, (JsonKind.MINIMUM_ADDED, JsonKind.MINIMUM_INCREASED)),
    (
        *("exclusiveMaximum", "exclusive_maximum", True),
        (JsonKind.EXCLUSIVE_MAXIMUM_ADDED, JsonKind.EXCLUSIVE_MAXIMUM_DECREASED),
    ),
    (
        *("exclusiveMinimum", "exclusive_minimum", False),
        (JsonKind.EXCLUSIVE_MINIMUM_ADDED, JsonKind.EXCLUSIVE_MINIMUM_INCREASED),
    ),
)
ITEM_COUNTS: Final = (
    ("maxItems", "max_items", True, (JsonKind.MAX_ITEMS_ADDED, JsonKind.MAX_ITEMS_DECREASED)),
    ("minItems", "min_items", False, (JsonKind.MIN_ITEMS_ADDED, JsonKind.MIN_ITEMS_INCREASED)),
    ("maxContains", "max_contains", True, (JsonKind.MAX_CONTAINS_ADDED, JsonKind.MAX_CONTAINS_DECREASED)),
    ("minContains", "min_contains", False, (JsonKind.MIN_CONTAINS_ADDED, JsonKind.MIN_CONTAINS_INCREASED)),
)
PROPERTY_COUNTS: Final = (
    ("maxProperties", "max_properties", True, (JsonKind.MAX_PROPERTIES_ADDED, JsonKind.MAX_PROPERTIES_DECREASED)),
    ("minProperties", "min_properties", False, (JsonKind.MIN_PROPERTIES_ADDED, JsonKind.MIN_PROPERTIES_INCREASED)),
)


def _bounds(
    table: Iterable[tuple[str, str, bool, tuple[JsonKind, JsonKind]]],
    original: Node,
    update: Node,
    size: Callable[[Number], float] = int,
) -> Iterator[Found]:
    """Differences of limits; `size` makes of a limit what is compared: the registry drops decimals of counts."""
    for word, attribute, upper, kinds in table:
        new: Number | None = getattr(update, attribute)
        if new is None:
            continue
        old: Number | None = getattr(original, attribute)
        if old is None:
            yield Found(kinds[0], (word,), {"new": new})
        elif (size(new) < size(old)) if upper else (size(new) > size(old)):
            yield Found(kinds[1], (word,), {"old": old, "new": new})


def _limits(original: NumberNode, update: NumberNode) -> Iterator[Found]:
    for found in _bounds(LIMITS, original, update, _double):
        if found.kind is JsonKind.EXCLUSIVE_MAXIMUM_DECREASED and update.maximum is not None:
            # the registry looks at the update's `maximum` here, where its `exclusiveMaximum` was meant
            assert original.exclusive_maximum is not None
            if _double(original.exclusive_maximum) <= _double(update.maximum):
                continue
        yield found


def _double(value: Number) -> float:
    """A limit as Java's `double`: 9223372036854775807 is the same as the number before it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# --- schemas without schemas inside


def values(original: Node, update: Node) -> Iterator[Found]:
    """Two schemas of one kind that have no schemas inside."""
    if isinstance(original, StringNode) and isinstance(update, StringNode):
        yield from _bounds(LENGTHS, original, update)
        if update.pattern is not None and update.pattern != original.pattern:
            kind = JsonKind.PATTERN_ADDED if original.pattern is None else JsonKind.PATTERN_CHANGED
            yield Found(kind, ("pattern",), {"old": repr(original.pattern), "new": repr(update.pattern)})
    elif isinstance(original, NumberNode) and isinstance(update, NumberNode):
        yield from _limits(original, update)
        yield from _multiples(original.multiple_of, update.multiple_of)
        if update.integer and not original.integer:
            yield Found(JsonKind.TYPE_NARROWED)
    elif isinstance(original, EnumNode) and isinstance(update, EnumNode):
        missing = original.values - update.values
        if missing:
            kind = JsonKind.ENUM_ARRAY_NARROWED if update.values < original.values else JsonKind.ENUM_ARRAY_CHANGED
            yield Found(kind, ("enum",), {"old": ", ".join(sorted(missing))})
    elif isinstance(original, ConstNode) and isinstance(update, ConstNode) and original.value != update.value:
        yield Found(JsonKind.ENUM_ARRAY_CHANGED, ("const",), {"old": original.value})


def _multiples(old: Number | None, new: Number | None) -> Iterator[Found]:
    if new is None or str(old) == str(new):  # the registry tells 1.0 from 1
        return
    details = {"old": old, "new": new}
    if old is None:
        yield Found(JsonKind.MULTIPLE_OF_ADDED, ("multipleOf",), details)
    elif _divides(old, new):
        yield Found(JsonKind.MULTIPLE_OF_EXPANDED, ("multipleOf",), details)
    elif not _divides(new, old):
        yield Found(JsonKind.MULTIPLE_OF_CHANGED, ("multipleOf",), details)


def _divides(one: Number, other: Number) -> bool:
    try:
        return EXACT.remainder(Decimal(other), Decimal(one)) == 0
    except ArithmeticError:  # a multiple of 0
        return False


def negations(original: NotNode, update: NotNode) -> Rule:
    """Two `not`: what must not hold is compared the other way round."""
    if not (yield Ask(update.inner, original.inner)):
        yield Found(JsonKind.NOT_TYPE_EXTENDED, ("not",))


# --- what an object or array says of the parts it does not name


def _unevaluated(original: Node | None, update: Node | None, word: str, kinds: tuple[JsonKind, JsonKind]) -> Rule:
    """`unevaluatedProperties` and `unevaluatedItems`; `kinds` for closed and for narrowed."""
    if update is None or update is original:
        return
    before = None if original is None else original.kind
    if update.kind is NodeKind.FALSE:
        if before is not NodeKind.FALSE:
            yield Found(kinds[0], (word,))
    elif before is None or (before in ANYTHING and update.kind not in ANYTHING):
        yield Found(kinds[1], (word,))
    elif before is not NodeKind.FALSE and not (update.kind in ANYTHING and before not in ANYTHING):
        assert original is not None
        yield Part(original, update, (word,))


def _rest(
    original: ObjectNode | ArrayNode, update: ObjectNode | ArrayNode, word: str, kinds: tuple[JsonKind, JsonKind]
) -> Rule:
    """`additionalProperties` and `additionalItems`; `kinds` for closed and for narrowed."""
    if original.more != update.more:
        if original.more:
            yield Found(kinds[0], (word,))
    elif update.rest is not None:
        if original.rest is None:
            yield Found(kinds[1], (word,))
        else:
            yield Part(original.rest, update.rest, (word,))


def _is_open(node: ObjectNode | ArrayNode) -> bool:
    """Whether anything may come that is not named."""
    if isinstance(node, ObjectNode) and node.patterns:
        return False
    return node.more and node.rest is None and (node.unevaluated is None or node.unevaluated.kind in ANYTHING)


def _covering(node: ObjectNode | ArrayNode, name: str, occurs: Occurs) -> Node | None:
    """The schema of a part that is not named; None if there can be no such part."""
    if isinstance(node, ObjectNode):
        for pattern, schema in node.patterns.items():
            if occurs(pattern, name):
                return schema
    if node.rest is not None:
        return node.rest
    inner = node.unevaluated
    if node.more and inner is not None and inner.kind is not NodeKind.FALSE and inner.kind not in ANYTHING:
        return inner
    return None


# --- arrays


def arrays(original: ArrayNode, update: ArrayNode, occurs: Occurs) -> Rule:
    """Two schemas of arrays."""
    if update.every is not None:
        if original.every is None:
            yield Found(JsonKind.SCHEMA_ADDED, ("items",))
        else:
            yield Part(original.every, update.every, ("items",))
    for at in range(max(len(original.first), len(update.first))):
        steps = ("items", str(at))
        if at >= len(update.first):
            yield from _item_removed(original.first[at], update, steps, occurs)
        elif at >= len(original.first):
            yield from _item_added(original, update.first[at], steps, occurs)
        else:
            yield Part(original.first[at], update.first[at], steps)
    closed, narrowed = JsonKind.ADDITIONAL_ITEMS_REMOVED, JsonKind.ADDITIONAL_ITEMS_NARROWED
    yield from _rest(original, update, "additionalItems", (closed, narrowed))
    closed, narrowed = JsonKind.UNEVALUATED_ITEMS_REMOVED, JsonKind.UNEVALUATED_ITEMS_NARROWED
    yield from _unevaluated(original.unevaluated, update.unevaluated, "unevaluatedItems", (closed, narrowed))
    yield from _bounds(ITEM_COUNTS, original, update)
    if update.unique and not original.unique:
        yield Found(JsonKind.UNIQUE_ITEMS_ADDED, ("uniqueItems",))


def _item_removed(item: Node, update: ArrayNode, steps: tuple[str, ...], occurs: Occurs) -> Rule:
    if _is_open(update):
        return
    covering = _covering(update, steps[-1], occurs)
    if covering is not None:
        yield from _covered(item, covering, steps, JsonKind.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    elif item.kind is not NodeKind.FALSE:
        yield Found(JsonKind.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL, steps, {"name": steps[-1]})


def _item_added(original: ArrayNode, item: Node, steps: tuple[str, ...], occurs: Occurs) -> Rule:
    if _is_open(original):
        if item.kind not in ANYTHING:
            yield Found(JsonKind.ITEM_ADDED_TO_OPEN_CONTENT_MODEL, steps, {"name": steps[-1]})
        return
    covering = _covering(original, steps[-1], occurs)
    if covering is not None:
        yield from _covered(covering, item, steps, JsonKind.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)


def _covered(original: Node, update: Node, steps: tuple[str, ...], kind: JsonKind) -> Rule:
    """A part that one side names and the other covers without its name."""
    compatible = yield Ask(original, update)
    if not compatible:
        yield Part(original, update, steps)
        yield Found(kind, steps, {"name": repr(steps[-1])})


# --- objects


def objects(original: ObjectNode, update: ObjectNode, occurs: Occurs) -> Rule:
    """Two schemas of objects."""
    required = frozenset(update.required)
    was_required = frozenset(original.required)
    for name in original.properties:
        new = update.properties.get(name)
        if new is not None and name in required and name not in was_required and not new.has_default:
            yield Found(JsonKind.REQUIRED_ATTRIBUTE_ADDED, ("required", name), {"name": repr(name)})
    for name, old in original.properties.items():
        new = update.properties.get(name)
        if new is None:
            yield from _property_removed(name, old, update, occurs)
        else:
            yield Part(old, new, ("properties", name))
    for name, new in update.properties.items():
        if name not in original.properties:
            yield from _property_added(name, original, new, name in required, occurs)
    yield from _dependencies(original, update)
    closed, narrowed = JsonKind.ADDITIONAL_PROPERTIES_REMOVED, JsonKind.ADDITIONAL_PROPERTIES_NARROWED
    yield from _rest(original, update, "additionalProperties", (closed, narrowed))
    closed, narrowed = JsonKind.UNEVALUATED_PROPERTIES_REMOVED, JsonKind.UNEVALUATED_PROPERTIES_NARROWED
    yield from _unevaluated(original.unevaluated, update.unevaluated, "unevaluatedProperties", (closed, narrowed))
    yield from _bounds(PROPERTY_COUNTS, original, update)


def _property_removed(name: str, old: Node, update: ObjectNode, occurs: Occurs) -> Rule:
    if _is_open(update):
        return
    steps = ("properties", name)
    covering = _covering(update, name, occurs)
    if covering is not None:
        yield from _covered(old, covering, steps, JsonKind.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    elif old.kind is not NodeKind.FALSE:
        yield Found(JsonKind.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL, steps, {"name": repr(name)})


def _property_added(name: str, original: ObjectNode, new: Node, required: bool, occurs: Occurs) -> Rule:
    steps, details = ("properties", name), {"name": repr(name)}
    if _is_open(original):
        if new.kind in ANYTHING:
            return
        if not required:
            yield Found(JsonKind.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL, steps, details)
        elif new.has_default:
            yield Found(JsonKind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL, steps, details)
        else:
            yield Found(JsonKind.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL, steps, details)
        return
    covering = _covering(original, name, occurs)
    if covering is not None:
        yield from _covered(covering, new, steps, JsonKind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL)
    if required and not new.has_default:
        yield Found(JsonKind.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL, steps, details)


def _dependencies(original: ObjectNode, update: ObjectNode) -> Rule:
    for name, names in update.needs.items():
        new, old = frozenset(names), original.needs.get(name)
        details = {"name": repr(name), "new": ", ".join(names), "old": ", ".join(old or ())}
        if old is None:
            yield Found(JsonKind.DEPENDENCY_ARRAY_ADDED, ("dependencies", name), details)
        elif new - frozenset(old):
            kind = JsonKind.DEPENDENCY_ARRAY_EXTENDED if new > frozenset(old) else JsonKind.DEPENDENCY_ARRAY_CHANGED
            yield Found(kind, ("dependencies", name), details)
    for name, schema in update.needs_schema.items():
        if name in original.needs_schema:
            yield Part(original.needs_schema[name], schema, ("dependencies", name))
        else:
            yield Found(JsonKind.DEPENDENCY_SCHEMA_ADDED, ("dependencies", name), {"name": repr(name)})
