"""KafkaConsumer of kafka-python 3.0 on `kafka_core.Consumer`.

Must not hold any protocol. Commits are of positions, so of records that were handed out by the poll before; automatic
ones happen inside `poll`, when partitions are revoked, and at the end, as kafka-python has it.
docs/guide/migrating-kafka-python.md says what differs.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import queue
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from kafka_core import OFFSET_BEGINNING, OFFSET_END, Consumer, IsolationLevel, KafkaError, KafkaException, Message
from kafka_core import TopicPartition as Place
from kafka_core.admin import AdminClient, OffsetSpec
from kserdes.compat.kafka import errors
from kserdes.compat.kafka.consumer_values import are_offsets, as_offsets, check, deserializing, epoch_of
from kserdes.compat.kafka.failures import translated, translating
from kserdes.compat.kafka.future import Future
from kserdes.compat.kafka.listener import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
from kserdes.compat.kafka.producer import bootstrap, check_topic
from kserdes.compat.kafka.settings import ADMIN, CONSUMER, check_common
from kserdes.compat.kafka.structs import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    MemberState,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    TopicPartition,
)

__all__ = ["KafkaConsumer"]

logger: Final = logging.getLogger("kserdes.compat")
ONE_WAY: Final = (
    "You must choose only one way to configure your consumer: (1) subscribe to specific topics by name, (2) subscribe "
    "to topics matching a regex pattern, (3) assign itself specific topic-partitions."
)
NO_GROUP: Final = "Requires group_id"
CHORES_S: Final = 0.1
"""Seconds between an iteration's looks at commits and topics; `poll` looks each time."""
SLICE_S: Final = 1.0
RESETS: Final = {"earliest": "earliest", "smallest": "earliest", "latest": "latest", "largest": "latest"}
PASSING: Final = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._PARTITION_EOF,
}
"""Events that kafka-python does not raise: it goes on until they are over."""
LOST_MEMBERSHIP: Final = {
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.STALE_MEMBER_EPOCH,
    KafkaError.FENCED_MEMBER_EPOCH,
    KafkaError._ASSIGNMENT_LOST,
}
new_tuple = tuple.__new__


class KafkaConsumer:
    """Reads records, by `poll` or by iteration. Not for several threads at once.

    Args:
        *topics: topics to subscribe to.
        **configs: `DEFAULT_CONFIG` has all of them with their defaults.

    Raises:
        KafkaConfigurationError: there is no such argument, or it cannot be.
        KafkaTimeoutError: no broker answered within `bootstrap_timeout_ms`.
    """

    DEFAULT_CONFIG: Final = CONSUMER.defaults()
    DEFAULT_SESSION_TIMEOUT_MS_PRE_KIP_735: Final = 30_000

    def __init__(self, *topics: str, **configs: Any) -> None:
        if unknown := CONSUMER.unknown(configs):
            raise errors.KafkaConfigurationError(f"Unrecognized configs: {set(unknown)}")
        CONSUMER.tell_unused(configs)
        self.config = {**self.DEFAULT_CONFIG, **configs}
        check_common(self.config)
        check(self.config)
        for topic in topics:
            check_topic(topic)
        self._group: str | None = self.config["group_id"]
        self._reset = RESETS.get(str(self.config["auto_offset_reset"]), "error")
        self._closed = False
        self._key = deserializing(self.config["key_deserializer"])
        self._value = deserializing(self.config["value_deserializer"])
        self._max_records = self.config["max_poll_records"]
        self._commit_every_s = self.config["auto_commit_interval_ms"] / 1000
        self._commits_itself = bool(self._group) and bool(self.config["enable_auto_commit"])
        self._next_commit_s = time.monotonic() + self._commit_every_s
        self._next_chores_s = 0.0
        self._topics: set[str] | None = None
        self._left = False  # a group, and no other has given partitions since
        self._pattern: re.Pattern[str] | None = None
        self._listener: ConsumerRebalanceListener | AsyncConsumerRebalanceListener | None = None
        self._assigned_by_user = False
        self._follows_at_s = 0.0
        self._wanted: dict[TopicPartition, int] = {}  # positions that were set and not read from yet
        self._paused: set[TopicPartition] = set()
        self._failure: errors.KafkaError | None = None
        self._taken = 0
        self._done: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._committer: ThreadPoolExecutor | None = None
        self._admin: AdminClient | None = None
        properties = CONSUMER.properties(self.config)
        with translating():
            self._consumer = Consumer(
                {
                    **properties,
                    "group.id": self._group or f"kserdes-no-group-{uuid.uuid4()}",
                    "auto.offset.reset": self._reset,
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                }
            )
        try:
            bootstrap(self._consumer.cluster_id, self.config)
        except BaseException:
            self._consumer.close()
            raise
        if topics:
            self.subscribe(topics)

    # ---- what to read

    def subscribe(
        self,
        topics: Sequence[str] = (),
        pattern: str | None = None,
        listener: ConsumerRebalanceListener | AsyncConsumerRebalanceListener | None = None,
    ) -> None:
        """Reads topics, or those whose names a pattern matches, as a member of the group; replaces what was before.

        Raises:
            IllegalStateError: partitions are assigned by hand. ValueError: neither topics nor a pattern.
            TypeError: topics is a text, or the listener is none.
        """
        self._open()
        if self._assigned_by_user or (topics and pattern):
            raise errors.IllegalStateError(ONE_WAY)
        if not topics and not pattern:
            raise ValueError("Must provide topics or pattern")
        if isinstance(topics, str):
            raise TypeError("Topics must be a list (or non-str sequence)")
        for topic in topics:
            check_topic(topic)
        if listener is not None and not isinstance(
            listener, ConsumerRebalanceListener | AsyncConsumerRebalanceListener
        ):
            raise TypeError("listener must be a ConsumerRebalanceListener or AsyncConsumerRebalanceListener")
        self._listener = listener
        self._pattern = re.compile(pattern) if pattern else None
        self._topics = set(topics)
        self._follows_at_s = 0.0
        if self._group:
            names = list(topics) if pattern is None else [f"^(?:{pattern})" if pattern[0] != "^" else pattern]
            with translating():
                self._consumer.subscribe(names, self._on_assigned, self._on_revoked, self._on_lost)

    def subscription(self) -> set[str] | None:
        """The topics that are subscribed to; of a pattern, those that it matches. None without a subscription."""
        if self._topics is None:
            return None
        return self._matching() if self._pattern is not None else set(self._topics)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads exactly these partitions; those that are assigned already go on where they are.

        Raises:
            IllegalStateError: there is a subscription.
        """
        self._open()
        if self._topics is not None:
            raise errors.IllegalStateError(ONE_WAY)
        places = [TopicPartition(each.topic, each.partition) for each in partitions]
        for place in places:
            check_topic(place.topic)
        self._assigned_by_user = bool(places)
        self._take_up(places)

    def assignment(self) -> set[TopicPartition]:
        """The partitions that are read."""
        return set() if self._closed else {TopicPartition(each.topic, each.partition) for each in self._places()}

    def unsubscribe(self) -> None:
        """Ends the subscription, or takes the assigned partitions away."""
        self._open()
        subscribed = self._topics is not None and bool(self._group)
        if subscribed and self._commits_itself:
            self._commit_quietly(self._positions())
        self._topics = self._pattern = self._listener = None
        self._assigned_by_user = False
        self._wanted.clear()
        self._end_pause(set(self._paused))
        with translating():
            if subscribed:
                self._left = True
                self._consumer.unsubscribe()
            self._consumer.unassign()

    def _take_up(self, partitions: Sequence[TopicPartition]) -> None:
        """Assigns partitions; one that is assigned already keeps its position."""
        known = self._positions()
        self._wanted = {each: self._wanted[each] for each in partitions if each in self._wanted}
        self._end_pause(self._paused - set(partitions))
        start = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}.get(self._reset, OFFSET_END)
        places = []
        for each in partitions:
            offset = known.get(each)
            if offset is not None and offset >= 0:
                self._wanted[each] = offset
                places.append(Place(each.topic, each.partition, offset))
            else:
                places.append(Place(*each) if self._group else Place(*each, start))
        with translating():
            self._consumer.assign(places)

    def _follow(self) -> None:
        """Without a group: reads all partitions of the subscribed topics, and looks for new ones now and then."""
        if self._group or self._topics is None or time.monotonic() < self._follows_at_s:
            return
        found: list[TopicPartition] = []
        for topic in sorted(self._matching() if self._pattern is not None else self._topics):
            found += [TopicPartition(topic, number) for number in sorted(self.partitions_for_topic(topic))]
        waits_s = 0.1 if not found else self.config["metadata_max_age_ms"] / 1000
        self._follows_at_s = time.monotonic() + waits_s
        if set(found) != self.assignment():
            self._take_up(found)

    def _matching(self) -> set[str]:
        assert self._pattern is not None
        return {topic for topic in self.topics() if self._pattern.match(topic)}

    # ---- rebalances

    def _on_assigned(self, _: Consumer, places: list[Place]) -> None:
        self._left = False
        self._tell("on_partitions_assigned", places)

    def _on_revoked(self, _: Consumer, places: list[Place]) -> None:
        if self._left:
            return  # records read now are not that group's; listeners are not called
        going = {TopicPartition(each.topic, each.partition) for each in places}
        if self._commits_itself:
            self._commit_quietly({each: at for each, at in self._positions().items() if each in going})
        try:
            self._tell("on_partitions_revoked", places)
        finally:
            self._forget(going)

    def _on_lost(self, _: Consumer, places: list[Place]) -> None:
        if self._left:
            return
        try:
            self._tell("on_partitions_lost", places)
        finally:
            self._forget({TopicPartition(each.topic, each.partition) for each in places})

    def _forget(self, going: set[TopicPartition]) -> None:
        self._end_pause(self._paused & going)
        for each in going:
            self._wanted.pop(each, None)

    def _end_pause(self, partitions: set[TopicPartition]) -> None:
        """Of partitions that go: in this dialect their pause goes with them."""
        self._paused -= partitions
        if partitions:
            with translating():
                self._consumer.resume([Place(*each) for each in partitions])

    def _tell(self, name: str, places: list[Place]) -> None:
        if self._listener is None:
            return
        answer = getattr(self._listener, name)({TopicPartition(each.topic, each.partition) for each in places})
        if isinstance(self._listener, AsyncConsumerRebalanceListener):
            asyncio.run(answer)

    # ---- records

    def poll(
        self, timeout_ms: float = 0, max_records: int | None = None, update_offsets: bool = True
    ) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Records since the last poll, by partition; waits for the first one, so many milliseconds.

        Raises:
            ValueError: a negative time, or no positive number of records. IllegalStateError: closed.
            KafkaError: what cannot be read, or not any more. Whatever a deserializer raises: its records come again.
        """
        if timeout_ms < 0:
            raise ValueError("Timeout must not be negative")
        count = self._max_records if max_records is None else max_records
        if not isinstance(count, int):
            raise TypeError("max_records must be an integer")
        if count <= 0:
            raise ValueError("max_records must be positive")
        self._open()
        self._chores()
        self._raise_failure()
        with translating():
            messages = self._consumer.consume(count, 0)
            if not messages and timeout_ms:
                first = self._wait(time.monotonic() + timeout_ms / 1000)
                if first is not None:
                    messages = [first]
                    if count > 1 and first.error() is None:
                        messages += self._consumer.consume(count - 1, 0)
        if not messages:
            return {}
        try:
            found = self._by_partition(messages)
        except BaseException:
            self._consumer.hand_back(messages)
            raise
        if not update_offsets:
            self._consumer.hand_back(messages)
        if not found:
            self._raise_failure()
        return found

    def _wait(self, deadline_s: float) -> Message | None:
        """The next message, looking after commits and topics meanwhile."""
        while True:
            left_s = deadline_s - time.monotonic()
            message = self._consumer.poll(max(0.0, min(left_s, SLICE_S if self._group else CHORES_S)))
            if message is not None or left_s <= 0:
                return message
            self._chores()

    def _by_partition(self, messages: list[Message]) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Records of messages. The garbage collector rests meanwhile: it would take half of the time and find none."""
        was_on = gc.isenabled()
        gc.disable()
        try:
            return self._sorted(messages)
        finally:
            if was_on:
                gc.enable()

    def _sorted(self, messages: list[Message]) -> dict[TopicPartition, list[ConsumerRecord]]:
        found: dict[TopicPartition, list[ConsumerRecord]] = {}
        add: Callable[[ConsumerRecord], None] | None = None
        topic: str | None = None
        partition: int | None = -1
        plain, record = self._key is None and self._value is None, self._record
        for message in messages:
            if message.error() is not None:
                self._note(message)
                continue
            if message.partition() != partition or message.topic() != topic:
                topic, partition = message.topic(), message.partition()
                add = found.setdefault(TopicPartition(topic, partition), []).append  # type: ignore[arg-type]
            assert add is not None
            headers = message.headers()
            if headers or not plain:
                add(record(message))
                continue
            key, value = message.key(), message.value()
            kind, timestamp = message.timestamp()
            add(
                new_tuple(
                    ConsumerRecord,
                    (
                        topic,
                        partition,
                        message.leader_epoch(),
                        message.offset(),
                        timestamp,
                        kind - 1,
                        key,
                        value,
                        [],
                        None,
                        -1 if key is None else len(key),
                        -1 if value is None else len(value),
                        -1,
                    ),
                )
            )
        self._taken += len(messages)
        return found

    def _record(self, message: Message) -> ConsumerRecord:
        key, value, headers = message.key(), message.value(), message.headers()
        kind, timestamp = message.timestamp()
        topic = message.topic()
        key_size = -1 if key is None else len(key)
        value_size = -1 if value is None else len(value)
        if headers:
            header_size = sum(len(name.encode()) + len(each or b"") for name, each in headers)
        else:
            headers, header_size = [], -1
        if self._key is not None:
            key = self._key(topic, headers, key)
        if self._value is not None:
            value = self._value(topic, headers, value)
        return new_tuple(
            ConsumerRecord,
            (
                topic,
                message.partition(),
                message.leader_epoch(),
                message.offset(),
                timestamp,
                kind - 1,
                key,
                value,
                headers,
                None,
                key_size,
                value_size,
                header_size,
            ),
        )

    def _note(self, message: Message) -> None:
        """Keeps an error for the end of this poll, or the next one."""
        error = message.error()
        assert error is not None
        if error.code() in PASSING or (error.retriable() and not error.fatal()):
            return
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            place = TopicPartition(str(message.topic()), int(message.partition() or 0))
            at = self._positions().get(place)
            if at is None:
                self._failure = errors.NoOffsetForPartitionError({place})
            else:
                self._failure = errors.OffsetOutOfRangeError({place: at})
        else:
            self._failure = translated(error)

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ConsumerRecord:
        if self._closed:
            raise StopIteration("KafkaConsumer closed")
        limit_ms = self.config["consumer_timeout_ms"]
        deadline_s = time.monotonic() + limit_ms / 1000 if 0 <= limit_ms < float("inf") else float("inf")
        while True:
            if time.monotonic() >= self._next_chores_s:
                self._chores()
            self._raise_failure()
            with translating():
                message = self._consumer.poll(0) or self._wait(deadline_s)
            if message is None:
                raise StopIteration
            if message.error() is not None:
                self._note(message)
                continue
            try:
                record = self._record(message)
            except BaseException:
                self._consumer.hand_back([message])
                raise
            self._taken += 1
            return record

    def _chores(self) -> None:
        """Does the chores of every poll in kafka-python: automatic commits, answers to commits, new partitions."""
        now_s = time.monotonic()
        self._next_chores_s = now_s + CHORES_S
        self._follow()
        self._answer()
        if self._reset == "error" and not self._group:
            known = self._positions()
            if unknown := {place for place in self.assignment() if place not in known}:
                raise errors.NoOffsetForPartitionError(unknown)
        if self._commits_itself and now_s >= self._next_commit_s:
            self._next_commit_s = now_s + self._commit_every_s
            if positions := self._positions():
                self.commit_async(as_offsets(positions), self.config["default_offset_commit_callback"])

    # ---- positions

    def position(self, partition: TopicPartition, timeout_ms: float | None = None) -> int | None:
        """The offset of the next record; asks the brokers when it is not known yet.

        Raises:
            TypeError: no TopicPartition. IllegalStateError: not assigned.
        """
        place = self._assigned(partition)
        at = self._positions().get(place)
        if at is None:
            at = self._find(place, timeout_ms)
            if at is not None:
                self._move(place, at)
        return at

    def _find(self, place: TopicPartition, timeout_ms: float | None) -> int | None:
        """The first offset to read of a partition: the committed one, else by `auto_offset_reset`."""
        if self._group:
            committed = self.committed(place, timeout_ms=timeout_ms)
            if isinstance(committed, int):
                return committed
        if self._reset == "error":
            raise errors.NoOffsetForPartitionError({place})
        first = self._reset == "earliest"
        return (self.beginning_offsets if first else self.end_offsets)([place], timeout_ms)[place]

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Goes on at an offset.

        Raises:
            ValueError: no offset, or the partition is not assigned. TypeError: no TopicPartition.
        """
        if not isinstance(partition, TopicPartition):
            raise TypeError("partition must be a TopicPartition namedtuple")
        at: object = offset
        if not isinstance(at, int) or at < 0:
            raise ValueError("Offset must be int >= 0")
        if partition not in self.assignment():
            raise ValueError("Unassigned partition")
        self._move(partition, offset)

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Goes on at the first records, of all partitions without arguments."""
        self._seek_all(partitions, OFFSET_BEGINNING)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Goes on behind the last records, of all partitions without arguments."""
        self._seek_all(partitions, OFFSET_END)

    def _seek_all(self, partitions: Sequence[TopicPartition], where: int) -> None:
        if not all(isinstance(each, TopicPartition) for each in partitions):
            raise TypeError("partitions must be TopicPartition namedtuples")
        assigned = self.assignment()
        if not set(partitions) <= assigned:
            raise ValueError("Unassigned partition")
        places = sorted(partitions or assigned)
        if not places:
            raise ValueError("No partitions are currently assigned")
        find = self.beginning_offsets if where == OFFSET_BEGINNING else self.end_offsets
        for place, offset in find(places).items():
            self._move(place, offset)

    def _move(self, place: TopicPartition, offset: int) -> None:
        with translating():
            self._consumer.seek(Place(*place, offset))
        self._wanted[place] = offset

    def pause(self, *partitions: TopicPartition) -> None:
        """Hands out nothing of these until `resume`."""
        places = self._pausable(partitions)
        self._paused |= set(partitions)
        with translating():
            self._consumer.pause(places)

    def resume(self, *partitions: TopicPartition) -> None:
        """Ends `pause`."""
        places = self._pausable(partitions)
        self._paused -= set(partitions)
        with translating():
            self._consumer.resume(places)

    def _pausable(self, partitions: Sequence[TopicPartition]) -> list[Place]:
        if not all(isinstance(each, TopicPartition) for each in partitions):
            raise TypeError("partitions must be TopicPartition namedtuples")
        assigned = self.assignment()
        for each in partitions:
            if each not in assigned:
                raise KeyError(each)
        return [Place(*each) for each in partitions]

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        return set(self._paused)

    def highwater(self, partition: TopicPartition) -> int | None:
        """The offset of the next record that will be written, as the last fetch told; None before one."""
        place = self._assigned(partition)
        with translating():
            high = self._consumer.get_watermark_offsets(Place(*place), cached=True)[1]
        return high if high >= 0 else None

    def _assigned(self, partition: TopicPartition) -> TopicPartition:
        if not isinstance(partition, TopicPartition):
            raise TypeError("partition must be a TopicPartition namedtuple")
        if partition not in self.assignment():
            raise errors.IllegalStateError("Partition is not assigned")
        return partition

    def _places(self) -> list[Place]:
        return self._consumer.assignment()

    def _positions(self) -> dict[TopicPartition, int]:
        """The next offsets of the assigned partitions, where they are known."""
        found = {}
        for each in self._consumer.position(self._places()):
            place = TopicPartition(each.topic, each.partition)
            if each.offset >= 0:
                found[place] = each.offset
                self._wanted.pop(place, None)
            elif place in self._wanted:
                found[place] = self._wanted[place]
        return found

    # ---- commits

    def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None, timeout_ms: float | None = None
    ) -> None:
        """Commits positions, or the given offsets, and waits for it.

        Raises:
            IllegalStateError: there is no group. CommitFailedError: the group goes on without this member.
            KafkaTimeoutError: it took longer than that.
        """
        chosen = self._to_commit(offsets)
        if not chosen:
            return
        work = self._committing().submit(self._commit, chosen)
        try:
            work.result(None if timeout_ms is None else timeout_ms / 1000)
        except TimeoutError:
            raise errors.KafkaTimeoutError(f"no answer to a commit within {timeout_ms} ms") from None
        self._answer()

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None,
        callback: Callable[[Any, Any], object] | None = None,
    ) -> Future:
        """Commits without waiting; `callback(offsets, error or None)` is called by a later poll, commit or close."""
        chosen = self._to_commit(offsets)
        callback = callback or self.config["default_offset_commit_callback"]
        future = Future()
        if callback is not None:
            future.add_both(partial(callback, chosen))

        def work() -> None:
            try:
                self._commit(chosen)
            except errors.KafkaError as failure:
                self._done.put(partial(future.failure, failure))
            else:
                self._done.put(partial(future.success, None))

        self._committing().submit(work)
        return future

    def _to_commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        self._open()
        if not self._group:
            raise errors.IllegalStateError(NO_GROUP)
        if offsets is None:
            return as_offsets(self._positions())
        if not are_offsets(offsets):
            raise TypeError("offsets must be dict[TopicPartition, OffsetAndMetadata]")
        return dict(offsets)

    def _committing(self) -> ThreadPoolExecutor:
        """One thread sends all commits, in the order of the calls."""
        if self._committer is None:
            self._committer = ThreadPoolExecutor(1, "kafka-consumer-commits")
        return self._committer

    def _commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        places = [
            Place(place.topic, place.partition, given.offset or 0, given.metadata or None, epoch_of(given))
            for place, given in offsets.items()
        ]
        try:
            self._consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as failure:
            if failure.code in LOST_MEMBERSHIP:
                raise errors.CommitFailedError() from failure
            raise translated(failure) from failure

    def _commit_quietly(self, positions: Mapping[TopicPartition, int]) -> None:
        """An automatic commit before partitions go; who comes next reads again what it could not commit."""
        callback = self.config["default_offset_commit_callback"]
        if not positions:
            return
        offsets = as_offsets(positions)
        try:
            self._commit(offsets)
        except errors.KafkaError as failure:
            logger.warning("an automatic commit failed: %s", failure)
            if callback is not None:
                callback(offsets, failure)
        else:
            if callback is not None:
                callback(offsets, None)

    def _answer(self) -> None:
        """Settles the futures of commits that are done."""
        while not self._done.empty():
            self._done.get()()

    def committed(
        self, partition: TopicPartition, metadata: bool = False, timeout_ms: float | None = None
    ) -> int | OffsetAndMetadata | None:
        """The offset that the group has committed for a partition; None if none.

        Raises:
            TypeError: no TopicPartition. IllegalStateError: there is no group. KafkaTimeoutError: no answer in time.
        """
        self._open()
        if not self._group:
            raise errors.IllegalStateError(NO_GROUP)
        if not isinstance(partition, TopicPartition):
            raise TypeError("partition must be a TopicPartition namedtuple")
        with translating():
            found = self._consumer.committed([Place(*partition)], self._limit_s(timeout_ms))[0]
        if found.error is not None:
            raise translated(found.error)
        if found.offset < 0:
            return None
        if not metadata:
            return found.offset
        epoch = found.leader_epoch
        return OffsetAndMetadata(found.offset, found.metadata or "", -1 if epoch is None else epoch)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """The membership, for `KafkaProducer.send_offsets_to_transaction`."""
        if not self._group:
            return ConsumerGroupMetadata()
        with translating():
            found = self._consumer.consumer_group_metadata()
        state = MemberState.STABLE if found.generation_id >= 0 else MemberState.UNJOINED
        return ConsumerGroupMetadata(found.group_id, found.generation_id, found.member_id, found.instance_id, state)

    # ---- offsets

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offsets."""
        return {place: at.offset for place, at in self._offsets(partitions, OffsetSpec.earliest(), timeout_ms).items()}

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offsets behind the last records."""
        return {place: at.offset for place, at in self._offsets(partitions, OffsetSpec.latest(), timeout_ms).items()}

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first records at or after times (ms); None where there is none.

        Raises:
            ValueError: a negative time. KafkaTimeoutError: no answer in time.
        """
        found: dict[TopicPartition, OffsetAndTimestamp | None] = {}
        for place, when in timestamps.items():
            if when < 0:
                raise ValueError(
                    f"The target time for partition {place} is {when}. The target time cannot be negative."
                )
        for when in sorted(set(timestamps.values())):
            places = [place for place, each in timestamps.items() if each == when]
            for place, at in self._offsets(places, OffsetSpec.for_timestamp(when), timeout_ms).items():
                found[place] = at if at.offset >= 0 else None
        return found

    def _offsets(
        self, partitions: Iterable[TopicPartition], spec: OffsetSpec, timeout_ms: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Asks for offsets of one kind, of all partitions at once."""
        self._open()
        places = list(partitions)
        if not places:
            return {}
        if self._admin is None:
            with translating():
                self._admin = AdminClient(ADMIN.properties({name: self.config[name] for name in ADMIN.defaults()}))
        committed = self.config["isolation_level"] == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        found = {}
        with translating():
            answers = self._admin.list_offsets(
                {Place(*place): spec for place in places},
                isolation_level=level,
                request_timeout=self._limit_s(timeout_ms),
            )
            for place, answer in answers.items():
                at = answer.result()
                found[TopicPartition(place.topic, place.partition)] = OffsetAndTimestamp(
                    at.offset, at.timestamp, at.leader_epoch
                )
        return found

    def _limit_s(self, timeout_ms: float | None) -> float:
        return (self.config["request_timeout_ms"] if timeout_ms is None else timeout_ms) / 1000

    # ---- facts

    def topics(self) -> set[str]:
        """All topics that may be read."""
        self._open()
        with translating():
            return set(self._consumer.list_topics(timeout=self._limit_s(None)).topics)

    def partitions_for_topic(self, topic: str) -> set[int]:
        """The numbers of a topic's partitions; none of an unknown topic."""
        self._open()
        with translating():
            found = self._consumer.list_topics(topic, self._limit_s(None)).topics.get(topic)
        return set() if found is None else set(found.partitions)

    def bootstrap(self, timeout_ms: float | None = None, refresh: bool = False) -> None:
        """Waits for the first contact, which the constructor has made."""
        self._open()
        if refresh:
            bootstrap(self._consumer.cluster_id, self.config, timeout_ms)

    def bootstrap_connected(self) -> bool:
        """Whether the first contact was made, and the consumer is open."""
        return not self._closed

    def metrics(self, raw: bool = False) -> dict[str, dict[str, Any]]:
        """A few numbers of kafka-python's, under its names."""
        health = self._consumer.health()
        lags = [each for each in health.lag.values() if each is not None]
        return {
            "consumer-coordinator-metrics": {"assigned-partitions": len(self.assignment())},
            "consumer-fetch-manager-metrics": {
                "records-consumed-total": self._taken,
                "records-lag-max": max(lags, default=0),
            },
        }

    # ---- the end

    def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        """Commits positions, if commits are automatic and `autocommit` says so, leaves the group and ends."""
        if self._closed:
            return
        if self._commits_itself and autocommit:
            self._commit_quietly(self._positions())
        self._commits_itself = False  # partitions revoked now must not be committed again
        if self._committer is not None:
            self._committer.shutdown()
        self._answer()
        self._closed = True
        with translating():
            self._consumer.close()
            if self._admin is not None:
                self._admin.close()
        for each in (self.config["key_deserializer"], self.config["value_deserializer"]):
            if callable(getattr(each, "close", None)):
                each.close()

    def _open(self) -> None:
        if self._closed:
            raise errors.IllegalStateError("KafkaConsumer is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()
