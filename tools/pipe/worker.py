"""The application: reads a topic, writes every value to another one, in transactions, until it is killed.

Exits with FENCED when another process has taken its transactional id: the sign that a zombie can't write any more.
"""

from __future__ import annotations

import sys

from kafka_core import Consumer, KafkaException, Producer

FENCED = 3
BATCH = 500


def copy(bootstrap: str, group: str, transactional_id: str, source: str, target: str) -> int:
    """Copies until the producer is fenced."""
    reads = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    times = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}
    writes = {"transactional.id": transactional_id, "transaction.timeout.ms": 10_000}
    consumer = Consumer({"bootstrap.servers": bootstrap, "isolation.level": "read_committed", **reads, **times})
    producer = Producer({"bootstrap.servers": bootstrap, **writes})
    consumer.subscribe([source])
    begun = False
    while True:
        try:
            if not begun:
                producer.init_transactions(30)
                begun = True
                print("ready", flush=True)
            with producer.transaction(consumer):
                for message in consumer.consume(BATCH, 0.5):
                    if message.error() is not None:
                        raise KafkaException(message.error())
                    producer.produce(target, message.value(), partition=message.partition() or 0)
        except KafkaException as error:
            print(f"{transactional_id}: {error}", file=sys.stderr, flush=True)
            if error.fatal:
                return FENCED
            if not (error.abortable or error.retriable):
                raise


if __name__ == "__main__":
    sys.exit(copy(*sys.argv[1:]))
