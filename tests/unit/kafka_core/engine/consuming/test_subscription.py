"""Subscriptions by name and pattern; partition states and their table of moves; the assignment."""

from __future__ import annotations

import itertools

import pytest

from kafka_core.engine.consuming.subscription import (
    PHASE_MOVES,
    Assignment,
    PartitionState,
    Phase,
    Subscription,
    check_offset,
)
from kafka_core.errors import ConfigError, StateError
from kafka_core.model import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, OFFSET_STORED, TopicPartition


def test_names_are_subscribed_whether_known_or_not() -> None:
    assert Subscription(["b", "a", "b"]).matching(["a", "c"]) == {"a", "b"}


def test_patterns_match_from_the_start_and_leave_the_blacklist_out() -> None:
    subscription = Subscription(["^log", "x"], blacklist=["^log-secret"])
    assert subscription.has_patterns
    assert subscription.matching(["log-a", "my-log", "log-secret-1"]) == {"x", "log-a"}


@pytest.mark.parametrize("topics", [[], [""], ["^("]])
def test_a_subscription_without_sense_is_refused(topics: list[str]) -> None:
    with pytest.raises(ConfigError):
        Subscription(topics)


@pytest.mark.parametrize("topics", ["name", [1]])
def test_a_subscription_is_a_list_of_strings(topics: list[str]) -> None:
    with pytest.raises(TypeError):
        Subscription(topics)


@pytest.mark.parametrize(
    ("offset", "phase", "position"),
    [
        (5, Phase.FETCH, 5),
        (OFFSET_BEGINNING, Phase.LOOKUP, OFFSET_INVALID),
        (OFFSET_END, Phase.LOOKUP, OFFSET_INVALID),
        (OFFSET_STORED, Phase.COMMITTED, OFFSET_INVALID),
        (OFFSET_INVALID, Phase.COMMITTED, OFFSET_INVALID),
    ],
)
def test_a_start_decides_the_phase(offset: int, phase: Phase, position: int) -> None:
    state = PartitionState("t", 0)
    before = state.version
    state.restart(offset)
    assert (state.phase, state.position, state.next_fetch_offset) == (phase, position, position)
    assert state.version > before


def test_a_found_offset_is_where_fetching_begins() -> None:
    state = PartitionState("t", 0)
    state.restart(OFFSET_BEGINNING)
    assert state.lookup_timestamp == -2
    state.found(7, leader_epoch=2)
    assert (state.phase, state.position, state.next_fetch_offset, state.fetch_epoch) == (Phase.FETCH, 7, 7, 2)


def test_moves_that_the_table_lacks_are_refused_by_name() -> None:
    for before, after in itertools.product(Phase, Phase):
        state = PartitionState("t", 0, phase=before)
        if after in PHASE_MOVES[before]:
            state.move(after)
            assert state.phase is after
        else:
            with pytest.raises(StateError, match=f"{before.value} to {after.value}"):
                state.move(after)


def test_check_offset() -> None:
    assert check_offset(0) == 0
    assert check_offset(OFFSET_END) == OFFSET_END
    with pytest.raises(ConfigError):
        check_offset(-7)


def test_an_assignment_adds_all_or_nothing() -> None:
    assignment = Assignment()
    assignment.add([TopicPartition("t", 0), TopicPartition("t", 1, 5)])
    for wrong in (
        [TopicPartition("t", 2), TopicPartition("t", 0)],
        [TopicPartition("t", 2), TopicPartition("t", 2)],
        [TopicPartition("t", 2), TopicPartition("t", -1)],
        [TopicPartition("t", 2, -9)],
    ):
        with pytest.raises(ConfigError):
            assignment.add(wrong)
    assert assignment.partitions() == [TopicPartition("t", 0), TopicPartition("t", 1)]
    assert assignment.topics() == {"t"}


def test_removed_partitions_are_marked_so_that_late_answers_are_void() -> None:
    assignment = Assignment()
    (state,) = assignment.add([TopicPartition("t", 0, 5)])
    version = state.version
    assert assignment.remove([("t", 0), ("t", 9)]) == [state]
    assert not state.active
    assert state.version > version
    assert len(assignment) == 0
    assert assignment.clear() == []


def test_no_two_lives_of_a_partition_share_a_version() -> None:
    seen: set[int] = set()
    for assignment in (Assignment(), Assignment()):
        for _ in range(3):
            (state,) = assignment.add([TopicPartition("t", 0, 5)])
            seen.add(state.version)
            state.restart(7)
            seen.add(state.version)
            assignment.clear()
            seen.add(state.version)
    assert len(seen) == 2 * 3 * 3


def test_require_says_what_was_tried() -> None:
    with pytest.raises(StateError, match=r"Failed to seek: Local: Unknown partition: t\[3\]"):
        Assignment().require(("t", 3), "Failed to seek")
