"""The processes of a driver that can be killed: itself, its executors, their Python workers. Linux only (/proc)."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc has it."""

    pid: int
    parent: int
    session: int
    command: str


def session_of(leader: int) -> list[Process]:
    """The processes of a session, its leader too if it lives."""
    return [process for process in _all() if process.session == leader]


def victims(leader: int, kind: str) -> list[Process]:
    """The processes of a driver that may be killed.

    Args:
        leader: the driver's process, which leads a session.
        kind: `driver` (its Python and its JVM), `executor` (one), `worker` (a Python process of an executor).
    """
    processes = session_of(leader)
    executors = [one for one in processes if "CoarseGrainedExecutorBackend" in one.command]
    if kind == "executor":
        return executors
    if kind == "worker":
        daemons = {one.pid for one in processes if one.parent in {executor.pid for executor in executors}}
        return [one for one in processes if one.parent in daemons]
    return [one for one in processes if one.pid == leader or one.parent == leader]


def kill(processes: list[Process]) -> int:
    """Kills -9; how many were there still."""
    killed = 0
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
    return killed


def _all() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if fields[0] != "Z":
            yield Process(int(folder.name), int(fields[1]), int(fields[3]), command)
