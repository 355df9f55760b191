from __future__ import annotations

import json
from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.schemas.avro.model import (
    ArrayType,
    EnumType,
    FixedType,
    MapType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
    parse,
    type_name,
)
from registry.schemas.avro.types import NO_DEFAULT, Field


def record(*fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def made(node: Any) -> Any:
    return parse(json.dumps(node))


def test_every_type() -> None:
    parsed = made(
        record(
            {
                "name": "p",
                "type": {"type": "long", "logicalType": "date"},
                "default": None,
                "order": "IGNORE",
            },
            {"name": "a", "type": {"type": "array", "items": "int"}, "aliases": ["old"]},
            {"name": "m", "type": {"type": "map", "values": "boolean"}},
            {"name": "u", "type": ["null", "string"], "doc": "why", "pii": True},
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "B"}},
            {"name": "f", "type": {"type": "fixed", "name": "other.F", "size": 3, "aliases": ["G"]}},
            namespace="x",
        )
    )
    assert isinstance(parsed, RecordType)
    p, a, m, u, e, f = parsed.fields
    assert isinstance(p.type, Primitive)
    assert (p.type.kind, p.type.props, p.default, p.has_default, p.order) == (
        TypeName.LONG, {"logicalType": "date"}, None, True, "ignore"
    )  # fmt: skip
    assert isinstance(a.type, ArrayType)
    assert (a.aliases, a.has_default) == (["old"], False)
    assert isinstance(m.type, MapType)
    assert isinstance(u.type, UnionType)
    assert (u.doc, u.props) == ("why", {"pii": True})
    assert isinstance(e.type, EnumType)
    assert (e.type.name, e.type.default) == ("x.E", "B")
    assert isinstance(f.type, FixedType)
    assert (f.type.name, f.type.aliases, f.type.short_name, f.type.namespace) == ("other.F", ["other.G"], "F", "other")


def test_recursive_type_is_one_object() -> None:
    parsed = made(record({"name": "next", "type": ["null", "R"]}))
    assert parsed.fields[0].type.branches[1] is parsed


def test_names_are_looked_up_in_the_namespace_then_without() -> None:
    inner = {"type": "record", "name": "Bare", "fields": []}
    outer = {"type": "record", "name": "x.Out", "fields": [{"name": "a", "type": "Bare"}]}
    parsed = parse(json.dumps(outer), [json.dumps(inner)])
    assert type_name(parsed.fields[0].type) == "Bare"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["string", ' "string" ', '{"type":"string"}', '{"type":{"type":"string"}}'])
def test_a_string_in_all_its_forms(text: str) -> None:
    assert parse(text).kind is TypeName.STRING


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ("nope", "undefined name: 'nope'"),
        (5, "not an Avro schema"),
        ({}, "no type"),
        ({"type": 5}, "no type"),
        ({"type": "array"}, "no items"),
        ({"type": "map"}, "no values"),
        ({"type": "record", "fields": []}, "no name"),
        ({"type": "record", "name": "R"}, "no fields"),
        (record(name="1x"), "illegal name: '1x'"),
        (record(name="x.a-b"), "illegal name: 'x.a-b'"),
        (record(name="𝒜"), "illegal name"),
        (record(aliases=["a-b"]), "illegal alias of R"),
        (record(aliases="a"), "aliases of R are not a list of strings"),
        (record("x"), "has no name"),
        (record({"name": "a-b", "type": "int"}), "illegal name of a field"),
        (record({"name": "a"}), "has no type"),
        (record({"name": "a", "type": "int"}, {"name": "a", "type": "int"}), "duplicate field 'a'"),
        (record({"name": "a", "type": "int", "aliases": "b"}), "not a list of strings"),
        ({"type": "record", "name": "R", "fields": {}}, "not a list"),
        (record({"name": "a", "type": "int", "order": "up"}), "order of field 'a' of R is not one of ascending"),
        (record({"name": "a", "type": "int", "order": 1}), "order of field 'a'"),
        (record({"name": "a", "type": "double", "default": "one"}), "default 'one' of field 'a' is not a number"),
        ([["null"]], "may not directly hold a union"),
        (["int", "int"], "duplicate in union: int"),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "duplicate symbols"),
        ({"type": "enum", "name": "E", "symbols": ["a-b"]}, "illegal symbol"),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "not one of its symbols"),
        ({"type": "fixed", "name": "F", "size": -1}, "size of fixed F"),
        ({"type": "fixed", "name": "F", "size": "3"}, "size of fixed F"),
        ({"type": "fixed", "name": "F", "size": 2**31}, "size of fixed F"),
        ({"type": "fixed", "name": "F", "size": 3.0}, "size of fixed F"),
        (record({"name": "a", "type": record()}), "can't redefine: R"),
        (record(name="int"), "can't redefine: int"),
    ],
)
def test_invalid(node: Any, text: str) -> None:
    with pytest.raises(InvalidSchemaError, match=text):
        made(node)


def test_not_json() -> None:
    with pytest.raises(InvalidSchemaError, match="not JSON"):
        parse("{")


def test_names_may_be_used_before_they_are_defined() -> None:
    inner = {"type": "fixed", "name": "F", "size": 1}
    parsed = made(record({"name": "a", "type": ["null", "F"]}, {"name": "b", "type": inner}, namespace="x"))
    assert parsed.fields[0].type.branches[1] is parsed.fields[1].type
    with pytest.raises(InvalidSchemaError, match="duplicate in union: F"):
        made(["F", inner])
    with pytest.raises(InvalidSchemaError, match="undefined name: 'F'"):
        parse(json.dumps(inner), ['"F"'])  # each text must be complete


def test_a_type_defined_before_counts_over_one_defined_later() -> None:
    bare, inner = ({"type": "fixed", "name": name, "size": 1} for name in (".F", "F"))
    fields = [{"name": name, "type": kind} for name, kind in (("a", bare), ("b", "F"), ("c", inner), ("d", "F"))]
    parsed = made(record(*fields, namespace="x"))
    assert [type_name(field.type) for field in parsed.fields] == ["F", "F", "x.F", "x.F"]


def test_a_type_may_be_defined_twice_in_the_same_words() -> None:
    inner = {"type": "fixed", "name": "F", "size": 1}
    parsed = made(record({"name": "a", "type": inner}, {"name": "b", "type": dict(inner)}))
    assert parsed.fields[0].type is parsed.fields[1].type
    with pytest.raises(InvalidSchemaError, match="can't redefine: F"):
        made(record({"name": "a", "type": inner}, {"name": "b", "type": inner | {"size": 2}}))


@pytest.mark.parametrize("name", ["été", "Ä1_", "_", "名前"])
def test_names_may_be_of_any_script(name: str) -> None:
    assert made(record(name=name)).name == name


def test_namespaces() -> None:
    assert made(record(name=".R", namespace="x")).name == "R"
    assert made(record(name="x.R", namespace="y")).name == "x.R"
    parsed = made(record(name="R", namespace="x", aliases=["A", ".B", "y.C", "x.A"]))
    assert (parsed.name, parsed.aliases) == ("x.R", ["x.A", ".B", "y.C"])
    assert made(record(name="R", aliases=[".B"])).aliases == ["B"]


def test_a_name_without_namespace_is_not_found_ahead_of_its_definition_in_a_namespace() -> None:
    inner = record({"name": "b", "type": "F"}, name="x.I")
    fixed = {"type": "fixed", "name": "F", "size": 1}
    assert made(record({"name": "a", "type": fixed}, {"name": "b", "type": inner})).fields[1].type.name == "x.I"
    with pytest.raises(InvalidSchemaError, match=r"undefined name: 'x\.F'"):
        made(record({"name": "a", "type": inner}, {"name": "b", "type": fixed}))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"doc": "x", "aliases": ["B"], "default": "A"}, True),
        ({}, {"symbols": ["B"]}, False),
        ({"p": 1}, {}, False),
        ({"p": 1}, {"p": 1}, True),
        ({}, {"type": "fixed", "size": 1}, False),
        ({"type": "fixed", "size": 1}, {"type": "fixed", "size": 1, "doc": "x"}, True),
        ({"type": "fixed", "size": 1}, {"type": "fixed", "size": 2}, False),
        ({"type": "record", "fields": []}, {"type": "record", "fields": []}, True),
        ({"type": "record", "fields": []}, {}, False),
    ],
)
def test_a_type_may_be_defined_again_as_it_is(one: Any, other: Any, same: bool) -> None:
    kinds = [{"type": "enum", "name": "E", "symbols": ["A"], **more} for more in (one, other)]
    node = record(*({"name": f"f{at}", "type": kind} for at, kind in enumerate(kinds)))
    if same:
        first, second = made(node).fields
        assert first.type is second.type
    else:
        with pytest.raises(InvalidSchemaError, match="can't redefine: E"):
            made(node)


def test_namespaces_are_taken_as_they_are() -> None:
    assert made(record(name="a-b.R")).name == "a-b.R"


def test_docs_and_default_symbols_that_are_no_strings_are_ignored() -> None:
    parsed = made({"type": "enum", "name": "E", "symbols": ["A"], "default": 5, "doc": 5})
    assert (parsed.default, parsed.doc, parsed.props) == (None, None, {})


def test_texts_as_defaults_of_numbers_are_numbers() -> None:
    parsed = made(record({"name": "a", "type": {"type": "double"}, "default": "1.5"}))
    assert parsed.fields[0].default == 1.5


def test_comments_are_skipped() -> None:
    assert parse('// a type\n{"type": /* no " */ "int", "doc": "// not one"}').kind is TypeName.INT
    with pytest.raises(InvalidSchemaError, match="not JSON"):
        parse('{"type": "int" / "x"}')


@pytest.mark.parametrize("text", ['{"type":{"type":"string"}}', '[{"type":["null"]}]'])
def test_strict_is_as_strict_as_java(text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="no type"):
        parse(text, strict=True)


@pytest.mark.parametrize("depth", [1_001, 100_000])
def test_too_deep_is_an_error_not_a_crash(depth: int) -> None:
    with pytest.raises(InvalidSchemaError, match="nested deeper than 1000 levels"):
        parse('{"type":"array","items":' * depth + '"int"' + "}" * depth)


def test_deep_is_fine() -> None:
    parsed = parse('{"type":"array","items":' * 1_000 + '"int"' + "}" * 1_000)
    for _ in range(1_000):
        assert isinstance(parsed, ArrayType)
        parsed = parsed.items
    assert parsed.kind is TypeName.INT


def test_a_name_may_stand_as_the_type_of_an_object() -> None:
    parsed = made(record({"name": "a", "type": {"type": "R", "x": 1}}))
    assert parsed.fields[0].type is parsed


def test_definitions_too_deep_to_be_compared_are_not_the_same() -> None:
    inner = '{"type":"record","name":"F","fields":[],"p":' + "[" * 990 + "]" * 990 + "}"
    refused = "can't redefine: F|duplicate in union: F"  # how deep Python compares depends on its version
    with pytest.raises(InvalidSchemaError, match=refused):
        parse(f'["null",{inner},{inner}]')


# ---- the nodes' own properties


def test_names_in_sentences() -> None:
    assert type_name(FixedType("x.F", [], None, {}, 4)) == "x.F"
    assert type_name(ArrayType(Primitive(TypeName.INT))) == "array"


def test_parts_of_a_name() -> None:
    fixed = FixedType("x.y.F", [], None, {}, 4)
    assert (fixed.short_name, fixed.namespace) == ("F", "x.y")
    assert FixedType("F", [], None, {}, 4).namespace == ""


def test_null_is_a_default() -> None:
    assert Field("a", Primitive(TypeName.NULL), None, [], "ascending", None, {}).has_default
    assert not Field("a", Primitive(TypeName.NULL), NO_DEFAULT, [], "ascending", None, {}).has_default
    assert repr(NO_DEFAULT) == "NO_DEFAULT"


def test_identity_is_equality() -> None:
    assert Primitive(TypeName.INT) != Primitive(TypeName.INT)
