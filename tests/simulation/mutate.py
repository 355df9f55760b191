"""The command that puts one defect after the other into the client and looks for the first seed that finds it.

`python -m tests.simulation.mutate --limit 2000` runs all of the catalogue; exits 1 if one stays unfound.
"""

from __future__ import annotations

import argparse
import functools
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence

from tests.simulation.mutations.catalogue import MUTATIONS
from tests.simulation.run import simulate_seed


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.mutate", description=__doc__)
    parser.add_argument("--limit", type=int, default=2000, help="seeds for each (default 2000)")
    parser.add_argument("--only", nargs="*", default=list(MUTATIONS), help="names of mutations")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    unfound = []
    gc.freeze()
    for name in options.only:
        started = time.perf_counter()
        seed, text = first_seed(name, options.limit, options.workers)
        took_s = time.perf_counter() - started
        if seed is None:
            unfound.append(name)
            print(f"| {name} | {MUTATIONS[name].what} | not within {options.limit} | | ({took_s:.0f} s)", flush=True)
        else:
            print(f"| {name} | {MUTATIONS[name].what} | {seed} | {text} | ({took_s:.0f} s)", flush=True)
    return 1 if unfound else 0


def first_seed(name: str, limit: int, workers: int) -> tuple[int | None, str]:
    """The first seed that shows the defect, and the checker that found it."""
    work = functools.partial(simulate_seed, name)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for verdict in pool.imap(work, [(seed, None) for seed in range(limit)], chunksize=2):
            if verdict.violations and not simulate_seed(None, (verdict.seed, None)).violations:
                return verdict.seed, verdict.violations[0].checker
    return None, ""


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # as in run.py
        command = [sys.executable, "-m", "tests.simulation.mutate", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
