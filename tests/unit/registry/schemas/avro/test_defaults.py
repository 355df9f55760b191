from __future__ import annotations

import json
from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.schemas.avro.defaults import number_in, refuse_illegal_namespaces, refuse_invalid_defaults
from registry.schemas.avro.model import parse

INNER = {
    "type": "record",
    "name": "I",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int", "default": 1}],
}
ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}


def check(kind: Any, default: Any) -> None:
    fields = [{"name": "a", "type": kind, "default": default}]
    refuse_invalid_defaults(parse(json.dumps({"type": "record", "name": "R", "fields": fields})))


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("null", None),
        ("boolean", False),
        ("int", 2**31 - 1),
        ("long", -(2**63)),
        ("float", 1),
        ("double", 1.5),
        ("double", "1.5"),
        ("bytes", "\u0100"),
        ("string", ""),
        (ENUM, "B"),  # as in Java, which does not look at the symbols
        (FIXED, "a"),
        (["null", "int"], 3),
        (["null", "int"], None),
        ({"type": "array", "items": ["null", "int"]}, [None, 1]),
        ({"type": "map", "values": "int"}, {"a": 1}),
        (INNER, {"x": 1}),
        (INNER, {"x": 1, "z": 3}),
        (["int", INNER], {"x": 1}),
    ],
)
def test_valid(kind: Any, default: Any) -> None:
    check(kind, default)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("null", 0),
        ("boolean", "true"),
        ("boolean", 1),
        ("int", 1.0),
        ("int", True),
        ("int", 2**31),
        ("long", 2**63),
        ("double", True),
        ("string", 5),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2}, 1),
        ([], None),
        (["null", "int"], "x"),
        ({"type": "array", "items": "int"}, {}),
        ({"type": "array", "items": ["null", "int"]}, ["x"]),
        ({"type": "map", "values": "int"}, {"a": None}),
        (INNER, {}),
        (INNER, {"x": "q"}),
        (INNER, []),
    ],
)
def test_invalid(kind: Any, default: Any) -> None:
    with pytest.raises(InvalidSchemaError, match="default of field 'a' of R is not a "):
        check(kind, default)


def test_fields_of_nested_records_are_looked_at() -> None:
    bad = {"type": "record", "name": "B", "fields": [{"name": "b", "type": "int", "default": None}]}
    for wrapped in (bad, ["null", bad], {"type": "array", "items": {"type": "map", "values": bad}}):
        fields = [{"name": "a", "type": wrapped}, {"name": "b", "type": "B"}, {"name": "r", "type": ["null", "R"]}]
        with pytest.raises(InvalidSchemaError, match="default of field 'b' of B is not a int: null"):
            refuse_invalid_defaults(parse(json.dumps({"type": "record", "name": "R", "fields": fields})))


def test_a_default_inside_itself_is_an_error() -> None:
    with pytest.raises(InvalidSchemaError, match="part of itself"):
        check("R", {})


def test_a_long_default_is_cut_in_the_message() -> None:
    with pytest.raises(InvalidSchemaError, match=r'"x{76}\.\.\.'):
        check("int", "x" * 1_000)


def test_a_record_met_twice_is_looked_at_once() -> None:
    fields = [{"name": "a", "type": INNER}, {"name": "b", "type": ["null", "I"]}, {"name": "c", "type": "I"}]
    refuse_invalid_defaults(parse(json.dumps({"type": "record", "name": "R", "fields": fields})))


@pytest.mark.parametrize("name", ["a-b.R", "a..b", ".x.R", "1x.R", "a b.R", "x.1.R"])
def test_every_part_of_a_namespace_is_a_name(name: str) -> None:
    kind = {"type": "array", "items": {"type": "fixed", "name": name, "size": 1}}
    fields = [{"name": "a", "type": ["null", {"type": "map", "values": kind}]}]
    avro = parse(json.dumps({"type": "record", "name": "x.y.R", "fields": fields}))
    with pytest.raises(InvalidSchemaError, match="illegal namespace"):
        refuse_illegal_namespaces(avro)


def test_legal_namespaces() -> None:
    refuse_illegal_namespaces(parse('{"type":"record","name":"été.a_1.R","fields":[]}'))
    refuse_illegal_namespaces(parse('"int"'))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        (" -1.5e2\n", -150.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1.5f", 1.5),
        ("2D", 2.0),
        ("0x1.8p1", 3.0),
        ("-0X1P99999d", float("-inf")),
        ("+Infinity", float("inf")),
        ("1e400", float("inf")),
    ],
)
def test_numbers_in_texts_are_read_as_java_does(text: str, number: float) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1_0", "inf", "nan", "infinity", "0x10", "1l", "--1", "\u0661", "\u00a01"]
)
def test_texts_without_a_number(text: str) -> None:
    assert number_in(text) is None


def test_a_long_text_without_a_number_is_seen_at_once() -> None:
    assert number_in("1" * 1_000_000 + "x") is None
