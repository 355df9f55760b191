"""The worker for kafka-python."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import DISTINCT, Job, Meter, main


def produce(job: Job) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=job.bootstrap, enable_idempotence=True, acks="all", linger_ms=5, batch_size=131_072
    )
    producer.partitions_for(job.topic)
    values = job.values()
    meter = Meter()
    meter.start()
    for number in range(job.records):
        producer.send(job.topic, values[number % DISTINCT])
    producer.flush()
    meter.stop(job.records)


def consume(job: Job) -> None:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=job.bootstrap, auto_offset_reset="earliest")
    partitions = [TopicPartition(job.topic, partition) for partition in range(4)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    meter = Meter()
    batches = consumer.poll(timeout_ms=60_000, max_records=1)
    meter.start()
    seen = 0
    while True:
        for messages in batches.values():
            for message in messages:
                if len(message.value) != job.value_size:
                    sys.exit("a value of the wrong size")
            seen += len(messages)
        if seen >= job.records:
            break
        batches = consumer.poll(timeout_ms=5_000, max_records=10_000)
    meter.stop(seen)


if __name__ == "__main__":
    main({"produce": produce, "consume": consume})
