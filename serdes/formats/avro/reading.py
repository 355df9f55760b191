"""Readers of a pair of schemas: the kernel's nodes put together, once per writer's and reader's schema.

Must not know of frames. What the two schemas disagree on is decided here (`serdes.formats.avro.resolution`), never per
value; a place that can't be read is an error only when a value has it. Logical types are the reader's; where both
measure time or are decimals, numbers are converted exactly. Defaults are decoded anew for each value. Source: Avro
specification 1.12, "Schema Resolution", "Logical Types".
"""

from __future__ import annotations

import datetime
import enum
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    RecordType,
    TypeName,
    UnionType,
)
from serdes.formats.avro.decimal import decimal_reader, decimal_rescaler
from serdes.formats.avro.logical import (
    INSTANTS,
    LOCALS,
    TIMES,
    Convert,
    Duration,
    as_variant,
    is_variant,
    logical_of,
    presenting,
)
from serdes.formats.avro.resolution import Resolution, units_of
from serdes.formats.avro.writing import default_bytes
from serdes.kernels.avro import (
    Decoder,
    ReadArray,
    ReadBoolean,
    ReadBytes,
    ReadConverted,
    ReadDate,
    ReadDecimal,
    ReadDouble,
    ReadEnum,
    Reader,
    ReadFixed,
    ReadFloat,
    ReadInstant,
    ReadInt,
    ReadMap,
    ReadNull,
    ReadRecord,
    ReadRefused,
    ReadString,
    ReadTagged,
    ReadTimeOfDay,
    ReadUnion,
    ReadUUID,
)
from serdes.kernels.misfit import Misfit, Unresolved

Default: TypeAlias = tuple[bytes, Reader, Any]


class Tags(enum.Enum):
    """The tags of values of unions."""

    NOTHING = "nothing"
    NAMES = "the full names of records"
    PLACES = "the place of the branch, if there are several beside null; null comes alone"


def reader_of(writer: AvroType, reader: AvroType | None = None, tags: Tags = Tags.NOTHING) -> Reader:
    """The node that reads what was written with one type as another (None: the same)."""
    return Readers(reader or writer, tags, raw=False).of(writer, reader or writer)


class Readers:
    """Makes a node per pair of types; records that hold themselves hold the node of their pair.

    Args:
        reader: what values are to be.
        tags: what values of unions come with.
        raw: values are skipped: no logical types, no tags, texts as bytes.
    """

    def __init__(self, reader: AvroType, tags: Tags, raw: bool) -> None:
        self.resolution = Resolution(reader)
        self._reader = reader
        self._tags = tags
        self._raw = raw
        self._nodes: dict[tuple[int, int], Reader] = {}
        self._skipping: Readers | None = None

    def of(self, writer: AvroType, reader: AvroType) -> Reader:
        """The node that reads one type as another."""
        key = (id(writer), id(reader))
        if key not in self._nodes:
            self._nodes[key] = self._made(writer, reader, key)
        return self._nodes[key]

    def _made(self, writer: AvroType, reader: AvroType, key: tuple[int, int]) -> Reader:
        if isinstance(writer, UnionType):
            union = self._nodes[key] = ReadUnion()
            if self._raw:
                union.fill([self.of(branch, branch) for branch in writer.branches])
            else:
                union.fill([self.of(branch, reader) for branch in writer.branches])
            return union
        fault = None if self._raw else self.resolution.fault(writer, reader)
        if fault is not None and not (isinstance(writer, RecordType) and isinstance(reader, RecordType)):
            return ReadRefused(lambda: Unresolved(fault))
        if isinstance(reader, UnionType):
            return self._into_union(writer, reader)
        if isinstance(writer, RecordType) and isinstance(reader, RecordType):
            return self._record(writer, reader, key)
        if isinstance(writer, ArrayType) and isinstance(reader, ArrayType):
            array = self._nodes[key] = ReadArray(is_free(writer.items, frozenset()))
            array.fill(self.of(writer.items, reader.items))
            return array
        if isinstance(writer, MapType) and isinstance(reader, MapType):
            made = self._nodes[key] = ReadMap()
            made.fill(self.of(writer.values, reader.values))
            return made
        if isinstance(writer, EnumType) and isinstance(reader, EnumType):
            return enum_reader(writer, reader)
        if self._raw:
            return _raw(writer)
        return _converted(writer, reader)

    def _into_union(self, writer: AvroType, reader: UnionType) -> Reader:
        place = self.resolution.branch(writer, reader)
        assert place is not None
        branch = reader.branches[place]
        inner = self.of(writer, branch)
        several = sum(other.kind is not TypeName.NULL for other in reader.branches) > 1
        if self._tags is Tags.PLACES and several and branch.kind is not TypeName.NULL:
            return ReadTagged(place, inner)
        if self._tags is Tags.NAMES and isinstance(branch, RecordType):
            return ReadTagged(branch.name, inner)
        return inner

    def _record(self, writer: RecordType, reader: RecordType, key: tuple[int, int]) -> Reader:
        record = self._nodes[key] = ReadRecord()
        if self._raw:
            record.fill([(field.name, False, self.of(field.type, field.type)) for field in writer.fields], {}, [])
            return record
        refused = self.refused(writer, reader)
        if refused is not None:
            self._nodes[key] = refused
            return refused
        record.fill(*self.fields(writer, reader, lambda field, taker: self.of(field.type, taker.type), self.default))
        if is_variant(reader):
            self._nodes[key] = ReadConverted(record, as_variant)
        return self._nodes[key]

    def refused(self, writer: RecordType, reader: RecordType) -> Reader | None:
        """A reader that raises the reason why one record can't be read as another; None if it can."""
        found = self.resolution.fields(writer, reader)
        taken = [field.name for field in found.values()]
        missing = [field for field in reader.fields if field.name not in taken]
        if len(set(taken)) == len(taken) and all(field.has_default for field in missing):
            return None
        fault = self.resolution.fault(writer, reader) or ""
        return ReadRefused(lambda: Unresolved(fault))

    def fields(
        self,
        writer: RecordType,
        reader: RecordType,
        of: Callable[[Field, Field], Reader],
        default_of: Callable[[Field], Default],
    ) -> tuple[list[tuple[str, bool, Reader]], dict[str, Any], list[tuple[str, bytes, Reader]]]:
        """The parts of a record's node.

        Args:
            writer: what was written.
            reader: what it becomes.
            of: makes the node for a written field that the reader has.
            default_of: decodes the default of one that was not written.
        """
        found = self.resolution.fields(writer, reader)
        steps: list[tuple[str, bool, Reader]] = []
        for field in writer.fields:
            taker = found.get(field.name)
            if taker is None:
                steps.append((field.name, False, self._skip(field.type)))
            else:
                steps.append((taker.name, True, of(field, taker)))
        taken = {field.name for field in found.values()}
        constants: dict[str, Any] = {}
        fresh: list[tuple[str, bytes, Reader]] = []
        for field in reader.fields:
            if field.name in taken:
                continue
            try:
                data, node, value = default_of(field)
            except Misfit as error:
                reason = f"field {field.name!r} was not written, and its default can't be used: {error.reason}"
                steps.append((field.name, False, ReadRefused(partial(Unresolved, reason))))
                continue
            if _is_constant(value):
                constants[field.name] = value
            else:
                fresh.append((field.name, data, node))
        return steps, constants, fresh

    def default(self, field: Field) -> Default:
        """A default: its bytes, what reads them, and what comes out.

        Raises:
            Misfit: it is not one of its type.
        """
        data = default_bytes(field)
        node = Readers(self._reader, self._tags, raw=False).of(field.type, field.type)
        return data, node, Decoder(node, 0, len(data), lambda error, size: error)(data)

    def _skip(self, avro: AvroType) -> Reader:
        if self._skipping is None:
            self._skipping = Readers(avro, Tags.NOTHING, raw=True)
        return self._skipping.of(avro, avro)


def _is_constant(value: Any) -> bool:
    """Whether nobody can change a value, so that all records may share it."""
    if type(value) in (tuple, Duration):
        return all(map(_is_constant, value))
    return value is None or type(value) in CONSTANTS or isinstance(value, enum.Enum)


def is_free(avro: AvroType, inside: frozenset[int]) -> bool:
    """Whether a value of this type takes no bytes. A record that needs itself has no finite value."""
    if isinstance(avro, RecordType):
        if id(avro) in inside:
            return True
        return all(is_free(field.type, inside | {id(avro)}) for field in avro.fields)
    return avro.kind is TypeName.NULL or (isinstance(avro, FixedType) and avro.size == 0)


def enum_reader(writer: EnumType, reader: EnumType, convert: Callable[[str], Any] | None = None) -> Reader:
    """The node that reads one enum as another.

    Args:
        writer: what was written.
        reader: what it becomes.
        convert: makes of the reader's symbols what is wanted, once.
    """
    known = set(reader.symbols)
    symbols: list[Any] = [symbol if symbol in known else reader.default for symbol in writer.symbols]
    if convert is not None:
        symbols = [None if symbol is None else convert(symbol) for symbol in symbols]
    reason = f"enum {reader.name} lacks a written symbol and has no default"
    return ReadEnum(symbols, lambda: Unresolved(reason))


def _leaf(avro: AvroType) -> Reader:
    return ReadFixed(avro.size) if isinstance(avro, FixedType) else LEAVES[avro.kind]()


def _raw(avro: AvroType) -> Reader:
    return ReadBytes() if avro.kind is TypeName.STRING else _leaf(avro)


CONSTANTS: Final = (
    *(bool, int, float, str, bytes, Decimal, uuid.UUID),
    *(datetime.date, datetime.time, datetime.datetime),
)
LEAVES: Final[dict[TypeName, Callable[[], Reader]]] = {
    TypeName.NULL: ReadNull,
    TypeName.BOOLEAN: ReadBoolean,
    TypeName.INT: lambda: ReadInt(32),
    TypeName.LONG: lambda: ReadInt(64),
    TypeName.FLOAT: ReadFloat,
    TypeName.DOUBLE: ReadDouble,
    TypeName.BYTES: ReadBytes,
    TypeName.STRING: ReadString,
}


# --- conversions


def _converted(writer: AvroType, reader: AvroType) -> Reader:
    """Reads a written leaf and makes of it: promoted, in the reader's unit, as the reader's logical type."""
    leaf = _leaf(writer)
    promote = PROMOTIONS.get((writer.kind, reader.kind))
    rescale = _rescaling(writer, reader)
    if rescale is not None:
        return ReadConverted(leaf, rescale)
    present = presenting(reader)
    if present is None:
        return leaf if promote is None else ReadConverted(leaf, promote)
    if promote is not None:
        return ReadConverted(leaf, lambda value: present(promote(value)))
    logical = logical_of(reader)
    if logical in INSTANTS or logical in LOCALS:
        utc = logical in INSTANTS
        return ReadInstant(leaf, present, (INSTANTS if utc else LOCALS)[logical], utc)
    if logical in TIMES:
        return ReadTimeOfDay(leaf, present, TIMES[logical])
    if logical == "decimal":
        return ReadDecimal(leaf, present, reader.props.get("scale", 0))
    if logical == "date":
        return ReadDate(leaf, present)
    return ReadUUID(leaf, present) if logical == "uuid" else ReadConverted(leaf, present)


def _rescaling(writer: AvroType, reader: AvroType) -> Convert | None:
    """From one unit to another; None if they are the same."""
    written, wanted = logical_of(writer), logical_of(reader)
    if written == wanted == "decimal":
        scales = writer.props.get("scale", 0), reader.props.get("scale", 0)
        if scales[0] == scales[1]:
            return None
        number, rescale = decimal_reader(scales[0]), decimal_rescaler(scales[1])
        return lambda data: rescale(number(data))
    one, other = units_of(written), units_of(wanted)
    if one is None or other is None or one == other:
        return None
    return _units(one[1], other[1], presenting(reader))


def _units(written: int, wanted: int, present: Convert | None) -> Convert:
    def convert(value: int) -> Any:
        made, rest = divmod(value * wanted, written)
        if rest:
            raise Misfit("the written point in time is finer than the reader's unit")
        if not -(2**63) <= made < 2**63:
            raise Misfit("the written point in time does not fit in the reader's unit")
        return made if present is None else present(made)

    return convert


def _single(value: int) -> float:
    """The nearest number of 32 bits, rounded once (a double between would round twice)."""
    size = abs(value)
    shift = size.bit_length() - 24
    if shift > 0:
        kept, rest = size >> shift, size & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        kept += rest > half or (rest == half and kept & 1)
        size = kept << shift
    made: float = struct.unpack("<f", struct.pack("<f", float(size)))[0]
    return -made if value < 0 else made


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Misfit("a text that is not UTF-8") from None


PROMOTIONS: Final[dict[tuple[TypeName, TypeName], Convert]] = {
    (TypeName.INT, TypeName.FLOAT): _single,
    (TypeName.INT, TypeName.DOUBLE): float,
    (TypeName.LONG, TypeName.FLOAT): _single,
    (TypeName.LONG, TypeName.DOUBLE): float,
    (TypeName.STRING, TypeName.BYTES): str.encode,
    (TypeName.BYTES, TypeName.STRING): _text,
}
