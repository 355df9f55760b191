"""Mutations still apply to today's source; a few are found at once, all of them by `make simulate-mutations` (slow)."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_core import kernels
from tests.simulation.mutations import Mutation, put_in
from tests.simulation.mutations.catalogue import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_mutation_changes_its_function_and_goes_away(mutation: Mutation) -> None:
    before = inspect.getattr_static(mutation.owner, mutation.function)
    with put_in(mutation):
        assert inspect.getattr_static(mutation.owner, mutation.function) is not before
    assert inspect.getattr_static(mutation.owner, mutation.function) is before


def test_there_are_fifteen_beside_the_defect_that_began_it() -> None:
    assert next(iter(MUTATIONS)) == "version-again"
    assert len(MUTATIONS) > 15


@pytest.mark.slow
@pytest.mark.skipif(kernels.IMPL != "native", reason="one set of kernels is enough, and this one is fast")
def test_every_mutation_is_found() -> None:
    command = [sys.executable, "-m", "tests.simulation.mutate", "--limit", "2000"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
