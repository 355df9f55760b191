"""gzip and snappy as kafka-python 0.9.5 offered them; snappy with the framing of the xerial library, too."""

from __future__ import annotations

import gzip
import struct

import cramjam

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + struct.pack(">ii", 1, 1)
XERIAL_BLOCK_SIZE = 32 * 1024


def has_gzip() -> bool:
    """Whether gzip is there: always."""
    return True


def has_snappy() -> bool:
    """Whether snappy is there: always, no other package is needed."""
    return True


def gzip_encode(payload: bytes, compresslevel: int | None = None) -> bytes:
    """The payload as gzip writes it; without a level, 9."""
    return gzip.compress(payload, 9 if compresslevel is None else compresslevel)


def gzip_decode(payload: bytes) -> bytes:
    """The other way."""
    return gzip.decompress(payload)


def snappy_encode(payload: bytes, xerial_compatible: bool = False, xerial_blocksize: int = XERIAL_BLOCK_SIZE) -> bytes:
    """The payload as snappy writes it.

    Args:
        payload: any bytes.
        xerial_compatible: put blocks with their lengths behind a header of 16 bytes, as the xerial library does.
        xerial_blocksize: bytes of a block before it is compressed.
    """
    if not xerial_compatible:
        return bytes(cramjam.snappy.compress_raw(payload))
    parts = [XERIAL_HEADER]
    for start in range(0, len(payload), xerial_blocksize):
        block = bytes(cramjam.snappy.compress_raw(payload[start : start + xerial_blocksize]))
        parts += [struct.pack(">i", len(block)), block]
    return b"".join(parts)


def snappy_decode(payload: bytes) -> bytes:
    """The other way, with or without the framing."""
    if not payload.startswith(XERIAL_MAGIC):
        return bytes(cramjam.snappy.decompress_raw(payload))
    parts, at = [], len(XERIAL_HEADER)
    while at < len(payload):
        (size,) = struct.unpack_from(">i", payload, at)
        parts.append(bytes(cramjam.snappy.decompress_raw(payload[at + 4 : at + 4 + size])))
        at += 4 + size
    return b"".join(parts)
