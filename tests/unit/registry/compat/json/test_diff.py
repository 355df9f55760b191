from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.compat import check
from registry.compat.difference import Roles
from registry.compat.json.diff import differences
from registry.compat.json.kinds import LENIENT, JsonKind
from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference
from registry.schemas.json.format import parse

VECTORS = json.loads((Path(__file__).parents[4] / "vectors/json_schema_differences.json").read_text())


def schema(document: Any) -> Schema:
    text = document if isinstance(document, str) else json.dumps(document)
    return Schema(text, "JSON", [])


def kinds(writer: Any, reader: Any, policy: str = "STRICT") -> list[str]:
    found = differences(parse(schema(reader), ()), parse(schema(writer), ()), Roles(), policy)
    return sorted({item.kind for item in found})


@pytest.mark.parametrize("case", VECTORS, ids=[case["what"] for case in VECTORS])
def test_vectors(case: dict[str, Any]) -> None:
    assert kinds(case["writer"], case["reader"]) == case["kinds"]
    assert kinds(case["writer"], case["reader"], "LENIENT") == case.get("lenient", case["kinds"])
    assert kinds(case["writer"], case["writer"]) == kinds(case["reader"], case["reader"]) == []


def test_vectors_have_every_kind() -> None:
    assert {kind for case in VECTORS for kind in case["kinds"]} == set(JsonKind)
    assert {
        kind for case in VECTORS for kind in set(case["kinds"]) - set(case.get("lenient", case["kinds"]))
    } == LENIENT


def test_a_difference_says_where_who_and_what_helps() -> None:
    writer = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}
    reader = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}
    found = check(schema(reader), [schema(writer)]).differences
    assert [(item.kind, item.path) for item in found] == [("MAX_LENGTH_DECREASED", "#/properties/name/maxLength")]
    assert found[0].message == (
        "#/properties/name/maxLength of the new schema: maxLength is 5, in registered schema 1 it is 9, so the new "
        "schema can't read data of registered schema 1; to be compatible, keep maxLength 9 or raise it"
    )
    forward = check(schema(writer), [schema(reader)], "FORWARD").differences
    assert forward[0].message.endswith(
        "so registered schema 1 can't read data of the new schema; to be compatible, lower maxLength to 5"
    )


def test_all_differences_are_named_in_order() -> None:
    writer = {"type": "object", "properties": {name: {"type": "string"} for name in "abc"}}
    reader = {"type": "object", "properties": {name: {"type": "null"} for name in "cab"}, "minProperties": 1}
    found = differences(parse(schema(reader), ()), parse(schema(writer), ()))
    assert [item.path for item in found] == ["#/properties/a", "#/properties/b", "#/properties/c", "#/minProperties"]


def test_references_to_other_schemas() -> None:
    reference = SchemaReference("money.json", "money", 1)
    order = Schema('{"properties": {"price": {"$ref": "money.json#/definitions/amount"}}}', "JSON", [reference])

    def money(kind: str) -> Schema:
        return schema({"definitions": {"amount": {"type": kind}}})

    assert check(order, [order], resolve=lambda _: money("number")).compatible
    new = parse(order, [(reference, money("integer"))])
    old = parse(order, [(reference, money("number"))])
    assert [item.path for item in differences(new, old)] == ["#/properties/price"]
    with pytest.raises(InvalidSchemaError, match="the name"):
        parse(order, ())


def test_definitions_are_found_under_defs_too() -> None:
    string = {"type": "string"}
    document = {"$ref": "#/$defs/a", "definitions": {"a": string, "b": {"type": "null"}}}
    assert kinds(string, document) == []
    assert kinds(string, {**document, "$defs": {"a": {"type": "null"}}}) == ["TYPE_CHANGED"]
    assert kinds({"type": "null"}, {**document, "$ref": "#/$defs/b", "$defs": {"a": {}}}) == []


# --- laws

TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
LEAVES = st.one_of(
    st.booleans(),
    st.builds(lambda kind: {"type": kind}, TYPES),
    st.builds(lambda kinds: {"type": kinds}, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 3)),
    st.builds(lambda most: {"maximum": most}, st.integers(0, 3)),
    st.builds(lambda values: {"enum": values}, st.lists(st.sampled_from(["a", 1, None]), max_size=3)),
)
NAMES = st.sampled_from(["a", "b", "c"])


def bigger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(
            lambda properties, required, closed: {
                "type": "object",
                "properties": properties,
                "required": required,
                **({"additionalProperties": False} if closed else {}),
            },
            st.dictionaries(NAMES, inner, max_size=3),
            st.lists(NAMES, max_size=2, unique=True),
            st.booleans(),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner | st.lists(inner, max_size=2)),
        st.builds(
            lambda word, branches: {word: branches},
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda schema: {"not": schema}, inner),
    )


SCHEMAS = st.recursive(LEAVES, bigger, max_leaves=8)


@given(SCHEMAS)
def test_a_schema_is_compatible_with_itself(document: Any) -> None:
    for policy in ("STRICT", "LENIENT"):
        assert check(schema(document), [schema(document)], "FULL", policy).compatible


@given(SCHEMAS, SCHEMAS)
def test_full_is_backward_and_forward_and_lenient_allows_more(one: Any, other: Any) -> None:
    old, new = [schema(one)], schema(other)
    backward, forward = check(new, old, "BACKWARD"), check(new, old, "FORWARD")
    assert check(new, old, "FULL").compatible is (backward.compatible and forward.compatible)
    lenient = check(new, old, "BACKWARD", "LENIENT")
    assert lenient.compatible or not backward.compatible
    assert not {item.kind for item in lenient.differences} & LENIENT


@given(SCHEMAS)
def test_everything_is_read_by_the_open_schema(document: Any) -> None:
    assert check(schema({}), [schema(document)]).compatible
    assert check(schema(document), [schema(False)]).compatible
