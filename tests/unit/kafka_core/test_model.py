"""kafka_core.model and listings: the values of the reference API."""

from __future__ import annotations

import pickle
import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core import listings, model
from kafka_core.clock import Clock, ManualClock, SystemClock
from kafka_core.errors import KafkaError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupType
from kafka_core.model import Node, TopicPartition, Uuid


def test_constants_have_the_values_of_the_reference_api() -> None:
    assert (model.OFFSET_BEGINNING, model.OFFSET_END, model.OFFSET_STORED, model.OFFSET_INVALID) == (
        -2,
        -1,
        -1000,
        -1001,
    )
    assert (model.TIMESTAMP_NOT_AVAILABLE, model.TIMESTAMP_CREATE_TIME, model.TIMESTAMP_LOG_APPEND_TIME) == (0, 1, 2)


def test_topic_partition_defaults() -> None:
    partition = TopicPartition("t")
    assert (partition.topic, partition.partition, partition.offset) == ("t", -1, -1001)
    assert (partition.metadata, partition.leader_epoch, partition.error) == (None, None, None)
    assert repr(partition) == "TopicPartition{topic=t,partition=-1,offset=-1001,leader_epoch=None,error=None}"


def test_topic_partition_identity_is_topic_and_partition() -> None:
    first, second = TopicPartition("t", 1, 5, "m", 3), TopicPartition("t", 1, 9)
    assert first == second
    assert hash(first) == hash(second)
    assert first != TopicPartition("t", 2, 5, "m", 3)
    assert first != ("t", 1)
    assert sorted([TopicPartition("b", 0), TopicPartition("a", 2), TopicPartition("a", 1)]) == [
        TopicPartition("a", 1),
        TopicPartition("a", 2),
        TopicPartition("b", 0),
    ]
    assert TopicPartition("a", 1) <= TopicPartition("a", 1)


def test_topic_partition_is_mutable_and_pickles() -> None:
    partition = TopicPartition("t", 1, 5, "note", 3)
    partition.offset = 6
    partition.error = KafkaError(3, "gone")
    twin = pickle.loads(pickle.dumps(partition))
    assert (twin.topic, twin.partition, twin.offset, twin.metadata, twin.leader_epoch) == ("t", 1, 6, "note", 3)
    assert twin.error.str() == "gone"


def test_uuid_is_written_as_kafka_writes_it() -> None:
    value = Uuid(1, 2)
    assert str(value) == repr(value) == "AAAAAAAAAAEAAAAAAAAAAg"
    assert int(value) == (1 << 64) + 2
    assert (value.get_most_significant_bits(), value.get_least_significant_bits()) == (1, 2)
    assert value == Uuid(1, 2)
    assert hash(value) == hash(Uuid(1, 2))


@given(st.uuids())
def test_uuid_round_trip(value: uuid.UUID) -> None:
    ours = Uuid.from_uuid(value)
    assert ours.to_uuid() == value
    assert -(2**63) <= ours.get_most_significant_bits() < 2**63
    assert -(2**63) <= ours.get_least_significant_bits() < 2**63


def test_group_enums_order_and_old_spelling() -> None:
    assert ConsumerGroupState["UNKOWN"] is ConsumerGroupState.UNKNOWN
    assert [state.value for state in sorted(ConsumerGroupState, reverse=True)] == [5, 4, 3, 2, 1, 0]
    assert min(ConsumerGroupType) is ConsumerGroupType.UNKNOWN
    with pytest.raises(TypeError):
        sorted([ConsumerGroupState.STABLE, 1])  # type: ignore[type-var]


def test_metadata_starts_empty_and_prints_its_name() -> None:
    cluster = listings.ClusterMetadata()
    assert (cluster.cluster_id, cluster.controller_id, cluster.brokers, cluster.topics) == (None, -1, {}, {})
    assert (cluster.orig_broker_id, cluster.orig_broker_name) == (-1, None)
    assert str(listings.BrokerMetadata(1, "h", 9092)) == "h:9092/1"
    assert str(listings.TopicMetadata("t")) == "t"
    assert str(listings.PartitionMetadata(3)) == "3"
    assert str(listings.GroupMetadata(id="g")) == "g"
    assert listings.ClusterMetadata().brokers is not cluster.brokers


def test_node_compares_by_value() -> None:
    assert Node(1, "h", 2) == Node(1, "h", 2)
    assert Node(1, "h", 2, "r") != Node(1, "h", 2)
    assert len({Node(1, "h", 2), Node(1, "h", 2)}) == 1
    assert str(Node(1, "h", 2, "r")) == "(1) h:2 (Rack - r)"
    assert repr(Node(1, "h", 2, "r")) == "Node(1, h:2, rack r)"
    assert Node(1, "h", 2).id_string == "1"


def test_throttle_event_prints_milliseconds() -> None:
    assert str(model.ThrottleEvent("b:1", 1, 0.25)) == "b:1/1 throttled for 250 ms"


# ---- clock


def test_system_clock_is_the_machines() -> None:
    clock: Clock = SystemClock()
    before = time.monotonic(), time.time_ns() // 1_000_000
    now = clock.monotonic(), clock.time_ms()
    after = time.monotonic(), time.time_ns() // 1_000_000
    assert before[0] <= now[0] <= after[0]
    assert before[1] <= now[1] <= after[1]


def test_manual_clock_moves_both_times_together() -> None:
    clock = ManualClock(start_s=5.0, start_ms=1000)
    assert (clock.monotonic(), clock.time_ms()) == (5.0, 1000)
    clock.advance(1.5)
    assert (clock.monotonic(), clock.time_ms()) == (6.5, 2500)


def test_manual_clock_loses_no_time_to_rounding() -> None:
    clock = ManualClock(start_ms=0)
    for _ in range(1000):
        clock.advance(0.0004)
    assert clock.time_ms() == 400


def test_manual_clock_refuses_to_go_back() -> None:
    with pytest.raises(ValueError, match="go back"):
        ManualClock().advance(-0.1)
