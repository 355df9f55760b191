"""Acknowledgements of ShareFetch and ShareAcknowledge, on their way to the records of a share group.

Must not know: sessions, how records change (`share_records.py`). Spec: KIP-932, KIP-1222 (renewal).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.handlers.lookup import find_partition, may, serving_problem
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.broker.sharing.partitions import SharePartition
from kafka_core.broker.sharing.records import Acknowledge, Acknowledgement, Refusal

NOT_HOSTED = "This server does not host this topic-partition."
Located: TypeAlias = tuple[Code, str | None, Partition | None, SharePartition | None]
"""Why not, the partition if there is one, and what the group knows of it if this broker may say."""


class Batch(Protocol):
    """An AcknowledgementBatch of either request."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


def locate(cluster: ClusterState, context: Context, group_id: str, key: Id) -> Located:
    """A partition as a share group sees it, if this client may read it and this broker leads it."""
    topic_id, index = key
    code, partition = find_partition(cluster, "", topic_id, index, by_id=True)
    if partition is None:
        return code, None, None, None
    if not may(cluster, context, Operation.READ, Resource.TOPIC, partition.topic.name):
        return Code.TOPIC_AUTHORIZATION_FAILED, None, None, None
    code = serving_problem(context, partition)
    if code is not Code.NONE:
        return code, None, partition, None
    return Code.NONE, None, partition, cluster.share_partitions.get(group_id, topic_id, index)


def acknowledge(
    cluster: ClusterState,
    context: Context,
    group_id: str,
    member_id: str,
    key: Id,
    batches: Sequence[Batch],
    *,
    is_renewal: bool,
) -> Refusal:
    """Takes a member's word for its records of one partition; code NONE if it counts."""
    code, text, _, part = locate(cluster, context, group_id, key)
    if code is not Code.NONE:
        return Refusal(code, text)
    if not is_well_formed(batches, is_renewal=is_renewal):
        return Refusal(Code.INVALID_REQUEST)
    if part is None or not part.is_open:
        return Refusal(Code.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
    items = [Acknowledgement(batch.first_offset, batch.last_offset, batch.acknowledge_types) for batch in batches]
    return part.acknowledge(member_id, items) or Refusal(Code.NONE)


def is_well_formed(batches: Iterable[Batch], *, is_renewal: bool) -> bool:
    """Whether ranges follow each other and have types that there are: one, or one for each offset."""
    known = range(Acknowledge.RENEW + is_renewal)
    end = -1
    for batch in batches:
        size = batch.last_offset - batch.first_offset + 1
        types = batch.acknowledge_types
        if batch.first_offset < end or size <= 0 or len(types) not in (1, size):
            return False
        if any(kind not in known for kind in types):
            return False
        end = batch.last_offset
    return True
