"""aiokafka's consumer on `kafka_core.aio.AIOConsumer`.

Must not know the protocol: it maps arguments, records and errors, and keeps aiokafka's habits: rebalances go on in the
background, commits are of positions, without a group all partitions are read.
Spec: aiokafka 0.14's signatures and behaviour; docs/guide/migrating-aiokafka.md lists the differences.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import weakref
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from kafka_core import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, KafkaException, Message, StateError
from kafka_core import KafkaError as CoreError
from kafka_core import TopicPartition as CorePartition
from kafka_core.admin import OffsetSpec
from kafka_core.aio import AIOConsumer
from kafka_core.kernels import message_rows
from kserdes.compat.aiokafka.arguments import CLIENT_ID, CONSUMER
from kserdes.compat.aiokafka.assignors import RoundRobinPartitionAssignor
from kserdes.compat.aiokafka.background import is_closed, often, serve, told, weak_call
from kserdes.compat.aiokafka.connecting import FirstContact, at_once, properties, translating
from kserdes.compat.aiokafka.errors import (
    ConsumerStoppedError,
    IllegalOperation,
    IllegalStateError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    RecordTooLargeError,
    translated,
)
from kserdes.compat.aiokafka.interfaces import ConsumerRebalanceListener
from kserdes.compat.aiokafka.structs import ConsumerRecord, OffsetAndTimestamp, TopicPartition
from kserdes.compat.aiokafka.values import (
    Deserializer,
    Offsets,
    check_topics,
    checked,
    commit_error,
    core,
    core_offsets,
    is_offset,
    ours,
    records_of,
    trouble_of,
)

if TYPE_CHECKING:
    import ssl

    from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider

__all__ = ["AIOKafkaConsumer"]

logger: Final = logging.getLogger("kserdes.compat")

MOST_RECORDS: Final = 2_000
"""The most records of getmany() without max_records: making objects of them takes the loop's time, and each takes more
when they are too many for the processor's caches."""
INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
NO_GROUP: Final = "aiokafka-without-group"
"""Our consumers have a group; without one nothing is asked of it."""
STARTS: Final = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END, "none": OFFSET_INVALID}
RESETS: Final = {"none": "error"}


class AIOKafkaConsumer:
    """Reads records; arguments are those of aiokafka 0.14 (`arguments.CONSUMER` says what each does).

    Belongs to the loop on which `start()` is awaited. Rebalances go on in the background, as long as that loop runs.

    Raises:
        ValueError: arguments that make no sense.
    """

    def __init__(
        self,
        *topics: str,
        loop: asyncio.AbstractEventLoop | None = None,
        bootstrap_servers: str | list[str] = "localhost",
        client_id: str = CLIENT_ID,
        group_id: str | None = None,
        group_instance_id: str | None = None,
        key_deserializer: Deserializer | None = None,
        value_deserializer: Deserializer | None = None,
        fetch_max_wait_ms: int = 500,
        fetch_max_bytes: int = 52428800,
        fetch_min_bytes: int = 1,
        max_partition_fetch_bytes: int = 1 * 1024 * 1024,
        request_timeout_ms: int = 40 * 1000,
        retry_backoff_ms: int = 100,
        auto_offset_reset: str = "latest",
        enable_auto_commit: bool = True,
        auto_commit_interval_ms: int = 5000,
        check_crcs: bool = True,
        metadata_max_age_ms: int = 5 * 60 * 1000,
        partition_assignment_strategy: Sequence[type] = (RoundRobinPartitionAssignor,),
        max_poll_interval_ms: int = 300000,
        rebalance_timeout_ms: int | None = None,
        session_timeout_ms: int = 10000,
        heartbeat_interval_ms: int = 3000,
        consumer_timeout_ms: int = 200,
        max_poll_records: int | None = None,
        ssl_context: ssl.SSLContext | None = None,
        security_protocol: str = "PLAINTEXT",
        api_version: str | None = None,
        exclude_internal_topics: bool = True,
        connections_max_idle_ms: int | None = 540000,
        isolation_level: str = "read_uncommitted",
        sasl_mechanism: str = "PLAIN",
        sasl_plain_password: str | None = None,
        sasl_plain_username: str | None = None,
        sasl_kerberos_service_name: str = "kafka",
        sasl_kerberos_domain_name: str | None = None,
        sasl_oauth_token_provider: AbstractTokenProvider | None = None,
        client_rack: str | None = None,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in CONSUMER.rows}
        if max_poll_records is not None and max_poll_records < 1:
            raise ValueError("`max_poll_records` should be positive Integer")
        self._contact = FirstContact(bootstrap_servers)
        conf = properties(CONSUMER, values, self._own_loop)
        conf["group.id"] = NO_GROUP if group_id is None else group_id
        conf["auto.offset.reset"] = RESETS.get(auto_offset_reset, auto_offset_reset)
        conf["max.poll.interval.ms"] = max(max_poll_interval_ms, session_timeout_ms)
        conf["enable.auto.commit"] = conf["enable.auto.offset.store"] = False  # positions are committed here
        conf["error_cb"] = self._contact.on_error
        try:
            self._consumer = AIOConsumer(conf)
        except KafkaException as error:
            raise translated(error) from error
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._tasks: list[asyncio.Task[None]] = []
        self._troubles: deque[Exception] = deque()
        self._timeout_s = request_timeout_ms / 1000
        self._age_s = metadata_max_age_ms / 1000
        self._group_id = group_id
        self._auto_commit_s = auto_commit_interval_ms / 1000 if enable_auto_commit and group_id is not None else None
        self._committed: dict[TopicPartition, int] = {}
        self._start = STARTS.get(auto_offset_reset, OFFSET_INVALID)
        self._committed_only = isolation_level == "read_committed"
        self._most = max_poll_records
        self._key_deserializer = key_deserializer
        self._value_deserializer = value_deserializer
        # Topics and partitions to read.
        self._known: dict[str, frozenset[int]] = {}
        self._topics: frozenset[str] | None = None
        self._pattern: re.Pattern[str] | None = None
        self._manual: dict[TopicPartition, int] | None = None
        self._listener: ConsumerRebalanceListener | None = None
        self._paused: set[TopicPartition] = set()
        self._assigned = asyncio.Event()
        self._subscribed = 0  # counts subscriptions and their ends
        self._before: frozenset[TopicPartition] | None = frozenset()  # a new subscription's listener is told first
        if topics:
            self._topics = check_topics(topics)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise StateError("the consumer has not been started")
        return self._loop

    # ---- life

    async def start(self) -> None:
        """Connects, and waits for the first assignment if there is a subscription.

        Raises:
            KafkaConnectionError: no broker can be reached.
        """
        self._loop = asyncio.get_running_loop()
        self._spawn(serve(self._consumer, weakref.WeakMethod(self._tell_trouble)))
        await self._contact.make(self._refresh())
        if self._auto_commit_s is not None:
            self._spawn(often(self._auto_commit_s, weakref.WeakMethod(self._commit_in_background)))
        if self._group_id is None:
            self._spawn(often(self._age_s, weakref.WeakMethod(self._read_new_partitions)))
        if self._manual is not None:
            self._assign_now()
        elif self._topics is not None or self._pattern is not None:
            if self._group_id is not None:
                self._before = None
                await told(self._listener, "on_partitions_revoked", frozenset())
            self._subscribe_now()
            await self._assigned.wait()
            self._raise_trouble()

    async def stop(self) -> None:
        """Commits the offsets read (if automatic), leaves the group and closes all connections."""
        if self._closed:
            return
        self._closed = True
        if self._loop is not None and self._auto_commit_s is not None:
            await self._commit_in_background()
        for task in self._tasks[1:]:  # the first one runs callbacks while the group is left
            task.cancel()
        try:
            with translating():
                await self._consumer.close()
        finally:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.stop()

    def __aiter__(self) -> Self:
        if self._closed:
            raise ConsumerStoppedError
        return self

    async def __anext__(self) -> ConsumerRecord[Any, Any]:
        """The next record; ends when the consumer is stopped. One that is larger than a fetch is left out."""
        while True:
            try:
                return await self.getone()
            except ConsumerStoppedError:
                raise StopAsyncIteration from None
            except RecordTooLargeError:
                logger.exception("a record was left out")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.ensure_future(work))

    def _check(self) -> None:
        if self._closed or self._loop is None:
            raise ConsumerStoppedError

    # ---- what is read

    def subscribe(
        self,
        topics: Iterable[str] = (),
        pattern: str | None = None,
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """Joins the group for topics, or for all whose names a regular expression matches.

        Without a group all their partitions are read.

        Raises:
            IllegalStateError: partitions were assigned by `assign()`.
            TypeError, ValueError: both or none are given, or they make no sense.
        """
        if pattern is None and not topics:
            raise TypeError("You should provide either `topics` or `pattern`")
        if pattern is not None and topics:
            raise TypeError("You can't provide both `topics` and `pattern`")
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError("listener should be an instance of ConsumerRebalanceListener")
        compiled = None
        if pattern is not None:
            try:
                compiled = re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a valid pattern: {error}") from error
        wanted = None if pattern is not None else check_topics(topics)
        if self._manual is not None:
            raise IllegalStateError("Subscription to topics, partitions and pattern are mutually exclusive")
        self._topics, self._pattern, self._listener = wanted, compiled, listener
        self._subscribed += 1
        if self._loop is not None and not self._closed:
            self._subscribe_now()

    def _subscribe_now(self) -> None:
        if self._group_id is None:
            self._read_all()
            if not self._known_topics_cover():
                self._spawn(self._read_when_known())
            return
        names = [f"^(?:{self._pattern.pattern})"] if self._pattern is not None else sorted(self._topics or ())
        calls = {
            "on_assign": weak_call(self._on_assign),
            "on_revoke": weak_call(self._on_revoke),
            "on_lost": weak_call(self._on_lost),
        }
        self._assigned.clear()
        with translating():
            at_once(self._consumer.subscribe(names, **calls))

    def unsubscribe(self) -> None:
        """Reads nothing any more, and leaves the group; calls no listener and commits nothing, as aiokafka."""
        self._before = self.assignment()
        self._subscribed += 1
        self._topics = self._pattern = self._manual = self._listener = None
        self._paused.clear()
        self._committed.clear()
        if self._loop is not None and not self._closed:
            with translating():
                at_once(self._consumer.unsubscribe())
                at_once(self._consumer.assign([]))

    def subscription(self) -> frozenset[str]:
        """The topics that are subscribed, also those that the pattern matches; else those of assigned partitions."""
        if self._pattern is not None:
            return frozenset(topic for topic in self._known if self._matches(topic))
        return self._topics or frozenset(item.topic for item in self._manual or ())

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads exactly these partitions, without a group.

        Raises:
            IllegalStateError: topics are subscribed.
        """
        wanted = list(partitions)
        if self._topics is not None or self._pattern is not None:
            raise IllegalStateError("Subscription to topics, partitions and pattern are mutually exclusive")
        self._manual = {checked(item): OFFSET_INVALID for item in wanted}
        self._paused.clear()
        if self._loop is not None and not self._closed:
            self._assign_now()

    def _assign_now(self) -> None:
        assert self._manual is not None
        start = self._start if self._group_id is None else OFFSET_INVALID
        wanted = [core(item, start if offset < 0 else offset) for item, offset in self._manual.items()]
        with translating():
            at_once(self._consumer.resume(wanted))  # a pause ends with its assignment
            at_once(self._consumer.assign(wanted))
        missing = {item.topic for item in self._manual} - self._known.keys()
        if missing:
            self._spawn(self._learn_quietly())

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that are read now."""
        if self._loop is None:
            return frozenset(self._manual or ())
        if self._closed:
            return frozenset()
        return frozenset(ours(item) for item in at_once(self._consumer.assignment()))

    # ---- rebalances

    async def _on_assign(self, _: object, partitions: list[CorePartition]) -> None:
        subscription, listener, mine = self._subscribed, self._listener, frozenset(ours(item) for item in partitions)
        if not {item.topic for item in mine} <= self._known.keys() or self._pattern is not None:
            await self._learn_quietly()
        before, self._before = self._before, None
        if before is not None:
            await told(listener, "on_partitions_revoked", before)
        if self._subscribed != subscription:  # it has ended meanwhile: what is read now is not this group's
            return
        await self._consumer.resume([core(item) for item in mine - self._paused])  # a pause ends with its assignment
        await self._consumer.assign(partitions)
        if listener is not None:
            held = [core(item) for item in mine]
            await self._consumer.pause(held)  # nothing is handed out before the listener had its say
            try:
                await told(listener, "on_partitions_assigned", mine)
            finally:
                if self._subscribed == subscription:
                    await self._consumer.resume([core(item) for item in mine - self._paused])
        self._assigned.set()

    async def _on_revoke(self, _: object, partitions: list[CorePartition]) -> None:
        if self._before is not None:
            return  # of a subscription that has ended: aiokafka tells nobody, and commits nothing
        held = [core(ours(item)) for item in partitions]
        await self._consumer.pause(held)
        if self._auto_commit_s is not None and not self._closed:
            await self._commit_in_background()
        if not self._closed:
            await told(self._listener, "on_partitions_revoked", frozenset(ours(item) for item in partitions))
        self._paused.clear()
        self._committed.clear()

    async def _on_lost(self, _: object, partitions: list[CorePartition]) -> None:
        if self._before is not None:
            return
        if not self._closed:
            await told(self._listener, "on_partitions_revoked", frozenset(ours(item) for item in partitions))
        self._paused.clear()
        self._committed.clear()

    # ---- without a group

    def _matches(self, topic: str) -> bool:
        if self._pattern is not None:
            return topic not in INTERNAL_TOPICS and self._pattern.match(topic) is not None
        return topic in (self._topics or ())

    def _known_topics_cover(self) -> bool:
        return self._pattern is not None or (self._topics or frozenset()) <= self._known.keys()

    def _read_all(self) -> None:
        """Reads all partitions of the topics that are known, those that are read already from where they are."""
        here = self.assignment()
        wanted = {
            TopicPartition(topic, number)
            for topic, numbers in self._known.items()
            if self._matches(topic)
            for number in numbers
        }
        with translating():
            if not here & wanted:
                at_once(self._consumer.assign([core(item, self._start) for item in sorted(wanted)]))
            else:
                at_once(self._consumer.incremental_unassign([core(item) for item in here - wanted]))
                at_once(self._consumer.incremental_assign([core(item, self._start) for item in sorted(wanted - here)]))
        if wanted:
            self._assigned.set()

    async def _read_new_partitions(self) -> None:
        """Looks whether the subscription has got more partitions."""
        if self._topics is not None or self._pattern is not None:
            await self._learn_quietly()
            self._read_all()

    async def _read_when_known(self) -> None:
        """A topic is not known yet: it may be made just now."""
        while not self._closed and not self._known_topics_cover():
            await self._learn_quietly(self._topics)
            self._read_all()
            if not self._known_topics_cover():
                await asyncio.sleep(0.1)

    async def _refresh(self, topics: Iterable[str] | None = None) -> None:
        found = [await self._consumer.list_topics(None, self._timeout_s)]
        for topic in topics or ():
            if topic not in found[0].topics:
                found.append(await self._consumer.list_topics(topic, self._timeout_s))  # makes it, where brokers do
        self._known = {
            name: frozenset(topic.partitions)
            for metadata in found
            for name, topic in metadata.topics.items()
            if topic.error is None and topic.partitions
        }

    async def _learn_quietly(self, topics: Iterable[str] | None = None) -> None:
        try:
            await self._refresh(topics)
        except KafkaException as error:
            logger.warning("the topics could not be looked up: %s", error)

    # ---- records

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[Any, Any]:
        """The next record, of these partitions if any are named; waits for it.

        Raises:
            ConsumerStoppedError: the consumer is closed.
            NoOffsetForPartitionError: a partition has no committed offset, and `auto_offset_reset` is "none".
            OffsetOutOfRangeError: a position is not in the log any more, and `auto_offset_reset` is "none".
            TopicAuthorizationFailedError: the topic may not be read.
        """
        only = [core(checked(item)) for item in partitions] or None
        while True:
            self._check()
            self._raise_trouble()
            try:
                if only is None:
                    message = await self._consumer.poll()
                else:
                    found = await self._consumer.consume(1, -1, partitions=only)
                    message = found[0] if found else None
            except StateError as error:
                raise self._stopped_by(error) from None
            if message is not None:
                ((record,),) = self._sorted([message]).values()
                return record

    def _stopped_by(self, error: StateError) -> Exception:
        return ConsumerStoppedError() if self._closed or is_closed(self._consumer) else translated(error)

    async def getmany(
        self, *partitions: TopicPartition, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[TopicPartition, list[ConsumerRecord[Any, Any]]]:
        """Records by partition: those that are there, or the first that come within `timeout_ms`.

        Args:
            partitions: of these only; none: of all.
            max_records: at most so many; else `max_poll_records`.
        """
        self._check()
        if max_records is not None and max_records < 1:
            raise ValueError("`max_records` must be a positive Integer")
        only = [core(checked(item)) for item in partitions] or None
        most = max_records or self._most or MOST_RECORDS
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + timeout_ms / 1000
        while True:
            self._raise_trouble()
            try:
                messages = await self._take(most, only, deadline_s - loop.time())
            except StateError as error:
                raise self._stopped_by(error) from None
            if messages:
                return self._sorted(messages)
            if loop.time() >= deadline_s:
                self._raise_trouble()
                return {}

    async def _take(self, most: int, only: list[CorePartition] | None, timeout_s: float) -> list[Message]:
        """Messages that are there, or else those that come in time."""
        consumer = self._consumer
        messages = await consumer.consume(most, 0, partitions=only)
        if not messages and timeout_s > 0:
            messages = await consumer.consume(1, timeout_s, partitions=only)
            if messages and most > 1:
                try:
                    messages += await consumer.consume(most - 1, 0, partitions=only)
                except BaseException:
                    consumer.hand_back(messages)
                    raise
        return messages

    def _sorted(self, messages: list[Message]) -> dict[TopicPartition, list[ConsumerRecord[Any, Any]]]:
        """Records by partition. An error ends the call at once if it is first; else it is for the next call."""
        rows = message_rows(messages)
        if len(rows) < len(messages):
            if not rows:
                self._consumer.hand_back(messages[1:])
                raise trouble_of(messages[0])
            self._consumer.hand_back(messages[len(rows) :])
        was_on = gc.isenabled()
        gc.disable()  # it would look through what is made here, again and again, and find nothing
        try:
            return records_of(rows, self._key_deserializer, self._value_deserializer)
        except BaseException:  # a deserializer failed: they come again
            self._consumer.hand_back(messages[: len(rows)])
            raise
        finally:
            if was_on:
                gc.enable()

    def _raise_trouble(self) -> None:
        """Raises errors that came without records, unless a seek has mended them."""
        while self._troubles:
            error = self._troubles.popleft()
            if not isinstance(error, NoOffsetForPartitionError) or error.args[0] not in self._positions():
                raise error

    def _tell_trouble(self, message: Message) -> None:
        """An error that came without records: the next call that takes some raises it, and one that waits as well."""
        self._troubles.append(trouble_of(message))
        self._assigned.set()
        self._consumer.wakeup()

    # ---- positions

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Goes on reading a partition from another offset."""
        if not is_offset(offset):
            raise ValueError("Offset must be a positive integer")
        self._require(partition)
        if self._loop is None:
            assert self._manual is not None
            self._manual[partition] = offset
            return
        with translating():
            at_once(self._consumer.seek(core(partition, offset)))

    async def seek_to_beginning(self, *partitions: TopicPartition) -> bool:
        """Goes to the first offset of these partitions, or of all."""
        return await self._seek_logically(partitions, OFFSET_BEGINNING)

    async def seek_to_end(self, *partitions: TopicPartition) -> bool:
        """Goes behind the last record of these partitions (read_committed: the last stable one), or of all."""
        return await self._seek_logically(partitions, OFFSET_END)

    async def _seek_logically(self, partitions: Sequence[TopicPartition], where: int) -> bool:
        chosen = self._chosen(partitions)
        with translating():
            for item in chosen:
                await self._consumer.seek(core(item, where))
            try:
                for item in chosen:
                    await self._consumer.next_offset(core(item), self._timeout_s)
            except KafkaException as error:
                if error.code == CoreError._TIMED_OUT:
                    return False
                raise
        return True

    async def seek_to_committed(self, *partitions: TopicPartition) -> dict[TopicPartition, int | None]:
        """Goes to the committed offsets of these partitions, or of all; gives them back, None where there is none."""
        self._need_group()
        found = await self._committed_offsets(self._chosen(partitions))
        for item, offset in found.items():
            if offset is not None:
                self.seek(item, offset)
        return found

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the record that comes next; waits until it is known."""
        self._check()
        self._require(partition)
        while True:
            try:
                return await self._consumer.next_offset(core(partition), self._timeout_s)
            except StateError:
                self._check()
                raise IllegalStateError(f"Partition {partition} is not assigned") from None
            except KafkaException as error:
                if error.code == CoreError._AUTO_OFFSET_RESET:
                    raise NoOffsetForPartitionError(partition) from error
                if error.code != CoreError._TIMED_OUT:
                    raise translated(error) from error

    def highwater(self, partition: TopicPartition) -> int | None:
        """The end of a partition, as the last fetch told; None before the first."""
        status = self._status(partition)
        return None if status is None else status.high_watermark

    def last_stable_offset(self, partition: TopicPartition) -> int | None:
        """The offset up to which all transactions are over, as the last fetch told."""
        status = self._status(partition)
        return None if status is None else status.last_stable_offset

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        """Time of the last fetch that told those two, ms since 1970."""
        status = self._status(partition)
        return None if status is None else status.told_at_ms

    def _status(self, partition: TopicPartition) -> Any:
        status = self._consumer.partition_status(core(partition))
        if status is None:
            assert partition in self.assignment(), "Partition is not assigned"
        return status

    def pause(self, *partitions: TopicPartition) -> None:
        """Hands out nothing of these partitions until `resume`."""
        for item in partitions:
            self._require(item)
        self._paused.update(partitions)
        at_once(self._consumer.pause([core(item) for item in partitions]))

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        return set(self._paused)

    def resume(self, *partitions: TopicPartition) -> None:
        """Ends `pause`."""
        for item in partitions:
            self._require(item)
        self._paused.difference_update(partitions)
        at_once(self._consumer.resume([core(item) for item in partitions]))

    def _require(self, partition: TopicPartition) -> None:
        if partition not in self.assignment():
            raise IllegalStateError(f"No current assignment for partition {partition}")

    def _chosen(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """These partitions, which must be assigned, or all that are."""
        self._check()
        if not all(isinstance(item, TopicPartition) for item in partitions):
            raise TypeError("partitions must be TopicPartition instances")
        here = self.assignment()
        if missing := [item for item in partitions if item not in here]:
            raise IllegalStateError(f"Partitions {missing} are not assigned")
        return list(partitions) or sorted(here)

    # ---- offsets

    async def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offsets of partitions, assigned or not."""
        found = await self._list({item: OffsetSpec.earliest() for item in partitions})
        return {item: offset for item, (offset, _) in found.items()}

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offsets behind the last records of partitions (read_committed: the last stable ones)."""
        found = await self._list({item: OffsetSpec.latest() for item in partitions})
        return {item: offset for item, (offset, _) in found.items()}

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first offset at or after a time (ms) per partition; None where there is none."""
        for item, timestamp in timestamps.items():
            if timestamp < 0:
                raise ValueError(
                    f"The target time for partition {item} is {timestamp}. The target time cannot be negative."
                )
        found = await self._list({item: OffsetSpec.for_timestamp(time) for item, time in timestamps.items()})
        return {item: None if at[0] < 0 else OffsetAndTimestamp(*at) for item, at in found.items()}

    async def _list(self, specs: Mapping[TopicPartition, OffsetSpec]) -> dict[TopicPartition, tuple[int, int]]:
        if not specs:
            return {}
        self._check()
        with translating():
            answers = await self._consumer.list_offsets(
                {core(item): spec for item, spec in specs.items()}, self._timeout_s
            )
        found = {}
        for item in specs:
            answer = answers[core(item)]
            if isinstance(answer, KafkaException):
                if answer.code == CoreError._UNKNOWN_PARTITION:
                    raise KafkaTimeoutError(f"partition {item} does not exist") from answer
                raise translated(answer) from answer
            found[item] = answer.offset, answer.timestamp
        return found

    async def commit(self, offsets: Offsets | None = None) -> None:
        """Commits positions of all assigned partitions, or the offsets that are given.

        Args:
            offsets: the offset to be read next, or (offset, text), per partition.

        Raises:
            CommitFailedError: the group has given partitions to another member.
            IllegalOperation: there is no group. IllegalStateError: a partition is not assigned.
        """
        self._need_group()
        self._check()
        if offsets is None:
            wanted = [core(item, offset) for item, offset in self._positions().items()]
        else:
            wanted = core_offsets(offsets)
            here = self.assignment()
            for item in wanted:
                if ours(item) not in here:
                    raise IllegalStateError(f"Partition {ours(item)} is not assigned")
        if wanted:
            await self._commit(wanted)

    async def _commit(self, wanted: list[CorePartition]) -> None:
        try:
            results = await self._consumer.commit(offsets=wanted, asynchronous=False) or []
        except KafkaException as error:
            raise commit_error(error.error) from error
        self._committed.update((ours(item), item.offset) for item in results)

    def _positions(self) -> dict[TopicPartition, int]:
        """The positions of the assigned partitions, as far as they are known."""
        found = {}
        for item in at_once(self._consumer.assignment()):
            status = self._consumer.partition_status(item)
            if status is not None and status.position is not None:
                found[ours(item)] = status.position
        return found

    async def _commit_in_background(self) -> None:
        """The automatic commit, of positions that have changed."""
        positions = self._positions()
        wanted = [core(item, offset) for item, offset in positions.items() if self._committed.get(item) != offset]
        if not wanted:
            return
        try:
            await self._commit(wanted)
        except Exception as error:
            logger.warning("positions could not be committed: %s", error)

    async def committed(self, partition: TopicPartition) -> int | None:
        """The group's committed offset of a partition, None if there is none."""
        self._need_group()
        return (await self._committed_offsets([checked(partition)]))[partition]

    async def _committed_offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
        self._check()
        with translating():
            found = await self._consumer.committed([core(item) for item in partitions], self._timeout_s)
        for item in found:
            if item.error is not None:
                raise translated(item.error)
        return {ours(item): item.offset if item.offset >= 0 else None for item in found}

    def _need_group(self) -> None:
        if self._group_id is None:
            raise IllegalOperation("Requires group_id")

    # ---- the cluster

    async def topics(self) -> set[str]:
        """All topics that this user may see."""
        self._check()
        with translating():
            await self._refresh()
        return {topic for topic in self._known if topic not in INTERNAL_TOPICS}

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The numbers of a topic's partitions, as far as they are known; None if they are not."""
        found = self._known.get(topic)
        return None if found is None else set(found)
