"""serdes.rules.walks.json: properties of JSON values."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator

from registry import RuleKind
from serdes.rules import FieldContext, RuleConditionError, RuleContext, RuleError
from serdes.rules.walks.json import field_transformer
from tests.unit.serdes.rules.samples import context, rule

STRING = {"type": "string"}
DEFINITIONS = {
    "#/$defs/name": STRING,
    "#/$defs/node": {"type": "object", "properties": {"id": STRING, "next": {"$ref": "#/$defs/node"}}},
}


def apply_to(schema: Any, value: Any, transform: Any, **changes: Any) -> Any:
    ctx = context(rule(**{"kind": RuleKind.TRANSFORM, **changes}))
    walk = field_transformer(
        schema,
        None,
        lambda base, name: (DEFINITIONS[name], base),
        lambda part, base, item: Draft202012Validator(part).is_valid(item),
    )
    return walk(ctx, transform, value)


def walked(schema: Any, value: Any, **changes: Any) -> tuple[Any, list[tuple[str, str]]]:
    seen: list[tuple[str, str]] = []

    def upper(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        seen.append((field.full_name, field.type_name()))
        return value.upper() if isinstance(value, str) else value

    return apply_to(schema, value, upper, **changes), seen


def test_every_single_value_is_seen_with_its_path_and_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "s": STRING,
            "i": {"type": "integer"},
            "f": {"type": "number"},
            "b": {"type": "boolean"},
            "e": {"enum": ["a", "b"]},
            "o": {"type": "object", "properties": {"x": STRING}},
            "l": {"type": "array", "items": STRING},
            "n": STRING,
            "any": True,
        },
    }
    value = {
        "s": "a",
        "i": 1,
        "f": 1.5,
        "b": True,
        "e": "a",
        "o": {"x": "b"},
        "l": ["c"],
        "n": None,
        "any": "x",
        "z": "y",
    }
    made, seen = walked(schema, value)
    assert made == {**value, "s": "A", "e": "A", "o": {"x": "B"}, "l": ["C"]}
    assert seen == [
        ("$.s", "STRING"),
        ("$.i", "INT"),
        ("$.f", "DOUBLE"),
        ("$.b", "BOOLEAN"),
        ("$.e", "ENUM"),
        ("$.o.x", "STRING"),
        ("$.l", "STRING"),
    ]
    assert value["s"] == "a"


def test_tags_choose() -> None:
    schema = {"properties": {"a": {**STRING, "confluent:tags": ["PII"]}, "b": STRING}}
    assert walked(schema, {"a": "x", "b": "x"}, tags=["PII"])[0] == {"a": "X", "b": "x"}


def test_references_also_recursive_ones() -> None:
    made, seen = walked(DEFINITIONS["#/$defs/node"], {"id": "a", "next": {"id": "b"}})
    assert made == {"id": "A", "next": {"id": "B"}}
    assert [name for name, _ in seen] == ["$.id", "$.next.id"]


def test_a_reference_to_itself_ends() -> None:
    DEFINITIONS["#/$defs/loop"] = {"$ref": "#/$defs/loop"}
    assert walked({"$ref": "#/$defs/loop"}, "x") == ("x", [])


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_of_alternatives_those_that_are_valid_count(keyword: str) -> None:
    number = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    name = {"type": "object", "properties": {"y": STRING}, "required": ["y"]}
    schema = {keyword: [number, name], "properties": {"z": STRING}}
    made, seen = walked(schema, {"y": "a", "z": "b"})
    assert made == {"y": "A", "z": "B"}
    assert seen == [("$.y", "STRING"), ("$.z", "STRING")]


def test_of_one_of_the_first_counts_of_all_of_all() -> None:
    first, second = {"properties": {"a": STRING}}, {"properties": {"a": STRING, "b": STRING}}
    assert walked({"oneOf": [first, second]}, {"a": "x", "b": "x"})[0] == {"a": "X", "b": "x"}
    assert walked({"allOf": [first, second]}, {"a": "x", "b": "x"})[0] == {"a": "X", "b": "X"}


def test_a_type_of_several_is_the_value_s() -> None:
    schema = {"properties": {"a": {"type": ["null", "string"]}, "b": {"type": ["integer", "string"]}}}
    assert walked(schema, {"a": "x", "b": 1})[1] == [("$.a", "STRING"), ("$.b", "INT")]


def test_a_condition_changes_nothing_and_refuses() -> None:
    schema, value = {"properties": {"a": STRING}}, {"a": "x"}
    assert apply_to(schema, value, lambda *_: True, kind=RuleKind.CONDITION) == value
    with pytest.raises(RuleConditionError):
        apply_to(schema, value, lambda *_: False, kind=RuleKind.CONDITION)


@pytest.mark.parametrize("schema", [True, {}, {"type": "array"}, {"properties": None}])
def test_properties_outside_the_schema_stay(schema: Any) -> None:
    assert walked(schema, {"a": [1]}) == ({"a": [1]}, [])
    assert walked(schema, None) == (None, [])


NAMED = {"properties": {"n": STRING}}


def applied(schema: Any, value: Any) -> Any:
    """The value with every string doubled: one that is transformed twice shows."""
    return apply_to(schema, value, lambda ctx, field, value: value * 2 if isinstance(value, str) else value)


def tagged(*tags: str) -> dict[str, Any]:
    return {**STRING, "confluent:tags": list(tags)}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"patternProperties": {"^a": STRING}}, id="pattern"),
        pytest.param({"additionalProperties": STRING}, id="additional"),
        pytest.param({"unevaluatedProperties": STRING}, id="unevaluated"),
        pytest.param({"$ref": "#/$defs/node", "properties": {"ab": STRING}}, id="beside a reference"),
        pytest.param({"allOf": [{"properties": {"ab": STRING}}], "properties": {"ab": {}}}, id="named twice"),
        pytest.param({"if": {"required": ["ab"]}, "then": {"properties": {"ab": STRING}}}, id="then"),
        pytest.param({"if": {"required": ["x"]}, "else": {"properties": {"ab": STRING}}}, id="else"),
        pytest.param({"dependentSchemas": {"ab": {"properties": {"ab": STRING}}}}, id="dependent"),
        pytest.param({"anyOf": [{"required": ["x"]}, {"properties": {"ab": STRING}}]}, id="any"),
        pytest.param({"oneOf": [{"properties": {"ab": STRING}}, {"required": ["x"]}]}, id="one"),
    ],
)
def test_a_property_named_by_several_keywords_is_transformed_once(schema: dict[str, Any]) -> None:
    assert applied(schema, {"ab": "v"}) == {"ab": "vv"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"items": NAMED}, ["aa", "bb"], id="all"),
        pytest.param({"prefixItems": [NAMED]}, ["aa", "b"], id="the first, and none of the others"),
        pytest.param({"prefixItems": [NAMED], "items": NAMED}, ["aa", "bb"], id="the first, and the others"),
        pytest.param({"items": [NAMED], "additionalItems": NAMED}, ["aa", "bb"], id="as older drafts say it"),
        pytest.param({"items": [True, NAMED]}, ["a", "bb"], id="a schema that is just true"),
    ],
)
def test_items_by_their_place(schema: dict[str, Any], expected: list[str]) -> None:
    outer = {"properties": {"l": {**schema, "type": "array"}}}
    items = [{"n": "a"}, {"n": "b"}]
    assert applied(outer, {"l": items}) == {"l": [{"n": item} for item in expected]}
    assert applied(outer, {"l": tuple(items)}) == {"l": [{"n": item} for item in expected]}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"ssn": {"confluent:tags": ["PII"]}}},
        {"properties": {"ssn": {"allOf": [tagged("PII")]}}},
        {"allOf": [{"properties": {"ssn": tagged("PII")}}, {"properties": {"ssn": STRING}}]},
    ],
    ids=["no type", "in a part", "in one of two"],
)
def test_a_tag_counts_wherever_it_stands(schema: dict[str, Any]) -> None:
    made, seen = walked(schema, {"ssn": "abc"}, tags=["PII"])
    assert made == {"ssn": "ABC"}
    assert seen == [("$.ssn", "STRING")]


def test_too_deep_values_are_refused_and_not_left_untransformed() -> None:
    value: dict[str, Any] = {"id": "x"}
    for _ in range(600):
        value = {"next": value}
    with pytest.raises(RuleError, match="nested deeper than 250 levels"):
        applied({"$ref": "#/$defs/node"}, value)


def test_a_value_to_which_too_many_schemas_apply_is_refused() -> None:
    parts = [{"properties": {"a": STRING}} for _ in range(10_001)]
    with pytest.raises(RuleError, match="more than 10000 schemas"):
        applied({"allOf": parts}, {"a": "x"})
