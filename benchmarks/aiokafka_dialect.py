"""aiokafka beside our dialect of it: the same program (workers/aiokafka_worker.py), on one real broker.

`produce` is `send` with a future per record, `consume` is `getmany`. Both take turns, each measurement is a fresh
process, and the median of the rounds is what is compared.
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

CLIENTS: dict[str, list[str]] = {"aiokafka": [], "kserdes": ["-m", "kserdes.compat.confluent"]}
KINDS = {"produce": "send(), a future per record", "consume": "getmany(), values read"}
TARGET = 1.5
VALUE_BYTES = 100


def measure(client: str, kind: str, cluster: Cluster, topic: str, records: int) -> float:
    """Records a second, of one process."""
    words = [sys.executable, *CLIENTS[client], str(WORKERS / "aiokafka_worker.py")]
    arguments = [kind, cluster.bootstrap, topic, str(records), str(VALUE_BYTES)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*words, *arguments], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{client} {kind} failed: {done.stderr[-2000:]}")
    told = json.loads(done.stdout)
    return float(told["records"] / told["wall_s"])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    with RealKafka(heap="1g") as kafka:
        cluster = Cluster(kafka.bootstrap_servers)
        full = cluster.topic()
        measure("kserdes", "produce", cluster, full, args.records)
        for kind, title in KINDS.items():
            found: dict[str, list[float]] = {client: [] for client in CLIENTS}
            for _ in range(args.rounds):
                for client in CLIENTS:
                    topic = full if kind == "consume" else cluster.topic()
                    found[client].append(measure(client, kind, cluster, topic, args.records))
                    if topic != full:
                        cluster.drop(topic)
            reference = statistics.median(found["aiokafka"])
            print(f"\n{title}, {VALUE_BYTES} bytes (asked for: {TARGET}x of aiokafka's rate or more)")
            print(f"  {'client':<14}{'records/s':>12}{'ratio':>8}")
            for client, rates in found.items():
                rate = statistics.median(rates)
                print(f"  {client:<14}{rate:>12,.0f}{rate / reference:>7.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
