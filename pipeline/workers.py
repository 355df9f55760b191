"""Spark's Python workers: how a task begins in one, and what it leaves behind for the tasks after it.

Must not know what tasks do. Spark's daemon (`pyspark.daemon`) collects garbage after every task, before the worker
takes another one (decision 0104). A worker and its JVM talk over TCP, where each waits for the other's acknowledgement
before it sends the rest of what it has (decision 0102).
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_FILES: Final = Path("/dev/fd")
"""The open files of a process by their numbers; Windows has none, and forks no workers."""
_QUICKACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)
_loaded = 0


class Arrival:
    """Stands among what a task runs, so that the package hears of a task before Spark's worker waits for its input.

    Unpickled in a task, it has the JVM's connection answer at once; in a process of Spark's that plans or commits, see
    `settle_planner`. In other processes it does nothing.
    """

    def settle(self) -> None:
        """See the function of this name."""
        settle()

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return arrived, ()


def arrived() -> Arrival:
    """An `Arrival` that has arrived."""
    if _in_task():
        answer_at_once()
    else:
        settle_planner()
    return Arrival()


def answer_at_once() -> None:
    """Has this process's connections to this machine send what they have, and acknowledge what came.

    Which one is the JVM's, Spark does not tell; neither option alters what is sent on the others. Acknowledging at once
    is not for good: the system goes back to waiting by itself, so each task asks for it.
    """
    for connection in _local_connections():
        # A connection may have ended.
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _QUICKACK is not None:
                connection.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)


def settle() -> None:
    """Takes what this worker has loaded out of the garbage collector's sight, at the end of a task.

    Modules, plans and connected clients live as long as the worker does, and looking through them takes longer than
    many a task. Done again only where further modules were loaded meanwhile; outside of tasks nothing happens.
    """
    global _loaded
    if len(sys.modules) == _loaded or not _in_task():
        return
    gc.collect()  # present garbage would stay for ever
    gc.freeze()
    _loaded = len(sys.modules)


def settle_planner() -> None:
    """Does for Spark's processes that plan and commit what `settle` does for workers, before they begin with it.

    They have no tasks, but the same daemon: it has collected what they left the time before, so nothing is to be
    collected here. In other processes nothing happens.
    """
    global _loaded
    if len(sys.modules) != _loaded and _is_forked():
        gc.freeze()
        _loaded = len(sys.modules)


def _local_connections() -> Iterator[socket.socket]:
    """The TCP connections of this process to this machine, each open for its turn."""
    with contextlib.suppress(OSError):  # no list of files
        for name in os.listdir(_FILES):
            with contextlib.suppress(OSError):  # it was closed meanwhile
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    with socket.socket(fileno=os.dup(int(name))) as found:
                        if _is_local(found):
                            yield found


def _is_local(found: socket.socket) -> bool:
    if found.family not in (socket.AF_INET, socket.AF_INET6) or found.type != socket.SOCK_STREAM:
        return False
    host: str = found.getpeername()[0]
    return host.startswith(("127.", "::ffff:127.")) or host == "::1"


def _is_forked() -> bool:
    """Whether Spark's daemon made this process."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec is not None and spec.name == "pyspark.daemon"


def _in_task() -> bool:
    from pyspark import TaskContext

    return TaskContext.get() is not None
