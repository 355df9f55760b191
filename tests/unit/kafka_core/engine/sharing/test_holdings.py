"""Records of a share group held by an application."""

from __future__ import annotations

import itertools
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.sharing.holdings import MOVES, Acknowledged, Holdings, Origin, Stage, runs
from kafka_core.errors import KafkaError, StateError
from kafka_core.model import AcknowledgeType

ORIGIN = Origin("t", 0, UUID(int=1), 1, 0)
LATER = Origin("t", 0, UUID(int=1), 2, 0)
ACCEPT, RELEASE, REJECT, RENEW = AcknowledgeType
LOST = KafkaError(KafkaError.INVALID_RECORD_STATE)


def holding(*offsets: int) -> Holdings:
    holdings = Holdings()
    holdings.delivered(ORIGIN, offsets)
    return holdings


def test_records_wait_for_a_word_and_the_last_one_counts() -> None:
    holdings = holding(1, 2)
    assert holdings.unacknowledged
    assert not holdings.acknowledged
    holdings.acknowledge("t", 0, 1, ACCEPT)
    holdings.acknowledge("t", 0, 1, REJECT)
    assert holdings.unacknowledged
    holdings.acknowledge("t", 0, 2, RELEASE)
    assert not holdings.unacknowledged
    assert holdings.take() == [Acknowledged(ORIGIN, {1: REJECT, 2: RELEASE})]
    assert holdings.take() == []


def test_everything_that_has_no_word_yet_is_accepted_at_once() -> None:
    holdings = holding(1, 2, 3)
    holdings.acknowledge("t", 0, 2, RELEASE)
    holdings.acknowledge_all()
    assert holdings.take() == [Acknowledged(ORIGIN, {1: ACCEPT, 2: RELEASE, 3: ACCEPT})]


def test_what_was_sent_can_not_be_acknowledged_and_is_gone_with_the_answer() -> None:
    holdings = holding(1)
    holdings.acknowledge_all()
    (sent,) = holdings.take()
    with pytest.raises(StateError, match="sent already"):
        holdings.acknowledge("t", 0, 1, ACCEPT)
    holdings.settled(sent, None)
    assert len(holdings) == 0
    with pytest.raises(StateError, match="never given out"):
        holdings.acknowledge("t", 0, 1, ACCEPT)


def test_a_renewed_record_stays_in_hand_and_holds_no_poll_up() -> None:
    holdings = holding(1, 2)
    holdings.acknowledge("t", 0, 1, RENEW)
    holdings.acknowledge("t", 0, 2, RENEW)
    (sent,) = holdings.take()
    holdings.settled(sent, None)
    assert (len(holdings), holdings.unacknowledged) == (2, False)
    holdings.acknowledge_all()
    assert holdings.take() == []  # implicit words are for records that were delivered, not for those held on purpose
    holdings.acknowledge("t", 0, 1, RENEW)
    holdings.acknowledge("t", 0, 2, ACCEPT)
    (sent,) = holdings.take()
    holdings.settled(sent, LOST)
    assert len(holdings) == 0


def test_a_record_that_comes_again_is_a_new_one_and_the_old_answer_does_not_touch_it() -> None:
    holdings = holding(1)
    holdings.acknowledge("t", 0, 1, ACCEPT)
    (sent,) = holdings.take()
    holdings.delivered(LATER, [1])
    holdings.settled(sent, None)
    assert holdings.unacknowledged
    holdings.acknowledge_all()
    assert holdings.take() == [Acknowledged(LATER, {1: ACCEPT})]


def test_an_old_answer_does_not_settle_a_record_that_was_sent_elsewhere_meanwhile() -> None:
    holdings = holding(1)
    holdings.acknowledge_all()
    (before,) = holdings.take()
    holdings.delivered(LATER, [1])
    holdings.acknowledge_all()
    (sent,) = holdings.take()
    holdings.settled(before, LOST)
    assert len(holdings) == 1
    holdings.settled(sent, None)
    assert len(holdings) == 0


def test_a_word_about_an_older_delivery_is_not_sent_for_the_newer_one() -> None:
    holdings = holding(1)
    holdings.acknowledge("t", 0, 1, ACCEPT)
    holdings.delivered(LATER, [1])
    assert holdings.unacknowledged
    assert holdings.take() == []


def test_records_that_the_application_never_saw_are_withdrawn() -> None:
    holdings = holding(1, 2)
    holdings.withdrawn(ORIGIN, [2, 3])
    holdings.acknowledge_all()
    assert holdings.take() == [Acknowledged(ORIGIN, {1: ACCEPT})]


def test_acknowledgements_go_where_the_records_came_from() -> None:
    holdings = holding(1)
    holdings.delivered(LATER, [2])
    holdings.acknowledge_all()
    assert {part.origin.node_id: dict(part.types) for part in holdings.take()} == {1: {1: ACCEPT}, 2: {2: ACCEPT}}


@pytest.mark.parametrize("start", list(Stage))
@pytest.mark.parametrize("end", list(Stage))
def test_only_moves_of_the_table_are_made(start: Stage, end: Stage) -> None:
    holdings = holding(1)
    held = holdings._held["t", 0][1]
    held.stage = start
    if end in MOVES[start]:
        holdings._move(held, end)
    else:
        with pytest.raises(StateError, match=f"{start.value} to {end.value}"):
            holdings._move(held, end)


@given(st.dictionaries(st.integers(0, 60), st.sampled_from([0, 1, 2, 3, 4])))
def test_runs_say_the_same_in_as_few_ranges_as_can_be(types: dict[int, int]) -> None:
    found = runs(types)
    assert {n: kind for first, last, kind in found for n in range(first, last + 1)} == types
    for before, after in itertools.pairwise(found):
        assert before[1] < after[0]
        assert before[1] + 1 < after[0] or before[2] != after[2]
