from __future__ import annotations

import pytest

from registry.cli.outline.avro import avro_names


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
def test_what_is_no_schema_has_no_names(document: object) -> None:
    found = avro_names(document)
    assert (found.top, found.defined, found.missing) == (None, set(), [])


def test_deep_nesting_is_walked() -> None:
    schema: object = "far.Away"
    for _ in range(20_000):
        schema = {"type": "array", "items": schema}
    assert avro_names(schema).missing == [("far.Away",)]
