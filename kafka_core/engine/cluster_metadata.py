"""The cluster as `list_topics()` of every client tells it: brokers, topics and partitions of a view.

Must not know connections, nor the rest of administration: a producer and a consumer list topics, too.
"""

from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.errors import KafkaError
from kafka_core.listings import BrokerMetadata, ClusterMetadata, PartitionMetadata, TopicMetadata
from kafka_core.model import Uuid
from kafka_core.protocol.schema import ZERO_UUID


def cluster_metadata(view: ClusterView, topic: str | None = None) -> ClusterMetadata:
    """The answer of `list_topics()`: all topics of the view, or the one asked for (with its error if it is unknown)."""
    names = view.topics if topic is None else (topic,)
    return ClusterMetadata(
        cluster_id=view.cluster_id,
        controller_id=-1 if view.controller_id is None else view.controller_id,
        brokers={item.node_id: BrokerMetadata(item.node_id, item.host, item.port) for item in view.brokers.values()},
        topics={name: _topic_metadata(name, view.topics.get(name)) for name in names},
        orig_broker_id=-1 if view.answered_by is None else view.answered_by.node_id,
        orig_broker_name=None if view.answered_by is None else _broker_name(view.answered_by),
    )


def _broker_name(broker: BrokerAddress) -> str:
    return f"{broker.host}:{broker.port}/{broker.node_id if broker.node_id >= 0 else 'bootstrap'}"


def _topic_metadata(name: str, view: TopicView | None) -> TopicMetadata:
    if view is None:
        return TopicMetadata(name, error=KafkaError.from_code(KafkaError.UNKNOWN_TOPIC_OR_PART))
    partitions = {number: _partition_metadata(item) for number, item in sorted(view.partitions.items())}
    error = KafkaError.from_code(view.error_code) if view.error_code else None
    topic_id = None if view.topic_id == ZERO_UUID else Uuid.from_uuid(view.topic_id)
    return TopicMetadata(name, partitions, error, topic_id)


def _partition_metadata(view: PartitionView) -> PartitionMetadata:
    return PartitionMetadata(
        view.partition,
        -1 if view.leader is None else view.leader,
        list(view.replicas),
        list(view.isr),
        KafkaError.from_code(view.error_code) if view.error_code else None,
    )
