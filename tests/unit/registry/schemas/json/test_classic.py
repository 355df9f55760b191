from __future__ import annotations

from typing import Any

import pytest

from registry.errors import InvalidSchemaError
from registry.schemas.json.classic import ClassicReader, dumps_sorted
from registry.schemas.json.model import (
    ArrayNode,
    CombinedNode,
    ConstNode,
    Criterion,
    EnumNode,
    Node,
    NodeKind,
    NotNode,
    NumberNode,
    ObjectNode,
    ReferenceNode,
    StringNode,
)
from registry.schemas.json.refs import Draft, References


def read(document: Any, draft: Draft = Draft.DRAFT_7) -> Node:
    return ClassicReader(References(document, draft, {}), draft).document(document)


def shape(node: Node) -> Any:
    """Kinds only: a name, or a combination's keyword with those of its branches."""
    if isinstance(node, CombinedNode):
        return node.criterion.value, [shape(branch) for branch in node.branches]
    return node.kind.value


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (True, "any value"),
        (False, "nothing"),
        ({}, "anything"),
        ({"title": "x", "unknown": 1}, "anything"),
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, ("anyOf", ["string", "null"])),
        ({"type": []}, ("anyOf", [])),
        ({"maxLength": 1}, "string"),
        ({"format": "date"}, "string"),
        ({"minimum": 1}, "number"),
        ({"required": ["a"]}, "object"),
        ({"contains": {}}, "array"),
        ({"then": {}}, "if/then/else"),
        (
            {"minimum": 1, "maxLength": 1, "items": {}, "properties": {}},
            ("allOf", ["array", "object", "number", "string"]),
        ),
        ({"type": "object", "minLength": 1}, ("allOf", ["object", "string"])),
        (
            {"type": ["string", "null"], "maxLength": 1, "minimum": 1},
            ("allOf", [("anyOf", ["string", "null"]), "number"]),
        ),
        ({"enum": [1], "type": "string"}, ("allOf", ["enum", "string"])),
        ({"const": 1, "not": {}}, ("allOf", ["not", "const"])),
        (
            {"anyOf": [{}], "oneOf": [{}], "allOf": [{}]},
            ("allOf", [(word, ["anything"]) for word in ("allOf", "anyOf", "oneOf")]),
        ),
        ({"$ref": "#", "type": "string"}, "reference to a reference"),
    ],
)
def test_shape(document: Any, expected: Any) -> None:
    assert shape(read(document)) == expected


def test_older_drafts_know_less() -> None:
    document = {"const": 1, "if": {}, "contains": {}, "propertyNames": {}}
    assert shape(read(document)) == ("allOf", ["const", "array", "object", "if/then/else"])
    assert shape(read(document, Draft.DRAFT_6)) == ("allOf", ["const", "array", "object"])
    assert shape(read(document, Draft.DRAFT_4)) == "anything"


def test_a_schema_inside_may_be_of_another_draft() -> None:
    inner = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}
    assert shape(read({"not": inner}).inner) == "anything"  # type: ignore[attr-defined]


def test_strings_and_numbers() -> None:
    node = read({"type": "string", "minLength": 1, "maxLength": 2, "pattern": "a"})
    assert isinstance(node, StringNode)
    assert (node.min_length, node.max_length, node.pattern) == (1, 2, "a")
    node = read(
        {"type": "integer", "minimum": 1, "maximum": 2, "exclusiveMinimum": 3, "exclusiveMaximum": 4, "multipleOf": 5}
    )
    assert isinstance(node, NumberNode)
    assert (node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum) == (1, 2, 3, 4)
    assert (node.multiple_of, node.integer) == (5, True)
    node = read({"type": "number", "exclusiveMinimum": True}, Draft.DRAFT_4)
    assert isinstance(node, NumberNode)
    assert node.exclusive_minimum is None


def test_arrays() -> None:
    node = read(
        {"items": [{}, True], "additionalItems": {"type": "null"}, "minItems": 1, "maxItems": 2, "uniqueItems": True}
    )
    assert isinstance(node, ArrayNode)
    assert [item.kind for item in node.first] == [NodeKind.EMPTY, NodeKind.TRUE]
    assert (shape(node.rest), node.every, node.more) == ("null", None, True)  # type: ignore[arg-type]
    assert (node.min_items, node.max_items, node.unique) == (1, 2, True)
    node = read({"items": {"type": "null"}, "additionalItems": False, "minContains": 2, "maxContains": "no"})
    assert isinstance(node, ArrayNode)
    assert (shape(node.every), node.more, node.min_contains, node.max_contains) == ("null", True, 2, None)  # type: ignore[arg-type]


def test_objects() -> None:
    node = read(
        {
            "properties": {"a": {}, "b": False, "$id": "ignored"},
            "required": ["a", "z"],
            "patternProperties": {"^x": True},
            "additionalProperties": False,
            "propertyNames": {"maxLength": 3},
            "dependencies": {"a": ["b"], "b": {"minProperties": 2}, "c": []},
            "minProperties": 1,
            "maxProperties": 4,
        }
    )
    assert isinstance(node, ObjectNode)
    assert {name: shape(item) for name, item in node.properties.items()} == {"a": "anything", "b": "nothing"}
    assert (node.required, list(node.patterns), node.more, node.rest) == (("a", "z"), ["^x"], False, None)
    assert (node.needs, list(node.needs_schema)) == ({"a": ("b",)}, ["b"])
    assert (node.min_properties, node.max_properties, shape(node.names)) == (1, 4, "string")  # type: ignore[arg-type]


def test_values() -> None:
    node = read({"enum": ["a", 1, None, {"y": 1, "x": [True]}]})
    assert isinstance(node, EnumNode)
    assert node.values == {'"a"', "1", "null", '{"x":[true],"y":1}'}
    node = read({"const": {"b": 1, "a": 2}})
    assert isinstance(node, ConstNode)
    assert node.value == '{"a":2,"b":1}'
    assert isinstance(read({"not": {"type": "null"}}), NotNode)
    assert dumps_sorted([{"b": {"d": 1, "c": 2}, "a": 3}]) == '[{"a":3,"b":{"c":2,"d":1}}]'


def test_defaults_and_connect() -> None:
    assert read({"type": "string", "default": "x"}).has_default
    assert read({"type": "string", "default": None}).has_default
    assert not read({"$ref": "#/definitions/a", "default": 1, "definitions": {"a": {}}}).has_default
    assert read({"type": "string", "connect.type": "bytes"}).is_bytes


def test_references_share_their_targets() -> None:
    reference = {"$ref": "#/definitions/a"}
    document = {
        "properties": {"x": dict(reference), "y": dict(reference)},
        "definitions": {"a": {"items": dict(reference)}},
    }
    node = read(document)
    assert isinstance(node, ObjectNode)
    x, y = node.properties["x"], node.properties["y"]
    assert isinstance(x, ReferenceNode)
    assert isinstance(y, ReferenceNode)
    assert x.referred is y.referred
    assert x.referred.every.target is x.referred  # type: ignore[attr-defined]


def test_branches_have_keys() -> None:
    node = read({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "string", "title": "x"}]})
    assert isinstance(node, CombinedNode)
    assert node.criterion is Criterion.ANY
    one, two, three = (branch.key for branch in node.branches)
    assert one == two != three


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"type": "string", "format": "date"}, {"type": "string", "format": "time"}, False),
        ({"type": "string", "format": "uuid"}, {"type": "string", "format": "no-such"}, True),
        ({"type": "string", "format": "uuid"}, {"type": "string"}, True),
        ({"type": "string", "minLength": 1}, {"minLength": 1}, False),
        ({"if": {"type": "string"}}, {"if": {"type": "null"}}, False),
        ({"if": {"type": "null"}, "then": {}}, {"then": {}, "if": {"type": "null"}}, True),
        ({"required": []}, {"uniqueItems": False}, True),
        ({"required": []}, {}, True),
        ({"required": [], "title": "x"}, {}, False),
        ({"type": "object"}, {}, False),
        ({"$ref": "#/x", "default": 1}, {"$ref": "#/x"}, True),
        ({"$ref": "#/x", "title": "x"}, {"$ref": "#/x"}, False),
    ],
)
def test_branches_are_alike_if_the_registry_prints_them_alike(one: Any, other: Any, alike: bool) -> None:
    node = read({"anyOf": [one, other], "x": {}})
    assert isinstance(node, CombinedNode)
    assert (node.branches[0].key == node.branches[1].key) is alike


def test_formats_a_draft_knows_tell_branches_apart() -> None:
    document = {"anyOf": [{"type": "string", "format": name} for name in ("email", "uri-reference", "date", "uuid")]}
    counts = []
    for draft in (Draft.DRAFT_4, Draft.DRAFT_6, Draft.DRAFT_7):
        node = read(document, draft)
        assert isinstance(node, CombinedNode)
        counts.append(len({branch.key for branch in node.branches}))
    assert counts == [2, 3, 4]


def test_exclusive_limits_of_draft_4_tell_branches_apart() -> None:
    flags = ({"exclusiveMinimum": True}, {"exclusiveMinimum": False}, {})
    node = read({"anyOf": [{"type": "number", "minimum": 1, **flag} for flag in flags]}, Draft.DRAFT_4)
    assert isinstance(node, CombinedNode)
    assert len({branch.key for branch in node.branches}) == 2


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"type": "text"}, "#/type: there is no type"),
        ({"type": 1}, "#/type: expected a string or an array"),
        ({"type": ["string", 1]}, "#/type: there is no type 1"),
        ({"properties": {"a": {"minLength": "1"}}}, "#/properties/a/minLength: expected a number"),
        ({"minLength": True}, "expected a number, not true"),
        ({"minItems": 99999999999}, "an integer of 32 bits"),
        ({"properties": []}, "#/properties: expected an object, not an array"),
        ({"properties": {"a": 1}}, "#/properties/a: a schema is an object, true or false, not 1"),
        ({"required": "a"}, "#/required: expected an array"),
        ({"required": [1]}, "#/required/0: expected a string"),
        ({"allOf": {}}, "#/allOf: expected an array"),
        ({"enum": 1}, "#/enum: expected an array"),
        ({"not": 1}, "#/not: a schema is"),
        ({"uniqueItems": 1}, "#/uniqueItems: expected true or false"),
        ({"multipleOf": 0}, "#/multipleOf: a multiple of 0"),
        ({"pattern": "("}, "#/pattern: '[(]' is no regular expression"),
        ({"patternProperties": {"[": {}}}, "is no regular expression"),
        ({"title": 1}, "#/title: expected a string"),
        ({"readOnly": 1}, "#/readOnly: expected true or false"),
        ({"$ref": 1}, r"#/\$ref: expected a string"),
        ({"dependencies": {"a": [1]}}, "#/dependencies/a/0: expected a string"),
        ({"exclusiveMinimum": True}, "expected a number, not true"),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"items": 5}}}, "#/definitions/a/items: a schema is"),
    ],
)
def test_refused(document: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError, match=message):
        read(document)


@pytest.mark.parametrize(
    "document", [{"exclusiveMaximum": 1}, {"items": True}, {"dependencies": {"a": False}}], ids=str
)
def test_refused_in_draft_4(document: Any) -> None:
    read(document)
    with pytest.raises(InvalidSchemaError):
        read(document, Draft.DRAFT_4)
