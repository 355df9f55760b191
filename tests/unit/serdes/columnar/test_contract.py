from __future__ import annotations

from typing import Any

import pytest

from serdes.columnar.contract import ColumnOptions


@pytest.mark.parametrize(
    "wrong",
    [
        {"unions": "sparse"},
        {"enums": "value"},
        {"recursive_max_depth": -1},
        {"max_row_bytes": 0},
        {"max_empty_items": -1},
        {"columns": "id"},
        {"columns": ()},
    ],
)
def test_options_are_checked_when_they_are_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ColumnOptions(**wrong)


def test_options_name_plans() -> None:
    assert hash(ColumnOptions(columns=("a.b",))) == hash(ColumnOptions(columns=("a.b",)))
