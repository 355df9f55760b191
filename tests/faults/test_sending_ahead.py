"""Records that `produce` sends itself (decision 0109): whatever comes between, each is in the log once, in order."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_core import KafkaError, Producer, kernels
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.producing.ahead import SendingAhead
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.faults import Delay, Disconnect, Drop
from kafka_core.protocol.messages.metadata import MetadataRequest
from kafka_core.protocol.messages.produce import ProduceRequest
from kafka_core.protocol.usual_writes import written_at, written_start
from tests.contract.clusters import wait_for
from tests.faults.interrupts import Interrupt

TOPIC = "events"
LIMIT_S = 60.0
QUICK: dict[str, object] = {
    "linger.ms": 0,
    "retry.backoff.ms": 5,
    "retry.backoff.max.ms": 20,
    "reconnect.backoff.ms": 5,
    "reconnect.backoff.max.ms": 20,
}

pytestmark = pytest.mark.skipif(kernels.IMPL != "native", reason="the pure kernels never send a record themselves")


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, default_partitions=2) as made:
        made.create_topic(TOPIC, 2)
        yield made


class Lone:
    """A producer of one record after the other; counts those that `produce` sent itself."""

    def __init__(self, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch, **conf: object) -> None:
        names = {name if name == "stats_cb" else name.replace("_", "."): value for name, value in conf.items()}
        self.producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUICK, **names})
        self.cluster = cluster
        self.told: list[tuple[int, int, int | None]] = []
        self.ahead = self.glances = 0
        self.numbers = itertools.count()
        sent_ahead = BrokerConnection.sent_ahead

        def counting(connection: Any, *args: Any) -> None:
            self.ahead += 1
            sent_ahead(connection, *args)

        passed = BrokerConnection.passed

        def counting_too(connection: Any, size_bytes: int) -> None:
            self.ahead += 1
            self.glances += 1
            passed(connection, size_bytes)

        monkeypatch.setattr(BrokerConnection, "sent_ahead", counting)
        monkeypatch.setattr(BrokerConnection, "passed", counting_too)

    @property
    def sending(self) -> SendingAhead:
        return self.producer._core._ahead

    def report(self, error: KafkaError | None, message: Any) -> None:
        self.told.append((int(message.value()), error.code() if error else 0, message.offset()))

    def produce(self, partition: int = 0) -> int:
        number = next(self.numbers)
        self.producer.produce(TOPIC, str(number), partition=partition, on_delivery=self.report)
        return number

    def send(self, partition: int = 0) -> None:
        """Produce one and wait for its verdict."""
        before = len(self.told)
        self.produce(partition)
        deadline_s = time.monotonic() + LIMIT_S
        while len(self.told) == before:
            self.producer.poll(1)
            assert time.monotonic() < deadline_s, "there is no verdict"

    def ready(self) -> None:
        """Send until a request is prepared: behind an answer, unless metadata came in between or there was none."""

        def prepared() -> bool:
            self.send()
            return self.sending._loan is not None

        wait_for(prepared, "a request is prepared")

    def log(self, partition: int = 0) -> list[int]:
        return [int(item.value() or b"-1") for item in self.cluster.records(TOPIC, partition)]

    def check(self) -> None:
        """All there once, in order, and told so."""
        self.producer.close()
        count = next(self.numbers)
        assert [(number, code) for number, code, _ in self.told] == [(number, 0) for number in range(count)]
        assert sorted(self.log(0) + self.log(1)) == list(range(count))
        for partition in (0, 1):
            assert self.log(partition) == sorted(self.log(partition))


Make = Callable[..., Lone]


@pytest.fixture
def make(cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[Lone] = []

    def lone(**conf: object) -> Lone:
        made.append(Lone(cluster, monkeypatch, **conf))
        return made[-1]

    yield lone
    for item in made:
        item.producer.close(1)


@pytest.mark.parametrize("conf", [{}, {"enable_idempotence": False}, {"acks": 1, "enable_idempotence": False}])
def test_records_one_after_the_other_are_sent_by_produce(make: Make, conf: dict[str, object]) -> None:
    run = make(**conf)
    for _ in range(20):
        run.ready()
    assert run.ahead >= 15
    assert run.glances >= 10
    assert [offset for _, _, offset in run.told] == list(range(len(run.told)))
    run.check()


@pytest.mark.parametrize(
    "conf", [{"linger_ms": 1}, {"compression_type": "gzip"}, {"acks": 0, "enable_idempotence": False}]
)
def test_others_go_the_usual_way(make: Make, conf: dict[str, object]) -> None:
    run = make(**conf)
    for _ in range(10):
        run.send()
    assert run.ahead == 0
    run.producer.close()
    wait_for(lambda: len(run.log()) >= 10, "the broker has them, which with acks=0 it tells nobody")
    assert run.log() == list(range(10))


def test_statistics_count_them(make: Make) -> None:
    run = make()
    for _ in range(10):
        run.ready()
    count = len(run.told)
    wait_for(lambda: json.loads(run.producer._core.statistics())["txmsgs"] == count, "the last one is accounted for")
    assert run.glances > 0
    run.check()


def test_statistics_that_are_asked_for_count_their_requests(make: Make) -> None:
    run = make(stats_cb=lambda _: None)
    for _ in range(10):
        run.ready()

    def requests() -> int:
        brokers = json.loads(run.producer._core.statistics())["brokers"].values()
        return sum(int(broker.get("req", {}).get("Produce", 0)) for broker in brokers)

    wait_for(lambda: requests() == len(run.told), "the last one is counted")
    assert run.ahead > 0
    assert run.glances == 0
    run.check()


@pytest.mark.parametrize(
    "action",
    [
        Disconnect(),
        Disconnect(handled=True),
        Delay(0.02),
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    ],
)
def test_what_the_broker_refuses_or_loses_is_sent_again(cluster: EmbeddedCluster, make: Make, action: object) -> None:
    run = make()
    turn = itertools.count(1)
    cluster.intercept(ProduceRequest, lambda *_: action if next(turn) % 5 == 0 else None)
    for _ in range(40):
        run.send()
    assert run.ahead > 5
    run.check()


def test_an_answer_that_never_comes_ends_the_connection(cluster: EmbeddedCluster, make: Make) -> None:
    """Nobody woke the loop, and it knows all the same that an answer is due."""
    run = make(socket_timeout_ms=300, request_timeout_ms=300)
    before = run.ahead
    deadline_s = time.monotonic() + LIMIT_S
    while run.ahead == before:  # on a slow machine the connection may have ended before the record was sent
        run.ready()
        before = run.ahead
        cluster.intercept(ProduceRequest, lambda *_: Drop(), times=1)
        run.send()
        cluster.stop_intercepting()
        assert time.monotonic() < deadline_s, "no record was sent ahead"
    run.check()


def test_a_record_times_out_though_nobody_woke_the_loop(cluster: EmbeddedCluster, make: Make) -> None:
    run = make(message_timeout_ms=400, request_timeout_ms=5000)
    run.ready()
    cluster.intercept(ProduceRequest, lambda *_: Delay(30.0))
    run.send()
    assert run.told[-1][1] == KafkaError._MSG_TIMED_OUT
    cluster.stop_intercepting()


def test_an_answer_to_a_request_that_is_not_wholly_written_is_not_taken_for_one(make: Make) -> None:
    """A broker can't know what it answers then: the long way ends such a connection."""
    run = make()
    run.ready()
    taken: list[bool] = []

    def look() -> None:
        loan = run.sending._loan
        assert loan is not None
        request = SimpleNamespace(batch=object(), frame=b"frame", sent_bytes=4)
        answer, usual = written_start(b"\0\0\0\1", UUID(int=1), 0), loan.now
        received = bytearray(answer + bytes(24) + b"\1" + bytes(8))
        loan.now = usual._replace(request=cast(Any, request), answer=answer)
        try:
            assert written_at(received, len(received), answer) is not None
            taken.append(run.sending._glance(received, len(received)))
        finally:
            loan.now = usual

    run.producer._thread.call(look)
    assert taken == [False]
    run.check()


def test_an_idle_producer_sends_ahead_and_wakes_the_loop(make: Make) -> None:
    run = make()
    run.ready()
    wait_for(lambda: run.sending._looks is None, "the loop looks no more")
    loan = run.sending._loan
    assert loan is not None
    assert not loan.now.request.quiet
    before = run.ahead
    run.send()
    assert run.ahead == before + 1
    run.check()


def test_leaders_that_move_are_followed(cluster: EmbeddedCluster, make: Make) -> None:
    run = make()
    for number in range(10):
        run.ready()
        cluster.move_leader(TOPIC, 0, 1 + number % 2)
        run.send()
    assert run.ahead > 5  # to who leads no more
    run.check()


def test_metadata_requests_on_the_same_connection_come_between(cluster: EmbeddedCluster, make: Make) -> None:
    run = make()
    seen: list[object] = []
    cluster.intercept(MetadataRequest, lambda request, _: seen.append(request))
    for _ in range(20):
        run.ready()
        run.producer.list_topics(TOPIC, LIMIT_S)
    assert len(seen) >= 20
    run.check()


def test_a_topic_made_anew_begins_with_new_sequences(cluster: EmbeddedCluster, make: Make) -> None:
    run = make(topic_metadata_refresh_interval_ms=50)
    run.ready()
    before = len(run.told)
    cluster.delete_topic(TOPIC)
    cluster.create_topic(TOPIC, 2)
    for _ in range(5):
        run.send()
    assert [code for _, code, _ in run.told] == [0] * len(run.told)
    assert run.log() == [before + number for number in range(5)]


def test_flushes_purges_and_the_end(make: Make) -> None:
    run = make()
    run.ready()
    run.produce()
    assert run.producer.flush(LIMIT_S) == 0
    run.ready()
    run.produce()
    run.producer.purge()
    assert run.producer.flush(LIMIT_S) == 0
    assert run.told[-1][1] in (0, KafkaError._PURGE_INFLIGHT)
    run.ready()
    run.produce()
    assert run.producer.close()
    assert run.told[-1][:2] == (run.log()[-1], 0)
    assert run.log() == list(range(len(run.told)))


def test_bursts_stay_in_order_behind_the_record_that_was_sent_ahead(make: Make) -> None:
    run = make()
    for _ in range(50):
        run.ready()
        for _ in range(20):
            run.produce()
        assert run.producer.flush(LIMIT_S) == 0
    assert run.ahead > 10
    run.check()


def test_one_after_the_other_without_a_pause_all_are_sent_by_produce(make: Make) -> None:
    """The next request is there before the report of the last record is."""
    run = make()
    run.ready()
    before = run.ahead
    for _ in range(50):
        run.send()
    assert run.ahead - before >= 40
    run.check()


@pytest.mark.parametrize("event", ["on_batch_sent", "on_request_done"])
def test_hooks_hear_of_each_record(make: Make, event: str) -> None:
    heard: list[tuple[object, ...]] = []

    class Hook:
        pass

    setattr(Hook, event, staticmethod(lambda *facts: heard.append(facts)))
    run = make(hooks=[Hook()])
    for _ in range(10):
        run.send()
    wait_for(lambda: len([facts for facts in heard if event == "on_batch_sent" or facts[1] == "Produce"]) == 10, event)
    assert run.glances == 0
    run.check()


def test_numbers_of_requests_begin_again_at_zero(make: Make) -> None:
    run = make()
    run.ready()
    loan = run.sending._loan
    assert loan is not None
    state = loan.connection._state

    def near_the_end() -> None:
        run.sending.take_back()
        state._next_correlation_id = 2**31 - 4

    run.producer._thread.call(near_the_end)
    for _ in range(10):
        run.ready()
    wait_for(lambda: 0 < state._next_correlation_id < 100, "the ids began again")
    run.check()


@pytest.mark.parametrize("taken_back", [False, True])
def test_what_a_record_leaves_behind_is_the_same_either_way(
    make: Make, monkeypatch: pytest.MonkeyPatch, taken_back: bool
) -> None:
    if taken_back:
        monkeypatch.setattr(SendingAhead, "_glance", lambda *_: False)
    run = make()
    for _ in range(20):
        run.ready()
    count = len(run.told)
    wait_for(lambda: json.loads(run.producer._core.statistics())["txmsgs"] == count, "the last one is accounted for")
    assert (run.glances > 0) is not taken_back
    (lane,) = [lane for lane in run.producer._core.batcher.lanes() if lane.partition == 0]
    assert lane.empty
    assert lane.sequence is not None
    assert (lane.sequence.next, lane.sequence.expected, lane.sequence.known) == (count, count, True)
    assert not run.producer._core.batcher.in_flight()
    assert len(run.producer) == 0
    run.check()


@pytest.mark.parametrize("records", [1, 3])
def test_records_that_come_while_the_report_is_served_stay_in_order(make: Make, records: int) -> None:
    """A callback produces: the loop has not accounted for the record that the callback is told of."""
    run = make()
    left = [30]
    usual = run.report

    def report(error: KafkaError | None, message: Any) -> None:
        usual(error, message)
        if left[0]:
            left[0] -= 1
            for _ in range(records):
                run.produce()

    run.report = report  # type: ignore[method-assign]
    run.ready()
    assert run.producer.flush(LIMIT_S) == 0
    run.check()


def test_purges_and_the_end_while_the_report_is_served(make: Make) -> None:
    run = make()
    usual = run.report
    acts: list[Callable[[], object]] = []

    def report(error: KafkaError | None, message: Any) -> None:
        usual(error, message)
        if acts:
            acts.pop()()

    run.report = report  # type: ignore[method-assign]
    for _ in range(5):
        run.ready()
        acts.append(run.producer.purge)
        run.send()
        assert not acts
    run.ready()
    acts.append(run.producer.close)
    run.send()
    run.check()


def test_many_threads_send_one_at_a_time(cluster: EmbeddedCluster, make: Make) -> None:
    run = make()
    reports: Counter[str] = Counter()
    lock = threading.Lock()

    def work(thread: int) -> None:
        for number in range(100):
            done = threading.Event()
            name = f"{thread}.{number}"

            def report(error: KafkaError | None, message: Any, name: str = name, done: Any = done) -> None:
                assert error is None
                with lock:
                    reports[name] += 1
                done.set()

            run.producer.produce(TOPIC, name, partition=thread % 2, on_delivery=report)
            deadline_s = time.monotonic() + LIMIT_S
            while not done.is_set():
                run.producer.poll(0.05)
                assert time.monotonic() < deadline_s

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert reports == Counter(f"{thread}.{number}" for thread in range(6) for number in range(100))
    found = [(item.value() or b"").decode() for partition in (0, 1) for item in cluster.records(TOPIC, partition)]
    assert Counter(found) == reports
    for writer in range(6):
        own = [name for name in found if name.startswith(f"{writer}.")]
        assert own == [f"{writer}.{number}" for number in range(100)]


def test_ctrl_c_at_every_moment_loses_and_doubles_nothing(cluster: EmbeddedCluster, make: Make) -> None:
    run = make()
    for moment in range(20_000):
        run.ready()
        given: list[int] = []
        interrupt = Interrupt(moment)
        with interrupt.armed():
            given.append(run.produce())
            while len(run.producer):
                run.producer.poll(LIMIT_S)
        assert run.producer.flush(LIMIT_S) == 0, interrupt.where
        assert len(run.producer) == 0
        if interrupt.where is None:
            break
    assert run.ahead > moment // 2
    log = run.log()
    assert log == sorted(set(log))
    assert [number for number, code, _ in run.told if code == 0] == log
