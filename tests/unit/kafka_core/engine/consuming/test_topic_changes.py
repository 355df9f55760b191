"""Topics that are deleted and created again: what their partitions begin anew with."""

from __future__ import annotations

import contextlib
from uuid import UUID

import pytest

from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.subscription import Assignment, Phase
from kafka_core.engine.consuming.topic_changes import TopicChanges
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import KafkaError
from kafka_core.model import OFFSET_INVALID, TopicPartition

OLD, NEW, NONE = UUID(int=1), UUID(int=2), UUID(int=0)


def view_of(topic_id: UUID) -> ClusterView:
    return ClusterView(topics={"t": TopicView("t", topic_id, {0: PartitionView(0, 1, 0)})})


class Rig:
    def __init__(self, reset: int | None = -1) -> None:
        self.assignment = Assignment()
        (self.state,) = self.assignment.add([TopicPartition("t", 0, 5)])
        queue = FetchQueue(Marks(10, 10), contextlib.nullcontext(), lambda: None, lambda: None)
        self.changes = TopicChanges(self.assignment, queue, reset)

    def follow(self, *ids: UUID) -> list[tuple[str, int]]:
        told = []
        for topic_id in ids:
            told += self.changes.follow(view_of(topic_id))
        return [(state.topic, error.code()) for state, error in told]


def test_the_first_id_that_is_known_is_the_topics() -> None:
    rig = Rig()
    version = rig.state.version
    assert rig.follow(NONE, OLD, NONE, OLD) == []
    assert (rig.state.topic_id, rig.state.version, rig.state.position) == (OLD, version, 5)


def test_another_id_is_another_topic_also_after_it_was_gone(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    life = rig.state.life
    rig.state.committed, rig.state.committed_epoch = 3, 2
    assert rig.follow(OLD, NONE, NEW) == []
    assert rig.state.life != life
    assert (rig.state.committed, rig.state.committed_epoch) == (OFFSET_INVALID, -1)
    assert (rig.state.phase, rig.state.lookup_timestamp) == (Phase.LOOKUP, -2), "`latest` would skip records"
    assert "deleted and created again" in caplog.text


def test_a_partition_that_comes_later_is_noticed_in_the_same_view() -> None:
    rig = Rig()
    view = view_of(OLD)
    rig.changes.follow(view)
    (later,) = rig.assignment.add([TopicPartition("t", 1, 5)])
    rig.changes.follow(view)
    assert later.topic_id == OLD


def test_the_error_is_told_once_where_there_is_no_reset() -> None:
    rig = Rig(reset=None)
    assert rig.follow(OLD, NEW, NEW) == [("t", KafkaError._AUTO_OFFSET_RESET)]
    assert rig.state.phase is Phase.HALTED


def test_only_some_former_topics_are_remembered() -> None:
    rig = Rig()
    for number in range(1, 20):
        rig.state.position = number
        rig.follow(UUID(int=number))
    assert list(rig.state.former_positions) == [UUID(int=number) for number in (15, 16, 17, 18)]
