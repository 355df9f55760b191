"""Partitions: who leads after brokers come and go."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.configs import BrokerConfig, TopicConfig
from kafka_core.broker.partitions.topics import NO_LEADER, Partition, Topic, spread_replicas, topic_name_problem


@pytest.fixture
def partition() -> Partition:
    topic = Topic("t", UUID(int=1), TopicConfig(BrokerConfig({})))
    topic.add_partitions([[1, 2, 3]], alive=[1, 2, 3])
    return topic.partitions[0]


def state(partition: Partition) -> tuple[int, int, list[int]]:
    return partition.leader, partition.leader_epoch, partition.isr


def test_the_next_replica_in_sync_leads_when_the_leader_stops(partition: Partition) -> None:
    partition.node_down(1)
    assert state(partition) == (2, 1, [2, 3])
    partition.node_up(1)
    assert state(partition) == (2, 1, [2, 3, 1])
    partition.node_down(3)
    assert state(partition) == (2, 1, [2, 1])


def test_the_last_replica_in_sync_stays_so_and_leads_again(partition: Partition) -> None:
    for node_id in (1, 2, 3):
        partition.node_down(node_id)
    assert state(partition) == (NO_LEADER, 3, [3])
    partition.node_up(1)
    assert state(partition) == (NO_LEADER, 3, [3])
    partition.node_up(3)
    assert state(partition) == (3, 4, [3])
    partition.node_up(1)
    assert state(partition) == (3, 4, [3, 1])


def test_brokers_that_hold_no_replica_do_not_matter(partition: Partition) -> None:
    partition.node_down(9)
    partition.node_up(9)
    assert state(partition) == (1, 0, [1, 2, 3])


def test_watchers_hear_of_a_new_leader(partition: Partition) -> None:
    heard: list[int] = []

    def watcher() -> None:
        partition.watchers.pop(watcher)
        heard.append(partition.leader)

    partition.watchers[watcher] = None
    partition.lead(2)
    partition.lead(3)
    assert heard == [2]


def test_an_epoch_begins_with_each_leader(partition: Partition) -> None:
    assert partition.log.epochs.latest == 0
    partition.lead(2)
    assert partition.log.epochs.latest == 1


def test_partitions_are_found_by_number() -> None:
    topic = Topic("__consumer_offsets", UUID(int=1), TopicConfig(BrokerConfig({})))
    topic.add_partitions([[1], [2]], alive=[1])
    assert topic.is_internal
    assert topic.partition(1) is topic.partitions[1]
    assert topic.partition(2) is None
    assert topic.partition(-1) is None
    assert topic.partitions[1].leader == NO_LEADER
    assert topic.partitions[1].isr == [2]


def test_leaders_take_turns() -> None:
    assert spread_replicas([1, 2, 3], 1, 4, 2) == [[2, 3], [3, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize("name", ["a", "a.b-c_D9", "x" * 249])
def test_good_names(name: str) -> None:
    assert topic_name_problem(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250, "a/b"])
def test_bad_names(name: str) -> None:
    assert "Topic name is invalid" in str(topic_name_problem(name))
