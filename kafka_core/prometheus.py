"""Prometheus: what clients do, as metrics of a registry of `prometheus_client`.

Needs the extra `prometheus`. Must not know clients: it stands on `kafka_core.hooks`. How metrics are exposed (an HTTP
endpoint, a push gateway) is the application's choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafka_core.hooks import cut_off, error_name

try:
    from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "prometheus_client is not installed: pip install prometheus-client (the extra 'prometheus' of kserdes)",
        name=missing.name,
    ) from missing

__all__ = ["MetricsHook"]

BOUNDS_S: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class MetricsHook:
    """Counts and measures what clients do: `Producer({…, "hooks": [MetricsHook()]})`.

    One object serves any number of clients of a process: a registry takes each metric's name once. Names begin with
    `kafka_client_`; docs/guide/metrics.md lists them. `producer` or `consumer`, if it matters, is told by the API
    (`Produce`, `Fetch`) and by the metrics themselves.

    Args:
        registry: where the metrics are; prometheus_client's global one by default.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, "kafka_client", registry=registry)

        self._sent = counter("sent_records", "Records that brokers acknowledged.", "topic")
        self._sent_bytes = counter("sent_bytes", "Their size on the wire, compressed.", "topic")
        self._fetched = counter("fetched_records", "Records of batches that were fetched.", "topic")
        self._fetched_bytes = counter("fetched_bytes", "Their size on the wire, compressed.", "topic")
        self._errors = counter("request_errors", "Requests that got no answer.", "api", "error")
        self._requests = Histogram(
            "request_seconds",
            "Time from a request to its answer; fetches wait at the broker.",
            ["api"],
            "kafka_client",
            registry=registry,
            buckets=BOUNDS_S,
        )
        self._connects = counter("connects", "Attempts to connect to a broker.", "outcome")
        self._disconnects = counter("disconnects", "Connections that ended.", "outcome")
        self._throttled = counter("throttled_seconds", "Time that brokers wanted to be left alone (quotas).", "api")
        self._rebalances = counter("rebalances", "Changes of a group's assignment.", "group", "event")

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """See `kafka_core.hooks.ConnectHook`."""
        self._connects.labels(_outcome(error)).inc()

    def on_disconnect(self, node_id: int, address: str, error: Exception | None) -> None:
        """See `kafka_core.hooks.DisconnectHook`."""
        self._disconnects.labels(_outcome(error)).inc()

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """See `kafka_core.hooks.RequestDoneHook`."""
        if error is None:
            self._requests.labels(api).observe(duration_s)
        elif not cut_off(api, error):
            self._errors.labels(api, error_name(error)).inc()

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """See `kafka_core.hooks.ThrottleHook`."""
        self._throttled.labels(api).inc(throttle_s)

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """See `kafka_core.hooks.BatchSentHook`."""
        self._sent.labels(topic).inc(records)
        self._sent_bytes.labels(topic).inc(wire_bytes)

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """See `kafka_core.hooks.BatchFetchedHook`."""
        self._fetched.labels(topic).inc(records)
        self._fetched_bytes.labels(topic).inc(wire_bytes)

    def on_rebalance(self, group_id: str, event: str, partitions: Sequence[tuple[str, int]]) -> None:
        """See `kafka_core.hooks.RebalanceHook`."""
        self._rebalances.labels(group_id, event).inc()


def _outcome(error: Exception | None) -> str:
    return "ok" if error is None else "error"
