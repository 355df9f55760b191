from __future__ import annotations

from collections.abc import Callable

import pytest

from registry import InvalidSchemaError
from registry.compat.difference import Roles
from registry.compat.protobuf.fields import Pair, Side, compare_fields
from registry.compat.protobuf.kinds import COMPATIBLE, SENTENCES, Change, ProtobufKind
from registry.compat.protobuf.messages import changes
from registry.schemas.protobuf.format import ProtobufSchema
from registry.schemas.protobuf.model import Field
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


# ---- kinds


def test_every_incompatible_change_has_a_message_and_no_other_has() -> None:
    assert set(SENTENCES) == set(ProtobufKind) - COMPATIBLE


@pytest.mark.parametrize("kind", sorted(SENTENCES))
@pytest.mark.parametrize("candidate_reads", [True, False])
def test_sentences(kind: ProtobufKind, candidate_reads: bool) -> None:
    found = Change(kind, ("A", "1"), "x", "'here'", "'there'").worded(Roles("R", "W", candidate_reads))
    assert found.path == "#/A/1"
    assert found.message.startswith("#/A/1 of R: ")
    assert "so R can't read data of W; to be compatible, " in found.message
    assert "{" not in found.message


# ---- fields


def side(text: str, place: int = 1) -> Side:
    return Side(Types(read('syntax = "proto3";'), [("o.proto", ("o", place), read(text))]), "", ())


def test_pairs_of_messages_are_handed_back() -> None:
    field = Field(None, "o.A", "x", 1)
    (found,) = compare_fields(
        field, field, side("package o; message A {}", 2), side("package o; message A {}"), ("M", "1")
    )
    assert isinstance(found, Pair)
    assert (found.reader.place, found.writer.place) == (("o", 2), ("o", 1))
    same = side("package o; message A {}")
    assert list(compare_fields(field, field, same, same, ())) == []


def test_an_enum_called_like_a_scalar_is_a_number() -> None:
    odd = side("enum string { V = 0; }")
    text, number = Field(None, "string", "x", 1), Field(None, "int32", "x", 1)
    assert list(compare_fields(text, number, odd, side(""), ())) == []
    (found,) = compare_fields(text, number, side(""), side(""), ())
    assert isinstance(found, Change)
    assert found.kind == "FIELD_SCALAR_KIND_CHANGED"


def test_map_entries_of_descriptors_are_maps() -> None:
    entry = "message E { option map_entry = true; optional string key = 1; optional %s value = 2; }"
    one, other = Field("repeated", "E", "x", 1), Field(None, "map<string, int32>", "x", 1)
    assert list(compare_fields(one, other, side(entry % "int32"), side(""), ())) == []
    (found,) = compare_fields(one, other, side(entry % "string"), side(""), ())
    assert isinstance(found, Change)
    assert found.kind == "FIELD_SCALAR_KIND_CHANGED"
