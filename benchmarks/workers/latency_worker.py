"""The worker that measures time instead of rates: 1,000 records a second, each with the moment it was produced.

Two kinds: `delivery` waits in `poll` for the callback of every record; `arrival` reads the records in another thread of
the same process. Prints one line of JSON: the latencies in microseconds, sorted.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
import sys
import threading
import time
from typing import Any

INTERVAL_NS = 1_000_000
WARM_UP = 500
MOMENT = struct.Struct("<q")


def pace(number: int, started_ns: int) -> None:
    """Waits until record `number` is due."""
    left_ns = started_ns + number * INTERVAL_NS - time.perf_counter_ns()
    if left_ns > 0:
        time.sleep(left_ns / 1e9)


def delivery(client: Any, bootstrap: str, topic: str, records: int) -> list[float]:
    """From `produce` to the delivery callback."""
    producer = client.Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    producer.list_topics(topic, 10)
    latencies: list[float] = []
    produced_ns = 0

    def on_delivery(error: object, _message: object) -> None:
        if error is not None:
            sys.exit(str(error))
        latencies.append((time.perf_counter_ns() - produced_ns) / 1e3)

    started_ns = time.perf_counter_ns()
    for number in range(records):
        pace(number, started_ns)
        produced_ns = time.perf_counter_ns()
        producer.produce(topic, b"x" * 100, partition=0, on_delivery=on_delivery)
        while len(latencies) <= number:
            producer.poll(1)
    return latencies[WARM_UP:]


def arrival(client: Any, bootstrap: str, topic: str, records: int) -> list[float]:
    """From `produce` to the return of the consumer's `poll`, in a thread of its own."""
    producer = client.Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    producer.list_topics(topic, 10)
    conf = {"bootstrap.servers": bootstrap, "group.id": "latency", "enable.auto.commit": False, "fetch.min.bytes": 1}
    consumer = client.Consumer(conf)
    consumer.assign([client.TopicPartition(topic, 0, 0)])
    latencies: list[float] = []

    def read() -> None:
        while len(latencies) < records:
            message = consumer.poll(10)
            if message is None or message.error():
                sys.exit(f"nothing arrived: {message and message.error()}")
            latencies.append((time.perf_counter_ns() - MOMENT.unpack_from(message.value())[0]) / 1e3)

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(1)  # the consumer waits at the end of the partition
    started_ns = time.perf_counter_ns()
    for number in range(records):
        pace(number, started_ns)
        producer.produce(topic, MOMENT.pack(time.perf_counter_ns()) + b"x" * 92, partition=0)
        producer.poll(0)
    reader.join()
    return latencies[WARM_UP:]


if __name__ == "__main__":
    name, kind, bootstrap, topic, records = sys.argv[1:]
    module = importlib.import_module({"kserdes": "kafka_core", "confluent": "confluent_kafka"}[name])
    measured = {"delivery": delivery, "arrival": arrival}[kind](module, bootstrap, topic, int(records))
    print(json.dumps([round(latency, 1) for latency in sorted(measured)]), flush=True)
    os._exit(0)  # shutting a client down is not part of any measurement
