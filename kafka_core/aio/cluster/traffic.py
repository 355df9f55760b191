"""Requests, bytes, times and records by broker and partition, for stats_cb: a hook that counts.

Must not know who asks for statistics, nor what a request is about: hooks tell its name, size and time.
Spec: librdkafka's STATISTICS.md for names and units (times in microseconds, sizes in bytes).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any, Final

from kafka_core.clock import Clock
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.errors import KafkaError, KafkaException

BUCKET_BITS: Final = 8
"""The precision of percentiles: numbers are kept with so many bits, so each is less than 1 % too large."""
PERCENTILES: Final = {"p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p99_99": 99.99}

NAMES: Final = {"ApiVersions": "ApiVersion"}
"""Requests whose names are others in librdkafka's statistics."""


class Window:
    """Whole numbers since the last statistics: a histogram of bounded size."""

    __slots__ = ("_counts", "_largest", "_smallest", "_squares", "_total")

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._counts: Counter[int] = Counter()
        self._smallest = self._largest = self._total = self._squares = 0

    def add(self, value: int) -> None:
        """Takes one more number, from 0 on. O(1)."""
        self._smallest = min(self._smallest, value) if self._counts else value
        self._largest = max(self._largest, value)
        self._total += value
        self._squares += value * value
        shift = max(0, value.bit_length() - BUCKET_BITS)
        self._counts[((value >> shift) + 1 << shift) - 1] += 1

    def shown(self) -> dict[str, int]:
        """The window as librdkafka shows one, without the size of its memory (`hdrsize`); begins the next window."""
        count = self._counts.total()
        mean = self._total / count if count else 0.0
        variance = max(0.0, self._squares / count - mean * mean) if count else 0.0
        shown = {
            "min": self._smallest,
            "max": self._largest,
            "avg": int(mean),
            "sum": self._total,
            "stddev": int(math.sqrt(variance)),
            **self._percentiles(count),
            "outofrange": 0,
            "cnt": count,
        }
        self._begin()
        return shown

    def _percentiles(self, count: int) -> dict[str, int]:
        found, passed = dict.fromkeys(PERCENTILES, 0), 0
        due = [(name, math.ceil(count * percent / 100)) for name, percent in PERCENTILES.items()]
        for value in sorted(self._counts):
            passed += self._counts[value]
            while due and passed >= due[0][1]:
                found[due.pop(0)[0]] = min(value, self._largest)
        return found


class BrokerTraffic:
    """Traffic with one broker; requests are counted when they have ended."""

    __slots__ = (
        *("connected", "connects", "disconnects", "failed", "name_counts", "received", "received_at_s"),
        *("received_bytes", "rtt", "sent", "sent_at_s", "sent_bytes", "since_s", "throttle", "timed_out"),
        *("queued", "writing"),
    )

    def __init__(self, now_s: float) -> None:
        self.connects = self.disconnects = 0
        self.sent = self.sent_bytes = self.failed = self.timed_out = 0
        self.received = self.received_bytes = 0
        self.since_s = self.sent_at_s = self.received_at_s = now_s
        self.name_counts: Counter[str] = Counter()
        self.rtt, self.throttle = Window(), Window()
        self.queued, self.writing = Window(), Window()

    def shown(self, now_s: float) -> dict[str, Any]:
        """Its part of the statistics; begins the next windows."""
        return {
            "stateage": microseconds(now_s - self.since_s),
            "tx": self.sent,
            "txbytes": self.sent_bytes,
            "txerrs": self.failed,
            "txidle": microseconds(now_s - self.sent_at_s),
            "req_timeouts": self.timed_out,
            "rx": self.received,
            "rxbytes": self.received_bytes,
            "rxidle": microseconds(now_s - self.received_at_s),
            "connects": self.connects,
            "disconnects": self.disconnects,
            "rtt": self.rtt.shown(),
            "throttle": self.throttle.shown(),
            "req": dict(self.name_counts),
        }

    def times_of_batches(self) -> dict[str, dict[str, int]]:
        """A producer's part of the statistics, beside `shown`; begins the next windows."""
        return {"int_latency": self.queued.shown(), "outbuf_latency": self.writing.shown()}


class Traffic:
    """Counts, as a hook of a client that has a stats_cb. On the loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._brokers: dict[int, BrokerTraffic] = {}
        self._bootstraps: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._fetched: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
        self._batches: dict[str, tuple[Window, Window]] = defaultdict(lambda: (Window(), Window()))

    # ---- hooks

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """A connection is ready, or was not to be had."""
        del duration_s
        if error is None:
            self._changed(node_id).connects += 1
            self._bootstraps[address][0] += node_id < 0

    def on_disconnect(self, node_id: int, address: str, error: Exception | None) -> None:
        """A connection is gone."""
        del error
        self._changed(node_id).disconnects += 1
        self._bootstraps[address][1] += node_id < 0

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """A request has its answer, or has failed."""
        counted, now_s = self._broker(node_id), self._clock.monotonic()
        counted.sent += 1
        counted.sent_bytes += sent_bytes
        counted.sent_at_s = max(counted.sent_at_s, now_s - duration_s)
        counted.name_counts[NAMES.get(api, api)] += 1
        if error is None:
            counted.received += 1
            counted.received_bytes += received_bytes
            counted.received_at_s = now_s
            counted.rtt.add(microseconds(duration_s))
            return
        counted.failed += 1
        counted.timed_out += isinstance(error, KafkaException) and error.code == KafkaError._TIMED_OUT

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """A broker wants to be left alone."""
        del api
        self._broker(node_id).throttle.add(round(throttle_s * 1000))

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """Records have come."""
        del node_id
        counted = self._fetched[topic, partition]
        counted[0] += records
        counted[1] += wire_bytes

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """Records were written."""
        del node_id, partition, raw_bytes
        sizes, counts = self._batches[topic]
        sizes.add(wire_bytes)
        counts.add(records)

    # ---- told by the producer

    def batch_taken(self, node_id: int, waited_s: float) -> None:
        """A batch goes into a request, so long after its first record came."""
        self._broker(node_id).queued.add(microseconds(waited_s))

    def request_written(self, node_id: int, took_s: float) -> None:
        """A Produce request is at the socket, so long after its batches were taken: compression is in it."""
        self._broker(node_id).writing.add(microseconds(took_s))

    # ---- statistics

    def totals(self) -> dict[str, int]:
        """Requests and answers of all brokers, bootstrap connections among them; {} before the first."""
        brokers = self._brokers.values()
        return (
            {
                "tx": sum(item.sent for item in brokers),
                "tx_bytes": sum(item.sent_bytes for item in brokers),
                "rx": sum(item.received for item in brokers),
                "rx_bytes": sum(item.received_bytes for item in brokers),
            }
            if brokers
            else {}
        )

    def broker(self, broker: BrokerAddress) -> dict[str, Any]:
        """One broker's part; {} if there was nothing with it.

        Bootstrap connections to its address are among its own: one of them is used on when the broker is known.
        """
        found = self._brokers.get(broker.node_id)
        if found is None:
            return {}
        shown = found.shown(self._clock.monotonic())
        connects, disconnects = self._bootstraps.get(f"{broker.host}:{broker.port}", (0, 0))
        shown["connects"] += connects
        shown["disconnects"] += disconnects
        return shown

    def produced_to(self, node_id: int) -> dict[str, dict[str, int]]:
        """The times of a producer's batches on their way to one broker."""
        return self._brokers.get(node_id, BrokerTraffic(0.0)).times_of_batches()

    def fetched(self) -> dict[str, int]:
        """Records of all partitions, and the bytes of their batches as they came."""
        found = self._fetched.values()
        return {"rxmsgs": sum(item[0] for item in found), "rxmsg_bytes": sum(item[1] for item in found)}

    def partition(self, topic: str, partition: int) -> dict[str, int]:
        """Records and bytes fetched of one partition."""
        records, size_bytes = self._fetched.get((topic, partition), (0, 0))
        return {"rxmsgs": records, "rxbytes": size_bytes, "msgs": records}

    def batches(self, topic: str) -> dict[str, dict[str, int]]:
        """Sizes of the batches that were written to a topic, and how many records they had."""
        sizes, counts = self._batches[topic]
        return {"batchsize": sizes.shown(), "batchcnt": counts.shown()}

    # ---- inside

    def _broker(self, node_id: int) -> BrokerTraffic:
        found = self._brokers.get(node_id)
        if found is None:
            found = self._brokers[node_id] = BrokerTraffic(self._clock.monotonic())
        return found

    def _changed(self, node_id: int) -> BrokerTraffic:
        found = self._broker(node_id)
        found.since_s = self._clock.monotonic()
        return found


def microseconds(seconds: float) -> int:
    """Seconds as statistics have them; 0 for what a clock's grain makes negative."""
    return max(0, round(seconds * 1e6))


def led_by(node_id: int, partitions: list[tuple[str, int]], view: ClusterView) -> dict[str, dict[str, Any]]:
    """The partitions that a broker leads, as a broker's `toppars`."""
    return {
        f"{topic}-{number}": {"topic": topic, "partition": number}
        for topic, number in partitions
        if view.leader(topic, number) == node_id
    }
