"""When the application last polled, from which `max.poll.interval.ms` counts.

Must not know the group: the face notes polls here, the group and the statistics read them.
Spec: `max.poll.interval.ms` (KIP-62).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Polls:
    """The application's calls that poll. Any thread.

    Attributes:
        last_s: when the last one began or ended, monotonic seconds.
        waiting: how many wait now for something to return.
        expelled: the membership ended because there was no poll in time: the next one must say that there is one.
    """

    last_s: float
    waiting: int = 0
    expelled: bool = False

    def latest_s(self, now_s: float) -> float:
        """When the application polled last: now, as long as it waits inside such a call."""
        return now_s if self.waiting > 0 else self.last_s
