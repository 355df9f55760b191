"""`python -m tools.spark_kills KIND --rounds 30`: kills a Spark job again and again, and counts what came out of it.

A round is one kill: of the driver (Python and JVM), of an executor or of a Python worker. A seed picks which, and how
long after the last kill, or after the driver was there, as a part of the time that this driver took to be there; in
half of the rounds this time begins with the next rows that are written. A driver that was killed, that has failed by
itself (Spark gives up, a time-out on a busy machine) or that has ended before all rounds are played, is started again
from its checkpoint, as a user would do. Meanwhile no row may be seen twice; in the end every row must be seen once. The
broker is Apache Kafka, in a process that is left alone.
Every round ends in a line with what a reader saw by then, which the file `rounds` in the folder has too.
Exits 1 if a row is lost or doubled. There is no verdict, and it exits 2, if drivers fail again and again though nobody
kills them, if the tool itself fails, and if a signal ends it; the last line says so.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from kafka_core import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from tools.real_kafka import RealKafka
from tools.spark_kills.job import JOBS, PARTITIONS, ROOT
from tools.spark_kills.judge import Verdict, judge
from tools.spark_kills.processes import kill, session_of, victims

KINDS = ("driver", "executor", "executor", "worker")
GRACE_S = 600.0
"""Seconds that a driver may take to start, and the last one between two rows."""
ANSWER_S = 120.0
"""Seconds that the broker may take: it is never killed."""
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
FAILURES = 5
"""The most drivers in a row that may fail though nobody killed them."""
MIDST = 0.5
"""The part of the rounds in which rows are waited for first: on a slow machine the others kill what only starts."""
PART = 0.5
"""Of the time that a driver takes to be there: the longest time between kills."""


class DriverFailedError(Exception):
    """A driver that nobody killed has failed."""


class EndedError(BaseException):
    """A signal has ended the tool."""


class Driver:
    """The job's process, a session of its own.

    Args:
        kind: of the job.
        bootstrap: the brokers.
        folder: its checkpoint and what it writes; its words go to `log` there.

    Attributes:
        start_s: how long it took to be there.

    Raises:
        DriverFailedError: it was not there in time, or has failed before.
    """

    def __init__(self, kind: str, bootstrap: str, folder: Path) -> None:
        self._log: IO[bytes] = (folder / "log").open("ab")
        words = [sys.executable, "-m", "tools.spark_kills.job", kind, bootstrap, str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self._begun = self._log.tell()
        self._path = folder / "log"
        self._process = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=self._log, stderr=self._log, start_new_session=True
        )
        begun_s = time.monotonic()
        try:
            while not self.has_said("READY"):
                if self._process.poll() is not None or time.monotonic() > begun_s + GRACE_S:
                    raise DriverFailedError(f"it was not there: {self.last_words()}")
                time.sleep(0.1)
        except BaseException:  # a signal, too: nobody else knows of the process yet
            self.end()
            raise
        self.start_s = time.monotonic() - begun_s

    def has_said(self, word: str) -> bool:
        """Whether a line of this driver is that word."""
        with self._path.open("rb") as file:
            file.seek(self._begun)
            return word.encode() in file.read().splitlines()

    def last_words(self) -> str:
        """The last line of its log that is not of a trace."""
        lines = self._path.read_text(errors="replace").splitlines()
        return next((line for line in reversed(lines) if "Exception: " in line), "")[:200]

    def wait(self, limit_s: float) -> bool:
        """Waits for its end; whether it has ended."""
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def succeeded(self) -> bool:
        """Whether it has ended with all done."""
        return self._process.poll() == 0 and self.has_said("DONE")

    def kill(self, kind: str, chance: random.Random) -> bool:
        """Kills the driver, or one of the others, if there is one; whether it did."""
        found = victims(self._process.pid, kind)
        if kind != "driver":
            found = [chance.choice(found)] if found else []
        killed = kill(found)
        if kind == "driver":
            self._process.wait()
        return killed > 0

    def end(self) -> None:
        """Ends what is left of it, executors too."""
        kill(session_of(self._process.pid))
        self._process.wait()
        self._log.close()


def fill(bootstrap: str, first: int, count: int) -> None:
    """Writes numbered rows to `in`, the same number into each partition."""
    with Producer({"bootstrap.servers": bootstrap}) as producer:
        for number in range(first, first + count):
            producer.produce("in", b"%d" % number, b"%d" % number, partition=number % PARTITIONS)
            producer.poll(0)
        left = producer.flush(ANSWER_S)
    if left:
        raise TimeoutError(f"{left} rows are not acknowledged after {ANSWER_S:.0f} s")


def seen(bootstrap: str) -> Iterator[int]:
    """The records of `out` that a reader with read_committed sees now."""
    conf = {"bootstrap.servers": bootstrap, "group.id": "judge", "isolation.level": "read_committed"}
    with Consumer({**conf, "enable.partition.eof": True}) as consumer:
        consumer.assign([TopicPartition("out", number, 0) for number in range(PARTITIONS)])
        ended: set[int | None] = set()
        until_s = time.monotonic() + ANSWER_S
        while len(ended) < PARTITIONS:
            messages = consumer.consume(10_000, timeout=5)
            if messages:
                until_s = time.monotonic() + ANSWER_S
            elif time.monotonic() > until_s:
                raise TimeoutError(f"after {ANSWER_S:.0f} s the end is seen of {len(ended)} of {PARTITIONS} partitions")
            for message in messages:
                error = message.error()
                if error is None:
                    yield int(message.value() or b"")
                elif error.code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition())
                else:
                    raise KafkaException(error)


def written(bootstrap: str, folder: Path) -> int:
    """The number of records in `out`, those of open and aborted transactions too, plus the batches of the view."""
    with Consumer({"bootstrap.servers": bootstrap, "group.id": "judge"}) as consumer:
        rows = sum(consumer.get_watermark_offsets(TopicPartition("out", at))[1] for at in range(PARTITIONS))
    return rows + sum(1 for _ in (folder / "view").glob("*"))


def viewed(folder: Path, *, alive: bool) -> Iterator[int]:
    """The content of the view's files; a batch without `_SUCCESS` is not there yet.

    Args:
        folder: of the job.
        alive: whether a driver may be writing: then only batches count that the checkpoint calls done, which are not
            replaced any more.
    """
    for batch in (folder / "view").glob("*"):
        if (folder / "checkpoint" / "commits" / batch.name).exists() if alive else (batch / "_SUCCESS").exists():
            for part in batch.glob("part-*"):
                yield from map(int, part.read_text().split())


class Game:
    """A job that is killed again and again.

    Args:
        kind: of the job.
        chance: picks who dies, and when.
        bootstrap: the brokers.
        folder: of the job.
        each: rows that each start of a driver has to do.
    """

    def __init__(self, kind: str, chance: random.Random, bootstrap: str, folder: Path, each: int) -> None:
        self._kind, self._chance, self._bootstrap, self._folder, self._each = kind, chance, bootstrap, folder, each
        self._rows = 0
        self._played: Counter[str] = Counter()
        self._failed = self._failed_in_row = 0
        self._driver: Driver | None = None

    def play(self, rounds: int, until_s: float) -> Verdict:
        """Rounds until there are so many, or until this time of the monotonic clock; then the end. The last verdict.

        Raises:
            DriverFailedError: drivers fail that nobody kills.
        """
        try:
            while self._played.total() < rounds and time.monotonic() < until_s:
                verdict = self._round(rounds)
                if verdict is not None and not verdict.good:
                    return verdict
            self._finish()
            return self._verdict(whole=True)
        finally:
            if self._driver is not None:
                self._driver.end()
            killed = ", ".join(f"{often} of {victim}" for victim, often in sorted(self._played.items()))
            told = f"{killed or 'nobody'} killed; {self._failed} drivers failed by themselves"
            self._say(f"{self._played.total()} rounds: {told}")

    def _say(self, told: str) -> None:
        say(told, self._folder)

    def _round(self, rounds: int) -> Verdict | None:
        """One kill and what a reader sees after it; None if there was nobody to kill."""
        driver = self._driver or self._started(self._each)
        if self._chance.random() < MIDST:
            self._wait_for_rows(driver)
        delay_s = self._chance.uniform(0, PART * driver.start_s)
        if driver.wait(delay_s):
            self._make_way(driver)
            return None
        victim = self._chance.choice(KINDS)
        if not driver.kill(victim, self._chance):
            return None
        self._played[victim] += 1
        self._failed_in_row = 0
        told = f"{self._played.total()}/{rounds}: {victim} killed after {delay_s:.1f} s"
        if victim == "driver":
            driver.end()
            self._driver = None
        try:
            verdict = self._verdict(whole=False)
        except BaseException as error:
            self._say(f"{told}; no verdict: {name_of(error)}")
            raise
        self._say(f"{told}; {verdict}")
        return verdict

    def _wait_for_rows(self, driver: Driver) -> None:
        """Waits until there are more rows than now, or there is nothing to wait for."""
        before, until_s = written(self._bootstrap, self._folder), time.monotonic() + GRACE_S
        while time.monotonic() < until_s and not driver.wait(0.2):
            if written(self._bootstrap, self._folder) > before:
                return

    def _finish(self) -> None:
        """Lets the job come to its end, as long as more rows come."""
        driver, before = self._driver or self._started(0), -1
        while not (driver.wait(GRACE_S) and driver.succeeded):
            now = written(self._bootstrap, self._folder)
            if driver.wait(0) or now == before:
                self._make_way(driver)
                driver = self._started(0)
            before = now

    def _started(self, rows: int) -> Driver:
        """A driver that is there, with more rows to do."""
        if rows:
            fill(self._bootstrap, self._rows, rows)
            self._rows += rows
            (self._folder / "count").write_text(str(self._rows))
        while self._driver is None:
            try:
                self._driver = Driver(self._kind, self._bootstrap, self._folder)
            except DriverFailedError as error:
                self._has_failed(str(error))
        return self._driver

    def _make_way(self, driver: Driver) -> None:
        """Another driver comes after this one, which has ended, or does not come to an end."""
        succeeded, words = driver.succeeded, driver.last_words()
        driver.end()
        self._driver = None
        if succeeded:
            self._failed_in_row = 0
        else:
            self._has_failed(words)

    def _has_failed(self, words: str) -> None:
        self._failed += 1
        self._failed_in_row += 1
        self._say(f"a driver has failed by itself ({self._failed_in_row} in a row): {words}")
        if self._failed_in_row >= FAILURES:
            raise DriverFailedError(f"{self._failed_in_row} drivers in a row; see {self._folder / 'log'}")

    def _verdict(self, *, whole: bool) -> Verdict:
        if self._kind == "view":
            rows = viewed(self._folder, alive=self._driver is not None and not whole)
        else:
            rows = seen(self._bootstrap)
        return judge(self._rows, rows, whole=whole)


def say(told: str, folder: Path) -> None:
    """Prints a line, and keeps it in the file `rounds`: what was printed may be lost with a terminal."""
    print(told, flush=True)
    with (folder / "rounds").open("a") as kept:
        kept.write(f"{time.strftime('%H:%M:%S')} {told}\n")


def name_of(error: BaseException) -> str:
    """An error as a line names it."""
    return f"{type(error).__name__}: {error}"


def end(number: int, _: object) -> None:
    """A signal becomes an error, so that nothing is left running and the last line says what happened."""
    raise EndedError(signal.Signals(number).name)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.spark_kills", description="Spark jobs that are killed")
    parser.add_argument("kind", choices=list(JOBS))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no further round is played")
    parser.add_argument("--rows", type=int, default=30_000, help="that each start of the driver has to do")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder that is kept; a new one without it")
    given = parser.parse_args(argv)
    folder = given.keep or Path(tempfile.mkdtemp(prefix="spark-kills-"))
    folder.mkdir(parents=True, exist_ok=True)
    for number in SIGNALS:
        signal.signal(number, end)
    say(f"{given.kind}, seed {given.seed}, in {folder}", folder)
    try:
        verdict = played(given, folder)
    except DriverFailedError as error:
        say(f"no verdict: {error}", folder)
        return 2
    except (Exception, EndedError) as error:
        traceback.print_exc()
        say(f"no verdict: {name_of(error)}", folder)
        return 2
    say(f"the last verdict: {verdict}", folder)
    return 0 if verdict.good else 1


def played(given: argparse.Namespace, folder: Path) -> Verdict:
    """The verdict of a game on a broker of its own."""
    with RealKafka() as kafka:
        with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
            made = admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in ("in", "out")])
            for answer in made.values():
                answer.result()
        chance = random.Random(f"{given.kind} {given.seed}")
        game = Game(given.kind, chance, kafka.bootstrap_servers, folder, given.rows)
        return game.play(given.rounds, time.monotonic() + 60 * given.minutes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
