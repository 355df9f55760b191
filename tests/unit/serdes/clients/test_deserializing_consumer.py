"""Decisions of the typed clients without a broker; `tests/contract/test_serdes_clients.py` has them at work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.errors import ConfigError, ConsumeError, KafkaError, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from serdes import (
    AIODeserializingConsumer,
    AIOSerializingProducer,
    DeserializingConsumer,
    SerializationError,
    SerializingProducer,
    StringDeserializer,
)
from serdes.errors import ValueDeserializationError

CONF = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}


class Scripted(DeserializingConsumer[str, str]):
    """A consumer whose messages come from a list."""

    def __init__(self, messages: list[Message], monkeypatch: pytest.MonkeyPatch, **conf: Any) -> None:
        super().__init__({**CONF, "value.deserializer": StringDeserializer(), **conf})
        self.seeks: list[TopicPartition] = []
        self.stored: list[TopicPartition] = []
        self.revoked = False
        self._store: Any = None if self._store is None else self.store_behind
        monkeypatch.setattr(Consumer, "poll", lambda consumer, timeout: messages.pop(0) if messages else None)
        monkeypatch.setattr(
            Consumer, "consume", lambda consumer, count, timeout: [messages.pop(0) for _ in messages[:count]]
        )

    def seek(self, partition: TopicPartition) -> None:
        if self.revoked:
            raise StateError("not assigned")
        self.seeks.append(partition)

    def store_behind(self, message: Message) -> bool:
        if not self.revoked:
            self.stored.append(TopicPartition(message.topic(), message.partition(), message.offset() + 1))
        return not self.revoked

    def store_offsets(self, message: Any = None, offsets: Any = None) -> None:
        if self.revoked:
            raise StateError("not assigned")
        self.stored += offsets


def message(offset: int, value: bytes = b"v", error: KafkaError | None = None) -> Message:
    return Message(topic="t", partition=0, offset=offset, value=value, error=error)


def offsets(places: list[TopicPartition]) -> list[int]:
    return [place.offset for place in places]


def test_poll_stores_what_it_hands_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted([message(4)], monkeypatch) as consumer:
        found = consumer.poll(0)
        assert found is not None
        assert found.value() == "v"
        assert offsets(consumer.stored) == [5]
        assert consumer.poll(0) is None


@pytest.mark.parametrize("off", [False, "false", "False", "f", " F ", "0", 0])
def test_poll_stores_nothing_if_it_must_not(monkeypatch: pytest.MonkeyPatch, off: object) -> None:
    with Scripted([message(4)], monkeypatch, **{"enable.auto.offset.store": off}) as consumer:
        assert consumer.poll(0) is not None
        assert consumer.stored == []


def test_whether_offsets_are_stored_is_read_as_the_consumer_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted([message(4)], monkeypatch, **{"default.topic.config": {"enable.auto.offset.store": "f"}}) as consumer:
        assert consumer.poll(0) is not None
        assert consumer.stored == []
    for kind in (DeserializingConsumer, AIODeserializingConsumer):
        with pytest.raises(ConfigError, match=r"enable\.auto\.offset\.store must be a boolean value"):
            kind({**CONF, "enable.auto.offset.store": "fasle"})


def test_consume_stores_the_last_message_of_each_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Message(topic="t", partition=1, offset=7, value=b"w")
    with Scripted([message(4), other, message(5)], monkeypatch) as consumer:
        assert [found.value() for found in consumer.consume(10, 0)] == ["v", "w", "v"]
        assert [(place.partition, place.offset) for place in consumer.stored] == [(0, 6), (1, 8)]


def test_messages_of_a_revoked_partition_are_handed_out_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted([message(4), message(5)], monkeypatch) as consumer:
        consumer.revoked = True
        found = consumer.poll(0)
        assert found is not None
        assert [found.value(), *(other.value() for other in consumer.consume(10, 0))] == ["v", "v"]
        assert consumer.stored == []


def test_each_message_is_deserialized_once_also_one_that_can_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes | None] = []

    def read(value: bytes | None, ctx: object) -> str:
        seen.append(value)
        return (value or b"").decode()

    poisoned = [message(1, b"a"), message(2, b"\xff"), message(3, b"b")]
    conf = {"value.deserializer": read, "poison.policy": "skip"}
    with Scripted(list(poisoned), monkeypatch, **conf) as consumer:
        assert [found.value() for found in consumer.consume(10, 0)] == ["a", "b"]
        assert offsets(consumer.stored) == [4]
        assert seen == [b"a", b"\xff", b"b"]
    seen.clear()
    with Scripted([message(2, b"\xff"), message(3, b"b")], monkeypatch, **conf) as consumer:
        found = consumer.poll(5)
        assert found is not None
        assert found.value() == "b"
        assert offsets(consumer.stored) == [3, 4]
        assert seen == [b"\xff", b"b"]


def test_poison_goes_back_and_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted([message(1), message(2, b"\xff"), message(3)], monkeypatch) as consumer:
        assert [found.value() for found in consumer.consume(10, 0)] == ["v"]
        assert offsets(consumer.seeks) == [2]
        assert offsets(consumer.stored) == [2]


def test_poison_of_a_partition_that_was_revoked_is_raised_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted([message(2, b"\xff"), message(3)], monkeypatch) as consumer:
        consumer.revoked = True
        with pytest.raises(ValueDeserializationError) as caught:
            consumer.poll(0)
        assert isinstance(caught.value, SerializationError)
        found = consumer.poll(0)
        assert found is not None
        assert found.offset() == 3


def test_events_behind_messages_are_raised_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    end = KafkaError(KafkaError._PARTITION_EOF)
    for call in ("poll", "consume"):
        with Scripted([message(1), message(2, error=end)], monkeypatch) as consumer:
            assert len(consumer.consume(10, 0)) == 1
            with pytest.raises(ConsumeError) as caught:
                getattr(consumer, call)(1)
            assert caught.value.code == KafkaError._PARTITION_EOF


def test_bad_configurations() -> None:
    with pytest.raises(ValueError, match=r"key\.deserializer must be callable"):
        DeserializingConsumer({**CONF, "key.deserializer": "string"})
    with pytest.raises(ValueError, match=r"value\.serializer must be callable"):
        SerializingProducer({"bootstrap.servers": "x", "value.serializer": 5})
    with pytest.raises(ConfigError):
        SerializingProducer({"bootstrap.servers": "x", "value.serialiser": str})


class Closed:
    """A double of the producer of dead letters, and of a builder's product."""

    def __init__(self) -> None:
        self.times = 0

    def close(self) -> None:
        self.times += 1
        raise ValueError("of the second")

    async def aclose(self) -> None:
        self.close()


def test_what_a_consumer_has_is_closed_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise ZeroDivisionError("on_revoke")

    letters, built = Closed(), Closed()
    consumer: DeserializingConsumer[str, str] = DeserializingConsumer(CONF)
    consumer._letters, consumer._built.made = letters, [Closed(), built]  # type: ignore[assignment]
    with monkeypatch.context() as patched, pytest.raises(ValueError, match="of the second"):
        patched.setattr(Consumer, "close", fails)
        consumer.close()
    assert (letters.times, built.times, consumer._built.made) == (1, 1, [])
    consumer._letters = None
    consumer.close()


def test_what_an_asyncio_consumer_has_is_closed_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(_: object) -> None:
        raise ZeroDivisionError("on_revoke")

    class Letters(Closed):
        async def close(self) -> None:  # type: ignore[override]
            super().close()

    async def scene() -> None:
        letters, built = Letters(), Closed()
        async with AIODeserializingConsumer[str, str](CONF) as consumer:
            consumer._letters, consumer._built.made = letters, [Closed(), built]  # type: ignore[assignment]
            with monkeypatch.context() as patched, pytest.raises(ValueError, match="of the second"):
                patched.setattr(AIOConsumer, "close", fails)
                await consumer.close()
            assert (letters.times, built.times, consumer._built.made) == (1, 1, [])
            consumer._letters = None

    asyncio.run(scene())


def test_constructors_for_tasks_may_be_awaited() -> None:
    async def run() -> None:
        producer: AIOSerializingProducer[str, str] = AIOSerializingProducer({})
        consumer: AIODeserializingConsumer[str, str] = AIODeserializingConsumer({"group.id": "g"})
        for client in (producer, consumer):
            assert await client is client
            await client.close()

    asyncio.run(run())
