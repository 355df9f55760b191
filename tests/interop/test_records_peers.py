"""Batches between clients: what we write aiokafka and kafka-python read, and back; old formats as they write them."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords as AioRecords

from kafka_core import kernels
from kafka_core.kernels import native, pure
from kafka_core.records import Codec, NewRecord, build_batch, compress, open_batches

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import codec as kafka_python_codecs
    from kafka.record import MemoryRecords, MemoryRecordsBuilder

pytestmark = pytest.mark.interop

NOW_MS = 1_700_000_000_000
Row = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
ROWS: list[Row] = [
    (NOW_MS, b"k", b"value", [("h", b"x"), ("n", None)]),
    (NOW_MS + 5, None, b"value" * 300, []),
    (NOW_MS - 5, b"", None, [("ä", b"")]),
    *((NOW_MS + n * 1000, b"%d" % n, b"more %d" % n, []) for n in range(200)),
]


def needs(client: str, codec: Codec) -> None:
    """aiokafka brings cramjam; kafka-python needs a module per codec."""
    checks: dict[Codec, Callable[[], bool]] = {
        Codec.GZIP: kafka_python_codecs.has_gzip,
        Codec.SNAPPY: kafka_python_codecs.has_snappy,
        Codec.LZ4: kafka_python_codecs.has_lz4,
        Codec.ZSTD: kafka_python_codecs.has_zstd,
    }
    if client == "kafka-python" and codec in checks and not checks[codec]():
        pytest.skip(f"kafka-python has no module for {codec.name} here")


def read_by_us(data: bytes) -> list[Row]:
    out: list[Any] = []
    for batch in open_batches(data, "t", 0, 0):
        batch.cursor.take(out, 10_000)
    return [(item.timestamp()[1], item.key(), item.value(), item.headers() or []) for item in out]


def read_by_peer(client: str, data: bytes) -> list[Row]:
    records: Any = AioRecords(data) if client == "aiokafka" else MemoryRecords(data)
    found: list[Row] = []
    while records.has_next():
        batch = records.next_batch()
        assert batch.validate_crc()
        found += [
            (row.timestamp, row.key and bytes(row.key) if row.key else row.key, row.value, list(row.headers))
            for row in batch
        ]
    return found


def plain(rows: list[Row]) -> list[Row]:
    return [
        (time_ms, None if key is None else bytes(key), None if value is None else bytes(value), headers)
        for time_ms, key, value, headers in rows
    ]


def written_by_peer(client: str, codec: Codec, **ids: int) -> bytes:
    if client == "aiokafka":
        builder: Any = DefaultRecordBatchBuilder(
            magic=2, compression_type=codec, is_transactional=0, batch_size=100_000,
            producer_id=ids.get("producer_id", -1), producer_epoch=ids.get("producer_epoch", -1),
            base_sequence=ids.get("base_sequence", -1),
        )  # fmt: skip
        for offset, (time_ms, key, value, headers) in enumerate(ROWS):
            assert builder.append(offset, time_ms, key, value, headers) is not None
        return bytes(builder.build())
    memory = MemoryRecordsBuilder(2, codec, 100_000, **ids)
    for time_ms, key, value, headers in ROWS:
        assert memory.append(time_ms, key, value, headers) is not None
    memory.close()
    return bytes(memory.buffer())


CLIENTS = ["aiokafka", "kafka-python"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("codec", Codec)
def test_peers_read_batches_of_build_batch(client: str, codec: Codec) -> None:
    needs(client, codec)
    rows = [NewRecord(value, key, headers, time_ms) for time_ms, key, value, headers in ROWS]
    assert plain(read_by_peer(client, build_batch(rows, codec=codec))) == ROWS


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("codec", "levels"), [(Codec.GZIP, (0, 1, 9)), (Codec.LZ4, (1, 12)), (Codec.ZSTD, (1, 22))])
def test_peers_read_batches_of_every_compression_level(client: str, codec: Codec, levels: tuple[int, ...]) -> None:
    needs(client, codec)
    rows = [NewRecord(value, key, headers, time_ms) for time_ms, key, value, headers in ROWS]
    made = [build_batch(rows, codec=codec, level=level) for level in levels]
    assert [plain(read_by_peer(client, data)) for data in made] == [ROWS] * len(levels)
    assert len(made[-1]) < len(made[0]), "the level changes nothing"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("impl", [pure, native], ids=["pure", "native"])
def test_peers_read_batches_of_the_accumulator(client: str, codec: Codec, impl: Any) -> None:
    needs(client, codec)
    memory = impl.Accumulator(
        batch_size_bytes=1_000_000,
        batch_max_records=10_000,
        max_queue_records=10_000,
        max_queue_bytes=10_000_000,
        max_message_bytes=1_000_000,
    )
    memory.set_partition_count("t", 1)
    for time_ms, key, value, headers in ROWS:
        memory.produce("t", value, key, timestamp=time_ms, headers=headers)
    (batch,) = memory.take_ready(0.0, 0.0, True)[0]
    data = batch.encode(codec_id=codec, compress=lambda view: compress(codec, view), producer_id=7, producer_epoch=1)
    assert plain(read_by_peer(client, bytes(data))) == ROWS


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("codec", Codec)
def test_we_read_what_they_write(client: str, codec: Codec) -> None:
    needs(client, codec)
    data = written_by_peer(client, codec, producer_id=9, producer_epoch=3, base_sequence=11)
    (header,) = kernels.scan_batches(data)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, 11)
    assert (header.count, header.max_timestamp_ms) == (len(ROWS), NOW_MS + 199_000)
    assert read_by_us(data) == ROWS


@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_bytes_without_compression(client: str) -> None:
    rows = [NewRecord(value, key, headers, time_ms) for time_ms, key, value, headers in ROWS]
    theirs = bytearray(written_by_peer(client, Codec.NONE))
    theirs[12:16] = b"\xff" * 4  # the leader epoch is the broker's to fill in, and not part of the CRC
    assert bytes(theirs) == build_batch(rows)


@pytest.mark.parametrize(
    ("magic", "codec"),
    [(1, Codec.LZ4), *((magic, codec) for magic in (0, 1) for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY))],
)
def test_old_formats(magic: Any, codec: Codec) -> None:
    """aiokafka writes no lz4 in format 0."""
    builder: Any = LegacyRecordBatchBuilder(magic, codec, 100_000)
    for offset, (time_ms, key, value, _) in enumerate(ROWS):
        assert builder.append(offset, time_ms, key, value) is not None
    data = bytearray(builder.build())
    if codec:  # as the broker does: a wrapper has the offset of its last message
        struct.pack_into(">q", data, 0, len(ROWS) - 1)
    wanted: list[Any] = [(time_ms if magic else -1, key, value, []) for time_ms, key, value, _ in ROWS]
    assert read_by_us(bytes(data)) == wanted
