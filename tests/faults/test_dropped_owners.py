"""A client that is dropped with its owner goes, and its thread with it, though callbacks refer back to the owner."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_core import Consumer, Producer
from kafka_core.admin import AdminClient
from kafka_core.broker import EmbeddedCluster

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as made:
        made.create_topic("t", 1)
        yield made


class Owner:
    """Holds a client whose callback is its own method."""

    def __init__(self, make: Callable[[Owner], Any]) -> None:
        self.called = 0
        self.client = make(self)

    def callback(self, *_: object) -> None:
        self.called += 1

    on_connect = callback
    """As a hook object."""


def producer(cluster: EmbeddedCluster, name: str) -> Callable[[Owner], Any]:
    def make(owner: Owner) -> Producer:
        value: Any = [owner] if name == "hooks" else owner.callback
        made = Producer({"bootstrap.servers": cluster.bootstrap_servers, name: value, "statistics.interval.ms": 10})
        made.produce("t", b"x")
        made.flush(LIMIT_S)
        return made

    return make


def consumer(cluster: EmbeddedCluster, name: str) -> Callable[[Owner], Any]:
    def make(owner: Owner) -> Consumer:
        conf: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": f"dropped-{name}"}
        if name == "hooks":
            conf["hooks"] = [owner]
        elif name != "on_assign":
            conf[name] = owner.callback
        made = Consumer(conf)
        made.subscribe(["t"], **({"on_assign": owner.callback} if name == "on_assign" else {}))
        made.poll(0.2)
        return made

    return make


def admin(cluster: EmbeddedCluster, name: str) -> Callable[[Owner], Any]:
    def make(owner: Owner) -> AdminClient:
        made = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, name: owner.callback})
        made.list_topics(timeout=LIMIT_S)
        return made

    return make


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((producer, name) for name in ("on_delivery", "error_cb", "stats_cb", "throttle_cb", "oauth_cb", "hooks")),
        *((consumer, name) for name in ("on_assign", "error_cb", "on_commit", "stats_cb", "hooks")),
        (admin, "error_cb"),
    ],
)
def test_an_owner_in_a_cycle_with_its_client_is_collected(
    cluster: EmbeddedCluster, kind: Callable[[EmbeddedCluster, str], Callable[[Owner], Any]], name: str
) -> None:
    owner = Owner(kind(cluster, name))
    thread = owner.client._thread._core.thread
    assert isinstance(thread, threading.Thread)
    alive = weakref.ref(owner)
    del owner
    deadline_s = time.monotonic() + LIMIT_S
    while (alive() is not None or thread.is_alive()) and time.monotonic() < deadline_s:
        gc.collect()
        time.sleep(0.01)
    assert alive() is None
    assert not thread.is_alive()


def test_hooks_and_callbacks_are_called_while_their_client_lives(cluster: EmbeddedCluster) -> None:
    owner = Owner(producer(cluster, "hooks"))
    assert owner.called
    owner.client.close()
