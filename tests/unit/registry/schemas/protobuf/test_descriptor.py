from __future__ import annotations

import builtins
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from registry import InvalidSchemaError
from registry.limits import MAX_PROTOC_TYPES
from registry.schemas.protobuf.descriptor import from_bytes, pool_of
from registry.schemas.protobuf.protoc import descriptors
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.text import text_of
from registry.schemas.protobuf.types import Types


def normal(text: str) -> tuple[str, str]:
    """The normalized text of a file, and of its descriptor."""
    direct, encoded = read(text), from_bytes(descriptors(text, {}, "x.proto")[-1].SerializeToString())
    return text_of(direct, Types(direct, [])), text_of(encoded, Types(encoded, []))


@pytest.mark.parametrize(
    "text",
    [
        """syntax = "proto3"; package p; option java_package = "j"; option optimize_for = CODE_SIZE;
        message A { int32 a = 1; optional string b = 2 [json_name = "B"]; repeated A c = 3 [deprecated = true];
        map<string, A> d = 4; oneof o { int32 e = 5; E f = 6; } enum E { option allow_alias = true; V = 0; W = 0;
        reserved 7 to 9; reserved "X"; } reserved 20 to 30, 33; reserved "old"; }
        service S { option deprecated = true;
          rpc R (stream A) returns (A) { option idempotency_level = IDEMPOTENT; } }""",
        """message A { required int32 a = 1 [default = 5]; extensions 100 to max;
          optional string s = 2 [default = "x"]; }
        extend A { optional int32 b = 100; }""",
        'edition = "2023"; message A { int32 a = 1; }',
        """syntax = "proto3"; import "confluent/meta.proto"; import public "google/protobuf/any.proto";
        message A { option (confluent.message_meta) = {doc: "d", tags: ["PII", "X"]};
        bytes b = 1 [(confluent.field_meta) = {params: [{key: "scale", value: "2"}, {key: "z", value: "1"}]}]; }""",
        """syntax = "proto3"; import "confluent/meta.proto";
        message A { option (confluent.message_meta) = {rules: [{name: "n", doc: "d", expr: "this.b > 0", sql: "s"}]};
        int32 b = 1 [(confluent.field_meta) = {rules: [{name: "a", expr: "'\\"' != ''"}, {expr: "x"}]}]; }""",
    ],
)
def test_a_descriptor_declares_what_its_text_does(text: str) -> None:
    direct, encoded = normal(text)
    assert encoded == direct


def test_bytes_that_are_no_descriptor_are_refused() -> None:
    with pytest.raises(InvalidSchemaError, match=r"x\.proto is neither"):
        from_bytes(b"hello", "x.proto")


@pytest.mark.parametrize(
    "data",
    [
        FileDescriptorProto(message_type=[DescriptorProto()] * 37_501),
        FileDescriptorProto(enum_type=[EnumDescriptorProto(value=[EnumValueDescriptorProto()] * 150_000)]),
        FileDescriptorProto(message_type=[DescriptorProto(nested_type=[DescriptorProto()] * 37_500)]),
        FileDescriptorProto(message_type=[DescriptorProto(reserved_name=[""] * 150_000)]),
    ],
)
def test_a_descriptor_of_too_much(data: FileDescriptorProto) -> None:
    with pytest.raises(InvalidSchemaError, match="more than 150,000 declarations"):
        from_bytes(data.SerializeToString())


def test_files_that_do_not_fit_together() -> None:
    alone = FileDescriptorProto(name="a.proto", dependency=["missing.proto"])
    with pytest.raises(InvalidSchemaError, match=r"a\.proto"):
        pool_of(FileDescriptorSet(file=[alone]))


# ---- protoc


def test_imports_come_first() -> None:
    found = descriptors('syntax = "proto3"; import "b.proto";', {"b.proto": 'syntax = "proto3";'}, "a.proto")
    assert [file.name for file in found] == ["b.proto", "a.proto"]


def test_bytes_come_out_of_the_generated_text_as_they_are() -> None:
    text = 'syntax = "proto3"; option java_package = "\\\'\\"\\\\ \\x41 \u00e9\\n"; message A { string x = 1; }'
    assert descriptors(text, {}, "a.proto")[0].options.java_package == "'\"\\ A \u00e9\n"


def test_columns_of_a_first_line_that_was_lengthened() -> None:
    with pytest.raises(InvalidSchemaError, match="line 1, column 9: Expected"):
        descriptors("message {}", {}, "a.proto")


def test_more_types_than_protoc_can_do() -> None:
    with pytest.raises(InvalidSchemaError, match="more than 10,000 types"):
        descriptors("message A {}" * (MAX_PROTOC_TYPES + 1), {}, "a.proto")


def test_more_declarations_than_protoc_has_memory_for() -> None:
    with pytest.raises(InvalidSchemaError, match="more than 80,000 declarations"):
        descriptors('import "b.proto";' + ";" * 40_000, {"b.proto": ";" * 40_000}, "a.proto")


def test_without_the_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "grpc_tools":
            raise ImportError(name)
        return genuine(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidSchemaError, match=r"pip install grpcio-tools googleapis-common-protos \("):
        descriptors("message A {}", {}, "a.proto")
