"""The blocking consumer on an embedded cluster: records, groups, callbacks, offsets, the end, and misuse."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.aio.consuming.events import Notice
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import ConfigError, ConsumeError, KafkaError, KafkaException, NetworkError, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from tests.faults.consumer_cluster import fill, next_error, poll_until, read, settings, values
from tests.later import inside, once
from tests.patience import judged_by

HANG_S = 60.0
"""Nothing takes that long but what hangs."""


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedCluster]:
    """A cluster with topic `log`: 2 partitions of 10 records each; tests only read from it."""
    with EmbeddedCluster(auto_create_topics=False) as cluster:
        cluster.create_topic("log", 2)
        for partition in range(2):
            fill(cluster, "log", partition, [b"%d-%d" % (partition, n) for n in range(10)])
        yield cluster


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    properties = {"group.min.session.timeout.ms": "100"}
    with EmbeddedCluster(auto_create_topics=False, properties=properties) as cluster:
        cluster.create_topic("t", 2)
        yield cluster


def assigned(cluster: EmbeddedCluster, *offsets: int, topic: str = "log", **more: Any) -> Consumer:
    consumer = Consumer(settings(cluster, **more))
    consumer.assign([TopicPartition(topic, number, offset) for number, offset in enumerate(offsets)])
    return consumer


# ---- records


def test_columns_raise_what_messages_would_carry(shared: EmbeddedCluster) -> None:
    pytest.importorskip("pyarrow")
    with assigned(shared, 99, auto_offset_reset="error") as consumer:
        with pytest.raises(ConsumeError, match="out of range") as caught:
            consumer.consume_arrow(5, HANG_S)
        assert caught.value.code == KafkaError._AUTO_OFFSET_RESET


def test_columns_pass_over_the_ends_of_partitions(shared: EmbeddedCluster) -> None:
    pytest.importorskip("pyarrow")
    with assigned(shared, 0, enable_partition_eof=True) as consumer:
        count = 0
        while count < 10:
            count += consumer.consume_arrow(100, HANG_S).num_rows
        assert consumer.consume_arrow(1, 0.1).num_rows == 0


def test_iteration_gives_messages(shared: EmbeddedCluster) -> None:
    with assigned(shared, 7) as consumer:
        found = [message.value() for _, message in zip(range(3), consumer, strict=False)]
    assert found == [b"0-7", b"0-8", b"0-9"]


# ---- groups


def test_a_group_of_one_gets_everything_and_commits_at_the_end(cluster: EmbeddedCluster) -> None:
    for partition in range(2):
        fill(cluster, "t", partition, [b"x"] * 5)
    calls: list[tuple[str, list[int], int]] = []

    def note(kind: str) -> Any:
        def callback(_: Consumer, partitions: list[TopicPartition]) -> None:
            calls.append((kind, sorted(item.partition for item in partitions), threading.get_ident()))

        return callback

    consumer = Consumer(settings(cluster))
    assert consumer.memberid() is None
    consumer.subscribe(["t"], on_assign=note("assign"), on_revoke=note("revoke"))
    assert consumer.subscription() == ["t"]
    read(consumer, 10)
    assert consumer.memberid()
    assert consumer.consumer_group_metadata().generation_id >= 0
    consumer.close()
    here = threading.get_ident()
    assert calls == [("assign", [0, 1], here), ("revoke", [0, 1], here)]
    assert cluster.committed("g", "t", 0) == 5
    again = Consumer(settings(cluster))
    again.subscribe(["t"])
    poll_until(again, lambda: len(again.assignment()) == 2)
    assert again.poll(0.2) is None
    assert [item.offset for item in again.committed([TopicPartition("t", 1)], HANG_S)] == [5]
    again.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def not_polled(consumer: Consumer) -> None:
    deadline_s = time.monotonic() + HANG_S
    while consumer.health().state != "expelled":
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    assert not consumer.health().healthy


def test_not_polling_is_told_and_mended_by_polling(cluster: EmbeddedCluster) -> None:
    judged_by(1.0, not_polling_is_told_and_mended, cluster)


def not_polling_is_told_and_mended(limit_s: float, cluster: EmbeddedCluster) -> None:
    lost: list[int] = []
    limit_ms = round(limit_s * 1000)
    with Consumer(settings(cluster, max_poll_interval_ms=limit_ms, session_timeout_ms=limit_ms)) as consumer:
        consumer.subscribe(["t"], on_lost=lambda _, partitions: lost.append(len(partitions)))
        poll_until(consumer, lambda: len(consumer.assignment()) == 2)
        first_id = consumer.memberid()
        not_polled(consumer)
        message = next_error(consumer)
        assert message.error() == KafkaError._MAX_POLL_EXCEEDED
        poll_until(consumer, lambda: consumer.health().state == "stable")
        assert lost == [2]
        assert len(consumer.assignment()) == 2
        assert consumer.memberid() != first_id


def test_one_poll_without_end_is_enough_to_come_back_after_not_polling(cluster: EmbeddedCluster) -> None:
    judged_by(1.0, one_poll_comes_back, cluster)


def one_poll_comes_back(limit_s: float, cluster: EmbeddedCluster) -> None:
    limit_ms = round(limit_s * 1000)
    with Consumer(settings(cluster, max_poll_interval_ms=limit_ms, session_timeout_ms=limit_ms)) as consumer:
        consumer.subscribe(["t"], on_revoke=lambda *_: None)
        poll_until(consumer, lambda: len(consumer.assignment()) == 2)
        not_polled(consumer)
        assert next_error(consumer).error() == KafkaError._MAX_POLL_EXCEEDED
        fill(cluster, "t", 0, [b"back"])
        message = consumer.poll(HANG_S)  # the callback runs in it, then the group is joined again
        assert message is not None
        assert message.value() == b"back"


# ---- commits


def test_commits_of_messages_offsets_and_what_is_stored(cluster: EmbeddedCluster) -> None:
    fill(cluster, "t", 0, [b"x"] * 5)
    with assigned(cluster, 0, topic="t", enable_auto_commit=False) as consumer:
        assert consumer.commit() is None, "nothing is stored: as confluent_kafka, it returns"
        with pytest.raises(KafkaException) as caught:
            consumer.commit(asynchronous=False)
        assert caught.value.code == KafkaError._NO_OFFSET
        messages = read(consumer, 3)
        done = consumer.commit(messages[0], asynchronous=False)
        assert done is not None
        assert [(item.topic, item.partition, item.offset, item.error) for item in done] == [("t", 0, 1, None)]
        consumer.commit(offsets=[TopicPartition("t", 1, 7)], asynchronous=False)
        assert cluster.committed("g", "t", 1) == 7
        consumer.commit(asynchronous=False)
        assert cluster.committed("g", "t", 0) == 3
        with pytest.raises(ValueError, match="exclusive"):
            consumer.commit(messages[0], [TopicPartition("t", 0, 1)])
        with pytest.raises(ConfigError):
            consumer.commit(offsets=[TopicPartition("t", 0, -5)])
    assert cluster.committed("g", "t", 0) == 3


def test_store_offsets_needs_the_automatic_storing_off(shared: EmbeddedCluster) -> None:
    with assigned(shared, 0) as consumer, pytest.raises(ConfigError, match=r"enable\.auto\.offset\.store"):
        consumer.store_offsets(offsets=[TopicPartition("log", 0, 4)])


# ---- facts


def test_new_credentials_are_for_the_next_connection(shared: EmbeddedCluster) -> None:
    with assigned(shared, 0) as consumer:
        consumer.set_sasl_credentials("me", "secret")
        assert consumer._core.client.config.text("sasl.username") == "me"


def test_facts_about_cluster_and_consumer(shared: EmbeddedCluster) -> None:
    with assigned(shared, 6) as consumer:
        assert set(consumer.list_topics(timeout=HANG_S).topics) == {"log"}
        assert len(consumer.list_topics("log", HANG_S).topics["log"].partitions) == 2
        assert consumer.cluster_id(HANG_S) == shared.state.cluster_id
        read(consumer, 1)
        health = consumer.health()
        assert health.healthy
        assert health.lag == {("log", 0): 3}
        assert health.state == "idle"
        assert "'g'" in repr(consumer)


def test_statistics_are_json_about_the_partitions(shared: EmbeddedCluster) -> None:
    import json

    texts: list[str] = []
    conf = {**settings(shared, statistics_interval_ms=20), "stats_cb": texts.append}
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition("log", 0, 0)])
        read(consumer, 10)
        texts.clear()
        poll_until(consumer, lambda: texts)
    found = json.loads(texts[-1])
    assert found["type"] == "consumer"
    assert found["topics"]["log"]["partitions"]["0"]["app_offset"] == 10


# ---- waiting


def test_wakeup_ends_a_poll_that_waits_for_ever(shared: EmbeddedCluster) -> None:
    with assigned(shared, 10) as consumer, once(inside(Consumer.poll), consumer.wakeup):
        assert consumer.poll() is None


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_poll_at_once(shared: EmbeddedCluster) -> None:
    with assigned(shared, 10) as consumer:
        started_s = time.monotonic()
        with once(inside(Consumer.poll), os.kill, os.getpid(), signal.SIGINT), pytest.raises(KeyboardInterrupt):
            consumer.poll(10 * HANG_S)
        assert time.monotonic() - started_s < 5 * HANG_S
        assert consumer.poll(0) is None


@pytest.mark.parametrize("columns", [False, True])
def test_a_consume_that_is_broken_off_hands_its_records_back(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch, columns: bool
) -> None:
    for start in range(0, 50, 10):  # five batches, one per fetch
        fill(cluster, "t", 0, [b"%d" % n for n in range(start, start + 10)])
    with Consumer(settings(cluster, fetch_message_max_bytes=1, fetch_max_bytes=1)) as consumer:
        consumer.subscribe(["t"])
        assert values(read(consumer, 3)) == [b"0", b"1", b"2"]
        sleep, place = consumer._sleep, [TopicPartition("t", 0)]

        def interrupted(seconds: float | None) -> None:
            if consumer.position(place)[0].offset > 3:
                raise KeyboardInterrupt  # as Ctrl-C does; some records are taken by now
            sleep(seconds)

        monkeypatch.setattr(consumer._core.positions, "more_expected", lambda *_: True)  # it never has enough
        monkeypatch.setattr(consumer, "_sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            (consumer.consume_arrow if columns else consumer.consume)(1000, -1)
        monkeypatch.undo()
        assert values(read(consumer, 5)) == [b"%d" % n for n in range(3, 8)]
    with Consumer(settings(cluster)) as consumer:
        consumer.subscribe(["t"])
        assert values(read(consumer, 42)) == [b"%d" % n for n in range(8, 50)]


def test_callbacks_wait_until_the_records_are_returned(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise one that commits, on_revoke for example, would commit what the application has not seen."""
    for start in range(0, 30, 10):
        fill(cluster, "t", 0, [b"%d" % n for n in range(start, start + 10)])
    with Consumer(settings(cluster, fetch_message_max_bytes=1, fetch_max_bytes=1)) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        assert len(read(consumer, 1)) == 1
        notice = Message(error=KafkaError(KafkaError._FAIL, "told"))
        monkeypatch.setattr(consumer._core.positions, "more_expected", lambda *_: True)  # it never has enough
        monkeypatch.setattr(consumer, "_sleep", lambda _: consumer._core.inbox.append(Notice(notice)))
        found = consumer.consume(1000, HANG_S)
        monkeypatch.undo()
        assert found
        assert [message.error() for message in found] == [None] * len(found)
        assert consumer.poll(1) is notice


@pytest.mark.parametrize("call", ["_sleep", "_enter"])
def test_the_loop_goes_on_as_soon_as_the_taker_waits_or_comes_again(shared: EmbeddedCluster, call: str) -> None:
    """Who was given precedence says that it is through; else the loop waits until the time is over."""
    consumer = Consumer(settings(shared))
    consumer._precedence.given = True
    if call == "_sleep":
        consumer._sleep(0.0)
    else:
        consumer._enter()
    assert not consumer._precedence.given
    consumer.close()


def test_close_from_another_thread_ends_a_poll(shared: EmbeddedCluster) -> None:
    consumer = assigned(shared, 10)
    with once(inside(Consumer.poll), consumer.close), pytest.raises(StateError):
        consumer.poll(HANG_S)


# ---- the end


def test_a_closed_consumer_says_so(shared: EmbeddedCluster) -> None:
    consumer = assigned(shared, 0)
    consumer.close()
    consumer.close()
    place = [TopicPartition("log", 0, 0)]
    calls: list[Any] = [
        consumer.poll,
        consumer.consume,
        consumer.assignment,
        consumer.unsubscribe,
        consumer.unassign,
        consumer.memberid,
        consumer.commit,
        consumer.list_topics,
        consumer.subscription,
        consumer.consumer_group_metadata,
        lambda: consumer.subscribe(["log"]),
        lambda: consumer.assign(place),
        lambda: consumer.seek(place[0]),
        lambda: consumer.committed(place),
        lambda: consumer.position(place),
        lambda: consumer.pause(place),
        lambda: consumer.get_watermark_offsets(place[0]),
        lambda: consumer.store_offsets(offsets=place),
    ]
    for call in calls:
        with pytest.raises(StateError, match="closed"):
            call()
    assert consumer.health().state == "closed"
    assert "closed" in repr(consumer)


def test_a_consumer_that_was_never_used_closes(shared: EmbeddedCluster) -> None:
    consumer = Consumer(settings(shared))
    assert consumer.poll(0.01) is None
    consumer.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_consumer_says_so(shared: EmbeddedCluster) -> None:
    with assigned(shared, 0) as consumer:
        read(consumer, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: forking with threads is the point here
            pid = os.fork()
        if pid == 0:
            status = 1
            try:
                consumer.poll(1)
            except StateError as error:
                consumer.close()
                status = 0 if "fork" in str(error) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert len(read(consumer, 9)) == 9


def test_a_consumer_that_is_dropped_ends_its_thread(shared: EmbeddedCluster) -> None:
    consumer = assigned(shared, 0)
    read(consumer, 1)
    core = consumer._thread._core
    assert core is not None
    thread = core.thread
    del consumer, core
    gc.collect()
    thread.join(HANG_S)
    assert not thread.is_alive()


# ---- misuse and trouble at the start


def test_arguments_that_make_no_sense_are_refused(shared: EmbeddedCluster) -> None:
    with Consumer(settings(shared)) as consumer:
        wrong: Any = "log"
        with pytest.raises(ValueError, match="num_messages"):
            consumer.consume(-1)
        with pytest.raises(TypeError):
            consumer.subscribe(wrong)
        with pytest.raises(TypeError):
            consumer.subscribe(["log"], on_assign=wrong)
        with pytest.raises(TypeError):
            consumer.assign(wrong)
        with pytest.raises(TypeError):
            consumer.assign(TopicPartition("log", 0))  # type: ignore[arg-type]
        with pytest.raises(ConfigError):
            consumer.subscribe(["^("])
    with pytest.raises(ConfigError, match=r"group\.id"):
        Consumer({"bootstrap.servers": "localhost:1"})


def test_nobody_there_is_logged_and_raised_by_calls_that_wait(caplog: pytest.LogCaptureFixture) -> None:
    conf = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    with Consumer(conf) as consumer:
        consumer.subscribe(["t"])
        poll_until(consumer, lambda: "1/1 brokers are down; first cause: 127.0.0.1:1" in caplog.text)
        with pytest.raises(NetworkError, match="refused"):
            consumer.list_topics(timeout=0.3)


def test_nobody_there_goes_to_error_cb_if_there_is_one() -> None:
    errors: list[KafkaError] = []
    with Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "error_cb": errors.append}) as consumer:
        consumer.subscribe(["t"])
        poll_until(consumer, lambda: KafkaError._ALL_BROKERS_DOWN in errors)
