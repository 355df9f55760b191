"""kafka_core.aio.cluster.coordinators: what is remembered, who shares a look-up, who is told of a failure."""

import asyncio
import random

import pytest

from kafka_core.aio.cluster import coordinators
from kafka_core.aio.cluster.coordinators import CoordinatorFinder, CoordinatorKind
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.engine.retry import Backoff
from kafka_core.errors import AuthError, KafkaException, NetworkError
from kafka_core.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from tests.faults.loop import make_connector, on_loop, outcome, until
from tests.faults.scripted import ScriptedBroker, Silence

GROUP = CoordinatorKind.GROUP


class Cluster:
    """The routes of a client with one broker."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.broker = broker
        self.failures: list[KafkaException] = []
        self.refusals: list[KafkaException] = []
        self.seen: list[BrokerAddress] = []
        self.connection: BrokerConnection | None = None

    async def any_connection(self) -> BrokerConnection:
        if self.refusals:
            raise self.refusals.pop(0)
        if self.connection is None:
            self.connection = await make_connector("x").connect("127.0.0.1", self.broker.port)
        return self.connection

    def broker_seen(self, broker: BrokerAddress) -> None:
        self.seen.append(broker)

    def note_failure(self, error: KafkaException) -> None:
        self.failures.append(error)


def setup(broker: ScriptedBroker) -> tuple[CoordinatorFinder, Cluster]:
    def answer(request: FindCoordinatorRequest, _: object) -> FindCoordinatorResponse:
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key, 4, "four", 44) for key in request.coordinator_keys]
        )

    broker.handlers[FindCoordinatorRequest] = answer
    cluster = Cluster(broker)
    return CoordinatorFinder(cluster, Backoff(1, 5, random.Random(1))), cluster


@on_loop
async def test_a_found_one_is_remembered_until_forgotten():
    async with ScriptedBroker() as broker:
        finder, cluster = setup(broker)
        for _ in range(3):
            assert await finder.find(GROUP, "g") == 4
        assert len(broker.asked(FindCoordinatorRequest)) == 1
        assert cluster.seen == [BrokerAddress(4, "four", 44)]
        finder.forget(GROUP, "g")
        finder.forget(GROUP, "never known")
        await finder.find(GROUP, "g")
        assert len(broker.asked(FindCoordinatorRequest)) == 2


@on_loop
async def test_a_lost_broker_takes_only_its_own_along():
    async with ScriptedBroker() as broker:
        finder, _ = setup(broker)
        await finder.find(GROUP, "g")
        finder.forget_node(5)
        await finder.find(GROUP, "g")
        assert len(broker.asked(FindCoordinatorRequest)) == 1
        finder.forget_node(4)
        await finder.find(GROUP, "g")
        assert len(broker.asked(FindCoordinatorRequest)) == 2


@on_loop
async def test_a_broker_that_does_not_answer_gets_company(monkeypatch: pytest.MonkeyPatch):
    """A connection can be half-open: the request would wait for socket.timeout.ms."""
    monkeypatch.setattr(coordinators, "STAGGER_S", 0.01)
    async with ScriptedBroker() as broker, ScriptedBroker() as dead:
        finder, cluster = setup(broker)
        dead.handlers[FindCoordinatorRequest] = lambda *_: Silence
        connector = make_connector("x")
        ways = [await connector.connect("127.0.0.1", one.port) for one in (dead, dead, broker)]
        left = list(ways)

        async def any_connection() -> BrokerConnection:
            return left.pop(0)

        monkeypatch.setattr(cluster, "any_connection", any_connection)
        assert await finder.find(GROUP, "g") == 4
        assert len(dead.asked(FindCoordinatorRequest)) == 2
        for connection in ways:
            connection.abort()


@on_loop
async def test_passing_failures_are_noted_and_tried_again():
    async with ScriptedBroker() as broker:
        finder, cluster = setup(broker)
        cluster.refusals = [NetworkError("one"), NetworkError("two")]
        assert await finder.find(GROUP, "g") == 4
        assert list(map(str, cluster.failures)) == ["one", "two"]


@on_loop
async def test_hopeless_ones_are_told_to_everybody_who_waits():
    async with ScriptedBroker() as broker:
        finder, cluster = setup(broker)
        cluster.refusals = [AuthError("password")]
        waiting = [asyncio.ensure_future(finder.find(GROUP, key)) for key in ("a", "b", "a")]
        assert [type(await outcome(task)) for task in waiting] == [AuthError] * 3
        assert await finder.find(GROUP, "a") == 4  # and the next call is a new try


@on_loop
async def test_a_key_that_comes_during_a_look_up_gets_its_answer_too():
    async with ScriptedBroker() as broker:
        finder, _ = setup(broker)
        first = asyncio.ensure_future(finder.find(GROUP, "a"))
        await until(lambda: broker.asked(FindCoordinatorRequest))
        second = asyncio.ensure_future(finder.find(GROUP, "b"))
        assert await asyncio.gather(first, second) == [4, 4]


@on_loop
async def test_a_key_that_nobody_waits_for_is_dropped():
    async with ScriptedBroker() as broker:
        finder, cluster = setup(broker)
        cluster.refusals = [NetworkError("down")] * 1_000_000
        first, second = (asyncio.ensure_future(finder.find(GROUP, "a")) for _ in range(2))
        await until(lambda: cluster.failures)
        first.cancel()
        await asyncio.sleep(0.01)
        assert not second.done()
        second.cancel()
        await until(lambda: not finder._tasks)


@on_loop
async def test_close_ends_waiting_callers():
    async with ScriptedBroker() as broker:
        finder, cluster = setup(broker)
        cluster.refusals = [NetworkError("down")] * 1_000_000
        task = asyncio.ensure_future(finder.find(GROUP, "a"))
        await until(lambda: cluster.failures)
        await finder.close()
        with pytest.raises(asyncio.CancelledError):
            await task
