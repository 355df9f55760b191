"""kafka_core.sync.producer and report_queue without a network: produce, reports, bounds, threads, the end."""

import gc
import logging
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_core.aio.producing.core import ProducerCore
from kafka_core.config import Config
from kafka_core.errors import ConfigError, KafkaError, KafkaException, NetworkError, StateError
from kafka_core.sync.producer import Producer
from kafka_core.sync.report_queue import ReportQueue
from tests.later import inside, once
from tests.patience import PROCESS_S
from tests.unit.kafka_core.aio.fake_cluster import FakeCluster

FAST: dict[str, object] = {
    "bootstrap.servers": "nowhere:9092",
    "linger.ms": 0,
    "retry.backoff.ms": 1,
    "retry.backoff.max.ms": 2,
}
LIMIT_S = 60


class OfflineProducer(Producer):
    """The producer on a fake cluster."""

    def __init__(self, cluster: FakeCluster, conf: dict[str, object]) -> None:
        self.cluster = cluster
        super().__init__({**FAST, **conf})

    def _make_core(self, config: Config, wake: Callable[[], None]) -> ProducerCore:
        client: Any = self.cluster
        return ProducerCore(config, self._listener, wake=wake, lock=threading.Lock(), client=client)

    def release(self) -> None:
        """Let the brokers answer, from now on."""
        self.cluster.hold = False
        for _ in range(10):
            self._thread.post(self.cluster.release)


Make = Callable[..., OfflineProducer]


@pytest.fixture
def make() -> Iterator[Make]:
    """`make(property_name=value)`; `cluster=` for another cluster."""
    made: list[OfflineProducer] = []

    def producer(cluster: FakeCluster | None = None, **conf: Any) -> OfflineProducer:
        names = {name if name.endswith("_cb") else name.replace("_", "."): value for name, value in conf.items()}
        if "on.delivery" in names:
            names["on_delivery"] = names.pop("on.delivery")
        made.append(OfflineProducer(cluster or FakeCluster(), names))
        return made[-1]

    yield producer
    for item in made:
        item.close(1)


def until(condition: Callable[[], Any]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, "it never came true"
        time.sleep(0.001)


class Reports(list[tuple[int, bytes, int | None]]):
    """A delivery callback that keeps (error code, value, offset)."""

    def __call__(self, error: KafkaError | None, message: Any) -> None:
        self.append((error.code() if error else 0, message.value(), message.offset()))


# ---- produce is the compiled call


def test_produce_is_the_accumulators_own_method(make: Make) -> None:
    producer = make()
    assert producer.produce.__self__ is producer._accumulator  # type: ignore[attr-defined]


def test_a_subclass_may_have_its_own_produce() -> None:
    class Shouting(OfflineProducer):
        def produce(self, topic: str, value: Any = None, *args: Any, **kwargs: Any) -> None:
            super().produce(topic, value.upper(), *args, **kwargs)

    reports = Reports()
    with Shouting(FakeCluster(), {}) as producer:
        producer.produce("events", b"quiet", partition=0, on_delivery=reports)
        assert producer.flush(LIMIT_S) == 0
    assert reports == [(0, b"QUIET", 0)]


def test_the_signature_of_produce_is_the_documented_one(make: Make) -> None:
    producer, reports = make(), Reports()
    producer.produce("events", b"v", b"k", 1, reports, None, 1234, [("h", b"x")])
    producer.produce("events", value=b"w", key=b"k", partition=1, on_delivery=reports, timestamp=5, headers={"h": "y"})
    assert producer.flush(LIMIT_S) == 0
    assert reports == [(0, b"v", 0), (0, b"w", 1)]


# ---- reports


def test_reports_are_served_by_poll_on_the_callers_thread(make: Make) -> None:
    producer = make()
    seen: list[tuple[threading.Thread, bytes]] = []
    for number in range(3):
        producer.produce(
            "events",
            b"%d" % number,
            on_delivery=lambda _, item: seen.append((threading.current_thread(), item.value())),
        )
    assert len(producer) == 3
    served = 0
    while served < 3:
        served += producer.poll(LIMIT_S)
    assert [value for _, value in seen] == [b"0", b"1", b"2"]
    assert {thread for thread, _ in seen} == {threading.current_thread()}
    assert producer.poll(0) == 0
    assert len(producer) == 0


def test_records_count_until_their_report_is_served(make: Make) -> None:
    producer, reports = make(), Reports()
    producer.produce("events", b"a", on_delivery=reports)
    until(lambda: len(producer._reports))
    assert len(producer) == 1
    assert producer.poll(0) == 1
    assert len(producer) == 0


def test_poll_waits_for_the_first_event_and_no_longer_than_told(make: Make) -> None:
    producer, reports = make(FakeCluster(hold=True)), Reports()
    producer.produce("events", b"a", on_delivery=reports)
    began_s = time.monotonic()
    assert producer.poll(0.05) == 0
    assert time.monotonic() - began_s > 0.04
    with once(inside(ReportQueue.wait), producer.release):
        assert producer.poll() == 1
    assert reports == [(0, b"a", 0)]


def test_without_callbacks_nothing_waits_for_poll(make: Make) -> None:
    producer = make()
    producer.produce("events", b"a")
    until(lambda: len(producer) == 0)
    assert producer.poll(0) == 0


def test_on_delivery_of_the_configuration_is_for_records_without_their_own(make: Make) -> None:
    default, own = Reports(), Reports()
    producer = make(on_delivery=default)
    producer.produce("events", b"a", partition=0)
    producer.produce("events", b"b", partition=0, on_delivery=own)
    producer.produce("events", b"c", partition=0)
    producer.flush(LIMIT_S)
    assert ([value for _, value, _ in default], [value for _, value, _ in own]) == ([b"a", b"c"], [b"b"])


def test_only_errors_are_reported_when_asked_for(make: Make) -> None:
    cluster, default = FakeCluster(), Reports()
    cluster.answers += [0, KafkaError.INVALID_RECORD]
    producer = make(cluster, on_delivery=default, delivery_report_only_error=True)
    producer.produce("events", b"a", partition=0)
    assert producer.flush(LIMIT_S) == 0
    producer.produce("events", b"b", partition=0)
    assert producer.flush(LIMIT_S) == 0
    assert default == [(KafkaError.INVALID_RECORD, b"b", None)]


def test_a_failure_that_nobody_is_told_of_is_logged(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    cluster = FakeCluster()
    cluster.answers.append(KafkaError.INVALID_RECORD)
    producer = make(cluster)
    with caplog.at_level(logging.ERROR, "kafka_core.producer"):
        producer.produce("events", b"a", partition=1)
        producer.flush(LIMIT_S)
    assert "1 records for events[1] failed: Broker: Broker failed to validate record" in caplog.text


def test_what_is_given_up_on_purpose_is_logged_as_no_failure(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    producer = make(FakeCluster(hold=True))
    gc.collect()  # what other tests dropped is told before
    with caplog.at_level(logging.WARNING, "kafka_core.producer"):
        producer.produce("events", b"a", partition=1)
        producer.purge()
        assert producer.flush(LIMIT_S) == 0
    assert caplog.text == ""


def failing_reports(producer: Producer) -> list[bytes]:
    """Five records of one partition, whose reports 1 and 3 raise; gives the list of those that were told."""
    seen: list[bytes] = []

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        if message.value() in (b"1", b"3"):
            raise ValueError(message.value())

    for number in range(5):
        producer.produce("events", b"%d" % number, partition=0, on_delivery=report)
    return seen


def test_an_exception_in_a_callback_comes_out_of_poll_and_the_rest_stays(make: Make) -> None:
    producer = make(linger_ms=50)
    seen = failing_reports(producer)

    def poll() -> None:
        while len(producer):
            assert producer.poll(LIMIT_S)

    with pytest.raises(ValueError, match="1"):
        poll()
    assert seen == [b"0", b"1"]
    with pytest.raises(ValueError, match="3"):
        poll()
    assert seen == [b"0", b"1", b"2", b"3"]
    poll()
    assert seen == [b"0", b"1", b"2", b"3", b"4"]
    assert len(producer) == 0


def test_flush_delivers_everything_before_it_raises_what_a_callback_raised(make: Make) -> None:
    producer = make(linger_ms=60_000)
    seen = failing_reports(producer)
    with pytest.raises(ValueError, match="3"):
        producer.flush(LIMIT_S)
    assert seen == [b"0", b"1", b"2", b"3", b"4"]
    assert len(producer) == producer.flush(LIMIT_S) == 0


def test_the_last_report_counts_no_more_when_its_callback_has_raised(make: Make) -> None:
    producer = make()

    def report(error: KafkaError | None, message: Any) -> None:
        raise ValueError("boom")

    producer.produce("events", b"x", on_delivery=report)
    with pytest.raises(ValueError, match="boom"):
        producer.poll(LIMIT_S)
    assert len(producer) == 0


def test_a_callback_may_produce_and_poll(make: Make) -> None:
    producer, reports = make(), Reports()

    def again(error: KafkaError | None, message: Any) -> None:
        producer.produce("events", b"second", on_delivery=reports)
        producer.poll(0)

    producer.produce("events", b"first", on_delivery=again)
    assert producer.flush(LIMIT_S) == 0
    assert [value for _, value, _ in reports] == [b"second"]


def test_errors_throttling_and_statistics_are_served_by_poll(make: Make) -> None:
    seen: Counter[str] = Counter()

    def count(name: str) -> Callable[[Any], None]:
        def callback(_: Any) -> None:
            assert threading.current_thread() is threading.main_thread()
            seen[name] += 1

        return callback

    cluster = FakeCluster(throttle_time_ms=5)
    producer = make(
        cluster,
        error_cb=count("error"),
        throttle_cb=count("throttle"),
        stats_cb=count("stats"),
        statistics_interval_ms=5,
    )
    producer.produce("events", b"a")
    producer.flush(LIMIT_S)
    producer._thread.post(cluster.on_error_listeners[0], KafkaError(KafkaError._TRANSPORT))
    deadline_s = time.monotonic() + LIMIT_S
    while len(seen) < 3 and time.monotonic() < deadline_s:
        producer.poll(0.1)
    assert (seen["error"], seen["throttle"]) == (1, 1)
    assert seen["stats"] >= 1


# ---- bounds


def test_a_full_queue_raises_buffer_error_that_names_the_property(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_messages=2)
    producer.produce("events", b"a")
    producer.produce("events", b"b")
    with pytest.raises(BufferError, match=r"queue\.buffering\.max\.messages.*max\.block\.ms"):
        producer.produce("events", b"c")
    producer.release()
    until(lambda: len(producer) == 0)
    producer.produce("events", b"c")


def test_the_bound_in_bytes_is_named_too(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_kbytes=1)
    producer.produce("events", b"a" * 900)
    with pytest.raises(BufferError, match=r"queue\.buffering\.max\.kbytes"):
        producer.produce("events", b"b" * 900)
    producer.release()


def test_records_whose_report_nobody_serves_keep_their_room(make: Make) -> None:
    producer, reports = make(queue_buffering_max_messages=1), Reports()
    producer.produce("events", b"a", on_delivery=reports)
    until(lambda: len(producer._reports))
    with pytest.raises(BufferError):
        producer.produce("events", b"b")
    assert producer.poll(0) == 1
    producer.produce("events", b"b")


def test_poll_returns_when_a_full_queue_has_room_again(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_messages=1)
    producer.produce("events", b"a")
    began_s = time.monotonic()
    with once(inside(ReportQueue.wait), producer.release):
        assert producer.poll(10 * LIMIT_S) == 0
    assert time.monotonic() - began_s < 5 * LIMIT_S


def test_max_block_ms_makes_produce_wait_for_room(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_messages=1, max_block_ms=LIMIT_S * 1000)
    producer.produce("events", b"a")
    with once(inside(ReportQueue.wait), producer.release):
        producer.produce("events", b"b")
    assert producer.flush(LIMIT_S) == 0


def test_a_waiting_produce_serves_callbacks_as_room_may_depend_on_them(make: Make) -> None:
    producer, reports = make(queue_buffering_max_messages=1, max_block_ms=LIMIT_S * 1000), Reports()
    for number in range(5):
        producer.produce("events", b"%d" % number, partition=0, on_delivery=reports)
    producer.flush(LIMIT_S)
    assert reports == [(0, b"%d" % number, number) for number in range(5)]


def test_max_block_ms_ends_with_buffer_error(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_messages=1, max_block_ms=30)
    producer.produce("events", b"a")
    with pytest.raises(BufferError, match=r"no room within max\.block\.ms \(30\)"):
        producer.produce("events", b"b")


def test_produce_batch_marks_what_was_not_queued(make: Make) -> None:
    producer = make(FakeCluster(hold=True), queue_buffering_max_messages=2)
    messages: list[dict[str, Any]] = [{"value": b"%d" % number} for number in range(3)]
    assert producer.produce_batch("events", messages) == 2
    assert ["_error" in item for item in messages] == [False, False, True]
    assert messages[2]["_error"] == KafkaError._QUEUE_FULL
    producer.release()


def test_produce_batch_waits_with_max_block_ms(make: Make) -> None:
    producer, reports = make(queue_buffering_max_messages=2, max_block_ms=LIMIT_S * 1000), Reports()
    messages: list[dict[str, Any]] = [{"value": b"%d" % number, "partition": 0} for number in range(7)]
    assert producer.produce_batch("events", messages, on_delivery=reports) == 7
    producer.flush(LIMIT_S)
    assert [value for _, value, _ in reports] == [b"%d" % number for number in range(7)]
    assert all("_error" not in item for item in messages)


# ---- flush, purge


def test_flush_does_not_linger_and_gives_what_is_left(make: Make) -> None:
    producer = make(FakeCluster(hold=True), linger_ms=60_000)
    producer.produce("events", b"a")
    assert producer.flush(0.05) == 1
    producer.release()
    assert producer.flush(LIMIT_S) == 0
    assert producer.flush() == 0


def test_purge_reports_with_the_codes_for_queue_and_flight(make: Make) -> None:
    cluster, reports = FakeCluster(hold=True), Reports()
    producer = make(cluster)
    producer.produce("events", b"a", partition=0, on_delivery=reports)
    until(lambda: cluster.held)
    producer.produce("unknown", b"b", on_delivery=reports)
    producer.purge()
    assert len(producer) == 2
    assert producer.flush(0) == 0
    assert [code for code, _, _ in reports] == [KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT]


def test_purge_of_the_queue_without_waiting(make: Make) -> None:
    cluster, reports = FakeCluster(hold=True), Reports()
    producer = make(cluster)
    producer.produce("events", b"a", partition=0, on_delivery=reports)
    until(lambda: cluster.held)
    producer.purge(in_flight=False, blocking=False)
    producer.release()
    assert producer.flush(LIMIT_S) == 0
    assert reports == [(0, b"a", 0)]


# ---- the cluster


def test_topics_are_listed(make: Make) -> None:
    producer = make(FakeCluster(topics={"events": 2, "more": 1}))
    assert sorted(producer.list_topics(timeout=LIMIT_S).topics) == ["events", "more"]
    assert list(producer.list_topics("more", timeout=LIMIT_S).topics["more"].partitions) == [0]
    assert producer.cluster_id(LIMIT_S) == "fake"


def test_an_unreachable_cluster_is_an_exception_that_says_why(make: Make) -> None:
    producer = make(FakeCluster(last_error=NetworkError("connection refused")))
    with pytest.raises(KafkaException, match="connection refused"):
        producer.list_topics(timeout=1)


def test_listing_first_and_producing_then_works(make: Make) -> None:
    producer, reports = make(), Reports()
    producer.list_topics(timeout=LIMIT_S)
    producer.produce("events", b"a", on_delivery=reports)
    assert producer.flush(LIMIT_S) == 0
    assert len(reports) == 1


# ---- the end


def test_a_closed_producer_refuses_everything(make: Make) -> None:
    producer = make()
    produce = producer.produce
    producer.close()
    assert producer.close()
    for call in (producer.poll, producer.flush, producer.purge, producer.list_topics, lambda: produce("events", b"a")):
        with pytest.raises(StateError, match="closed"):
            call()


def test_close_flushes_and_serves_reports() -> None:
    reports = Reports()
    with OfflineProducer(FakeCluster(), {"linger.ms": 60_000}) as producer:
        producer.produce("events", b"a", on_delivery=reports)
    assert reports == [(0, b"a", 0)]


def test_close_is_bounded_and_says_what_was_lost(caplog: pytest.LogCaptureFixture) -> None:
    reports = Reports()
    producer = OfflineProducer(FakeCluster(hold=True), {})
    producer.produce("events", b"a", on_delivery=reports)
    with caplog.at_level(logging.WARNING):
        assert not producer.close(0.05)
    assert reports == [(KafkaError._PURGE_INFLIGHT, b"a", None)]
    assert "closed with 1 records not delivered" in caplog.text


def test_a_callback_that_raises_does_not_keep_close_from_delivering_the_rest() -> None:
    seen: list[bytes] = []

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        raise ValueError("mine")

    producer = OfflineProducer(FakeCluster(), {"linger.ms": 60_000})
    for number in range(3):
        producer.produce("events", b"%d" % number, partition=0, on_delivery=report)
    with pytest.raises(ValueError, match="mine"):
        producer.close(LIMIT_S)
    assert seen == [b"0", b"1", b"2"]
    assert producer.close()


def test_a_poll_that_waits_ends_when_another_thread_closes(make: Make) -> None:
    producer = make()
    producer.list_topics(timeout=LIMIT_S)
    with once(inside(ReportQueue.wait), producer.close):
        assert producer.poll(LIMIT_S) == 0


def test_a_dropped_producer_says_what_was_lost_and_ends_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    producer = OfflineProducer(FakeCluster(hold=True), {})
    producer.produce("events", b"a")
    cluster = producer.cluster
    until(lambda: cluster.held)
    produce, thread = producer.produce, producer._thread._core.thread
    with caplog.at_level(logging.WARNING, "kafka_core.producer"):
        del producer
        gc.collect()
    assert "dropped with 1 records not delivered" in caplog.text
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    with pytest.raises(StateError, match="gone"):
        produce("events", b"b")


def test_a_producer_that_nobody_holds_takes_a_record_and_says_what_becomes_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gc.collect()  # what other tests dropped is told before
    with caplog.at_level(logging.WARNING, "kafka_core.producer"):
        OfflineProducer(FakeCluster(), {}).produce("events", b"a")
        gc.collect()
    assert [record.getMessage()[:48] for record in caplog.records] == [
        "a record was given to an unreferenced producer, "
    ]


def test_a_producer_that_was_not_used_is_dropped_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    gc.collect()  # what other tests dropped is told before
    with caplog.at_level(logging.DEBUG, "kafka_core.producer"):
        OfflineProducer(FakeCluster(), {})
        gc.collect()
    assert caplog.text == ""


def test_a_producer_without_use_leaves_no_thread(make: Make) -> None:
    before = set(threading.enumerate())  # those of other tests may start and end meanwhile
    producer = make()
    assert producer.poll(0) == 0
    assert producer.flush() == 0
    assert producer.close()
    assert {"kafka-core-producer"}.isdisjoint(thread.name for thread in set(threading.enumerate()) - before)


def test_a_bad_configuration_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        Producer({"bootstrap.servers": "x", "linger.msec": 1})


def test_transactions_need_a_transactional_id() -> None:
    with Producer({"bootstrap.servers": "127.0.0.1:1"}) as producer, pytest.raises(KafkaException) as raised:
        producer.init_transactions(1)
    assert raised.value.code == KafkaError._NOT_CONFIGURED


def test_properties_may_be_given_by_name(make: Make) -> None:
    with Producer(logger=logging.getLogger("mine"), acks=1) as producer:
        assert producer._core.config["acks"] == 1
    with pytest.raises(TypeError, match="expected configuration dict"):
        Producer()


# ---- threads and processes


def test_many_threads_produce_and_poll_and_every_record_is_reported_once(make: Make) -> None:
    producer = make(queue_buffering_max_messages=500, linger_ms=1)
    seen: Counter[bytes] = Counter()
    lock = threading.Lock()
    failures: list[BaseException] = []

    def report(error: KafkaError | None, message: Any) -> None:
        with lock:
            seen[message.value()] += 1

    def produce(thread: int) -> None:
        try:
            for number in range(1000):
                while True:
                    try:
                        producer.produce("events", b"%d-%d" % (thread, number), on_delivery=report)
                        break
                    except BufferError:
                        producer.poll(0.05)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert producer.flush(LIMIT_S) == 0
    assert not failures
    assert seen == Counter({b"%d-%d" % (thread, number): 1 for thread in range(3) for number in range(1000)})


PRELUDE = """
import os, signal, sys, threading, time
from kafka_core.errors import StateError
from tests.unit.kafka_core.aio.fake_cluster import FakeCluster
from tests.unit.kafka_core.sync.test_producer import OfflineProducer
"""


def python(code: str, *options: str) -> "subprocess.CompletedProcess[str]":
    script = PRELUDE + textwrap.dedent(code)
    words = [sys.executable, "-Werror", "-Wignore:This process:DeprecationWarning", *options, "-c", script]
    return subprocess.run(words, capture_output=True, text=True, timeout=PROCESS_S, check=False)


@pytest.mark.parametrize("call", ["producer.flush()", "producer.poll()", "producer.produce('events', b'b')"])
def test_ctrl_c_interrupts_every_wait(call: str) -> None:
    done = python(f"""
        conf = {{"queue.buffering.max.messages": 1, "max.block.ms": 600000}}
        producer = OfflineProducer(FakeCluster(hold=True), conf)
        producer.produce("events", b"a", on_delivery=print)
        def interrupt():
            time.sleep(0.3)  # let it really block; too early is no failure
            os.kill(os.getpid(), signal.SIGINT)
        try:
            threading.Thread(target=interrupt).start()
            {call}
        except KeyboardInterrupt:
            print("interrupted")
        producer.close(0)
        """)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "interrupted"), done.stderr


def test_a_forked_child_is_told_at_once_and_the_parent_is_unharmed() -> None:
    done = python("""
        used, unused = OfflineProducer(FakeCluster(), {}), OfflineProducer(FakeCluster(), {})
        used.produce("events", b"a")
        assert used.flush(60) == 0
        used.produce("events", b"b")
        child = os.fork()
        if child == 0:
            for call in (lambda: used.produce("events", b"c"), used.poll, used.flush):
                try:
                    call()
                    os._exit(3)
                except StateError as error:
                    if "fork" not in str(error):
                        os._exit(4)
            assert used.close()  # only this copy: the records are the parent's
            unused.produce("events", b"d")  # was not started: works here
            if unused.flush(5) != 0:
                os._exit(5)
            unused.close()
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, os.waitstatus_to_exitcode(status)
        assert used.flush(60) == 0
        used.close()
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_exit_without_close_only_says_what_was_lost() -> None:
    done = python("""
        producer = OfflineProducer(FakeCluster(hold=True), {})
        producer.produce("events", b"a")
        time.sleep(0.1)
        """)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "a producer was dropped with 1 records not delivered: call flush() or close() before"
    ]


def test_exit_after_flush_is_silent() -> None:
    done = python("""
        producer = OfflineProducer(FakeCluster(), {})
        producer.produce("events", b"a")
        assert producer.flush(60) == 0
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- close() and message.timeout.ms


def test_close_waits_until_message_timeout_ms_has_done_its_work(make: Make) -> None:
    for _ in range(5):
        producer, reports = make(FakeCluster(hold=True), message_timeout_ms=50), Reports()
        for _ in range(3):
            producer.produce("events", b"v", on_delivery=reports)
        assert producer.close() is True  # every record has a verdict
        assert [code for code, _, _ in reports] == [KafkaError._MSG_TIMED_OUT] * 3


def test_a_shorter_close_purges(make: Make) -> None:
    producer, reports = make(FakeCluster(hold=True)), Reports()
    producer.produce("events", b"v", on_delivery=reports)
    until(lambda: producer.cluster.held)
    assert producer.close(0.01) is False
    assert [code for code, _, _ in reports] == [KafkaError._PURGE_INFLIGHT]
