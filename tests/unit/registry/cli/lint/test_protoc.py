from __future__ import annotations

import pytest

from registry import Schema, SchemaReference
from registry.cli.lint.protoc import complaints

TAGS = """syntax = "proto3"; package tags; import "google/protobuf/descriptor.proto";
extend google.protobuf.FieldOptions { string tag = 50000; }"""
TEXT = """syntax = "proto3";
import "tags.proto";
message A {
  string a = 1 [(tags.tag) = "x"];
}"""
REFERENCED = [(SchemaReference("tags.proto", "tags", 1), Schema(TAGS, "PROTOBUF"))]


def found(text: str) -> list[tuple[str, str]]:
    """Rule and place of every complaint."""
    items = complaints(Schema(text, "PROTOBUF"), REFERENCED)
    return [(item.message, text[item.offset or 0 :].split()[0]) for item in items]


def test_a_file_protoc_takes() -> None:
    assert found(TEXT) == []


@pytest.mark.parametrize(
    ("right", "wrong", "reason", "place"),
    [
        ("(tags.tag)", "(tags.tog)", 'Option "(tags.tog)" unknown', "(tags.tog)"),
        ("string a", "Sting a", '"Sting" is not defined', "Sting"),
        ('"tags.proto"', '"tag.proto"', 'import "tag.proto": no reference has this name', "import"),
    ],
)
def test_what_a_registry_lets_pass_is_found(right: str, wrong: str, reason: str, place: str) -> None:
    ((told, where),) = found(TEXT.replace(right, wrong))
    assert told.startswith("protoc refuses the file: ")
    assert reason in told
    assert where == place


def test_googles_common_imports_may_be_missing() -> None:
    assert found(TEXT.replace('"tags.proto"', '"google/api/annotations.proto"')) == []
