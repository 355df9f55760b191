"""Everything comes to an end: nothing hangs or is left behind, no exception goes unseen, no foreign one comes out.

Must not know records.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.world import Run


def check(run: Run) -> Iterator[str]:
    """Calls that hung, leftovers, unseen problems, and exceptions that should not come out."""
    for text in run.late:
        yield f"not in time: {text}"
    if not run.late:
        for text in run.leftovers:
            yield f"left behind: {text}"
    for text in run.problems:
        yield f"unseen: {text}"
    for event in run.history.of("broke"):
        yield f"{event.who} at {event.at_s:.3f}: {' '.join(map(str, event.data))}"


def memory(run: Run) -> Iterator[str]:
    """No client holds more than it was allowed to."""
    for who, (held, allowed) in run.memory.items():
        if held > allowed:
            yield f"{who} held {held} bytes of {allowed}"
