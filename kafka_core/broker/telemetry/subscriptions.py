"""Telemetry of clients at the embedded broker: who is subscribed to what, what was pushed, and what is refused.

Must not know: requests. Each broker knows its clients by itself, as the real ones do; subscriptions are the cluster's.
Spec: KIP-714; ClientMetricsManager of Apache Kafka for the order of its checks.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import BrokerConfig, MetricsConfig
from kafka_core.broker.context import Context
from kafka_core.broker.telemetry.otlp import PushedMetric, parsed
from kafka_core.clock import Clock
from kafka_core.errors import CorruptRecordError
from kafka_core.limits import MAX_DECOMPRESSED_BYTES
from kafka_core.model import Uuid
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.telemetry import PushTelemetryRequest
from kafka_core.records.codecs import Codec
from kafka_core.records.compression import decompress

ALL_METRICS: Final = "*"
ACCEPTED: Final = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)
DEFAULT_INTERVAL_MS: Final = 300_000
JMX: Final = "org.apache.kafka.common.metrics.JmxReporter"
"""The one reporter of a broker that is told to report nothing takes no telemetry of clients."""
_CODECS: Final = frozenset(Codec)
LONG_AGO_MS: Final = -(2**62)


@dataclass(frozen=True)
class PushedTelemetry:
    """A client's push. One without metrics, a goodbye maybe, is kept too.

    Attributes:
        broker_id: the broker that it was pushed to.
        client_id, software: what the client said of itself; `software` is name and version.
        terminating: whether the client said goodbye.
        compression: name of the codec it came in.
        payload: OTLP's `MetricsData` in Protobuf, decompressed; empty if there was nothing to tell.
    """

    broker_id: int
    client_instance_id: UUID
    client_id: str | None
    software: tuple[str, str]
    terminating: bool
    compression: str
    payload: bytes

    @cached_property
    def metrics(self) -> list[PushedMetric]:
        """The values, read from the payload at the first use; ValueError if it is no `MetricsData`."""
        return parsed(self.payload)[1]

    @cached_property
    def resource(self) -> Mapping[str, str]:
        """The client's own labels."""
        return parsed(self.payload)[0]


@dataclass(slots=True)
class Instance:
    """A client as one broker knows it: what it is subscribed to, and when it last asked and pushed.

    Times are milliseconds of the monotonic clock.
    """

    subscription_id: int
    version: int
    metrics: list[str]
    interval_ms: int
    asked_ms: int = LONG_AGO_MS
    pushed_ms: int = LONG_AGO_MS
    terminating: bool = False
    last_error: Code = Code.NONE

    def may_ask(self, now_ms: int) -> bool:
        """Whether it may ask for its subscription now."""
        if now_ms - max(self.asked_ms, self.pushed_ms) >= self.interval_ms:
            self.asked_ms = now_ms
            return True
        return self.last_error in (Code.UNKNOWN_SUBSCRIPTION_ID, Code.UNSUPPORTED_COMPRESSION_TYPE)

    def may_push(self, now_ms: int) -> bool:
        """Whether it may push now: an interval after the last time, or the first time after it has asked."""
        if self.asked_ms <= self.pushed_ms and now_ms - self.pushed_ms < self.interval_ms:
            return False
        self.pushed_ms = now_ms
        return True


@dataclass(slots=True)
class Telemetry:
    """The cluster's subscriptions, its clients and what they pushed.

    Attributes:
        subscriptions: configurations by the name of the resource.
        pushed: everything that was taken, in order.
    """

    config: BrokerConfig
    clock: Clock
    subscriptions: dict[str, MetricsConfig] = field(default_factory=dict)
    pushed: list[PushedTelemetry] = field(default_factory=list)
    _version: int = 0
    _instances: dict[tuple[int, UUID], Instance] = field(default_factory=dict)
    _connections: dict[tuple[int, int], UUID] = field(default_factory=dict)

    @property
    def on(self) -> bool:
        """Whether brokers take telemetry: a reporter is configured that could want it."""
        return bool(set(filter(None, self.config.text("metric.reporters").split(","))) - {JMX})

    @property
    def max_bytes(self) -> int:
        """`telemetry.max.bytes`."""
        return self.config.integer("telemetry.max.bytes")

    def subscription(self, name: str) -> MetricsConfig:
        """The configuration of a resource, whether there is one or not."""
        return self.subscriptions.get(name) or MetricsConfig(self.config)

    def subscribe(self, name: str, config: MetricsConfig) -> None:
        """Sets a subscription; one without properties of its own goes."""
        if config.own:
            self.subscriptions[name] = config
        elif self.subscriptions.pop(name, None) is None:
            return
        self._version += 1

    def instance(self, context: Context, client_instance_id: UUID) -> Instance:
        """The client as this broker knows it, with the subscriptions of now."""
        key = (context.broker_id, client_instance_id)
        found = self._instances.get(key)
        if found is not None and found.version == self._version:
            return found
        made = self._instances[key] = self._made(context, client_instance_id)
        self._connections[context.broker_id, context.connection.connection_id] = client_instance_id
        return made

    def take(self, context: Context, request: PushTelemetryRequest) -> Code:
        """Checks a push and keeps it, or says why not."""
        if request.client_instance_id == ZERO_UUID:
            return Code.INVALID_REQUEST
        instance = self.instance(context, request.client_instance_id)
        code = self._problem(instance, request) or self._kept(context, request)
        instance.terminating = request.terminating
        instance.last_error = code
        return code

    def disconnected(self, broker_id: int, connection_id: int) -> None:
        """A connection is gone, and what its broker knew of the client with it."""
        client_instance_id = self._connections.pop((broker_id, connection_id), None)
        if client_instance_id is not None:
            self._instances.pop((broker_id, client_instance_id), None)

    # ---- inside

    def _made(self, context: Context, client_instance_id: UUID) -> Instance:
        facts = {
            "client_instance_id": str(Uuid.from_uuid(client_instance_id)),
            "client_id": context.client_id or "",
            "client_software_name": context.connection.software_name,
            "client_software_version": context.connection.software_version,
            "client_source_address": context.connection.client_host.removeprefix("/"),
            "client_source_port": str(context.connection.client_port),
        }
        matching = [config for config in self.subscriptions.values() if config.matches(facts)]
        metrics = sorted({name for config in matching for name in config.metrics})
        if ALL_METRICS in metrics:
            metrics = [ALL_METRICS]
        interval_ms = min([DEFAULT_INTERVAL_MS, *(config.integer("interval.ms") for config in matching)])
        digest = zlib.crc32(f"{metrics}{interval_ms}".encode()) ^ zlib.crc32(client_instance_id.bytes)
        return Instance(digest - 2**31, self._version, metrics, interval_ms)

    def _problem(self, instance: Instance, request: PushTelemetryRequest) -> Code:
        """Why a push is refused; the order is that of a real broker."""
        if instance.terminating:
            return Code.INVALID_REQUEST
        if not instance.may_push(round(self.clock.monotonic() * 1000)) and not request.terminating:
            return Code.THROTTLING_QUOTA_EXCEEDED
        if request.subscription_id != instance.subscription_id:
            return Code.UNKNOWN_SUBSCRIPTION_ID
        if request.compression_type not in _CODECS:
            return Code.UNSUPPORTED_COMPRESSION_TYPE
        if len(request.metrics) > self.max_bytes:
            return Code.TELEMETRY_TOO_LARGE
        return Code.NONE

    def _kept(self, context: Context, request: PushTelemetryRequest) -> Code:
        codec = Codec(request.compression_type)
        try:
            payload = bytes(decompress(codec, request.metrics, MAX_DECOMPRESSED_BYTES)) if request.metrics else b""
        except CorruptRecordError:
            return Code.INVALID_RECORD
        software = (context.connection.software_name, context.connection.software_version)
        self.pushed.append(
            PushedTelemetry(
                context.broker_id,
                request.client_instance_id,
                context.client_id,
                software,
                request.terminating,
                codec.name.lower(),
                payload,
            )
        )
        return Code.NONE
