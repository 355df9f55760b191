"""Serializers as they are without any setting, at registries: embedded both ways, and a real one."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from registry.dev import serve
from serdes import MessageField, SerializationContext
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer

KINDS = ["in process", "over http", pytest.param("real", marks=pytest.mark.registry)]
AVRO = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
JSON = '{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}'
ORDER = {"id": 7}


@pytest.fixture(scope="module", params=KINDS)
def registry_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "in process":
        yield f"mock://serializers-{uuid.uuid4().hex}"
    elif request.param == "real":
        yield request.getfixturevalue("real_registry").url
    else:
        with serve() as server:
            yield server.url


@pytest.fixture
def place() -> SerializationContext:
    return SerializationContext(f"orders-{uuid.uuid4().hex}", MessageField.VALUE)


@pytest.mark.parametrize("name", ["avro", "json", "protobuf"])
def test_a_serializer_without_settings_registers_under_its_topic(
    registry_url: str, place: SerializationContext, name: str
) -> None:
    with SchemaRegistryClient({"url": registry_url}) as client:
        value: Any = StringValue(value="x") if name == "protobuf" else ORDER
        serializer: Any = {
            "avro": lambda: AvroSerializer(client, AVRO),
            "json": lambda: JSONSerializer(JSON, client),
            "protobuf": lambda: ProtobufSerializer(StringValue, client),
        }[name]()
        deserializer: Any = {
            "avro": lambda: AvroDeserializer(client),
            "json": lambda: JSONDeserializer(None, schema_registry_client=client),
            "protobuf": lambda: ProtobufDeserializer(StringValue, {}, client),
        }[name]()
        frame = serializer(value, place)
        assert deserializer(frame, place) == value
        found = client.get_latest_version(f"{place.topic}-value")
        assert frame[:5] == b"\0" + found.schema_id.to_bytes(4, "big")


def test_an_asyncio_serializer_does_the_same(registry_url: str, place: SerializationContext) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": registry_url}) as client:
            frame = await (await AsyncAvroSerializer(client, AVRO))(ORDER, place)
            assert await (await AsyncAvroDeserializer(client))(frame, place) == ORDER
            assert (await client.get_latest_version(f"{place.topic}-value")).version == 1

    asyncio.run(scene())
