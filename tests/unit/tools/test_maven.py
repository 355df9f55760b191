"""tools.maven: jars are fetched once, by one process at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.maven import JarsUnavailableError, jars

MAVEN = """#!/bin/sh
mkdir {running} || exit 1
sleep 0.2
for word; do case $word in -DoutputDirectory=*) echo jar >${{word#*=}}/a.jar;; esac; done
echo $$ >>{calls}
rmdir {running}
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of runs of a Maven that fails beside another one."""
    programs, told = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    (programs / "mvn").write_text(MAVEN.format(running=tmp_path / "running", calls=told))
    (programs / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("KSERDES_CACHE", str(tmp_path / "cache"))
    return told


def test_one_maven_runs_at_a_time_and_once_for_each_folder(calls: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = [threads.submit(jars, name, "kafka") for name in ("a", "b", "c") * 2]
    assert [(each.result().name, (each.result() / "a.jar").read_text()) for each in found] == [
        (name, "jar\n") for name in ("a", "b", "c") * 2
    ]
    assert len(calls.read_text().splitlines()) == 3


def test_a_failed_fetch_leaves_nothing_in_the_cache(calls: Path, tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    with pytest.raises(JarsUnavailableError, match="Maven could not fetch a"):
        jars("a", "kafka")
    assert [each.name for each in (tmp_path / "cache").iterdir()] == ["maven.lock"]
