"""AIOKafkaClient of the dialect of aiokafka: metadata, coordinators, connections, on both brokers."""

from __future__ import annotations

import asyncio

import pytest

from kserdes.compat.aiokafka import AIOKafkaClient, TopicPartition
from kserdes.compat.aiokafka.client import CoordinationType
from kserdes.compat.aiokafka.errors import KafkaConnectionError, UnknownTopicOrPartitionError
from tests.contract.clusters import Cluster, unique
from tests.contract.test_aio import run
from tests.patience import judged_by


def test_kafka_client_shows_the_clusters_metadata(cluster: Cluster) -> None:
    topic, later = cluster.topic(partitions=2), unique("later")

    async def work() -> None:
        client = AIOKafkaClient(bootstrap_servers=cluster.servers, client_id="c1")
        assert repr(client) == "<AIOKafkaClient client_id=c1>"
        assert client.get_random_node() is None
        await client.bootstrap()
        try:
            heard: list[object] = []
            client.cluster.add_listener(heard.append)
            assert await client.add_topic(topic) is True
            assert heard == [client.cluster]
            assert client.cluster.partitions_for_topic(topic) == {0, 1}
            assert client.cluster.available_partitions_for_topic(topic) == {0, 1}
            assert client.cluster.topics() == {topic}
            leader = client.cluster.leader_for_partition(TopicPartition(topic, 0))
            assert leader is not None
            assert TopicPartition(topic, 0) in (client.cluster.partitions_for_broker(leader) or ())
            broker = client.cluster.broker_metadata(leader)
            assert broker is not None
            assert (broker.nodeId, broker.port > 0) == (leader, True)
            assert await client.ready(leader) is True
            assert await client.ready(4711) is False
            known = {each.nodeId for each in client.cluster.brokers()}
            assert client.get_random_node() in known
            for kind in CoordinationType:
                assert await client.coordinator_lookup(kind, unique("key")) in known
            assert await client._wait_on_metadata(later) is not None  # brokers make it when it is asked for
            assert await client.set_topics([topic]) is True
            assert await client.force_metadata_update() is True
            assert client.cluster.topics() == {topic}
            assert {topic, later} <= (await client.fetch_all_metadata()).topics()
        finally:
            await client.close()

    run(work)


def test_a_topic_that_does_not_come_and_nobody_who_answers(cluster: Cluster, refused_port: int) -> None:
    async def waits_in_vain(limit_s: float) -> None:
        limit_ms = round(limit_s * 1000)
        client = AIOKafkaClient(bootstrap_servers=cluster.servers, request_timeout_ms=limit_ms, retry_backoff_ms=10)
        await client.bootstrap()
        try:
            with pytest.raises(UnknownTopicOrPartitionError):
                await client._wait_on_metadata("no topic has blanks")
        finally:
            await client.close()

    async def finds_nobody() -> None:
        away = AIOKafkaClient(bootstrap_servers=f"127.0.0.1:{refused_port}")
        assert away.hosts == [("127.0.0.1", refused_port)]
        with pytest.raises(KafkaConnectionError, match="Unable to bootstrap"):
            await away.bootstrap()
        await away.close()

    judged_by(0.3, lambda limit_s: run(lambda: waits_in_vain(limit_s)))
    run(finds_nobody)


def test_updates_share_one_request(cluster: Cluster) -> None:
    async def work() -> None:
        client = AIOKafkaClient(bootstrap_servers=[cluster.servers])
        await client.bootstrap()
        first, second = client.force_metadata_update(), client.force_metadata_update()
        assert await asyncio.gather(first, second) == [True, True]
        await client._maybe_wait_metadata()
        await client.close()

    run(work)
