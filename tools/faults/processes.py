"""Starts the workers and reads their histories while they grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.faults.judge import Ack, Change, Commit, Delivery, Entry, MemberHistory, ProducerHistory

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"kserdes": "kafka_core", "confluent": "confluent_kafka"}


@dataclass(slots=True)
class Problem:
    """A client's complaint on error_cb, in a message with an error, or about a commit."""

    time_s: float
    name: str
    text: str


class Worker:
    """One process of `tools.faults.worker`, and its history so far.

    Attributes:
        ready: it waits for `begin`.
        ended: it flushed or closed, and said so.
        left: what flush() left, once it has ended.
    """

    def __init__(self, name: str, client: str, folder: Path, job: dict[str, Any]) -> None:
        self.name, self.client = name, client
        self.producer = ProducerHistory(job.get("source", ""))
        self.member = MemberHistory()
        self.problems: list[Problem] = []
        self.ready, self.ended, self.left, self.died = False, False, 0, False
        self._path = folder / f"{name}.jsonl"
        self._path.touch(exist_ok=False)
        self._errors = folder / f"{name}.stderr"
        self._place, self._rest = 0, b""
        words = {**job, "module": MODULES[client], "history": str(self._path)}
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tools.faults.worker", json.dumps(words)],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )

    def tell(self, word: str) -> None:
        """Says `begin`, `stop` or `die` to it."""
        if self.process.stdin is None or self.process.poll() is not None:
            return
        self.died = self.died or word == "die"
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()
        if word == "stop":
            self.process.stdin.close()

    def crash(self) -> str | None:
        """The cause of a death that nobody ordered: the last words."""
        code = self.process.poll()
        if code in (None, 0) or self.died:
            return None
        words = self._errors.read_text(errors="replace").strip().splitlines()
        return f"{self.name} ended with {code}: {words[-1] if words else 'no words'}"

    def kill(self) -> None:
        """Ends it at once, if it runs."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()

    def read(self) -> None:
        """Takes in the whole lines that were written since."""
        with self._path.open("rb") as file:
            file.seek(self._place)
            data = file.read()
        self._place += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(*json.loads(line))

    def _take(self, kind: str, time_s: float, *rest: Any) -> None:
        if kind == "got":
            partition, offset, source, number = rest
            self.member.deliveries.append(Delivery(time_s, Entry(partition, offset, source, number)))
        elif kind == "sent":
            self.producer.sent[rest[0]] = time_s
        elif kind == "acked":
            self.producer.acks.append(Ack(time_s, *rest))
        elif kind == "failed":
            self.producer.failed.append(rest[0])
        elif kind in ("assigned", "revoked", "lost"):
            self.member.changes.append(Change(time_s, kind, tuple(rest[0])))
        elif kind == "committed":
            offsets = {int(partition): offset for partition, offset in rest[0].items()}
            self.member.commits.append(Commit(time_s, offsets))
        elif kind == "error":
            self.problems.append(Problem(time_s, *rest))
        elif kind == "ready":
            self.ready = True
        elif kind == "end":
            self.ended, self.left = True, rest[0]
        else:
            raise ValueError(f"{self._path.name}: no such line: {kind}")


@dataclass(slots=True)
class Team:
    """One client's producer, or one client's group under one protocol."""

    name: str
    client: str
    workers: list[Worker] = field(default_factory=list)

    def read(self) -> None:
        for worker in self.workers:
            worker.read()
