"""The command: simulates a range of seeds on all processors, shrinks and prints what it finds, exits 1 if there is any.

`python -m tests.simulation.run --seeds 2000` runs 0 … 1999; `--from 50000 --seeds 1000` goes on elsewhere;
`--seed 17 --trace` runs one and prints its history. docs/simulation.md explains more.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import logging
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.simulation import trace
from tests.simulation.judge import Violation, judge
from tests.simulation.mutations import put_in
from tests.simulation.mutations.catalogue import MUTATIONS
from tests.simulation.plan import Plan
from tests.simulation.scenarios import plan_for
from tests.simulation.shrink import shrink
from tests.simulation.world import run

SEEDS_FILE: Final = Path(__file__).with_name("seeds")
"""Scenarios and seeds that once showed a defect; they run first."""

Ticket = tuple[int, str | None]
"""A seed, and the scenario if it is not the one that the seed would draw."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one seed."""

    seed: int
    scenario: str
    violations: tuple[Violation, ...]
    digest: int
    cpu_s: float
    virtual_s: float


def simulate(plan: Plan) -> Verdict:
    """Run a plan and judge it."""
    started = time.process_time()
    result = run(plan)
    return Verdict(
        plan.seed,
        plan.scenario,
        tuple(judge(result)),
        result.digest,
        time.process_time() - started,
        result.virtual_s,
    )


def simulate_seed(mutation: str | None, ticket: Ticket) -> Verdict:
    """Run one seed; for worker processes."""
    with mutated(mutation):
        return simulate(plan_for(*ticket))


@contextlib.contextmanager
def mutated(name: str | None) -> Iterator[None]:
    """Run with a defect put into the client, if one is named."""
    if name is None:
        yield
    else:
        with put_in(MUTATIONS[name]):
            yield


def known_seeds() -> list[Ticket]:
    """The seeds of the seeds file, each with its scenario."""
    rows = [row.split() for row in SEEDS_FILE.read_text().splitlines() if row.strip() and not row.startswith("#")]
    return [(int(row[1]), row[0]) for row in rows]


def explain(verdict: Verdict, mutation: str | None, *, shrunk: bool = True) -> None:
    """Print a violation with its seed, the shrunk schedule, and the history."""
    checkers = {violation.checker for violation in verdict.violations[:1]}
    plan = plan_for(verdict.seed, verdict.scenario)
    print(f"\n=== seed {verdict.seed}: {verdict.violations[0]}")
    with mutated(mutation):
        if shrunk:
            plan = shrink(plan, lambda candidate: bool(checkers & {item.checker for item in judge(run(candidate))}))
        result = run(plan)
    for line in trace.plan_lines(plan):
        print(f"  {line}")
    found = judge(result)
    for violation in found[:10]:
        print(f"  !!! {violation}")
    print("  --- history of the shrunk run")
    for line in trace.lines(result.history.events):
        print(f"  {line}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many seeds (default 2000)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--scenario", help="only this scenario, whatever the seed would draw")
    parser.add_argument("--mutation", help="with this defect put in (see tests/simulation/mutations)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--trace", action="store_true", help="with --seed: print the whole history")
    parser.add_argument("--keep-going", type=int, default=10, help="stop after so many seeds with violations")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for a smaller schedule")
    options = parser.parse_args(arguments)
    logging.getLogger("kafka_core").addHandler(
        logging.NullHandler()
    )  # errors are heard by each run, warnings are noise
    if options.seed is not None:
        return _one(options)
    return _many(options)


def _one(options: argparse.Namespace) -> int:
    plan = plan_for(options.seed, options.scenario)
    with mutated(options.mutation):
        result = run(plan)
    for line in trace.plan_lines(plan):
        print(line)
    if options.trace:
        for line in trace.lines(result.history.events):
            print(line)
    found = judge(result)
    for violation in found:
        print(f"!!! {violation}")
    print(f"digest {result.digest}, {result.virtual_s:.1f} s of virtual time, {result.rounds} rounds")
    return 1 if found else 0


def _many(options: argparse.Namespace) -> int:
    tickets: list[Ticket] = [] if options.scenario else known_seeds()
    tickets += [(seed, options.scenario) for seed in range(options.first, options.first + options.seeds)]
    started = time.perf_counter()
    bad: list[Verdict] = []
    counts: Counter[str] = Counter()
    cpu_s = virtual_s = 0.0
    work = functools.partial(simulate_seed, options.mutation)
    with _workers(options.workers) as results:
        for verdict in results(work, tickets):
            counts[verdict.scenario] += 1
            cpu_s += verdict.cpu_s
            virtual_s += verdict.virtual_s
            if verdict.violations:
                bad.append(verdict)
                print(f"seed {verdict.seed} ({verdict.scenario}): {verdict.violations[0]}", flush=True)
                if len(bad) >= options.keep_going:
                    break
            done = sum(counts.values())
            if done % 10_000 == 0:
                print(f"{done} seeds, the last one {verdict.seed}, {time.perf_counter() - started:.0f} s", flush=True)
    done = sum(counts.values())
    elapsed_s = time.perf_counter() - started
    print(
        f"{done} seeds ({', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}), "
        f"{virtual_s / 3600:.1f} hours of virtual time in {elapsed_s:.0f} s, "
        f"{1000 * cpu_s / max(done, 1):.0f} ms of CPU a seed: {len(bad)} with violations"
    )
    if bad:
        explain(min(bad, key=lambda one: one.seed), options.mutation, shrunk=not options.no_shrink)
    return 1 if bad else 0


@contextlib.contextmanager
def _workers(count: int) -> Iterator[Any]:
    """A map over worker processes, results as they come."""
    gc.freeze()  # each run ends with a collection, which need not look at what is imported
    if count <= 1:
        yield map
        return
    with multiprocessing.get_context("fork").Pool(count, initializer=gc.freeze) as pool:
        yield lambda work, tickets: pool.imap_unordered(work, tickets, chunksize=4)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets of strings must have the same order in every run
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.simulation.run", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    sys.exit(main())
