"""Messages of formats 0 and 1, plain and compressed, in bytes made by hand from the specification."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import cramjam
import pytest

from kafka_core.errors import CorruptRecordError, UnknownCodecError
from kafka_core.records import Codec, OpenBatch, compress, open_batches

LOG_APPEND = 8


def nullable(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def message(
    offset: int,
    value: bytes | None,
    key: bytes | None = None,
    *,
    magic: int = 1,
    attributes: int = 0,
    time_ms: int = 1000,
    crc: int | None = None,
    tail: bytes = b"",
) -> bytes:
    body = struct.pack(">BB", magic, attributes) + (struct.pack(">q", time_ms) if magic else b"")
    body += nullable(key) + nullable(value) + tail
    checksum = zlib.crc32(body) if crc is None else crc
    return struct.pack(">qiI", offset, len(body) + 4, checksum) + body


def read(buffer: bytes, from_offset: int = 0, **options: Any) -> list[Any]:
    out: list[Any] = []
    for batch in open_batches(buffer, "t", 1, from_offset, **options):
        batch.cursor.take(out, 100)
    return [(item.offset(), item.key(), item.value(), item.timestamp()) for item in out]


def one(buffer: bytes) -> OpenBatch:
    (batch,) = open_batches(buffer, "t", 1, 0)
    return batch


@pytest.mark.parametrize(("magic", "timestamp"), [(0, (0, -1)), (1, (1, 1000))])
def test_plain(magic: int, timestamp: tuple[int, int]) -> None:
    buffer = message(5, b"a", b"k", magic=magic) + message(7, None, magic=magic) + message(8, b"", b"", magic=magic)
    assert read(buffer) == [(5, b"k", b"a", timestamp), (7, None, None, timestamp), (8, b"", b"", timestamp)]
    assert read(buffer, 7) == read(buffer)[1:]
    assert read(buffer[:-1]) == read(buffer)[:2]


def test_timestamps_of_format_1() -> None:
    assert read(message(5, b"a", attributes=LOG_APPEND))[0][3] == (2, 1000)
    assert read(message(5, b"a", time_ms=-1))[0][3] == (0, -1)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_a_compressed_set_of_format_1_has_relative_offsets(codec: Codec) -> None:
    """The wrapper has the offset of the last message; compaction may have left gaps."""
    inner = message(0, b"a", b"k", time_ms=10) + message(2, b"b", time_ms=30) + message(3, None, time_ms=20)
    buffer = message(103, bytes(compress(codec, inner)), attributes=codec, time_ms=30) + message(104, b"next")
    assert read(buffer) == [
        (100, b"k", b"a", (1, 10)),
        (102, None, b"b", (1, 30)),
        (103, None, None, (1, 20)),
        (104, None, b"next", (1, 1000)),
    ]
    assert read(buffer, 103) == read(buffer)[2:]
    assert read(buffer, 104) == read(buffer)[3:]


def test_a_compressed_set_of_format_0_has_absolute_offsets() -> None:
    inner = message(100, b"a", magic=0) + message(101, b"b", magic=0)
    buffer = message(101, bytes(compress(Codec.GZIP, inner)), magic=0, attributes=1)
    assert read(buffer) == [(100, None, b"a", (0, -1)), (101, None, b"b", (0, -1))]


def test_log_append_time_of_a_compressed_set() -> None:
    inner = message(0, b"a", time_ms=10) + message(1, b"b", time_ms=20)
    buffer = message(1, bytes(compress(Codec.GZIP, inner)), attributes=1 | LOG_APPEND, time_ms=777)
    assert [row[3] for row in read(buffer)] == [(2, 777), (2, 777)]


def test_the_header_in_terms_of_format_2() -> None:
    inner = message(0, b"a", time_ms=-1) + message(3, b"b", time_ms=20)
    batch = one(message(13, bytes(compress(Codec.GZIP, inner)), attributes=1, time_ms=20))
    header = batch.header
    assert (header.magic, header.attributes, header.base_offset, header.count) == (1, 0, 10, 2)
    assert (header.base_timestamp_ms, header.max_timestamp_ms) == (20, 20)
    assert (header.producer_id, header.partition_leader_epoch) == (-1, -1)
    assert (batch.end_offset, batch.is_control, batch.is_transactional) == (14, False, False)
    first = batch.cursor.next()
    assert first is not None
    assert (first.timestamp(), first.leader_epoch()) == ((0, -1), None)


def packed(*messages: bytes, **options: Any) -> bytes:
    return message(9, bytes(compress(Codec.GZIP, b"".join(messages))), attributes=1, **options)


@pytest.mark.parametrize(
    ("buffer", "words"),
    [
        (message(5, b"a", crc=1), "CRC"),
        (message(5, b"a", tail=b"!"), "1 bytes longer"),
        (message(5, None, attributes=1), "no value"),
        (message(5, b"x", attributes=1), "gzip data"),
        (message(5, b"x", attributes=4), "zstd"),
        (packed(), "empty"),
        (packed(message(0, b"a", crc=1)), "CRC"),
        (packed(message(0, b"a")[:-1]), "claims"),
        (packed(b"123"), "cut off"),
        (packed(message(0, b"a", magic=0)), "may not be in it"),
        (packed(message(0, b"a", attributes=1)), "may not be in it"),
        (packed(message(0, b"a", magic=2)), "format 2"),
        (packed(message(5, b"a"), message(4, b"b")), "backwards"),
        (struct.pack(">qiIBB", 5, 6, zlib.crc32(b"\x01\0"), 1, 0), "inside its timestamp"),
        (struct.pack(">qiIBB", 5, 6, zlib.crc32(b"\0\0"), 0, 0), "inside a length"),
        (struct.pack(">qiIBBi", 5, 10, 0, 0, 0, 9) + bytes(0), "key or value of 9 bytes"),
        (struct.pack(">qiIBBi", 5, 10, 0, 0, 0, -2), "key or value of -2 bytes"),
        (struct.pack(">qiIB", 5, 5, 0, 0), "cut off"),
    ],
)
def test_damaged(buffer: bytes, words: str) -> None:
    check = "key or value" not in words
    with pytest.raises(CorruptRecordError, match=rf"t\[1\]: the batch with base offset \d: .*{words}"):
        read(buffer, check_crcs=check)


def test_crcs_are_checked_only_on_request() -> None:
    assert read(message(5, b"a", crc=1), check_crcs=False) == [(5, None, b"a", (1, 1000))]


def test_an_unknown_codec() -> None:
    with pytest.raises(UnknownCodecError, match="codec 7"):
        read(message(5, b"x", attributes=7))


def test_the_bound_of_decompressed_data() -> None:
    with pytest.raises(CorruptRecordError, match="more than the 100 bytes"):
        read(packed(message(0, bytes(200))), max_bytes=100)


def test_raw_snappy() -> None:
    buffer = message(0, bytes(cramjam.snappy.compress_raw(message(0, b"a"))), attributes=2)
    assert read(buffer) == [(0, None, b"a", (1, 1000))]
