"""Fetch sessions (KIP-227)."""

from __future__ import annotations

import random

from kafka_core.broker.codes import Code
from kafka_core.broker.partitions.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    FetchPlan,
    FetchSession,
    FetchSessions,
    FetchTarget,
)
from kafka_core.protocol import ZERO_UUID


def target(index: int, offset: int = 0) -> FetchTarget:
    return FetchTarget(("t", ZERO_UUID, index), offset, 100)


def sessions(slots: int = 10) -> FetchSessions:
    return FetchSessions(random.Random(1), slots)


def ask(cache: FetchSessions, session_id: int, epoch: int, *wanted: FetchTarget, ids: bool = False) -> FetchPlan:
    return cache.plan(session_id, epoch, list(wanted), [], uses_topic_ids=ids)


def started(cache: FetchSessions, *wanted: FetchTarget) -> FetchSession:
    plan = ask(cache, 0, INITIAL_EPOCH, *wanted)
    assert plan.session is not None
    assert not plan.incremental
    return plan.session


def test_a_request_without_session_is_answered_in_full() -> None:
    cache = sessions()
    plan = ask(cache, 0, FINAL_EPOCH, target(0))
    assert (plan.code, plan.session, plan.incremental, len(plan.targets)) == (Code.NONE, None, False, 1)
    assert len(cache) == 0


def test_a_session_remembers_what_was_asked() -> None:
    cache = sessions()
    session = started(cache, target(0), target(1))
    plan = cache.plan(session.session_id, 1, [target(1, 7), target(2)], [("t", ZERO_UUID, 0)], uses_topic_ids=False)
    assert plan.incremental
    assert [(item.key[2], item.fetch_offset) for item in plan.targets] == [(1, 7), (2, 0)]
    assert ask(cache, session.session_id, 2).targets == plan.targets


def test_epochs_must_follow_each_other() -> None:
    cache = sessions()
    session = started(cache, target(0))
    assert ask(cache, session.session_id, 2).code is Code.INVALID_FETCH_SESSION_EPOCH
    assert ask(cache, session.session_id, 1).code is Code.NONE
    assert ask(cache, session.session_id, 1).code is Code.INVALID_FETCH_SESSION_EPOCH
    session.next_epoch = 2**31 - 1
    assert ask(cache, session.session_id, 2**31 - 1).code is Code.NONE
    assert ask(cache, session.session_id, 1).code is Code.NONE


def test_unknown_sessions_and_mixed_ids_are_refused() -> None:
    cache = sessions()
    session = started(cache, target(0))
    assert ask(cache, 12345, 1).code is Code.FETCH_SESSION_ID_NOT_FOUND
    assert ask(cache, session.session_id, 1, ids=True).code is Code.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_session_ends_by_the_final_epoch_a_new_one_or_with_its_last_partition() -> None:
    cache = sessions()
    session = started(cache, target(0))
    ask(cache, session.session_id, FINAL_EPOCH)
    assert len(cache) == 0
    session = started(cache, target(0))
    assert ask(cache, session.session_id, INITIAL_EPOCH, target(1)).session is not session
    assert len(cache) == 1
    session = started(cache, target(5))
    plan = cache.plan(session.session_id, 1, [], [("t", ZERO_UUID, 5)], uses_topic_ids=False)
    assert (plan.session, plan.targets) == (None, [])
    assert ask(cache, session.session_id, 2).code is Code.FETCH_SESSION_ID_NOT_FOUND


def test_no_session_is_made_for_nothing_or_without_slots() -> None:
    assert ask(sessions(), 0, INITIAL_EPOCH).session is None
    assert ask(sessions(0), 0, INITIAL_EPOCH, target(0)).session is None


def test_the_least_recently_used_session_makes_room() -> None:
    cache = sessions(2)
    first, second = started(cache, target(0)), started(cache, target(0))
    ask(cache, first.session_id, 1)
    started(cache, target(0))
    assert ask(cache, first.session_id, 2).code is Code.NONE
    assert ask(cache, second.session_id, 1).code is Code.FETCH_SESSION_ID_NOT_FOUND


def test_only_news_is_told_again() -> None:
    item = target(0)
    assert item.news(0, 5, 0, 0, elsewhere=False)
    assert not item.news(0, 5, 0, 0, elsewhere=False)
    assert item.news(0, 5, 0, 10, elsewhere=False)
    assert item.news(0, 6, 0, 0, elsewhere=False)
    assert item.news(0, 6, 1, 0, elsewhere=False)
    assert item.news(0, 6, 1, 0, elsewhere=True)
    assert item.news(3, -1, -1, 0, elsewhere=False)
    assert item.news(3, -1, -1, 0, elsewhere=False)
    assert item.news(0, 6, 1, 0, elsewhere=False)


def test_a_partition_that_was_served_goes_to_the_end() -> None:
    session = started(sessions(), target(0), target(1))
    session.served(("t", ZERO_UUID, 0))
    assert [key[2] for key in session.targets] == [1, 0]
    session.served(("gone", ZERO_UUID, 0))
    assert len(session.targets) == 2
