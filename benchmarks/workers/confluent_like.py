"""The worker for the two clients with the API of confluent_kafka: `kserdes` and `confluent`; one code for both."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import DISTINCT, Job, Meter, main

CLIENT: Any = None


def produce(job: Job) -> None:
    """`produce()` in a loop, waiting in `poll` when the queue is full, until everything is acknowledged."""
    producer = CLIENT.Producer({"bootstrap.servers": job.bootstrap, "enable.idempotence": True, "acks": "all"})
    values, keys = job.values(), job.keys()
    failed: list[object] = []
    delivered = 0

    def on_delivery(error: object, _message: object) -> None:
        nonlocal delivered
        if error is not None:
            failed.append(error)
        delivered += 1

    callback = on_delivery if job.kind == "produce-callback" else None
    keyed = job.kind == "produce-keys"
    topic, call = job.topic, producer.produce
    producer.list_topics(topic, 10)
    meter = Meter()
    meter.start()
    for number in range(job.records):
        value = values[number % DISTINCT]
        while True:
            try:
                if callback is not None:
                    call(topic, value, on_delivery=callback)
                elif keyed:
                    call(topic, value, keys[number % DISTINCT])
                else:
                    call(topic, value)
                break
            except BufferError:
                producer.poll(0.01)
        if callback is not None and number % 10_000 == 0:
            producer.poll(0)
    left = producer.flush(120)
    meter.stop(job.records)
    if left or failed or (callback is not None and delivered != job.records):
        sys.exit(f"{left} left, {len(failed)} failed, {delivered} delivered")


TRANSACTION_RECORDS = 1000


def transactions(job: Job) -> None:
    """Transactions of 1,000 records, one after the other."""
    conf = {"bootstrap.servers": job.bootstrap, "transactional.id": job.topic}
    producer = CLIENT.Producer(conf)
    values = job.values()
    producer.init_transactions(30)
    topic, call = job.topic, producer.produce
    producer.list_topics(topic, 10)
    meter = Meter()
    meter.start()
    for first in range(0, job.records, TRANSACTION_RECORDS):
        producer.begin_transaction()
        for number in range(first, min(first + TRANSACTION_RECORDS, job.records)):
            call(topic, values[number % DISTINCT])
        producer.commit_transaction(30)
    meter.stop(job.records)


def consume(job: Job) -> None:
    """`consume()` of everything in the topic, every value read; the clock starts with the first message."""
    consumer = CLIENT.Consumer({"bootstrap.servers": job.bootstrap, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([CLIENT.TopicPartition(job.topic, partition, 0) for partition in range(4)])
    meter = Meter()
    messages = consumer.consume(1, 60)
    meter.start()
    seen = 0
    while True:
        for message in messages:
            if message.error() is not None:
                sys.exit(str(message.error()))
            if len(message.value()) != job.value_size:
                sys.exit("a value of the wrong size")
        seen += len(messages)
        if seen >= job.records:
            break
        messages = consumer.consume(10_000, 5)
    meter.stop(seen)


if __name__ == "__main__":
    module = {"kserdes": "kafka_core", "confluent": "confluent_kafka"}[sys.argv.pop(1)]
    CLIENT = importlib.import_module(module)
    kinds = dict.fromkeys(("produce", "produce-callback", "produce-keys"), produce)
    main({**kinds, "consume": consume, "transactions": transactions})
