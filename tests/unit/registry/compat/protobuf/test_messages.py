from __future__ import annotations

from collections.abc import Callable

import pytest

from registry import InvalidSchemaError
from registry.compat.protobuf.messages import changes
from registry.schemas.protobuf.format import ProtobufSchema
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.types import Types


def schema(text: str, other: str = "", place: int = 1) -> ProtobufSchema:
    file = read(f'syntax = "proto3"; {text}')
    return ProtobufSchema(file, Types(file, [("o.proto", ("o", place), read(f'syntax = "proto3"; {other}'))]))


def paths(reader: ProtobufSchema, writer: ProtobufSchema) -> list[tuple[str, str]]:
    return [(change.kind, "/".join(change.path)) for change in changes(reader, writer)]


def test_paths_are_names_and_numbers() -> None:
    old = schema("message A { message B { int32 x = 1; } oneof o { int32 y = 2; } enum E { V = 0; } }")
    new = schema("message A { message B { int32 z = 1; } oneof o { int64 w = 2; } enum E { W = 0; } }")
    assert paths(new, old) == [
        ("FIELD_NAME_CHANGED", "A/o/2"),
        ("FIELD_NAME_CHANGED", "A/B/1"),
        ("ENUM_CONST_CHANGED", "A/E/0"),
    ]


def test_each_difference_is_found_once() -> None:
    text = "import 'o.proto'; message A { o.B b = 1; o.B c = 2; }"
    old = schema(text, "package o; message B { int32 x = 1; }")
    new = schema(text, "package o; message B { string x = 1; }", place=2)
    assert sorted(paths(new, old)) == [
        ("FIELD_NAMED_TYPE_CHANGED", "A/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "A/2"),
        ("FIELD_SCALAR_KIND_CHANGED", "B/1"),
    ]


def test_harmless_differences_of_references_do_not_spread() -> None:
    text = "message A { o.B b = 1; }"
    old, new = schema(text, "package o; message B {}"), schema(text, "package o; message B { int32 x = 1; }", place=2)
    assert paths(new, old) == [("FIELD_ADDED", "B/1")]


def test_a_graph_with_very_many_paths_is_compared_in_one_go() -> None:
    names = [f"M{i}" for i in range(40)]
    graph = "package o;" + "".join(
        f"message {name} {{" + "".join(f"{other} f{j} = {j + 1};" for j, other in enumerate(names)) + "}"
        for name in names
    )
    assert paths(schema("message A { o.M0 m = 1; }", graph), schema("message A { o.M0 m = 1; }", graph, place=2)) == []


def test_pairing_many_large_messages_in_many_ways_is_refused() -> None:
    fields = "".join(f"int32 f{i} = {i + 1};" for i in range(400))

    def of(pick: Callable[[int], int]) -> ProtobufSchema:
        uses = "".join(f"p{pick(i)}.M f{i} = {i + 1};" for i in range(50 * 50))
        file = read(f'syntax = "proto3"; message A {{ {uses} }}')
        others = [read(f'syntax = "proto3"; package p{i}; message M {{ {fields} }}') for i in range(50)]
        return ProtobufSchema(file, Types(file, [(f"{i}.proto", None, other) for i, other in enumerate(others)]))

    with pytest.raises(InvalidSchemaError, match="more than 1,000,000 fields to be compared"):
        changes(of(lambda i: i % 50), of(lambda i: i // 50))


def test_message_types_that_were_map_entries_are_not_missed() -> None:
    entry = "message TEntry { option map_entry = true; string key = 1; string value = 2; }"
    old = schema(f"message A {{ repeated TEntry t = 1; {entry} }}")
    assert paths(schema("message A { map<string, string> t = 1; }"), old) == []
