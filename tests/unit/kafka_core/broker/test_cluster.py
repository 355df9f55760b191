"""The cluster's state: topics, brokers, coordinators."""

from __future__ import annotations

import pytest

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.clock import ManualClock
from tests.unit.kafka_core.broker.harness import Bench, batch


def refusal(make: object, *arguments: object, **options: object) -> tuple[Code, str]:
    with pytest.raises(Refused) as caught:
        make(*arguments, **options)  # type: ignore[operator]  # any method of the cluster
    return caught.value.code, str(caught.value)


def test_topics_have_ids_leaders_in_turn_and_the_brokers_defaults() -> None:
    bench = Bench(3, {"num.partitions": "4", "default.replication.factor": "2"})
    first = bench.cluster.create_topic("a")
    second = bench.cluster.create_topic("b", 2, 1)
    assert [partition.replicas for partition in first.partitions] == [[1, 2], [2, 3], [3, 1], [1, 2]]
    assert [partition.leader for partition in second.partitions] == [2, 3]
    assert first.topic_id != second.topic_id
    assert bench.cluster.topic(None, first.topic_id) is first
    assert bench.cluster.topic("b") is second
    assert bench.cluster.topic("c") is None


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("a b",), Code.INVALID_TOPIC_EXCEPTION, "ASCII alphanumerics"),
        (("t",), Code.TOPIC_ALREADY_EXISTS, "Topic 't' already exists."),
        (("n", 0), Code.INVALID_PARTITIONS, "non-positive"),
        (("n", -2), Code.INVALID_PARTITIONS, "non-positive"),
        (("n", 1, 0), Code.INVALID_REPLICATION_FACTOR, "larger than 0"),
        (("n", 1, 4), Code.INVALID_REPLICATION_FACTOR, "only 3 broker(s)"),
        (("n", 1, 1, {"nope": "1"}), Code.INVALID_CONFIG, "Unknown topic config name: nope"),
        (("n", 1, -1, {}, [[1]]), Code.INVALID_REQUEST, "number of partitions was not set to -1"),
        (("n", -1, 1, {}, [[1]]), Code.INVALID_REQUEST, "replication factor was not set to -1"),
        (("n", -1, -1, {}, [[]]), Code.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
        (("n", -1, -1, {}, [[1, 1]]), Code.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (("n", -1, -1, {}, [[9]]), Code.INVALID_REPLICA_ASSIGNMENT, "broker 9"),
    ],
)
def test_topics_that_are_refused(arguments: tuple[object, ...], code: Code, text: str) -> None:
    bench = Bench(3)
    bench.topic("t")
    found, message = refusal(bench.cluster.create_topic, *arguments)
    assert found is code
    assert text in message
    assert list(bench.cluster.topics) == ["t"]


def test_replicas_can_be_given_and_creation_only_tried() -> None:
    bench = Bench(3)
    topic = bench.cluster.create_topic("t", assignments=[[3, 1], [2]], validate_only=True)
    assert [partition.leader for partition in topic.partitions] == [3, 2]
    assert bench.cluster.topics == {}


def test_topics_grow() -> None:
    bench = Bench(2)
    bench.topic("t", 2)
    bench.cluster.add_partitions("t", 4)
    bench.cluster.add_partitions("t", 5, [[2]])
    bench.cluster.add_partitions("t", 6, validate_only=True)
    partitions = bench.cluster.topics["t"].partitions
    assert [partition.index for partition in partitions] == [0, 1, 2, 3, 4]
    assert partitions[4].replicas == [2]
    for total, assignments, code in (
        (5, None, Code.INVALID_PARTITIONS),
        (3, None, Code.INVALID_PARTITIONS),
        (7, [[1]], Code.INVALID_REPLICA_ASSIGNMENT),
        (6, [[9]], Code.INVALID_REPLICA_ASSIGNMENT),
    ):
        assert refusal(bench.cluster.add_partitions, "t", total, assignments)[0] is code
    assert refusal(bench.cluster.add_partitions, "nope", 5)[0] is Code.UNKNOWN_TOPIC_OR_PARTITION


def test_deleting_a_topic_forgets_positions_and_tells_those_who_wait() -> None:
    bench = Bench()
    bench.topic("t")
    heard: list[int] = []
    bench.partition().watchers[lambda: heard.append(1)] = None
    bench.cluster.groups.admit_commit("g", "", None, -1, unknown=Code.GROUP_ID_NOT_FOUND)
    bench.cluster.groups.commit("g", "t", 0, 3, -1, None)
    bench.cluster.delete_topic(bench.cluster.topics["t"])
    assert bench.cluster.topics == bench.cluster.topics_by_id == {}
    assert bench.cluster.groups.committed("g", "t", 0) is None
    assert heard == [1]


def test_brokers_stop_and_come_back() -> None:
    bench = Bench(2)
    bench.topic("t", 2)
    assert bench.cluster.controller_id == 1
    bench.cluster.node_down(1)
    assert [partition.leader for partition in bench.cluster.partitions()] == [2, 2]
    assert [node.node_id for node in bench.cluster.alive_nodes()] == [2]
    assert bench.cluster.controller_id == 2
    bench.cluster.node_up(1)
    assert bench.partition().isr == [2, 1]
    bench.cluster.node_down(1)
    bench.cluster.node_down(2)
    assert bench.cluster.controller_id == -1
    assert bench.cluster.coordinator_of("g") is None


def test_leaders_are_moved() -> None:
    bench = Bench(3)
    bench.cluster.create_topic("t", 1, 1)
    bench.cluster.move_leader("t", 0, 3)
    partition = bench.partition()
    assert (partition.leader, partition.leader_epoch, partition.replicas, partition.isr) == (3, 1, [1, 3], [1, 3])
    bench.cluster.move_leader("t", 0, 3)
    assert partition.leader_epoch == 1
    bench.cluster.node_down(2)
    assert refusal(bench.cluster.move_leader, "t", 0, 2)[0] is Code.INVALID_REQUEST
    assert refusal(bench.cluster.move_leader, "t", 9, 1)[0] is Code.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("group", "java_hash"), [("hello", 99162322), ("polygenelubricants", 0), ("", 0)])
def test_a_group_is_coordinated_where_kafka_would(group: str, java_hash: int) -> None:
    """Slot `hashCode() & 0x7fffffff` mod 50, slots in turn over the brokers; the second word hashes to -2**31."""
    bench = Bench(3)
    expected = java_hash % 50 % 3 + 1
    assert bench.cluster.coordinates(expected, group)
    bench.cluster.node_down(expected)
    assert bench.cluster.coordinates(expected % 3 + 1, group)


def test_ids_are_those_of_the_seed() -> None:
    one, two = Bench(), Bench()
    assert one.topic() == two.topic()
    assert one.cluster.cluster_id == two.cluster.cluster_id
    assert len(one.cluster.cluster_id) == 22
    assert [one.cluster.new_producer_id() for _ in range(3)] == [0, 1, 2]


def test_a_cluster_needs_a_broker() -> None:
    with pytest.raises(ValueError, match="at least one broker"):
        ClusterState([], ManualClock(), Bench().cluster.rng)


def test_an_unclean_election_loses_the_end_of_the_log_and_begins_an_epoch() -> None:
    bench = Bench(2)
    bench.topic("t")
    partition = bench.cluster.topics["t"].partitions[0]
    for _ in range(3):
        partition.log.append(memoryview(bytearray(batch([b"a", b"b"]))), 2, 1, partition.leader_epoch, 0)
    bench.cluster.move_leader("t", 0, 2, end_offset=5)
    assert (partition.leader, partition.leader_epoch, partition.log.end_offset) == (2, 1, 4)
    assert partition.log.epochs.end_of(0, partition.log.end_offset) == (0, 4)
    bench.cluster.move_leader("t", 0, 2, end_offset=4)  # the same broker, and nothing is lost
    assert (partition.leader, partition.leader_epoch, partition.log.end_offset) == (2, 2, 4)
