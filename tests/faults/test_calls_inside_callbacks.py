"""Calls inside callbacks: flush, close, poll, purge, produce of the client that called them; nothing may lock or wait
for itself. A hang is ended by the watchdog below, which fails the test."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from kafka_core import Consumer, KafkaError, Producer
from kafka_core.aio import AIOConsumer, AIOProducer
from kafka_core.aio.net import tokens
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import ConfigError, StateError

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as made:
        made.create_topic("t", 1)
        yield made


def in_time(work: Callable[[], Any]) -> Any:
    """Run it on a thread of its own; one that does not end within a minute hangs."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    assert not thread.is_alive(), "it hangs"
    if errors:
        raise errors[0]
    return results[0]


def producer(cluster: EmbeddedCluster, **conf: Any) -> Producer:
    names = {name if name.endswith("_cb") else name.replace("_", "."): value for name, value in conf.items()}
    return Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 50, **names})


# ---- the blocking producer


def test_flush_in_a_delivery_callback_serves_the_others_and_does_not_wait_for_its_own(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster), list[Any]()

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        if message.value() == b"0":
            seen.append(("left", made.flush()))

    for number in range(5):
        made.produce("t", b"%d" % number, on_delivery=report)
    assert in_time(made.flush) == 0
    assert seen == [b"0", b"1", b"2", b"3", b"4", ("left", 0)]
    assert len(made) == 0
    assert made.close()


def test_flush_in_every_one_of_many_callbacks_neither_hangs_nor_nests_without_bound(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster, batch_num_messages=7), list[bytes]()

    def report(error: KafkaError | None, message: Any) -> None:
        assert error is None
        seen.append(message.value())
        made.flush()
        made.poll(0)

    values = [b"%d" % number for number in range(3000)]
    for value in values:
        made.produce("t", value, partition=0, on_delivery=report)
    assert in_time(made.flush) == 0
    assert sorted(seen) == sorted(values)
    assert made.close()


def test_records_produced_in_a_callback_are_flushed_by_the_flush_in_it(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster), list[Any]()

    def report(error: KafkaError | None, message: Any) -> None:
        made.produce("t", b"second", on_delivery=lambda error, message: seen.append(message.value()))
        seen.append(made.flush())

    made.produce("t", b"first", on_delivery=report)
    assert in_time(made.flush) == 0
    assert seen == [b"second", 0]
    made.close()


@pytest.mark.parametrize("served_by", ["poll", "flush", "close"])
def test_close_in_a_delivery_callback(cluster: EmbeddedCluster, served_by: str) -> None:
    made, seen = producer(cluster), list[Any]()

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append((message.value(), error))
        if message.value() == b"0":
            seen.append(made.close())

    for number in range(3):
        made.produce("t", b"%d" % number, on_delivery=report)
    in_time({"poll": lambda: made.poll(LIMIT_S), "flush": made.flush, "close": made.close}[served_by])
    served = [item for item in seen if item not in (True, False)]
    assert served == [(b"0", None), (b"1", None), (b"2", None)]
    assert len(made) == 0
    assert made.close()
    with pytest.raises(StateError, match="closed"):
        made.poll(0)


def test_close_in_a_callback_that_a_flush_in_a_callback_serves_loses_no_report(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster, batch_num_messages=1), list[bytes]()

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        if message.value() == b"0":
            made.flush()
        elif message.value() == b"1":
            made.close()

    for number in range(20):
        made.produce("t", b"%d" % number, on_delivery=report)
    in_time(lambda: made.poll(LIMIT_S))
    assert sorted(seen) == sorted(b"%d" % number for number in range(20))


def test_two_threads_whose_callbacks_flush_do_not_wait_for_each_other(cluster: EmbeddedCluster) -> None:
    made = producer(cluster, batch_num_messages=1, linger_ms=0)
    both = threading.Barrier(2)
    flushed: list[int] = []

    def report(error: KafkaError | None, message: Any) -> None:
        both.wait(LIMIT_S)
        flushed.append(made.flush())

    made.produce("t", b"1", on_delivery=report)
    made.produce("t", b"2", on_delivery=report)
    threads = [threading.Thread(target=made.flush, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive(), "they wait for each other"
    assert flushed == [0, 0]
    made.close()


def test_close_waits_for_a_callback_of_another_thread_that_closes_too(cluster: EmbeddedCluster) -> None:
    made, called, go_on = producer(cluster, linger_ms=0), threading.Event(), threading.Event()
    results: list[bool] = []

    def report(error: KafkaError | None, message: Any) -> None:
        called.set()
        go_on.wait(LIMIT_S)
        results.append(made.close())

    made.produce("t", b"1", on_delivery=report)
    poller = threading.Thread(target=made.poll, args=(LIMIT_S,), daemon=True)
    closer = threading.Thread(target=lambda: results.append(made.close()), daemon=True)
    poller.start()
    assert called.wait(LIMIT_S)
    closer.start()
    go_on.set()
    for thread in (poller, closer):
        thread.join(LIMIT_S)
        assert not thread.is_alive(), "they wait for each other"
    assert results == [True, True]


def test_a_blocking_produce_in_a_callback_finds_room(cluster: EmbeddedCluster) -> None:
    made = producer(cluster, queue_buffering_max_messages=3, max_block_ms=int(LIMIT_S * 1000), linger_ms=0)
    seen: list[bytes] = []

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        if not message.value().startswith(b"again"):
            made.produce("t", b"again " + message.value(), on_delivery=report)

    def work() -> int:
        for number in range(12):
            made.produce("t", b"%d" % number, on_delivery=report)
        return made.flush()

    assert in_time(work) == 0
    assert len(seen) == 24
    made.close()


def test_purge_and_metadata_in_a_callback(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster, batch_num_messages=1, max_in_flight=1, enable_idempotence=False), list[Any]()
    made.list_topics("t")

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(None if error is None else error.code())
        if len(seen) == 1:
            made.purge()
            seen.append(list(made.list_topics("t").topics))

    for number in range(50):
        made.produce("t", b"%d" % number, partition=0, on_delivery=report)
    assert in_time(made.flush) == 0
    codes = [item for item in seen if not isinstance(item, list)]
    assert len(codes) == 50
    assert set(codes) <= {None, KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT}
    assert ["t"] in seen
    made.close()


@pytest.mark.parametrize("call", ["flush", "poll", "close"])
def test_stats_cb_may_call_the_producer(cluster: EmbeddedCluster, call: str) -> None:
    done = threading.Event()

    def stats(text: str) -> None:
        if not done.is_set():
            {"flush": made.flush, "poll": lambda: made.poll(0), "close": made.close}[call]()
            done.set()

    made = producer(cluster, stats_cb=stats, statistics_interval_ms=10)
    made.produce("t", b"1")
    in_time(lambda: made.poll(LIMIT_S))
    assert done.is_set()
    made.close()


def test_errors_of_callbacks_inside_a_nested_flush_are_raised_there(cluster: EmbeddedCluster) -> None:
    made, seen = producer(cluster), list[Any]()

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message.value())
        if message.value() == b"0":
            with pytest.raises(ValueError, match="mine"):
                made.flush()
        if message.value() == b"1":
            raise ValueError("mine")

    for number in range(4):
        made.produce("t", b"%d" % number, on_delivery=report)
    assert in_time(made.flush) == 0
    assert seen == [b"0", b"1", b"2", b"3"]
    assert len(made) == 0
    made.close()


def test_a_log_handler_on_the_clients_thread_is_refused_instead_of_waiting_for_itself(
    cluster: EmbeddedCluster,
) -> None:
    refused: dict[str, str] = {}
    called = threading.Event()
    made = producer(cluster, linger_ms=60_000)  # a flush without records has nothing to wait for

    def on_the_loop() -> None:
        for name in ("flush", "close", "poll"):
            try:
                getattr(made, name)()
            except StateError as error:
                refused[name] = str(error)
        called.set()

    made.produce("t", b"1")
    made._thread.post(on_the_loop)
    assert called.wait(LIMIT_S), "it waits for itself"
    assert sorted(refused) == ["close", "flush", "poll"]
    assert all("own background thread" in text for text in refused.values())
    assert in_time(made.close)


# ---- the asyncio producer


def test_async_callbacks_of_the_asyncio_producer_may_flush_and_close(
    cluster: EmbeddedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        seen: list[Any] = []
        closed = asyncio.Event()
        made = AIOProducer({"bootstrap.servers": cluster.bootstrap_servers})

        async def report(error: KafkaError | None, message: Any) -> None:
            seen.append(message.value())
            seen.append(await made.flush())
            await made.close()
            closed.set()
            raise ValueError("mine")

        async with asyncio.timeout(LIMIT_S):
            await (await made.produce("t", b"1", on_delivery=report))
            await closed.wait()
        assert seen == [b"1", 0]

    with caplog.at_level(logging.ERROR, "kafka_core.producer"):
        asyncio.run(run())
    assert "a callback of the producer failed" in caplog.text


def test_close_waits_for_async_callbacks_that_still_run(cluster: EmbeddedCluster) -> None:
    seen: list[str] = []

    async def report(error: KafkaError | None, message: Any) -> None:
        await asyncio.sleep(0.05)
        seen.append("reported")

    async def run() -> None:
        async with AIOProducer({"bootstrap.servers": cluster.bootstrap_servers}) as made:
            await made.produce("t", b"1", on_delivery=report)
        seen.append("closed")

    asyncio.run(run())
    assert seen == ["reported", "closed"]


async def async_callback(*_: object) -> None:
    raise AssertionError("never called")


@pytest.mark.parametrize("name", ["error_cb", "stats_cb", "throttle_cb", "on_delivery", "oauth_cb"])
def test_a_coroutine_function_as_callback_of_a_blocking_client_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is a coroutine function"):
        Producer({"bootstrap.servers": "127.0.0.1:1", name: async_callback})


def test_coroutine_functions_for_a_rebalance_are_refused_by_the_blocking_consumer(cluster: EmbeddedCluster) -> None:
    with (
        Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "refused"}) as made,
        pytest.raises(ConfigError, match="on_assign is a coroutine function"),
    ):
        made.subscribe(["t"], on_assign=async_callback)


def test_a_coroutine_function_as_oauth_cb_is_refused_by_the_asyncio_client() -> None:
    with pytest.raises(ConfigError, match="oauth_cb is a coroutine function"):
        AIOProducer({**OAUTH, "oauth_cb": async_callback})


# ---- consumers


@pytest.mark.parametrize("timeout", [0.0, 0.1])  # closing may take longer than the poll had time
@pytest.mark.parametrize("where", ["on_assign", "on_revoke", "on_commit"])
def test_a_consumer_may_be_closed_inside_its_callbacks(cluster: EmbeddedCluster, where: str, timeout: float) -> None:
    closed: list[str] = []

    def callback(name: str) -> Callable[..., None]:
        def call(*_: object) -> None:
            if name == where:
                made.close()
                closed.append(name)

        return call

    made = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": f"closing-{where}-{timeout}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "on_commit": callback("on_commit"),
        }
    )

    def work() -> None:
        with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as writer:
            writer.produce("t", b"1")
        made.subscribe(["t"], on_assign=callback("on_assign"), on_revoke=callback("on_revoke"))
        while not closed:
            message = made.poll(timeout)
            if message is not None and where == "on_revoke":
                made.close()
            elif message is not None:
                made.commit()

    if where == "on_revoke":
        in_time(work)
    else:  # the poll in which it was closed has nothing to give back
        with pytest.raises(StateError, match="closed"):
            in_time(work)
    assert set(closed) == {where}
    in_time(made.close)


@pytest.mark.parametrize("where", ["on_assign", "on_revoke"])
def test_an_asyncio_consumer_may_be_closed_inside_its_callbacks(cluster: EmbeddedCluster, where: str) -> None:
    async def run() -> list[str]:
        closed: list[str] = []
        made = AIOConsumer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": f"aio-closing-{where}",
                "auto.offset.reset": "earliest",
            }
        )

        def callback(name: str) -> Callable[..., Any]:
            async def call(*_: object) -> None:
                if name == where:
                    await made.close()
                    closed.append(name)

            return call

        async with asyncio.timeout(LIMIT_S):
            await made.subscribe(["t"], on_assign=callback("on_assign"), on_revoke=callback("on_revoke"))
            with contextlib.suppress(StateError):  # the poll in which it was closed
                while where == "on_assign" or not await made.assignment():
                    await made.poll(0.1)
            await made.close()
        return closed

    assert asyncio.run(run()) == [where]


# ---- oauth_cb: its client can do nothing before it has returned


def token_after(call: Callable[[], object], said: list[str]) -> Callable[[str | None], tuple[str, float]]:
    """An `oauth_cb` that makes a call first, and notes how that ended."""

    def oauth_cb(_: str | None) -> tuple[str, float]:
        try:
            call()
        except StateError as error:
            said.append(str(error))
        else:
            said.append("returned")
        return "abc.def.", time.time() + 3600

    return oauth_cb


OAUTH = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER"}
"""With these a client is not made before oauth_cb has returned its first token."""

Made = TypeVar("Made", Consumer, Producer)


@pytest.fixture(autouse=True)
def _first_token_whenever_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FIRST_TOKEN_S", LIMIT_S)


def known_early(kind: type[Made], known: list[Made]) -> type[Made]:
    """A subclass as an application may have it, that is known before it is made."""

    def init(self: Made, conf: dict[str, object]) -> None:
        known.append(self)
        kind.__init__(self, conf)

    return type(kind.__name__, (kind,), {"__init__": init})


@pytest.mark.parametrize("name", ["flush", "poll", "close", "list_topics", "purge"])
def test_a_producer_that_waits_inside_oauth_cb_for_its_own_token_is_told_so(name: str) -> None:
    said: list[str] = []
    known: list[Producer] = []

    def call() -> None:
        known[0].produce("t", b"v")  # something to wait for
        getattr(known[0], name)()

    conf = {**OAUTH, "oauth_cb": token_after(call, said), "message.timeout.ms": 3_600_000}
    made = known_early(Producer, known)(conf)
    made.purge()
    made.close()
    assert "before oauth_cb has returned a token" in said[0]


@pytest.mark.parametrize("name", ["poll", "consume", "close", "list_topics"])
def test_a_consumer_that_waits_inside_oauth_cb_for_its_own_token_is_told_so(name: str) -> None:
    said: list[str] = []
    known: list[Consumer] = []
    callback = token_after(lambda: getattr(known[0], name)(), said)
    made = known_early(Consumer, known)({**OAUTH, "oauth_cb": callback, "group.id": "g"})
    made.subscribe(["t"])
    made.close()
    assert "before oauth_cb has returned a token" in said[0]


def test_calls_that_do_not_wait_and_other_clients_work_inside_oauth_cb(cluster: EmbeddedCluster) -> None:
    said: list[str] = []
    known: list[Producer] = []

    def call() -> None:
        known[0].produce("t", b"from the callback")
        known[0].poll(0)
        other = producer(cluster)
        other.produce("t", b"v")
        assert other.flush() == 0
        other.close()

    made = known_early(Producer, known)({**OAUTH, "oauth_cb": token_after(call, said)})
    made.produce("t", b"v")
    assert len(made) == 2
    made.purge()
    made.close()
    assert said[0] == "returned"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, "it hangs"
        time.sleep(0.01)
