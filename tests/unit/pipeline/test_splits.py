"""pipeline.source.splits: canonical offsets and picklable ranges."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import OptionError, PlanError
from pipeline.source.splits import EARLIEST, LATEST, Split, offsets_from_json, offsets_to_json, plan_split

OFFSETS = st.dictionaries(st.text(min_size=1), st.dictionaries(st.integers(0, 500), st.integers(-2, 2**62)))


@given(OFFSETS)
def test_offsets_come_back(offsets: dict[str, dict[int, int]]) -> None:
    assert offsets_from_json(offsets_to_json(offsets)) == offsets


def test_equal_offsets_are_equal_text() -> None:
    one = offsets_to_json({"b": {10: 1, 9: 2}, "a": {0: 3}})
    other = offsets_to_json({"a": {0: 3}, "b": {9: 2, 10: 1}})
    assert one == other == '{"a":{"0":3},"b":{"9":2,"10":1}}'


@pytest.mark.parametrize(
    "text", ["", "[]", "5", '{"t": 5}', '{"t": {"x": 1}}', '{"t": {"0": "1"}}', '{"t": {"0": -3}}']
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="offsets must look like"):
        offsets_from_json(text)


def test_splits_travel_and_have_an_order() -> None:
    splits = [Split("t", 1, 0, 5), Split("t", 0, 0, 5)]
    assert sorted(pickle.loads(pickle.dumps(splits))) == [splits[1], splits[0]]


@pytest.mark.parametrize(
    ("wanted", "range_"),
    [((EARLIEST, LATEST), (10, 20)), ((12, LATEST), (12, 20)), ((20, 20), (20, 20)), ((EARLIEST, 10), (10, 10))],
)
def test_a_split_lies_within_what_is_held(wanted: tuple[int, int], range_: tuple[int, int]) -> None:
    assert plan_split("t", 3, held=(10, 20), wanted=wanted) == Split("t", 3, *range_)


@pytest.mark.parametrize("wanted", [(9, LATEST), (21, LATEST), (EARLIEST, 21), (0, 5), (25, 30)])
def test_offsets_that_are_not_held_fail_the_plan(wanted: tuple[int, int]) -> None:
    with pytest.raises(PlanError, match=r"t\[3\] holds the offsets 10 to 20, but"):
        plan_split("t", 3, held=(10, 20), wanted=wanted)


@pytest.mark.parametrize("wanted", [(15, 12), (15, 14), (EARLIEST, 9)])
def test_an_end_before_the_start_fails_the_plan(wanted: tuple[int, int]) -> None:
    with pytest.raises(PlanError, match="is before startingOffsets"):
        plan_split("t", 3, held=(10, 20), wanted=wanted)


@pytest.mark.parametrize("wanted", [(15, 12), (20, 10), (LATEST, EARLIEST)])
def test_an_end_before_the_start_fails_the_plan_though_nothing_is_lost(wanted: tuple[int, int]) -> None:
    with pytest.raises(PlanError, match="is before startingOffsets"):
        plan_split("t", 3, held=(10, 20), wanted=wanted, fail=False)


@pytest.mark.parametrize(
    ("wanted", "range_"),
    [
        ((9, 12), (10, 12)),
        ((EARLIEST, 9), (10, 10)),
        ((21, 19), (20, 20)),
        ((30, LATEST), (20, 20)),
        ((3, 30), (10, 20)),
    ],
)
def test_what_is_left_of_offsets_that_are_not_held(wanted: tuple[int, int], range_: tuple[int, int]) -> None:
    assert plan_split("t", 3, held=(10, 20), wanted=wanted, fail=False) == Split("t", 3, *range_)
