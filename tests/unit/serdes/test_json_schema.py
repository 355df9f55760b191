from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import Any

import pytest

from registry import Schema, SchemaReference
from serdes import MessageField, SerializationContext, SerializationError
from serdes.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer, JSONDeserializer, JSONSerializer
from tests.unit.serdes.fake import AsyncFakeRegistry, FakeRegistry

SCHEMA = '{"title":"Order","type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
WIDER = '{"title":"Order","type":"object","properties":{"n":{"type":"number"}}}'
VALUE = SerializationContext("orders", MessageField.VALUE)


@dataclass
class Order:
    n: int


def test_objects_out_and_back() -> None:
    registry = FakeRegistry()
    write = JSONSerializer(SCHEMA, registry, lambda order, ctx: {"n": order.n})
    read = JSONDeserializer(SCHEMA, lambda value, ctx: Order(**value), registry)
    frame = write(Order(5), VALUE)
    assert frame == b'\x00\x00\x00\x00\x01{"n":5}'
    assert read(frame, VALUE) == Order(5)
    assert (write(None, VALUE), read(None, VALUE)) == (None, None)
    assert registry.subjects["orders-value"][0].schema == Schema(SCHEMA, "JSON")


def test_errors_are_located() -> None:
    write = JSONSerializer(SCHEMA, FakeRegistry())
    with pytest.raises(SerializationError, match="topic orders, value, schema id 1, at n: a string where integer"):
        write({"n": "x"}, VALUE)


def test_a_reader_without_a_registry() -> None:
    read = JSONDeserializer(SCHEMA)
    assert read(b'\x00\x00\x00\x00\x09{"n":5}', VALUE) == {"n": 5}
    with pytest.raises(ValueError, match="schema_registry_client must be provided if"):
        JSONDeserializer(None)
    with pytest.raises(ValueError, match="the schema has references"):
        JSONDeserializer(Schema(SCHEMA, "JSON", [SchemaReference("a", "a", 1)]))


def test_the_latest_version_reads() -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(SCHEMA, "JSON"))
    registry.register_schema("orders-value", Schema(WIDER, "JSON"))
    frame = b'\x00\x00\x00\x00\x01{"n":0.5}'
    with pytest.raises(SerializationError, match="at n: a number where integer"):
        JSONDeserializer(None, schema_registry_client=registry)(frame, VALUE)
    newest = JSONDeserializer(None, None, registry, {"use.latest.version": True})
    assert newest(frame, VALUE) == {"n": 0.5}
    unchecked = JSONDeserializer(None, None, registry, {"validate": False})
    assert unchecked(frame, VALUE) == {"n": 0.5}


def test_references_come_from_the_registry() -> None:
    registry = FakeRegistry()
    registry.register_schema("part", Schema('{"type":"integer"}', "JSON"))
    schema = Schema('{"properties":{"n":{"$ref":"part.json"}}}', "JSON", [SchemaReference("part.json", "part", 1)])
    frame = JSONSerializer(schema, registry)({"n": 5}, VALUE)
    assert JSONDeserializer(None, schema_registry_client=registry)(frame, VALUE) == {"n": 5}
    with pytest.raises(SerializationError, match="at n: "):
        JSONSerializer(schema, registry)({"n": "x"}, VALUE)


def test_asyncio_is_alike() -> None:
    for blocking, awaited in ((JSONSerializer, AsyncJSONSerializer), (JSONDeserializer, AsyncJSONDeserializer)):
        assert inspect.signature(blocking) == inspect.signature(awaited)
        assert (awaited.__doc__ or "").endswith(f"see `{blocking.__name__}`.")

    async def scene() -> None:
        registry: Any = AsyncFakeRegistry(FakeRegistry())
        frame = await AsyncJSONSerializer(SCHEMA, registry)({"n": 5}, VALUE)
        assert await AsyncJSONDeserializer(None, schema_registry_client=registry)(frame, VALUE) == {"n": 5}

    asyncio.run(scene())
