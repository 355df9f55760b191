"""The command that puts one defect after the other into a copy of the repository and runs the tests that must notice.

`python -m tests.mutations.run --workers 2` runs all of the catalogue; exits 1 if one survives or can't be judged.
Must not change the repository: it works on copies of what git lists, beside the compiled kernels that are built here.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import multiprocessing
import os
import py_compile
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import pytest

from tests.mutations.catalogue import MUTATIONS, Mutation

ROOT: Final = Path(__file__).resolve().parents[2]
TIME_OUT_S: Final = 3600.0
CPU_S: Final = 300
UNCHANGING: Final = ("pyarrow", "google.protobuf.message", "cryptography.fernet", "cramjam", "orjson")
"""Of others, and slow to import: once for all tests. None may be a plugin of pytest: it imports these itself."""
PASSED, FAILED = 0, 1
"""pytest's exit codes; all others (a mistake in the call, no tests) judge nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a defect.

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
    parser.add_argument("--skip", type=int, default=0, help="how many of the first defects to leave out")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests without a defect first")
    options = parser.parse_args(arguments)
    chosen = [mutation for mutation in MUTATIONS if options.only in mutation.what + mutation.path][options.skip :]
    for name in UNCHANGING:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
        pattern = copied(Path(scratch) / "pattern")
        if not options.no_baseline:
            sound = run(sorted({path for mutation in chosen for path in mutation.tests}), pattern)
            if sound.verdict != "survived":
                print(f"the tests fail without a defect: {sound.by or sound.verdict}", file=sys.stderr)
                return 2
        outcomes = []
        with multiprocessing.get_context("fork").Pool(options.workers, begin, (pattern,)) as pool:
            for mutation, outcome in pool.imap(tried, chosen):
                took = f"{outcome.took_s:.0f} s"
                print(
                    f"| `{mutation.path}` | {mutation.what} | {outcome.verdict} | {outcome.by} | {took} |", flush=True
                )
                outcomes.append(outcome)
    killed = sum(outcome.verdict == "killed" for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} killed")
    return 0 if killed == len(outcomes) else 1


def copied(folder: Path) -> Path:
    """A copy of what git lists (as it is now, committed or not) and of the compiled kernels.

    Its sources are compiled once, for content and not for time: a defect of the same size in the same second is seen.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    built = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/kernels/native/*.so")]
    for name in filter(None, [*listed, *built]):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for package in {mutation.path.split("/")[0] for mutation in MUTATIONS}:
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder / package, quiet=1, invalidation_mode=mode)
    return folder


def begin(pattern: Path) -> None:
    """Gives a worker a copy of its own, its working directory."""
    own = pattern.with_name(f"worker-{os.getpid()}")
    shutil.copytree(pattern, own)
    os.chdir(own)


def tried(mutation: Mutation) -> tuple[Mutation, Outcome]:
    """Puts a defect into the worker's copy, runs its tests and takes it out again."""
    path = Path(mutation.path).absolute()
    text = path.read_text()
    if text.count(mutation.old) != 1:
        return mutation, Outcome(f"the file has the piece {text.count(mutation.old)} times", "", 0)
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        return mutation, run(mutation.tests, Path.cwd())
    finally:
        path.write_text(text)


def run(tests: Sequence[str], folder: Path) -> Outcome:
    """Runs tests in a copy until the first one fails, in a child that has imported what no defect changes."""
    began = time.monotonic()
    output = folder / "output.txt"
    child = os.fork()
    if child == 0:
        judge(tests, folder, output)
    code = waited(child, began + TIME_OUT_S)
    took_s = time.monotonic() - began
    if code is None:
        return Outcome(f"not judged: nothing ended within {TIME_OUT_S:.0f} s", "", took_s)
    if code == -signal.SIGXCPU:
        return Outcome("killed", f"(the tests do not end within {CPU_S} s of processor time)", took_s)
    first = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", output.read_text(), re.MULTILINE)
    by = "" if first is None else first[1].rpartition("/")[2]
    if code in (PASSED, FAILED):
        return Outcome("survived" if code == PASSED else "killed", by, took_s)
    said = output.read_text().strip().splitlines() if output.exists() else []
    return Outcome(f"not judged: pytest ended with {code}: {said[-1] if said else ''}", by, took_s)


def waited(child: int, until: float) -> int | None:
    """The exit code of a child, None if it had to be ended."""
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def judge(tests: Sequence[str], folder: Path, output: Path) -> NoReturn:
    """In the child: pytest, in the copy, and out."""
    code = 3
    try:
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 10))
        sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        sys.dont_write_bytecode = True
        os.environ["KAFKA_CORE_KERNELS"] = "pure" if any("/kernels" in path for path in tests) else "auto"
        os.environ["HYPOTHESIS_PROFILE"] = "ci"
        with output.open("w") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]))
            sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
