"""kafka_core.aio.cluster.refresh: which requests are shared, which errors are hopeless."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from kafka_core.aio.cluster.refresh import MetadataRefresher, SharedRequest, hopeless_error, joined
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.engine.retry import Backoff
from kafka_core.errors import (
    AuthError,
    BrokerError,
    KafkaError,
    KafkaException,
    NetworkError,
    ProtocolError,
    UnsupportedVersionError,
)
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.faults.loop import make_connector, on_loop, outcome, until
from tests.faults.scripted import ScriptedBroker, Silence


class Cluster:
    """The routes of a client that knows nobody."""

    def __init__(self) -> None:
        self.known: list[BrokerAddress] = []
        self.failed: list[str] = []
        self.answers: list[tuple[object, ...]] = []
        self.told_to_begin_again = 0

    def brokers_by_load(self) -> Sequence[BrokerAddress]:
        return self.known

    async def connection_to(self, broker: BrokerAddress) -> BrokerConnection:
        return await make_connector("x").connect(broker.host, broker.port, broker.node_id)

    def may_bootstrap(self) -> bool:
        return not self.known

    def rebootstrap(self) -> None:
        self.told_to_begin_again += 1
        self.known = []

    def bootstrapped(self, connection: BrokerConnection, response: MetadataResponse) -> None:
        connection.retire()

    def bootstrap_failed(self, address: str, error: KafkaException) -> None:
        self.failed.append(address)


def refresher(cluster: Cluster, *brokers: ScriptedBroker, canonical: bool = False, first: int = 0) -> MetadataRefresher:
    return MetadataRefresher(
        cluster,
        make_connector("x"),
        [("127.0.0.1", broker.port) for broker in brokers],
        backoff=Backoff(1, 5, random.Random(1)),
        canonical_bootstrap=canonical,
        first_bootstrap=first,
        on_response=lambda *answer: cluster.answers.append(answer),
    )


class TestSharedRequest:
    @pytest.mark.parametrize(
        ("has", "wants", "covered"),
        [
            ({"a", "b"}, {"a"}, True),
            ({"a"}, {"a", "b"}, False),
            ({"a"}, set(), True),
            (None, {"a"}, True),
            ({"a"}, None, False),
            (None, None, True),
        ],
    )
    def test_covers(self, has: set[str] | None, wants: set[str] | None, covered: bool):
        shared = SharedRequest(has, False)
        frozen = None if wants is None else frozenset(wants)
        assert shared.covers(frozen, False) is covered
        assert not shared.covers(frozen, True)

    def test_join_widens_only_what_is_open(self):
        shared = SharedRequest({"a"}, False)
        assert shared.join(frozenset({"b"}), False)
        assert shared.topics == {"a", "b"}
        assert not shared.join(frozenset({"c"}), True)
        assert not shared.join(None, False)
        shared.open = False
        assert not shared.join(frozenset({"c"}), False)
        assert shared.topics == {"a", "b"}


class TestRefresh:
    @on_loop
    async def test_the_owner_has_the_answer_before_the_callers(self):
        async with ScriptedBroker() as broker:
            cluster = Cluster()
            response = await refresher(cluster, broker).refresh(["a"], allow_auto_create=False)
            assert cluster.answers == [(response, frozenset({"a"}), ("127.0.0.1", broker.port), 1)]

    @on_loop
    async def test_answers_carry_the_order_in_which_they_were_asked_for(self):
        async with ScriptedBroker() as broker:
            cluster = Cluster()
            asks = refresher(cluster, broker)
            for name in "abc":
                await asks.refresh([name], allow_auto_create=False)
            assert [answer[1:] for answer in cluster.answers] == [
                (frozenset({name}), ("127.0.0.1", broker.port), number) for number, name in enumerate("abc", 1)
            ]

    @pytest.mark.parametrize("first", [0, 1])
    @on_loop
    async def test_bootstrap_begins_where_it_is_told(self, first: int):
        async with ScriptedBroker() as one, ScriptedBroker() as two:
            await refresher(Cluster(), one, two, first=first).refresh([], allow_auto_create=False)
            assert [len(broker.asked(MetadataRequest)) for broker in (one, two)] == [1 - first, first]

    @on_loop
    async def test_known_brokers_are_preferred(self):
        async with ScriptedBroker() as known, ScriptedBroker() as bootstrap:
            cluster = Cluster()
            cluster.known = [BrokerAddress(1, "127.0.0.1", known.port)]
            await refresher(cluster, bootstrap).refresh([], allow_auto_create=False)
            assert bootstrap.accepted == 0

    @on_loop
    async def test_begin_again(self):
        async with ScriptedBroker() as known, ScriptedBroker() as bootstrap:
            cluster = Cluster()
            cluster.known = [BrokerAddress(1, "127.0.0.1", known.port)]
            known.handlers[MetadataRequest] = lambda *_: MetadataResponse(error_code=129)
            await refresher(cluster, bootstrap).refresh([], allow_auto_create=False)
            assert cluster.told_to_begin_again == 1
            assert len(bootstrap.asked(MetadataRequest)) == 1

    @on_loop
    async def test_canonical_names_that_cannot_be_looked_up(self):
        cluster = Cluster()
        made = MetadataRefresher(
            cluster,
            make_connector("x"),
            [("nowhere.invalid", 9)],
            backoff=Backoff(1, 5, random.Random(1)),
            canonical_bootstrap=True,
            first_bootstrap=0,
            on_response=lambda *_: None,
        )
        task = asyncio.ensure_future(made.refresh([], allow_auto_create=False))
        await until(lambda: len(cluster.failed) >= 2)
        await made.close()
        await asyncio.wait([task])
        assert set(cluster.failed) == {"nowhere.invalid:9"}

    @on_loop
    async def test_canonical_names(self):
        async with ScriptedBroker() as broker:
            assert await refresher(Cluster(), broker, canonical=True).refresh([], allow_auto_create=False)

    @on_loop
    async def test_close_ends_waiting_callers(self):
        async with ScriptedBroker() as broker:
            broker.handlers[MetadataRequest] = lambda *_: Silence
            made = refresher(Cluster(), broker)
            task = asyncio.ensure_future(made.refresh([], allow_auto_create=False))
            await until(lambda: broker.asked(MetadataRequest))
            await made.close()
            with pytest.raises(asyncio.CancelledError):
                await task

    @on_loop
    async def test_a_hopeless_error_is_raised_to_all(self):
        async with ScriptedBroker(versions={18: (0, 4), 3: (90, 91)}) as broker:
            made = refresher(Cluster(), broker)
            calls = [made.refresh([], allow_auto_create=False) for _ in range(2)]
            errors = [await outcome(task) for task in map(asyncio.ensure_future, calls)]
            assert {type(error) for error in errors} == {UnsupportedVersionError}


class TestHopeless:
    REFUSED = NetworkError("refused")
    UNTRUSTED = NetworkError("untrusted", KafkaError._SSL)
    HTTP = ProtocolError("HTTP")
    PASSWORD = AuthError("password")

    @pytest.mark.parametrize(
        ("failures", "expected"),
        [
            ([], None),
            ([REFUSED], None),
            ([REFUSED, UNTRUSTED], None),
            ([UNTRUSTED], UNTRUSTED),
            ([HTTP, HTTP], HTTP),
            ([REFUSED, PASSWORD], PASSWORD),
            ([BrokerError(KafkaError.REBOOTSTRAP_REQUIRED)], None),
        ],
    )
    def test_when(self, failures: list[KafkaException], expected: KafkaException | None):
        assert hopeless_error(failures) is expected

    def test_a_mistake_of_ours_is_not_hidden(self):
        mistake = ZeroDivisionError()
        assert hopeless_error([self.REFUSED, mistake]) is mistake

    def test_all_of_them_are_named(self):
        error = hopeless_error([self.UNTRUSTED, self.HTTP])
        assert isinstance(error, NetworkError)
        assert (error.code, str(error)) == (KafkaError._SSL, "no broker can be used: untrusted; HTTP")
        assert joined([self.HTTP, self.HTTP]) is self.HTTP
