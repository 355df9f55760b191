from __future__ import annotations

import json

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.compat import CompatibilityResult, check


def schema(*names: str, optional: str = "") -> Schema:
    fields = [{"name": name, "type": "int"} | ({"default": 0} if name in optional else {}) for name in names]
    return Schema(json.dumps({"type": "record", "name": "R", "fields": fields}))


A, AB, AB_OPTIONAL = schema("a"), schema("a", "b"), schema("a", "b", optional="b")


@pytest.mark.parametrize(
    ("level", "candidate", "compatible"),
    [
        ("NONE", Schema('"string"'), True),
        ("BACKWARD", A, True),
        ("BACKWARD", schema("a", "b", "c"), False),
        ("FORWARD", schema("a", "b", "c"), True),
        ("FORWARD", A, False),
        ("FULL", AB, True),
        ("FULL", A, False),
        ("FULL", schema("a", "b", "c", optional="c"), True),
    ],
)
def test_levels(level: str, candidate: Schema, compatible: bool) -> None:
    assert check(candidate, [AB], level).compatible is compatible
    assert check(candidate, [AB], level.lower()).compatible is compatible


@pytest.mark.parametrize(
    ("level", "compatible"),
    [
        ("BACKWARD", True),
        ("BACKWARD_TRANSITIVE", False),
        ("FORWARD", True),
        ("FORWARD_TRANSITIVE", True),
        ("FULL_TRANSITIVE", False),
    ],
)
def test_transitive_levels_look_at_all_versions(level: str, compatible: bool) -> None:
    result = check(AB, [A, AB_OPTIONAL], level)
    assert result.compatible is compatible
    assert bool(result) is compatible
    assert {item.version for item in result.differences} == (set() if compatible else {1})


def test_the_version_compared_with_is_named() -> None:
    (difference,) = check(AB, [AB, A]).differences
    assert difference.version == 2
    assert "registered schema 2" in difference.message


def test_nothing_registered_yet() -> None:
    assert check(A, []) == CompatibilityResult()


def test_another_format_is_never_compatible() -> None:
    result = check(A, [Schema("{}", "JSON")])
    assert [item.kind for item in result.differences] == ["SCHEMA_TYPE_MISMATCH"]


def test_unknown_types_say_so() -> None:
    with pytest.raises(InvalidSchemaError, match="schema type 'XML' is unknown: AVRO, JSON, PROTOBUF"):
        check(Schema("{}", "XML"), [Schema("{}", "XML")])


def test_an_error_says_which_schema_can_not_be_parsed() -> None:
    with pytest.raises(InvalidSchemaError, match="the new schema: Avro schema is not JSON"):
        check(Schema("{"), [AB])
    with pytest.raises(InvalidSchemaError, match="registered schema 2: Avro schema is not JSON"):
        check(AB, [AB, Schema("{")])


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="'SIDEWAYS' is unknown: NONE, BACKWARD"):
        check(A, [AB], "SIDEWAYS")
    with pytest.raises(ValueError, match="policy"):
        check(A, [AB], policy="SOFT")


def test_references_of_both_sides_are_resolved() -> None:
    def using(version: int) -> Schema:
        fields = [{"name": "b", "type": "x.B"}]
        text = json.dumps({"type": "record", "name": "R", "fields": fields})
        return Schema(text, references=[SchemaReference("x.B", "b", version)])

    def resolve(reference: SchemaReference) -> Schema:
        kind = "int" if reference.version == 1 else "string"
        return Schema(json.dumps({"type": "record", "name": "x.B", "fields": [{"name": "v", "type": kind}]}))

    assert check(using(1), [using(1)], resolve=resolve).compatible
    (difference,) = check(using(2), [using(1)], resolve=resolve).differences
    assert difference.path == "/fields/0/type/fields/0/type"
