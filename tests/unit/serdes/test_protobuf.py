from __future__ import annotations

import asyncio
import inspect
from decimal import Decimal
from typing import Any

import pytest

from registry import Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.frames.schema_id import header_schema_id_serializer
from serdes.protobuf import (
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
)
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
        (b"\x02\x00\x00\x00\x09\x00", "Invalid magic byte 2"),
        (b"\x00\x00\x00\x00\x01\x00\x08", "is not a message of type"),
    ],
)
def test_hostile_frames(frame: bytes, text: str) -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(TEXT, "PROTOBUF"))
    with pytest.raises(SerializationError, match=text) as caught:
        ProtobufDeserializer(None, None, registry)(frame, VALUE)
    assert caught.value.topic == "orders"


def test_a_message_class_or_schema_is_required() -> None:
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


def test_a_class_is_not_given_messages_of_another_type() -> None:
    registry = FakeRegistry()
    order, first, line = (message_class(f"shop.{name}") for name in ("Order", "First", "Order.Line"))
    frame = ProtobufSerializer(order, registry)(order(id="order-1"), VALUE)
    with pytest.raises(SerializationError, match=r"schema id 2: the frame has a message of type shop\.Order, not shop"):
        ProtobufDeserializer(first, {}, registry)(frame, VALUE)
    with pytest.raises(SerializationError, match=r"of type shop\.Order\.Line, not shop\.Order;"):
        ProtobufDeserializer(order, {}, registry)(ProtobufSerializer(line, registry)(line(sku="s"), VALUE), VALUE)
    assert ProtobufDeserializer(first, {"message.type.any": True}, registry)(frame, VALUE).a == "order-1"
    with pytest.raises(ValueError, match=r"message\.type\.any must be a boolean value"):
        ProtobufDeserializer(first, {"message.type.any": "yes"}, registry)
    asyncs: Any = AsyncFakeRegistry(registry)
    with pytest.raises(SerializationError, match="not shop"):
        asyncio.run(AsyncProtobufDeserializer(first, {}, asyncs)(frame, VALUE))


def test_a_class_reads_what_java_wrote_with_a_text() -> None:
    """Java leaves the entry types of maps out when it counts nested types, Python counts them."""
    registry = FakeRegistry()
    text = """syntax = "proto3"; package shop;
      message First { string a = 1; }
      message Order { map<string, int32> m = 9; enum E { Z = 0; } message Line { string sku = 1; } string id = 1; }"""
    registry.register_schema("orders-value", Schema(text, "PROTOBUF"))
    order, line = message_class("shop.Order"), message_class("shop.Order.Line")
    assert ProtobufDeserializer(order, {}, registry)(b"\x00\x00\x00\x00\x01\x02\x02\n\x01x", VALUE).id == "x"
    for index in (b"\x00", b"\x02"):
        frame = b"\x00\x00\x00\x00\x01\x04\x02" + index + b"\n\x01s"
        assert ProtobufDeserializer(line, {}, registry)(frame, VALUE).sku == "s"
    with pytest.raises(SerializationError, match=r"message type \[5\] is not there"):
        ProtobufDeserializer(order, {}, registry)(b"\x00\x00\x00\x00\x01\x02\x0a", VALUE)


@pytest.mark.parametrize(("schema_type", "name"), [("JSON", "JSON"), ("AVRO", "Avro")])
def test_a_frame_of_another_format_is_refused(schema_type: str, name: str) -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema('{"type": "string"}', schema_type))
    for read in (
        ProtobufDeserializer(message_class("shop.Order"), {}, registry),
        ProtobufDeserializer(None, {}, registry),
    ):
        with pytest.raises(SerializationError, match=f"schema id 1: the schema is {name}, Protobuf is needed"):
            read(b"\x00\x00\x00\x00\x01\x00", VALUE)


KINDS = """syntax = "proto3"; package p;
import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
enum E { A = 0; B = 1; }
message K {
  int32 i = 1; uint64 u = 2; float f = 3; double d = 4; bool b = 5; string s = 6; bytes raw = 7; E e = 8;
  repeated int64 many = 9; map<string, int32> by_name = 10; K inner = 11; google.protobuf.Int64Value wrapped = 12;
  google.protobuf.Struct free = 13;
}"""


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"i": "SECRET 1"}, "K.i"),
        ({"i": 1.5}, "K.i"),
        ({"i": True}, "K.i"),
        ({"i": Decimal("1.9")}, "K.i"),
        ({"i": 2**31}, "K.i"),
        ({"i": "1_0"}, "K.i"),
        ({"u": -1}, "K.u"),
        ({"u": 2.0**60}, "K.u"),
        ({"d": Decimal("0.1")}, "K.d"),
        ({"d": 2**53 + 1}, "K.d"),
        ({"d": True}, "K.d"),
        ({"f": 1e300}, "K.f"),
        ({"d": float("nan")}, "K.d"),
        ({"b": 1}, "K.b"),
        ({"b": "true"}, "K.b"),
        ({"s": b"x"}, "K.s"),
        ({"s": 5}, "K.s"),
        ({"s": "\ud800"}, "K.s"),
        ({"raw": b"SECRETaaaa"}, "K.raw"),
        ({"raw": "SEC!RET="}, "K.raw"),
        ({"raw": "abcde"}, "K.raw"),
        ({"e": 0.5}, "K.e"),
        ({"e": True}, "K.e"),
        ({"e": "SECRET"}, "K.e"),
        ({"many": "12"}, "K.many"),
        ({"many": [1, "SECRET"]}, "K.many[1]"),
        ({"byName": {"k": "SECRET"}}, "K.byName['k']"),
        ({"by_name": [1]}, "K.by_name"),
        ({"inner": {"inner": {"i": "SECRET"}}}, "K.inner.inner.i"),
        ({"inner": "SECRET"}, "K.inner"),
        ({"wrapped": "SECRET"}, "K.wrapped"),
        ({"wrapped": 1.5}, "K.wrapped"),
        ({"typo": "SECRET"}, "K"),
        ({5: 1}, "K"),
    ],
)
def test_dicts_that_do_not_fit_are_refused_with_a_path_and_without_the_value(value: Any, path: str) -> None:
    write = ProtobufSerializer(KINDS, FakeRegistry(), {"message.type": "p.K"})
    with pytest.raises(SerializationError) as caught:
        write(value, VALUE)
    assert caught.value.path == path
    assert "SECRET" not in str(caught.value)
    if "typo" in value:
        assert "message type p.K has no field 'typo'" in str(caught.value)


def test_dicts_in_all_the_forms_of_protobuf_json() -> None:
    registry = FakeRegistry()
    write = ProtobufSerializer(KINDS, registry, {"message.type": "p.K"})
    read = ProtobufDeserializer(None, None, registry)
    value = {
        "i": "-5", "u": str(2**64 - 1), "f": 1, "d": "Infinity", "b": True, "s": "ä", "raw": "_-8=", "e": "B",
        "many": (1, "2", 3.0), "byName": {"k": 1}, "inner": {"e": 1, "i": None, "raw": "/+8"}, "wrapped": "7",
        "free": {"a": [1, None]},
    }  # fmt: skip
    made = read(write(value, VALUE), VALUE)
    assert (made.i, made.u, made.f, made.d, made.raw) == (-5, 2**64 - 1, 1.0, float("inf"), b"\xff\xef")
    assert (list(made.many), dict(made.by_name), made.inner.e, made.inner.raw) == ([1, 2, 3], {"k": 1}, 1, b"\xff\xef")
    assert (made.wrapped.value, made.free["a"][0]) == (7, 1)


def test_dicts_that_are_too_deep_are_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(50_000):
        value = {"inner": value}
    with pytest.raises(SerializationError, match="nested deeper than 100 levels"):
        ProtobufSerializer(KINDS, FakeRegistry(), {"message.type": "p.K"})(value, VALUE)


def test_fields_that_are_not_known_are_kept() -> None:
    registry = FakeRegistry()
    frame = ProtobufSerializer(KINDS, registry, {"message.type": "p.K"})({"i": 5, "s": "x"}, VALUE)
    first = message_class("shop.First")
    made = ProtobufDeserializer(first, {"message.type.any": True}, registry)(frame, VALUE)
    assert made.SerializeToString() == frame[6 + frame[5] :]
