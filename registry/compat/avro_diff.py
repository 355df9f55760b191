"""All differences that keep an Avro reader schema from reading data of a writer schema.

Must not know of levels or registries. Source: Avro specification 1.12, "Schema Resolution"; where the specification
leaves room (names compared without namespace, enum defaults), Java's `SchemaCompatibility` is followed, since it is
the judge inside Confluent's registry.
"""

from __future__ import annotations

from typing import TypeAlias

from registry.compat import avro_model
from registry.compat.avro_canonical import avro_text
from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    RecordType,
    UnionType,
    type_name,
)
from registry.compat.difference import AvroKind, Difference, Roles
from registry.compat.formats import Referenced
from registry.errors import InvalidSchemaError
from registry.models import Schema

__all__ = ["canonical", "differences", "parse"]

# reader kind → writer kinds whose values it can read as its own
PROMOTIONS: dict[Kind, frozenset[Kind]] = {
    Kind.LONG: frozenset({Kind.INT}),
    Kind.FLOAT: frozenset({Kind.INT, Kind.LONG}),
    Kind.DOUBLE: frozenset({Kind.INT, Kind.LONG, Kind.FLOAT}),
    Kind.BYTES: frozenset({Kind.STRING}),
    Kind.STRING: frozenset({Kind.BYTES}),
}


def parse(schema: Schema, referenced: Referenced) -> AvroType:
    """The schema with the types of those it refers to.

    Raises:
        InvalidSchemaError: it is not valid Avro.
    """
    return avro_model.parse(schema.schema_str, [found.schema_str for _, found in referenced])


def canonical(schema: Schema, referenced: Referenced, normalize: bool) -> str:
    """The text a registry stores and compares (see `avro_canonical`)."""
    return avro_text(schema.schema_str, [found.schema_str for _, found in referenced], normalize)


def differences(
    reader: AvroType, writer: AvroType, roles: Roles | None = None, policy: str = "STRICT"
) -> list[Difference]:
    """Everything that is in the way; empty if all data of `writer` can be read with `reader`.

    Cost: one comparison for each pair of types that meet, however often they meet.

    Raises:
        InvalidSchemaError: a field's aliases match several fields of the writer, or the schemas are nested too deep.
    """
    try:
        return list(_Comparison(roles or Roles()).compare(reader, writer, ""))
    except RecursionError:
        raise InvalidSchemaError.local("Avro schemas are nested too deep to be compared") from None


Found: TypeAlias = dict[Difference, None]
"""An ordered set: a difference in a type that is mentioned often is still one difference."""


class _Comparison:
    """One run over two schemas. Pairs that are being compared count as compatible: recursive types end so."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._seen: dict[tuple[int, int], Found] = {}

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        if not isinstance(reader, (RecordType, UnionType, ArrayType, MapType)):
            return self._compare(reader, writer, path)
        key = (id(reader), id(writer))
        if key not in self._seen:
            self._seen[key] = {}
            self._seen[key] = self._compare(reader, writer, path)
        return self._seen[key]

    def _compare(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        if isinstance(writer, UnionType):
            return self._writer_union(reader, writer, path)
        if isinstance(reader, UnionType):
            return self._reader_union(reader, writer, path)
        if isinstance(reader, RecordType) and isinstance(writer, RecordType):
            return self._names(reader, writer, path) | self._fields(reader, writer, path)
        if isinstance(reader, EnumType) and isinstance(writer, EnumType):
            return self._names(reader, writer, path) | self._symbols(reader, writer, path)
        if isinstance(reader, FixedType) and isinstance(writer, FixedType):
            return self._names(reader, writer, path) | self._size(reader, writer, path)
        if isinstance(reader, ArrayType) and isinstance(writer, ArrayType):
            return self.compare(reader.items, writer.items, f"{path}/items")
        if isinstance(reader, MapType) and isinstance(writer, MapType):
            return self.compare(reader.values, writer.values, f"{path}/values")
        if reader.kind is writer.kind or writer.kind in PROMOTIONS.get(reader.kind, ()):
            return {}
        return self._type_mismatch(reader, writer, path)

    def _writer_union(self, reader: AvroType, writer: UnionType, path: str) -> Found:
        """Every branch that may have been written must be readable."""
        found: Found = {}
        for branch in writer.branches:
            if isinstance(reader, UnionType):
                found |= self._reader_union(reader, branch, path)
            else:
                found |= self.compare(reader, branch, path)
        return found

    def _reader_union(self, reader: UnionType, writer: AvroType, path: str) -> Found:
        if any(not self.compare(branch, writer, f"{path}/{at}") for at, branch in enumerate(reader.branches)):
            return {}
        branches = ", ".join(type_name(branch) for branch in reader.branches) or "nothing"
        name = type_name(writer)
        return self._difference(
            AvroKind.MISSING_UNION_BRANCH,
            path,
            f"the union of {branches} lacks a branch that reads {name}, which {self._roles.writer} may write",
            f"add {name} to the union",
        )

    def _names(self, reader: RecordType | EnumType | FixedType, writer: AvroType, path: str) -> Found:
        assert isinstance(writer, (RecordType, EnumType, FixedType))
        if reader.short_name == writer.short_name or writer.name in reader.aliases:
            return {}
        return self._difference(
            AvroKind.NAME_MISMATCH,
            f"{path}/name",
            f"{reader.kind.value} is called {reader.name}, in {self._roles.writer} it is {writer.name}",
            f"keep the name, or add {writer.name!r} to its aliases",
        )

    def _fields(self, reader: RecordType, writer: RecordType, path: str) -> Found:
        found: Found = {}
        written = {field.name: field for field in writer.fields}
        for at, field in enumerate(reader.fields):
            here = f"{path}/fields/{at}"
            source = _written_field(field, written, reader)
            if source is not None:
                found |= self.compare(field.type, source.type, f"{here}/type")
            elif not field.has_default:
                found |= self._missing(field, reader, writer, here)
        return found

    def _missing(self, field: Field, reader: RecordType, writer: RecordType, path: str) -> Found:
        if isinstance(field.type, EnumType) and field.type.default is not None:
            # Java compares the enum with the whole writer record here: a mismatch of another kind, still a mismatch.
            return self.compare(field.type, writer, f"{path}/type")
        return self._difference(
            AvroKind.READER_FIELD_MISSING_DEFAULT_VALUE,
            path,
            f"field {field.name!r} of {reader.name} is not in {self._roles.writer} and has no default",
            "give it a default",
        )

    def _symbols(self, reader: EnumType, writer: EnumType, path: str) -> Found:
        missing = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
        if not missing or reader.default is not None:
            return {}
        return self._difference(
            AvroKind.MISSING_ENUM_SYMBOLS,
            f"{path}/symbols",
            f"enum {reader.name} lacks {', '.join(missing)}, which {self._roles.writer} may write",
            "keep the symbols, or give the enum a default",
        )

    def _size(self, reader: FixedType, writer: FixedType, path: str) -> Found:
        if reader.size == writer.size:
            return {}
        return self._difference(
            AvroKind.FIXED_SIZE_MISMATCH,
            f"{path}/size",
            f"fixed {reader.name} has {reader.size} bytes, in {self._roles.writer} it has {writer.size}",
            "keep the size, or add a new field",
        )

    def _type_mismatch(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        return self._difference(
            AvroKind.TYPE_MISMATCH,
            path,
            f"{type_name(reader)} can't read {type_name(writer)}, which {self._roles.writer} writes",
            "keep the type, or add a new field with a default",
        )

    def _difference(self, kind: AvroKind, path: str, what: str, remedy: str) -> Found:
        where = path or "/"
        text = f"{where} of {self._roles.reader}: {what}; to be compatible, {remedy}"
        return {Difference(kind.value, where, text): None}


def _written_field(field: Field, written: dict[str, Field], reader: RecordType) -> Field | None:
    """The writer's field that fills a reader's field: by name, or by one of its aliases."""
    found = [written[name] for name in dict.fromkeys([field.name, *field.aliases]) if name in written]
    if len(found) > 1:
        names = ", ".join(repr(item.name) for item in found)
        raise InvalidSchemaError.local(f"field {field.name!r} of {reader.name} matches several written fields: {names}")
    return found[0] if found else None
