"""Values that users and all layers share: partitions and offsets, cluster metadata, group facts.

Knows nothing of the wire or of clients. Names, defaults and attributes are those of confluent_kafka.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import total_ordering
from operator import index
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, overload

from kafka_core.errors import KafkaError

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # PEP 696, for type checkers: Messages without a parameter hold anything

    M = TypeVar("M", covariant=True, default=Any)
else:
    from typing import TypeVar

    M = TypeVar("M", covariant=True)

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

    Partition and offset can be changed, as in confluent_kafka; equality, order and hash look at topic and partition
    only. Pickles.

    Args:
        topic: topic name.
        partition: number from 0; -1 where none is meant.
        offset: a position, or one of the `OFFSET_*` constants.
        metadata: text kept with a committed offset.
        leader_epoch: epoch of the leader that the offset was read from; None (or a negative number) if unknown.

    Raises:
        TypeError: a name that is no text, a number that is none.
        OverflowError: a number that no request can carry.
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
        self.partition = fitting(partition, 32)
        self.offset = fitting(offset, 64)
        self.metadata = metadata
        epoch = -1 if leader_epoch is None else fitting(leader_epoch, 32)
        self.leader_epoch = None if epoch < 0 else epoch
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


def fitting(value: SupportsIndex, bits: int) -> int:
    """A whole number that fits a signed field of so many bits.

    Raises:
        TypeError: no whole number.
        OverflowError: it does not fit.
    """
    number = index(value)
    if -(1 << bits - 1) <= number < 1 << bits - 1:
        return number
    raise OverflowError(f"{number} does not fit a signed number of {bits} bits")


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
    """A broker in admin results.

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


@dataclass(frozen=True, slots=True)
class ThrottleEvent:
    """The argument of `throttle_cb`: a broker asked to be left alone for `throttle_time` seconds."""

    broker_name: str
    broker_id: int
    throttle_time: float

    def __str__(self) -> str:
        return f"{self.broker_name}/{self.broker_id} throttled for {int(self.throttle_time * 1000)} ms"


@dataclass(frozen=True, slots=True)
class LogTruncation:
    """The argument of `on_truncation`: a partition's log lost records that this consumer, or its group, had read.

    An unclean leader election does that (KIP-320). Other records may stand there by now.

    Attributes:
        offset: the next offset that would have been read. `leader_epoch`: of the record before it.
        divergent_offset: where the log ended when it was cut: what was read before is still there. `divergent_epoch`:
            the epoch that ends there. Both are None where the leader does not know.
    """

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    divergent_offset: int | None = None
    divergent_epoch: int | None = None


class IsolationLevel(Enum):
    """Whether offsets and records of open or aborted transactions are seen."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1

    def __lt__(self, other: object) -> bool:
        return self.value < other.value if isinstance(other, IsolationLevel) else NotImplemented


class AcknowledgeType(IntEnum):
    """A share group member's answer about a record that it was given.

    Attributes:
        ACCEPT: it was processed, and is given to nobody again.
        RELEASE: it was not: it is given out again, at most as often as the group's delivery limit says.
        REJECT: it can't be processed, and is given to nobody again.
        RENEW: it is being processed: its lock begins anew (KIP-1222; confluent_kafka 2.16 does not have it).
    """

    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


class Messages(Sequence[M]):
    """The messages of one poll of a share consumer: an immutable sequence of Message.

    `Messages[Message[str, Order]]` names their type for type checkers.
    """

    __slots__ = ("_records",)

    def __init__(self, messages: Iterable[M] = ()) -> None:
        self._records = list(messages)

    def records(self) -> list[M]:
        """The messages as a new list."""
        return list(self._records)

    def count(self, value: Any = None) -> int:
        """The number of messages; with a value, of those equal to it."""
        return len(self._records) if value is None else self._records.count(value)

    def is_empty(self) -> bool:
        """Whether there are no messages."""
        return not self._records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[M]:
        return iter(self._records)

    @overload
    def __getitem__(self, index: int) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> Messages[M]: ...
    def __getitem__(self, index: int | slice) -> M | Messages[M]:
        """A message, or a part of them as Messages."""
        return Messages(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __repr__(self) -> str:
        return f"Messages({self._records!r})"


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadata:
    """The member in whose name offsets are committed, as a coordinator checks it; by default no member.

    What `consumer_group_metadata()` gives and `send_offsets_to_transaction()` takes (KIP-447). It pickles.
    """

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    instance_id: str | None = None
