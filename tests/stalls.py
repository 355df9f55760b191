"""A pytest plugin that stops threads at random moments: a test that fails under it depends on luck or load.

`make stalls`, or `pytest -p tests.stalls` with STALLS_SEED. A seed and the name of a test decide its stalls. Of each
test it stops, a few times and for up to STALLS_S seconds: the thread of the test between two lines of a test module,
any event loop (a client's or a broker's) between two turns, or the whole process (the GIL is held meanwhile).
Garbage is collected behind each test.

What is slow without luck shows the races that chance seldom meets. STALLS_LINE_S: each line of a test module waits so
long when a thread of the test comes to it first, so what a test does "at once" happens late. STALLS_TURN_S: each of the
first thousand turns of every event loop waits, so what a client does in the background happens late.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import random
import selectors
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests import patience

SEED = os.environ.get("STALLS_SEED", "0")
LONGEST_S = float(os.environ.get("STALLS_S", "4"))
PER_TEST = 3
OWN = str(Path(__file__).resolve().parent) + os.sep
LINE_S = float(os.environ.get("STALLS_LINE_S", "0"))
TURN_S = float(os.environ.get("STALLS_TURN_S", "0"))
SLOW_TURNS = 1000
LENGTHS = (0.01, 0.1, 0.3, 1.0, 1.0)
"""Shares of the longest one."""

_libc = ctypes.PyDLL(None)  # other than CDLL, it keeps the GIL


class Stalls:
    """The stalls of one test: how many are left, and with which chance the next opportunity is one."""

    def __init__(self, name: str) -> None:
        self._rng = random.Random(f"{SEED}:{name}")
        self._left = PER_TEST
        self._lock = threading.Lock()
        self._chance = {kind: self._rng.choice((0.0, 0.02, 0.2)) for kind in ("line", "turn")}
        self._seen: set[tuple[int, str, int]] = set()
        self._turns = 0
        self.told: list[str] = []

    @property
    def looks_at_lines(self) -> bool:
        """Whether a line of a test module can still be one: tracing them makes a test of values ten times slower."""
        return LINE_S > 0 or (TURN_S == 0 and self._left > 0 and self._chance["line"] > 0)

    def line(self, file: str, number: int) -> None:
        """A thread of the test comes to a line."""
        if LINE_S > 0:
            place = (threading.get_ident(), file, number)
            if place not in self._seen:
                self._seen.add(place)
                patience.stalled(LINE_S)
                time.sleep(LINE_S)
        elif TURN_S == 0:
            self._opportunity("line", lambda: f"{file}:{number}")

    def turn(self) -> None:
        """An event loop comes back from waiting."""
        if TURN_S > 0:
            if self._turns < SLOW_TURNS:
                self._turns += 1
                patience.stalled(TURN_S)
                time.sleep(TURN_S)
        elif LINE_S == 0:
            self._opportunity("turn", lambda: "a turn of its loop")

    def _opportunity(self, kind: str, where: Callable[[], str]) -> None:
        """Maybe stop this thread, or all of them, here."""
        with self._lock:
            if self._left == 0 or self._rng.random() >= self._chance[kind]:
                return
            self._left -= 1
            seconds = self._rng.choice(LENGTHS) * LONGEST_S
            everything = self._rng.random() < 0.3
            who = "everything" if everything else threading.current_thread().name
            self.told.append(f"{who} {seconds:.2f} s at {where()}")
        patience.stalled(seconds)
        if everything:
            _libc.usleep(int(seconds * 1e6))
        else:
            time.sleep(seconds)


_now: Stalls | None = None


def _trace(frame: FrameType, event: str, argument: Any) -> Any:
    if not frame.f_code.co_filename.startswith(OWN) or frame.f_code.co_filename in (__file__, patience.__file__):
        return None
    stalls = _now
    if stalls is None or not stalls.looks_at_lines:
        if sys.gettrace() is _trace:  # a test's own trace function stays
            sys.settrace(None)
        return None
    if event == "line":
        stalls.line(frame.f_code.co_filename, frame.f_lineno)
    return _trace


class _Selector(selectors.DefaultSelector):  # type: ignore[valid-type, misc]
    """Comes back late from waiting."""

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(timeout)
        stalls = _now
        if stalls is not None:
            stalls.turn()
        return found


class _Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.SelectorEventLoop(_Selector())


def pytest_configure(config: pytest.Config) -> None:
    asyncio.set_event_loop_policy(_Policy())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    global _now
    stalls = _now = Stalls(item.nodeid)
    sys.settrace(_trace)
    try:
        yield
    finally:
        sys.settrace(None)
        _now = None
        gc.collect()  # what a test left open is told in that test
        if stalls.told:
            item.add_report_section("call", "stalls", "\n".join(stalls.told))
