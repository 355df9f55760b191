"""Common parts of the benchmark workers: the payloads, the meter and the one line of JSON each prints.

Knows no client; runs in the peers' environment as well, so it imports only the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

DISTINCT = 1_000  # values and keys are made once and used in turn, so that making them costs nothing


@dataclass(frozen=True)
class Job:
    """One measurement: what to do, where, and how much of it."""

    kind: str  # produce | produce-callback | produce-keys | consume
    bootstrap: str
    topic: str
    records: int
    value_size: int

    def values(self) -> list[bytes]:
        source = random.Random(7)
        return [source.randbytes(self.value_size) for _ in range(DISTINCT)]

    def keys(self) -> list[bytes | None]:
        return (
            [b"key-%06d" % number for number in range(DISTINCT)] if self.kind == "produce-keys" else [None] * DISTINCT
        )


class Meter:
    """Wall and CPU time from `start()` to `stop()`, peak memory of the process."""

    def __init__(self) -> None:
        self._wall_s = self._cpu_s = 0.0

    @staticmethod
    def _cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    def start(self) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), self._cpu()

    def stop(self, records: int) -> None:
        """Prints the result line."""
        wall_s, cpu_s = time.perf_counter() - self._wall_s, self._cpu() - self._cpu_s
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"records": records, "wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": peak_mb}))


def main(jobs: dict[str, Callable[[Job], None]]) -> None:
    """Runs the job of the command line with the worker's function for its kind."""
    parser = argparse.ArgumentParser()
    for name in ("kind", "bootstrap", "topic"):
        parser.add_argument(name)
    parser.add_argument("records", type=int)
    parser.add_argument("value_size", type=int)
    job = Job(**vars(parser.parse_args()))
    jobs[job.kind](job)
    sys.stdout.flush()
    os._exit(0)  # shutting a client down is not part of any measurement
