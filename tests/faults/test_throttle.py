"""Throttle times in answers (KIP-219): obeyed up to a bound, named by health() and by time-outs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kafka_core import Consumer, Producer
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.net.connection import max_throttle_s
from kafka_core.broker import EmbeddedCluster
from kafka_core.config import Role, parse
from kafka_core.errors import NetworkError
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.metadata import MetadataRequest

FOREVER_MS = 2**31 - 1


@pytest.mark.parametrize(
    ("role", "conf", "bound_s"),
    [
        (Role.PRODUCER, {}, 30.0),
        (Role.PRODUCER, {"socket.timeout.ms": 5000}, 2.5),
        (Role.CONSUMER, {"group.id": "g"}, 15.0),
        (Role.CONSUMER, {"group.id": "g", "session.timeout.ms": 6000}, 2.0),
    ],
)
def test_the_bound_leaves_time_for_the_answer_and_for_heartbeats(
    role: Role, conf: dict[str, object], bound_s: float
) -> None:
    assert max_throttle_s(parse({"bootstrap.servers": "h:1", **conf}, role)) == bound_s


def test_a_throttle_time_of_weeks_does_not_silence_a_consumer() -> None:
    with EmbeddedCluster() as cluster, Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        producer.produce("t", b"1")
        producer.flush()
        conf: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 60_000,
            "heartbeat.interval.ms": 300,
            "socket.timeout.ms": 2000,
        }
        with Consumer(conf) as consumer:
            consumer.subscribe(["t"])
            while (first := consumer.poll(30)) is None or first.error():
                pass
            silence = FetchResponse(throttle_time_ms=FOREVER_MS)
            fetches = cluster.intercept(FetchRequest, lambda request, context: silence)
            beats = cluster.intercept(HeartbeatRequest, lambda request, context: HeartbeatResponse(FOREVER_MS))
            problems: Sequence[str] = []
            # The second fetch and the second heartbeat are sent although the first answer asked for weeks of silence.
            while fetches.seen < 2 or beats.seen < 2 or not any("throttles this client" in text for text in problems):
                assert consumer.poll(0.05) is None
                problems = consumer.health().problems
            cluster.stop_intercepting()
            producer.produce("t", b"2")
            producer.flush()
            while (second := consumer.poll(30)) is None:
                pass
            assert second.value() == b"2"


def test_a_request_that_waits_for_a_throttle_times_out_and_says_so() -> None:
    async def run(servers: str) -> None:
        client = ClusterClient(parse({"bootstrap.servers": servers}, Role.ADMIN))
        try:
            await client.refresh_metadata(())
            connection = await client.connection(1)
            connection._state.throttled_until_s = client._clock.monotonic() + 1000
            assert client.throttled_s()[1] > 900
            with pytest.raises(NetworkError, match=r"asked for .* s of silence, throttle_time_ms"):
                await client.send(1, MetadataRequest(), timeout_s=0.05)
            client._request_timeout_s = 0.05
            with pytest.raises(NetworkError, match="silence"):
                await client.send(1, MetadataRequest())
        finally:
            await client.close()

    with EmbeddedCluster() as cluster:
        asyncio.run(run(cluster.bootstrap_servers))
