"""`make bench`: our rates beside the peers', in one run, on one real broker.

Absolute times mean little on a noisy machine, so what is kept and compared are ratios to a peer of the same run.
The peers live in an environment of their own (`.venv-bench`); every measurement is a fresh process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.real_kafka import RealKafka

ROOT = Path(__file__).resolve().parent.parent
WORKERS = ROOT / "benchmarks" / "workers"
BASELINE = ROOT / "benchmarks" / "baselines" / "kafka.json"
PEERS = {"confluent": "confluent-kafka", "aiokafka": "aiokafka", "kafka-python": "kafka-python"}
WARM_UP_ROUNDS = 4
SLOWER = 0.10  # a ratio this much under its baseline is reported


@dataclass(frozen=True, slots=True)
class Scenario:
    """One table of the report: a kind of work and who takes part.

    Attributes:
        reference: the peer whose rate is 1.0 in the ratios.
        shares: client → share of the records it gets (slow clients get fewer; rates are what is compared).
        target: the ratio that the design asks for.
    """

    kind: str
    title: str
    reference: str
    shares: dict[str, float]
    target: float


SCENARIOS = (
    Scenario("produce", "produce(), idempotent", "confluent", {"kserdes": 1, "confluent": 1, "aiokafka": 0.2}, 2.0),
    Scenario("produce-callback", "… with a delivery callback", "confluent", {"kserdes": 1, "confluent": 1}, 1.5),
    Scenario("produce-keys", "… with keys", "confluent", {"kserdes": 1, "confluent": 1}, 1.5),
    Scenario("transactions", "transactions of 1,000 records", "confluent", {"kserdes": 0.2, "confluent": 0.2}, 1.5),
    Scenario("consume", "consume(), values read", "aiokafka", {"kserdes": 1, "aiokafka": 1, "confluent": 0.5}, 2.5),
)
SLOW_PEER = {"produce": 0.03, "consume": 0.1}  # kafka-python, with --all-peers


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements of one process."""

    rate: float
    cpu_us: float
    peak_mb: float


def bench_python() -> Path:
    """The interpreter of the peers' environment, made if it is not there."""
    folder = ROOT / ".venv-bench"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *PEERS.values()]
        subprocess.run(pip, check=True)
    return python


def command(client: str) -> list[str]:
    """The command that starts the worker of this client."""
    if client == "kserdes":
        return [sys.executable, str(WORKERS / "confluent_like.py"), client]
    if client == "confluent":
        return [str(bench_python()), str(WORKERS / "confluent_like.py"), client]
    return [str(bench_python()), str(WORKERS / f"{client.replace('-', '_')}_worker.py")]


def measure(client: str, kind: str, bootstrap: str, topic: str, records: int, size: int) -> Result:
    """One measurement in a process of its own."""
    words = [*command(client), kind, bootstrap, topic, str(records), str(size)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} if client == "kserdes" else dict(os.environ)
    done = subprocess.run(words, capture_output=True, text=True, timeout=580, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{client} {kind} failed: {done.stdout[-500:]} {done.stderr[-2000:]}")
    line = json.loads(done.stdout.strip().splitlines()[-1])
    return Result(line["records"] / line["wall_s"], line["cpu_s"] / line["records"] * 1e6, line["peak_mb"])


class Cluster:
    """The broker of the run and the topics on it."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._number = 0

    def topic(self) -> str:
        """A new topic of four partitions."""
        from kafka_core.admin import AdminClient, NewTopic

        self._number += 1
        name = f"bench-{os.getpid()}-{self._number}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(name, 4, 1)])[name].result(30)
        return name

    def drop(self, name: str) -> None:
        from kafka_core.admin import AdminClient

        AdminClient({"bootstrap.servers": self.bootstrap}).delete_topics([name])[name].result(30)


def run(scenario: Scenario, cluster: Cluster, records: int, size: int, rounds: int) -> dict[str, list[Result]]:
    """All rounds of one scenario; the clients take turns, so that a slow minute hits all of them."""
    results: dict[str, list[Result]] = {client: [] for client in scenario.shares}
    source = None
    if scenario.kind == "consume":
        source = cluster.topic()
        measure("confluent", "produce", cluster.bootstrap, source, records, size)
    for _ in range(rounds):
        for client, share in scenario.shares.items():
            topic = source or cluster.topic()
            results[client].append(measure(client, scenario.kind, cluster.bootstrap, topic, int(records * share), size))
            if source is None:
                cluster.drop(topic)
    if source is not None:
        cluster.drop(source)
    return results


def warm_up(cluster: Cluster, records: int, size: int) -> None:
    """Lets the broker's JVM compile its hot code: else whoever comes first is measured on a cold one.

    Its cost of a record falls from 0.5 to 0.1 us of CPU (user) in the first ten million records, and stays there.
    """
    for client in ("confluent", "kserdes") * WARM_UP_ROUNDS:
        topic = cluster.topic()
        measure(client, "produce", cluster.bootstrap, topic, records, size)
        measure(client, "consume", cluster.bootstrap, topic, records, size)
        cluster.drop(topic)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def report(scenario: Scenario, results: dict[str, list[Result]]) -> float:
    """Prints the table of one scenario and returns our ratio to its reference."""
    reference = median([result.rate for result in results[scenario.reference]])
    print(f"\n{scenario.title} (ratio to {scenario.reference}; asked for: {scenario.target}x)")
    print(f"  {'client':<14}{'msg/s median':>14}{'min':>12}{'max':>12}{'ratio':>8}{'CPU us/rec':>12}{'peak MB':>9}")
    ratio = 0.0
    for client, rounds in results.items():
        rates = [result.rate for result in rounds]
        share = median(rates) / reference
        ratio = share if client == "kserdes" else ratio
        cpu = median([result.cpu_us for result in rounds])
        peak = max(result.peak_mb for result in rounds)
        print(
            f"  {client:<14}{median(rates):>14,.0f}{min(rates):>12,.0f}{max(rates):>12,.0f}"
            f"{share:>7.2f}x{cpu:>12.3f}{peak:>9.0f}"
        )
    return ratio


def compare(ratios: dict[str, float], write: bool) -> None:
    """Reports ratios that fell under their baseline; `write` keeps the new ones."""
    known = json.loads(BASELINE.read_text())["ratios"] if BASELINE.exists() else {}
    for kind, ratio in ratios.items():
        if kind in known and ratio < known[kind] * (1 - SLOWER):
            print(f"SLOWER: {kind} is at {ratio:.2f}x, its baseline is {known[kind]:.2f}x")
    if write:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        kept = {"machine": machine, "ratios": {kind: round(ratio, 2) for kind, ratio in {**known, **ratios}.items()}}
        BASELINE.write_text(json.dumps(kept, indent=2) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--size", type=int, default=100, help="bytes of a value")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=[scenario.kind for scenario in SCENARIOS], action="append")
    parser.add_argument("--all-peers", action="store_true", help="kafka-python too (slow)")
    parser.add_argument("--bootstrap", help="a broker that runs already; default: a real one of this run")
    parser.add_argument("--write-baseline", action="store_true")
    args = parser.parse_args(argv)
    ratios: dict[str, float] = {}

    def work(bootstrap: str) -> None:
        warm_up(Cluster(bootstrap), args.records, args.size)
        for scenario in SCENARIOS:
            if args.only and scenario.kind not in args.only:
                continue
            if args.all_peers and scenario.kind in SLOW_PEER:
                scenario.shares["kafka-python"] = SLOW_PEER[scenario.kind]
            results = run(scenario, Cluster(bootstrap), args.records, args.size, args.rounds)
            ratios[scenario.kind] = report(scenario, results)

    if args.bootstrap:
        work(args.bootstrap)
    else:
        with RealKafka(heap="1g") as kafka:
            work(kafka.bootstrap_servers)
    compare(ratios, args.write_baseline)
    return 0


if __name__ == "__main__":
    sys.exit(main())
