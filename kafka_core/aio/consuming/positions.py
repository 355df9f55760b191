"""The application's positions in its partitions: seek, pause, resume, stored offsets, and records that come again.

Must not know the group or requests. Methods that are no coroutines say where they may be called.
Spec: confluent_kafka.Consumer.seek, pause, resume, position, store_offsets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_core.aio.consuming.events import Notice
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import check_partition, checked, chosen
from kafka_core.aio.tasks.signals import Signal
from kafka_core.aio.tasks.timeouts import limit_s
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.subscription import Assignment, Key, Phase, check_offset
from kafka_core.errors import CONSUMER_CLOSED, ConfigError, KafkaError, KafkaException, NetworkError, StateError
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_INVALID, TopicPartition

if TYPE_CHECKING:
    import pyarrow


class Positions:
    """The positions of the assigned partitions.

    Args:
        fetch_again: set when something else is to be fetched.
        read_committed: records end at the last stable offset.
        auto_store: offsets are stored by taking records, not by `store_offsets`.

    Attributes:
        auto_store: as given; may be changed before anything is taken.
        store_behind: stores the offset behind a record for the next commit; False if its partition is not assigned.
            Any thread.
    """

    def __init__(
        self,
        assignment: Assignment,
        queue: FetchQueue,
        running: Running,
        inbox: Inbox,
        fetch_again: Signal,
        *,
        read_committed: bool,
        auto_store: bool,
    ) -> None:
        self.store_behind = assignment.store_behind
        self._assignment = assignment
        self._queue = queue
        self._running = running
        self._inbox = inbox
        self._fetch_again = fetch_again
        self._read_committed = read_committed
        self.auto_store = auto_store
        self._found: asyncio.Future[None] | None = None
        fetch_again.watch(self.look_again)

    async def seek(self, partition: TopicPartition) -> None:
        """Goes on reading a partition from `offset`, or a logical one; its queued records are dropped.

        Raises:
            ConfigError: no offset one can read from.
            StateError: the partition is not assigned, or the consumer is closed.
        """
        check_partition(partition)
        await self._running.start()
        check_offset(partition.offset)
        key = (partition.topic, partition.partition)
        state = self._assignment.require(key, f"Failed to seek to offset {partition.offset}")
        self._queue.restart(state, partition.offset, partition.leader_epoch)
        self._fetch_again.set()

    async def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Hands nothing of these partitions out; one that is not assigned gets its `.error` set."""
        for item in checked(partitions):
            key = (item.topic, item.partition)
            state = self._assignment.get(key)
            item.error = KafkaError(KafkaError._UNKNOWN_PARTITION) if state is None else None
            if state is not None:
                self._assignment.paused.add(key)
                self._queue.pause(state)

    async def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Ends `pause`: records that were kept are handed out; `.error` is set where nothing was assigned or paused."""
        for item in checked(partitions):
            key = (item.topic, item.partition)
            state = self._assignment.get(key)
            known = state is not None or key in self._assignment.paused
            item.error = None if known else KafkaError(KafkaError._UNKNOWN_PARTITION)
            self._assignment.paused.discard(key)
            if state is not None:
                self._queue.resume(state)
        await self._running.start()
        self._fetch_again.set()

    def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The partitions, as new ones, with offset and epoch after the last record taken or passed. Any thread."""
        found = []
        for item in checked(partitions):
            state = self._assignment.get((item.topic, item.partition))
            offset, epoch = OFFSET_INVALID, -1
            if state is not None and state.consumed:
                offset, epoch = state.position, state.position_epoch
            known = epoch if epoch >= 0 else None
            found.append(TopicPartition(item.topic, item.partition, offset, item.metadata, known))
        return found

    async def next_offset(self, partition: TopicPartition, timeout_s: float | None) -> int:
        """The offset of the record that comes next; waits until the position has been found.

        Raises:
            StateError: the partition is not assigned, or the consumer is closed.
            KafkaException: there is no offset to begin at, and `auto.offset.reset` is `error`.
            NetworkError: it was not found within `timeout_s`.
        """
        await self._running.start()
        key = (partition.topic, partition.partition)
        try:
            async with asyncio.timeout(limit_s(timeout_s)):
                while (state := self._assignment.require(key, "Failed to find the position")).position < 0:
                    if state.phase is Phase.HALTED:
                        text = f"{key[0]}[{key[1]}]: there is no offset to begin at, and auto.offset.reset is `error`"
                        raise KafkaException(KafkaError(KafkaError._AUTO_OFFSET_RESET, text))
                    if self._running.closing:
                        raise StateError(CONSUMER_CLOSED)
                    if self._found is None:
                        self._found = asyncio.get_running_loop().create_future()
                    await asyncio.shield(self._found)
        except TimeoutError:
            text = f"finding the position in {key[0]}[{key[1]}] timed out"
            raise NetworkError(text, KafkaError._TIMED_OUT) from None
        return state.position

    def look_again(self) -> None:
        """Wakes the callers of `next_offset`: a position was found, or the consumer is being closed."""
        found, self._found = self._found, None
        if found is not None and not found.done():
            found.set_result(None)

    def store_offsets(self, message: Any = None, partitions: Sequence[TopicPartition] | None = None) -> None:
        """Stores a message's offset + 1, or the given offsets, for the next commit. Any thread.

        Raises:
            ValueError: neither is given, or both are.
            TypeError: no message, or no list of TopicPartition.
            ConfigError: `enable.auto.offset.store` is on.
            StateError: a partition is not assigned.
        """
        if message is None and partitions is None:
            raise ValueError("expected either message or offsets")
        wanted = checked(partitions) if message is None and partitions is not None else partitions
        if self.auto_store:
            raise ConfigError(
                "StoreOffsets failed: Local: Invalid argument or configuration: enable.auto.offset.store must be set "
                "to False when using this API"
            )
        if wanted is None and isinstance(message, Message) and self.store_behind(message):
            return
        offsets.store(self._assignment, chosen(message, wanted, "store") or [])

    def hand_back(self, taken: Sequence[Message] | pyarrow.RecordBatch, *, unstore: bool = False) -> None:
        """Takes back the records and events that an interrupted call did not return: the next call gives them.

        On the loop.

        Args:
            unstore: whoever took them has stored their offsets itself.
        """
        if not isinstance(taken, Sequence):
            from kafka_core.records.arrow import first_offsets

            self.hand_back_from(first_offsets(taken), unstore=unstore)
            return
        first: dict[Key, int] = {}
        for message in taken:
            partition, offset = message.partition(), message.offset()
            if message.error() is None and partition is not None and offset is not None:
                key = (message.topic() or "", partition)
                first[key] = min(offset, first.get(key, offset))  # a seek may have gone back meanwhile
        self.hand_back_from(first, unstore=unstore)
        for message in reversed(taken):
            if message.error() is not None and (message.topic(), message.partition()) not in first:
                self._inbox.appendleft(Notice(message))

    def hand_back_from(self, first: Mapping[Key, int], *, unstore: bool = False) -> None:
        """As `hand_back`, for records of which only the lowest offset of each partition is known. On the loop."""
        for key, offset in first.items():
            state = self._assignment.get(key)
            if state is not None:
                self._queue.hand_back(state, offset, unstore=unstore)
        if not self._running.closing:
            self._fetch_again.set()

    def more_expected(self, only: Collection[Key] | None = None) -> bool:
        """Whether brokers are known to have records that were not handed out yet. Any thread.

        Args:
            only: of these partitions; None: of all.
        """
        committed = self._read_committed
        for state in self._assignment:
            if only is not None and state.key not in only:
                continue
            end = state.last_stable_offset if committed else state.high_watermark
            if not state.paused and state.phase is Phase.FETCH and 0 <= state.position < end:
                return True
        return False
