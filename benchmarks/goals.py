"""Rows of a table of goals: what was found, what is wanted, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One goal.

    Attributes:
        path: what is measured.
        found, wanted: rate, ratio, or what it costs, with what there has to be.
        unit: behind both numbers.
        least: whether `wanted` is the least; else it is the most.
        beside: other figures of the same run, which are no goals.
    """

    path: str
    found: float
    wanted: float
    unit: str
    least: bool = True
    beside: str = ""

    def __str__(self) -> str:
        met = self.found >= self.wanted if self.least else self.found <= self.wanted
        sign = "≥" if self.least else "≤"
        return (
            f"{'yes' if met else 'NO':4}{self.path:54}{shown(self.found, self.unit):>16}"
            f"   {sign} {shown(self.wanted, self.unit):16}{self.beside}"
        )


def heading(what: str) -> str:
    """The line above a table of goals."""
    return f"{'met':4}{what:54}{'found':>16}     {'wanted':16}beside"


def shown(number: float, unit: str) -> str:
    """The number with its unit; rates in millions."""
    if unit == "/s":
        return f"{number / 1e6:.2f} M/s"
    return f"{number:.2f}{unit}" if number < 10 else f"{number:.1f}{unit}"
