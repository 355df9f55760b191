"""Message: a record as the application sees it, a delivery report, or an event.

Must not know of consumers or producers.
API: confluent_kafka.Message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, cast

from kafka_core.errors import KafkaError
from kafka_core.kernels.abc import TIMESTAMP_NOT_AVAILABLE, MessageRow
from kafka_core.kernels.rebuild import rebuild

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # PEP 696, for type checkers: what a Message without parameters holds

    K = TypeVar("K", covariant=True, default=bytes)
    V = TypeVar("V", covariant=True, default=bytes)
else:
    from typing import TypeVar

    K = TypeVar("K", covariant=True)
    V = TypeVar("V", covariant=True)

Text = str
_UNKNOWN = -1
_OFFSET_INVALID = -1001

HeaderPairs = Mapping[Text, Any] | Sequence[tuple[Text, Any]]


class Message(Generic[K, V]):
    """A consumed record, a delivery report's record, or an event (`error()` is set).

    `Message[str, Order]` tells type checkers what key and value are; a `Message` alone has bytes. Not hashable, since
    it can change; equal to another one with equal content; pickles. An empty value makes a message of length 0, which
    is still true.

    Args:
        topic: topic name.
        partition: partition number; None or negative: unknown.
        offset: in the partition; None or negative: unknown.
        key: bytes, or the deserialized object.
        value: as key; None is a tombstone.
        headers: dict or list of (name, bytes or None).
        error: makes it an event or a failed delivery.
        timestamp: (type, milliseconds since the epoch); without one it is (TIMESTAMP_NOT_AVAILABLE, 0).
        latency: seconds from produce() to the acknowledgement.
        leader_epoch: of the batch; None or negative: unknown.
        delivery_count: how often a share group's members were given the record; None: unknown.
    """

    __slots__ = (
        "_delivery_count",
        "_error",
        "_headers",
        "_key",
        "_latency",
        "_leader_epoch",
        "_offset",
        "_partition",
        "_timestamp",
        "_topic",
        "_value",
    )

    def __init__(
        self,
        topic: Text | None = None,
        partition: int | None = None,
        offset: int | None = None,
        key: K | None = None,
        value: V | None = None,
        headers: HeaderPairs | None = None,
        error: KafkaError | None = None,
        timestamp: tuple[int, int] | None = None,
        latency: float | None = None,
        leader_epoch: int | None = None,
        delivery_count: int | None = None,
    ) -> None:
        self._topic = topic
        self._partition = _UNKNOWN if partition is None else index(partition)
        self._offset = _OFFSET_INVALID if offset is None else index(offset)
        self._key: Any = key
        self._value: Any = value
        self._headers = _pairs(headers)
        self._error = error
        self._timestamp = (TIMESTAMP_NOT_AVAILABLE, 0) if timestamp is None else _timestamp(timestamp)
        self._latency = None if latency is None else _seconds(latency)
        self._leader_epoch = _UNKNOWN if leader_epoch is None else index(leader_epoch)
        self._delivery_count = 0 if delivery_count is None else index(delivery_count)

    @classmethod
    def __class_getitem__(cls, parameters: Any) -> GenericAlias:
        """For annotations: `Message[str, Order]`."""
        return GenericAlias(cls, parameters)

    def error(self) -> KafkaError | None:
        """The KafkaError of an event or a failed delivery; None for a good record."""
        return self._error

    def topic(self) -> Text | None:
        """Topic name, None for an event of no topic."""
        return self._topic

    def partition(self) -> int | None:
        """Partition number, None if unknown."""
        return None if self._partition < 0 else self._partition

    def offset(self) -> int | None:
        """Offset in the partition, None if unknown."""
        return None if self._offset < 0 else self._offset

    def leader_epoch(self) -> int | None:
        """Leader epoch of the batch, None if unknown."""
        return None if self._leader_epoch < 0 else self._leader_epoch

    def key(self) -> K | None:
        """The key as bytes (or what `set_key` left); None for a null key."""
        return cast("K | None", self._key)

    def value(self) -> V | None:
        """The value as bytes (or what `set_value` left); None for a tombstone."""
        return cast("V | None", self._value)

    def headers(self) -> list[tuple[Text, Any]] | None:
        """List of (name, bytes or None), None if the record has none. Names that are not UTF-8 have U+FFFD in them."""
        return self._headers

    def timestamp(self) -> tuple[int, int]:
        """(type, milliseconds since the epoch): type 0 not available (-1 ms), 1 create time, 2 log append time."""
        return self._timestamp

    def latency(self) -> float | None:
        """Seconds from produce() to the acknowledgement, on delivery reports; None elsewhere."""
        return self._latency

    def deserialized_key(self) -> K | None:
        """The same as `key()`: for code that says which of the two it means."""
        return self.key()

    def deserialized_value(self) -> V | None:
        """The same as `value()`: the deserialized object, else the bytes."""
        return self.value()

    def delivery_count(self) -> int | None:
        """The number of deliveries of the record to members of a share group, this one included; None elsewhere."""
        return None if self._delivery_count <= 0 else self._delivery_count

    def set_key(self, key: Any) -> None:
        """Puts another object in place of the key (deserializers do)."""
        self._key = key

    def set_value(self, value: Any) -> None:
        """Puts another object in place of the value (deserializers do)."""
        self._value = value

    def set_headers(self, headers: HeaderPairs | None) -> None:
        """Puts other headers in place (a dict or a list of pairs)."""
        self._headers = _pairs(headers)

    def set_topic(self, topic: Text | None) -> None:
        """Puts another topic name in place."""
        self._topic = topic

    def set_error(self, error: KafkaError | None) -> None:
        """Puts an error in place."""
        self._error = error

    def __len__(self) -> int:
        return 0 if self._value is None else len(self._value)

    def __bool__(self) -> bool:
        return True

    def _state(self) -> tuple[Any, ...]:
        return (
            self._topic,
            self.partition(),
            self.offset(),
            self._key,
            self._value,
            self._headers,
            self._error,
            self._timestamp,
            self._latency,
            self.leader_epoch(),
            self.delivery_count(),
        )

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return rebuild, self._state()

    # Defining equality alone leaves messages without a hash.
    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Message) else NotImplemented

    def __repr__(self) -> Text:
        if self._error is not None:
            return f"Message({self._topic}[{self.partition()}], error={self._error!r})"
        return f"Message({self._topic}[{self.partition()}] at {self.offset()}, {_measure(self)})"


def set_delivery_count(message: Message, count: int) -> None:
    """Notes how often the record was given to members of a share group."""
    message._delivery_count = count


def message_rows(messages: list[Message]) -> list[MessageRow]:
    """The fields of messages, up to the first that is an error; for callers that want them all.

    Returns:
        Topic, partition (-1: unknown), offset (-1001: unknown), type of timestamp (0 to 2), timestamp in ms, key,
        value, and the headers as a tuple of pairs.
    """
    rows: list[MessageRow] = []
    for message in messages:
        if message._error is not None:
            break
        headers = tuple(message.headers() or ())
        kind, timestamp_ms = message.timestamp()
        fields = message._topic, message._partition, message._offset, kind, timestamp_ms
        rows.append((*fields, message.key(), message.value(), headers))
    return rows


class OffsetStore:
    """Stores the offset behind a record for the next commit.

    Args:
        states: topic and partition → what is told `stored`, `stored_epoch` (-1: unknown) and `stored_metadata` (None).
    """

    __slots__ = ("_states",)

    def __init__(self, states: dict[tuple[Text, int], Any]) -> None:
        self._states = states

    def forget(self) -> None:
        """States were taken away: none that is remembered is told any more (the compiled twin remembers the last)."""

    def __call__(self, record: Message) -> bool:
        """False, and nothing is stored, if it is an event, has no offset, or there is no state for its partition."""
        if record._offset < 0 or record._partition < 0 or record._error is not None:
            return False
        state = self._states.get((record._topic or "", record._partition))
        if state is None:
            return False
        state.stored = record._offset + 1
        state.stored_epoch = max(record._leader_epoch, -1)
        state.stored_metadata = None
        return True


def exact_text(topic: Text) -> Text:
    """A topic's name as plain str, whatever kind of str (an enum's member) it is given as.

    Raises:
        TypeError: it is no str.
    """
    if not isinstance(topic, str):
        raise TypeError(f"topic must be str, not {type(topic).__name__}")
    return str.__str__(topic)


def _seconds(latency: object) -> float:
    if not isinstance(latency, int | float):
        raise TypeError(f"latency must be a number of seconds, not {type(latency).__name__}")
    return float(latency)


def _timestamp(timestamp: object) -> tuple[int, int]:
    if not isinstance(timestamp, tuple) or len(timestamp) != 2:
        raise TypeError("timestamp must be a tuple of (int, int)")
    return index(timestamp[0]), index(timestamp[1])


def _pairs(headers: HeaderPairs | None) -> list[tuple[Text, Any]] | None:
    if headers is None:
        return None
    return list(headers.items()) if isinstance(headers, dict) else list(headers)  # type: ignore[arg-type]


def _measure(message: Message[Any, Any]) -> str:
    """The size of the value, for a text; a deserialized value need not have a length."""
    value = message.value()
    if isinstance(value, str):
        return f"{len(value)} characters"
    return f"{len(message)} bytes" if value is None or isinstance(value, bytes) else type(value).__name__
