"""The dialect of kafka-python beside kafka-python: the same program, in turns, on one real broker.

`python -m benchmarks.compat_kafka [--records N] [--rounds N] [--bootstrap ADDRESS]`. The goal: 3x at produce (`send`
with its future), 20x at consume (`poll`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.run import ROOT, WORKERS, Cluster
from tools.real_kafka import RealKafka

GOALS = {"produce": 3.0, "consume": 20.0}
WORKER = {"kafka-python": "kafka_python_worker.py", "dialect": "kafka_dialect_worker.py"}
SHARES = {"kafka-python": 0.1, "dialect": 1.0}
SIZE = 100


def rate(client: str, kind: str, bootstrap: str, topic: str, records: int) -> float:
    """Records per second, measured in a process of its own."""
    words = [sys.executable, str(WORKERS / WORKER[client]), kind, bootstrap, topic, str(records), str(SIZE)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=580, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{client} {kind} failed: {done.stdout[-500:]} {done.stderr[-2000:]}")
    line = json.loads(done.stdout.strip().splitlines()[-1])
    return float(line["records"] / line["wall_s"])


def compare(cluster: Cluster, records: int, rounds: int) -> None:
    """Prints one line per kind of work."""
    source = cluster.topic()
    rate("dialect", "produce", cluster.bootstrap, source, records)  # records to read later; the broker gets warm
    print(f"{'work':<10}{'kafka-python/s':>16}{'dialect/s':>14}{'ratio':>8}{'goal':>8}")
    for kind, goal in GOALS.items():
        rates: dict[str, list[float]] = {client: [] for client in WORKER}
        for _ in range(rounds):
            for client, share in SHARES.items():
                topic = source if kind == "consume" else cluster.topic()
                rates[client].append(rate(client, kind, cluster.bootstrap, topic, int(records * share)))
        theirs, ours = (statistics.median(rates[client]) for client in WORKER)
        print(f"{kind:<10}{theirs:>16,.0f}{ours:>14,.0f}{ours / theirs:>7.1f}x{goal:>7.0f}x")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bootstrap", help="a broker that runs already; default: a real one of this run")
    args = parser.parse_args(argv)
    if args.bootstrap:
        compare(Cluster(args.bootstrap), args.records, args.rounds)
    else:
        with RealKafka(heap="1g") as kafka:
            compare(Cluster(kafka.bootstrap_servers), args.records, args.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
