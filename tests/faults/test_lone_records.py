"""Lone records against a model (decisions 0107, 0109): whatever happens, in an order that a seed draws.

Each record has its callback once; it is in the log, where the callback says, when that is called; callbacks of records
that are written come in the order of `produce` in each partition, and the log has that order, once each.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kafka_core import KafkaError, Producer
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.faults import Delay, Disconnect
from kafka_core.errors import StateError
from kafka_core.protocol.messages.produce import ProduceRequest

TOPIC: Final = "lone"
PARTITIONS: Final = 2
STEPS: Final = 80
SECOND_RECORDS: Final = 150
LOOK_EVERY: Final = 16
"""The log is read at every so many callbacks, and at the end for all: decoding it takes the pure kernels long."""
LIMIT_S: Final = 60.0
QUICK: Final[dict[str, object]] = {
    "linger.ms": 0,
    "retry.backoff.ms": 5,
    "retry.backoff.max.ms": 20,
    "reconnect.backoff.ms": 5,
    "reconnect.backoff.max.ms": 20,
}
FAULTS: Final = (
    Disconnect(),
    Disconnect(handled=True),
    Delay(0.03),
    Delay(0.1),
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS,
)
GIVEN_UP: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._MSG_TIMED_OUT})
SIZES: Final = (10_000, 16_300, 16_400, 40_000, 300_000)
"""Around the largest record that `produce` sends itself, and far above it."""


class CallbackError(Exception):
    """Raised by some of the callbacks."""


class Model:
    """A producer, the records that it was given, and what it said of them."""

    def __init__(self, cluster: EmbeddedCluster, seed: int) -> None:
        self.cluster, self.rng, self.raising = cluster, random.Random(seed), random.Random(seed + 1)
        conf = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK}
        self.expires = self.rng.random() < 0.4
        if self.expires:
            conf["message.timeout.ms"] = self.rng.choice([40, 100, 200])
        if self.rng.random() < 0.3:
            conf["queue.buffering.max.messages"] = 3
        self.ordered = self.once = self.rng.random() < 0.7
        if not self.once:
            conf |= {"enable.idempotence": False, "acks": self.rng.choice([1, -1])}
            self.ordered = self.rng.random() < 0.5
            conf |= {"max.in.flight.requests.per.connection": 1} if self.ordered else {}
        self.producer = Producer(conf)
        self.sent: list[list[str]] = [[] for _ in range(PARTITIONS)]
        self.written: list[list[str]] = [[] for _ in range(PARTITIONS)]
        self.told: Counter[str] = Counter()
        self.offsets: dict[str, int] = {}
        self.wrong: list[str] = []
        self.purged = False
        self._numbers = itertools.count()
        self._turns = [threading.RLock() for _ in range(PARTITIONS)]  # one order of sending with several threads
        self._raises = 0.0

    # ---- records

    def send(self, partition: int, size: int = 0, *, follows: bool = False) -> None:
        """One record; its callback may produce another one, or raise."""
        name = str(next(self._numbers))

        def report(error: KafkaError | None, message: Any) -> None:
            self.told[name] += 1
            code = 0 if error is None else error.code()
            if not code:
                self.written[partition].append(name)
                self.offsets[name] = message.offset()
                if self.told.total() % LOOK_EVERY == 0:
                    self._look_up(name, partition)
            elif code not in GIVEN_UP or not (self.purged or self.expires):
                self.wrong.append(f"{name} has failed: {error}")
            if follows:
                with contextlib.suppress(BufferError, StateError):  # no room, or it is being closed
                    self.send(partition)
            if self.raising.random() < self._raises:
                raise CallbackError(name)

        with self._turns[partition]:
            self.producer.produce(TOPIC, f"{name} " + "x" * size, partition=partition, on_delivery=report)
            self.sent[partition].append(name)

    def _look_up(self, name: str, partition: int) -> None:
        if (self.offsets[name], name) not in self.log(partition):
            self.wrong.append(f"{name} was told to be at {self.offsets[name]} of {partition}, and is not")

    def log(self, partition: int) -> list[tuple[int, str]]:
        """(offset, name) of the records that the brokers have."""
        records = self.cluster.records(TOPIC, partition)
        return [(record.offset() or 0, (record.value() or b"").decode().split(" ")[0]) for record in records]

    # ---- acts

    def poll(self, seconds: float) -> None:
        with contextlib.suppress(CallbackError):
            self.producer.poll(seconds)

    def flush(self, seconds: float) -> int:
        """Records left; those whose callback raises end a flush, as a poll."""
        try:
            return self.producer.flush(seconds)
        except CallbackError:
            return 1

    def act(self) -> None:
        """Something that an application or a cluster may do."""
        rng, partition = self.rng, self.rng.randrange(PARTITIONS)
        acts = {
            self.alone: 12,
            lambda: [self.send(partition) for _ in range(rng.randrange(2, 12))]: 2,
            lambda: self.send(partition, rng.choice(SIZES)): 1,
            lambda: self.poll(0): 1,
            lambda: self.flush(rng.choice([0, 0.001, 0.05])): 1,
            self.purge: 1,
            lambda: self.cluster.move_leader(TOPIC, partition, rng.choice([1, 2])): 1,
            self.break_something: 1,
            self.change_callbacks: 1,
            lambda: time.sleep(rng.choice([0.001, 0.02, 0.06])): 1,
        }
        (chosen,) = rng.choices(list(acts), list(acts.values()))
        try:
            chosen()
        except BufferError:
            self.poll(0.01)

    def alone(self) -> None:
        """A record, and its report in most cases: then the next one may be sent by `produce` itself."""
        before = self.told.total()
        self.send(self.rng.randrange(PARTITIONS), follows=self.rng.random() < 0.1)
        for _ in range(4):
            if self.told.total() == before:
                self.poll(0.05)

    def purge(self) -> None:
        self.purged = True
        in_queue, in_flight = self.rng.choice([(True, False), (False, True), (True, True)])
        self.producer.purge(in_queue=in_queue, in_flight=in_flight)

    def break_something(self) -> None:
        fault = self.rng.choice(FAULTS)
        self.cluster.intercept(ProduceRequest, lambda *_: fault, times=1)

    def change_callbacks(self) -> None:
        self._raises = self.rng.choice([0.0, 0.0, 0.2])

    # ---- the end

    def end(self) -> None:
        """Has everything told, and compares."""
        self._raises = 0.0
        deadline_s = time.monotonic() + LIMIT_S
        if self.rng.random() < 0.3:
            self.producer.close()
        else:
            while self.flush(1.0):
                assert time.monotonic() < deadline_s, "records are left"
        names = {name for sent in self.sent for name in sent}
        assert self.wrong == []
        assert self.told == Counter(names)
        for partition, (sent, written) in enumerate(zip(self.sent, self.written, strict=True)):
            place = {name: number for number, name in enumerate(sent)}
            rows = self.log(partition)
            log = [name for _, name in rows]
            assert {(self.offsets[name], name) for name in written} <= set(rows)
            assert set(written) <= set(log) <= set(sent)
            if self.ordered:
                assert written == sorted(written, key=place.__getitem__)
            if self.once:
                assert len(set(log)) == len(log)
                assert log == sorted(log, key=place.__getitem__)


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, default_partitions=PARTITIONS) as made:
        made.create_topic(TOPIC, PARTITIONS)
        yield made


@pytest.mark.parametrize("seed", range(5))
def test_each_record_is_told_once_in_order_and_only_when_it_is_written(cluster: EmbeddedCluster, seed: int) -> None:
    model = Model(cluster, seed)
    try:
        for _ in range(STEPS):
            model.act()
        model.end()
    finally:
        cluster.stop_intercepting()
        model.producer.close(1)


@pytest.mark.parametrize("seed", range(100, 103))
def test_the_same_holds_with_a_second_thread(cluster: EmbeddedCluster, seed: int) -> None:
    model, stop, draw = Model(cluster, seed), threading.Event(), random.Random(seed)

    def produce() -> None:
        for _ in range(SECOND_RECORDS):
            if stop.wait(draw.choice([0.0, 0.001, 0.005])):
                return
            with contextlib.suppress(BufferError):
                model.send(draw.randrange(PARTITIONS))

    second = threading.Thread(target=produce)
    second.start()
    try:
        for _ in range(STEPS):
            model.act()
        stop.set()
        second.join()
        model.end()
    finally:
        stop.set()
        second.join()
        cluster.stop_intercepting()
        model.producer.close(1)
