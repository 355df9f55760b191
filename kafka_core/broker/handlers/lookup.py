"""Finding the partition a request is about, and saying why it can't be served here or not to this client.

Must not know: any single API. Spec: KIP-320 (epochs), KIP-516 (topic ids), KIP-951 (hints to the new leader).
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.partitions.topics import NO_LEADER, Partition
from kafka_core.broker.security.acls import Operation, Resource


def find_partition(
    cluster: ClusterState, name: str, topic_id: UUID, index: int, *, by_id: bool
) -> tuple[Code, Partition | None]:
    """The partition, or UNKNOWN_TOPIC_ID / UNKNOWN_TOPIC_OR_PARTITION."""
    topic = cluster.topics_by_id.get(topic_id) if by_id else cluster.topics.get(name)
    if topic is None:
        return (Code.UNKNOWN_TOPIC_ID if by_id else Code.UNKNOWN_TOPIC_OR_PARTITION), None
    partition = topic.partition(index)
    return (Code.NONE, partition) if partition is not None else (Code.UNKNOWN_TOPIC_OR_PARTITION, None)


def may(cluster: ClusterState, context: Context, operation: Operation, resource: Resource, name: str) -> bool:
    """Whether the client of a request may do that; for handlers that `authorizing` leaves it to."""
    return cluster.authorizer.allows(*context.connection.client, operation, resource, name)


def authorized_operations(cluster: ClusterState, context: Context, resource: Resource, name: str) -> int:
    """The operations that a request's client may do on a resource, as bits (KIP-430)."""
    return cluster.authorizer.operations(*context.connection.client, resource, name)


def serving_problem(context: Context, partition: Partition, current_leader_epoch: int = -1) -> Code:
    """Why this broker can't serve the partition as its leader: NONE, a wrong epoch, or not the leader."""
    if 0 <= current_leader_epoch < partition.leader_epoch:
        return Code.FENCED_LEADER_EPOCH
    if current_leader_epoch > partition.leader_epoch:
        return Code.UNKNOWN_LEADER_EPOCH
    return Code.NONE if partition.leader == context.broker_id else Code.NOT_LEADER_OR_FOLLOWER


def reading_problem(context: Context, partition: Partition, current_leader_epoch: int) -> Code:
    """Why this broker can't give out the partition's records as its leader or as a follower (KIP-392)."""
    code = serving_problem(context, partition, current_leader_epoch)
    follows = context.broker_id in partition.replicas and partition.leader != NO_LEADER
    return Code.NONE if code is Code.NOT_LEADER_OR_FOLLOWER and follows else code


def add_endpoint(cluster: ClusterState, partition: Partition, endpoints: dict[int, Any], make: Any) -> None:
    """Put the address of the partition's leader into `endpoints` (KIP-951), made by the response's own class."""
    if partition.leader != NO_LEADER:
        node = cluster.nodes[partition.leader]
        endpoints[node.node_id] = make(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
