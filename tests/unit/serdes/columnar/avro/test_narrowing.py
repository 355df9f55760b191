"""Reader schemas cut to the columns that are asked for, and recursive ones to a depth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.schemas.avro.model import ArrayType, AvroType, MapType, RecordType, UnionType
from serdes.columnar.avro.narrowing import narrowed
from serdes.columnar.contract import ColumnOptions
from serdes.errors import SerializationError
from serdes.formats.avro.codec import load_texts


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


ADDRESS = record("Address", city="string", zip="string")
ORDER = record(
    "Order",
    id="long",
    address=["null", ADDRESS],
    items={
        "type": "array",
        "items": record("Item", sku="string", price=record("Price", amount="long", currency="string")),
    },
    prices={"type": "map", "values": "Price"},
    which=["string", "long"],
)
TREE = record("Node", value="int", kids={"type": "array", "items": "Node"}, next=["null", "Node"])


def shape(avro: AvroType) -> Any:
    """A type as records of names; everything that holds another type in a list."""
    if isinstance(avro, RecordType):
        return {field.name: shape(field.type) for field in avro.fields}
    if isinstance(avro, ArrayType):
        return [shape(avro.items)]
    if isinstance(avro, MapType):
        return [shape(avro.values)]
    if isinstance(avro, UnionType):
        return [shape(branch) for branch in avro.branches]
    return avro.kind.value


def cut(schema: Any, *columns: str, depth: int = 0) -> Any:
    options = ColumnOptions(columns=columns or None, recursive_max_depth=depth)
    return shape(narrowed(load_texts(json.dumps(schema)).model, options).type)


@pytest.mark.parametrize(
    ("columns", "left"),
    [
        (["id"], {"id": "long"}),
        (["address.city"], {"address": ["null", {"city": "string"}]}),
        (["items.price.amount", "id"], {"id": "long", "items": [{"price": {"amount": "long"}}]}),
        (["prices.currency"], {"prices": [{"currency": "string"}]}),
        (["address", "address.city"], {"address": ["null", {"city": "string", "zip": "string"}]}),
        (["address.zip", "address.city"], {"address": ["null", {"city": "string", "zip": "string"}]}),
        (["which"], {"which": ["string", "long"]}),
    ],
)
def test_only_the_columns_asked_for_are_left(columns: list[str], left: Any) -> None:
    assert cut(ORDER, *columns) == left
    assert cut(ORDER, *reversed(columns)) == left


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("price", "columns: Order has no field 'price'"),
        ("address.street", "columns: address has no field 'street'"),
        ("items.price.cents", "columns: items.price has no field 'cents'"),
        ("id.high", "columns: id is no record, it has no 'high'"),
        ("address.city.x", "columns: address.city is no record, it has no 'x'"),
        ("which.x", "columns: which is a union of several types, which can only be taken whole"),
    ],
)
def test_a_column_that_is_not_there_is_named(column: str, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        cut(ORDER, column)


def test_a_schema_that_is_taken_whole_is_the_same_object() -> None:
    model = load_texts(json.dumps(ORDER)).model
    made = narrowed(model, ColumnOptions())
    assert made.type is model
    assert made.whole == {}
    assert narrowed(model, ColumnOptions(columns=tuple(field["name"] for field in ORDER["fields"]))).type is model


def test_the_type_that_a_default_is_of_is_known_for_each_cut_field() -> None:
    model = load_texts(json.dumps(ORDER)).model
    assert isinstance(model, RecordType)
    made = narrowed(model, ColumnOptions(columns=("address.city", "id")))
    assert isinstance(made.type, RecordType)
    number, address = made.type.fields
    assert id(number) not in made.whole
    assert made.whole[id(address)] is model.fields[1].type


def test_recursion_is_refused_or_cut_at_a_depth() -> None:
    with pytest.raises(SerializationError, match=r"record Node contains itself: .*recursive_max_depth"):
        cut(TREE)
    assert cut(TREE, "value") == {"value": "int"}
    leaf = {"value": "int"}
    assert cut(TREE, depth=1) == {"value": "int", "kids": [leaf], "next": ["null", leaf]}
    inner = {"value": "int", "kids": [leaf], "next": ["null", leaf]}
    assert cut(TREE, depth=2) == {"value": "int", "kids": [inner], "next": ["null", inner]}


def test_a_schema_of_nothing_but_recursion_has_no_columns() -> None:
    with pytest.raises(SerializationError, match="no columns: it is nothing but recursion"):
        cut(record("Loop", again="Loop"), depth=3)


def test_a_schema_that_is_too_large_when_written_out_is_refused() -> None:
    """Names make 2 to the power of 20 types out of 21 records: the depth of nesting alone would not show it."""
    kind: Any = "int"
    for level in range(20):
        kind = record(f"R{level}", a=kind, b=kind if isinstance(kind, str) else kind["name"])
    with pytest.raises(SerializationError, match="over 100000 types: name the columns"):
        cut(kind)
    assert cut(kind, ".".join("a" * 20)) != {}
