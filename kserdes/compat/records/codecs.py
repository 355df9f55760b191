"""Compression as functions over bytes: what kafka-python's and aiokafka's `codec` modules offer.

All codecs are always there: cramjam is a dependency. Must not know batches.
"""

from __future__ import annotations

from typing import Any, Final

import cramjam

from kserdes.compat.simple.codec import gzip_decode, gzip_encode, has_gzip, has_snappy, snappy_decode
from kserdes.compat.simple.codec import snappy_encode as encode_snappy

__all__ = [
    "CODECS",
    "gzip_decode",
    "gzip_encode",
    "has_gzip",
    "has_lz4",
    "has_snappy",
    "has_zstd",
    "lz4_decode",
    "lz4_encode",
    "lz4f_decode",
    "snappy_decode",
    "snappy_encode",
    "zstd_decode",
    "zstd_encode",
]

Buffer = bytes | bytearray | memoryview


def has_lz4() -> bool:
    """Whether LZ4 is there: always."""
    return True


def has_zstd() -> bool:
    """Whether zstd is there: always."""
    return True


def snappy_encode(payload: Buffer, xerial_compatible: bool = True, xerial_blocksize: int = 32 * 1024) -> bytes:
    """The payload as snappy writes it, by default in the xerial library's blocks, which brokers expect."""
    return encode_snappy(bytes(payload), xerial_compatible, xerial_blocksize)


def lz4_encode(payload: Buffer, level: int = 9) -> bytes:
    """The payload as one LZ4 frame."""
    return bytes(cramjam.lz4.compress(bytes(payload), level=level))


def lz4_decode(payload: Buffer) -> bytes:
    """The other way."""
    return bytes(cramjam.lz4.decompress(bytes(payload)))


lz4f_decode = lz4_decode


def zstd_encode(payload: Buffer, level: int | None = None) -> bytes:
    """The payload as zstd writes it."""
    return bytes(cramjam.zstd.compress(bytes(payload), level=level))


def zstd_decode(payload: Buffer) -> bytes:
    """The other way."""
    return bytes(cramjam.zstd.decompress(bytes(payload)))


CODECS: Final[dict[int, tuple[Any, Any]]] = {
    1: (gzip_encode, gzip_decode),
    2: (snappy_encode, snappy_decode),
    3: (lz4_encode, lz4_decode),
    4: (zstd_encode, zstd_decode),
}
"""Number of a codec in the attributes of batches → (encode, decode)."""
