"""One consume run against a broker that is up: rate, CPU per record, peak memory; for profiling.

    python -m benchmarks.consume_once 127.0.0.1:9092 topic 2000000 [consume|poll|arrow|aio]

Counts from the first message on, as the benchmark does. Under perf or py-spy: nothing else runs here.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable

from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer


def cpu_s() -> float:
    """CPU time of this process so far, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def configuration(bootstrap: str) -> dict[str, object]:
    return {"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False}


def partitions(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number, 0) for number in range(4)]


def import_columns() -> None:
    """Loads pyarrow before the clock starts: that alone takes a second."""
    importlib.import_module("kafka_core.records.arrow")


def blocking(bootstrap: str, topic: str, records: int, kind: str) -> tuple[int, float, float]:
    """Reads with the blocking consumer; (records, wall seconds, CPU seconds)."""
    consumer = Consumer(configuration(bootstrap))
    consumer.assign(partitions(topic))

    def by_consume() -> int:
        messages = consumer.consume(10_000, 5)
        for message in messages:
            message.value()
        return len(messages)

    def by_poll() -> int:
        message = consumer.poll(5)
        if message is None:
            return 0
        message.value()
        return 1

    def by_arrow() -> int:
        return int(consumer.consume_arrow(10_000, 5).num_rows)

    if kind == "arrow":
        import_columns()
    reads: dict[str, Callable[[], int]] = {"consume": by_consume, "poll": by_poll, "arrow": by_arrow}
    read = reads[kind]
    seen = len(consumer.consume(1, 60))
    wall_s, used_s = time.perf_counter(), cpu_s()
    while seen < records:
        count = read()
        if not count:
            break
        seen += count
    return seen, time.perf_counter() - wall_s, cpu_s() - used_s


async def asynchronous(bootstrap: str, topic: str, records: int) -> tuple[int, float, float]:
    """The same with the asyncio consumer."""
    consumer = AIOConsumer(configuration(bootstrap))
    await consumer.assign(partitions(topic))
    seen = len(await consumer.consume(1, 60))
    wall_s, used_s = time.perf_counter(), cpu_s()
    while seen < records:
        messages = await consumer.consume(10_000, 5)
        if not messages:
            break
        for message in messages:
            message.value()
        seen += len(messages)
    return seen, time.perf_counter() - wall_s, cpu_s() - used_s


def main() -> None:
    bootstrap, topic, records = sys.argv[1], sys.argv[2], int(sys.argv[3])
    kind = sys.argv[4] if len(sys.argv) > 4 else "consume"
    if kind == "aio":
        seen, wall_s, used_s = asyncio.run(asynchronous(bootstrap, topic, records))
    else:
        seen, wall_s, used_s = blocking(bootstrap, topic, records, kind)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {"kind": kind, "records": seen, "per_s": round(seen / wall_s), "cpu_us": round(used_s / seen * 1e6, 3)}
    print(json.dumps({**result, "peak_mb": round(peak_mb)}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
