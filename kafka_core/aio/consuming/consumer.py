"""The asyncio consumer: the same core as the blocking one, on the application's own event loop.

Must not know the protocol or threads: it awaits callbacks and waits for an event; `consumer_calls.py` has the rest.
Spec: confluent_kafka.aio.AIOConsumer for names and arguments; callbacks may be functions or coroutine functions.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

from kafka_core.aio.consuming.consumer_calls import AIOConsumerCalls
from kafka_core.aio.consuming.core import CLOSE_LIMIT_S, ConsumerCore
from kafka_core.aio.consuming.events import Rebalance
from kafka_core.aio.tasks.closing import Closing
from kafka_core.aio.tasks.dropped import Leash
from kafka_core.aio.tasks.handover import Held, weakly
from kafka_core.config import Role, parse
from kafka_core.engine.groups.states import Event
from kafka_core.errors import CONSUMER_CLOSED, StateError
from kafka_core.kernels import Message
from kserdes_base.forks import FORKED, share_no_fork

T = TypeVar("T")

LONGEST_RUN_S: Final = 0.005
"""After so much time without giving way, a poll lets the loop's other tasks run: fetches and heartbeats are there."""


class AIOConsumer(AIOConsumerCalls):
    """A Kafka consumer for asyncio: native, without a thread pool.

    It belongs to the loop on which it is first used, and to that loop's thread. One task polls; others may call
    everything else meanwhile. Callbacks, also those given to `subscribe`, may be coroutine functions, and are awaited.
    Heartbeats run on the same loop: a handler that blocks the loop blocks them too. One that is dropped without
    `close()` gives a ResourceWarning and leaves its group, without callbacks.

    Args:
        consumer_conf: properties as for the blocking Consumer; callbacks may be coroutine functions.
        max_workers: taken for the sake of confluent_kafka's users; there are no worker threads.
        executor: likewise.

    Raises:
        ConfigError: an unknown or ill-typed property, or one that is missing.
    """

    def __init__(self, consumer_conf: Mapping[str, object], max_workers: int = 100, executor: object = None) -> None:
        del max_workers, executor
        self._signal = asyncio.Event()
        self._woken = False
        self._closed = self._forked = False
        self._closing = Closing()
        self._yielded_s = 0.0
        config, self._own_callbacks = weakly(parse(consumer_conf, Role.CONSUMER), awaits=True)
        self._group_callbacks = self._hold_callbacks()
        self._core = core = ConsumerCore(
            config,
            lock=contextlib.nullcontext(),
            wake=self._signal.set,
            post=lambda call: asyncio.get_running_loop().call_soon(call),
        )
        self._queue = self._core.queue
        self._leash = Leash(self, core.client.loop, lambda: _end(core))
        share_no_fork(self)

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Messages until the consumer is closed."""
        while True:
            try:
                message = await self.poll(-1)
            except StateError:
                if self._closed and not self._forked:
                    return
                raise  # an exception of a callback, say: an end would look like a close
            if message is not None:
                yield message

    async def serve(self) -> Message:
        """Runs callbacks when they are due, until there is an event for `poll`: returns that one.

        For a task beside those that poll: rebalances go on though nobody polls, and polls leave the callbacks to it.
        Takes no records, and does not count as a poll: `max.poll.interval.ms` goes on. The blocking consumer has no
        such method.

        Raises:
            StateError: closed, maybe meanwhile, or another task serves. What a callback raises.
        """
        if self._served_elsewhere:
            raise StateError("another task serves this consumer's callbacks")
        self._served_elsewhere = True
        try:
            while True:
                self._check()
                self._signal.clear()
                notice = await self._serve()
                if notice is not None:
                    return notice
                self._check()
                await self._signal.wait()
        finally:
            self._served_elsewhere = False

    async def close(self) -> None:
        """Commits the stored offsets (if commits are automatic), leaves the group, closes all connections.

        on_revoke may be called; what it raises is raised when everything is closed. Bounded in time, whatever the
        brokers do; harmless when called again. A caller that is cancelled does not stop it: it goes on, and the next
        call waits for its end.
        """
        if not self._closed:
            await self._closing.run(self._close)

    async def _close(self) -> None:
        try:
            await self._leave()
        finally:
            self._closed = True
            self._leash.closed()
            self._signal.set()
            await self._serve()

    # ---- how it waits

    async def _enter(self) -> None:
        self._check()
        polls = self._core.polls
        now_s = polls.last_s = time.monotonic()
        if polls.expelled:
            self._core.rebalancing.polled()
        if now_s - self._yielded_s > LONGEST_RUN_S:
            await asyncio.sleep(0)
            self._yielded_s = time.monotonic()

    def _check(self, what: str = CONSUMER_CLOSED) -> None:
        if self._closed:
            raise StateError(FORKED if self._forked else what)

    def _after_fork(self) -> None:
        """In a forked child: see `kserdes_base.forks`. Records that wait here are the parent's."""
        if self._core.client.loop() is not None and not self._closed:
            self._closed = self._forked = True

    async def _sleep(self, seconds: float | None) -> None:
        polls = self._core.polls
        polls.waiting += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._signal.wait()
        finally:
            polls.waiting -= 1
            self._yielded_s = time.monotonic()
            polls.woken(self._yielded_s)
        self._check()

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return await work

    async def _finish(self, event: Event) -> None:
        if not self._closed:
            # A task of its own: a poll() that is cancelled meanwhile must not end the partitions' last commit.
            core = self._core
            await asyncio.shield(core.running.spawn(core.rebalancing.finish(event)))

    def _finish_later(self, event: Event) -> None:
        """Does nothing: `Rebalancing.finish` runs in a task of its own, which goes on."""

    async def _settled(self, result: object) -> None:
        if inspect.isawaitable(result):
            await result

    def _undo(self, call: Callable[[], None]) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return  # the coroutine is thrown away after the end of its loop: there is no next call
        call()

    def _hold_callbacks(self) -> Held:
        return Held(awaits=True)


async def _end(core: ConsumerCore) -> None:
    """Closes the core of a consumer that is gone, as `close` does, without its callbacks."""
    deadline_s = time.monotonic() + CLOSE_LIMIT_S
    try:
        await core.begin_close()
        while core.leaving and time.monotonic() < deadline_s:
            while core.inbox:
                item = core.inbox.popleft()
                if isinstance(item, Rebalance) and await core.rebalancing.begin(item.event):
                    await core.rebalancing.finish(item.event)
            if core.leaving:
                await core.wait_leave(max(0.0, deadline_s - time.monotonic()))
    finally:
        await core.finish_close(max(1.0, deadline_s - time.monotonic()))
