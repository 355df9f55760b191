"""Compression of record batches: compress what we produce, decompress what we fetch, never beyond a bound.

Must not know batches or records. Every codec comes from cramjam.
Spec: https://kafka.apache.org/documentation/#compression; snappy-java's stream framing ("xerial"); LZ4 frame format.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import cramjam

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels import Buffer
from kafka_core.limits import MAX_DECOMPRESSED_BYTES
from kafka_core.records.codecs import Codec

_FIRST_GUESS: Final = 8
_LEAST_ROOM_BYTES: Final = 64 * 1024
_TOO_SMALL: Final = "failed to write whole buffer"
"""cramjam's words for an output without any more room."""

_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_INT32: Final = struct.Struct(">i")


def compress(codec: Codec, data: Buffer, level: int | None = None) -> Buffer:
    """The data as brokers and other clients expect it. O(size).

    Args:
        level: of gzip (0-9), lz4 (0-12) and zstd (1-22); None or -1: the codec's own default.
    """
    return _COMPRESSORS[codec](data, None if level is None or level < 0 else level)


def decompress(codec: Codec, data: Buffer, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Buffer:
    """The data as it was before `compress`, ours or any other client's. O(size of the result).

    Memory stays below two times `max_bytes`, whatever the data claims.

    Raises:
        CorruptRecordError: the data is damaged, or becomes more than `max_bytes`.
    """
    if codec is Codec.NONE:
        return data
    try:
        if codec is Codec.SNAPPY:
            return _unsnappy(memoryview(data).cast("B"), max_bytes)
        return _inflate(_MODULES[codec], data, max_bytes)
    except cramjam.DecompressionError as error:
        raise CorruptRecordError(f"the {codec.name.lower()} data can't be decompressed: {error}") from error


def _too_large(max_bytes: int) -> CorruptRecordError:
    return CorruptRecordError(f"the compressed data becomes more than the {max_bytes} bytes that are allowed")


# ---- gzip, lz4, zstd

_MODULES: Final[dict[Codec, ModuleType]] = {Codec.GZIP: cramjam.gzip, Codec.LZ4: cramjam.lz4, Codec.ZSTD: cramjam.zstd}


def _inflate(module: Any, data: Buffer, max_bytes: int) -> Buffer:
    """Tries with more and more room: what the data says of its own size is not to be trusted."""
    room = min(max(len(data) * _FIRST_GUESS, _LEAST_ROOM_BYTES), max_bytes)
    while True:
        out = bytearray(room)
        try:
            size: int = module.decompress_into(data, out)
        except cramjam.DecompressionError as error:
            if _TOO_SMALL not in str(error):
                raise
            if room >= max_bytes:
                raise _too_large(max_bytes) from None
            room = min(room * _FIRST_GUESS, max_bytes)
        else:
            del out[size:]
            return out


def _gzip(data: Buffer, level: int | None) -> Buffer:
    return memoryview(cramjam.gzip.compress(data, level))


def _lz4(data: Buffer, level: int | None) -> Buffer:
    """Java's reader refuses blocks that refer to earlier ones, which is the default elsewhere."""
    compressor = cramjam.lz4.Compressor(level=level or 0, content_checksum=False, block_linked=False)
    compressor.compress(bytes(data))  # this one of the library takes nothing but bytes
    return memoryview(compressor.finish())


def _zstd(data: Buffer, level: int | None) -> Buffer:
    return memoryview(cramjam.zstd.compress(data, level))


# ---- snappy: raw blocks (librdkafka) or many of them behind a magic number (Java)


def _snappy(data: Buffer, level: int | None) -> Buffer:
    view = memoryview(data).cast("B")
    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = memoryview(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out += _INT32.pack(len(block))
        out += block
    return out


def _unsnappy(data: memoryview, max_bytes: int) -> Buffer:
    if bytes(data[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return _raw_snappy(data, 0, max_bytes)
    if len(data) < len(_XERIAL_HEADER):
        raise CorruptRecordError("the snappy data ends inside its header")
    out = bytearray()
    position = len(_XERIAL_HEADER)
    while position < len(data):
        if len(data) - position < _INT32.size:
            raise CorruptRecordError("the snappy data ends inside a block's length")
        (size,) = _INT32.unpack_from(data, position)
        position += _INT32.size
        if not 0 <= size <= len(data) - position:
            raise CorruptRecordError(f"a snappy block claims {size} bytes, {len(data) - position} are left")
        out += _raw_snappy(data[position : position + size], len(out), max_bytes)
        position += size
    return out


def _raw_snappy(data: memoryview, before_bytes: int, max_bytes: int) -> bytearray:
    size = cramjam.snappy.decompress_raw_len(data) if data else 0
    if before_bytes + size > max_bytes:
        raise _too_large(max_bytes)
    out = bytearray(size)
    if size:
        cramjam.snappy.decompress_raw_into(data, out)
    return out


_COMPRESSORS: Final[dict[Codec, Callable[[Buffer, int | None], Buffer]]] = {
    Codec.NONE: lambda data, level: data,
    Codec.GZIP: _gzip,
    Codec.SNAPPY: _snappy,
    Codec.LZ4: _lz4,
    Codec.ZSTD: _zstd,
}
