"""Records as a share group sees them. The numbers are what Kafka 4.3.1 answered to the same calls."""

from __future__ import annotations

import itertools

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.sharing.records import Acknowledgement, Limits, RecordState, Run, ShareRecords, Stretch

LIMITS = Limits()
Range = tuple[int, int, int]


def log(*sizes: int) -> list[Stretch]:
    ends = list(itertools.accumulate(sizes))
    return [Stretch(end - size, end - 1) for size, end in zip(sizes, ends, strict=True)]


def acquire(
    records: ShareRecords,
    stretches: list[Stretch],
    member: str = "m",
    max_records: int = 500,
    batch_size: int = 500,
    *,
    limits: Limits = LIMITS,
    now_s: float = 0.0,
    strict: bool = False,
) -> list[Range]:
    first = records.next_offset(limits)
    seen = [item for item in stretches if first is not None and item.last >= first]
    found = records.acquire(member, seen, limits, now_s, max_records=max_records, batch_size=batch_size, strict=strict)
    return [(item.first, item.last, item.delivery_count) for item in found]


def answer(
    records: ShareRecords, first: int, last: int, *types: int, member: str = "m", limits: Limits = LIMITS
) -> tuple[Code, str | None] | None:
    refusal = records.acknowledge(member, [Acknowledgement(first, last, types)], limits, 0.0)
    return None if refusal is None else (refusal.code, refusal.text)


def states(records: ShareRecords) -> list[tuple[int, int, str]]:
    return [(run.first, run.last, run.state.value) for run in records.runs]


ALLOWED = {
    ("Available", "Acquired"),
    ("Available", "Archived"),
    ("Acquired", "Available"),
    ("Acquired", "Acknowledged"),
    ("Acquired", "Archived"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(RecordState, RecordState)))
def test_moves(before: RecordState, after: RecordState) -> None:
    run = Run(3, 5, (0, 9), before)
    if (before.value, after.value) in ALLOWED:
        run.move_to(after)
        assert run.state is after
    else:
        with pytest.raises(RuntimeError, match=f"records 3 to 5 cannot go from {before.value} to {after.value}"):
            run.move_to(after)


def test_a_batch_is_given_out_whole_and_the_next_one_follows() -> None:
    records, stretches = ShareRecords(0), log(10, 10)
    assert acquire(records, stretches, max_records=4) == [(0, 9, 1)]
    assert acquire(records, stretches, "other", max_records=4) == [(10, 19, 1)]
    assert acquire(records, stretches) == []
    assert (records.start_offset, records.end_offset) == (0, 20)


def test_a_strict_limit_cuts_batches_and_what_is_left_is_new() -> None:
    records, stretches = ShareRecords(0), log(10, 10, 25)
    for expected in ((0, 3, 1), (4, 7, 1)):
        assert acquire(records, stretches, max_records=4, strict=True) == [expected]
    assert acquire(records, stretches, max_records=4, batch_size=4) == [(8, 9, 1), (10, 19, 1)]
    assert acquire(records, stretches, max_records=15, batch_size=4, strict=True) == [(20, 34, 1)]
    assert records.expire(LIMITS, 30.0)
    assert acquire(records, stretches, max_records=100) == [(0, 9, 2), (10, 19, 2), (20, 34, 2), (35, 44, 1)]


def test_batches_of_the_log_are_taken_together_up_to_the_batch_size() -> None:
    records, stretches = ShareRecords(0), log(3, 3, 3, 3, 3, 3)
    assert acquire(records, stretches, max_records=14, batch_size=5) == [(0, 5, 1), (6, 11, 1), (12, 14, 1)]
    assert answer(records, 1, 1, 1) is None
    assert answer(records, 2, 2, 2) is None
    assert answer(records, 7, 10, 2) is None
    assert acquire(records, stretches[:5], "other") == [(2, 2, 2), (7, 10, 2)]


@pytest.mark.parametrize(
    ("limit", "given"),
    [
        (2, [(0, 19, 1), (0, 19, 2)]),
        (3, [(0, 19, 1), (0, 19, 2), (0, 0, 3), (1, 1, 3)]),
        (4, [(0, 19, 1), (0, 19, 2), (0, 9, 3), (0, 0, 4), (1, 1, 4)]),
        (5, [(0, 19, 1), (0, 19, 2), (0, 19, 3), (0, 9, 4), (0, 0, 5), (1, 1, 5)]),
        (
            10,
            [
                *((0, 19, count) for count in range(1, 6)),
                *((0, 9, 6), (0, 4, 7), (0, 1, 8), (0, 0, 9), (0, 0, 10)),
                *((1, 1, 9), (1, 1, 10), (2, 3, 8), (2, 2, 9)),
            ],
        ),
    ],
)
def test_often_failed_records_are_given_out_in_smaller_parts(limit: int, given: list[Range]) -> None:
    records, limits = ShareRecords(0), Limits(delivery_count=limit)
    for expected in given:
        assert acquire(records, log(16, 4), limits=limits) == [expected]
        assert answer(records, expected[0], expected[1], 2, limits=limits) is None


def test_often_failed_records_are_given_out_without_others() -> None:
    records, stretches = ShareRecords(0), log(4, 4)
    assert acquire(records, stretches, batch_size=4) == [(0, 3, 1), (4, 7, 1)]
    for expected in ((4, 7, 2), (4, 7, 3), (4, 5, 4)):
        assert answer(records, 4, 7, 2) is None
        assert acquire(records, stretches) == [expected]
    assert answer(records, 0, 4, 2) is None
    assert acquire(records, stretches) == [(0, 3, 2)]
    assert acquire(records, stretches) == [(4, 4, 5)]


def test_records_that_failed_too_often_are_archived_and_the_start_moves() -> None:
    records, limits = ShareRecords(0), Limits(delivery_count=2)
    for now_s, count in ((0.0, 1), (30.0, 2)):
        assert acquire(records, log(5), limits=limits, now_s=now_s) == [(0, 4, count)]
        assert records.next_lock_end_s == now_s + 30.0
        assert not records.expire(limits, now_s + 29.9)
        assert records.expire(limits, now_s + 30.0)
    assert (records.start_offset, records.end_offset, states(records)) == (5, 5, [])


def test_acknowledgements_of_each_kind_move_the_start_behind_what_is_done() -> None:
    records, stretches = ShareRecords(0), log(10)
    acquire(records, stretches)
    assert answer(records, 1, 4, 1, 2, 3, 0) is None
    assert states(records) == [
        (0, 0, "Acquired"),
        (1, 1, "Acknowledged"),
        (2, 2, "Available"),
        (3, 4, "Archived"),
        (5, 9, "Acquired"),
    ]
    assert records.start_offset == 0
    assert records.done_count == 3
    assert answer(records, 0, 0, 1) is None
    assert records.start_offset == 2
    assert acquire(records, stretches, "other") == [(2, 2, 2)]


def test_renewal_keeps_the_lock_and_counts_no_delivery() -> None:
    records, stretches = ShareRecords(0), log(4)
    acquire(records, stretches)
    assert records.acknowledge("m", [Acknowledgement(1, 2, [4])], LIMITS, 20.0) is None
    assert records.expire(LIMITS, 30.0)
    assert states(records) == [(0, 0, "Available"), (1, 2, "Acquired"), (3, 3, "Available")]
    assert records.next_lock_end_s == 50.0
    assert [run.delivery_count for run in records.runs] == [1, 1, 1]


@pytest.mark.parametrize(
    ("first", "last", "code", "text"),
    [
        (50, 51, Code.INVALID_REQUEST, "Batch record not found. The first offset in request is past acquired records."),
        (8, 51, Code.INVALID_REQUEST, "Batch record not found. The last offset in request is past acquired records."),
        (5, 6, Code.INVALID_RECORD_STATE, "Member is not the owner of offset"),
        (5, 9, Code.INVALID_RECORD_STATE, "Member is not the owner of batch record"),
        (
            *(2, 2, Code.INVALID_RECORD_STATE),
            "The offset cannot be acknowledged. The offset is not acquired.",
        ),
    ],
)
def test_acknowledging_records_of_others_refuses_the_whole_request(
    first: int, last: int, code: Code, text: str
) -> None:
    records, stretches = ShareRecords(0), log(5, 5)
    acquire(records, stretches[:1])
    acquire(records, stretches, "other")
    assert answer(records, 2, 2, 1) is None
    said = [Acknowledgement(0, 1, [1]), Acknowledgement(first, last, [1])]
    refusal = records.acknowledge("m", said, LIMITS, 0.0)
    assert refusal is not None
    assert (refusal.code, refusal.text) == (code, text)
    assert records.start_offset == 0


def test_a_batch_that_came_back_cannot_be_acknowledged() -> None:
    records = ShareRecords(0)
    acquire(records, log(5))
    assert records.release("m", LIMITS)
    assert not records.release("m", LIMITS)
    text = "The batch cannot be acknowledged. The batch is not in the acquired state."
    assert answer(records, 0, 4, 1) == (Code.INVALID_RECORD_STATE, text)


def test_records_before_the_start_may_be_acknowledged_again() -> None:
    records = ShareRecords(0)
    acquire(records, log(5))
    assert answer(records, 0, 3, 1) is None
    assert answer(records, 2, 4, 1) is None
    assert (records.start_offset, states(records)) == (5, [])


def test_as_many_records_are_in_flight_as_may_be() -> None:
    records, stretches, limits = ShareRecords(0), log(*[60] * 5), Limits(max_locks=100)
    assert acquire(records, stretches, limits=limits) == [(0, 119, 1)]
    assert acquire(records, stretches, limits=limits) == []
    assert answer(records, 0, 59, 1) is None
    assert acquire(records, stretches, limits=limits) == [(120, 179, 1)]


def test_a_new_leader_knows_neither_locks_nor_deliveries_that_nobody_wrote_down() -> None:
    records, stretches = ShareRecords(0), log(4)
    acquire(records, stretches)
    answer(records, 0, 0, 2)
    acquire(records, stretches)
    records.forget_locks()
    assert acquire(records, stretches) == [(0, 0, 2), (1, 3, 1)]


def test_records_that_were_deleted_are_gone_for_everybody() -> None:
    records = ShareRecords(0)
    acquire(records, log(10))
    records.begin_at(4)
    assert (records.start_offset, states(records)) == (4, [(4, 9, "Acquired")])
    records.begin_at(2)
    assert records.start_offset == 4
    records.begin_at(40)
    assert (records.start_offset, records.end_offset, states(records)) == (40, 40, [])


def test_records_that_members_may_not_see_are_skipped() -> None:
    records = ShareRecords(0)
    stretches = [Stretch(0, 2), Stretch(3, 5, is_void=True), Stretch(6, 8)]
    assert acquire(records, stretches) == [(0, 2, 1), (6, 8, 1)]
    assert states(records) == [(0, 2, "Acquired"), (3, 5, "Archived"), (6, 8, "Acquired")]
    assert answer(records, 0, 2, 1) is None
    assert records.start_offset == 6


def test_a_lower_limit_archives_what_came_back_under_the_higher_one() -> None:
    records = ShareRecords(0)
    for _ in range(2):
        acquire(records, log(4))
        answer(records, 0, 3, 2)
    assert acquire(records, log(4, 2), limits=Limits(delivery_count=2)) == [(4, 5, 1)]
    assert records.start_offset == 4
