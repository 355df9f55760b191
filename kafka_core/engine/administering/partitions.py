"""Administration of partitions: records deleted, leaders elected; arguments → requests, responses → results.

Must not know connections or time. Spec: KIP-107 (DeleteRecords), KIP-460 (ElectLeaders).
"""

from collections.abc import Iterable, Mapping, Sequence

from kafka_core.admin_model import DeletedRecords, Outcome
from kafka_core.engine.administering.groups import left_out
from kafka_core.errors import BrokerError, KafkaException
from kafka_core.model import ElectionType, TopicPartition
from kafka_core.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_core.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions

Elected = dict[TopicPartition, KafkaException | None]


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


def elected(wanted: Iterable[TopicPartition] | None, response: ElectLeadersResponse) -> Elected:
    """How it went for each partition asked for (None: those that the broker speaks of); None where a leader was
    elected.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, None)
    found: Elected = {
        TopicPartition(topic.topic, item.partition_id): (
            BrokerError(item.error_code, item.error_message or None) if item.error_code else None
        )
        for topic in response.replica_election_results
        for item in topic.partition_result
    }
    return found | {item: BrokerError(left_out(item)) for item in wanted or () if item not in found}
