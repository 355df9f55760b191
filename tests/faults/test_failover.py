"""Three real brokers, and the leader of a partition killed with kill -9 in the middle of the work."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import defaultdict
from pathlib import Path

import pytest

from kafka_core import Consumer, KafkaError, Message, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from tests.contract.clusters import wait_for, wait_until_led
from tests.patience import PROCESS_S
from tools.real_kafka import DEFAULT_VERSION, RealKafka, java, shared_classes

pytestmark = pytest.mark.broker

TOPIC = "failover"
RECORDS, KEYS, PARTITIONS = 200_000, 100, 3
LIMIT_S = 120.0


@pytest.fixture
def cluster(three_nodes: RealKafka) -> RealKafka:
    """Three brokers that know each other, with a topic whose partitions are led by different ones."""
    with AdminClient({"bootstrap.servers": three_nodes.bootstrap_servers}) as admin:
        wait_for(
            lambda: len(admin.describe_cluster().result(LIMIT_S).nodes) == 3, "all brokers are registered", LIMIT_S
        )
        config = {"min.insync.replicas": "2"}
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3, config=config)])[TOPIC].result(LIMIT_S)
        wait_until_led(admin, {TOPIC: PARTITIONS})
    for server in three_nodes.bootstrap_servers.split(","):
        wait_for(lambda server=server: leader_of(server, 0) >= 0, f"{server} knows the topic", LIMIT_S)  # type: ignore[misc]
    return three_nodes


def leader_of(servers: str, partition: int) -> int:
    """As one of the brokers sees it; -1 while it knows none."""
    with AdminClient({"bootstrap.servers": servers}) as admin:
        found = admin.list_topics(TOPIC, LIMIT_S).topics[TOPIC].partitions
        return found[partition].leader if partition in found else -1


def read_all(servers: str, count: int) -> list[Message]:
    """Everything in the topic: exactly what is there, up to the ends of the partitions."""
    conf = {"bootstrap.servers": servers, "group.id": "reader", "auto.offset.reset": "earliest"}
    with Consumer({**conf, "enable.auto.commit": False}) as reader:
        places = [TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)]
        ends = [reader.get_watermark_offsets(place, LIMIT_S)[1] for place in places]
        reader.assign(places)
        found: list[Message] = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < sum(ends) and time.monotonic() < deadline_s:
            messages = reader.consume(20_000, 1.0)
            assert [message.error() for message in messages if message.error()] == []
            found += messages
    assert len(found) == sum(ends)
    return found


def test_brokers_take_their_classes_from_an_archive(kafka_jars: Path, tmp_path: Path) -> None:
    """Without the archive nothing fails, but the thirty starts in these tests take half a minute more."""
    told = tmp_path / "classes.txt"
    options = [*shared_classes(DEFAULT_VERSION, kafka_jars), f"-Xlog:class+load:file={told}"]
    command = [java(), *options, "-cp", f"{kafka_jars}/*", "kafka.tools.StorageTool", "--help"]
    subprocess.run(command, capture_output=True, timeout=PROCESS_S, check=False)
    assert told.read_text().count("shared objects file (top)") > 500


def test_the_leader_is_killed_during_a_produce(cluster: RealKafka) -> None:
    """None lost, none doubled, order kept per key."""
    servers = cluster.bootstrap_servers
    victim = leader_of(servers, 0)
    failed: list[KafkaError] = []
    delivered: dict[int, tuple[int, int]] = {}

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failed.append(error)
        else:
            delivered[int(message.value())] = (message.partition(), message.offset())

    killed = threading.Event()

    def kill() -> None:
        cluster.kill_node(victim)
        killed.set()

    killer = threading.Thread(target=kill)
    conf = {
        "bootstrap.servers": servers,
        "linger.ms": 5,
        "max.block.ms": 60_000,
        "queue.buffering.max.messages": 20_000,
    }
    producer = Producer(conf)
    for number in range(RECORDS):
        if number == RECORDS // 3:
            killer.start()
        if number == RECORDS // 2:
            assert killed.wait(LIMIT_S)  # the other half comes after it
        producer.produce(TOPIC, b"%d" % number, b"key-%d" % (number % KEYS), on_delivery=report)
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(LIMIT_S) == 0
    producer.close()
    killer.join(LIMIT_S)
    assert failed == []
    assert len(delivered) == RECORDS
    wait_for(lambda: leader_of(servers, 0) != victim, "another one leads, and every broker knows it", LIMIT_S)
    messages = read_all(servers, RECORDS)
    per_key: dict[bytes, list[int]] = defaultdict(list)
    for message in messages:
        number = int(message.value())
        per_key[message.key()].append(number)
        partition, offset = delivered[number]
        assert partition == message.partition()
        assert offset in (message.offset(), None, -1, -1001)  # a broker may no longer know the place of a repetition
    assert len(messages) == RECORDS
    assert per_key == {b"key-%d" % key: list(range(key, RECORDS, KEYS)) for key in range(KEYS)}


def test_a_group_goes_on_when_the_leader_and_the_coordinator_are_killed(cluster: RealKafka) -> None:
    servers, count = cluster.bootstrap_servers, 3000
    conf = {"bootstrap.servers": servers, "group.id": "survivors", "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "session.timeout.ms": 45_000, "heartbeat.interval.ms": 300}  # fmt: skip
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 2})
    seen: list[int] = []
    with Consumer(conf) as reader:
        reader.subscribe([TOPIC])

        def read_up_to(total: int) -> None:
            deadline_s = time.monotonic() + LIMIT_S
            while len(set(seen)) < total and time.monotonic() < deadline_s:
                for message in reader.consume(500, 0.5):
                    assert message.error() is None or message.error().retriable(), message.error()
                    if message.error() is None:
                        seen.append(int(message.value()))
            assert set(seen) == set(range(total))

        for number in range(count):
            producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
        assert producer.flush(LIMIT_S) == 0
        read_up_to(count)
        reader.commit(asynchronous=False)
        victim = reader.health().coordinator
        assert victim is not None
        cluster.kill_node(victim)
        for number in range(count, 2 * count):
            producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
        assert producer.flush(LIMIT_S) == 0
        read_up_to(2 * count)
        reader.commit(asynchronous=False)
        deadline_s = time.monotonic() + LIMIT_S
        while reader.health().coordinator == victim and time.monotonic() < deadline_s:
            # The next heartbeats find the new one by themselves.
            assert [message for message in reader.consume(1, 0.2) if message.error() is None] == []
        assert reader.health().coordinator != victim
    assert len(seen) == 2 * count  # nothing twice: the commit and the membership survived
    producer.close()


@pytest.mark.slow
def test_a_broker_that_comes_back_is_used_again(cluster: RealKafka) -> None:
    """A cold restart of every broker in turn; the same producer and consumer work all the time."""
    servers, round_count = cluster.bootstrap_servers, 500
    conf = {"bootstrap.servers": servers, "group.id": "patient", "auto.offset.reset": "earliest"}
    failed: list[KafkaError] = []

    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 2})
    total = 0
    seen: set[int] = set()
    with Consumer(conf) as reader:
        reader.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
        for victim in cluster.nodes:
            cluster.kill_node(victim)
            for number in range(total, total + round_count):
                producer.produce(TOPIC, b"%d" % number, partition=number % 3, on_delivery=report)
            total += round_count
            assert producer.flush(LIMIT_S) == 0
            deadline_s = time.monotonic() + LIMIT_S
            while len(seen) < total and time.monotonic() < deadline_s:
                seen |= {int(message.value()) for message in reader.consume(500, 0.5) if message.error() is None}
            assert (failed, len(seen)) == ([], total)
            cluster.start_node(victim)
            with AdminClient({"bootstrap.servers": servers}) as admin:
                while any(
                    len(item.isrs) < 3 for item in admin.list_topics(TOPIC, LIMIT_S).topics[TOPIC].partitions.values()
                ):
                    assert time.monotonic() < deadline_s + LIMIT_S, "not in sync again"
                    time.sleep(0.1)
    producer.close()
