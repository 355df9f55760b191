"""Ctrl-C at any moment of poll, acknowledge and commit of a share group's member: what it has not seen comes again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core import IllegalStateException, Producer, ShareConsumer
from kafka_core.broker import EmbeddedCluster
from serdes import DeserializingShareConsumer
from tests.faults.interrupts import Interrupt

HANG_S = 60
PROPERTIES = {
    "group.share.assignment.interval.ms": "0",
    "group.share.min.heartbeat.interval.ms": "50",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "30000",
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning"),  # interrupted between being made and being started
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def take(consumer: Any, seen: set[bytes | None], held: list[Any], timeout_s: float) -> None:
    """An application's loop: poll, look at the records, acknowledge each."""
    held[0] = ()
    held[0] = consumer.poll(timeout_s)  # no moment between its end and this
    for message in held[0]:
        assert message.error() is None, message.error()
        seen.add(message.value())
        if consumer._explicit:
            consumer.acknowledge(message)


def settle(consumer: Any, seen: set[bytes | None], held: list[Any]) -> None:
    """After an interrupt: what it was given it looks at, and acknowledges what is not acknowledged."""
    for message in held[0]:
        seen.add(message.value())
        if consumer._explicit:
            with contextlib.suppress(IllegalStateException):  # it was sent already
                consumer.acknowledge(message)


@pytest.mark.parametrize("mode", ["implicit", "explicit"])
@pytest.mark.parametrize("kind", [ShareConsumer, DeserializingShareConsumer])
def test_ctrl_c_at_any_moment_loses_nothing(kind: Callable[[Any], Any], mode: str) -> None:
    with EmbeddedCluster(properties=PROPERTIES) as cluster:
        servers = cluster.bootstrap_servers
        conf = {"bootstrap.servers": servers, "group.id": "s", "share.acknowledgement.mode": mode}
        with Producer({"bootstrap.servers": servers, "linger.ms": 0}) as producer, kind(conf) as consumer:
            consumer.subscribe(["t"])
            seen: set[bytes | None] = set()
            held: list[Any] = [()]
            ends_at_s = time.monotonic() + HANG_S
            while not seen:  # the group begins at the end of the topic, once the member has joined
                producer.produce("t", b"first", partition=0)
                producer.flush(HANG_S)
                take(consumer, seen, held, 0.2)
                assert time.monotonic() < ends_at_s, "the member is given nothing"
            interrupted = 0
            for moment in range(160):
                values = {b"%d.%d" % (moment, number) for number in range(3)}
                for value in sorted(values):
                    producer.produce("t", value, partition=0)
                producer.flush(HANG_S)
                interrupt = Interrupt(moment)
                with interrupt.armed():
                    take(consumer, seen, held, HANG_S)
                    consumer.commit_sync()
                interrupted += interrupt.where is not None
                settle(consumer, seen, held)
                ends_at_s = time.monotonic() + HANG_S
                while not values <= seen:
                    assert time.monotonic() < ends_at_s, f"{interrupt.where}: {values - seen} never came"
                    take(consumer, seen, held, 0.5)
                consumer.commit_sync()
            assert interrupted > 20
