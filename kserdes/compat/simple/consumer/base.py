"""Common parts of SimpleConsumer and MultiProcessConsumer: positions of a group, periodic commits, pending counts.

Spec: the manual of kafka-python 0.9.5 (kafka.consumer.base).
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Final

from kserdes.compat.simple.client import LATEST, KafkaClient
from kserdes.compat.simple.common import KafkaError, OffsetCommitRequest, OffsetFetchRequest, OffsetRequest
from kserdes.compat.simple.util import ReentrantTimer, kafka_bytestring

logger: Final = logging.getLogger("kserdes.compat")

AUTO_COMMIT_MSG_COUNT = 100
AUTO_COMMIT_INTERVAL = 5000
FETCH_DEFAULT_BLOCK_TIMEOUT = 1


class Consumer:
    """Keeps the offset of the next message of each partition, and commits it; not to be used by itself.

    Attributes:
        offsets: partition → offset of the next message that will be given.
    """

    def __init__(
        self,
        client: KafkaClient,
        group: str | bytes | None,
        topic: str | bytes,
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
    ) -> None:
        self.client = client
        self.topic = kafka_bytestring(topic)
        self.group = None if group is None else kafka_bytestring(group)
        self.client.load_metadata_for_topics(self.topic)
        chosen = partitions or self.client.get_partition_ids_for_topic(self.topic)
        self.offsets: dict[int, int] = dict.fromkeys(chosen, 0)
        self.count_since_commit = 0
        self.auto_commit = auto_commit and self.group is not None
        self.auto_commit_every_n, self.auto_commit_every_t = auto_commit_every_n, auto_commit_every_t
        self.commit_lock = threading.RLock()
        self.commit_timer: ReentrantTimer | None = None
        if self.group is not None:
            self.fetch_last_known_offsets()
        if self.auto_commit and auto_commit_every_t is not None:
            self.commit_timer = ReentrantTimer(auto_commit_every_t, _commit_of, weakref.ref(self))
            self.commit_timer.start()

    def provide_partition_info(self) -> None:
        """From now on messages come as (partition, message); SimpleConsumer knows how."""
        self.partition_info = True

    partition_info = False

    def fetch_last_known_offsets(self, partitions: Sequence[int] | None = None) -> None:
        """Goes to the group's committed offsets; to 0 where there is none."""
        if self.group is None:
            raise ValueError("a consumer without a group has no committed offsets")
        wanted = list(self.offsets) if partitions is None else partitions
        asked = [OffsetFetchRequest(self.topic, number) for number in wanted]
        for response in self.client.send_offset_fetch_request(self.group, asked):
            self.offsets[response.partition] = max(response.offset, 0)
        self._moved(wanted)

    def _moved(self, partitions: Sequence[int]) -> None:
        """The offsets of these partitions were changed by somebody else than the reader."""

    def commit(self, partitions: Sequence[int] | None = None) -> bool:
        """Commits the offsets of these partitions, or of all. True on success; failures are logged."""
        if self.group is None:
            raise ValueError("a consumer without a group can't commit")
        with self.commit_lock:
            wanted = list(self.offsets) if partitions is None else partitions
            asked = [OffsetCommitRequest(self.topic, number, self.offsets[number], None) for number in wanted]
            try:
                self.client.send_offset_commit_request(self.group, asked)
            except KafkaError as error:
                logger.error("group %r: offsets of %r are not committed: %s", self.group, self.topic, error)
                return False
            self.count_since_commit = 0
            if self.commit_timer is not None and threading.current_thread() is not self.commit_timer.thread:
                self.commit_timer.start()
            return True

    def _auto_commit(self) -> None:
        """Commits if enough messages have been given since the last time."""
        if self.auto_commit and self.auto_commit_every_n and self.count_since_commit >= self.auto_commit_every_n:
            self.commit()

    def pending(self, partitions: Sequence[int] | None = None) -> int:
        """The number of messages behind the offsets of these partitions, or of all."""
        wanted = list(self.offsets) if partitions is None else partitions
        asked = [OffsetRequest(self.topic, number, LATEST, 1) for number in wanted]
        responses: list[Any] = self.client.send_offset_request(asked)
        return sum(response.offsets[0] - self.offsets[response.partition] for response in responses)

    def stop(self) -> None:
        """Commits (if that is automatic) and ends."""
        if self.commit_timer is not None:
            self.commit_timer.stop()
            self.commit_timer = None
            self.commit()


def _commit_of(reference: weakref.ref[Consumer]) -> None:
    consumer = reference()
    if consumer is not None and consumer.count_since_commit:
        consumer.commit()
