"""OpenTelemetry: metrics by hooks, spans around sending and processing, trace context in the headers of records.

Needs the extra `otel` (only the API: which SDK exports where is the application's choice). Must not know clients: it
stands on `kafka_core.hooks` and on what any message has.
Spec: OpenTelemetry's semantic conventions for messaging systems and for Kafka; W3C Trace Context.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, TypeAlias

from kafka_core.hooks import cut_off, error_name
from kserdes_base.version import VERSION

try:
    from opentelemetry import metrics, propagate, trace
    from opentelemetry.context import Context, get_current
    from opentelemetry.propagators.textmap import Getter, Setter, TextMapPropagator
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "opentelemetry is not installed: pip install opentelemetry-api (the extra 'otel' of kserdes)", name=missing.name
    ) from missing

__all__ = ["MetricsHook", "Tracing", "extract", "inject"]

HeaderValue: TypeAlias = bytes | str | None
Headers: TypeAlias = list[tuple[str, HeaderValue]]
GivenHeaders: TypeAlias = Mapping[str, HeaderValue] | Sequence[tuple[str, HeaderValue]] | None
Attributes: TypeAlias = dict[str, str | int | bool]

SCOPE: Final = "kserdes"
OPERATIONS: Final = {
    "Produce": ("send", "send"),
    "Fetch": ("poll", "receive"),
    "OffsetCommit": ("commit", "settle"),
    "ShareFetch": ("poll", "receive"),
    "ShareAcknowledge": ("ack", "settle"),
}
"""Request → operation's name and type; other requests are no operations of the conventions."""
BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)


class Record(Protocol):
    """A consumed message, typed or not."""

    def topic(self) -> str | None:
        """The topic."""

    def partition(self) -> int | None:
        """The partition."""

    def offset(self) -> int | None:
        """The offset."""

    def key(self) -> object:
        """The key."""

    def value(self) -> object:
        """The value."""

    def headers(self) -> Sequence[tuple[str, bytes | None]] | None:
        """The headers."""


class MetricsHook:
    """Counts what clients send and read, and measures their operations: `Producer({…, "hooks": [MetricsHook()]})`.

    Instruments: `messaging.client.sent.messages` (records of batches that were acknowledged),
    `messaging.client.consumed.messages` (records of batches that were fetched),
    `messaging.client.operation.duration` (requests that produce, fetch, commit and acknowledge, with `error.type` where
    one failed; a fetch waits at the broker for records). `server.address` and `server.port` are there for brokers that
    were connected to under their number, not for the first one. One object may serve all clients of a cluster;
    brokers of another one have the same numbers.

    Args:
        provider: where the meter is from; None: the global one.
        attributes: added to all that is recorded, e.g. `messaging.client.id`, `messaging.consumer.group.name`.
    """

    def __init__(
        self, provider: metrics.MeterProvider | None = None, attributes: Mapping[str, str] | None = None
    ) -> None:
        meter = metrics.get_meter(SCOPE, VERSION, provider)
        self._sent = meter.create_counter(
            "messaging.client.sent.messages", "{message}", "Number of messages that brokers acknowledged."
        )
        self._consumed = meter.create_counter(
            "messaging.client.consumed.messages", "{message}", "Number of messages that were fetched."
        )
        self._duration = meter.create_histogram(
            "messaging.client.operation.duration",
            "s",
            "Duration of messaging operation initiated by a producer or consumer client.",
            explicit_bucket_boundaries_advisory=BOUNDS_S,
        )
        self._common = {"messaging.system": "kafka", **(attributes or {})}
        self._servers: dict[int, Attributes] = {}

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """See `kafka_core.hooks.ConnectHook`: remembers a broker's address."""
        host, _, port = address.rpartition(":")
        if port.isdigit():
            self._servers[node_id] = {"server.address": host.strip("[]"), "server.port": int(port)}

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """See `kafka_core.hooks.RequestDoneHook`."""
        operation = OPERATIONS.get(api)
        if operation is None or cut_off(api, error):
            return
        name, kind = operation
        found = {"messaging.operation.name": name, "messaging.operation.type": kind, **self._server(node_id)}
        if error is not None:
            found["error.type"] = error_name(error)
        self._duration.record(duration_s, {**self._common, **found})

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """See `kafka_core.hooks.BatchSentHook`."""
        self._sent.add(records, self._place("send", node_id, topic, partition))

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """See `kafka_core.hooks.BatchFetchedHook`."""
        self._consumed.add(records, self._place("poll", node_id, topic, partition))

    def _server(self, node_id: int) -> Attributes:
        return self._servers.get(node_id, {})

    def _place(self, operation: str, node_id: int, topic: str, partition: int) -> Attributes:
        return {
            **self._common,
            "messaging.operation.name": operation,
            "messaging.destination.name": topic,
            "messaging.destination.partition.id": str(partition),
            **self._server(node_id),
        }


class Tracing:
    """Spans around sending and processing; a trace continues in the consumers of the topic.

    For blocking and asyncio clients, typed or not: the clients are called as always, inside a `with`.

    Args:
        provider: where the tracer is from; None: the global one.
        meter_provider: the same for the meter of `messaging.process.duration`.
        propagator: what writes and reads headers; None: the global one (W3C Trace Context and baggage, if not set).
        group: `messaging.consumer.group.name` of `processing`.
    """

    def __init__(
        self,
        provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        propagator: TextMapPropagator | None = None,
        group: str | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(SCOPE, VERSION, provider)
        self._propagator = propagator
        self._group = group
        self._duration = metrics.get_meter(SCOPE, VERSION, meter_provider).create_histogram(
            "messaging.process.duration",
            "s",
            "Duration of processing operation.",
            explicit_bucket_boundaries_advisory=BOUNDS_S,
        )

    @contextmanager
    def sending(self, topic: str, headers: GivenHeaders = None) -> Iterator[Headers]:
        """A span of kind PRODUCER around `produce`, and the headers to give to it.

        It ends with the block: in it, wait for the delivery if the span is to have its duration and its failure.

            with tracing.sending("orders") as headers:
                producer.produce("orders", value, headers=headers)

        Args:
            topic: where to.
            headers: the record's own; not changed.
        """
        attributes = {**_attributes("send", "send"), "messaging.destination.name": topic}
        with self._span(f"send {topic}", SpanKind.PRODUCER, attributes, None):
            yield inject(headers, self._propagator)

    @contextmanager
    def processing(self, message: Record) -> Iterator[Span]:
        """A span of kind CONSUMER around the work on a message, in the trace of whoever sent it.

        What the block raises is recorded and raised. Measures `messaging.process.duration`.

            with tracing.processing(message):
                handle(message.value())

        Args:
            message: what a consumer gave.
        """
        topic = message.topic() or ""
        attributes = {**_attributes("process", "process"), "messaging.destination.name": topic}
        if self._group is not None:
            attributes["messaging.consumer.group.name"] = self._group
        counted = dict(attributes)
        attributes["messaging.destination.partition.id"] = str(message.partition())
        attributes["messaging.kafka.offset"] = message.offset() or 0
        if message.value() is None:
            attributes["messaging.kafka.message.tombstone"] = True
        began_s = time.perf_counter()
        try:
            with self._span(
                f"process {topic}", SpanKind.CONSUMER, attributes, extract(message, self._propagator)
            ) as span:
                yield span
        except BaseException as error:
            counted["error.type"] = error_name(error)
            raise
        finally:
            self._duration.record(time.perf_counter() - began_s, counted)

    @contextmanager
    def _span(self, name: str, kind: SpanKind, attributes: Attributes, parent: Context | None) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name, parent, kind, attributes, record_exception=True, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", error_name(error))
                span.set_status(Status(StatusCode.ERROR, str(error)))
                raise


def inject(headers: GivenHeaders = None, propagator: TextMapPropagator | None = None) -> Headers:
    """A record's headers with the current trace context, which replaces another one.

    Args:
        headers: the record's own, a dict or pairs; not changed.
        propagator: what writes them; None: the global one.
    """
    found: Headers = list(headers.items() if isinstance(headers, Mapping) else headers or ())
    (propagator or propagate.get_global_textmap()).inject(found, setter=_HeaderSetter())
    return found


def extract(message: Record, propagator: TextMapPropagator | None = None) -> Context:
    """The current context with the trace that a message's headers name, if they name one.

    Args:
        message: what a consumer gave.
        propagator: what reads it; None: the global one.
    """
    headers = list(message.headers() or ())
    return (propagator or propagate.get_global_textmap()).extract(headers, get_current(), _HeaderGetter())


def _attributes(name: str, kind: str) -> Attributes:
    return {"messaging.system": "kafka", "messaging.operation.name": name, "messaging.operation.type": kind}


class _HeaderSetter(Setter[Headers]):
    def set(self, carrier: Headers, key: str, value: str) -> None:
        carrier[:] = [pair for pair in carrier if pair[0].lower() != key.lower()]
        carrier.append((key, value.encode()))


class _HeaderGetter(Getter[list[tuple[str, bytes | None]]]):
    def get(self, carrier: list[tuple[str, bytes | None]], key: str) -> list[str] | None:
        found = [value for name, value in carrier if name.lower() == key.lower() and value is not None]
        return [value.decode("utf-8", "replace") for value in found[-1:]] or None

    def keys(self, carrier: list[tuple[str, bytes | None]]) -> list[str]:
        return [name for name, _ in carrier]
