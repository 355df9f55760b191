"""Wire primitives that compiled codecs call: varint lengths, tagged fields, records, and the failure they raise.

Knows no message, field or version; the compiled code does the rest inline.
Spec: https://kafka.apache.org/protocol#protocol_types, KIP-482 (unsigned varints, tagged fields).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from kafka_core.protocol.schema import ZERO_UUID, Buffer, Records

MAX_STRING_BYTES = 0x7FFF
MAX_LENGTH = 0x7FFFFFFF
ZERO_UUID_BYTES = bytes(16)

TaggedFields = list[tuple[int, bytes]]


class Malformed(Exception):  # never leaves the package: codec.py turns it into ProtocolError
    """The error at the current field; the caller knows which field it is, and where."""


class Unsupported(Malformed):
    """A value that this version of the message cannot carry."""


def read_uvarint(view: memoryview, position: int, end: int) -> tuple[int, int]:
    """Reads an unsigned varint of at most 5 bytes; returns (value below 2**32, next position)."""
    value = shift = 0
    while shift < 35:
        if position >= end:
            raise Malformed("the data ends inside a varint")
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, position
        shift += 7
    raise Malformed("a varint is longer than 32 bits")


def write_uvarint(out: bytearray, value: int) -> None:
    """Appends an unsigned varint; value in [0, 2**32)."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def too_many(count: int, left: int) -> Malformed:
    """The failure for an array count that cannot fit into the bytes left."""
    return Malformed(f"{count} elements announced, but only {left} bytes are left")


def short_of(size: int, left: int) -> Malformed:
    """The failure for a length beyond the bytes left."""
    return Malformed(f"{size} bytes announced, but only {left} bytes are left")


@functools.lru_cache(maxsize=4096)
def read_uuid(raw: bytes) -> UUID:
    """16 bytes, big-endian, to a UUID. The ids of topics come again and again: those read last are kept."""
    return ZERO_UUID if raw == ZERO_UUID_BYTES else UUID(bytes=raw)


def read_unknown_tags(view: memoryview, position: int, end: int) -> tuple[TaggedFields, int]:
    """Reads a tagged section of a struct without known tags; order and repetitions are kept as they came."""
    count, position = read_uvarint(view, position, end)
    if count * 2 > end - position:
        raise too_many(count, end - position)
    tags: TaggedFields = []
    for _ in range(count):
        tag, position = read_uvarint(view, position, end)
        size, position = read_uvarint(view, position, end)
        if size > end - position:
            raise short_of(size, end - position)
        tags.append((tag, bytes(view[position : position + size])))
        position += size
    return tags, position


def write_tags(out: bytearray, known: list[tuple[int, bytearray]], unknown: TaggedFields, own: frozenset[int]) -> None:
    """Appends a tagged section: known and unknown fields merged by ascending tag (KIP-482).

    Unknown tags must ascend strictly and must not be one of the struct's own tags, as the Java client demands.
    """
    last = -1
    for tag, value in unknown:
        if tag in own:
            raise Malformed(f"tag {tag} is a known field and may not be set as an unknown one")
        if not last < tag <= 0xFFFFFFFF:
            raise Malformed(f"unknown tag {tag} comes after tag {last} but is not higher")
        if not isinstance(value, bytes):
            raise Malformed(f"unknown tag {tag} needs bytes, not {type(value).__name__}")
        last = tag
    fields: list[tuple[int, Buffer]] = [*known, *unknown]
    fields.sort(key=lambda item: item[0])
    write_uvarint(out, len(fields))
    for tag, data in fields:
        write_uvarint(out, tag)
        write_uvarint(out, len(data))
        out += data


def records_chunks(records: Records) -> tuple[int, list[Buffer]]:
    """Total size in bytes and the buffers of a records value; nothing is copied. None gives (-1, [])."""
    if records is None:
        return -1, []
    if isinstance(records, bytes | bytearray):  # the usual case, and the fastest
        return len(records), [records]
    if not isinstance(records, list | tuple):
        view = bytes_like(cast(Buffer, records))
        return view.nbytes, [view]
    views = [bytes_like(part) for part in records]
    return sum(view.nbytes for view in views), cast("list[Buffer]", views)


def bytes_like(value: Buffer) -> memoryview:
    """The value as a flat view of bytes; TypeError for anything that is no buffer."""
    return memoryview(value).cast("B")


def unpack_array(letter: str, count: int, view: memoryview, position: int) -> tuple[Any, ...]:
    """Reads an array of fixed-size numbers; the caller has checked the bounds."""
    return struct.unpack_from(f">{count}{letter}", view, position)


def pack_array(letter: str, count: int, values: Sequence[int]) -> bytes:
    """Writes an array of fixed-size numbers; struct.error names what does not fit."""
    return struct.pack(f">{count}{letter}", *values)


def check_array(value: object) -> Sequence[Any]:
    """The value, if it is a list or tuple: a str or dict would be iterated too, and silently be sent as garbage."""
    if isinstance(value, list | tuple):
        return value
    raise TypeError(f"a list is needed, not {type(value).__name__}")


def check_bool(value: object) -> None:
    """Called for anything but True and False: `struct` would send the truth value of any object."""
    raise TypeError(f"a bool is needed, not {type(value).__name__}")
