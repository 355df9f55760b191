from __future__ import annotations

from kserdes.cli.schema.lint.avro import complaints

BAD = {
    "type": "record",
    "name": "order",
    "fields": [
        {"name": "orderId", "type": ["null", "int"]},
        {
            "name": "kind",
            "doc": "which",
            "type": {"type": "array", "items": {"type": "enum", "name": "Kind", "symbols": ["A", "b"]}},
        },
        {"name": "sum", "doc": " ", "type": {"type": "map", "values": {"type": "fixed", "name": "f", "size": 2}}},
    ],
}
GOOD = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "doc": "An order.",
    "fields": [
        {"name": "order_id", "type": ["null", "int"], "default": None, "doc": "id"},
        {
            "name": "kind",
            "doc": "which",
            "type": {"type": "enum", "name": "Kind", "doc": "kinds", "symbols": ["A"], "default": "A"},
        },
    ],
}


def test_every_rule_finds_its_places() -> None:
    found = [(item.rule, "/".join(item.steps)) for item in complaints(BAD, "snake")]
    assert sorted(found) == [
        ("avro-doc", "fields/1/type/items/name"),
        ("avro-doc", "name"),
        ("avro-enum-default", "fields/1/type/items/name"),
        ("avro-enum-symbol", "fields/1/type/items/symbols/1"),
        ("avro-field-doc", "fields/0/name"),
        ("avro-field-doc", "fields/2/name"),
        ("avro-field-name", "fields/0/name"),
        ("avro-namespace", "name"),
        ("avro-optional-default", "fields/0/type"),
        ("avro-type-name", "fields/2/type/values/name"),
        ("avro-type-name", "name"),
    ]


def test_a_clean_schema_has_no_complaints() -> None:
    assert list(complaints(GOOD, "snake")) == []
    assert [item.rule for item in complaints(GOOD, "camel")] == ["avro-field-name"]
    assert list(complaints("string", "snake")) == list(complaints(["null", "int"], "snake")) == []


def test_a_name_with_dots_has_a_namespace() -> None:
    assert "avro-namespace" not in {item.rule for item in complaints({**BAD, "name": "shop.Order"}, "snake")}


def test_types_in_types_are_looked_at() -> None:
    nested = {"type": {"type": "fixed", "name": "bad_name", "size": 1}}
    assert [item.steps for item in complaints(nested, "snake")] == [("type", "name")]
