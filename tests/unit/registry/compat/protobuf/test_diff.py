"""Every kind of difference, in both directions."""

from __future__ import annotations

import itertools

import pytest

from registry import Schema, SchemaReference
from registry.compat import check
from registry.compat.difference import Roles
from registry.compat.protobuf.diff import differences
from registry.compat.protobuf.kinds import COMPATIBLE, ProtobufKind
from registry.compat.protobuf.messages import changes
from registry.schemas.protobuf.format import parse

K = ProtobufKind


def proto(text: str, proto2: bool = False) -> Schema:
    return Schema(f'syntax = "proto{2 if proto2 else 3}"; {text}', "PROTOBUF")


def kinds(old: Schema, new: Schema) -> set[ProtobufKind]:
    return {change.kind for change in changes(parse(new, []), parse(old, []))}


# what differs, the older text, the newer text, kinds from old to new, kinds back, whether it is proto2
CASES: list[tuple[str, str, str, set[ProtobufKind], set[ProtobufKind], bool]] = [
    ("nothing", "message A { int32 x = 1; }", "message A { int32 x = 1; }", set(), set(), False),
    ("package", "package a;", "package b;", {K.PACKAGE_CHANGED}, {K.PACKAGE_CHANGED}, False),
    ("package gone", "package a;", "", {K.PACKAGE_CHANGED}, {K.PACKAGE_CHANGED}, False),
    ("message", "message A {}", "message A {} message B {}", {K.MESSAGE_ADDED}, {K.MESSAGE_REMOVED}, False),
    ("nested message", "message A {}", "message A { message B {} }", {K.MESSAGE_ADDED}, {K.MESSAGE_REMOVED}, False),
    ("order", "message A {} message B {}", "message B {} message A {}", {K.MESSAGE_MOVED}, {K.MESSAGE_MOVED}, False),
    ("enum", "", "enum E { V = 0; }", {K.ENUM_ADDED}, {K.ENUM_REMOVED}, False),
    ("value", "enum E { V = 0; }", "enum E { V = 0; W = 1; }", {K.ENUM_CONST_ADDED}, {K.ENUM_CONST_REMOVED}, False),
    ("value's name", "enum E { V = 0; }", "enum E { W = 0; }", {K.ENUM_CONST_CHANGED}, {K.ENUM_CONST_CHANGED}, False),
    ("field", "message A {}", "message A { int32 x = 1; }", {K.FIELD_ADDED}, {K.FIELD_REMOVED}, False),
    ("field's name", "message A { int32 x = 1; }", "message A { int32 y = 1; }", {K.FIELD_NAME_CHANGED},
     {K.FIELD_NAME_CHANGED}, False),
    ("scalar to message", "message A { int32 x = 1; }", "message A { A x = 1; }", {K.FIELD_KIND_CHANGED},
     {K.FIELD_KIND_CHANGED}, False),
    ("map to scalar", "message A { map<string, int32> x = 1; }", "message A { string x = 1; }",
     {K.FIELD_KIND_CHANGED}, {K.FIELD_KIND_CHANGED}, False),
    ("scalars", "message A { int32 x = 1; }", "message A { string x = 1; }", {K.FIELD_SCALAR_KIND_CHANGED},
     {K.FIELD_SCALAR_KIND_CHANGED}, False),
    ("map's value", "message A { map<string, int32> x = 1; }", "message A { map<string, string> x = 1; }",
     {K.FIELD_SCALAR_KIND_CHANGED}, {K.FIELD_SCALAR_KIND_CHANGED}, False),
    ("enum as number", "message A { E x = 1; enum E { V = 0; } }", "message A { int64 x = 1; enum E { V = 0; } }",
     set(), set(), False),
    ("type's name",
     "message A { B x = 1; } message B {} message C {}", "message A { C x = 1; } message B {} message C {}",
     {K.FIELD_NAMED_TYPE_CHANGED}, {K.FIELD_NAMED_TYPE_CHANGED}, False),
    ("written otherwise",
     "package p; message A { A x = 1; }", "package p; message A { .p.A x = 1; }", set(), set(), False),
    ("label of a number", "message A { optional int32 x = 1; }", "message A { repeated int32 x = 1; }",
     {K.FIELD_NUMERIC_LABEL_CHANGED}, {K.FIELD_NUMERIC_LABEL_CHANGED}, True),
    ("label of a string", "message A { optional string x = 1; }", "message A { repeated string x = 1; }",
     {K.FIELD_STRING_OR_BYTES_LABEL_CHANGED}, {K.FIELD_STRING_OR_BYTES_LABEL_CHANGED}, True),
    ("no label", "message A { int32 x = 1; }", "message A { repeated int32 x = 1; }", set(), set(), False),
    ("required", "message A {}", "message A { required int32 x = 1; }", {K.REQUIRED_FIELD_ADDED},
     {K.REQUIRED_FIELD_REMOVED}, True),
    ("oneof", "message A {}", "message A { oneof o { int32 x = 1; } }", {K.ONEOF_ADDED, K.ONEOF_FIELD_ADDED},
     {K.ONEOF_REMOVED}, False),
    ("oneof's field", "message A { oneof o { int32 x = 1; } }", "message A { oneof o { int32 x = 1; int32 y = 2; } }",
     {K.ONEOF_FIELD_ADDED}, {K.ONEOF_FIELD_REMOVED}, False),
    ("into a new oneof", "message A { int32 x = 1; }", "message A { oneof o { int32 x = 1; } }", {K.ONEOF_ADDED},
     {K.ONEOF_REMOVED, K.ONEOF_FIELD_MOVED_TO_TOP_LEVEL}, False),
    ("two into a oneof",
     "message A { int32 x = 1; int32 y = 2; }", "message A { oneof o { int32 x = 1; int32 y = 2; } }",
     {K.ONEOF_ADDED, K.MULTIPLE_FIELDS_MOVED_TO_ONEOF}, {K.ONEOF_REMOVED, K.ONEOF_FIELD_MOVED_TO_TOP_LEVEL}, False),
    ("into an existing oneof", "message A { int32 x = 1; oneof o { int32 y = 2; } }",
     "message A { oneof o { int32 x = 1; int32 y = 2; } }", {K.FIELD_MOVED_TO_EXISTING_ONEOF},
     {K.ONEOF_FIELD_MOVED_TO_TOP_LEVEL}, False),
    ("two oneofs into one", "message A { oneof a { int32 x = 1; } oneof b { int32 y = 2; } }",
     "message A { oneof a { int32 x = 1; int32 y = 2; } }", {K.ONEOF_REMOVED, K.FIELD_MOVED_TO_EXISTING_ONEOF},
     {K.ONEOF_ADDED}, False),
    ("renamed oneof", "message A { oneof a { int32 x = 1; int32 y = 2; } }", "message A { oneof b { int32 x = 1; } }",
     {K.ONEOF_ADDED, K.ONEOF_REMOVED, K.ONEOF_FIELD_REMOVED},
     {K.ONEOF_ADDED, K.ONEOF_REMOVED, K.ONEOF_FIELD_ADDED}, False),
    ("type changed on the way", "message A { oneof a { int32 x = 1; } }", "message A { string x = 1; }",
     {K.ONEOF_REMOVED, K.ONEOF_FIELD_MOVED_TO_TOP_LEVEL, K.FIELD_SCALAR_KIND_CHANGED},
     {K.ONEOF_ADDED, K.FIELD_SCALAR_KIND_CHANGED}, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "there", "back", "proto2"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_kinds(old: str, new: str, there: set[ProtobufKind], back: set[ProtobufKind], proto2: bool) -> None:
    one, other = proto(old, proto2), proto(new, proto2)
    assert kinds(one, other) == there
    assert kinds(other, one) == back
    assert check(other, [one], "BACKWARD").compatible is (there <= COMPATIBLE)
    assert check(other, [one], "FORWARD").compatible is (back <= COMPATIBLE)


def test_every_kind_occurs() -> None:
    assert set().union(*(case[3] | case[4] for case in CASES)) == set(ProtobufKind)


GROUPS = [
    ("int32", "int64", "uint32", "uint64", "bool"),
    ("sint32", "sint64"),
    ("string", "bytes"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("float",),
    ("double",),
]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(itertools.chain(*GROUPS), 2)))
def test_scalars_of_one_group_read_each_other(one: str, other: str) -> None:
    related = any(one in group and other in group for group in GROUPS)
    found = kinds(proto(f"message A {{ {one} x = 1; }}"), proto(f"message A {{ {other} x = 1; }}"))
    assert found == (set() if related else {K.FIELD_SCALAR_KIND_CHANGED})


def test_all_differences_are_told_each_with_a_place_and_a_remedy() -> None:
    old = proto("package p; message A { int32 x = 1; oneof o { int32 y = 2; int32 z = 3; } message B {} }")
    new = proto("package p; message A { string x = 1; oneof o { int32 y = 2; } }")
    found = differences(parse(new, []), parse(old, []), Roles("the new schema", "registered schema 1"), "STRICT")
    assert {(item.kind, item.path) for item in found} == {
        ("FIELD_SCALAR_KIND_CHANGED", "#/A/1"),
        ("ONEOF_FIELD_REMOVED", "#/A/o/3"),
        ("MESSAGE_REMOVED", "#/A/B"),
    }
    for item in found:
        assert "the new schema can't read data of registered schema 1" in item.message
        assert "to be compatible, " in item.message


# --- references


def using(text: str, version: int) -> tuple[Schema, dict[int, str]]:
    schema = Schema(
        'syntax = "proto3"; import "b.proto"; message A { b.B x = 1; }',
        "PROTOBUF",
        (SchemaReference("b.proto", "b", version),),
    )
    return schema, {version: text}


def verdict(old: str, new: str, same_version: bool = False) -> list[tuple[str, str]]:
    one, texts = using(old, 1)
    other, more = using(new, 1 if same_version else 2)
    texts |= more
    result = check(other, [one], resolve=lambda reference: Schema(texts[reference.version], "PROTOBUF"))
    return [(item.kind, item.path) for item in result.differences]


B = 'syntax = "proto3"; package b; message B { %s } '


def test_other_versions_of_a_reference_are_compared() -> None:
    assert verdict(B % "int32 x = 1;", B % "int64 x = 1; int32 y = 2;") == []
    assert sorted(verdict(B % "int32 x = 1;", B % "string x = 1;")) == [
        ("FIELD_NAMED_TYPE_CHANGED", "#/A/1"),
        ("FIELD_SCALAR_KIND_CHANGED", "#/B/1"),
    ]


def test_unreferenced_types_are_not_compared() -> None:
    assert verdict(B % "" + "message C { int32 x = 1; }", B % "") == []


def test_references_are_followed_through_cycles_to_every_field() -> None:
    chain = B % "C c = 1;" + "message C { D d = 1; B b = 2; } message D { %s x = 1; }"
    assert sorted(verdict(chain % "int32", chain % "string")) == [
        ("FIELD_NAMED_TYPE_CHANGED", "#/A/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/B/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/C/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/C/2"),
        ("FIELD_SCALAR_KIND_CHANGED", "#/D/1"),
    ]


def test_long_chains_of_messages() -> None:
    chain = B % "M0 m = 1;" + "".join(f"message M{i} {{ M{i + 1} m = 1; }}" for i in range(3000))
    found = verdict(chain + "message M3000 { int32 x = 1; }", chain + "message M3000 { string x = 1; }")
    assert len(found) == 3003


def test_names_that_mean_nothing_are_compared_as_written() -> None:
    assert kinds(proto("message A { Gone x = 1; }"), proto("message A { Gone x = 1; }")) == set()
    assert kinds(proto("message A { Gone x = 1; }"), proto("message A { Lost x = 1; }")) == {K.FIELD_NAMED_TYPE_CHANGED}
