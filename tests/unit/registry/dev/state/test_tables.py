from __future__ import annotations

import pytest

from registry.dev.state.tables import Journal, Row, Table


@pytest.fixture
def table() -> Table[int]:
    return Table("numbers", Journal(), lambda value: [value], lambda value: value[0])


def journal(table: Table[int]) -> Journal:
    return table._journal


def test_changed_rows_are_what_they_are_now(table: Table[int]) -> None:
    table[("a", 1)] = 1
    table[("a", 1)] = 2
    table[("b", 1)] = 3
    del table[("b", 1)]
    assert journal(table).rows() == [Row("numbers", '["a", 1]', "[2]"), Row("numbers", '["b", 1]', None)]
    journal(table).clear()
    assert not journal(table)


def test_undo_puts_back_what_was_first(table: Table[int]) -> None:
    table[("a",)] = 1
    journal(table).clear()
    table[("a",)] = 2
    table[("b",)] = 3
    table.pop(("a",))
    assert table.pop(("none",)) is None
    journal(table).undo()
    assert table.items() == [(("a",), 1)]
    assert not journal(table)


def test_rows_are_read_back(table: Table[int]) -> None:
    table.load('["ä", 7]', "[5]")
    assert table[("ä", 7)] == 5
    assert ("ä", 7) in table
    assert list(table) == [("ä", 7)]
    assert len(table) == 1
    assert not journal(table)
