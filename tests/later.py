"""Something that happens later on, on another thread, while a test waits for it.

Must not know of any client. The thread is waited for, so that it never outlives its test.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any


@contextmanager
def later(after_s: float, function: Callable[..., Any], *args: Any) -> Iterator[None]:
    """Calls `function(*args)` once, `after_s` seconds from now; leaving the block waits until it has returned."""
    timer = threading.Timer(after_s, function, args)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextmanager
def once(condition: Callable[[], object], function: Callable[..., Any], *args: Any) -> Iterator[None]:
    """Calls `function(*args)` once, as soon as `condition()` holds; not at all if the block is left before."""
    left = threading.Event()

    def wait() -> None:
        while not left.wait(0.01):
            if condition():
                function(*args)
                return

    thread = threading.Thread(target=wait, name="once")
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join()


def inside(function: FunctionType) -> Callable[[], bool]:
    """Whether the thread that calls this now is in a call of `function` later on; a generator's are not seen."""
    thread, code = threading.get_ident(), function.__code__

    def look() -> bool:
        frame = sys._current_frames().get(thread)
        while frame is not None:
            if frame.f_code is code:
                return True
            frame = frame.f_back
        return False

    return look
