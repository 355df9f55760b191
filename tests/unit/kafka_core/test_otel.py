"""OpenTelemetry with its real SDK: what is measured, and traces that go on behind a topic."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import messaging_attributes as conventions
from opentelemetry.semconv._incubating.metrics import messaging_metrics as instruments
from opentelemetry.trace import SpanKind, StatusCode

from kafka_core import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from kafka_core.aio import AIOConsumer, AIOProducer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import NetworkError
from kafka_core.otel import MetricsHook, Tracing, inject
from serdes import SerializingProducer, StringSerializer

WAIT_S = 60


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        yield cluster.bootstrap_servers


class Telemetry:
    """An SDK that keeps everything in memory."""

    def __init__(self) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracer = TracerProvider(shutdown_on_exit=False)
        self.tracer.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meter = MeterProvider([self._reader], shutdown_on_exit=False)

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._spans.get_finished_spans()}

    def points(self) -> dict[str, list[Any]]:
        data = self._reader.get_metrics_data()
        assert data is not None
        found = [
            metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
        ]
        return {metric.name: list(metric.data.data_points) for metric in found}


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@pytest.fixture
def tracing(telemetry: Telemetry) -> Tracing:
    return Tracing(telemetry.tracer, telemetry.meter, group="mailers")


def read(servers: str, topic: str) -> Message:
    with Consumer({"bootstrap.servers": servers, "group.id": "otel", "hooks": []}) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(WAIT_S)
        assert message is not None
        return message


def test_a_trace_goes_on_behind_the_topic(servers: str, telemetry: Telemetry, tracing: Tracing) -> None:
    with (
        Producer({"bootstrap.servers": servers}) as producer,
        telemetry.tracer.get_tracer("app").start_as_current_span("request"),
        tracing.sending("traced", {"own": b"x", "traceparent": b"old"}) as headers,
    ):
        producer.produce("traced", b"v", headers=headers)
        producer.flush()
    message = read(servers, "traced")
    with tracing.processing(message) as span:
        span.set_attribute("mine", 1)
    spans = telemetry.spans()
    sent, processed = spans["send traced"], spans["process traced"]
    assert sent.context is not None
    assert processed.parent is not None
    assert (processed.parent.trace_id, processed.parent.span_id) == (sent.context.trace_id, sent.context.span_id)
    assert sent.parent == spans["request"].context
    assert (sent.kind, processed.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert [name for name, _ in message.headers() or []] == ["own", "traceparent"]
    assert dict(sent.attributes or {}) == {
        conventions.MESSAGING_SYSTEM: "kafka",
        conventions.MESSAGING_OPERATION_NAME: "send",
        conventions.MESSAGING_OPERATION_TYPE: "send",
        conventions.MESSAGING_DESTINATION_NAME: "traced",
    }
    assert dict(processed.attributes or {}) == {
        conventions.MESSAGING_SYSTEM: "kafka",
        conventions.MESSAGING_OPERATION_NAME: "process",
        conventions.MESSAGING_OPERATION_TYPE: "process",
        conventions.MESSAGING_DESTINATION_NAME: "traced",
        conventions.MESSAGING_DESTINATION_PARTITION_ID: "0",
        conventions.MESSAGING_KAFKA_OFFSET: 0,
        conventions.MESSAGING_CONSUMER_GROUP_NAME: "mailers",
        "mine": 1,
    }
    (point,) = telemetry.points()[instruments.MESSAGING_PROCESS_DURATION]
    assert point.count == 1
    assert point.attributes[conventions.MESSAGING_CONSUMER_GROUP_NAME] == "mailers"


def test_a_trace_goes_on_behind_typed_and_asyncio_clients(servers: str, telemetry: Telemetry, tracing: Tracing) -> None:
    conf = {"bootstrap.servers": servers}
    with SerializingProducer[str, str]({**conf, "value.serializer": StringSerializer()}) as typed:
        with tracing.sending("typed") as headers:
            typed.produce("typed", value="v", headers=headers)
        typed.flush()

    async def scene() -> None:
        async with AIOProducer(conf) as producer, AIOConsumer({**conf, "group.id": "otel-aio"}) as consumer:
            with tracing.sending("asyncio", [("a", b"b")]) as headers:
                await (await producer.produce("asyncio", b"v", headers=headers))
            for topic in ("asyncio", "typed"):
                await consumer.assign([TopicPartition(topic, 0, 0)])
                message = await consumer.poll(WAIT_S)
                assert message is not None
                with tracing.processing(message):
                    await asyncio.sleep(0)

    asyncio.run(scene())
    spans = telemetry.spans()
    for topic in ("asyncio", "typed"):
        sent, processed = spans[f"send {topic}"].context, spans[f"process {topic}"].parent
        assert sent is not None
        assert processed is not None
        assert (sent.trace_id, sent.span_id) == (processed.trace_id, processed.span_id)


def test_what_fails_is_an_error_of_its_span(telemetry: Telemetry, tracing: Tracing) -> None:
    message = Message(topic="t", partition=3, offset=7, value=None)
    with pytest.raises(ZeroDivisionError), tracing.processing(message):
        raise ZeroDivisionError("by hand")
    with pytest.raises(KafkaException), tracing.sending("t"):
        raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
    processed, sent = telemetry.spans()["process t"], telemetry.spans()["send t"]
    assert processed.parent is None
    assert processed.attributes is not None
    assert processed.attributes[conventions.MESSAGING_KAFKA_MESSAGE_TOMBSTONE] is True
    assert (processed.status.status_code, processed.status.description) == (StatusCode.ERROR, "by hand")
    assert [event.name for event in processed.events] == ["exception"]
    assert processed.attributes["error.type"] == "ZeroDivisionError"
    assert sent.attributes is not None
    assert sent.attributes["error.type"] == "MSG_SIZE_TOO_LARGE"
    (point,) = telemetry.points()[instruments.MESSAGING_PROCESS_DURATION]
    assert point.attributes["error.type"] == "ZeroDivisionError"


def test_headers_without_a_trace_leave_the_current_one(telemetry: Telemetry, tracing: Tracing) -> None:
    bad = Message(topic="t", partition=0, offset=0, value=b"", headers=[("traceparent", b"\xff\xfe"), ("x", None)])
    assert inject() == []
    assert inject({"a": None}) == [("a", None)]
    with telemetry.tracer.get_tracer("app").start_as_current_span("loop") as span:
        assert inject([("TraceParent", b"old"), ("a", b"b")])[0] == ("a", b"b")
        for message in (bad, Message(topic="t", partition=0, offset=0, value=b"")):
            with tracing.processing(message):
                pass
            assert telemetry.spans()["process t"].parent == span.get_span_context()


def test_the_metrics_are_those_of_the_conventions(servers: str, telemetry: Telemetry) -> None:
    hook = MetricsHook(telemetry.meter, {conventions.MESSAGING_CLIENT_ID: "me"})
    with Producer({"bootstrap.servers": servers, "hooks": [hook]}) as producer:
        for _ in range(5):
            producer.produce("measured", b"v")
        producer.flush()
    own = {"bootstrap.servers": servers, "hooks": [hook], "group.id": "measured", "auto.offset.reset": "earliest"}
    with Consumer(own) as consumer:
        consumer.subscribe(["measured"])
        assert len(consumer.consume(5, WAIT_S)) == 5
        consumer.commit(asynchronous=False)
    points = telemetry.points()
    place = {
        conventions.MESSAGING_SYSTEM: "kafka",
        conventions.MESSAGING_CLIENT_ID: "me",
        conventions.MESSAGING_DESTINATION_NAME: "measured",
        conventions.MESSAGING_DESTINATION_PARTITION_ID: "0",
    }
    for name, operation in (
        (instruments.MESSAGING_CLIENT_SENT_MESSAGES, "send"),
        (instruments.MESSAGING_CLIENT_CONSUMED_MESSAGES, "poll"),
    ):
        (point,) = points[name]
        found = {name: value for name, value in point.attributes.items() if not name.startswith("server.")}
        assert (point.value, found) == (5, {**place, conventions.MESSAGING_OPERATION_NAME: operation})
    durations = points[instruments.MESSAGING_CLIENT_OPERATION_DURATION]
    assert {point.attributes[conventions.MESSAGING_OPERATION_NAME] for point in durations} == {"send", "poll", "commit"}
    assert all("error.type" not in point.attributes for point in durations)


def test_requests_that_fail_have_the_type_of_their_error(telemetry: Telemetry) -> None:
    hook = MetricsHook(telemetry.meter)
    hook.on_connect(1, "[::1]:9092", 0.1, None)
    hook.on_connect(2, "no port", 0.1, None)
    hook.on_request_done(1, "Produce", 10, 0, 0.5, NetworkError("gone", KafkaError._TIMED_OUT))
    hook.on_request_done(2, "ShareAcknowledge", 10, 10, 0.5, OSError("gone"))
    hook.on_request_done(1, "Metadata", 10, 10, 0.5, None)
    first, second = telemetry.points()[instruments.MESSAGING_CLIENT_OPERATION_DURATION]
    assert (first.attributes["error.type"], first.attributes["server.address"]) == ("_TIMED_OUT", "::1")
    assert (second.attributes["error.type"], "server.address" in second.attributes) == ("OSError", False)
    assert second.attributes[conventions.MESSAGING_OPERATION_NAME] == "ack"
