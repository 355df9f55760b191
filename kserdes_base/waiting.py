"""Waits of blocking calls, made of short ones, so that Ctrl-C ends them wherever it comes.

Must not know what is waited for. `Wakeup` is a flag that other threads, signal handlers and finalizers set; `result_of`
waits for a future, `sleep` for the time. A signal that comes after the interpreter's last look and before the system
call does not end that call (Python runs the handler when the call returns), and on Windows Ctrl-C ends no wait for a
lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Final, TypeVar

T = TypeVar("T")
SLICE_S: Final = 0.1
"""The longest single wait, in seconds."""


def slice_of(seconds: float | None) -> float:
    """The seconds to wait now, of `seconds` in all (None: for ever)."""
    return SLICE_S if seconds is None else min(max(seconds, 0.0), SLICE_S)


class Wakeup:
    """Set by anybody, at any time; taken by the one who waits. With several who wait, one is woken.

    `threading.Event` would not do: its lock is held for a moment inside `clear` and `wait`, and a signal handler that
    calls `set` at that moment waits for its own thread for ever.
    """

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


def result_of(future: Future[T], left: Callable[[], bool] = lambda: False) -> T:
    """The result of a future, waited for as long as it takes.

    Args:
        future: waited for.
        left: whether nobody will settle it any more; looked at now and then.

    Raises:
        CancelledError: the future was cancelled, or left unsettled.
        BaseException: what the future failed with.
    """
    while not future.done():
        if left() and not future.done():
            raise CancelledError
        try:
            return future.result(SLICE_S)
        except TimeoutError:
            continue  # the future's own error is raised below, whatever it is
    return future.result()


def sleep(seconds: float) -> None:
    """Sleeps, as `time.sleep`."""
    ends_at_s = time.monotonic() + seconds
    while (left_s := ends_at_s - time.monotonic()) > 0:
        time.sleep(min(left_s, SLICE_S))
