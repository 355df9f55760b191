"""Builders: what they make, what they may take out of a configuration, and who closes what."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import serdes.builders as builders
from kafka_core.errors import ConfigError
from registry import SchemaRegistryClient
from registry.errors import SchemaRegistryError
from serdes import (
    AIODeserializingConsumer,
    AIOSerializingProducer,
    DeserializingConsumer,
    SerializationContext,
    SerializingProducer,
)
from serdes.avro import AsyncAvroSerializer, AvroSerializer
from serdes.builders import (
    AsyncAvroSerializerBuilder,
    AvroDeserializerBuilder,
    AvroSerializerBuilder,
    BuiltSerdes,
    JSONDeserializerBuilder,
    JSONSerializerBuilder,
    SerializerBuilder,
)

NAMES = ("key.serializer", "value.serializer")
CTX = SerializationContext("t", "value")
JSON = '{"title": "T", "type": "object"}'


class Made:
    """A serializer that counts."""

    def __init__(self) -> None:
        self.closed = 0
        self.resolver: Callable[[], str] | None = None

    def __call__(self, obj: Any, ctx: Any) -> bytes:
        return b"made"

    def set_cluster_id_resolver(self, resolver: Callable[[], str]) -> None:
        self.resolver = resolver

    def close(self) -> None:
        self.closed += 1


class Own(SerializerBuilder):
    """Takes some properties, and gives what it was given."""

    def __init__(self, made: Any, *takes: str, result: Any = None) -> None:
        self.made, self.takes, self.result = made, takes, result
        self.seen: list[tuple[dict[str, Any], bool]] = []

    def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        self.seen.append((dict(conf), is_key))
        for name in self.takes:
            del conf[name]
        return (self.made, conf) if self.result is None else self.result


def test_every_builder_makes_its_serializer_with_a_client_of_its_own() -> None:
    for serializer, deserializer, schema in (
        (AvroSerializerBuilder, AvroDeserializerBuilder, '"string"'),
        (JSONSerializerBuilder, JSONDeserializerBuilder, JSON),
    ):
        value: Any = "x" if schema == '"string"' else {"a": 1}
        conf = {"url": f"mock://{serializer.__name__}"}
        write, rest = serializer(conf, schema=schema).build({"a": 1}, False)
        read, _ = deserializer(schema_registry_config=conf).set_schema(schema).build({}, False)
        assert rest == {"a": 1}
        assert read(write(value, CTX), CTX) == value
        write.close()
        with pytest.raises(SchemaRegistryError):
            write._engine.client.get_subjects()
        read.close()


def test_a_client_that_was_given_stays_open() -> None:
    with SchemaRegistryClient({"url": "mock://"}) as client:
        made, _ = AvroSerializerBuilder().set_schema_registry_client(client).set_schema('"string"').build({}, True)
        assert isinstance(made, AvroSerializer)
        made.close()
        assert client.get_subjects() == []


def test_client_and_configuration_are_refused_together() -> None:
    with pytest.raises(ValueError, match="Cannot specify both"):
        AvroSerializerBuilder({"url": "mock://"}, object()).build({}, True)


def test_a_failing_init_closes_what_was_made() -> None:
    made: list[Any] = []

    def refuse(serializer: Any) -> None:
        made.append(serializer)
        raise KeyError("no")

    builder = AvroSerializerBuilder({"url": "mock://"}, schema='"string"', serializer_init=refuse)
    with pytest.raises(KeyError):
        builder.build({}, True)
    with pytest.raises(SchemaRegistryError):
        made[0]._engine.client.get_subjects()


def test_properties_that_one_takes_never_reach_the_client() -> None:
    key, value = Own(Made(), "extra"), Own(Made(), "mine")
    conf = {"client.id": "c", "extra": 1, "mine": 2, "key.serializer.builder": key, "value.serializer.builder": value}
    with SerializingProducer(conf) as producer:
        assert producer._core.client.config.text("client.id") == "c"
    everything = {"client.id": "c", "extra": 1, "mine": 2}
    assert (key.seen, value.seen) == ([(everything, True)], [(everything, False)])


def test_the_client_closes_what_builders_made_and_nothing_else() -> None:
    built, given = Made(), Made()
    producer = SerializingProducer({"key.serializer": given, "value.serializer.builder": Own(built)})
    assert (built.resolver is None, given.resolver is None) == (False, True)
    producer.close()
    producer.close()
    assert (built.closed, given.closed) == (1, 0)


def test_consumers_build_too() -> None:
    built = Made()
    consumer = DeserializingConsumer({"group.id": "g", "value.deserializer.builder": Own(built)})
    consumer.close()
    assert built.closed == 1


@pytest.mark.parametrize("broken", [Own(Made(), result=KeyError), Own(Made(), result=(Made(), 3)), Own(3)])
def test_when_one_fails_the_others_are_closed(broken: Own) -> None:
    built = Made()
    with pytest.raises(ValueError, match=r"must return|returned int|must be callable"):
        SerializingProducer({"key.serializer.builder": Own(built), "value.serializer.builder": broken})
    assert built.closed == 1


def test_when_the_client_is_refused_what_was_built_is_closed() -> None:
    built = Made()
    with pytest.raises(ConfigError, match="nope"):
        SerializingProducer({"nope": 1, "value.serializer.builder": Own(built)})
    assert built.closed == 1


def test_a_function_and_its_builder_are_refused_together() -> None:
    with pytest.raises(ValueError, match="Cannot configure both"):
        BuiltSerdes({"key.serializer": Made(), "key.serializer.builder": Own(Made())}, NAMES)


def test_builders_for_tasks_are_awaited_or_taken_at_once() -> None:
    async def run() -> None:
        told: list[Any] = []

        async def init(made: Any) -> None:
            told.append(made)

        builder = AsyncAvroSerializerBuilder({"url": "mock://"}, schema='"string"')
        made, rest = await builder.build({"a": 1}, False)
        assert (type(made), rest) == (AsyncAvroSerializer, {"a": 1})
        await made.aclose()
        async with AIOSerializingProducer({"value.serializer.builder": builder}) as producer:
            assert len(producer._built.made) == 1
        assert producer._built.made == []
        builder.set_serializer_init(init)
        made, _ = await builder.build({}, False)
        assert told == [made]
        await made.aclose()

    asyncio.run(run())


class Later:
    """A builder with something to await."""

    def __init__(self, made: Any, takes: str = "") -> None:
        self.made, self.takes = made, takes

    async def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        await asyncio.sleep(0)
        if isinstance(self.made, Exception):
            raise self.made
        conf.pop(self.takes, None)
        self.is_key = is_key
        return self.made, conf


def test_clients_for_tasks_await_builders() -> None:
    async def run() -> None:
        key, value = Later(Made(), "my.property"), Later(Made())
        conf = {"key.serializer.builder": key, "value.serializer.builder": value, "my.property": 1}
        producer = await AIOSerializingProducer(conf)
        assert (type(producer), key.is_key, value.is_key) == (AIOSerializingProducer, True, False)
        await producer.close()
        assert (key.made.closed, value.made.closed) == (1, 1)
        consumer = await AIODeserializingConsumer({"group.id": "g", "value.deserializer.builder": Later(Made())})
        assert isinstance(consumer, AIODeserializingConsumer)
        await consumer.close()
        first = Later(Made())
        with pytest.raises(LookupError):
            await AIOSerializingProducer(
                {"key.serializer.builder": first, "value.serializer.builder": Later(LookupError())}
            )
        assert first.made.closed == 1
        with pytest.raises(ValueError, match="has to be awaited"):
            SerializingProducer({"key.serializer.builder": Later(Made())})

    asyncio.run(run())


def test_clients_for_tasks_tell_what_they_built_their_cluster() -> None:
    class Taking(Made):
        resolver: Any = None

        def set_async_cluster_id_resolver(self, resolver: Any) -> None:
            self.resolver = resolver

    class Producer(AIOSerializingProducer[Any, Any]):
        async def cluster_id(self, timeout: float = -1) -> str:
            return f"c after {timeout}"

    async def run() -> None:
        taking = Taking()
        async with Producer({"value.serializer.builder": Own(taking)}):
            assert await taking.resolver() == "c after 60.0"

    asyncio.run(run())


def test_setters_give_what_arguments_give() -> None:
    public = [each for name, each in vars(builders).items() if name.endswith("Builder") and not name.startswith("_")]
    kinds = [kind for kind in public if not inspect.isabstract(kind)]
    assert len(kinds) == 12
    for kind in kinds:
        by_argument, by_setter = {}, kind()
        for argument in inspect.signature(kind).parameters:
            by_argument[argument] = value = object()
            assert getattr(by_setter, f"set_{argument}")(value) is by_setter
        assert vars(kind(**by_argument)) == vars(by_setter)
