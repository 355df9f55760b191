"""The texts of Avro schemas: what two of them must share to be the same schema for a registry.

Must not know of stores or networks. Source: how Java's `Schema.toString` orders attributes and names types, because
Confluent's registry compares and stores that text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    UnionType,
    parse,
)

__all__ = ["avro_text"]


def avro_text(text: str, referenced: Iterable[str] = (), normalize: bool = False) -> str:
    """The schema as the registry would store it: compact JSON, attributes in one order, names qualified only where
    needed.

    Args:
        text: the schema.
        referenced: texts of the schemas it uses, each after those it uses itself; their names stay references.
        normalize: also order the properties that Avro does not define, by name.

    Raises:
        InvalidSchemaError: the schema is not valid Avro.
    """
    others = list(referenced)
    writer = _Writer(normalize)
    made = parse(text, others)
    for index, other in enumerate(others):
        writer.note_names(parse(other, others[:index]))
    return json.dumps(writer.node(made, ""), separators=(",", ":"), ensure_ascii=False)


class _Writer:
    """Writes one schema; a named type is written out the first time, then only named."""

    def __init__(self, normalize: bool) -> None:
        self._known: set[str] = set()
        self._normalize = normalize

    def note_names(self, avro: AvroType) -> None:
        """Takes the names of a referenced schema as known."""
        self.node(avro, "")

    def node(self, avro: AvroType, namespace: str) -> Any:
        if isinstance(avro, Primitive):
            kind = avro.kind.value
            return {"type": kind, **self._props(avro.props)} if avro.props else kind
        if isinstance(avro, UnionType):
            return [self.node(branch, namespace) for branch in avro.branches]
        if isinstance(avro, ArrayType):
            return {"type": "array", "items": self.node(avro.items, namespace), **self._props(avro.props)}
        if isinstance(avro, MapType):
            return {"type": "map", "values": self.node(avro.values, namespace), **self._props(avro.props)}
        if avro.name in self._known:
            return avro.short_name if avro.namespace == namespace else avro.name
        self._known.add(avro.name)
        return self._named(avro, namespace)

    def _named(self, avro: RecordType | EnumType | FixedType, enclosing: str) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "error" if isinstance(avro, RecordType) and avro.is_error else avro.kind.value}
        node["name"] = avro.short_name
        if avro.namespace != enclosing:
            node["namespace"] = avro.namespace
        if avro.doc is not None:
            node["doc"] = avro.doc
        if isinstance(avro, RecordType):
            node["fields"] = [self._field(item, avro.namespace) for item in avro.fields]
        elif isinstance(avro, EnumType):
            node["symbols"] = avro.symbols
            if avro.default is not None:
                node["default"] = avro.default
        else:
            node["size"] = avro.size
        node.update(self._props(avro.props))
        if avro.aliases:
            node["aliases"] = _aliases(avro)
        return node

    def _field(self, field: Field, namespace: str) -> dict[str, Any]:
        node: dict[str, Any] = {"name": field.name, "type": self.node(field.type, namespace)}
        if field.doc is not None:
            node["doc"] = field.doc
        if field.has_default:
            node["default"] = field.default
        if field.order != "ascending":
            node["order"] = field.order
        if field.aliases:
            node["aliases"] = field.aliases
        node.update(self._props(field.props))
        return node

    def _props(self, props: dict[str, Any]) -> dict[str, Any]:
        return dict(sorted(props.items())) if self._normalize else props


def _aliases(avro: NamedType) -> list[str]:
    """Aliases, short where they share the type's namespace."""
    shorts = []
    for alias in avro.aliases:
        space, _, short = alias.rpartition(".")
        shorts.append(short if space == avro.namespace else alias)
    return shorts
