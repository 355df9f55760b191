"""Avro types written as text, without recursion: as Java writes them, and in the specification's short form.

Must not know how texts are compared or stored. Source: Java's `Schema.toString`; Avro specification 1.12, "Parsing
Canonical Form for Schemas".
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from registry.schemas.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
)
from registry.schemas.documents import dumps, quoted

KIND_NAMES: Final = frozenset(kind.value for kind in TypeName)


def java_order(text: str) -> bytes:
    """Key that sorts strings as Java does, by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


Piece: TypeAlias = str | tuple[AvroType, str]
"""Finished text, or a type still to be written with the namespace around it."""


class TypePrinter(abc.ABC):
    """Writes a type; a named one in full the first time, then only its name. Nested types wait on a stack."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = set(known)

    def text(self, avro: AvroType) -> str:
        out: list[str] = []
        todo: list[Piece] = [(avro, "")]
        while todo:
            piece = todo.pop()
            if isinstance(piece, str):
                out.append(piece)
            else:
                todo += reversed(self._pieces(*piece))
        return "".join(out)

    def _pieces(self, avro: AvroType, namespace: str) -> Sequence[Piece]:
        if isinstance(avro, Primitive):
            return [self._primitive(avro)]
        if isinstance(avro, UnionType):
            return ["[", *_separated([[(branch, namespace)] for branch in avro.branches]), "]"]
        if isinstance(avro, ArrayType):
            return ['{"type":"array","items":', (avro.items, namespace), self._props(avro.props), "}"]
        if isinstance(avro, MapType):
            return ['{"type":"map","values":', (avro.values, namespace), self._props(avro.props), "}"]
        if avro.name in self._known:
            return [quoted(self._mention(avro, namespace))]
        self._known.add(avro.name)
        return self._definition(avro, namespace)

    def _primitive(self, avro: Primitive) -> str:
        bare = quoted(avro.kind.value)
        return f'{{"type":{bare}{self._props(avro.props)}}}' if avro.props else bare

    def _props(self, props: Mapping[str, Any]) -> str:
        return "".join(f",{quoted(name)}:{dumps(value)}" for name, value in props.items())

    @abc.abstractmethod
    def _mention(self, avro: NamedType, namespace: str) -> str: ...

    @abc.abstractmethod
    def _definition(self, avro: RecordType | EnumType | FixedType, namespace: str) -> Sequence[Piece]: ...

    def _fields(self, avro: RecordType) -> list[Piece]:
        return [',"fields":[', *_separated([self._field(item, avro.namespace) for item in avro.fields]), "]"]

    @abc.abstractmethod
    def _field(self, item: Field, namespace: str) -> list[Piece]: ...


class Stored(TypePrinter):
    """As Java's `Schema.toString`."""

    def _mention(self, avro: NamedType, namespace: str) -> str:
        return _qualified(avro.name, namespace)

    def _definition(self, avro: RecordType | EnumType | FixedType, namespace: str) -> Sequence[Piece]:
        kind = "error" if isinstance(avro, RecordType) and avro.is_error else avro.kind.value
        pieces: list[Piece] = [f'{{"type":"{kind}","name":{quoted(avro.short_name)}']
        if avro.namespace != namespace:
            pieces.append(f',"namespace":{quoted(avro.namespace)}')
        if avro.doc is not None:
            pieces.append(f',"doc":{quoted(avro.doc)}')
        if isinstance(avro, RecordType):
            pieces += self._fields(avro)
        elif isinstance(avro, EnumType):
            pieces.append(f',"symbols":{dumps(avro.symbols)}')
            if avro.default is not None:
                pieces.append(f',"default":{quoted(avro.default)}')
        else:
            pieces.append(f',"size":{avro.size}')
        pieces.append(self._props(avro.props))
        if avro.aliases:
            pieces.append(f',"aliases":{dumps([_alias(alias, avro.namespace) for alias in avro.aliases])}')
        return [*pieces, "}"]

    def _field(self, item: Field, namespace: str) -> list[Piece]:
        pieces: list[Piece] = [f'{{"name":{quoted(item.name)},"type":', (item.type, namespace)]
        if item.doc is not None:
            pieces.append(f',"doc":{quoted(item.doc)}')
        if item.has_default:
            pieces.append(f',"default":{dumps(item.default)}')
        if item.order != "ascending":
            pieces.append(f',"order":"{item.order}"')
        if item.aliases:
            pieces.append(f',"aliases":{dumps(list(dict.fromkeys(item.aliases)))}')
        return [*pieces, self._props(item.props), "}"]


class Parsing(TypePrinter):
    """As the specification has it."""

    def _mention(self, avro: NamedType, namespace: str) -> str:
        return avro.name

    def _primitive(self, avro: Primitive) -> str:
        return quoted(avro.kind.value)

    def _props(self, props: Mapping[str, Any]) -> str:
        return ""

    def _definition(self, avro: RecordType | EnumType | FixedType, namespace: str) -> Sequence[Piece]:
        pieces: list[Piece] = [f'{{"name":{quoted(avro.name)},"type":"{avro.kind.value}"']
        if isinstance(avro, RecordType):
            return [*pieces, *self._fields(avro), "}"]
        if isinstance(avro, EnumType):
            return [*pieces, f',"symbols":{dumps(avro.symbols)}}}']
        return [*pieces, f',"size":{avro.size}}}']

    def _field(self, item: Field, namespace: str) -> list[Piece]:
        return [f'{{"name":{quoted(item.name)},"type":', (item.type, namespace), "}"]


def _separated(items: Sequence[Sequence[Piece]]) -> list[Piece]:
    pieces: list[Piece] = []
    for at, item in enumerate(items):
        pieces += [",", *item] if at else item
    return pieces


def _qualified(name: str, namespace: str) -> str:
    """Short where the namespace is the one around it, unless the short name would be taken for a kind of type."""
    space, _, short = name.rpartition(".")
    return short if space == namespace and not (space and short in KIND_NAMES) else name


def _alias(name: str, namespace: str) -> str:
    """As `_qualified`; Java drops the dot of an alias that stands for a name without namespace."""
    return name[1:] if name.rfind(".") == 0 else _qualified(name, namespace)
