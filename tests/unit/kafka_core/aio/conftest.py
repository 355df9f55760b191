"""Rules of the tests of the asyncio client."""

from __future__ import annotations

import pytest

from kafka_core.aio.cluster import choice, coordinators, refresh
from tests.faults.loop import TEST_LIMIT_S


@pytest.fixture(autouse=True)
def _no_second_broker_is_asked_because_the_first_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests count requests; a machine that stands still for a second must not add one."""
    for module in (choice, coordinators, refresh):
        monkeypatch.setattr(module, "STAGGER_S", TEST_LIMIT_S)
