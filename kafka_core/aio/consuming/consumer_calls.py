"""The methods of the asyncio consumer: taking records and events, running callbacks, and calls of the core.

Knows nothing of threads or of how a call waits: the shell supplies that. `tools/generate_twins.py` writes the methods
that wait from those that await.
Spec: confluent_kafka.Consumer for names, arguments, callbacks and errors; DESIGN §4.
"""

from __future__ import annotations

import itertools
import time
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kafka_core.aio.consuming.assigning import caller
from kafka_core.aio.consuming.columns import ColumnTaker
from kafka_core.aio.consuming.core import CLOSE_LIMIT_S, ConsumerCore
from kafka_core.aio.consuming.events import Item, Notice, Rebalance, RebalanceCallbacks
from kafka_core.aio.consuming.settings import check_count, chosen
from kafka_core.aio.consuming.status import ConsumerHealth, PartitionStatus, partition_status
from kafka_core.aio.tasks.handover import Held
from kafka_core.aio.tasks.timeouts import deadline_after
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.groups.states import Event
from kafka_core.errors import CONSUMER_CLOSED, HANDLE_CLOSED, BrokerError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition, Uuid

if TYPE_CHECKING:
    import pyarrow

    from kafka_core.admin_model import ListOffsetsResultInfo
    from kafka_core.admin_offsets import OffsetSpec
    from kafka_core.listings import ClusterMetadata

T = TypeVar("T")


class AIOConsumerCalls:
    """The methods that both consumers share; the shell of each supplies the rest, and the waiting."""

    _core: ConsumerCore
    _queue: FetchQueue
    _signal: Any
    _woken: bool
    _closed: bool
    _group_callbacks: Held
    _served_elsewhere: bool = False
    """Another task runs the callbacks: calls that poll leave them alone."""

    # ---- the shell

    @abstractmethod
    async def _enter(self) -> None:
        """Begins a call that polls: refuses a closed consumer, notes the time."""

    @abstractmethod
    def _check(self, what: str = CONSUMER_CLOSED) -> None:
        """Refuses a consumer that cannot be used any more, with a StateError."""

    @abstractmethod
    async def _sleep(self, seconds: float | None) -> None:
        """Waits until `_signal` is set, at most so long; meanwhile the application counts as polling."""

    @abstractmethod
    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the core on its loop."""

    @abstractmethod
    async def _finish(self, event: Event) -> None:
        """Runs `Rebalancing.finish` to its end, even if the caller stops waiting; not after a callback's close()."""

    @abstractmethod
    def _finish_later(self, event: Event) -> None:
        """Starts `Rebalancing.finish` without waiting for it, for a caller interrupted before its wait began."""

    @abstractmethod
    async def _settled(self, result: object) -> None:
        """Awaits the result of a callback if it is awaitable."""

    @abstractmethod
    def _undo(self, call: Callable[[], None]) -> None:
        """Runs a function on the loop that hands back the records of an interrupted call."""

    @abstractmethod
    def _hold_callbacks(self) -> Held:
        """A holder for the callbacks of a subscription."""

    @abstractmethod
    async def close(self) -> None:
        """Commits the stored offsets, leaves the group and closes all connections."""

    async def _call(self, work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        """A coroutine of the core; refused if the consumer is closed."""
        self._check()
        return await self._run(work(*arguments))

    # ---- records

    async def poll(self, timeout: float | None = None) -> Message | None:
        """The next record, or a Message with an `error()`; runs callbacks that are due.

        Args:
            timeout: seconds to wait; None or negative: until there is something.

        Returns:
            None if there was nothing in time, or after `wakeup()`.

        Raises:
            StateError: closed, or used in a forked child.
        """
        await self._enter()
        try:
            if not self._core.inbox:
                ready: Message | None = self._queue.next()
                if ready is not None:
                    return ready
        except BaseException:  # Ctrl-C: the queue has mended itself, and its partition is to be fetched again
            self._undo(lambda: self._core.positions.hand_back([]))
            raise
        found: list[Message] = []

        def attempt(notice: Message | None) -> bool:
            message = self._queue.next() if notice is None else notice
            if message is not None:
                found.append(message)
            return message is not None

        try:
            await self._until(timeout, attempt)
        except BaseException:
            self._undo(lambda: self._core.positions.hand_back(found))
            raise
        return found[0] if found else None

    async def consume(
        self, num_messages: int = 1, timeout: float = -1, *, partitions: Sequence[TopicPartition] | None = None
    ) -> list[Message]:
        """Up to `num_messages` records and events, as from `poll`.

        Waits until the list is full, the time is over, or it has something and the brokers are known to have no more
        (confluent_kafka would wait for the whole time).

        When assign(), seek() or unassign() is called meanwhile, by another thread or task, what this call had taken
        before is returned all the same: records of the old position come first, those of the new one after them. Where
        that matters, do not call them at the same time.

        Args:
            partitions: take the records of these only; those of the others stay where they are. None: of all.
                confluent_kafka has no such argument.

        Raises:
            ValueError: more than 1,000,000 messages are asked for.
            StateError: closed, or used in a forked child.
        """
        check_count(num_messages)
        only = None if partitions is None else {(item.topic, item.partition) for item in partitions}
        await self._enter()
        found: list[Message] = []

        def attempt(notice: Message | None) -> bool:
            if notice is not None:
                found.append(notice)
            self._queue.take(found, num_messages - len(found), only)
            return len(found) >= num_messages or (bool(found) and not self._core.positions.more_expected(only))

        try:
            await self._until(timeout, attempt, lambda: bool(found))
            self._queue.given()
        except BaseException:  # Ctrl-C, a cancelled task: what it has so far must not be lost
            self._undo(lambda: self._core.positions.hand_back(found))
            raise
        return found

    async def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """Up to `num_messages` records as one Arrow RecordBatch, without a Python object per record.

        Columns: topic, partition, offset, timestamp (ms, UTC), timestamp_type, key, value, headers. Waits like
        `consume`. End-of-partition events are passed over.

        Raises:
            ConsumeError: what `consume` would give as a Message with an error. Records before it were handed out
                earlier; those behind it come with the next call.
            ImportError: pyarrow is not installed.
        """
        from kafka_core.records.arrow import ColumnSink

        check_count(num_messages)
        await self._enter()
        columns = ColumnTaker(self._core, ColumnSink(), num_messages)
        try:
            await self._until(timeout, columns.attempt, lambda: bool(columns.sink.rows))
            batch = columns.sink.finish()
            self._queue.given()
        except BaseException:
            self._undo(lambda: self._core.positions.hand_back_from(columns.first))
            raise
        return batch

    def hand_back(self, taken: Sequence[Message] | pyarrow.RecordBatch) -> None:
        """Undoes the last `poll`, `consume` or `consume_arrow`: its records come again, and offsets stored behind them
        are taken back.

        For whoever wraps a consumer and is interrupted (Ctrl-C, a cancelled task) before it has given them on. A
        partition that was moved meanwhile (a seek, a rebalance) stays where it is.

        Args:
            taken: all that the call had returned, in order.
        """
        self._undo(lambda: self._core.positions.hand_back(taken, unstore=True))

    def wakeup(self) -> None:
        """Makes a `poll` or `consume` that waits return at once; if none waits, the next one."""
        self._woken = True
        self._signal.set()

    async def _until(
        self,
        timeout: float | None,
        attempt: Callable[[Message | None], bool],
        has_some: Callable[[], bool] = lambda: False,
    ) -> None:
        """Runs due callbacks and calls `attempt` in turn, until `attempt` has a result or the time is over.

        Args:
            attempt: is given a notice (a Message that is no record) or None; says whether it has enough.
            has_some: whether there is something to return. That goes before callbacks: one that commits, as on_revoke
                may, would commit records which the application has not seen.
        """
        core, signal = self._core, self._signal
        deadline_s = deadline_after(timeout)
        self._queue.waiting += 1
        try:
            while True:
                signal.clear()  # before looking: what comes after the look sets it again
                if core.inbox and has_some() and not self._served_elsewhere:
                    return
                if attempt(await self._serve() if core.inbox and not self._served_elsewhere else None):
                    return
                self._check()  # a callback may have closed it, however much time is left
                left_s = None if deadline_s is None else deadline_s - time.monotonic()
                if self._woken or (left_s is not None and left_s <= 0):
                    self._woken = False
                    return
                await self._sleep(left_s)
        finally:
            self._queue.waiting -= 1

    # ---- callbacks

    async def _serve(self) -> Message | None:
        """Runs the callbacks that are due, in order, up to the first notice, which it gives back.

        An item whose callback was interrupted by Ctrl-C before it began stays due.
        """
        core = self._core
        while core.inbox:
            taken: list[Item] = []
            try:
                # One call of C code moves it: no signal handler runs in between.
                taken.extend(itertools.starmap(core.inbox.popleft, ((),)))
                item = taken[0]
                if isinstance(item, Notice):
                    return item.message
                event = item.event if isinstance(item, Rebalance) else None
                if event is not None and not await self._run(core.rebalancing.begin(event)):
                    continue
                call = self._call_for(item)
            except BaseException:
                core.inbox.extendleft(taken)
                raise
            try:
                if call is not None:
                    token = caller.set(event)
                    try:
                        await self._settled(call())
                    finally:
                        caller.reset(token)
            finally:  # whatever the callback raises, the group goes on
                try:
                    if event is not None:
                        await self._finish(event)
                except BaseException:
                    if event is not None and core.assigning.event == event:
                        self._finish_later(event)
                    raise
        return None

    def _call_for(self, item: Item) -> Callable[[], object] | None:
        """The application's callback for an item, ready to be called."""
        core = self._core
        if not isinstance(item, Rebalance):
            found = core.inbox.callbacks.call_for(item)
            return None if found is None else partial(found[0], *found[1])
        callback = core.rebalancing.callbacks.for_event(item.event)
        partitions = [TopicPartition(topic, number) for topic, number in sorted(item.event.partitions)]
        return None if callback is None else partial(callback, self, partitions)

    # ---- subscription and assignment

    async def subscribe(
        self,
        topics: Sequence[str],
        on_assign: Callable[[Any, list[TopicPartition]], object] | None = None,
        on_revoke: Callable[[Any, list[TopicPartition]], object] | None = None,
        on_lost: Callable[[Any, list[TopicPartition]], object] | None = None,
    ) -> None:
        """Joins the group for these topics; replaces an earlier subscription. Does not wait for the assignment.

        The callbacks run in poll(), consume() or close() with this consumer and a list of partitions. In them assign(),
        unassign() and the incremental ones may be called to begin elsewhere; the rest is done for the callback.

        Args:
            topics: names, and regular expressions that begin with `^`.
            on_lost: partitions are gone (expired membership); on_revoke is called if there is none.

        Raises:
            TypeError, ConfigError: no list of names, or a wrong pattern.
            StateError: closed or forked.
        """
        held, given = self._hold_callbacks(), RebalanceCallbacks(on_assign, on_revoke, on_lost)
        calls = {name: getattr(given, name) for name in ("on_assign", "on_revoke", "on_lost")}
        weak = {name: held.weak(name, call) for name, call in calls.items() if call is not None}
        await self._call(self._core.subscribing.subscribe, topics, RebalanceCallbacks(**weak))
        self._group_callbacks = held

    async def unsubscribe(self) -> None:
        """Ends the subscription: the partitions are given up (on_revoke, at the next poll) and the group is left."""
        await self._call(self._core.subscribing.unsubscribe)

    async def subscription(self) -> list[str]:
        """The topics and patterns given to subscribe()."""
        self._check()
        return self._core.subscription()

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads exactly these partitions, each from its `offset` (by default the committed one)."""
        await self._call(self._core.assigning.assign, partitions)

    async def unassign(self) -> None:
        """Reads nothing any more."""
        await self._call(self._core.assigning.unassign)

    async def incremental_assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads these partitions too. Raises ConfigError if one is assigned already."""
        await self._call(self._core.assigning.incremental_assign, partitions)

    async def incremental_unassign(self, partitions: Sequence[TopicPartition]) -> None:
        """Stops reading these partitions. Raises ConfigError if one is not assigned."""
        await self._call(self._core.assigning.incremental_unassign, partitions)

    async def assignment(self) -> list[TopicPartition]:
        """The partitions that are assigned at the moment."""
        self._check()
        return self._core.assignment.partitions()

    # ---- positions

    async def seek(self, partition: TopicPartition) -> None:
        """Goes on reading an assigned partition from `partition.offset`. Raises StateError if it is not assigned."""
        await self._call(self._core.positions.seek, partition)

    async def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Returns no records of these partitions until `resume`; fetched ones are kept.

        Rebalances, `assign` and `unassign` do not end a pause: a partition that comes back is paused still.
        """
        await self._call(self._core.positions.pause, partitions)

    async def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Ends `pause`."""
        await self._call(self._core.positions.resume, partitions)

    async def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The partitions with offset and epoch after the last record taken or passed; OFFSET_INVALID before the first.

        Records of aborted transactions and markers are passed without being handed out.
        """
        self._check()
        return self._core.positions.position(partitions)

    async def get_watermark_offsets(
        self, partition: TopicPartition, timeout: float | None = None, cached: bool = False
    ) -> tuple[int, int]:
        """First offset of a partition and the one after its last record.

        Args:
            cached: as the last fetch told (OFFSET_INVALID if there was none), without asking the broker.

        Raises:
            TypeError: `cached` is no truth value.
            NetworkError: nobody answered in time.
        """
        self._check()
        if index(cached):
            return self._core.lookups.cached_watermarks(partition)
        return await self._run(self._core.lookups.watermarks(partition, timeout))

    async def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout: float | None = None
    ) -> list[TopicPartition]:
        """The first offset at or after a time (ms, in each partition's `offset`); OFFSET_END if there is none."""
        return await self._call(self._core.lookups.offsets_for_times, partitions, timeout)

    async def next_offset(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the record of an assigned partition that comes next; waits until it is found out.

        Unlike `position` it has an answer before the first record was handed out: where reading begins. confluent_kafka
        has no such method.

        Raises:
            StateError: the partition is not assigned; closed.
            KafkaException: _AUTO_OFFSET_RESET: nothing says where to begin; _TIMED_OUT.
        """
        return await self._call(self._core.positions.next_offset, partition, timeout)

    def partition_status(self, partition: TopicPartition) -> PartitionStatus | None:
        """The known status of an assigned partition, without a request; None if it is not assigned. Any thread.

        confluent_kafka has no such method.
        """
        return partition_status(self._core, (partition.topic, partition.partition))

    async def list_offsets(
        self, topic_partition_offsets: Mapping[TopicPartition, OffsetSpec], timeout: float | None = None
    ) -> dict[TopicPartition, ListOffsetsResultInfo | KafkaException]:
        """First, last or other offsets of partitions, assigned or not, with the times of those found by time.

        As `AdminClient.list_offsets`, by the isolation level of this consumer. confluent_kafka's consumer has no such
        method.

        Returns:
            A result per partition, offset -1 where there is none, or the exception of a partition that failed.
        """
        return await self._call(self._core.lookups.list_offsets, topic_partition_offsets, timeout)

    # ---- commits

    async def commit(
        self,
        message: Message | None = None,
        offsets: Sequence[TopicPartition] | None = None,
        asynchronous: bool = True,
    ) -> list[TopicPartition] | None:
        """Commits a message's offset + 1, the given offsets, or (with neither) the stored ones.

        Args:
            asynchronous: return None at once, the result goes to `on_commit`; else wait.

        Returns:
            The committed partitions; None if asynchronous.

        Raises:
            ValueError: message and offsets are both given.
            KafkaException: the message carries an error; when waiting also _NO_OFFSET if there is nothing to commit
                (asynchronous: on_commit is told), and what made the commit fail, of all partitions or of one.
        """
        self._check()
        core = self._core
        partitions = chosen(message, offsets, "commit")
        commits = core.committer.pick(partitions)
        if not asynchronous:
            done = await self._run(core.commit(commits))
            failed = next((item.error for item in done if item.error is not None), None)
            if failed is not None:
                raise BrokerError(failed.code(), f"Commit failed: {failed.str()}")
            return done
        await self._run(core.commit_soon(commits, partitions))
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
        """The group's committed offsets of these partitions, OFFSET_INVALID where there is none."""
        return await self._call(self._core.lookups.committed, partitions, timeout)

    # ---- facts

    async def list_topics(self, topic: str | None = None, timeout: float = -1) -> ClusterMetadata:
        """The cluster's brokers and topics (or one topic)."""
        self._check(HANDLE_CLOSED)
        return await self._call(self._core.lookups.list_topics, topic, timeout)

    async def cluster_id(self, timeout: float = -1) -> str | None:
        """The cluster's id."""
        self._check(HANDLE_CLOSED)
        return await self._call(self._core.lookups.cluster_id, timeout)

    async def client_instance_id(self, timeout: float = -1) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        self._check(HANDLE_CLOSED)
        return await self._call(self._core.lookups.client_instance_id, timeout)

    async def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these when a connection authenticates the next time (PLAIN, SCRAM); open connections stay open."""
        self._check(HANDLE_CLOSED)
        self._core.client.set_sasl_credentials(username, password)

    async def memberid(self) -> str | None:
        """This member's id in the group; None while it has none."""
        self._check()
        return self._core.membership.member_id or None

    async def consumer_group_metadata(self) -> ConsumerGroupMetadata:
        """The membership, for `Producer.send_offsets_to_transaction`."""
        self._check()
        return self._core.membership.identity()

    def partitions_given_up(self) -> int:
        """The number of partitions ever taken away from this consumer: if it grew during a transaction, records read in
        it may be another member's by now. confluent_kafka has no such method."""
        return self._core.assignment.given_up

    def health(self) -> ConsumerHealth:
        """The consumer's health: membership, ages of the last heartbeat and poll, lag, errors. Works after closing."""
        return self._core.health()

    # ---- the end

    async def _leave(self) -> None:
        """Leaves the group, running the callbacks for that, and closes the core. Bounded in time beside callbacks."""
        core = self._core
        deadline_s = time.monotonic() + CLOSE_LIMIT_S
        try:
            await self._run(core.begin_close())
            while core.leaving and time.monotonic() < deadline_s:
                if await self._serve() is None and core.leaving:
                    await self._run(core.wait_leave(max(0.0, deadline_s - time.monotonic())))
        finally:
            await self._run(core.finish_close(max(1.0, deadline_s - time.monotonic())))

    async def __aenter__(self) -> Self:
        self._check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        group_id = self._core.config.text("group.id")
        return f"<{type(self).__name__} of group {group_id!r}{', closed' if self._closed else ''}>"
