"""Events for metrics and tracing: small Protocols, and the dispatcher that the client calls.

Knows nothing of the client's objects: events carry names and numbers only.
A hook object implements only the events it wants (the idea is franz-go's pkg/kgo/hooks.go). Hooks run on the
client's loop thread (batch and request events) and must be quick; what they raise is logged, never passed on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

logger: Final = logging.getLogger("kafka_core.hooks")


class ConnectHook(Protocol):
    """Told of every attempt to connect to a broker, handshake included."""

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """`address` is `host:port`; `error` is None if the connection is ready; `node_id` is -1 for a bootstrap one."""
        ...


class DisconnectHook(Protocol):
    """Told when a connection that was ready is gone."""

    def on_disconnect(self, node_id: int, address: str, error: Exception | None) -> None:
        """`error` is None if we closed it ourselves (close, idle)."""
        ...


class RequestDoneHook(Protocol):
    """Told when a request has its response or has failed."""

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """`api` is the request's name (`Produce`); sizes are those on the wire.

        What is in flight when its client closes fails with the code `_DESTROY`; most often that is a fetch (`cut_off`).
        """
        ...


class ThrottleHook(Protocol):
    """Told when a broker asks us to slow down (quotas)."""

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """`throttle_s` is the time the broker wants to be left alone, in seconds."""
        ...


class MetadataHook(Protocol):
    """Called with every new view of the cluster."""

    def on_metadata(self, brokers: int, topics: Mapping[str, int]) -> None:
        """`brokers` is how many there are; `topics` are those that are known, with the number of their partitions."""
        ...


class BatchSentHook(Protocol):
    """Told when a produced batch was acknowledged."""

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """`raw_bytes` before compression, `wire_bytes` after it."""
        ...


class BatchFetchedHook(Protocol):
    """Told of the record batches of one partition in one fetch response."""

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """`wire_bytes` is their compressed size."""
        ...


class RebalanceHook(Protocol):
    """Told of a group's assignment changes, before the application's own callback runs."""

    def on_rebalance(self, group_id: str, event: str, partitions: Sequence[tuple[str, int]]) -> None:
        """`event` is `assign`, `revoke` or `lost`; `partitions` are those that change hands."""
        ...


EVENTS = (
    "on_connect",
    "on_disconnect",
    "on_request_done",
    "on_throttle",
    "on_metadata",
    "on_batch_sent",
    "on_batch_fetched",
    "on_rebalance",
)

READS: Final = ("Fetch", "ShareFetch")


def error_name(error: BaseException) -> str:
    """The name of Kafka's error (`_TIMED_OUT`), or of the exception's class if it is none of Kafka's."""
    code = getattr(error.args[0], "name", None) if error.args else None
    return str(code()) if callable(code) else type(error).__qualname__


def cut_off(api: str, error: Exception | None) -> bool:
    """Whether a request only waited for records when its client was closed: that is no failure of anything."""
    return error is not None and api in READS and error_name(error) == "_DESTROY"


class Hooks:
    """Calls every hook object that implements an event, in the order given.

    With no listener an event costs one attribute look-up and an empty loop.

    Args:
        objects: instances that implement one or more of the Protocols above.

    Raises:
        TypeError: an object implements none of the events (most likely a misspelt name).
    """

    __slots__ = ("_listeners",)

    def __init__(self, objects: Sequence[object] = ()) -> None:
        for hook in objects:
            if not any(callable(getattr(hook, event, None)) for event in EVENTS):
                raise TypeError(f"{type(hook).__name__} implements none of the hook events: {', '.join(EVENTS)}")
        self._listeners: dict[str, tuple[Callable[..., object], ...]] = {
            event: tuple(getattr(hook, event) for hook in objects if callable(getattr(hook, event, None)))
            for event in EVENTS
        }

    def plus(self, hook: object) -> Hooks:
        """Other hooks: these, and then one more object."""
        other, more = Hooks(), Hooks([hook])
        other._listeners = {event: (*self._listeners[event], *more._listeners[event]) for event in EVENTS}
        return other

    def attach(self, hook: object) -> None:
        """From now on calls one more object, too; everything that holds these hooks sees it."""
        for event, listeners in Hooks([hook])._listeners.items():
            self._listeners[event] += listeners

    def detach(self, hook: object) -> None:
        """The end of `attach`."""
        for event, listeners in self._listeners.items():
            self._listeners[event] = tuple(one for one in listeners if getattr(one, "__self__", None) is not hook)

    def replaced(self, by: Callable[[str, int, Callable[..., object]], Callable[..., object]]) -> Hooks:
        """Other hooks of the same shape: each listener becomes `by(event, number, listener)`."""
        other = Hooks()
        other._listeners = {
            event: tuple(by(event, number, listener) for number, listener in enumerate(listeners))
            for event, listeners in self._listeners.items()
        }
        return other

    def wants(self, event: str) -> bool:
        """True if somebody listens to this event: lets a caller skip the work of gathering its facts."""
        return bool(self._listeners[event])

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """See `ConnectHook`."""
        self.tell("on_connect", node_id, address, duration_s, error)

    def on_disconnect(self, node_id: int, address: str, error: Exception | None) -> None:
        """See `DisconnectHook`."""
        self.tell("on_disconnect", node_id, address, error)

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """See `RequestDoneHook`."""
        self.tell("on_request_done", node_id, api, sent_bytes, received_bytes, duration_s, error)

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """See `ThrottleHook`."""
        self.tell("on_throttle", node_id, api, throttle_s)

    def on_metadata(self, brokers: int, topics: Mapping[str, int]) -> None:
        """See `MetadataHook`."""
        self.tell("on_metadata", brokers, topics)

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """See `BatchSentHook`."""
        self.tell("on_batch_sent", node_id, topic, partition, records, raw_bytes, wire_bytes)

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """See `BatchFetchedHook`."""
        self.tell("on_batch_fetched", node_id, topic, partition, records, wire_bytes)

    def on_rebalance(self, group_id: str, event: str, partitions: Sequence[tuple[str, int]]) -> None:
        """See `RebalanceHook`."""
        self.tell("on_rebalance", group_id, event, partitions)

    def tell(self, event: str, *facts: Any) -> None:
        """Calls the listeners of one event; their exceptions are logged, so that metrics can't break a client."""
        for listener in self._listeners[event]:
            try:
                listener(*facts)
            except Exception:
                logger.exception("hook %s of %r failed", event, getattr(listener, "__self__", listener))
