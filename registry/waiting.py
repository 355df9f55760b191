"""Waits of blocking calls, made of short ones, so that Ctrl-C ends them wherever it comes.

Must not know what is waited for. A signal that comes after the interpreter's last look and before the system call does
not end that call (Python runs the handler when the call returns), and on Windows Ctrl-C ends no wait for a lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Final, TypeVar

T = TypeVar("T")
SLICE_S: Final = 0.1
"""The longest single wait, in seconds."""


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
