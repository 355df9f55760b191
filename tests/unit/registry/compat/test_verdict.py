from __future__ import annotations

import json
import pickle

import pytest

from registry import ConfigCompatibilityLevel, InvalidSchemaError, Metadata, Schema, SchemaReference
from registry.compat import AvroKind, CompatibilityResult, Difference, Level, Roles, check, same_group


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


def test_forward_messages_say_what_the_new_schema_can_do() -> None:
    (difference,) = check(A, [AB], "FORWARD").differences
    assert difference.message == (
        "/fields/1 of registered schema 1: field 'b' of R has no default and is not in the new schema, "
        "so registered schema 1 can't read data of the new schema; to be compatible, keep the field 'b'"
    )


def test_differences_of_both_directions_and_all_versions_are_reported() -> None:
    result = check(schema("c"), [A, AB], "FULL_TRANSITIVE")
    assert [(item.version, item.path, " of the new schema:" in item.message) for item in result.differences] == [
        (1, "/fields/0", True), (1, "/fields/0", False),
        (2, "/fields/0", True), (2, "/fields/0", False), (2, "/fields/1", False),
    ]  # fmt: skip


def test_none_parses_nothing() -> None:
    assert check(Schema("{"), [Schema("}")], "NONE").compatible


def test_the_policy_is_taken_in_any_case() -> None:
    assert check(A, [AB], policy="lenient").compatible


def test_a_compatibility_group_compares_its_own_versions() -> None:
    def tagged(text: str, value: str | None) -> Schema:
        metadata = Metadata(properties={} if value is None else {"major": value})
        return Schema(text, metadata=metadata)

    one, two, none, bare = tagged("1", "1"), tagged("2", "2"), tagged("3", None), Schema("4")
    registered = [one, two, none, bare, one]
    assert same_group(tagged("5", "1"), registered, "major") == [one, one]
    assert same_group(tagged("5", "3"), registered, "major") == []
    assert same_group(Schema("5"), registered, "major") == [none, bare]


# ---- difference


def test_differences_are_values() -> None:
    difference = Difference(AvroKind.TYPE_MISMATCH.value, "/fields/0", "it changed", 3)
    assert difference == Difference("TYPE_MISMATCH", "/fields/0", "it changed", 3)
    assert difference != Difference("TYPE_MISMATCH", "/fields/0", "it changed", 4)
    assert len({difference, pickle.loads(pickle.dumps(difference))}) == 1


def test_a_sentence_says_where_what_who_and_what_helps_whose_author_reads_it() -> None:
    parts = ("/a", "it is gone", "bring it back", "keep it")
    assert Roles("the new schema", "schema 1").sentence(*parts) == (
        "/a of the new schema: it is gone, so the new schema can't read data of schema 1; "
        "to be compatible, bring it back"
    )
    assert Roles("schema 1", "the new schema", candidate_reads=False).sentence(*parts).endswith("compatible, keep it")


# ---- levels


def test_names_in_any_case() -> None:
    assert Level.of("full_transitive") is Level.FULL_TRANSITIVE
    with pytest.raises(ValueError, match="'SIDEWAYS' is unknown: NONE, BACKWARD"):
        Level.of("SIDEWAYS")


@pytest.mark.parametrize(
    ("level", "backward", "forward", "transitive"),
    [
        (Level.NONE, False, False, False),
        (Level.BACKWARD, True, False, False),
        (Level.BACKWARD_TRANSITIVE, True, False, True),
        (Level.FORWARD, False, True, False),
        (Level.FORWARD_TRANSITIVE, False, True, True),
        (Level.FULL, True, True, False),
        (Level.FULL_TRANSITIVE, True, True, True),
    ],
)
def test_directions(level: Level, backward: bool, forward: bool, transitive: bool) -> None:
    assert (level.backward, level.forward, level.transitive) == (backward, forward, transitive)


def test_the_registrys_names_are_the_engines() -> None:
    assert {level.value for level in Level} == {level.value for level in ConfigCompatibilityLevel}
