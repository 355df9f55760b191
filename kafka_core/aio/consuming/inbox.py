"""The inbox: what a consumer has to tell its application besides records, first come first served.

Must not know threads or faces: the loop puts items in, the face that the application calls takes them out.
Spec: confluent_kafka.Consumer: what is told to whom (`events.py` has the items).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from kafka_core.aio.consuming.events import (
    TOLD_AT_ONCE,
    Callbacks,
    ClientError,
    CommitDone,
    Item,
    Notice,
    Throttled,
    Truncated,
)
from kafka_core.engine.consuming.subscription import PartitionState
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_INVALID, LogTruncation, ThrottleEvent


class Inbox(deque[Item]):
    """A deque of items: `tell` on the loop, `popleft` and `appendleft` on the taker's thread; each is atomic.

    Args:
        callbacks: those of the configuration; events without one become a Message, or nothing.
        wake: wakes the taker, who may wait; called on the loop.
        progress: set with every item, for those who wait for the group to be left.
    """

    __slots__ = ("_progress", "_wake", "callbacks")

    def __init__(self, callbacks: Callbacks, wake: Callable[[], object], progress: asyncio.Event) -> None:
        super().__init__()
        self.callbacks = callbacks
        self._wake = wake
        self._progress = progress

    def tell(self, item: Item) -> None:
        """Puts an item in and wakes the taker; the end of a commit is left out where there is no on_commit."""
        if isinstance(item, CommitDone) and self.callbacks.on_commit is None:
            return
        self.append(item)
        self._progress.set()
        self._wake()

    def tell_client_error(self, error: KafkaError) -> None:
        """An error of the client as a whole: for error_cb, or a Message if waiting will not mend it."""
        if self.callbacks.error_cb is not None:
            self.tell(ClientError(error))
        elif error.code() in TOLD_AT_ONCE:
            self.tell(Notice(Message(error=error)))

    def tell_partition_error(self, state: PartitionState, error: KafkaError) -> None:
        """Puts in a Message with this error, the partition and no offset: its data can't be read."""
        self.tell(Notice(error_message(state, error, OFFSET_INVALID)))

    def tell_truncation(self, state: PartitionState, truncation: LogTruncation, text: str) -> None:
        """A partition's log lost records read: for on_truncation, or a Message with the offset where it was cut."""
        if self.callbacks.on_truncation is not None:
            self.tell(Truncated(truncation))
            return
        known = truncation.divergent_offset
        error = KafkaError(KafkaError._LOG_TRUNCATION, text)
        self.tell(Notice(error_message(state, error, OFFSET_INVALID if known is None else known)))


class ThrottleListener:
    """Listens to the client's hooks and metadata, and tells throttle_cb which broker throttles this client."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._brokers: Mapping[int, BrokerAddress] = {}

    def on_metadata(self, view: ClusterView) -> None:
        """Keeps the addresses of brokers, which throttle_cb is told."""
        self._brokers = view.brokers

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """Puts a ThrottleEvent in; a broker without metadata is called `bootstrap`."""
        broker = self._brokers.get(node_id)
        name = f"{broker.host}:{broker.port}" if broker is not None else "bootstrap"
        self._inbox.tell(Throttled(ThrottleEvent(name, node_id, throttle_s)))


def error_message(state: PartitionState, error: KafkaError, offset: int) -> Message:
    """A Message with an error and a place but no content; `offset` is OFFSET_INVALID where none is meant."""
    return Message(topic=state.topic, partition=state.partition, offset=offset, error=error)
