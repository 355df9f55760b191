"""Exceptions raised by callbacks: the same outcome as with confluent_kafka, callback by callback."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.contract.clusters import unique

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")

LIMIT_S: Final = 60.0
CORES: Final = [pytest.param(confluent, id="theirs"), pytest.param(kafka_core, id="ours")]


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(default_partitions=1, properties={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        yield cluster


@pytest.fixture
def cluster(embedded: EmbeddedCluster) -> Iterator[EmbeddedCluster]:
    """For a test that intercepts requests."""
    yield embedded
    embedded.stop_intercepting()


@pytest.fixture
def servers(embedded: EmbeddedCluster) -> str:
    return embedded.bootstrap_servers


def boom(*_: object) -> None:
    raise ValueError("boom")


def until_it_raises(step: Callable[[], object]) -> None:
    """Repeats a call until what the callback raised comes out of it."""
    deadline_s = time.monotonic() + LIMIT_S
    with pytest.raises(ValueError, match="boom"):
        while time.monotonic() < deadline_s:
            step()


def until(done: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not done():
        assert time.monotonic() < deadline_s


def reading(core: ModuleType, servers: str, **more: Any) -> Any:
    own = {"bootstrap.servers": servers, "group.id": unique("group"), "auto.offset.reset": "earliest", **more}
    return core.Consumer(own)


def filled(servers: str) -> str:
    topic = unique("topic")
    with kafka_core.Producer({"bootstrap.servers": servers}) as producer:
        producer.produce(topic, b"x")
    return topic


@pytest.mark.parametrize("core", CORES)
def test_flush_delivers_everything_and_raises_the_last(core: ModuleType, servers: str) -> None:
    topic, told = unique("topic"), []

    def report(_: object, message: Any) -> None:
        told.append(message.value())
        if message.value() != b"good":
            raise ValueError(f"boom {message.value().decode()}")

    producer = core.Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for value in (b"1", b"good", b"2"):
        producer.produce(topic, value, on_delivery=report)
    with pytest.raises(ValueError, match="boom 2"):
        producer.flush(LIMIT_S)
    assert (told, len(producer)) == ([b"1", b"good", b"2"], 0)
    assert producer.flush(LIMIT_S) == 0


@pytest.mark.parametrize("core", CORES)
def test_poll_raises_for_one_report_at_a_time(core: ModuleType, servers: str) -> None:
    topic = unique("topic")
    producer = core.Producer({"bootstrap.servers": servers})
    for _ in range(2):
        producer.produce(topic, b"x", on_delivery=boom)
    for _ in range(2):
        until_it_raises(lambda: producer.poll(0.1))
    assert (producer.poll(0), len(producer)) == (0, 0)


@pytest.mark.parametrize("core", CORES)
def test_error_cb(core: ModuleType, refused_port: int) -> None:
    conf = {"bootstrap.servers": f"127.0.0.1:{refused_port}", "error_cb": boom, "log_level": 0}
    producer = core.Producer(conf)
    until_it_raises(lambda: producer.poll(0.1))
    consumer = core.Consumer({**conf, "group.id": "g"})
    until_it_raises(lambda: consumer.poll(0.1))
    try:
        consumer.close()
    except ValueError as error:  # for another error that waits
        assert str(error) == "boom"  # noqa: PT017 - it may come or not


@pytest.mark.parametrize("core", CORES)
def test_stats_cb(core: ModuleType, servers: str) -> None:
    conf = {"bootstrap.servers": servers, "stats_cb": boom, "statistics.interval.ms": 50}
    producer = core.Producer(conf)
    until_it_raises(lambda: producer.poll(0.1))
    consumer = core.Consumer({**conf, "group.id": "g"})
    until_it_raises(lambda: consumer.poll(0.1))
    until_it_raises(lambda: consumer.consume(1, 0.1))


@pytest.mark.parametrize("core", CORES)
def test_on_assign_raises_and_the_partitions_are_assigned(core: ModuleType, servers: str) -> None:
    topic = filled(servers)
    consumer = reading(core, servers)
    consumer.subscribe([topic], on_assign=boom)
    until_it_raises(lambda: consumer.poll(0.1))
    assert [item.topic for item in consumer.assignment()] == [topic]
    found: list[Any] = []
    until(lambda: found or found.extend(consumer.consume(1, 0.2)))
    assert found[0].value() == b"x"
    assert consumer.close() is None


@pytest.mark.parametrize("core", CORES)
def test_on_revoke_raises_and_the_partitions_are_gone(core: ModuleType, servers: str) -> None:
    topic = filled(servers)
    consumer = reading(core, servers)
    consumer.subscribe([topic], on_revoke=boom)
    until(lambda: consumer.poll(0.1))
    consumer.unsubscribe()
    until_it_raises(lambda: consumer.poll(0.1))
    assert consumer.assignment() == []
    assert consumer.close() is None


@pytest.mark.parametrize("core", CORES)
def test_on_lost_raises_and_the_partitions_are_taken_again(core: ModuleType, cluster: EmbeddedCluster) -> None:
    topic, told = filled(cluster.bootstrap_servers), []
    conf = {"heartbeat.interval.ms": 100, "session.timeout.ms": 60_000}
    consumer = reading(core, cluster.bootstrap_servers, **conf)

    def lost(_: object, partitions: list[Any]) -> None:
        told.extend(item.topic for item in partitions)
        boom()

    consumer.subscribe([topic], on_lost=lost)
    until(lambda: consumer.poll(0.1))

    def forget(request: Any, _: object) -> int:
        cluster.state.groups.leave(request.group_id, request.member_id, None)
        return kafka_core.KafkaError.UNKNOWN_MEMBER_ID

    cluster.intercept(HeartbeatRequest, forget, times=1)
    until_it_raises(lambda: consumer.poll(0.1))
    assert told == [topic]
    until(lambda: not consumer.poll(0.1) and consumer.assignment())
    assert [item.topic for item in consumer.assignment()] == [topic]
    assert consumer.close() is None


def slow_down(request: ProduceRequest, _: object) -> ProduceResponse:
    """Everything is written, says the broker, and asks for silence."""
    topics = [
        TopicProduceResponse(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[PartitionProduceResponse(index=each.index) for each in topic.partition_data],
        )
        for topic in request.topic_data
    ]
    return ProduceResponse(topics, throttle_time_ms=50)


@pytest.mark.parametrize("core", CORES)
def test_throttle_cb(core: ModuleType, cluster: EmbeddedCluster) -> None:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "throttle_cb": boom}
    topic, told = filled(cluster.bootstrap_servers), []
    cluster.intercept(ProduceRequest, slow_down)
    producer = core.Producer(conf)
    producer.produce(topic, b"y", on_delivery=lambda error, _: told.append(error))
    until_it_raises(lambda: producer.poll(0.1))
    until(lambda: told or producer.flush(0.1))
    assert (told, len(producer)) == ([None], 0)
    silence = FetchResponse(throttle_time_ms=50)
    fetches = cluster.intercept(FetchRequest, lambda *_: silence)
    consumer = core.Consumer({**conf, "group.id": unique("group"), "auto.offset.reset": "earliest"})
    consumer.assign([core.TopicPartition(topic, 0, 0)])
    until_it_raises(lambda: consumer.poll(0.1))
    assert fetches.seen
    cluster.stop_intercepting()
    if core is kafka_core:  # confluent_kafka loses what a call had found when a callback raises in it
        until_it_reads(consumer, b"x")
    try:
        consumer.close()
    except ValueError as error:  # for an answer that came meanwhile
        assert str(error) == "boom"  # noqa: PT017 - it may come or not


def until_it_reads(consumer: Any, value: bytes) -> None:
    """Reads on, behind exceptions of callbacks that may still come."""

    def read() -> bool:
        try:
            return any(message.value() == value for message in consumer.consume(1, 0.2))
        except ValueError:
            return False

    until(read)


@pytest.mark.parametrize("core", CORES)
def test_on_commit(core: ModuleType, servers: str) -> None:
    topic = filled(servers)
    consumer = reading(core, servers, on_commit=boom, **{"enable.auto.commit": False})
    consumer.subscribe([topic])
    found: list[Any] = []
    until(lambda: found or found.extend(consumer.consume(1, 0.2)))
    consumer.commit(found[0], asynchronous=True)
    until_it_raises(lambda: consumer.poll(0.1))
    (place,) = consumer.committed([core.TopicPartition(topic, 0)], timeout=LIMIT_S)
    assert place.offset == 1
    consumer.close()


@pytest.mark.parametrize("core", CORES)
def test_oauth_cb_fails_the_constructor(core: ModuleType, refused_port: int) -> None:
    conf = {
        "bootstrap.servers": f"127.0.0.1:{refused_port}", "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": "OAUTHBEARER", "oauth_cb": boom, "log_level": 0,
    }  # fmt: skip
    for make in (lambda: core.Producer(conf), lambda: core.Consumer({**conf, "group.id": "g"})):
        with pytest.raises(core.KafkaException) as caught:
            make()
        assert caught.value.args[0].code() == core.KafkaError.SASL_AUTHENTICATION_FAILED
        assert "OAuth token not set" in caught.value.args[0].str()


@pytest.mark.parametrize("core", CORES)
def test_oauth_cb_that_fails_later_is_told_to_error_cb(core: ModuleType) -> None:
    """A token that has ended anyway is asked for again; no exception comes out of a call."""
    made, told = [], []

    def token(_: str) -> tuple[str, float]:
        if made:
            raise ValueError("boom")
        return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.", time.time() + 1.5

    with EmbeddedCluster(sasl=SaslSettings()) as cluster:
        producer = core.Producer({
            "bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "OAUTHBEARER", "oauth_cb": token, "error_cb": told.append,
            "log_level": 0,
        })  # fmt: skip
        made.append(producer)

        def failed() -> bool:
            producer.poll(0.1)
            return any("Failed to acquire SASL OAUTHBEARER token" in error.str() for error in told)

        until(failed)
    (error,) = [error for error in told if "Failed to acquire" in error.str()][:1]
    assert error.code() == core.KafkaError._AUTHENTICATION


class Failing(logging.Handler):
    """A handler that lets out what goes wrong."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError("boom")


@pytest.fixture
def failing() -> Iterator[logging.Logger]:
    logger, handler = logging.getLogger(unique("failing")), Failing()
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(handler)
    yield logger
    logger.removeHandler(handler)


@pytest.mark.parametrize("core", CORES)
def test_a_logger_that_fails_harms_no_constructor(
    core: ModuleType, servers: str, failing: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    """confluent_kafka hands lines out in poll(), which raises; ours come at once, and stderr says what is lost."""
    topic = unique("topic")
    producer = core.Producer({"bootstrap.servers": servers, "debug": "all"}, logger=failing)
    consumer = core.Consumer({"bootstrap.servers": servers, "group.id": "g", "debug": "all"}, logger=failing)
    producer.produce(topic, b"x")
    if core is confluent:
        until_it_raises(lambda: producer.poll(0.1))
        until_it_raises(lambda: consumer.poll(0.1))
        return
    assert producer.flush(LIMIT_S) == 0
    consumer.subscribe([topic])
    consumer.close()
    assert capfd.readouterr().err.count("lines of this client are lost: ValueError('boom')") == 2
