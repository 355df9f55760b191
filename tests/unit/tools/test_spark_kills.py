"""tools.spark_kills: what its judge calls lost, which processes it finds, and when drivers are started again."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from kafka_core import KafkaException, Producer
from kafka_core.broker import EmbeddedCluster
from tools.spark_kills import __main__ as spark_kills
from tools.spark_kills.__main__ import DriverFailedError
from tools.spark_kills.judge import Verdict, judge
from tools.spark_kills.processes import kill, session_of, victims


@pytest.mark.parametrize(
    ("seen", "whole", "missing", "doubled", "foreign"),
    [
        ([2, 0, 1], True, (), (), ()),
        ([0, 0, 2], True, (1,), (0,), ()),
        ([0], False, (), (), ()),
        ([0, 1, 2, 3], True, (), (), (3,)),
    ],
)
def test_the_judge_counts(
    seen: list[int], whole: bool, missing: tuple[int, ...], doubled: tuple[int, ...], foreign: tuple[int, ...]
) -> None:
    verdict = judge(3, seen, whole=whole)
    assert (verdict.missing, verdict.doubled, verdict.foreign) == (missing, doubled, foreign)
    assert verdict.good == (not (missing or doubled or foreign))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_driver_and_its_children_are_found_and_killed() -> None:
    words = [sys.executable, "-c", "import subprocess; subprocess.run(['cat'])"]
    driver = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    try:
        while len(victims(driver.pid, "driver")) < 2:  # ends with the test's own limit
            assert driver.poll() is None
        assert {one.session for one in session_of(driver.pid)} == {driver.pid}
        assert victims(driver.pid, "executor") == victims(driver.pid, "worker") == []
        assert kill(victims(driver.pid, "driver")) == 2
        assert driver.wait(60) == -signal.SIGKILL
    finally:
        if driver.poll() is None:
            os.kill(driver.pid, signal.SIGKILL)
        driver.communicate()


class FakeDriver:
    """A driver that does what the list says, one word for each start: `absent`, `fails`, `works`, `lives`."""

    fates: list[str] = []
    started = 0
    start_s = 0.0

    def __init__(self, kind: str, bootstrap: str, folder: Path) -> None:
        FakeDriver.started += 1
        self._fate = FakeDriver.fates.pop(0)
        if self._fate == "absent":
            raise DriverFailedError("no port")

    def wait(self, limit_s: float) -> bool:
        assert self._fate != "ended"
        return self._fate in ("fails", "works")

    @property
    def succeeded(self) -> bool:
        return self._fate == "works"

    def last_words(self) -> str:
        return "Exception: it is too much"

    def kill(self, kind: str, chance: random.Random) -> bool:
        return True

    def end(self) -> None:
        self._fate = "ended"


def played(monkeypatch: pytest.MonkeyPatch, folder: Path, fates: list[str], rounds: int) -> Verdict:
    """The verdict of a game in which every row is seen once."""
    rows: list[int] = []
    monkeypatch.setattr(FakeDriver, "fates", fates)
    monkeypatch.setattr(FakeDriver, "started", 0)
    monkeypatch.setattr(spark_kills, "Driver", FakeDriver)
    monkeypatch.setattr(spark_kills, "KINDS", ("driver",))
    monkeypatch.setattr(spark_kills, "fill", lambda _, first, count: rows.extend(range(first, first + count)))
    monkeypatch.setattr(spark_kills, "seen", lambda _: iter(rows))
    looks = itertools.count()
    monkeypatch.setattr(spark_kills, "written", lambda *_: next(looks))
    game = spark_kills.Game("stream", random.Random(0), "nowhere", folder, 10)
    return game.play(rounds, math.inf)


def test_a_driver_that_fails_by_itself_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fates = ["absent", "absent", "lives", "fails", "lives", "fails", "works"]
    assert played(monkeypatch, tmp_path, fates, rounds=2) == judge(30, range(30))
    assert (FakeDriver.started, fates) == (7, [])


def test_drivers_that_fail_again_and_again_end_the_game(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(DriverFailedError, match="5 drivers in a row"):
        played(monkeypatch, tmp_path, ["absent", "fails", "absent", "fails", "absent", "works"], rounds=2)
    assert FakeDriver.started == 5


def test_half_of_the_kills_wait_for_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: list[int] = []

    def kill(self: FakeDriver, kind: str, chance: random.Random) -> bool:
        told.append(there[0])
        return True

    there = [3, 3, 3, 4]
    monkeypatch.setattr(spark_kills, "MIDST", 1.0)
    monkeypatch.setattr(FakeDriver, "fates", ["lives"])
    monkeypatch.setattr(FakeDriver, "kill", kill)
    monkeypatch.setattr(spark_kills, "Driver", FakeDriver)
    monkeypatch.setattr(spark_kills, "KINDS", ("worker",))
    monkeypatch.setattr(spark_kills, "fill", lambda *_: None)
    monkeypatch.setattr(spark_kills, "written", lambda *_: there.pop(0) if len(there) > 1 else there[0])
    game = spark_kills.Game("view", random.Random(0), "nowhere", tmp_path, 10)
    assert game._round(1) == judge(0, [])
    assert told == [4]


def test_a_driver_that_is_slow_goes_on_as_long_as_rows_come(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waits = [False, False, False, False, True]  # the end of the first look, a glance, the second look, a glance, done
    monkeypatch.setattr(FakeDriver, "wait", lambda self, limit_s: waits.pop(0))
    assert played(monkeypatch, tmp_path, ["works"], rounds=0) == judge(0, [])
    assert waits == []


def test_each_round_ends_in_a_verdict_or_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert played(monkeypatch, tmp_path, ["lives", "lives", "works"], rounds=2) == judge(20, range(20))
    kept = [line.partition(" ")[2] for line in (tmp_path / "rounds").read_text().splitlines()]
    assert [line.partition(";")[2] for line in kept[:2]] == [f" {judge(rows, range(rows))}" for rows in (10, 20)]
    assert kept[2:] == ["2 rounds: 2 of driver killed; 0 drivers failed by themselves"]
    monkeypatch.setattr(spark_kills, "judge", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(FakeDriver, "fates", ["lives"])
    with pytest.raises(ZeroDivisionError):
        spark_kills.Game("stream", random.Random(0), "nowhere", tmp_path, 10).play(1, math.inf)
    assert "no verdict: ZeroDivisionError" in (tmp_path / "rounds").read_text().splitlines()[-2]


@pytest.fixture
def signals() -> Iterator[None]:
    """Undoes the tool's signal handling at the end of the test."""
    before = {number: signal.getsignal(number) for number in spark_kills.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_the_last_line(
    monkeypatch: pytest.MonkeyPatch, signals: None, tmp_path: Path, number: signal.Signals
) -> None:
    def play(*_: object) -> Verdict:
        signal.raise_signal(number)
        return judge(0, [])

    monkeypatch.setattr(spark_kills, "played", play)
    assert spark_kills.main(["batch", "--keep", str(tmp_path)]) == 2
    assert (tmp_path / "rounds").read_text().endswith(f" no verdict: EndedError: {number.name}\n")


@pytest.mark.parametrize(
    ("verdict", "status", "line"),
    [
        (judge(1, [0]), 0, "the last verdict: 1 rows, 0 missing, 0 twice, 0 foreign"),
        (judge(1, [0, 0]), 1, "the last verdict: 2 rows, 0 missing, 1 twice, 0 foreign: () (0,) ()"),
        (TimeoutError("no end"), 2, "no verdict: TimeoutError: no end"),
        (DriverFailedError("5 in a row"), 2, "no verdict: 5 in a row"),
    ],
)
def test_the_last_line_is_the_verdict_or_says_why_there_is_none(
    monkeypatch: pytest.MonkeyPatch, signals: None, tmp_path: Path, verdict: Any, status: int, line: str
) -> None:
    monkeypatch.setattr(spark_kills, "played", Mock(side_effect=[verdict]))
    assert spark_kills.main(["batch", "--keep", str(tmp_path)]) == status
    assert (tmp_path / "rounds").read_text().endswith(f" {line}\n")


def test_while_a_driver_lives_only_what_the_checkpoint_calls_done_is_viewed(tmp_path: Path) -> None:
    for batch in "0", "1", "2":
        folder = tmp_path / "view" / batch
        folder.mkdir(parents=True)
        (folder / "part-0").write_text(f"{batch}\n")
        if batch != "2":
            (folder / "_SUCCESS").touch()
    commits = tmp_path / "checkpoint" / "commits"
    commits.mkdir(parents=True)
    (commits / "0").touch()
    assert sorted(spark_kills.viewed(tmp_path, alive=True)) == [0]
    assert sorted(spark_kills.viewed(tmp_path, alive=False)) == [0, 1]


def test_the_reader_ends_with_the_partitions_and_at_no_other_error() -> None:
    with EmbeddedCluster() as cluster:
        cluster.create_topic("in", spark_kills.PARTITIONS)
        cluster.create_topic("out", spark_kills.PARTITIONS)
        spark_kills.fill(cluster.bootstrap_servers, 0, 10)
        with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
            for number in range(10):
                producer.produce("out", b"%d" % number, partition=number % 2)
        assert sorted(spark_kills.seen(cluster.bootstrap_servers)) == list(range(10))
        cluster.delete_topic("out")
        with pytest.raises(KafkaException):
            list(spark_kills.seen(cluster.bootstrap_servers))
