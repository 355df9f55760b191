from __future__ import annotations

import base64
from typing import Any

import pytest

from registry import Schema, SchemaReference
from serdes import SerializationError
from serdes.formats.protobuf.codec import decoder, descriptor_text, encoder, index_path, is_built_in, load, of_class
from tests.unit.serdes.protos import PART, PART_REFERENCE, TEXT, message_class


def dynamic() -> Any:
    return load(Schema(TEXT, "PROTOBUF", [PART_REFERENCE]), [(PART_REFERENCE, Schema(PART, "PROTOBUF"))])


def test_types_by_path_and_name() -> None:
    schema = dynamic()
    assert schema.at([1, 0]).DESCRIPTOR.full_name == "shop.Order.Line"
    assert schema.named("Order.Line") is schema.named("shop.Order.Line")
    assert schema.name == "shop.First"
    assert index_path(message_class("shop.Order.Line").DESCRIPTOR) == [1, 0]
    assert of_class(message_class("shop.Order")).name == "shop.Order"
    for path, text in (([2], "the schema has 2"), ([1, 1], r"shop\.Order has 1"), ([0, 0], r"shop\.First has 0")):
        with pytest.raises(SerializationError, match=text):
            schema.at(path)
    with pytest.raises(SerializationError, match=r"no message type 'shop\.None'"):
        schema.named("shop.None")


def test_descriptors_as_references_are_put_together() -> None:
    order = message_class("shop.Order")
    part = order.DESCRIPTOR.fields_by_name["part"].message_type.file
    own = Schema(descriptor_text(order.DESCRIPTOR.file), "PROTOBUF", [PART_REFERENCE])
    for other in (Schema(descriptor_text(part), "PROTOBUF"), Schema(PART, "PROTOBUF")):
        built = load(own, [(PART_REFERENCE, other)]).named("shop.Order")
        message: Any = built(id="x", part={"m": {"units": 5}})
        message.at.FromSeconds(1)
        assert order.FromString(message.SerializeToString()).part.m.units == 5


def test_bad_schemas() -> None:
    with pytest.raises(SerializationError, match=r"the Protobuf schema is not valid: .*line 1"):
        load(Schema("message {", "PROTOBUF"))
    junk = base64.b64encode(b"\xfe" * 8).decode()
    with pytest.raises(SerializationError, match="the Protobuf schema is not valid"):
        load(Schema(junk, "PROTOBUF"), [(SchemaReference("a.proto", "a", 1), Schema(junk, "PROTOBUF"))])


def test_messages_and_dicts_are_written() -> None:
    line = message_class("shop.Order.Line")
    write = encoder(line, b"!")
    assert write(line(sku="s")) == b"!\n\x01s"
    assert write({"sku": "s"}) == b"!\n\x01s"
    assert write(dynamic().named("shop.Order.Line")(sku="s")) == b"!\n\x01s"
    for bad, text in (
        ({"nope": 1}, "at Line: message type shop.Order.Line has no field 'nope'"),
        ({"count": "x"}, r"at Line\.count: an integer is needed"),
        (5, "a message of type shop.Order.Line is needed, not int"),
        (message_class("shop.First")(), r"not shop\.First"),
    ):
        with pytest.raises(SerializationError, match=text):
            write(bad)


def test_required_fields_must_be_there() -> None:
    schema = load(Schema('syntax = "proto2"; message M { required int32 a = 1; }', "PROTOBUF"))
    with pytest.raises(SerializationError, match=r"the message can't be encoded: .*missing required"):
        encoder(schema.at([0]), b"")(schema.at([0])())


def test_payloads_are_read() -> None:
    line = message_class("shop.Order.Line")
    assert decoder(line, 1)(b"!\n\x01s").sku == "s"
    for bad in (b"!\n\x05s", b"!\xff", b"!\n\xff\xff\xff\xff\x07"):
        with pytest.raises(SerializationError, match=r"is not a message of type shop\.Order\.Line"):
            decoder(line, 1)(bad)


def test_built_in_files_need_no_reference() -> None:
    assert is_built_in("google/protobuf/timestamp.proto")
    assert not is_built_in("shop/part.proto")
