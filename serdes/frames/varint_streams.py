"""Numbers of variable length in streams, by the names that confluent_kafka's classes have for them.

Our frames are read and written by `serdes.frames.schema_id`; this is for subclasses and code that calls the others'
private methods. Spec: Confluent's wire format; Protobuf's encoding.
"""

from __future__ import annotations

from typing import BinaryIO

from serdes.errors import SerializationError

MOST_INDEXES = 100_000


def read_byte(buf: BinaryIO) -> int:
    """Raises EOFError: nothing is left."""
    byte = buf.read(1)
    if not byte:
        raise EOFError("Unexpected EOF encountered")
    return byte[0]


def decode_varint(buf: BinaryIO, zigzag: bool = True) -> int:
    """Raises EOFError: the stream ends within a number."""
    value = shift = 0
    while True:
        try:
            byte = read_byte(buf)
        except EOFError:
            raise EOFError("Unexpected EOF while reading index") from None
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1) if zigzag else value


def read_index_array(buf: BinaryIO, zigzag: bool = True) -> list[int]:
    """A path; a 0 alone is the first type.

    Raises:
        SerializationError: its length makes no sense.
        EOFError: the stream ends within it.
    """
    size = decode_varint(buf, zigzag=zigzag)
    if not 0 <= size <= MOST_INDEXES:
        raise SerializationError("Invalid msgidx array length")
    return [decode_varint(buf, zigzag=zigzag) for _ in range(size)] or [0]


def write_varint(buf: BinaryIO, val: int, zigzag: bool = True) -> None:
    """Writes one number."""
    rest = (val << 1) ^ (val >> 63) if zigzag else val
    while rest & ~0x7F:
        buf.write(bytes((rest & 0x7F | 0x80,)))
        rest >>= 7
    buf.write(bytes((rest,)))


def encode_varints(buf: BinaryIO, ints: list[int], zigzag: bool = True) -> None:
    """Writes a path: its length and its numbers, or a 0 for the first type."""
    if ints == [0]:
        buf.write(b"\0")
        return
    for value in (len(ints), *ints):
        write_varint(buf, value, zigzag=zigzag)


class VarintStreams:
    """The same as methods."""

    __slots__ = ()
    _read_byte = staticmethod(read_byte)
    _decode_varint = staticmethod(decode_varint)
    _read_index_array = staticmethod(read_index_array)
    _write_varint = staticmethod(write_varint)
    _encode_varints = staticmethod(encode_varints)
