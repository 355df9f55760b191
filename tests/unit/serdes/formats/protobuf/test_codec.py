from __future__ import annotations

import base64
from typing import Any

import pytest

from registry import Schema, SchemaReference, SchemaRegistryClient
from serdes import SerializationError
from serdes.formats.protobuf.codec import (
    decoder,
    descriptor_text,
    encoder,
    index_path,
    is_built_in,
    load,
    of_class,
    types_at,
)
from serdes.formats.protobuf.format import ProtobufFormat
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


MAPS = """syntax = "proto3"; message O {
  map<string, int32> m = 1;
  message A { int32 a = 1; }
  message B { int32 b = 1; }
  message C { message D {} map<int32, D> d = 1; }
}"""


def test_a_path_never_means_what_protoc_makes_of_a_map() -> None:
    """Java counts A, B, C; Python counts the type of m, too, wherever it stood in the writer's text."""
    text = load(Schema(MAPS, "PROTOBUF"))
    assert next(one.full_name for one in text.file.message_types_by_name["O"].nested_types) == "O.MEntry"
    assert text.at([0, 0]).DESCRIPTOR.full_name == "O.A"
    assert text.at([0, 3]).DESCRIPTOR.full_name == "O.C"
    assert text.at([0, 3, 0]).DESCRIPTOR.full_name == "O.C.D"
    for path, names in (([0, 1], "O.B or O.A"), ([0, 2], "O.C or O.B")):
        assert sorted(one.full_name for one in text.at_any(path)) == sorted(names.split(" or "))
        with pytest.raises(SerializationError, match=r"is O\.\w or O\.\w: .*give the class, or set message\.type"):
            text.at(path)
    with pytest.raises(SerializationError, match=r"\[0, 4\] is not there: O has 4"):
        text.at([0, 4])
    with pytest.raises(SerializationError, match=r"\[0, 0, 0\] is not there: O\.A has 0"):
        text.at([0, 0, 0])
    python = load(Schema(descriptor_text(text.file), "PROTOBUF"))
    assert [python.at([0, index]).DESCRIPTOR.full_name for index in (1, 2, 3)] == ["O.A", "O.B", "O.C"]


def test_a_path_that_may_mean_several_types_is_settled_by_the_name() -> None:
    schema = load(Schema(MAPS, "PROTOBUF"))
    for name, path in (("O.A", [0, 0]), ("O.A", [0, 1]), ("O.B", [0, 1]), ("B", [0, 2])):
        form = ProtobufFormat(None, f"O.{name[-1]}")
        assert form.decoder(schema, None, 0, path)(b"").DESCRIPTOR.full_name == f"O.{name[-1]}"
    with pytest.raises(SerializationError, match=r"has a message of type O\.B or O\.C, not O\.A"):
        ProtobufFormat(None, "O.A").decoder(schema, None, 0, [0, 2])


def test_groups_are_types_only_if_nothing_else_is_meant() -> None:
    text = 'syntax = "proto2"; message O { optional group G = 1 { optional int32 a = 1; } message A {} message B {} }'
    schema = load(Schema(text, "PROTOBUF"))
    assert schema.at([0, 0]).DESCRIPTOR.full_name == "O.A"
    with pytest.raises(SerializationError, match=r"O\.A or O\.B|O\.B or O\.A"):
        schema.at([0, 1])
    alone = load(Schema(text.replace("message A {} message B {}", ""), "PROTOBUF"))
    assert alone.at([0, 0]).DESCRIPTOR.full_name == "O.G"


DELIMITED = """edition = "2023"; message O {
  message A { int32 a = 1; }
  A a = 1 [features.message_encoding = DELIMITED];
  message B { int32 b = 1; }
}"""


@pytest.mark.parametrize("written", ["text", "descriptor"])
def test_delimited_fields_of_editions_are_no_groups(written: str) -> None:
    """Their message types are in the text, and everybody counts them."""
    schema = load(Schema(DELIMITED, "PROTOBUF"))
    if written == "descriptor":
        schema = load(Schema(descriptor_text(schema.file), "PROTOBUF"))
    assert [schema.at([0, index]).DESCRIPTOR.full_name for index in (0, 1)] == ["O.A", "O.B"]


def test_groups_of_extensions_are_types_only_if_nothing_else_is_meant() -> None:
    text = """syntax = "proto2"; message O { extensions 10 to 20; message P {}
      extend O { optional group H = 11 { optional int32 a = 1; } } message Q {} }
      extend O { optional group G = 10 { optional int32 a = 1; } } message A {}"""
    schema = load(Schema(text, "PROTOBUF"))
    assert [one.full_name for one in schema.at_any([1])] == ["A"]
    assert schema.at([2]).DESCRIPTOR.full_name == "A"
    assert {one.full_name for one in schema.at_any([0, 1])} == {"O.Q"}


def test_numbers_may_have_a_plus_in_their_exponents() -> None:
    """As other registries take them, and protoc writes them into descriptors."""
    text = 'syntax = "proto2"; message O { optional double d = 1 [default = -1e+300]; }'
    assert types_at(Schema(text, "PROTOBUF"), [0]) == ["O"]
    client = SchemaRegistryClient({"url": "mock://plus"})
    own = Schema(descriptor_text(load(Schema(text, "PROTOBUF")).file), "PROTOBUF")
    found = client.get_schema(client.register_schema("s", own))
    assert "e300];" in found.schema_str  # the client refuses a plus, as Confluent's registry does
    assert load(found).file.message_types_by_name["O"].fields[0].default_value == -1e300
    assert client.register_schema("other", found) > 0


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
