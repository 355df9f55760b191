"""pipeline.source.planning and pipeline.source.filters: how ranges are divided and narrowed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.source.filters import Narrowing
from pipeline.source.planning import divided
from pipeline.source.splits import Split

SPLITS = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(1, 500)).map(lambda both: (both[0], both[0] + both[1])),
    max_size=6,
).map(lambda ranges: [Split("t", number, *both) for number, both in enumerate(ranges)])
BOUND = st.none() | st.integers(1, 40)


@given(SPLITS, BOUND, BOUND)
def test_divided_ranges_hold_every_offset_once(splits: list[Split], least: int | None, most: int | None) -> None:
    parts = divided(splits, least, most)
    assert all(part.start < part.end for part in parts)
    held = [(part.partition, offset) for part in parts for offset in range(part.start, part.end)]
    assert held == [(split.partition, offset) for split in splits for offset in range(split.start, split.end)]
    assert most is None or all(part.end - part.start <= most for part in parts)
    assert len(parts) >= len(splits)


def test_large_ranges_are_divided_and_small_ones_are_not() -> None:
    parts = divided([Split("t", 0, 0, 10), Split("t", 1, 0, 990)], 4, None)
    assert parts == [Split("t", 0, 0, 10), *(Split("t", 1, at, at + 330) for at in (0, 330, 660))]


@pytest.mark.parametrize(("size", "most", "count"), [(100, 10, 10), (101, 10, 11), (5, 10, 1)])
def test_no_task_reads_more_records_than_it_may(size: int, most: int, count: int) -> None:
    assert len(divided([Split("t", 0, 0, size)], None, most)) == count


@dataclass(frozen=True)
class Named:
    """A filter with the name that Spark's has."""

    attribute: tuple[str, ...]
    value: Any = None


def make(kind: str, column: str, value: Any) -> Any:
    return type(kind, (Named,), {})((column,), value)


@dataclass(frozen=True)
class Not:
    child: Any


NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ([], Narrowing()),
        ([make("EqualTo", "topic", "t"), make("In", "topic", ("t", "u"))], Narrowing(topics=frozenset({"t"}))),
        ([make("In", "partition", (1, 2, None))], Narrowing(partitions=frozenset({1, 2}))),
        ([make("GreaterThan", "offset", 4), make("LessThan", "offset", 9)], Narrowing(first_offset=5, end_offset=9)),
        ([make("EqualTo", "offset", 4)], Narrowing(first_offset=4, end_offset=5)),
        ([Not(make("LessThan", "offset", 4))], Narrowing(first_offset=4)),
        ([Not(make("EqualTo", "offset", 4))], Narrowing()),
        ([make("GreaterThanOrEqual", "timestamp", NOON)], Narrowing(first_ms=int(NOON.timestamp() * 1000) - 1)),
        ([make("LessThan", "timestamp", NOON)], Narrowing()),
        ([make("GreaterThan", "timestamp", NOON.replace(tzinfo=None))], Narrowing()),
        ([make("EqualTo", "value", 4), make("IsNotNull", "topic", None)], Narrowing()),
    ],
)
def test_splits_that_filters_leave(filters: list[Any], left: Narrowing) -> None:
    assert Narrowing.of(filters) == left
