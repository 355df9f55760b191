"""The asyncio consumer: the same core as the blocking one, on the application's own event loop.

Must not know the protocol or threads: it takes from the queue, awaits callbacks, and waits for an event.
Spec: confluent_kafka.aio.AIOConsumer for names and arguments; callbacks may be functions or coroutine functions.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from kafka_core.aio.consuming.columns import ColumnTaker
from kafka_core.aio.consuming.core import CLOSE_LIMIT_S, ConsumerCore
from kafka_core.aio.consuming.events import Notice, Rebalance, RebalanceCallbacks
from kafka_core.aio.consuming.settings import check_count, chosen
from kafka_core.aio.consuming.status import ConsumerHealth
from kafka_core.aio.tasks.closing import Closing
from kafka_core.aio.tasks.dropped import Leash
from kafka_core.aio.tasks.handover import Held, weakly
from kafka_core.config import Role, parse
from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.errors import StateError
from kafka_core.kernels import Message
from kafka_core.model import ClusterMetadata, TopicPartition

if TYPE_CHECKING:
    import pyarrow

LONGEST_RUN_S: Final = 0.005
"""After so much time without giving way, a poll lets the loop's other tasks run: fetches and heartbeats are there."""


class AIOConsumer:
    """A Kafka consumer for asyncio: native, without a thread pool.

    It belongs to the loop on which it is first used. One task polls; others may call everything else meanwhile.
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
        self._closed = False
        self._closing = Closing()
        self._yielded_s = 0.0
        config, self._own_callbacks = weakly(parse(consumer_conf, Role.CONSUMER), awaits=True)
        self._group_callbacks = Held(awaits=True)
        self._core = core = ConsumerCore(
            config,
            lock=contextlib.nullcontext(),
            wake=self._signal.set,
            post=lambda call: asyncio.get_running_loop().call_soon(call),
        )
        self._queue = self._core.queue
        self._leash = Leash(self, core.client.loop, lambda: _end(core))

    # ---- records

    async def poll(self, timeout: float | None = None) -> Message | None:
        """The next record, or a Message whose `error()` tells what happened; see `Consumer.poll`."""
        await self._enter()
        if not self._core.inbox:
            ready: Message | None = self._queue.next()
            if ready is not None:
                return ready
        found: list[Message] = []

        def attempt(notice: Message | None) -> bool:
            message = self._queue.next() if notice is None else notice
            if message is not None:
                found.append(message)
            return message is not None

        await self._until(timeout, attempt)
        return found[0] if found else None

    async def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        """Up to `num_messages` records and events; see `Consumer.consume`."""
        check_count(num_messages)
        await self._enter()
        found: list[Message] = []

        def attempt(notice: Message | None) -> bool:
            if notice is not None:
                found.append(notice)
            self._queue.take(found, num_messages - len(found))
            return len(found) >= num_messages or (bool(found) and not self._core.positions.more_expected())

        try:
            await self._until(timeout, attempt, lambda: bool(found))
        except BaseException:  # cancelled, above all: what it has so far must not be lost
            self._core.positions.hand_back(found)
            raise
        self._queue.given()
        return found

    async def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """Up to `num_messages` records as one Arrow RecordBatch; see `Consumer.consume_arrow`."""
        from kafka_core.records.arrow import ColumnSink

        check_count(num_messages)
        await self._enter()
        columns = ColumnTaker(self._core, ColumnSink(), num_messages)
        try:
            await self._until(timeout, columns.attempt, lambda: bool(columns.sink.rows))
            batch = columns.sink.finish()
        except BaseException:
            self._core.positions.hand_back_from(columns.first)
            raise
        self._queue.given()
        return batch

    def hand_back(self, taken: Sequence[Message] | pyarrow.RecordBatch) -> None:
        """See `Consumer.hand_back`; on the loop's thread."""
        self._core.positions.hand_back(taken, unstore=True)

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Messages until the consumer is closed."""
        while True:
            try:
                message = await self.poll(-1)
            except StateError:
                return
            if message is not None:
                yield message

    def wakeup(self) -> None:
        """Makes a waiting `poll` or `consume` return at once; if none waits, the next one. On the loop's thread."""
        self._woken = True
        self._signal.set()

    async def _enter(self) -> None:
        """What every poll does first."""
        self._check()
        core = self._core
        now_s = core.polls.last_s = time.monotonic()
        if core.polls.expelled:
            core.rebalancing.polled()
        if now_s - self._yielded_s > LONGEST_RUN_S:
            await asyncio.sleep(0)
            self._yielded_s = time.monotonic()

    def _check(self) -> None:
        if self._closed:
            raise StateError("the consumer is closed")

    async def _until(
        self,
        timeout: float | None,
        attempt: Callable[[Message | None], bool],
        has_some: Callable[[], bool] = lambda: False,
    ) -> None:
        """Awaits callbacks and tries, until `attempt` is content or the time is over; see the blocking twin."""
        core, signal = self._core, self._signal
        deadline_s = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        self._queue.waiting = True
        try:
            while True:
                signal.clear()
                if core.inbox and has_some():
                    return
                if attempt(await self._serve() if core.inbox else None):
                    return
                left_s = None if deadline_s is None else deadline_s - time.monotonic()
                if self._woken or (left_s is not None and left_s <= 0):
                    self._woken = False
                    return
                await self._sleep(left_s)
        finally:
            self._queue.waiting = False

    async def _sleep(self, seconds: float | None) -> None:
        core = self._core
        core.polls.waiting += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._signal.wait()
        finally:
            core.polls.waiting -= 1
            core.polls.last_s = self._yielded_s = time.monotonic()
        self._check()

    # ---- callbacks

    async def _serve(self) -> Message | None:
        """Awaits the callbacks that are due, in order, up to the first notice, which it gives back."""
        core = self._core
        while core.inbox:
            item = core.inbox.popleft()
            if isinstance(item, Notice):
                return item.message
            if isinstance(item, Rebalance):
                await self._rebalance(item)
            elif (call := core.inbox.callbacks.call_for(item)) is not None:
                await settled(call[0](*call[1]))
        return None

    async def _rebalance(self, item: Rebalance) -> None:
        """Awaits on_assign, on_revoke or on_lost; whatever it raises, the group goes on, and then it is raised."""
        core, event = self._core, item.event
        callback = core.rebalancing.callbacks.for_event(event)
        if not await core.rebalancing.begin(event):
            return
        try:
            if callback is not None:
                partitions = [TopicPartition(topic, number) for topic, number in sorted(event.partitions)]
                await settled(callback(self, partitions))
        finally:
            if not self._closed:  # the callback may have closed this consumer
                # A task of its own: a poll() that is cancelled meanwhile must not end the partitions' last commit.
                await asyncio.shield(core.running.spawn(core.rebalancing.finish(event)))

    # ---- subscription and assignment

    async def subscribe(
        self,
        topics: Sequence[str],
        on_assign: Callable[[Any, list[TopicPartition]], object] | None = None,
        on_revoke: Callable[[Any, list[TopicPartition]], object] | None = None,
        on_lost: Callable[[Any, list[TopicPartition]], object] | None = None,
    ) -> None:
        """Joins the group for these topics; see `Consumer.subscribe`. The callbacks may be coroutine functions."""
        self._check()
        held, given = Held(awaits=True), RebalanceCallbacks(on_assign, on_revoke, on_lost)
        calls = {name: getattr(given, name) for name in ("on_assign", "on_revoke", "on_lost")}
        weak = {name: held.weak(name, call) for name, call in calls.items() if call is not None}
        await self._core.subscribing.subscribe(topics, RebalanceCallbacks(**weak))
        self._group_callbacks = held

    async def unsubscribe(self) -> None:
        """Ends the subscription; see `Consumer.unsubscribe`."""
        self._check()
        await self._core.subscribing.unsubscribe()

    async def subscription(self) -> list[str]:
        """The topics and patterns given to subscribe()."""
        self._check()
        return self._core.subscription()

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads exactly these partitions; see `Consumer.assign`."""
        self._check()
        await self._core.assigning.assign(partitions)

    async def unassign(self) -> None:
        """Reads nothing any more."""
        self._check()
        await self._core.assigning.unassign()

    async def incremental_assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads these partitions too."""
        self._check()
        await self._core.assigning.incremental_assign(partitions)

    async def incremental_unassign(self, partitions: Sequence[TopicPartition]) -> None:
        """Stops reading these partitions."""
        self._check()
        await self._core.assigning.incremental_unassign(partitions)

    async def assignment(self) -> list[TopicPartition]:
        """What is assigned at the moment."""
        self._check()
        return self._core.assignment.partitions()

    # ---- positions

    async def seek(self, partition: TopicPartition) -> None:
        """Goes on reading an assigned partition from `partition.offset`."""
        self._check()
        await self._core.positions.seek(partition)

    async def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Hands out nothing of these partitions until `resume`."""
        self._check()
        await self._core.positions.pause(partitions)

    async def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Ends `pause`."""
        self._check()
        await self._core.positions.resume(partitions)

    async def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The partitions with the offset after the last record handed out."""
        self._check()
        return self._core.positions.position(partitions)

    async def get_watermark_offsets(
        self, partition: TopicPartition, timeout: float | None = None, cached: bool = False
    ) -> tuple[int, int]:
        """First offset of a partition and the one after its last record; see `Consumer.get_watermark_offsets`."""
        self._check()
        if cached:
            return self._core.lookups.cached_watermarks(partition)
        return await self._core.lookups.watermarks(partition, timeout)

    async def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout: float | None = None
    ) -> list[TopicPartition]:
        """The first offset at or after a time; see `Consumer.offsets_for_times`."""
        self._check()
        return await self._core.lookups.offsets_for_times(partitions, timeout)

    # ---- commits

    async def commit(
        self,
        message: Message | None = None,
        offsets: Sequence[TopicPartition] | None = None,
        asynchronous: bool = True,
    ) -> list[TopicPartition] | None:
        """Commits; see `Consumer.commit`."""
        self._check()
        core = self._core
        partitions = chosen(message, offsets, "commit")
        commits = core.committer.pick(partitions)
        if not asynchronous:
            return await core.commit(commits)
        await core.commit_soon(commits, partitions)
        return None

    async def store_offsets(
        self, message: Message | None = None, offsets: Sequence[TopicPartition] | None = None
    ) -> None:
        """Stores offsets for the next commit; `enable.auto.offset.store` must be off."""
        self._check()
        self._core.positions.store_offsets(message, offsets)

    async def committed(
        self, partitions: Sequence[TopicPartition], timeout: float | None = None
    ) -> list[TopicPartition]:
        """What the group has committed for these partitions."""
        self._check()
        return await self._core.lookups.committed(partitions, timeout)

    # ---- facts

    async def list_topics(self, topic: str | None = None, timeout: float = -1) -> ClusterMetadata:
        """The cluster's brokers and topics (or one topic)."""
        self._check()
        return await self._core.lookups.list_topics(topic, timeout)

    async def cluster_id(self, timeout: float = -1) -> str | None:
        """The cluster's id."""
        self._check()
        return await self._core.lookups.cluster_id(timeout)

    async def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these when a connection authenticates the next time; see `Consumer.set_sasl_credentials`."""
        self._check()
        self._core.client.set_sasl_credentials(username, password)

    async def memberid(self) -> str | None:
        """This member's id in the group; None while it has none."""
        self._check()
        return self._core.membership.member_id or None

    async def consumer_group_metadata(self) -> ConsumerGroupMetadata:
        """The membership as a transactional producer wants it."""
        self._check()
        return self._core.membership.identity()

    def health(self) -> ConsumerHealth:
        """How the consumer is. Works when closed, too."""
        return self._core.health()

    # ---- the end

    async def close(self) -> None:
        """Commits what is stored, leaves the group, closes all connections; see `Consumer.close`.

        A caller that is cancelled does not stop it: it goes on, and the next call waits for its end.
        """
        if not self._closed:
            await self._closing.run(self._close)

    async def _close(self) -> None:
        core = self._core
        deadline_s = time.monotonic() + CLOSE_LIMIT_S
        try:
            await core.begin_close()
            while core.leaving and time.monotonic() < deadline_s:
                if await self._serve() is None and core.leaving:
                    await core.wait_leave(max(0.0, deadline_s - time.monotonic()))
        finally:
            await core.finish_close(max(1.0, deadline_s - time.monotonic()))
            self._closed = core.running.closed = True
            self._leash.closed()
            self._signal.set()
            await self._serve()

    async def __aenter__(self) -> Self:
        self._check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AIOConsumer of group {self._core.config.text('group.id')!r}{', closed' if self._closed else ''}>"


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
        core.running.closed = True


async def settled(result: object) -> None:
    """Awaits what a callback gave back, if it can be awaited."""
    if inspect.isawaitable(result):
        await result
