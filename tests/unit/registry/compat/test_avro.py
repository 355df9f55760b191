from __future__ import annotations

import json
from typing import Any

import pytest

from registry.compat import Roles
from registry.compat.avro import differences
from registry.schemas.avro.model import parse


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
    ({"type": "fixed", "name": "x.F", "size": 2}, {"type": "fixed", "name": "y.F", "size": 2}),
    (["null", enum("A", name="D"), enum("A")], enum("A")),
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


def message(reader: Any, writer: Any, *, candidate_reads: bool = True) -> str:
    roles = Roles("the new schema", "version 3", candidate_reads)
    (difference,) = differences(parse(json.dumps(reader)), parse(json.dumps(writer)), roles)
    return difference.message


def test_messages_say_where_what_who_and_what_helps() -> None:
    assert message(record(("a", "int")), record()) == (
        "/fields/0 of the new schema: field 'a' of R has no default and is not in version 3, "
        "so the new schema can't read data of version 3; to be compatible, give it a default"
    )


FIXED_1, FIXED_2 = ({"type": "fixed", "name": "F", "size": size} for size in (1, 2))


@pytest.mark.parametrize(
    ("reader", "writer", "reader_helps", "writer_helps"),
    [
        (record(("a", "int")), record(), "give it a default", "keep the field 'a'"),
        (record(name="x.A"), record(name="y.B"), "keep the name y.B, or add it to the aliases", "keep the name x.A"),
        (enum("A"), enum("A", "B"), "keep these symbols, or give the enum a default", "leave these symbols out"),
        (FIXED_1, FIXED_2, "keep the size", "keep the size"),
        ("int", "long", "keep the type or use float, double", "keep the type int"),
        ("null", "string", "keep the type or use bytes", "keep the type null"),
        ("null", "boolean", "keep the type or add a new field", "keep the type null"),
        (["null", "int"], "string", "add string to the union", "write only what the union has: null, int"),
        ([], "string", "add string to the union", "write only what the union has: nothing"),
        (["null", enum("A")], enum("B"), "make the branch E read it", "change E back there"),
    ],
)
def test_hints_depend_on_which_schema_can_change(
    reader: Any, writer: Any, reader_helps: str, writer_helps: str
) -> None:
    assert f"to be compatible, {reader_helps}" in message(reader, writer)
    assert f"to be compatible, {writer_helps}" in message(reader, writer, candidate_reads=False)


def test_a_branch_of_the_type_that_can_not_read_it_says_why() -> None:
    reader = ["null", record(("a", "int"), ("b", "int"))]
    text = message(reader, ["null", record(("a", "string"))])
    assert "(in the branch of this type: /1/fields/0/type TYPE_MISMATCH, /1/fields/1 READER_FIELD_MISSING" in text
    assert "(in the branch of this type: /1/items TYPE_MISMATCH)" in message(
        ["null", {"type": "array", "items": "int"}], {"type": "array", "items": "null"}
    )


def test_aliases_that_match_twice_are_in_the_way_wherever_they_are_met() -> None:
    ambiguous = record(("b", "int", {"aliases": ["c"]}))
    written = record(("b", "int"), ("c", "int"))
    assert found(ambiguous, written) == [("AMBIGUOUS_FIELD", "/fields/0")]
    assert "match more than one written field: 'b', 'c'" in message(ambiguous, written)
    assert found([ambiguous, record(("b", "int"), name="Other")], [written]) == [("AMBIGUOUS_FIELD", "/0/fields/0")]


def test_an_alias_that_is_the_name_itself_is_ambiguous_as_in_java() -> None:
    assert found(record(("b", "int", {"aliases": ["b"]})), record(("b", "int"))) == [("AMBIGUOUS_FIELD", "/fields/0")]


def test_a_type_met_twice_has_its_difference_once() -> None:
    def both(kind: Any) -> Any:
        return record(("a", kind), ("b", kind["name"]))

    assert found(both(FIXED_1), both(FIXED_2)) == [("FIXED_SIZE_MISMATCH", "/fields/0/type/size")]
    assert found(both(enum("A")), both(enum("B"))) == [("MISSING_ENUM_SYMBOLS", "/fields/0/type/symbols")]


def test_a_difference_found_in_a_branch_that_was_passed_over_counts_elsewhere() -> None:
    inner = record(("x", "int"), name="I")
    reader = record(("u", [inner, record(("y", "int", {"default": 0}), name="J", aliases=["I"])]), ("v", "I"))
    writer = record(("u", [record(name="I")]), ("v", "I"))
    assert found(reader, writer) == [(MISSING, "/fields/0/type/0/fields/0")]


LARGE = [record(("x", "int"), name=f"x.R{at}", aliases=[f"Old{at}"]) for at in range(20)]


@pytest.mark.parametrize(
    ("branch", "expected"),
    [
        (record(("x", "int"), name="x.R7"), []),
        (record(("x", "int"), name="y.R7"), []),
        (record(("x", "int"), name="x.Old7"), []),
        (record(("x", "string"), name="x.R7"), [("MISSING_UNION_BRANCH", "/")]),
        (record(("x", "int"), name="x.R70"), [("MISSING_UNION_BRANCH", "/")]),
        (enum("A", name="R7"), [("MISSING_UNION_BRANCH", "/")]),
        ("int", []),
        ("bytes", []),
        ("null", [("MISSING_UNION_BRANCH", "/")]),
        ({"type": "array", "items": "int"}, []),
        ({"type": "array", "items": "null"}, [("MISSING_UNION_BRANCH", "/")]),
    ],
)
def test_large_unions_are_searched_by_name_and_kind(branch: Any, expected: list[tuple[str, str]]) -> None:
    assert found([*LARGE, "double", "string", {"type": "array", "items": "long"}], branch) == expected
    assert found([*LARGE, "double", "string", {"type": "array", "items": "long"}], [branch]) == expected


def test_many_mentions_of_one_type_are_compared_once() -> None:
    def chain(leaf: str) -> tuple[str, list[str]]:
        texts = [json.dumps(record(("x", leaf), name="L0"))]
        for at in range(1, 40):
            texts.append(json.dumps(record(("a", f"L{at - 1}"), ("b", f"L{at - 1}"), name=f"L{at}")))  # noqa: PERF401
        return texts[-1], texts[:-1]

    (one, one_used), (two, two_used) = chain("int"), chain("string")
    assert len(differences(parse(one, one_used), parse(two, two_used))) == 1  # 2**39 paths lead to it
