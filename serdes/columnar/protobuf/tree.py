"""A message type as a tree of fields, each with the Arrow type of its column: what every Protobuf plan is made of.

Must not know of frames or registries. Source: Protobuf's encoding and language guides; `google.protobuf` descriptors.
The tree is finite: a type that holds itself is refused, or cut at a depth. Kinds have the numbers of descriptor.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final, TypeAlias

import pyarrow as pa

from serdes.errors import SerializationError

MAX_FIELDS: Final = 10_000
"""A tree of more fields is refused: types that hold each other many times over grow without end."""
MAX_DEPTH: Final = 100
"""Levels of messages, as many as parsers of Protobuf take."""
ENUMS: Final = ("name", "number")
TIME_UNITS: Final = ("us", "ns")


class FieldType(IntEnum):
    """The type of a field on the wire; up to `SINT64` the numbers of `FieldDescriptorProto.Type`."""

    DOUBLE = 1
    FLOAT = 2
    INT64 = 3
    UINT64 = 4
    INT32 = 5
    FIXED64 = 6
    FIXED32 = 7
    BOOL = 8
    STRING = 9
    MESSAGE = 11
    BYTES = 12
    UINT32 = 13
    ENUM = 14
    SFIXED32 = 15
    SFIXED64 = 16
    SINT32 = 17
    SINT64 = 18
    TIMESTAMP = 19
    DURATION = 20
    JSON = 21


class Shape(IntEnum):
    """The cardinality of a field."""

    ONE = 0
    LIST = 1
    MAP = 2


@dataclass(frozen=True, slots=True)
class Symbols:
    """An enum: what its numbers are called.

    Attributes:
        full_name: its name.
        names: number → name, the first one of aliases.
        numbers: name → number, of aliases too.
        closed: whether other numbers count as unknown fields (proto2, `features.enum_type = CLOSED`).
        as_numbers: whether the column has numbers in place of names.
    """

    full_name: str
    names: Mapping[int, str]
    numbers: Mapping[str, int]
    closed: bool
    as_numbers: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message type, and its column.

    Attributes:
        name: its name in the schema.
        number: its number on the wire.
        kind: what it holds; of a map, `MESSAGE`, the entry with the fields `key` and `value`.
        shape: once, repeated, or a map.
        delimited: whether a message is between two group tags in place of a length.
        wrapped: whether the value is inside a wrapper message (`google.protobuf.Int64Value`, say).
        required: whether every message must have it (proto2, `LEGACY_REQUIRED`).
        implicit: whether it has its default value when absent, so its column is never null in a message.
        packed: whether it is written packed.
        verified: whether each text has to be UTF-8; else (proto2) only the one that counts in the end, for its column.
        oneof: the place of its oneof in the message type, -1 for none.
        symbols: of an enum.
        message: of a message, and of the entries of a map.
        json: of `JSON` the full name of the message type.
        kept: whether there is a column; others are left out by the projection or the depth.
        type: the Arrow type of the column.
    """

    name: str
    number: int
    kind: FieldType
    shape: Shape
    delimited: bool
    wrapped: bool
    required: bool
    implicit: bool
    packed: bool
    verified: bool
    oneof: int
    symbols: Symbols | None
    message: Message | None
    json: str | None
    kept: bool
    type: pa.DataType

    @property
    def item_type(self) -> pa.DataType:
        """The Arrow type of one value: of a list's items, else the column's."""
        return self.type.value_type if self.shape is Shape.LIST else self.type


@dataclass(frozen=True, slots=True)
class Message:
    """A message type at its place in the tree.

    Attributes:
        full_name: its name.
        fields: in the order of the schema, which is that of the columns.
        oneofs: names of its oneofs.
        type: the struct of its columns.
    """

    full_name: str
    fields: tuple[Field, ...]
    oneofs: tuple[str, ...]
    type: pa.StructType

    @property
    def columns(self) -> list[Field]:
        """The fields that have columns."""
        return [field for field in self.fields if field.kept]

    def lines(self, indent: str = "") -> Iterator[str]:
        """The tree as text, a line for each field."""
        for field in self.fields:
            facts = [f"{field.number:>5}", indent + field.name, _on_wire(field)]
            facts += [word for word in ("required", "implicit", "packed", "wrapped") if getattr(field, word)]
            if field.oneof >= 0:
                facts.append(f"oneof {self.oneofs[field.oneof]}")
            yield " ".join(facts) + (f" -> {field.type}" if field.kept else " -> skipped")
            if field.message is not None and field.kept:
                yield from field.message.lines(indent + "  ")


def _on_wire(field: Field) -> str:
    """The type that is read, for the plan's text."""
    what = field.kind.name.lower()
    if field.symbols is not None:
        what = f"{'closed' if field.symbols.closed else 'open'} enum {field.symbols.full_name}"
    elif field.json is not None:
        what = field.json
    elif field.message is not None and field.shape is not Shape.MAP:
        what = f"{'group' if field.delimited else 'message'} {field.message.full_name}"
    return {Shape.ONE: what, Shape.LIST: f"repeated {what}", Shape.MAP: "map"}[field.shape]


# --- descriptors


SCALARS: Final[Mapping[FieldType, pa.DataType]] = {
    FieldType.DOUBLE: pa.float64(),
    FieldType.FLOAT: pa.float32(),
    FieldType.INT64: pa.int64(),
    FieldType.UINT64: pa.uint64(),
    FieldType.INT32: pa.int32(),
    FieldType.FIXED64: pa.uint64(),
    FieldType.FIXED32: pa.uint32(),
    FieldType.BOOL: pa.bool_(),
    FieldType.STRING: pa.string(),
    FieldType.BYTES: pa.binary(),
    FieldType.UINT32: pa.uint32(),
    FieldType.SFIXED32: pa.int32(),
    FieldType.SFIXED64: pa.int64(),
    FieldType.SINT32: pa.int32(),
    FieldType.SINT64: pa.int64(),
    FieldType.JSON: pa.string(),
}
GROUP: Final = 10
VERIFY: Final = 2  # of `google.protobuf.FeatureSet.Utf8Validation`
TIMESTAMP: Final = "google.protobuf.Timestamp"
DURATION: Final = "google.protobuf.Duration"
JSON: Final = frozenset(f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue", "Any"))
WRAPPERS: Final[Mapping[str, FieldType]] = {
    "google.protobuf.DoubleValue": FieldType.DOUBLE,
    "google.protobuf.FloatValue": FieldType.FLOAT,
    "google.protobuf.Int64Value": FieldType.INT64,
    "google.protobuf.UInt64Value": FieldType.UINT64,
    "google.protobuf.Int32Value": FieldType.INT32,
    "google.protobuf.UInt32Value": FieldType.UINT32,
    "google.protobuf.BoolValue": FieldType.BOOL,
    "google.protobuf.StringValue": FieldType.STRING,
    "google.protobuf.BytesValue": FieldType.BYTES,
}


def message_tree(
    descriptor: Any,
    columns: Sequence[str] | None = None,
    enums: str = "name",
    time_unit: str = "us",
    recursive_max_depth: int | None = None,
) -> Message:
    """The tree of a message type.

    Args:
        descriptor: a `google.protobuf` descriptor.
        columns: dotted paths of the fields that become columns (`address.city`); None for all.
        enums: `name` for columns of names, `number` for columns of numbers.
        time_unit: of `Timestamp` and `Duration`, `us` or `ns`.
        recursive_max_depth: how often a type may be inside itself, counted with the outermost (as Spark counts): the
            field of the next one has no column. None refuses recursive types.

    Raises:
        SerializationError: a type holds itself, a path names no field, or there are too many fields or levels.
    """
    if enums not in ENUMS or time_unit not in TIME_UNITS:
        raise ValueError(f"enums={enums!r}, time_unit={time_unit!r}: enums are {ENUMS}, units {TIME_UNITS}")
    builder = _Builder(enums == "number", time_unit, recursive_max_depth)
    return builder.message(descriptor, None if columns is None else _wanted(columns), (), True)


def tree_of_columns(descriptor: Any, kind: pa.StructType) -> Message:
    """The tree of the fields that a struct has columns for, by their names; its own types are the kernel's usual ones.

    Raises:
        SerializationError: a column has no field, or there are too many.
    """
    return _Builder(False, "us", MAX_DEPTH).message(descriptor, _names(kind), (), False)


Wanted: TypeAlias = "dict[str, Wanted] | None"
"""Names of the fields that are kept, each with what is kept of it; None for all."""


def _wanted(columns: Sequence[str]) -> Wanted:
    made: dict[str, Any] = {}
    for path in columns:
        at: Any = made
        *outer, last = path.split(".")
        for name in outer:
            at = None if at is None else at.setdefault(name, {})
        if at is not None:
            at[last] = None
    return made


def _names(kind: pa.DataType) -> Wanted:
    if pa.types.is_struct(kind):
        return {field.name: _names(field.type) for field in kind}
    if pa.types.is_map(kind):
        return {"key": None, "value": _names(kind.item_type)}
    return _names(kind.value_type) if is_list(kind) else None


def is_list(kind: pa.DataType) -> bool:
    """Whether a plain type is one of Arrow's lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


@dataclass(slots=True)
class _Builder:
    as_numbers: bool
    time_unit: str
    max_depth: int | None
    count: int = 0

    def message(self, descriptor: Any, wanted: Wanted, inside: tuple[str, ...], dotted: bool) -> Message:
        """The tree of a message type.

        Args:
            descriptor: the type.
            wanted: what is kept.
            inside: the types around it.
            dotted: whether `wanted` comes from dotted paths, which pass through maps.
        """
        inside = (*inside, descriptor.full_name)
        if len(inside) > MAX_DEPTH:
            raise SerializationError(f"message type {inside[0]} has more than {MAX_DEPTH} levels of messages")
        for name in wanted or ():
            if name not in descriptor.fields_by_name:
                raise SerializationError(f"column {name!r}: {descriptor.full_name} has no field of this name")
        oneofs = [oneof.name for oneof in descriptor.oneofs]
        fields = tuple(self.field(found, wanted, oneofs, inside, dotted) for found in descriptor.fields)
        kept = [pa.field(field.name, field.type) for field in fields if field.kept]
        return Message(descriptor.full_name, fields, tuple(oneofs), pa.struct(kept))

    def field(self, found: Any, among: Wanted, oneofs: list[str], inside: tuple[str, ...], dotted: bool) -> Field:
        self.count += 1
        if self.count > MAX_FIELDS:
            raise SerializationError(f"message type {inside[0]} has more than {MAX_FIELDS:,} fields with all it holds")
        of_message = found.message_type
        is_map = of_message is not None and of_message.GetOptions().map_entry
        full_name = None if of_message is None else of_message.full_name
        kind = _kind(found, full_name)
        kept = among is None or found.name in among
        wanted = None if among is None else among.get(found.name)
        if is_map and wanted is not None and dotted:
            wanted = {"key": None, "value": wanted}
        elif is_map and wanted is not None and wanted.keys() != {"key", "value"}:
            raise SerializationError(
                f"column {found.name!r}: a map is needed, not a struct of {', '.join(wanted) or 'nothing'}"
            )
        message = None
        if kind is FieldType.MESSAGE and kept:
            kept = not self._cut(full_name, inside)
        if kind is FieldType.MESSAGE and kept:
            message = self.message(of_message, wanted, inside, dotted)
        elif wanted is not None and kept:
            lacking = f"it has no field {next(iter(wanted))!r}" if wanted else "no struct can be one"
            raise SerializationError(f"column {found.name!r} is not a message: {lacking}")
        if is_map and message is not None:
            message = Message(message.full_name, tuple(map(_in_entry, message.fields)), (), message.type)
            kept = all(field.kept for field in message.fields)
        symbols = self._symbols(found.enum_type) if kind is FieldType.ENUM else None
        shape = Shape.MAP if is_map else Shape.LIST if found.is_repeated else Shape.ONE
        oneof = found.containing_oneof
        return Field(
            name=found.name,
            number=found.number,
            kind=kind,
            shape=shape,
            delimited=found.type == GROUP,
            wrapped=full_name in WRAPPERS,
            required=found.is_required,
            implicit=shape is Shape.ONE and not found.has_presence,
            packed=found.is_packed,
            verified=found.message_type is not None or found._GetFeatures().utf8_validation == VERIFY,
            oneof=-1 if oneof is None else oneofs.index(oneof.name),
            symbols=symbols,
            message=message,
            json=full_name if kind is FieldType.JSON else None,
            kept=kept,
            type=self._type(kind, shape, symbols, message),
        )

    def _cut(self, full_name: Any, inside: tuple[str, ...]) -> bool:
        """Whether a message type is too often inside itself."""
        times = inside.count(full_name)
        if times and self.max_depth is None:
            raise SerializationError(
                f"message type {full_name} contains itself: recursive types can't be columns, unless "
                "recursive_max_depth says at which level they are cut"
            )
        return self.max_depth is not None and times >= max(self.max_depth, 1)

    def _symbols(self, enum: Any) -> Symbols:
        names: dict[int, str] = {}
        for value in enum.values:
            names.setdefault(value.number, value.name)
        numbers = {value.name: value.number for value in enum.values}
        return Symbols(enum.full_name, names, numbers, enum.is_closed, self.as_numbers)

    def _type(self, kind: FieldType, shape: Shape, symbols: Symbols | None, message: Message | None) -> pa.DataType:
        one: pa.DataType
        if kind is FieldType.MESSAGE:
            one = pa.null() if message is None else message.type
        elif symbols is not None:
            one = pa.int32() if symbols.as_numbers else pa.string()
        elif kind is FieldType.TIMESTAMP:
            one = pa.timestamp(self.time_unit, tz="UTC")
        elif kind is FieldType.DURATION:
            one = pa.duration(self.time_unit)
        else:
            one = SCALARS[kind]
        if shape is Shape.ONE or (shape is Shape.MAP and (message is None or len(message.columns) < 2)):
            return one
        return pa.list_(one) if shape is Shape.LIST else pa.map_(one.field(0).type, one.field(1).type)


def _in_entry(field: Field) -> Field:
    """The key or value of a map's entries: never null, absent ones are defaults."""
    return replace(field, implicit=True, required=False, oneof=-1)


def _kind(found: Any, full_name: str | None) -> FieldType:
    if full_name is None:
        return FieldType(found.type)
    if full_name in (TIMESTAMP, DURATION):
        return FieldType.TIMESTAMP if full_name == TIMESTAMP else FieldType.DURATION
    return FieldType.JSON if full_name in JSON else WRAPPERS.get(full_name, FieldType.MESSAGE)
