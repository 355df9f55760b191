"""Asks all checkers about a run.

A checker is a function `check(run)` that yields the violations it finds, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.simulation.checkers import (
    administered,
    ending,
    granted,
    groups,
    piped,
    produced,
    pushed,
    shares,
    spans,
    truncated,
)
from tests.simulation.world import Run

Checker = Callable[[Run], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken."""

    checker: str
    text: str

    def __str__(self) -> str:
        return f"{self.checker}: {self.text}"


CHECKERS: Final[dict[str, Checker]] = {
    "acknowledged": produced.acknowledged,
    "doubled": produced.doubled,
    "order": produced.order,
    "reports": produced.reports,
    "recovered": produced.recovered,
    "positions": spans.positions,
    "delivered": groups.delivered,
    "committed": groups.committed,
    "backwards": groups.backwards,
    "owners": groups.owners,
    "holds": groups.holds,
    "apart": granted.apart,
    "whole": piped.whole,
    "once": piped.once,
    "stable": piped.stable,
    "told": truncated.told,
    "shared": shares.shared,
    "words": shares.words,
    "settled": shares.settled,
    "windows": pushed.windows,
    "totals": pushed.totals,
    "administered": administered.check,
    "ending": ending.check,
    "memory": ending.memory,
}


def judge(run: Run) -> list[Violation]:
    """All violations of a run."""
    return [Violation(name, text) for name, check in CHECKERS.items() for text in check(run)]
