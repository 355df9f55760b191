"""Meters of a client's telemetry: windows of latencies, totals, and gauges that are read when a push is due.

Must not know requests or when pushes are made. Parts of a client record here, but only while `active`: while no
subscription asks for metrics, nothing but new connections is counted.
Spec: KIP-714, "Client metrics": names, types and units; those that are required of producers and consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kafka_core.hooks import Hooks
from kafka_core.protocol.otlp import Metric, Temporality

PREFIX: Final = "org.apache.kafka."
PRODUCE_THROTTLE: Final = "produce.throttle.time"
QUEUE_TIME: Final = "record.queue.time"
FETCH_LATENCY: Final = "fetch.manager.fetch.latency"
COMMIT_LATENCY: Final = "coordinator.commit.latency"
REBALANCE_LATENCY: Final = "coordinator.rebalance.latency"
POLL_IDLE: Final = "poll.idle.ratio.avg"
ASSIGNED: Final = "coordinator.assigned.partitions"

_MEASURED_REQUESTS: Final = {"Fetch": FETCH_LATENCY, "ShareFetch": FETCH_LATENCY, "OffsetCommit": COMMIT_LATENCY}
_WITH_TOTAL: Final = frozenset({REBALANCE_LATENCY})


@dataclass(slots=True)
class Window:
    """Values since the last push, without the values themselves."""

    count: int = 0
    total: float = 0.0
    most: float = 0.0

    def add(self, value: float) -> None:
        """One more value, not negative."""
        self.count += 1
        self.total += value
        self.most = max(self.most, value)

    def merge(self, other: Window) -> None:
        """The values of another window, too."""
        self.count += other.count
        self.total += other.total
        self.most = max(self.most, other.most)


@dataclass(slots=True)
class Interval:
    """The measurements between two pushes.

    Attributes:
        began_s: monotonic seconds. `began_ms`: the same moment by the wall clock.
        nodes: latencies of requests in ms, by broker.
        windows: other values, by name.
        connections: how many were made.
        waited_s: how long the application waited in polls.
    """

    began_s: float
    began_ms: int
    connections: int = 0
    waited_s: float = 0.0
    nodes: dict[int, Window] = field(default_factory=dict)
    windows: dict[str, Window] = field(default_factory=dict)

    def absorb(self, later: Interval) -> None:
        """Goes on with what was measured after it: the push of this interval came to nothing."""
        self.connections += later.connections
        self.waited_s += later.waited_s
        for node_id, window in later.nodes.items():
            self.nodes.setdefault(node_id, Window()).merge(window)
        for name, window in later.windows.items():
            self.windows.setdefault(name, Window()).merge(window)


class Meters:
    """The measurements of one client; lives on its loop.

    Args:
        kind: the part of all names behind `PREFIX`, as `producer.`.
        now_s: monotonic time of now. `now_ms`: by the wall clock.

    Attributes:
        active: whether a subscription asks for metrics: only then is anything recorded.
        gauges: value by name, asked when a push is due; None where there is none.
        resource: the client's labels.
        member_id: asked for its id in its group; None for who is in none.
        waited_s: asked for the seconds that the application has spent waiting in polls; None for who does not poll.
    """

    def __init__(self, kind: str, now_s: float, now_ms: int) -> None:
        self.active = False
        self.gauges: dict[str, Callable[[], float | None]] = {}
        self.resource: dict[str, str] = {}
        self.member_id: Callable[[], str] | None = None
        self.waited_s: Callable[[], float] | None = None
        self._prefix = PREFIX + kind
        self._began_ms = now_ms
        self._now = Interval(now_s, now_ms)
        self._totals = Interval(now_s, now_ms)  # all that was pushed
        self._waited_before_s = 0.0
        self._requests = _RequestMeter(self)

    # ---- recording

    def activate(self, hooks: Hooks, *, active: bool) -> None:
        """Begins or ends to record; `hooks` are those that tell of requests."""
        if active and not self.active:
            hooks.attach(self._requests)
        elif self.active and not active:
            hooks.detach(self._requests)
        self.active = active

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """A hook: counts connections, active or not."""
        del node_id, address, duration_s
        if error is None:
            self._now.connections += 1

    def request_done(self, node_id: int, api: str, duration_s: float) -> None:
        """A request was answered."""
        latency_ms = duration_s * 1000
        if node_id >= 0:
            self._now.nodes.setdefault(node_id, Window()).add(latency_ms)
        name = _MEASURED_REQUESTS.get(api)
        if name is not None:
            self.record(name, latency_ms)

    def record(self, name: str, value: float) -> None:
        """One value of a window, in ms. Its callers look at `active` first."""
        self._now.windows.setdefault(name, Window()).add(value)

    # ---- pushing

    def take(self, now_s: float, now_ms: int) -> Interval:
        """Takes the measurements since the last push; from now on the next interval is measured."""
        taken, self._now = self._now, Interval(now_s, now_ms)
        if self.waited_s is not None:
            waited_s = self.waited_s()
            taken.waited_s += waited_s - self._waited_before_s
            self._waited_before_s = waited_s
        return taken

    def give_back(self, taken: Interval) -> None:
        """The push came to nothing: the next one tells what it would have told."""
        taken.absorb(self._now)
        self._now = taken

    def pushed(self, taken: Interval) -> None:
        """The broker has it."""
        self._totals.absorb(taken)

    def labels(self) -> Mapping[str, str]:
        """The client's attributes now."""
        member_id = self.member_id() if self.member_id is not None else ""
        return {**self.resource, "group_member_id": member_id} if member_id else self.resource

    def metrics(self, taken: Interval, now_s: float, *, delta: bool) -> Iterator[Metric]:
        """The metrics of an interval: values that there are, by their whole names.

        Args:
            delta: sums cover the interval; else all time.
        """
        seconds = max(now_s - taken.began_s, 0.001)
        yield self._gauge("connection.creation.rate", taken.connections / seconds)
        yield self._sum("connection.creation.total", taken.connections, self._totals.connections, taken, delta)
        for node_id, window in sorted(taken.nodes.items()):
            yield from self._window("node.request.latency", window, (("node_id", f"node-{node_id}"),))
        for name, window in taken.windows.items():
            yield from self._window(name, window)
            if name in _WITH_TOTAL:
                before = self._totals.windows.get(name, Window()).total
                yield self._sum(f"{name}.total", window.total, before, taken, delta)
        if self.waited_s is not None:
            yield self._gauge(POLL_IDLE, min(1.0, taken.waited_s / seconds))
        for name, ask in self.gauges.items():
            value = ask()
            if value is not None:
                yield self._gauge(name, value)

    def _gauge(self, name: str, value: float, attributes: tuple[tuple[str, str], ...] = ()) -> Metric:
        return Metric(self._prefix + name, value, attributes=attributes)

    def _window(self, name: str, window: Window, attributes: tuple[tuple[str, str], ...] = ()) -> Iterator[Metric]:
        yield self._gauge(f"{name}.avg", window.total / window.count, attributes)
        yield self._gauge(f"{name}.max", window.most, attributes)

    def _sum(self, name: str, value: float, before: float, taken: Interval, delta: bool) -> Metric:
        if delta:
            return Metric(self._prefix + name, value, Temporality.DELTA, taken.began_ms * 1_000_000)
        return Metric(self._prefix + name, before + value, Temporality.CUMULATIVE, self._began_ms * 1_000_000)


class _RequestMeter:
    """The hook that is there only while somebody asks for metrics."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """Counts answers; what failed has no latency."""
        del sent_bytes, received_bytes
        if error is None:
            self._meters.request_done(node_id, api, duration_s)
