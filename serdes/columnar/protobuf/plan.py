"""Plans of reading Protobuf: which frames of a writer's schema have the reader's message type, and its tree of fields.

Must not know of registries. Fields are resolved by their numbers, as everywhere in Protobuf: the reader's message type
decides the columns, and of the writer's schema only the places of message types count. A value of another wire type
than the reader's field has is an unknown field, and skipped: the column is null, or has its default.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from serdes.columnar.contract import ColumnOptions
from serdes.columnar.protobuf.tree import FieldType, Message, Shape, message_tree
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema, made_of_groups

MAX_NUMBER: Final = 2**29 - 1


@dataclass(frozen=True, slots=True, eq=False)
class ReaderType:
    """The type that payloads are read as: one for all plans of a reader's schema.

    Attributes:
        descriptor: of the message type.
        tree: its fields.
        nanoseconds: whether times are columns of nanoseconds.
    """

    descriptor: Any
    tree: Message
    nanoseconds: bool

    @property
    def type(self) -> pa.StructType:
        """The type of the columns."""
        return self.tree.type


@dataclass(frozen=True, slots=True, eq=False)
class ProtobufPlan:
    """The plan to read frames of one writer's schema. Immutable; `str` shows it.

    Attributes:
        reader: what they are read as.
        writer: the writer's schema.
        paths: the paths of the message type that frames may name.
    """

    reader: ReaderType
    writer: ProtobufSchema
    paths: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        named = " or ".join(str(list(path)) for path in self.paths)
        head = f"protobuf {self.reader.tree.full_name}, message type {named} of the writer's schema"
        return "\n".join([head, *self.reader.tree.lines()])


def arrow_type(reader: ProtobufSchema, options: ColumnOptions) -> pa.StructType:
    """The type of the columns that a reader's schema has.

    Raises:
        SerializationError: it has none.
    """
    return reader_of(reader, options).type


def plan(writer: ProtobufSchema, reader: ProtobufSchema, options: ColumnOptions) -> ProtobufPlan:
    """The plan to read payloads of one schema as another.

    Raises:
        SerializationError: the writer's schema does not have the reader's message type.
    """
    found = reader_of(reader, options)
    wanted = found.tree.full_name
    places = list(_places(writer.file, wanted))
    if not places:
        own = ", ".join(item.full_name for item in writer.file.message_types_by_name.values()) or "none"
        raise SerializationError(f"the schema has no message type {wanted}, which is read; it has {own}")
    return ProtobufPlan(found, writer, tuple(places))


@lru_cache(maxsize=64)
def reader_of(schema: ProtobufSchema, options: ColumnOptions) -> ReaderType:
    """A reader's schema with options, verified.

    Raises:
        SerializationError: it has no columns: no message type, a recursive one, a path that names no field.
    """
    descriptor = message_type(schema, options.message_type)
    depth = options.recursive_max_depth or None
    tree = message_tree(descriptor, options.columns, options.enums, options.time_unit, depth)
    _verify(tree)
    return ReaderType(descriptor, tree, options.time_unit == "ns")


def message_type(schema: ProtobufSchema, name: str = "") -> Any:
    """The descriptor of a message type by its name, else of the one that was chosen, else of the first in the file.

    Raises:
        SerializationError: there is none.
    """
    if name:
        return schema.named(name).DESCRIPTOR
    if schema.message is not None:
        return schema.message.DESCRIPTOR
    descriptor = next(iter(schema.file.message_types_by_name.values()), None)
    if descriptor is None:
        raise SerializationError("the schema has no message type")
    return descriptor


def frame_paths(plans: Sequence[ProtobufPlan]) -> tuple[array[int], array[int]]:
    """The paths of plans as the kernel takes them: counts, lengths and indexes; and where each plan's begin."""
    numbers: array[int] = array("i")
    starts: array[int] = array("i")
    for one in plans:
        starts.append(len(numbers))
        numbers.append(len(one.paths))
        for path in one.paths:
            numbers.append(len(path))
            numbers.extend(path)
    return numbers, starts


def _places(file: Any, wanted: str) -> Iterator[tuple[int, ...]]:
    """The paths by which writers name a type: Python counts the types that protoc makes of maps and groups."""
    try:
        descriptor = file.pool.FindMessageTypeByName(wanted)
    except KeyError:
        return
    if descriptor.file.name != file.name:
        return
    parts: list[list[int]] = []
    current = descriptor
    while current is not None:
        holder = current.containing_type
        siblings = list(file.message_types_by_name.values() if holder is None else holder.nested_types)
        made = made_of_groups(file if holder is None else holder)
        named = [one.full_name for one in siblings]
        without_maps = [one.full_name for one in siblings if not one.GetOptions().map_entry]
        without_any = [name for name in without_maps if name not in made]
        own = current.full_name
        places = [names.index(own) for names in (named, without_maps, without_any) if own in names]
        parts.insert(0, list(dict.fromkeys(places)))
        current = holder
    yield from itertools.product(*parts)


def _verify(tree: Message) -> None:
    """Refuses a tree that the kernel could not run over without doubt: what it relies on is checked here, once."""
    numbers = [field.number for field in tree.fields]
    if len(set(numbers)) != len(numbers) or any(not 0 < number <= MAX_NUMBER for number in numbers):
        raise SerializationError(f"message type {tree.full_name}: numbers of fields are not distinct, or out of range")
    if [field.name for field in tree.columns] != [field.name for field in tree.type]:
        raise SerializationError(f"message type {tree.full_name}: its columns are not its fields")
    for field in tree.columns:
        if (field.kind is FieldType.MESSAGE) != (field.message is not None) or (
            (field.kind is FieldType.ENUM) != (field.symbols is not None)
        ):
            raise SerializationError(f"message type {tree.full_name}: field {field.name} has no type")
        if field.shape is Shape.MAP and (field.message is None or len(field.message.columns) != 2):
            raise SerializationError(f"message type {tree.full_name}: field {field.name} has entries without a value")
        if field.message is not None:
            _verify(field.message)
