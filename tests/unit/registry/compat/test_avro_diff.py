from __future__ import annotations

import json
from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.compat import Roles
from registry.compat.avro_diff import differences
from registry.compat.avro_model import parse


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    made = [{"name": f[0], "type": f[1], **(f[2] if len(f) > 2 else {})} for f in fields]
    return {"type": "record", "name": name, "fields": made, **more}


def enum(*symbols: str, name: str = "E", **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def found(reader: Any, writer: Any) -> list[tuple[str, str]]:
    return [(d.kind, d.path) for d in differences(parse(json.dumps(reader)), parse(json.dumps(writer)))]


PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
READABLE = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "bytes": {"string"},
    "string": {"bytes"},
}


@pytest.mark.parametrize("reader", PRIMITIVES)
@pytest.mark.parametrize("writer", PRIMITIVES)
def test_promotions(reader: str, writer: str) -> None:
    good = reader == writer or writer in READABLE.get(reader, set())
    assert found(reader, writer) == ([] if good else [("TYPE_MISMATCH", "/")])


COMPATIBLE = [
    (record(("a", "int")), record(("a", "int"), ("b", "string"))),
    (record(("a", "int"), ("b", "string", {"default": "x"})), record(("a", "int"))),
    (record(("a", ["null", "int"], {"default": None})), record()),
    (record(("b", "int", {"aliases": ["a"]})), record(("a", "int"))),
    (record(name="x.R"), record(name="y.R")),
    (record(name="New", aliases=["R"]), record(name="R")),
    (enum("A", "B"), enum("A")),
    (enum("A", default="A"), enum("A", "B")),
    ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}),
    ({"type": "map", "values": "double"}, {"type": "map", "values": "float"}),
    (["null", "int"], "int"),
    (["null", "long"], "int"),
    ("int", ["int"]),
    (["null", "int", "string"], ["int", "string"]),
    (record(("n", ["null", "R"])), record(("n", ["null", "R"]))),
    ([], []),
    ("int", []),
]


@pytest.mark.parametrize(("reader", "writer"), COMPATIBLE)
def test_compatible(reader: Any, writer: Any) -> None:
    assert found(reader, writer) == []


MISSING = "READER_FIELD_MISSING_DEFAULT_VALUE"
INCOMPATIBLE = [
    (record(("a", "int")), record(), [(MISSING, "/fields/0")]),
    (
        record(("a", "int"), ("b", "int")),
        record(("b", "string")),
        [(MISSING, "/fields/0"), ("TYPE_MISMATCH", "/fields/1/type")],
    ),
    (record(name="A"), record(name="B"), [("NAME_MISMATCH", "/name")]),
    (record(("a", "int"), name="A"), record(name="B"), [("NAME_MISMATCH", "/name"), (MISSING, "/fields/0")]),
    (enum("A"), enum("A", "B"), [("MISSING_ENUM_SYMBOLS", "/symbols")]),
    (enum("A", name="E"), enum("A", name="F"), [("NAME_MISMATCH", "/name")]),
    (
        {"type": "fixed", "name": "F", "size": 2},
        {"type": "fixed", "name": "F", "size": 3},
        [("FIXED_SIZE_MISMATCH", "/size")],
    ),
    ({"type": "array", "items": "int"}, {"type": "array", "items": "string"}, [("TYPE_MISMATCH", "/items")]),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "long"}, [("TYPE_MISMATCH", "/values")]),
    ({"type": "map", "values": "int"}, {"type": "array", "items": "int"}, [("TYPE_MISMATCH", "/")]),
    (["null", "int"], "string", [("MISSING_UNION_BRANCH", "/")]),
    (["int"], ["int", "string", "boolean"], [("MISSING_UNION_BRANCH", "/")] * 2),
    ("int", ["int", "string"], [("TYPE_MISMATCH", "/")]),
    (record(("e", enum("A", default="A"))), record(), [("TYPE_MISMATCH", "/fields/0/type")]),
    (
        record(("n", ["null", "R"]), ("x", "int")),
        record(("n", ["null", "R"]), ("x", "string")),
        [("TYPE_MISMATCH", "/fields/1/type")],  # the recursion counts as compatible while it is under way
    ),
]


@pytest.mark.parametrize(("reader", "writer", "expected"), INCOMPATIBLE)
def test_incompatible(reader: Any, writer: Any, expected: list[tuple[str, str]]) -> None:
    assert found(reader, writer) == expected


def test_messages_say_what_where_who_and_what_helps() -> None:
    roles = Roles(reader="the new schema", writer="version 3")
    reader, writer = parse(json.dumps(record(("a", "int")))), parse(json.dumps(record()))
    (difference,) = differences(reader, writer, roles)
    assert difference.message == (
        "/fields/0 of the new schema: field 'a' of R is not in version 3 and has no default; "
        "to be compatible, give it a default"
    )


def test_aliases_that_match_twice_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="matches several written fields: 'b', 'c'"):
        found(record(("b", "int", {"aliases": ["c"]})), record(("b", "int"), ("c", "int")))


def test_many_mentions_of_one_type_are_compared_once() -> None:
    def chain(leaf: str) -> tuple[str, list[str]]:
        texts = [json.dumps(record(("x", leaf), name="L0"))]
        for at in range(1, 40):
            texts.append(json.dumps(record(("a", f"L{at - 1}"), ("b", f"L{at - 1}"), name=f"L{at}")))  # noqa: PERF401
        return texts[-1], texts[:-1]

    (one, one_used), (two, two_used) = chain("int"), chain("string")
    assert len(differences(parse(one, one_used), parse(two, two_used))) == 1  # 2**39 paths lead to it
