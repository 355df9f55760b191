"""Requests and records in the statistics of stats_cb."""

from __future__ import annotations

import random

from kafka_core.aio.cluster.traffic import PERCENTILES, Traffic, Window
from kafka_core.clock import ManualClock
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.errors import KafkaError, KafkaException

BROKER = BrokerAddress(1, "host", 9092)


def test_a_window_is_exact_but_for_percentiles() -> None:
    rng = random.Random(7)
    values = [rng.randrange(10_000_000) for _ in range(5000)] + [0, 1, 127]
    window = Window()
    for value in values:
        window.add(value)
    shown = window.shown()
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    assert (shown["min"], shown["max"], shown["sum"], shown["cnt"]) == (0, max(values), sum(values), len(values))
    assert (shown["avg"], abs(shown["stddev"] - deviation) < 2) == (int(mean), True)
    ordered = sorted(values)
    for name, percent in PERCENTILES.items():
        exact = ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
        assert abs(shown[name] - exact) <= exact * 0.02
    assert set(window.shown().values()) == {0}  # the next one has begun


def test_small_numbers_have_exact_percentiles() -> None:
    window = Window()
    for value in [1] * 50 + [2] * 25 + [3] * 15 + [4] * 10:
        window.add(value)
    shown = window.shown()
    assert [shown[name] for name in PERCENTILES] == [1, 2, 3, 4, 4, 4]


def test_requests_count_by_broker_and_name() -> None:
    clock = ManualClock()
    traffic = Traffic(clock)
    assert (traffic.totals(), traffic.broker(BROKER)) == ({}, {})
    traffic.on_connect(-1, "host:9092", 0.1, None)
    traffic.on_connect(1, "host:9092", 0.1, OSError())
    traffic.on_request_done(-1, "Metadata", 20, 30, 0.5, None)
    traffic.on_request_done(1, "ApiVersions", 10, 100, 0.002, None)
    clock.advance(1.0)
    traffic.on_request_done(1, "Fetch", 50, 0, 0.25, KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    traffic.on_request_done(1, "Fetch", 50, 0, 0.25, KafkaException(KafkaError(KafkaError._TRANSPORT)))
    traffic.on_throttle(1, "Fetch", 0.125)
    traffic.on_disconnect(1, "host:9092", None)
    clock.advance(2.0)
    shown = traffic.broker(BROKER)
    assert traffic.totals() == {"tx": 4, "tx_bytes": 130, "rx": 2, "rx_bytes": 130}
    assert [shown[name] for name in ("tx", "txbytes", "txerrs", "req_timeouts", "rx", "rxbytes")] == [
        3,
        110,
        2,
        1,
        1,
        100,
    ]
    assert shown["req"] == {"ApiVersion": 1, "Fetch": 2}
    assert (shown["connects"], shown["disconnects"]) == (1, 1)
    assert [shown[name] for name in ("stateage", "rxidle", "txidle")] == [2_000_000, 3_000_000, 2_250_000]
    assert (shown["rtt"]["cnt"], shown["rtt"]["max"], shown["throttle"]["max"]) == (1, 2000, 125)
    again = traffic.broker(BROKER)
    assert (again["tx"], again["rtt"]["cnt"]) == (3, 0)  # counters grow, windows begin anew


def test_records_count_by_partition_and_batches_by_topic() -> None:
    traffic = Traffic(ManualClock())
    traffic.on_batch_fetched(1, "t", 0, 5, 500)
    traffic.on_batch_fetched(1, "t", 1, 2, 200)
    traffic.on_batch_sent(1, "u", 0, 3, 90, 30)
    assert traffic.fetched() == {"rxmsgs": 7, "rxmsg_bytes": 700}
    assert traffic.partition("t", 0) == {"rxmsgs": 5, "rxbytes": 500, "msgs": 5}
    assert traffic.partition("t", 2) == {"rxmsgs": 0, "rxbytes": 0, "msgs": 0}
    shown = traffic.batches("u")
    assert (shown["batchsize"]["sum"], shown["batchcnt"]["sum"]) == (30, 3)


def test_bootstrap_connections_that_end_are_their_brokers() -> None:
    traffic = Traffic(ManualClock())
    traffic.on_connect(-1, "host:9092", 0.1, None)
    traffic.on_disconnect(-1, "host:9092", None)
    traffic.on_connect(1, "host:9092", 0.1, None)
    shown = traffic.broker(BROKER)
    assert (shown["connects"], shown["disconnects"]) == (2, 1)
