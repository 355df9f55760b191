"""Meters of telemetry: active only while somebody wants them, and nothing is lost or told twice."""

from __future__ import annotations

import pytest

from kafka_core.engine.telemetry.meters import ASSIGNED, QUEUE_TIME, REBALANCE_LATENCY, Meters
from kafka_core.hooks import Hooks
from kafka_core.protocol.otlp import Metric, Temporality

START_MS = 1_700_000_000_000


def meters() -> Meters:
    return Meters("producer.", 100.0, START_MS)


def told(found: list[Metric], name: str) -> list[float]:
    return [item.value for item in found if item.name == f"org.apache.kafka.producer.{name}"]


def taken(measured: Meters, now_s: float, *, delta: bool = True) -> list[Metric]:
    """The metrics of a push at that time, which arrives."""
    interval = measured.take(now_s, START_MS + round((now_s - 100) * 1000))
    found = list(measured.metrics(interval, now_s, delta=delta))
    measured.pushed(interval)
    return found


def test_requests_are_measured_while_a_subscription_asks_for_it() -> None:
    measured, hooks = meters(), Hooks()
    assert not hooks.wants("on_request_done")
    measured.activate(hooks, active=True)
    measured.activate(hooks, active=True)
    hooks.on_request_done(1, "Produce", 10, 10, 0.010, None)
    hooks.on_request_done(1, "Produce", 10, 10, 0.030, None)
    hooks.on_request_done(2, "Metadata", 10, 0, 0.5, OSError("lost"))
    hooks.on_request_done(-1, "Metadata", 10, 10, 0.5, None)
    found = taken(measured, 110.0)
    assert told(found, "node.request.latency.avg") == [pytest.approx(20.0)]
    assert told(found, "node.request.latency.max") == [pytest.approx(30.0)]
    assert {item.attributes for item in found if "node" in item.name} == {(("node_id", "node-1"),)}
    measured.activate(hooks, active=False)
    assert not hooks.wants("on_request_done")
    assert measured.active is False


def test_fetches_and_commits_have_latencies_of_their_own() -> None:
    measured = meters()
    measured.request_done(1, "Fetch", 0.002)
    measured.request_done(2, "ShareFetch", 0.004)
    measured.request_done(3, "OffsetCommit", 0.007)
    found = taken(measured, 101.0)
    assert told(found, "fetch.manager.fetch.latency.avg") == [pytest.approx(3.0)]
    assert told(found, "coordinator.commit.latency.max") == [pytest.approx(7.0)]


def test_connections_are_counted_from_the_beginning() -> None:
    measured = meters()
    hooks = Hooks([measured])
    for error in (None, None, OSError("refused")):
        hooks.on_connect(1, "a:1", 0.1, error)
    found = taken(measured, 104.0)
    assert told(found, "connection.creation.total") == [2]
    assert told(found, "connection.creation.rate") == [0.5]
    assert told(taken(measured, 105.0), "connection.creation.total") == [0]


def test_sums_cover_the_time_since_the_last_push_or_all_time() -> None:
    measured = meters()
    measured.record(REBALANCE_LATENCY, 10)
    (first,) = (item for item in taken(measured, 110.0) if item.name.endswith("latency.total"))
    assert (first.value, first.temporality, first.start_ns) == (10, Temporality.DELTA, START_MS * 1_000_000)
    measured.record(REBALANCE_LATENCY, 5)
    interval = measured.take(120.0, START_MS + 20_000)
    for delta, value, start_ms in ((True, 5, START_MS + 10_000), (False, 15, START_MS)):
        found = measured.metrics(interval, 120.0, delta=delta)
        (second,) = (item for item in found if item.name.endswith("latency.total"))
        assert (second.value, second.start_ns) == (value, start_ms * 1_000_000)


def test_a_push_that_came_to_nothing_is_told_by_the_next_one() -> None:
    measured = meters()
    measured.record(QUEUE_TIME, 10)
    measured.request_done(1, "Produce", 0.001)
    lost = measured.take(110.0, START_MS + 10_000)
    measured.record(QUEUE_TIME, 30)
    measured.request_done(2, "Produce", 0.001)
    measured.on_connect(1, "a:1", 0.1, None)
    measured.give_back(lost)
    found = taken(measured, 120.0)
    assert told(found, "record.queue.time.avg") == [20]
    assert told(found, "connection.creation.total") == [1]
    assert len(told(found, "node.request.latency.max")) == 2
    assert told(taken(measured, 130.0), "record.queue.time.avg") == []


def test_gauges_are_asked_when_a_push_is_due() -> None:
    measured = meters()
    measured.gauges[ASSIGNED] = lambda: 3
    measured.gauges["unknown"] = lambda: None
    found = taken(measured, 101.0)
    assert told(found, ASSIGNED) == [3]
    assert told(found, "unknown") == []


def test_how_much_of_the_time_polls_wait() -> None:
    measured, waited_s = meters(), [4.0]
    measured.waited_s = lambda: waited_s[0]
    assert told(taken(measured, 110.0), "poll.idle.ratio.avg") == [pytest.approx(0.4)]
    waited_s[0] = 5.0
    lost = measured.take(120.0, START_MS + 20_000)
    measured.give_back(lost)
    waited_s[0] = 14.0
    assert told(taken(measured, 130.0), "poll.idle.ratio.avg") == [pytest.approx(0.5)]


def test_labels_name_the_member_while_there_is_one() -> None:
    measured = meters()
    member = ""
    measured.resource["group_id"] = "g"
    measured.member_id = lambda: member
    assert measured.labels() == {"group_id": "g"}
    member = "m-1"
    assert measured.labels() == {"group_id": "g", "group_member_id": "m-1"}
