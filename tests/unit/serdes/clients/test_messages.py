from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.errors import ConsumeError, KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kserdes.compat.confluent.serdes.serialization import Serializer
from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from serdes import (
    LongSerializer,
    MessageField,
    SerializationContext,
    SerializationError,
    StringDeserializer,
    StringSerializer,
)
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.clients.fields import FieldDeserializers, FieldSerializers, settle, take_functions
from serdes.clients.messages import PolledMessages, taking
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.errors import (
    FieldError,
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as made:
        yield made


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


@pytest.mark.parametrize("kind", [StringSerializer, LongSerializer, AvroSerializer, AsyncAvroSerializer, Serializer])
def test_a_class_of_serializers_is_refused_where_an_object_is_needed(kind: type) -> None:
    with pytest.raises(ValueError, match=rf"key\.serializer is the class {kind.__name__}: give an object of it"):
        take_functions({"key.serializer": kind}, ("key.serializer", "value.serializer"))


def test_a_class_of_the_application_may_be_the_function() -> None:
    class Parsed:
        def __init__(self, value: bytes, ctx: SerializationContext) -> None:
            self.value = value

    names = ("key.deserializer", "value.deserializer")
    assert take_functions({"value.deserializer": Parsed}, names) == ({}, None, Parsed)


def test_read_replaces_key_and_value() -> None:
    read = message()
    FieldDeserializers(text, text).read(read)
    assert read.key() == "b'k' t key [('h', b'1')]"
    assert read.value() == "b'v' t value [('h', b'1')]"


def test_without_functions_bytes_stay() -> None:
    read = message(value=None)
    FieldDeserializers(None, None).read(read)
    assert (read.key(), read.value()) == (b"k", None)


@pytest.mark.parametrize(
    ("reader", "error", "field"),
    [
        (FieldDeserializers(failing, text), KeyDeserializationError, "key"),
        (FieldDeserializers(text, failing), ValueDeserializationError, "value"),
    ],
)
def test_an_unreadable_message_stays_as_it_was(reader: FieldDeserializers, error: type[FieldError], field: str) -> None:
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
        await FieldDeserializers(text, text_later).read_async(read)
        assert str(read.key()).startswith("b'k'")
        assert str(read.value()).startswith("b'v'")
        for reader, error in (
            (FieldDeserializers(failing_later, None), KeyDeserializationError),
            (FieldDeserializers(None, failing_later), ValueDeserializationError),
        ):
            with pytest.raises(error, match="KeyError"):
                await reader.read_async(message())
        written = await FieldSerializers(text_later, text).write_async("t", 1, 2, None)
        assert written == ("1 t key []", "2 t value []", None)
        with pytest.raises(KeySerializationError):
            await FieldSerializers(failing_later, None).write_async("t", 1, 2, None)
        with pytest.raises(ValueSerializationError):
            await FieldSerializers(None, failing).write_async("t", 1, 2, None)

    asyncio.run(scene())


def test_write() -> None:
    assert FieldSerializers(text, None).write("t", 1, b"2", {"h": b"1"}) == (
        "1 t key [('h', b'1')]",
        b"2",
        [("h", b"1")],
    )
    with pytest.raises(KeySerializationError, match=r"topic t, key, schema id 3, at a\.b: no"):
        FieldSerializers(failing, text).write("t", 1, 2, None)
    with pytest.raises(ValueSerializationError) as caught:
        FieldSerializers(text, failing).write("t", 1, 2, None)
    assert caught.value.topic == "t"


def place(partition: int, offset: int) -> tuple[str, int, int]:
    return ("t", partition, offset)


def places(found: list[TopicPartition]) -> list[tuple[str, int, int]]:
    return [(item.topic, item.partition, item.offset) for item in found]


def sorted_out(*messages: tuple[str, Message]) -> PolledMessages:
    batch = PolledMessages()
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
    assert [event.kafka_message.offset() for event in held if isinstance(event, ConsumeError)] == [2]


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
    FieldDeserializers(lambda value, ctx: seen.append(ctx.field), lambda value, ctx: seen.append(ctx.field)).read(
        message()
    )
    assert seen == [MessageField.KEY, MessageField.VALUE]


def test_functions_may_add_headers_but_not_to_the_callers() -> None:
    def adding(value: Any, ctx: SerializationContext) -> bytes:
        ctx.headers.append((str(ctx.field), b"x"))  # type: ignore[union-attr]
        return b"v"

    given = [("a", b"b")]
    assert FieldSerializers(adding, adding).write("t", 1, 2, given)[2] == [("a", b"b"), ("key", b"x"), ("value", b"x")]
    assert given == [("a", b"b")]
    assert FieldSerializers(None, adding).write("t", 1, 2, None)[2] == [("value", b"x")]


class Consumer:
    """Notes what is done with it."""

    def __init__(self, failing: bool = False) -> None:
        self.done: list[Any] = []
        self.failing = failing

    def go_back(self, place: TopicPartition) -> None:
        self.done.append(("back", place.offset))

    def keep(self, found: list[TopicPartition]) -> None:
        self.done.append(("keep", [item.offset for item in found]))

    def set_aside(self, letter: Letter) -> None:
        if self.failing:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        self.done.append(("letter", letter.value))

    def let_go(self, letter: Letter) -> None:
        self.done.append(("gone", letter.origin[2]))


def bad_at(*offsets: int) -> Any:
    def read(value: Any, ctx: SerializationContext) -> Any:
        if int(value) in offsets:
            raise SerializationError("no")
        return value

    return read


def take(
    policy: PoisonPolicy, *offsets: int, client: Any = None
) -> tuple[list[int | None], Exception | None, list[Any]]:
    consumer = client or Consumer()
    raw = [Message(topic="t", partition=0, offset=at, value=str(at).encode()) for at in range(3)]
    batch, raised = settle(taking(raw, FieldDeserializers(None, bad_at(*offsets)), policy, consumer, True))
    return [item.offset() for item in batch.messages], raised, consumer.done


def test_raising_goes_back() -> None:
    assert take(PoisonPolicy(), 1) == ([0], None, [("back", 1), ("keep", [1])])
    handed, raised, done = take(PoisonPolicy(), 0)
    assert (handed, done) == ([], [("back", 0)])
    assert isinstance(raised, ValueDeserializationError)


def test_skipping_goes_on_and_tells() -> None:
    told: list[FieldError] = []
    assert take(PoisonPolicy(True, told.append), 1) == ([0, 2], None, [("keep", [3])])
    assert [error.offset for error in told] == [1]
    assert take(PoisonPolicy(True), 0, 1, 2) == ([], None, [("keep", [3])])


def test_a_callback_that_fails_holds_the_message_back() -> None:
    def fails(error: FieldError) -> None:
        raise KeyError("x")

    handed, raised, done = take(PoisonPolicy(True, fails), 0)
    assert (handed, done) == ([], [("back", 0)])
    assert raised is not None
    assert raised.__notes__ == ["and on.poison failed: KeyError: 'x'"]


def test_dead_letters_are_delivered_before_offsets_are_stored() -> None:
    assert take(PoisonPolicy(True, None, "dead"), 1) == ([0, 2], None, [("letter", b"1"), ("keep", [3]), ("gone", 1)])
    handed, raised, done = take(PoisonPolicy(True, None, "dead"), 0, client=Consumer(failing=True))
    assert (handed, done) == ([], [("back", 0)])
    assert raised is not None
    assert "was not delivered to dead" in raised.__notes__[0]


def test_messages_that_could_be_read_later_are_raised_whatever_the_policy() -> None:
    def away(value: Any, ctx: SerializationContext) -> Any:
        error = SerializationError("away")
        error.registry_away = True
        raise error

    consumer = Consumer()
    raw = [Message(topic="t", partition=0, offset=0, value=b"0")]
    batch, raised = settle(taking(raw, FieldDeserializers(None, away), PoisonPolicy(True), consumer, True))
    assert (batch.messages, consumer.done) == ([], [("back", 0)])
    assert isinstance(raised, ValueDeserializationError)


def test_what_a_rule_has_set_aside_is_raised_once_and_passed() -> None:
    def aside(value: Any, ctx: SerializationContext) -> Any:
        if value == b"1":
            error = SerializationError("a rule failed")
            error.set_aside = "dead"
            error.registry_away = True
            raise error
        return value

    def taken(policy: PoisonPolicy, *offsets: int) -> tuple[list[int | None], Any, list[Any], list[Any]]:
        consumer = Consumer()
        raw = [Message(topic="t", partition=0, offset=at, value=str(at).encode()) for at in offsets]
        batch, raised = settle(taking(raw, FieldDeserializers(None, aside), policy, consumer, True))
        return [item.offset() for item in batch.messages], raised, batch.events, consumer.done

    handed, raised, events, done = taken(PoisonPolicy(), 1)
    assert (handed, events, done) == ([], [raised], [("keep", [2])])
    assert isinstance(raised, ValueDeserializationError)
    assert raised.set_aside == "dead"
    handed, raised, events, done = taken(PoisonPolicy(), 0, 1, 2)
    assert (handed, raised, done) == ([0, 2], None, [("keep", [3])])
    assert [type(event) for event in events] == [ValueDeserializationError]
    assert taken(PoisonPolicy(True), 0, 1, 2) == ([0, 2], None, [], [("keep", [3])])
    assert taken(PoisonPolicy(True, None, "dead"), 0, 1, 2) == ([0, 2], None, [], [("keep", [3])])
    assert ("letter", b"1") in taken(PoisonPolicy(True, None, "elsewhere"), 0, 1, 2)[3]


class Louder(StringDeserializer):
    """A deserializer of the user's, built on one that is known."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> str | None:
        assert ctx is not None
        return f"{ctx.topic} {super().__call__(value, ctx)}"


class Quiet(StringDeserializer):
    """One that changes nothing of the call."""


def test_a_class_built_on_a_known_one_has_its_own_call(client: SchemaRegistryClient) -> None:
    class Order(AvroDeserializer):
        def __call__(self, value: bytes | None, ctx: Any = None) -> Any:
            return "mine", super().__call__(value, ctx)

    ctx = SerializationContext("t", MessageField.VALUE)
    frame = AvroSerializer(client, '"int"')(5, ctx)
    theirs, mine = AvroDeserializer(client), Order(client)
    for _ in range(2):
        found = Message(topic="t", partition=0, offset=0, key=b"k", value=frame)
        FieldDeserializers(Louder(), mine).read(found)
        assert (found.key(), found.value()) == ("t k", ("mine", 5))
        found = Message(topic="t", partition=0, offset=0, key=b"k", value=frame)
        FieldDeserializers(Quiet(), theirs).read(found)
        assert (found.key(), found.value()) == ("k", 5)
    assert not FieldDeserializers(Quiet(), mine).reader.read_now(found)


def test_strings_are_in_the_codec_that_was_asked_for() -> None:
    for codec, data in (("utf-8", b"\xc3\xbc"), ("U8", b"\xc3\xbc"), ("latin-1", b"\xfc"), ("utf-16-le", b"\xfc\0")):
        assert FieldSerializers(StringSerializer(codec), None).write("t", "ü", b"v", None) == (data, b"v", None)
        found = message(key=data)
        FieldDeserializers(StringDeserializer(codec), None).read(found)
        assert found.key() == "ü"


def test_strings_that_are_none_say_where() -> None:
    with pytest.raises(KeyDeserializationError, match="1 bytes that are not utf_8 text") as caught:
        FieldDeserializers(StringDeserializer(), None).read(message(key=b"\xff"))
    assert isinstance(caught.value.__cause__, SerializationError)
    with pytest.raises(ValueSerializationError, match="a str is needed, not bytes"):
        FieldSerializers(None, StringSerializer()).write("t", b"k", b"v", None)
    with pytest.raises(ValueDeserializationError, match="a str is needed"):  # a serializer in the wrong place
        FieldDeserializers(None, StringSerializer()).read(message())  # type: ignore[arg-type]


def test_asyncio_deserializers_that_need_not_wait_are_not_awaited(request: pytest.FixtureRequest) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
            write, read = AsyncAvroSerializer(client, '"int"'), AsyncAvroDeserializer(client)
            serializers, deserializers = FieldSerializers(None, write), FieldDeserializers(StringDeserializer(), read)
            found = Message(topic="t", partition=0, offset=0, key=b"k", value=b"\x00\x00\x00\x00\x01\x0a")
            assert serializers.writer.write_now("t", None, 5, None) is None
            assert not deserializers.reader.read_now(found)
            frame = (await serializers.write_async("t", b"k", 5, None))[1]
            await deserializers.read_async(found)
            assert found.value() == 5
            assert serializers.writer.write_now("t", None, 5, None) == (None, frame, None)
            found = Message(topic="t", partition=0, offset=0, key=b"k", value=frame)
            assert deserializers.reader.read_now(found)
            assert (found.key(), found.value()) == ("k", 5)

    asyncio.run(asyncio.wait_for(scene(), 60))
