"""Avro's schema resolution: branches, fields and promotions between a writer and a reader schema, and mismatches.

Must not know of bytes or values. Source: Avro specification 1.12, "Schema Resolution" and "Aliases"; where it leaves
something open, Java does: exact branches of a union before promotions, and of records first the one of
the same full name, then one that can be read.
"""

from __future__ import annotations

from typing import Final

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from serdes.formats.avro.logical import INSTANTS, LOCALS, TIMES, described, logical_of

PROMOTIONS: Final = {
    TypeName.INT: (TypeName.LONG, TypeName.FLOAT, TypeName.DOUBLE),
    TypeName.LONG: (TypeName.FLOAT, TypeName.DOUBLE),
    TypeName.FLOAT: (TypeName.DOUBLE,),
    TypeName.STRING: (TypeName.BYTES,),
    TypeName.BYTES: (TypeName.STRING,),
}
NAMED: Final = (TypeName.RECORD, TypeName.ENUM, TypeName.FIXED)


def parts_of(avro: AvroType) -> list[AvroType]:
    """The types directly inside of one."""
    if isinstance(avro, RecordType):
        return [field.type for field in avro.fields]
    if isinstance(avro, UnionType):
        return list(avro.branches)
    if isinstance(avro, ArrayType):
        return [avro.items]
    return [avro.values] if isinstance(avro, MapType) else []


def units_of(logical: str | None) -> tuple[str, int] | None:
    """The quantity of a logical type, and its units per second; None if it measures no time."""
    if logical is None:
        return None
    for family, units in (("timestamp", INSTANTS), ("timestamp", LOCALS), ("time", TIMES)):
        if logical in units:
            return family, units[logical]
    return None


class Resolution:
    """The resolution of one reader's schema with any writer's. The reader's aliases rename written types and fields."""

    def __init__(self, reader: AvroType) -> None:
        self._renamed: dict[str, str] = {}
        seen: set[int] = set()
        waiting = [reader]
        while waiting:
            avro = waiting.pop()
            if id(avro) not in seen:
                seen.add(id(avro))
                waiting += parts_of(avro)
                if isinstance(avro, NamedType):
                    self._renamed.update(dict.fromkeys(avro.aliases, avro.name))

    def name(self, writer: NamedType) -> str:
        """The reader's name of a written type."""
        return self._renamed.get(writer.name, writer.name)

    def fields(self, writer: RecordType, reader: RecordType) -> dict[str, Field]:
        """Written field → the reader's, for those that it has."""
        renamed = {alias: field.name for field in reader.fields for alias in field.aliases}
        known = {field.name: field for field in reader.fields}
        found = {field.name: known.get(renamed.get(field.name, field.name)) for field in writer.fields}
        return {name: field for name, field in found.items() if field is not None}

    def branch(self, writer: AvroType, union: UnionType) -> int | None:
        """The place of the branch that a written type goes to; None for none."""
        same = [(at, kind) for at, kind in enumerate(union.branches) if kind.kind is writer.kind]
        if writer.kind not in NAMED:
            exact = [at for at, _ in same]
        else:
            assert isinstance(writer, NamedType)
            exact = self._named(writer, same)
        if exact:
            return exact[0]
        wanted = PROMOTIONS.get(writer.kind, ())
        return next((at for at, branch in enumerate(union.branches) if branch.kind in wanted), None)

    def _named(self, writer: NamedType, same: list[tuple[int, AvroType]]) -> list[int]:
        name = self.name(writer)
        short = name.rpartition(".")[2]
        named = [(at, branch) for at, branch in same if isinstance(branch, NamedType)]
        full = [at for at, branch in named if branch.name == name]
        if full:
            return full
        if isinstance(writer, RecordType):
            named = [(at, branch) for at, branch in named if self.fault(writer, branch) is None]
            alike = [at for at, branch in named if branch.short_name == short]
            return alike[-1:] or [at for at, _ in named[:1]]
        return [at for at, branch in named if branch.short_name == short]

    def fault(self, writer: AvroType, reader: AvroType) -> str | None:
        """Why a type can't be read as another, as far as that is seen without going into arrays, maps and unions."""
        return self._fault(writer, reader, frozenset())

    def _fault(self, writer: AvroType, reader: AvroType, inside: frozenset[tuple[int, int]]) -> str | None:
        if writer.kind is TypeName.UNION:
            return None
        if isinstance(reader, UnionType):
            if self.branch(writer, reader) is None:
                return f"the union has no branch that reads {type_name(writer)}"
            return None
        if writer.kind is not reader.kind:
            if reader.kind not in PROMOTIONS.get(writer.kind, ()):
                return f"{type_name(writer)} can't be read as {type_name(reader)}"
        elif isinstance(writer, RecordType) and isinstance(reader, RecordType):
            return self._record_fault(writer, reader, inside)
        elif isinstance(writer, (EnumType, FixedType)) and isinstance(reader, NamedType):
            if self.name(writer).rpartition(".")[2] != reader.short_name:
                return f"{type_name(writer)} is not {type_name(reader)}"
            if isinstance(reader, FixedType) and isinstance(writer, FixedType) and writer.size != reader.size:
                return f"{writer.size} bytes of {writer.name} are not {reader.size}"
        return _logical_fault(writer, reader)

    def _record_fault(self, writer: RecordType, reader: RecordType, inside: frozenset[tuple[int, int]]) -> str | None:
        pair = (id(writer), id(reader))
        if pair in inside:
            return None
        found = self.fields(writer, reader)
        taken = [field.name for field in found.values()]
        if len(set(taken)) < len(taken):
            return f"two fields of {writer.name} become one of {reader.name} by its aliases"
        for field in reader.fields:
            if field.name not in taken and not field.has_default:
                return f"No default value for field {field.name} of {reader.name}"
        if inside:
            return None
        for field in writer.fields:
            if field.name in found:
                fault = self._fault(field.type, found[field.name].type, inside | {pair})
                if fault is not None:
                    return fault
        return None


def _logical_fault(writer: AvroType, reader: AvroType) -> str | None:
    """Why a number of one meaning can't be one of another: a date is no count of milliseconds."""
    written, wanted = logical_of(writer), logical_of(reader)
    if written is None or wanted is None or written == wanted:
        return None
    one, other = units_of(written), units_of(wanted)
    if one is not None and other is not None and one[0] == other[0]:
        return None
    return f"{described(writer)} can't be read as {described(reader)}"
