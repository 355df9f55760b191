"""Telemetry of clients (KIP-714) on the embedded cluster and on Kafka 4 with a plug-in that decodes what comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_core import Consumer, KafkaException, Producer, TopicPartition
from kafka_core.admin import AdminClient, ConfigResource, ConfigSource, ResourceType
from kafka_core.aio import AIOConsumer, AIOProducer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import StateError, UnsupportedVersionError
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
)
from tests.contract.clusters import LIMIT_S, Cluster, consumer, fill, producer, take, unique, wait_for
from tests.contract.share_wire import Wire
from tests.contract.telemetry import TelemetryCluster, compiled_reporter
from tests.faults.loop import until
from tests.fix_kafka import start_real

PREFIX = "org.apache.kafka."
OF_PRODUCERS = {
    *("connection.creation.rate", "connection.creation.total", "node.request.latency.avg", "node.request.latency.max"),
    *("produce.throttle.time.avg", "produce.throttle.time.max", "record.queue.time.avg", "record.queue.time.max"),
}
OF_CONSUMERS = {
    *("connection.creation.rate", "connection.creation.total", "node.request.latency.avg", "node.request.latency.max"),
    *("poll.idle.ratio.avg", "coordinator.commit.latency.avg", "coordinator.commit.latency.max"),
    *("coordinator.assigned.partitions", "coordinator.rebalance.latency.avg", "coordinator.rebalance.latency.max"),
    *("coordinator.rebalance.latency.total", "fetch.manager.fetch.latency.avg", "fetch.manager.fetch.latency.max"),
}
NONE, UNSUPPORTED_COMPRESSION, INVALID_CONFIG, INVALID_REQUEST, INVALID_RECORD = 0, 76, 40, 42, 87
THROTTLED, UNKNOWN_SUBSCRIPTION = 89, 117


@pytest.fixture(scope="module")
def embedded_telemetry() -> Iterator[TelemetryCluster]:
    with EmbeddedCluster(properties={"metric.reporters": "any.Reporter"}) as running:
        cluster = TelemetryCluster("embedded", running.bootstrap_servers, partner=running)
        yield cluster
        cluster.close()


@pytest.fixture(scope="module")
def real_telemetry(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("telemetry")
    classes = compiled_reporter(request.getfixturevalue("kafka_jars"), folder)
    extra = {"metric.reporters": "TelemetryReporter", "test.telemetry.file": str(folder / "pushed")}
    for running in start_real(extra=extra, classes=classes):
        cluster = TelemetryCluster("real", running.bootstrap_servers, partner=running, file=folder / "pushed")
        yield cluster
        cluster.close()


@pytest.fixture(params=["embedded_telemetry", pytest.param("real_telemetry", marks=pytest.mark.broker)])
def cluster(request: pytest.FixtureRequest) -> TelemetryCluster:
    found: TelemetryCluster = request.getfixturevalue(request.param)
    return found


def named(kind: str, names: set[str]) -> set[str]:
    return {f"{PREFIX}{kind}.{name}" for name in names}


def test_a_producer_pushes_what_is_asked_for_and_says_goodbye(cluster: TelemetryCluster) -> None:
    name, topic = unique("producer"), cluster.topic()
    cluster.want(name, f"{PREFIX}producer.")
    with producer(cluster, client_id=name, transactional_id=name) as writer:
        writer.init_transactions(LIMIT_S)
        instance = str(writer.client_instance_id(LIMIT_S))

        def told() -> bool:
            with writer.transaction():
                writer.produce(topic, b"value")
            return cluster.names(name) >= named("producer", OF_PRODUCERS)

        wait_for(told, "all metrics of producers")
        assert str(writer.client_instance_id(LIMIT_S)) == instance
    wait_for(lambda: cluster.pushes(name)[-1].terminating, "the goodbye")
    pushes = cluster.pushes(name)
    assert {push.instance for push in pushes} == {instance}
    assert [push.terminating for push in pushes].count(True) == 1
    assert {push.labels for push in pushes} == {f"{{transactional_id={name}}}"}
    totals = [push.values[f"{PREFIX}producer.connection.creation.total"] for push in pushes]
    assert {kind for values in totals for kind, _, _ in values} == {"delta"}
    assert sum(value for values in totals for _, value, _ in values) >= 1
    latency = f"{PREFIX}producer.node.request.latency.avg"
    # A push tells of the requests since the one before it: one between two answers has no latency.
    assert {labels for push in pushes for _, _, labels in push.values.get(latency, ())} == {"{node_id=node-1}"}


def test_a_consumer_pushes_what_is_asked_for(cluster: TelemetryCluster) -> None:
    name, topic, group = unique("consumer"), cluster.topic(2), unique("group")
    cluster.want(name, "*")
    fill(cluster, topic, [b"value"])
    with consumer(cluster, group, client_id=name, group_instance_id="seat", enable_auto_commit=False) as reader:
        instance = str(reader.client_instance_id(LIMIT_S))
        wait_for(lambda: cluster.names(name), "the first push")
        reader.subscribe([topic])
        take(reader, 1)
        member = reader.memberid()

        def told() -> bool:
            reader.poll(0.01)
            reader.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
            return cluster.names(name) >= named("consumer", OF_CONSUMERS)

        wait_for(told, "all metrics of consumers")
    wait_for(lambda: cluster.pushes(name)[-1].terminating, "the goodbye")
    pushes = cluster.pushes(name)
    assert {push.instance for push in pushes} == {instance}
    assert f"{{group_id={group}, group_instance_id=seat, group_member_id={member}}}" in {push.labels for push in pushes}
    assigned = [push.values[f"{PREFIX}consumer.coordinator.assigned.partitions"][0][1] for push in pushes]
    assert 2.0 in assigned


def test_asyncio_clients_push_too(cluster: TelemetryCluster) -> None:
    name, topic = unique("aio"), cluster.topic()
    cluster.want(name, "*")
    conf: dict[str, object] = {"bootstrap.servers": cluster.servers, "client.id": name}

    async def work() -> set[str]:
        writer = AIOProducer(conf)
        reader = AIOConsumer({**conf, "group.id": name})
        await (await writer.produce(topic, b"value"))
        ids = {str(await writer.client_instance_id(LIMIT_S)), str(await reader.client_instance_id(LIMIT_S))}
        await until(lambda: {push.instance for push in cluster.pushes(name)} == ids, LIMIT_S)
        await writer.close()
        await reader.close()
        return ids

    ids = asyncio.run(work())
    assert len(ids) == 2
    wait_for(
        lambda: {push.instance for push in cluster.pushes(name) if push.terminating} == ids, "the goodbyes of both"
    )


def test_another_subscription_takes_the_place_of_the_first(cluster: TelemetryCluster) -> None:
    name, topic = unique("changing"), cluster.topic()
    rate, queued = f"{PREFIX}producer.connection.creation.rate", f"{PREFIX}producer.record.queue.time."
    cluster.want(name, rate)
    with producer(cluster, client_id=name) as writer:

        def pushes_of(prefix: str) -> bool:
            writer.produce(topic, b"value")
            writer.flush(LIMIT_S)
            return any(key.startswith(prefix) for push in cluster.pushes(name)[-1:] for key in push.values)

        wait_for(lambda: pushes_of(rate), "the first subscription is followed")
        cluster.subscribe(name, metrics=queued)
        wait_for(lambda: pushes_of(queued), "the second subscription is followed")
    assert cluster.names(name) == {rate, f"{queued}avg", f"{queued}max"}
    assert len({push.instance for push in cluster.pushes(name)}) == 1


def test_every_client_has_an_id(cluster: TelemetryCluster) -> None:
    conf = {"bootstrap.servers": cluster.servers}
    admin, writer, reader = AdminClient(conf), Producer(conf), Consumer({**conf, "group.id": unique("group")})
    with admin, writer, reader:
        ids = {client.client_instance_id(LIMIT_S) for client in (admin, writer, reader)}
        assert len(ids) == 3
        assert {client.client_instance_id() for client in (admin, writer, reader)} == ids


def test_a_client_that_pushes_nothing_has_no_id(cluster: TelemetryCluster) -> None:
    with producer(cluster, enable_metrics_push="false") as writer, pytest.raises(StateError, match=r"metrics\.push"):
        writer.client_instance_id(LIMIT_S)


@pytest.mark.parametrize("kind", ["embedded", "capped", pytest.param("real", marks=pytest.mark.broker)])
def test_a_cluster_that_takes_no_telemetry_gives_no_ids(kind: str, request: pytest.FixtureRequest) -> None:
    cluster: Cluster = request.getfixturevalue(kind)
    with producer(cluster) as writer, pytest.raises(UnsupportedVersionError, match="takes no client telemetry"):
        writer.client_instance_id(LIMIT_S)


# ---- the broker's side


def subscribed(wire: Wire, instance_id: object = ZERO_UUID) -> GetTelemetrySubscriptionsResponse:
    return wire.ask(GetTelemetrySubscriptionsRequest(instance_id))  # type: ignore[arg-type]


def test_the_subscription_is_told_and_pushes_are_checked(cluster: TelemetryCluster) -> None:
    name = unique("wire")
    cluster.subscribe(name, metrics="one.,two.", interval_ms="3600000", match=f"client_id={name}")

    def first() -> GetTelemetrySubscriptionsResponse | None:
        with Wire(cluster, name) as wire:
            found = subscribed(wire)
            return found if found.requested_metrics else None

    wait_for(first, "the broker knows the subscription")
    with Wire(cluster, name) as wire:
        told = subscribed(wire)
        assert (told.error_code, sorted(told.requested_metrics)) == (NONE, ["one.", "two."])
        # Intervals above the default do not count: the shortest one wins, and the default is one of them.
        assert (told.push_interval_ms, told.telemetry_max_bytes, told.delta_temporality) == (300_000, 1_048_576, True)
        assert told.accepted_compression_types == [4, 3, 1, 2]
        assert subscribed(wire, told.client_instance_id).error_code == THROTTLED

        def push(**values: object) -> int:
            given = {"client_instance_id": told.client_instance_id, "subscription_id": told.subscription_id, **values}
            return wire.ask(PushTelemetryRequest(**given)).error_code  # type: ignore[arg-type]

        assert push(client_instance_id=ZERO_UUID) == INVALID_REQUEST
        assert push() == NONE
        assert push() == THROTTLED
        assert push(terminating=True, metrics=b"no Protobuf" * 9, compression_type=4) == INVALID_RECORD
        assert push(terminating=True) == INVALID_REQUEST
    with Wire(cluster, name) as wire:
        told = subscribed(wire)
        assert push(subscription_id=told.subscription_id + 1) == UNKNOWN_SUBSCRIPTION
        again = subscribed(wire, told.client_instance_id)
        assert (again.error_code, again.subscription_id) == (NONE, told.subscription_id)
        assert push() == THROTTLED  # a push that was refused counts, too
    with Wire(cluster, name) as wire:
        told = subscribed(wire)
        assert push(compression_type=9) == UNSUPPORTED_COMPRESSION
        assert subscribed(wire, told.client_instance_id).error_code == NONE
    with Wire(cluster, name) as wire:  # an id that another broker has given, maybe
        told = subscribed(wire, uuid4())
        assert told.error_code == NONE
        assert push() == NONE


def test_subscriptions_are_resources_with_a_configuration(cluster: TelemetryCluster) -> None:
    name = unique("resource")
    resource = ConfigResource(ResourceType.CLIENT_METRICS, name)

    def described() -> dict[str, tuple[str | None, int, bool]]:
        entries = cluster.admin.describe_configs([resource])[resource].result(LIMIT_S)
        return {
            key: (entry.value, ConfigSource(entry.source).value, entry.is_default) for key, entry in entries.items()
        }

    def listed() -> bool:
        return ("client_metrics", name) in cluster.admin.list_config_resources(["client_metrics"]).result(LIMIT_S)

    defaults = described()
    assert not listed()
    cluster.subscribe(name, metrics="one.,two.", match="client_id=x.*")
    wait_for(listed, "the subscription is listed")
    assert defaults == {"interval.ms": ("300000", 5, True), "match": ("", 5, True), "metrics": ("", 5, True)}
    assert described() == {
        "interval.ms": ("300000", 5, True),
        "match": ("client_id=x.*", 7, False),
        "metrics": ("one.,two.", 7, False),
    }
    cluster.subscribe(name, metrics=None, match=None)
    wait_for(lambda: not listed(), "the subscription is gone")
    assert described() == defaults


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"metricz": "*"}, INVALID_REQUEST),
        ({"interval_ms": "99"}, INVALID_REQUEST),
        ({"interval_ms": "3600001"}, INVALID_REQUEST),
        ({"interval_ms": "soon"}, INVALID_CONFIG),
        ({"match": "client_id"}, INVALID_CONFIG),
        ({"match": "colour=blue"}, INVALID_CONFIG),
        ({"match": "client_id=("}, INVALID_CONFIG),
    ],
)
def test_a_subscription_that_makes_no_sense_is_refused(
    cluster: TelemetryCluster, properties: dict[str, str], code: int
) -> None:
    with pytest.raises(KafkaException) as refused:
        cluster.subscribe(unique("wrong"), **properties)
    assert refused.value.code == code
