from __future__ import annotations

import pytest

from kserdes.cli.schema.outline.avro import avro_names
from kserdes.cli.schema.outline.protobuf import outline

TEXT = """// The file.
syntax = "proto3"; // of 2016
package shop.v1;
import public "a.proto";
option java_package = "x = { 1 }";

// An order.
// Two lines.
message Order {
  string id = 1; // the id
  /* money */
  int64 total = 2 [deprecated = true, json_name = "{x"];

  // far away from what follows

  map<string, .a.B> tags = 3;
  oneof how { // either
    Card card = 4;
  }
  repeated group Part = 5 {
    optional int32 n = 1;
  }
  reserved 7, 9 to 11;
  enum Kind { KIND_UNSPECIFIED = 0; KIND_A = -1; }
  extensions 100 to max;
}
service Shop {
  // Buys.
  rpc Buy (Order) returns (stream Order) { option x = "y"; }
  rpc Sell (Order) returns (Order);
}
"""


def test_declarations_have_kind_name_scope_and_number() -> None:
    found = [(item.kind, item.name, ".".join(item.scope), item.number) for item in outline(TEXT)]
    assert found == [
        ("syntax", "proto3", "", None),
        ("package", "shop.v1", "", None),
        ("import", "a.proto", "", None),
        ("message", "Order", "", None),
        ("field", "id", "Order", "1"),
        ("field", "total", "Order", "2"),
        ("field", "tags", "Order", "3"),
        ("oneof", "how", "Order", None),
        ("field", "card", "Order", "4"),
        ("field", "Part", "Order", "5"),
        ("field", "n", "Order.Part", "1"),
        ("enum", "Kind", "Order", None),
        ("value", "KIND_UNSPECIFIED", "Order.Kind", "0"),
        ("value", "KIND_A", "Order.Kind", "-1"),
        ("service", "Shop", "", None),
        ("rpc", "Buy", "Shop", None),
        ("rpc", "Sell", "Shop", None),
    ]


def test_comments_belong_to_what_they_stand_at() -> None:
    assert [item.name for item in outline(TEXT) if item.documented] == ["proto3", "Order", "id", "total", "how", "Buy"]


def test_offsets_are_where_a_declaration_starts() -> None:
    starts = {item.name: TEXT[item.offset :].split()[0] for item in outline(TEXT)}
    assert (starts["total"], starts["tags"], starts["Buy"]) == ("int64", "map<string,", "rpc")


@pytest.mark.parametrize(
    "text", ["", "}}}", "message {", 'message A { string s = "', "= = ;", "a = ;", "]" * 9, "/* open"]
)
def test_text_that_is_not_protobuf_has_no_outline(text: str) -> None:
    assert isinstance(outline(text), list)


def test_deep_nesting_is_no_problem() -> None:
    assert len(outline("message A {" * 2000 + "}" * 2000)) == 2000


# ---- avro


def test_names_are_full_and_seen_from_their_namespace() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "a", "type": "Money"},
            {"name": "b", "type": ["null", "other.Thing", {"type": "enum", "name": "Kind", "symbols": ["A"]}]},
            {"name": "c", "type": {"type": "map", "values": {"type": "array", "items": "Kind"}}},
            {"name": "d", "type": {"type": "record", "name": "x.Inner", "fields": [{"name": "e", "type": "Deep"}]}},
            {"name": "self", "type": ["null", "Order"]},
        ],
    }
    found = avro_names(schema)
    assert found.top == "shop.Order"
    assert found.defined == {"shop.Order", "shop.Kind", "x.Inner"}
    assert found.missing == [("shop.Money", "Money"), ("other.Thing",), ("x.Deep", "Deep")]


@pytest.mark.parametrize(
    "document", [None, 3, [], {}, {"type": "record"}, {"type": {"type": "fixed"}}, ["null", "int"]]
)
def test_text_that_is_no_schema_has_no_names(document: object) -> None:
    found = avro_names(document)
    assert (found.top, found.defined, found.missing) == (None, set(), [])


def test_deep_nesting_is_walked() -> None:
    schema: object = "far.Away"
    for _ in range(20_000):
        schema = {"type": "array", "items": schema}
    assert avro_names(schema).missing == [("far.Away",)]
