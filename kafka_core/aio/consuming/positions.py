"""Where the application is in its partitions: seek, pause, resume, stored offsets, and records that come again.

Must not know the group or requests. Methods that are no coroutines say where they may be called.
Spec: confluent_kafka.Consumer.seek, pause, resume, position, store_offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_core.aio.consuming.events import Notice
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import checked, chosen
from kafka_core.aio.tasks.signals import Signal
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.subscription import Assignment, Key, PartitionState, Phase, check_offset
from kafka_core.errors import ConfigError, KafkaError
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
        self._auto_store = auto_store

    async def seek(self, partition: TopicPartition) -> None:
        """Goes on reading a partition from another offset."""
        await self._running.start()
        check_offset(partition.offset)
        key = (partition.topic, partition.partition)
        state = self._assignment.require(key, f"seek to offset {partition.offset} in")
        self._queue.restart(state, partition.offset)
        self._fetch_again.set()

    async def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Hands nothing of these partitions out; one that is not assigned gets its `.error` set."""
        self._each(partitions, self._queue.pause)

    async def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Ends `pause`."""
        self._each(partitions, self._queue.resume)
        await self._running.start()
        self._fetch_again.set()

    def _each(self, partitions: Sequence[TopicPartition], action: Callable[[PartitionState], None]) -> None:
        for item in checked(partitions):
            state = self._assignment.get((item.topic, item.partition))
            item.error = KafkaError(KafkaError._UNKNOWN_PARTITION) if state is None else None
            if state is not None:
                action(state)

    def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The given partitions with the offset after the last record handed out. Any thread."""
        for item in checked(partitions):
            state = self._assignment.get((item.topic, item.partition))
            item.offset = state.position if state is not None and state.consumed else OFFSET_INVALID
            item.error = None
        return list(partitions)

    def store_offsets(self, message: Any = None, partitions: Sequence[TopicPartition] | None = None) -> None:
        """Stores offsets for the next commit. Any thread."""
        if self._auto_store:
            raise ConfigError("StoreOffsets failed: enable.auto.offset.store must be set to False when using this API")
        if partitions is None and isinstance(message, Message) and self.store_behind(message):
            return
        offsets.store(self._assignment, chosen(message, partitions, "store") or [])

    def hand_back(self, taken: Sequence[Message] | pyarrow.RecordBatch, *, unstore: bool = False) -> None:
        """A call that had taken these ends without giving them: records come again, events are told again.

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
        """The same for records of which only the first offset per partition is known."""
        for key, offset in first.items():
            state = self._assignment.get(key)
            if state is not None:
                self._queue.hand_back(state, offset, unstore=unstore)
        if not self._running.closing:
            self._fetch_again.set()

    def more_expected(self) -> bool:
        """Whether brokers are known to have records that were not handed out yet. Any thread."""
        committed = self._read_committed
        for state in self._assignment:
            end = state.last_stable_offset if committed else state.high_watermark
            if not state.paused and state.phase is Phase.FETCH and 0 <= state.position < end:
                return True
        return False
