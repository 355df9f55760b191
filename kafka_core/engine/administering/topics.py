"""Administration of topics and of the cluster: arguments → requests, responses → results.

Must not know connections or time. Spec: KIP-4 (CreateTopics, DeleteTopics), KIP-195 (CreatePartitions), KIP-464
(broker defaults), KIP-599 (throttling), KIP-700 (DescribeCluster).
"""

from collections.abc import Iterable, Mapping, Sequence

from kafka_core.admin_model import (
    AclOperation,
    DescribeClusterResult,
    NewPartitions,
    NewTopic,
    Outcome,
    TopicDescription,
)
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.errors import KafkaError
from kafka_core.listings import TopicPartitionInfo
from kafka_core.model import Node, Uuid
from kafka_core.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kafka_core.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_core.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from kafka_core.protocol.messages.describe_cluster import DescribeClusterResponse
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

_NAMES_IN_STRUCTS_SINCE = 6  # DeleteTopics


def create_topics_request(topics: Iterable[NewTopic], *, timeout_ms: int, validate_only: bool) -> CreateTopicsRequest:
    """One request for all topics; where replicas are assigned by hand the broker wants -1 for both counts."""
    return CreateTopicsRequest([_creatable(topic) for topic in topics], timeout_ms, validate_only)


def _creatable(topic: NewTopic) -> CreatableTopic:
    assignment = topic.replica_assignment or ()
    return CreatableTopic(
        topic.topic,
        -1 if assignment else topic.num_partitions,
        -1 if assignment else topic.replication_factor,
        [CreatableReplicaAssignment(index, list(brokers)) for index, brokers in enumerate(assignment)],
        [CreatableTopicConfig(name, str(value)) for name, value in (topic.config or {}).items()],
    )


def check_new_topic(topic: NewTopic) -> None:
    """ValueError when the arguments of a new topic contradict each other."""
    assignment = topic.replica_assignment
    check_assignment(topic.topic, assignment)
    if not -1 <= topic.replication_factor <= 10_000:
        raise ValueError(f"{topic.topic}: replication_factor must be from 1 to 10000, or -1 for the broker's default")
    if assignment and topic.num_partitions not in (-1, len(assignment)):
        raise ValueError(f"{topic.topic}: num_partitions={topic.num_partitions}, but {len(assignment)} are assigned")
    if assignment and topic.replication_factor != -1:
        raise ValueError(f"{topic.topic}: give replication_factor or replica_assignment, not both")
    if topic.num_partitions < 1 and topic.num_partitions != -1:
        raise ValueError(f"{topic.topic}: num_partitions must be at least 1, or -1 for the broker's default")


def check_assignment(name: str, assignment: object) -> None:
    """ValueError unless it holds a list of broker ids for each partition."""
    rows = assignment if isinstance(assignment, list | tuple) else [assignment] if assignment else []
    if not all(isinstance(row, list | tuple) and all(isinstance(item, int) for item in row) for row in rows):
        raise ValueError(f"{name}: replica_assignment must be a list with a list of broker ids for each partition")


def create_partitions_request(
    items: Iterable[NewPartitions], *, timeout_ms: int, validate_only: bool
) -> CreatePartitionsRequest:
    """One request for all topics; without an assignment the broker chooses the replicas."""
    return CreatePartitionsRequest(
        [
            CreatePartitionsTopic(
                item.topic,
                item.new_total_count,
                None
                if item.replica_assignment is None
                else [CreatePartitionsAssignment(list(brokers)) for brokers in item.replica_assignment],
            )
            for item in items
        ],
        timeout_ms,
        validate_only,
    )


def delete_topics_request(topics: Sequence[str], *, timeout_ms: int, version: int) -> DeleteTopicsRequest:
    """One request for all topics in the form of that version."""
    if version < _NAMES_IN_STRUCTS_SINCE:
        return DeleteTopicsRequest(topic_names=list(topics), timeout_ms=timeout_ms)
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in topics], timeout_ms=timeout_ms)


def topic_outcomes(
    response: CreateTopicsResponse | DeleteTopicsResponse | CreatePartitionsResponse,
) -> dict[str, Outcome[None]]:
    """The outcome for each topic of the answer."""
    if isinstance(response, CreateTopicsResponse):
        return {item.name: Outcome.of(item.error_code, item.error_message) for item in response.topics}
    if isinstance(response, CreatePartitionsResponse):
        return {item.name: Outcome.of(item.error_code, item.error_message) for item in response.results}
    return {item.name or "": Outcome.of(item.error_code, item.error_message) for item in response.responses}


# ---- metadata


def describe_topic(view: ClusterView, name: str) -> Outcome[TopicDescription]:
    """One topic of the view, or why there is none."""
    topic = view.topics.get(name)
    if topic is None or topic.error_code:
        return Outcome.of(KafkaError.UNKNOWN_TOPIC_OR_PART if topic is None else topic.error_code, None)
    partitions = [
        TopicPartitionInfo(
            number,
            None if item.leader is None else node(view.brokers, item.leader),
            [node(view.brokers, broker) for broker in item.replicas],
            [node(view.brokers, broker) for broker in item.isr],
        )
        for number, item in sorted(topic.partitions.items())
    ]
    return Outcome(TopicDescription(name, Uuid.from_uuid(topic.topic_id), topic.is_internal, partitions))


def operations_request(names: Iterable[str]) -> MetadataRequest:
    """Asks for the caller's permissions on topics (the cluster's view lacks them)."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics, allow_auto_topic_creation=False, include_topic_authorized_operations=True)


def add_operations(described: Mapping[str, Outcome[TopicDescription]], answer: MetadataResponse) -> None:
    """Puts the operations that the answer names into the descriptions."""
    for topic in answer.topics:
        found = None if topic.name is None else described.get(topic.name)
        if found is not None and found.value is not None:
            found.value.authorized_operations = AclOperation.from_bits(topic.topic_authorized_operations)


def node(brokers: Mapping[int, BrokerAddress], node_id: int) -> Node:
    """A broker by id; one that is down has no host and port -1."""
    broker = brokers.get(node_id)
    return Node(node_id, "", -1) if broker is None else Node(broker.node_id, broker.host, broker.port, broker.rack)


def cluster_description(response: DescribeClusterResponse) -> DescribeClusterResult:
    """The cluster as DescribeCluster tells it (the caller has looked at the error code)."""
    nodes = {item.broker_id: Node(item.broker_id, item.host, item.port, item.rack) for item in response.brokers}
    operations = AclOperation.from_bits(response.cluster_authorized_operations)
    return DescribeClusterResult(
        nodes.get(response.controller_id), list(nodes.values()), response.cluster_id, operations
    )


def cluster_description_of_view(view: ClusterView) -> DescribeClusterResult:
    """The same from metadata, for brokers without DescribeCluster (before 2.8); operations are not known."""
    controller = None if view.controller_id is None else node(view.brokers, view.controller_id)
    return DescribeClusterResult(controller, [node(view.brokers, item) for item in view.brokers], view.cluster_id)
