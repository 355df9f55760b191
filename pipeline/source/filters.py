"""Filters on where a record stands, taken from Spark, so that less is fetched.

A narrowing may keep too much, never too little: Spark checks every filter again. Knows the filters' names only, so that
it is the same on every version of Spark.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

OPPOSITES: Final = {
    "GreaterThan": "LessThanOrEqual",
    "GreaterThanOrEqual": "LessThan",
    "LessThan": "GreaterThanOrEqual",
    "LessThanOrEqual": "GreaterThan",
}


@dataclass(frozen=True)
class Narrowing:
    """The part of a read that filters leave; None: all.

    Attributes:
        topics: names.
        partitions: numbers.
        first_offset: lowest offset.
        end_offset: the one after the highest.
        first_ms: earliest time, ms since 1970, rounded down.
    """

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    first_ms: int | None = None

    @classmethod
    def of(cls, filters: Iterable[Any]) -> Narrowing:
        """The part that all of Spark's filters together leave; filters on other columns are passed over."""
        found = cls()
        for one in filters:
            found = found.with_filter(one)
        return found

    def with_filter(self, one: Any) -> Narrowing:
        """This narrowing and one more filter."""
        kind = type(one).__name__
        if kind == "Not":
            one, kind = one.child, OPPOSITES.get(type(one.child).__name__, "")
        column: tuple[str, ...] = getattr(one, "attribute", ())
        value = getattr(one, "value", None)
        if len(column) != 1 or value is None:
            return self
        if kind in ("EqualTo", "EqualNullSafe", "In"):
            return self._among(column[0], value if kind == "In" else (value,))
        return self._ordered(column[0], kind, value)

    def _among(self, column: str, values: tuple[Any, ...]) -> Narrowing:
        known = [value for value in values if value is not None]
        if column == "topic":
            topics = frozenset(known)
            return self._with(topics=topics if self.topics is None else topics & self.topics)
        if column == "partition":
            numbers = frozenset(known)
            return self._with(partitions=numbers if self.partitions is None else numbers & self.partitions)
        if not known:
            return self
        return self._ordered(column, "GreaterThanOrEqual", min(known))._ordered(column, "LessThanOrEqual", max(known))

    def _ordered(self, column: str, kind: str, value: Any) -> Narrowing:
        if column == "offset" and isinstance(value, int):
            first = {"GreaterThan": value + 1, "GreaterThanOrEqual": value}.get(kind)
            end = {"LessThan": value, "LessThanOrEqual": value + 1}.get(kind)
            return self._with(first_offset=_higher(self.first_offset, first), end_offset=_lower(self.end_offset, end))
        if column == "timestamp" and isinstance(value, datetime.datetime) and kind.startswith("Greater"):
            if value.tzinfo is None:
                return self  # not a point in time
            return self._with(first_ms=_higher(self.first_ms, int(value.timestamp() * 1000) - 1))
        return self

    def _with(self, **changed: Any) -> Narrowing:
        return Narrowing(**{**self.__dict__, **changed})


def _higher(one: int | None, other: int | None) -> int | None:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((bound for bound in (one, other) if bound is not None), default=None)
