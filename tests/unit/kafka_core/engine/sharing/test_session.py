"""A share session with one broker."""

from __future__ import annotations

import pytest

from kafka_core.engine.sharing.holdings import Acknowledged, Origin
from kafka_core.engine.sharing.session import MAX_EPOCH, MOVES, SessionState, ShareSession
from kafka_core.errors import StateError
from kafka_core.model import AcknowledgeType
from kafka_core.protocol.messages.share_fetch import ShareFetchRequest
from tests.unit.kafka_core.engine.sharing.steps import LIMITS, TOPIC_ID

A, B, C = ((TOPIC_ID, number) for number in range(3))


def named(request: ShareFetchRequest) -> list[int]:
    return [part.partition_index for topic in request.topics for part in topic.partitions]


def forgotten(request: ShareFetchRequest) -> list[int]:
    return [number for topic in request.forgotten_topics_data for number in topic.partitions]


def acknowledged(partition: int, types: dict[int, int]) -> Acknowledged:
    return Acknowledged(Origin("t", partition, TOPIC_ID, 1, 0), types)


def opened() -> ShareSession:
    session = ShareSession("g", "me")
    session.answered(session.fetch([A, B], LIMITS))
    return session


def test_the_first_fetch_names_everything_and_later_ones_what_changes() -> None:
    session = ShareSession("g", "me")
    first = session.fetch([A, B], LIMITS)
    assert (first.share_session_epoch, named(first), session.open) == (0, [0, 1], False)
    session.answered(first)
    second = session.fetch([B, C], LIMITS)
    assert (second.share_session_epoch, named(second), forgotten(second)) == (1, [2], [0])
    session.answered(second)
    assert (session.fetch([B, C], LIMITS).share_session_epoch, session.state) == (2, SessionState.OPEN)


def test_a_request_without_an_answer_has_told_nothing() -> None:
    session = opened()
    session.fetch([C], LIMITS)
    session.lost()
    again = session.fetch([C], LIMITS)
    assert (again.share_session_epoch, named(again), forgotten(again), session.number) == (0, [2], [], 1)


def test_acknowledgements_ride_on_a_fetch_in_ranges() -> None:
    session = opened()
    types = {1: AcknowledgeType.ACCEPT, 2: AcknowledgeType.ACCEPT, 3: AcknowledgeType.REJECT, 7: 0}
    request = session.fetch([A, B], LIMITS, [acknowledged(1, types)])
    assert named(request) == [1]
    batches = request.topics[0].partitions[0].acknowledgement_batches
    assert [(part.first_offset, part.last_offset, part.acknowledge_types) for part in batches] == [
        (1, 2, [1]),
        (3, 3, [3]),
        (7, 7, [0]),
    ]


def test_what_closes_the_session_says_so_and_another_one_begins_at_zero() -> None:
    session = opened()
    last = session.acknowledge([acknowledged(0, {5: AcknowledgeType.ACCEPT})], closes=True)
    assert (last.share_session_epoch, last.is_renew_ack) == (-1, False)
    session.answered(last)
    assert (session.state, session.number) == (SessionState.CLOSED, 1)
    assert session.fetch([A], LIMITS).share_session_epoch == 0


def test_renewals_are_marked() -> None:
    assert opened().acknowledge([acknowledged(0, {5: AcknowledgeType.RENEW})]).is_renew_ack


def test_a_session_that_is_not_open_takes_no_acknowledgements() -> None:
    session = ShareSession("g", "me")
    with pytest.raises(StateError, match="closed"):
        session.acknowledge([])
    with pytest.raises(StateError, match="closed"):
        session.fetch([A], LIMITS, [acknowledged(0, {1: 1})])


def test_the_epoch_begins_again_at_one_behind_the_largest() -> None:
    session = opened()
    session._epoch = MAX_EPOCH
    session.answered(session.fetch([A], LIMITS))
    assert session.fetch([A], LIMITS).share_session_epoch == 1


@pytest.mark.parametrize("start", list(SessionState))
@pytest.mark.parametrize("end", list(SessionState))
def test_only_moves_of_the_table_are_made(start: SessionState, end: SessionState) -> None:
    session = ShareSession("g", "me")
    session.state = start
    if end in MOVES[start]:
        session._move(end)
    else:
        with pytest.raises(StateError, match=f"{start.value} to {end.value}"):
            session._move(end)
