"""The examples of kafka-python 0.9.5's manual, step by step as they stand there, on our dialect of it.

What they do not show is in `test_compat_simple`; docs/examples-of-the-peers.md lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from kserdes.compat.simple import (
    KafkaClient,
    KafkaConsumer,
    KeyedProducer,
    MultiProcessConsumer,
    Murmur2Partitioner,
    RoundRobinPartitioner,
    SimpleConsumer,
    SimpleProducer,
    create_message,
)
from kserdes.compat.simple.common import ConsumerTimeout, KafkaMessage, ProduceRequest
from kserdes.compat.simple.context import OffsetCommitContext
from kserdes.compat.simple.protocol import KafkaProtocol
from tests.contract.clusters import LIMIT_S, Cluster, unique, wait_for
from tests.contract.test_compat_simple import client, cluster, read, values

__all__ = ["client", "cluster"]


def topic_of(cluster: Cluster, partitions: int = 1) -> bytes:
    return cluster.topic(partitions).encode()


def test_messages_are_sent_one_by_one(cluster: Cluster) -> None:
    topic = topic_of(cluster)
    kafka = KafkaClient(cluster.servers)
    producer = SimpleProducer(kafka)
    producer.send_messages(topic, b"some message")
    producer.send_messages(topic, b"this method", b"is variadic")
    producer.send_messages(topic, "你好?".encode())
    assert values(kafka, topic.decode()) == [b"some message", b"this method", b"is variadic", "你好?".encode()]
    kafka.close()


def test_messages_are_sent_by_a_thread(cluster: Cluster, client: KafkaClient) -> None:
    topic = topic_of(cluster)
    producer = SimpleProducer(client, **{"async": True})
    producer.send_messages(topic, b"async message")
    producer.stop()
    producer = SimpleProducer(
        client, **{"async": False}, req_acks=SimpleProducer.ACK_AFTER_LOCAL_WRITE, ack_timeout=2000,
        sync_fail_on_error=False,
    )  # fmt: skip
    assert [response.offset for response in producer.send_messages(topic, b"another message")] == [1]
    producer = SimpleProducer(client, **{"async": True}, batch_send_every_n=20, batch_send_every_t=60)
    producer.send_messages(topic, b"third")
    producer.stop()
    assert values(client, topic.decode()) == [b"async message", b"another message", b"third"]


def test_messages_with_keys(cluster: Cluster, client: KafkaClient) -> None:
    topic = topic_of(cluster, 2)
    producer = KeyedProducer(client)
    producer.send_messages(topic, b"key1", b"some message")
    producer.send_messages(topic, b"key2", b"this methode")
    for partitioner in (Murmur2Partitioner, RoundRobinPartitioner):
        producer = KeyedProducer(client, partitioner=partitioner)
        producer.send_messages(topic, b"key1", b"again")
    found = sorted(item for number in range(2) for item in read(client, topic.decode(), number))
    assert found == [(b"key1", b"again"), (b"key1", b"again"), (b"key1", b"some message"), (b"key2", b"this methode")]


def until(consumer: KafkaConsumer, count: int, handle: Callable[[KafkaMessage], object]) -> None:
    """Iterates until so many messages were handled; the manual's loop never ends."""
    left = [count]

    def read() -> bool:
        try:
            for message in consumer:
                handle(message)
                left[0] -= 1
                if not left[0]:
                    return True
        except ConsumerTimeout:
            return False
        return False

    wait_for(read, f"{count} messages")


def test_a_consumer_iterates(cluster: Cluster, client: KafkaClient) -> None:
    topic = topic_of(cluster)
    consumer = KafkaConsumer(
        topic.decode(), group_id=unique("my_group"), bootstrap_servers=[cluster.servers], consumer_timeout_ms=1000
    )  # from the end, if the group has no offset
    SimpleProducer(client).send_messages(topic, b"some message")
    lines: list[str] = []

    def show(message: KafkaMessage) -> None:
        place = f"{message.topic}:{message.partition:d}:{message.offset:d}"
        lines.append(f"{place}: key={message.key!r} value={message.value!r}")

    until(consumer, 1, show)
    assert lines == [f"{topic.decode()}:0:0: key=None value=b'some message'"]
    consumer.close()


def test_several_topics_with_commits(cluster: Cluster, client: KafkaClient) -> None:
    first, second, group = topic_of(cluster), topic_of(cluster), unique("my_consumer_group")
    for topic in (first, second):
        SimpleProducer(client).send_messages(topic, b"0", b"1")
    settings = {
        "bootstrap_servers": [cluster.servers], "group_id": group, "auto_commit_enable": True,
        "auto_commit_interval_ms": 30 * 1000, "auto_offset_reset": "smallest",
    }  # fmt: skip
    consumer = KafkaConsumer(first.decode(), second.decode(), consumer_timeout_ms=1000, **settings)
    until(consumer, 4, consumer.task_done)
    assert consumer.commit() is True
    consumer.close()
    for topic in (first, second):
        SimpleProducer(client).send_messages(topic, b"2")
    consumer = KafkaConsumer(first.decode(), second.decode(), **settings)
    found: list[bytes] = []
    while len(found) < 2:
        for message in consumer.fetch_messages():
            found.append(message.value)
            consumer.task_done(message)
    assert found == [b"2", b"2"]
    consumer.close()


def test_two_processes(cluster: Cluster, client: KafkaClient) -> None:
    topic = topic_of(cluster, 2)
    producer = SimpleProducer(client, random_start=False)
    sent = sorted(b"%d" % number for number in range(10))
    for value in sent:
        producer.send_messages(topic, value)
    consumer = MultiProcessConsumer(client, unique("my-group").encode(), topic, num_procs=2)
    found = []
    for message in consumer:
        found.append(message.message.value)
        if len(found) == 5:
            break
    found += [message.message.value for message in consumer.get_messages(count=5, block=True, timeout=LIMIT_S)]
    assert sorted(found) == sent
    consumer.stop()


def test_a_request_of_the_low_level(cluster: Cluster) -> None:
    topic = topic_of(cluster, 2)
    kafka = KafkaClient(cluster.servers)
    request = ProduceRequest(topic=topic, partition=1, messages=[create_message(b"some message")])
    responses = kafka.send_produce_request(payloads=[request], fail_on_error=True)
    kafka.close()
    one = responses[0]
    assert (one.topic, one.partition, one.error, one.offset) == (topic, 1, 0, 0)
    assert KafkaProtocol.PRODUCE_KEY == 0


def test_topics_partitions_and_offsets_to_begin_with(cluster: Cluster) -> None:
    one, two, three = (topic_of(cluster, 3).decode() for _ in range(3))
    kafka = KafkaConsumer(bootstrap_servers=[cluster.servers], auto_offset_reset="smallest")
    kafka.set_topic_partitions(one, (two, 2), {three: 0})
    assert kafka.offsets("fetch") == {(one, 0): 0, (one, 1): 0, (one, 2): 0, (two, 2): 0, (three, 0): 0}
    kafka.set_topic_partitions((one, 0, 12), (two, 1, 45))
    assert kafka.offsets("fetch") == {(one, 0): 12, (two, 1): 45}
    kafka.set_topic_partitions({(one, 0): 12, (two, 1): 45})
    assert kafka.offsets("fetch") == {(one, 0): 12, (two, 1): 45}
    kafka.close()


def test_offsets_are_committed_as_far_as_messages_were_processed(cluster: Cluster, client: KafkaClient) -> None:
    topic, group = topic_of(cluster), unique("group").encode()
    SimpleProducer(client).send_messages(topic, *[b"%d" % number for number in range(6)])
    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.provide_partition_info()
    consumer.fetch_last_known_offsets()
    done: list[int] = []
    fails = [True]

    def can_process(number: int) -> bool:
        return number != 3 or not fails or bool(fails.pop()) is False

    def turn() -> bool:
        with OffsetCommitContext(consumer) as context:
            for partition, message in consumer.get_messages(count=6, block=False):
                if not can_process(message.offset):
                    break
                done.append(message.offset)
                context.mark(partition, message.offset)
            return bool(context) and len(done) >= 6

    wait_for(turn, "all six messages")
    assert done == [0, 1, 2, 3, 4, 5]
    consumer.stop()
