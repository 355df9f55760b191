from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.kernels import Message
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
from serdes.clients.fields import FieldDeserializers, FieldSerializers, take_functions
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
