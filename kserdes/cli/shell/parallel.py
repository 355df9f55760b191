"""Work on many subjects at once, in threads that Ctrl-C does not wait for.

Must not know what the work is. A thread in a call on the network can't be stopped: the process ends without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kserdes_base.waiting import result_of

THREADS = 8
T = TypeVar("T")
R = TypeVar("R")


def each(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results for all items, in their order; the first error ends it, and what was not begun is not done."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        for future in [pool.submit(work, item) for item in items]:
            yield result_of(future)
    except BaseException as error:
        pool.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        raise
    pool.shutdown()
