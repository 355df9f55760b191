"""serdes.kernels: which implementation is picked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kafka_core import kernels as client_kernels
from serdes import kernels
from serdes.kernels import native, pure


def picked(**environment: str) -> subprocess.CompletedProcess[str]:
    code = "from serdes import kernels; print(kernels.IMPL, kernels.WriteCall.__module__)"
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_the_client_s_choice_holds_here_too() -> None:
    assert kernels.IMPL == client_kernels.IMPL


@pytest.mark.parametrize("choice", ["pure", "native"])
def test_a_choice_is_kept(choice: str) -> None:
    assert picked(KAFKA_CORE_KERNELS=choice).stdout.split() == [choice, f"serdes.kernels.{choice}.calls"]


def test_native_that_is_not_there_is_an_error_and_auto_falls_back(tmp_path: object) -> None:
    hidden = "import sys; sys.modules['serdes.kernels.native'] = None; from serdes import kernels; print(kernels.IMPL)"
    for choice, expected in (("native", ""), ("auto", "pure")):
        made = subprocess.run(
            [sys.executable, "-c", hidden],
            env={**os.environ, "KAFKA_CORE_KERNELS": choice},
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.stdout.strip() == expected
        assert ("serializers run on the pure-Python ones" in made.stderr) is (choice == "auto")
        assert ("ImportError" in made.stderr or "ModuleNotFoundError" in made.stderr) is (choice == "native")


def test_an_unknown_choice_is_refused() -> None:
    refused = picked(KAFKA_CORE_KERNELS="fast").stderr
    assert "ValueError: KAFKA_CORE_KERNELS='fast': it is one of auto, native, pure" in refused


def test_both_have_the_same_names() -> None:
    assert pure.__all__ == native.__all__
    for name in pure.__all__:
        assert getattr(pure, name).__doc__.splitlines()[0] == getattr(native, name).__doc__.splitlines()[0]
