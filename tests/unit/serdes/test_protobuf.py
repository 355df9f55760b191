from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from registry import Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.protobuf import (
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
)
from serdes.schema_id import header_schema_id_serializer
from tests.unit.serdes.fake import AsyncFakeRegistry, FakeRegistry
from tests.unit.serdes.protos import message_class

VALUE = SerializationContext("orders", MessageField.VALUE)
TEXT = 'syntax = "proto3"; package p; message A { int32 n = 1; message In { string s = 1; } } message B { A a = 1; }'


def test_with_a_class() -> None:
    registry = FakeRegistry()
    order = message_class("shop.Order")
    write, read = ProtobufSerializer(order, registry), ProtobufDeserializer(order, None, registry)
    frame = write(order(id="x"), VALUE)
    assert frame == b"\x00\x00\x00\x00\x02\x02\x02\n\x01x"
    assert read(frame, VALUE) == order(id="x")
    assert (write(None, VALUE), read(None, VALUE)) == (None, None)
    assert set(registry.subjects) == {"shop/part.proto", "orders-value"}
    assert ProtobufDeserializer(order)(frame, VALUE) == order(id="x")


def test_without_a_class_the_frame_says_which_type() -> None:
    registry = FakeRegistry()
    order, line = message_class("shop.Order"), message_class("shop.Order.Line")
    read = ProtobufDeserializer(schema_registry_client=registry)
    first = read(ProtobufSerializer(order, registry)(order(id="x", part={"m": {"units": 5}}), VALUE), VALUE)
    assert (first.DESCRIPTOR.full_name, first.id, first.part.m.units) == ("shop.Order", "x", 5)
    second = read(ProtobufSerializer(line, registry)(line(sku="s"), VALUE), VALUE)
    assert (second.DESCRIPTOR.full_name, second.sku) == ("shop.Order.Line", "s")


def test_a_schema_instead_of_a_class() -> None:
    registry = FakeRegistry()
    write = ProtobufSerializer(TEXT, registry, {"message.type": "p.A.In"})
    frame = write({"s": "x"}, VALUE)
    assert frame == b"\x00\x00\x00\x00\x01\x04\x00\x00\n\x01x"
    latest = {"use.latest.version": True, "auto.register.schemas": False, "message.type": "B"}
    assert ProtobufSerializer(None, registry, latest)({"a": {"n": 1}}, VALUE)[5:] == b"\x02\x02\n\x02\x08\x01"
    named = ProtobufDeserializer(None, {"message.type": "A.In"}, registry)
    assert named(frame, VALUE).s == "x"
    with pytest.raises(SerializationError, match=r"schema id 1: the frame has a message of type p\.A, not A\.In"):
        named(b"\x00\x00\x00\x00\x01\x00", VALUE)


def test_the_deprecated_format() -> None:
    registry = FakeRegistry()
    old = {"use.deprecated.format": True}
    write = ProtobufSerializer(TEXT, registry, {"message.type": "p.A.In", **old})
    frame = write({"s": "x"}, VALUE)
    assert frame == b"\x00\x00\x00\x00\x01\x02\x00\x00\n\x01x"
    assert ProtobufDeserializer(None, old, registry)(frame, VALUE).s == "x"


def test_headers() -> None:
    registry = FakeRegistry()
    ctx = SerializationContext("orders", MessageField.VALUE, [])
    conf = {"message.type": "B", "schema.id.serializer": header_schema_id_serializer}
    payload = ProtobufSerializer(TEXT, registry, conf)({}, ctx)
    assert payload == b""
    assert dict(ctx.headers or {})["__value_schema_id"][-2:] == b"\x02\x02"
    assert ProtobufDeserializer(None, None, registry)(payload, ctx).DESCRIPTOR.full_name == "p.B"


def test_latest_with_another_order_of_types() -> None:
    registry = FakeRegistry()
    text = 'syntax = "proto3"; package shop; message Order { string id = 1; } message First { string a = 1; }'
    registry.register_schema("orders-value", Schema(text, "PROTOBUF"))
    conf = {"use.latest.version": True, "auto.register.schemas": False}
    order, first = message_class("shop.Order"), message_class("shop.First")
    assert ProtobufSerializer(order, registry, conf)(order(id="x"), VALUE)[5:6] == b"\x00"
    assert ProtobufSerializer(first, registry, conf)(first(a="x"), VALUE)[5:7] == b"\x02\x02"


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (b"", "the frame is empty"),
        (b"\x00\x00\x00\x00\x01", "ends inside the path"),
        (b"\x00\x00\x00\x00\x01\x04\x00", "ends inside the path"),
        (b"\x00\x00\x00\x00\x01\x01", "has -1 parts"),
        (b"\x00\x00\x00\x00\x01\xfe\xff\xff\xff\x0f", "has 2147483647 parts"),
        (b"\x00\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "more than 10 bytes"),
        (b"\x00\x00\x00\x00\x01\x02\x01", "the index -1"),
        (b"\x00\x00\x00\x00\x01\x02\x12", r"message type \[9\] is not there"),
        (b"\x00\x00\x00\x00\x09\x00", "Schema 9 not found"),
        (b"\x02\x00\x00\x00\x09\x00", "unknown magic byte 2"),
        (b"\x00\x00\x00\x00\x01\x00\x08", "is not a message of type"),
    ],
)
def test_hostile_frames(frame: bytes, text: str) -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(TEXT, "PROTOBUF"))
    with pytest.raises(SerializationError, match=text) as caught:
        ProtobufDeserializer(None, None, registry)(frame, VALUE)
    assert caught.value.topic == "orders"


def test_what_is_needed() -> None:
    with pytest.raises(ValueError, match="no message class is given"):
        ProtobufDeserializer(None)
    with pytest.raises(ValueError, match="a schema is needed"):
        ProtobufSerializer(None, FakeRegistry())


def test_asyncio_is_alike() -> None:
    pairs = (ProtobufSerializer, AsyncProtobufSerializer), (ProtobufDeserializer, AsyncProtobufDeserializer)
    for blocking, awaited in pairs:
        assert inspect.signature(blocking) == inspect.signature(awaited)
        assert (awaited.__doc__ or "").endswith(f"see `{blocking.__name__}`.")

    async def scene() -> None:
        registry: Any = AsyncFakeRegistry(FakeRegistry())
        frame = await AsyncProtobufSerializer(TEXT, registry)({"n": 5}, VALUE)
        assert (await AsyncProtobufDeserializer(None, None, registry)(frame, VALUE)).n == 5

    asyncio.run(scene())
