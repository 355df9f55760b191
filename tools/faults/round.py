"""One round: both clients' producers and groups run, a fault happens to all of them at once, and the judge looks."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.faults.cluster import LIMIT_S, NODES, FaultCluster, java_hash, wait_until
from tools.faults.judge import Entry, GroupVerdict, ProducerVerdict, Window, judge_group, judge_producer
from tools.faults.processes import MODULES, Team, Worker
from tools.faults.scenarios import Fault, Stage

PROTOCOLS = {"eager": "range", "cooperative": "cooperative-sticky"}
RATE = 150
SETTLE_S = 2.0
WARM_S = 6.0  # a busy machine makes clients slow, but they must be at work
PATIENCE_S = 75.0  # without any new record while a group should catch up


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of one round.

    Attributes:
        producers: client → verdict.
        groups: (client, protocol) → verdict.
        crashes: processes that ended by themselves, with their last words.
        notes: what the clients said on their error callbacks, each kind once, with the number of times.
    """

    fault: str
    round_number: int
    victim: int
    producers: dict[str, ProducerVerdict]
    groups: dict[tuple[str, str], GroupVerdict]
    crashes: list[str]
    notes: dict[str, int]


def group_name(stem: str, slot: int, slots: int) -> str:
    """A name whose coordinator is the leader of this partition of the offsets topic."""
    return next(name for number in range(10_000) if abs(java_hash(name := f"{stem}-{number}")) % slots == slot)


class Round:
    """The processes of one round; `play` does all of it."""

    def __init__(self, cluster: FaultCluster, fault: Fault, number: int, folder: Path) -> None:
        self.cluster, self.fault, self.number, self.folder = cluster, fault, number, folder
        self.topic = f"{fault.name}-{number}-{time.time_ns() // 1_000_000}"
        self.victim = NODES[number % len(NODES)]
        self.producers: dict[str, Team] = {}
        self.groups: dict[tuple[str, str], Team] = {}

    def play(self) -> RoundResult:
        """Starts the clients, does the fault, waits for recovery, ends the clients, judges, mends the cluster.

        Raises:
            TimeoutError: the cluster or the clients did not get ready for the fault.
        """
        shutil.rmtree(self.folder, ignore_errors=True)  # the histories of an earlier run
        self.folder.mkdir(parents=True)
        try:
            window = self._run()
            log = self.cluster.read_log(self.topic)
            self._drain(log)
            self._end(self._members(), "stop", LIMIT_S)
            return self._judge(log, window)
        finally:
            for worker in self._workers():
                worker.kill()
            self._mend()

    def _run(self) -> Window:
        cluster, fault = self.cluster, self.fault
        cluster.wait_in_sync()
        cluster.elect_preferred()
        if fault.coordinator is None:
            slot, slots, _ = cluster.coordinator_slot()
        elif fault.coordinator:
            slot, slots, self.victim = cluster.coordinator_slot(leads=self.victim)
        else:
            slot, slots, _ = cluster.coordinator_slot(not_led_by=self.victim)
        cluster.create(self.topic, fault.replicas(self.victim))
        self._start(slot, slots)
        wait_until(self._is_ready, f"{fault.name}: all clients imported")
        time.sleep(SETTLE_S)  # all brokers know the topic by now; a group that finds none looks for it minutes later
        for worker in self._workers():
            worker.tell("begin")
        wait_until(self._is_steady, f"{fault.name}: all clients at work")
        stage = Stage(cluster, self.topic, self.victim, [team.workers[1] for team in self.groups.values()])
        start_s = time.monotonic()
        fault.act(stage)
        over_s = time.monotonic()
        deadline_s = over_s + fault.limit_s
        while time.monotonic() < deadline_s and not self._has_recovered(max(start_s, stage.new_topic_s or 0)):
            time.sleep(0.3)
        time.sleep(SETTLE_S)
        end_s = time.monotonic()
        self._end([worker for team in self.producers.values() for worker in team.workers], "stop", LIMIT_S + 30.0)
        return Window(start_s, end_s, stage.new_topic_s or float("-inf"))

    def _start(self, slot: int, slots: int) -> None:
        kafka = self.cluster.kafka
        servers = kafka.proxied_bootstrap_servers if self.fault.proxied else kafka.bootstrap_servers
        common: dict[str, object] = {"bootstrap.servers": servers, **self.fault.conf}
        clients = list(MODULES) if self.number % 2 else list(MODULES)[::-1]
        for protocol, strategy in PROTOCOLS.items():
            for client in clients:
                group = group_name(f"{client}-{protocol}-{self.topic}", slot, slots)
                conf = {"group.id": group, "auto.offset.reset": "earliest", "partition.assignment.strategy": strategy}
                member: dict[str, object] = {"role": "member", "conf": {**common, **conf}, "topic": self.topic}
                team = Team(f"{client}-{protocol}", client)
                team.workers = [Worker(f"{team.name}-{n}", client, self.folder, member) for n in (1, 2)]
                self.groups[client, protocol] = team
        for client in clients:
            settings = {**common, "enable.idempotence": True, "acks": "all"}
            job: dict[str, object] = {
                "role": "producer",
                "conf": settings,
                "topic": self.topic,
                "source": client,
                "rate": RATE,
            }
            self.producers[client] = Team(client, client, [Worker(f"{client}-producer", client, self.folder, job)])

    def _teams(self) -> Iterator[Team]:
        yield from self.producers.values()
        yield from self.groups.values()

    def _workers(self) -> list[Worker]:
        return [worker for team in self._teams() for worker in team.workers]

    def _members(self) -> list[Worker]:
        return [worker for team in self.groups.values() for worker in team.workers]

    def _read(self) -> None:
        for team in self._teams():
            team.read()

    def _is_ready(self) -> bool:
        self._read()
        return all(worker.ready or worker.crash() for worker in self._workers())

    def _is_steady(self) -> bool:
        """Everybody works on every partition, every member owns some, and no group has changed for two seconds."""
        self._read()
        crashes = [crash for worker in self._workers() if (crash := worker.crash())]
        if crashes:
            raise TimeoutError(f"{self.fault.name}: not all clients at work: {crashes}")
        since_s = time.monotonic() - SETTLE_S
        members = [worker.member for worker in self._members()]
        members_ready = all(member.owned() and member.changes[-1].time_s < since_s for member in members)
        return members_ready and self._has_recovered(time.monotonic() - WARM_S, commits=False)

    def _has_recovered(self, since_s: float, *, commits: bool = True) -> bool:
        """Every producer and group dealt with a record, handed to produce() since then, in every partition."""
        self._read()
        partitions = set(self.cluster.leaders(self.topic))
        sent: dict[tuple[str, int], float] = {}
        for client, team in self.producers.items():
            history = team.workers[0].producer
            fresh = set()
            for ack in reversed(history.acks):
                if ack.time_s < since_s:
                    break
                if history.sent[ack.number] > since_s:
                    fresh.add(ack.partition)
                    sent[client, ack.number] = history.sent[ack.number]
            if fresh < partitions:
                return False
        for team in self.groups.values():
            reached = set()
            for worker in team.workers:
                for delivery in reversed(worker.member.deliveries):
                    if delivery.time_s < since_s:
                        break
                    if (delivery.entry.source, delivery.entry.number) in sent:
                        reached.add(delivery.entry.partition)
            if reached < partitions:
                return False
            if commits and not any(
                worker.member.commits and worker.member.commits[-1].time_s > since_s for worker in team.workers
            ):
                return False
        return True

    def _drain(self, log: Sequence[Entry]) -> None:
        """Waits until every group has everything, or nothing new has come to it for a while."""
        wanted = set(log)
        last_s, before = time.monotonic(), -1
        while True:
            self._read()
            missing = 0
            for team in self.groups.values():
                got = {delivery.entry for worker in team.workers for delivery in worker.member.deliveries}
                missing += len(wanted - got)
            if not missing:
                return
            if missing != before:
                last_s, before = time.monotonic(), missing
            if time.monotonic() - last_s > PATIENCE_S:
                return
            time.sleep(0.5)

    def _end(self, workers: Sequence[Worker], word: str, limit_s: float) -> None:
        """Tells them, and waits for their ends; who takes too long is a crash in the result."""
        for worker in workers:
            worker.tell(word)
        deadline_s = time.monotonic() + limit_s
        while any(worker.process.poll() is None for worker in workers) and time.monotonic() < deadline_s:
            time.sleep(0.1)

    def _judge(self, log: Sequence[Entry], window: Window) -> RoundResult:
        self._read()
        workers = self._workers()
        crashes = [crash for worker in workers if (crash := worker.crash())]
        crashes += [f"{worker.name} did not end" for worker in workers if worker.process.poll() is None]
        histories = [team.workers[0].producer for team in self.producers.values()]
        notes: dict[str, int] = {}
        for worker in workers:
            for problem in worker.problems:
                key = f"{worker.client}: {problem.name}"
                notes[key] = notes.get(key, 0) + 1
        return RoundResult(
            fault=self.fault.name,
            round_number=self.number,
            victim=self.victim,
            producers={
                client: judge_producer(team.workers[0].producer, log, window) for client, team in self.producers.items()
            },
            groups={
                key: judge_group([worker.member for worker in team.workers], log, window, histories)
                for key, team in self.groups.items()
            },
            crashes=crashes,
            notes=notes,
        )

    def _mend(self) -> None:
        """All nodes run again, no proxy misbehaves, the topic is gone."""
        for node_id, node in self.cluster.kafka.nodes.items():
            if node.process is None or node.process.poll() is not None:
                self.cluster.kafka.start_node(node_id)
            self.cluster.proxies[node_id].resume()
        self.cluster.wait_in_sync()
        self.cluster.delete(self.topic)


def as_json(result: RoundResult) -> dict[str, Any]:
    """The round as it is kept; `from_json` reads it."""
    kept = asdict(result)
    kept["groups"] = [[client, protocol, group] for (client, protocol), group in kept["groups"].items()]
    return kept


def from_json(kept: dict[str, Any]) -> RoundResult:
    """The opposite of `as_json`."""
    groups = {(client, protocol): GroupVerdict(**group) for client, protocol, group in kept["groups"]}
    producers = {client: ProducerVerdict(**verdict) for client, verdict in kept["producers"].items()}
    return RoundResult(**{**kept, "groups": groups, "producers": producers})
