"""kafka_core.aio.cluster.client: bootstrap, routing, shared refreshes, coordinators, outages, the end."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka_core.aio.cluster import refresh
from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind, Purpose
from kafka_core.config import Role, parse
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.errors import (
    AuthError,
    BrokerError,
    KafkaError,
    KafkaException,
    NetworkError,
    ProtocolError,
    StateError,
)
from kafka_core.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataResponse
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.complaints import complaints
from tests.faults.listener import listening
from tests.faults.loop import end_of, make_client, on_loop, outcome, until
from tests.faults.scripted import HangUp, ScriptedBroker, Silence
from tests.patience import PROCESS_S, judged_by


@contextlib.asynccontextmanager
async def one(**properties: Any) -> AsyncIterator[tuple[ScriptedBroker, ClusterClient]]:
    """A cluster of one broker, and a started client."""
    async with ScriptedBroker() as broker:
        client = make_client(broker.address, **properties)
        await client.start()
        try:
            yield broker, client
        finally:
            await client.close()


@contextlib.asynccontextmanager
async def cluster(count: int, **properties: Any) -> AsyncIterator[tuple[list[ScriptedBroker], ClusterClient]]:
    """Several brokers that name each other, and a started client that bootstraps from the first."""
    async with contextlib.AsyncExitStack() as stack:
        brokers = [await stack.enter_async_context(ScriptedBroker(node_id=n)) for n in range(1, count + 1)]
        peers = {broker.node_id: ("127.0.0.1", broker.port) for broker in brokers}
        for broker in brokers:
            broker.peers = peers
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
        client = make_client(brokers[0].address, **properties)
        await client.start()
        stack.push_async_callback(client.close)
        yield brokers, client


class TestBootstrap:
    @on_loop
    async def test_nothing_is_connected_before_it_is_needed(self):
        async with one() as (broker, client):
            await asyncio.sleep(0.02)
            assert broker.accepted == 0
            view = await client.refresh_metadata([])
            assert view.brokers == {1: BrokerAddress(1, "127.0.0.1", broker.port)}
            assert client.metadata is view

    @on_loop
    async def test_the_first_connection_is_kept_when_it_is_a_brokers_own_address(self):
        async with one() as (broker, client):
            await client.refresh_metadata([])
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
            await client.send(1, HeartbeatRequest())
            assert broker.accepted == 1

    @on_loop
    async def test_a_load_balancers_connection_is_not_kept(self):
        async with ScriptedBroker(node_id=1) as broker, ScriptedBroker(node_id=9) as balancer:
            balancer.peers = {1: ("127.0.0.1", broker.port)}
            client = make_client(balancer.address)
            await client.refresh_metadata([])
            await until(lambda: balancer.connections == 0)
            assert set(client.metadata.brokers) == {1}
            await client.close()

    @pytest.mark.parametrize("seed", range(4))
    @on_loop
    async def test_any_of_several_addresses_will_do(self, seed: int, refused_port: int):
        async with ScriptedBroker() as broker:
            servers = f"127.0.0.1:{refused_port},nowhere.invalid:9,{broker.address}"
            client = make_client(servers, seed=seed)
            view = await client.refresh_metadata([], timeout_s=50)
            assert set(view.brokers) == {1}
            assert client.last_error is None
            await client.close()

    @on_loop
    async def test_a_silent_address_does_not_hold_up_the_others(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(refresh, "STAGGER_S", 0.05)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            async with ScriptedBroker() as broker:
                servers = f"127.0.0.1:{silent.getsockname()[1]},{broker.address}"
                for seed in range(4):  # whichever comes first
                    client = make_client(servers, seed=seed)
                    assert set((await client.refresh_metadata([], timeout_s=50)).brokers) == {1}
                    await client.close()

    def test_when_all_fail_all_are_named_in_order(self, refused_port: int):
        @on_loop
        async def asked_within(limit_s: float) -> None:
            client = make_client(f"nowhere.invalid:9,127.0.0.1:{refused_port}")
            error = await outcome(client.refresh_metadata(timeout_s=limit_s))
            assert isinstance(error, NetworkError)
            assert error.code == KafkaError._RESOLVE
            text = str(error)
            assert text.startswith(f"metadata: no answer within {limit_s:g} s: nowhere.invalid:9: the host name")
            refused = f"127.0.0.1:{refused_port} (127.0.0.1): connection refused"
            assert text.index("nowhere.invalid") < text.index(refused)
            assert isinstance(client.last_error, NetworkError)
            assert "nowhere.invalid" in str(client.last_error)
            await client.close()

        judged_by(0.3, asked_within)

    @on_loop
    async def test_a_broker_that_comes_up_later_is_found(self):
        async with ScriptedBroker() as broker:
            await broker.stop()
            client = make_client(broker.address)
            waiting = asyncio.ensure_future(client.refresh_metadata(timeout_s=50))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            await broker.listen()
            assert set((await waiting).brokers) == {1}
            await client.close()

    @on_loop
    async def test_a_wrong_password_is_told_at_once(self):
        async with ScriptedBroker() as broker:
            broker.handlers[SaslHandshakeRequest] = lambda *_: SaslHandshakeResponse(mechanisms=["PLAIN"])
            broker.handlers[SaslAuthenticateRequest] = lambda *_: SaslAuthenticateResponse(error_code=58)
            sasl = {"sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "p"}
            client = make_client(broker.address, security_protocol="sasl_plaintext", **sasl)
            told: list[KafkaError] = []
            client.on_error(told.append)
            error = await outcome(client.refresh_metadata(timeout_s=600))
            assert isinstance(error, AuthError)
            assert "authentication failed for user u with PLAIN" in str(error)
            assert [item.code() for item in told] == [KafkaError._AUTHENTICATION, KafkaError._ALL_BROKERS_DOWN]
            await client.close()

    @on_loop
    async def test_a_port_of_something_else_is_told_at_once(self):
        async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        async with listening(http) as port:
            client = make_client(f"127.0.0.1:{port}")
            error = await outcome(client.refresh_metadata(timeout_s=50))
            await client.close()
        assert isinstance(error, ProtocolError)
        assert "answers HTTP" in str(error)

    @on_loop
    async def test_without_an_address_calls_time_out_and_say_why(self):
        client = ClusterClient(parse({}, Role.ADMIN))
        try:
            await client.connect_early()
            with pytest.raises(
                NetworkError, match=r"no answer within 0\.05 s: bootstrap\.servers is not set"
            ) as caught:
                await client.refresh_metadata([], timeout_s=0.05)
            assert caught.value.code == KafkaError._TRANSPORT
        finally:
            await client.close()

    @on_loop
    async def test_a_broker_that_knows_no_brokers_yet_is_asked_again(self):
        async with one() as (broker, client):
            answers = [MetadataResponse(), MetadataResponse()]
            normal = broker.handlers[MetadataRequest]
            broker.handlers[MetadataRequest] = lambda *args: answers.pop() if answers else normal(*args)
            assert set((await client.refresh_metadata([], timeout_s=50)).brokers) == {1}


class TestSending:
    @on_loop
    async def test_to_one_broker_in_its_lane(self):
        async with cluster(2) as (brokers, client):
            await client.refresh_metadata([])
            for purpose in Purpose:
                await client.send(2, HeartbeatRequest(member_id=purpose.value), purpose=purpose)
            assert [request.member_id for request in brokers[1].asked(HeartbeatRequest)] == [
                purpose.value for purpose in Purpose
            ]
            assert brokers[1].accepted == 3
            assert brokers[0].asked(HeartbeatRequest) == []

    @on_loop
    async def test_an_unknown_broker_is_looked_up_once_more(self):
        async with cluster(2) as (brokers, client):
            brokers[0].peers = {1: ("127.0.0.1", brokers[0].port)}
            await client.refresh_metadata([])
            brokers[0].peers = brokers[1].peers
            await client.send(2, HeartbeatRequest())
            error = await outcome(client.send(7, HeartbeatRequest()))
            assert isinstance(error, NetworkError)
            assert error.code == KafkaError._UNKNOWN_BROKER
            assert "broker 7 is not in the cluster (known: [1, 2])" in str(error)

    def test_a_timeout_covers_connecting_and_names_the_cause(self):
        @on_loop
        async def sent_within(limit_s: float) -> None:
            async with cluster(2) as (brokers, client):
                await client.refresh_metadata([])
                await brokers[1].stop()
                error = await outcome(client.send(2, HeartbeatRequest(), timeout_s=limit_s))
                assert isinstance(error, NetworkError)
                assert "connection refused" in str(error)

        judged_by(0.2, sent_within)

    @on_loop
    async def test_a_timeout_while_waiting_for_the_response(self):
        async with cluster(1) as (brokers, client):
            await client.refresh_metadata([])
            brokers[0].handlers[HeartbeatRequest] = lambda *_: Silence
            error = await outcome(client.send(1, HeartbeatRequest(), timeout_s=0.05))
            assert isinstance(error, NetworkError)
            assert error.code == KafkaError._TIMED_OUT

    @on_loop
    async def test_throttling_is_waited_for(self):
        async with cluster(1) as (brokers, client):
            await client.refresh_metadata([])
            brokers[0].handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse(throttle_time_ms=100)
            started_s = time.monotonic()
            await client.send(1, HeartbeatRequest())
            await client.send(1, HeartbeatRequest())
            assert time.monotonic() - started_s >= 0.1

    @on_loop
    async def test_any_bootstraps_and_prefers_the_least_loaded(self):
        async with cluster(2) as (brokers, client):
            for broker in brokers:
                broker.handlers[ListGroupsRequest] = lambda *_: ListGroupsResponse()
            await client.send_any(ListGroupsRequest(), timeout_s=50)
            assert len(brokers[0].asked(ListGroupsRequest)) == 1
            await client.connection(2)  # both are connected now
            brokers[0].handlers[HeartbeatRequest] = lambda *_: Silence
            (await client.connection(1)).send(HeartbeatRequest())
            for _ in range(3):
                await client.send_any(ListGroupsRequest())
            assert len(brokers[1].asked(ListGroupsRequest)) == 3

    @on_loop
    async def test_any_passes_over_a_broker_that_has_stopped_answering(self):
        async with cluster(2) as (brokers, client):
            for broker in brokers:
                broker.handlers[ListGroupsRequest] = lambda *_: ListGroupsResponse()
            await client.refresh_metadata([])
            silent = await client.connection(1)
            brokers[0].handlers[HeartbeatRequest] = lambda *_: Silence
            waiting = silent.send(HeartbeatRequest())
            assert silent.silent_s < 5
            silent.heard_s -= 5
            silent._state._in_flight[0].sent_at_s -= 5
            assert silent.silent_s >= 5
            await client.send_any(ListGroupsRequest(), timeout_s=50)  # although it must be connected first
            assert len(brokers[1].asked(ListGroupsRequest)) == 1
            waiting.cancel()

    @on_loop
    async def test_any_skips_brokers_that_cannot_be_reached(self):
        async with cluster(3) as (brokers, client):
            await client.refresh_metadata([])
            for broker in brokers:
                broker.handlers[ListGroupsRequest] = lambda *_: ListGroupsResponse()
            await brokers[0].stop()
            await brokers[1].stop()
            await client.send_any(ListGroupsRequest(), timeout_s=50)
            assert len(brokers[2].asked(ListGroupsRequest)) == 1

    @on_loop
    async def test_any_does_not_repeat_what_was_written(self):
        async with cluster(2) as (brokers, client):
            for broker in brokers:
                broker.handlers[ListGroupsRequest] = lambda *_: HangUp
            assert isinstance(await outcome(client.send_any(ListGroupsRequest(), timeout_s=50)), NetworkError)
            assert sum(len(broker.asked(ListGroupsRequest)) for broker in brokers) == 1

    @on_loop
    async def test_the_controller(self):
        async with cluster(2) as (brokers, client):
            for broker in brokers:
                broker.handlers[ListGroupsRequest] = lambda *_: ListGroupsResponse()
                normal = broker.handlers[MetadataRequest]

                def second(*args: Any, normal: Any = normal) -> Any:
                    response = normal(*args)
                    response.controller_id = 2
                    return response

                broker.handlers[MetadataRequest] = second
            await client.send_controller(ListGroupsRequest())
            assert len(brokers[1].asked(ListGroupsRequest)) == 1

    @on_loop
    async def test_cancelling_a_call_leaves_the_client_usable(self):
        async with cluster(1) as (brokers, client):
            gate = asyncio.Event()

            async def gated(*_: object) -> HeartbeatResponse:
                await gate.wait()
                return HeartbeatResponse()

            brokers[0].handlers[HeartbeatRequest] = gated
            await client.refresh_metadata([])
            task = asyncio.ensure_future(client.send(1, HeartbeatRequest()))
            await until(lambda: brokers[0].asked(HeartbeatRequest))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.set()
            await client.send(1, HeartbeatRequest())
            assert brokers[0].accepted == 1


class TestMetadata:
    @on_loop
    async def test_callers_at_the_same_time_share_a_request(self):
        async with one() as (broker, client):
            broker.topics = {"a": (0, {0: (1, 1)}), "b": (0, {0: (1, 1)})}
            views = await asyncio.gather(*(client.refresh_metadata([name]) for name in "abab"))
            (request,) = broker.asked(MetadataRequest)
            assert [topic.name for topic in request.topics] == ["a", "b"]
            assert all(view.leader("b", 0) == 1 for view in views)

    @on_loop
    async def test_a_caller_joins_a_request_on_its_way_only_if_it_asks_for_the_same(self):
        async with one() as (broker, client):
            gate = asyncio.Event()
            normal = broker.handlers[MetadataRequest]

            async def gated(*args: Any) -> Any:
                await gate.wait()
                return normal(*args)

            broker.handlers[MetadataRequest] = gated
            first = asyncio.ensure_future(client.refresh_metadata(["a", "b"]))
            await until(lambda: broker.asked(MetadataRequest))
            others = [asyncio.ensure_future(client.refresh_metadata(topics)) for topics in (["a"], ["c"], None)]
            await asyncio.sleep(0.01)
            gate.set()
            await asyncio.gather(first, *others)
            asked = [
                None if request.topics is None else sorted(topic.name for topic in request.topics)
                for request in broker.asked(MetadataRequest)
            ]
            assert sorted(asked, key=str) == [None, ["a", "b"], ["c"]]

    @on_loop
    async def test_a_cancelled_caller_does_not_take_the_others_along(self):
        async with one() as (broker, client):
            first = asyncio.ensure_future(client.refresh_metadata(["a"]))
            second = asyncio.ensure_future(client.refresh_metadata(["a"]))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).topics["a"].error_code == 3
            assert len(broker.asked(MetadataRequest)) == 1

    @on_loop
    async def test_a_request_that_nobody_wants_any_more_stops(self, refused_port: int):
        client = make_client(f"127.0.0.1:{refused_port}")
        task = asyncio.ensure_future(client.refresh_metadata(["a"]))
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait([task])
        await until(lambda: not client._refresher._shared)
        await client.close()

    @pytest.mark.parametrize(
        ("role", "properties", "argument", "expected"),
        [
            (Role.PRODUCER, {}, None, True),
            (Role.ADMIN, {}, None, False),
            (Role.CONSUMER, {"group_id": "g"}, None, False),
            (Role.CONSUMER, {"group_id": "g", "allow_auto_create_topics": True}, None, True),
            (Role.PRODUCER, {}, False, False),
        ],
    )
    @on_loop
    async def test_metadata_requests_may_create_topics_by_role(
        self, role: Role, properties: dict[str, Any], argument: bool | None, expected: bool
    ):
        async with ScriptedBroker() as broker:
            client = make_client(broker.address, role=role, **properties)
            await client.refresh_metadata(["a"], allow_auto_create=argument)
            assert broker.asked(MetadataRequest)[0].allow_auto_topic_creation is expected
            await client.close()

    @on_loop
    async def test_listeners_get_every_view(self):
        async with one() as (_, client):
            seen: list[ClusterView] = []

            def broken(_: ClusterView) -> None:
                raise ValueError("a listener's mistake")

            client.on_metadata(broken)
            client.on_metadata(seen.append)
            await client.refresh_metadata(["a"])
            assert seen == [client.metadata]

    @on_loop
    async def test_invalidating_refreshes_soon_and_not_more_often_than_allowed(self):
        async with one() as (broker, client):
            broker.topics = {"a": (0, {0: (1, 1)})}
            await client.refresh_metadata(["a"])
            broker.topics = {"a": (0, {0: (5, 2)})}
            for _ in range(1000):
                client.invalidate("a")
            await until(lambda: client.metadata.leader("a", 0) == 5)
            await asyncio.sleep(0.02)
            assert len(broker.asked(MetadataRequest)) <= 3

    @on_loop
    async def test_tracked_topics_are_refreshed_periodically(self):
        async with one(topic_metadata_refresh_interval_ms=30) as (broker, client):
            client.track_topics(["b", "a"])
            await client.refresh_metadata(["a"])
            await until(lambda: len(broker.asked(MetadataRequest)) >= 3)
            assert [topic.name for topic in broker.asked(MetadataRequest)[-1].topics] == ["a", "b"]

    @on_loop
    async def test_leader_hints(self):
        async with one() as (broker, client):
            broker.topics = {"a": (0, {0: (1, 1)})}
            await client.refresh_metadata(["a"])
            client.hint_leaders([("a", 0, 2, 5)], [BrokerAddress(2, "h", 1)])
            assert client.metadata.leader("a", 0) == 2
            await client.refresh_metadata(["a"])  # epoch 1 is older news
            assert client.metadata.leader("a", 0) == 2


class TestCoordinators:
    @staticmethod
    def found(request: FindCoordinatorRequest, node_id: int, port: int, error_code: int = 0) -> FindCoordinatorResponse:
        if request.coordinator_keys:
            return FindCoordinatorResponse(
                coordinators=[
                    Coordinator(key, node_id, "127.0.0.1", port, error_code) for key in request.coordinator_keys
                ]
            )
        return FindCoordinatorResponse(node_id=node_id, host="127.0.0.1", port=port, error_code=error_code)

    @pytest.mark.parametrize("newest", [6, 3, 0])
    @on_loop
    async def test_are_found_remembered_and_forgotten(self, newest: int):
        async with ScriptedBroker() as broker:
            broker.versions = {**broker.versions, 10: (0, newest)}
            broker.handlers[FindCoordinatorRequest] = lambda request, _: self.found(request, 1, broker.port)
            client = make_client(broker.address)
            keys = ["g1", "g2", "g1"]
            assert await asyncio.gather(*(client.coordinator(CoordinatorKind.GROUP, key) for key in keys)) == [1, 1, 1]
            requests = broker.asked(FindCoordinatorRequest)
            if newest >= 4:
                assert [request.coordinator_keys for request in requests] == [["g1", "g2"]]
            else:
                assert [request.key for request in requests] == ["g1", "g2"]
            await client.coordinator(CoordinatorKind.GROUP, "g1")
            assert broker.asked(FindCoordinatorRequest) == requests
            client.forget_coordinator(CoordinatorKind.GROUP, "g1")
            await client.coordinator(CoordinatorKind.GROUP, "g1")
            assert len(broker.asked(FindCoordinatorRequest)) == len(requests) + 1
            await client.close()

    @on_loop
    async def test_kinds_are_kept_apart(self):
        async with one() as (broker, client):
            broker.handlers[FindCoordinatorRequest] = lambda request, _: self.found(request, 10 + request.key_type, 1)
            assert await client.coordinator(CoordinatorKind.TRANSACTION, "x") == 11
            assert await client.coordinator(CoordinatorKind.GROUP, "x") == 10
            assert client.metadata.brokers[11] == BrokerAddress(11, "127.0.0.1", 1)

    @pytest.mark.parametrize("error_code", [14, 15])
    @on_loop
    async def test_one_that_is_not_available_yet_is_waited_for(self, error_code: int):
        async with one() as (broker, client):
            broker.handlers[FindCoordinatorRequest] = lambda request, _: self.found(
                request, 1, broker.port, error_code if len(broker.asked(FindCoordinatorRequest)) < 4 else 0
            )
            assert await client.coordinator(CoordinatorKind.GROUP, "g") == 1
            assert len(broker.asked(FindCoordinatorRequest)) == 4

    def test_a_timeout_names_what_was_waited_for(self):
        @on_loop
        async def asked_within(limit_s: float) -> None:
            async with one() as (broker, client):
                broker.handlers[FindCoordinatorRequest] = lambda request, _: self.found(request, -1, -1, 15)
                error = await outcome(client.coordinator(CoordinatorKind.GROUP, "g", timeout_s=limit_s))
                assert isinstance(error, NetworkError)
                assert f"coordinator of group 'g': no answer within {limit_s:g} s" in str(error)
                assert "not available yet" in str(error)
                await until(lambda: not client._finder._tasks)  # nobody asks any more

        judged_by(0.1, asked_within)

    @on_loop
    async def test_a_refusal_is_the_keys_own(self):
        async with one() as (broker, client):

            def some(request: FindCoordinatorRequest, _: object) -> FindCoordinatorResponse:
                return FindCoordinatorResponse(
                    coordinators=[
                        Coordinator(key, 1, "127.0.0.1", broker.port, 30 if key == "secret" else 0)
                        for key in request.coordinator_keys
                    ]
                )

            broker.handlers[FindCoordinatorRequest] = some
            fine = asyncio.ensure_future(client.coordinator(CoordinatorKind.GROUP, "fine"))
            error = await outcome(client.coordinator(CoordinatorKind.GROUP, "secret"))
            assert isinstance(error, BrokerError)
            assert error.code == KafkaError.GROUP_AUTHORIZATION_FAILED
            assert "'secret'" in str(error)
            assert await fine == 1

    @on_loop
    async def test_those_of_a_lost_broker_are_asked_for_again(self):
        async with cluster(2) as (brokers, client):
            for broker in brokers:
                broker.handlers[FindCoordinatorRequest] = lambda request, _: self.found(request, 2, brokers[1].port)
            await client.refresh_metadata([])
            assert await client.coordinator(CoordinatorKind.GROUP, "g") == 2
            brokers[1].handlers[HeartbeatRequest] = lambda *_: HangUp
            assert isinstance(await outcome(client.send(2, HeartbeatRequest())), NetworkError)
            before = sum(len(broker.asked(FindCoordinatorRequest)) for broker in brokers)
            await client.coordinator(CoordinatorKind.GROUP, "g")
            assert sum(len(broker.asked(FindCoordinatorRequest)) for broker in brokers) == before + 1


class TestOutage:
    @on_loop
    async def test_all_brokers_down_is_told_once_with_the_first_cause_and_recovered_from(self):
        async with cluster(2) as (brokers, client):
            told: list[KafkaError] = []
            client.on_error(told.append)
            await client.refresh_metadata([])
            await client.connection(2)
            for broker in brokers:
                broker.handlers[HeartbeatRequest] = lambda *_: Silence
            lost = [asyncio.ensure_future(client.send(node, HeartbeatRequest())) for node in (1, 2)]
            await until(lambda: all(broker.asked(HeartbeatRequest) for broker in brokers))
            for broker in brokers:
                await broker.stop()
            for task in lost:
                assert isinstance(await outcome(task), NetworkError)
            await until(lambda: KafkaError._ALL_BROKERS_DOWN in [error.code() for error in told])
            await asyncio.sleep(0.1)
            down = [error for error in told if error.code() == KafkaError._ALL_BROKERS_DOWN]
            assert len(down) == 1
            assert down[0].str().startswith("2/2 brokers are down; first cause: 127.0.0.1:")
            assert len(told) <= 6
            for broker in brokers:
                broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
                await broker.listen()
            for node_id in (1, 2):
                await client.send(node_id, HeartbeatRequest())
            assert client.last_error is None

    @on_loop
    async def test_one_that_is_gone_from_the_cluster_is_forgotten(self):
        async with cluster(2) as (brokers, client):
            await client.refresh_metadata([])
            connection = await client.connection(2)
            for broker in brokers:
                broker.peers = {1: ("127.0.0.1", brokers[0].port)}
            await client.refresh_metadata([])
            assert await end_of(connection) is None
            assert set(client.metadata.brokers) == {1}

    @pytest.mark.parametrize("strategy", ["rebootstrap", "none"])
    @on_loop
    async def test_when_the_whole_known_cluster_is_gone_the_bootstrap_servers_are_asked(self, strategy: str):
        """KIP-899: all brokers were replaced behind the bootstrap address."""
        async with ScriptedBroker(node_id=9) as balancer, ScriptedBroker(1) as old, ScriptedBroker(2) as new:
            balancer.peers = {1: ("127.0.0.1", old.port)}
            client = make_client(balancer.address, metadata_recovery_strategy=strategy)
            await client.refresh_metadata([])
            await client.connection(1)
            await old.stop()
            balancer.peers = {2: ("127.0.0.1", new.port)}
            if strategy == "rebootstrap":
                await client.refresh_metadata([], timeout_s=50)
                assert set(client.metadata.brokers) == {2}
            else:
                assert isinstance(await outcome(client.refresh_metadata([], timeout_s=0.3)), NetworkError)
            await client.close()

    @on_loop
    async def test_a_broker_may_tell_us_to_begin_again(self):
        """KIP-1102: REBOOTSTRAP_REQUIRED."""
        async with ScriptedBroker(node_id=9) as balancer, ScriptedBroker(1) as old, ScriptedBroker(2) as new:
            balancer.peers = {1: ("127.0.0.1", old.port)}
            client = make_client(balancer.address)
            await client.refresh_metadata([])
            await client.connection(1)
            old.handlers[MetadataRequest] = lambda *_: MetadataResponse(error_code=129)
            balancer.peers = {2: ("127.0.0.1", new.port)}
            await client.refresh_metadata([], timeout_s=50)
            assert set(client.metadata.brokers) == {2}
            await client.close()

    @on_loop
    async def test_a_lost_connection_refreshes_metadata_by_itself(self):
        async with cluster(2) as (brokers, client):
            await client.refresh_metadata([])
            brokers[1].handlers[HeartbeatRequest] = lambda *_: HangUp
            before = len(brokers[0].asked(MetadataRequest)) + len(brokers[1].asked(MetadataRequest))
            assert isinstance(await outcome(client.send(2, HeartbeatRequest())), NetworkError)
            await until(
                lambda: len(brokers[0].asked(MetadataRequest)) + len(brokers[1].asked(MetadataRequest)) > before
            )

    @on_loop
    async def test_a_broken_error_listener_does_no_harm(self, refused_port: int):
        client = make_client(f"127.0.0.1:{refused_port}")

        def broken(_: KafkaError) -> None:
            raise ValueError("a listener's mistake")

        told: list[KafkaError] = []
        client.on_error(broken)
        client.on_error(told.append)
        waiting = asyncio.ensure_future(client.refresh_metadata(timeout_s=600))
        await until(lambda: told)
        assert not waiting.done()
        await client.close()
        assert isinstance(await outcome(waiting), StateError)


class TestTokens:
    @on_loop
    async def test_all_connections_share_one_token_and_nobody_polls(self):
        calls: list[str] = []

        def oauth_cb(text: str) -> tuple[str, float]:
            calls.append(threading.current_thread().name)
            return "abc.def.", time.time() + 100

        async with ScriptedBroker() as broker:
            broker.handlers[SaslHandshakeRequest] = lambda *_: SaslHandshakeResponse(mechanisms=["OAUTHBEARER"])
            broker.handlers[SaslAuthenticateRequest] = lambda *_: SaslAuthenticateResponse()
            broker.handlers[HeartbeatRequest] = lambda *_: HeartbeatResponse()
            client = make_client(
                broker.address, security_protocol="sasl_plaintext", sasl_mechanism="OAUTHBEARER", oauth_cb=oauth_cb
            )
            for purpose in Purpose:
                await client.refresh_metadata([])
                await client.send(1, HeartbeatRequest(), purpose=purpose)
            assert calls == ["kafka-core-oauth"]
            assert len(broker.asked(SaslAuthenticateRequest)) == 3
            await client.close()

    @on_loop
    async def test_a_callback_that_fails_is_the_error_of_the_call(self):
        def oauth_cb(_: str) -> tuple[str, float]:
            raise RuntimeError("the identity provider is down")

        async with ScriptedBroker() as broker:
            client = make_client(
                broker.address, security_protocol="sasl_plaintext", sasl_mechanism="OAUTHBEARER", oauth_cb=oauth_cb
            )
            error = await outcome(client.refresh_metadata(timeout_s=50))
            assert isinstance(error, AuthError)
            assert "the identity provider is down" in str(error)
            await client.close()


class TestEnd:
    @on_loop
    async def test_calls_after_close_are_refused(self):
        async with cluster(1) as (brokers, client):
            await client.refresh_metadata([])
            await client.close()
            await client.close()
            for work in (
                client.send(1, HeartbeatRequest()),
                client.connection(1),
                client.send_any(HeartbeatRequest()),
                client.send_controller(HeartbeatRequest()),
                client.refresh_metadata(),
                client.coordinator(CoordinatorKind.GROUP, "g"),
                client.start(),
            ):
                error = await outcome(work)
                assert isinstance(error, StateError)
                assert "closed" in str(error)
            await until(lambda: brokers[0].connections == 0)

    @on_loop
    async def test_waiting_calls_end_with_the_client(self):
        async with cluster(1) as (brokers, client):
            await client.refresh_metadata([])
            brokers[0].handlers[HeartbeatRequest] = lambda *_: Silence
            brokers[0].handlers[MetadataRequest] = lambda *_: Silence
            brokers[0].handlers[FindCoordinatorRequest] = lambda *_: Silence
            waiting = [
                asyncio.ensure_future(work)
                for work in (
                    client.send(1, HeartbeatRequest()),
                    client.refresh_metadata(["a"]),
                    client.coordinator(CoordinatorKind.GROUP, "g"),
                )
            ]
            await until(lambda: brokers[0].asked(HeartbeatRequest))
            await client.close()
            errors = [await outcome(task) for task in waiting]
            assert all(isinstance(error, KafkaException) and not error.retriable for error in errors), errors

    @on_loop
    async def test_close_is_bounded(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            client = make_client(f"127.0.0.1:{silent.getsockname()[1]}")
            await client.start()
            waiting = asyncio.ensure_future(client.refresh_metadata())
            await asyncio.sleep(0.02)
            await client.close(timeout_s=0.2)
            assert isinstance(await outcome(waiting), StateError)

    @pytest.mark.parametrize("debug", ["", "1"])
    def test_an_interpreter_that_ends_without_close_says_nothing(self, debug: str):
        script = """
            import logging
            from kafka_core.sync.loop_thread import LoopThread
            logging.getLogger("asyncio").setLevel(logging.ERROR)  # not the debug mode's "Executing ... took ..."
            from tests.faults.loop import make_client
            from tests.faults.scripted import ScriptedBroker
            server, thread, broker = LoopThread(), LoopThread(), ScriptedBroker()
            server.run(broker.__aenter__())
            async def make():
                return make_client(broker.address)
            client = thread.run(make())
            print(sorted(thread.run(client.refresh_metadata([])).brokers))
            server.run(broker.stop())
        """
        done = subprocess.run(
            [sys.executable, "-Werror", "-c", textwrap.dedent(script)],
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            env={**os.environ, "PYTHONASYNCIODEBUG": debug},
            check=False,
        )
        assert (done.returncode, done.stdout, complaints(done.stderr)) == (0, "[1]\n", "")

    def test_a_loop_that_ends_without_close_leaves_no_socket_behind(self):
        async def leave() -> ClusterClient:
            broker = ScriptedBroker()
            await broker.__aenter__()
            client = make_client(broker.address)
            await client.start()
            await client.refresh_metadata([])
            await broker.stop()
            return client

        client = asyncio.run(leave())  # cancels the keeper, which drops the connections; a warning would fail this
        assert client.metadata.brokers
