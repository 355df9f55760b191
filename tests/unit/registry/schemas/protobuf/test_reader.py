from __future__ import annotations

import pytest

from registry import InvalidSchemaError
from registry.schemas.protobuf.model import (
    MAX_NUMBER,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    OneOf,
    Option,
    OptionKind,
    Primitive,
    Range,
    Reserved,
    Rpc,
)
from registry.schemas.protobuf.reader import read

ONE, TWO = Primitive(OptionKind.NUMBER, "1"), Primitive(OptionKind.NUMBER, "2")
PROTO3 = 'syntax = "proto3";'


def message(text: str, syntax: str = PROTO3) -> Message:
    found = read(f"{syntax} message A {{ {text} }}").types[0]
    assert isinstance(found, Message)
    return found


def test_a_file() -> None:
    file = read(
        """syntax = "proto3"; package a.b; import "x.proto"; import public "y.proto"; import weak "z.proto";
        option java_package = "j"; message A {} enum E { V = 0; } service S { rpc R (A) returns (stream A) {} }
        extend google.protobuf.FieldOptions { string tag = 50000; } ;;"""
    )
    assert (file.syntax, file.package) == ("proto3", "a.b")
    assert (file.imports, file.public_imports, file.weak_imports) == (["x.proto"], ["y.proto"], ["z.proto"])
    assert file.options == [Option("java_package", OptionKind.STRING, "j")]
    assert file.types == [Message("A"), Enum("E", [Constant("V", 0)])]
    assert file.services[0].rpcs == [Rpc("R", "A", "A", False, True)]
    assert file.extends == [Extend("google.protobuf.FieldOptions", [Field(None, "string", "tag", 50000)])]


def test_fields() -> None:
    found = message(
        """int32 a = 1; repeated .p.B b = 2 [deprecated = true]; map<string, B> c = 0x3; // comment
        optional string d = 4; string e = 5 [json_name = "E"];"""
    )
    assert found.fields == [
        Field(None, "int32", "a", 1),
        Field("repeated", ".p.B", "b", 2, [Option("deprecated", OptionKind.BOOLEAN, "true")]),
        Field(None, "map<string, B>", "c", 3),
        Field("optional", "string", "d", 4),
        Field(None, "string", "e", 5, json_name="E"),
    ]


def test_proto2() -> None:
    found = message(
        """required int32 a = 1 [default = 5]; optional group G = 2 { optional int32 x = 1; }
        extensions 100 to max; extend B { optional int32 y = 100; }""",
        "",
    )
    assert found.fields == [Field("required", "int32", "a", 1, default="5")]
    assert found.groups == [Group("optional", "G", 2, [Field("optional", "int32", "x", 1)])]
    assert found.extensions == [Extensions([Range(100, MAX_NUMBER)])]
    assert found.extends == [Extend("B", [Field("optional", "int32", "y", 100)])]


def test_oneofs_and_nested_types() -> None:
    found = message("oneof o { option x = 1; int32 a = 1; string b = 2; } message N {} enum E { reserved 5; V = 0; }")
    assert found.one_ofs == [
        OneOf(
            "o",
            [Field(None, "int32", "a", 1), Field(None, "string", "b", 2)],
            [],
            [Option("x", OptionKind.NUMBER, "1")],
        )
    ]
    assert found.nested == [Message("N"), Enum("E", [Constant("V", 0)], [], [Reserved([5])])]


def test_reserved() -> None:
    assert message('reserved 1, 3 to 5, 10 to max; reserved "a", "b";').reserved == [
        Reserved([1, Range(3, 5), Range(10, MAX_NUMBER)]),
        Reserved(["a", "b"]),
    ]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        (
            "(a.b).c.d = 1",
            Option("a.b", OptionKind.OPTION, Option("c", OptionKind.OPTION, Option("d", OptionKind.NUMBER, "1")), True),
        ),
        ('(a) = {b: "x" c: 1, c: 2}', Option("a", OptionKind.MAP, {"b": "x", "c": [ONE, TWO]}, True)),
        ("(a) = {[x.y]: [true], b {c: V}}",
         Option("a", OptionKind.MAP,
                {"[x.y]": [Primitive(OptionKind.BOOLEAN, "true")], "b": {"c": Primitive(OptionKind.ENUM, "V")}}, True)),
        ("a = [1, 2]", Option("a", OptionKind.LIST, [ONE, TWO])),
    ],
)  # fmt: skip
def test_options(text: str, option: Option) -> None:
    assert read(f"option {text};").options == [option]


def test_many_values_of_one_key_are_read_in_one_go() -> None:
    found = read("option (a) = {" + "b: 1," * 50_000 + "};").options[0]
    assert len(found.value["b"]) == 50_000


def test_editions_have_no_labels() -> None:
    file = read('edition = "2023"; option features.field_presence = IMPLICIT; message A { int32 a = 1; reserved b; }')
    assert file.syntax == "2023"
    assert file.types == [Message("A", [Field(None, "int32", "a", 1)], reserved=[Reserved(["b"])])]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("message A { int32 a = 1; }", "expected 'optional', 'required' or 'repeated'"),
        (PROTO3 + "message A { required int32 a = 1; }", "forbidden in proto3"),
        (PROTO3 + "message A { repeated map<string, B> a = 1; }", "a map has no label"),
        ('package a; syntax = "proto3";', "must be the first"),
        ('syntax = "proto4";', "unknown syntax 'proto4'"),
        ("message A {} enum A { V = 0; }", "'A' is declared twice"),
        ("service S {} message S {} service S {}", "'service S' is declared twice"),
        ("message A {} message A {", "'A' is declared twice"),
        (PROTO3 + "message A { int32 1a = 1; }", "'1a' starts with a digit"),
        ("enum E { 1A = 0; }", "'1A' starts with a digit"),
        ("message A {", "found the end"),
        ("message A { rpc x (A) returns (A); }", "found 'rpc'"),
        ("hello", "unexpected 'hello'"),
        ("import x.proto;", "expected a path"),
        ("service A { message B {} }", "unexpected 'message'"),
        ("option a = [1 2];", "expected ',' or ']'"),
    ],
)
def test_errors(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        read(text)


def test_of_several_packages_the_last_counts() -> None:
    assert read("package a; package b;").package == "b"


@pytest.mark.parametrize("name", ["package", "import", "syntax", "edition", "service", "rpc"])
def test_keywords_of_files_and_services_are_types_in_a_message(name: str) -> None:
    assert message(f"{name} a = 1; repeated {name} b = 2;").fields == [
        Field(None, name, "a", 1),
        Field("repeated", name, "b", 2),
    ]


def test_a_key_with_fields_replaces_its_value() -> None:
    assert read("option (a) = {[b]: 1 [b].c: 2};").options == [Option("a", OptionKind.MAP, {"[b]": {"c": TWO}}, True)]


def test_the_quick_way_reads_like_the_slow_one() -> None:
    quick = message("int32 a = 1; repeated B b = 2; optional C.D c = 3;")
    slow = message("int32/**/a = 1; repeated/**/B b = 2; optional/**/C.D c = 3;")
    assert quick == slow
