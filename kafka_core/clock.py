"""Time as something that is passed in: the real clock, and one that tests move by hand.

Knows nothing of timers, loops or threads. Inside the client time is monotonic seconds (DESIGN §11).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """A source of the time for logic."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes back."""
        ...

    def time_ms(self) -> int:
        """Wall clock: milliseconds since 1970-01-01 UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    __slots__ = ()

    monotonic: Callable[[], float] = staticmethod(time.monotonic)
    """Seconds since an arbitrary start; never goes back."""

    def time_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that stands still until it is moved; for tests and the embedded broker's tests.

    Args:
        start_s: first value of `monotonic()`.
        start_ms: first value of `time_ms()`.
    """

    __slots__ = ("_elapsed_s", "_start_ms", "_start_s")

    def __init__(self, start_s: float = 1000.0, start_ms: int = 1_700_000_000_000) -> None:
        self._start_s = start_s
        self._start_ms = start_ms
        self._elapsed_s = 0.0

    def monotonic(self) -> float:
        """Seconds; moves only by `advance`."""
        return self._start_s + self._elapsed_s

    def time_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC; moves only by `advance`."""
        return self._start_ms + round(self._elapsed_s * 1000)

    def advance(self, seconds: float) -> None:
        """Moves both clocks on.

        Raises:
            ValueError: `seconds` is negative: time does not go back.
        """
        if seconds < 0:
            raise ValueError(f"a clock can't go back ({seconds} s)")
        self._elapsed_s += seconds
