"""Our clients beside the others on a real broker: records both ways, mixed groups, partitions of keys, offsets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core import Consumer, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from tests.contract.clusters import unique, wait_until_led
from tests.interop.peers import (
    LIMIT_S,
    PEERS,
    READ,
    WRITE,
    GroupMember,
    Row,
    committed,
    kafka_python_has,
    ours_read,
    ours_write,
    read_and_commit,
    wait_until,
)
from tools.real_kafka import RealKafka

pytestmark = [
    pytest.mark.interop,
    pytest.mark.broker,
    # librdkafka's and kafka-python's own habits at close, not ours to fix.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
NOW_MS = 1_700_000_000_000
ROWS: list[Row] = [
    (NOW_MS, b"k", b"value", [("h", b"x"), ("h", b"y"), ("ä", b"")]),
    (NOW_MS + 5, None, b"no key", []),
    (NOW_MS - 5, b"gone", None, []),
    (NOW_MS + 1, b"", b"", []),
    (NOW_MS + 2, b"\x00\xff", bytes(range(256)) * 40, [("large", b"z" * 3000)]),
    *((NOW_MS + 1000 + n, b"key-%d" % (n % 7), b"value-%d " % n * 9, [("n", b"%d" % n)]) for n in range(60)),
]
NULL_HEADER: Row = (NOW_MS, b"k", b"v", [("nothing", None)])


@pytest.fixture(scope="module")
def admin(real_kafka: RealKafka) -> Iterator[AdminClient]:
    with AdminClient({"bootstrap.servers": real_kafka.bootstrap_servers}) as client:
        yield client


@pytest.fixture
def servers(real_kafka: RealKafka) -> str:
    return real_kafka.bootstrap_servers


def make_topic(admin: AdminClient, partitions: int = 1) -> str:
    name = unique("topic")
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(LIMIT_S)
    # A peer that leads a group and does not see the topic would wait for its next refresh of metadata, five minutes.
    wait_until_led(admin, {name: partitions})
    return name


def skip_if_missing(client: str, codec: str) -> None:
    if client == "kafka-python" and not kafka_python_has(codec):
        pytest.skip(f"kafka-python has no module for {codec} here")


# ---- records


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("reader", PEERS)
def test_our_records_are_read_by_other_clients(admin: AdminClient, servers: str, reader: str, codec: str) -> None:
    skip_if_missing(reader, codec)
    topic = make_topic(admin)
    with Producer({"bootstrap.servers": servers, "linger.ms": 50, "compression.type": codec}) as writer:
        for ts, key, value, headers in ROWS:
            writer.produce(topic, value, key, timestamp=ts, headers=headers)
        assert writer.flush(LIMIT_S) == 0
    assert READ[reader](servers, topic, len(ROWS)) == [(0, row) for row in ROWS]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", PEERS)
def test_records_of_other_clients_are_read(admin: AdminClient, servers: str, writer: str, codec: str) -> None:
    skip_if_missing(writer, codec)
    topic = make_topic(admin)
    name = "compression_type"
    conf: dict[str, Any] = {name: codec} if codec != "none" or writer == "confluent" else {}
    WRITE[writer](servers, topic, ROWS, **conf)
    assert ours_read(servers, topic, len(ROWS)) == [(0, row) for row in ROWS]
    columns = read_columns(servers, topic, len(ROWS))
    assert columns == [(ts, key, value, headers) for ts, key, value, headers in ROWS]


def read_columns(servers: str, topic: str, count: int) -> list[Row]:
    found: list[Row] = []
    with Consumer({"bootstrap.servers": servers, "group.id": "reads-only", "enable.auto.commit": False}) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        while len(found) < count:
            for row in reader.consume_arrow(1000, LIMIT_S).to_pylist():
                headers = [(item["key"], item["value"]) for item in row["headers"]]
                found.append((round(row["timestamp"].timestamp() * 1000), row["key"], row["value"], headers))
    return found


@pytest.mark.parametrize("peer", ["confluent", "aiokafka"])
def test_a_header_without_a_value(admin: AdminClient, servers: str, peer: str) -> None:
    topic = make_topic(admin)
    ours_write(servers, topic, [NULL_HEADER])
    assert READ[peer](servers, topic, 1) == [(0, NULL_HEADER)]
    if peer == "confluent":  # aiokafka can't write one
        WRITE[peer](servers, topic, [NULL_HEADER])
        assert ours_read(servers, topic, 2) == [(0, NULL_HEADER)] * 2


@pytest.mark.parametrize("writer", ["ours", *PEERS])
def test_idempotent_producers_write_each_record_once(admin: AdminClient, servers: str, writer: str) -> None:
    topic = make_topic(admin)
    WRITE[writer](servers, topic, ROWS, enable_idempotence=True)
    with AdminClient({"bootstrap.servers": servers}) as client:
        assert len(client.list_topics(topic, LIMIT_S).topics[topic].partitions) == 1
    reader = "confluent" if writer == "ours" else "ours"
    assert READ[reader](servers, topic, len(ROWS)) == [(0, row) for row in ROWS]


@pytest.mark.parametrize("acks", ["0", "1"])
def test_records_without_idempotence(admin: AdminClient, servers: str, acks: str) -> None:
    topic = make_topic(admin)
    ours_write(servers, topic, ROWS, acks=acks, enable_idempotence=False)
    assert READ["confluent"](servers, topic, len(ROWS)) == [(0, row) for row in ROWS]


# ---- groups of different clients


@pytest.mark.parametrize("order", ["ours first", "ours last"])
@pytest.mark.parametrize(
    ("peer", "strategy"),
    [
        ("confluent", "range"),
        ("confluent", "roundrobin"),
        ("confluent", "cooperative-sticky"),
        ("confluent", "broker"),
        ("aiokafka", "range"),
        ("aiokafka", "roundrobin"),
        ("kafka-python", "range"),
        ("kafka-python", "roundrobin"),
    ],
)
def test_a_mixed_group_reads_each_record_once(
    admin: AdminClient, servers: str, peer: str, strategy: str, order: str
) -> None:
    """The one that joined first leads, and computes the assignment of both, if not the broker does."""
    topic, group = make_topic(admin, 4), unique("mixed")
    first, last = ("ours", peer) if order == "ours first" else (peer, "ours")
    with GroupMember(first, servers, topic, group, strategy) as one:
        wait_until(lambda: one.partitions == {0, 1, 2, 3}, "the first has all")
        with GroupMember(last, servers, topic, group, strategy) as two:
            wait_until(
                lambda: (
                    len(one.partitions) == len(two.partitions) == 2 and one.partitions | two.partitions == {0, 1, 2, 3}
                ),
                "each has its half",
            )
            for partition in range(4):
                rows: list[Row] = [(NOW_MS, None, b"%d-%d" % (partition, n), []) for n in range(25)]
                with Producer({"bootstrap.servers": servers}) as writer:
                    for _, _, value, _ in rows:
                        writer.produce(topic, value, partition=partition)
            wait_until(lambda: len(one.values) + len(two.values) >= 100, "all are read")
        wait_until(lambda: one.partitions == {0, 1, 2, 3}, "the one that stays has all again")
        expected = Counter(b"%d-%d" % (partition, n) for partition in range(4) for n in range(25))
        assert Counter(one.values + two.values) == expected
        assert len(one.values) == len(two.values) == 50


# ---- partitions of keys


def keyed(count: int = 150) -> list[Row]:
    rng = random.Random(7)
    keys = [b"", b"a", b"key", *(rng.randbytes(rng.randrange(1, 40)) for _ in range(count))]
    return [(NOW_MS, key, b"v", []) for key in keys]


@pytest.mark.parametrize(
    "partitioner", ["consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"]
)
def test_keys_go_where_librdkafka_puts_them(admin: AdminClient, servers: str, partitioner: str) -> None:
    topic = make_topic(admin, 7)
    rows = keyed() if partitioner != "consistent_random" else keyed()[1:]  # there an empty key is none
    ours = ours_write(servers, topic, rows, partitioner=partitioner)
    theirs = WRITE["confluent"](servers, topic, rows, partitioner=partitioner)
    assert ours == theirs
    assert len(set(ours)) == 7


@pytest.mark.parametrize("partitioner", ["consistent", "murmur2", "fnv1a"])
def test_a_missing_key_goes_where_librdkafka_puts_it(admin: AdminClient, servers: str, partitioner: str) -> None:
    topic = make_topic(admin, 7)
    rows: list[Row] = [(NOW_MS, None, b"v", [])] * 3
    ours = ours_write(servers, topic, rows, partitioner=partitioner)
    assert ours == WRITE["confluent"](servers, topic, rows, partitioner=partitioner)
    assert len(set(ours)) == 1


@pytest.mark.parametrize("peer", ["aiokafka", "kafka-python"])
def test_our_default_puts_keys_where_java_does(admin: AdminClient, servers: str, peer: str) -> None:
    topic, rows = make_topic(admin, 7), keyed()
    assert ours_write(servers, topic, rows) == WRITE[peer](servers, topic, rows)


# ---- committed offsets


@pytest.mark.parametrize("peer", PEERS)
def test_one_sees_what_the_other_committed(admin: AdminClient, servers: str, peer: str) -> None:
    topic = make_topic(admin)
    ours_write(servers, topic, ROWS[:10])
    for writer, reader, count in (("ours", peer, 4), (peer, "ours", 7)):
        group = unique("group")
        read_and_commit(writer, servers, topic, group, count)
        assert committed(reader, servers, topic, group) == count
