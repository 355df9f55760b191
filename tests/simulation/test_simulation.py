"""A short run of the simulator, as CI's long one in small, and the proof that a seed decides everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_core import kernels
from tests.patience import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(kernels.IMPL != "native", reason="one set of kernels is enough, and this one is fast")


def simulate(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.simulation.run", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PROCESS_S)


def test_forty_seeds_hold() -> None:
    done = simulate("--seeds", "40", "--workers", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": 0 with violations" in done.stdout


def test_a_seed_gives_the_same_run_in_every_process() -> None:
    for seed in ("3", "4"):
        first, second = (simulate("--seed", seed, "--trace", hash_seed=start) for start in ("0", "random"))
        assert first.stdout == second.stdout
        assert "digest" in first.stdout
        assert first.stdout.count("\n") > 100
