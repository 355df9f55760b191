"""The consumer on its event loop: puts assignment, fetching, group and commits together for both faces.

Must not know threads: the lock and the wake-up that its face needs are handed in; coroutines run on one loop.
Spec: DESIGN §4; names and behaviour are those of confluent_kafka.Consumer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.commits import Committer
from kafka_core.aio.consuming.events import (
    TOLD_AT_ONCE,
    ClientError,
    CommitDone,
    Item,
    Notice,
    Rebalance,
    RebalanceCallbacks,
    Statistics,
    Throttled,
)
from kafka_core.aio.consuming.fetch import FetchLoop
from kafka_core.aio.consuming.group import GroupDriver
from kafka_core.aio.consuming.position_finder import PositionFinder
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.consuming.settings import callbacks_of, checked, chosen, fetch_settings, group_settings
from kafka_core.aio.consuming.status import ConsumerHealth, health, statistics
from kafka_core.aio.tasks.background import background, every
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.administering.topics import cluster_metadata
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.fetcher import Fetcher
from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    Assignment,
    Key,
    PartitionState,
    Phase,
    Subscription,
    check_offset,
)
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.groups.states import Event, EventKind, State
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Backoff, classify
from kafka_core.errors import ConfigError, KafkaError, KafkaException, StateError
from kafka_core.hooks import Hooks
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_END, OFFSET_INVALID, ClusterMetadata, ThrottleEvent, TopicPartition
from kafka_core.records import open_batches

if TYPE_CHECKING:
    import pyarrow

logger: Final = logging.getLogger("kafka_core.consumer")

CLOSE_LIMIT_S: Final = 10.0
"""How long closing may take beside the application's own callbacks."""
KIB: Final = 1024


class ConsumerCore:
    """A consumer without a face. Coroutines and `on_` methods belong on its loop; the rest says where it may be called.

    Args:
        config: parsed for a consumer.
        lock: guards what the loop and the taker share; a null context if both are one thread.
        wake: tells the taker (who may wait) that there is something in `queue` or `inbox`; called on the loop.
        post: runs a call on the loop, from the taker's thread.
        client: for tests.

    Attributes:
        queue: records to take. `inbox`: other things to tell, first come first served (append and popleft are atomic).
        last_poll_s: set by the face at each poll. `polling`: the application is inside a call that polls.
        expelled: the membership ended for want of polls: the face must call `polled` at the next one.
    """

    def __init__(
        self,
        config: Config,
        *,
        lock: AbstractContextManager[Any],
        wake: Callable[[], object],
        post: Callable[[Callable[[], object]], object],
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: ClusterClient | None = None,
    ) -> None:
        self.config = config
        self.clock = clock or SystemClock()
        rng = rng or random.SystemRandom()
        self._wake = wake
        self.inbox: deque[Item] = deque()
        self.callbacks = callbacks_of(config)
        self.rebalance_callbacks = RebalanceCallbacks()
        self.subscription: Subscription | None = None
        self.assignment = Assignment()
        self.last_poll_s = self.clock.monotonic()
        self.polling = 0
        self.expelled = False
        self.waiting = False
        self.closing = self.closed = False
        self.active_event: Event | None = None
        self._changing = asyncio.Lock()
        self._handled = False
        self._started = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._unknown_topics: set[str] = set()
        self.hooks = self._make_hooks()
        self.client = client or ClusterClient(config, clock=self.clock, rng=rng, hooks=self.hooks)
        self._backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), rng)
        self.settings = fetch_settings(config)
        marks = Marks(config.integer("queued.min.messages"), config.integer("queued.max.messages.kbytes") * KIB)
        self._auto_store = config.flag("enable.auto.offset.store")
        self.queue = FetchQueue(
            marks,
            lock,
            wake,
            lambda: post(self._poke_fetch),
            auto_store=self._auto_store,
            event=error_message,
        )
        self.membership = Membership(group_settings(config), self._backoff)
        self._timeout_s = config.seconds("socket.timeout.ms")
        self._connect(rng)

    def _connect(self, rng: random.Random) -> None:
        """Makes the parts that work on the loop."""
        config, clock = self.config, self.clock
        self.rpc = ConsumerRpc(self.client, clock, self._backoff, config.text("group.id"), self._timeout_s)
        fetch_backoff = Backoff(
            config.integer("fetch.error.backoff.ms"), max(1000, config.integer("fetch.error.backoff.ms")), rng
        )
        fetcher = Fetcher(self.settings, self.assignment, self.queue, open_batches, error_message, fetch_backoff)
        self._positions = PositionFinder(
            self.assignment,
            self.queue,
            self.client,
            self.rpc,
            self.settings,
            clock,
            self._backoff,
            self.identity,
            self._report_partition,
            lambda: self._fetches.poke(),
        )
        self._fetches = FetchLoop(self.client, fetcher, self._positions, clock, self.hooks, self._timeout_s)
        self.group = GroupDriver(self.membership, self.client, self.rpc, clock, self, self._last_poll)
        self.committer = Committer(
            self.assignment, self.membership, self.rpc, self.identity, self.tell, self.group.poke
        )
        self.client.on_metadata(self._on_metadata)
        self.client.on_error(self._on_client_error)

    # ---- life

    async def start(self) -> None:
        """Starts the background work; harmless when called again.

        Raises:
            StateError: closed.
        """
        if self.closed:
            raise StateError("Consumer closed")
        if self._started:
            return
        self._started = True
        await self.client.start()
        if self.config.flag("enable.auto.commit") and self.config.integer("auto.commit.interval.ms") > 0:
            self.spawn(every(self.config.seconds("auto.commit.interval.ms"), self.committer.auto_commit, self.clock))
        if self.callbacks.stats_cb is not None and self.config.integer("statistics.interval.ms") > 0:
            self.spawn(every(self.config.seconds("statistics.interval.ms"), self._tell_statistics, self.clock))

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        """Runs a coroutine beside everything else, until it ends or the consumer is closed."""
        task: asyncio.Task[Any] = background(work, "kafka-core-consumer")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def begin_close(self) -> None:
        """First half of closing: stops fetching and asks for the partitions back; their event may need a callback."""
        self.closing = True
        await self._fetches.stop()
        await self._positions.stop()
        self.membership.unsubscribe()
        self.subscription = None
        if self._started:
            self.group.poke()

    @property
    def leaving(self) -> bool:
        """Whether the group still has to be left. Any thread."""
        return self.membership.state is not State.IDLE and self._started

    async def wait_leave(self, timeout_s: float) -> None:
        """Waits until the group is left or the inbox has something (a callback to run, maybe)."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.leaving and not self.inbox:
                    self.group.changed.clear()
                    await self.group.changed.wait()

    async def finish_close(self, timeout_s: float) -> None:
        """Second half: commits what is stored, closes all connections; within about `timeout_s`."""
        self.closed = True
        try:
            async with asyncio.timeout(timeout_s):
                while self.leaving and self.membership.event is None:
                    self.group.changed.clear()
                    await self.group.changed.wait()
                await self._commit_stored(list(self.assignment))
        except (TimeoutError, KafkaException) as error:
            logger.info("closing: %s", error or "timed out")
        await self.group.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for state in self.assignment.clear():
            self.queue.drop(state)
        await self.client.close(min(timeout_s, 2.0))

    # ---- telling the application

    def tell(self, item: Item) -> None:
        """Puts something into the inbox and wakes the taker; a commit nobody asked to hear of is left out."""
        if isinstance(item, CommitDone) and self.callbacks.on_commit is None:
            return
        self.inbox.append(item)
        self.group.changed.set()
        self._wake()

    def on_group_error(self, error: KafkaError) -> None:
        """From the group driver: as librdkafka does it, these come as messages."""
        self.expelled = self.membership.state is State.EXPELLED
        self.tell(Notice(Message(error=error)))

    def on_event(self, event: Event) -> None:
        """From the group driver: partitions change hands."""
        if self.rebalance_callbacks.for_event(event) is not None:
            self.tell(Rebalance(event))
        else:
            self.spawn(self._carry_out(event))

    async def _carry_out(self, event: Event) -> None:
        if self.begin_event(event):
            await self.finish_event(event)

    def _on_client_error(self, error: KafkaError) -> None:
        if self.callbacks.error_cb is not None:
            self.tell(ClientError(error))
        elif error.code() in TOLD_AT_ONCE:
            self.tell(Notice(Message(error=error)))

    def _report_partition(self, state: PartitionState, error: KafkaError) -> None:
        self.tell(Notice(error_message(state, error, OFFSET_INVALID)))

    async def _tell_statistics(self) -> None:
        self.tell(Statistics(statistics(self)))

    def _make_hooks(self) -> Hooks:
        """The user's hooks, and ours for throttle_cb if there is one."""
        hooks = self.config.hooks()
        return hooks if self.callbacks.throttle_cb is None else Hooks([hooks, self])

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """A hook event: a broker wants to be left alone."""
        broker = self.client.metadata.brokers.get(node_id)
        name = f"{broker.host}:{broker.port}" if broker is not None else "bootstrap"
        self.tell(Throttled(ThrottleEvent(name, node_id, throttle_s)))

    # ---- polls

    def _last_poll(self) -> float:
        return self.clock.monotonic() if self.polling > 0 else self.last_poll_s

    def polled(self) -> None:
        """The application polls again after it was thrown out of the group."""
        self.membership.polled()
        self.expelled = self.membership.state is State.EXPELLED
        self.group.poke()

    def _poke_fetch(self) -> None:
        self._fetches.poke()

    # ---- subscription

    async def subscribe(self, topics: Sequence[str], callbacks: RebalanceCallbacks) -> None:
        """Replaces the subscription; the group rebalances in the background."""
        subscription = Subscription(topics, self.config.names("topic.blacklist"))
        await self.start()
        self.rebalance_callbacks = callbacks
        self.subscription = subscription
        self._unknown_topics.clear()
        self.last_poll_s = self.clock.monotonic()
        if not subscription.has_patterns:
            self.membership.subscribe(subscription.names)
            self.group.poke()
        self._track()
        self.spawn(self._watch_topics(subscription))

    async def _watch_topics(self, subscription: Subscription) -> None:
        """Keeps the metadata of a subscription fresh; for patterns that is all topics, now and every interval."""
        attempt = 0
        interval_ms = self.config.integer("topic.metadata.refresh.interval.ms")
        while self.subscription is subscription:
            try:
                await self.client.refresh_metadata(None if subscription.has_patterns else subscription.names)
            except KafkaException as error:
                if not classify(error).tries_again:
                    self.tell(Notice(Message(error=error.error)))
                await asyncio.sleep(self._backoff.delay_s(attempt))
                attempt += 1
                continue
            attempt = 0
            if not subscription.has_patterns or interval_ms <= 0:
                return
            await asyncio.sleep(interval_ms / 1000)

    async def unsubscribe(self) -> None:
        """Ends the subscription and leaves the group in the background."""
        await self.start()
        self.subscription = None
        self.membership.unsubscribe()
        self._track()
        self.group.poke()

    def _track(self) -> None:
        names = set(self.assignment.topics())
        if self.subscription is not None:
            names |= self.subscription.matching(self.client.metadata.topics)
        if self.membership.is_leader:
            names |= self.group.group_topics
        self.client.track_topics(names)

    def _on_metadata(self, view: ClusterView) -> None:
        subscription = self.subscription
        if subscription is not None and not self.closing:
            matching = subscription.matching(name for name, topic in view.topics.items() if not topic.is_internal)
            if matching or not subscription.has_patterns:
                self.membership.subscribe(matching)
            self.membership.partition_counts_changed(
                {name: len(topic.partitions) for name, topic in view.topics.items()}, self.clock.monotonic()
            )
            self.group.poke()
            if subscription.has_patterns:
                self._track()
        self._report_unknown(view)
        self._fetches.poke()

    def _report_unknown(self, view: ClusterView) -> None:
        """Tells once about every topic that the cluster does not have (or does not let us see)."""
        names = set(self.assignment.topics())
        if self.subscription is not None:
            names |= self.subscription.names
        for name in names:
            topic = view.topics.get(name)
            code = topic.error_code if topic is not None else 0
            if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                self.client.invalidate(name)  # it may come, or come again: look for it now and then
            if topic is None or (code and classify(code).tries_again and code != KafkaError.UNKNOWN_TOPIC_OR_PART):
                continue
            if not code:
                self._unknown_topics.discard(name)
            elif name not in self._unknown_topics:
                self._unknown_topics.add(name)
                known = KafkaError.from_code(code)
                text = f"Subscribed topic not available: {name}: {known.str()}"
                self.tell(Notice(Message(topic=name, error=KafkaError(known.code(), text))))

    # ---- rebalance events

    def begin_event(self, event: Event) -> bool:
        """The application's callback is about to run; False if the event is no longer true."""
        if self.membership.event is None or self.membership.event.token != event.token:
            return False
        self.membership.started(event)
        self.active_event, self._handled = event, False
        self.hooks.on_rebalance(self.config.text("group.id"), event.kind.value, sorted(event.partitions))
        return True

    async def begin(self, event: Event) -> bool:
        """`begin_event` for a face on another thread."""
        return self.begin_event(event)

    async def finish_event(self, event: Event) -> None:
        """The callback is through: does what it did not do itself, and lets the group go on. May be called again."""
        if self.active_event is not event:
            return  # that was done already
        try:
            if not self._handled:
                self._handled = True
                await self._default(event)
        except KafkaException as error:
            logger.warning("rebalance: %s", error)
        finally:
            self.active_event = None
            self.membership.done(event)
            self._track()
            self.group.poke()

    async def _default(self, event: Event) -> None:
        if event.kind is not EventKind.ASSIGN:
            await self._give_up(event.partitions, commit=event.kind is EventKind.REVOKE)
            return
        partitions = [TopicPartition(topic, number) for topic, number in sorted(event.partitions)]
        if event.incremental:
            added = [item for item in partitions if (item.topic, item.partition) not in self.assignment]
            self._add(added)
        else:
            await self._replace(partitions)

    # ---- assignment

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Replaces what is read."""
        items = checked(partitions)
        await self.start()
        self._handled = True
        await self._replace(items)

    async def unassign(self) -> None:
        """Reads nothing any more."""
        await self.start()
        self._handled = True
        await self._replace([])

    async def incremental_assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Adds to what is read."""
        items = checked(partitions)
        await self.start()
        self._add(items)
        self._handled = True

    async def incremental_unassign(self, partitions: Sequence[TopicPartition]) -> None:
        """Takes away from what is read."""
        keys = [(item.topic, item.partition) for item in checked(partitions)]
        await self.start()
        for key in keys:
            if key not in self.assignment:
                raise ConfigError(f"{key[0]}[{key[1]}] can't be unassigned: it is not assigned")
        self._handled = True
        await self._give_up(keys, commit=self._may_commit())

    async def _replace(self, partitions: Sequence[TopicPartition]) -> None:
        """One after the other, in the order of the calls; who is cancelled while the last commit runs replaces, too."""
        Assignment().add(partitions)  # refuses what can't be assigned before anything is given up
        async with self._changing:
            try:
                await self._give_up([state.key for state in self.assignment], commit=self._may_commit())
            finally:
                if not self.closed:
                    self._add(partitions)

    def _may_commit(self) -> bool:
        return self.active_event is None or self.active_event.kind is not EventKind.LOST

    def _add(self, partitions: Sequence[TopicPartition]) -> None:
        self.assignment.add(partitions)
        self._track()
        missing = [name for name in self.assignment.topics() if name not in self.client.metadata.topics]
        if missing:
            self.spawn(self._learn(missing))
        self._fetches.poke()

    async def _learn(self, topics: Sequence[str]) -> None:
        with contextlib.suppress(KafkaException):  # told by on_error, and tried again by the position finder
            await self.client.refresh_metadata(topics)

    async def _give_up(self, keys: Iterable[Key], *, commit: bool) -> None:
        """Takes partitions away; what was handed out of them is committed first if that is automatic."""
        removed = self.assignment.remove(keys)
        for state in removed:
            self.queue.drop(state)
        self._fetches.poke()
        if commit:
            await self._commit_stored(removed)

    async def _commit_stored(self, states: Sequence[PartitionState]) -> None:
        if self.config.flag("enable.auto.commit"):
            await self.committer.commit_last(states, min(self._timeout_s, CLOSE_LIMIT_S / 2))

    # ---- positions

    async def seek(self, partition: TopicPartition) -> None:
        """Goes on reading a partition from another offset."""
        await self.start()
        check_offset(partition.offset)
        state = self.assignment.require((partition.topic, partition.partition), f"seek to offset {partition.offset} in")
        self.queue.restart(state, partition.offset)
        self._fetches.poke()

    async def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Hands nothing of these partitions out; one that is not assigned gets its `.error` set."""
        self._each(partitions, self.queue.pause)

    async def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Ends `pause`."""
        self._each(partitions, self.queue.resume)
        await self.start()
        self._fetches.poke()

    def _each(self, partitions: Sequence[TopicPartition], action: Callable[[PartitionState], None]) -> None:
        for item in checked(partitions):
            state = self.assignment.get((item.topic, item.partition))
            item.error = KafkaError(KafkaError._UNKNOWN_PARTITION) if state is None else None
            if state is not None:
                action(state)

    def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The given partitions with the offset after the last record handed out. Any thread."""
        for item in checked(partitions):
            state = self.assignment.get((item.topic, item.partition))
            item.offset = state.position if state is not None and state.consumed else OFFSET_INVALID
            item.error = None
        return list(partitions)

    def store_offsets(self, message: Any = None, partitions: Sequence[TopicPartition] | None = None) -> None:
        """Stores offsets for the next commit. Any thread."""
        if self._auto_store:
            raise ConfigError("StoreOffsets failed: enable.auto.offset.store must be set to False when using this API")
        if partitions is None and isinstance(message, Message) and offsets.store_behind(self.assignment, message):
            return
        offsets.store(self.assignment, chosen(message, partitions, "store") or [])

    async def commit(self, commits: offsets.Commits) -> list[TopicPartition]:
        """Commits now."""
        await self.start()
        return await self.committer.commit(commits)

    def hand_back(self, taken: Sequence[Message] | pyarrow.RecordBatch, *, unstore: bool = False) -> None:
        """A call that had taken these ends without giving them: records come again, events are told again.

        Args:
            unstore: whoever took them has stored their offsets itself.
        """
        first: dict[Key, int] = {}
        if not isinstance(taken, Sequence):
            from kafka_core.records.arrow import first_offsets

            self.hand_back_from(first_offsets(taken), unstore=unstore)
            return
        for message in taken:
            partition, offset = message.partition(), message.offset()
            if message.error() is None and partition is not None and offset is not None:
                first.setdefault((message.topic() or "", partition), offset)
        self.hand_back_from(first, unstore=unstore)
        for message in reversed(taken):
            if message.error() is not None and (message.topic(), message.partition()) not in first:
                self.inbox.appendleft(Notice(message))

    def hand_back_from(self, first: Mapping[Key, int], *, unstore: bool = False) -> None:
        """The same for records of which only the first offset per partition is known."""
        for key, offset in first.items():
            state = self.assignment.get(key)
            if state is not None:
                self.queue.hand_back(state, offset, unstore=unstore)
        if not self.closing:
            self._fetches.poke()

    def more_expected(self) -> bool:
        """Whether brokers are known to have records that were not handed out yet. Any thread."""
        committed = self.settings.read_committed
        for state in self.assignment:
            end = state.last_stable_offset if committed else state.high_watermark
            if not state.paused and state.phase is Phase.FETCH and 0 <= state.position < end:
                return True
        return False

    # ---- look-ups

    def identity(self) -> ConsumerGroupMetadata:
        """The group membership as it is now. Any thread."""
        member = self.membership
        return ConsumerGroupMetadata(
            member.settings.group_id, member.generation, member.member_id, member.settings.instance_id
        )

    async def committed(self, partitions: Sequence[TopicPartition], timeout_s: float | None) -> list[TopicPartition]:
        """The given partitions with the group's committed offsets, -1001 where there is none."""
        items = checked(partitions)
        await self.start()
        keys = [(item.topic, item.partition) for item in items]
        found = await self.rpc.committed(self.identity(), keys, timeout_s)
        return offsets.to_partitions({key: found.get(key, offsets.Committed(OFFSET_INVALID)) for key in keys})

    async def watermarks(self, partition: TopicPartition, timeout_s: float | None) -> tuple[int, int]:
        """First offset and end of a partition, asked from its leader."""
        await self.start()
        key = (partition.topic, partition.partition)
        committed = self.settings.read_committed
        low, high = await asyncio.gather(
            *(
                self.rpc.list_offsets(
                    {key: timestamp}, read_committed=committed, timeout_s=timeout_s, missing_is_final=True
                )
                for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
            )
        )
        for answer in (low, high):
            if code := answer[key].error_code:
                known = KafkaError.standard(code)  # the broker's, or our own for a partition that is not there
                text = f"{partition.topic}[{partition.partition}]: {known.str()}"
                raise KafkaException(KafkaError(known.code(), text))
        return low[key].offset, high[key].offset

    def cached_watermarks(self, partition: TopicPartition) -> tuple[int, int]:
        """The same as the last fetch told; -1001 where unknown. Any thread."""
        state = self.assignment.get((partition.topic, partition.partition))
        return (OFFSET_INVALID, OFFSET_INVALID) if state is None else (state.log_start_offset, state.high_watermark)

    async def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout_s: float | None
    ) -> list[TopicPartition]:
        """The first offset at or after each partition's timestamp (in its `offset`, ms); -1 if there is none."""
        items = checked(partitions)
        await self.start()
        wanted = {(item.topic, item.partition): item.offset for item in items}
        found = await self.rpc.list_offsets(
            wanted, read_committed=self.settings.read_committed, timeout_s=timeout_s, missing_is_final=True
        )
        answers = offsets.to_partitions({key: found[key] for key in wanted})
        for item in answers:
            item.offset = OFFSET_END if item.offset < 0 and item.error is None else item.offset
            item.metadata = None
        return answers

    async def list_topics(self, topic: str | None, timeout_s: float | None) -> ClusterMetadata:
        """The cluster, with all topics or one."""
        await self.start()
        limit_s = None if timeout_s is None or timeout_s < 0 else timeout_s
        view = await self.client.refresh_metadata(None if topic is None else [topic], timeout_s=limit_s)
        return cluster_metadata(view, topic)

    async def cluster_id(self, timeout_s: float | None) -> str | None:
        """The cluster's id."""
        await self.start()
        limit_s = None if timeout_s is None or timeout_s < 0 else timeout_s
        return (await self.client.refresh_metadata((), timeout_s=limit_s)).cluster_id

    def health(self) -> ConsumerHealth:
        """How the consumer is. Any thread."""
        return health(self)


def error_message(state: PartitionState, error: KafkaError, offset: int) -> Message:
    """A message that tells about a partition."""
    return Message(topic=state.topic, partition=state.partition, offset=offset, error=error)
