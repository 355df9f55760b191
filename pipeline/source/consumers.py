"""The consumers of this process: borrowed for a split, given back for the next, so that each one connects once.

Must not know of Spark. Python workers of Spark live on over tasks; a consumer of its own costs a split 14 ms, one that
is connected already 1.2 ms.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from kafka_core import Consumer

KEPT: Final = 4
"""Idle consumers of a process, of all clusters together."""
_idle: list[tuple[str, Consumer]] = []
_lock = threading.Lock()


@contextmanager
def borrowed_consumer(conf: Mapping[str, object]) -> Iterator[Consumer]:
    """A consumer without an assignment, for the body alone; after an error in the body it is closed.

    Raises:
        ConfigError: as `Consumer`.
    """
    key = json.dumps(conf, sort_keys=True)
    consumer = _taken(key) or Consumer(conf)
    try:
        yield consumer
    except GeneratorExit:  # the reader has enough: a limit, for example
        _give_back(key, consumer)
        raise
    except BaseException:
        consumer.close()
        raise
    _give_back(key, consumer)


def _taken(key: str) -> Consumer | None:
    with _lock:
        for at, (kept, consumer) in enumerate(_idle):
            if kept == key:
                del _idle[at]
                return consumer
    return None


def _give_back(key: str, consumer: Consumer) -> None:
    consumer.unassign()  # nothing is fetched while nobody reads
    with _lock:
        _idle.append((key, consumer))
        over = _idle.pop(0)[1] if len(_idle) > KEPT else None
    if over is not None:
        over.close()


def _after_fork() -> None:
    """Threads of the parent's consumers did not come along."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()


os.register_at_fork(after_in_child=_after_fork)
