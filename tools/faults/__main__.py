"""`make faults`: plays the faults, prints the page, and writes docs/faults.md if all of them were played.

Every round is kept in `build/faults/results.jsonl` (where it ran in `about.txt`), with the histories beside it;
`--from` makes the page of what is there, also of a run that was ended early. Exits 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import confluent_kafka

from kafka_core.kernels import IMPL
from kserdes_base.version import VERSION
from tools.faults.cluster import FaultCluster
from tools.faults.report import report
from tools.faults.round import Round, RoundResult, as_json, from_json
from tools.faults.scenarios import FAULTS, Fault
from tools.pages import ROOT
from tools.real_kafka import DEFAULT_VERSION

PAGE = ROOT / "docs" / "faults.md"
KEPT = ROOT / "build" / "faults"


def about(command: str, started: str) -> str:
    """Machine, versions, command and date, a sentence."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.0f}" for value in os.getloadavg())
    return (
        f"The figures: `{command}`, {started}, {os.cpu_count()} cores ({platform.machine()}, {memory_gb:.0f} GB; load "
        f"averages at the beginning {load}), Apache Kafka {DEFAULT_VERSION}, Python {platform.python_version()}, "
        f"kserdes {VERSION} ({commit}, {IMPL} kernels), confluent-kafka {confluent_kafka.version()}."
    )


def chosen(names: str) -> list[Fault]:
    """The faults with these names, all without any.

    Raises:
        SystemExit: there is no such fault.
    """
    wanted = [name for name in names.split(",") if name]
    unknown = set(wanted) - {fault.name for fault in FAULTS}
    if unknown:
        sys.exit(f"no such faults: {', '.join(sorted(unknown))}; there are {', '.join(fault.name for fault in FAULTS)}")
    return [fault for fault in FAULTS if not wanted or fault.name in wanted]


def play(faults: Sequence[Fault], rounds: int, folder: Path) -> list[RoundResult]:
    """All faults once, then again, so that a change in the machine's load meets all of them."""
    results = []
    with FaultCluster() as cluster, (folder / "results.jsonl").open("a") as file:
        for number in range(rounds):
            for fault in faults:
                started_s = time.monotonic()
                result = Round(cluster, fault, number, folder / f"{fault.name}-{number}").play()
                results.append(result)
                file.write(json.dumps(as_json(result)) + "\n")
                file.flush()
                print(f"{fault.name} {number + 1}/{rounds}: {time.monotonic() - started_s:.0f} s", flush=True)
    return results


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make faults", description="faults on real brokers, beside confluent-kafka")
    parser.add_argument("--faults", default="", help="names, with commas between; all without it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--from", dest="kept", type=Path, help="play nothing: read the results of a run")
    args = parser.parse_args(argv)
    faults, started = chosen(args.faults), time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    selection = f" FAULTS={args.faults}" if args.faults else ""
    KEPT.mkdir(parents=True, exist_ok=True)
    if args.kept:
        results = [from_json(json.loads(line)) for line in args.kept.read_text().splitlines()]
        where = args.kept.with_name("about.txt").read_text()
    else:
        (KEPT / "results.jsonl").unlink(missing_ok=True)
        where = about(f"make faults ROUNDS={args.rounds}{selection}", started)
        (KEPT / "about.txt").write_text(where)
        results = play(faults, args.rounds, KEPT)
    made = report(faults, results, where)
    print(made.page)
    page = PAGE if {result.fault for result in results} == {fault.name for fault in FAULTS} else KEPT / "faults.md"
    page.write_text(made.page)
    print(f"written to {page.relative_to(ROOT)}")
    return 1 if made.misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
