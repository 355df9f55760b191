"""Transactions beside confluent-kafka on a real broker: it reads ours, we read its, and each fences the other."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Producer
from kafka_core.admin import AdminClient, NewTopic
from tests.contract.clusters import LIMIT_S, unique, wait_until_led
from tools.real_kafka import RealKafka

confluent = pytest.importorskip("confluent_kafka")

pytestmark = [pytest.mark.broker, pytest.mark.interop]

WRITERS = {"ours": Producer, "theirs": confluent.Producer}
READERS = {"ours": Consumer, "theirs": confluent.Consumer}


@pytest.fixture
def topic(real_kafka: RealKafka) -> str:
    name = unique("topic")
    with AdminClient({"bootstrap.servers": real_kafka.bootstrap_servers}) as admin:
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)
        wait_until_led(admin, {name: 1})
    return name


def writer(kind: str, kafka: RealKafka, name: str) -> Any:
    made = WRITERS[kind]({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": name})
    made.init_transactions(LIMIT_S)
    return made


def read(kind: str, kafka: RealKafka, topic: str, count: int) -> list[bytes]:
    """The first `count` records, and all others up to the end of what may be read."""
    conf = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": unique("group"), "enable.partition.eof": True}
    reader = READERS[kind]({**conf, "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    reader.subscribe([topic])
    found, deadline_s = [], time.monotonic() + LIMIT_S
    while time.monotonic() < deadline_s:
        message = reader.poll(0.5)
        if message is None:
            continue
        if message.error() is not None:
            assert message.error().code() == KafkaError._PARTITION_EOF
            if len(found) >= count:
                break
            continue  # the marker of a transaction is still to come: the broker writes it after its answer
        found.append(message.value())
    reader.close()
    return found


@pytest.mark.parametrize("reads", READERS)
@pytest.mark.parametrize("writes", WRITERS)
def test_each_reads_what_the_other_committed(real_kafka: RealKafka, topic: str, writes: str, reads: str) -> None:
    producer = writer(writes, real_kafka, unique("tx"))
    wanted = []
    for number in range(12):
        producer.begin_transaction()
        values = [b"%d-%d" % (number, index) for index in range(3)]
        for value in values:
            producer.produce(topic, value)
        producer.flush(LIMIT_S)
        if number % 3 == 1:
            producer.abort_transaction(LIMIT_S)
        else:
            producer.commit_transaction(LIMIT_S)
            wanted += values
    assert read(reads, real_kafka, topic, len(wanted)) == wanted


@pytest.mark.parametrize(("first", "second"), [("ours", "theirs"), ("theirs", "ours")])
def test_each_fences_the_other(real_kafka: RealKafka, topic: str, first: str, second: str) -> None:
    name = unique("tx")
    zombie = writer(first, real_kafka, name)
    zombie.begin_transaction()
    zombie.produce(topic, b"zombie")
    zombie.flush(LIMIT_S)
    heir = writer(second, real_kafka, name)
    heir.begin_transaction()
    heir.produce(topic, b"heir")
    heir.commit_transaction(LIMIT_S)
    with pytest.raises((KafkaException, confluent.KafkaException)) as raised:
        zombie.commit_transaction(LIMIT_S)
    error = raised.value.args[0]
    assert error.fatal()
    assert error.code() == KafkaError._FENCED
    assert read(second, real_kafka, topic, 1) == [b"heir"]
