from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.references import MAX_REFERENCES, resolve_all


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
