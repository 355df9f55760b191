"""kafka_core.engine.producing.marker_pause: how long a transaction's first records wait for the markers before them."""

from __future__ import annotations

import pytest

from kafka_core.engine.producing.batcher import BatcherRules
from kafka_core.engine.producing.marker_pause import HELD_SHARE, MOST_S, STEP_S, MarkerPause
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.engine.producing.transactions import Transactions, TransactionState
from tests.unit.kafka_core.engine.producer_parts import Driver, names

QUICK_S, HELD_S = 0.001, 0.022


def after(*answers_s: float) -> MarkerPause:
    pause = MarkerPause()
    for took_s in answers_s:
        pause.answered(took_s)
    return pause


def test_nothing_waits_while_nothing_is_held() -> None:
    pause = after(*[QUICK_S] * 50)
    pause.ended(7.0)
    assert (pause.pause_s, pause.until_s) == (0.0, 7.0)


def test_a_held_transaction_lengthens_the_next_pause() -> None:
    pause = after(QUICK_S, HELD_S)
    pause.ended(7.0)
    assert pause.until_s == 7.0 + STEP_S


def test_the_pause_has_a_bound_and_goes_away() -> None:
    pause = after(QUICK_S, *[HELD_S] * 30)
    assert pause.pause_s == MOST_S
    for _ in range(round(MOST_S / (STEP_S * HELD_SHARE)) + 1):
        pause.answered(QUICK_S)
    assert pause.pause_s == 0.0


def test_a_broker_that_is_far_away_holds_nothing() -> None:
    assert after(*[0.1, 0.104, 0.097] * 20).pause_s == 0.0


def test_a_broker_that_has_become_slow_is_learnt() -> None:
    pause = after(*[QUICK_S] * 20, *[0.05] * 500)
    assert pause.pause_s == 0.0


def test_as_many_are_held_as_may_be() -> None:
    """Markers that take 0.6 ms: the pause stays about there, and few are held."""
    pause, held = after(QUICK_S), 0
    for _ in range(1000):
        is_held = pause.pause_s < 0.0006
        held += is_held
        pause.answered(HELD_S if is_held else QUICK_S)
    assert held <= 2 * HELD_SHARE * 1000
    assert 0.0003 < pause.pause_s < MOST_S


# ---- in the batcher


def transactional(protocol: int = 2) -> tuple[Driver, Transactions]:
    """A producer whose transaction before has just ended, and whose records were held once."""
    driver = Driver(BatcherRules(transactional=True))
    transactions = driver.batcher.transactions
    assert transactions is not None
    transactions.move(TransactionState.WAIT_PID)
    transactions.initialized(ProducerIdentity(7, 0))
    transactions.protocol = protocol
    transactions.pause.answered(QUICK_S)
    transactions.pause.answered(HELD_S)
    transactions.pause.ended(driver.clock.monotonic())
    transactions.begin()
    return driver, transactions


def test_the_first_records_wait_and_later_ones_do_not() -> None:
    driver, _ = transactional()
    driver.add("a", "b")
    driver.add("c", partition=2)
    assert driver.nothing()
    assert driver.batcher.next_deadline_s() == pytest.approx(driver.clock.monotonic() + STEP_S)
    driver.clock.advance(STEP_S)
    driver.expire()
    first = driver.take()
    assert (names(first), first.opens) == (["a"], True)
    other = driver.take(2)
    assert (names(other), other.opens) == (["c"], False)
    driver.answer(first)
    assert not driver.take().opens


def test_the_time_of_waiting_is_not_asked_for_again() -> None:
    """Records that can't be sent when the pause is over (no leader, no connection) must not make the timer spin."""
    driver, _ = transactional()
    driver.add("a")
    assert driver.nothing()
    driver.clock.advance(STEP_S)
    driver.expire()
    deadline_s = driver.batcher.next_deadline_s()
    assert deadline_s is not None
    assert deadline_s > driver.clock.monotonic()


def test_in_the_first_protocol_nothing_waits() -> None:
    _, transactions = transactional(protocol=1)
    assert transactions.opens_at_s == 0.0


def test_how_long_the_first_answer_took_is_learnt() -> None:
    driver, transactions = transactional()
    before_s = transactions.pause.pause_s
    driver.add("a")
    driver.clock.advance(STEP_S)
    first = driver.take()
    driver.clock.advance(HELD_S)
    driver.answer(first)
    assert transactions.pause.pause_s == before_s + STEP_S
