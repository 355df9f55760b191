"""Prometheus metrics in a real registry of prometheus_client."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from kafka_core import Consumer, KafkaError, Producer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import NetworkError
from kafka_core.prometheus import MetricsHook


def test_one_hook_counts_what_all_clients_do() -> None:
    registry = CollectorRegistry()
    hook = MetricsHook(registry)
    with EmbeddedCluster() as cluster:
        conf = {"bootstrap.servers": cluster.bootstrap_servers, "hooks": [hook]}
        whole = {**conf, "linger.ms": 60_000}  # one request each, by flush
        with Producer(whole) as producer, Producer(whole) as other:
            for one in (producer, other):
                for _ in range(3):
                    one.produce("counted", b"v")
                one.flush()
        with Consumer({**conf, "group.id": "g", "auto.offset.reset": "earliest"}) as consumer:
            consumer.subscribe(["counted"])
            assert len(consumer.consume(6, 60)) == 6

    def value(name: str, **labels: str) -> float:
        return registry.get_sample_value(f"kafka_client_{name}", labels) or 0.0

    assert value("sent_records_total", topic="counted") == 6
    assert value("fetched_records_total", topic="counted") == 6
    assert value("sent_bytes_total", topic="counted") > 0
    assert value("fetched_bytes_total", topic="counted") == value("sent_bytes_total", topic="counted")
    assert value("request_seconds_count", api="Produce") == 2
    assert value("request_seconds_sum", api="Fetch") > 0
    assert value("connects_total", outcome="ok") == value("disconnects_total", outcome="ok") > 0
    assert value("rebalances_total", group="g", event="assign") == 1
    assert not [sample for metric in registry.collect() for sample in metric.samples if "error" in sample.labels]
    assert b'kafka_client_sent_records_total{topic="counted"} 6.0' in generate_latest(registry)


def test_what_fails_and_what_is_slowed_down_counts() -> None:
    registry = CollectorRegistry()
    hook = MetricsHook(registry)
    hook.on_connect(1, "a:1", 0.1, OSError("refused"))
    hook.on_disconnect(1, "a:1", OSError("reset"))
    hook.on_request_done(1, "Fetch", 1, 0, 0.5, TimeoutError())
    closed = NetworkError("closed", KafkaError._DESTROY)
    hook.on_request_done(1, "Fetch", 1, 0, 0.5, closed)
    hook.on_request_done(1, "Produce", 1, 0, 0.5, closed)
    hook.on_throttle(1, "Produce", 1.5)
    hook.on_throttle(1, "Produce", 0.5)
    samples = {
        ("connects_total", "outcome", "error"): 1,
        ("disconnects_total", "outcome", "error"): 1,
        ("throttled_seconds_total", "api", "Produce"): 2,
    }
    for (name, label, found), expected in samples.items():
        assert registry.get_sample_value(f"kafka_client_{name}", {label: found}) == expected
    errors = {"api": "Fetch", "error": "TimeoutError"}
    assert registry.get_sample_value("kafka_client_request_errors_total", errors) == 1
    errors = {"api": "Produce", "error": "_DESTROY"}
    assert registry.get_sample_value("kafka_client_request_errors_total", errors) == 1
    assert registry.get_sample_value("kafka_client_request_errors_total", {**errors, "api": "Fetch"}) is None
    assert registry.get_sample_value("kafka_client_request_seconds_count", {"api": "Fetch"}) is None
