"""Values that users and all layers share: partitions and offsets, cluster metadata, group facts.

Knows nothing of the wire or of clients. Names, defaults and attributes are those of confluent_kafka.
"""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from operator import index
from typing import Final

from kafka_core.errors import KafkaError

__all__ = [
    "OFFSET_BEGINNING",
    "OFFSET_END",
    "OFFSET_INVALID",
    "OFFSET_STORED",
    "TIMESTAMP_CREATE_TIME",
    "TIMESTAMP_LOG_APPEND_TIME",
    "TIMESTAMP_NOT_AVAILABLE",
    "BrokerMetadata",
    "ClusterMetadata",
    "ConsumerGroupState",
    "ConsumerGroupTopicPartitions",
    "ConsumerGroupType",
    "ElectionType",
    "GroupMember",
    "GroupMetadata",
    "IsolationLevel",
    "Node",
    "PartitionMetadata",
    "ThrottleEvent",
    "TopicCollection",
    "TopicMetadata",
    "TopicPartition",
    "TopicPartitionInfo",
    "Uuid",
]

OFFSET_BEGINNING: Final = -2
"""An offset that stands for the first record of the partition."""
OFFSET_END: Final = -1
"""An offset that stands for the end of the partition: the next record that is written."""
OFFSET_STORED: Final = -1000
"""An offset that stands for the one committed by the group."""
OFFSET_INVALID: Final = -1001
"""No offset: none is known, none is committed."""

TIMESTAMP_NOT_AVAILABLE: Final = 0
"""The record has no timestamp."""
TIMESTAMP_CREATE_TIME: Final = 1
"""The timestamp was set by the producer."""
TIMESTAMP_LOG_APPEND_TIME: Final = 2
"""The timestamp was set by the broker, when it appended the record."""


@total_ordering
class TopicPartition:
    """A partition of a topic, with room for an offset, commit metadata and an error.

    Mutable, as in confluent_kafka; equality, order and hash look at topic and partition only. Pickles.

    Args:
        topic: topic name.
        partition: number from 0; -1 where none is meant.
        offset: a position, or one of the `OFFSET_*` constants.
        metadata: text kept with a committed offset.
        leader_epoch: epoch of the leader that the offset was read from; None if unknown.
    """

    __slots__ = ("error", "leader_epoch", "metadata", "offset", "partition", "topic")

    def __init__(
        self,
        topic: str,
        partition: int = -1,
        offset: int = OFFSET_INVALID,
        metadata: str | None = None,
        leader_epoch: int | None = None,
    ) -> None:
        if not isinstance(topic, str):
            raise TypeError(f"topic must be str, not {type(topic).__name__}")
        if not (metadata is None or isinstance(metadata, str)):
            raise TypeError(f"metadata must be str, not {type(metadata).__name__}")
        self.topic = topic
        self.partition = index(partition)
        self.offset = index(offset)
        self.metadata = metadata
        self.leader_epoch = None if leader_epoch is None else index(leader_epoch)
        self.error: KafkaError | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicPartition):
            return NotImplemented
        return self.topic == other.topic and self.partition == other.partition

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, TopicPartition):
            return NotImplemented
        return (self.topic, self.partition) < (other.topic, other.partition)

    def __hash__(self) -> int:
        return hash((self.topic, self.partition))

    def __repr__(self) -> str:
        return (
            f"TopicPartition{{topic={self.topic},partition={self.partition},offset={self.offset},"
            f"leader_epoch={self.leader_epoch},error={self.error}}}"
        )


@dataclass(frozen=True, slots=True)
class Uuid:
    """A topic id and the like: 128 bits, written as URL-safe base64 without padding, as Kafka prints them.

    Args:
        most_significant_bits: the upper 64 bits, signed or not.
        least_significant_bits: the lower 64 bits, signed or not.
    """

    most_significant_bits: int
    least_significant_bits: int

    @classmethod
    def from_uuid(cls, value: uuid.UUID) -> Uuid:
        """From the standard library's type, which the protocol layer uses."""
        return cls(signed64(value.int >> 64), signed64(value.int))

    def to_uuid(self) -> uuid.UUID:
        """As the standard library's type."""
        return uuid.UUID(int=int(self))

    def get_most_significant_bits(self) -> int:
        """The upper 64 bits as given."""
        return self.most_significant_bits

    def get_least_significant_bits(self) -> int:
        """The lower 64 bits as given."""
        return self.least_significant_bits

    def __int__(self) -> int:
        mask = (1 << 64) - 1
        return ((self.most_significant_bits & mask) << 64) | (self.least_significant_bits & mask)

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(int(self).to_bytes(16, "big")).rstrip(b"=").decode()

    __repr__ = __str__


def signed64(value: int) -> int:
    """The lower 64 bits of `value` as a signed number."""
    low = value & ((1 << 64) - 1)
    return low - (1 << 64) if low >> 63 else low


class Node:
    """A broker as admin results name it.

    Args:
        id: broker id.
        host: host name.
        port: port.
        rack: rack, if the broker has one.
    """

    def __init__(self, id: int, host: str, port: int, rack: str | None = None) -> None:
        self.id = id
        self.id_string = str(id)
        self.host = host
        self.port = port
        self.rack = rack

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, Node) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.id, self.host, self.port, self.rack))

    def __repr__(self) -> str:
        return f"Node({self.id}, {self.host}:{self.port}{f', rack {self.rack}' if self.rack else ''})"

    def __str__(self) -> str:
        return f"({self.id}) {self.host}:{self.port} {f'(Rack - {self.rack})' if self.rack else ''}"


@dataclass(slots=True)
class ConsumerGroupTopicPartitions:
    """A group with the partitions (and offsets) that a request or result is about; None means all of them."""

    group_id: str
    topic_partitions: list[TopicPartition] | None = None


@dataclass(frozen=True, slots=True)
class TopicCollection:
    """Topics by name."""

    topic_names: list[str]


@dataclass(slots=True)
class TopicPartitionInfo:
    """A partition in a topic's description: leader, all replicas, those in sync."""

    id: int
    leader: Node | None
    replicas: list[Node]
    isr: list[Node]


@dataclass(frozen=True, slots=True)
class ThrottleEvent:
    """What `throttle_cb` is given: a broker asked to be left alone for `throttle_time` seconds."""

    broker_name: str
    broker_id: int
    throttle_time: float

    def __str__(self) -> str:
        return f"{self.broker_name}/{self.broker_id} throttled for {int(self.throttle_time * 1000)} ms"


class IsolationLevel(Enum):
    """Whether offsets and records of open or aborted transactions are seen."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class ElectionType(Enum):
    """Kinds of leader election an administrator can ask for."""

    PREFERRED = 0
    UNCLEAN = 1


class ConsumerGroupState(Enum):
    """State of a consumer group. `UNKOWN` is confluent_kafka's old spelling."""

    UNKNOWN = 0
    UNKOWN = UNKNOWN
    PREPARING_REBALANCING = 1
    COMPLETING_REBALANCING = 2
    STABLE = 3
    DEAD = 4
    EMPTY = 5

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ConsumerGroupState) else NotImplemented


class ConsumerGroupType(Enum):
    """Which group protocol a group uses."""

    UNKNOWN = 0
    CONSUMER = 1
    CLASSIC = 2

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ConsumerGroupType) else NotImplemented


@dataclass(slots=True)
class BrokerMetadata:
    """A broker of the cluster."""

    id: int = -1
    host: str | None = None
    port: int = -1

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.id}"


@dataclass(slots=True)
class PartitionMetadata:
    """A partition: `leader` is -1 while there is none; `isrs` are the replicas in sync."""

    id: int = -1
    leader: int = -1
    replicas: list[int] = field(default_factory=list)
    isrs: list[int] = field(default_factory=list)
    error: KafkaError | None = None

    def __str__(self) -> str:
        return str(self.id)


@dataclass(slots=True)
class TopicMetadata:
    """A topic with its partitions by number."""

    topic: str | None = None
    partitions: dict[int, PartitionMetadata] = field(default_factory=dict)
    error: KafkaError | None = None

    def __str__(self) -> str:
        return str(self.topic)


@dataclass(slots=True)
class ClusterMetadata:
    """What `list_topics()` returns; the `orig_` pair names the broker that answered."""

    cluster_id: str | None = None
    controller_id: int = -1
    brokers: dict[int, BrokerMetadata] = field(default_factory=dict)
    topics: dict[str, TopicMetadata] = field(default_factory=dict)
    orig_broker_id: int = -1
    orig_broker_name: str | None = None

    def __str__(self) -> str:
        return str(self.cluster_id)


@dataclass(slots=True)
class GroupMember:
    """A member of a group; `metadata` and `assignment` are bytes whose format the protocol type decides."""

    id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    metadata: bytes | None = None
    assignment: bytes | None = None


@dataclass(slots=True)
class GroupMetadata:
    """What `list_groups()` returns per group."""

    broker: BrokerMetadata | None = None
    id: str | None = None
    error: KafkaError | None = None
    state: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    members: list[GroupMember] = field(default_factory=list)

    def __str__(self) -> str:
        return str(self.id)


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadata:
    """The member in whose name offsets are committed, as a coordinator checks it; by default no member.

    What `consumer_group_metadata()` gives and `send_offsets_to_transaction()` takes (KIP-447). It pickles.
    """

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    instance_id: str | None = None
