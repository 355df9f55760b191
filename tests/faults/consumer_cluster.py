"""Common parts of consumer tests: an embedded cluster with records in it, and loops that read them.

Records are put in by a bare Produce request, so that these tests do not depend on the producer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.broker import EmbeddedCluster
from kafka_core.config import Role, parse
from kafka_core.kernels import Message
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_core.records import Codec, NewRecord, build_batch
from kafka_core.sync.consumer import Consumer

PATIENCE_S = 60.0
"""Nothing takes that long but what hangs."""


def fill(
    cluster: EmbeddedCluster, topic: str, partition: int, values: Sequence[bytes], *, timestamp_ms: int = 1000
) -> None:
    """Appends records; record n of the call has timestamp `timestamp_ms` + n."""
    rows = [NewRecord(value, b"key", (("h", b"1"),), timestamp_ms + n) for n, value in enumerate(values)]
    asyncio.run(_produce(cluster, topic, partition, build_batch(rows, codec=Codec.NONE)))


async def _produce(cluster: EmbeddedCluster, topic: str, partition: int, batch: bytes) -> None:
    client = ClusterClient(parse({"bootstrap.servers": cluster.bootstrap_servers}, Role.ADMIN))
    try:
        view = await client.refresh_metadata([topic])
        leader = view.leader(topic, partition)
        assert leader is not None
        part = PartitionProduceData(index=partition, records=batch)
        data = TopicProduceData(name=topic, topic_id=view.topic_id(topic), partition_data=[part])
        response = await client.send(leader, ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data]))
        assert response.responses[0].partition_responses[0].error_code == 0
    finally:
        await client.close()


def settings(cluster: EmbeddedCluster, **more: Any) -> dict[str, Any]:
    """A quick consumer: `session_timeout_ms=…` stands for `session.timeout.ms`."""
    conf = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": "g",
        "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": 100,
        "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 20,
        "retry.backoff.ms": 20,
        "retry.backoff.max.ms": 50,
        "reconnect.backoff.ms": 10,
        "reconnect.backoff.max.ms": 50,
    }
    return {**conf, **{name.replace("_", "."): value for name, value in more.items()}}


def read(consumer: Consumer, count: int, *, patience_s: float = PATIENCE_S) -> list[Message]:
    """Polls until there are `count` records; an error on the way fails the test."""
    found: list[Message] = []
    deadline_s = time.monotonic() + patience_s
    while len(found) < count:
        assert time.monotonic() < deadline_s, f"only {len(found)} of {count} records came"
        for message in consumer.consume(count - len(found), 0.2):
            error = message.error()
            assert error is None, str(error)
            found.append(message)
    return found


def poll_until(consumer: Consumer, done: Callable[[], object], *, patience_s: float = PATIENCE_S) -> list[Message]:
    """Polls until something is true; gives back what came."""
    found: list[Message] = []
    deadline_s = time.monotonic() + patience_s
    while not done():
        assert time.monotonic() < deadline_s, f"it did not come true; {found!r}"
        message = consumer.poll(0.02)
        if message is not None:
            found.append(message)
    return found


def next_error(consumer: Consumer, *, patience_s: float = PATIENCE_S) -> Message:
    """Polls until a message with an error comes."""
    found = None
    deadline_s = time.monotonic() + patience_s
    while found is None or found.error() is None:
        assert time.monotonic() < deadline_s, "no error came"
        found = consumer.poll(0.1)
    return found


def values(messages: Sequence[Message]) -> list[bytes]:
    return [message.value() for message in messages]
