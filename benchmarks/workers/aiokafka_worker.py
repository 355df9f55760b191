"""The worker for aiokafka."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import DISTINCT, Job, Meter, main


async def _produce(job: Job) -> None:
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(
        bootstrap_servers=job.bootstrap, enable_idempotence=True, linger_ms=5, max_batch_size=131_072
    )
    await producer.start()
    await producer.partitions_for(job.topic)
    values = job.values()
    meter = Meter()
    meter.start()
    for number in range(job.records):
        await producer.send(job.topic, values[number % DISTINCT])
    await producer.flush()
    meter.stop(job.records)


async def _consume(job: Job) -> None:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    consumer = AIOKafkaConsumer(bootstrap_servers=job.bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    partitions = [TopicPartition(job.topic, partition) for partition in range(4)]
    consumer.assign(partitions)
    await consumer.seek_to_beginning(*partitions)
    meter = Meter()
    batches = await consumer.getmany(timeout_ms=60_000, max_records=1)
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
        batches = await consumer.getmany(timeout_ms=5_000)
    meter.stop(seen)


if __name__ == "__main__":
    main({"produce": lambda job: asyncio.run(_produce(job)), "consume": lambda job: asyncio.run(_consume(job))})
