"""The state machine of telemetry, on time that is moved by hand."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

import pytest

from kafka_core.broker.telemetry.otlp import parsed
from kafka_core.engine.telemetry.meters import QUEUE_TIME, Meters
from kafka_core.engine.telemetry.reporter import DEFAULT_INTERVAL_S, MOVES, Phase, Reporter
from kafka_core.errors import KafkaError, StateError
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
    PushTelemetryResponse,
)
from kafka_core.records.codecs import Codec
from kafka_core.records.compression import decompress

ID = UUID(int=7)
START_MS = 1_700_000_000_000
MAX_BYTES = 1 << 20


class Driven:
    """A reporter with the broker's part played by the test."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.meters = Meters("producer.", self.now_s, START_MS)
        self.reporter = Reporter(self.meters, ("kserdes", "1"), random.Random(1), self.now_s)

    @property
    def now_ms(self) -> int:
        return START_MS + round((self.now_s - 100) * 1000)

    def wait(self) -> float:
        """Moves to the time of the next request; for how long that was."""
        due_s = self.reporter.due_s()
        assert due_s is not None
        waited_s, self.now_s = due_s - self.now_s, max(due_s, self.now_s)
        return waited_s

    def ask(self) -> Any:
        return self.reporter.request(self.now_s, self.now_ms)

    def told(self, **values: Any) -> None:
        """The answer to the question for a subscription."""
        given = {
            "client_instance_id": ID,
            "subscription_id": 5,
            "accepted_compression_types": [4, 1],
            "push_interval_ms": 10_000,
            "telemetry_max_bytes": MAX_BYTES,
            "delta_temporality": True,
            "requested_metrics": ["*"],
        }
        self.reporter.answered(GetTelemetrySubscriptionsResponse(**{**given, **values}), self.now_s)

    def pushed(self, code: int = 0) -> None:
        self.reporter.answered(PushTelemetryResponse(error_code=code), self.now_s)

    def subscribed(self, **values: Any) -> None:
        self.ask()
        self.told(**values)

    def push(self) -> PushTelemetryRequest:
        self.wait()
        request = self.ask()
        assert isinstance(request, PushTelemetryRequest)
        return request


@pytest.fixture
def driven() -> Driven:
    return Driven()


def names(request: PushTelemetryRequest) -> set[str]:
    payload = bytes(decompress(Codec(request.compression_type), request.metrics))
    return {metric.name.removeprefix("org.apache.kafka.producer.") for metric in parsed(payload)[1]}


def test_it_asks_at_once_and_pushes_after_a_random_part_of_the_interval(driven: Driven) -> None:
    assert driven.wait() == 0
    assert driven.ask() == GetTelemetrySubscriptionsRequest(ZERO_UUID)
    assert driven.reporter.due_s() is None
    driven.told()
    assert driven.reporter.client_instance_id == ID
    assert 5 <= driven.wait() <= 15
    push = driven.ask()
    assert (push.client_instance_id, push.subscription_id, push.terminating) == (ID, 5, False)
    assert push.compression_type == Codec.ZSTD
    assert names(push) == {"connection.creation.rate", "connection.creation.total"}
    driven.pushed()
    assert driven.wait() == 10


def test_clients_do_not_push_all_at_once() -> None:
    waits = set()
    for seed in range(20):
        reporter = Reporter(Meters("producer.", 0.0, START_MS), ("kserdes", "1"), random.Random(seed), 0.0)
        reporter.request(0.0, START_MS)
        answer = GetTelemetrySubscriptionsResponse(
            client_instance_id=ID, push_interval_ms=10_000, requested_metrics=["*"]
        )
        reporter.answered(answer, 0.0)
        waits.add(reporter.due_s())
    assert len(waits) == 20


def test_only_what_is_asked_for_is_told(driven: Driven) -> None:
    driven.meters.record(QUEUE_TIME, 1)
    driven.subscribed(requested_metrics=["org.apache.kafka.producer.record.", "other"])
    assert driven.reporter.wants_metrics
    assert names(driven.push()) == {"record.queue.time.avg", "record.queue.time.max"}


@pytest.mark.parametrize("everything", ["", "*"])
def test_all_metrics_have_two_names(driven: Driven, everything: str) -> None:
    driven.subscribed(requested_metrics=[everything])
    assert "connection.creation.rate" in names(driven.push())


def test_a_subscription_to_nothing_is_asked_for_again(driven: Driven) -> None:
    driven.subscribed(requested_metrics=[])
    assert not driven.reporter.wants_metrics
    assert driven.wait() == 10
    assert driven.ask() == GetTelemetrySubscriptionsRequest(ID)


def test_a_subscription_that_fits_no_metric_is_served_with_empty_pushes(driven: Driven) -> None:
    driven.subscribed(requested_metrics=["other."])
    assert driven.push().metrics == b""


@pytest.mark.parametrize("interval_ms", [0, -1])
def test_an_interval_that_makes_no_sense_is_the_default(driven: Driven, interval_ms: int) -> None:
    driven.subscribed(requested_metrics=[], push_interval_ms=interval_ms)
    assert driven.wait() == DEFAULT_INTERVAL_S


def test_codecs_that_nobody_knows_are_passed_over(driven: Driven) -> None:
    driven.subscribed(accepted_compression_types=[77, 3, 4])
    assert driven.push().compression_type == Codec.LZ4
    driven.pushed(KafkaError.UNKNOWN_SUBSCRIPTION_ID)
    driven.wait()
    driven.subscribed(accepted_compression_types=[])
    assert driven.push().compression_type == Codec.NONE


def test_another_subscription_is_asked_for_at_once(driven: Driven) -> None:
    driven.meters.record(QUEUE_TIME, 1)
    driven.subscribed()
    driven.push()
    driven.pushed(KafkaError.UNKNOWN_SUBSCRIPTION_ID)
    assert driven.wait() == 0
    assert driven.ask() == GetTelemetrySubscriptionsRequest(ID)
    driven.told(subscription_id=6)
    push = driven.push()
    assert push.subscription_id == 6
    assert "record.queue.time.avg" in names(push)  # what the refused push told is told again


def test_a_codec_that_was_refused_is_not_used_again(driven: Driven) -> None:
    driven.subscribed()
    assert driven.push().compression_type == Codec.ZSTD
    driven.pushed(KafkaError.UNSUPPORTED_COMPRESSION_TYPE)
    assert driven.wait() == 0
    driven.subscribed()
    assert driven.push().compression_type == Codec.GZIP


def test_who_is_throttled_waits_an_interval(driven: Driven) -> None:
    driven.ask()
    driven.told(error_code=KafkaError.THROTTLING_QUOTA_EXCEEDED)
    assert driven.wait() == DEFAULT_INTERVAL_S
    driven.subscribed()
    driven.push()
    driven.pushed(KafkaError.THROTTLING_QUOTA_EXCEEDED)
    assert driven.wait() == 10
    assert isinstance(driven.ask(), PushTelemetryRequest)


def test_what_is_too_large_is_told_without_single_brokers(driven: Driven) -> None:
    for node_id in range(50):
        driven.meters.request_done(node_id, "Produce", 0.001)
    driven.subscribed(telemetry_max_bytes=1000)
    few = names(driven.push())
    assert few == {"connection.creation.rate", "connection.creation.total"}
    driven.pushed()
    driven.meters.request_done(1, "Produce", 0.001)
    assert "node.request.latency.avg" in names(driven.push())
    driven.pushed(KafkaError.TELEMETRY_TOO_LARGE)
    assert driven.wait() == 10
    assert names(driven.ask()) == few
    driven.pushed(KafkaError.UNKNOWN_SUBSCRIPTION_ID)
    driven.wait()
    driven.subscribed(telemetry_max_bytes=10)
    assert driven.push().metrics == b""


def test_another_subscription_is_told_of_single_brokers_again(driven: Driven) -> None:
    """That a push was too large says nothing of what the next subscription may ask for."""
    driven.subscribed()
    driven.push()
    driven.pushed(KafkaError.TELEMETRY_TOO_LARGE)
    driven.push()
    driven.pushed(KafkaError.UNKNOWN_SUBSCRIPTION_ID)
    driven.wait()
    driven.subscribed()
    driven.meters.request_done(1, "Produce", 0.001)
    assert "node.request.latency.avg" in names(driven.push())


@pytest.mark.parametrize(
    "code", [KafkaError.INVALID_REQUEST, KafkaError.INVALID_RECORD, KafkaError.UNSUPPORTED_VERSION]
)
def test_fatal_errors_end_the_reporter(driven: Driven, code: int) -> None:
    driven.subscribed()
    driven.push()
    driven.pushed(code)
    assert driven.reporter.phase is Phase.ENDED
    assert driven.reporter.refusal == code
    assert driven.reporter.due_s() is None
    assert driven.reporter.last_push(driven.now_s, driven.now_ms) is None


def test_a_question_that_is_refused_for_good_ends_it(driven: Driven) -> None:
    driven.ask()
    driven.told(error_code=KafkaError.CLUSTER_AUTHORIZATION_FAILED)
    assert driven.reporter.phase is Phase.ENDED
    assert not driven.reporter.wants_metrics


def test_without_an_answer_it_tries_again_with_growing_pauses(driven: Driven) -> None:
    waits = []
    for _ in range(12):
        driven.ask()
        driven.reporter.failed(driven.now_s)
        waits.append(driven.wait())
    assert waits[:4] == [1, 2, 4, 8]
    assert waits[-1] == DEFAULT_INTERVAL_S
    driven.subscribed()
    driven.meters.record(QUEUE_TIME, 1)
    driven.push()
    driven.reporter.failed(driven.now_s)
    assert driven.wait() == 1
    assert "record.queue.time.avg" in names(driven.ask())


def test_the_last_push_tells_what_is_left(driven: Driven) -> None:
    driven.subscribed()
    driven.meters.record(QUEUE_TIME, 1)
    last = driven.reporter.last_push(driven.now_s, driven.now_ms)
    assert last is not None
    assert last.terminating
    assert "record.queue.time.avg" in names(last)
    driven.reporter.end()
    driven.reporter.end()
    assert driven.reporter.due_s() is None


def test_the_last_push_does_not_tell_again_what_is_under_way(driven: Driven) -> None:
    driven.subscribed()
    driven.meters.record(QUEUE_TIME, 1)
    driven.push()
    last = driven.reporter.last_push(driven.now_s, driven.now_ms)
    assert last is not None
    assert "record.queue.time.avg" not in names(last)
    driven.pushed()  # the answer comes late
    assert driven.reporter.phase is Phase.LEAVING


def test_totals_of_the_last_push_have_what_is_under_way(driven: Driven) -> None:
    driven.subscribed(delta_temporality=False)
    for _ in range(3):
        driven.meters.on_connect(1, "host:9092", 0.1, None)
    driven.push()
    driven.meters.on_connect(1, "host:9092", 0.1, None)
    last = driven.reporter.last_push(driven.now_s, driven.now_ms)
    assert last is not None
    pushed = parsed(bytes(decompress(Codec(last.compression_type), last.metrics)))[1]
    (total,) = [metric.value for metric in pushed if metric.name.endswith("connection.creation.total")]
    assert total == 4


@pytest.mark.parametrize("prepare", ["nothing", "asking", "no metrics"])
def test_there_is_no_last_push_without_a_subscription(driven: Driven, prepare: str) -> None:
    if prepare != "nothing":
        driven.ask()
    if prepare == "no metrics":
        driven.told(requested_metrics=[])
    assert driven.reporter.last_push(driven.now_s, driven.now_ms) is None
    assert driven.reporter.phase is Phase.ENDED


def test_moves_that_are_not_allowed_are_refused(driven: Driven) -> None:
    driven.ask()
    with pytest.raises(StateError, match="from asking to pushing"):
        driven.ask()
    assert set(MOVES) == set(Phase)


def test_answers_to_other_questions_are_passed_over(driven: Driven) -> None:
    driven.pushed()
    driven.told()
    assert driven.reporter.phase is Phase.UNSUBSCRIBED
