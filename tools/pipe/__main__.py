"""`make pipe`: every input once in the output, though brokers, coordinators and applications die (KIP-98, 447, 890).

A round: a topic with new records, two applications that copy it in transactions, and faults at random moments until
everything is copied. Then confluent-kafka reads the output with `read_committed`: each value must be there once.
The faults: kill -9 of the output's leader, of the coordinator of transactions, of the group's coordinator, of an
application; and a zombie, stopped for longer than its session lasts while another one takes its transactional id.
Exits 1 when a value is missing or there twice, or when a zombie was not fenced.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tools.faults.cluster import LIMIT_S, OFFSETS_TOPIC, FaultCluster, java_hash, wait_until
from tools.pages import ROOT
from tools.pipe.worker import FENCED

PARTITIONS = 4
REPLICAS = [[1 + (first + more) % 3 for more in range(3)] for first in range(PARTITIONS)]
TRANSACTIONS_TOPIC = "__transaction_state"
FAULTS = ("leader", "transactions", "group", "application", "zombie")
PAUSE_S = (0.5, 4.0)  # between two faults
SESSION_S = 6.0  # session.timeout.ms of the applications


class Application:
    """One process of the pipe, started again whenever it ends."""

    def __init__(self, words: Sequence[str], log: Path) -> None:
        self._words, self._log = words, log
        self.process = self._start()
        self.crashes = 0

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            command = [sys.executable, "-m", "tools.pipe.worker", *self._words]
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def replace(self) -> subprocess.Popen[bytes]:
        """Starts another process in its place; returns the old one, which may still run."""
        old, self.process = self.process, self._start()
        return old

    def watch(self) -> None:
        """Starts it again if it ended by itself."""
        if self.process.poll() is not None:
            self.crashes += 1
            self.process = self._start()


@dataclass(slots=True)
class Verdict:
    """The result of one round."""

    missing: int = 0
    doubled: int = 0
    crashes: int = 0
    unfenced: int = 0
    seconds: float = 0.0
    faults: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def good(self) -> bool:
        return not (self.missing or self.doubled or self.unfenced)


class Round:
    """One topic through the pipe."""

    def __init__(self, cluster: FaultCluster, number: int, records: int, folder: Path, chance: random.Random) -> None:
        self._cluster, self._records, self._random = cluster, records, chance
        self._source, self._target, self._group = f"in-{number}", f"out-{number}", f"pipe-{number}"
        self._ids = [f"pipe-{number}-{index}" for index in range(2)]
        self._folder = folder
        self._zombies: list[subprocess.Popen[bytes]] = []
        self._verdict = Verdict()

    def play(self) -> Verdict:
        """Fills, copies under faults, reads back.

        Raises:
            TimeoutError: the pipe does not get to its end.
        """
        started_s = time.monotonic()
        cluster = self._cluster
        for topic in (self._source, self._target):
            cluster.create(topic, REPLICAS)
        self._fill()
        servers = cluster.kafka.bootstrap_servers
        applications = [
            Application([servers, self._group, name, self._source, self._target], self._folder / f"{name}.log")
            for name in self._ids
        ]
        try:
            while not self._copied():
                time.sleep(self._random.uniform(*PAUSE_S))
                fault = self._random.choice(FAULTS)
                self._verdict.faults[fault] += 1
                self._play(fault, applications)
                for application in applications:
                    application.watch()
                if time.monotonic() - started_s > 10 * LIMIT_S:
                    raise TimeoutError(f"{self._source} is not copied; the logs are in {self._folder}")
        finally:
            for process in [*(application.process for application in applications), *self._zombies]:
                process.kill()
                process.wait()
        cluster.wait_in_sync()
        self._judge(self._read())
        self._verdict.crashes = sum(application.crashes for application in applications)
        self._verdict.seconds = time.monotonic() - started_s
        for topic in (self._source, self._target):
            cluster.delete(topic)
        return self._verdict

    def _fill(self) -> None:
        room = {"queue.buffering.max.messages": 2 * self._records}
        producer = Producer({"bootstrap.servers": self._cluster.kafka.bootstrap_servers, "log_level": 0, **room})
        for number in range(self._records):
            producer.produce(self._source, str(number), partition=number % PARTITIONS)
        if producer.flush(LIMIT_S):
            raise TimeoutError(f"{self._source} could not be filled")

    def _copied(self) -> bool:
        """Whether the group has committed the end of every partition."""
        conf = {"bootstrap.servers": self._cluster.kafka.bootstrap_servers, "group.id": self._group, "log_level": 0}
        consumer = Consumer(conf)
        wanted = {number: len(range(number, self._records, PARTITIONS)) for number in range(PARTITIONS)}
        try:
            asked = [TopicPartition(self._source, number) for number in wanted]
            return all(found.offset == wanted[found.partition] for found in consumer.committed(asked, timeout=5))
        except KafkaException:
            return False
        finally:
            consumer.close()

    def _play(self, fault: str, applications: Sequence[Application]) -> None:
        if fault == "application":
            victim = self._random.choice(applications)
            victim.kill()
            time.sleep(self._random.uniform(0, 2))
            victim.replace()
        elif fault == "zombie":
            self._haunt(self._random.choice(applications))
        else:
            topic, key = {
                "leader": (self._target, None),
                "transactions": (TRANSACTIONS_TOPIC, self._random.choice(self._ids)),
                "group": (OFFSETS_TOPIC, self._group),
            }[fault]
            leaders = self._cluster.leaders(topic)
            partition = self._random.randrange(PARTITIONS) if key is None else abs(java_hash(key)) % len(leaders)
            self._crash(leaders[partition])

    def _crash(self, node_id: int) -> None:
        """kill -9 of a node; it comes back, and all replicas are in sync before the next fault."""
        self._cluster.kafka.kill_node(node_id)
        time.sleep(self._random.uniform(0, 3))
        self._cluster.kafka.start_node(node_id)
        self._cluster.wait_in_sync()
        self._cluster.elect_preferred()

    def _haunt(self, victim: Application) -> None:
        """Stops an application, lets another one take its place, and wakes it up again: it must end as fenced.

        One that wakes up when everything is copied has nothing to write, and is not judged.
        """
        victim.process.send_signal(signal.SIGSTOP)
        time.sleep(SESSION_S)
        zombie = victim.replace()
        time.sleep(self._random.uniform(1, 4))
        zombie.send_signal(signal.SIGCONT)
        self._zombies.append(zombie)
        try:
            wait_until(lambda: zombie.poll() is not None or self._copied(), "the end of a zombie", 60, step_s=1)
        except TimeoutError:
            self._verdict.unfenced += 1
        else:
            self._verdict.unfenced += zombie.returncode not in (None, FENCED)

    def _read(self) -> collections.Counter[bytes]:
        """All values of the output as a reader with `read_committed` sees them."""
        conf = {"bootstrap.servers": self._cluster.kafka.bootstrap_servers, "group.id": "judge", "log_level": 0}
        consumer = Consumer({**conf, "isolation.level": "read_committed", "enable.partition.eof": True})
        consumer.assign([TopicPartition(self._target, number, 0) for number in range(PARTITIONS)])
        found: collections.Counter[bytes] = collections.Counter()
        ended: set[int | None] = set()
        deadline_s = time.monotonic() + LIMIT_S
        while len(ended) < PARTITIONS:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{self._target} could not be read to its end")
            for message in consumer.consume(1000, 0.2):
                error = message.error()
                if error is None:
                    found[message.value() or b""] += 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition())
                else:
                    raise KafkaException(error)
        consumer.close()
        return found

    def _judge(self, found: collections.Counter[bytes]) -> None:
        self._verdict.missing = sum(str(number).encode() not in found for number in range(self._records))
        self._verdict.doubled = sum(count - 1 for count in found.values())


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make pipe", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--records", type=int, default=200_000, help="in each round")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    args = parser.parse_args(argv)
    folder = ROOT / "build" / "pipe" / str(args.seed)
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(args.seed)
    bad = 0
    faults: collections.Counter[str] = collections.Counter()
    print(f"seed {args.seed}, logs in {folder}", flush=True)
    with FaultCluster() as cluster:
        for number in range(args.rounds):
            verdict = Round(cluster, number, args.records, folder, chance).play()
            bad += not verdict.good
            faults += verdict.faults
            played = ", ".join(f"{count} {name}" for name, count in sorted(verdict.faults.items()))
            found = f"{verdict.missing} missing, {verdict.doubled} doubled, {verdict.unfenced} zombies not fenced"
            took = f"{verdict.crashes} restarts, {verdict.seconds:.0f} s ({played})"
            print(f"round {number + 1}/{args.rounds}: {found}; {took}", flush=True)
    total = ", ".join(f"{count} {name}" for name, count in sorted(faults.items()))
    print(f"{args.rounds * args.records:,} records in {args.rounds} rounds, {bad} of them bad; faults: {total}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
