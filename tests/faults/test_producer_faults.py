"""The producer against a cluster that misbehaves: nothing is lost, doubled or reordered, and errors say why.

The embedded cluster is asked to refuse, cut, drop, delay; the real protocol and sockets are in between.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.faults import Delay, Disconnect, Drop
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.errors import KafkaError
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.produce import ProduceRequest
from kafka_core.sync.producer import Producer
from tests.later import later
from tests.patience import judged_by

TOPIC = "events"
LIMIT_S = 60.0
COUNT = 3000
QUICK: dict[str, object] = {
    "linger.ms": 1,
    "batch.num.messages": 50,
    "retry.backoff.ms": 5,
    "retry.backoff.max.ms": 20,
    "reconnect.backoff.ms": 5,
    "reconnect.backoff.max.ms": 20,
    "topic.metadata.refresh.fast.interval.ms": 5,
}


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=3, default_partitions=2) as made:
        made.create_topic(TOPIC, 2)
        yield made


@pytest.fixture
def cluster_that_makes_no_topics() -> Iterator[EmbeddedCluster]:
    """A client that asks between a topic's end and its namesake's beginning does not make it."""
    with EmbeddedCluster(brokers=3, auto_create_topics=False) as made:
        made.create_topic(TOPIC, 2)
        yield made


class Run:
    """Numbers produced in order per partition, and what became of them."""

    def __init__(self, cluster: EmbeddedCluster, **conf: object) -> None:
        self.cluster = cluster
        names = {name.replace("_", "."): value for name, value in conf.items()}
        self.producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUICK, **names})
        self.failed: list[tuple[int, KafkaError]] = []
        self.delivered: list[tuple[int, int, int]] = []

    def report(self, error: KafkaError | None, message: Any) -> None:
        number = int(message.value())
        if error is not None:
            self.failed.append((number, error))
        else:
            self.delivered.append((number, message.partition(), message.offset()))

    def produce(self, count: int = COUNT, *, meanwhile: Callable[[int], object] = lambda _: None) -> None:
        for number in range(count):
            self.producer.produce(TOPIC, str(number), partition=number % 2, on_delivery=self.report)
            if number % 100 == 0:
                meanwhile(number)
                self.producer.poll(0)
        assert self.producer.flush(LIMIT_S) == 0
        self.producer.close()

    def log(self, partition: int) -> list[int]:
        return [int(item.value() or b"-1") for item in self.cluster.records(TOPIC, partition)]

    def check_all_there_once_in_order(self, count: int = COUNT) -> None:
        assert self.failed == []
        for partition in (0, 1):
            assert self.log(partition) == list(range(partition, count, 2))
        placed = {(item.partition(), item.offset()): int(item.value() or b"-1") for item in self._records()}
        assert len(self.delivered) == count
        # a duplicate's offset may be unknown to the broker; those that are told are right
        assert all(
            placed[partition, offset] == number for number, partition, offset in self.delivered if offset is not None
        )

    def _records(self) -> list[Any]:
        return [item for partition in (0, 1) for item in self.cluster.records(TOPIC, partition)]


def every(period: int, action: object) -> Callable[[object, object], Any]:
    """An interceptor that acts on every `period`-th request."""
    turn = itertools.count(1)
    return lambda request, context: action if next(turn) % period == 0 else None


@pytest.mark.parametrize(
    "action",
    [
        Disconnect(),
        Disconnect(handled=True),
        Delay(0.05),
        Delay(0.05, handled=True),
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.KAFKA_STORAGE_ERROR,
    ],
    ids=str,
)
def test_requests_that_fail_now_and_then_lose_and_double_nothing(cluster: EmbeddedCluster, action: object) -> None:
    cluster.intercept(ProduceRequest, every(4, action), times=8)
    run = Run(cluster)
    run.produce()
    run.check_all_there_once_in_order()


@pytest.mark.parametrize("handled", [False, True])
def test_an_answer_that_never_comes_ends_with_the_time_out_of_the_request(
    cluster: EmbeddedCluster, handled: bool
) -> None:
    cluster.intercept(ProduceRequest, every(3, Drop(handled=handled)), times=1)
    run = Run(cluster, socket_timeout_ms=300)
    run.produce(500)
    run.check_all_there_once_in_order(500)


def test_leaders_that_move_all_the_time(cluster: EmbeddedCluster) -> None:
    run = Run(cluster)
    run.produce(meanwhile=lambda number: cluster.move_leader(TOPIC, number // 100 % 2, 1 + number // 100 % 3))
    run.check_all_there_once_in_order()


def test_brokers_that_stop_and_start(cluster: EmbeddedCluster) -> None:
    def trouble(number: int) -> None:
        if number % 1000 == 500:
            cluster.stop_broker(1 + number // 1000)
        elif number % 1000 == 900:
            cluster.start_broker(1 + number // 1000)

    run = Run(cluster)
    run.produce(meanwhile=trouble)
    run.check_all_there_once_in_order()


def test_connections_that_are_cut_all_the_time(cluster: EmbeddedCluster) -> None:
    run = Run(cluster)
    run.produce(meanwhile=lambda number: cluster.disconnect_all() if number % 300 == 0 else None)
    run.check_all_there_once_in_order()


def test_a_cluster_that_is_away_at_first(cluster: EmbeddedCluster) -> None:
    run = Run(cluster)
    for broker in (1, 2, 3):
        cluster.stop_broker(broker)
    with ExitStack() as starts:
        for broker in (1, 2, 3):
            starts.enter_context(later(0.2 + broker / 10, cluster.start_broker, broker))
        run.produce(200)
        run.check_all_there_once_in_order(200)


def test_batches_that_time_out_leave_no_gap_behind_them(cluster: EmbeddedCluster) -> None:
    judged_by(0.3, time_out_and_go_on, cluster)


def time_out_and_go_on(limit_s: float, cluster: EmbeddedCluster) -> None:
    """Later records must be delivered within the very time in which the first batches are not."""
    rule = cluster.intercept(ProduceRequest, lambda request, context: KafkaError.NOT_ENOUGH_REPLICAS)
    run = Run(cluster, message_timeout_ms=round(limit_s * 1000))
    before = len(run.log(0))
    with run.producer as producer:
        for number in range(0, 40, 2):
            producer.produce(TOPIC, str(number), partition=0, on_delivery=run.report)
        assert producer.flush(LIMIT_S) == 0
        assert {error.code() for _, error in run.failed} == {KafkaError._MSG_TIMED_OUT}
        assert len(run.failed) == 20
        cluster.stop_intercepting(rule)
        for number in range(40, 80, 2):
            producer.produce(TOPIC, str(number), partition=0, on_delivery=run.report)
        assert producer.flush(LIMIT_S) == 0
    assert run.log(0)[before:] == list(range(40, 80, 2))
    assert [number for number, _, _ in run.delivered] == list(range(40, 80, 2))


def test_a_timed_out_batch_that_arrived_after_all_is_no_trouble_for_the_next(cluster: EmbeddedCluster) -> None:
    judged_by(0.2, arrived_after_all, cluster)


def arrived_after_all(limit_s: float, cluster: EmbeddedCluster) -> None:
    cluster.stop_intercepting()
    cluster.intercept(ProduceRequest, lambda request, context: Delay(2.5 * limit_s, handled=True), times=1)
    run = Run(cluster, message_timeout_ms=round(limit_s * 1000))
    before = len(run.log(0))
    with run.producer as producer:
        producer.produce(TOPIC, "0", partition=0, on_delivery=run.report)
        assert producer.flush(LIMIT_S) == 0
        assert [error.code() for _, error in run.failed] == [KafkaError._MSG_TIMED_OUT]
        deadline_s = time.monotonic() + LIMIT_S
        while producer._core.batcher.requests_in_flight(cluster.leader(TOPIC, 0)):
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        producer.produce(TOPIC, "2", partition=0, on_delivery=run.report)
        assert producer.flush(LIMIT_S) == 0
    assert run.log(0)[before:] == [0, 2]


def test_an_oversize_batch_is_split_until_it_fits(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("small", 1, configs={"max.message.bytes": "2000"})
    seen: list[Any] = []
    with Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 50}) as producer:
        for number in range(100):
            producer.produce(
                "small", str(number).rjust(100), on_delivery=lambda error, item: seen.append(error or item.offset())
            )
        assert producer.flush(LIMIT_S) == 0
    assert seen == list(range(100))
    assert [int(item.value() or b"-1") for item in cluster.records("small", 0)] == list(range(100))


def test_one_record_that_is_too_large_fails_alone(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("small", 1, configs={"max.message.bytes": "2000"})
    seen: list[tuple[int, bytes]] = []

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append((error.code() if error else 0, message.value()[:1]))

    with Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 50}) as producer:
        for letter, size in ((b"a", 10), (b"b", 5000), (b"c", 10)):
            producer.produce("small", letter * size, on_delivery=report)
        assert producer.flush(LIMIT_S) == 0
    assert sorted(seen) == [(0, b"a"), (0, b"c"), (KafkaError.MSG_SIZE_TOO_LARGE, b"b")]
    assert [(item.value() or b"")[:1] for item in cluster.records("small", 0)] == [b"a", b"c"]


def test_a_broker_that_forgot_the_producer_gets_a_new_epoch(cluster: EmbeddedCluster) -> None:
    run = Run(cluster)
    run.producer.produce(TOPIC, "0", partition=0, on_delivery=run.report)
    assert run.producer.flush(LIMIT_S) == 0
    cluster.intercept(ProduceRequest, lambda request, context: KafkaError.UNKNOWN_PRODUCER_ID, times=1)
    run.producer.produce(TOPIC, "2", partition=0, on_delivery=run.report)
    assert run.producer.flush(LIMIT_S) == 0
    identity = run.producer._core.batcher.ids.identity
    assert identity is not None
    assert identity.epoch == 1
    run.producer.close()
    assert run.log(0) == [0, 2]
    assert run.failed == []


def test_the_id_is_asked_for_again_when_the_coordinator_is_not_ready(cluster: EmbeddedCluster) -> None:
    rule = cluster.intercept(InitProducerIdRequest, every(1, KafkaError.COORDINATOR_LOAD_IN_PROGRESS), times=3)
    run = Run(cluster)
    run.produce(100)
    run.check_all_there_once_in_order(100)
    assert rule.seen >= 3


@pytest.mark.parametrize("acks", ["0", "1"])
def test_less_acks_without_trouble_still_deliver_all(cluster: EmbeddedCluster, acks: str) -> None:
    run = Run(cluster, acks=acks)
    run.produce(1000)
    assert run.failed == []
    deadline_s = time.monotonic() + LIMIT_S
    while sum(len(run.log(partition)) for partition in (0, 1)) < 1000 and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert [run.log(partition) for partition in (0, 1)] == [list(range(0, 1000, 2)), list(range(1, 1000, 2))]
    assert {offset for _, _, offset in run.delivered} == ({None} if acks == "0" else set(range(500)))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_is_read_back(cluster: EmbeddedCluster, codec: str) -> None:
    run = Run(cluster, compression_type=codec)
    run.produce(500)
    run.check_all_there_once_in_order(500)


def test_an_unknown_topic_without_auto_creation_fails_with_its_name() -> None:
    seen: list[KafkaError] = []
    with (
        EmbeddedCluster(auto_create_topics=False) as cluster,
        Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "topic.metadata.propagation.max.ms": 100, **QUICK}
        ) as producer,
    ):
        producer.produce("nowhere", b"a", on_delivery=lambda error, _: seen.append(error))
        assert producer.flush(LIMIT_S) == 0
    assert [error.code() for error in seen] == [KafkaError.UNKNOWN_TOPIC_OR_PART]
    assert "'nowhere' does not exist" in seen[0].str()


def test_a_refused_connection_is_told_by_error_cb_and_named_in_the_time_out(refused_port: int) -> None:
    def work(limit_s: float) -> None:
        errors: list[KafkaError] = []
        reports: list[KafkaError] = []
        conf: dict[str, object] = {
            **QUICK,
            "bootstrap.servers": f"127.0.0.1:{refused_port}",
            "message.timeout.ms": round(limit_s * 1000),
            "error_cb": errors.append,
        }
        with Producer(conf) as producer:
            producer.produce(TOPIC, b"a", on_delivery=lambda error, _: reports.append(error))
            assert producer.flush(LIMIT_S) == 0
        assert [error.code() for error in reports] == [KafkaError._MSG_TIMED_OUT]
        assert "refused" in reports[0].str()
        assert KafkaError._ALL_BROKERS_DOWN in [error.code() for error in errors]

    judged_by(0.3, work)


def test_close_is_bounded_when_the_cluster_is_gone(cluster: EmbeddedCluster) -> None:
    run = Run(cluster)
    run.producer.produce(TOPIC, "0", partition=0)
    assert run.producer.flush(LIMIT_S) == 0
    for broker in (1, 2, 3):
        cluster.stop_broker(broker)
    run.producer.produce(TOPIC, "2", partition=0, on_delivery=run.report)
    began_s = time.monotonic()
    assert not run.producer.close(0.3)
    assert time.monotonic() - began_s < LIMIT_S
    assert [number for number, _ in run.failed] == [2]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password_is_told_and_a_right_one_helps(mechanism: str) -> None:
    judged_by(0.4, wrong_then_right, mechanism)


def wrong_then_right(limit_s: float, mechanism: str) -> None:
    errors: list[KafkaError] = []
    reports: list[tuple[KafkaError | None, bytes]] = []

    def report(error: KafkaError | None, message: Any) -> None:
        reports.append((error, message.value()))

    with EmbeddedCluster(sasl=SaslSettings({"alice": "right"})) as cluster:
        conf: dict[str, object] = {
            **QUICK,
            "bootstrap.servers": cluster.bootstrap_servers,
            "security.protocol": "sasl_plaintext",
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": "wrong",
            "message.timeout.ms": round(limit_s * 1000),
            "error_cb": errors.append,
        }
        with Producer(conf) as producer:
            producer.produce(TOPIC, b"first", on_delivery=report)
            assert producer.flush(LIMIT_S) == 0
            assert KafkaError._AUTHENTICATION in [error.code() for error in errors]
            error = reports[0][0]
            assert error is not None
            assert "alice" in error.str()
            assert "wrong" not in error.str()
            producer.set_sasl_credentials("alice", "right")
            producer.produce(TOPIC, b"second", on_delivery=report)
            assert producer.flush(LIMIT_S) == 0
        assert reports[1:] == [(None, b"second")]


@pytest.mark.parametrize("idempotent", [False, True])
def test_records_for_partitions_a_recreated_topic_lacks_fail_before_delivery_timeout(
    cluster_that_makes_no_topics: EmbeddedCluster, idempotent: bool
) -> None:
    """confluent-kafka reports it at once, too; until it did, message.timeout.ms had to pass."""
    cluster = cluster_that_makes_no_topics
    found: list[tuple[int, int | None]] = []
    conf = {
        **QUICK,
        "bootstrap.servers": cluster.bootstrap_servers,
        "message.timeout.ms": 300_000,
        "enable.idempotence": idempotent,
        "topic.metadata.refresh.interval.ms": 100,
    }
    with Producer(conf) as producer:
        rule = cluster.intercept(ProduceRequest, lambda request, context: KafkaError.NOT_LEADER_FOR_PARTITION)
        for partition in (0, 1):
            producer.produce(
                TOPIC,
                b"%d" % partition,
                partition=partition,
                on_delivery=lambda error, message: found.append((message.partition(), error and error.code())),
            )
        ends_s = time.monotonic() + LIMIT_S
        while rule.seen < 2 and time.monotonic() < ends_s:
            time.sleep(0.01)
        cluster.delete_topic(TOPIC)
        cluster.create_topic(TOPIC, 1)
        cluster.stop_intercepting(rule)
        assert producer.flush(LIMIT_S) == 0
    assert sorted(found) == [(0, None), (1, KafkaError._UNKNOWN_PARTITION)]
