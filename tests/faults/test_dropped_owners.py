"""A client that is dropped with its owner goes, and its thread with it, though callbacks refer back to the owner."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from kafka_core import Consumer, Producer
from kafka_core.admin import AdminClient
from kafka_core.aio import AIOAdminClient, AIOConsumer, AIOProducer
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


# ---- asyncio clients: their tasks run on the user's loop


async def aio_consumer(cluster: EmbeddedCluster, owner: Owner) -> AIOConsumer:
    made = AIOConsumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "dropped",
            "session.timeout.ms": 300_000,  # the coordinator would not miss it soon
            "max.poll.interval.ms": 300_000,
            "error_cb": owner.callback,
        }
    )
    await made.subscribe(["t"], on_assign=owner.callback, on_revoke=owner.callback)
    while not await made.assignment():
        await made.poll(0.05)
    return made


async def aio_producer(cluster: EmbeddedCluster, owner: Owner) -> AIOProducer:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "error_cb": owner.callback, "on_delivery": owner.callback}
    made = AIOProducer(conf)
    await (await made.produce("t", b"v"))
    return made


async def aio_admin(cluster: EmbeddedCluster, owner: Owner) -> AIOAdminClient:
    made = AIOAdminClient({"bootstrap.servers": cluster.bootstrap_servers, "error_cb": owner.callback})
    await made.list_topics()
    return made


def in_time(work: Coroutine[Any, Any, None]) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT_S):
            await work

    asyncio.run(main())


async def all_tasks_ended() -> None:
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)


@pytest.mark.parametrize("kind", [aio_consumer, aio_producer, aio_admin])
def test_a_dropped_asyncio_client_warns_and_ends_its_tasks(cluster: EmbeddedCluster, kind: Any) -> None:
    async def run() -> None:
        owner = Owner(lambda _: None)
        owner.client = await kind(cluster, owner)
        name = type(owner.client).__name__
        alive = weakref.ref(owner)
        gc.collect()  # what other tests left is not told below
        with warnings.catch_warnings(record=True, action="always") as told:
            del owner
            while alive() is not None:
                await asyncio.sleep(0.01)
                gc.collect()
        assert [str(item.message).split(":")[0] for item in told] == [f"unclosed {name}"]
        await all_tasks_ended()
        if kind is aio_consumer:  # it has left its group: the next member gets the partition at once
            await (await aio_consumer(cluster, Owner(lambda _: None))).close()

    in_time(run())


def test_records_of_a_dropped_asyncio_producer_are_delivered(cluster: EmbeddedCluster) -> None:
    async def run() -> None:
        made = AIOProducer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 50})
        future = await made.produce("t", b"v")
        gc.collect()  # what other tests left is not told below
        with warnings.catch_warnings(record=True, action="always") as told:
            del made
            gc.collect()
        assert [str(item.message).split(":")[0] for item in told] == ["unclosed AIOProducer"]
        assert (await future).value() == b"v"
        await all_tasks_ended()

    in_time(run())


@pytest.mark.parametrize("kind", [aio_consumer, aio_producer, aio_admin])
def test_a_closed_asyncio_client_is_dropped_without_a_warning(cluster: EmbeddedCluster, kind: Any) -> None:
    async def run() -> None:
        made = await kind(cluster, Owner(lambda _: None))
        await made.close()
        del made
        gc.collect()
        await all_tasks_ended()

    in_time(run())  # warnings are errors
