"""Laws that hold for verdicts in any format: what levels and policies mean in terms of each other."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from registry.compat import Difference, Level, check
from registry.schemas.canonical import canonical_text
from tests.strategies.avro import changed_records, evolutions

LEVELS = [level.value for level in Level]
JSON_TYPES = ["string", "integer", "number", "boolean", ["string", "null"]]
PROTO_TYPES = ["string", "int32", "sint32", "bool", "bytes", "repeated string", "optional int64", "Kind"]


@st.composite
def avro_families(draw: st.DrawFn) -> list[str]:
    """Versions of one record."""
    old, new = draw(evolutions())
    return draw(st.permutations([old.text, new, json.dumps(draw(changed_records(json.loads(new))))]))


@st.composite
def json_objects(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from("abcd"), unique=True))
    node: dict[str, Any] = {
        "type": "object",
        "properties": {n: {"type": draw(st.sampled_from(JSON_TYPES))} for n in names},
    }
    if draw(st.booleans()):
        node["additionalProperties"] = draw(st.booleans())
    if names and draw(st.booleans()):
        node["required"] = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    return json.dumps(node)


@st.composite
def proto_messages(draw: st.DrawFn) -> str:
    numbers = draw(st.lists(st.integers(1, 4), unique=True))
    fields = "".join(f"  {draw(st.sampled_from(PROTO_TYPES))} f{number} = {number};\n" for number in numbers)
    return f'syntax = "proto3";\nmessage M {{\n{fields}  enum Kind {{ A = 0; }}\n}}\n'


def as_schemas(texts: Sequence[str], kind: str) -> list[Schema]:
    return [Schema(text, kind) for text in texts]


FAMILIES = (
    avro_families().map(lambda texts: as_schemas(texts, "AVRO"))
    | st.lists(json_objects(), min_size=2, max_size=4).map(lambda texts: as_schemas(texts, "JSON"))
    | st.lists(proto_messages(), min_size=2, max_size=4).map(lambda texts: as_schemas(texts, "PROTOBUF"))
)
"""Some schemas of one format; the last one is the candidate."""
POLICIES = st.sampled_from(["STRICT", "LENIENT"])


def facts(found: Sequence[Difference]) -> list[tuple[str, str]]:
    return [(item.kind, item.path) for item in found]


@given(FAMILIES, st.sampled_from(LEVELS), POLICIES)
def test_a_schema_is_compatible_with_itself(family: list[Schema], level: str, policy: str) -> None:
    assert check(family[-1], [family[-1]] * 2, level, policy).differences == ()


@given(FAMILIES, POLICIES)
def test_full_is_backward_and_forward(family: list[Schema], policy: str) -> None:
    *old, new = family
    for tail in ("", "_TRANSITIVE"):
        backward, forward, full = (check(new, old, f"{kind}{tail}", policy) for kind in ("BACKWARD", "FORWARD", "FULL"))
        assert sorted(facts(full.differences)) == sorted(facts([*backward.differences, *forward.differences]))


@given(FAMILIES, POLICIES)
def test_forward_is_backward_with_the_roles_swapped(family: list[Schema], policy: str) -> None:
    old, new = family[0], family[-1]
    forward, backward = check(new, [old], "FORWARD", policy), check(old, [new], "BACKWARD", policy)
    assert facts(forward.differences) == facts(backward.differences)


@given(FAMILIES, st.sampled_from(["BACKWARD", "FORWARD", "FULL"]), POLICIES)
def test_transitive_is_each_version_on_its_own(family: list[Schema], level: str, policy: str) -> None:
    *old, new = family
    whole = check(new, old, f"{level}_TRANSITIVE", policy).differences
    for at, schema in enumerate(old, 1):
        alone = check(new, [schema], level, policy).differences
        assert facts([item for item in whole if item.version == at]) == facts(alone)
        assert {item.version for item in alone} <= {1}
    assert check(new, old, level, policy) == check(new, old, level, policy)
    newest = facts(check(new, old, level, policy).differences)
    assert newest == facts([item for item in whole if item.version == len(old)])


@given(FAMILIES, st.sampled_from(LEVELS))
def test_none_and_an_empty_subject_allow_everything(family: list[Schema], level: str) -> None:
    *old, new = family
    assert check(new, old, "NONE").compatible
    assert check(new, [], level).compatible


@given(FAMILIES)
def test_another_format_is_never_compatible(family: list[Schema]) -> None:
    *old, new = family
    foreign = dataclasses.replace(
        new, schema_type="JSON" if new.schema_type == "AVRO" else "AVRO", schema_str='{"type":"int"}'
    )
    result = check(new, [*old, foreign], "BACKWARD")
    assert [item.kind for item in result.differences] == ["SCHEMA_TYPE_MISMATCH"]


@given(FAMILIES, POLICIES)
def test_strict_refuses_all_that_lenient_refuses(family: list[Schema], policy: str) -> None:
    *old, new = family
    if check(new, old, "BACKWARD", "STRICT").compatible:
        assert check(new, old, "BACKWARD", policy).compatible


@given(FAMILIES, st.sampled_from(LEVELS), st.booleans())
def test_the_canonical_text_is_judged_as_the_schema(family: list[Schema], level: str, ordered: bool) -> None:
    """Not so the normalized text of Avro: it has no defaults of the wrong type, which are defaults all the same."""
    normalize = ordered and family[0].schema_type != "AVRO"
    stored = [dataclasses.replace(item, schema_str=canonical_text(item, (), normalize)) for item in family]
    kinds = [sorted(item.kind for item in check(s[-1], s[:-1], level).differences) for s in (family, stored)]
    assert kinds[0] == kinds[1]


@given(FAMILIES, st.sampled_from(LEVELS))
def test_every_difference_is_a_sentence_about_a_place(family: list[Schema], level: str) -> None:
    *old, new = family
    for item in check(new, old, level).differences:
        assert item.kind.isupper()
        assert item.path.startswith(("/", "#"))
        assert len(item.message) > 30
        assert item.version in range(1, len(old) + 1)
