from __future__ import annotations

import json

import pytest

from kserdes.cli.schema.diff.comparing import Row, compare, layout
from kserdes.cli.schema.diff.sides import Side
from kserdes.cli.shell.unusable import Unusable
from registry.models import Schema, SchemaReference
from tests.unit.kserdes.cli.schema.helpers import record


def side(label: str, schema: object, kind: str = "AVRO", references: tuple[SchemaReference, ...] = ()) -> Side:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    money = Schema(json.dumps(record("Money", f"{label}:int")))
    return Side(label, Schema(text, kind, references), lambda item: item.subject == label, lambda item: money)


OLD = side("old", record("O", "a:int", "b:string"))


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        (["a:int", "b:string"], "FULL"),
        (["a:long", "b:string"], "BACKWARD"),
        (["a:int", "b:string", "c:int"], "FORWARD"),
        (["a:long", "b:string", "c:int"], "NONE"),
    ],
)
def test_the_verdict_goes_both_ways(fields: list[str], level: str) -> None:
    found = compare(OLD, side("new", record("O", *fields)))
    assert found.level == level
    assert found.same == (level == "FULL")


def test_texts_are_laid_out_alike_before_they_are_compared() -> None:
    loose = json.dumps(record("O", "a:int", "b:string"), indent=7)
    assert compare(OLD, side("new", loose)).same


def test_rows_are_side_by_side() -> None:
    rows = compare(side("old", '{"type": "int"}'), side("new", '{"type": "long", "x": 1}')).rows
    assert list(rows) == [
        Row(" ", (1, "{"), (1, "{")),
        Row("~", (2, '  "type": "int"'), (2, '  "type": "long",')),
        Row("+", None, (3, '  "x": 1')),
        Row(" ", (3, "}"), (4, "}")),
    ]


def test_references_of_both_sides_are_kept_apart() -> None:
    order = record("O", "m:Money")
    old = side("old", order, references=(SchemaReference("Money", "old", 1),))
    new = side("new", order, references=(SchemaReference("Money", "new", 1),))
    assert [item.kind for item in compare(old, new).backward] == ["READER_FIELD_MISSING_DEFAULT_VALUE"]


def test_an_invalid_schema_is_named() -> None:
    with pytest.raises(Unusable, match=r"^new: "):
        compare(OLD, side("new", {"type": "record", "name": "O"}))
    with pytest.raises(Unusable, match=r"^old: "):
        compare(side("old", {"type": "record", "name": "O"}), OLD)


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        (Schema("message A {\n}", "PROTOBUF"), ["message A {", "}"]),
        (Schema("string"), ["string"]),
        (Schema('["a",\n"ä"]'), ["[", '  "a",', '  "ä"', "]"]),
        (Schema("[" * 100_000), ["[" * 100_000]),
    ],
)
def test_layout(schema: Schema, lines: list[str]) -> None:
    assert layout(schema) == lines
