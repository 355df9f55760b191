"""Avro's binary encoding: nodes that write one type each, and nodes that read one each. Twin: `native/avro.pyx`.

A node is made once per type of a schema; records are filled after they were made, since they may hold themselves. Must
not know of schemas, resolution or logical types: `serdes.formats.avro.writing` and `serdes.formats.avro.reading` put
nodes together. Source: Avro specification 1.12, "Binary Encoding".
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from serdes.kernels.misfit import (
    MAX_DEPTH,
    Misfit,
    entries_of,
    items_of,
    octets_of,
    out_of_range,
    plain,
    real_of,
    record_of,
    refuse,
    single,
    single_of,
    symbol_of,
    text_of,
    whole_of,
)

__all__ = [
    "Decoder",
    "Encoder",
    "ReadArray",
    "ReadBoolean",
    "ReadBytes",
    "ReadConverted",
    "ReadDouble",
    "ReadEnum",
    "ReadFixed",
    "ReadFloat",
    "ReadInt",
    "ReadMap",
    "ReadNull",
    "ReadRecord",
    "ReadRefused",
    "ReadString",
    "ReadTagged",
    "ReadUnion",
    "Reader",
    "WriteArray",
    "WriteBoolean",
    "WriteBytes",
    "WriteDouble",
    "WriteEnum",
    "WriteFixed",
    "WriteFloat",
    "WriteInt",
    "WriteMap",
    "WriteNull",
    "WritePrepared",
    "WriteRecord",
    "WriteString",
    "WriteUnion",
    "Writer",
]

FLOAT = struct.Struct("<f")
DOUBLE = struct.Struct("<d")
DEEP = f"nested deeper than {MAX_DEPTH} levels"
ENDS = "the payload ends inside the value: truncated, or not of this schema"
Memo = dict[Any, Any]


class Out:
    """The bytes written so far."""

    __slots__ = ("data", "depth", "memo")

    def __init__(self, prefix: bytes) -> None:
        self.data = bytearray(prefix)
        self.depth = 0
        self.memo: Memo = {}

    def enter(self) -> None:
        """One level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Misfit(f"the value is {DEEP}")

    def long(self, value: int) -> None:
        """A number in Avro's zig-zag form."""
        number = (value << 1) ^ (value >> 63)
        while number > 0x7F:
            self.data.append(number & 0x7F | 0x80)
            number >>= 7
        self.data.append(number)


class Writer(ABC):
    """Writes values of one type."""

    @abstractmethod
    def write(self, out: Out, value: Any) -> None:
        """Appends a value.

        Raises:
            Misfit: it does not fit.
        """


class WriteNull(Writer):
    """Null."""

    def write(self, out: Out, value: Any) -> None:
        """Nothing."""
        if value is not None:
            refuse(value, "null")


class WriteBoolean(Writer):
    """A boolean."""

    def write(self, out: Out, value: Any) -> None:
        """One byte."""
        if value is not True and value is not False:
            value = plain(value)
            if value is not True and value is not False:
                refuse(value, "boolean")
        out.data.append(value)


class WriteInt(Writer):
    """A whole number within bounds; both are included."""

    def __init__(self, low: int, high: int, what: str) -> None:
        self._low, self._high, self._what = low, high, what

    def write(self, out: Out, value: Any) -> None:
        """A varint."""
        number = value if value.__class__ is int else whole_of(value, self._what)
        if not self._low <= number <= self._high:
            out_of_range(value, self._what)
        out.long(number)


class WriteFloat(Writer):
    """A number of 32 bits."""

    def write(self, out: Out, value: Any) -> None:
        """Four bytes."""
        number = single(value, "float") if value.__class__ is float else single_of(value, "float")
        out.data += FLOAT.pack(number)


class WriteDouble(Writer):
    """A number of 64 bits."""

    def write(self, out: Out, value: Any) -> None:
        """Eight bytes."""
        out.data += DOUBLE.pack(value if value.__class__ is float else real_of(value, "double"))


class WriteBytes(Writer):
    """Bytes with their length."""

    def __init__(self, what: str) -> None:
        self._what = what

    def write(self, out: Out, value: Any) -> None:
        """Length and bytes."""
        data = value if value.__class__ is bytes else octets_of(value, self._what)
        out.long(len(data))
        out.data += data


class WriteString(Writer):
    """Text with its length."""

    def __init__(self, what: str) -> None:
        self._what = what

    def write(self, out: Out, value: Any) -> None:
        """Length and UTF-8."""
        data = _utf8(value if value.__class__ is str else text_of(value, self._what))
        out.long(len(data))
        out.data += data


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Misfit("a text with half a surrogate pair has no form in UTF-8") from None


class WriteFixed(Writer):
    """A fixed number of bytes."""

    def __init__(self, size: int, what: str) -> None:
        self._size, self._what = size, what

    def write(self, out: Out, value: Any) -> None:
        """The bytes."""
        data = value if value.__class__ is bytes else octets_of(value, self._what)
        if len(data) != self._size:
            out_of_range(value, self._what)
        out.data += data


class WriteEnum(Writer):
    """One of some symbols."""

    def __init__(self, places: Mapping[str, int], what: str) -> None:
        self._places, self._what = dict(places), what

    def write(self, out: Out, value: Any) -> None:
        """The symbol's place."""
        symbol = value if value.__class__ is str else symbol_of(value, self._what)
        place = self._places.get(symbol)
        if place is None:
            out_of_range(value, self._what)
        out.long(place)


class WriteArray(Writer):
    """Items in one block."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._item: Writer = WriteNull()

    def fill(self, item: Writer) -> None:
        """Says what the items are."""
        self._item = item

    def write(self, out: Out, value: Any) -> None:
        """Count, items, zero."""
        items = value if value.__class__ is list else items_of(value, self._what)
        count, at, write = len(items), 0, self._item.write
        out.enter()
        if count:
            out.long(count)
            try:
                for item in items:
                    write(out, item)
                    at += 1
            except Misfit as error:
                error.parts.append(f"[{at}]")
                raise
        if at != count:
            raise Misfit("the array changed while it was written")
        out.depth -= 1
        out.data.append(0)


class WriteMap(Writer):
    """Entries in one block."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._value: Writer = WriteNull()

    def fill(self, value: Writer) -> None:
        """Says what the values are."""
        self._value = value

    def write(self, out: Out, value: Any) -> None:
        """Count, keys and values, zero."""
        entries = value if value.__class__ is dict else entries_of(value, self._what)
        count, at, write = len(entries), 0, self._value.write
        out.enter()
        if count:
            out.long(count)
            try:
                for key, item in entries.items():
                    data = _utf8(key if key.__class__ is str else text_of(key, "a key of a map"))
                    out.long(len(data))
                    out.data += data
                    write(out, item)
                    at += 1
            except Misfit as error:
                error.parts.append(f"[entry {at}]")
                raise
        if at != count:
            raise Misfit("the map changed while it was written")
        out.depth -= 1
        out.data.append(0)


MISSING = object()


class WriteRecord(Writer):
    """Fields in the schema's order.

    Args:
        what: the record's name for errors.
        strict: whether the value must have just these fields.
        allow_default: whether, if it must, those with a default may be missing.
    """

    def __init__(self, what: str, strict: bool, allow_default: bool) -> None:
        self._what, self._strict, self._allow_default = what, strict, allow_default
        self._fields: Sequence[tuple[str, Writer, bytes | str | None, bool]] = ()
        self._names: frozenset[str] = frozenset()

    def fill(self, fields: Sequence[tuple[str, Writer, bytes | str | None, bool]]) -> None:
        """Says what the fields are.

        Args:
            fields: name, node, the default encoded (a text if it can't be, which says why; None for none), and whether
                a missing value is written as null.
        """
        self._fields = tuple(fields)
        self._names = frozenset(name for name, *_ in fields)

    def write(self, out: Out, value: Any) -> None:
        """One field after the other."""
        record = value if value.__class__ is dict else record_of(value, self._what)
        if self._strict:
            for key in record:
                if key not in self._names and key != "-type":
                    raise Misfit(f"{key!r} is not a field of {self._what}")
        out.enter()
        name = ""
        try:
            for name, node, default, nullable in self._fields:
                item = record.get(name, MISSING)
                if item is MISSING:
                    if self._strict and (default is None or not self._allow_default):
                        raise Misfit("the field is missing")
                    if default.__class__ is bytes:
                        out.data += default
                        continue
                    if default is not None:
                        raise Misfit(str(default))
                    if not nullable:
                        raise Misfit("the field is missing and has no default")
                    item = None
                node.write(out, item)
        except Misfit as error:
            error.parts.append(name)
            raise
        out.depth -= 1


class WriteUnion(Writer):
    """One of several types.

    Args:
        quick: Python type → place of the branch, where nothing has to be looked at.
        choose: gives place and value; raises `Misfit`.
    """

    def __init__(self, quick: Mapping[type, int], choose: Callable[[Any, Memo], tuple[int, Any]]) -> None:
        self._quick, self._choose = dict(quick), choose
        self._branches: Sequence[Writer] = ()

    def fill(self, branches: Sequence[Writer]) -> None:
        """Says what the branches are."""
        self._branches = list(branches)

    def write(self, out: Out, value: Any) -> None:
        """The branch's place and the value."""
        place = self._quick.get(value.__class__)
        if place is None:
            place, value = self._choose(value, out.memo)
        out.long(place)
        self._branches[place].write(out, value)


class WritePrepared(Writer):
    """Writes the result of a function."""

    def __init__(self, prepare: Callable[[Any], Any], inner: Writer) -> None:
        self._prepare, self._inner = prepare, inner

    def write(self, out: Out, value: Any) -> None:
        """The function's result."""
        self._inner.write(out, self._prepare(value))


class Encoder:
    """Encodes values.

    Args:
        node: what they are.
        prefix: in front of each.
        fault: makes of what went wrong the error to raise.
    """

    def __init__(self, node: Writer, prefix: bytes, fault: Callable[[Exception], Exception]) -> None:
        self._node, self._prefix, self._fault = node, prefix, fault

    def __call__(self, value: Any) -> bytes:
        """Prefix and payload."""
        out = Out(self._prefix)
        try:
            self._node.write(out, value)
        except Exception as error:
            raise self._fault(error) from error
        return bytes(out.data)


# --- reading


class Source:
    """Bytes that are read."""

    __slots__ = ("at", "data", "depth", "end", "free")

    def __init__(self, data: bytes, at: int, free: int) -> None:
        self.data, self.at, self.end, self.free, self.depth = data, at, len(data), free, 0

    def enter(self) -> None:
        """One level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Misfit(f"the payload is {DEEP}")

    def long(self) -> int:
        """A number of at most 64 bits."""
        result = shift = 0
        while shift < 70:
            if self.at >= self.end:
                raise Misfit(ENDS)
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                if result >> 64:
                    break
                return (result >> 1) ^ -(result & 1)
            shift += 7
        raise Misfit("a number of more than 64 bits")

    def take(self, size: int) -> bytes:
        """So many bytes."""
        if not 0 <= size <= self.end - self.at:
            raise Misfit(ENDS)
        self.at += size
        return self.data[self.at - size : self.at]

    def spend(self, count: int) -> None:
        """Takes items that cost no bytes from what is left of them."""
        self.free -= count
        if self.free < 0:
            raise Misfit("too many array items that take no bytes (see avro.max.empty.items)")


class Reader(ABC):
    """Reads values of one type."""

    @abstractmethod
    def read(self, source: Source) -> Any:
        """The next value.

        Raises:
            Misfit: the bytes are not of this type.
        """


class ReadNull(Reader):
    """Null."""

    def read(self, source: Source) -> Any:
        """None."""
        return None


class ReadBoolean(Reader):
    """A boolean."""

    def read(self, source: Source) -> Any:
        """Zero or one."""
        byte = source.take(1)[0]
        if byte > 1:
            raise Misfit("a boolean that is neither 0 nor 1")
        return byte == 1


class ReadInt(Reader):
    """A whole number of 32 or 64 bits."""

    def __init__(self, bits: int) -> None:
        self._bound = 1 << (bits - 1)

    def read(self, source: Source) -> Any:
        """A varint."""
        number = source.long()
        if not -self._bound <= number < self._bound:
            raise Misfit("an int of more than 32 bits")
        return number


class ReadFloat(Reader):
    """A number of 32 bits."""

    def read(self, source: Source) -> Any:
        """Four bytes."""
        return FLOAT.unpack(source.take(4))[0]


class ReadDouble(Reader):
    """A number of 64 bits."""

    def read(self, source: Source) -> Any:
        """Eight bytes."""
        return DOUBLE.unpack(source.take(8))[0]


class ReadBytes(Reader):
    """Bytes with their length."""

    def read(self, source: Source) -> Any:
        """Length and bytes."""
        return source.take(source.long())


class ReadString(Reader):
    """Text with its length."""

    def read(self, source: Source) -> Any:
        """Length and UTF-8."""
        data = source.take(source.long())
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Misfit("a text that is not UTF-8") from None


class ReadFixed(Reader):
    """A fixed number of bytes."""

    def __init__(self, size: int) -> None:
        self._size = size

    def read(self, source: Source) -> Any:
        """The bytes."""
        return source.take(self._size)


class ReadEnum(Reader):
    """One of some symbols.

    Args:
        symbols: what each of the writer's becomes, a text or a member of a Python enum; None for one that the
            reader does not know.
    """

    def __init__(self, symbols: Sequence[Any], unknown: Callable[[], Exception]) -> None:
        self._symbols, self._unknown = list(symbols), unknown

    def read(self, source: Source) -> Any:
        """The symbol."""
        place = source.long()
        if not 0 <= place < len(self._symbols):
            raise Misfit(f"symbol {place} of an enum of {len(self._symbols)}")
        symbol = self._symbols[place]
        if symbol is None:
            raise self._unknown()
        return symbol


class ReadArray(Reader):
    """Items in blocks.

    Args:
        free: whether an item may take no bytes.
    """

    def __init__(self, free: bool) -> None:
        self._free = free
        self._item: Reader = ReadNull()

    def fill(self, item: Reader) -> None:
        """Says what the items are."""
        self._item = item

    def read(self, source: Source) -> Any:
        """A list."""
        made: list[Any] = []
        read = self._item.read
        source.enter()
        while count := _count(source):
            if self._free:
                source.spend(count)
            elif count > source.end - source.at:
                raise Misfit(ENDS)
            try:
                for _ in range(count):
                    made.append(read(source))  # noqa: PERF401  # the path of an error needs the count
            except Misfit as error:
                error.parts.append(f"[{len(made)}]")
                raise
        source.depth -= 1
        return made


def _count(source: Source) -> int:
    """The number of items in the next block; 0 at the end."""
    count = source.long()
    if count < 0:
        count = -count
        if source.long() < 0:
            raise Misfit("a block of a negative size")
    return count


class ReadMap(Reader):
    """Entries in blocks."""

    def __init__(self) -> None:
        self._value: Reader = ReadNull()

    def fill(self, value: Reader) -> None:
        """Says what the values are."""
        self._value = value

    def read(self, source: Source) -> Any:
        """A dict."""
        made: dict[str, Any] = {}
        read, text = self._value.read, ReadString().read
        source.enter()
        at = 0
        while count := _count(source):
            if count > source.end - source.at:
                raise Misfit(ENDS)
            try:
                for _ in range(count):
                    key = text(source)
                    made[key] = read(source)
                    at += 1
            except Misfit as error:
                error.parts.append(f"[entry {at}]")
                raise
        source.depth -= 1
        return made


class ReadRecord(Reader):
    """Fields in the writer's order, then what the reader adds."""

    def __init__(self) -> None:
        self._steps: Sequence[tuple[str, bool, Reader]] = ()
        self._constants: dict[str, Any] = {}
        self._fresh: Sequence[tuple[str, bytes, Reader]] = ()

    def fill(
        self,
        steps: Sequence[tuple[str, bool, Reader]],
        constants: Mapping[str, Any],
        fresh: Sequence[tuple[str, bytes, Reader]],
    ) -> None:
        """Says what the fields are.

        Args:
            steps: name, whether the reader has it, node.
            constants: defaults that nobody can change.
            fresh: name, encoded default and node of those that somebody could.
        """
        self._steps, self._constants, self._fresh = list(steps), dict(constants), list(fresh)

    def read(self, source: Source) -> Any:
        """A dict."""
        made: dict[str, Any] = {}
        name = ""
        source.enter()
        try:
            for name, kept, node in self._steps:
                value = node.read(source)
                if kept:
                    made[name] = value
            made.update(self._constants)
            for name, data, node in self._fresh:
                made[name] = node.read(Source(data, 0, len(data)))
        except Misfit as error:
            error.parts.append(name)
            raise
        source.depth -= 1
        return made


class ReadUnion(Reader):
    """One of several types."""

    def __init__(self) -> None:
        self._branches: Sequence[Reader] = ()

    def fill(self, branches: Sequence[Reader]) -> None:
        """Says what the branches are."""
        self._branches = list(branches)

    def read(self, source: Source) -> Any:
        """The branch's value."""
        place = source.long()
        if not 0 <= place < len(self._branches):
            raise Misfit(f"branch {place} of a union of {len(self._branches)}")
        return self._branches[place].read(source)


class ReadTagged(Reader):
    """A value with what says which branch it is of."""

    def __init__(self, tag: Any, inner: Reader) -> None:
        self._tag, self._inner = tag, inner

    def read(self, source: Source) -> Any:
        """Tag and value."""
        return self._tag, self._inner.read(source)


class ReadConverted(Reader):
    """Reads a value and applies a function."""

    def __init__(self, inner: Reader, convert: Callable[[Any], Any]) -> None:
        self._inner, self._convert = inner, convert

    def read(self, source: Source) -> Any:
        """The function's result."""
        return self._convert(self._inner.read(source))


class ReadRefused(Reader):
    """Raises the reason why a value can't be read."""

    def __init__(self, error: Callable[[], Exception]) -> None:
        self._error = error

    def read(self, source: Source) -> Any:
        """Raises."""
        raise self._error()


class Decoder:
    """Decodes frames.

    Args:
        node: what they hold.
        skip: bytes in front of each.
        free: array items without bytes that a frame may have at least; it may have as many as it has bytes.
        fault: makes of what went wrong, and the payload's size, the error to raise.
    """

    def __init__(self, node: Reader, skip: int, free: int, fault: Callable[[Exception, int], Exception]) -> None:
        self._node, self._skip, self._free, self._fault = node, skip, free, fault

    def __call__(self, frame: bytes) -> Any:
        """The value."""
        source = Source(frame, self._skip, max(self._free, len(frame)))
        try:
            value = self._node.read(source)
            if source.at != source.end:
                left = source.end - source.at
                raise Misfit(f"{left} bytes are left over after the value: the payload is not of this schema")
        except Exception as error:
            raise self._fault(error, max(len(frame) - self._skip, 0)) from error
        return value
