"""Offsets of a SimpleConsumer that are committed or given up as a block.

Spec: the manual of kafka-python 0.9.5 (kafka.context).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from kserdes.compat.simple.client import EARLIEST
from kserdes.compat.simple.common import (
    OffsetCommitRequest,
    OffsetOutOfRangeError,
    OffsetRequest,
    check_error,
)
from kserdes.compat.simple.consumer.simple import SimpleConsumer


class OffsetCommitContext:
    """At the block's end what was marked is committed, and the consumer goes on behind it; an exception takes it back.

    It is true if anything was marked.

    Args:
        consumer: made with `auto_commit=False`; `provide_partition_info` tells where a message is from.
    """

    def __init__(self, consumer: SimpleConsumer) -> None:
        self.consumer = consumer
        self.initial_offsets: dict[int, int] = {}
        self.high_water_mark: dict[int, int] = {}

    def mark(self, partition: int, offset: int) -> None:
        """The message at this offset has been dealt with, and all before it in its partition."""
        self.high_water_mark[partition] = max(offset + 1, self.high_water_mark.get(partition, 0))

    def __bool__(self) -> bool:
        return bool(self.high_water_mark)

    def __enter__(self) -> Self:
        self.consumer.commit()
        self.initial_offsets = dict(self.consumer.offsets)
        self.high_water_mark = {}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            self.commit()
        elif isinstance(error, OffsetOutOfRangeError):
            self.handle_out_of_range()
            return True
        else:
            self.rollback()
        return False

    def commit(self) -> None:
        """Commits what was marked and goes behind it; other partitions, too, go back to where the block began."""
        if self.high_water_mark:
            self.commit_partition_offsets(self.high_water_mark)
        self.update_consumer_offsets({**self.initial_offsets, **self.high_water_mark})

    def rollback(self) -> None:
        """Goes back to where the block began."""
        self.update_consumer_offsets(self.initial_offsets)

    def commit_partition_offsets(self, partition_offsets: Mapping[int, int]) -> None:
        """Commits these offsets: partition → offset of the next message."""
        topic, group = self.consumer.topic, self.consumer.group
        if group is None:
            raise ValueError("a consumer without a group can't commit")
        asked = [OffsetCommitRequest(topic, number, offset, None) for number, offset in partition_offsets.items()]
        for response in self.consumer.client.send_offset_commit_request(group, asked):
            check_error(response)

    def update_consumer_offsets(self, partition_offsets: Mapping[int, int]) -> None:
        """The consumer goes to these offsets."""
        for number, offset in partition_offsets.items():
            self.consumer.seek(offset, partition=number)

    def handle_out_of_range(self) -> None:
        """Goes to the beginning of each partition whose offset is before it."""
        consumer = self.consumer
        asked = [OffsetRequest(consumer.topic, number, EARLIEST, 1) for number in self.initial_offsets]
        for response in consumer.client.send_offset_request(asked):
            consumer.seek(
                max(response.offsets[0], self.initial_offsets[response.partition]), partition=response.partition
            )
