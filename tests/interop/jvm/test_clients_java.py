"""Our clients and the Java client on a real broker: in one group of each kind, and in one pipeline of transactions."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kafka_core import Consumer, Message, Producer, ShareConsumer, TopicPartition
from kafka_core.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType
from tests.contract.clusters import unique
from tests.patience import PROCESS_S
from tools.real_kafka import RealKafka, java

pytestmark = [pytest.mark.broker, pytest.mark.interop]

PROGRAM = Path(__file__).with_name("Clients.java")
PARTITIONS = 4
PROTOCOLS = {
    "range": (
        "partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor",
        "heartbeat.interval.ms=300",
    ),
    "cooperative-sticky": (
        "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        "heartbeat.interval.ms=300",
    ),
    "consumer": ("group.protocol=consumer",),
}


def wait_until(condition: Callable[[], object], what: Callable[[], str]) -> None:
    deadline_s = time.monotonic() + PROCESS_S
    while not condition():
        assert time.monotonic() < deadline_s, what()
        time.sleep(0.02)


class Java:
    """The program Clients.java: one JVM, told what to do by lines."""

    def __init__(self, servers: str, jars: Path) -> None:
        command = [java(), "-cp", f"{jars}/*", str(PROGRAM), servers]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._got: dict[str, list[str]] = defaultdict(list)
        self._owned: dict[str, set[int]] = {}
        self._answers: list[str] = []
        self._words: list[str] = []
        self._readers = [threading.Thread(target=work, daemon=True) for work in (self._hear, self._hear_errors)]
        for thread in self._readers:
            thread.start()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            what, name, *rest = line.split()
            if what == "got":
                self._got[name].append(rest[0])
            elif what == "owns":
                self._owned[name] = {int(number) for number in "".join(rest).split(",") if number}
            else:
                self._answers.append(line.strip())

    def _hear_errors(self) -> None:
        assert self._process.stderr is not None
        self._words += self._process.stderr

    def do(self, *words: object) -> None:
        """Has a command carried out, to its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        done = f"done {words[0]} {words[1]}"

        def answered() -> bool:
            failed = [answer for answer in self._answers if answer.startswith("failed")]
            assert not failed, failed
            assert self._process.poll() is None, "".join(self._words)[-2000:]
            return done in self._answers

        wait_until(answered, lambda: f"{words}: {self._answers}, {''.join(self._words)[-2000:]}")
        self._answers.remove(done)

    def got(self, name: str) -> list[str]:
        """The values that a client was given so far."""
        return list(self._got[name])

    def owned(self, name: str) -> set[int]:
        """The partitions that a member of a group has."""
        return self._owned.get(name, set())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PROCESS_S)
        finally:
            self._process.kill()
            for thread in self._readers:
                thread.join()
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                stream.close()


class Reader:
    """A consumer of ours, or of confluent-kafka, in a thread of its own, until it is stopped.

    Args:
        take: polls and makes sure of what it got; returns it.
    """

    def __init__(self, consumer: Any, topic: str, take: Callable[[Any], Sequence[Any]]) -> None:
        self.values: list[str] = []
        self.owned: set[int] = set()
        self.failure: BaseException | None = None
        self._consumer, self._topic, self._take = consumer, topic, take
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)  # one that nobody stops holds no exit up
        self._thread.start()

    def _run(self) -> None:
        try:
            self._consumer.subscribe([self._topic])
            while not self._stop.is_set():
                self.values += [message.value().decode() for message in self._take(self._consumer)]
                if hasattr(self._consumer, "assignment"):
                    self.owned = {item.partition for item in self._consumer.assignment()}
            self._consumer.close()
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        assert self.failure is None, self.failure


def consume(consumer: Consumer) -> Sequence[Message]:
    """Records, committed."""
    found = [message for message in consumer.consume(100, 0.1) if message.error() is None]
    if found:
        consumer.commit(asynchronous=False)
    return found


def accept(consumer: Any) -> Sequence[Any]:
    """Records of a share group whose acceptance the broker has confirmed."""
    found = [message for message in consumer.poll(0.1) if message.error() is None]
    return found if found and set(consumer.commit_sync().values()) == {None} else []


@pytest.fixture(scope="module")
def servers(real_kafka: RealKafka) -> str:
    return real_kafka.bootstrap_servers


@pytest.fixture(scope="module")
def theirs(servers: str, kafka_jars: Path) -> Iterator[Java]:
    program = Java(servers, kafka_jars)
    yield program
    program.close()


@pytest.fixture(scope="module")
def admin(servers: str) -> Iterator[AdminClient]:
    with AdminClient({"bootstrap.servers": servers}) as client:
        yield client


@pytest.fixture
def topic(admin: AdminClient) -> Callable[[int], str]:
    def make(partitions: int) -> str:
        name = unique("java")
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(PROCESS_S)
        return name

    return make


def write(servers: str, topic: str, values: Sequence[str], **conf: Any) -> None:
    with Producer({"bootstrap.servers": servers, **conf}) as producer:
        for number, value in enumerate(values):
            producer.produce(topic, value, partition=number % PARTITIONS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_group_shares_partitions_and_positions(
    servers: str, theirs: Java, topic: Callable[[int], str], protocol: str
) -> None:
    """Whoever leaves, the other goes on where it stood: what one has committed does not come to the other."""
    name, group, member = topic(PARTITIONS), unique("group"), unique("m")
    base = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
    own = {"group.protocol": "consumer"}
    if protocol != "consumer":
        own = {"partition.assignment.strategy": protocol, "heartbeat.interval.ms": "300"}
    conf = {**base, **own, "enable.auto.commit": False}
    ours = Reader(Consumer(conf), name, consume)
    everything = set(range(PARTITIONS))
    try:
        settings = (f"group.id={group}", "auto.offset.reset=earliest", "enable.auto.commit=false")
        theirs.do("member", member, name, *settings, *PROTOCOLS[protocol])

        def shared() -> bool:
            parts = (ours.owned, theirs.owned(member))
            return all(len(part) == PARTITIONS // 2 for part in parts) and set.union(*parts) == everything

        wait_until(shared, lambda: f"ours has {ours.owned}, Java's {theirs.owned(member)}; {ours.failure}")
        first = [f"a{number}" for number in range(40)]
        write(servers, name, first)
        wait_until(lambda: {*ours.values, *theirs.got(member)} >= set(first), lambda: f"{len(ours.values)} records")
        theirs.do("stop", member)
        java_got = theirs.got(member)
        assert java_got
        assert ours.values
        wait_until(lambda: ours.owned == everything, lambda: f"ours has {ours.owned}")
        second = [f"b{number}" for number in range(40)]
        write(servers, name, second)
        wait_until(lambda: set(ours.values) >= set(second), lambda: f"{len(ours.values)} records")
        assert not set(java_got) & set(ours.values)
    finally:
        ours.stop()
    again = unique("m")
    theirs.do("member", again, name, *settings, *PROTOCOLS[protocol])
    third = [f"c{number}" for number in range(8)]
    write(servers, name, third)
    wait_until(lambda: set(theirs.got(again)) >= set(third), lambda: f"Java got {theirs.got(again)}")
    theirs.do("stop", again)
    assert sorted(theirs.got(again)) == sorted(third)


def test_three_clients_share_one_share_group(
    servers: str, theirs: Java, admin: AdminClient, topic: Callable[[int], str]
) -> None:
    """Ours, Java's and confluent-kafka's: each takes part, each record is accepted once."""
    name, group, member = topic(PARTITIONS), unique("share"), unique("m")
    earliest = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=[earliest])
    admin.incremental_alter_configs([resource])[resource].result(PROCESS_S)
    conf = {"bootstrap.servers": servers, "group.id": group}
    ours = Reader(ShareConsumer(conf), name, accept)
    confluent = Reader(confluent_kafka.ShareConsumer({**conf, "log_level": 0}), name, accept)
    theirs.do("share", member, name, f"group.id={group}")
    written: list[str] = []
    try:

        def everybody_has_some() -> bool:
            return bool(ours.values and confluent.values and theirs.got(member))

        def told() -> list[str]:
            return [*ours.values, *confluent.values, *theirs.got(member)]

        deadline_s = time.monotonic() + PROCESS_S
        while not everybody_has_some() or len(written) < 200:
            assert time.monotonic() < deadline_s, (len(ours.values), len(confluent.values), len(theirs.got(member)))
            more = [f"s{len(written) + number}" for number in range(20)]
            write(servers, name, more)
            written += more
        wait_until(lambda: len(told()) >= len(written), lambda: f"{len(told())} of {len(written)} were accepted")
    finally:
        ours.stop()
        confluent.stop()
        theirs.do("stop", member)
    assert Counter(told()) == Counter(written)


def read_committed(servers: str, topic: str, count: int) -> list[str]:
    """The first `count` records that were committed."""
    conf = {"bootstrap.servers": servers, "group.id": unique("group"), "isolation.level": "read_committed"}
    found: list[str] = []
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        deadline_s = time.monotonic() + PROCESS_S
        while len(found) < count:
            assert time.monotonic() < deadline_s, found
            found += [
                (message.value() or b"").decode() for message in consumer.consume(100, 0.5) if not message.error()
            ]
    return found


def test_one_pipeline_of_transactions(servers: str, theirs: Java, topic: Callable[[int], str]) -> None:
    """Each reads what the other committed and nothing else, and goes on behind offsets that the other has sent."""
    source, target, group = topic(1), topic(1), unique("pipe")
    theirs.do("write", unique("tx"), source, "commit", *(f"j{number}" for number in range(10)))
    aborter = unique("tx")
    theirs.do("write", aborter, source, "abort", "x1", "x2")
    with Producer({"bootstrap.servers": servers, "transactional.id": unique("tx")}) as producer:
        producer.init_transactions(PROCESS_S)
        for values, commits in ((["y1", "y2"], False), ([f"k{number}" for number in range(10)], True)):
            producer.begin_transaction()
            for value in values:
                producer.produce(source, value, partition=0)
            producer.flush(PROCESS_S)
            if commits:
                producer.commit_transaction(PROCESS_S)
            else:
                producer.abort_transaction(PROCESS_S)
    theirs.do("write", aborter, source, "commit", "j10", "j11")
    wanted = [*(f"j{number}" for number in range(10)), *(f"k{number}" for number in range(10)), "j10", "j11"]
    assert read_committed(servers, source, len(wanted)) == wanted
    theirs.do("read", "source", source, len(wanted))
    assert theirs.got("source") == wanted

    theirs.do("pipe", unique("tx"), source, target, group, 7)
    conf = {"bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False}
    reads = {"isolation.level": "read_committed", "auto.offset.reset": "error"}
    with (
        Consumer({**conf, **reads}) as consumer,
        Producer({"bootstrap.servers": servers, "transactional.id": unique("tx")}) as producer,
    ):
        consumer.subscribe([source])
        producer.init_transactions(PROCESS_S)
        copied = 0
        deadline_s = time.monotonic() + PROCESS_S
        while copied < 8:
            with producer.transaction(consumer):
                for message in consumer.consume(8 - copied, 0.5):
                    assert message.error() is None, message.error()
                    producer.produce(target, message.value(), partition=0)
                    copied += 1
            assert time.monotonic() < deadline_s, copied
    theirs.do("pipe", unique("tx"), source, target, group, len(wanted) - 15)
    theirs.do("read", "target", target, len(wanted))
    assert theirs.got("target") == wanted
    assert read_committed(servers, target, len(wanted)) == wanted
