"""serdes.rules.walks.protobuf: fields of Protobuf messages."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    message_factory,
    timestamp_pb2,
    wrappers_pb2,
)

from registry import RuleKind, RuleMode, Schema
from serdes.formats.protobuf.codec import load
from serdes.rules import FieldContext, RuleConditionError, RuleContext, RuleError
from serdes.rules.walks.protobuf import field_transformer
from serdes.rules.walks.protobuf_meta import tags_of
from tests.unit.serdes.rules.samples import context, rule

F = descriptor_pb2.FieldDescriptorProto
WHEN = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


def tagged(*tags: str) -> bytes:
    """Encoded field options with `confluent.field_meta` (1088) and its tags (3), after another field."""
    meta = b"".join(b"\x1a" + bytes([len(tag)]) + tag.encode() for tag in tags)
    return b"\x18\x01" + b"\x82\x44" + bytes([len(meta)]) + meta


def file(name: str, package: str) -> descriptor_pb2.FileDescriptorProto:
    made = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    made.dependency.extend(f"google/protobuf/{name}.proto" for name in ("timestamp", "duration", "wrappers"))
    message = made.message_type.add(name="Person")

    def add(
        name: str, number: int, kind: int, label: int = F.LABEL_OPTIONAL, options: bytes = b"", **more: Any
    ) -> None:
        field = message.field.add(name=name, number=number, type=kind, label=label, **more)  # type: ignore[arg-type]
        if options:
            field.options.MergeFromString(options)

    own = f".{package}.Person"
    add("name", 1, F.TYPE_STRING, options=tagged("PII", "X"))
    add("age", 2, F.TYPE_INT32)
    add("nicks", 3, F.TYPE_STRING, F.LABEL_REPEATED)
    add("friend", 4, F.TYPE_MESSAGE, type_name=own)
    add("friends", 5, F.TYPE_MESSAGE, F.LABEL_REPEATED, type_name=own)
    add("labels", 6, F.TYPE_MESSAGE, F.LABEL_REPEATED, type_name=f"{own}.LabelsEntry")
    add("by_name", 7, F.TYPE_MESSAGE, F.LABEL_REPEATED, type_name=f"{own}.ByNameEntry")
    add("at", 8, F.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    add("lasts", 9, F.TYPE_MESSAGE, type_name=".google.protobuf.Duration")
    add("raw", 10, F.TYPE_BYTES)
    add("maybe", 11, F.TYPE_STRING, oneof_index=0, proto3_optional=True)
    add("alias", 12, F.TYPE_MESSAGE, options=tagged("PII"), type_name=".google.protobuf.StringValue")
    message.oneof_decl.add(name="_maybe")
    for entry, kind, type_name in (("LabelsEntry", F.TYPE_STRING, ""), ("ByNameEntry", F.TYPE_MESSAGE, own)):
        nested = message.nested_type.add(name=entry)
        nested.options.map_entry = True
        nested.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
        nested.field.add(name="value", number=2, type=kind, label=F.LABEL_OPTIONAL, type_name=type_name or None)
    return made


def descriptor(package: str = "walk") -> Any:
    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, duration_pb2, wrappers_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(file("person.proto", package))
    return pool.FindMessageTypeByName(f"{package}.Person")


PERSON = descriptor()
Person: Any = message_factory.GetMessageClass(PERSON)


def walked(message: Any, registered: Any = PERSON, **changes: Any) -> tuple[Any, list[tuple[str, str]]]:
    seen: list[tuple[str, str]] = []

    def change(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        seen.append((field.full_name, field.type_name()))
        return value.upper() if isinstance(value, (str, bytes)) else value

    ctx = context(rule(**{"kind": RuleKind.TRANSFORM, **changes}), changes.get("mode", RuleMode.WRITE))
    return field_transformer(registered)(ctx, change, message), seen


def test_every_value_that_is_set_is_seen() -> None:
    message = Person(name="a", age=1, nicks=["b", "c"], raw=b"d", labels={"k": "e"})
    message.friend.name = "f"
    message.friends.add(name="g")
    message.by_name["x"].name = "h"
    made, seen = walked(message)
    assert (made.name, list(made.nicks), made.raw, dict(made.labels)) == ("A", ["B", "C"], b"D", {"k": "E"})
    assert (made.friend.name, made.friends[0].name, made.by_name["x"].name) == ("F", "G", "H")
    assert message.name == "a"  # a copy is changed
    assert ("walk.Person.name", "STRING") in seen
    assert ("walk.Person.raw", "BYTES") in seen
    assert not made.HasField("maybe")
    assert not made.friend.HasField("friend")


def test_tags_are_read_off_the_options() -> None:
    assert tags_of(PERSON.fields_by_name["name"]) == {"PII", "X"}
    assert tags_of(PERSON.fields_by_name["age"]) == set()
    made, _ = walked(Person(name="a", nicks=["b"]), tags=["PII"])
    assert (made.name, list(made.nicks)) == ("A", ["b"])


def test_a_wrapper_is_transformed_as_the_value_in_it() -> None:
    message = Person()
    message.alias.value = "a"
    made, seen = walked(message, tags=["PII"])
    assert (made.alias.value, message.alias.value) == ("A", "a")
    assert seen[-1] == ("walk.Person.alias", "STRING")
    assert not walked(Person(), tags=["PII"])[0].HasField("alias")


def test_values_of_a_tagged_map_are_of_their_own_type() -> None:
    made = file("maps.proto", "maps")
    labels = next(field for field in made.message_type[0].field if field.name == "labels")
    labels.options.MergeFromString(tagged("PII"))
    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, duration_pb2, wrappers_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(made)
    kind = pool.FindMessageTypeByName("maps.Person")
    changed, seen = walked(message_factory.GetMessageClass(kind)(labels={"k": "v"}), kind, tags=["PII"])
    assert dict(changed.labels) == {"k": "V"}
    assert seen[-1] == ("maps.Person.labels", "STRING")


def test_fields_are_matched_by_number() -> None:
    renamed = file("other.proto", "renamed")
    renamed.message_type[0].field[0].name = "full_name"
    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, duration_pb2, wrappers_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(renamed)
    made, seen = walked(Person(name="a"), pool.FindMessageTypeByName("renamed.Person"), tags=["PII"])
    assert made.name == "A"
    assert seen == [("renamed.Person.full_name", "STRING")]


def test_times_are_single_values() -> None:
    message = Person()
    message.at.FromDatetime(WHEN)
    message.lasts.FromTimedelta(datetime.timedelta(seconds=5))

    def later(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        if field.name == "at":
            return value.ToDatetime(datetime.UTC) + datetime.timedelta(days=1)
        return value.ToTimedelta() * 2 if field.name == "lasts" else value

    made = field_transformer(PERSON)(context(rule(kind=RuleKind.TRANSFORM)), later, message)
    assert made.at.ToDatetime(datetime.UTC) == WHEN + datetime.timedelta(days=1)
    assert made.lasts.ToTimedelta() == datetime.timedelta(seconds=10)


def test_a_condition_changes_nothing_and_refuses() -> None:
    message = Person(name="a", nicks=["b"])
    apply = field_transformer(PERSON)
    assert apply(context(rule()), lambda *_: True, message) == message
    with pytest.raises(RuleConditionError):
        apply(context(rule()), lambda *_: False, message)


def test_fields_outside_the_registered_schema_are_left_alone() -> None:
    empty = descriptor_pb2.FileDescriptorProto(name="empty.proto", package="empty", syntax="proto3")
    empty.message_type.add(name="Person")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(empty)
    made, seen = walked(Person(name="a"), pool.FindMessageTypeByName("empty.Person"))
    assert (made.name, seen) == ("a", [])


# --- what is not among a message's own fields

OPEN = """
syntax = "proto2";
package open;
import "confluent/meta.proto";
import "google/protobuf/any.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Person {
  optional string name = 1 [(confluent.field_meta) = { tags: "PII" }];
  optional google.protobuf.Any more = 2 [(confluent.field_meta) = { tags: "PII" }];
  repeated google.protobuf.Timestamp seen = 3;
  map<string, google.protobuf.Timestamp> at = 4;
  extensions 100 to 199;
  map<string, string> notes = 5 [(confluent.field_meta) = { tags: "PII" }];
  map<string, Pet> pets = 6;
  optional Person friend = 7;
  message Pet { optional string call = 1 [(confluent.field_meta) = { tags: "PII" }]; optional int32 age = 2; }
}
extend Person {
  optional string secret = 100 [(confluent.field_meta) = { tags: "PII" }];
  repeated string secrets = 101 [(confluent.field_meta) = { tags: "PII" }];
  optional Person.Pet pet = 102;
  optional string open_to_all = 103;
}
"""
FILE = load(Schema(OPEN, "PROTOBUF"))
OpenPerson: Any = FILE.named("Person")
Pet: Any = FILE.named("Person.Pet")


def extension(name: str) -> Any:
    return FILE.file.extensions_by_name[name]


def packing(inner: Any) -> Any:
    message = OpenPerson(name="a")
    message.more.Pack(inner)
    return message


def test_extensions_are_walked() -> None:
    message = OpenPerson(name="a")
    message.Extensions[extension("secret")] = "b"
    message.Extensions[extension("secrets")].extend(["c", "d"])
    message.Extensions[extension("pet")].call = "e"
    message.Extensions[extension("open_to_all")] = "f"
    made, seen = walked(message, OpenPerson.DESCRIPTOR, tags=["PII"])
    assert made.Extensions[extension("secret")] == "B"
    assert list(made.Extensions[extension("secrets")]) == ["C", "D"]
    assert made.Extensions[extension("pet")].call == "E"
    assert made.Extensions[extension("open_to_all")] == "f"
    assert ("open.secret", "STRING") in seen
    assert message.Extensions[extension("secret")] == "b"


def test_messages_in_an_any_are_walked_if_the_schema_has_their_type() -> None:
    made, _ = walked(packing(Pet(call="x", age=3)), OpenPerson.DESCRIPTOR, tags=["PII"])
    pet = Pet()
    assert made.more.Unpack(pet)
    assert (pet.call, pet.age) == ("X", 3)
    nested = packing(packing(Pet(call="x")))
    made, _ = walked(nested, OpenPerson.DESCRIPTOR, tags=["PII"])
    inner = OpenPerson()
    made.more.Unpack(inner)
    inner.more.Unpack(pet)
    assert pet.call == "X"


def test_single_values_in_an_any_have_the_tags_of_the_field() -> None:
    kind: Any = FILE.named("google.protobuf.StringValue")
    made, seen = walked(packing(kind(value="x")), OpenPerson.DESCRIPTOR, tags=["PII"])
    found = kind()
    made.more.Unpack(found)
    assert found.value == "X"
    assert seen[-1] == ("open.Person.more", "STRING")


def test_an_any_of_a_type_the_schema_does_not_have_is_left_alone_or_refused() -> None:
    message = packing(Person(name="a"))
    made, _ = walked(message, OpenPerson.DESCRIPTOR, tags=["PII"])
    assert made.more == message.more
    with pytest.raises(RuleError, match=r"does not have walk\.Person, which is packed in an Any: import its file"):
        walked(message, OpenPerson.DESCRIPTOR)
    empty = OpenPerson()
    empty.more.SetInParent()
    assert walked(empty, OpenPerson.DESCRIPTOR)[0] == empty
    apply = field_transformer(OpenPerson.DESCRIPTOR)
    assert apply(context(rule()), lambda *_: True, message) == message  # a condition has nothing to hide


def test_types_beside_the_schema_are_not_the_schema_s() -> None:
    """Generated classes share one pool: a reader, who has the schema alone, would not find them."""
    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, duration_pb2, wrappers_pb2, any_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    holder = descriptor_pb2.FileDescriptorProto(name="holder.proto", package="holder", syntax="proto3")
    holder.dependency.append("google/protobuf/any.proto")
    field = holder.message_type.add(name="Holder").field.add(name="held", number=1, label=F.LABEL_OPTIONAL)
    field.type, field.type_name = F.TYPE_MESSAGE, ".google.protobuf.Any"
    pool.Add(holder)
    pool.Add(file("beside.proto", "beside"))
    kind = pool.FindMessageTypeByName("holder.Holder")
    message: Any = message_factory.GetMessageClass(kind)()
    message.held.Pack(message_factory.GetMessageClass(pool.FindMessageTypeByName("beside.Person"))(name="a"))
    made, seen = walked(message, kind, tags=["PII"])
    assert (made, seen) == (message, [])


def test_an_any_that_lies_about_its_type_is_refused() -> None:
    message = OpenPerson()
    message.more.type_url, message.more.value = "type.googleapis.com/open.Person", b"\xff\xff"
    with pytest.raises(RuleError, match=r"no open\.Person"):
        walked(message, OpenPerson.DESCRIPTOR, tags=["PII"])


def test_single_values_in_lists_and_maps_are_stored_and_must_fit() -> None:
    message = OpenPerson()
    message.seen.add().FromDatetime(WHEN)
    message.at["x"].FromDatetime(WHEN)

    def later(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        return value.ToDatetime(datetime.UTC) + datetime.timedelta(days=1)

    made = field_transformer(OpenPerson.DESCRIPTOR)(context(rule(kind=RuleKind.TRANSFORM)), later, message)
    for found in (made.seen[0], made.at["x"]):
        assert found.ToDatetime(datetime.UTC) == WHEN + datetime.timedelta(days=1)
    with pytest.raises(RuleError, match=r"gave a str for a google\.protobuf\.Timestamp"):
        field_transformer(OpenPerson.DESCRIPTOR)(context(rule(kind=RuleKind.TRANSFORM)), lambda *_: "tomorrow", message)


def test_conditions_look_everywhere_and_change_nothing() -> None:
    message = packing(Pet(call="x"))
    message.Extensions[extension("secret")] = "b"
    message.notes["k"] = "v"
    message.at["x"].FromDatetime(WHEN)
    kind: Any = FILE.named("google.protobuf.StringValue")
    seen: list[Any] = []

    def look(ctx: RuleContext, field: FieldContext, value: Any) -> bool:
        seen.append(value)
        return value != "bad"

    apply = field_transformer(OpenPerson.DESCRIPTOR)
    assert apply(context(rule()), look, message) == message
    assert {"x", "b", "v", "a"} <= {value for value in seen if isinstance(value, str)}
    for bad in (packing(Pet(call="bad")), packing(kind(value="bad")), OpenPerson(notes={"k": "bad"})):
        with pytest.raises(RuleConditionError):
            apply(context(rule()), look, bad)


def test_an_extension_that_the_schema_does_not_have_has_no_tags() -> None:
    smaller = load(Schema(OPEN[: OPEN.index("extend Person")], "PROTOBUF")).named("Person")
    message = OpenPerson(name="a")
    message.Extensions[extension("secret")] = "b"
    made, seen = walked(message, smaller.DESCRIPTOR, tags=["PII"])
    assert (made.Extensions[extension("secret")], seen) == ("b", [("open.Person.name", "STRING")])


class Described:
    """A descriptor with these options."""

    def __init__(self, options: bytes) -> None:
        self._options = options

    def GetOptions(self) -> Described:
        return self

    def SerializeToString(self) -> bytes:
        return self._options


def test_tags_are_found_after_fields_of_any_wire_type() -> None:
    fixed = b"\x0d" + bytes(4) + b"\x11" + bytes(8)  # a fixed32 and a fixed64
    assert tags_of(Described(fixed + tagged("PII"))) == {"PII"}


@pytest.mark.parametrize("number", [1, 5, 6, 7, 100, 102])
def test_a_value_that_the_producer_s_class_does_not_know_is_not_written_in_clear(number: int) -> None:
    older = load(Schema('syntax = "proto2"; package open; message Person { optional int32 id = 9; }', "PROTOBUF"))
    payload = {
        5: b"\x0a\x01k\x12\x01v",
        6: b"\x0a\x01k\x12\x00",
    }.get(number, Pet(call="secret").SerializeToString())
    message = older.named("Person").FromString(bytes(key_of(number)) + bytes([len(payload)]) + payload)
    with pytest.raises(RuleError, match="which its class does not know"):
        walked(message, OpenPerson.DESCRIPTOR, tags=["PII"])
    assert walked(message, OpenPerson.DESCRIPTOR, tags=["OTHER"])[0] == message
    assert walked(message, OpenPerson.DESCRIPTOR, tags=["PII"], mode=RuleMode.READ)[0] == message


def key_of(number: int) -> list[int]:
    """The key of a length-delimited field."""
    value = number << 3 | 2
    return [value] if value < 0x80 else [value & 0x7F | 0x80, value >> 7]
