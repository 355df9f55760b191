"""OffsetFetch v1-10: positions groups have committed.

Must not know: the group's state machine. Versions: v2 null means all partitions, v5 leader epochs, v7 require stable
(KIP-447), v8 several groups (KIP-709), v9 member epochs, v10 topic ids. Spec: KIP-709.
"""

from __future__ import annotations

from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_groups import CommittedOffset
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_FIRST_VERSION_WITH_GROUP_ERROR = 2
_FIRST_BATCHED_VERSION = 8
_FIRST_VERSION_WITH_IDS = 10
_NOTHING = CommittedOffset(-1, -1, "", -1)


def handle(cluster: ClusterState, context: Context, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """Look up the positions of one group (until v7) or several."""
    stable = request.require_stable
    if context.api_version >= _FIRST_BATCHED_VERSION:
        by_id = context.api_version >= _FIRST_VERSION_WITH_IDS
        return OffsetFetchResponse(groups=[_group(cluster, context, group, by_id, stable) for group in request.groups])
    topics = request.topics
    asked = OffsetFetchRequestGroup(
        request.group_id,
        topics=None
        if topics is None
        else [OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes) for topic in topics],
    )
    found = _group(cluster, context, asked, by_id=False, require_stable=stable)
    if found.error_code != Code.NONE:
        return _old_failure(request, found.error_code, context.api_version)
    return OffsetFetchResponse(topics=[_old_topic(topic) for topic in found.topics])


def _old_topic(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        topic.name,
        [
            OffsetFetchResponsePartition(
                item.partition_index,
                item.committed_offset,
                item.committed_leader_epoch,
                item.metadata,
                item.error_code,
            )
            for item in topic.partitions
        ],
    )


def _group(
    cluster: ClusterState, context: Context, asked: OffsetFetchRequestGroup, by_id: bool, require_stable: bool
) -> OffsetFetchResponseGroup:
    if not cluster.coordinates(context.broker_id, asked.group_id):
        return OffsetFetchResponseGroup(asked.group_id, error_code=Code.NOT_COORDINATOR)
    consumers = cluster.consumer_groups.get(asked.group_id)
    problem = Code.NONE if consumers is None else consumers.fetch_problem(asked.member_id, asked.member_epoch)
    if problem is not Code.NONE:
        return OffsetFetchResponseGroup(asked.group_id, error_code=problem)
    if asked.topics is None:
        return OffsetFetchResponseGroup(asked.group_id, _everything(cluster, asked.group_id))
    topics = [_topic(cluster, asked.group_id, topic, by_id) for topic in asked.topics]
    if require_stable:
        for topic in topics:
            for item in topic.partitions:
                if cluster.transactions.is_unstable(asked.group_id, (topic.name, item.partition_index)):
                    item.committed_offset, item.committed_leader_epoch = -1, -1
                    item.metadata, item.error_code = "", Code.UNSTABLE_OFFSET_COMMIT
    return OffsetFetchResponseGroup(asked.group_id, topics)


def _topic(
    cluster: ClusterState, group_id: str, asked: OffsetFetchRequestTopics, by_id: bool
) -> OffsetFetchResponseTopics:
    name, code = asked.name, Code.NONE
    if by_id:
        topic = cluster.topics_by_id.get(asked.topic_id)
        name, code = (topic.name, Code.NONE) if topic is not None else ("", Code.UNKNOWN_TOPIC_ID)
    answers = [
        _partition(index, cluster.groups.committed(group_id, name, index), code) for index in asked.partition_indexes
    ]
    return OffsetFetchResponseTopics(name, asked.topic_id, answers)


def _everything(cluster: ClusterState, group_id: str) -> list[OffsetFetchResponseTopics]:
    group = cluster.groups.groups.get(group_id)
    topics: dict[str, OffsetFetchResponseTopics] = {}
    for (name, index), entry in group.offsets.items() if group is not None else ():
        if name not in topics:
            topics[name] = OffsetFetchResponseTopics(name, _topic_id(cluster, name))
        topics[name].partitions.append(_partition(index, entry, Code.NONE))
    return list(topics.values())


def _topic_id(cluster: ClusterState, name: str) -> UUID:
    topic = cluster.topics.get(name)
    return topic.topic_id if topic is not None else ZERO_UUID


def _partition(index: int, entry: CommittedOffset | None, code: Code) -> OffsetFetchResponsePartitions:
    found = entry or _NOTHING
    return OffsetFetchResponsePartitions(index, found.offset, found.leader_epoch, found.metadata, code)


def _old_failure(request: OffsetFetchRequest, code: int, version: int) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [OffsetFetchResponsePartition(index, -1, -1, "", code) for index in topic.partition_indexes],
        )
        for topic in request.topics or []
    ]
    if version < _FIRST_VERSION_WITH_GROUP_ERROR:
        return OffsetFetchResponse(topics=topics)
    return OffsetFetchResponse(topics=topics, error_code=code)


def fail(request: OffsetFetchRequest, code: int) -> OffsetFetchResponse:
    """The error for every group (from v8 on) or for the one group and its partitions."""
    if request.groups:
        return OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup(group.group_id, error_code=code) for group in request.groups]
        )
    return _old_failure(request, code, _FIRST_VERSION_WITH_GROUP_ERROR)


API = Api(OffsetFetchRequest, handle, fail)
