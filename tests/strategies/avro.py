"""Avro schemas with matching values, and schemas that evolve."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

__all__ = ["Case", "cases", "evolutions", "schemas"]

NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
MILLIS = st.datetimes(
    datetime.datetime(1970, 1, 2), datetime.datetime(2200, 1, 1), timezones=st.just(datetime.UTC)
).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))


@dataclass(frozen=True)
class Case:
    """A schema (as a JSON value) and a strategy for its values."""

    schema: Any
    values: st.SearchStrategy[Any]

    @property
    def text(self) -> str:
        return json.dumps(self.schema)


def exact(number: int, scale: int) -> decimal.Decimal:
    """`number / 10**scale`, whatever the decimal context's precision is."""
    digits = tuple(map(int, str(abs(number))))
    return decimal.Decimal((number < 0, digits, -scale))


def decimals(precision: int, scale: int) -> Case:
    bound = 10**precision - 1
    values = st.integers(-bound, bound).map(lambda number: exact(number, scale))
    return Case({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}, values)


LEAVES = [
    Case("null", st.none()),
    Case("boolean", st.booleans()),
    Case("int", st.integers(-(2**31), 2**31 - 1)),
    Case("long", st.integers(-(2**63), 2**63 - 1)),
    Case("float", st.floats(width=32, allow_nan=False)),
    Case("double", st.floats(allow_nan=False)),
    Case("bytes", st.binary(max_size=20)),
    Case("string", st.text(max_size=20)),
    Case({"type": "long", "logicalType": "timestamp-millis"}, MILLIS),
    Case({"type": "int", "logicalType": "date"}, st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))),
    Case({"type": "string", "logicalType": "uuid"}, st.uuids(version=4).map(lambda u: uuid.UUID(bytes=u.bytes))),
    decimals(12, 2),
    decimals(30, 0),
    decimals(38, 10),
]


def arrays(items: Case) -> Case:
    return Case({"type": "array", "items": items.schema}, st.lists(items.values, max_size=4))


def maps(values: Case) -> Case:
    return Case(
        {"type": "map", "values": values.schema}, st.dictionaries(st.text(max_size=5), values.values, max_size=4)
    )


def nullable(inner: Case) -> Case:
    if inner.schema == "null" or isinstance(inner.schema, list):
        return inner
    return Case(["null", inner.schema], st.none() | inner.values)


@st.composite
def inner_cases(draw: st.DrawFn, depth: int, names: list[int]) -> Case:
    """Any type; named types get names of their own."""
    if depth <= 0 or draw(st.booleans()):
        return draw(st.sampled_from(LEAVES) | named_leaves(names))
    kind = draw(st.sampled_from([arrays, maps, nullable, None]))
    if kind is None:
        return draw(records(depth - 1, names))
    return kind(draw(inner_cases(depth - 1, names)))


def fresh(names: list[int], prefix: str) -> str:
    names.append(0)
    return f"{prefix}{len(names)}"


@st.composite
def named_leaves(draw: st.DrawFn, names: list[int]) -> Case:
    if draw(st.booleans()):
        symbols = draw(st.lists(st.text("ABCDEF", min_size=1, max_size=4), min_size=1, max_size=5, unique=True))
        return Case({"type": "enum", "name": fresh(names, "E"), "symbols": symbols}, st.sampled_from(symbols))
    size = draw(st.integers(1, 8))
    schema = {"type": "fixed", "name": fresh(names, "F"), "size": size}
    return Case(schema, st.binary(min_size=size, max_size=size))


@st.composite
def records(draw: st.DrawFn, depth: int, names: list[int]) -> Case:
    name = fresh(names, "R")
    fields = {
        field: draw(inner_cases(depth, names)) for field in draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    }
    schema = {"type": "record", "name": name, "fields": [{"name": n, "type": c.schema} for n, c in fields.items()]}
    return Case(schema, st.fixed_dictionaries({n: c.values for n, c in fields.items()}))


@st.composite
def cases(draw: st.DrawFn, depth: int = 2) -> Case:
    """A record schema with a strategy for its values; every Avro type and the common logical types occur."""
    return draw(records(depth, []))


def schemas() -> st.SearchStrategy[str]:
    """The text of a valid record schema."""
    return cases().map(lambda case: case.text)


PROMOTIONS = {
    "int": ["long", "float", "double"],
    "long": ["float", "double"],
    "float": ["double"],
    "string": ["bytes"],
    "bytes": ["string"],
}
DEFAULTS: list[tuple[Any, Any]] = [
    ("long", 5),
    ("string", "x"),
    ("boolean", True),
    ("double", 1.5),
    (["null", "string"], None),
    ({"type": "array", "items": "int"}, [1]),
    ({"type": "map", "values": "int"}, {"k": 1}),
]


@st.composite
def changed_types(draw: st.DrawFn, node: Any) -> Any:
    """A type like this one, somewhere perhaps changed."""
    change = draw(st.sampled_from(["keep", "keep", "keep", "inside", "inside", "null", "retype"]))
    if change == "keep":
        return node
    if change == "retype":
        return draw(st.sampled_from(["int", "string", "boolean", ["null", "double"]]))
    if change == "null":
        return ["null", node] if not isinstance(node, list) and node != "null" else node
    if isinstance(node, str):
        return draw(st.sampled_from(PROMOTIONS.get(node, [node])))
    if isinstance(node, list):
        return [draw(changed_branches(branch)) for branch in draw(st.permutations(node))]
    if node["type"] in ("array", "map"):
        key = "items" if node["type"] == "array" else "values"
        return {**node, key: draw(changed_types(node[key]))}
    return draw(changed_records(node) if node["type"] == "record" else changed_leaves(node))


def changed_branches(node: Any) -> st.SearchStrategy[Any]:
    """A change that leaves a branch of a union a branch of its own."""
    return changed_records(node) if isinstance(node, dict) and node["type"] == "record" else st.just(node)


@st.composite
def changed_leaves(draw: st.DrawFn, node: Any) -> Any:
    if node["type"] == "enum":
        symbols = draw(st.lists(st.sampled_from([*node["symbols"], "Z"]), min_size=1, unique=True))
        default = {"default": symbols[0]} if draw(st.booleans()) else {}
        return {**node, "symbols": symbols, **default}
    return {**node, "size": draw(st.integers(1, 8))} if node["type"] == "fixed" else node["type"]


@st.composite
def changed_records(draw: st.DrawFn, node: Any) -> Any:
    """A record with fields dropped, added, renamed with an alias, of changed types, in another order."""
    fields: list[Any] = []
    taken = {item["name"] for item in node["fields"]}
    for item in node["fields"]:
        change = draw(st.sampled_from(["keep", "keep", "drop", "alias", "type", "type"]))
        if change == "alias" and f"n_{item['name']}" not in taken:
            fields.append({**item, "name": f"n_{item['name']}", "aliases": [item["name"]]})
        elif change == "type":
            fields.append({**item, "type": draw(changed_types(item["type"]))})
        elif change != "drop":
            fields.append(item)
    free = [f"new{at}" for at in range(len(taken) + 2) if f"new{at}" not in taken]
    for name in free[: draw(st.integers(0, 2))]:
        kind, default = draw(st.sampled_from(DEFAULTS))
        fields.append({"name": name, "type": kind} | ({"default": default} if draw(st.booleans()) else {}))
    return {**node, "fields": draw(st.permutations(fields))}


@st.composite
def evolutions(draw: st.DrawFn) -> tuple[Case, str]:
    """A writer's schema with values, and a changed schema that may or may not be able to read them."""
    old = draw(cases(depth=2))
    return old, json.dumps(draw(changed_records(old.schema)))
