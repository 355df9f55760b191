from __future__ import annotations

import json
from typing import Any

import pytest

from registry.compat import check
from registry.compat.difference import Roles
from registry.compat.json import compare as json_compare
from registry.compat.json.compare import Comparison, Path
from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.schemas.json.format import parse
from registry.schemas.json.model import Node, NodeKind, StringNode


def schema(document: Any) -> Schema:
    return Schema(document if isinstance(document, str) else json.dumps(document), "JSON", [])


def kinds(writer: Any, reader: Any) -> list[str]:
    return [item.kind for item in check(schema(reader), [schema(writer)]).differences]


def test_paths() -> None:
    path = Path(Path(Path(), ("properties", "a/b")), ("items",))
    assert (str(Path()), str(path)) == ("#/", "#/properties/a~1b/items")
    for at in range(1_000):
        path = Path(path, (str(at),))
    assert "/…/" in str(path)
    assert len(str(path)) < 1_500


def test_pairs_compatible_by_assumption_are_compared_again() -> None:
    def document(leaf: str) -> Any:
        # b is met while a is compared, and is compatible only if a is
        a = {"properties": {"b": {"$ref": "#/definitions/b"}, "leaf": {"type": leaf}}, "additionalProperties": False}
        b = {"properties": {"a": {"$ref": "#/definitions/a"}}, "additionalProperties": False}
        return {
            "properties": {
                "first": {"anyOf": [{"$ref": "#/definitions/a"}, {"type": "null"}]},
                "second": {"anyOf": [{"$ref": "#/definitions/b"}, {"type": "null"}]},
            },
            "definitions": {"a": a, "b": b},
        }

    assert kinds(document("string"), document("string")) == []
    found = check(schema(document("integer")), [schema(document("string"))]).differences
    assert [item.path for item in found] == ["#/properties/first", "#/properties/second"]


def test_assumptions_of_a_failed_branch_are_dropped() -> None:
    def document(leaf: str, first: Any) -> Any:
        a = {"properties": {"b": {"$ref": "#/definitions/b"}, "leaf": {"type": leaf}}}
        b = {"properties": {"a": {"$ref": "#/definitions/a"}}}
        return {"properties": {"first": first, "second": {"$ref": "#/definitions/b"}}, "definitions": {"a": a, "b": b}}

    a = {"$ref": "#/definitions/a"}
    writer, reader = document("string", a), document("null", {"anyOf": [a, {}]})
    found = check(schema(reader), [schema(writer)]).differences
    assert [item.path for item in found] == ["#/properties/second/properties/a/properties/leaf"]


def test_a_pair_is_shown_where_it_is_met_first() -> None:
    def document(leaf: str) -> Any:
        return {
            "properties": {"x": {"$ref": "#/definitions/t"}, "y": {"$ref": "#/definitions/t"}},
            "definitions": {"t": {"type": leaf}},
        }

    found = check(schema(document("null")), [schema(document("string"))]).differences
    assert [item.path for item in found] == ["#/properties/x"]


def test_the_policy_holds_inside_branches_too() -> None:
    def document(*names: str) -> Any:
        inner = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        return {"oneOf": [inner, {"type": "null"}]}

    assert kinds(document("a"), document("a", "b")) == ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]
    assert check(schema(document("a", "b")), [schema(document("a"))], policy="LENIENT").compatible


def test_kinds_of_nodes() -> None:
    comparison = Comparison(Roles(), "STRICT")
    null, empty, true, false = (Node(kind) for kind in (NodeKind.NULL, NodeKind.EMPTY, NodeKind.TRUE, NodeKind.FALSE))
    assert comparison.compatible(null, empty)
    assert comparison.compatible(empty, true)
    assert comparison.compatible(false, null)
    assert not comparison.compatible(true, null)
    assert not comparison.compatible(empty, false)
    assert comparison.compatible(Node(NodeKind.CONDITIONAL), Node(NodeKind.CONDITIONAL))
    assert not comparison.compatible(StringNode(), null)


# --- input made to be costly


def nested(depth: int, word: str, leaf: str) -> str:
    return f'{{"{word}":' * depth + leaf + "}" * depth


@pytest.mark.parametrize("word", ["not", "items", "additionalProperties", "if"])
def test_deep_nesting(word: str) -> None:
    with pytest.raises(InvalidSchemaError, match="nested deeper than 1000 levels"):
        check(schema(nested(10_000, word, "{}")), [schema("{}")])
    deep = schema(nested(990, word, '{"type":"string"}'))
    assert check(deep, [deep]).compatible
    other = check(schema(nested(990, word, '{"type":"null"}')), [deep])
    assert other.compatible is (word == "if")
    assert all(len(item.message) < 5_000 for item in other.differences)


def test_cycles_of_references() -> None:
    cycle = {"$ref": "#/d/a", "d": {"a": {"$ref": "#/d/b"}, "b": {"$ref": "#/d/a"}}}
    for document in (
        cycle,
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}]},
        {"allOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]},
    ):
        assert kinds(document, document) == []
    assert kinds(cycle, {"type": "string"}) == kinds({"$ref": "#"}, {"type": "string"}) == ["TYPE_CHANGED"]


def test_references_that_meet_again_and_again() -> None:
    def document(leaf: str) -> Any:
        both = [{"properties": {side: {"$ref": f"#/d/{at + 1}"} for side in "lr"}} for at in range(60)]
        return {"$ref": "#/d/0", "d": {**{str(at): item for at, item in enumerate(both)}, "60": {"type": leaf}}}

    assert kinds(document("string"), document("string")) == []
    assert kinds(document("string"), document("null")) == ["TYPE_CHANGED"]


def test_recursive_branches() -> None:
    def document(leaf: str, count: int = 60) -> Any:
        def branch(at: int, number: int) -> Any:
            follow = {"$ref": f"#/d/{(at * 7 + number) % count}"}
            return {"properties": {"kind": {"const": number}, "next": follow}}

        return {
            "$ref": "#/d/0",
            "d": {str(at): {"oneOf": [*(branch(at, n) for n in range(4)), {"type": leaf}]} for at in range(count)},
        }

    assert kinds(document("string"), document("string")) == []
    assert kinds(document("string"), document("null")) == ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]


def test_many_branches() -> None:
    def document(lengths: range) -> Any:
        return {"anyOf": [{"type": "string", "maxLength": length} for length in lengths]}

    assert kinds(document(range(1_000)), document(range(1_000))) == []
    assert kinds(document(range(1_000)), document(range(1_000, 2_000))) == []
    assert kinds(document(range(1_000, 2_000)), document(range(1_000))) == ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]


def test_the_cost_of_a_comparison_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_compare, "MAX_JSON_STEPS", 1_000)

    def document(lengths: range) -> Any:
        return {"anyOf": [{"items": {"maxLength": length}} for length in lengths]}

    with pytest.raises(InvalidSchemaError, match="takes more than 1000 steps"):
        kinds(document(range(100)), document(range(99, -1, -1)))


def test_many_properties() -> None:
    def document(kind: str) -> Any:
        return {"properties": {f"p{at}": {"type": kind} for at in range(20_000)}}

    assert kinds(document("string"), document("string")) == []
    assert len(kinds(document("string"), document("null"))) == 20_000


def test_explosive_patterns() -> None:
    writer = {"properties": {"a" * 3_000 + "!": {"type": "string"}}}
    reader = {"patternProperties": {"^(a+)+$": {"type": "string"}}, "additionalProperties": False}
    assert "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL" in kinds(writer, reader)


@pytest.mark.parametrize("number", ["1e999999999", "9" * 5_000, "1e99999999999999999999", "1" * 1_001 + ".5"])
def test_huge_numbers(number: str) -> None:
    with pytest.raises(InvalidSchemaError):
        parse(schema(f'{{"maximum": {number}}}'), ())


def test_the_last_of_two_members_with_one_name_counts() -> None:
    assert kinds({"type": "integer"}, '{"type": "string", "type": "integer"}') == []
