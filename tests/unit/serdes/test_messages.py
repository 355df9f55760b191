from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_core.errors import ConsumeError, KafkaError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from serdes import MessageField, SerializationContext, SerializationError
from serdes.errors import (
    FieldError,
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)
from serdes.messages import Batch, Reader, Writer, take_functions


def message(offset: int = 0, partition: int = 0, value: Any = b"v", key: Any = b"k", error: Any = None) -> Message:
    return Message(
        topic="t",
        partition=partition,
        offset=offset,
        value=value,
        key=key,
        headers=[("h", b"1")],
        error=error,
        leader_epoch=4,
    )


def text(value: Any, ctx: SerializationContext) -> Any:
    """A function that notes its context in its result."""
    return f"{value!r} {ctx.topic} {ctx.field} {ctx.headers}"


def failing(value: Any, ctx: SerializationContext) -> Any:
    raise SerializationError("no", schema_id=3, path="a.b")


async def text_later(value: Any, ctx: SerializationContext) -> Any:
    await asyncio.sleep(0)
    return text(value, ctx)


async def failing_later(value: Any, ctx: SerializationContext) -> Any:
    raise KeyError("no")


def test_take_functions() -> None:
    conf = {"a.b": 1, "key.serializer": text}
    assert take_functions(conf, ("key.serializer", "value.serializer")) == ({"a.b": 1}, text, None)
    assert "key.serializer" in conf
    with pytest.raises(ValueError, match=r"value\.serializer must be callable"):
        take_functions({"value.serializer": 5}, ("key.serializer", "value.serializer"))


def test_read_replaces_key_and_value() -> None:
    read = message()
    Reader(text, text).read(read)
    assert read.key() == "b'k' t key [('h', b'1')]"
    assert read.value() == "b'v' t value [('h', b'1')]"


def test_without_functions_bytes_stay() -> None:
    read = message(value=None)
    Reader(None, None).read(read)
    assert (read.key(), read.value()) == (b"k", None)


@pytest.mark.parametrize(
    ("reader", "error", "field"),
    [
        (Reader(failing, text), KeyDeserializationError, "key"),
        (Reader(text, failing), ValueDeserializationError, "value"),
    ],
)
def test_an_unreadable_message_stays_as_it_was(reader: Reader, error: type[FieldError], field: str) -> None:
    raw = message(offset=7, partition=2)
    with pytest.raises(error) as caught:
        reader.read(raw)
    assert (raw.key(), raw.value()) == (b"k", b"v")
    assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 2, 7)
    assert (caught.value.field, caught.value.schema_id, caught.value.path) == (field, 3, "a.b")
    assert caught.value.kafka_message is raw  # type: ignore[attr-defined]
    assert isinstance(caught.value.__cause__, SerializationError)


def test_functions_may_be_coroutine_functions() -> None:
    async def scene() -> None:
        read = message()
        await Reader(text, text_later).read_async(read)
        assert str(read.key()).startswith("b'k'")
        assert str(read.value()).startswith("b'v'")
        for reader, error in (
            (Reader(failing_later, None), KeyDeserializationError),
            (Reader(None, failing_later), ValueDeserializationError),
        ):
            with pytest.raises(error, match="KeyError"):
                await reader.read_async(message())
        assert await Writer(text_later, text).write_async("t", 1, 2, None) == ("1 t key None", "2 t value None")
        with pytest.raises(KeySerializationError):
            await Writer(failing_later, None).write_async("t", 1, 2, None)
        with pytest.raises(ValueSerializationError):
            await Writer(None, failing).write_async("t", 1, 2, None)

    asyncio.run(scene())


def test_write() -> None:
    assert Writer(text, None).write("t", 1, b"2", {"h": b"1"}) == ("1 t key {'h': b'1'}", b"2")
    with pytest.raises(KeySerializationError, match=r"topic t, key, schema id 3, at a\.b: no"):
        Writer(failing, text).write("t", 1, 2, None)
    with pytest.raises(ValueSerializationError) as caught:
        Writer(text, failing).write("t", 1, 2, None)
    assert caught.value.topic == "t"


def place(partition: int, offset: int) -> tuple[str, int, int]:
    return ("t", partition, offset)


def places(found: list[TopicPartition]) -> list[tuple[str, int, int]]:
    return [(item.topic, item.partition, item.offset) for item in found]


def sorted_out(*messages: tuple[str, Message]) -> Batch:
    batch = Batch()
    for kind, item in messages:
        if batch.skips(item):
            continue
        if kind == "good":
            batch.good(item)
        elif kind == "poison":
            batch.poison(item, ValueDeserializationError(SerializationError("no"), item))
        else:
            batch.event(item, KafkaError(KafkaError._PARTITION_EOF))
    return batch


def test_all_good() -> None:
    items = [message(0), message(1), message(5, partition=1)]
    batch = sorted_out(*(("good", item) for item in items))
    assert batch.messages == items
    assert places(batch.stores) == [place(0, 2), place(1, 6)]
    assert batch.stores[0].leader_epoch == 4
    assert batch.seeks == []
    assert batch.verdict() == (None, [])


def test_poison_holds_back_what_is_behind_it_in_its_partition_only() -> None:
    batch = sorted_out(
        ("good", message(0)), ("poison", message(1)), ("good", message(2)), ("good", message(8, partition=1))
    )  # fmt: skip
    assert [(item.partition(), item.offset()) for item in batch.messages] == [(0, 0), (1, 8)]
    assert places(batch.seeks) == [place(0, 1)]
    assert places(batch.stores) == [place(0, 1), place(1, 9)]
    assert batch.verdict() == (None, [])


def test_poison_is_raised_if_nothing_is_handed_out() -> None:
    batch = sorted_out(("poison", message(1)), ("good", message(2)), ("poison", message(4, partition=1)))
    assert batch.messages == []
    assert batch.verdict()[0] is batch.poisons[0]
    assert places(batch.seeks) == [place(0, 1), place(1, 4)]
    assert batch.stores == []


def test_events_are_raised_one_by_one_and_never_lost() -> None:
    batch = sorted_out(("event", message(1)), ("event", message(2)))
    raised, held = batch.verdict()
    assert isinstance(raised, ConsumeError)
    assert raised.kafka_message.offset() == 1
    assert [event.kafka_message.offset() for event in held] == [2]


def test_events_wait_for_messages() -> None:
    batch = sorted_out(("event", message(1)), ("good", message(2)))
    raised, held = batch.verdict()
    assert raised is None
    assert len(held) == 1


def test_events_behind_a_poison_wait() -> None:
    batch = sorted_out(("poison", message(1)), ("event", message(9, partition=3)))
    raised, held = batch.verdict()
    assert raised is batch.poisons[0]
    assert held == batch.events


def test_field_is_known_to_functions() -> None:
    seen: list[MessageField] = []
    Reader(lambda value, ctx: seen.append(ctx.field), lambda value, ctx: seen.append(ctx.field)).read(message())
    assert seen == [MessageField.KEY, MessageField.VALUE]
