"""serdes.kernels.*.values: what is remarkable in a value, in both implementations."""

from __future__ import annotations

import collections
import decimal
import enum
import uuid
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serdes.kernels import native, pure
from serdes.kernels.pure.values import DEEP, LARGE, NOT_FINITE, OTHER


class Text(str):
    __slots__ = ()


class Rows(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError("no code of the value's types runs")


class Table(dict[Any, Any]):
    def items(self) -> Any:
        raise AssertionError("no code of the value's types runs")


class Number(enum.IntEnum):
    ONE = 1


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, 0),
        ({"a": [1, -5, 2**70, 0.5, -0.0, "x", True, None, (1, 2), {}], "b": {"c": []}}, 0),
        (2.0**62, 0),
        (2.0**63, LARGE),
        ([-(2.0**63)], LARGE),
        (1e300, LARGE),
        ({"a": float("nan")}, NOT_FINITE),
        ((float("inf"), float("-inf")), NOT_FINITE),
        (Text("x"), OTHER),
        (Rows([1]), OTHER),
        (Table(a=[1e300]), OTHER | LARGE),
        (Pair(1, float("nan")), OTHER | NOT_FINITE),
        (Number.ONE, OTHER),
        ({1: "x"}, OTHER),
        ({Text("x"): 1}, OTHER),
        ([b"x"], OTHER),
        ([decimal.Decimal(1), 1e300], OTHER | LARGE),
        (uuid.UUID(int=1), OTHER),
        ({1, 2}, OTHER),
        ([[[[]]]], 0),
        ([[[[[]]]]], DEEP),
        ([[[[{}]]]], DEEP),
        (([({"a": ()},)],), DEEP),
        ({"a": {"b": {"c": {"d": 1}}}}, 0),
        (Rows([Rows([Rows([Rows([Rows()])])])]), DEEP | OTHER),
    ],
)
def test_the_survey_finds_remarkable_values(kernels: ModuleType, value: Any, found: int) -> None:
    assert kernels.survey(value, 4) == found


def test_very_deep_values_are_not_followed(kernels: ModuleType) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert kernels.survey(deep, 250) == DEEP


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(Text, st.text()),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(VALUES, st.integers(0, 4))
def test_both_see_the_same(value: Any, levels: int) -> None:
    assert native.survey(value, levels) == pure.survey(value, levels)
