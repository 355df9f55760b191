"""Memory left behind by many calls: Python objects, what C's malloc gave, and what Arrow's pool gave."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa


class Memory(NamedTuple):
    """Memory in use; the difference of two is the memory kept."""

    objects: int
    malloc_bytes: int
    arrow_bytes: int


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def in_use() -> Memory:
    """The memory in use now; bytes of malloc are known with glibc only, and 0 elsewhere."""
    gc.collect()
    asked: Any = getattr(ctypes.CDLL(None), "mallinfo2", None)
    malloc_bytes = 0
    if asked is not None:
        asked.restype = _Mallinfo
        found = asked()
        malloc_bytes = found.uordblks + found.hblkhd
    return Memory(sys.getallocatedblocks(), malloc_bytes, pa.total_allocated_bytes())


def kept(work: Callable[[], object], calls: int = 40, rounds: int = 12) -> Memory:
    """The memory kept by a round of calls in the quietest round.

    Caches fill up in the first ones, and some objects wait to be collected; a leak is in every round. No more are made
    once one has left next to nothing.
    """
    least = Memory(*[sys.maxsize] * 3)
    before = in_use()
    for _ in range(rounds):
        for _ in range(calls):
            work()
        now = in_use()
        least = Memory(*(min(was, one - other) for was, one, other in zip(least, now, before, strict=True)))
        if least.objects < calls // 4 and least.malloc_bytes < calls * 8 and least.arrow_bytes <= 0:
            break
        before = in_use()
    return least
