"""One membership of `group.protocol=consumer`, step by step: joining, reconciling, being fenced, leaving."""

from __future__ import annotations

import math
import random
from typing import Any
from uuid import UUID

import pytest

from kafka_core.engine.groups.consumer import ConsumerMembership
from kafka_core.engine.groups.states import (
    ASSIGNED_BY_COORDINATOR,
    CONSUMER_MOVES,
    EventKind,
    FindCoordinator,
    GroupSettings,
    LookUpTopics,
    Send,
    State,
    Wait,
)
from kafka_core.engine.metadata import ClusterView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import BrokerError, KafkaError, NetworkError, StateError, UnsupportedVersionError
from kafka_core.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

T, U, NEW_T = UUID(int=1), UUID(int=2), UUID(int=3)
T0, T1 = ("t", 0), ("t", 1)
NAMES = {T: "t", U: "u", NEW_T: "t"}


def view(*ids: UUID) -> ClusterView:
    return ClusterView(topics={NAMES[item]: TopicView(NAMES[item], item, {}) for item in ids})


class Rig:
    """A membership with its clock and the answers of a coordinator."""

    def __init__(self, *, instance_id: str | None = None, assignor: str | None = None) -> None:
        settings = GroupSettings("g", instance_id=instance_id, remote_assignor=assignor)
        self.member = ConsumerMembership(settings, Backoff(100, 1000, random.Random(1)), "me")
        self.now_s = self.poll_s = 1000.0
        self.epoch = 0
        self.member.metadata_changed(view(T, U), self.now_s)

    def step(self) -> Any:
        return self.member.next_step(self.now_s, self.poll_s)

    def sent(self) -> ConsumerGroupHeartbeatRequest:
        step = self.step()
        if isinstance(step, FindCoordinator):
            self.member.coordinator_found(1)
            step = self.step()
        assert isinstance(step, Send), step
        assert isinstance(step.request, ConsumerGroupHeartbeatRequest)
        return step.request

    def answer(self, request: Any, *keys: tuple[UUID, int], epoch: int, silent: bool = False, code: int = 0) -> None:
        assignment = Assignment([TopicPartitions(topic_id, [number]) for topic_id, number in keys])
        response = ConsumerGroupHeartbeatResponse(
            error_code=code,
            member_id="me",
            member_epoch=epoch,
            heartbeat_interval_ms=5000,
            assignment=None if silent or code else assignment,
        )
        self.member.received(request, response, self.now_s)

    def beat(self, *keys: tuple[UUID, int], epoch: int, silent: bool = False, code: int = 0) -> Any:
        self.now_s = max(self.now_s, self.member._next_heartbeat_s)
        self.poll_s = self.now_s
        request = self.sent()
        self.answer(request, *keys, epoch=epoch, silent=silent, code=code)
        return request

    def done(self, kind: EventKind) -> set[tuple[str, int]]:
        event = self.member.event
        assert event is not None
        assert event.kind is kind
        self.member.started(event)
        self.member.done(event)
        return set(event.partitions)

    def kind(self) -> EventKind | None:
        return None if self.member.event is None else self.member.event.kind

    def state(self) -> State:
        return self.member.state

    def stable(self, *keys: tuple[UUID, int]) -> Rig:
        self.member.subscribe({"t"})
        self.beat(*(keys or ((T, 0), (T, 1))), epoch=5)
        self.done(EventKind.ASSIGN)
        self.beat(epoch=5, silent=True)
        assert self.state() is State.STABLE
        return self


def said(request: ConsumerGroupHeartbeatRequest) -> set[tuple[UUID, int]]:
    return {(topic.topic_id, number) for topic in request.topic_partitions or () for number in topic.partitions}


def test_the_first_heartbeat_says_everything_and_later_ones_only_what_changed() -> None:
    rig = Rig(instance_id="i", assignor="range")
    rig.member.subscribe({"u", "t"}, "^x.*")
    first = rig.beat(epoch=3)
    assert (first.member_id, first.member_epoch, first.instance_id) == ("me", 0, "i")
    assert (first.subscribed_topic_names, first.subscribed_topic_regex) == (["t", "u"], "^x.*")
    assert (first.server_assignor, first.rebalance_timeout_ms, first.topic_partitions) == ("range", 300_000, [])
    assert rig.step() == Wait(rig.now_s + 5)
    second = rig.beat(epoch=3, silent=True)
    assert (second.member_epoch, second.instance_id) == (3, "i")
    assert (second.subscribed_topic_names, second.subscribed_topic_regex, second.server_assignor) == (None, None, None)
    assert (second.rebalance_timeout_ms, second.topic_partitions) == (-1, None)


def test_assigned_partitions_are_taken_and_acknowledged_at_once() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.beat((T, 0), (T, 1), epoch=5)
    assert rig.done(EventKind.ASSIGN) == {T0, T1}
    assert rig.state() is State.ACKNOWLEDGING
    request = rig.sent()  # without waiting for the interval
    assert [(item.topic_id, item.partitions) for item in request.topic_partitions] == [(T, [0, 1])]
    rig.answer(request, epoch=5, silent=True)
    assert rig.state() is State.STABLE
    assert rig.member.owned == {T0, T1}


def test_partitions_are_given_up_before_others_are_taken_and_heartbeats_go_on_meanwhile() -> None:
    rig = Rig().stable()
    rig.beat((T, 0), (U, 0), epoch=5)
    assert rig.state() is State.REVOKING
    quiet = rig.beat(epoch=5, silent=True)
    assert quiet.topic_partitions is None  # nothing is acknowledged before the callback is through
    assert rig.done(EventKind.REVOKE) == {T1}
    assert rig.kind() is EventKind.ASSIGN
    assert rig.done(EventKind.ASSIGN) == {("u", 0)}
    said = rig.sent().topic_partitions
    assert said is not None
    assert {(item.topic_id, *item.partitions) for item in said} == {(T, 0), (U, 0)}


def test_another_assignment_that_comes_during_a_callback_is_taken_after_it() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.beat((T, 0), epoch=5)
    rig.beat((T, 1), epoch=6)
    assert rig.done(EventKind.ASSIGN) == {T0}
    assert rig.done(EventKind.REVOKE) == {T0}
    assert rig.done(EventKind.ASSIGN) == {T1}
    assert rig.member.identity().generation_id == 6


def test_partitions_taken_and_revoked_between_heartbeats_are_acknowledged() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.beat((T, 0), epoch=5)
    rig.beat(epoch=5)  # taken back while the callback of its assignment runs
    assert rig.done(EventKind.ASSIGN) == {T0}
    assert rig.done(EventKind.REVOKE) == {T0}
    assert rig.state() is State.ACKNOWLEDGING
    assert rig.sent().topic_partitions == []  # as the first heartbeat said, but the coordinator waits for it


def test_partitions_on_their_way_to_the_application_are_said_though_an_answer_was_lost() -> None:
    """Left out of a heartbeat, they would count as given up, and the coordinator could give them to another member."""
    rig = Rig().stable((T, 0))
    rig.beat((T, 0), (T, 1), epoch=6)
    assert rig.kind() is EventKind.ASSIGN
    rig.now_s = rig.poll_s = rig.member._next_heartbeat_s
    lost = rig.sent()
    rig.member.failed(lost, NetworkError("cut"), rig.now_s)
    rig.now_s = rig.poll_s = rig.now_s + 1
    again = rig.sent()
    assert said(again) == {(T, 0), (T, 1)}
    rig.answer(again, (T, 0), epoch=6)  # taken back during the callback
    rig.member._sent.pop("topic_partitions")
    assert said(rig.beat(epoch=6, silent=True)) == {(T, 0), (T, 1)}
    assert rig.done(EventKind.ASSIGN) == {T1}
    assert rig.done(EventKind.REVOKE) == {T1}
    assert said(rig.beat(epoch=6, silent=True)) == {(T, 0)}


def test_a_member_that_joins_may_be_promised_topics_without_a_name() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.beat((NEW_T, 4), epoch=6)
    assert rig.state() is State.STABLE
    assert said(rig.beat(epoch=6, silent=True)) == {(NEW_T, 4)}
    rig.beat(epoch=6)  # taken back before it had a name: that is told at once
    assert rig.state() is State.ACKNOWLEDGING
    assert said(rig.sent()) == set()
    assert (rig.member.rebalances, rig.member.rebalance_reason) == (0, "")


def test_a_change_of_the_assignment_is_a_rebalance_with_a_reason() -> None:
    rig = Rig().stable((T, 0))
    before = rig.member.rebalances
    rig.beat((T, 0), (T, 1), epoch=6)
    rig.done(EventKind.ASSIGN)
    assert (rig.member.rebalances, rig.member.rebalance_reason) == (before + 1, ASSIGNED_BY_COORDINATOR)


def test_partitions_of_topics_without_a_name_yet_are_said_as_well() -> None:
    rig = Rig().stable((T, 0))
    rig.beat((T, 0), (NEW_T, 4), epoch=6)
    rig.now_s = rig.poll_s = rig.member._next_heartbeat_s
    request = rig.sent()
    assert said(request) == {(T, 0), (NEW_T, 4)}
    rig.member.metadata_changed(ClusterView(topics={"n": TopicView("n", NEW_T, {})}), rig.now_s)
    assert rig.kind() is EventKind.ASSIGN
    rig.answer(request, (T, 0), epoch=6)
    assert rig.done(EventKind.ASSIGN) == {("n", 4)}
    assert rig.done(EventKind.REVOKE) == {("n", 4)}


@pytest.mark.parametrize("begun", [True, False])
def test_a_member_that_is_fenced_during_a_callback_joins_again(begun: bool) -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.beat((T, 0), epoch=5)
    event = rig.member.event
    assert event is not None
    if begun:
        rig.member.started(event)
    rig.beat(epoch=0, code=KafkaError.FENCED_MEMBER_EPOCH)
    if begun:  # it is carried out to the end, and lost then
        assert rig.done(EventKind.LOST) == {T0}
    assert rig.state() is State.JOINING
    assert rig.sent().member_epoch == 0


def test_a_topic_that_is_known_by_its_id_alone_is_looked_up() -> None:
    rig = Rig()
    rig.member.metadata_changed(view(U), rig.now_s)
    rig.member.subscribe(set(), "^t")
    rig.beat((T, 0), (U, 0), epoch=2)
    assert rig.done(EventKind.ASSIGN) == {("u", 0)}
    rig.beat(epoch=2, silent=True)
    assert isinstance(rig.step(), LookUpTopics)
    assert isinstance(rig.step(), Wait)  # not again at once
    rig.member.metadata_changed(view(T, U), rig.now_s)
    assert rig.done(EventKind.ASSIGN) == {T0}


def test_a_topic_that_was_made_anew_is_given_up_and_taken_again() -> None:
    rig = Rig().stable((T, 0))
    rig.member.metadata_changed(view(NEW_T), rig.now_s)
    rig.beat((NEW_T, 0), epoch=6)
    assert rig.done(EventKind.REVOKE) == {T0}
    assert rig.done(EventKind.ASSIGN) == {T0}
    said = rig.sent().topic_partitions
    assert said is not None
    assert [item.topic_id for item in said] == [NEW_T]


@pytest.mark.parametrize("code", [KafkaError.FENCED_MEMBER_EPOCH, KafkaError.UNKNOWN_MEMBER_ID])
def test_a_fenced_member_loses_what_it_has_and_joins_again(code: int) -> None:
    rig = Rig().stable()
    rig.beat(epoch=0, code=code)
    assert rig.state() is State.LOSING
    assert rig.member.identity().generation_id == -1
    assert rig.done(EventKind.LOST) == {T0, T1}
    again = rig.sent()
    assert (again.member_id, again.member_epoch, again.topic_partitions) == ("me", 0, [])
    assert again.subscribed_topic_names == ["t"]


def test_after_a_lost_answer_everything_is_said_again_in_the_same_epoch() -> None:
    rig = Rig().stable()
    rig.now_s += 5
    rig.member.failed(rig.sent(), NetworkError("cut"), rig.now_s)
    assert isinstance(rig.step(), Wait)
    rig.now_s += 1
    request = rig.sent()
    assert (request.member_epoch, request.subscribed_topic_names, request.rebalance_timeout_ms) == (5, ["t"], 300_000)
    assert request.topic_partitions is not None
    assert rig.member.owned == {T0, T1}


def test_another_coordinator_is_looked_for() -> None:
    rig = Rig().stable()
    rig.beat(epoch=0, code=KafkaError.NOT_COORDINATOR)
    rig.now_s += 1
    assert isinstance(rig.step(), FindCoordinator)


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_leaving_gives_up_first_and_says_how_it_leaves(instance_id: str | None, epoch: int) -> None:
    rig = Rig(instance_id=instance_id).stable()
    rig.member.unsubscribe()
    assert isinstance(rig.step(), Wait)
    assert rig.member.identity().generation_id == 5  # for the last commit
    rig.done(EventKind.REVOKE)
    request = rig.sent()
    assert request.member_epoch == epoch
    rig.answer(request, epoch=epoch, silent=True)
    assert rig.state() is State.IDLE
    assert rig.member.settled


def test_an_answer_on_its_way_still_brings_the_epoch_for_the_last_commit() -> None:
    rig = Rig().stable()
    rig.now_s += 5
    request = rig.sent()
    rig.member.unsubscribe()
    assert not rig.member.outdated(request)
    rig.answer(request, epoch=9, silent=True)
    assert rig.member.identity().generation_id == 9
    rig.done(EventKind.REVOKE)
    assert rig.sent().member_epoch == -1


def test_a_heartbeat_that_hangs_does_not_keep_a_member_from_leaving() -> None:
    rig = Rig().stable()
    rig.now_s += 5
    request = rig.sent()
    rig.member.unsubscribe()
    rig.done(EventKind.REVOKE)
    assert rig.member.outdated(request)


def test_a_member_that_does_not_poll_is_out_until_it_polls() -> None:
    rig = Rig().stable()
    rig.now_s += 301
    request = rig.sent()
    assert request.member_epoch == -1
    assert [error.code() for error in rig.member.errors] == [KafkaError._MAX_POLL_EXCEEDED]
    assert rig.member.identity().generation_id == -1
    rig.answer(request, epoch=-1, silent=True)
    rig.done(EventKind.LOST)
    assert rig.state() is State.EXPELLED
    rig.poll_s = rig.now_s
    rig.member.polled()
    assert rig.sent().member_epoch == 0


def test_a_pattern_that_is_given_up_is_said_as_an_empty_one() -> None:
    rig = Rig()
    rig.member.subscribe(set(), "^t")
    rig.beat(epoch=1)
    rig.member.subscribe({"t"})
    request = rig.sent()  # at once
    assert (request.subscribed_topic_names, request.subscribed_topic_regex) == (["t"], "")


def test_a_pattern_that_the_coordinator_may_know_is_given_up_though_its_answer_was_lost() -> None:
    rig = Rig()
    rig.member.subscribe(set(), "^t")
    rig.member.failed(rig.sent(), NetworkError("cut"), rig.now_s)
    rig.member.subscribe({"t"})
    rig.now_s += 10
    assert rig.beat(epoch=1).subscribed_topic_regex == ""
    assert rig.beat(epoch=1).subscribed_topic_regex is None


@pytest.mark.parametrize("error", [UnsupportedVersionError("no such API"), None])
def test_a_broker_without_it_is_told_with_what_to_do(error: UnsupportedVersionError | None) -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    request = rig.sent()
    if error is not None:
        rig.member.failed(request, error, rig.now_s)
    else:
        rig.answer(request, epoch=0, code=KafkaError.UNSUPPORTED_VERSION)
    (told,) = rig.member.errors
    assert (told.code(), told.fatal()) == (KafkaError._UNSUPPORTED_FEATURE, True)
    assert "set group.protocol=classic" in told.str()
    assert rig.state() is State.FATAL


def test_coordinator_refusals_are_reported_once_until_another_subscription() -> None:
    rig = Rig()
    rig.member.subscribe(set(), "^(")
    rig.beat(epoch=0, code=KafkaError.INVALID_REGULAR_EXPRESSION)
    assert [error.code() for error in rig.member.errors] == [KafkaError.INVALID_REGULAR_EXPRESSION]
    assert rig.step() == Wait(math.inf)
    rig.member.subscribe({"t"})
    assert rig.sent().subscribed_topic_names == ["t"]


def test_an_instance_id_that_is_in_use_is_told_and_tried_again() -> None:
    rig = Rig(instance_id="i")
    rig.member.subscribe({"t"})
    for _ in range(3):
        rig.beat(epoch=0, code=KafkaError.UNRELEASED_INSTANCE_ID)
        rig.now_s += 2
    assert [(error.code(), error.fatal()) for error in rig.member.errors] == [
        (KafkaError.UNRELEASED_INSTANCE_ID, False)
    ]
    rig.beat((T, 0), epoch=4)
    assert rig.done(EventKind.ASSIGN) == {T0}


def test_a_second_member_with_the_instance_id_fences_this_one() -> None:
    rig = Rig(instance_id="i").stable()
    rig.beat(epoch=0, code=KafkaError.FENCED_INSTANCE_ID)
    assert (rig.state(), rig.kind()) == (State.FATAL, EventKind.LOST)
    assert rig.member.errors[0].fatal()


def test_a_refused_commit_brings_the_next_heartbeat_forward() -> None:
    rig = Rig().stable()
    assert isinstance(rig.step(), Wait)
    rig.member.commit_rejected(KafkaError.STALE_MEMBER_EPOCH, "somebody else", 5)
    assert isinstance(rig.step(), Wait)
    rig.member.commit_rejected(KafkaError.STALE_MEMBER_EPOCH, "me", 5)
    assert isinstance(rig.step(), Send)


def test_kept_partitions_commit_in_a_later_epoch_and_revoked_ones_do_not() -> None:
    rig = Rig().stable()
    term = rig.member.term
    rig.beat((T, 0), (T, 1), epoch=7)
    assert rig.member.term == term
    rig.beat((T, 0), epoch=7)
    rig.done(EventKind.REVOKE)
    assert rig.member.term != term


def test_rights_that_lack_are_told_once_and_tried_again() -> None:
    rig = Rig().stable()
    for _ in range(2):
        rig.beat(epoch=0, code=KafkaError.GROUP_AUTHORIZATION_FAILED)
        rig.now_s += 2
    assert [error.code() for error in rig.member.errors] == [KafkaError.GROUP_AUTHORIZATION_FAILED]
    assert rig.member.owned == {T0, T1}
    rig.member.failed(None, BrokerError(KafkaError.GROUP_AUTHORIZATION_FAILED), rig.now_s)
    assert len(rig.member.errors) == 1


def test_every_state_has_a_row_and_an_impossible_move_names_both() -> None:
    assert set(CONSUMER_MOVES) == set().union(*CONSUMER_MOVES.values())
    assert all(
        State.LEAVING in CONSUMER_MOVES[state] for state in CONSUMER_MOVES if state not in (State.IDLE, State.LEAVING)
    )
    with pytest.raises(StateError, match="from idle to stable"):
        Rig().member._move(State.STABLE)
