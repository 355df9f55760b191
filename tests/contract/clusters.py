"""The clusters of the contract suite behind one face, and the steps its tests are made of.

Must not know what is tested. A cluster of any kind is addresses, credentials and an administrator; every wait here is
bounded and says what it waited for.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kafka_core import Consumer, KafkaError, Message, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic, OffsetSpec

T = TypeVar("T")
LIMIT_S = 60.0
"""Nothing takes that long but what hangs."""
REMOTE_ASSIGNORS = {"range": "range", "roundrobin": "uniform"}
"""The broker's assignors for members whose own assignors would be the keys."""
_numbers = itertools.count(1)

#: What a broker of Kafka 2.1 announces, for the embedded cluster that plays one. Later APIs are hidden.
OLD_VERSIONS: Mapping[int, int | None] = {
    0: 7, 1: 10, 2: 4, 3: 7, 8: 6, 9: 5, 10: 2, 11: 3, 12: 2, 13: 2, 14: 2, 15: 2, 16: 2, 17: 1, 18: 2, 19: 3, 20: 3,
    21: 1, 22: 1, 23: 2, 24: 1, 25: 1, 26: 1, 28: 2, 32: 2, 33: 1, 35: 1, 36: 0, 37: 1, 42: 1, 44: None, 45: None,
    46: None, 47: None, 57: None, 60: None, 61: None, 65: None, 66: None, 68: None, 69: None, 74: None, 76: None,
    77: None, 78: None, 79: None, 90: None, 91: None, 92: None,
}  # fmt: skip


def unique(prefix: str) -> str:
    """A name that no other test, and no other run, uses."""
    return f"{prefix}-{os.getpid()}-{time.time_ns() % 10**10}-{next(_numbers)}"


def wait_for(look: Callable[[], T], what: str, limit_s: float = LIMIT_S) -> T:
    """Looks until what it sees is true, and gives it back; AssertionError when the time is over."""
    deadline_s = time.monotonic() + limit_s
    while not (seen := look()):
        assert time.monotonic() < deadline_s, f"{what}: not within {limit_s:g} s, last seen {seen!r}"
        time.sleep(0.01)
    return seen


def wait_until_led(admin: AdminClient, topics: Mapping[str, int]) -> None:
    """Returns when the leader of every partition of new topics (name: how many partitions) says that it is one.

    A broker shows a topic in its metadata a moment before it knows that it leads it, and both a moment after the
    controller's answer. Meanwhile it refuses records, and drops those that want no answer.
    """
    wanted = {TopicPartition(name, number): OffsetSpec.latest() for name in topics for number in range(topics[name])}

    def led() -> bool:
        return not any(found.exception(LIMIT_S) for found in admin.list_offsets(wanted).values())

    wait_for(led, f"the leaders of {', '.join(topics)}")


@dataclass(slots=True)
class Cluster:
    """A running cluster.

    Attributes:
        kind: `embedded`, `capped` (embedded, with the versions of Kafka 2.1), `real` or `old` (a real 3.9).
        sasl_servers: where user `alice` may log in; empty if nowhere.
        tls_servers: where TLS is spoken, with a certificate of `ca`.
        protocol: the `group.protocol` of consumers made by `consumer`.
    """

    kind: str
    servers: str
    sasl_servers: str = ""
    tls_servers: str = ""
    ca: Path = Path()
    partner: Any = None
    protocol: str = "classic"
    _admin: list[AdminClient] = field(default_factory=list)

    @property
    def admin(self) -> AdminClient:
        """An administrator that lives as long as the cluster."""
        if not self._admin:
            self._admin.append(AdminClient({"bootstrap.servers": self.servers}))
        return self._admin[0]

    def close(self) -> None:
        for admin in self._admin:
            admin.close()

    def topic(self, partitions: int = 1, **config: str) -> str:
        """Creates a topic; in the names of `config`, `_` stands for a dot."""
        name = unique("topic")
        configs = {key.replace("_", "."): value for key, value in config.items()}
        made = self.admin.create_topics([NewTopic(name, partitions, 1, config=configs)])
        made[name].result(LIMIT_S)
        wait_until_led(self.admin, {name: partitions})
        return name


def options(names: Mapping[str, object]) -> dict[str, object]:
    """Keyword arguments as properties: `fetch_min_bytes` is `fetch.min.bytes`; callbacks keep their names."""
    return {name if callable(value) else name.replace("_", "."): value for name, value in names.items()}


def producer(cluster: Cluster, /, **conf: object) -> Producer:
    return Producer({"bootstrap.servers": cluster.servers, "linger.ms": 2, **options(conf)})


def consumer(cluster: Cluster, group: str | None = None, /, **conf: object) -> Consumer:
    """A consumer that begins at the start of its partitions and has a group of its own, unless told otherwise."""
    return Consumer(consumer_conf(cluster, group, **conf))


def consumer_conf(cluster: Cluster, group: str | None = None, /, **conf: object) -> dict[str, object]:
    """The properties of `consumer`; those that only a classic member may have become what a member may ask for else."""
    own = {"group.id": group or unique("group"), "auto.offset.reset": "earliest", "heartbeat.interval.ms": 100}
    made: dict[str, object] = {"bootstrap.servers": cluster.servers, **own, **options(conf)}
    if cluster.protocol == "consumer":
        made["group.protocol"] = "consumer"
        assignor = REMOTE_ASSIGNORS.get(str(made.pop("partition.assignment.strategy", "")))
        if assignor is not None:
            made["group.remote.assignor"] = assignor
        for name in ("heartbeat.interval.ms", "session.timeout.ms"):
            made.pop(name, None)
    return made


class Reports:
    """Collects delivery reports: `on_delivery=reports`."""

    def __init__(self) -> None:
        self.delivered: list[Message] = []
        self.failed: list[tuple[KafkaError, Message]] = []

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.delivered.append(message)
        else:
            self.failed.append((error, message))


def fill(cluster: Cluster, topic: str, values: Iterable[bytes], partition: int = 0, **conf: object) -> list[Message]:
    """Produces values into one partition and checks that all were delivered; returns the reports.

    Unless told otherwise they are one batch: a reader sees all of them or none.
    """
    reports = Reports()
    with producer(cluster, **{"linger_ms": 60_000, **conf}) as writer:
        for value in values:
            writer.produce(topic, value, partition=partition, on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    assert reports.failed == []
    return reports.delivered


def take(reader: Consumer, count: int, limit_s: float = LIMIT_S) -> list[Message]:
    """Exactly `count` records; errors fail the test."""
    found: list[Message] = []
    deadline_s = time.monotonic() + limit_s
    while len(found) < count and time.monotonic() < deadline_s:
        for message in reader.consume(count - len(found), 0.5):
            assert message.error() is None, message.error()
            found.append(message)
    assert len(found) == count, f"{len(found)} records of {count} within {limit_s:g} s"
    return found


def take_error(reader: Consumer, limit_s: float = LIMIT_S) -> KafkaError:
    """The first event that is no record; records before it fail the test."""
    deadline_s = time.monotonic() + limit_s
    while time.monotonic() < deadline_s:
        message = reader.poll(0.5)
        if message is not None:
            error = message.error()
            assert error is not None, f"a record came first: {message!r}"
            return error
    raise AssertionError(f"no error within {limit_s:g} s")


def poll_until(
    readers: Sequence[Consumer], done: Callable[[], bool], what: str, limit_s: float = LIMIT_S
) -> list[Message]:
    """Polls all readers in turn until `done`; returns the records that came."""
    found: list[Message] = []
    deadline_s = time.monotonic() + limit_s
    while not done():
        assert time.monotonic() < deadline_s, f"{what}: not within {limit_s:g} s"
        for reader in readers:
            message = reader.poll(0.02)
            if message is not None:
                assert message.error() is None, message.error()
                found.append(message)
    return found


def values_of(messages: Iterable[Message]) -> list[bytes | None]:
    return [message.value() for message in messages]


def whole(topic: str, partition: int = 0, offset: int | None = None) -> TopicPartition:
    """A partition to be read from its start, or from `offset`."""
    return TopicPartition(topic, partition, -2 if offset is None else offset)
