"""Two fields of the same number: what differs in their types and labels.

Must not look into messages: a pair of message types is handed back, to be compared by who asked. Source: Confluent's
registry (`FieldSchemaDiff`); "Updating a message type" of the Protobuf documentation for which scalars share bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from registry.compat.protobuf.kinds import Change, ProtobufKind
from registry.schemas.protobuf.model import SCALARS, Enum, Field, map_types
from registry.schemas.protobuf.types import TypeInfo, Types

NUMBER: Final = "number"
STRING: Final = "string or bytes"
# scalar → the group whose members read each other's bytes
GROUPS: Final = {
    "int32": NUMBER,
    "int64": NUMBER,
    "uint32": NUMBER,
    "uint64": NUMBER,
    "bool": NUMBER,
    "sint32": "signed number",
    "sint64": "signed number",
    "string": STRING,
    "bytes": STRING,
    "fixed32": "fixed32",
    "sfixed32": "fixed32",
    "fixed64": "fixed64",
    "sfixed64": "fixed64",
    "float": "float",
    "double": "double",
}


@dataclass(slots=True)
class Side:
    """One schema's view from inside a message: what names mean there."""

    types: Types
    package: str
    scope: tuple[str, ...]

    def find(self, name: str) -> TypeInfo | None:
        """The type a name means here."""
        return self.types.meant(name, self.scope, self.package)


@dataclass(frozen=True, slots=True)
class Pair:
    """Message types of the same local name that a field refers to: how the reader's reads the writer's."""

    reader: TypeInfo
    writer: TypeInfo


def same_scalars(reader: Field, writer: Field, here: Side, there: Side) -> bool:
    """Whether two fields are the same for certain; most are, and this is quick."""
    return (
        reader.name == writer.name
        and reader.type == writer.type
        and reader.label == writer.label
        and reader.type in SCALARS
        and not here.types.shadows
        and not there.types.shadows
    )


def compare_fields(
    reader: Field, writer: Field, here: Side, there: Side, path: tuple[str, ...]
) -> Iterator[Change | Pair]:
    """The differences of two fields, and the message types that remain to be compared.

    Args:
        reader: the reader's field.
        writer: the writer's field of the same number.
        here: around the reader's field.
        there: around the writer's field.
        path: of the field.
    """
    if reader.name != writer.name:
        yield Change(ProtobufKind.FIELD_NAME_CHANGED, path, reader.name, reader.name, writer.name)
    waiting = [(reader.type, writer.type, reader.label, writer.label)]
    while waiting:
        read_as, written_as, *labels = waiting.pop()
        one, other = _TypeGroup.of(read_as, here), _TypeGroup.of(written_as, there)
        if one.sort != other.sort:
            kind = ProtobufKind.FIELD_KIND_CHANGED
            yield Change(kind, path, reader.name, one.described(read_as), other.described(written_as))
        elif one.map is not None and other.map is not None:
            waiting += [(one.map[1], other.map[1], None, None), (one.map[0], other.map[0], None, None)]
        elif one.sort == "scalar":
            if one.group != other.group:
                yield Change(ProtobufKind.FIELD_SCALAR_KIND_CHANGED, path, reader.name, read_as, written_as)
            elif None not in labels and labels[0] != labels[1]:
                text = one.group == STRING
                kind = (
                    ProtobufKind.FIELD_STRING_OR_BYTES_LABEL_CHANGED
                    if text
                    else ProtobufKind.FIELD_NUMERIC_LABEL_CHANGED
                )
                yield Change(kind, path, reader.name, str(labels[0]), str(labels[1]))
        else:
            changed = Change(ProtobufKind.FIELD_NAMED_TYPE_CHANGED, path, reader.name, read_as, written_as)
            yield from _messages(one.info, other.info, changed)


@dataclass(frozen=True, slots=True)
class _TypeGroup:
    """The sort of a type: `scalar` (enums too) with its group, `map` with its types, `message` with what is known."""

    sort: str
    group: str = ""
    map: tuple[str, str] | None = None
    info: TypeInfo | None = None

    @classmethod
    def of(cls, name: str, side: Side) -> _TypeGroup:
        if name in SCALARS and not side.types.shadows:
            return SCALAR_KINDS[GROUPS[name]]
        info = side.find(name)
        if info is not None and info.map_entry is not None:
            return cls("map", map=info.map_entry)
        if name in SCALARS:
            # A type of that name wins over the scalar only where groups are compared.
            return cls("scalar", NUMBER if info is not None and isinstance(info.type, Enum) else GROUPS[name])
        if (types := map_types(name)) is not None:
            return cls("map", map=types)
        if info is not None and isinstance(info.type, Enum):
            return cls("scalar", NUMBER)
        return cls("message", info=info)

    def described(self, name: str) -> str:
        return f"a {self.sort} {name}" if self.sort == "message" else f"{name}"


SCALAR_KINDS: Final = {group: _TypeGroup("scalar", group) for group in GROUPS.values()}


def _messages(reader: TypeInfo | None, writer: TypeInfo | None, changed: Change) -> Iterator[Change | Pair]:
    """Message types are the same if their names are, packages aside, and what they declare fits."""
    if reader is None or writer is None:
        if changed.here != changed.there:
            yield changed
    elif reader.local_name != writer.local_name:
        yield changed
    elif reader.place is None or writer.place is None or reader.place != writer.place:
        yield Pair(reader, writer)
