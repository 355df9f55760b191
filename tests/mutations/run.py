"""The command that puts one defect after the other into a copy of the repository and runs the tests that must notice.

`python -m tests.mutations.run --workers 2` runs all of the catalogue; exits 1 if one survives or can't be judged.
Must not change the repository: it works on copies of what git lists, beside the compiled kernels that are built here.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutations.catalogue import MUTATIONS, Mutation

ROOT: Final = Path(__file__).resolve().parents[2]
TIME_OUT_S: Final = 900.0
FAILED, PASSED = 1, 0
"""pytest's exit codes; all others (a mistake in the call, no tests) judge nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a defect.

    Attributes:
        verdict: `killed`, `survived`, or why it could not be judged.
        by: the first test that failed.
        took_s: seconds the tests took.
    """

    verdict: str
    by: str
    took_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations.run", description=__doc__)
    parser.add_argument("--only", default="", help="defects whose description or path has this text")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests without a defect first")
    options = parser.parse_args(arguments)
    chosen = [mutation for mutation in MUTATIONS if options.only in mutation.what + mutation.path]
    with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(options.workers):
            copies.put(copied(Path(scratch) / str(number)))
        if not options.no_baseline:
            wanted = sorted({path for mutation in chosen for path in mutation.tests})
            sound = judged(wanted, copies)
            if sound.verdict != "survived":
                print(f"the tests fail without a defect: {sound.by or sound.verdict}", file=sys.stderr)
                return 2
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            outcomes = list(pool.map(lambda mutation: tried(mutation, copies), chosen))
    killed = sum(outcome.verdict == "killed" for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} killed")
    return 0 if killed == len(outcomes) else 1


def copied(folder: Path) -> Path:
    """A copy of what git lists (as it is now, committed or not) and of the compiled kernels."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    built = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/kernels/native/*.so")]
    for name in filter(None, [*listed, *built]):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def tried(mutation: Mutation, copies: queue.SimpleQueue[Path]) -> Outcome:
    """Puts a defect into one of the copies, runs its tests, takes it out again, and prints a line of the table."""
    folder = copies.get()
    path = folder / mutation.path
    text = path.read_text()
    try:
        if text.count(mutation.old) != 1:
            outcome = Outcome(f"the file has the piece {text.count(mutation.old)} times", "", 0)
        else:
            path.write_text(text.replace(mutation.old, mutation.new))
            outcome = run(mutation.tests, folder)
    finally:
        path.write_text(text)
        copies.put(folder)
    print(
        f"| `{mutation.path}` | {mutation.what} | {outcome.verdict} | {outcome.by} | {outcome.took_s:.0f} s |",
        flush=True,
    )
    return outcome


def judged(tests: Sequence[str], copies: queue.SimpleQueue[Path]) -> Outcome:
    """What the tests say in one of the copies as it is."""
    folder = copies.get()
    try:
        return run(tests, folder)
    finally:
        copies.put(folder)


def run(tests: Sequence[str], folder: Path) -> Outcome:
    """Runs tests in a copy until the first one fails."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    kernels = "pure" if any("/kernels" in path for path in tests) else "auto"
    environment = {**os.environ, "KAFKA_CORE_KERNELS": kernels, "HYPOTHESIS_PROFILE": "ci"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=TIME_OUT_S
        )
    except subprocess.TimeoutExpired:
        return Outcome("killed", "(nothing ends any more)", time.monotonic() - began)
    took_s = time.monotonic() - began
    first = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+)(?: - |$)", done.stdout, re.MULTILINE)
    by = "" if first is None else first[1].partition("[")[0]
    if done.returncode == PASSED:
        return Outcome("survived", "", took_s)
    if done.returncode == FAILED:
        return Outcome("killed", by, took_s)
    return Outcome(f"not judged: pytest ended with {done.returncode}", by, took_s)


if __name__ == "__main__":
    sys.exit(main())
