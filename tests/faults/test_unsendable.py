"""Requests that cannot be encoded are refused at once, with a sentence, and spoil nothing for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from kafka_core.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import ConfigError

LONG = "x" * 40_000
LIMIT_S = 300.0
"""socket.timeout.ms: a refusal that only comes then fails the test by its code."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as made:
        made.create_topic("t", 1)
        yield made


@pytest.fixture
def admin(cluster: EmbeddedCluster) -> Iterator[AdminClient]:
    with AdminClient(
        {"bootstrap.servers": cluster.bootstrap_servers, "socket.timeout.ms": int(LIMIT_S * 1000)}
    ) as made:
        yield made


def as_given(value: Any) -> Any:
    """The value, typed so that type checkers accept it."""
    return value


def settled(futures: dict[Any, Future[Any]]) -> list[Any]:
    return [future.result(LIMIT_S) for future in futures.values()]


@pytest.mark.parametrize(
    "call",
    [
        lambda admin: admin.list_topics(LONG),
        lambda admin: admin.list_topics("\ud800"),
        lambda admin: settled(admin.create_topics([NewTopic(LONG, 1)])),
        lambda admin: settled(admin.create_topics([NewTopic("a", 2**40)])),
        lambda admin: settled(admin.create_topics([NewTopic("a", 1, config={"retention.ms": LONG})])),
        lambda admin: settled(admin.delete_topics([LONG])),
        lambda admin: settled(admin.describe_consumer_groups([LONG])),
        lambda admin: settled(admin.describe_share_groups([LONG])),
        lambda admin: settled(admin.delete_share_group_offsets("g", [LONG])),
        lambda admin: settled(admin.describe_configs([ConfigResource("topic", LONG)])),
    ],
)
def test_administration(admin: AdminClient, call: Callable[[AdminClient], object]) -> None:
    with pytest.raises(KafkaException) as caught:
        call(admin)
    assert caught.value.code == KafkaError._INVALID_ARG


@pytest.mark.parametrize(
    "call",
    [
        lambda admin: admin.alter_configs([ConfigResource("topic", "t", set_config={"retention.ms": as_given(b"5")})]),
        lambda admin: admin.alter_configs([ConfigResource("topic", "t", set_config={as_given(5): "5"})]),
        lambda admin: admin.create_partitions([NewPartitions("t", "5")]),
    ],
)
def test_wrong_types_are_type_errors(admin: AdminClient, call: Callable[[AdminClient], object]) -> None:
    with pytest.raises(TypeError):
        call(admin)


def test_numbers_are_taken_as_values_of_configurations(admin: AdminClient) -> None:
    resource = ConfigResource("topic", "t", set_config={"retention.ms": 5_000_000})  # type: ignore[dict-item]
    settled(admin.alter_configs([resource]))
    entry = ConfigEntry("segment.ms", 60_000, incremental_operation=AlterConfigOpType.SET)  # type: ignore[arg-type]
    settled(admin.incremental_alter_configs([ConfigResource("topic", "t", incremental_configs=[entry])]))
    (found,) = settled(admin.describe_configs([ConfigResource("topic", "t")]))
    assert (found["retention.ms"].value, found["segment.ms"].value) == ("5000000", "60000")


@pytest.mark.parametrize("name", [LONG, "\ud800"])
def test_a_topic_that_no_request_can_carry_fails_alone(cluster: EmbeddedCluster, name: str) -> None:
    codes: dict[str, int] = {}
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for topic in (name, "t"):
            producer.produce(
                topic, b"v", on_delivery=lambda error, message: codes.update({message.topic(): error and error.code()})
            )
        assert producer.flush(LIMIT_S) == 0
    assert codes == {name: KafkaError._INVALID_ARG, "t": None}


def test_consumers(cluster: EmbeddedCluster) -> None:
    conf: dict[str, object] = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"}
    with Consumer({**conf, "socket.timeout.ms": int(LIMIT_S * 1000)}) as consumer:
        consumer.assign([TopicPartition(LONG, 0)])
        message = consumer.poll(LIMIT_S)
        assert message is not None
        error = message.error()
        assert error is not None
        assert error.code() == KafkaError._INVALID_ARG
        with pytest.raises(KafkaException) as caught:
            consumer.commit(offsets=[TopicPartition("t", 0, 1, metadata=LONG)], asynchronous=False)
        assert caught.value.code == KafkaError._INVALID_ARG


@pytest.mark.parametrize("name", ["client.id", "group.id", "group.instance.id", "client.rack"])
def test_configured_names_must_fit_requests(name: str) -> None:
    for value in (LONG, "\ud800"):
        with pytest.raises(ConfigError, match=name):
            Consumer({"bootstrap.servers": "h:1", "group.id": "g", name: value})
