"""serdes.rules.bounds: how long a rule may run, and how much it may make."""

from __future__ import annotations

import time
from typing import Any

import pytest

from serdes.rules import RuleError
from serdes.rules.bounds import LIMIT_S, MAX_SIZE, Bounds, limit_of


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_time_does_not_go_on_while_the_machine_holds_a_rule_up() -> None:
    bounds = Bounds("r", 0.05)
    time.sleep(0.2)
    bounds.step()
    with pytest.raises(RuleError, match=r"takes longer than 0\.05 s"):
        while True:
            bounds.step()


def test_a_rule_has_its_time_and_no_more() -> None:
    clock = Clock()
    bounds = Bounds("r", 2.0, clock)
    clock.now_s += 2.0
    bounds.step()
    clock.now_s += 0.1
    with pytest.raises(RuleError, match="rule 'r' takes longer than 2 s"):
        bounds.step()
    with pytest.raises(RuleError, match="takes longer"):
        bounds.value([1])  # going over a value takes time, too


@pytest.mark.parametrize(
    "value", ["x" * 100, b"x" * 100, [1, "a", None], {"a": {"b": (1, 2)}}, MAX_SIZE * "x", 10**30, [[]] * 1000]
)
def test_values_within_the_bounds_pass(value: Any) -> None:
    Bounds("r").value(value)


@pytest.mark.parametrize("value", [(MAX_SIZE + 1) * "x", ["x" * 1000] * 50_000, {"a": [b"x" * (MAX_SIZE // 2)] * 2}])
def test_values_beyond_the_bounds_are_refused(value: Any) -> None:
    with pytest.raises(RuleError, match="rule 'r' makes a value that is larger than 50,000,000 characters"):
        Bounds("r").value(value)


def test_a_part_counts_as_often_as_it_is_there() -> None:
    """A structure of forty lists that is a terabyte when it is written out."""
    bounds = Bounds("r")
    value: list[Any] = [1]
    for _ in range(10):
        value = [value, value]
        bounds.value(value)
    with pytest.raises(RuleError, match="larger than"):
        for _ in range(30):
            value = [value, value]
            bounds.value(value)


def test_a_list_that_grew_is_measured_again() -> None:
    bounds = Bounds("r")
    value = ["x"]
    bounds.value(value)
    value.append("x" * MAX_SIZE)
    with pytest.raises(RuleError, match="larger than"):
        bounds.value(value)


@pytest.mark.parametrize(
    ("conf", "expected"), [({}, LIMIT_S), ({"rule.timeout.ms": 500}, 0.5), ({"rule.timeout.ms": "1500"}, 1.5)]
)
def test_the_time_may_be_configured(conf: dict[str, Any], expected: float) -> None:
    assert limit_of(conf) == expected


@pytest.mark.parametrize("given", [0, -1, "soon", "nan", []])
def test_a_time_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(RuleError, match=r"rule\.timeout\.ms must be a number above 0"):
        limit_of({"rule.timeout.ms": given})
