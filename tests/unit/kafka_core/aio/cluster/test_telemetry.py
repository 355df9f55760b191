"""kafka_core.aio.cluster.telemetry: whom it asks, and that it holds nobody up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from kafka_core.aio.cluster import telemetry
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.errors import BrokerError, KafkaError, StateError, UnsupportedVersionError
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
    PushTelemetryResponse,
)
from tests.faults.loop import TEST_LIMIT_S, make_client, on_loop, outcome, until
from tests.faults.scripted import TELEMETRY, HangUp, ScriptedBroker, Silence

ID = UUID(int=9)


def subscribing(**values: Any) -> Any:
    given = {
        "client_instance_id": ID,
        "subscription_id": 5,
        "push_interval_ms": 20,
        "telemetry_max_bytes": 1 << 20,
        "requested_metrics": ["*"],
    }
    return lambda request, header: GetTelemetrySubscriptionsResponse(**{**given, **values})


@contextlib.asynccontextmanager
async def brokers(count: int = 1, **properties: Any) -> AsyncIterator[tuple[list[ScriptedBroker], ClusterClient]]:
    """Brokers that take telemetry, and a client that is connected to none yet."""
    handlers: Any = {
        GetTelemetrySubscriptionsRequest: subscribing(),
        PushTelemetryRequest: lambda request, header: PushTelemetryResponse(),
    }
    async with contextlib.AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(ScriptedBroker(node_id=n, handlers=dict(handlers)))
            for n in range(1, count + 1)
        ]
        peers = {broker.node_id: ("127.0.0.1", broker.port) for broker in found}
        for broker in found:
            broker.peers = peers
            broker.versions |= dict.fromkeys(TELEMETRY, (0, 0))
        client = make_client(found[0].address, **properties)
        try:
            yield found, client
        finally:
            await client.close()


@on_loop
async def test_a_client_subscribes_pushes_and_says_goodbye() -> None:
    async with brokers() as ((broker,), client):
        await client.refresh_metadata(())
        await until(lambda: len(broker.asked(PushTelemetryRequest)) > 1)
        assert (await client.client_instance_id()).to_uuid() == ID
        await client.close()
        pushes = broker.asked(PushTelemetryRequest)
        assert [push.terminating for push in pushes] == [False] * (len(pushes) - 1) + [True]
        assert {push.client_instance_id for push in pushes} == {ID}
        assert len(broker.asked(GetTelemetrySubscriptionsRequest)) == 1


@on_loop
async def test_nothing_is_asked_of_brokers_that_take_none() -> None:
    async with ScriptedBroker() as broker:
        client = make_client(broker.address)
        await client.refresh_metadata(())
        error = await outcome(client.client_instance_id())
        assert isinstance(error, UnsupportedVersionError)
        await client.close()
        assert {type(request).__name__ for _, request in broker.received} == {"ApiVersionsRequest", "MetadataRequest"}


@on_loop
async def test_nothing_is_asked_where_it_is_turned_off() -> None:
    async with brokers(enable_metrics_push=False) as ((broker,), client):
        await client.refresh_metadata(())
        error = await outcome(client.client_instance_id())
        assert isinstance(error, StateError)
        await client.close()
        assert broker.asked(GetTelemetrySubscriptionsRequest) == []


@on_loop
async def test_nothing_is_measured_while_nobody_subscribes() -> None:
    async with brokers() as ((broker,), client):
        broker.handlers[GetTelemetrySubscriptionsRequest] = subscribing(requested_metrics=[])
        await client.client_instance_id()
        assert not client.meters.active
        broker.handlers[GetTelemetrySubscriptionsRequest] = subscribing()
        await until(lambda: client.meters.active)
        broker.handlers[PushTelemetryRequest] = lambda request, header: PushTelemetryResponse(
            error_code=KafkaError.UNKNOWN_SUBSCRIPTION_ID
        )
        broker.handlers[GetTelemetrySubscriptionsRequest] = subscribing(requested_metrics=[])
        await until(lambda: not client.meters.active)
        await client.close()
        assert not any(push.terminating for push in broker.asked(PushTelemetryRequest))


@on_loop
async def test_a_goodbye_that_is_not_answered_holds_closing_up_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float | None] = []
    real = telemetry.asyncio.timeout
    monkeypatch.setattr(telemetry.asyncio, "timeout", lambda seconds: (waits.append(seconds), real(seconds))[1])
    async with brokers() as ((broker,), client):
        await client.refresh_metadata(())
        await until(lambda: broker.asked(PushTelemetryRequest))
        broker.handlers[PushTelemetryRequest] = lambda request, header: Silence
        waits.clear()
        await client.close(TEST_LIMIT_S)
        assert telemetry.GOODBYE_S in waits
        await until(lambda: broker.asked(PushTelemetryRequest)[-1].terminating)


@on_loop
async def test_closing_without_a_subscription_waits_for_nothing() -> None:
    async with brokers() as ((broker,), client):
        broker.handlers[GetTelemetrySubscriptionsRequest] = lambda request, header: Silence
        await client.refresh_metadata(())
        await until(lambda: broker.asked(GetTelemetrySubscriptionsRequest))
        await client.close(TEST_LIMIT_S)
        assert broker.asked(PushTelemetryRequest) == []


@on_loop
async def test_another_broker_takes_over_with_the_same_id() -> None:
    async with brokers(2) as ((first, second), client):
        await client.refresh_metadata(())
        await until(lambda: first.asked(PushTelemetryRequest))
        await client.connection(2)
        first.handlers[PushTelemetryRequest] = lambda request, header: HangUp
        await first.stop()
        await until(lambda: second.asked(PushTelemetryRequest))
        (push, *_) = second.asked(PushTelemetryRequest)
        assert push.client_instance_id == ID


@on_loop
async def test_without_a_connection_a_push_waits_for_the_next_one() -> None:
    async with brokers() as ((broker,), client):
        await client.refresh_metadata(())
        await until(lambda: broker.asked(PushTelemetryRequest))
        await broker.stop()
        await until(lambda: not client.connected)
        before = len(broker.asked(PushTelemetryRequest))
        await broker.listen()
        await client.refresh_metadata(())
        await until(lambda: len(broker.asked(PushTelemetryRequest)) > before)


@on_loop
async def test_a_cluster_that_refuses_an_id_says_why() -> None:
    async with brokers() as ((broker,), client):
        broker.handlers[GetTelemetrySubscriptionsRequest] = subscribing(error_code=KafkaError.INVALID_REQUEST)
        error = await outcome(client.client_instance_id())
        assert isinstance(error, BrokerError)
        assert error.code == KafkaError.INVALID_REQUEST
        assert (await outcome(client.client_instance_id())).args == error.args


@on_loop
async def test_who_waits_for_an_id_while_the_client_is_closed_is_told() -> None:
    async with brokers() as ((broker,), client):
        broker.handlers[GetTelemetrySubscriptionsRequest] = lambda request, header: Silence
        waiting = asyncio.create_task(outcome(client.client_instance_id(timeout_s=TEST_LIMIT_S)))
        await until(lambda: broker.asked(GetTelemetrySubscriptionsRequest))
        await client.close()
        assert isinstance(await waiting, StateError)
