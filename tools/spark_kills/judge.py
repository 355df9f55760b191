"""Comparison of written rows with those found: missing rows, and rows that are there twice. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers that a reader misses, or sees more often than once.

    Attributes:
        rows: how many it sees.
        missing: numbers that it does not see.
        doubled: numbers that it sees again.
        foreign: what was never written.
    """

    rows: int
    missing: tuple[int, ...]
    doubled: tuple[int, ...]
    foreign: tuple[int, ...]

    @property
    def good(self) -> bool:
        """Whether every row is there once."""
        return not (self.missing or self.doubled or self.foreign)

    def __str__(self) -> str:
        return (
            f"{self.rows} rows, {len(self.missing)} missing, {len(self.doubled)} twice, {len(self.foreign)} foreign"
            + ("" if self.good else f": {self.missing[:5]} {self.doubled[:5]} {self.foreign[:5]}")
        )


def judge(count: int, seen: Iterable[int], *, whole: bool = True) -> Verdict:
    """Compares the numbers 0 to count with those seen.

    Args:
        count: how many were written.
        seen: what a reader sees.
        whole: whether all must be there by now.
    """
    times = Counter(seen)
    missing = tuple(number for number in range(count) if number not in times) if whole else ()
    doubled = tuple(sorted(number for number, often in times.items() if often > 1))
    foreign = tuple(sorted(number for number in times if not 0 <= number < count))
    return Verdict(times.total(), missing, doubled, foreign)
