"""The judge finds what is forged into histories that are right without it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tools.faults.judge import (
    Ack,
    Change,
    Commit,
    Delivery,
    Entry,
    GroupVerdict,
    MemberHistory,
    ProducerHistory,
    ProducerVerdict,
    Window,
    judge_group,
    judge_producer,
    longest_gap,
)

WINDOW = Window(10.0, 20.0)
PARTITIONS, PER_PARTITION = 2, 20


def whole_log(source: str = "p") -> list[Entry]:
    """Record n of the producer is in partition n % 2 and was written at second n."""
    return [
        Entry(partition, offset, source, offset * PARTITIONS + partition)
        for partition in range(PARTITIONS)
        for offset in range(PER_PARTITION)
    ]


def producer(log: Sequence[Entry]) -> ProducerHistory:
    history = ProducerHistory("p")
    for entry in sorted(log, key=lambda entry: entry.number):
        history.sent[entry.number] = float(entry.number)
        history.acks.append(Ack(entry.number + 0.5, entry.number, entry.partition, entry.offset))
    return history


def member(log: Sequence[Entry], partitions: tuple[int, ...] = (0, 1)) -> MemberHistory:
    history = MemberHistory(changes=[Change(0.0, "assigned", partitions)])
    for entry in sorted(log, key=lambda entry: entry.number):
        if entry.partition in partitions:
            history.deliveries.append(Delivery(entry.number + 0.7, entry))
    return history


def counts(verdict: ProducerVerdict | GroupVerdict) -> dict[str, int]:
    """The counts that must be zero and are not."""
    names = ("lost", "doubled", "disordered", "failed", "unreported", "skipped", "again", "unknown")
    return {name: getattr(verdict, name) for name in names if getattr(verdict, name, 0)}


def of_producer(history: ProducerHistory, log: Sequence[Entry], window: Window = WINDOW) -> dict[str, int]:
    return counts(judge_producer(history, log, window))


def of_group(log: Sequence[Entry], *members: MemberHistory, window: Window = WINDOW) -> dict[str, int]:
    return counts(judge_group(members, log, window))


def test_a_right_history_is_found_right() -> None:
    log = whole_log() + [Entry(0, PER_PARTITION + n, "other", n) for n in range(5)]
    mine = [entry for entry in log if entry.source == "p"]
    verdict = judge_producer(producer(mine), log, WINDOW)
    assert (counts(verdict), verdict.acked) == ({}, 40)
    reader = member(mine)
    reader.deliveries += [Delivery(50.0, entry) for entry in log if entry.source == "other"]
    group = judge_group([reader], log, WINDOW)
    assert (counts(group), group.delivered) == ({}, 45)


def test_an_acknowledged_record_that_the_log_lacks_is_lost() -> None:
    log = whole_log()
    history = producer(log)
    assert of_producer(history, [entry for entry in log if entry.number != 7]) == {"lost": 1}


def test_an_acknowledgement_that_names_another_record_s_place_is_a_loss() -> None:
    log = whole_log()
    history = producer(log)
    history.acks[7] = history.acks[7]._replace(offset=9)
    assert of_producer(history, log) == {"lost": 1}


def test_a_second_copy_in_the_log_is_a_double_and_no_disorder() -> None:
    log = whole_log()
    copy = Entry(0, PER_PARTITION, "p", 4)
    assert of_producer(producer(log), [*log, copy]) == {"doubled": 1}


def test_a_record_behind_a_later_one_is_disorder() -> None:
    log = whole_log()
    log[3], log[4] = log[3]._replace(number=log[4].number), log[4]._replace(number=log[3].number)
    assert of_producer(producer(log), log) == {"disordered": 1}


def test_failed_and_unreported_records_are_counted() -> None:
    log = whole_log()
    history = producer(log)
    history.failed.append(history.acks.pop().number)
    history.sent[1000] = 39.0
    assert of_producer(history, log) == {"failed": 1, "unreported": 1}


def test_acknowledged_records_of_a_deleted_topic_may_be_gone() -> None:
    log = [entry for entry in whole_log() if entry.number > 15]
    history = producer(whole_log())
    assert of_producer(history, log) == {"lost": 16}
    assert of_producer(history, log, Window(10.0, 20.0, valid_from_s=15.5)) == {}


def test_a_record_that_no_member_got_is_lost_and_the_step_over_it_is_seen() -> None:
    log = whole_log()
    reader = member(log)
    del reader.deliveries[7]
    assert of_group(log, reader) == {"lost": 1, "skipped": 1}


def test_the_last_records_are_missed_too() -> None:
    log = whole_log()
    reader = member(log)
    del reader.deliveries[-3:]
    assert of_group(log, reader) == {"lost": 3}


def test_a_skip_is_seen_even_if_the_record_comes_later_to_somebody_else() -> None:
    log = whole_log()
    reader, other = member(log), MemberHistory(changes=[Change(30.0, "assigned", (1,))])
    other.deliveries.append(reader.deliveries.pop(7)._replace(time_s=60.0))
    assert of_group(log, reader, other) == {"skipped": 1, "disordered": 1}


def hand_over(log: Sequence[Entry], *, from_offset: int) -> tuple[MemberHistory, MemberHistory]:
    """The first member has read offsets 0 to 9 of partition 0 by second 18.7; the second goes on from this offset."""
    first, second = member(log, (0,)), MemberHistory(changes=[Change(20.0, "assigned", (0,))])
    del first.deliveries[10:]
    second.deliveries = [
        Delivery(20.0 + entry.offset, entry) for entry in log if entry.partition == 0 and entry.offset >= from_offset
    ]
    return first, second


def one_partition() -> list[Entry]:
    return [entry for entry in whole_log() if entry.partition == 0]


def test_repeats_after_the_last_commit_are_counted_apart() -> None:
    log = one_partition()
    first, second = hand_over(log, from_offset=6)
    assert of_group(log, first, second) == {"again": 4}
    first.commits.append(Commit(12.5, {0: 6}))
    assert of_group(log, first, second) == {"again": 4}


def test_repeats_of_committed_records_are_doubles() -> None:
    log = one_partition()
    first, second = hand_over(log, from_offset=6)
    first.commits.append(Commit(19.0, {0: 8}))
    assert of_group(log, first, second) == {"doubled": 2, "again": 2}


def test_a_commit_that_was_confirmed_after_the_hand_over_makes_no_double() -> None:
    log = one_partition()
    first, second = hand_over(log, from_offset=6)
    first.commits.append(Commit(20.5, {0: 10}))
    assert of_group(log, first, second) == {"again": 4}


def test_a_commit_to_the_deleted_topic_makes_no_double() -> None:
    log = one_partition()
    first, second = hand_over(log, from_offset=6)
    first.commits.append(Commit(19.0, {0: 8}))
    assert of_group(log, first, second, window=Window(10.0, 20.0, valid_from_s=19.5)) == {"again": 4}


def test_a_record_twice_to_one_owner_is_a_double() -> None:
    log = whole_log()
    reader = member(log)
    reader.deliveries.insert(9, reader.deliveries[8])
    assert of_group(log, reader) == {"doubled": 1}


def test_two_records_of_the_same_moment_in_the_wrong_order_are_disorder() -> None:
    log = one_partition()
    reader = member(log, (0,))
    early, late = reader.deliveries[4], reader.deliveries[5]
    reader.deliveries[4:6] = [late._replace(time_s=9.0), early._replace(time_s=9.0)]
    assert of_group(log, reader) == {"disordered": 1, "skipped": 1}


def test_a_record_that_the_log_never_had_is_unknown() -> None:
    log = whole_log()
    reader = member(log)
    reader.deliveries.append(Delivery(50.0, Entry(0, 5, "p", 999)))
    assert of_group(log, reader) == {"unknown": 1}
    assert of_group(log, reader, window=Window(10.0, 20.0, valid_from_s=1.0)) == {}


def test_silence_is_the_longest_of_any_partition_and_goes_from_the_fault_to_the_end() -> None:
    log = whole_log()
    history, reader = producer(log), member(log)
    verdict = judge_producer(history, log, WINDOW)
    assert (verdict.silence_s, verdict.wait_s) == (2.0, 0.5)
    history.acks = [ack for ack in history.acks if ack.partition == 0 or not 11 < ack.time_s < 16.5]
    assert judge_producer(history, log, WINDOW).silence_s == pytest.approx(17.5 - 10.0)
    reader.deliveries = [delivery for delivery in reader.deliveries if delivery.time_s < 13]
    group = judge_group([reader], log, WINDOW)
    assert (group.silence_s, group.commit_silence_s) == (pytest.approx(20.0 - 11.7), 10.0)


def test_a_commit_of_the_deleted_topic_ends_no_silence() -> None:
    log = whole_log()
    reader = member(log)
    reader.commits = [Commit(12.0, {0: 1000}), Commit(18.0, {0: 1})]
    anew = Window(WINDOW.start_s, WINDOW.end_s, WINDOW.start_s + 1.0)
    assert judge_group([reader], log, WINDOW).commit_silence_s == pytest.approx(6.0)
    assert judge_group([reader], log, anew).commit_silence_s == pytest.approx(18.0 - WINDOW.start_s)


def test_waits_and_lags_count_from_the_fault_on() -> None:
    log = whole_log()
    history, reader = producer(log), member(log)
    history.sent[3] = history.sent[15] = 0.0
    reader.deliveries[9] = reader.deliveries[9]._replace(time_s=15.0)  # it was handed over before the fault
    reader.deliveries[25] = reader.deliveries[25]._replace(time_s=29.0)
    assert judge_producer(history, log, WINDOW).wait_s == 15.5
    assert judge_group([reader], log, WINDOW, [history]).lag_s == 29.0 - 25.5
    assert judge_group([reader], log, WINDOW).lag_s == 0.0


def test_a_repeated_record_does_not_end_the_silence() -> None:
    log = one_partition()
    reader = member(log, (0,))
    old = reader.deliveries[0].entry
    reader.deliveries = [delivery for delivery in reader.deliveries if not 10 < delivery.time_s < 20]
    reader.deliveries.append(Delivery(15.0, old))
    assert judge_group([reader], log, WINDOW).silence_s == 10.0


@pytest.mark.parametrize(
    ("times_s", "gap_s"), [([], 10.0), ([9.0, 25.0], 10.0), ([12.0, 13.0], 7.0), ([19.0], 9.0), ([13.0, 12.0], 7.0)]
)
def test_the_longest_gap(times_s: list[float], gap_s: float) -> None:
    assert longest_gap(times_s, 10.0, 20.0) == gap_s
