"""The time of the application's last poll, from which `max.poll.interval.ms` counts.

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
        waited_s: for how long polls have waited, those that have ended to wait.
        expelled: the membership ended because there was no poll in time: the next one must say that there is one.
    """

    last_s: float
    waiting: int = 0
    waited_s: float = 0.0
    expelled: bool = False

    def latest_s(self, now_s: float) -> float:
        """The time of the application's last poll: now, as long as it waits inside such a call."""
        return now_s if self.waiting > 0 else self.last_s

    def woken(self, now_s: float) -> None:
        """A call that waited since `last_s` goes on."""
        self.waited_s += now_s - self.last_s
        self.last_s = now_s

    def waited_until_s(self, now_s: float) -> float:
        """For how long polls have waited until now, those that still wait included."""
        return self.waited_s + (now_s - self.last_s if self.waiting > 0 else 0.0)
