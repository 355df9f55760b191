"""Whether a consumer runs, and what it runs beside everything else: background tasks and periodic work.

Must not know what the work does.
Spec: none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.tasks.background import background, every
from kafka_core.clock import Clock
from kafka_core.errors import CONSUMER_CLOSED, StateError


class Running:
    """The life of one consumer: made anywhere, started by the first call that needs brokers, ended once.

    Attributes:
        started: the cluster client and the periodic work have been started.
        made_at_s: when, on the monotonic clock.
        closing: no partitions are taken any more. `closed`: no calls either.
    """

    def __init__(self, client: ClusterClient, clock: Clock) -> None:
        self.started = self.closing = self.closed = False
        self.made_at_s = clock.monotonic()
        self._client = client
        self._clock = clock
        self._periodic: list[tuple[float, Callable[[], Awaitable[object]]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def every(self, interval_s: float, work: Callable[[], Awaitable[object]]) -> None:
        """Does `work` every `interval_s` from the start on; call it before the start."""
        self._periodic.append((interval_s, work))

    async def start(self) -> None:
        """Starts the background work; harmless when called again.

        Raises:
            StateError: closed.
        """
        if self.closed:
            raise StateError(CONSUMER_CLOSED)
        if self.started:
            return
        self.started = True
        await self._client.start()
        for interval_s, work in self._periodic:
            self.spawn(every(interval_s, work, self._clock))

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """Runs a coroutine beside everything else, until it ends or the consumer is closed."""
        task: asyncio.Task[Any] = background(work, "kafka-core-consumer")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Ends all background work."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
