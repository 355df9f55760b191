"""Telemetry at the embedded broker: who is meant, who comes too early, and what each broker knows by itself."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.telemetry.otlp import parsed
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from kafka_core.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
)
from kafka_core.protocol.otlp import Metric, metrics_data
from kafka_core.records.codecs import Codec
from kafka_core.records.compression import compress
from tests.unit.kafka_core.broker.harness import Bench

METRICS = 16
THROTTLED, UNKNOWN = 89, 117
ID = UUID(int=5)


@pytest.fixture
def bench() -> Bench:
    return Bench(2, properties={"metric.reporters": "org.apache.kafka.common.metrics.JmxReporter,mine"})


def subscribe(bench: Bench, name: str, **properties: str) -> None:
    configs = [AlterableConfig(key.replace("_", "."), 0, value) for key, value in properties.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(METRICS, name, configs)])
    assert bench.ask(request).responses[0].error_code == 0


def asked(bench: Bench, broker: int = 1, client_id: str = "c", **options: object) -> GetTelemetrySubscriptionsResponse:
    return bench.ask(GetTelemetrySubscriptionsRequest(ID), broker=broker, client_id=client_id, **options)


@pytest.mark.parametrize("reporters", ["", "org.apache.kafka.common.metrics.JmxReporter"])
def test_without_a_plug_in_nothing_is_offered(reporters: str) -> None:
    bench = Bench(properties={"metric.reporters": reporters})
    keys = {item.api_key for item in bench.ask(ApiVersionsRequest("a", "1")).api_keys}
    assert keys.isdisjoint({71, 72})


def test_the_shortest_interval_of_all_subscriptions_counts(bench: Bench) -> None:
    assert (asked(bench).push_interval_ms, asked(bench, 2).requested_metrics) == (300_000, [])
    subscribe(bench, "one", metrics="a.,b.", interval_ms="5000")
    subscribe(bench, "two", metrics="b.,c.", interval_ms="4000")
    subscribe(bench, "three", metrics="z", interval_ms="100", match="client_id=somebody else")
    found = asked(bench)
    assert (found.push_interval_ms, found.requested_metrics) == (4000, ["a.", "b.", "c."])
    subscribe(bench, "four", metrics="*")
    assert asked(bench).requested_metrics == ["*"]


@pytest.mark.parametrize(
    ("match", "meant"),
    [
        ("client_id=c", True),
        ("client_id=C", False),
        ("client_id=[a-d],client_source_address=10[.].*", True),
        ("client_id=[a-d],client_source_address=11[.].*", False),
        ("client_source_port=0", True),
        ("client_instance_id=AAAAAAAAAAAAAAAAAAAABQ", True),
        ("client_software_name=kserdes", False),
    ],
)
def test_subscriptions_match_clients(bench: Bench, match: str, meant: bool) -> None:
    subscribe(bench, "one", metrics="a", match=match)
    assert asked(bench).requested_metrics == (["a"] if meant else [])


def test_each_broker_counts_the_time_of_its_clients_by_itself(bench: Bench) -> None:
    subscribe(bench, "one", metrics="*", interval_ms="1000")
    first = asked(bench)
    assert asked(bench).error_code == THROTTLED
    assert asked(bench, 2).subscription_id == first.subscription_id
    push = PushTelemetryRequest(ID, first.subscription_id)
    assert [bench.ask(push).error_code for _ in range(2)] == [0, THROTTLED]
    assert bench.ask(push, broker=2).error_code == 0
    bench.advance(1.0)
    assert bench.ask(push).error_code == 0
    bench.advance(0.999)
    assert bench.ask(push).error_code == THROTTLED
    assert len(bench.cluster.telemetry.pushed) == 3


def test_a_wall_clock_that_is_set_back_silences_no_client(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    subscribe(bench, "one", metrics="*", interval_ms="1000")
    push = PushTelemetryRequest(ID, asked(bench).subscription_id)
    assert bench.ask(push).error_code == 0
    monkeypatch.setattr(bench.cluster.clock, "_start_ms", 5)
    bench.advance(1.0)
    assert bench.ask(push).error_code == 0
    bench.advance(1.0)
    assert asked(bench).error_code == 0


def test_a_client_whose_connection_is_gone_is_forgotten(bench: Bench) -> None:
    connection = bench.connect()
    subscribe(bench, "one", metrics="*")
    asked(bench, connection=connection)
    assert asked(bench).error_code == THROTTLED
    bench.cluster.disconnected(1, connection.connection_id)
    assert asked(bench).error_code == 0


def test_a_subscription_that_changes_has_another_id(bench: Bench) -> None:
    subscribe(bench, "one", metrics="a")
    first = asked(bench)
    subscribe(bench, "one", metrics="b")
    assert bench.ask(PushTelemetryRequest(ID, first.subscription_id)).error_code == UNKNOWN
    again = asked(bench)
    assert (again.error_code, again.requested_metrics) == (0, ["b"])
    assert again.subscription_id != first.subscription_id


def test_new_clients_get_ids_of_their_own(bench: Bench) -> None:
    ids = {bench.ask(GetTelemetrySubscriptionsRequest(ZERO_UUID)).client_instance_id for _ in range(5)}
    assert len(ids) == 5


def test_pushed_metrics_can_be_read(bench: Bench) -> None:
    subscribe(bench, "one", metrics="*")
    told = asked(bench)
    payload = metrics_data({"group_id": "g"}, ("k", "1"), [Metric("m", 2.0)], 5_000_000)
    push = PushTelemetryRequest(ID, told.subscription_id, True, Codec.LZ4, bytes(compress(Codec.LZ4, payload)))
    assert bench.ask(push, client_id="c").error_code == 0
    (pushed,) = bench.cluster.telemetry.pushed
    assert (pushed.client_instance_id, pushed.client_id, pushed.broker_id) == (ID, "c", 1)
    assert (pushed.compression, pushed.terminating, pushed.resource) == ("lz4", True, {"group_id": "g"})
    (metric,) = pushed.metrics
    assert (metric.name, metric.value, metric.kind, metric.time_ms) == ("m", 2.0, "gauge", 5)


def test_bytes_that_are_no_otlp_payload_are_refused() -> None:
    with pytest.raises(ValueError, match="no OTLP metrics"):
        parsed(b"\xff")
