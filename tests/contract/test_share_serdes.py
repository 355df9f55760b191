"""Share consumers that deserialize: what becomes of records that can't be read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_core import AcknowledgeType, KafkaError
from serdes import AIODeserializingShareConsumer, DeserializingShareConsumer, SerializationContext
from serdes.errors import SerializationError
from tests.contract.clusters import LIMIT_S, Cluster, fill
from tests.contract.share_groups import Member, first, share_conf, share_group
from tests.contract.test_share_groups import KINDS


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


class Typed(Member):
    """A deserializing share consumer of either face."""

    def __init__(self, face: str, conf: dict[str, Any]) -> None:
        self._runner = asyncio.Runner() if face == "asyncio" else None
        kind: Any = AIODeserializingShareConsumer if self._runner else DeserializingShareConsumer
        self.consumer = kind(conf)


def number(data: bytes | None, context: SerializationContext) -> int:
    return int(data or b"")


def made(cluster: Cluster, face: str, group: str, topic: str, /, **conf: object) -> Typed:
    typed = Typed(face, {**share_conf(cluster, group, **conf), "value.deserializer": number})
    typed.subscribe(topic)
    return typed


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
@pytest.mark.parametrize("policy", ["reject", "release"])
def test_a_record_that_can_not_be_read_is_told_and_never_accepted(cluster: Cluster, face: str, policy: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, [b"1", b"bad", b"3"])
    with made(cluster, face, group, topic, poison_acknowledgement=policy) as one:
        records = list(one.poll(LIMIT_S))
        assert [record.value() for record in records] == [1, b"bad", 3]
        error = records[1].error()
        assert error is not None
        assert error.code() == KafkaError._VALUE_DESERIALIZATION
        assert set(one.commit().values()) == {None}
        fill(cluster, topic, [b"4"])
        seen = []
        while 4 not in seen:
            seen += [record.value() for record in one.poll(LIMIT_S)]
            one.commit()
    assert (b"bad" in seen) == (policy == "release")
    assert seen.count(4) == 1


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
def test_explicit_mode_leaves_it_to_the_application(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, [b"bad"])
    with made(cluster, face, group, topic, share_acknowledgement_mode="explicit") as one:
        (record,) = one.poll(LIMIT_S)
        one.acknowledge(record, AcknowledgeType.RELEASE)
        (record,) = one.poll(LIMIT_S)
        assert (record.value(), record.delivery_count()) == (b"bad", 2)
        one.acknowledge(record, AcknowledgeType.REJECT)
        assert set(one.commit().values()) == {None}


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
def test_while_the_registry_is_away_records_are_released(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, [b"1"])
    away = [True]

    def read(data: bytes | None, context: SerializationContext) -> bytes | None:
        if away.pop() if away else False:
            error = SerializationError("no registry")
            error.registry_away = True
            raise error
        return data

    typed = Typed(face, {**share_conf(cluster, group), "value.deserializer": read})
    with typed as one:
        one.subscribe(topic)
        (record,) = one.poll(LIMIT_S)
        error = record.error()
        assert error is not None
        assert error.retriable()
        (again,) = first(one)
        assert (again.value(), again.delivery_count()) == (b"1", 2)


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
def test_records_of_a_poll_that_is_broken_off_while_reading_come_whole_again(cluster: Cluster, face: str) -> None:
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, [b"1", b"2"])
    calls: list[bytes | None] = []

    def read(data: bytes | None, context: SerializationContext) -> int:
        calls.append(data)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return number(data, context)

    with Typed(face, {**share_conf(cluster, group), "value.deserializer": read}) as one:
        one.subscribe(topic)
        with pytest.raises(KeyboardInterrupt):
            one.poll(LIMIT_S)
        assert one.commit() == {}
        assert [(record.value(), record.delivery_count()) for record in first(one)] == [(1, 1), (2, 1)]


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"poison\.acknowledgement"):
        DeserializingShareConsumer({"bootstrap.servers": "x", "group.id": "g", "poison.acknowledgement": "keep"})
