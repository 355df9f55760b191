"""Whether a leader's log still has what was read: what OffsetForLeaderEpoch answers, and what that means.

Must not know connections or queues. A log that lost its end (an unclean leader election) may have grown again since:
only the leader epoch of what was read tells that other records stand there now.
Spec: KIP-320; `SubscriptionState.maybeCompleteValidation` of the Java client, for which answer means what.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

from kafka_core.model import LogTruncation
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

CONSUMER_REPLICA: Final = -1


class Position(Protocol):
    """The part of `PartitionState` to ask about: partition, the leader's epoch, and that of the records read."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def leader_epoch(self) -> int: ...
    @property
    def fetch_epoch(self) -> int: ...


class EpochEnd(NamedTuple):
    """The end, in the leader's log, of the epoch asked for or the largest before it; -1: it knows none."""

    epoch: int
    offset: int

    @property
    def known(self) -> bool:
        """Whether the leader could say."""
        return self.epoch >= 0 and self.offset >= 0

    def holds(self, offset: int) -> bool:
        """Whether the log has everything before that offset."""
        return self.known and offset <= self.offset


def epoch_request(states: Iterable[Position]) -> OffsetForLeaderEpochRequest:
    """Asks where the epoch of the last record read ends in the leader's log."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for state in states:
        topic = topics.setdefault(state.topic, OffsetForLeaderTopic(topic=state.topic))
        topic.partitions.append(
            OffsetForLeaderPartition(
                partition=state.partition,
                current_leader_epoch=state.leader_epoch,
                leader_epoch=state.fetch_epoch,
            )
        )
    return OffsetForLeaderEpochRequest(replica_id=CONSUMER_REPLICA, topics=list(topics.values()))


def epoch_ends(response: OffsetForLeaderEpochResponse) -> dict[tuple[str, int], tuple[int, EpochEnd]]:
    """Error code (0 if none) and end per partition."""
    return {
        (topic.topic, item.partition): (item.error_code, EpochEnd(item.leader_epoch, item.end_offset))
        for topic in response.topics
        for item in topic.partitions
    }


def describe(truncation: LogTruncation, *, halted: bool) -> str:
    """Text about a truncation, and about where reading goes on."""
    lost, end = truncation.offset, truncation.divergent_offset
    where = f"{truncation.topic}[{truncation.partition}]"
    if end is None:
        what = f"the leader does not know epoch {truncation.leader_epoch}, of the records read before offset {lost}"
        seek = "seek() to where reading should continue"
        goes_on = "reading continues by auto.offset.reset"
    else:
        what = f"the log was truncated to offset {end} (an unclean leader election), it had been read to {lost}"
        seek = f"seek() to {end}, or to where reading should continue"
        goes_on = f"reading goes on from {end}"
    return f"{where}: {what}; " + (f"auto.offset.reset is `error`: {seek}" if halted else goes_on)
