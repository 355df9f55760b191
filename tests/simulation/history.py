"""The events of a simulation, in order: the one thing that checkers look at, beside the brokers' logs.

Must not know who writes or reads it. Events are recorded in the step in which they take effect, so their order is real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.loop import OWNER, START_S


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        at_s: virtual seconds since the beginning.
        who: the process; "cluster" for what is done by brokers and plan.
        what: its kind; `data` depends on it (docs/simulation.md lists them).
    """

    at_s: float
    who: str
    what: str
    data: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.at_s:9.4f} {self.who:<12} {self.what:<12} {' '.join(map(_short, self.data))}"


@dataclass(slots=True)
class History:
    """All events of a run."""

    time: Callable[[], float] = lambda: START_S
    events: list[Event] = field(default_factory=list)

    def add(self, what: str, *data: Any) -> int:
        """Record an event of the running process; returns its number."""
        owner = OWNER.get()
        who = owner.name if owner is not None else "cluster"
        self.events.append(Event(self.time() - START_S, who, what, data))
        return len(self.events) - 1

    def of(self, *kinds: str) -> Iterator[Event]:
        """Events of some kinds."""
        return (event for event in self.events if event.what in kinds)


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    text = str(value)
    return text if len(text) <= 160 else text[:157] + "..."
