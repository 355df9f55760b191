"""Steps that tests of share groups' state machines share."""

from __future__ import annotations

import random
from uuid import UUID

from kafka_core.engine.groups.share import ShareMembership
from kafka_core.engine.groups.states import GroupSettings, Send
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.engine.sharing.fetching import ShareFetching
from kafka_core.engine.sharing.session import FetchLimits
from kafka_core.protocol.messages.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchResponse,
)
from kafka_core.protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_core.records import NewRecord, build_batch, open_batches

TOPIC, TOPIC_ID = "t", UUID(int=7)
LIMITS = FetchLimits(max_wait_ms=500, min_bytes=1, max_bytes=1000, max_records=100, acquire_mode=0)


def backoff() -> Backoff:
    return Backoff(100, 1000, random.Random(1))


def membership(**settings: object) -> ShareMembership:
    return ShareMembership(GroupSettings("g", max_poll_interval_s=60.0, **settings), backoff(), "me")  # type: ignore[arg-type]


def view(leaders: dict[int, int], topic_id: UUID = TOPIC_ID) -> ClusterView:
    """The topic `t`: partition → leader."""
    partitions = {number: PartitionView(number, node) for number, node in leaders.items()}
    return ClusterView(
        brokers={node: BrokerAddress(node, "h", 9092) for node in set(leaders.values())},
        topics={TOPIC: TopicView(TOPIC, topic_id, partitions)},
    )


def assigned(*partitions: int, epoch: int = 1) -> ShareGroupHeartbeatResponse:
    parts = [TopicPartitions(topic_id=TOPIC_ID, partitions=list(partitions))] if partitions else []
    return ShareGroupHeartbeatResponse(
        member_id="me", member_epoch=epoch, heartbeat_interval_ms=3000, assignment=Assignment(parts)
    )


def heartbeat(member: ShareMembership, now_s: float) -> ShareGroupHeartbeatRequest:
    step = member.next_step(now_s, now_s)
    assert isinstance(step, Send), step
    assert isinstance(step.request, ShareGroupHeartbeatRequest)
    return step.request


def joined(member: ShareMembership, *partitions: int) -> ShareMembership:
    """A member with these partitions, at time 0."""
    member.metadata_changed(view(dict.fromkeys(range(4), 1)), 0.0)
    member.subscribe([TOPIC])
    member.coordinator_found(1)
    member.received(heartbeat(member, 0.0), assigned(*partitions), 0.0)
    while member.event is not None:
        member.done(member.event)
    return member


def fetching(**limits: int) -> ShareFetching:
    changed = FetchLimits(**{**{name: getattr(LIMITS, name) for name in LIMITS.__slots__}, **limits})  # type: ignore[attr-defined]
    made = ShareFetching("g", "me", changed, open_batches, backoff())
    made.assign({(TOPIC, 0): TOPIC_ID, (TOPIC, 1): TOPIC_ID})
    return made


def fetched(
    partition: int, offsets: range, *acquired: tuple[int, int, int], error_code: int = 0, acknowledge_error: int = 0
) -> PartitionData:
    """A broker's answer for one partition: records at these offsets, and those acquired, with delivery counts."""
    records = build_batch([NewRecord(b"%d" % number) for number in offsets], base_offset=offsets.start)
    return PartitionData(
        partition_index=partition,
        error_code=error_code,
        acknowledge_error_code=acknowledge_error,
        records=memoryview(records) if len(offsets) else None,
        acquired_records=[AcquiredRecords(*part) for part in acquired],
    )


def response(*partitions: PartitionData, error_code: int = 0) -> ShareFetchResponse:
    return ShareFetchResponse(
        error_code=error_code,
        acquisition_lock_timeout_ms=30_000,
        responses=[ShareFetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(partitions))] if partitions else [],
    )
