"""The pieces of code in confluent_kafka's documents, step by step as they stand there, on our clients.

A whole program of them runs on both clients in `tests/interop/test_confluent_examples.py`;
docs/examples-of-the-peers.md lists all of them.
"""

from __future__ import annotations

import io
import logging

import kafka_core as confluent_kafka
from kafka_core import KafkaError, KafkaException, Producer, TopicPartition
from tests.contract.clusters import LIMIT_S, Cluster, consumer, fill, poll_until, take, unique, values_of, wait_for


def test_a_consumer_of_the_documents(cluster: Cluster) -> None:
    topic, told = cluster.topic(), []
    fill(cluster, topic, [b"a", b"b"])

    def my_commit_callback(error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        told.append((error, [(item.topic, item.partition, item.offset) for item in partitions]))

    conf = {
        "bootstrap.servers": cluster.servers,
        "group.id": unique("mygroup"),
        "session.timeout.ms": 6000,
        "on_commit": my_commit_callback,
        "auto.offset.reset": "earliest",
    }
    reader = confluent_kafka.Consumer(conf)
    reader.subscribe([topic])
    assert values_of(take(reader, 2)) == [b"a", b"b"]
    reader.commit(asynchronous=True)
    poll_until([reader], lambda: (None, [(topic, 0, 2)]) in told, "on_commit")  # of this one or an automatic one
    reader.close()


def test_topic_properties_of_their_own(cluster: Cluster) -> None:
    """As the oldest document has them, where `smallest` still was a name."""
    topic = cluster.topic()
    fill(cluster, topic, [b"a"])
    conf = {
        "bootstrap.servers": cluster.servers,
        "group.id": unique("mygroup"),
        "session.timeout.ms": 6000,
        "on_commit": lambda error, partitions: None,
        "default.topic.config": {"auto.offset.reset": "smallest"},
    }
    reader = confluent_kafka.Consumer(conf)
    reader.subscribe([topic])
    assert values_of(take(reader, 1)) == [b"a"]
    reader.close()


def test_lines_go_to_a_logger(cluster: Cluster) -> None:
    mylogger, text = logging.getLogger(unique("mylogger")), io.StringIO()
    mylogger.propagate = False
    mylogger.setLevel(logging.DEBUG)
    mylogger.addHandler(logging.StreamHandler(text))
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.servers, "debug": "broker"}, logger=mylogger)

    def look() -> str:
        producer.poll(0.05)
        return text.getvalue()

    wait_for(look, "a line of the client")
    producer.close()


def test_a_failed_commit_is_retried_or_aborted_or_given_up(modern_cluster: Cluster) -> None:
    """Tried again, aborted and begun anew, or given up, as the error says."""
    source, target, group = modern_cluster.topic(), modern_cluster.topic(), unique("group")
    fill(modern_cluster, source, [b"a", b"b"])
    producer = Producer({"bootstrap.servers": modern_cluster.servers, "transactional.id": unique("txn")})
    producer.init_transactions(LIMIT_S)
    reader = consumer(modern_cluster, group, enable_auto_commit=False)
    reader.subscribe([source])
    rewound: list[int] = []

    def rewind_consumer_offsets() -> None:
        rewound.append(1)
        for position in reader.committed(reader.assignment(), LIMIT_S):
            reader.seek(TopicPartition(position.topic, position.partition, max(position.offset, 0)))

    def write() -> None:
        for message in take(reader, 2):
            producer.produce(target, message.value())
        positions = reader.position(reader.assignment())
        producer.send_offsets_to_transaction(positions, reader.consumer_group_metadata(), LIMIT_S)

    producer.begin_transaction()
    write()
    producer.produce("no/such/topic", b"x")  # makes this transaction one that must be aborted
    while True:
        try:
            producer.commit_transaction(LIMIT_S)
            break
        except KafkaException as error:
            if error.args[0].retriable():
                continue
            if error.args[0].txn_requires_abort():
                producer.abort_transaction()
                producer.begin_transaction()
                rewind_consumer_offsets()
                write()
            else:
                raise
    assert rewound == [1]
    reader.close()
    late = consumer(modern_cluster, isolation_level="read_committed")
    late.subscribe([target])
    assert values_of(take(late, 2)) == [b"a", b"b"]
    late.close()
    producer.close()
