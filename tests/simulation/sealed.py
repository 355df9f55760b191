"""Seals a simulation off: clocks, random sources, sockets and threads of the process are the simulation's or nobody's.

Must not know what is simulated. Everything is put back when the simulation ends, whatever happened.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import secrets
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final
from unittest import mock

import kafka_core.aio.net.connection
import kafka_core.aio.producing.core
import kafka_core.aio.tasks.race
from kafka_core.clock import SystemClock
from kafka_core.kernels import Accumulator
from tests.simulation.loop import OWNER, START_S, Sealed, VirtualLoop

WALL_START_S: Final = 1_700_000_000.0
"""Virtual wall clock at the beginning."""


class Clocks:
    """The clocks that simulated code sees.

    Attributes:
        wall_offset_s: what every wall clock is ahead; a process may have an offset of its own besides.
    """

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.wall_offset_s = 0.0

    def monotonic(self) -> float:
        """Virtual monotonic seconds."""
        return self._loop.time()

    def wall(self) -> float:
        """Virtual seconds since 1970; may jump."""
        owner = OWNER.get()
        own_s = owner.wall_offset_s if owner is not None else 0.0
        return WALL_START_S + self._loop.time() - START_S + self.wall_offset_s + own_s

    def wall_ns(self) -> int:
        """The same in nanoseconds."""
        return round(self.wall() * 1_000_000) * 1000

    def wall_ms(self) -> int:
        """The same in milliseconds."""
        return self.wall_ns() // 1_000_000


def _forbidden(what: str) -> Callable[..., Any]:
    def refuse(*arguments: object, **others: object) -> Any:
        raise Sealed(f"{what} was used inside the simulation")

    return refuse


@contextlib.contextmanager
def sealed(loop: VirtualLoop, seed: int, open_transport: Callable[..., Any]) -> Iterator[Clocks]:
    """Inside, time and chance come from the simulation, connections from `open_transport`; the rest raises `Sealed`."""
    clocks = Clocks(loop)
    numbers = random.Random(seed ^ 0xC0FFEE)

    def seeded_source(*_: object) -> random.Random:
        return random.Random(numbers.getrandbits(64))

    accumulator = functools.partial(_accumulator, clocks)
    replaced: list[tuple[object, str, object]] = [
        (time, "monotonic", clocks.monotonic),
        (SystemClock, "monotonic", clocks.monotonic),
        (time, "perf_counter", clocks.monotonic),
        (time, "time", clocks.wall),
        (time, "time_ns", clocks.wall_ns),
        (time, "sleep", _forbidden("time.sleep")),
        (random, "SystemRandom", seeded_source),
        (os, "urandom", _forbidden("os.urandom")),
        (secrets, "token_bytes", _forbidden("secrets")),
        (uuid, "uuid4", _forbidden("uuid.uuid4")),
        (socket, "socket", _forbidden("a socket")),
        (threading.Thread, "start", _forbidden("a thread")),
        (kafka_core.aio.net.connection, "open_transport", open_transport),
        (kafka_core.aio.producing.core, "Accumulator", accumulator),
    ]
    with contextlib.ExitStack() as stack:
        for target, name, value in replaced:
            stack.enter_context(mock.patch.object(target, name, value))
        yield clocks


def _accumulator(clocks: Clocks, **arguments: Any) -> Any:
    return Accumulator(**{**arguments, "time_ms": clocks.wall_ms, "monotonic": clocks.monotonic})
