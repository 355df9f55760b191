"""The kernel's tables: what is not sound does not come to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from registry import Schema
from serdes.columnar.contract import ColumnOptions
from serdes.columnar.protobuf.lowered import LoweredTree
from serdes.columnar.protobuf.plan import plan
from serdes.formats.protobuf.codec import load
from serdes.kernels import IMPL
from serdes.kernels.protobuf_columns import Store

TEXT = """syntax = "proto3"; import "google/protobuf/struct.proto"; enum E { A = 0; B = 5; }
message M { int32 n = 2; repeated In many = 1; map<string, In> by_name = 3; E e = 4; oneof o { In one = 5; bool b = 6; }
  google.protobuf.Value v = 7; } message In { string s = 1; sint64 z = 2; }"""


def lowered(**options: Any) -> LoweredTree:
    schema = load(Schema(TEXT, "PROTOBUF"))
    return LoweredTree(plan(schema, schema, ColumnOptions(**options)).reader.tree)


def rows(table: bytes, parts: int) -> list[list[int]]:
    """The parts of a table's rows, each with those of all rows."""
    found = memoryview(table).cast("i").tolist()
    return [found[part::parts] for part in range(parts)]


def test_fields_columns_and_slots_name_each_other() -> None:
    made = lowered()
    root, *others = made.verify().messages()
    assert rows(root[3], 19)[0] == rows(root[3], 19)[16] == [1, 2, 3, 4, 5, 6, 7]
    assert len(others) == 4
    scopes, columns = made.scopes(), [rows(facts, 7) for facts, _ in made.columns()]
    assert sorted([0, *(column for _, listed in scopes for column in listed)]) == [*range(len(columns))]
    assert made.symbols() == [(False, [0, 5], [b"A", b"B"])]
    assert made.json_columns == [
        (columns.index(next(row for row in columns if row[3] == [21])), "google.protobuf.Value", "v")
    ]
    assert [row[0] for row in columns].count([Store.CASE]) == 1


def test_fields_that_are_not_read_have_no_column() -> None:
    made = lowered(columns=("n",)).verify()
    assert len(made.columns()) == 3  # the row, n, and which member of the oneof is set
    assert [column >= 0 for column in rows(made.messages()[0][3], 19)[12]] == [
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]


BREAKS: list[Callable[[LoweredTree], Any]] = [
    lambda made: setattr(made._columns[1], "scope", 9),
    lambda made: setattr(made._columns[1], "child_scope", 1),
    lambda made: made._columns[0].children.append(0),
    lambda made: made._columns[0].children.append(99),
    lambda made: setattr(made._columns[1], "symbols", 0),
    lambda made: setattr(made._messages[0].fields[0], "holder", 3),
    lambda made: setattr(made._messages[0].fields[0], "message", 1),
    lambda made: setattr(made._messages[0].fields[1], "message", 0),
    lambda made: setattr(made._messages[1], "scope", 0),
    lambda made: setattr(made._messages[1].fields[0], "column", 1),
    lambda made: setattr(made._messages[0].fields[3], "symbols", 1),
    lambda made: setattr(made._messages[0].fields[4], "case_column", 4),
]


@pytest.mark.parametrize("defect", BREAKS)
def test_tables_that_are_not_sound_are_refused(defect: Callable[[LoweredTree], Any]) -> None:
    made = lowered()
    defect(made)
    with pytest.raises(ValueError, match=r"that (are|is) not (its own|there)"):
        made.verify()


@pytest.mark.skipif(IMPL != "native", reason="the compiled kernels are not in use")
def test_a_reader_is_made_of_something() -> None:
    from serdes.kernels.native.protobuf_columns import ColumnReader

    with pytest.raises(ValueError, match="no message"):
        ColumnReader([], [], [], [], False)
