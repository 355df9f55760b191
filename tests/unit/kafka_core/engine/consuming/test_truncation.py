"""Effects of an answer about an epoch on a partition: where reading goes on (KIP-320)."""

from __future__ import annotations

import contextlib
import re

import pytest

from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.subscription import Assignment, PartitionState, Phase
from kafka_core.engine.consuming.truncation import EpochEnd, describe, epoch_ends, epoch_request
from kafka_core.errors import StateError
from kafka_core.model import OFFSET_STORED, LogTruncation, TopicPartition
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

EARLIEST, LATEST = -2, -1
UNKNOWN = EpochEnd(-1, -1)


def assigned(offset: int = 5, leader_epoch: int | None = 3) -> PartitionState:
    assignment = Assignment()
    (state,) = assignment.add([TopicPartition("t", 1, offset, leader_epoch=leader_epoch)])
    return state


def read_to(position: int, fetched: int, epoch: int = 3) -> PartitionState:
    """A partition that is being asked about: the application has all before `position`."""
    state = assigned(0, None)
    state.position, state.next_fetch_offset, state.fetch_epoch, state.consumed = position, fetched, epoch, True
    state.move(Phase.VALIDATE)
    return state


def test_the_request_asks_for_the_epoch_of_what_was_read() -> None:
    state = assigned()
    state.leader_epoch = 4
    request = epoch_request([state])
    part = request.topics[0].partitions[0]
    assert (request.replica_id, part.partition, part.current_leader_epoch, part.leader_epoch) == (-1, 1, 4, 3)


def test_the_answer_is_read_by_partition() -> None:
    rows = [EpochEndOffset(0, 1, 2, 9), EpochEndOffset(74, 2, -1, -1)]
    answer = OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult("t", rows)])
    assert epoch_ends(answer) == {("t", 1): (0, EpochEnd(2, 9)), ("t", 2): (74, UNKNOWN)}


@pytest.mark.parametrize(
    ("end", "holds"),
    [
        (EpochEnd(3, 5), True),
        (EpochEnd(3, 4), False),
        (EpochEnd(2, 6), True),
        (UNKNOWN, False),
        (EpochEnd(3, -1), False),
    ],
)
def test_a_log_holds_what_is_before_the_end_of_the_epoch(end: EpochEnd, holds: bool) -> None:
    assert end.holds(5) is holds


def test_a_position_with_an_epoch_is_asked_about_before_it_is_fetched_from() -> None:
    assert (assigned().phase, assigned().fetch_epoch) == (Phase.VALIDATE, 3)
    assert (assigned(leader_epoch=None).phase, assigned(leader_epoch=None).fetch_epoch) == (Phase.FETCH, -1)
    assert assigned(OFFSET_STORED, 3).phase is Phase.COMMITTED


@pytest.mark.parametrize(("epoch", "phase"), [(2, Phase.VALIDATE), (-1, Phase.FETCH)])
def test_so_is_a_committed_offset_that_has_one(epoch: int, phase: Phase) -> None:
    state = assigned(OFFSET_STORED)
    state.found(7, epoch, validate=True)
    assert (state.phase, state.next_fetch_offset, state.fetch_epoch) == (phase, 7, epoch)


def test_an_offset_that_the_leader_itself_has_named_is_not() -> None:
    state = assigned(-2, None)
    state.found(7, 2)
    assert (state.phase, state.fetch_epoch) == (Phase.FETCH, 2)


@pytest.mark.parametrize(
    ("phase", "then"),
    [(Phase.FETCH, Phase.FETCH), (Phase.VALIDATE, Phase.VALIDATE), (Phase.HALTED, Phase.VALIDATE)],
)
def test_what_comes_again_keeps_the_epoch_that_it_is_asked_about_with(phase: Phase, then: Phase) -> None:
    state = assigned(0, None)
    state.position, state.next_fetch_offset, state.fetch_epoch, state.phase = 5, 9, 3, phase
    state.go_back(2)
    assert (state.phase, state.position, state.fetch_epoch) == (then, 2, 3)


def test_what_comes_again_and_was_never_read_with_an_epoch_is_just_fetched() -> None:
    state = assigned(5, None)
    state.phase = Phase.HALTED
    state.go_back(2)
    assert (state.phase, state.position, state.fetch_epoch) == (Phase.FETCH, 2, -1)


@pytest.mark.parametrize("reset", [EARLIEST, LATEST, None])
def test_lost_records_that_only_were_fetched_ahead_are_no_loss(reset: int | None) -> None:
    state = read_to(5, 9)
    state.position_epoch = 2
    version = state.version
    assert state.cut(EpochEnd(3, 5), reset) is None
    assert (state.phase, state.position, state.next_fetch_offset, state.fetch_epoch) == (Phase.FETCH, 5, 5, 3)
    assert state.version != version
    assert (state.consumed, state.position_epoch) == (True, 2)  # position() says the same as before


@pytest.mark.parametrize("reset", [EARLIEST, LATEST])
def test_with_a_policy_reading_goes_on_where_the_log_was_cut(reset: int) -> None:
    state = read_to(7, 9)
    assert state.cut(EpochEnd(2, 4), reset) == LogTruncation("t", 1, 7, 3, 4, 2)
    assert (state.phase, state.position, state.next_fetch_offset, state.fetch_epoch) == (Phase.FETCH, 4, 4, 2)
    assert state.start <= 4


def test_where_the_leader_knows_nothing_the_policy_says_where() -> None:
    state = read_to(7, 9)
    version = state.version
    assert state.cut(UNKNOWN, EARLIEST) == LogTruncation("t", 1, 7, 3)
    assert (state.phase, state.lookup_timestamp) == (Phase.LOOKUP, EARLIEST)
    assert state.version != version
    state.found(2, 0)
    assert (state.position, state.start) == (2, 0)


@pytest.mark.parametrize("end", [EpochEnd(2, 4), UNKNOWN])
def test_without_a_policy_it_halts_where_it_is(end: EpochEnd) -> None:
    state = read_to(7, 9)
    lost = state.cut(end, None)
    assert lost is not None
    assert lost.divergent_offset == (4 if end.known else None)
    assert (state.phase, state.position) == (Phase.HALTED, 7)


def test_a_partition_that_is_not_asked_about_is_not_cut() -> None:
    state = assigned(0, None)
    state.position = 7
    state.phase = Phase.HALTED
    with pytest.raises(StateError):
        state.cut(EpochEnd(2, 4), None)


def test_queued_records_are_dropped_when_the_log_is_cut() -> None:
    queue = FetchQueue(Marks(10, 1000), contextlib.nullcontext(), lambda: None, lambda: None)
    state = read_to(7, 9)
    state.queued_records, state.queued_bytes, queue.queued_bytes = 2, 20, 20
    queue.cut(state, EpochEnd(2, 4), EARLIEST)
    assert (state.queued_records, state.queued_bytes, queue.queued_bytes) == (0, 0, 0)
    assert state.position == 4


@pytest.mark.parametrize(
    ("truncation", "halted", "words"),
    [
        (LogTruncation("t", 1, 7, 3, 4, 2), False, "truncated to offset 4 .* read to 7; reading goes on from 4"),
        (LogTruncation("t", 1, 7, 3, 4, 2), True, "`error`: seek\\(\\) to 4"),
        (LogTruncation("t", 1, 7, 3), False, "does not know epoch 3.* offset 7; .* by auto.offset.reset"),
        (LogTruncation("t", 1, 7, 3), True, "`error`: seek\\(\\) to where"),
    ],
)
def test_the_sentence_says_what_is_lost_and_what_to_do(truncation: LogTruncation, halted: bool, words: str) -> None:
    assert re.match(r"t\[1\]: .*" + words, describe(truncation, halted=halted))
