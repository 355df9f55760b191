"""Schemas of 2019-09 and 2020-12: how one schema object becomes a node.

Must not know of comparisons. Source: Confluent's `SchemaTranslator` on top of the library json-sKema: each keyword is
a small node, and they are joined one after the other, in the order of a Java `HashMap`, `properties` and
`patternProperties` after all others, `unevaluated…` last. What it does not know it leaves out: `$recursiveRef`,
`dependencies`, `additionalItems`; but it takes the place of what was noted beside the node's own fields.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeGuard

from kserdes_base.java_hash import java_hash
from registry.schemas.json.classic import dumps_sorted
from registry.schemas.json.model import (
    NODES,
    ArrayNode,
    CombinedNode,
    ConstNode,
    Criterion,
    EnumNode,
    Node,
    NodeKind,
    NotNode,
    NumberNode,
    ObjectNode,
    StringNode,
    merged,
)
from registry.schemas.json.patterns import check_pattern
from registry.schemas.json.reader import PLAIN, Place, Reading, SchemaReader, text_of

NUMBERS: Final = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
}
COUNTS: Final[Mapping[str, tuple[Callable[..., Node], str]]] = {
    "minLength": (StringNode, "min_length"),
    "maxLength": (StringNode, "max_length"),
    "minItems": (ArrayNode, "min_items"),
    "maxItems": (ArrayNode, "max_items"),
    "minProperties": (ObjectNode, "min_properties"),
    "maxProperties": (ObjectNode, "max_properties"),
}
IGNORED: Final = ("format", "readOnly", "writeOnly")
"""Keywords that are known and say nothing; they still are steps, after which a list of types takes in no more."""
LATE: Final = ("properties", "patternProperties", "unevaluatedItems", "unevaluatedProperties")
UNSAID: Final = frozenset(("$schema", "$vocabulary", "$anchor", "$dynamicAnchor", "deprecated", "then", "else")) | {
    *("minContains", "maxContains")
}
"""Keywords that are known, are no steps, and are not printed."""
SAID: Final = frozenset(("$id", "title", "description", "default"))
"""Keywords that are known, are no steps, and are printed."""


class ModernReader(SchemaReader):
    """Reads documents of the drafts since 2019-09."""

    def read(self, schema: Mapping[str, Any], place: Place) -> Reading:
        """Reads one schema object."""
        node: Node | None = None
        early = [name for name in _java_order(schema) if name not in LATE]
        for keyword in [*early, *(name for name in LATE if name in schema)]:
            step = STEPS.get(keyword)
            if step is not None:
                for part in (yield from step(self, schema, place)):
                    node = part if node is None else _joined(node, part)
        yield from self._definitions(schema, place)
        node = self._final(node)
        rest = {name: value for name, value in schema.items() if name not in STEPS and name not in UNSAID}
        if rest.get("default", "") is None:
            del rest["default"]  # as if it were not there
        if any(name not in SAID and (name != "$defs" or rest[name]) for name in rest):
            _forget(node)
        for keyword in ("title", "description", "format"):
            if keyword in schema:
                self.text(schema, keyword, place)
        node.has_default = schema.get("default") is not None and node.kind is not NodeKind.REFERENCE
        node.is_bytes = rest.get("connect.type") == "bytes"
        return self.done(node, rest)

    def _definitions(self, schema: Mapping[str, Any], place: Place) -> Generator[tuple[Any, Place], Node]:
        """Reads `$defs`, used or not; what stands there only because `definitions` has it is not read."""
        if "$defs" in schema:
            old = schema.get("definitions")
            for name, inner in self.members(schema, "$defs", place).items():
                if not (isinstance(old, dict) and old.get(name) is inner):
                    yield inner, place / "$defs" / name

    def _final(self, node: Node | None) -> Node:
        if node is None:
            return Node(NodeKind.EMPTY)
        if _is_made(node, Criterion.ALL) and len(node.branches) < 2:
            node = node.branches[0] if node.branches else Node(NodeKind.EMPTY)
        for branch in node.branches if isinstance(node, CombinedNode) else ():
            if isinstance(branch, CombinedNode) and branch.made:
                self.done(branch, {})
        return node


def _java_order(names: Mapping[str, Any]) -> list[str]:
    """Names as a `HashMap` of them would give them out, filled in the order given."""
    size = 16
    while len(names) > size * 3 // 4:
        size *= 2
    return sorted(names, key=lambda name: _map_hash(name) & (size - 1))


@functools.lru_cache(maxsize=10_000)
def _map_hash(name: str) -> int:
    """The hash of a string, with its upper bits mixed into the lower ones as `HashMap` does."""
    value = java_hash(name)
    return value ^ value >> 16


def _forget(node: Node) -> None:
    """Takes from a node what the registry notes beside it: unknown keywords and `$defs` take that place."""
    if isinstance(node, ArrayNode):
        node.min_contains = node.max_contains = node.unevaluated = None
    elif isinstance(node, ObjectNode):
        node.unevaluated = None


Parts: TypeAlias = Generator[tuple[Any, Place], Node, Iterable[Node]]
StepOf: TypeAlias = Callable[[ModernReader, Mapping[str, Any], Place], Parts]


def _quick(read: Callable[[ModernReader, Mapping[str, Any], Place], Node]) -> StepOf:
    """The step of a keyword that has no schemas inside."""

    def step(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
        yield from ()
        return [read(reader, schema, place)]

    return step


def _type(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    said = schema["type"]
    if isinstance(said, str):
        return _of_type(reader, said, place)
    if not isinstance(said, list):
        raise reader.invalid(place / "type", f"expected a string or an array, not {text_of(said)}")
    branches = tuple(_of_type(reader, name, place) for name in said)
    return CombinedNode(criterion=Criterion.ANY, branches=branches, made=True)


def _of_type(reader: ModernReader, name: Any, place: Place) -> Node:
    if isinstance(name, str) and name in PLAIN:
        return PLAIN[name]()
    raise reader.invalid(place / "type", f"there is no type {text_of(name)}")


def _number(keyword: str) -> StepOf:
    attribute = NUMBERS[keyword]
    return _quick(lambda reader, schema, place: NumberNode(**{attribute: reader.number(schema, keyword, place)}))  # type: ignore[arg-type]


def _count(keyword: str) -> StepOf:
    node, attribute = COUNTS[keyword]
    return _quick(lambda reader, schema, place: node(**{attribute: reader.whole(schema, keyword, place)}))


def _pattern(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    pattern = reader.text(schema, "pattern", place)
    check_pattern(pattern, str(place / "pattern"))
    return StringNode(pattern=pattern)


def _enum(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    return EnumNode(values=frozenset(map(dumps_sorted, reader.array(schema, "enum", place))))


def _const(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    return ConstNode(value=dumps_sorted(schema["const"]))


def _unique(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    return ArrayNode(unique=reader.flag(schema, "uniqueItems", place))


def _required(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    return ObjectNode(required=reader.strings(schema, "required", place))


def _dependent_required(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Node:
    said = reader.members(schema, "dependentRequired", place)
    needs = {name: reader.strings(said, name, place / "dependentRequired") for name in said}
    return ObjectNode(needs={name: names for name, names in needs.items() if names})


def _reference(keyword: str) -> StepOf:
    return _quick(lambda reader, schema, place: reader.reference(schema[keyword], place))


def _ignored(keyword: str) -> StepOf:
    def step(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
        yield from ()
        # `readOnly: false` is no step
        return [] if schema[keyword] is False else [CombinedNode(criterion=Criterion.ALL, made=True)]

    return step


def _combined(criterion: Criterion) -> StepOf:
    def step(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
        schemas = reader.array(schema, criterion.value, place)
        found = yield from reader.in_order(schemas, place / criterion.value)
        # branches that are several nodes side by side come in one by one, as the registry has it
        branches = tuple(part for node in found for part in _flat(node))
        return [reader.done(CombinedNode(criterion=criterion, branches=branches), {})]

    return step


def _not(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    return [NotNode(inner=(yield schema["not"], place / "not"))]


def _if(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    said = {keyword: schema[keyword] for keyword in ("if", "then", "else") if keyword in schema}
    for keyword, inner in said.items():
        yield inner, place / keyword
    return [Node(NodeKind.CONDITIONAL, extras=said)]


def _items(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    if isinstance(schema["items"], list):
        raise reader.invalid(
            place / "items", "a list of schemas belongs into prefixItems; the registry takes none here since 2019-09"
        )
    node = yield schema["items"], place / "items"
    if node.kind is NodeKind.FALSE:
        return [ArrayNode(more=False)]
    if node.kind is NodeKind.TRUE:
        return [ArrayNode()]
    return [ArrayNode(rest=node) if schema.get("prefixItems") else ArrayNode(every=node)]


def _prefix_items(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    first = yield from reader.in_order(reader.array(schema, "prefixItems", place), place / "prefixItems")
    return [ArrayNode(first=first)]


def _contains(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    node = ArrayNode(contains=(yield schema["contains"], place / "contains"))
    least = reader.number(schema, "minContains", place)
    node.min_contains = 1 if least is None else least
    node.max_contains = reader.number(schema, "maxContains", place)
    return [node]


def _additional_properties(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    node = yield schema["additionalProperties"], place / "additionalProperties"
    if node.kind is NodeKind.FALSE:
        return [ObjectNode(more=False)]
    return [ObjectNode(rest=None if node.kind is NodeKind.TRUE else node)]


def _property_names(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    return [ObjectNode(names=(yield schema["propertyNames"], place / "propertyNames"))]


def _dependent_schemas(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    said = reader.members(schema, "dependentSchemas", place)
    return [ObjectNode(needs_schema=(yield from reader.by_name(said, place / "dependentSchemas")))]


def _properties(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    said = reader.members(schema, "properties", place)
    found = yield from reader.by_name(said, place / "properties")
    return [ObjectNode(properties=found)] if found else []


def _pattern_properties(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    said = reader.members(schema, "patternProperties", place)
    for pattern in said:
        check_pattern(pattern, str(place / "patternProperties" / pattern))
    found = yield from reader.by_name(said, place / "patternProperties")
    return [ObjectNode(patterns=found)] if found else []


def _unevaluated_items(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    return [ArrayNode(unevaluated=(yield schema["unevaluatedItems"], place / "unevaluatedItems"))]


def _unevaluated_properties(reader: ModernReader, schema: Mapping[str, Any], place: Place) -> Parts:
    return [ObjectNode(unevaluated=(yield schema["unevaluatedProperties"], place / "unevaluatedProperties"))]


STEPS: Final[Mapping[str, StepOf]] = {
    **{keyword: _number(keyword) for keyword in NUMBERS},
    **{keyword: _count(keyword) for keyword in COUNTS},
    **{criterion.value: _combined(criterion) for criterion in Criterion},
    **{keyword: _ignored(keyword) for keyword in IGNORED},
    "type": _quick(_type),
    "pattern": _quick(_pattern),
    "enum": _quick(_enum),
    "const": _quick(_const),
    "uniqueItems": _quick(_unique),
    "required": _quick(_required),
    "dependentRequired": _quick(_dependent_required),
    "$ref": _reference("$ref"),
    "$dynamicRef": _reference("$dynamicRef"),
    "not": _not,
    "if": _if,
    "items": _items,
    "prefixItems": _prefix_items,
    "contains": _contains,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "dependentSchemas": _dependent_schemas,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}


# --- joining


def _joined(one: Node, other: Node) -> Node:
    """Two nodes of one schema object as one: merged if they are of one type, else side by side in a made-up `allOf`."""
    if one.kind is other.kind and one.kind in NODES:
        return merged(one, other)
    for types, node in ((one, other), (other, one)):
        if _is_made(types, Criterion.ANY) and any(branch.kind is node.kind for branch in types.branches):
            return CombinedNode(criterion=Criterion.ANY, branches=tuple(_taken_in(types.branches, node)), made=True)
    parts: list[Node] = []
    for node in (*_flat(one), *_flat(other)):
        parts = _taken_in(parts, node)
    return CombinedNode(criterion=Criterion.ALL, branches=tuple(parts), made=True)


def _taken_in(nodes: Iterable[Node], node: Node) -> list[Node]:
    """The nodes with one more: merged with one of its type if there is one."""
    found = list(nodes)
    for at, item in enumerate(found):
        if item.kind is node.kind and node.kind in NODES:
            found[at] = merged(item, node)
            return found
    return [*found, node]


def _flat(node: Node) -> tuple[Node, ...]:
    return node.branches if _is_made(node, Criterion.ALL) else (node,)


def _is_made(node: Node, criterion: Criterion) -> TypeGuard[CombinedNode]:
    return isinstance(node, CombinedNode) and node.made and node.criterion is criterion
