from __future__ import annotations

import pytest

from kserdes.cli.schema.lint import protoc
from kserdes.cli.schema.lint.protobuf import complaints
from registry import Schema, SchemaReference

BAD = """message order {
  string orderId = 1;
  enum OrderKind { A = 0; ORDER_KIND_B = 1; }
}
"""
GOOD = """syntax = "proto3";
package shop;
// An order.
message Order {
  string order_id = 1; // id
  // Kinds.
  enum OrderKind {
    ORDER_KIND_UNSPECIFIED = 0;
    ORDER_KIND_B = 1;
  }
}
"""


def test_every_rule_finds_its_places() -> None:
    found = [(item.rule, BAD[item.offset or 0 :].split()[0]) for item in complaints(BAD)]
    assert found == [
        ("proto-syntax", "message"),
        ("proto-package", "message"),
        ("proto-message-name", "message"),
        ("proto-doc", "message"),
        ("proto-field-name", "string"),
        ("proto-field-doc", "string"),
        ("proto-doc", "enum"),
        ("proto-enum-value", "A"),
        ("proto-enum-zero", "A"),
    ]


def test_a_clean_file_has_no_complaints() -> None:
    assert list(complaints(GOOD)) == []


# ---- protoc as a judge

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
    items = protoc.complaints(Schema(text, "PROTOBUF"), REFERENCED)
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
def test_protoc_finds_errors_that_a_registry_accepts(right: str, wrong: str, reason: str, place: str) -> None:
    ((told, where),) = found(TEXT.replace(right, wrong))
    assert told.startswith("protoc refuses the file: ")
    assert reason in told
    assert where == place


def test_googles_common_imports_may_be_missing() -> None:
    assert found(TEXT.replace('"tags.proto"', '"google/api/annotations.proto"')) == []
