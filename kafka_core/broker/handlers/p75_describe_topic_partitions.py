"""DescribeTopicPartitions v0: partitions of topics in the order of their names, a page at a time.

Must not know: the log. Replicas that may become leaders again (KIP-966) are not kept: they are told as none. Spec:
KIP-966.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations, may
from kafka_core.broker.partitions.topics import NO_LEADER, Partition, topic_name_problem
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

_LARGEST_PAGE = 2_000


def handle(
    cluster: ClusterState, context: Context, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Describe topics until the page is full; topics that may not be seen are left out where all are asked for."""
    names = {item.name for item in request.topics}
    cursor = request.cursor or Cursor()
    if cursor.partition_index < 0 or (names and cursor.topic_name and cursor.topic_name not in names):
        return fail(request, Code.INVALID_REQUEST)
    seen = [name for name in names or cluster.topics if may(cluster, context, Operation.DESCRIBE, Resource.TOPIC, name)]
    left = max(1, min(request.response_partition_limit, _LARGEST_PAGE))
    answer = DescribeTopicPartitionsResponse()
    for name in sorted(seen):
        if name < cursor.topic_name:
            continue
        if left == 0:
            answer.next_cursor = Cursor(name)
            break
        first = cursor.partition_index if name == cursor.topic_name else 0
        described = _topic(cluster, context, name, first, left)
        answer.topics.append(described)
        left -= len(described.partitions)
        if (topic := cluster.topics.get(name)) and first + len(described.partitions) < len(topic.partitions):
            answer.next_cursor = Cursor(name, first + len(described.partitions))
            break
    refused = sorted(name for name in names if name not in seen)
    answer.topics += [DescribeTopicPartitionsResponseTopic(Code.TOPIC_AUTHORIZATION_FAILED, each) for each in refused]
    return answer


def _topic(
    cluster: ClusterState, context: Context, name: str, first: int, most: int
) -> DescribeTopicPartitionsResponseTopic:
    """A topic with some of its partitions; one that is not there is an error with a name."""
    operations = authorized_operations(cluster, context, Resource.TOPIC, name)
    topic = cluster.topics.get(name)
    if topic is None:
        code = Code.INVALID_TOPIC_EXCEPTION if topic_name_problem(name) else Code.UNKNOWN_TOPIC_OR_PARTITION
        return DescribeTopicPartitionsResponseTopic(code, name, topic_authorized_operations=operations)
    return DescribeTopicPartitionsResponseTopic(
        Code.NONE,
        name,
        topic.topic_id,
        topic.is_internal,
        [_partition(cluster, each) for each in topic.partitions[first : first + most]],
        operations,
    )


def _partition(cluster: ClusterState, partition: Partition) -> DescribeTopicPartitionsResponsePartition:
    return DescribeTopicPartitionsResponsePartition(
        Code.LEADER_NOT_AVAILABLE if partition.leader == NO_LEADER else Code.NONE,
        partition.index,
        partition.leader,
        partition.leader_epoch,
        list(partition.replicas),
        list(partition.isr),
        [],
        [],
        [each for each in partition.replicas if not cluster.nodes[each].alive],
    )


def fail(request: DescribeTopicPartitionsRequest, code: int) -> DescribeTopicPartitionsResponse:
    """The error for every topic of the request."""
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(code, item.name) for item in request.topics]
    )


API = Api(DescribeTopicPartitionsRequest, handle, fail)
