"""Pages of partitions, directories, hanging transactions and the quorum in kafka-python 3.0's administration.

Must not hold any protocol: `kafka_core.admin` has the calls. `kafka.protocol`'s classes of answers are dicts here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_core import TopicPartition as Place
from kafka_core import admin as ours
from kserdes.compat.kafka import errors
from kserdes.compat.kafka.admin.base import AdminBase, outcome
from kserdes.compat.kafka.admin.values import AbortTransactionSpec
from kserdes.compat.kafka.broker_versions import BrokerVersionData
from kserdes.compat.kafka.failures import error_class, translated, translating
from kserdes.compat.kafka.structs import TopicPartitionReplica

__all__ = ["PartitionCalls"]


class PartitionCalls(AdminBase):
    """The calls about partitions, their replicas and open transactions, and about brokers and controllers."""

    def describe_topic_partitions(
        self, topics: Iterable[str], response_partition_limit: int = 2000, cursor: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """One page of partitions (KIP-966): `topics`, sorted, and `next_cursor`, which is None on the last one.

        Args:
            topics: their names; none for all.
            response_partition_limit: how many partitions a page has at most.
            cursor: `next_cursor` of the page before.
        """
        begin = None if cursor is None else ours.PartitionCursor(cursor["topic_name"], cursor["partition_index"])
        with translating():
            page = self._client.describe_topic_partitions(
                list(topics), limit=response_partition_limit, cursor=begin
            ).result()
        after = page.next_cursor
        return {
            "topics": [topic(each) for each in page.topics],
            "next_cursor": None if after is None else {"topic_name": after.topic, "partition_index": after.partition},
        }

    def alter_replica_log_dirs(
        self, replica_assignments: Mapping[Any, str]
    ) -> dict[TopicPartitionReplica, type[errors.KafkaError]]:
        """Moves replicas to other log directories of their brokers: an error's class (NoError) for each.

        Raises:
            UnknownBrokerIdError: there is no such broker.
        """
        wanted = {ours.TopicPartitionReplica(*replica): str(path) for replica, path in replica_assignments.items()}
        with translating():
            answers = self._client.alter_replica_log_dirs(wanted) if wanted else {}
        done: dict[TopicPartitionReplica, type[errors.KafkaError]] = {}
        for replica, answer in answers.items():
            failure = outcome(answer)
            if failure is not None and failure.code < 0:
                raise translated(failure) from failure
            done[TopicPartitionReplica(*replica)] = errors.NoError if failure is None else error_class(failure)
        return done

    def abort_transaction(self, spec: AbortTransactionSpec) -> None:
        """Ends a hanging transaction in one partition, whatever its coordinator thinks (KIP-664).

        Raises:
            BrokerResponseError: a newer epoch has written there, or there is no such partition.
        """
        place = Place(spec.topic_partition.topic, spec.topic_partition.partition)
        with translating():
            self._client.abort_transaction(
                place, spec.producer_id, spec.producer_epoch, coordinator_epoch=spec.coordinator_epoch
            ).result()

    def describe_metadata_quorum(self) -> dict[str, Any]:
        """The quorum that keeps the cluster's metadata (KIP-595), shown as one topic with one partition."""
        with translating():
            found = self._client.describe_metadata_quorum().result()
        partition = {
            "partition_index": 0,
            "error": None,
            "leader_id": found.leader_id,
            "leader_epoch": found.leader_epoch,
            "high_watermark": found.high_watermark,
            "current_voters": [replica(each) for each in found.voters],
            "observers": [replica(each) for each in found.observers],
        }
        return {
            "topics": [{"topic_name": "__cluster_metadata", "partitions": [partition]}],
            "nodes": [
                {"node_id": node_id, "listeners": [each._asdict() for each in listeners]}
                for node_id, listeners in found.nodes.items()
            ],
        }

    def get_broker_version_data(self, broker_id: int) -> BrokerVersionData:
        """The release of a broker, and the versions of the requests that it answers.

        Raises:
            UnknownBrokerIdError: there is no such broker.
        """
        with translating():
            found = self._client.describe_features(broker_id=broker_id).result().api_versions
        return BrokerVersionData(
            api_versions={key: (versions.first, versions.last) for (key, _), versions in found.items()}
        )


def code(failure: Any) -> int:
    """The number of an error; 0 for none."""
    return 0 if failure is None else int(failure.code)


def topic(found: ours.TopicPartitionsDescription) -> dict[str, Any]:
    """As kafka-python shows it."""
    operations = found.authorized_operations
    return {
        "error_code": code(found.error),
        "name": found.topic,
        "topic_id": found.topic_id,
        "is_internal": found.is_internal,
        "partitions": [partition(each) for each in found.partitions],
        "topic_authorized_operations": -(2**31) if operations is None else operations,
    }


def partition(found: ours.PartitionDescription) -> dict[str, Any]:
    """As kafka-python shows it: None where no replica is eligible."""
    return {
        "error_code": code(found.error),
        "partition_index": found.partition,
        "leader_id": -1 if found.leader_id is None else found.leader_id,
        "leader_epoch": found.leader_epoch,
        "replica_nodes": found.replicas,
        "isr_nodes": found.isr,
        "eligible_leader_replicas": found.eligible_leader_replicas or None,
        "last_known_elr": found.last_known_eligible or None,
        "offline_replicas": found.offline_replicas,
    }


def replica(found: ours.QuorumReplica) -> dict[str, Any]:
    """As kafka-python shows it."""
    fetched, caught_up = found.last_fetch_timestamp, found.last_caught_up_timestamp
    return {
        "replica_id": found.replica_id,
        "replica_directory_id": found.directory_id,
        "log_end_offset": found.log_end_offset,
        "last_fetch_timestamp": -1 if fetched is None else fetched,
        "last_caught_up_timestamp": -1 if caught_up is None else caught_up,
    }
