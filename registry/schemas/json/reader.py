"""Reads a JSON Schema document into nodes; how one schema object becomes a node is for the reader of its dialect.

Must not know of comparisons. Python's stack is not used: a reading asks for the nodes inside by yielding them.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from registry.errors import InvalidSchemaError
from registry.limits import MAX_DIGITS
from registry.schemas.documents import dumps
from registry.schemas.json.model import NODES, CombinedNode, Interner, Node, NodeKind, Number, NumberNode, ReferenceNode
from registry.schemas.json.refs import Draft, References, Scope

PLAIN: Final[Mapping[str, Callable[[], Node]]] = {
    **{kind.value: functools.partial(node, typed=True) for kind, node in NODES.items()},
    "integer": lambda: NumberNode(integer=True, typed=True),
    "boolean": lambda: Node(NodeKind.BOOLEAN),
    "null": lambda: Node(NodeKind.NULL),
}
"""The nodes of types, as they are where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Place:
    """A schema's place, for its references and for messages; the outermost `step` is the document or a `$ref`."""

    scope: Scope
    draft: Draft
    parent: Place | None = None
    step: str = "#"

    def __truediv__(self, step: str) -> Place:
        return Place(self.scope, self.draft, self, step)

    def __str__(self) -> str:
        steps: list[str] = []
        at = self
        while at.parent is not None:
            steps.append(at.step.replace("~", "~0").replace("/", "~1"))
            at = at.parent
        steps.reverse()
        shown = [*steps[:50], "…", *steps[-50:]] if len(steps) > 100 else steps
        return "/".join([at.step, *shown]) if shown else f"{at.step}/"


Reading: TypeAlias = Generator[tuple[Any, Place], Node, Node]
"""Yields a schema inside with its place, is sent its node, returns its own."""


class SchemaReader(ABC):
    """Reads one document and what it refers to.

    Args:
        references: the document's references.
        draft: its dialect.
    """

    def __init__(self, references: References, draft: Draft) -> None:
        self._references = references
        self._draft = draft
        self._nodes: dict[int, Node] = {}
        self._open: list[tuple[ReferenceNode, Any, Scope]] = []
        self._combined: list[CombinedNode] = []

    def document(self, document: Any) -> Node:
        """The node of a whole document, its references resolved.

        Raises:
            InvalidSchemaError: the registry would not take it.
        """
        root = self._node(document, Place(self._references.root, self._draft))
        while self._open:
            reference, target, scope = self._open.pop()
            if id(target) not in self._nodes:
                self._nodes[id(target)] = self._node(target, Place(scope, self._draft, None, reference.ref))
            reference.target = self._nodes[id(target)]
        interner = Interner()
        for combined in self._combined:
            for branch in combined.branches:
                interner.node(branch)
        return root

    @abstractmethod
    def read(self, schema: Mapping[str, Any], place: Place) -> Reading:
        """Reads one schema object."""

    def reference(self, ref: Any, place: Place) -> ReferenceNode:
        """The node of a `$ref`; its target follows when the document is read."""
        ref = self.text({"$ref": ref}, "$ref", place)
        target, scope = self._references.lookup(place.scope, ref)
        node = ReferenceNode(ref=ref)
        self._open.append((node, target, scope))
        return node

    def done(self, node: Node, extras: Mapping[str, Any]) -> Node:
        """A node that is complete, with what its schema object says beyond it."""
        if node.kind is NodeKind.REFERENCE:  # the registry forgets these beside a `$ref`
            extras = {name: value for name, value in extras.items() if name not in ("default", "$id", "id")}
        node.extras = {**(node.extras or {}), **extras}
        if isinstance(node, CombinedNode):
            self._combined.append(node)
        return node

    def _node(self, schema: Any, place: Place) -> Node:
        stack: list[tuple[Reading, Any]] = []
        answer = self._begin(schema, place)
        while True:
            if isinstance(answer, Node):
                if not stack:
                    return answer
            else:
                stack.append((answer, schema))
            try:
                schema, place = stack[-1][0].send(answer if isinstance(answer, Node) else None)  # type: ignore[arg-type]
            except StopIteration as stop:
                answer = stop.value
                self._nodes.setdefault(id(stack.pop()[1]), answer)
            else:
                answer = self._begin(schema, place)

    def _begin(self, schema: Any, place: Place) -> Node | Reading:
        if isinstance(schema, bool):
            return Node(NodeKind.TRUE if schema else NodeKind.FALSE)
        if not isinstance(schema, dict):
            raise self.invalid(place, f"a schema is an object, true or false, not {text_of(schema)}")
        if len(schema) == 1 and isinstance(kind := schema.get("type"), str) and kind in PLAIN:
            return PLAIN[kind]()
        scope = self._references.inside(place.scope, schema, place.draft)
        return self.read(schema, place if scope is place.scope else Place(scope, place.draft, place.parent, place.step))

    # --- values of keywords

    def invalid(self, place: Place, what: str) -> InvalidSchemaError:
        """The error for something at a place."""
        return InvalidSchemaError.local(f"invalid JSON Schema at {place}: {what}")

    def text(self, schema: Mapping[str, Any], keyword: str, place: Place) -> str:
        """A keyword's value, which has to be a string."""
        value = schema[keyword]
        if not isinstance(value, str):
            raise self._mistyped(schema, keyword, place, "a string")
        return value

    def members(self, schema: Mapping[str, Any], keyword: str, place: Place) -> dict[str, Any]:
        """A keyword's value, which has to be an object."""
        value = schema[keyword]
        if not isinstance(value, dict):
            raise self._mistyped(schema, keyword, place, "an object")
        return value

    def array(self, schema: Mapping[str, Any], keyword: str, place: Place) -> list[Any]:
        """A keyword's value, which has to be an array."""
        value = schema[keyword]
        if not isinstance(value, list):
            raise self._mistyped(schema, keyword, place, "an array")
        return value

    def flag(self, schema: Mapping[str, Any], keyword: str, place: Place) -> bool:
        """A keyword's value, which has to be true or false."""
        value = schema[keyword]
        if not isinstance(value, bool):
            raise self._mistyped(schema, keyword, place, "true or false")
        return value

    def number(self, schema: Mapping[str, Any], keyword: str, place: Place) -> Number | None:
        """A keyword's value, which has to be a number; None if it is not there."""
        value = schema.get(keyword)
        if keyword not in schema:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise self.invalid(place / keyword, f"expected a number, not {text_of(value)}")
        if isinstance(value, Decimal) and (
            abs(value.adjusted()) > MAX_DIGITS or len(value.as_tuple().digits) > MAX_DIGITS
        ):
            raise self.invalid(place / keyword, f"the number has more than {MAX_DIGITS} digits")
        return value

    def count(self, schema: Mapping[str, Any], keyword: str, place: Place) -> int | None:
        """A keyword's value, which has to be an integer of 32 bits, written as one; None if it is not there."""
        value = self.number(schema, keyword, place)
        if value is not None and (not isinstance(value, int) or not -(2**31) <= value < 2**31):
            raise self.invalid(place / keyword, f"expected an integer of 32 bits, not {text_of(value)}")
        return value

    def whole(self, schema: Mapping[str, Any], keyword: str, place: Place) -> int | None:
        """A keyword's value, which has to be a number, as an integer of 32 bits: the rest of it is dropped."""
        value = self.number(schema, keyword, place)
        return None if value is None else (int(value) + 2**31) % 2**32 - 2**31

    def strings(self, schema: Mapping[str, Any], keyword: str, place: Place) -> tuple[str, ...]:
        """A keyword's value, which has to be an array of strings; empty if it is not there."""
        found = self.array(schema, keyword, place) if keyword in schema else []
        for at, item in enumerate(found):
            if not isinstance(item, str):
                raise self.invalid(place / keyword / str(at), f"expected a string, not {text_of(item)}")
        return tuple(found)

    def _mistyped(self, schema: Mapping[str, Any], keyword: str, place: Place, name: str) -> InvalidSchemaError:
        return self.invalid(place / keyword, f"expected {name}, not {text_of(schema[keyword])}")

    def by_name(self, schemas: Mapping[str, Any], place: Place) -> Generator[tuple[Any, Place], Node, dict[str, Node]]:
        """Reads the schemas of an object like that of `properties`."""
        found: dict[str, Node] = {}
        for name, schema in schemas.items():
            found[name] = yield schema, place / name
        return found

    def in_order(self, schemas: list[Any], place: Place) -> Generator[tuple[Any, Place], Node, tuple[Node, ...]]:
        """Reads the schemas of an array like that of `anyOf`."""
        found: list[Node] = []
        for at, schema in enumerate(schemas):
            found.append((yield schema, place / str(at)))
        return tuple(found)


def text_of(value: Any) -> str:
    """A value for a message: short, whatever it is."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    text = dumps(value)
    return text if len(text) <= 60 else text[:60] + "…"
