"""Readers of a pair of schemas: the kernel's nodes put together, once per writer's and reader's schema.

Must not know of frames. What the two schemas disagree on is decided here (`serdes.formats.avro.resolution`), never per
value; a place that can't be read is an error only when a value has it. Logical types are the reader's; where both
measure time or are decimals, numbers are converted exactly. Defaults are decoded anew for each value. Source: Avro
specification 1.12, "Schema Resolution", "Logical Types".
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from typing import Any, Final

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    RecordType,
    UnionType,
)
from serdes.formats.avro.decimal import decimal_reader, decimal_rescaler
from serdes.formats.avro.logical import INSTANTS, LOCALS, TIMES, Convert, logical_of, presenting
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

__all__ = ["Tags", "reader_of"]


class Tags(enum.Enum):
    """What values of unions come with."""

    NOTHING = "nothing"
    NAMES = "the full names of records"
    PLACES = "the place of the branch, if there are several beside null; null comes alone"


def reader_of(writer: AvroType, reader: AvroType | None = None, tags: Tags = Tags.NOTHING) -> Reader:
    """The node that reads what was written with one type as another (None: the same)."""
    return _Readers(reader or writer, tags, raw=False).of(writer, reader or writer)


class _Readers:
    """Makes a node per pair of types; records that hold themselves hold the node of their pair.

    Args:
        reader: what values are to be.
        tags: what values of unions come with.
        raw: values are skipped: no logical types, no tags, texts as bytes.
    """

    def __init__(self, reader: AvroType, tags: Tags, raw: bool) -> None:
        self._resolution = Resolution(reader)
        self._reader = reader
        self._tags = tags
        self._raw = raw
        self._nodes: dict[tuple[int, int], Reader] = {}
        self._skipping: _Readers | None = None

    def of(self, writer: AvroType, reader: AvroType) -> Reader:
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
        fault = None if self._raw else self._resolution.fault(writer, reader)
        if fault is not None and not (isinstance(writer, RecordType) and isinstance(reader, RecordType)):
            return ReadRefused(lambda: Unresolved(fault))
        if isinstance(reader, UnionType):
            return self._into_union(writer, reader)
        if isinstance(writer, RecordType) and isinstance(reader, RecordType):
            return self._record(writer, reader, key)
        if isinstance(writer, ArrayType) and isinstance(reader, ArrayType):
            array = self._nodes[key] = ReadArray(_is_free(writer.items, frozenset()))
            array.fill(self.of(writer.items, reader.items))
            return array
        if isinstance(writer, MapType) and isinstance(reader, MapType):
            made = self._nodes[key] = ReadMap()
            made.fill(self.of(writer.values, reader.values))
            return made
        if isinstance(writer, EnumType) and isinstance(reader, EnumType):
            return _enum(writer, reader)
        if self._raw:
            return _raw(writer)
        return _converted(writer, reader)

    def _into_union(self, writer: AvroType, reader: UnionType) -> Reader:
        place = self._resolution.branch(writer, reader)
        assert place is not None
        branch = reader.branches[place]
        inner = self.of(writer, branch)
        several = sum(other.kind is not Kind.NULL for other in reader.branches) > 1
        if self._tags is Tags.PLACES and several and branch.kind is not Kind.NULL:
            return ReadTagged(place, inner)
        if self._tags is Tags.NAMES and isinstance(branch, RecordType):
            return ReadTagged(branch.name, inner)
        return inner

    def _record(self, writer: RecordType, reader: RecordType, key: tuple[int, int]) -> Reader:
        record = self._nodes[key] = ReadRecord()
        if self._raw:
            record.fill([(field.name, False, self.of(field.type, field.type)) for field in writer.fields], {}, [])
            return record
        found = self._resolution.fields(writer, reader)
        taken = [field.name for field in found.values()]
        missing = [field for field in reader.fields if field.name not in taken]
        if len(set(taken)) < len(taken) or not all(field.has_default for field in missing):
            fault = self._resolution.fault(writer, reader) or ""
            self._nodes[key] = refused = ReadRefused(lambda: Unresolved(fault))
            return refused
        steps = []
        for field in writer.fields:
            taker = found.get(field.name)
            if taker is None:
                steps.append((field.name, False, self._skip(field.type)))
            else:
                steps.append((taker.name, True, self.of(field.type, taker.type)))
        constants: dict[str, Any] = {}
        fresh: list[tuple[str, bytes, Reader]] = []
        for field in missing:
            self._default(field, constants, fresh, steps)
        record.fill(steps, constants, fresh)
        return record

    def _default(
        self,
        field: Field,
        constants: dict[str, Any],
        fresh: list[tuple[str, bytes, Reader]],
        steps: list[tuple[str, bool, Reader]],
    ) -> None:
        """A default that nobody can change is made once, others anew each time."""
        try:
            data = default_bytes(field)
            node = _Readers(self._reader, self._tags, raw=False).of(field.type, field.type)
            value = Decoder(node, 0, len(data), lambda error, size: error)(data)
        except Misfit as error:
            reason = f"field {field.name!r} was not written, and its default can't be used: {error.reason}"
            steps.append((field.name, False, ReadRefused(lambda: Unresolved(reason))))
            return
        if _is_constant(value):
            constants[field.name] = value
        else:
            fresh.append((field.name, data, node))

    def _skip(self, avro: AvroType) -> Reader:
        if self._skipping is None:
            self._skipping = _Readers(avro, Tags.NOTHING, raw=True)
        return self._skipping.of(avro, avro)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return not isinstance(value, (list, dict))


def _is_free(avro: AvroType, inside: frozenset[int]) -> bool:
    """Whether a value of this type takes no bytes. A record that needs itself has no finite value."""
    if isinstance(avro, RecordType):
        if id(avro) in inside:
            return True
        return all(_is_free(field.type, inside | {id(avro)}) for field in avro.fields)
    return avro.kind is Kind.NULL or (isinstance(avro, FixedType) and avro.size == 0)


def _enum(writer: EnumType, reader: EnumType) -> Reader:
    known = set(reader.symbols)
    symbols = [symbol if symbol in known else reader.default for symbol in writer.symbols]
    reason = f"enum {reader.name} lacks a written symbol and has no default"
    return ReadEnum(symbols, lambda: Unresolved(reason))


def _leaf(avro: AvroType) -> Reader:
    return ReadFixed(avro.size) if isinstance(avro, FixedType) else LEAVES[avro.kind]()


def _raw(avro: AvroType) -> Reader:
    return ReadBytes() if avro.kind is Kind.STRING else _leaf(avro)


LEAVES: Final[dict[Kind, Callable[[], Reader]]] = {
    Kind.NULL: ReadNull,
    Kind.BOOLEAN: ReadBoolean,
    Kind.INT: lambda: ReadInt(32),
    Kind.LONG: lambda: ReadInt(64),
    Kind.FLOAT: ReadFloat,
    Kind.DOUBLE: ReadDouble,
    Kind.BYTES: ReadBytes,
    Kind.STRING: ReadString,
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


PROMOTIONS: Final[dict[tuple[Kind, Kind], Convert]] = {
    (Kind.INT, Kind.FLOAT): _single,
    (Kind.INT, Kind.DOUBLE): float,
    (Kind.LONG, Kind.FLOAT): _single,
    (Kind.LONG, Kind.DOUBLE): float,
    (Kind.STRING, Kind.BYTES): str.encode,
    (Kind.BYTES, Kind.STRING): _text,
}
