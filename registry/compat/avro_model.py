"""Avro schemas as objects: parsed, named types resolved to the one object they name.

Must not know of compatibility or of data. Source: Avro specification 1.12, "Schema Declaration" and "Names".
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from registry.errors import InvalidSchemaError

__all__ = [
    "NO_DEFAULT",
    "ArrayType",
    "AvroType",
    "EnumType",
    "Field",
    "FixedType",
    "Kind",
    "MapType",
    "NamedType",
    "Primitive",
    "RecordType",
    "UnionType",
    "parse",
    "type_name",
]


class Kind(enum.StrEnum):
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


PRIMITIVES = {kind.value: kind for kind in list(Kind)[:8]}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class _NoDefault:
    """The type of `NO_DEFAULT`, to tell "no default" from a default of null."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = _NoDefault()

# Identity is equality for all of these: two parses give different types, and recursive types must not be walked.


@dataclass(eq=False, slots=True)
class Primitive:
    """One of the eight primitive types, with its logical type and other properties."""

    kind: Kind
    props: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class ArrayType:
    """A list of values of one type."""

    items: AvroType
    props: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.ARRAY


@dataclass(eq=False, slots=True)
class MapType:
    """String keys, values of one type."""

    values: AvroType
    props: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.MAP


@dataclass(eq=False, slots=True)
class UnionType:
    """One of several types."""

    branches: list[AvroType]
    props: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.UNION


@dataclass(eq=False, slots=True)
class NamedType:
    """What records, enums and fixed types have in common; names and aliases are full names."""

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
    kind: Kind = Kind.RECORD


@dataclass(eq=False, slots=True)
class EnumType(NamedType):
    """One of some names."""

    symbols: list[str] = field(default_factory=list)
    default: str | None = None
    kind: Kind = Kind.ENUM


@dataclass(eq=False, slots=True)
class FixedType(NamedType):
    """A fixed number of bytes."""

    size: int = 0
    kind: Kind = Kind.FIXED


AvroType: TypeAlias = Primitive | ArrayType | MapType | UnionType | RecordType | EnumType | FixedType


def type_name(avro: AvroType) -> str:
    """The name of a type in a sentence: the full name of a named type, else its kind."""
    return avro.name if isinstance(avro, NamedType) else avro.kind.value


def parse(text: str, referenced: Iterable[str] = ()) -> AvroType:
    """Parses a schema.

    Args:
        text: the schema's JSON; a bare primitive name (`string`) is taken too, as the registry does.
        referenced: texts of the schemas whose names this one uses, each after those it uses itself.

    Raises:
        InvalidSchemaError: not JSON, or not a valid Avro schema, or nested too deep.
    """
    parser = _Parser()
    try:
        for other in referenced:
            parser.parse(_json(other), "")
        return parser.parse(_json(text), "")
    except RecursionError:
        raise InvalidSchemaError.local("Avro schema is nested too deep") from None


def _json(text: str) -> Any:
    if text.strip() in PRIMITIVES:
        return text.strip()
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidSchemaError.local(f"Avro schema is not JSON: {error}") from error


RESERVED = frozenset(
    "type name namespace doc aliases fields symbols default size items values order".split()  # noqa: SIM905
)
FIELD_RESERVED = frozenset(("name", "type", "doc", "default", "order", "aliases"))


class _Parser:
    """Reads one schema and those before it into one table of names."""

    def __init__(self) -> None:
        self._named: dict[str, RecordType | EnumType | FixedType] = {}

    def parse(self, node: Any, namespace: str) -> AvroType:
        if isinstance(node, str):
            return self._by_name(node, namespace)
        if isinstance(node, list):
            return self._union(node, namespace)
        if not isinstance(node, dict):
            raise InvalidSchemaError.local(f"{_short(node)} is not an Avro schema")
        kind = node.get("type")
        if isinstance(kind, (dict, list)):
            return self.parse(kind, namespace)
        if not isinstance(kind, str):
            raise InvalidSchemaError.local(f"no type in {_short(node)}")
        return self._object(kind, node, namespace)

    def _object(self, kind: str, node: dict[str, Any], namespace: str) -> AvroType:
        if kind in PRIMITIVES:
            return Primitive(PRIMITIVES[kind], _props(node, frozenset(("type",))))
        if kind == "array":
            return ArrayType(self.parse(_needed(node, "items"), namespace), _props(node, RESERVED))
        if kind == "map":
            return MapType(self.parse(_needed(node, "values"), namespace), _props(node, RESERVED))
        if kind in ("record", "error"):
            return self._record(node, namespace, kind == "error")
        if kind == "enum":
            return self._enum(node, namespace)
        if kind == "fixed":
            return self._fixed(node, namespace)
        return self._by_name(kind, namespace)

    def _by_name(self, name: str, namespace: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(PRIMITIVES[name])
        candidates = [name] if "." in name or not namespace else [f"{namespace}.{name}", name]
        for candidate in candidates:
            if candidate in self._named:
                return self._named[candidate]
        raise InvalidSchemaError.local(f"undefined name: {candidates[0]!r}")

    def _union(self, node: list[Any], namespace: str) -> UnionType:
        branches = [self.parse(item, namespace) for item in node]
        seen: set[str] = set()
        for branch in branches:
            if isinstance(branch, UnionType):
                raise InvalidSchemaError.local("a union may not directly hold a union")
            name = type_name(branch)
            if name in seen:
                raise InvalidSchemaError.local(f"duplicate in union: {name}")
            seen.add(name)
        return UnionType(branches)

    def _record(self, node: dict[str, Any], namespace: str, is_error: bool) -> RecordType:
        record = RecordType(*self._naming(node, namespace), is_error=is_error)
        self._define(record)
        fields = _needed(node, "fields")
        if not isinstance(fields, list):
            raise InvalidSchemaError.local(f"fields of {record.name} are not a list")
        names: set[str] = set()
        for item in fields:
            made = self._field(item, record)
            if made.name in names:
                raise InvalidSchemaError.local(f"duplicate field {made.name!r} in record {record.name}")
            names.add(made.name)
            record.fields.append(made)
        return record

    def _field(self, node: Any, record: RecordType) -> Field:
        if not isinstance(node, dict) or not isinstance(node.get("name"), str):
            raise InvalidSchemaError.local(f"a field of record {record.name} has no name")
        name = node["name"]
        if not NAME.match(name):
            raise InvalidSchemaError.local(f"illegal name of a field of {record.name}: {_short(name)}")
        if "type" not in node:
            raise InvalidSchemaError.local(f"field {name!r} of record {record.name} has no type")
        return Field(
            name,
            self.parse(node["type"], record.namespace),
            node.get("default", NO_DEFAULT),
            _strings(node.get("aliases", []), f"aliases of field {name!r}"),
            str(node.get("order", "ascending")).lower(),
            node.get("doc"),
            _props(node, FIELD_RESERVED),
        )

    def _enum(self, node: dict[str, Any], namespace: str) -> EnumType:
        symbols = _strings(_needed(node, "symbols"), "symbols of an enum")
        default = node.get("default")
        made = EnumType(*self._naming(node, namespace), symbols=symbols, default=default)
        for symbol in symbols:
            if not NAME.match(symbol):
                raise InvalidSchemaError.local(f"illegal symbol of enum {made.name}: {_short(symbol)}")
        if len(set(symbols)) != len(symbols):
            raise InvalidSchemaError.local(f"duplicate symbols in enum {made.name}")
        if default is not None and default not in symbols:
            raise InvalidSchemaError.local(f"default {_short(default)} of enum {made.name} is not one of its symbols")
        self._define(made)
        return made

    def _fixed(self, node: dict[str, Any], namespace: str) -> FixedType:
        size = _needed(node, "size")
        made = FixedType(*self._naming(node, namespace), size=size)
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise InvalidSchemaError.local(f"size of fixed {made.name} must be a whole number from 0: {_short(size)}")
        self._define(made)
        return made

    def _naming(self, node: dict[str, Any], enclosing: str) -> tuple[str, list[str], str | None, dict[str, Any]]:
        """Full name, full aliases, doc and other properties of a named type."""
        name = node.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidSchemaError.local(f"no name in {_short(node)}")
        space = node.get("namespace")
        full = name if "." in name else _qualified(name, space if isinstance(space, str) else enclosing)
        for part in full.split("."):
            if not NAME.match(part):
                raise InvalidSchemaError.local(f"illegal name: {_short(full)}")
        namespace = full.rpartition(".")[0]
        aliases = _strings(node.get("aliases", []), f"aliases of {full}")
        full_aliases = [alias if "." in alias else _qualified(alias, namespace) for alias in aliases]
        return full, full_aliases, node.get("doc"), _props(node, RESERVED)

    def _define(self, made: RecordType | EnumType | FixedType) -> None:
        if made.name in self._named or made.name in PRIMITIVES:
            raise InvalidSchemaError.local(f"can't redefine: {made.name}")
        self._named[made.name] = made


def _qualified(name: str, namespace: str) -> str:
    return f"{namespace}.{name}" if namespace else name


def _needed(node: Mapping[str, Any], name: str) -> Any:
    if name not in node:
        raise InvalidSchemaError.local(f"no {name} in {_short(node)}")
    return node[name]


def _strings(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidSchemaError.local(f"{what} are not a list of strings: {_short(value)}")
    return list(value)


def _props(node: Mapping[str, Any], reserved: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name not in reserved}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
