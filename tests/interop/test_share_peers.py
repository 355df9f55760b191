"""confluent-kafka's share consumer on the embedded broker: members share records, and none is lost or doubled."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import confluent_kafka as ck
import pytest
from confluent_kafka import admin as ck_admin

from kafka_core.broker import EmbeddedCluster
from tests.interop.peers import LIMIT_S, wait_until
from tests.patience import judged_by

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

MANY = 100_000


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, properties={"group.share.heartbeat.interval.ms": "200"}) as running:
        yield running


def begin(cluster: EmbeddedCluster, count: int, partitions: int = 1) -> None:
    """Topic `t` with the numbers up to `count`, and a group `g` that begins with the first."""
    cluster.create_topic("t", partitions)
    entry = ck_admin.ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=ck_admin.AlterConfigOpType.SET
    )
    admin = ck_admin.AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    group = ck_admin.ConfigResource(ck_admin.ConfigResource.Type.GROUP, "g", incremental_configs=[entry])
    for done in admin.incremental_alter_configs([group]).values():
        done.result(LIMIT_S)
    writer = ck.Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(count):
        writer.produce("t", b"%d" % number)
        if number % 10_000 == 0:
            writer.poll(0)
    assert writer.flush(LIMIT_S) == 0


def member(cluster: EmbeddedCluster, **settings: Any) -> Any:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "log_level": 0}
    made = ck.ShareConsumer({**conf, **{name.replace("_", "."): value for name, value in settings.items()}})
    made.subscribe(["t"])
    return made


def poll(reader: Any, enough: Callable[[list[Any]], bool]) -> list[Any]:
    """Polls until there is enough; errors fail the test."""
    found: list[Any] = []
    deadline_s = time.monotonic() + LIMIT_S
    while not enough(found):
        assert time.monotonic() < deadline_s, f"{len(found)} records within {LIMIT_S:g} s"
        for message in reader.poll(0.2):
            assert message.error() is None, message.error()
            found.append(message)
    return found


def left(cluster: EmbeddedCluster) -> int:
    """The number of records the group is not done with; all those of partitions that it has not answered for."""
    return sum(
        part.partition.log.end_offset if part.position[1] < 0 else part.position[1]
        for part in cluster.state.share_partitions.of_group("g")
    )


def test_four_members_share_many_records_and_each_is_read_once(cluster: EmbeddedCluster) -> None:
    begin(cluster, MANY, 4)
    stop = Event()
    values: list[list[bytes]] = [[] for _ in range(4)]

    def read(own: list[bytes]) -> None:
        reader = member(cluster)
        while not stop.is_set():
            for message in reader.poll(0.1):
                assert message.error() is None, message.error()
                own.append(message.value())
        reader.close()

    with ThreadPoolExecutor(4) as threads:
        readers = [threads.submit(read, own) for own in values]
        try:
            wait_until(lambda: sum(map(len, values)) >= MANY or any(item.done() for item in readers), "all records")
        finally:
            stop.set()
        for item in readers:
            item.result(LIMIT_S)
    assert Counter(value for own in values for value in own) == Counter(b"%d" % number for number in range(MANY))
    wait_until(lambda: left(cluster) == 0, "every record is acknowledged")


def test_each_kind_of_acknowledgement_does_what_it_says(cluster: EmbeddedCluster) -> None:
    begin(cluster, 4)
    reader = member(cluster, share_acknowledgement_mode="explicit")
    kinds = ck.AcknowledgeType
    first = poll(reader, lambda found: len(found) == 4)
    said = {b"0": kinds.ACCEPT, b"1": kinds.RELEASE, b"2": kinds.REJECT, b"3": kinds.ACCEPT}
    for message in first:
        reader.acknowledge(message, said[message.value()])
    reader.commit_sync(LIMIT_S)
    (again,) = poll(reader, bool)
    assert (again.value(), again.delivery_count()) == (b"1", 2)
    reader.acknowledge(again)
    reader.commit_sync(LIMIT_S)
    assert left(cluster) == 0  # an acknowledgement that was answered
    reader.close()


def test_what_a_member_takes_along_is_read_by_another() -> None:
    judged_by(1.0, taken_along_and_read)


def taken_along_and_read(lock_s: float) -> None:
    """The other member answers within the time in which the first one does not."""
    lock_ms = str(round(lock_s * 1000))
    names = ("group.share.min.record.lock.duration.ms", "group.share.record.lock.duration.ms")
    longest = {"group.share.max.record.lock.duration.ms": "3600000", "group.share.heartbeat.interval.ms": "200"}
    with EmbeddedCluster(brokers=2, properties={**dict.fromkeys(names, lock_ms), **longest}) as cluster:
        begin(cluster, 10)
        lost = member(cluster, share_acknowledgement_mode="explicit")
        assert len(poll(lost, lambda found: len(found) == 10)) == 10
        other = member(cluster)
        again = poll(other, lambda found: len(found) == 10)  # the locks of the first have ended
        assert {message.delivery_count() for message in again} == {2}
        other.commit_sync(LIMIT_S)
        assert left(cluster) == 0
        other.close()
        lost.close()
