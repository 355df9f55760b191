"""kafka_core.clock: the real clock moves, the manual one only by hand."""

from __future__ import annotations

import time

import pytest

from kafka_core.clock import Clock, ManualClock, SystemClock


def test_system_clock_is_the_machines() -> None:
    clock: Clock = SystemClock()
    before = time.monotonic(), time.time_ns() // 1_000_000
    now = clock.monotonic(), clock.time_ms()
    after = time.monotonic(), time.time_ns() // 1_000_000
    assert before[0] <= now[0] <= after[0]
    assert before[1] <= now[1] <= after[1]


def test_manual_clock_moves_both_times_together() -> None:
    clock = ManualClock(start_s=5.0, start_ms=1000)
    assert (clock.monotonic(), clock.time_ms()) == (5.0, 1000)
    clock.advance(1.5)
    assert (clock.monotonic(), clock.time_ms()) == (6.5, 2500)


def test_manual_clock_loses_no_time_to_rounding() -> None:
    clock = ManualClock(start_ms=0)
    for _ in range(1000):
        clock.advance(0.0004)
    assert clock.time_ms() == 400


def test_manual_clock_refuses_to_go_back() -> None:
    with pytest.raises(ValueError, match="go back"):
        ManualClock().advance(-0.1)
