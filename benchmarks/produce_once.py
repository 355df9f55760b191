"""One produce run against a broker that runs already, for profiling: rate, CPU per record and by thread, peak memory.

    python -m benchmarks.produce_once --bootstrap 127.0.0.1:9092 [--kind callback] [--client confluent]

`make bench` is what compares; this is what one starts under py-spy or perf.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.workers.common import DISTINCT, Job

KINDS = ("produce", "callback", "keys")


def run(client: str, job: Job, conf: dict[str, object]) -> dict[str, float]:
    """Produces `job.records` records and waits until they are delivered."""
    producer: Any = importlib.import_module({"kserdes": "kafka_core.sync.producer"}.get(client, client)).Producer(conf)
    values, keys = job.values(), job.keys()
    delivered = 0

    def on_delivery(error: object, _message: object) -> None:
        nonlocal delivered
        if error is not None:
            raise SystemExit(f"a record failed: {error}")
        delivered += 1

    producer.list_topics(job.topic, timeout=10)
    producer.produce(job.topic, values[0])
    producer.flush()
    call, callback, keyed = producer.produce, job.kind == "callback", job.kind == "produce-keys"
    wall_s, cpu_s, own_s, full = time.perf_counter(), time.process_time(), time.thread_time(), 0
    for number in range(job.records):
        value = values[number % DISTINCT]
        while True:
            try:
                if callback:
                    call(job.topic, value, on_delivery=on_delivery)
                elif keyed:
                    call(job.topic, value, keys[number % DISTINCT])
                else:
                    call(job.topic, value)
                break
            except BufferError:
                full += 1
                producer.poll(0.01)
        if callback and number % 10_000 == 0:
            producer.poll(0)
    own_s = time.thread_time() - own_s
    loop_s = time.perf_counter() - wall_s
    left = producer.flush(120)
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    if left or (callback and delivered != job.records):
        raise SystemExit(f"{left} left, {delivered} delivered")
    return {
        "rate": job.records / wall_s,
        "loop_rate": job.records / loop_s,
        "cpu_us": cpu_s / job.records * 1e6,
        "own_us": own_s / job.records * 1e6,
        "full": full,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--client", default="kserdes", choices=("kserdes", "confluent_kafka"))
    parser.add_argument("--kind", default="produce", choices=KINDS)
    parser.add_argument("--topic", default="produce-once")
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="PROPERTY=VALUE")
    args = parser.parse_args(argv)
    conf: dict[str, object] = {"bootstrap.servers": args.bootstrap, "enable.idempotence": True, "acks": "all"}
    conf.update(item.split("=", 1) for item in args.set)
    kind = "produce-keys" if args.kind == "keys" else args.kind
    for _ in range(args.rounds):
        shown = run(args.client, Job(kind, args.bootstrap, args.topic, args.records, args.size), conf)
        print(
            f"{args.client} {args.kind}: {shown['rate']:,.0f} msg/s (loop {shown['loop_rate']:,.0f}), CPU "
            f"{shown['cpu_us']:.3f} us/record (caller's thread {shown['own_us']:.3f}), "
            f"queue full {shown['full']:.0f}x, peak {shown['peak_mb']:.0f} MB"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
