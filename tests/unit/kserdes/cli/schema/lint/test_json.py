from __future__ import annotations

from kserdes.cli.schema.lint.json import complaints

BAD = {
    "type": "object",
    "properties": {
        "orderId": {"type": "integer"},
        "lines": {
            "type": "array",
            "description": "lines",
            "items": {"properties": {"bad-name": {"$ref": "#/$defs/x"}, "default": {"description": "d"}}},
        },
    },
    "required": ["orderId", "gone"],
    "$defs": {"x": {"properties": {"n": True}, "additionalProperties": False}},
    "const": {"properties": {"noSchema": {}}},
}


def test_every_rule_finds_its_places() -> None:
    found = [(item.rule, "/".join(item.steps)) for item in complaints(BAD, "snake")]
    assert sorted(found) == [
        ("json-description", ""),
        ("json-dialect", ""),
        ("json-id", ""),
        ("json-open", "properties"),
        ("json-open", "properties/lines/items/properties"),
        ("json-property-description", "properties/orderId"),
        ("json-property-name", "properties/lines/items/properties/bad-name"),
        ("json-property-name", "properties/orderId"),
        ("json-required", "required/1"),
        ("json-title", ""),
    ]


def test_a_clean_schema_has_no_complaints() -> None:
    good = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/order",
        "title": "Order",
        "description": "An order.",
        "properties": {"order_id": {"type": "integer", "description": "id"}},
        "required": ["order_id"],
        "additionalProperties": False,
    }
    assert list(complaints(good, "snake")) == []
    assert list(complaints(True, "snake")) == []


def test_names_of_definitions_are_free() -> None:
    schema = {"$defs": {"Some-Thing": {"type": "object"}}, "dependencies": {"a": ["b"]}}
    assert {item.rule for item in complaints(schema, "snake")} == {
        "json-dialect",
        "json-id",
        "json-title",
        "json-description",
    }


def test_a_property_called_like_a_keyword_is_a_property() -> None:
    schema = {
        "properties": {"default": {"properties": {"badName": {}}}, "enum": {"items": {"properties": {"x-y": {}}}}}
    }
    found = [item.steps for item in complaints(schema, "snake") if item.rule == "json-property-name"]
    assert found == [
        ("properties", "default", "properties", "badName"),
        ("properties", "enum", "items", "properties", "x-y"),
    ]
