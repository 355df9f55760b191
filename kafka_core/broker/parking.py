"""Answers that come later, and the timers that bring them: the seam between the broker's logic and its shell.

Must not know: asyncio, threads, the wall clock (a `Clock` is passed in), the protocol.
Spec: DESIGN §11; the idea is the "purgatory" of Apache Kafka (`DelayedOperation`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Generic, TypeVar, cast

from kafka_core.clock import Clock

T = TypeVar("T")


class Pending(Generic[T]):
    """An answer that is ready now or will be once an event or a timer resolves it. For one thread only."""

    __slots__ = ("_listener", "_value", "done")

    def __init__(self) -> None:
        self.done = False
        self._value: T | None = None
        self._listener: Callable[[T], None] | None = None

    @classmethod
    def ready(cls, value: T) -> Pending[T]:
        """An answer that is there already."""
        pending: Pending[T] = cls()
        pending.resolve(value)
        return pending

    @property
    def value(self) -> T:
        """The answer; RuntimeError while it is not there."""
        if not self.done:
            raise RuntimeError("the answer is still pending")
        return cast(T, self._value)

    def resolve(self, value: T) -> None:
        """Give the answer. A second answer is a mistake of the caller: RuntimeError."""
        if self.done:
            raise RuntimeError("the answer was given already")
        self.done = True
        self._value = value
        listener, self._listener = self._listener, None
        if listener is not None:
            listener(value)

    def then(self, listener: Callable[[T], None]) -> None:
        """Call `listener` with the answer: now if it is there, else when it comes. One listener only."""
        if self.done:
            listener(self.value)
        elif self._listener is not None:
            raise RuntimeError("an answer has one listener")
        else:
            self._listener = listener


class Timer:
    """A call planned for a moment on the monotonic clock."""

    __slots__ = ("action", "deadline_s")

    def __init__(self, deadline_s: float, action: Callable[[], None] | None) -> None:
        self.deadline_s = deadline_s
        self.action = action

    @property
    def active(self) -> bool:
        """Whether the call is still to come."""
        return self.action is not None

    def cancel(self) -> None:
        """Forget the call; harmless when it is over."""
        self.action = None


class Timers:
    """All timers of one cluster. The shell asks for `next_deadline_s` and calls `run_due`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = count()

    def after(self, delay_s: float, action: Callable[[], None]) -> Timer:
        """Plan `action` in `delay_s` seconds; timers of the same moment run in the order of their making."""
        timer = Timer(self._clock.monotonic() + delay_s, action)
        heapq.heappush(self._heap, (timer.deadline_s, next(self._order), timer))
        return timer

    def next_deadline_s(self) -> float | None:
        """Monotonic seconds of the first live timer, None when there is none."""
        while self._heap and not self._heap[0][2].active:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_due(self) -> int:
        """Run every timer whose moment has come, also those that such a run plans for now; returns how many ran."""
        ran = 0
        while (deadline_s := self.next_deadline_s()) is not None and deadline_s <= self._clock.monotonic():
            timer = heapq.heappop(self._heap)[2]
            action, timer.action = timer.action, None
            if action is not None:
                action()
                ran += 1
        return ran
