"""Values of the administration client: what it is given and what it gives back.

Knows nothing of the wire or of clients. Names, arguments and attributes are those of confluent_kafka.admin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from operator import index
from typing import Any, Final, Generic, TypeVar

from kafka_core.errors import BrokerError, ConfigError, KafkaError, KafkaException
from kafka_core.listings import ConsumerGroupState, ConsumerGroupType, TopicPartitionInfo
from kafka_core.model import Node, TopicPartition, Uuid

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The result for one topic, resource, group or partition; reads like a finished future."""

    value: T | None = None
    error: KafkaException | None = None

    @classmethod
    def of(cls, code: int, message: str | None, value: T | None = None) -> Outcome[T]:
        """The value, or a BrokerError if the code is not 0; `message` is the broker's own sentence, if it sent one."""
        return Outcome(value) if code == 0 else Outcome(error=BrokerError(code, message or None))

    def result(self) -> T | None:
        """The value.

        Raises:
            KafkaException: it failed.
        """
        if self.error is not None:
            raise self.error
        return self.value

    def exception(self) -> KafkaException | None:
        """The failure, or None."""
        return self.error


class ResourceType(Enum):
    """Kinds of resources."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    BROKER = 4
    TRANSACTIONAL_ID = 5
    CLIENT_METRICS = 16
    """A subscription to clients' metrics (KIP-714). confluent_kafka has none."""

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, ResourceType) else NotImplemented


# The numbers by which brokers know them differ from the reference API's for brokers and groups.
WIRE_RESOURCE_TYPES: Final = {
    ResourceType.TOPIC: 2,
    ResourceType.BROKER: 4,
    ResourceType.CLIENT_METRICS: 16,
    ResourceType.GROUP: 32,
}


class ConfigSource(Enum):
    """The source of a configuration value."""

    UNKNOWN_CONFIG = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8

    @classmethod
    def from_wire(cls, number: int) -> ConfigSource:
        """The source a broker names; UNKNOWN_CONFIG for one we have no name for."""
        return cls(number) if number in cls._value2member_map_ else cls.UNKNOWN_CONFIG


class AlterConfigOpType(Enum):
    """The operation of `incremental_alter_configs` on an entry."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AclOperation(Enum):
    """An operation that an ACL allows or denies."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, AclOperation) else NotImplemented

    @classmethod
    def from_bits(cls, bits: int) -> list[AclOperation] | None:
        """The operations in a broker's bit field; None if it was not asked for (the lowest number there is)."""
        return None if bits == -(2**31) else [operation for operation in cls if bits >> operation.value & 1]


@dataclass(eq=False, slots=True, repr=False)
class NewTopic:
    """A topic to create. Equality, order and hash look at its name and the number of partitions.

    Args:
        topic: its name.
        num_partitions: number of partitions; -1 takes the broker's default, or the length of `replica_assignment`.
        replication_factor: replicas of each; -1 takes the broker's default, or what `replica_assignment` says.
        replica_assignment: for each partition the ids of the brokers that hold it, the leader first.
        config: configuration of the topic.
    """

    topic: str
    num_partitions: int = -1
    replication_factor: int = -1
    replica_assignment: Sequence[Sequence[int]] | None = None
    config: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        check_text(self.topic, "topic")
        self.num_partitions = index(self.num_partitions)
        self.replication_factor = index(self.replication_factor)
        if self.config is not None and not isinstance(self.config, Mapping):
            raise TypeError("config must be a dict of strings")

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, NewTopic) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, NewTopic) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int]:
        return self.topic, self.num_partitions

    def __repr__(self) -> str:
        count = "" if self.num_partitions == -1 else f",num_partitions={self.num_partitions}"
        return f"NewTopic(topic={self.topic}{count})"


@dataclass(eq=False, slots=True, repr=False)
class NewPartitions:
    """More partitions for a topic.

    Args:
        topic: its name.
        new_total_count: how many it shall have.
        replica_assignment: for each new partition the ids of the brokers that hold it.
    """

    topic: str
    new_total_count: int
    replica_assignment: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        check_text(self.topic, "topic")
        self.new_total_count = index(self.new_total_count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NewPartitions):
            return NotImplemented
        return (self.topic, self.new_total_count) == (other.topic, other.new_total_count)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, NewPartitions):
            return NotImplemented
        return (self.topic, self.new_total_count) < (other.topic, other.new_total_count)

    def __hash__(self) -> int:
        return hash(self.topic)

    def __repr__(self) -> str:
        return f"NewPartitions(topic={self.topic},new_total_count={self.new_total_count})"


@dataclass(slots=True, eq=False, repr=False)
class ConfigEntry:
    """One configuration value; `synonyms` are its possible sources by name, the one in force first.

    Entries are equal only to themselves, as in confluent_kafka.
    """

    name: str
    value: str | None
    source: ConfigSource = ConfigSource.UNKNOWN_CONFIG
    is_read_only: bool = False
    is_default: bool = False
    is_sensitive: bool = False
    is_synonym: bool = False
    synonyms: dict[str, ConfigEntry] = field(default_factory=dict)
    incremental_operation: AlterConfigOpType | None = None

    def __repr__(self) -> str:
        return f"ConfigEntry({self})"

    def __str__(self) -> str:
        return f'{self.name}="{"***" if self.is_sensitive else self.value}"'


@total_ordering
class ConfigResource:
    """Something with a configuration: a topic by name, a broker or a group by id. Equality, order, hash by identity.

    Args:
        restype: kind, also as word (`"topic"`) or number.
        name: name of the topic or group; the id of the broker as text.
        set_config: values for `alter_configs`.
        described_configs: what `describe_configs` found.
        error: what went wrong with it.
        incremental_configs: entries for `incremental_alter_configs`.

    Raises:
        ValueError: unknown kind, or no name.
    """

    Type = ResourceType

    def __init__(
        self,
        restype: ResourceType | str | int,
        name: str,
        set_config: Mapping[str, str] | None = None,
        described_configs: dict[str, ConfigEntry] | None = None,
        error: KafkaError | None = None,
        incremental_configs: Sequence[ConfigEntry] | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise ValueError(f"Expected resource name to be a string, not {type(name).__name__}")
        if isinstance(restype, str):
            if restype.upper() not in ResourceType.__members__:
                raise ValueError(f'Unknown resource type "{restype}": should be a ConfigResource.Type')
            restype = ResourceType[restype.upper()]
        self.restype = ResourceType(restype)
        self.name = name
        self.set_config_dict: dict[str, str] = dict(set_config or {})
        self.incremental_configs: list[ConfigEntry] = list(incremental_configs or ())
        self.configs = described_configs
        self.error = error

    def set_config(self, name: str, value: str, overwrite: bool = True) -> None:
        """Sets a value for `alter_configs`; an existing one stays if `overwrite` is false."""
        if overwrite or name not in self.set_config_dict:
            self.set_config_dict[name] = value

    def add_incremental_config(self, config_entry: ConfigEntry) -> None:
        """Adds an entry for `incremental_alter_configs`."""
        self.incremental_configs.append(config_entry)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigResource):
            return NotImplemented
        return self.restype is other.restype and self.name == other.name

    def __lt__(self, other: ConfigResource) -> bool:
        return (self.restype.value, self.name) < (other.restype.value, other.name)

    def __hash__(self) -> int:
        return hash((self.restype, self.name))

    def __len__(self) -> int:
        return len(self.set_config_dict)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"ConfigResource({self.restype},{self.name})"


@dataclass(slots=True)
class ConsumerGroupListing:
    """A group in a listing; a simple group has offsets but no members that a coordinator manages."""

    group_id: str
    is_simple_consumer_group: bool
    state: ConsumerGroupState | None = None
    type: ConsumerGroupType | None = None


@dataclass(slots=True)
class ListConsumerGroupsResult:
    """Groups of all brokers that answered, and the errors of those that did not."""

    valid: list[ConsumerGroupListing] = field(default_factory=list)
    errors: list[KafkaException] = field(default_factory=list)


@dataclass(slots=True)
class MemberAssignment:
    """Partitions of a member."""

    topic_partitions: list[TopicPartition] = field(default_factory=list)


@dataclass(slots=True)
class MemberDescription:
    """A member of a group."""

    member_id: str
    client_id: str
    host: str
    assignment: MemberAssignment
    group_instance_id: str | None = None
    target_assignment: MemberAssignment | None = None


@dataclass(slots=True)
class ConsumerGroupDescription:
    """A group with its members and its coordinator."""

    group_id: str
    is_simple_consumer_group: bool
    members: list[MemberDescription]
    partition_assignor: str
    state: ConsumerGroupState
    coordinator: Node | None
    authorized_operations: list[AclOperation] | None = None
    type: ConsumerGroupType = ConsumerGroupType.UNKNOWN


@dataclass(slots=True)
class ShareMemberDescription:
    """A member of a share group. Several members may have the same partition."""

    member_id: str
    client_id: str
    host: str
    assignment: MemberAssignment
    member_epoch: int = -1
    subscribed_topics: list[str] = field(default_factory=list)
    rack_id: str | None = None


@dataclass(slots=True)
class ShareGroupDescription:
    """A share group with its members and its coordinator. Once settled, both epochs are the same."""

    group_id: str
    members: list[ShareMemberDescription]
    partition_assignor: str
    state: ConsumerGroupState
    coordinator: Node | None
    group_epoch: int = -1
    target_assignment_epoch: int = -1
    authorized_operations: list[AclOperation] | None = None


@dataclass(frozen=True, slots=True)
class SharePartitionOffsetInfo:
    """The position of a share group in a partition.

    Attributes:
        start_offset: all records before it are done with; None while nothing was acknowledged and no offset was set.
            Kafka 4.3.1 is one step late with it: after an acknowledgement it is where the group began before that.
        leader_epoch: of the partition's leader as the group knows it; None without a start offset.
        lag: records that are still to be done, without delay (KIP-1226); None if the broker does not know.
        error: why nothing is known of this partition.
    """

    start_offset: int | None = None
    leader_epoch: int | None = None
    lag: int | None = None
    error: KafkaError | None = None


@dataclass(slots=True)
class DescribeClusterResult:
    """The cluster: its id, its brokers, and which of them is the controller."""

    controller: Node | None
    nodes: list[Node]
    cluster_id: str | None = None
    authorized_operations: list[AclOperation] | None = None


@dataclass(slots=True)
class TopicDescription:
    """A topic with its partitions."""

    name: str
    topic_id: Uuid
    is_internal: bool
    partitions: list[TopicPartitionInfo]
    authorized_operations: list[AclOperation] | None = None


@dataclass(frozen=True, slots=True)
class ListOffsetsResultInfo:
    """An offset: -1 if there is none; `timestamp` in ms, -1 if it was not asked for."""

    offset: int
    timestamp: int
    leader_epoch: int | None


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """The rest of a partition after `delete_records`: `low_watermark` is its first offset now."""

    low_watermark: int


class ElementError(ConfigError, TypeError):
    """Something in an argument has the wrong type: a TypeError, and a ValueError where confluent_kafka has that."""


def check_text(value: object, what: str) -> None:
    """TypeError when it is no str."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be str, not {type(value).__name__}")


def checked_list(items: Any, kind: type[T], what: str) -> list[T]:
    """The items as a list.

    Raises:
        ElementError: it is no list (or tuple), or holds something else than `kind`.
        ValueError: it is empty.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Sequence):
        raise ElementError(f"expected a list of {what}, not {type(items).__name__}")
    for item in items:
        if not isinstance(item, kind):
            raise ElementError(f"expected a list of {what}, but it holds {type(item).__name__}")
        if isinstance(item, str) and not item:
            raise ConfigError(f"expected {what}, but one is empty")
    if not items:
        raise ValueError(f"expected a non-empty list of {what}")
    return list(items)


def unique(keys: Sequence[T], what: str) -> list[T]:
    """The keys.

    Raises:
        ConfigError: one is there twice; confluent_kafka's futures fail with this error's code.
    """
    if len(set(keys)) != len(keys):
        raise ConfigError(f"the same {what} is there twice")
    return list(keys)
