"""The filter of aborted transactions, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_core.engine.consuming.aborted import AbortedFilter


@dataclass
class Header:
    producer_id: int


@dataclass
class Batch:
    header: Header
    end_offset: int
    is_transactional: bool = True
    is_control: bool = False
    control_type: int | None = None


@dataclass
class Row:
    producer_id: int
    first_offset: int


def batch(producer_id: int, end: int, **fields: object) -> Batch:
    return Batch(Header(producer_id), end, **fields)  # type: ignore[arg-type]


def test_a_producer_is_dropped_from_its_first_aborted_offset_to_its_abort_marker() -> None:
    aborted = AbortedFilter([Row(1, 10), Row(1, 30)])
    assert aborted.keeps(batch(1, 10))
    assert not aborted.keeps(batch(1, 11))
    assert aborted.keeps(batch(2, 12))
    assert not aborted.keeps(batch(1, 13, is_control=True, control_type=0))
    assert aborted.keeps(batch(1, 20))
    assert not aborted.keeps(batch(1, 31))


def test_a_commit_marker_ends_nothing_and_plain_batches_pass() -> None:
    aborted = AbortedFilter([Row(1, 0)])
    assert aborted.keeps(batch(1, 1, is_transactional=False))
    assert not aborted.keeps(batch(1, 2, is_control=True, control_type=1))
    assert not aborted.keeps(batch(1, 3))
