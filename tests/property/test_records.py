"""Batches survive the way through every codec; damaged ones raise our errors and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.errors import CorruptRecordError, UnknownCodecError
from kafka_core.records import Codec, NewRecord, build_batch, compress, decompress, open_batches
from tests.strategies.records import NOW_MS, batches, codecs, damaged, payloads, record_lists


def read(data: bytes, from_offset: int = 0, **options: Any) -> list[Any]:
    out: list[Any] = []
    for batch in open_batches(data, "t", 3, from_offset, **options):
        batch.cursor.take(out, 10_000)
        assert batch.cursor.exhausted
        assert batch.cursor.position == batch.end_offset
    return out


@given(record_lists(), codecs, st.integers(0, 2**50), st.integers(-2, 2000))
def test_round_trip(records: list[NewRecord], codec: Codec, base_offset: int, skip: int) -> None:
    data = build_batch(records, base_offset=base_offset, codec=codec)
    wanted = [record for record in records if (record.offset_delta or 0) >= skip]
    found = read(data, base_offset + skip)
    assert [message.value() for message in found] == [record.value for record in wanted]
    assert [message.key() for message in found] == [record.key for record in wanted]
    assert [message.headers() or [] for message in found] == [list(record.headers) for record in wanted]
    assert [message.timestamp() for message in found] == [(1, record.timestamp_ms) for record in wanted]
    assert [message.offset() for message in found] == [base_offset + (record.offset_delta or 0) for record in wanted]


@given(st.lists(batches(), max_size=3))
def test_batches_that_follow_each_other(whole: list[bytes]) -> None:
    every = [message for batch in whole for message in read(batch)]
    assert read(b"".join(whole)) == every


@given(batches(min_size=1), st.data())
def test_every_changed_byte_behind_the_crc_is_noticed(batch: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(17, len(batch) - 1))
    changed = bytearray(batch)
    changed[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptRecordError, match=r"t\[3\]"):
        read(bytes(changed))


@given(damaged(batches()))
def test_damaged_batches_without_crc_raise_ours_only(data: bytes) -> None:
    text = "t[3]"
    try:
        for batch in open_batches(data, "t", 3, 0, check_crcs=False, max_bytes=1_000_000):
            batch.cursor.take([], 10_000)
    except (CorruptRecordError, UnknownCodecError) as error:
        text = str(error)
    assert "t[3]" in text


@given(codecs, st.lists(payloads, max_size=20))
def test_codecs(codec: Codec, pieces: list[bytes | None]) -> None:
    data = b"".join(piece or b"" for piece in pieces) * 50
    assert bytes(decompress(codec, compress(codec, data))) == data
    assert bytes(decompress(codec, compress(codec, data), len(data))) == data


@given(codecs, damaged(st.binary(max_size=300).flatmap(lambda d: codecs.map(lambda c: bytes(compress(c, d * 3))))))
def test_damaged_compressed_data_raises_ours_only(codec: Codec, data: bytes) -> None:
    text, size = codec.name.lower(), 0
    try:
        size = len(decompress(codec, data, 2000))
    except CorruptRecordError as error:
        text = str(error)
    assert size <= max(2000, len(data))
    assert codec.name.lower() in text or "2000 bytes" in text


@given(batches(codec=st.just(Codec.NONE), min_size=1), st.integers(0, 200))
def test_a_response_that_was_cut_off(batch: bytes, cut: int) -> None:
    rest = batch[: len(batch) - 1 - min(cut, len(batch) - 1)]
    assert read(batch + rest) == read(batch)


def test_times_far_apart() -> None:
    rows = [NewRecord(timestamp_ms=0), NewRecord(timestamp_ms=2**62), NewRecord(timestamp_ms=NOW_MS)]
    assert [message.timestamp()[1] for message in read(build_batch(rows))] == [0, 2**62, NOW_MS]
