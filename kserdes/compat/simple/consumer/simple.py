"""A consumer of one topic's partitions, with seek.

Spec: the manual of kafka-python 0.9.5 (kafka.consumer.simple).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kafka_core import KafkaException, TopicPartition
from kserdes.compat.simple.client import EARLIEST, LATEST, KafkaClient, as_message, error_code, raised
from kserdes.compat.simple.common import (
    KafkaUnavailableError,
    OffsetAndMessage,
    OffsetOutOfRangeError,
    OffsetRequest,
    UnknownError,
    kafka_errors,
)
from kserdes.compat.simple.consumer.base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    FETCH_DEFAULT_BLOCK_TIMEOUT,
    Consumer,
)
from kserdes.compat.simple.util import text

FETCH_BUFFER_SIZE_BYTES = 4096
MAX_FETCH_BUFFER_SIZE_BYTES = 32768
ITER_TIMEOUT_SECONDS = 60
NO_MESSAGES_WAIT_TIME_SECONDS = 0.1
STEP_S: Final = 0.1
"""The longest single wait for messages, in seconds, so that a call without an end can be interrupted."""


class SimpleConsumer(Consumer):
    """Reads all or given partitions of a topic.

    Args:
        client: a KafkaClient.
        group: under whose name positions are kept; None: they are not.
        topic: what to read.
        auto_commit: whether to commit without being asked.
        partitions: which; None: all.
        auto_commit_every_n: commit after so many messages.
        auto_commit_every_t: commit after so many milliseconds.
        fetch_size_bytes: bytes to ask a partition for. Today a larger message comes nevertheless, so only the largest
            of this and the next two counts.
        buffer_size: as `fetch_size_bytes`.
        max_buffer_size: as `fetch_size_bytes`; None: no such number.
        iter_timeout: seconds after which iteration ends when nothing comes; None: never.
        auto_offset_reset: where to go on when the position is not there (any more): largest or smallest; with anything
            else OffsetOutOfRangeError is raised.

    A group that has committed nothing begins at offset 0.
    """

    def __init__(
        self,
        client: KafkaClient,
        group: str | bytes | None,
        topic: str | bytes,
        auto_commit: bool = True,
        partitions: Sequence[int] | None = None,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
        fetch_size_bytes: int = FETCH_BUFFER_SIZE_BYTES,
        buffer_size: int = FETCH_BUFFER_SIZE_BYTES,
        max_buffer_size: int | None = MAX_FETCH_BUFFER_SIZE_BYTES,
        iter_timeout: float | None = None,
        auto_offset_reset: str = "largest",
    ) -> None:
        if max_buffer_size is not None and buffer_size > max_buffer_size:
            raise ValueError(f"buffer_size ({buffer_size}) is more than max_buffer_size ({max_buffer_size})")
        self.iter_timeout, self.auto_offset_reset = iter_timeout, auto_offset_reset
        self.buffer_size, self.max_buffer_size = buffer_size, max_buffer_size
        largest = max(fetch_size_bytes, buffer_size, max_buffer_size or 0)
        self._reader = client.consumer(group, max_partition_fetch_bytes=largest)
        self._assigned = False
        super().__init__(client, group, topic, partitions, auto_commit, auto_commit_every_n, auto_commit_every_t)
        self._assign()

    def __repr__(self) -> str:
        return f"<SimpleConsumer group={self.group!r}, topic={self.topic!r}, partitions={list(self.offsets)}>"

    def _assign(self) -> None:
        name = text(self.topic)
        self._reader.assign([TopicPartition(name, number, offset) for number, offset in self.offsets.items()])
        self._assigned = True

    def _moved(self, partitions: Sequence[int]) -> None:
        if self._assigned:
            for number in partitions:
                self._reader.seek(TopicPartition(text(self.topic), number, self.offsets[number]))

    # ---- positions

    def reset_partition_offset(self, partition: int) -> int | None:
        """Goes to the end or the beginning, as `auto_offset_reset` says; the offset, or None if nobody tells it.

        Raises:
            OffsetOutOfRangeError: `auto_offset_reset` is neither largest nor smallest.
        """
        when = {"largest": LATEST, "smallest": EARLIEST}.get(self.auto_offset_reset)
        if when is None:
            raise OffsetOutOfRangeError(
                f"{text(self.topic)}[{partition}]: there is no offset {self.offsets.get(partition)}, and "
                f"auto_offset_reset is {self.auto_offset_reset!r}"
            )
        try:
            (response,) = self.client.send_offset_request([OffsetRequest(self.topic, partition, when, 1)])
        except KafkaUnavailableError:
            return None
        found: int = response.offsets[0]
        self.offsets[partition] = found
        self._moved([partition])
        return found

    def seek(self, offset: int, whence: int | None = None, partition: int | None = None) -> None:
        """Goes to another offset.

        Args:
            offset: where to, or how far from `whence`. Over several partitions a distance from the beginning or the
                end is shared out among them.
            whence: None: `offset` is the offset itself; 0: from the beginning; 1: from here; 2: from the end.
            partition: which; None: all.

        Raises:
            ValueError: `whence` is something else.
        """
        wanted = list(self.offsets) if partition is None else [partition]
        if whence is None:
            self.offsets.update(dict.fromkeys(wanted, offset))
        elif whence == 1:
            self.offsets.update({number: self.offsets[number] + offset for number in wanted})
        elif whence in (0, 2):
            share, rest = divmod(offset, len(wanted))
            shares = {number: share + (position < rest) for position, number in enumerate(wanted)}
            when = EARLIEST if whence == 0 else LATEST
            asked = [OffsetRequest(self.topic, number, when, 1) for number in wanted]
            for response in self.client.send_offset_request(asked):
                self.offsets[response.partition] = response.offsets[0] + shares[response.partition]
        else:
            raise ValueError(f"whence is None, 0, 1 or 2, not {whence!r}")
        self._moved(wanted)

    # ---- messages

    def get_messages(self, count: int = 1, block: bool | int = True, timeout: float | None = 0.1) -> list[Any]:
        """Up to `count` messages.

        Args:
            count: at most so many.
            block: True: wait until there are `count`; a number: until there are so many; False: take what is there.
            timeout: seconds to wait at most; None: for ever.

        Returns:
            OffsetAndMessage, or (partition, OffsetAndMessage) after `provide_partition_info`.
        """
        needed = count if block is True else min(int(block), count)
        limit_s = FETCH_DEFAULT_BLOCK_TIMEOUT if not block else timeout
        deadline_s = None if limit_s is None else time.monotonic() + limit_s
        found: list[Any] = []
        while len(found) < count:
            left_s = STEP_S if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            if len(found) >= needed and found:
                left_s = 0.0
            taken = self._take(count - len(found), min(left_s, STEP_S))
            found += taken
            if not taken and (left_s == 0.0 or (not block and found)):
                break
        self._auto_commit()
        return found

    def _take(self, count: int, wait_s: float) -> list[Any]:
        found: list[Any] = []
        try:
            messages = self._reader.consume(count, wait_s)
        except KafkaException as error:
            raise raised(error) from error
        for message in messages:
            number = message.partition() or 0
            failed = message.error()
            if failed is not None:
                code = error_code(failed)
                if code == OffsetOutOfRangeError.errno:
                    self.reset_partition_offset(number)
                    continue
                raise kafka_errors.get(code, UnknownError)(str(failed))
            each = as_message(message)
            self.offsets[number] = each.offset + 1
            self.count_since_commit += 1
            found.append((number, each) if self.partition_info else each)
        return found

    def get_message(
        self, block: bool = True, timeout: float | None = 0.1, get_partition_info: bool | None = None
    ) -> Any:
        """The next message, or None.

        Args:
            block: wait for it.
            timeout: seconds to wait at most; None: for ever.
            get_partition_info: give (partition, message); None: as `provide_partition_info` has it.
        """
        before = self.partition_info
        self.partition_info = before if get_partition_info is None else get_partition_info
        try:
            found = self.get_messages(1, block, timeout)
        finally:
            self.partition_info = before
        return found[0] if found else None

    def __iter__(self) -> Iterator[OffsetAndMessage | tuple[int, OffsetAndMessage]]:
        """Messages, until none comes for `iter_timeout` seconds."""
        while (message := self.get_message(True, self.iter_timeout)) is not None:
            yield message

    def stop(self) -> None:
        """Commits (if that is automatic) and closes the connections of this consumer, not those of its client."""
        super().stop()
        self._reader.close()
