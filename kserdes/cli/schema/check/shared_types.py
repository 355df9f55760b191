"""The types of a schema that several places may use: where each is defined, by whom it is used, whether it changed.

Must not know of files or reports. A type is an Avro named type, or the target of a `$ref` of JSON Schema; a definition
is known by the same key on both sides of a comparison. Walks without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urldefrag

from kserdes.cli.schema.outline.avro import COMPLEX, full_name
from kserdes.cli.schema.outline.positions import pointer_parts
from kserdes.cli.schema.source.linking import parse_json
from kserdes.cli.shell.unusable import Unusable
from registry import Schema, SchemaReference
from registry.schemas.avro.types import NAMED_TYPES, PRIMITIVES
from registry.schemas.references import Resolver

MAX_HOPS = 100  # of references that lead to references
Key = tuple[str, ...]
"""The full name of an Avro type; the reference's name (empty: the schema itself) and the steps of a `$ref`'s target."""


def pointer_of(steps: Sequence[str]) -> str:
    """The steps as a JSON pointer."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


@dataclass(frozen=True, slots=True)
class Use:
    """A place that uses a type.

    Attributes:
        steps: into the document.
        name: what to call the place: `Order.customer`, or a pointer.
    """

    steps: tuple[str, ...]
    name: str


@dataclass(slots=True)
class Definition:
    """A type.

    Attributes:
        key: what it is known by.
        reference: that leads to the document which defines it, None for the schema's own.
        steps: into that document.
        node: the definition.
        space: the namespace around it.
        uses: in the schema's own document.
    """

    key: Key
    reference: SchemaReference | None
    steps: tuple[str, ...]
    node: Any
    space: str = ""
    uses: list[Use] = field(default_factory=list)

    def inner(self, avro: bool) -> tuple[str, str]:
        """The namespace and the document that names inside the definition are seen from."""
        return (self.key[0].rpartition(".")[0], "") if avro else ("", self.key[0])


class Types:
    """The types of one schema and of what it refers to.

    Args:
        schema: the schema.
        resolve: the schema a reference stands for.
    """

    def __init__(self, schema: Schema, resolve: Resolver) -> None:
        self.avro = schema.schema_type == "AVRO"
        self._documents: dict[str, tuple[SchemaReference | None, Any, dict[str, str]]] = {}
        self._found: dict[Key, Definition] = {}
        self._anchors: dict[str, dict[str, tuple[str, ...]]] = {}
        self._unsettled: list[tuple[tuple[str, ...], Use]] = []
        pending: list[tuple[str, SchemaReference | None, Schema]] = [("", None, schema)]
        while pending:
            name, reference, item = pending.pop()
            if name in self._documents:
                continue
            names = {made.name: made.name for made in item.references}
            self._documents[name] = (reference, _value(item, self.avro), names)
            pending += (
                (made.name, made, resolve(made)) for made in item.references if made.name not in self._documents
            )
        for name in self._documents:
            if self.avro:
                self._add_avro(name)
        for name in [] if self.avro else self._documents:
            self._add_json(name)
        self.root = self._documents[""][1]

    def get(self, key: Key) -> Definition | None:
        """The definition of a key."""
        return self._found.get(key)

    # --- Avro

    def _add_avro(self, document: str) -> None:
        reference, value, _ = self._documents[document]
        uses: list[tuple[tuple[str, ...], Use]] = []
        for node, steps, space, where in _avro_nodes(value):
            if isinstance(node, str):
                uses.append((_names(node, space), Use(steps, where)))
            elif isinstance(node, dict) and _named(node):
                name = full_name(node, space)
                if name is not None:
                    self._found.setdefault((name,), Definition((name,), reference, steps, node, space))
                    if steps:
                        uses.append(((name,), Use(steps, where)))
        if document == "":
            self._unsettled = uses
        self._settle()

    def _settle(self) -> None:
        """Gives the uses of the own document to definitions that are known by now."""
        left = []
        for names, use in self._unsettled:
            found = next((self._found[(name,)] for name in names if (name,) in self._found), None)
            if found is None:
                left.append((names, use))
            else:
                found.uses.append(use)
        self._unsettled = left

    # --- JSON Schema

    def _add_json(self, document: str) -> None:
        for node, steps in _all_nodes(self._documents[document][1]):
            target = _reference_in(node)
            key = self._target(document, target) if isinstance(target, str) else None
            found = None if key is None else self._define(key)
            if found is not None and document == "":
                found.uses.append(Use(steps, f"#{pointer_of(steps)}"))
        self._define((document,))

    def _target(self, document: str, reference: str) -> Key | None:
        uri, fragment = urldefrag(reference)
        names = self._documents[document][2]
        if uri and uri not in names:
            return None
        document = names[uri] if uri else document
        if fragment and not fragment.startswith("/"):
            steps = self._anchors_of(document).get(fragment)
            return None if steps is None else (document, *steps)
        return (document, *pointer_parts(unquote(fragment)))

    def _anchors_of(self, document: str) -> dict[str, tuple[str, ...]]:
        """The steps to what the anchors of a document name."""
        if document not in self._anchors:
            found = self._anchors[document] = {}
            for node, steps in _all_nodes(self._documents[document][1] if document in self._documents else None):
                for name in _anchors_in(node):
                    found.setdefault(name, steps)
        return self._anchors[document]

    def _define(self, key: Key) -> Definition | None:
        if key not in self._found:
            reference, node, _ = self._documents.get(key[0], (None, None, {}))
            for step in key[1:]:
                node = _child(node, step)
            if node is None:
                return None
            self._found[key] = Definition(key, reference, key[1:], node)
        return self._found[key]

    # --- both

    def trace(self, pointer: str) -> tuple[Definition | None, tuple[str, ...], Any]:
        """The innermost definition a path leads through, the steps from there, and what is there.

        None for a path that leads through none, or that can't be followed.
        """
        steps = pointer_parts(pointer)
        node, space, document = self.root, "", ""
        inside = None if self.avro else self._found.get(("",))
        rest: list[str] = []
        for at in range(len(steps) + 1):
            for _ in range(MAX_HOPS):
                entered = self._enter(node, space, document, at == len(steps))
                if entered is None or (entered is inside and entered.node is node):
                    break
                inside, rest, node = entered, [], entered.node
                space, document = entered.inner(self.avro)
            if at == len(steps):
                break
            following = _child(node, steps[at])
            if following is None and self.avro and isinstance(node, dict) and isinstance(node.get("type"), dict | list):
                following = _child(node["type"], steps[at])
            if following is None:
                return inside, (*rest, *steps[at:]), None
            node = following
            rest.append(steps[at])
        return inside, tuple(rest), node

    def _enter(self, node: Any, space: str, document: str, last: bool) -> Definition | None:
        if self.avro:
            if isinstance(node, str) and not last:
                return next((self._found[(name,)] for name in _names(node, space) if (name,) in self._found), None)
            if isinstance(node, dict) and _named(node) and "name" in node:
                return self._found.get((full_name(node, space) or "",))
            return None
        target = None if last else _reference_in(node)
        key = self._target(document, target) if isinstance(target, str) else None
        return None if key is None else self._define(key)

    def used(self, node: Any, inside: Definition | None) -> list[Definition]:
        """The definitions a node uses, and those that these use, nearest first."""
        found: dict[Key, Definition] = {}
        pending = [(node, *(("", "") if inside is None else inside.inner(self.avro)))]
        while pending:
            item, space, document = pending.pop(0)
            for made in self._used_by(item, space, document):
                if made.key not in found:
                    found[made.key] = made
                    pending.append((made.node, *made.inner(self.avro)))
        return list(found.values())

    def _used_by(self, node: Any, space: str, document: str) -> Iterator[Definition]:
        if self.avro:
            for item, _, around, _ in _avro_nodes(node, space):
                names: tuple[str, ...] = ()
                if isinstance(item, str):
                    names = _names(item, around)
                elif isinstance(item, dict) and _named(item):
                    names = (full_name(item, around) or "",)
                found = next((self._found[(name,)] for name in names if (name,) in self._found), None)
                if found is not None and found.node is not node:
                    yield found
            return
        for item, _ in _all_nodes(node):
            target = _reference_in(item)
            key = self._target(document, target) if isinstance(target, str) else None
            made = None if key is None else self._define(key)
            if made is not None:
                yield made

    def shape(self, node: Any, space: str = "") -> Any:
        """A node with names in place of the Avro types that it defines inside, so that only its own changes count."""
        if not self.avro:
            return node
        if isinstance(node, list):
            return [self.shape(item, space) for item in node]
        if not isinstance(node, dict):
            return (_names(node, space) or node) if isinstance(node, str) else node
        if _named(node):
            return _names(full_name(node, space) or "", "")
        return {
            name: self.shape(item, space) if name in ("type", "items", "values") else item
            for name, item in node.items()
        }

    def own(self, definition: Definition) -> Any:
        """A definition's own content, without the types it uses."""
        node = definition.node
        if not self.avro or not isinstance(node, dict):
            return node
        space = definition.key[0].rpartition(".")[0]
        fields = node.get("fields")
        if not isinstance(fields, list):
            return node
        shaped = [
            {**item, "type": self.shape(item.get("type"), space)} if isinstance(item, dict) else item for item in fields
        ]
        return {**node, "fields": shaped}


def _value(schema: Schema, avro: bool) -> Any:
    try:
        return parse_json(schema.schema_str, avro)
    except Unusable:
        return schema.schema_str if avro else None


def _names(name: str, space: str) -> tuple[str, ...]:
    """The full names that a name may stand for."""
    if name in PRIMITIVES:
        return ()
    return (name,) if "." in name or not space else (f"{space}.{name}", name)


def _child(node: Any, step: str) -> Any:
    if isinstance(node, dict):
        return node.get(step)
    if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
        return node[int(step)]
    return None


def _avro_nodes(value: Any, space: str = "") -> Iterator[tuple[Any, tuple[str, ...], str, str]]:
    """All types in an Avro schema in its order: the node, the steps to it, its namespace, and the field it is in."""
    stack: list[tuple[Any, tuple[str, ...], str, str]] = [(value, (), space, "")]
    while stack:
        node, steps, space, where = stack.pop()
        yield node, steps, space, where
        inner: list[tuple[Any, tuple[str, ...], str, str]] = []
        if isinstance(node, list):
            inner = [(item, (*steps, str(at)), space, where) for at, item in enumerate(node)]
        elif isinstance(node, dict):
            kind = node.get("type")
            if isinstance(kind, str) and kind in NAMED_TYPES:
                name = full_name(node, space) or ""
                fields = node.get("fields")
                for at, item in enumerate(fields if isinstance(fields, list) else ()):
                    if isinstance(item, dict):
                        place = f"{name.rpartition('.')[2]}.{item.get('name')}"
                        inner.append(
                            (item.get("type"), (*steps, "fields", str(at), "type"), name.rpartition(".")[0], place)
                        )
            elif isinstance(kind, str) and kind in COMPLEX:
                step = "items" if kind == "array" else "values"
                inner = [(node.get(step), (*steps, step), space, where)]
            elif kind is not None:
                inner = [(kind, (*steps, "type"), space, where)]
        stack += reversed(inner)


def _all_nodes(value: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """All values of a JSON document with their steps, in its order."""
    stack: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    while stack:
        node, steps = stack.pop()
        yield node, steps
        inner: list[tuple[Any, tuple[str, ...]]] = []
        if isinstance(node, dict):
            inner = [(item, (*steps, name)) for name, item in node.items() if name not in ("enum", "const")]
        elif isinstance(node, list):
            inner = [(item, (*steps, str(at))) for at, item in enumerate(node)]
        stack += reversed(inner)


def _reference_in(node: Any) -> str | None:
    """The reference of a JSON Schema. A `$dynamicRef` is taken for what its anchor names in the same document."""
    if not isinstance(node, dict):
        return None
    return next((node[key] for key in ("$ref", "$dynamicRef") if isinstance(node.get(key), str)), None)


def _anchors_in(node: Any) -> Iterator[str]:
    """The names by which a JSON Schema may be referred to; up to draft 7 they are in `$id`."""
    if isinstance(node, dict):
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(key), str):
                yield node[key]
        old = node.get("$id")
        if isinstance(old, str) and old.startswith("#") and len(old) > 1:
            yield old[1:]


def _named(node: dict[str, Any]) -> bool:
    """Whether a node defines a named type of Avro."""
    kind = node.get("type")
    return isinstance(kind, str) and kind in NAMED_TYPES
