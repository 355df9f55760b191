"""Readers of users' objects: nodes that make objects of the annotated classes out of bytes, without dicts between.

Where a schema and an annotation are not plainly of one form, values are read as they are without a class, and
`serdes.models.objects` makes objects of them. Must not know of frames or registries.
"""

from __future__ import annotations

import enum
import typing
from collections.abc import Callable
from typing import Any

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    MapType,
    NamedType,
    RecordType,
    TypeName,
    UnionType,
)
from serdes.formats.avro.logical import Duration
from serdes.formats.avro.reading import Readers, Tags, enum_reader, is_free
from serdes.formats.avro.writing import default_bytes
from serdes.kernels.avro import Decoder, ReadArray, ReadConverted, Reader, ReadMap, ReadObject, ReadUnion
from serdes.kernels.misfit import Misfit
from serdes.kernels.shape import Unmade
from serdes.models.members import members, name_of, union_parts, unwrapped
from serdes.models.objects import ARRAYS, MAPS, builder_of, length_of, symbols
from serdes.models.shapes import shape_of


def object_reader(writer: AvroType, reader: AvroType, kind: Any) -> Reader:
    """The node that reads what was written with one type, as another, into objects of a class."""
    return _ObjectReaders(reader, kind.__name__).of(writer, reader, kind)


class _ObjectReaders:
    """Makes a node per pair of types and annotation; records that hold themselves hold the node of their pair."""

    def __init__(self, reader: AvroType, name: str) -> None:
        self._reader, self._name = reader, name
        self._values = Readers(reader, Tags.NOTHING, raw=False)
        self._tagged = Readers(reader, Tags.NAMES, raw=False)
        self._nodes: dict[tuple[int, int, int], tuple[Any, Reader]] = {}

    def of(self, writer: AvroType, reader: AvroType, given: Any) -> Reader:
        if builder_of(given) is None:
            return self._values.of(writer, reader)
        kind = unwrapped(given)
        given = kind if isinstance(kind, type) else given  # a class stays itself, annotations are made anew
        key = (id(writer), id(reader), id(given))
        if key not in self._nodes:
            self._nodes[key] = given, self._made(writer, reader, given, key)  # the annotation, so that its id stays its
        return self._nodes[key][1]

    def _made(self, writer: AvroType, reader: AvroType, given: Any, key: tuple[int, int, int]) -> Reader:
        if isinstance(writer, UnionType):
            union = ReadUnion()
            self._nodes[key] = given, union
            union.fill([self.of(branch, reader, given) for branch in writer.branches])
            return union
        resolution = self._values.resolution
        both_records = isinstance(writer, RecordType) and isinstance(reader, RecordType)
        if resolution.fault(writer, reader) is not None and not both_records:
            return self._values.of(writer, reader)  # it refuses
        if isinstance(reader, UnionType):
            place = resolution.branch(writer, reader)
            assert place is not None
            branch = reader.branches[place]
            if branch.kind is TypeName.NULL:
                return self._values.of(writer, branch)
            part = _alternative(given, branch)
            return self._long_way(writer, reader, given) if part is None else self.of(writer, branch, part[0])
        part = _alternative(given, reader)
        return self._long_way(writer, reader, given) if part is None else self._one(writer, reader, part[0], key)

    def _long_way(self, writer: AvroType, reader: AvroType, given: Any) -> Reader:
        build = builder_of(given)
        node = self._tagged.of(writer, reader)
        return node if build is None else ReadConverted(node, self._unmade(build))

    def _unmade(self, build: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def convert(value: Any) -> Any:
            try:
                return build(value)
            except (MemoryError, RecursionError, Misfit):
                raise
            except Exception as error:  # its text may quote the value
                raise Unmade(f"no {self._name} can be made of the value: {type(error).__name__}") from error

        return convert

    def _one(self, writer: AvroType, reader: AvroType, given: Any, key: tuple[int, int, int]) -> Reader:
        """The node for a type that is no union, and an annotation that is none."""
        kind = unwrapped(given)
        if builder_of(given) is None:
            return self._values.of(writer, reader)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if isinstance(writer, RecordType) and isinstance(reader, RecordType) and origin is None:
            return self._record(writer, reader, kind, key)
        if isinstance(writer, ArrayType) and isinstance(reader, ArrayType) and origin in ARRAYS:
            array = ReadArray(is_free(writer.items, frozenset()))
            array.fill(self.of(writer.items, reader.items, arguments[0]))
            return array if origin is list else ReadConverted(array, _maker(origin, arguments))
        if isinstance(writer, MapType) and isinstance(reader, MapType) and origin in MAPS:
            made = ReadMap()
            made.fill(self.of(writer.values, reader.values, arguments[1]))
            return made
        if isinstance(writer, EnumType) and isinstance(reader, EnumType) and _is_enum(kind):
            table = dict(zip(symbols(kind), kind, strict=True))
            if table.keys() >= set(reader.symbols):
                return enum_reader(writer, reader, table.__getitem__)
        return self._long_way(writer, reader, given)

    def _record(self, writer: RecordType, reader: RecordType, kind: Any, key: tuple[int, int, int]) -> Reader:
        found = None if kind is Duration else members(kind)
        if found is None:
            return self._long_way(writer, reader, kind)
        refused = self._values.refused(writer, reader)
        if refused is not None:
            return refused
        made = ReadObject(shape_of(kind, found))
        self._nodes[key] = kind, made
        kinds = {member.name: member.kind for member in found}

        def of(field: Field, taker: Field) -> Reader:
            if taker.name not in kinds:
                return self._tagged.of(field.type, taker.type)
            return self.of(field.type, taker.type, kinds[taker.name])

        def default_of(field: Field) -> tuple[bytes, Reader, Any]:
            if field.name not in kinds:
                return self._tagged.default(field)
            data = default_bytes(field)
            node = _ObjectReaders(self._reader, self._name).of(field.type, field.type, kinds[field.name])
            return data, node, Decoder(node, 0, len(data), lambda error, size: error)(data)

        made.fill(*self._values.fields(writer, reader, of, default_of))
        return made


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def _maker(origin: Any, arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Makes a tuple, set or other sequence of a list."""
    make = origin if origin in (tuple, set, frozenset) else list
    size = length_of(arguments) if origin is tuple else None

    def convert(value: list[Any]) -> Any:
        if size is not None and len(value) != size:
            raise Unmade(f"{size} items are needed, not {len(value)}")
        return make(value)

    return convert


def _alternative(given: Any, branch: AvroType) -> tuple[Any] | None:
    """The alternative of an annotation that a type is read into, in a tuple; None if only a value can tell."""
    parts = union_parts(unwrapped(given))
    if parts is None:
        return (given,)
    parts = tuple(part for part in parts if part is not type(None))
    kinds = [unwrapped(part) for part in parts]
    if isinstance(branch, NamedType):
        named = [
            part
            for part, kind in zip(parts, kinds, strict=True)
            if isinstance(kind, type) and name_of(kind) in (branch.name, branch.short_name)
        ]
        if len(named) == 1:
            return (named[0],)
    if len(parts) == 1:
        return (parts[0],)
    if isinstance(branch, (ArrayType, MapType)):
        wanted = ARRAYS if isinstance(branch, ArrayType) else MAPS
        alike = [part for part, kind in zip(parts, kinds, strict=True) if typing.get_origin(kind) in wanted]
        return (alike[0],) if len(alike) == 1 else None
    if isinstance(branch, NamedType) or (branch.kind is TypeName.STRING and any(map(_is_enum, kinds))):
        return None
    plain = [part for part in parts if builder_of(part) is None]
    return (plain[0],) if plain else None
