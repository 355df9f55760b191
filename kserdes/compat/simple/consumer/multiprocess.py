"""A consumer whose partitions are read by processes of their own.

Each process runs `worker`, which reads its partitions and sends what it reads through a socket; when the socket's
buffer is full it waits, and when the other end is gone it ends. Commits are made here, for what was given.
Spec: the manual of kafka-python 0.9.5 (kafka.consumer.multiprocess).
"""

from __future__ import annotations

import collections
import contextlib
import json
import multiprocessing
import multiprocessing.connection
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kserdes.compat.simple.client import KafkaClient
from kserdes.compat.simple.common import KafkaError, OffsetAndMessage
from kserdes.compat.simple.consumer.base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    FETCH_DEFAULT_BLOCK_TIMEOUT,
    Consumer,
)
from kserdes.compat.simple.util import text

STEP_S: Final = 0.1
STOP_S: Final = 10.0

Channel = multiprocessing.connection.Connection


class Worker:
    """A process that reads some partitions."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.channel, theirs = multiprocessing.Pipe()
        with theirs:
            command = [sys.executable, "-m", "kserdes.compat.simple.consumer.worker", str(theirs.fileno())]
            self.process = subprocess.Popen([*command, json.dumps(job)], pass_fds=[theirs.fileno()])

    def stop(self) -> None:
        """Lets it end, and kills it if it does not."""
        self.channel.close()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class MultiProcessConsumer(Consumer):
    """Reads a topic in several processes.

    Args:
        client: a KafkaClient.
        group: under whose name positions are kept; None: they are not.
        topic: what to read.
        partitions: which; None: all.
        auto_commit: whether to commit without being asked.
        auto_commit_every_n: after so many messages.
        auto_commit_every_t: after so many milliseconds.
        num_procs: among how many processes the partitions are divided.
        partitions_per_proc: how many each may have at most, instead; 0: `num_procs` counts.
        simple_consumer_options: for the SimpleConsumer in each process.
    """

    def __init__(
        self,
        client: KafkaClient,
        group: str | bytes | None,
        topic: str | bytes,
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
        num_procs: int = 1,
        partitions_per_proc: int = 0,
        **simple_consumer_options: Any,
    ) -> None:
        super().__init__(client, group, topic, partitions, auto_commit, auto_commit_every_n, auto_commit_every_t)
        numbers = sorted(self.offsets)
        if partitions_per_proc:
            count = -(-len(numbers) // partitions_per_proc)
        else:
            count = min(num_procs, len(numbers))
        job = {
            "hosts": [f"{host}:{port}" for host, port in client.hosts],
            "client_id": text(client.client_id),
            "timeout": client.timeout,
            "group": None if self.group is None else text(self.group),
            "topic": text(self.topic),
            "options": simple_consumer_options,
        }
        self.workers = [Worker({**job, "partitions": numbers[first::count]}) for first in range(count)]
        self._at_end = weakref.finalize(self, _stop_all, self.workers)
        self._waiting: collections.deque[tuple[int, OffsetAndMessage]] = collections.deque()

    def __repr__(self) -> str:
        processes = len(self.workers)
        return f"<MultiProcessConsumer group={self.group!r}, topic={self.topic!r}, {processes} processes>"

    def get_messages(self, count: int = 1, block: bool | int = True, timeout: float | None = 10) -> list[Any]:
        """Up to `count` messages; arguments and result as of `SimpleConsumer.get_messages`.

        Raises:
            KafkaError: a process has failed; the text says why.
        """
        needed = count if block is True else min(int(block), count)
        limit_s = FETCH_DEFAULT_BLOCK_TIMEOUT if not block else timeout
        deadline_s = float("inf") if limit_s is None else time.monotonic() + limit_s
        found: list[Any] = []
        while len(found) < count:
            if self._waiting:
                number, message = self._waiting.popleft()
                self.offsets[number] = message.offset + 1
                self.count_since_commit += 1
                found.append((number, message) if self.partition_info else message)
                continue
            left_s = deadline_s - time.monotonic()
            enough = len(found) >= needed and bool(found)
            if (left_s <= 0 or enough) and not self._receive(0):
                break
            if not self._waiting:
                self._receive(min(left_s, STEP_S))
        self._auto_commit()
        return found

    def _receive(self, wait_s: float) -> bool:
        """Takes one batch from each process that has one."""
        channels: dict[Any, Worker] = {worker.channel: worker for worker in self.workers}
        got = False
        for channel in multiprocessing.connection.wait(channels, max(wait_s, 0)):
            try:
                batch = channels[channel].channel.recv()
            except (EOFError, ConnectionError):
                status = channels[channel].process.wait(STOP_S)
                raise KafkaError(f"a process that reads {text(self.topic)} has ended with status {status}") from None
            if isinstance(batch, str):
                raise KafkaError(f"a process that reads {text(self.topic)} has failed: {batch}")
            self._waiting.extend(batch)
            got = True
        return got

    def __iter__(self) -> Iterator[Any]:
        """Messages without an end."""
        while True:
            yield from self.get_messages(1, True, STEP_S)

    def stop(self) -> None:
        """Ends the processes, and commits (if that is automatic)."""
        if self._at_end.detach():
            _stop_all(self.workers)
        super().stop()


def _stop_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.channel.close()
    for worker in workers:
        worker.stop()
