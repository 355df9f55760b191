"""serdes.rules.walk_protobuf: fields of Protobuf messages."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    message_factory,
    timestamp_pb2,
    wrappers_pb2,
)

from registry import RuleKind
from serdes.rules import FieldContext, RuleConditionError, RuleContext
from serdes.rules.walk_protobuf import field_tags, field_transformer
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

    ctx = context(rule(**{"kind": RuleKind.TRANSFORM, **changes}))
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
    assert field_tags(PERSON.fields_by_name["name"]) == {"PII", "X"}
    assert field_tags(PERSON.fields_by_name["age"]) == set()
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


def test_what_the_registered_schema_does_not_have_is_left_alone() -> None:
    empty = descriptor_pb2.FileDescriptorProto(name="empty.proto", package="empty", syntax="proto3")
    empty.message_type.add(name="Person")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(empty)
    made, seen = walked(Person(name="a"), pool.FindMessageTypeByName("empty.Person"))
    assert (made.name, seen) == ("a", [])
