"""The latency of one record, beside confluent-kafka: `linger.ms=0`, 1,000 records a second, one real broker.

`delivery` is from `produce` to the delivery callback, `arrival` to the `poll` of a consumer in the same process.
The clients take turns, each measurement is a fresh process, and the median of the rounds is what is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.run import ROOT, WORKERS, Cluster, bench_python
from tools.real_kafka import RealKafka

CLIENTS = ("confluent", "kserdes")
KINDS = {"delivery": "produce() to the delivery callback", "arrival": "produce() to the consumer's poll()"}
TARGET = 1.2  # our latency as a multiple of the peer's, median and 99th percentile


def measure(client: str, kind: str, cluster: Cluster, records: int) -> tuple[float, float]:
    """Median and 99th percentile in microseconds, of one process."""
    python = sys.executable if client == "kserdes" else str(bench_python())
    topic = cluster.topic()
    words = [python, str(WORKERS / "latency_worker.py"), client, kind, cluster.bootstrap, topic, str(records)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} if client == "kserdes" else dict(os.environ)
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)
    cluster.drop(topic)
    if done.returncode != 0:
        raise RuntimeError(f"{client} {kind} failed: {done.stderr[-2000:]}")
    latencies: list[float] = json.loads(done.stdout)
    return latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]


def middle_of(rounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The median of the rounds' medians, and that of their 99th percentiles."""
    return statistics.median(median for median, _ in rounds), statistics.median(tail for _, tail in rounds)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    with RealKafka(heap="1g") as kafka:
        cluster = Cluster(kafka.bootstrap_servers)
        for client in CLIENTS * 2:  # the broker's JVM compiles its hot code
            measure(client, "delivery", cluster, args.records)
        for kind, title in KINDS.items():
            found: dict[str, list[tuple[float, float]]] = {client: [] for client in CLIENTS}
            for _ in range(args.rounds):
                for client in CLIENTS:
                    found[client].append(measure(client, kind, cluster, args.records))
            reference, reference_tail = middle_of(found["confluent"])
            print(f"\n{title}, one record a millisecond (asked for: {TARGET}x of confluent-kafka's time or less)")
            print(f"  {'client':<14}{'median us':>11}{'p99 us':>10}{'median':>9}{'p99':>8}")
            for client, rounds in found.items():
                middle, tail = middle_of(rounds)
                ratios = f"{middle / reference:>8.2f}x{tail / reference_tail:>7.2f}x"
                print(f"  {client:<14}{middle:>11.0f}{tail:>10.0f}{ratios}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
