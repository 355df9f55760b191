"""Values of kafka-python 3.0's administration: enums that know their members by name, what calls take and give.

Must not know clients. Spec: the names of `kafka.admin`, their arguments, texts and equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any, NamedTuple, Self

from kserdes.compat.kafka.structs import TopicPartition

__all__ = [
    "AbortTransactionSpec",
    "AlterConfigOp",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSourceType",
    "ConfigType",
    "GroupState",
    "GroupType",
    "IsolationLevel",
    "MemberToRemove",
    "NewPartitions",
    "NewTopic",
    "OffsetSpec",
    "OffsetTimestamp",
    "PartitionProducerState",
    "ProducerState",
    "TransactionDescription",
    "TransactionListing",
    "TransactionState",
    "UpdateFeatureType",
]


class ByName:
    """For enums whose members are also found by name, in any case and with `-` for `_`."""

    @classmethod
    def build_from(cls, val: Any) -> Self:
        """The member of a name, a value or a member.

        Raises:
            ValueError: there is none.
        """
        members: dict[str, Any] = cls.__members__  # type: ignore[attr-defined]
        found = next((each for each in members.values() if val is each or val == each.value), None)
        if found is None and isinstance(val, str):
            found = members.get(val.upper().replace("-", "_"))
        if found is None:
            raise ValueError(f"Unrecognized {cls.__name__}: {val}")
        return found  # type: ignore[no-any-return]

    @classmethod
    def value_for(cls, val: Any) -> Any:
        """The value of a member that is given as such, by its name or by its number.

        Raises:
            ValueError: there is none.
        """
        if isinstance(val, cls):
            return val.value  # type: ignore[attr-defined]
        if isinstance(val, int):
            return cls(val).value  # type: ignore[call-arg, attr-defined]
        members: dict[str, Any] = cls.__members__  # type: ignore[attr-defined]
        if not isinstance(val, str) or (name := val.upper().replace("-", "_")) not in members:
            raise ValueError(f"Unrecognized {cls.__name__}: {val}")
        return members[name].value


class IsolationLevel(ByName, IntEnum):
    """Whether offsets of open transactions count."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class OffsetSpec(ByName, IntEnum):
    """The offset of a partition that is asked for."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


class OffsetTimestamp(int):
    """A time in ms, in place of an OffsetSpec."""

    def __repr__(self) -> str:
        return f"OffsetTimestamp({int(self)})"


class ConfigResourceType(ByName, IntEnum):
    """The kind of resource that a configuration belongs to."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigType(ByName, IntEnum):
    """The type of a configuration's value."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSourceType(ByName, IntEnum):
    """The source of a configuration's value."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


class AlterConfigOp(ByName, IntEnum):
    """The operation on a configuration."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class UpdateFeatureType(ByName, IntEnum):
    """The directions in which a feature's level may move."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class GroupState(ByName, str, Enum):  # noqa: UP042  # its text is GroupState.EMPTY, as there
    """The state of a group."""

    UNKNOWN = "Unknown"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"


class GroupType(ByName, str, Enum):  # noqa: UP042
    """The protocol of a group."""

    UNKNOWN = "Unknown"
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"


class TransactionState(ByName, str, Enum):  # noqa: UP042
    """The state of a transaction."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    UNKNOWN = "Unknown"


class ConfigResource:
    """Something with a configuration.

    Args:
        resource_type: a ConfigResourceType, or its name.
        name: of the topic or group; the id of the broker.
        configs: names and values to set, or the names to look at.

    Raises:
        KeyError: no such type.
    """

    def __init__(
        self,
        resource_type: ConfigResourceType | str,
        name: str,
        configs: Mapping[str, str] | Iterable[str] | None = None,
    ) -> None:
        if not isinstance(resource_type, ConfigResourceType):
            resource_type = ConfigResourceType[str(resource_type).upper()]
        self.resource_type = resource_type
        self.name = name
        self.configs = configs

    def __repr__(self) -> str:
        return f"ConfigResource({self.resource_type}, {self.name}, {self.configs})"


class NewTopic:
    """A topic to be made, as kafka-python 2 has it; dicts and names do too."""

    def __init__(
        self,
        name: str,
        num_partitions: int = -1,
        replication_factor: int = -1,
        replica_assignments: Mapping[int, Sequence[int]] | None = None,
        topic_configs: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.replica_assignments = replica_assignments or {}
        self.topic_configs = topic_configs or {}


class NewPartitions:
    """The new total of a topic's partitions, as kafka-python 2 has it; a number does too."""

    def __init__(self, total_count: int, new_assignments: Sequence[Sequence[int]] | None = None) -> None:
        self.total_count = total_count
        self.new_assignments = new_assignments


class MemberToRemove:
    """A member of a group that is to leave it: its id, or the name of a static one."""

    __slots__ = ("group_instance_id", "member_id", "reason")

    def __init__(
        self, member_id: str | None = None, group_instance_id: str | None = None, reason: str | None = None
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason

    def _key(self) -> tuple[str | None, ...]:
        return (self.member_id, self.group_instance_id, self.reason)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, MemberToRemove) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"<MemberToRemove member_id={self.member_id}, group_instance_id={self.group_instance_id}, "
            f"reason={self.reason}>"
        )


class TransactionListing(NamedTuple):
    """A transactional id with its producer."""

    transactional_id: str
    producer_id: int
    state: TransactionState


class TransactionDescription(NamedTuple):
    """A transactional id with what its coordinator knows; times in ms, -1 for none."""

    coordinator_id: int
    state: TransactionState
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    topic_partitions: set[TopicPartition]


class ProducerState(NamedTuple):
    """A producer that wrote to a partition; -1 where there is nothing."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_transaction_start_offset: int


class PartitionProducerState(NamedTuple):
    """The producers of a partition."""

    active_producers: list[ProducerState]


class AbortTransactionSpec(NamedTuple):
    """A transaction to be aborted in one partition."""

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = -1
