"""Something that happens a moment later, on another thread, while a test waits for it.

Must not know of any client. The thread is waited for, so that it never outlives its test.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
