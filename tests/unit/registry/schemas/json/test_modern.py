from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from registry.errors import InvalidSchemaError
from registry.schemas.json.model import ArrayNode, CombinedNode, Node, NodeKind, ObjectNode, StringNode
from registry.schemas.json.modern import ModernReader, _java_order
from registry.schemas.json.refs import Draft, References


def read(document: Any) -> Node:
    draft = Draft.DRAFT_2020_12
    return ModernReader(References(document, draft, {}), draft).document(document)


def shape(node: Node) -> Any:
    """Kinds only: a name, or a combination's keyword with those of its branches."""
    if isinstance(node, CombinedNode):
        return node.criterion.value, [shape(branch) for branch in node.branches]
    return node.kind.value


TWO = ("allOf", ["string", "enum"])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (True, "any value"),
        ({}, "anything"),
        ({"title": "x", "format": "date", "readOnly": True}, "anything"),
        ({"dependencies": {"a": ["b"]}, "additionalItems": False, "$recursiveRef": "#"}, "anything"),
        ({"type": "integer", "minimum": 1}, "number"),
        ({"type": "string", "format": "date"}, "string"),
        ({"type": ["string", "null"], "maxLength": 1}, ("anyOf", ["string", "null"])),
        ({"maxLength": 1, "type": ["string", "null"]}, ("anyOf", ["string", "null"])),
        ({"type": ["string", "null"], "minimum": 1}, ("allOf", [("anyOf", ["string", "null"]), "number"])),
        # after a keyword that says nothing a list of types takes in no more
        (
            {"type": ["string", "null"], "format": "date", "maxLength": 1},
            ("allOf", [("anyOf", ["string", "null"]), "string"]),
        ),
        ({"type": ["string", "null"], "format": "date"}, ("anyOf", ["string", "null"])),
        ({"enum": ["a"], "type": "string", "maxLength": 1}, TWO),
        ({"enum": ["a"], "properties": {}}, "enum"),
        ({"properties": {"a": {}}, "type": "object", "required": ["a"]}, "object"),
        ({"allOf": [{}], "anyOf": [{}]}, ("allOf", [("allOf", ["anything"]), ("anyOf", ["anything"])])),
        ({"anyOf": [{"type": "null"}]}, ("anyOf", ["null"])),
        ({"anyOf": []}, ("anyOf", [])),
        # branches that are several conditions come in one by one
        ({"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "null"}]}, ("anyOf", ["string", "enum", "null"])),
        ({"not": {"type": "null"}, "if": {}, "then": False}, ("allOf", ["not", "if/then/else"])),
        ({"then": {}}, "anything"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, "reference to a reference"),
        ({"$ref": "#/$defs/a", "type": "null", "$defs": {"a": {}}}, ("allOf", ["null", "reference to a reference"])),
        # `format` comes before `type` however they are written, and `readOnly` only counts if it is true
        (
            {"type": ["string", "null"], "maxLength": 1, "readOnly": True},
            ("allOf", [("anyOf", ["string", "null"]), "string"]),
        ),
        ({"type": ["string", "null"], "maxLength": 1, "readOnly": False}, ("anyOf", ["string", "null"])),
    ],
)
def test_shape(document: Any, expected: Any) -> None:
    assert shape(read(document)) == expected


@pytest.mark.parametrize(
    ("written", "ordered"),
    [
        ("multipleOf maxLength required type format", "multipleOf format type maxLength required"),
        ("type maxItems", "maxItems type"),
        # from 13 names on the table of the map is twice as large
        ("type a b c d e f g h i j minItems", "minItems a b c d e f g h i j type"),
        ("type a b c d e f g h i j minItems k", "a b c d e f g h i j k type minItems"),
        # names with one hash stay as written
        ("enum maxLength properties required", "enum maxLength properties required"),
        ("required properties BB Aa", "BB Aa required properties"),
    ],
)
def test_keywords_are_taken_as_a_hash_map_has_them(written: str, ordered: str) -> None:
    assert _java_order(dict.fromkeys(written.split())) == ordered.split()


@pytest.mark.parametrize(
    ("beside", "kept"),
    [
        ({}, True),
        ({"$defs": {}, "title": "x", "$anchor": "a", "deprecated": True, "default": 1}, True),
        ({"$defs": {"a": {}}}, False),
        ({"$comment": "x"}, False),
        ({"examples": []}, False),
        ({"definitions": {}}, False),
    ],
)
def test_unknown_keywords_and_definitions_take_the_place_of_what_is_noted(beside: Any, kept: bool) -> None:
    node = read({"type": "object", "unevaluatedProperties": False, **beside})
    assert isinstance(node, ObjectNode)
    assert (node.unevaluated is not None) is kept
    node = read({"type": "array", "contains": {}, "maxContains": 2, "unevaluatedItems": False, **beside})
    assert isinstance(node, ArrayNode)
    noted = node.min_contains, node.max_contains, node.unevaluated and node.unevaluated.kind
    assert noted == ((1, 2, NodeKind.FALSE) if kept else (None, None, None))


def test_a_list_of_types_takes_its_keywords_in() -> None:
    node = read({"type": ["string", "null"], "maxLength": 1, "pattern": "a"})
    assert isinstance(node, CombinedNode)
    assert isinstance(node.branches[0], StringNode)
    assert (node.branches[0].max_length, node.branches[0].pattern) == (1, "a")


def test_arrays() -> None:
    node = read({"prefixItems": [{}, True], "items": {"type": "null"}, "unevaluatedItems": False, "uniqueItems": True})
    assert isinstance(node, ArrayNode)
    assert [item.kind for item in node.first] == [NodeKind.EMPTY, NodeKind.TRUE]
    assert (node.every, shape(node.rest), shape(node.unevaluated)) == (None, "null", "nothing")  # type: ignore[arg-type]
    assert node.unique
    node = read({"items": {"type": "null"}, "contains": {}, "maxContains": 3, "minItems": 1})
    assert isinstance(node, ArrayNode)
    assert (shape(node.every), node.rest, node.min_contains, node.max_contains) == ("null", None, 1, 3)  # type: ignore[arg-type]
    assert (read({"items": False}).more, read({"items": True}).every) == (False, None)  # type: ignore[attr-defined]


def test_objects() -> None:
    node = read(
        {
            "additionalProperties": {"type": "null"},
            "patternProperties": {"^x": {}},
            "properties": {"a": {}},
            "propertyNames": {"maxLength": 1},
            "dependentRequired": {"a": ["b"], "b": []},
            "dependentSchemas": {"a": {}},
            "unevaluatedProperties": True,
            "maxProperties": 3,
            "required": ["a"],
        }
    )
    assert isinstance(node, ObjectNode)
    assert (list(node.properties), list(node.patterns), shape(node.rest)) == (["a"], ["^x"], "null")  # type: ignore[arg-type]
    assert (node.needs, list(node.needs_schema), node.required) == ({"a": ("b",)}, ["a"], ("a",))
    assert (node.max_properties, shape(node.unevaluated)) == (3, "any value")  # type: ignore[arg-type]
    assert (read({"additionalProperties": False}).more, read({"additionalProperties": True}).more) == (False, True)  # type: ignore[attr-defined]


def test_counts_are_cut_to_integers_of_32_bits() -> None:
    for written, count in ((Decimal("1.9"), 1), (Decimal("1E2"), 100), (2**32 + 5, 5), (2**31, -(2**31)), (-1, -1)):
        node = read({"maxLength": written})
        assert isinstance(node, StringNode)
        assert node.max_length == count


def test_definitions_of_older_drafts_are_not_read() -> None:
    wrong = {"type": "text"}
    assert read({"type": "null", "definitions": {"a": wrong}}).kind is NodeKind.NULL
    assert read({"type": "null", "definitions": {"a": wrong}, "$defs": {"a": wrong}}).kind is NodeKind.NULL


def test_defaults() -> None:
    assert read({"type": "null", "default": 1}).has_default
    assert not read({"$ref": "#/$defs/a", "default": 1, "$defs": {"a": {}}}).has_default
    assert read({"enum": ["a"], "type": "string", "connect.type": "bytes"}).is_bytes


def test_branches_have_keys() -> None:
    node = read({"anyOf": [{"type": ["string", "null"], "format": "x"}, {"type": ["string", "null"], "format": "x"}]})
    assert isinstance(node, CombinedNode)
    assert node.branches[0].key == node.branches[1].key >= 0
    node = read(
        {"anyOf": [{"type": "string", "default": None, "deprecated": True}, {"type": "string", "format": "date"}]}
    )
    assert isinstance(node, CombinedNode)
    assert node.branches[0].key == node.branches[1].key
    made = read({"type": ["string", "string"], "minimum": 1})
    assert isinstance(made, CombinedNode)
    assert [branch.key >= 0 for branch in made.branches[0].branches] == [True, True]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"items": [{}]}, "belongs into prefixItems"),
        ({"type": "text"}, "there is no type"),
        ({"type": 5}, "expected a string or an array"),
        ({"properties": []}, "expected an object"),
        ({"allOf": {}}, "expected an array"),
        ({"prefixItems": {}}, "expected an array"),
        ({"description": 5}, "#/description: expected a string"),
        ({"minLength": "1"}, "expected a number"),
        ({"pattern": "("}, "is no regular expression"),
        ({"patternProperties": {"(": {}}}, "is no regular expression"),
        ({"$ref": "#/nope"}, "leads nowhere"),
        ({"if": 5}, "#/if: a schema is"),
        ({"format": 5}, "#/format: expected a string"),
        ({"$defs": {"unused": {"type": "text"}}}, r"#/\$defs/unused/type: there is no type"),
        ({"$defs": {"unused": {"$ref": "#/nope"}}}, "leads nowhere"),
        ({"$defs": None}, r"#/\$defs: expected an object"),
    ],
)
def test_refused(document: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError, match=message):
        read(document)
