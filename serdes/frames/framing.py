"""The frame around a payload: which schema it was written with.

Must not know of codecs or registries. Source: Confluent's wire format. In front of the payload: the magic byte 0 and
4 bytes of schema id (big-endian, unsigned), or the magic byte 1 and the 16 bytes of the schema's GUID; for Protobuf
then the path of the message type. In a record header the same bytes stand alone (`serdes.frames.schema_id`).
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final

from kserdes_base.varint import uvarint
from serdes.errors import SerializationError

MAGIC: Final = 0
GUID_MAGIC: Final = 1
PREFIX_BYTES: Final = 5
GUID_BYTES: Final = 17
MAX_INDEXES: Final = 1000
"""Levels of nested message types; more are refused."""
_PREFIX = Struct(">BI")


def frame_prefix(schema_id: int) -> bytes:
    """The five bytes in front of a payload.

    Raises:
        SerializationError: the id does not fit in 32 bits.
    """
    if not 0 <= schema_id < 2**32:
        raise SerializationError(f"schema id {schema_id} does not fit in a frame")
    return _PREFIX.pack(MAGIC, schema_id)


def schema_id_of(frame: bytes) -> int:
    """The schema id of a frame; its payload starts at `PREFIX_BYTES`.

    Raises:
        SerializationError: too short, or another magic byte.
    """
    if len(frame) < PREFIX_BYTES or frame[0] != MAGIC:
        raise SerializationError(_why_not(frame))
    schema_id: int = _PREFIX.unpack_from(frame)[1]
    return schema_id


def prefix_size(frame: bytes) -> int:
    """The number of bytes that name the schema: 5 for an id, 17 for a GUID.

    Raises:
        SerializationError: too short, or another magic byte.
    """
    size = GUID_BYTES if frame[:1] == b"\x01" else PREFIX_BYTES
    if len(frame) < size or frame[0] > GUID_MAGIC:
        raise SerializationError(_why_not(frame))
    return size


def _why_not(frame: bytes) -> str:
    if not frame:
        return "the frame is empty: it should start with a magic byte and a schema id"
    if frame[0] == GUID_MAGIC and len(frame) >= GUID_BYTES:
        return "the frame names its schema by GUID (magic byte 1): there is no schema id"
    if frame[0] > GUID_MAGIC:
        return f"Invalid magic byte {frame[0]}: was this written by a schema registry serializer?"
    what, size = ("a schema id", PREFIX_BYTES) if frame[0] == MAGIC else ("a schema GUID", GUID_BYTES)
    return f"the frame has {len(frame)} bytes, a magic byte and {what} alone need {size}"


def pack_indexes(indexes: Sequence[int], zigzag: bool = True) -> bytes:
    """The path of a Protobuf message type in its file: a count and so many indexes, as variable-length numbers.

    Args:
        indexes: position of the outermost type in the file, of the next one in that, … `[0]` is one byte 0.
        zigzag: as it is written since 2021; before, numbers were unsigned.
    """
    if list(indexes) == [0]:
        return b"\x00"
    return b"".join(uvarint(number << 1 if zigzag else number) for number in (len(indexes), *indexes))


def unpack_indexes(data: bytes, at: int, zigzag: bool = True) -> tuple[list[int], int]:
    """The path of a message type, and where the payload begins.

    Raises:
        SerializationError: truncated, or not such a path.
    """
    count, at = _number(data, at, zigzag)
    if not 0 <= count <= MAX_INDEXES:
        raise SerializationError(f"the frame's path of the message type has {count} parts")
    indexes = []
    for _ in range(count):
        index, at = _number(data, at, zigzag)
        if index < 0:
            raise SerializationError(f"the frame's path of the message type has the index {index}")
        indexes.append(index)
    return indexes or [0], at


def _number(data: bytes, at: int, zigzag: bool) -> tuple[int, int]:
    result = shift = 0
    while shift < 70:
        if at >= len(data):
            raise SerializationError("the frame ends inside the path of its message type")
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return ((result >> 1) ^ -(result & 1) if zigzag else result), at
        shift += 7
    raise SerializationError("the frame's path of the message type has a number of more than 10 bytes")
