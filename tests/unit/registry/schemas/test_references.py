from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.limits import MAX_REFERENCES
from registry.schemas.references import resolve_all


def to(*subjects: str) -> list[SchemaReference]:
    return [SchemaReference(subject, subject, 1) for subject in subjects]


def names(schema: Schema, table: dict[str, Schema]) -> list[str]:
    return [found.schema_str for _, found in resolve_all(schema, lambda reference: table[reference.subject])]


def test_none() -> None:
    assert resolve_all(Schema("a"), None) == []


def test_diamond_is_visited_once_and_users_come_after_used() -> None:
    table = {"b": Schema("b", references=to("d")), "c": Schema("c", references=to("d")), "d": Schema("d")}
    assert names(Schema("a", references=to("b", "c")), table) == ["d", "b", "c"]


def test_cycle() -> None:
    table = {"b": Schema("b", references=to("c")), "c": Schema("c", references=to("b"))}
    with pytest.raises(InvalidSchemaError, match="cycle through 'b' version 1"):
        names(Schema("a", references=to("b")), table)


def test_deep_chain_needs_no_deep_stack() -> None:
    table = {str(at): Schema(str(at), references=to(str(at + 1))) for at in range(MAX_REFERENCES - 1)}
    table[str(MAX_REFERENCES - 1)] = Schema("end")
    assert len(names(Schema("a", references=to("0")), table)) == MAX_REFERENCES


def test_too_many() -> None:
    table = {str(at): Schema(str(at), references=to(str(at + 1))) for at in range(MAX_REFERENCES + 2)}
    with pytest.raises(InvalidSchemaError, match="more than 1000"):
        names(Schema("a", references=to("0")), table)


def test_without_resolver() -> None:
    with pytest.raises(InvalidSchemaError, match="nothing resolves it"):
        resolve_all(Schema("a", references=to("b")), None)


def labels(schema: Schema, table: dict[tuple[str, int], Schema]) -> tuple[list[str], int]:
    """Names with the texts they stand for, and how often the resolver was asked."""
    asked = []

    def resolve(reference: SchemaReference) -> Schema:
        asked.append(reference)
        return table[reference.subject, reference.version]

    return [f"{reference.name}={found.schema_str}" for reference, found in resolve_all(schema, resolve)], len(asked)


def test_the_first_reference_of_a_name_counts() -> None:
    table = {("b", 1): Schema("b1", references=[SchemaReference("c", "c", 1)]), ("c", 1): Schema("c1")}
    table["c", 2] = Schema("c2")
    schema = Schema("a", references=[SchemaReference("b", "b", 1), SchemaReference("c", "c", 2)])
    assert labels(schema, table) == (["c=c1", "b=b1"], 2)


@pytest.mark.parametrize(
    ("kind", "expected"), [("AVRO", ["x=b1"]), ("JSON", ["x=b1", "y=b1"]), ("PROTOBUF", ["x=b1", "y=b1"])]
)
def test_one_place_under_two_names(kind: str, expected: list[str]) -> None:
    references = [SchemaReference("x", "b", 1), SchemaReference("y", "b", 1)]
    assert labels(Schema("a", kind, references), {("b", 1): Schema("b1", kind)}) == (expected, 1)


def test_a_place_may_be_used_again_after_it_is_done() -> None:
    table = {
        ("b", 1): Schema("b1", "JSON", [SchemaReference("d", "d", 1)]),
        ("c", 1): Schema("c1", "JSON", [SchemaReference("d2", "d", 1)]),
        ("d", 1): Schema("d1", "JSON"),
    }
    schema = Schema("a", "JSON", [SchemaReference("b", "b", 1), SchemaReference("c", "c", 1)])
    assert labels(schema, table) == (["d=d1", "b=b1", "d2=d1", "c=c1"], 3)
