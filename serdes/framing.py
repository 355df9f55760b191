"""The frame around a payload: which schema it was written with.

Must not know of codecs or registries. Source: Confluent's wire format: byte 0 is the magic byte 0, bytes 1 to 4 the
schema id (big-endian, unsigned), then the payload. Magic byte 1 with the 16 bytes of the schema's GUID is the form
for record headers; it is recognised, not read yet.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from serdes.errors import SerializationError

__all__ = ["MAGIC", "PREFIX_BYTES", "frame_prefix", "schema_id_of"]

MAGIC: Final = 0
GUID_MAGIC: Final = 1
PREFIX_BYTES: Final = 5
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


def _why_not(frame: bytes) -> str:
    if not frame:
        return "the frame is empty: it should start with a magic byte and a schema id"
    if frame[0] == GUID_MAGIC:
        return "the frame names its schema by GUID (magic byte 1), which is not supported yet"
    if frame[0] != MAGIC:
        return f"unknown magic byte {frame[0]}: was this written by a schema registry serializer?"
    return f"the frame has {len(frame)} bytes, a magic byte and a schema id alone need {PREFIX_BYTES}"
