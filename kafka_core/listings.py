"""Values of what clients list and describe: brokers, topics and groups of a cluster.

Knows nothing of the wire or of clients. Names, defaults and attributes are those of confluent_kafka. Clients that list
nothing do not load it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kafka_core.errors import KafkaError
from kafka_core.model import Node, TopicPartition, Uuid


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
    """The protocol of a group. confluent_kafka has no `SHARE`."""

    UNKNOWN = 0
    CONSUMER = 1
    CLASSIC = 2
    SHARE = 3

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ConsumerGroupType) else NotImplemented


def failed(error: KafkaError | None) -> str:
    """The ending of a metadata object's text if it failed."""
    return "" if error is None else f", {error}"


@dataclass(slots=True, repr=False)
class BrokerMetadata:
    """A broker of the cluster."""

    id: int = -1
    host: str | None = None
    port: int = -1

    def __repr__(self) -> str:
        return f"BrokerMetadata({self.id}, {self.host}:{self.port})"

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.id}"


@dataclass(slots=True, repr=False)
class PartitionMetadata:
    """A partition: `leader` is -1 while there is none; `isrs` are the replicas in sync."""

    id: int = -1
    leader: int = -1
    replicas: list[int] = field(default_factory=list)
    isrs: list[int] = field(default_factory=list)
    error: KafkaError | None = None

    def __repr__(self) -> str:
        return f"PartitionMetadata({self.id}{failed(self.error)})"

    def __str__(self) -> str:
        return str(self.id)


@dataclass(slots=True, repr=False)
class TopicMetadata:
    """A topic with its partitions by number.

    `topic_id` tells a topic from one of its name that was deleted before it (KIP-516); confluent_kafka lacks it.
    None: the topic is unknown, or the broker is older than 2.8 and knows no ids.
    """

    topic: str | None = None
    partitions: dict[int, PartitionMetadata] = field(default_factory=dict)
    error: KafkaError | None = None
    topic_id: Uuid | None = None

    def __repr__(self) -> str:
        return f"TopicMetadata({self.topic}, {len(self.partitions)} partitions{failed(self.error)})"

    def __str__(self) -> str:
        return str(self.topic)


@dataclass(slots=True, repr=False)
class ClusterMetadata:
    """The answer of `list_topics()`; the `orig_` pair names the broker that answered."""

    cluster_id: str | None = None
    controller_id: int = -1
    brokers: dict[int, BrokerMetadata] = field(default_factory=dict)
    topics: dict[str, TopicMetadata] = field(default_factory=dict)
    orig_broker_id: int = -1
    orig_broker_name: str | None = None

    def __repr__(self) -> str:
        return f"ClusterMetadata({self.cluster_id})"

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


@dataclass(slots=True, repr=False)
class GroupMetadata:
    """The entry of `list_groups()` for one group."""

    broker: BrokerMetadata | None = None
    id: str | None = None
    error: KafkaError | None = None
    state: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    members: list[GroupMember] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"GroupMetadata({self.id}{failed(self.error)})"

    def __str__(self) -> str:
        return str(self.id)
