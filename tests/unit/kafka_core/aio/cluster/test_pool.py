"""kafka_core.aio.cluster.pool: sharing, back-off, purposes, brokers that go or move."""

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator

import pytest

from kafka_core.aio.cluster import pool
from kafka_core.aio.cluster.pool import ConnectionPool, Purpose
from kafka_core.aio.net.connection import BrokerConnection, Connector
from kafka_core.clock import SystemClock
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.errors import KafkaException, NetworkError, StateError
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.wire.correlation import ConnectionPhase
from tests.faults.loop import end_of, make_connector, on_loop, outcome, until
from tests.faults.scripted import ScriptedBroker, Silence


class Events:
    """The pool's events for its owner."""

    def __init__(self) -> None:
        self.up: list[BrokerAddress] = []
        self.down: list[tuple[BrokerAddress, KafkaException]] = []


class CountingConnector:
    """A connector that counts attempts and can be made to fail or wait."""

    def __init__(self, inner: Connector) -> None:
        self._inner = inner
        self.started_s: list[float] = []
        self.failure: KafkaException | None = None
        self.gate: asyncio.Event | None = None

    async def connect(self, host: str, port: int, node_id: int = -1) -> BrokerConnection:
        self.started_s.append(asyncio.get_running_loop().time())
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return await self._inner.connect(host, port, node_id)


class Setup:
    def __init__(self, broker: ScriptedBroker, backoff_ms: float = 1, backoff_max_ms: float = 2) -> None:
        self.events = Events()
        self.connector = CountingConnector(make_connector(broker.address))
        self.address = BrokerAddress(broker.node_id, "127.0.0.1", broker.port)
        self.pool = ConnectionPool(
            self.connector,
            clock=SystemClock(),
            rng=random.Random(1),
            backoff_ms=backoff_ms,
            backoff_max_ms=backoff_max_ms,
            on_up=self.events.up.append,
            on_down=lambda broker, error: self.events.down.append((broker, error)),
        )


@contextlib.asynccontextmanager
async def both() -> AsyncIterator[tuple[ScriptedBroker, Setup]]:
    async with ScriptedBroker() as broker:
        setup = Setup(broker)
        yield broker, setup
        await setup.pool.close(1.0)


class TestSharing:
    @on_loop
    async def test_concurrent_callers_share_one_attempt_and_one_connection(self):
        async with both() as (broker, setup):
            found = await asyncio.gather(*(setup.pool.get(setup.address) for _ in range(10)))
            assert len(set(map(id, found))) == 1
            assert broker.accepted == 1
            assert await setup.pool.get(setup.address) is found[0]
            assert setup.pool.ready(1) is found[0]
            assert setup.events.up == [setup.address]

    @on_loop
    async def test_requests_are_counted_while_they_wait(self):
        async with both() as (broker, setup):
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            assert setup.pool.unanswered() == {}
            for purpose in (Purpose.MAIN, Purpose.FETCH):
                connection = await setup.pool.get(setup.address, purpose)
                connection.send(HeartbeatRequest(group_id="g"))
            assert setup.pool.unanswered() == {1: (0, 2)}
            connection._state.move(ConnectionPhase.REAUTHENTICATING)
            connection.send(HeartbeatRequest(group_id="g"))
            assert setup.pool.unanswered() == {1: (1, 2)}

    @on_loop
    async def test_lanes_have_connections_of_their_own(self):
        async with both() as (broker, setup):
            found = [await setup.pool.get(setup.address, purpose) for purpose in Purpose]
            assert len(set(map(id, found))) == len(Purpose) == broker.accepted
            assert all(connection.node_id == 1 for connection in found)

    @on_loop
    async def test_cancelling_one_caller_does_not_disturb_the_others(self):
        async with both() as (_, setup):
            setup.connector.gate = asyncio.Event()
            first, second = (asyncio.ensure_future(setup.pool.get(setup.address)) for _ in range(2))
            await until(lambda: setup.connector.started_s)
            first.cancel()
            setup.connector.gate.set()
            assert (await second).usable
            assert first.cancelled()

    @on_loop
    async def test_cancelling_all_callers_keeps_the_connection_for_the_next(self):
        async with both() as (broker, setup):
            setup.connector.gate = asyncio.Event()
            task = asyncio.ensure_future(setup.pool.get(setup.address))
            await until(lambda: setup.connector.started_s)
            task.cancel()
            setup.connector.gate.set()
            await until(lambda: setup.pool.ready(1))
            assert broker.accepted == 1


class TestBackoff:
    @on_loop
    async def test_failed_attempts_are_spaced_more_and_more(self):
        async with ScriptedBroker() as broker:
            setup = Setup(broker, backoff_ms=20, backoff_max_ms=1000)
            setup.connector.failure = NetworkError("refused")
            for _ in range(4):
                assert "refused" in str(await outcome(setup.pool.get(setup.address)))
            assert setup.pool.waits_s(1) > 0
            times = setup.connector.started_s
            gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
            for gap_s, least_s in zip(gaps, [0.016, 0.032, 0.064], strict=True):
                assert gap_s >= least_s
            assert [str(error) for _, error in setup.events.down] == ["refused"] * 4
            await setup.pool.close(1.0)

    @on_loop
    async def test_a_broker_that_drops_connections_at_once_is_not_hammered(self):
        async with ScriptedBroker() as broker:
            setup = Setup(broker, backoff_ms=20, backoff_max_ms=1000)
            for _ in range(4):
                connection = await setup.pool.get(setup.address)
                connection.abort(NetworkError("dropped"))
                await until(lambda: setup.pool.ready(1) is None)
            times = setup.connector.started_s
            gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
            assert gaps[2] >= 0.064
            await setup.pool.close(1.0)

    @on_loop
    async def test_a_connection_that_lasted_is_replaced_at_once(self):
        async with ScriptedBroker() as broker:
            setup = Setup(broker, backoff_ms=20, backoff_max_ms=40)
            for _ in range(3):
                connection = await setup.pool.get(setup.address)
                await asyncio.sleep(0.06)
                connection.abort(NetworkError("dropped"))
            assert setup.pool.waits_s(1) == 0.0
            await setup.pool.close(1.0)

    @on_loop
    async def test_a_connection_that_answered_is_replaced_at_once_however_short_it_lived(self):
        async with ScriptedBroker() as broker:
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
            setup = Setup(broker, backoff_ms=20, backoff_max_ms=100_000)
            for _ in range(20):
                connection = await setup.pool.get(setup.address)
                await connection.send(HeartbeatRequest())
                connection.abort(NetworkError("reset"))
                assert setup.pool.waits_s(1) <= 0.024  # the first back-off, with its jitter; it never grows
            await setup.pool.close(1.0)

    @on_loop
    async def test_a_lane_does_not_wait_out_its_back_off_once_another_lane_could_connect(self):
        async with ScriptedBroker() as broker:
            setup = Setup(broker, backoff_ms=1_000_000, backoff_max_ms=1_000_000)
            setup.connector.failure = NetworkError("refused")
            assert "refused" in str(await outcome(setup.pool.get(setup.address, Purpose.FETCH)))
            assert setup.pool.waits_s(1, Purpose.FETCH) > 100
            waiting = asyncio.ensure_future(setup.pool.get(setup.address, Purpose.FETCH))
            await asyncio.sleep(0)
            setup.connector.failure = None
            await setup.pool.get(setup.address, Purpose.MAIN)
            assert (await waiting).usable
            await setup.pool.close(1.0)


class TestBrokers:
    @on_loop
    async def test_lost_connections_are_told_and_replaced(self):
        async with both() as (broker, setup):
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            connection = await setup.pool.get(setup.address)
            future = connection.send(HeartbeatRequest())
            broker.hang_up()
            assert isinstance(await outcome(future), NetworkError)
            await until(lambda: setup.events.down)
            assert setup.pool.ready(1) is None
            assert (await setup.pool.get(setup.address)) is not connection

    @on_loop
    async def test_our_own_close_is_not_a_failure(self):
        async with both() as (_, setup):
            await (await setup.pool.get(setup.address)).close()
            await asyncio.sleep(0)
            assert setup.events.down == []

    @pytest.mark.parametrize("change", ["gone", "moved"])
    @on_loop
    async def test_one_that_is_gone_or_moved_is_let_go_when_its_answers_are_in(self, change: str):
        async with both() as (broker, setup):
            release = asyncio.Event()

            async def slow(*_: object) -> HeartbeatResponse:
                await release.wait()
                return HeartbeatResponse(error_code=3)

            broker.handlers[HeartbeatRequest] = slow
            connection = await setup.pool.get(setup.address)
            future = connection.send(HeartbeatRequest())
            setup.pool.keep_only({} if change == "gone" else {1: BrokerAddress(1, "127.0.0.1", broker.port + 1)})
            assert setup.pool.ready(1) is None
            release.set()
            assert (await future).error_code == 3
            assert await end_of(connection) is None
            assert setup.events.down == []

    @on_loop
    async def test_the_same_brokers_keep_their_connections(self):
        async with both() as (_, setup):
            connection = await setup.pool.get(setup.address)
            setup.pool.keep_only({1: BrokerAddress(1, "127.0.0.1", setup.address.port, rack="new")})
            assert setup.pool.ready(1) is connection

    @on_loop
    async def test_one_that_goes_while_connecting_gets_no_new_requests(self):
        async with both() as (_, setup):
            setup.connector.gate = asyncio.Event()
            task = asyncio.ensure_future(setup.pool.get(setup.address))
            await until(lambda: setup.connector.started_s)
            setup.pool.keep_only({})
            setup.connector.gate.set()
            assert not (await task).usable
            assert setup.pool.ready(1) is None

    @on_loop
    async def test_adopting_a_bootstrap_connection(self):
        async with both() as (broker, setup):
            connection = await setup.connector.connect("127.0.0.1", broker.port)
            assert setup.pool.adopt(setup.address, connection)
            assert (setup.pool.ready(1), connection.node_id) == (connection, 1)
            second = await setup.connector.connect("127.0.0.1", broker.port)
            assert not setup.pool.adopt(setup.address, second)
            await second.close()

    @on_loop
    async def test_a_bootstrap_connection_ends_the_back_off_of_its_broker(self):
        """After a restart of 15 s the next attempt to connect was 8 s away, though the broker had just answered."""
        async with both() as (broker, setup):
            slot = setup.pool._slot(setup.address, Purpose.MAIN)
            slot.refused, slot.attempt, slot.not_before_s = True, 9, setup.pool._clock.monotonic() + 600
            waiting = asyncio.ensure_future(setup.pool.get(setup.address))
            for _ in range(5):
                await asyncio.sleep(0)
            assert slot.up is not None  # it waits
            connection = await setup.connector.connect("127.0.0.1", broker.port)
            assert not setup.pool.adopt(setup.address, connection)
            await connection.close()
            assert (await waiting).usable


class TestSilence:
    """A broker that has forgotten one connection without a word has forgotten the others too."""

    @on_loop
    async def test_a_time_out_ends_the_brokers_other_connections_that_are_silent_since_then(self, monkeypatch):
        monkeypatch.setattr(pool, "_SILENT_S", 600.0)
        async with both() as (broker, setup):
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            main, fetch, group = [await setup.pool.get(setup.address, purpose) for purpose in Purpose]
            waiting = fetch.send(HeartbeatRequest())
            fetch.heard_s -= 6000
            error = await outcome(main.send(HeartbeatRequest(), timeout_s=0.01))
            assert isinstance(error, NetworkError)
            assert str(await outcome(waiting)) == str(error)
            assert setup.pool.ready(1, Purpose.FETCH) is None
            assert setup.pool.ready(1, Purpose.GROUP) is group  # it was heard just now

    @on_loop
    async def test_one_that_nobody_waits_for_ends_without_a_word(self):
        async with both() as (broker, setup):
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            main, fetch, _ = [await setup.pool.get(setup.address, purpose) for purpose in Purpose]
            fetch.heard_s -= 60
            await outcome(main.send(HeartbeatRequest(), timeout_s=0.01))
            assert not fetch.usable
            assert len(setup.events.down) == 1

    @on_loop
    async def test_one_that_was_silent_for_a_shorter_time_than_the_unanswered_request_stays(self, monkeypatch):
        monkeypatch.setattr(pool, "_SILENT_S", 600.0)
        async with both() as (broker, setup):
            broker.handlers[HeartbeatRequest] = lambda *_: Silence
            main, fetch, _ = [await setup.pool.get(setup.address, purpose) for purpose in Purpose]
            fetch.heard_s -= 300  # a broker may hold the answer to a fetch back for a while
            await outcome(main.send(HeartbeatRequest(), timeout_s=0.01))
            assert fetch.usable

    @on_loop
    async def test_another_end_than_a_time_out_says_nothing_about_the_others(self):
        async with both() as (_, setup):
            main, fetch, _ = [await setup.pool.get(setup.address, purpose) for purpose in Purpose]
            fetch.heard_s -= 60
            main.abort(NetworkError("lost"))
            assert fetch.usable


class TestEnd:
    @on_loop
    async def test_close_fails_waiting_callers_and_later_calls(self):
        async with both() as (broker, setup):
            connected = await setup.pool.get(setup.address, Purpose.FETCH)
            setup.connector.gate = asyncio.Event()
            task = asyncio.ensure_future(setup.pool.get(setup.address))
            await until(lambda: len(setup.connector.started_s) == 2)
            await setup.pool.close(1.0)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not connected.usable
            with pytest.raises(StateError, match="closed"):
                await setup.pool.get(setup.address)
            await until(lambda: broker.connections == 0)


class TestEnding:
    @on_loop
    async def test_closing_waits_for_the_sockets_of_connections_that_had_ended_before(self):
        async with both() as (_, setup):
            connection = await setup.pool.get(setup.address)
            connection.retire()
            assert setup.pool.ready(1) is None
            await setup.pool.close(1.0)
            assert connection._gone.done()

    @on_loop
    async def test_a_foreign_connection_handed_over_for_its_end_is_closed_with_the_pool(self):
        async with both() as (broker, setup):
            connection = await setup.connector.connect("127.0.0.1", broker.port)
            setup.pool.retire(connection)
            await setup.pool.close(1.0)
            assert connection._gone.done()

    @on_loop
    async def test_one_that_comes_up_after_closing_is_cut_at_once(self):
        async with both() as (broker, setup):
            connection = await setup.connector.connect("127.0.0.1", broker.port)
            await setup.pool.close(1.0)
            setup.pool.retire(connection)
            assert await end_of(connection) is None
