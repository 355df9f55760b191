from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from serdes import SerializationError
from serdes.formats.json.validator import NARROWING_STEPS, WORDING_STEPS, Engine, check_schema
from tests.patience import PROCESS_S

NEWEST = "https://json-schema.org/draft/2020-12/schema"


def engine(schema: Any, **others: Any) -> Engine:
    return Engine(schema, others)


def fault(schema: Any, value: Any) -> tuple[str | None, str]:
    made = engine(schema)
    assert not made.is_valid(value)
    error = made.error(value)
    return error.path, error.reason


@pytest.mark.parametrize(
    ("schema", "value", "path", "reason"),
    [
        ({"type": ["string", "null"]}, 5, "", "an integer where null or string is needed"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5.5, "", "a number where string or null is needed"),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"a": {"items": {"type": "string"}}}, "type": "object"}]},
            {"a": ["x", 5]},
            "a[1]",
            "an integer where string is needed",
        ),
        ({"oneOf": [{"minimum": 1}, {}]}, 5, "", "an integer that fits more than one alternative of 'oneOf'"),
        ({"anyOf": [{"minimum": 7}, {"maximum": 1}]}, 5, "", "an integer that fits no alternative of 'anyOf'"),
        ({"not": {"const": "SECRET"}}, "SECRET", "", "a string that breaks 'not'"),
        ({"uniqueItems": True}, ["SECRET", "SECRET"], "", "an array that breaks 'uniqueItems'"),
        ({"contains": {"type": "null"}}, ["SECRET"], "", "an array that breaks 'contains'"),
        ({"propertyNames": {"maxLength": 3}}, {"abcd": 1}, "", "an object that breaks 'propertyNames'"),
        ({"dependencies": {"a": ["b"]}}, {"a": "SECRET"}, "", "'b' is a required property"),
        ({"multipleOf": 2}, 3, "", "an integer that breaks 'multipleOf': 2"),
        ({"format": "date"}, "SECRET", "", "a string that breaks 'format': \"date\""),
        ({"format": "iri"}, "SECRET {}", "", "a string that breaks 'format': \"iri\""),
        ({"contentEncoding": "base64"}, "SECRET!", "", "a string that breaks 'contentEncoding': \"base64\""),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"b": "SECRET"},
            "",
            "it has properties that the schema does not allow: 'b'",
        ),
        ({"additionalProperties": False}, {"b": "SECRET"}, "", "it has properties that the schema does not allow"),
        (False, "SECRET", "", "the schema allows no value here"),
        ({"if": True, "then": {"maxLength": 2}}, "SECRET", "", "a string that breaks 'maxLength': 2"),
    ],
)
def test_errors_are_worded_without_values(schema: Any, value: Any, path: str, reason: str) -> None:
    assert fault(schema, value) == (path, reason)


def test_names_of_surplus_properties_are_cut() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    assert fault(schema, {"x" * 500: 1})[1] == f"it has properties that the schema does not allow: {'x' * 80!r}"
    both = fault({"properties": {"a": {}}, "unevaluatedProperties": False, "$schema": NEWEST}, {"b": 1, "c": 2})[1]
    assert both == "it has properties that the schema does not allow: 'b', 'c'"


def test_a_pattern_that_no_engine_can_run_in_linear_time_has_a_bound() -> None:
    made = engine({"pattern": r"^(?:(a|aa)\1?)+$"})
    assert made.is_valid("aaaa")
    assert fault({"pattern": r"^(?=a)(a|aa)+\1b"}, "a" * 5000)[1] in (
        "a string that the schema's pattern needs more than 100000 steps for",
        "a string that breaks 'pattern': \"^(?=a)(a|aa)+\\\\1b\"",
    )
    with pytest.raises(SerializationError, match=r"the JSON Schema is not valid at (pattern|its root): "):
        engine({"pattern": "(?<a"})


ROW = {
    "allOf": [{"properties": {"a~/b": {"items": {"type": "string"}}}}],
    "additionalProperties": {"$ref": "#/definitions/row"},
}
LARGE = {"type": "array", "items": {"$ref": "#/definitions/row"}, "definitions": {"row": ROW}}


def test_in_a_large_value_the_failing_part_is_looked_for_first() -> None:
    rows: list[Any] = [{"a~/b": ["x"], "more": {"n": 1}} for _ in range(NARROWING_STEPS // 10)]
    rows[400] = {"more": {"a~/b": ["x"] * 50 + [5]}}
    assert fault(LARGE, rows) == ("[400].more.a~/b[50]", "an integer where string is needed")
    inside = {**LARGE, "items": {"oneOf": [{"items": LARGE["items"]}, {"type": "string"}]}}
    assert fault(inside, [rows]) == ("[0]", "the value does not fit the schema here")
    flat = [5] * 50 * WORDING_STEPS
    assert fault({"oneOf": [{"items": {"type": "string"}}, {"items": {"type": "boolean"}}]}, flat) == (
        "",
        "the value does not fit the schema here",
    )
    assert fault({"items": {"type": "string"}}, flat) == ("[0]", "an integer where string is needed")
    assert fault({"uniqueItems": True}, flat)[1] == "the value does not fit the schema here"
    late = {"items": {"type": "integer"}}
    assert fault(late, [*flat, "x"])[1] == "the value does not fit the schema here"  # it stands too far behind


def test_wording_never_costs_more_than_a_bounded_number_of_steps() -> None:
    """Each of these took minutes or for ever when sentences were made by trying all alternatives in Python."""
    code = """
import json, sys
from serdes.formats.json.validator import Engine
tree = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"k": {"items": {"$ref": "#"}}}}]}
value = 5
for _ in range(120):
    value = {"k": [value, "x" * 1000]}
cases = [
    ({"properties": {"s": {"pattern": "^(a+)+$"}}}, {"s": "a" * 5000 + "!"}),
    ({"patternProperties": {"^(a+)+$": {"type": "string"}}, "additionalProperties": False}, {"a" * 5000 + "!": 1}),
    ({"propertyNames": {"pattern": "^(a|a)*$"}}, {"a" * 5000 + "!": 1}),
    ({"uniqueItems": True}, [{"a": i} for i in range(20000)] + [{"a": 19999}]),
    ({"enum": [[{"a": i} for i in range(2000)]]}, [{"a": i} for i in range(2001)]),
    ({"pattern": r"^(?=a)(?:(a|aa)+)+$"}, "a" * 5000 + "!"),
    ({"oneOf": [{"items": {"type": "string"}}] * 5}, [5] * 100000),
    ({"items": {"type": "string"}}, [5] * 100000),
    (tree, value),
]
for schema, value in cases:
    engine = Engine(schema, {})
    assert not engine.is_valid(value)
    print(engine.error(value).reason)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=True)
    assert len(run.stdout.splitlines()) == 9


def test_references_relative_to_the_schema_s_id_are_found() -> None:
    """Registries resolve the names of references against the `$id`."""
    schema = {"$id": "http://shop.example/schemas/order.json", "properties": {"a": {"$ref": "part.json"}}}
    made = engine(schema, **{"part.json": {"type": "string"}})
    assert made.is_valid({"a": "x"})
    assert not made.is_valid({"a": 5})


def test_schemas_of_schemas_and_unknown_dialects() -> None:
    assert not engine({"$ref": "http://json-schema.org/draft-07/schema#"}).is_valid({"type": 5})
    assert not engine({"$schema": "http://shop.example/own", "type": "string"}).is_valid(5)
    assert engine(True).is_valid(5)
    with pytest.raises(SerializationError, match="of a draft that is not supported"):
        engine({"$schema": "http://json-schema.org/draft-03/schema#"})
    for schema in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}):
        assert engine(schema).is_valid(5)


def test_a_schema_that_is_none_is_refused_with_its_path() -> None:
    with pytest.raises(SerializationError, match=r"is not valid at \$\.properties\.x\.type: "):
        check_schema({"properties": {"x": {"type": "text"}}})
    deep: Any = {}
    for _ in range(5000):
        deep = {"not": deep}
    with pytest.raises(SerializationError, match="nested too deeply"):
        check_schema(deep)


def test_parts_are_judged_where_they_stand() -> None:
    """Rules choose among alternatives with this; `$ref`s inside a part are relative to its document."""
    schema = json.loads(
        '{"oneOf":[{"$ref":"#/definitions/a b~1c"},{"$ref":"p.json#/definitions/n"},true],'
        '"definitions":{"a b/c":{"items":{"$ref":"#/definitions/x"}},"x":{"pattern":"^(a+)+$"}}}'
    )
    part = {"definitions": {"n": {"properties": {"k": {"$ref": "#/definitions/t"}}}, "t": {"type": "null"}}}
    made = engine(schema, **{"p.json": part})
    for _ in range(2):
        assert made.part_is_valid(schema["definitions"]["a b/c"], ["aa"])
        assert not made.part_is_valid(schema["definitions"]["a b/c"], ["a" * 3000 + "!"])
        assert not made.part_is_valid(part["definitions"]["n"], {"k": 5})
        assert made.part_is_valid(schema["oneOf"][2], 5)
        assert not made.part_is_valid(schema["oneOf"][1], {"k": 5})
        assert not made.part_is_valid({"type": "string"}, 5)
