"""Helpers of kafka-python 0.9.5: texts as bytes, requests by topic and partition, a timer that starts again.

The functions that read and write the old protocol's strings are here because the manual names them; nothing uses them.
"""

from __future__ import annotations

import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kserdes.compat.simple.common import BufferUnderflowError

T = TypeVar("T")


def kafka_bytestring(s: str | bytes) -> bytes:
    """The text in UTF-8; bytes as they are."""
    if isinstance(s, bytes):
        return s
    if isinstance(s, str):
        return s.encode()
    raise TypeError(f"expected str or bytes, not {type(s).__name__}")


def text(s: str | bytes) -> str:
    """The other way: how topics and groups are named in `kafka_core`."""
    return s.decode() if isinstance(s, bytes) else s


def group_by_topic_and_partition(tuples: Iterable[T]) -> dict[Any, dict[int, T]]:
    """topic → partition → what has them.

    Raises:
        ValueError: a partition is there twice.
    """
    found: dict[Any, dict[int, T]] = {}
    for each in tuples:
        one: Any = each
        partitions = found.setdefault(one.topic, {})
        if one.partition in partitions:
            raise ValueError(f"two requests are for {one.topic!r}, partition {one.partition}")
        partitions[one.partition] = each
    return found


def crc32(data: bytes) -> int:
    """The CRC-32 of the data, as an unsigned number."""
    return zlib.crc32(data)


def write_int_string(s: bytes | None) -> bytes:
    """Length (32 bit) and bytes; None is the length -1."""
    return struct.pack(">i", -1) if s is None else struct.pack(f">i{len(s)}s", len(s), s)


def write_short_string(s: bytes | None) -> bytes:
    """Length (16 bit) and bytes; None is the length -1."""
    return struct.pack(">h", -1) if s is None else struct.pack(f">h{len(s)}s", len(s), s)


def read_int_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """The string at `cur` with a length of 32 bits, and where it ends."""
    return _read_string(">i", data, cur)


def read_short_string(data: bytes, cur: int) -> tuple[bytes | None, int]:
    """The string at `cur` with a length of 16 bits, and where it ends."""
    return _read_string(">h", data, cur)


def _read_string(fmt: str, data: bytes, cur: int) -> tuple[bytes | None, int]:
    (length,), cur = relative_unpack(fmt, data, cur)
    if length == -1:
        return None, cur
    if length < 0 or len(data) < cur + length:
        raise BufferUnderflowError(f"a string of {length} bytes, and {len(data) - cur} are there")
    return data[cur : cur + length], cur + length


def relative_unpack(fmt: str, data: bytes, cur: int) -> tuple[tuple[Any, ...], int]:
    """`struct.unpack` at `cur`, and where it ended.

    Raises:
        BufferUnderflowError: the data is too short.
    """
    size = struct.calcsize(fmt)
    if len(data) < cur + size:
        raise BufferUnderflowError(f"{size} bytes are needed at {cur}, and {len(data) - cur} are there")
    return struct.unpack_from(fmt, data, cur), cur + size


class ReentrantTimer:
    """Calls a function every `t` milliseconds in a thread of its own, between `start` and `stop`."""

    def __init__(self, t: float, fn: Callable[..., object], *args: object, **kwargs: object) -> None:
        if t <= 0:
            raise ValueError(f"the interval must be positive, not {t} ms")
        if not callable(fn):
            raise ValueError(f"{fn!r} can't be called")
        self._interval_s, self._fn, self._args, self._kwargs = t / 1000, fn, args, kwargs
        self._stopped = threading.Event()
        self._due_s = 0.0
        self.thread: threading.Thread | None = None

    def _run(self, stopped: threading.Event) -> None:
        while not stopped.wait(self._due_s - time.monotonic()):
            if time.monotonic() >= self._due_s:  # it has not begun anew meanwhile
                self._due_s = time.monotonic() + self._interval_s
                self._fn(*self._args, **self._kwargs)

    def start(self) -> None:
        """Begins, or begins anew: the next call is a whole interval away.

        It does not wait for a call under way, which may wait for a lock that the caller of this method holds.
        """
        self._due_s = time.monotonic() + self._interval_s
        if self.thread is None or not self.thread.is_alive():
            self._stopped = threading.Event()
            self.thread = threading.Thread(target=self._run, args=(self._stopped,), daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Ends it; a call under way is waited for."""
        self._stopped.set()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join()
        self.thread = None
