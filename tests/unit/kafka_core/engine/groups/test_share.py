"""The membership in a share group, without a coordinator."""

from __future__ import annotations

import math

import pytest

from kafka_core.engine.groups.share import ACTIVE, ShareMembership
from kafka_core.engine.groups.states import SHARE_MOVES, EventKind, FindCoordinator, LookUpTopics, Send, State, Wait
from kafka_core.engine.metadata import ClusterView
from kafka_core.errors import KafkaError, KafkaException, NetworkError, StateError
from kafka_core.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
from tests.unit.kafka_core.engine.sharing.steps import TOPIC, assigned, heartbeat, joined, membership, view


def test_it_joins_with_everything_and_then_says_only_what_changes() -> None:
    member = membership(rack="r1")
    member.subscribe([TOPIC, "a"])
    assert isinstance(member.next_step(0.0, 0.0), FindCoordinator)
    member.coordinator_found(1)
    first = heartbeat(member, 0.0)
    assert (first.group_id, first.member_id, first.member_epoch, first.rack_id) == ("g", "me", 0, "r1")
    assert first.subscribed_topic_names == ["a", TOPIC]
    member.received(first, assigned(epoch=4), 0.0)
    assert (member.state, member.generation) == (State.STABLE, 4)
    assert member.next_step(1.0, 1.0) == Wait(3.0)
    later = heartbeat(member, 3.0)
    assert (later.member_epoch, later.rack_id, later.subscribed_topic_names) == (4, None, None)
    member.subscribe(["b"])
    member.received(later, ShareGroupHeartbeatResponse(member_epoch=4, heartbeat_interval_ms=3000), 3.0)
    assert heartbeat(member, 3.0).subscribed_topic_names == ["b"]


def test_an_assignment_counts_at_once_and_replaces_the_one_before() -> None:
    member = joined(membership(), 0, 1)
    assert member.owned == {(TOPIC, 0), (TOPIC, 1)}
    member.received(heartbeat(member, 3.0), assigned(1, 2), 3.0)
    event = member.event
    assert event is not None
    assert (event.kind, event.incremental) == (EventKind.ASSIGN, False)
    member.done(event)
    assert member.owned == {(TOPIC, 1), (TOPIC, 2)}
    member.received(heartbeat(member, 6.0), assigned(), 6.0)
    assert member.event is not None
    member.done(member.event)
    assert member.owned == frozenset()


def test_topics_that_are_known_by_id_only_are_looked_up() -> None:
    member = membership()
    member.subscribe([TOPIC])
    member.coordinator_found(1)
    member.received(heartbeat(member, 0.0), assigned(0), 0.0)
    assert member.event is None
    assert isinstance(member.next_step(0.0, 0.0), LookUpTopics)
    assert isinstance(member.next_step(0.0, 0.0), Wait)
    member.metadata_changed(view({0: 1}), 0.1)
    assert member.event is not None
    assert member.event.partitions == {(TOPIC, 0)}
    assert member.topic_id(TOPIC) is not None
    assert member.topic_id("other") is None


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH])
def test_one_that_is_fenced_joins_anew_under_its_id_and_keeps_its_partitions_meanwhile(code: int) -> None:
    member = joined(membership(), 0)
    member.received(heartbeat(member, 3.0), ShareGroupHeartbeatResponse(error_code=code), 3.0)
    assert (member.state, member.owned) == (State.JOINING, {(TOPIC, 0)})
    again = heartbeat(member, 3.0)
    assert (again.member_id, again.member_epoch, again.subscribed_topic_names) == ("me", 0, [TOPIC])


def test_after_a_lost_answer_the_subscription_is_said_again() -> None:
    member = joined(membership(), 0)
    member.failed(heartbeat(member, 3.0), NetworkError("gone"), 3.0)
    assert member.coordinator is None
    assert isinstance(member.next_step(3.0, 3.0), Wait)
    member.coordinator_found(2)
    assert heartbeat(member, 3.0).subscribed_topic_names == [TOPIC]


def test_leaving_gives_everything_up_first_and_then_tells_the_coordinator() -> None:
    member = joined(membership(), 0)
    member.unsubscribe()
    event = member.event
    assert event is not None
    assert event.kind is EventKind.LOST
    assert member.next_step(1.0, 1.0) == Wait(math.inf)
    member.done(event)
    leave = heartbeat(member, 1.0)
    assert leave.member_epoch == -1
    member.received(leave, ShareGroupHeartbeatResponse(member_epoch=-1), 1.0)
    assert (member.state, member.owned, member.generation) == (State.IDLE, frozenset(), -1)
    member.subscribe([TOPIC])
    assert heartbeat(member, 2.0).member_epoch == 0


def test_who_does_not_poll_leaves_says_so_and_comes_back_with_the_next_poll() -> None:
    member = joined(membership(), 0)
    step = member.next_step(61.0, 0.0)
    assert member.state is State.EXPELLED
    assert isinstance(step, Send)
    assert [error.code() for error in member.errors] == [KafkaError._MAX_POLL_EXCEEDED]
    assert member.event is not None
    member.done(member.event)
    member.received(step.request, ShareGroupHeartbeatResponse(member_epoch=-1), 61.0)
    assert member.next_step(62.0, 0.0) == Wait(math.inf)
    member.polled()
    assert heartbeat(member, 63.0).member_epoch == 0


@pytest.mark.parametrize("code", [KafkaError.UNSUPPORTED_VERSION, KafkaError.INVALID_REQUEST])
def test_what_another_try_would_only_meet_again_ends_it_with_a_sentence(code: int) -> None:
    member = joined(membership(), 0)
    member.received(heartbeat(member, 3.0), ShareGroupHeartbeatResponse(error_code=code), 3.0)
    assert member.state is State.FATAL
    assert "share group" in member.errors[0].str()
    member.done(member.event)  # type: ignore[arg-type]
    assert member.owned == frozenset()


def test_rights_are_complained_of_once_and_tried_again() -> None:
    member = joined(membership(), 0)
    for now_s in (3.0, 10.0):
        refusal = ShareGroupHeartbeatResponse(error_code=KafkaError.GROUP_AUTHORIZATION_FAILED)
        member.received(heartbeat(member, now_s), refusal, now_s)
    assert [error.code() for error in member.errors] == [KafkaError.GROUP_AUTHORIZATION_FAILED]
    assert member.state is State.STABLE


def test_a_broker_without_share_groups_is_named() -> None:
    member = membership()
    member.subscribe([TOPIC])
    member.coordinator_found(1)
    member.failed(heartbeat(member, 0.0), KafkaException(KafkaError(KafkaError._UNSUPPORTED_FEATURE)), 0.0)
    assert member.state is State.FATAL
    assert member.errors[0].fatal()


def test_an_answer_that_nobody_waits_for_is_passed_over() -> None:
    member = joined(membership(), 0)
    old = heartbeat(member, 3.0)
    member.failed(old, NetworkError("slow"), 3.0)
    member.received(old, assigned(1, epoch=9), 4.0)
    assert (member.generation, member.event) == (1, None)


@pytest.mark.parametrize("start", list(State))
@pytest.mark.parametrize("end", list(State))
def test_only_moves_of_the_table_are_made(start: State, end: State) -> None:
    member = membership()
    member.state = start
    if end is start or end in SHARE_MOVES.get(start, ()):
        member._move(end)
        assert member.state is end
    elif start in SHARE_MOVES:
        with pytest.raises(StateError, match=f"{start.value} to {end.value}"):
            member._move(end)


def test_every_active_state_can_leave_be_expelled_and_end() -> None:
    assert {state for state, moves in SHARE_MOVES.items() if State.EXPELLED in moves} == ACTIVE
    assert isinstance(membership(), ShareMembership)
    member = membership()
    member.metadata_changed(ClusterView(), 0.0)
    assert (member.settled, member.wants_membership) == (True, False)
