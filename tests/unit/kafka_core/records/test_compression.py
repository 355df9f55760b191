"""Codecs: round trips, foreign framings, and bounds against data that claims or becomes too much."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import cramjam
import pytest

from kafka_core.errors import CorruptRecordError, KafkaError, UnknownCodecError
from kafka_core.records.codecs import Codec, codec_of
from kafka_core.records.compression import compress, decompress

TEXT = b"to be compressed " * 5000
REAL = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("data", [b"", b"x", TEXT, bytes(1_000_000)])
def test_round_trip(codec: Codec, data: bytes) -> None:
    packed = compress(codec, memoryview(data))
    assert bytes(decompress(codec, packed)) == data
    assert bytes(decompress(codec, bytes(packed), len(data))) == data


@pytest.mark.parametrize("codec", REAL)
def test_it_becomes_smaller(codec: Codec) -> None:
    assert len(compress(codec, TEXT)) < len(TEXT) / 5


@pytest.mark.parametrize(("codec", "low", "high"), [(Codec.GZIP, 1, 9), (Codec.LZ4, 0, 12), (Codec.ZSTD, 1, 19)])
def test_levels(codec: Codec, low: int, high: int) -> None:
    data = b"".join(b"%d %d;" % (n * n % 977, n % 13) for n in range(5000))
    assert len(compress(codec, data, high)) < len(compress(codec, data, low))
    assert bytes(decompress(codec, compress(codec, data, high))) == data
    assert bytes(compress(codec, data, -1)) == bytes(compress(codec, data)) == bytes(compress(codec, data, None))


@pytest.mark.parametrize("codec", REAL)
def test_the_bound(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    assert len(decompress(codec, packed, len(TEXT))) == len(TEXT)
    for bound in (len(TEXT) - 1, 1000, 0):
        with pytest.raises(CorruptRecordError, match=f"more than the {bound} bytes"):
            decompress(codec, packed, bound)


@pytest.mark.parametrize("codec", REAL)
def test_the_bound_comes_before_the_memory(codec: Codec) -> None:
    """A few kilobytes that become 64 MiB never get more than the bound."""
    bomb = compress(codec, bytes(64 * 1024 * 1024))
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(CorruptRecordError, match="more than"):
        decompress(codec, bomb, 1_000_000)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("codec", REAL)
@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_damaged_data(codec: Codec, damage: str) -> None:
    packed = bytes(compress(codec, TEXT))
    data = {"cut": packed[:-3], "empty": b"", "garbage": b"\xff" * 40}[damage]
    if (codec, damage) == (Codec.SNAPPY, "empty"):
        assert decompress(codec, data) == b""
        return
    with pytest.raises(CorruptRecordError) as raised:
        decompress(codec, data)
    assert raised.value.code == KafkaError._BAD_MSG


def test_several_gzip_members() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one") + gzip.compress(b"two")) == b"onetwo"


def test_raw_snappy() -> None:
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT


def test_snappy_is_written_in_the_framing_of_java() -> None:
    packed = bytes(compress(Codec.SNAPPY, bytes(40_000)))
    assert packed.startswith(b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01")
    (size,) = struct.unpack_from(">i", packed, 16)
    assert cramjam.snappy.decompress_raw_len(packed[20 : 20 + size]) == 32 * 1024


def xerial(*blocks: bytes) -> bytes:
    return b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01" + b"".join(blocks)


def block(data: bytes, size: int | None = None) -> bytes:
    packed = bytes(cramjam.snappy.compress_raw(data))
    return struct.pack(">i", len(packed) if size is None else size) + packed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (xerial()[:-1], "inside its header"),
        (xerial(b"\0\0"), "inside a block's length"),
        (xerial(block(b"x", size=50)), "claims 50 bytes"),
        (xerial(block(b"x", size=-1)), "claims -1 bytes"),
        (xerial(block(b"x" * 60), block(b"x" * 60)), "more than the 100 bytes"),
        (b"\xff\xff\xff\xff\x0f", "more than the 100 bytes"),
    ],
)
def test_hostile_snappy(data: bytes, words: str) -> None:
    with pytest.raises(CorruptRecordError, match=words):
        decompress(Codec.SNAPPY, data, 100)


def test_lz4_blocks_stand_alone() -> None:
    """Java's reader refuses linked ones: version 1, independent blocks in the frame's flags."""
    packed = bytes(compress(Codec.LZ4, TEXT))
    assert packed[:4] == b"\x04\x22\x4d\x18"
    assert packed[4] & 0b11100000 == 0b01100000


def test_lz4_with_linked_blocks_is_read() -> None:
    packed: Any = cramjam.lz4.compress(TEXT * 10)
    assert decompress(Codec.LZ4, bytes(packed)) == TEXT * 10


def test_codec_of() -> None:
    assert codec_of(0x30 | 4) is Codec.ZSTD
    assert codec_of(0) is Codec.NONE
    with pytest.raises(UnknownCodecError, match="codec 5") as raised:
        codec_of(5)
    assert raised.value.code == KafkaError._BAD_COMPRESSION
