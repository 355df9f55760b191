"""The types of Avro as objects; named types are the one object they name, so recursive types are cycles.

Must not know of texts, of compatibility or of data. Source: Avro specification 1.12, "Schema Declaration".
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, TypeAlias


class TypeName(enum.StrEnum):
    """The types of Avro."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    RECORD = "record"
    ENUM = "enum"
    FIXED = "fixed"
    ARRAY = "array"
    MAP = "map"
    UNION = "union"


PRIMITIVES = {kind.value: kind for kind in list(TypeName)[:8]}
RECORDS = ("record", "error")
"""Type names of records: errors are those of Avro's RPC."""
NAMED_TYPES = (*RECORDS, "enum", "fixed")
"""Type names of named definitions."""


class _NoDefault:
    """The type of `NO_DEFAULT`, to tell "no default" from a default of null."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = _NoDefault()

# Identity is equality for all of these: two parses give different types, and recursive types must not be walked.


@dataclass(eq=False, slots=True)
class Primitive:
    """One of the eight primitive types, with its logical type and other properties."""

    kind: TypeName
    props: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class ArrayType:
    """A list of values of one type."""

    items: AvroType
    props: dict[str, Any] = field(default_factory=dict)
    kind: TypeName = TypeName.ARRAY


@dataclass(eq=False, slots=True)
class MapType:
    """String keys, values of one type."""

    values: AvroType
    props: dict[str, Any] = field(default_factory=dict)
    kind: TypeName = TypeName.MAP


@dataclass(eq=False, slots=True)
class UnionType:
    """One of several types."""

    branches: list[AvroType]
    props: dict[str, Any] = field(default_factory=dict)
    kind: TypeName = TypeName.UNION


@dataclass(eq=False, slots=True)
class NamedType:
    """Shared base of records, enums and fixed types; names and aliases are full names."""

    name: str
    aliases: list[str]
    doc: str | None
    props: dict[str, Any]

    @property
    def short_name(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @property
    def namespace(self) -> str:
        """The part before the last dot, empty if there is none."""
        return self.name.rpartition(".")[0]


@dataclass(eq=False, slots=True)
class Field:
    """A field of a record."""

    name: str
    type: AvroType
    default: Any
    aliases: list[str]
    order: str
    doc: str | None
    props: dict[str, Any]

    @property
    def has_default(self) -> bool:
        """Whether the schema gives a default (null is one)."""
        return self.default is not NO_DEFAULT


@dataclass(eq=False, slots=True)
class RecordType(NamedType):
    """A record, or an error (a record of Avro's RPC)."""

    fields: list[Field] = field(default_factory=list)
    is_error: bool = False
    kind: TypeName = TypeName.RECORD


@dataclass(eq=False, slots=True)
class EnumType(NamedType):
    """One of some names."""

    symbols: list[str] = field(default_factory=list)
    default: str | None = None
    kind: TypeName = TypeName.ENUM


@dataclass(eq=False, slots=True)
class FixedType(NamedType):
    """A fixed number of bytes."""

    size: int = 0
    kind: TypeName = TypeName.FIXED


AvroType: TypeAlias = Primitive | ArrayType | MapType | UnionType | RecordType | EnumType | FixedType


def type_name(avro: AvroType) -> str:
    """The name of a type in a sentence: the full name of a named type, else its kind."""
    return avro.name if isinstance(avro, NamedType) else avro.kind.value
