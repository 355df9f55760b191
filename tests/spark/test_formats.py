"""Protobuf and JSON Schema through `from_registry`, columns by path, in every mode: as the deserializers read them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from pipeline import from_registry
from pipeline.errors import OptionError, PlanError
from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from tests.spark.conftest import WITH_FUNCTIONS, frame, register

pytestmark = [pytest.mark.spark, WITH_FUNCTIONS]

PROTO = """syntax = "proto3";
package shop;
message Order {
  string id = 1;
  uint64 total = 2;
  optional uint32 pieces = 3;
  repeated Item items = 4;
  map<string, int64> counts = 5;
  oneof by { string card = 6; bool cash = 7; }
  enum State { NEW = 0; PAID = 1; }
  State state = 8;
  message Item { string name = 1; double price = 2; }
}
message Other { string id = 1; }
"""
ORDER = {
    "id": "a",
    "total": 2**64 - 1,
    "pieces": 2**32 - 1,
    "items": [{"name": "pen", "price": 1.5}],
    "counts": {"x": -3},
    "cash": True,
    "state": "PAID",
}
JSON_ORDER: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "pieces": {"type": ["integer", "null"]},
        "day": {"type": "string", "format": "date"},
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["id"],
}


def frames_of(spark: Any, *frames: bytes | None) -> Any:
    return spark.createDataFrame([(value,) for value in frames], "value binary").coalesce(1)


def message(registry: SchemaRegistryClient, topic: str, **fields: Any) -> bytes:
    """A frame written by the serializer."""
    made = ProtobufSerializer(PROTO, registry)(fields, SerializationContext(topic, MessageField.VALUE))
    assert made is not None
    return made


def test_protobuf_becomes_columns(spark: Any, registry: SchemaRegistryClient) -> None:
    registry.register_schema("proto-value", Schema(PROTO, "PROTOBUF"))
    raw = frames_of(spark, message(registry, "proto", **ORDER), message(registry, "proto", id="b"), None, b"junk")
    chosen = from_registry("value", registry.config(), topic="proto", error_field="_error")
    found = raw.select(chosen.alias("v"))
    assert [(field.name, field.dataType.simpleString()) for field in found.schema["v"].dataType] == [
        ("id", "string"),
        ("total", "decimal(20,0)"),
        ("pieces", "bigint"),
        ("items", "array<struct<name:string,price:double>>"),
        ("counts", "map<string,bigint>"),
        ("state", "string"),
        ("card", "string"),
        ("cash", "boolean"),
        ("_error", "string"),
    ]
    first, second, tombstone, bad = (row.v for row in found.collect())
    assert first.asDict(recursive=True) == {**ORDER, "total": Decimal(2**64 - 1), "card": None, "_error": None}
    assert (second.id, second.total, second.pieces, second["items"], second.cash) == ("b", 0, None, [], None)
    assert tombstone is None
    assert bad.id is None
    assert "Invalid magic byte 106" in bad["_error"]


def test_a_message_type_that_is_named(spark: Any, registry: SchemaRegistryClient) -> None:
    schema_id = registry.register_schema("named-value", Schema(PROTO, "PROTOBUF"))
    other = b"\0" + schema_id.to_bytes(4, "big") + b"\x02\x02" + b"\x0a\x01z"  # indexes [1]
    chosen = from_registry("value", registry.config(), topic="named", message_type="shop.Other", mode="FAILFAST")
    assert [tuple(row.v) for row in frames_of(spark, other).select(chosen.alias("v")).collect()] == [("z",)]
    with pytest.raises(PlanError, match=r"shop\.Nothing"):
        from_registry("value", registry.config(), topic="named", message_type="shop.Nothing")


def test_json_becomes_columns(spark: Any, registry: SchemaRegistryClient) -> None:
    serialize = JSONSerializer(json.dumps(JSON_ORDER), registry)
    context = SerializationContext("json", MessageField.VALUE)
    whole = {
        "id": "a",
        "pieces": 3,
        "day": "2026-11-22",
        "address": {"city": "Bergen", "zip": "5003"},
        "tags": ["x", "y"],
    }
    good = serialize(whole, context)
    assert good is not None
    bad = good[:5] + b'{"id": 1}'
    chosen = from_registry("value", registry.config(), topic="json", error_field="_error")
    found = frames_of(spark, good, serialize({"id": "b"}, context), bad).select(chosen.alias("v"))
    first, second, third = (row.v.asDict(recursive=True) for row in found.collect())
    assert {**first, "day": first["day"].isoformat()} == {**whole, "_error": None}
    assert second == {**dict.fromkeys(whole), "id": "b", "_error": None}
    assert third["id"] is None
    assert "id" in third["_error"]


def test_only_the_columns_that_are_wanted(spark: Any, registry: SchemaRegistryClient) -> None:
    address = {
        "type": "record",
        "name": "Address",
        "fields": [{"name": name, "type": "string"} for name in ("city", "zip")],
    }
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "note", "type": "string"},
            {"name": "addresses", "type": {"type": "array", "items": address}},
        ],
    }
    schema_id = register(registry, "columns-value", schema)
    value = {"id": 7, "note": "x", "addresses": [{"city": "Oslo", "zip": "0150"}]}
    chosen = from_registry("value", registry.config(), topic="columns", columns=["addresses.city", "id"])
    found = frames_of(spark, frame(schema_id, schema, value)).select(chosen.alias("v")).select("v.*")
    assert found.dtypes == [("id", "bigint"), ("addresses", "array<struct<city:string>>")]
    assert [row.asDict(recursive=True) for row in found.collect()] == [{"id": 7, "addresses": [{"city": "Oslo"}]}]
    with pytest.raises(PlanError, match="nothing"):
        from_registry("value", registry.config(), topic="columns", columns=["nothing"])
    for wrong in ("id", [], [3]):
        with pytest.raises(OptionError, match="columns"):
            from_registry("value", registry.config(), topic="columns", columns=wrong)  # type: ignore[arg-type]
