from __future__ import annotations

from typing import Any

import pytest

from registry import Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.engine.drivers import drive
from serdes.formats.protobuf.format import ProtobufFormat
from serdes.options import PROTOBUF_WRITE, WriteOptions
from tests.unit.serdes.fake import FakeRegistry
from tests.unit.serdes.protos import message_class

VALUE = SerializationContext("orders", MessageField.VALUE)
TWO = Schema('syntax = "proto3"; package p; message A { int32 n = 1; } message B { int32 n = 1; }', "PROTOBUF")


def complete(registry: Any, **conf: Any) -> Schema:
    form = ProtobufFormat(message_class("shop.Order"))
    schema = form.schema()
    assert schema is not None
    flow = form.complete(schema, VALUE, WriteOptions.parse(conf, True, PROTOBUF_WRITE))
    return drive(registry, flow)


def test_imports_are_registered_first() -> None:
    registry = FakeRegistry()
    schema = complete(registry)
    assert [(r.name, r.subject, r.version) for r in schema.references] == [("shop/part.proto", "shop/part.proto", 1)]
    assert list(registry.subjects) == ["shop/part.proto"]
    named = complete(registry, **{"reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}"})
    assert named.references[0].subject == "orders/shop/part.proto"


def test_or_looked_up() -> None:
    registry = FakeRegistry()
    complete(registry)
    registry.calls.clear()
    complete(registry, **{"auto.register.schemas": False})
    assert registry.calls == ["lookup"]


def test_known_types_may_be_registered_too() -> None:
    registry = FakeRegistry()
    complete(registry, **{"skip.known.types": False})
    assert set(registry.subjects) == {
        "google/protobuf/timestamp.proto",
        "google/type/money.proto",
        "shop/part.proto",
    }


def test_a_type_by_name_or_the_first() -> None:
    first, second = ProtobufFormat(), ProtobufFormat(type_name="B")
    parsed = first.parse(TWO, [])
    assert (first.name(parsed), second.name(parsed)) == ("p.A", "p.B")
    assert (first.indexes(parsed), second.indexes(parsed)) == ([0], [1])
    assert first.decoder(parsed, None, 0, [1])(b"\x08\x05").DESCRIPTOR.full_name == "p.B"
    with pytest.raises(SerializationError, match=r"a message of type p\.A, not B"):
        second.decoder(parsed, None, 0, [0])
    assert drive(None, first.complete(TWO, None, WriteOptions())) is TWO
    assert first.message_class(parsed).DESCRIPTOR.full_name == "p.A"


def test_a_class_needs_no_parser_for_its_own_schema() -> None:
    form = ProtobufFormat(message_class("shop.Order.Line"))
    schema = form.schema()
    assert schema is not None
    parsed = form.parse(schema, [])
    assert (form.name(parsed), form.indexes(parsed), form.needs_writer) == ("shop.Order.Line", [1, 0], False)
    assert form.encoder(parsed, b"")({"sku": "s"}) == b"\n\x01s"


def test_a_reader_schema_gives_the_class() -> None:
    form = ProtobufFormat()
    newer = form.parse(Schema('syntax = "proto3"; package p; message A { int32 m = 1; }', "PROTOBUF"), [])
    assert form.decoder(form.parse(TWO, []), newer, 0, [0])(b"\x08\x05").m == 5
