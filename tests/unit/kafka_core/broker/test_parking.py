"""Answers that come later and the timers that bring them."""

from __future__ import annotations

import pytest

from kafka_core.broker.parking import Pending, Timers
from kafka_core.clock import ManualClock


def test_a_listener_is_called_when_the_answer_comes() -> None:
    pending: Pending[int] = Pending()
    got: list[int] = []
    pending.then(got.append)
    assert not pending.done
    assert got == []
    pending.resolve(3)
    assert got == [3]
    assert pending.value == 3


def test_a_listener_of_a_ready_answer_is_called_at_once() -> None:
    got: list[int] = []
    Pending.ready(4).then(got.append)
    assert got == [4]


def test_answers_are_given_once_and_heard_by_one() -> None:
    pending: Pending[int] = Pending()
    with pytest.raises(RuntimeError, match="still pending"):
        _ = pending.value
    pending.then(lambda value: None)
    with pytest.raises(RuntimeError, match="one listener"):
        pending.then(lambda value: None)
    pending.resolve(1)
    with pytest.raises(RuntimeError, match="already"):
        pending.resolve(2)


def test_timers_run_in_order_of_their_moments() -> None:
    clock = ManualClock()
    timers = Timers(clock)
    ran: list[str] = []
    timers.after(2.0, lambda: ran.append("late"))
    timers.after(1.0, lambda: ran.append("early"))
    timers.after(1.0, lambda: ran.append("early too"))
    assert timers.next_deadline_s() == clock.monotonic() + 1.0
    assert timers.run_due() == 0
    clock.advance(1.0)
    assert timers.run_due() == 2
    assert ran == ["early", "early too"]
    clock.advance(1.0)
    timers.run_due()
    assert ran == ["early", "early too", "late"]
    assert timers.next_deadline_s() is None


def test_a_cancelled_timer_does_not_run_nor_wake_anybody() -> None:
    clock = ManualClock()
    timers = Timers(clock)
    ran: list[int] = []
    timer = timers.after(1.0, lambda: ran.append(1))
    before = timer.active
    timer.cancel()
    assert (before, timer.active) == (True, False)
    assert timers.next_deadline_s() is None
    clock.advance(5.0)
    assert timers.run_due() == 0
    assert ran == []


def test_a_timer_made_by_a_timer_for_now_runs_in_the_same_turn() -> None:
    clock = ManualClock()
    timers = Timers(clock)
    ran: list[int] = []

    def plan() -> None:
        timers.after(0.0, lambda: ran.append(1))

    timers.after(1.0, plan)
    clock.advance(1.0)
    assert timers.run_due() == 2
    assert ran == [1]
