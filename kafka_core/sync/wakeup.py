"""A flag that other threads, signal handlers and finalizers set, and that a blocking call waits for in short slices.

Must not know clients. `threading.Event` would not do: its lock is held for a moment inside `clear` and `wait`, and a
signal handler that calls `set` at that moment waits for its own thread for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

SLICE_S: Final = 0.1
"""The longest single wait, in seconds. A signal that comes after the interpreter's last look and before the system call
does not end that call (Python runs the handler when it returns), and on Windows Ctrl-C ends no wait for a lock."""


GIVEN_S: Final = 0.0002
"""The longest time a thread gives precedence, in seconds: several times that of waking another thread."""


class Wakeup:
    """Set by anybody, at any time; taken by the one who waits. With several who wait, one is woken."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        """Wakes who waits, or the next who will. Never blocks."""
        try:
            self._lock.release()
        except RuntimeError:  # it was set already
            return

    def clear(self) -> None:
        """Resets the flag. Never blocks."""
        self._lock.acquire(blocking=False)

    def wait(self, seconds: float | None) -> bool:
        """Waits at most `seconds` and never longer than a slice; whether it was set. The caller looks again anyway."""
        return self._lock.acquire(timeout=slice_of(seconds))


class Precedence:
    """Lets a thread that was woken go before the one that has woken it, which has more to do.

    Python runs one thread at a time: else the one that was woken waits until the other one is through. `give` waits
    without running until the other one says by `done` that it is through, for 0.2 ms at most.

    Attributes:
        given: somebody waits for `done`.
    """

    __slots__ = ("_wakeup", "given")

    def __init__(self) -> None:
        self._wakeup = Wakeup()
        self.given = False

    def give(self, wake: Callable[[], object] | None = None) -> None:
        """Waits; calls `wake` before that, if the other one was not woken yet."""
        self._wakeup.clear()
        self.given = True
        if wake is not None:
            wake()
        self._wakeup.wait(GIVEN_S)
        self.given = False

    def done(self) -> None:
        """Whoever gave precedence may go on. Never blocks."""
        self.given = False
        self._wakeup.set()


def slice_of(seconds: float | None) -> float:
    """The seconds to wait now, of `seconds` in all (None: for ever)."""
    return SLICE_S if seconds is None else min(max(seconds, 0.0), SLICE_S)
