"""The dialect of kafka-python 0.9.5: what its manual shows, in own words, on every kind of cluster."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator

import pytest

from kafka_core.broker import EmbeddedCluster
from kafka_core.partitioners import murmur2
from kserdes.compat.simple import (
    KafkaClient,
    KafkaConsumer,
    KeyedProducer,
    MultiProcessConsumer,
    Murmur2Partitioner,
    RoundRobinPartitioner,
    SimpleConsumer,
    SimpleProducer,
    create_gzip_message,
    create_message,
    create_snappy_message,
)
from kserdes.compat.simple.common import (
    AsyncProducerQueueFull,
    ConsumerTimeout,
    FetchRequest,
    KafkaMessage,
    KafkaTimeoutError,
    Message,
    OffsetAndMessage,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetOutOfRangeError,
    OffsetRequest,
    ProduceRequest,
    UnknownError,
    UnknownTopicOrPartitionError,
)
from kserdes.compat.simple.context import OffsetCommitContext
from kserdes.compat.simple.protocol import CODEC_GZIP
from tests.contract.clusters import LIMIT_S, Cluster, fill, unique, wait_for

NEVER_S = 3600


@pytest.fixture(
    params=[
        "embedded",
        pytest.param("real", marks=pytest.mark.broker),
        pytest.param("old", marks=[pytest.mark.broker, pytest.mark.slow]),
    ]
)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Without the capped one: the dialect asks for no version by itself."""
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def client(cluster: Cluster) -> Iterator[KafkaClient]:
    client = KafkaClient(cluster.servers, timeout=LIMIT_S)
    yield client
    client.close()


def numbers(cluster: Cluster, topic: str, count: int, partition: int = 0) -> None:
    fill(cluster, topic, [b"%d" % number for number in range(count)], partition)


def read(client: KafkaClient, topic: str, partition: int = 0) -> list[tuple[bytes | None, bytes | None]]:
    """(key, value) of everything in a partition, by low-level requests."""
    found: list[tuple[bytes | None, bytes | None]] = []
    while True:
        (response,) = client.send_fetch_request([FetchRequest(topic, partition, len(found), 10**6)])
        found += [(each.message.key, each.message.value) for each in response.messages]
        if len(found) >= response.highwaterMark:
            return found


def values(client: KafkaClient, topic: str, partitions: int = 1) -> list[bytes | None]:
    return [value for number in range(partitions) for _, value in read(client, topic, number)]


def test_a_simple_producer_sends_blocks_to_partitions_in_turn(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(3)
    producer = SimpleProducer(client, random_start=False)
    responses = [producer.send_messages(topic.encode(), b"%d-a" % call, b"%d-b" % call) for call in range(4)]
    assert [(one.topic, one.partition, one.error, one.offset) for (one,) in responses] == [
        (topic.encode(), 0, 0, 0),
        (topic.encode(), 1, 0, 0),
        (topic.encode(), 2, 0, 0),
        (topic.encode(), 0, 0, 2),
    ]
    assert read(client, topic) == [(None, value) for value in (b"0-a", b"0-b", b"3-a", b"3-b")]


@pytest.mark.parametrize("acks", [SimpleProducer.ACK_AFTER_LOCAL_WRITE, SimpleProducer.ACK_AFTER_CLUSTER_COMMIT, 2])
def test_acknowledgements(cluster: Cluster, client: KafkaClient, acks: int) -> None:
    producer = SimpleProducer(client, req_acks=acks, ack_timeout=int(LIMIT_S * 1000), sync_fail_on_error=False)
    (response,) = producer.send_messages(cluster.topic(), b"another message")
    assert (response.error, response.offset) == (0, 0)


def test_no_acknowledgement_is_no_response(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    assert SimpleProducer(client, req_acks=SimpleProducer.ACK_NOT_REQUIRED).send_messages(topic, b"x") == []
    deadline_s = time.monotonic() + LIMIT_S
    while not values(client, topic):
        assert time.monotonic() < deadline_s, "the message never came"


def test_messages_that_are_not_bytes_are_refused(cluster: Cluster, client: KafkaClient) -> None:
    producer, topic = SimpleProducer(client), cluster.topic()
    for call in ((), ("text",), (b"good", 7)):
        with pytest.raises(TypeError):
            producer.send_messages(topic, *call)  # type: ignore[arg-type]
    assert values(client, topic) == []


def test_keys_choose_partitions(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(3)
    producer = KeyedProducer(client, partitioner=Murmur2Partitioner)
    for number in range(12):
        producer.send_messages(topic, b"key-%d" % number, b"%d" % number)
    expected: dict[int, list[tuple[bytes, bytes]]] = {0: [], 1: [], 2: []}
    for number in range(12):
        expected[murmur2(b"key-%d" % number, 3)].append((b"key-%d" % number, b"%d" % number))
    assert {number: read(client, topic, number) for number in range(3)} == expected


def test_python_hashes_and_turns_choose_partitions_too(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(3)
    hashed = KeyedProducer(client)
    same = {hashed.send_messages(topic, b"key", b"x")[0].partition for _ in range(3)}
    assert same == {hash(b"key") % 3}
    turns = KeyedProducer(client, partitioner=RoundRobinPartitioner)
    assert [turns.send_messages(topic, b"key", b"x")[0].partition for _ in range(4)] == [0, 1, 2, 0]


def test_an_asynchronous_producer_sends_when_it_has_enough(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    how = {"async": True, "batch_send_every_n": 20, "batch_send_every_t": NEVER_S}
    producer = SimpleProducer(client, **how)
    for number in range(45):
        assert producer.send_messages(topic, b"%d" % number) == []
    deadline_s = time.monotonic() + LIMIT_S
    while len(values(client, topic)) < 40:
        assert time.monotonic() < deadline_s, "batches of 20 are not sent"
    producer.stop()
    assert values(client, topic) == [b"%d" % number for number in range(45)]


def test_an_asynchronous_producer_that_is_dropped_sends_what_it_has(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    producer = SimpleProducer(client, async_send=True, batch_send_every_t=NEVER_S)
    producer.send_messages(topic, b"kept")
    del producer
    assert values(client, topic) == [b"kept"]


def test_an_asynchronous_producer_that_has_no_room_says_what_it_did_not_take(
    cluster: Cluster, client: KafkaClient
) -> None:
    topic = cluster.topic()
    producer = SimpleProducer(
        client, async_send=True, batch_send_every_n=1, batch_send_every_t=NEVER_S, async_queue_maxsize=2
    )
    sent = [b"%d" % number for number in range(100_000)]
    with pytest.raises(AsyncProducerQueueFull) as caught:
        producer.send_messages(topic, *sent)
    failed = list(caught.value.failed_msgs)
    assert sent[-len(failed) :] == failed
    producer.stop()
    assert values(client, topic) == sent[: -len(failed)]


def test_an_asynchronous_producer_gives_up_and_says_so(
    cluster: Cluster, client: KafkaClient, caplog: pytest.LogCaptureFixture
) -> None:
    topic = cluster.topic()
    producer = SimpleProducer(client, async_send=True, batch_send_every_n=1, async_retry_limit=0)
    with caplog.at_level(logging.ERROR, "kserdes.compat"):
        producer.send_messages(topic, b"x" * 2_000_000)
        producer.stop()
    assert "1 messages were given up" in caplog.text
    assert values(client, topic) == []


def test_requests_of_the_low_level(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(2).encode()
    requests = [
        ProduceRequest(topic, 1, [create_message(b"some message"), create_message(b"another", b"key")]),
        ProduceRequest(topic, 0, [create_gzip_message([(b"one", b"k1"), (b"two", None)])]),
    ]
    first, second = client.send_produce_request(requests, fail_on_error=True)
    assert (first.topic, first.partition, first.error, first.offset) == (topic, 1, 0, 0)
    assert (second.topic, second.partition, second.error, second.offset) == (topic, 0, 0, 0)
    (third,) = client.send_produce_request([ProduceRequest(topic, 0, [create_snappy_message([(b"three", b"k3")])])])
    assert third.offset == 2
    assert read(client, topic.decode(), 1) == [(None, b"some message"), (b"key", b"another")]
    assert read(client, topic.decode(), 0) == [(b"k1", b"one"), (None, b"two"), (b"k3", b"three")]
    assert client.send_produce_request(requests[:1], callback=lambda one: one.offset) == [2]


def test_errors_of_requests_are_raised_or_given(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    numbers(cluster, topic, 3)
    far, nowhere = FetchRequest(topic, 0, 99, 1000), FetchRequest(topic, 7, 0, 1000)
    assert [one.error for one in client.send_fetch_request([far, nowhere], fail_on_error=False)] == [1, 3]
    with pytest.raises(OffsetOutOfRangeError):
        client.send_fetch_request([far])
    with pytest.raises(UnknownTopicOrPartitionError):
        client.send_fetch_request([nowhere])
    with pytest.raises(ValueError, match="same partition"):
        client.send_produce_request([ProduceRequest(topic, 0, [create_message(b"x")])] * 2)


def test_a_fetch_is_bounded_by_its_bytes_but_makes_progress(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    SimpleProducer(client).send_messages(topic, *[b"x" * 100] * 10)
    sizes = [len(list(client.send_fetch_request([FetchRequest(topic, 0, 2, size)])[0].messages)) for size in (350, 10)]
    assert sizes == [3, 1]


def test_offsets_are_asked_for_by_time_and_kept_for_groups(cluster: Cluster, client: KafkaClient) -> None:
    topic, group = cluster.topic(), unique("group")
    numbers(cluster, topic, 5)

    def ask(when: int, count: int) -> list[int]:
        return list(client.send_offset_request([OffsetRequest(topic, 0, when, count)])[0].offsets)

    assert (ask(-1, 1), ask(-1, 2), ask(-2, 5)) == ([5], [5, 0], [0])
    assert ask(int(time.time() * 1000) + 3_600_000, 1) == [5]
    assert ask(1, 1) == [0]
    (before,) = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, 0)])
    assert (before.offset, before.metadata, before.error) == (-1, b"", 0)
    assert client.send_offset_commit_request(group, [OffsetCommitRequest(topic, 0, 3, b"note")])[0].error == 0
    (after,) = client.send_offset_fetch_request_kafka(group, [OffsetFetchRequest(topic, 0)])
    assert (after.topic, after.offset, after.metadata) == (topic.encode(), 3, b"note")


def test_metadata(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(2)
    assert not client.has_metadata_for_topic(topic)
    client.load_metadata_for_topics(topic)
    assert client.has_metadata_for_topic(topic.encode())
    assert client.get_partition_ids_for_topic(topic) == [0, 1]
    assert topic.encode() in client.topics
    assert client.topics_to_brokers[next(iter(client.topics_to_brokers))] in client.brokers.values()
    client.reset_topic_metadata(topic)
    assert not client.has_metadata_for_topic(topic)
    other = client.copy()
    assert other.topics == []
    other.reinit()
    assert topic.encode() in other.topics
    other.close()


def test_a_topic_that_nobody_makes_is_waited_for_in_vain(cluster: Cluster, client: KafkaClient) -> None:
    with pytest.raises(UnknownError):
        client.ensure_topic_exists("no/such/name", timeout=LIMIT_S)
    with EmbeddedCluster(properties={"auto.create.topics.enable": "false"}) as strict:
        lonely = KafkaClient(strict.bootstrap_servers)
        with pytest.raises(KafkaTimeoutError):
            lonely.ensure_topic_exists("missing", timeout=0.2)
        lonely.close()


def test_a_simple_consumer_reads_on_where_its_group_is(cluster: Cluster, client: KafkaClient) -> None:
    topic, group = cluster.topic(), unique("group")
    numbers(cluster, topic, 10)
    consumer = SimpleConsumer(client, group, topic, auto_commit_every_n=4, auto_commit_every_t=None)
    first = consumer.get_messages(count=4, block=True, timeout=LIMIT_S)
    assert [each.offset for each in first] == [0, 1, 2, 3]  # and they are committed by their number
    consumer.get_messages(count=3, block=True, timeout=LIMIT_S)
    again = SimpleConsumer(client, group, topic, auto_commit=False)
    assert again.pending() == 6
    following = again.get_message(block=True, timeout=LIMIT_S)
    assert following.offset == 4
    assert again.commit() is True
    (known,) = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, 0)])
    assert known.offset == 5
    consumer.stop()
    again.stop()


def test_seek_and_iteration(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic(2)
    for number in range(2):
        client.send_produce_request([ProduceRequest(topic, number, [create_message(b"%d" % i) for i in range(5)])])
    consumer = SimpleConsumer(client, None, topic, auto_commit=False, iter_timeout=LIMIT_S)
    consumer.provide_partition_info()

    def place(offset: int, whence: int | None = None, partition: int | None = None) -> dict[int, int]:
        consumer.seek(offset, whence, partition)
        return dict(consumer.offsets)

    assert place(3) == {0: 3, 1: 3}
    assert place(-1, 1) == {0: 2, 1: 2}
    assert place(0, 0, 1) == {0: 2, 1: 0}
    assert place(-3, 2) == {0: 4, 1: 3}
    assert place(1, 0) == {0: 1, 1: 0}
    seen = sorted((number, each.offset) for number, each in consumer.get_messages(9, True, LIMIT_S))
    assert seen == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]
    with pytest.raises(ValueError, match="whence"):
        consumer.seek(0, 3)
    consumer.seek(4, None, 1)
    consumer.seek(5, None, 0)
    assert next(iter(consumer)) == (1, OffsetAndMessage(4, Message(0, 0, None, b"4")))
    consumer.iter_timeout = 0.2
    assert list(consumer) == []
    consumer.stop()


def test_a_position_that_is_not_there_is_reset_or_raised(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    numbers(cluster, topic, 5)
    smallest = SimpleConsumer(client, None, topic, auto_commit=False, auto_offset_reset="smallest")
    smallest.seek(99)
    assert smallest.get_message(True, LIMIT_S).offset == 0
    largest = SimpleConsumer(client, None, topic, auto_commit=False)
    largest.seek(99)
    wait_for(lambda: largest.get_message(True, 0.1) is None and largest.offsets == {0: 5}, "the end is found")
    strict = SimpleConsumer(client, None, topic, auto_commit=False, auto_offset_reset="none")
    strict.seek(99)
    with pytest.raises(OffsetOutOfRangeError):
        strict.get_message(True, LIMIT_S)
    for consumer in (smallest, largest, strict):
        consumer.stop()


def test_a_context_commits_what_is_marked_and_takes_back_the_rest(cluster: Cluster, client: KafkaClient) -> None:
    topic, group = cluster.topic(), unique("group")
    numbers(cluster, topic, 6)
    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.provide_partition_info()
    consumer.fetch_last_known_offsets()
    with OffsetCommitContext(consumer) as context:
        for number, each in consumer.get_messages(4, True, LIMIT_S):
            if each.offset == 2:
                break
            context.mark(number, each.offset)
        assert context
    assert consumer.offsets == {0: 2}
    with pytest.raises(RuntimeError, match="no more"), OffsetCommitContext(consumer) as context:
        ((number, each),) = consumer.get_messages(1, True, LIMIT_S)
        context.mark(number, each.offset)
        raise RuntimeError("no more")
    assert consumer.offsets == {0: 2}
    (known,) = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, 0)])
    assert known.offset == 2
    consumer.stop()


def test_processes_share_a_topic(cluster: Cluster, client: KafkaClient) -> None:
    topic, group = cluster.topic(3), unique("group")
    for number in range(3):
        messages = [create_message(b"%d-%d" % (number, i)) for i in range(40)]
        client.send_produce_request([ProduceRequest(topic, number, messages)])
    consumer = MultiProcessConsumer(client, group, topic, partitions_per_proc=2)
    processes = {worker.process.pid for worker in consumer.workers}
    assert len(processes) == 2
    assert os.getpid() not in processes
    found = [each.message.value for each in consumer.get_messages(count=100, block=True, timeout=LIMIT_S)]
    for message in consumer:
        found.append(message.message.value)
        if len(found) == 120:
            break
    assert sorted(found) == sorted(b"%d-%d" % (number, i) for number in range(3) for i in range(40))
    for number in range(3):
        mine = [value for value in found if value.startswith(b"%d-" % number)]
        assert mine == [b"%d-%d" % (number, i) for i in range(40)]
    consumer.stop()
    known = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, number) for number in range(3)])
    assert [one.offset for one in known] == [40, 40, 40]
    assert all(worker.process.returncode == 0 for worker in consumer.workers)


def test_a_consumer_of_several_topics_commits_what_is_done(cluster: Cluster) -> None:
    one, two, group = cluster.topic(), cluster.topic(2), unique("group")
    numbers(cluster, one, 3)
    numbers(cluster, two, 4)
    settings = {"bootstrap_servers": [cluster.servers], "group_id": group, "auto_offset_reset": "smallest"}
    consumer = KafkaConsumer(one, two, consumer_timeout_ms=500, **settings)
    found: list[KafkaMessage] = []

    def read() -> bool:
        with pytest.raises(ConsumerTimeout):
            for message in consumer:
                found.append(message)
                if message.topic == one:
                    assert consumer.task_done(message) is True
        return len(found) >= 7

    wait_for(read, "seven messages")
    assert len(found) == 7
    assert {message.topic for message in found} == {one, two}
    assert consumer.commit() is True
    assert consumer.commit() is False  # nothing is new
    offsets = consumer.offsets()
    assert offsets.commit == {(one, 0): 3}
    assert sum(offsets.highwater.values()) == 7
    assert consumer.offsets("fetch")[one, 0] == 3
    assert consumer.task_done(KafkaMessage("elsewhere", 0, 0, None, b"")) is False
    consumer.close()
    again = KafkaConsumer(one, two, **settings)
    rest: list[KafkaMessage] = []

    def read_on() -> bool:  # one fetch may end before the records are there
        rest.extend(again.fetch_messages())
        return len(rest) >= 4

    wait_for(read_on, "four messages")
    assert [message.topic for message in rest] == [two] * 4
    again.close()


def test_a_consumer_begins_where_it_is_told(cluster: Cluster) -> None:
    topic, other = cluster.topic(2), cluster.topic(3)
    numbers(cluster, topic, 20, partition=1)
    consumer = KafkaConsumer(bootstrap_servers=cluster.servers, auto_offset_reset="smallest")
    consumer.set_topic_partitions((topic, 1, 15), {other: [0, 2]})
    assert consumer.offsets("fetch") == {(topic, 1): 15, (other, 0): 0, (other, 2): 0}
    assert [consumer.next().offset for _ in range(3)] == [15, 16, 17]
    consumer.set_topic_partitions({(topic, 1): 4})
    assert consumer.next().offset == 4
    consumer.configure(deserializer_class=lambda value: value.decode() + "!")
    assert consumer.next() == KafkaMessage(topic, 1, 5, None, "5!")
    assert consumer.get_partition_offsets(topic, 1, -1, 1) == [20]
    with pytest.raises(UnknownTopicOrPartitionError):
        consumer.set_topic_partitions((topic, 9))
    consumer.close()


def test_a_value_that_cannot_be_decoded_comes_again(cluster: Cluster) -> None:
    topic = cluster.topic()
    numbers(cluster, topic, 5)
    broken = [True]

    def decode(value: bytes) -> int:
        if value == b"2" and broken:
            broken.clear()
            raise ValueError("not now")
        return int(value)

    consumer = KafkaConsumer(
        topic, bootstrap_servers=cluster.servers, auto_offset_reset="smallest", deserializer_class=decode
    )
    found = [consumer.next().value, consumer.next().value]
    with pytest.raises(ValueError, match="not now"):
        consumer.next()
    found += [consumer.next().value for _ in range(3)]
    assert found == [0, 1, 2, 3, 4]
    consumer.close()


def test_a_generator_that_is_left_early_loses_nothing(cluster: Cluster) -> None:
    topic = cluster.topic()
    numbers(cluster, topic, 10)
    consumer = KafkaConsumer(topic, bootstrap_servers=cluster.servers, auto_offset_reset="smallest")
    found: list[int] = []
    while len(found) < 10:
        for message in consumer.fetch_messages():
            found.append(message.offset)
            break
    assert found == list(range(10))
    consumer.close()


def test_compression_of_a_producer(cluster: Cluster, client: KafkaClient) -> None:
    topic = cluster.topic()
    producer = SimpleProducer(client, codec=CODEC_GZIP, codec_compresslevel=1)
    (response,) = producer.send_messages(topic, b"a" * 5000, b"b" * 5000)
    assert (response.error, response.offset) == (0, 0)
    assert values(client, topic) == [b"a" * 5000, b"b" * 5000]
