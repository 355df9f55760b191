"""Real parts that a machine may lack: a test that needs one is skipped loudly, or fails where CI requires it."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest
from _pytest.outcomes import Skipped

PARTS = frozenset({"kafka", "registry", "spark"})
REQUIRED = frozenset(filter(None, os.environ.get("KSERDES_REQUIRE", "").split(",")))


class MissingPart(Skipped):
    """A real part (broker, registry, Spark) is not on this machine."""


def missing(part: str, reason: str) -> NoReturn:
    """Skips the test, or fails it where `KSERDES_REQUIRE` names the part."""
    if part in REQUIRED:
        pytest.fail(f"KSERDES_REQUIRE={part}, but {reason}", pytrace=False)
    raise MissingPart(f"{part}: {reason}")
