"""Opening the batches of a fetch response, and building batches."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kafka_core import kernels
from kafka_core.errors import CorruptRecordError, KafkaError, UnknownCodecError
from kafka_core.kernels.pure.record_batch import seal_batch
from kafka_core.records import (
    Codec,
    ControlType,
    NewRecord,
    OpenBatch,
    build_batch,
    control_key,
    control_value,
    open_batches,
    parse_control_key,
)

KRAFT = bytes.fromhex(  # the first batch of a metadata log by Kafka 4.3.1: control records of other kinds
    "0000000000000000000000a200000001023a6bd88c002000000002000001a1fc53fac6000001a1fc53fac6ffffffffffffffffffff"
    "ffffffff000000033a00000008000000022600000000000102000000010002000000010000001e00000208000000050a00000001000082"
    "0100000408000000066e00000200000001c0bf796280ae4e0c98845a99dba6517e020b434f4e54524f4c4c45520a3132372e302e302e31"
    "4c25000000000100000000"
)


def values(batch: OpenBatch) -> list[Any]:
    out: list[Any] = []
    batch.cursor.take(out, 1000)
    return [message.value() for message in out]


def abc_batch(base_offset: int = 10, **options: Any) -> bytes:
    return build_batch([NewRecord(value) for value in (b"a", b"b", b"c")], base_offset=base_offset, **options)


@pytest.mark.parametrize("codec", Codec)
def test_open(codec: Codec) -> None:
    buffer = abc_batch(10, codec=codec, partition_leader_epoch=5) + abc_batch(20, codec=codec)
    first, second = open_batches(buffer, "t", 3, 0)
    assert (first.header.base_offset, first.header.count, first.header.partition_leader_epoch) == (10, 3, 5)
    assert (first.end_offset, second.end_offset) == (13, 23)
    assert (first.is_control, first.is_transactional, first.control_type) == (False, False, None)
    assert first.memory_bytes == len(abc_batch()) - 61
    message = first.cursor.next()
    assert message is not None
    assert (message.topic(), message.partition(), message.leader_epoch()) == ("t", 3, 5)
    assert values(second) == [b"a", b"b", b"c"]


def test_batches_before_the_offset_are_left_out() -> None:
    buffer = abc_batch(10) + abc_batch(13) + abc_batch(16)
    (second, third) = open_batches(buffer, "t", 0, 14)
    assert values(second) == [b"b", b"c"]
    assert values(third) == [b"a", b"b", b"c"]
    assert open_batches(buffer, "t", 0, 19) == []


def test_a_batch_that_is_left_out_need_not_be_readable() -> None:
    unknown = bytearray(abc_batch(10))
    unknown[22] |= 5
    assert len(open_batches(bytes(unknown) + abc_batch(13), "t", 0, 13, check_crcs=False)) == 1


def test_an_incomplete_last_batch_is_left_out() -> None:
    assert len(open_batches(abc_batch(10) + abc_batch(13)[:-1], "t", 0, 0)) == 1


def test_crcs() -> None:
    damaged = abc_batch()[:-2] + b"!\0"
    with pytest.raises(CorruptRecordError, match=r"t\[3\].*base offset 10.*CRC"):
        open_batches(damaged, "t", 3, 0)
    (batch,) = open_batches(damaged, "t", 3, 0, check_crcs=False)
    assert values(batch) == [b"a", b"b", b"!"]


def resealed(attributes: int, payload: bytes, count: int = 1) -> bytes:
    return bytes(
        seal_batch(payload, count=count, base_timestamp_ms=1, max_timestamp_ms=1, attributes=attributes, base_offset=10)
    )


def test_an_unknown_codec() -> None:
    with pytest.raises(UnknownCodecError, match=r"t\[3\]: the batch with base offset 10: .*codec 6") as raised:
        open_batches(resealed(6, b"x"), "t", 3, 0)
    assert raised.value.code == KafkaError._BAD_COMPRESSION


def test_data_that_can_not_be_decompressed() -> None:
    with pytest.raises(CorruptRecordError, match=r"t\[3\]: the batch with base offset 10: the zstd data"):
        open_batches(resealed(4, b"x"), "t", 3, 0)


def test_the_bound_of_decompressed_data() -> None:
    bomb = build_batch([NewRecord(bytes(10_000))], codec=Codec.GZIP)
    with pytest.raises(CorruptRecordError, match="more than the 9999 bytes"):
        open_batches(bomb, "t", 3, 0, max_bytes=9999)
    assert len(open_batches(bomb, "t", 3, 0, max_bytes=11_000)) == 1


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_that_compaction_emptied(codec: Codec) -> None:
    buffer = build_batch([], base_offset=10, codec=codec, last_offset_delta=4, producer_id=3)
    (batch,) = open_batches(buffer, "t", 0, 12)
    assert (batch.end_offset, batch.cursor.exhausted, batch.cursor.position) == (15, True, 15)


def test_bytes_without_records() -> None:
    with pytest.raises(CorruptRecordError, match=r"t\[3\]: the batch with base offset 10: .*1 bytes follow"):
        open_batches(resealed(0, b"x", count=0), "t", 3, 0)


@pytest.mark.parametrize("kind", ControlType)
def test_control_batches(kind: ControlType) -> None:
    marker = NewRecord(b"", control_key(kind), timestamp_ms=5)
    buffer = build_batch([marker], base_offset=7, control=True, transactional=True, producer_id=9)
    (batch,) = open_batches(buffer, "t", 0, 0)
    assert (batch.is_control, batch.is_transactional, batch.control_type) == (True, True, kind)
    assert (batch.header.producer_id, batch.end_offset) == (9, 8)


def test_control_batches_of_other_kinds() -> None:
    (batch,) = open_batches(KRAFT, "t", 0, 0)
    assert (batch.is_control, batch.control_type, batch.header.count, batch.end_offset) == (True, None, 3, 3)


def test_an_empty_control_batch() -> None:
    (batch,) = open_batches(build_batch([], control=True, last_offset_delta=0), "t", 0, 0)
    assert (batch.is_control, batch.control_type) == (True, None)


def test_a_malformed_control_batch() -> None:
    buffer = build_batch([NewRecord(key=b"\0")], control=True)
    with pytest.raises(CorruptRecordError, match=r"t\[0\]: the batch with base offset 0: the key of a control record"):
        open_batches(buffer, "t", 0, 0)


def test_the_buffer_lives_as_long_as_its_messages() -> None:
    buffer = bytearray(abc_batch())
    (batch,) = open_batches(memoryview(buffer), "t", 0, 0)
    message = batch.cursor.next()
    del batch, buffer
    assert message is not None
    assert message.value() == b"a"


def test_build_batch_describes_itself() -> None:
    rows = [NewRecord(b"v", timestamp_ms=1000), NewRecord(b"w", timestamp_ms=1500), NewRecord(b"x", timestamp_ms=900)]
    (header,) = kernels.scan_batches(
        build_batch(
            rows,
            base_offset=2**40,
            codec=Codec.LZ4,
            partition_leader_epoch=3,
            producer_id=4,
            producer_epoch=5,
            base_sequence=6,
            transactional=True,
        )
    )
    assert header[1:] == (
        header.size_bytes, 2, 0x13, 2**40, 2, 1000, 1500, 4, 5, 6, 3, 3, 61,
    )[0:]  # fmt: skip


def test_build_batch_refuses_what_does_not_fit() -> None:
    with pytest.raises(struct.error):
        build_batch([NewRecord(b"v")], base_offset=2**63)


# ---- control


@pytest.mark.parametrize(("kind", "key"), [(ControlType.ABORT, "00000000"), (ControlType.COMMIT, "00000001")])
def test_keys(kind: ControlType, key: str) -> None:
    assert control_key(kind).hex() == key
    assert parse_control_key(bytes.fromhex(key)) is kind


def test_other_kinds_and_newer_versions() -> None:
    assert parse_control_key(bytes.fromhex("00000002")) is None
    assert parse_control_key(bytes.fromhex("00050001ffff")) is ControlType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_malformed(key: bytes | None) -> None:
    with pytest.raises(CorruptRecordError, match="key"):
        parse_control_key(key)


def test_value() -> None:
    assert control_value(7).hex() == "000000000007"
