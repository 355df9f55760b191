"""Plans of writing Protobuf: which column is which field of a message type, and how its values are read.

Must not know of registries. Columns and fields meet by their names; a field without a column is absent. What an Arrow
type can't say in every case (a number that is too large, an unknown name) is found out row by row.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from serdes.columnar.protobuf.layouts import plain_type, with_texts
from serdes.columnar.protobuf.plan import message_type
from serdes.columnar.protobuf.tree import Field, FieldType, Message, Shape, Symbols, is_list, tree_of_columns
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema, index_path
from serdes.frames.framing import pack_indexes

INTEGERS: Final[Mapping[pa.DataType, int]] = {
    pa.int8(): 0,
    pa.int16(): 1,
    pa.int32(): 2,
    pa.int64(): 3,
    pa.uint8(): 4,
    pa.uint16(): 5,
    pa.uint32(): 6,
    pa.uint64(): 7,
}
FLOATS: Final[Mapping[pa.DataType, int]] = {pa.float32(): 8, pa.float64(): 9}
TEXTS: Final[Mapping[pa.DataType, int]] = {pa.string(): 11, pa.large_string(): 12}
OCTETS: Final[Mapping[pa.DataType, int]] = {pa.binary(): 11, pa.large_binary(): 12}
BOOL, FIXED_BYTES, STRUCT, LIST, LARGE_LIST, NULL = 10, 13, 14, 15, 16, 17
PER_SECOND: Final[Mapping[str, int]] = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
FIXED64_KINDS: Final = frozenset((FieldType.DOUBLE, FieldType.FIXED64, FieldType.SFIXED64))
FIXED32_KINDS: Final = frozenset((FieldType.FLOAT, FieldType.FIXED32, FieldType.SFIXED32))
LENGTHS: Final = frozenset(
    (FieldType.STRING, FieldType.BYTES, FieldType.MESSAGE, FieldType.TIMESTAMP, FieldType.DURATION, FieldType.JSON)
)
MAX_ONEOFS: Final = 63


@dataclass(frozen=True, slots=True, eq=False)
class WritingPlan:
    """The plan to write a struct's rows as messages. Immutable; `str` shows it.

    Attributes:
        descriptor: of the message type.
        tree: its fields; those kept have columns.
        given: the type of the rows.
        type: the type they are brought into first, the same unless a column is a dictionary, a view or the like.
        path: of the message type in its file, as frames have it; empty if they have none.
    """

    descriptor: Any
    tree: Message
    given: pa.StructType
    type: pa.StructType
    path: bytes

    def __str__(self) -> str:
        return "\n".join([f"protobuf {self.tree.full_name} <- {self.type}", *self.tree.lines()])


def writing_plan(schema: ProtobufSchema, given: pa.DataType, framed: bool, name: str = "") -> WritingPlan:
    """The plan to write rows of an Arrow type.

    Args:
        schema: what they are written with.
        given: the type of the rows, a struct.
        framed: whether an id stands in front of the payload, and so the path of the message type does.
        name: of the message type; empty for the one that was chosen, else the first in the file.

    Raises:
        SerializationError: a column has no field, or not a type that its field can be made of, or a required field has
            no column; `path` says which.
    """
    if not pa.types.is_struct(plain_type(given)):
        raise SerializationError(f"messages are made of structs, not of {given}")
    descriptor = message_type(schema, name)
    kind = plain_type(given)
    if len({field.name for field in kind}) != kind.num_fields:
        raise SerializationError("two columns have the same name")
    tree = tree_of_columns(descriptor, kind)
    kind = with_texts(given, kind, _in_texts(tree))
    _check_message(tree, kind, "")
    return WritingPlan(descriptor, tree, given, kind, pack_indexes(index_path(descriptor)) if framed else b"")


def _in_texts(tree: Message) -> dict[str, Any]:
    """Of each field whether it holds texts; of messages the same for their fields."""
    found: dict[str, Any] = {}
    for field in tree.fields:
        inner = field.message if field.kept or field.message is None else None
        found[field.name] = field.kind is FieldType.STRING if inner is None else _in_texts(inner)
    return found


def _check_message(tree: Message, kind: pa.StructType, path: str) -> None:
    of_name = {field.name: field.type for field in kind}
    shared: dict[int, int] = {}
    for field in tree.fields:
        here = f"{path}.{field.name}".lstrip(".")
        if field.name not in of_name:
            if field.required:
                raise SerializationError("the required field has no column", path=here)
            continue
        if not field.kept:
            raise SerializationError(f"message types are nested too deep for {of_name[field.name]}", path=here)
        shared[field.oneof] = shared.get(field.oneof, 0) + 1
        _check_field(field, of_name[field.name], here)
    if len([oneof for oneof, members in shared.items() if oneof >= 0 and members > 1]) > MAX_ONEOFS:
        raise SerializationError(f"more than {MAX_ONEOFS} oneofs of one message have columns", path=path)


def _check_field(field: Field, kind: pa.DataType, path: str) -> None:
    if pa.types.is_null(kind):
        return
    if field.shape is Shape.MAP:
        if not pa.types.is_map(kind):
            raise SerializationError(f"a map is needed, not {kind}", path=path)
        assert field.message is not None
        for part, of_part in zip(field.message.fields, (kind.key_type, kind.item_type), strict=True):
            _check_value(part, of_part, f"{path}.{part.name}")
    elif field.shape is Shape.LIST:
        if not is_list(kind):
            raise SerializationError(f"a list is needed, not {kind}", path=path)
        _check_value(field, kind.value_type, path)
    else:
        _check_value(field, kind, path)


def _check_value(field: Field, kind: pa.DataType, path: str) -> None:
    if field.kind is FieldType.MESSAGE:
        assert field.message is not None
        if not pa.types.is_struct(kind):
            raise SerializationError(f"a struct is needed for {field.message.full_name}, not {kind}", path=path)
        _check_message(field.message, kind, path)
        return
    if source_of(field, kind) is None:
        text = f"{kind} can't be written as {field.kind.name.lower()}"
        if field.kind is FieldType.TIMESTAMP and pa.types.is_timestamp(kind):
            text = f"{kind} has no time zone: which instants are meant? Cast it to timestamp('us', 'UTC')"
        raise SerializationError(text, path=path)


def source_of(field: Field, kind: pa.DataType) -> int | None:
    """The kernel's way to read values of a type for a field; None if it can't be written as that."""
    if pa.types.is_null(kind):
        return NULL
    if field.kind in (FieldType.DOUBLE, FieldType.FLOAT):
        return FLOATS.get(kind)
    if field.kind is FieldType.BOOL:
        return BOOL if pa.types.is_boolean(kind) else None
    if field.kind in (FieldType.STRING, FieldType.JSON):
        return TEXTS.get(kind)
    if field.kind is FieldType.BYTES:
        return FIXED_BYTES if pa.types.is_fixed_size_binary(kind) else OCTETS.get(kind)
    if field.kind is FieldType.ENUM:
        return TEXTS.get(kind, INTEGERS.get(kind))
    if field.kind is FieldType.TIMESTAMP:
        return INTEGERS[pa.int64()] if pa.types.is_timestamp(kind) and kind.tz is not None else None
    if field.kind is FieldType.DURATION:
        return INTEGERS[pa.int64()] if pa.types.is_duration(kind) else None
    return INTEGERS.get(kind)


def wire_of(kind: FieldType) -> int:
    """The wire type of a value; messages may be groups instead."""
    if kind in LENGTHS:
        return 2
    return 1 if kind in FIXED64_KINDS else 5 if kind in FIXED32_KINDS else 0


# --- what the kernel takes


FIELD: Final = struct.Struct("=I15i")
SOURCE: Final = struct.Struct("=5i")


class Lowered:
    """A plan as tables for the kernel: messages, columns and enums that name each other by number."""

    def __init__(self, plan: WritingPlan) -> None:
        self._messages: list[list[tuple[int, ...]]] = []
        self._sources: list[tuple[int, int, int, int, int]] = []
        self._symbols: list[Symbols] = []
        root = self._source(STRUCT, plan.type, -1, 0)
        self._message(plan.tree, plan.type, root, False)

    def messages(self) -> list[bytes]:
        """Of each its fields by their tags: what `_row` says, in native ints of 32 bits."""
        return [b"".join(FIELD.pack(*row) for row in sorted(rows)) for rows in self._messages]

    def sources(self) -> list[bytes]:
        """Of each column its type, width, ticks per second, the column above and the place in there."""
        return [SOURCE.pack(*source) for source in self._sources]

    def symbols(self) -> list[tuple[list[bytes], list[int]]]:
        """Of each enum its names, ordered by length and name, and their numbers."""
        made = []
        for one in self._symbols:
            pairs = [(name.encode(), number) for name, number in one.numbers.items()]
            pairs.sort(key=lambda pair: (len(pair[0]), pair[0]))
            made.append(([name for name, _ in pairs], [number for _, number in pairs]))
        return made

    def _source(self, source: int, kind: pa.DataType, above: int, place: int) -> int:
        width = kind.byte_width if source == FIXED_BYTES else 0
        timed = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
        self._sources.append((source, width, PER_SECOND[kind.unit] if timed else 0, above, place))
        return len(self._sources) - 1

    def _message(self, tree: Message, kind: pa.StructType, above: int, entry: bool) -> int:
        number = len(self._messages)
        made: list[tuple[int, ...]] = []
        self._messages.append(made)
        members = [field.oneof for field in tree.columns if field.oneof >= 0]
        shared = [oneof for oneof in dict.fromkeys(members) if members.count(oneof) > 1]
        for place, field in enumerate(tree.fields):
            if field.kept:
                oneof = shared.index(field.oneof) if field.oneof in shared else -1
                made.append(self._row(field, self._columns(field, kind, above, entry), place, oneof, entry))
        return number

    def _columns(self, field: Field, kind: pa.StructType, above: int, entry: bool) -> tuple[int, int, int]:
        """A field's column, the one that holds its items (-1 for none), and its message (-1 for none)."""
        place = kind.get_field_index(field.name) if not entry else int(field.name == "value")
        own = kind.field(place).type
        holder = -1
        if field.shape is not Shape.ONE:
            large = pa.types.is_large_list(own)
            source = NULL if pa.types.is_null(own) else LARGE_LIST if large else LIST
            holder = self._source(source, own, above, place)
            if source == NULL:
                return holder, holder, -1
            above, place = holder, 0
            own = pa.struct([own.key_field, own.item_field]) if field.shape is Shape.MAP else own.value_type
        if field.message is None or pa.types.is_null(own):
            found = source_of(field, own)
            return self._source(NULL if found is None else found, own, above, place), holder, -1
        column = self._source(STRUCT, own, above, place)
        return column, holder, self._message(field.message, own, column, field.shape is Shape.MAP)

    def _row(self, field: Field, columns: tuple[int, int, int], place: int, oneof: int, entry: bool) -> tuple[int, ...]:
        """Tag, kind, shape, four facts, packed, wire type, oneof, closed, column, holder, message, enum, place."""
        wire = wire_of(field.kind)
        outer = 3 if field.delimited else 2 if field.wrapped else wire
        closed = field.symbols is not None and field.symbols.closed
        return (
            field.number << 3 | outer, field.kind, field.shape, field.wrapped, field.delimited,
            field.required or entry, field.implicit and not entry, field.packed, wire, oneof, closed,
            *columns, self._enum(field.symbols), place,
        )  # fmt: skip

    def _enum(self, symbols: Symbols | None) -> int:
        if symbols is None:
            return -1
        for at, known in enumerate(self._symbols):
            if known.full_name == symbols.full_name:
                return at
        self._symbols.append(symbols)
        return len(self._symbols) - 1
