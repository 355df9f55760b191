"""Events for a consumer's application, besides records, and the callback that each is for.

Must not know loops or threads: items are made on the loop and carried out by the face that the application calls.
Spec: confluent_kafka.Consumer: callbacks are served from poll() and consume(); what has none comes as a Message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka_core.engine.groups.states import Event
from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from kafka_core.model import LogTruncation, ThrottleEvent, TopicPartition

TOLD_AT_ONCE: Final = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._FATAL})
"""Client errors that come as a Message where there is no error_cb: waiting does not mend them, the application would
poll in vain. Others (brokers that can't be reached, names without an address) are logged, as librdkafka does it: the
client mends them by itself, and a loop that raises what `poll()` gives it must survive the restart of a broker."""


@dataclass(frozen=True, slots=True)
class Rebalance:
    """A change of the assignment, for on_assign, on_revoke or on_lost."""

    event: Event


@dataclass(frozen=True, slots=True)
class ClientError:
    """An error of the client as a whole, for error_cb."""

    error: KafkaError


@dataclass(frozen=True, slots=True)
class Notice:
    """A Message with an error, handed out like a record."""

    message: Message


@dataclass(frozen=True, slots=True)
class CommitDone:
    """An asynchronous or automatic commit ended, for on_commit."""

    error: KafkaError | None
    partitions: list[TopicPartition]


@dataclass(frozen=True, slots=True)
class Statistics:
    """A JSON text, for stats_cb."""

    text: str


@dataclass(frozen=True, slots=True)
class Throttled:
    """A broker asked to slow down, for throttle_cb."""

    event: ThrottleEvent


@dataclass(frozen=True, slots=True)
class Truncated:
    """A partition's log lost records that were read, for on_truncation."""

    truncation: LogTruncation


Item = Rebalance | ClientError | Notice | CommitDone | Statistics | Throttled | Truncated
Call = tuple[Callable[..., Any], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks given in the configuration; None where there is none."""

    error_cb: Callable[..., Any] | None = None
    stats_cb: Callable[..., Any] | None = None
    throttle_cb: Callable[..., Any] | None = None
    on_commit: Callable[..., Any] | None = None
    on_truncation: Callable[..., Any] | None = None

    def call_for(self, item: Item) -> Call | None:
        """The call that an item is for; None for a Rebalance or Notice, and where there is no callback."""
        if isinstance(item, ClientError) and self.error_cb is not None:
            return self.error_cb, (item.error,)
        if isinstance(item, CommitDone) and self.on_commit is not None:
            return self.on_commit, (item.error, item.partitions)
        if isinstance(item, Statistics) and self.stats_cb is not None:
            return self.stats_cb, (item.text,)
        if isinstance(item, Throttled) and self.throttle_cb is not None:
            return self.throttle_cb, (item.event,)
        if isinstance(item, Truncated) and self.on_truncation is not None:
            return self.on_truncation, (item.truncation,)
        return None


@dataclass(frozen=True, slots=True)
class RebalanceCallbacks:
    """The callbacks given to subscribe(); they are called with the consumer and a list of TopicPartition."""

    on_assign: Callable[..., Any] | None = None
    on_revoke: Callable[..., Any] | None = None
    on_lost: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        for name in ("on_assign", "on_revoke", "on_lost"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise TypeError(f"{name} expects a callable")

    def for_event(self, event: Event) -> Callable[..., Any] | None:
        """The callback for an event; lost partitions go to on_revoke if there is no on_lost."""
        if event.kind.value == "assign":
            return self.on_assign
        if event.kind.value == "lost" and self.on_lost is not None:
            return self.on_lost
        return self.on_revoke
