"""Administration of partitions: records deleted, leaders elected; arguments → requests, responses → results.

Must not know connections or time. Spec: KIP-107 (DeleteRecords), KIP-460 (ElectLeaders).
"""

from collections.abc import Iterable, Mapping, Sequence

from kafka_core.admin_model import DeletedRecords, Outcome
from kafka_core.errors import BrokerError, KafkaException
from kafka_core.model import OFFSET_END, ElectionType, TopicPartition
from kafka_core.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_core.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions

Elected = dict[TopicPartition, KafkaException | None]


def check_deletions(partitions: object) -> dict[TopicPartition, int]:
    """Partitions with the offset before which records go (-1: the end).

    Raises:
        TypeError: no list of TopicPartition.
        ValueError: a partition or offset that can't be, or one partition twice with different offsets.
    """
    wanted: dict[TopicPartition, int] = {}
    for item in _partitions(partitions):
        if item.offset < 0 and item.offset != OFFSET_END:
            raise ValueError(f"{item}: the offset must be OFFSET_END or not negative")
        if wanted.setdefault(item, item.offset) != item.offset:
            raise ValueError(f"{item.topic} [{item.partition}] is there twice with different offsets")
    return wanted


def check_election(election_type: object, partitions: object) -> list[TopicPartition] | None:
    """The partitions, each once; None for all of the cluster.

    Raises:
        TypeError, ValueError: no ElectionType, no list of TopicPartition, or a partition that can't be.
    """
    if not isinstance(election_type, ElectionType):
        raise TypeError(f"election_type must be an ElectionType, not {type(election_type).__name__}")
    return None if partitions is None else list(dict.fromkeys(_partitions(partitions)))


def _partitions(items: object) -> list[TopicPartition]:
    if not isinstance(items, list):
        raise TypeError(f"expected a list of TopicPartition objects, not {type(items).__name__}")
    for item in items:
        if not isinstance(item, TopicPartition):
            raise TypeError(f"expected a list of TopicPartition objects, but it holds {type(item).__name__}")
        if not item.topic or item.partition < 0:
            raise ValueError(f"{item}: a topic and a partition that is not negative must be given")
    return items


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """The partitions of each topic."""
    topics: dict[str, list[TopicPartition]] = {}
    for item in partitions:
        topics.setdefault(item.topic, []).append(item)
    return topics


def delete_records_request(offsets: Mapping[TopicPartition, int], timeout_ms: int) -> DeleteRecordsRequest:
    """One request for the partitions that one broker leads."""
    topics = [
        DeleteRecordsTopic(name, [DeleteRecordsPartition(item.partition, offsets[item]) for item in parts])
        for name, parts in by_topic(offsets).items()
    ]
    return DeleteRecordsRequest(topics, timeout_ms)


def deleted_records(response: DeleteRecordsResponse) -> dict[TopicPartition, Outcome[DeletedRecords]]:
    """The new first offset of each partition."""
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(
            item.error_code, None, DeletedRecords(item.low_watermark)
        )
        for topic in response.topics
        for item in topic.partitions
    }


def elect_leaders_request(
    election_type: ElectionType, partitions: Sequence[TopicPartition] | None, timeout_ms: int
) -> ElectLeadersRequest:
    """One request for all partitions; None for all of the cluster."""
    topics = (
        None
        if partitions is None
        else [TopicPartitions(name, [item.partition for item in parts]) for name, parts in by_topic(partitions).items()]
    )
    return ElectLeadersRequest(election_type.value, topics, timeout_ms)


def elected(response: ElectLeadersResponse) -> Elected:
    """How it went for each partition that the broker speaks of; None where a leader was elected.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, None)
    return {
        TopicPartition(topic.topic, item.partition_id): (
            BrokerError(item.error_code, item.error_message or None) if item.error_code else None
        )
        for topic in response.replica_election_results
        for item in topic.partition_result
    }
