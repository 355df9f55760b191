"""Ctrl-C at any moment of calls of a producer: a report comes once, nothing waits for ever, transactions are whole."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Producer, TopicPartition, kernels
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.faults import Delay
from kafka_core.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from kafka_core.protocol.messages.end_txn import EndTxnRequest
from tests.contract.clusters import wait_for
from tests.faults.interrupts import Interrupt

LIMIT_S = 60
STEP = 1
"""Every so many moments one is met; the calls before it take the same way each time."""

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning"),  # interrupted between being made and being started
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(kernels.IMPL != "native", reason="calls of the pure kernels are Python, and can be interrupted"),
]


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        yield cluster.bootstrap_servers


def moments(use: Callable[[int], None], afterwards: Callable[[int, str], None]) -> int:
    """Runs it with an interrupt at ever later moments, until it comes to its end without; how often it met one."""
    for met, moment in enumerate(range(0, 20_000, STEP)):
        interrupt = Interrupt(moment)
        with interrupt.armed():
            use(moment)
        if interrupt.where is None:
            return met
        afterwards(moment, interrupt.where)
    raise AssertionError("it never comes to its end")


@pytest.mark.parametrize("call", ["flush", "poll"])
def test_every_report_comes_once(servers: str, call: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    reports: Counter[bytes] = Counter()
    produced: list[bytes] = []

    def report(_: Any, message: Any) -> None:
        reports[message.value()] += 1

    def use(moment: int) -> None:
        for number in range(3):
            value = b"%d.%d" % (moment, number)
            produced.append(value)  # it may be there from here on
            producer.produce("t", value, on_delivery=report)
        if call == "flush":
            producer.flush(LIMIT_S)
        else:
            while len(producer):
                producer.poll(LIMIT_S)

    def afterwards(_: int, where: str) -> None:
        assert producer.flush(LIMIT_S) == 0, where
        assert len(producer) == 0, where
        assert max(reports.values(), default=0) <= 1, where
        missing = [value for value in produced if not reports[value]]
        assert len(missing) <= 1, where  # an interrupt after produce() has taken a record, or before it does
        produced.clear()
        reports.clear()

    assert moments(use, afterwards) > 5
    producer.close()


def committed(servers: str) -> list[bytes]:
    """The topic's records for a read_committed reader; no open transactions may be left."""
    conf = {
        "bootstrap.servers": servers,
        "group.id": "reader",
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
    }
    found: list[bytes] = []
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        while True:
            message = consumer.poll(LIMIT_S)
            assert message is not None, "the end of the partition is not reached"
            if message.error():
                return found
            found.append(message.value() or b"")


def one_by_one(producer: Producer, values: list[bytes]) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce("t", value, on_delivery=lambda *_: None)
    producer.commit_transaction(LIMIT_S)


def block(producer: Producer, values: list[bytes]) -> None:
    with producer.transaction():
        for value in values:
            producer.produce("t", value, on_delivery=lambda *_: None)


def insist(call: Callable[[float], None]) -> None:
    """Calls until the interrupted call has ended, too: it is cancelled on the loop's thread, a moment later."""
    while True:
        try:
            call(LIMIT_S)
        except KafkaException as error:
            if error.code != KafkaError._PREV_IN_PROGRESS:
                raise
        else:
            return


@pytest.mark.parametrize("use", [one_by_one, block])
@pytest.mark.parametrize("recover", ["abort_transaction", "commit_transaction"])
def test_a_transaction_is_whole_and_the_producer_goes_on(
    servers: str, use: Callable[[Producer, list[bytes]], None], recover: str
) -> None:
    """After the interrupt the application aborts, or commits what it has; then the next transaction can begin."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "x", "linger.ms": 0})
    producer.init_transactions(LIMIT_S)
    whole: list[bytes] = []

    def values(moment: int) -> list[bytes]:
        return [b"%d.%d" % (moment, number) for number in range(2)]

    def afterwards(moment: int, where: str) -> None:
        before = producer._core.transactor.transactions.state
        outcome = "done"
        try:
            insist(getattr(producer, recover))
        except KafkaException as error:
            outcome = error.error.str()
            other = "commit" if recover.startswith("abort") else "abort"
            with contextlib.suppress(KafkaException):  # _CONFLICT: the coordinator was asked to commit
                insist(getattr(producer, f"{other}_transaction"))
        seen = committed(servers)
        text = f"{where}: {before}, then {recover}: {outcome}"
        own = [value for value in seen if value in values(moment)]
        assert [value for value in seen if value not in own] == whole, text
        if recover == "commit_transaction" and outcome == "done":
            assert own == values(moment)[: len(own)], text  # those that had been taken
        else:
            assert own in ([], values(moment)), text
        whole.extend(own)
        last = b"after %d" % moment
        with producer.transaction():
            producer.produce("t", last)
        whole.append(last)
        assert len(producer) == 0, text

    assert moments(lambda moment: use(producer, values(moment)), afterwards) > 5
    producer.close()


@pytest.mark.parametrize("call", ["commit_transaction", "abort_transaction"])
@pytest.mark.parametrize("is_answered", [False, True])
def test_a_call_that_timed_out_is_resumed_also_when_it_has_ended_meanwhile(call: str, is_answered: bool) -> None:
    """It said "not valid in state Ready" then, and the next commit ended at once, without asking anybody."""
    with EmbeddedCluster() as cluster:
        servers = cluster.bootstrap_servers
        with Producer({"bootstrap.servers": servers, "transactional.id": "x"}) as producer:
            producer.init_transactions(LIMIT_S)
            producer.begin_transaction()
            producer.produce("t", b"first", partition=0)
            producer.flush(LIMIT_S)
            release = threading.Event()
            cluster.intercept(EndTxnRequest, lambda *_: None if release.is_set() else Delay(0.05))
            with pytest.raises(KafkaException) as raised:
                getattr(producer, call)(0.01)
            assert (raised.value.code, raised.value.retriable) == (KafkaError._TIMED_OUT, True)
            release.set()
            work = producer._core.transactor._work
            assert work is not None
            if is_answered:
                wait_for(work.done, "the coordinator has answered")
            getattr(producer, call)(LIMIT_S)
            with producer.transaction():
                producer.produce("t", b"second", partition=0)
            first = [b"first"] if call == "commit_transaction" else []
            assert committed(servers) == [*first, b"second"]


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_block_whose_commit_timed_out_is_ended_by_the_next_one(is_answered: bool) -> None:
    with EmbeddedCluster() as cluster:
        servers = cluster.bootstrap_servers
        with Producer({"bootstrap.servers": servers, "transactional.id": "x"}) as producer:
            producer.init_transactions(LIMIT_S)
            cluster.intercept(EndTxnRequest, lambda *_: Delay(0.3), times=1)
            with pytest.raises(KafkaException) as raised, producer.transaction(timeout=0.1):
                producer.produce("t", b"first", partition=0)
                producer.flush(LIMIT_S)
            assert raised.value.code == KafkaError._TIMED_OUT
            assert raised.value.__notes__ == ["the commit is under way: the next block waits for its end"]
            if is_answered:
                work = producer._core.transactor._work
                assert work is not None
                wait_for(work.done, "the coordinator has answered")
            with producer.transaction(timeout=LIMIT_S):
                producer.produce("t", b"second", partition=0)
            assert committed(servers) == [b"first", b"second"]


@pytest.mark.parametrize("before", [[], ["commit"]])
def test_a_transaction_that_the_coordinator_never_heard_of_is_aborted(before: list[str]) -> None:
    """Its partitions were refused, for the coordinator was moving; that ended the producer for good."""
    with EmbeddedCluster(properties={"transaction.version": "0"}) as cluster:
        servers = cluster.bootstrap_servers
        conf = {"bootstrap.servers": servers, "transactional.id": "x", "linger.ms": 0}
        with Producer(conf) as producer:
            producer.init_transactions(LIMIT_S)
            for _ in before:
                with producer.transaction():
                    producer.produce("t", b"before", partition=0)
            asked = threading.Event()

            def refuse(*_: Any) -> int:
                asked.set()
                return KafkaError.CONCURRENT_TRANSACTIONS

            rule = cluster.intercept(AddPartitionsToTxnRequest, refuse)
            producer.begin_transaction()
            producer.produce("t", b"given up", partition=0)
            assert asked.wait(LIMIT_S)
            producer.abort_transaction(LIMIT_S)
            cluster.stop_intercepting(rule)
            with producer.transaction():
                producer.produce("t", b"after", partition=0)
        assert committed(servers) == [b"before"] * len(before) + [b"after"]
