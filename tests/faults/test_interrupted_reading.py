"""Deserializing consumers that are interrupted while a message is read: nothing of what they had taken is skipped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core import Producer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import KafkaException
from serdes import AIODeserializingConsumer, DeserializingConsumer
from tests.faults.loop import on_loop, until

RECORDS = [b"%d" % number for number in range(5)]


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
            for record in RECORDS:
                producer.produce("t", record)
        yield cluster.bootstrap_servers


def conf(servers: str, **others: Any) -> dict[str, Any]:
    return {"bootstrap.servers": servers, "group.id": "g", "enable.auto.commit": False, **others}


class Interrupted:
    """Deserializers that meet an interrupt at one record, once."""

    def __init__(self, at: bytes) -> None:
        self.at = at
        self.waits = False

    def read(self, data: bytes | None, context: Any) -> bytes | None:
        if data == self.at and not self.waits:
            self.waits = True
            raise KeyboardInterrupt
        return data

    async def read_later(self, data: bytes | None, context: Any) -> bytes | None:
        if data == self.at and not self.waits:
            self.waits = True
            await asyncio.Event().wait()
        return data


def nothing_stored(consumer: DeserializingConsumer[Any, Any]) -> bool:
    try:
        committed = consumer.commit(asynchronous=False)
    except KafkaException:
        return True
    return not committed


@pytest.mark.parametrize("at", [b"0", b"2"])
def test_a_poll_that_meets_ctrl_c_gives_its_message_again(servers: str, at: bytes) -> None:
    interrupted = Interrupted(at)
    with DeserializingConsumer[Any, bytes](conf(servers, **{"value.deserializer": interrupted.read})) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        found: list[bytes | None] = []
        while len(found) < len(RECORDS):
            with contextlib.suppress(KeyboardInterrupt):
                message = consumer.poll(60)
                assert message is not None, "its records are not behind the position"
                found.append(message.value())
    assert (found, interrupted.waits) == (RECORDS, True)


@pytest.mark.parametrize("more", [{}, {"poison.policy": "skip"}])
def test_a_consume_that_meets_ctrl_c_gives_all_its_messages_again(servers: str, more: dict[str, Any]) -> None:
    interrupted = Interrupted(b"2")
    own = conf(servers, **{"value.deserializer": interrupted.read, **more})
    with DeserializingConsumer[Any, bytes](own) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        with pytest.raises(KeyboardInterrupt):
            consumer.consume(len(RECORDS), 60)
        assert nothing_stored(consumer)
        found: list[bytes | None] = []
        while len(found) < len(RECORDS):
            found += [message.value() for message in consumer.consume(len(RECORDS), 60)]
    assert found == RECORDS


@pytest.mark.parametrize("call", ["poll", "consume"])
@on_loop
async def test_a_cancelled_call_gives_its_messages_again(call: str, servers: str) -> None:
    interrupted = Interrupted(b"2")
    consumer = AIODeserializingConsumer[Any, bytes](conf(servers, **{"value.deserializer": interrupted.read_later}))
    await consumer.assign([TopicPartition("t", 0, 0)])
    found: list[bytes | None] = []

    async def read() -> None:
        if call == "poll":
            message = await consumer.poll(60)
            found.extend([message.value()] if message is not None else [])
        else:
            found.extend(message.value() for message in await consumer.consume(3, 60))

    while not interrupted.waits:
        task = asyncio.ensure_future(read())
        await until(lambda task=task: task.done() or interrupted.waits)  # type: ignore[misc]
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
    while len(found) < len(RECORDS):
        await read()
    assert found == RECORDS
    await consumer.close()


def test_offsets_stored_behind_what_is_handed_back_are_taken_back(servers: str) -> None:
    with DeserializingConsumer[Any, bytes](conf(servers)) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        messages: list[Any] = []
        while len(messages) < 2:
            messages += consumer.consume(2 - len(messages), 60)
        consumer.hand_back(messages[1:])
        committed = consumer.commit(asynchronous=False)
        assert [place.offset for place in committed or []] == [1]
        again = consumer.poll(60)
        assert again is not None
        assert again.value() == RECORDS[1]
