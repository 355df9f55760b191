"""pipeline.columns.remembered: equal questions have one plan; what is known by its place in memory keeps that place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pipeline.columns.remembered import KEPT, Remembered
from registry import Schema


@dataclass(frozen=True, slots=True)
class Arguments:
    value: Any = None


def function(number: int) -> Callable[[], int]:
    return lambda: number


@pytest.mark.parametrize("place", ["configuration", "arguments"])
def test_a_function_that_has_gone_is_not_taken_for_another(place: str) -> None:
    plans = Remembered[int]()

    def asked(number: int) -> int:
        made = function(number)
        conf = {"provider": made} if place == "configuration" else {}
        return plans.get(conf, Arguments(made if place == "arguments" else None), made)

    assert [asked(number % 2) for number in range(40)] == [0, 1] * 20


def test_schemas_and_types_are_known_by_what_they_say() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    plans = Remembered[int]()
    for make in (lambda: Schema('"int"'), lambda: types.StructType([types.StructField("a", types.LongType())])):
        first, second = (plans.get({}, Arguments(make()), function(number)) for number in (1, 2))
        assert first == second == 1
    assert plans.get({}, Arguments(Schema('"long"')), function(3)) == 3


def test_the_oldest_plans_go_and_all_on_request() -> None:
    plans = Remembered[int]()
    for number in range(KEPT + 1):
        plans.get({}, Arguments(number), function(number))
    assert plans.get({}, Arguments(KEPT), function(-1)) == KEPT
    assert plans.get({}, Arguments(0), function(-1)) == -1
    plans.forget()
    assert plans.get({}, Arguments(KEPT), function(-2)) == -2
