"""Checks of an admin client: what it reports as done was done while its call ran, and listed offsets are the log's.

Must not know how the calls are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.simulation.history import Event
from tests.simulation.world import Run

EFFECTS: Final = {"create": "topic", "delete": "deleted", "extend": "extended"}
"""Operation → the event by which brokers tell of its effect."""


def check(run: Run) -> Iterator[str]:
    """Calls that reported what did not happen."""
    events = run.history.events
    for index, event in enumerate(events):
        if event.what == "administered":
            operation, topic, number, code, begun = event.data
            if code is None and not any(_is_effect(item, operation, topic, number) for item in events[begun:index]):
                yield f"{event.who} reported {operation} {topic} {number} as done at {event.at_s:.3f}, no broker did it"
        elif event.what == "listed":
            topic, partition, offset, low, high, begun = event.data
            anew = any(item.what in ("topic", "deleted") and item.data[0] == topic for item in events[begun:index])
            if not anew and low is not None and high is not None and not low <= offset <= high:
                yield f"{event.who} got offset {offset} of {topic}[{partition}] at {event.at_s:.3f}: {low} … {high}"


def _is_effect(event: Event, operation: str, topic: str, number: int) -> bool:
    if event.what != EFFECTS[operation] or event.data[0] != topic:
        return False
    return operation == "delete" or bool(event.data[-1] == number)
