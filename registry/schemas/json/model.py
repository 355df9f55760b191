"""The parts a JSON Schema consists of, as Confluent's registry sees them: one node for each schema object.

Must not know how nodes are read from a document or compared. Source: the schema classes of everit's json-schema, the
library whose model Confluent's registry compares (`SchemaTranslator` brings 2019-09 and 2020-12 to the same model).
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

Number: TypeAlias = int | Decimal


class NodeKind(enum.Enum):
    """The kind of a schema, as far as the comparison tells kinds apart; the value is for people."""

    EMPTY = "anything"
    TRUE = "any value"
    FALSE = "nothing"
    BOOLEAN = "boolean"
    NULL = "null"
    STRING = "string"
    NUMBER = "number"
    ARRAY = "array"
    OBJECT = "object"
    ENUM = "enum"
    CONST = "const"
    NOT = "not"
    CONDITIONAL = "if/then/else"
    COMBINED = "combination"
    REFERENCE = "reference to a reference"


ANYTHING: Final = frozenset({NodeKind.EMPTY, NodeKind.TRUE})


class Criterion(enum.Enum):
    """The number of branches of a combination that have to hold; the value is the keyword."""

    ALL = "allOf"
    ANY = "anyOf"
    ONE = "oneOf"


@dataclass(slots=True, eq=False)
class Node:
    """A schema.

    Attributes:
        kind: decides, with a few exceptions, whether two schemas can be compatible at all.
        has_default: whether the schema gives a default (since 2019-09: one that is not null); never for a `$ref`.
        is_bytes: whether `connect.type` is `bytes`: Kafka Connect writes such numbers in two ways.
        extras: what the schema object says beyond its node: title, unknown keywords, …; tells branches apart
        typed: whether `type` says so, not only the keywords; for nodes of `NODES`.
        only_values: whether it is compared without looking at schemas inside.
        key: equal for nodes of one document that the registry would print alike; only the branches of combinations,
            and what is inside them, have one.
    """

    only_values: ClassVar[bool] = False

    kind: NodeKind
    has_default: bool = False
    is_bytes: bool = False
    typed: bool = False
    extras: Mapping[str, Any] | None = None
    key: int = -1

    def children(self) -> Iterator[Node]:
        """The nodes inside this one, not through references."""
        return iter(())


@dataclass(slots=True, eq=False)
class StringNode(Node):
    """A schema of strings.

    Attributes:
        format: never compared, but it tells the branches of combinations apart.
    """

    only_values: ClassVar[bool] = True

    kind: NodeKind = NodeKind.STRING
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None


@dataclass(slots=True, eq=False)
class NumberNode(Node):
    """A schema of numbers."""

    only_values: ClassVar[bool] = True

    kind: NodeKind = NodeKind.NUMBER
    integer: bool = False
    minimum: Number | None = None
    maximum: Number | None = None
    exclusive_minimum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: Number | None = None


@dataclass(slots=True, eq=False)
class ArrayNode(Node):
    """A schema of arrays.

    Attributes:
        every: of every item.
        first: of the first items, one each.
        more: whether there may be items after those of `first`.
        rest: of the items after those of `first`.
    """

    kind: NodeKind = NodeKind.ARRAY
    every: Node | None = None
    first: tuple[Node, ...] = ()
    more: bool = True
    rest: Node | None = None
    contains: Node | None = None
    unevaluated: Node | None = None
    min_items: Number | None = None
    max_items: Number | None = None
    min_contains: Number | None = None
    max_contains: Number | None = None
    unique: bool = False

    def children(self) -> Iterator[Node]:
        yield from self.first
        yield from (node for node in (self.every, self.rest, self.contains, self.unevaluated) if node is not None)


@dataclass(slots=True, eq=False)
class ObjectNode(Node):
    """A schema of objects.

    Attributes:
        more: whether there may be properties that are not named.
        rest: of the properties that are not named.
        needs: property → properties that must be there with it.
        needs_schema: property → schema the object must meet if it is there.
    """

    kind: NodeKind = NodeKind.OBJECT
    properties: Mapping[str, Node] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    patterns: Mapping[str, Node] = field(default_factory=dict)
    more: bool = True
    rest: Node | None = None
    unevaluated: Node | None = None
    names: Node | None = None
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs_schema: Mapping[str, Node] = field(default_factory=dict)
    min_properties: Number | None = None
    max_properties: Number | None = None

    def children(self) -> Iterator[Node]:
        yield from self.properties.values()
        yield from self.patterns.values()
        yield from self.needs_schema.values()
        yield from (node for node in (self.rest, self.unevaluated, self.names) if node is not None)


@dataclass(slots=True, eq=False)
class EnumNode(Node):
    """A list of values.

    Attributes:
        values: each as text that differs where Java's values do (`1` is not `1.0`).
    """

    only_values: ClassVar[bool] = True

    kind: NodeKind = NodeKind.ENUM
    values: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class ConstNode(Node):
    """One value, as text (see `EnumNode`)."""

    only_values: ClassVar[bool] = True

    kind: NodeKind = NodeKind.CONST
    value: str = "null"


@dataclass(slots=True, eq=False)
class NotNode(Node):
    """A schema that must not hold."""

    kind: NodeKind = NodeKind.NOT
    inner: Node = field(default_factory=lambda: Node(NodeKind.EMPTY))

    def children(self) -> Iterator[Node]:
        yield self.inner


@dataclass(slots=True, eq=False)
class CombinedNode(Node):
    """Several schemas at once.

    Attributes:
        made: written by no one, but made by the registry from keywords side by side; 2019-09 and later only.
    """

    kind: NodeKind = NodeKind.COMBINED
    criterion: Criterion = Criterion.ALL
    branches: tuple[Node, ...] = ()
    made: bool = False

    def children(self) -> Iterator[Node]:
        yield from self.branches


@dataclass(slots=True, eq=False)
class ReferenceNode(Node):
    """A `$ref`; its target is set once all of the document is read."""

    kind: NodeKind = NodeKind.REFERENCE
    ref: str = ""
    target: Node | None = None

    @property
    def referred(self) -> Node:
        """The node that the reference stands for; it may be a reference again."""
        assert self.target is not None
        return self.target


NODES: Final = {node().kind: node for node in (StringNode, NumberNode, ArrayNode, ObjectNode)}
"""The classes whose keywords, spread over a schema, make one node."""

Some = TypeVar("Some", bound=Node)


def merged(one: Some, other: Some) -> Some:
    """A node with what both say, as the registry merges them: lists and members add up, else `other` wins."""
    changes: dict[str, Any] = {}
    for item in dataclasses.fields(other):
        mine, new = getattr(one, item.name), getattr(other, item.name)
        if item.name in ("kind", "key", "extras") or new is None or new == item.default:
            continue
        if isinstance(new, Mapping):
            new = {**mine, **new}
        elif isinstance(new, tuple):
            new = mine + new
        changes[item.name] = new
    return dataclasses.replace(one, **changes)


class Interner:
    """Gives equal things equal numbers: JSON values, and nodes made of parts that have their numbers already."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._seen: dict[int, tuple[Any, int]] = {}

    def number(self, parts: Any) -> int:
        """The number of a hashable value."""
        return self._numbers.setdefault(parts, len(self._numbers))

    def value(self, value: Any) -> int:
        """The number of a JSON value; members of objects in any order. Cost: linear, once for each list and object."""
        if not isinstance(value, (dict, list)):
            return self.number((type(value).__name__, str(value)))
        todo = [value] if id(value) not in self._seen else []
        while todo:
            item = todo[-1]
            inner = [part for part in (item.values() if isinstance(item, dict) else item) if self._unseen(part)]
            todo += inner
            if not inner:
                todo.pop()
                self._seen[id(item)] = item, self._container(item)
        return self._seen[id(value)][1]

    def _unseen(self, value: Any) -> bool:
        return isinstance(value, (dict, list)) and id(value) not in self._seen

    def _container(self, value: Any) -> int:
        if isinstance(value, dict):
            return self.number(("object", frozenset((name, self.value(item)) for name, item in value.items())))
        return self.number(("array", tuple(self.value(item) for item in value)))

    def node(self, node: Node) -> None:
        """Gives a node and all inside it their keys."""
        todo = [node]
        while todo:
            item = todo[-1]
            inner = [child for child in item.children() if child.key < 0]
            todo += inner
            if not inner:
                todo.pop()
                said = frozenset((name, self.value(value)) for name, value in (item.extras or {}).items())
                shown = _shown(item)
                parts = (_part(getattr(shown, name)) for name in _names(type(shown)))
                item.key = self.number((type(shown), said, *parts))


def _names(node: type[Node]) -> tuple[str, ...]:
    if node not in _NAMES:
        _NAMES[node] = tuple(item.name for item in dataclasses.fields(node) if item.name not in UNPRINTED)
    return _NAMES[node]


def _shown(node: Node) -> Node:
    """The node as the registry prints it: one that says nothing, as from `required: []`, looks like the empty one."""
    empty = Node(NodeKind.EMPTY, node.has_default, node.is_bytes)
    if node.kind not in NODES or node.typed:
        return node
    bare = NODES[node.kind]()
    names = (name for name in _names(type(node)) if name not in ("has_default", "is_bytes"))
    return empty if all(_part(getattr(node, name)) == _part(getattr(bare, name)) for name in names) else node


UNPRINTED: Final = ("extras", "key", "target")
_NAMES: Final[dict[type[Node], tuple[str, ...]]] = {}


def _part(value: Any) -> Any:
    if isinstance(value, Node):
        return value.key
    if isinstance(value, Mapping):
        return frozenset((name, _part(item)) for name, item in value.items())
    if isinstance(value, tuple):
        return tuple(_part(item) for item in value)
    return (type(value).__name__, str(value)) if isinstance(value, Decimal) else value
