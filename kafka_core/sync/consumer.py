"""The blocking consumer: a thin face over ConsumerCore on a loop thread of its own.

Must not know the protocol: it runs callbacks on the caller's thread, and waits; `consumer_calls.py` has the rest.
Spec: confluent_kafka.Consumer for names, arguments, callbacks and errors; DESIGN §4 and §9.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, TypeVar

from kafka_core.aio.consuming.core import ConsumerCore
from kafka_core.aio.tasks.handover import Held, weakly
from kafka_core.config import Role, joined, parse
from kafka_core.engine.groups.states import Event
from kafka_core.errors import CONSUMER_CLOSED, StateError
from kafka_core.kernels import Message
from kafka_core.sync.consumer_calls import ConsumerCalls
from kafka_core.sync.loop_thread import LoopThread
from kafka_core.sync.precedence import Precedence
from kserdes_base.waiting import Wakeup

T = TypeVar("T")


class Consumer(ConsumerCalls):
    """A Kafka consumer with the API of confluent_kafka.Consumer.

    Records are fetched by a background thread; `poll`, `consume` and `consume_arrow` decode them on the caller's
    thread and run callbacks there. Heartbeats are the background thread's: a slow handler does not delay them, but
    `max.poll.interval.ms` without a poll ends the membership, with an event that says so.

    It may be used from several threads, but a rebalance callback of one holds records back from none of the others.
    It belongs to the process that made it: in a forked child every call raises StateError.

    Args:
        conf: properties; at least `bootstrap.servers` and `group.id`. Callbacks `error_cb`, `stats_cb`, `throttle_cb`,
            `on_commit` are run by poll() and consume().
        **properties: more of them, for names without dots (`logger`).

    Raises:
        ConfigError: an unknown or ill-typed property, or one that is missing.
    """

    def __init__(self, conf: Mapping[str, object] | None = None, **properties: object) -> None:
        config = parse(joined(conf, properties), Role.CONSUMER)
        self._thread = LoopThread("kafka-core-consumer")
        self._signal = Wakeup()
        self._precedence = Precedence()
        self._woken = False
        self._closed = False
        self._closer: int | None = None  # the thread that closes: a callback served meanwhile may call close() again
        thread = weakref.ref(self._thread)  # the core must not keep its own thread alive when we are dropped

        def post(call: Callable[[], object]) -> None:
            if (alive := thread()) is not None and alive.running:
                alive.post(call)

        weak_config, self._own_callbacks = weakly(config)
        self._group_callbacks = self._hold_callbacks()
        self._core = ConsumerCore(
            weak_config, lock=threading.RLock(), wake=self._signal.set, post=post, give_precedence=self._precedence.give
        )
        self._queue = self._core.queue
        cluster = self._core.client
        if cluster.needs_token or config.has_listeners():
            self._thread.begin(_begin(self._core), waits=cluster.awaits_token)

    def __iter__(self) -> Iterator[Message]:
        """Messages for ever (until the consumer is closed by another thread, which raises StateError)."""
        while True:
            message = self.poll(1.0)
            if message is not None:
                yield message

    def close(self) -> None:
        """Commits the stored offsets (if commits are automatic), leaves the group, closes all connections.

        on_revoke may be called; what it raises is raised when everything is closed. Bounded in time, whatever the
        brokers do; harmless when called again. A callback may call it; inside a callback of close() it does nothing.
        """
        if self._closed or self._closer == threading.get_ident():
            return
        if not self._thread.pid_ok():
            self._closed = True  # the parent's connections and membership are the parent's
            return
        self._thread.check_can_wait()
        self._closer = threading.get_ident()
        try:
            if self._thread.running:
                try:
                    self._leave()
                finally:
                    self._serve()
        finally:
            self._closed = self._core.running.closed = True
            self._signal.set()
            self._thread.stop()

    # ---- how it waits

    def _enter(self) -> None:
        if self._closed or not self._thread.pid_ok():
            self._check()
        if self._precedence.given:
            self._precedence.done()
        polls = self._core.polls
        polls.last_s = time.monotonic()
        if polls.expelled:
            self._thread.post(self._core.rebalancing.polled)

    def _check(self, what: str = CONSUMER_CLOSED) -> None:
        if self._closed:
            raise StateError(what)
        self._thread.check()

    def _sleep(self, seconds: float | None) -> None:
        self._thread.check_can_wait()
        if self._precedence.given:  # it takes more before it returns
            self._precedence.done()
        polls = self._core.polls
        polls.waiting += 1
        try:
            self._signal.wait(seconds)
        finally:
            polls.waiting -= 1
            polls.woken(time.monotonic())
        if self._closed:
            raise StateError(CONSUMER_CLOSED)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.run(work)

    def _finish(self, event: Event) -> None:
        if self._thread.running:
            self._thread.run(self._core.rebalancing.finish(event), keep=True)

    def _finish_later(self, event: Event) -> None:
        self._thread.submit(self._core.rebalancing.finish(event))

    def _settled(self, result: object) -> None:
        """Nothing to wait for: coroutine functions were refused."""

    def _undo(self, call: Callable[[], None]) -> None:
        async def undo() -> None:
            call()

        if not self._closed:
            self._run(undo())

    def _hold_callbacks(self) -> Held:
        return Held()


async def _begin(core: ConsumerCore) -> None:
    """Begins a new consumer's work: periodic work, a token, a first connection."""
    await core.running.start()
    await core.client.connect_early()
