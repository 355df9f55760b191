"""Metadata requests through the dispatcher."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.handlers.p03_metadata import NOT_ASKED
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.unit.kafka_core.broker.harness import ALL_CLUSTER_OPERATIONS, ALL_TOPIC_OPERATIONS, Bench


def ask(bench: Bench, *names: str, version: int = 12, create: bool = True) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in names]
    asked = MetadataRequest(topics=topics)
    if version >= 4:
        asked.allow_auto_topic_creation = create
    return bench.ask(asked, version)


@pytest.mark.parametrize("version", range(14))
def test_brokers_and_topics_in_every_version(version: int) -> None:
    bench = Bench(2)
    topic_id = bench.topic("t", 2)
    response = ask(bench, "t", version=version)
    assert [(node.node_id, node.host, node.port) for node in response.brokers] == [
        (1, "test.invalid", 9001),
        (2, "test.invalid", 9002),
    ]
    (topic,) = response.topics
    assert (topic.name, topic.error_code) == ("t", 0)
    assert [(item.leader_id, item.replica_nodes, item.isr_nodes) for item in topic.partitions] == [
        (1, [1, 2], [1, 2]),
        (2, [2, 1], [2, 1]),
    ]
    if version >= 1:
        assert response.controller_id == 1
    if version >= 2:
        assert response.cluster_id == bench.cluster.cluster_id
    if version >= 10:
        assert topic.topic_id == topic_id


def test_all_topics_or_none() -> None:
    bench = Bench()
    for name in ("a", "b"):
        bench.topic(name)
    assert [topic.name for topic in bench.ask(MetadataRequest(topics=None), 9).topics] == ["a", "b"]
    assert [topic.name for topic in ask(bench, version=0).topics] == ["a", "b"]
    assert ask(bench, version=1).topics == []


def test_a_missing_topic_is_created_for_the_next_time() -> None:
    bench = Bench(properties={"num.partitions": "3"})
    assert ask(bench, "new", create=False).topics[0].error_code == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert "new" not in bench.cluster.topics
    assert ask(bench, "new").topics[0].error_code == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert len(ask(bench, "new").topics[0].partitions) == 3
    ask(bench, "old-client", version=3)
    assert "old-client" in bench.cluster.topics


def test_topics_are_not_created_where_the_broker_forbids_it() -> None:
    bench = Bench(properties={"auto.create.topics.enable": "false"})
    assert ask(bench, "new").topics[0].error_code == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.cluster.topics == {}


def test_names_that_are_wrong_or_cannot_be_created() -> None:
    bench = Bench(properties={"default.replication.factor": "3"})
    for create in (True, False):
        assert ask(bench, "a b", create=create).topics[0].error_code == Code.INVALID_TOPIC_EXCEPTION
    assert ask(bench, "new").topics[0].error_code == Code.INVALID_REPLICATION_FACTOR


def test_topics_by_id() -> None:
    bench = Bench()
    topic_id = bench.topic("t")
    asked = [MetadataRequestTopic(topic_id=topic_id, name=None), MetadataRequestTopic(topic_id=UUID(int=9), name=None)]
    found, missing = bench.ask(MetadataRequest(topics=asked), 12).topics
    assert (found.name, found.error_code) == ("t", 0)
    assert (missing.name, missing.error_code, missing.topic_id) == (None, Code.UNKNOWN_TOPIC_ID, UUID(int=9))
    assert bench.ask(MetadataRequest(topics=asked), 10).topics[0].error_code == Code.INVALID_REQUEST


def test_stopped_brokers_are_offline_and_partitions_may_lack_a_leader() -> None:
    bench = Bench(2)
    bench.topic("t", 1)
    bench.cluster.create_topic("single", 2, 1)
    bench.cluster.node_down(1)
    response = ask(bench, "t", "single")
    assert [node.node_id for node in response.brokers] == [2]
    partition = response.topics[0].partitions[0]
    assert (partition.leader_id, partition.leader_epoch, partition.offline_replicas) == (2, 1, [1])
    codes = {item.leader_id: item.error_code for item in response.topics[1].partitions}
    assert codes == {-1: Code.LEADER_NOT_AVAILABLE, 2: Code.NONE}


def test_operations_are_told_when_asked_for() -> None:
    bench = Bench()
    bench.topic("t")
    asked = MetadataRequest(topics=None, include_cluster_authorized_operations=True)
    asked.include_topic_authorized_operations = True
    response = bench.ask(asked, 10)
    assert response.cluster_authorized_operations == ALL_CLUSTER_OPERATIONS
    assert response.topics[0].topic_authorized_operations == ALL_TOPIC_OPERATIONS
    assert ask(bench, "t").topics[0].topic_authorized_operations == NOT_ASKED
