"""For the few tests in which real time itself is the matter: a session that ends, a record that times out.

Must not know of any client. Such a limit has to be short, for the test waits for it; and a machine that stands still
for that long makes any client late. So a failure counts only if nothing stood still meanwhile; otherwise the limit was
too short to judge by, and the work is done again with a longer one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
PROCESS_S = 300.0
"""A process that has little to do has ended by then. On a busy machine it takes half a minute to start Python alone."""
LONGER, TIMES = 4.0, 3
SHARE = 0.2
"""Stalls of this share of the limit, all together, make a failure worth nothing."""
_STEP_S = 0.01
_watches: set[Stalls] = set()


class Stalls:
    """Notes for how long this process stood still; a context manager."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stalls", daemon=True)

    def _watch(self) -> None:
        before_s = time.monotonic()
        while not self._over.wait(_STEP_S):
            now_s = time.monotonic()
            self.total_s += now_s - before_s - _STEP_S
            before_s = now_s

    def __enter__(self) -> Stalls:
        _watches.add(self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        _watches.discard(self)


def stalled(seconds: float) -> None:
    """Something let one thread alone stand still for so long (`tests/stalls.py`)."""
    for watch in list(_watches):
        watch.total_s += seconds


def judged_by(limit_s: float, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """The result of `work(limit_s, ...)`; if it fails and the machine stood still, tried with longer limits.

    `work` must be able to begin again. A failure without a stall is raised at once.
    """
    for _ in range(TIMES):
        with Stalls() as stalls:
            try:
                return work(limit_s, *args, **kwargs)
            except (Exception, pytest.fail.Exception):
                time.sleep(2 * _STEP_S)  # the watch sees the end of a stall
                if stalls.total_s < SHARE * limit_s:
                    raise
        limit_s *= LONGER
    return work(limit_s, *args, **kwargs)
