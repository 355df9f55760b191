from __future__ import annotations

from registry.cli.lint.protobuf import complaints

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
