"""The machine's clock is set, back and forth by hours, while clients run: what waits counts by the other clock."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core import Consumer, Producer
from kafka_core.broker import EmbeddedCluster
from kserdes.compat.confluent.client.batching import BufferTimeoutManager

HOUR_S = 3600
JUMPS_S = (5 * HOUR_S, -3 * HOUR_S, 100 * HOUR_S, 0, -60 * HOUR_S, 30)  # within the seven days that topics keep records
LIMIT_S = 60.0


class WallClock:
    """`time.time` and `time.time_ns`, so many seconds off."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off_s = 0
        real = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: real() + self.off_s * 1_000_000_000)
        monkeypatch.setattr(time, "time", lambda: real() / 1e9 + self.off_s)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch)


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as made:
        made.create_topic("t", 2, configs={"message.timestamp.after.max.ms": str(2**62)})
        yield made


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_records_and_groups_go_on(cluster: EmbeddedCluster, wall: WallClock, protocol: str) -> None:
    told: list[Any] = []
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    seen: Counter[bytes] = Counter()
    jumps = itertools.cycle(JUMPS_S)
    with (
        Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 0}) as producer,
        Consumer({**conf, "group.protocol": protocol}) as consumer,
    ):
        consumer.subscribe(["t"])
        for number in range(60):
            wall.off_s = next(jumps)
            producer.produce("t", b"%d" % number, on_delivery=lambda error, _: told.append(error))
            assert producer.flush(LIMIT_S) == 0
            while len(seen) <= number:
                message = consumer.poll(LIMIT_S)
                assert message is not None
                assert message.error() is None
                seen[message.value() or b""] += 1
    assert told == [None] * 60
    assert set(seen.values()) == {1}


def test_transactions_go_on(cluster: EmbeddedCluster, wall: WallClock) -> None:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "x", "transaction.timeout.ms": 20_000}
    with Producer(conf) as producer:
        producer.init_transactions(LIMIT_S)
        for jump in JUMPS_S * 2:
            producer.begin_transaction()
            producer.produce("t", b"first", partition=0)
            producer.flush(LIMIT_S)
            wall.off_s = jump
            producer.produce("t", b"second", partition=0)
            producer.commit_transaction(LIMIT_S)
    assert [item.value() for item in cluster.records("t", 0)] == [b"first", b"second"] * 2 * len(JUMPS_S)


def test_a_buffer_that_was_idle_is_flushed(wall: WallClock) -> None:
    """Batches of the dialect of confluent_kafka's AIOProducer waited until the clock was where it had been."""
    flushed = threading.Event()

    class Buffer:
        async def flush_buffer(self) -> None:
            flushed.set()

    class Executor:
        async def flush_librdkafka_queue(self, _: float) -> int:
            return 0

    async def run() -> None:
        buffer: Any = Buffer()
        executor: Any = Executor()
        timer = BufferTimeoutManager(buffer, executor, 0.01)
        wall.off_s = -5 * HOUR_S
        timer.start_timeout_monitoring()
        assert await asyncio.to_thread(flushed.wait, LIMIT_S)
        timer.stop_timeout_monitoring()

    asyncio.run(run())
