"""Values of administering a cluster's insides: features, disks, reassignments, transactions, members of groups.

Knows nothing of the wire or of clients. Specs: KIP-113 (disks), KIP-455 (reassignments), KIP-584 (features), KIP-664
(transactions), KIP-345 (removing members), KIP-836 (who keeps the metadata), KIP-966 (partitions, a page at a time),
KIP-1142 (resources with configurations). confluent_kafka 2.16 has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from kafka_core.errors import KafkaException
from kafka_core.model import TopicPartition


class VersionRange(NamedTuple):
    """First and last version, or level."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FeatureMetadata:
    """A broker's abilities: features (KIP-584) and requests.

    Attributes:
        supported: levels of each feature that the broker supports.
        finalized: levels in force for the whole cluster.
        finalized_epoch: which change of those this is; None if the broker does not say.
        api_versions: versions of each request, by its name in the protocol (`FETCH`) and number.
    """

    supported: dict[str, VersionRange]
    finalized: dict[str, VersionRange]
    finalized_epoch: int | None
    api_versions: dict[tuple[int, str], VersionRange] = field(repr=False)


class FeatureUpgradeType(Enum):
    """The directions in which a feature's level may move."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """The level that a feature is to have; below 1 switches it off."""

    max_version_level: int
    upgrade_type: FeatureUpgradeType = FeatureUpgradeType.UPGRADE


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """A replica in a log directory.

    Attributes:
        size: bytes of its segments.
        offset_lag: how many records it is behind the high watermark, or behind the replica it will replace.
        is_future: True for one that is on its way to this directory.
    """

    size: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDirDescription:
    """A log directory of a broker.

    Attributes:
        path: where it is on the broker.
        replicas: its replicas.
        total_bytes, usable_bytes: of its volume; None if the broker does not say (before 3.3).
        is_cordoned: True if nothing new is put there.
        error: why nothing is known of it, or None.
    """

    path: str
    replicas: dict[TopicPartition, ReplicaInfo]
    total_bytes: int | None = None
    usable_bytes: int | None = None
    is_cordoned: bool = False
    error: KafkaException | None = None


@dataclass(frozen=True, slots=True)
class PartitionReassignment:
    """A move of a partition under way: all replicas, those added, those removed."""

    replicas: list[int]
    adding_replicas: list[int]
    removing_replicas: list[int]


@dataclass(frozen=True, slots=True)
class ProducerState:
    """A producer that wrote to a partition.

    Attributes:
        producer_id, producer_epoch: who.
        last_sequence: sequence number of its last record; -1 for none.
        last_timestamp: of its last batch in ms; -1 for none.
        coordinator_epoch: of the coordinator that ended its last transaction; None for none.
        current_transaction_start_offset: where its open transaction begins; None without one.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    current_transaction_start_offset: int | None


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """A transactional id; `state` is the broker's word (`Ongoing`, `CompleteCommit`, …)."""

    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """A transactional id, as its coordinator describes it.

    Attributes:
        coordinator_id: the broker that coordinates it.
        state: the broker's word (`Ongoing`, `CompleteCommit`, …).
        producer_id, producer_epoch: of its producer.
        timeout_ms: how long a transaction may last.
        start_time_ms: when the open one began, or the last one; None without any.
        partitions: those written to.
    """

    coordinator_id: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class MemberToRemove:
    """A member that is to leave a group: a dynamic one by its id, a static one by its name (KIP-345).

    Raises:
        ValueError: neither is given.
    """

    member_id: str | None = None
    group_instance_id: str | None = None
    reason: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.member_id and not self.group_instance_id:
            raise ValueError("a member is removed by its member_id or its group_instance_id")


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A broker or controller with a replica of the cluster's metadata.

    Attributes:
        replica_id: its id.
        directory_id: of the directory that it keeps them in; None if it does not say (KIP-853).
        log_end_offset: how far it has come.
        last_fetch_timestamp, last_caught_up_timestamp: in ms, as the leader knows them; None if it does not.
    """

    replica_id: int
    directory_id: UUID | None
    log_end_offset: int
    last_fetch_timestamp: int | None
    last_caught_up_timestamp: int | None


class QuorumListener(NamedTuple):
    """The address of a controller, and the name of its listener."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class QuorumInfo:
    """The quorum of controllers that keeps the cluster's metadata (KIP-836).

    Attributes:
        leader_id, leader_epoch: the active controller.
        high_watermark: up to where a majority has the log of metadata.
        voters: the controllers.
        observers: the brokers, and controllers without a vote.
        nodes: where the controllers listen; empty before Kafka 3.8.
    """

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: list[QuorumReplica]
    observers: list[QuorumReplica]
    nodes: dict[int, list[QuorumListener]]


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition in the answer of `describe_topic_partitions` (KIP-966).

    Attributes:
        partition: its number.
        leader_id: None while there is none.
        leader_epoch: counts the leaders.
        replicas, isr, offline_replicas: ids of brokers.
        eligible_leader_replicas: not in sync, but may lead without a loss; None if not known.
        last_known_eligible: the last such ones; None if not known.
        error: its error, for example that it has no leader.
    """

    partition: int
    leader_id: int | None
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline_replicas: list[int]
    eligible_leader_replicas: list[int] | None
    last_known_eligible: list[int] | None
    error: KafkaException | None


@dataclass(frozen=True, slots=True)
class TopicPartitionsDescription:
    """A topic with its partitions in one answer.

    Attributes:
        topic: its name.
        topic_id: its id; None for one that is not there.
        is_internal: whether brokers keep their own data in it.
        partitions: in order.
        authorized_operations: the caller's, as the bits of the operations' numbers (KIP-430); None if the
            broker does not say.
        error: why there is nothing to tell.
    """

    topic: str
    topic_id: UUID | None
    is_internal: bool
    partitions: list[PartitionDescription]
    authorized_operations: int | None
    error: KafkaException | None


class PartitionCursor(NamedTuple):
    """The first partition of the next page."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class TopicPartitionsPage:
    """Partitions of topics, sorted by name; `next_cursor` is None on the last page."""

    topics: list[TopicPartitionsDescription]
    next_cursor: PartitionCursor | None


class TopicPartitionReplica(NamedTuple):
    """A replica: a partition on a broker."""

    topic: str
    partition: int
    broker_id: int
