"""One membership, step by step: joining, leading, beating, losing, being thrown out, leaving."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from kafka_core.engine.groups.assignors import GroupMember, choose, choose_own
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.groups.consumer_protocol import (
    decode_assignment,
    decode_share,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafka_core.engine.groups.states import (
    BEATING,
    MOVES,
    Event,
    EventKind,
    FindCoordinator,
    GroupSettings,
    PlanAssignment,
    Send,
    State,
    Wait,
)
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import AuthError, ConfigError, KafkaError, NetworkError, StateError
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

T0, T1, T2, U0 = ("t", 0), ("t", 1), ("t", 2), ("u", 0)


def view(counts: Mapping[str, int], racks: Sequence[str] = (), *, down: Collection[int] = ()) -> ClusterView:
    """Topics with so many partitions; the replica of partition n is on broker n, which is in the n-th rack."""
    brokers = {node: BrokerAddress(node, "b", 9092, rack) for node, rack in enumerate(racks) if node not in down}
    topics = {
        topic: TopicView(topic, partitions={n: PartitionView(n, n, replicas=(n,)) for n in range(count)})
        for topic, count in counts.items()
    }
    return ClusterView(brokers, topics)


class Rig:
    """A membership with its clock and the answers of a friendly coordinator."""

    def __init__(self, *strategies: str, instance_id: str | None = None, rack: str | None = None) -> None:
        self.strategy = (strategies or ("range",))[0]
        settings = GroupSettings("g", choose(strategies or ["range"]), instance_id, rack=rack)
        self.member = Membership(settings, Backoff(100, 1000, random.Random(1)))
        self.now_s = 1000.0
        self.poll_s = self.now_s

    def has_event(self) -> bool:
        return self.member.event is not None

    def state(self) -> State:
        return self.member.state

    def step(self) -> Any:
        return self.member.next_step(self.now_s, self.poll_s)

    def send(self, kind: type) -> Any:
        step = self.step()
        assert isinstance(step, Send), step
        assert isinstance(step.request, kind), step.request
        return step.request

    def answer(self, request: Any, response: Any) -> None:
        self.member.received(request, response, self.now_s)

    def find(self) -> None:
        assert isinstance(self.step(), FindCoordinator)
        self.member.coordinator_found(1)

    def join(self, *, leads: bool = False, generation: int = 1, **fields: Any) -> None:
        request = self.send(JoinGroupRequest)
        member_id = request.member_id or "m1"
        members = [JoinGroupResponseMember(member_id=member_id, metadata=request.protocols[0].metadata)]
        response = JoinGroupResponse(
            generation_id=generation,
            protocol_name=self.strategy,
            leader=member_id if leads else "other",
            member_id=member_id,
            members=members if leads else [],
            **fields,
        )
        self.answer(request, response)

    def sync(self, *keys: tuple[str, int]) -> Any:
        request = self.send(SyncGroupRequest)
        self.answer(request, SyncGroupResponse(assignment=encode_assignment(keys)))
        return request

    def done(self, kind: EventKind) -> set[tuple[str, int]]:
        event = self.member.event
        assert event is not None
        assert event.kind is kind
        self.member.started(event)
        self.member.done(event)
        return set(event.partitions)

    def beat(self, code: int = 0) -> None:
        self.now_s += 3
        request = self.send(HeartbeatRequest)
        self.answer(request, HeartbeatResponse(error_code=code))

    def commit_rejected(self, code: int, *, generation: int | None = None) -> None:
        member = self.member
        member.commit_rejected(code, member.member_id, member.generation if generation is None else generation)

    def stable(self, *keys: tuple[str, int]) -> Rig:
        self.member.subscribe({"t"})
        self.find()
        self.join()
        self.sync(*(keys or (T0, T1)))
        self.done(EventKind.ASSIGN)
        assert self.member.state is State.STABLE
        return self


def test_a_first_join_asks_for_a_member_id_and_joins_again_with_it() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    request = rig.send(JoinGroupRequest)
    assert (request.member_id, request.rebalance_timeout_ms, request.session_timeout_ms) == ("", 300_000, 45_000)
    rig.answer(request, JoinGroupResponse(error_code=KafkaError.MEMBER_ID_REQUIRED, member_id="given"))
    assert rig.send(JoinGroupRequest).member_id == "given"
    assert rig.member.rebalance_reason == "joining for the first time"


def test_a_follower_syncs_gets_its_assignment_and_beats() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(generation=7)
    request = rig.sync(T0, T1)
    assert (request.generation_id, request.member_id, request.protocol_name) == (7, "m1", "range")
    assert request.assignments == []
    assert rig.state() is State.ASSIGNING
    assert rig.done(EventKind.ASSIGN) == {T0, T1}
    assert rig.member.owned == {T0, T1}
    assert rig.step() == Wait(rig.now_s + 3)
    rig.beat()
    assert rig.state() is State.STABLE


def test_the_leader_plans_for_everybody() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    request = rig.send(JoinGroupRequest)
    other = encode_subscription({"u", "t"}, [], -1, None, assignor="range")
    members = [
        JoinGroupResponseMember(member_id="m1", metadata=request.protocols[0].metadata),
        JoinGroupResponseMember(member_id="m2", metadata=other),
    ]
    rig.answer(request, JoinGroupResponse(1, 0, 1, "consumer", "range", "m1", False, "m1", members))
    step = rig.step()
    assert step == PlanAssignment(frozenset({"t", "u"}))
    rig.member.plan(view({"t": 3, "u": 1}), rig.now_s)
    request = rig.send(SyncGroupRequest)
    given = {item.member_id: decode_assignment(item.assignment) for item in request.assignments}
    assert given == {"m1": {T0, T1}, "m2": {T2, U0}}


class Own:
    """An application's assignor: everything to the member with the shortest data."""

    name = "own"
    cooperative = True
    fails = False

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def user_data(self, topics: frozenset[str]) -> bytes:
        return b"mine"

    def share(self, members: Sequence[GroupMember], counts: Mapping[str, int]) -> dict[str, Any]:
        if self.fails:
            raise ZeroDivisionError("no members")
        first = min(members, key=lambda member: len(member.user_data))
        return {first.member_id: ([(topic, 0) for topic in counts], b"take it")}

    def assigned(self, keys: frozenset[tuple[str, int]], user_data: bytes, generation: int) -> None:
        self.heard.append((keys, user_data, generation))


def test_an_applications_assignor_is_asked_and_told() -> None:
    rig, own = Rig(), Own()
    rig.strategy = "own"
    settings = GroupSettings("g", choose_own([own, "cooperative-sticky"]))
    rig.member = Membership(settings, Backoff(100, 1000, random.Random(1)))
    rig.member.subscribe({"t"})
    rig.find()
    own.fails = True
    rig.join(leads=True)
    assert isinstance(rig.step(), PlanAssignment)
    rig.member.plan(view({"t": 1}), rig.now_s)
    assert "the assignor 'own' failed: ZeroDivisionError" in rig.member.errors[0].str()
    if rig.has_event():
        rig.done(EventKind.LOST)
    rig.now_s = rig.poll_s = rig.now_s + 5
    own.fails = False
    request = rig.send(JoinGroupRequest)
    assert request.member_id == "m1"
    said = decode_subscription(request.protocols[0].metadata, "m1", None, assignor="own")
    assert said.user_data == b"mine"
    assert rig.member.cooperative
    other = encode_subscription({"t"}, [], -1, None, assignor="own")
    members = [
        JoinGroupResponseMember(member_id="m1", metadata=request.protocols[0].metadata),
        JoinGroupResponseMember(member_id="m2", metadata=other),
    ]
    rig.answer(request, JoinGroupResponse(1, 0, 2, "consumer", "own", "m1", False, "m1", members))
    rig.step()
    rig.member.plan(view({"t": 1}), rig.now_s)
    request = rig.send(SyncGroupRequest)
    given = {item.member_id: decode_share(item.assignment) for item in request.assignments}
    assert given == {"m1": (frozenset(), b""), "m2": (frozenset({T0}), b"take it")}
    rig.answer(request, SyncGroupResponse(assignment=encode_assignment([T0], b"take it")))
    assert own.heard == [(frozenset({T0}), b"take it", 2)]


def test_two_assignors_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="one name"):
        choose_own([Own(), Own()])


def test_a_leader_that_may_skip_the_assignment_only_syncs() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(leads=True, skip_assignment=True)
    rig.member.plan(view({"t": 3}), rig.now_s)
    assert rig.sync(T0).assignments == []


def test_the_leader_has_the_group_rebalanced_when_a_topic_grows() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(leads=True)
    rig.step()
    rig.member.plan(view({"t": 1}), rig.now_s)
    rig.sync(T0)
    rig.done(EventKind.ASSIGN)
    rig.member.partition_counts_changed({"t": 1, "x": 5}, rig.now_s)
    assert isinstance(rig.step(), Wait)
    rig.member.partition_counts_changed({"t": 2}, rig.now_s)
    rig.step()
    assert rig.done(EventKind.REVOKE) == {T0}


def leader_of_one_partition() -> Rig:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(leads=True)
    rig.step()
    rig.member.plan(view({"t": 1}), rig.now_s)
    rig.sync(T0)
    rig.done(EventKind.ASSIGN)
    return rig


def test_the_leader_shares_out_by_racks() -> None:
    """Range without racks would give the first member the first partition (KIP-881)."""
    rig = Rig(rack="y")
    rig.member.subscribe({"t"})
    rig.find()
    request = rig.send(JoinGroupRequest)
    other = encode_subscription({"t"}, [], -1, "x", assignor="range")
    members = [
        JoinGroupResponseMember(member_id="m1", metadata=request.protocols[0].metadata),
        JoinGroupResponseMember(member_id="m2", metadata=other),
    ]
    rig.answer(request, JoinGroupResponse(1, 0, 1, "consumer", "range", "m1", False, "m1", members))
    rig.step()
    rig.member.plan(view({"t": 2}, ["x", "y"]), rig.now_s)
    request = rig.send(SyncGroupRequest)
    given = {item.member_id: decode_assignment(item.assignment) for item in request.assignments}
    assert given == {"m1": {T1}, "m2": {T0}}


def leader_with_racks(rack: str | None) -> Rig:
    """It leads a group alone; its topic has a partition on each of two brokers, in the racks x and y."""
    rig = Rig(rack=rack)
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(leads=True)
    rig.step()
    rig.member.plan(view({"t": 2}, ["x", "y"]), rig.now_s)
    rig.sync(T0, T1)
    rig.done(EventKind.ASSIGN)
    return rig


@pytest.mark.parametrize(("rack", "state"), [("x", State.PREPARING), (None, State.STABLE), ("", State.STABLE)])
def test_the_leader_has_the_group_rebalanced_when_replicas_move_to_other_racks(rack: str | None, state: State) -> None:
    """Nobody is the better for it in a group without racks."""
    rig = leader_with_racks(rack)
    rig.member.metadata_changed(view({"t": 2}, ["x", "y"]), rig.now_s)
    rig.step()
    assert rig.state() is State.STABLE
    rig.member.metadata_changed(view({"t": 2}, ["x", "z"]), rig.now_s)
    rig.step()
    assert rig.state() is state


def test_a_broker_that_is_down_has_not_moved_its_replicas() -> None:
    rig = leader_with_racks("x")
    for down in ({1}, {0, 1}, set[int]()):
        rig.member.metadata_changed(view({"t": 2}, ["x", "y"], down=down), rig.now_s)
        rig.step()
        assert rig.state() is State.STABLE


def test_a_topic_that_is_deleted_and_made_anew_stays_where_it_is() -> None:
    rig = leader_of_one_partition()
    for counts in ({"t": 0}, {}, {"t": 1}, {"t": 0}):
        rig.member.partition_counts_changed(counts, rig.now_s)
        assert isinstance(rig.step(), Wait | Send)
        assert rig.state() is State.STABLE
        rig.now_s += 20
        rig.beat()


def test_a_topic_that_is_made_anew_with_more_partitions_is_shared_out_again() -> None:
    rig = leader_of_one_partition()
    rig.member.partition_counts_changed({"t": 0}, rig.now_s)
    rig.member.partition_counts_changed({"t": 2}, rig.now_s)
    rig.step()
    assert rig.state() is State.PREPARING


def test_a_topic_that_stays_away_is_given_up_after_a_while() -> None:
    rig = leader_of_one_partition()
    rig.member.partition_counts_changed({"t": 0}, rig.now_s)
    rig.beat()
    rig.now_s += 27.1
    rig.member.partition_counts_changed({"t": 0}, rig.now_s)
    rig.step()
    assert rig.state() is State.PREPARING


def test_a_follower_does_not_hurry_because_a_topic_went() -> None:
    rig = Rig().stable()
    rig.member.partition_counts_changed({"t": 1}, rig.now_s)
    rig.member.partition_counts_changed({"t": 0}, rig.now_s)
    assert isinstance(rig.step(), Wait)


def test_a_follower_that_sees_a_topic_grow_asks_more_often_whether_the_group_rebalances() -> None:
    """The leader sees it at about the same time; the next heartbeat may be seconds away."""
    rig = Rig().stable()
    rig.member.partition_counts_changed({"t": 1, "x": 5}, rig.now_s)
    assert isinstance(rig.step(), Wait), "the first that is known of a topic is no change"
    rig.member.partition_counts_changed({"t": 1, "x": 6}, rig.now_s)
    assert isinstance(rig.step(), Wait), "not a topic of ours"
    rig.member.partition_counts_changed({"t": 2}, rig.now_s)
    beats: list[float] = []
    until_s = rig.now_s + 10
    while rig.now_s < until_s:
        step = rig.step()
        if isinstance(step, Wait):
            rig.now_s = min(step.until_s, until_s)
        else:
            beats.append(round(rig.now_s - 1000.0, 6))
            rig.answer(step.request, HeartbeatResponse())
    assert beats == [*(round(n * 0.3, 6) for n in range(11)), 6.0, 9.0]
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    assert rig.state() is State.PREPARING


def test_an_eager_member_gives_everything_up_before_it_joins_again() -> None:
    rig = Rig().stable()
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    assert rig.state() is State.PREPARING
    rig.now_s += 3
    rig.send(HeartbeatRequest)  # the callback may take its time
    assert rig.done(EventKind.REVOKE) == {T0, T1}
    assert rig.member.owned == frozenset()
    rig.join(generation=2)
    rig.sync(T1)
    assert rig.done(EventKind.ASSIGN) == {T1}


def test_a_cooperative_member_keeps_reading_and_gives_up_only_what_it_must() -> None:
    rig = Rig("cooperative-sticky").stable()
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    assert not rig.has_event()
    rig.join(generation=2)
    rig.sync(T1)
    event = rig.member.event
    assert event is not None
    assert event.incremental
    assert rig.done(EventKind.REVOKE) == {T0}
    assert rig.done(EventKind.ASSIGN) == set()
    rig.join(generation=3)  # at once, so that another member can have it
    rig.sync(T1, T2)
    assert rig.done(EventKind.ASSIGN) == {T2}
    assert rig.member.owned == {T1, T2}
    assert isinstance(rig.step(), Wait)


def test_a_cooperative_member_gives_up_topics_it_dropped_before_joining() -> None:
    rig = Rig("cooperative-sticky").stable(T0, T1)
    rig.member.subscribe({"u"})
    rig.step()
    assert rig.done(EventKind.REVOKE) == {T0, T1}
    rig.join(generation=2)


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION])
def test_a_void_membership_loses_its_partitions_and_joins_from_the_start(code: int) -> None:
    rig = Rig().stable()
    rig.beat(code)
    assert rig.state() is State.LOSING
    assert math.isinf(rig.step().until_s)
    assert rig.done(EventKind.LOST) == {T0, T1}
    request = rig.send(JoinGroupRequest)
    assert request.member_id == ("" if code == KafkaError.UNKNOWN_MEMBER_ID else "m1")


def test_no_heartbeat_for_the_session_loses_the_partitions() -> None:
    rig = Rig().stable()
    rig.now_s += 3
    request = rig.send(HeartbeatRequest)
    rig.member.failed(request, NetworkError("lost"), rig.now_s)
    assert rig.member.coordinator is None
    rig.now_s = rig.poll_s = rig.now_s + 45
    rig.step()
    assert rig.done(EventKind.LOST) == {T0, T1}
    assert "session.timeout.ms" in rig.member.errors[0].str()


def test_not_polling_ends_the_membership_with_a_useful_text_until_the_next_poll() -> None:
    rig = Rig().stable()
    rig.poll_s = rig.now_s - 300.5
    request = rig.send(LeaveGroupRequest)
    assert [item.member_id for item in request.members] == ["m1"]
    (error,) = rig.member.errors
    assert error.code() == KafkaError._MAX_POLL_EXCEEDED
    assert "max.poll.interval.ms" in error.str()
    assert "500ms" in error.str()
    rig.answer(request, LeaveGroupResponse())
    rig.member.polled()
    assert rig.state() is State.EXPELLED  # the loss was not dealt with yet
    rig.poll_s = rig.now_s
    assert rig.step() == Wait(math.inf)
    assert rig.done(EventKind.LOST) == {T0, T1}  # in that same poll, which may be the last one for long
    assert rig.send(JoinGroupRequest).member_id == ""


@pytest.mark.parametrize("polls_before", [True, False])
def test_an_expelled_member_joins_again_after_it_polled_left_and_revoked(polls_before: bool) -> None:
    rig = Rig().stable()
    rig.poll_s = rig.now_s - 301
    request = rig.send(LeaveGroupRequest)
    if polls_before:
        rig.member.polled()
    rig.done(EventKind.LOST)
    rig.answer(request, LeaveGroupResponse())
    if not polls_before:
        assert rig.step() == Wait(math.inf), "nobody polls"
        rig.member.polled()
    rig.poll_s = rig.now_s
    rig.send(JoinGroupRequest)
    rig.poll_s = rig.now_s - 301
    rig.step()
    assert rig.state() is State.EXPELLED
    assert rig.step() == Wait(math.inf), "the poll from before does not count"


def test_a_callback_that_takes_too_long_counts_as_not_polling() -> None:
    rig = Rig().stable()
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    event = rig.member.event
    assert event is not None
    rig.member.started(event)
    rig.poll_s = rig.now_s - 301
    rig.member.watch(rig.now_s, rig.poll_s)
    assert rig.state() is State.EXPELLED
    assert rig.member.event is None  # what the running callback gives up is not lost a second time
    rig.member.done(event)
    assert rig.member.owned == frozenset()


def test_a_loss_while_the_assignment_runs_takes_back_what_it_gives() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join()
    rig.sync(T0)
    event = rig.member.event
    assert event is not None
    rig.member.started(event)
    rig.beat(KafkaError.UNKNOWN_MEMBER_ID)
    rig.member.done(event)
    assert rig.done(EventKind.LOST) == {T0}


def test_an_event_that_nobody_began_is_withdrawn() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join()
    rig.sync(T0)
    rig.beat(KafkaError.UNKNOWN_MEMBER_ID)
    assert (rig.member.event, rig.member.state, rig.member.owned) == (None, State.JOINING, frozenset())


def test_a_fenced_static_member_stops_for_good() -> None:
    rig = Rig(instance_id="i").stable()
    rig.beat(KafkaError.FENCED_INSTANCE_ID)
    assert rig.state() is State.FATAL
    (error,) = rig.member.errors
    assert error.fatal()
    assert "'i'" in error.str()
    assert rig.done(EventKind.LOST) == {T0, T1}
    assert math.isinf(rig.step().until_s)


def test_unsubscribing_gives_up_then_leaves() -> None:
    rig = Rig().stable()
    rig.member.unsubscribe()
    assert math.isinf(rig.step().until_s)
    assert rig.done(EventKind.REVOKE) == {T0, T1}
    request = rig.send(LeaveGroupRequest)
    rig.answer(request, LeaveGroupResponse())
    assert (rig.member.state, rig.member.member_id, rig.member.generation) == (State.IDLE, "", -1)


def test_a_leave_that_nobody_answers_does_not_hold_up_the_end() -> None:
    rig = Rig().stable()
    rig.member.unsubscribe()
    rig.done(EventKind.REVOKE)
    rig.member.failed(rig.send(LeaveGroupRequest), NetworkError("lost"), rig.now_s)
    assert rig.state() is State.IDLE


def test_a_static_member_leaves_silently() -> None:
    rig = Rig(instance_id="i").stable()
    rig.member.unsubscribe()
    rig.done(EventKind.REVOKE)
    assert isinstance(rig.step(), Wait)
    assert rig.state() is State.IDLE


def test_leaving_while_a_join_waits_goes_another_way() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    request = rig.send(JoinGroupRequest)
    rig.answer(request, JoinGroupResponse(error_code=KafkaError.MEMBER_ID_REQUIRED, member_id="m"))
    request = rig.send(JoinGroupRequest)
    rig.member.unsubscribe()
    assert rig.member.outdated(request)
    step = rig.step()
    assert step.apart
    rig.answer(request, JoinGroupResponse(member_id="m", generation_id=9))  # too late
    assert rig.member.generation == -1


def test_a_heartbeat_that_hangs_is_given_up_when_the_member_leaves() -> None:
    rig = Rig().stable()
    rig.now_s += 3
    request = rig.send(HeartbeatRequest)
    assert not rig.member.outdated(request)
    rig.member.unsubscribe()
    assert rig.member.outdated(request)


def test_subscribing_while_leaving_joins_afterwards() -> None:
    rig = Rig().stable()
    rig.member.unsubscribe()
    rig.member.subscribe({"u"})
    rig.done(EventKind.REVOKE)
    rig.answer(rig.send(LeaveGroupRequest), LeaveGroupResponse())
    assert rig.send(JoinGroupRequest).member_id == ""


def test_a_moved_coordinator_is_looked_up_again_after_a_pause() -> None:
    rig = Rig().stable()
    rig.beat(KafkaError.NOT_COORDINATOR)
    assert rig.member.coordinator is None
    assert rig.step().until_s > rig.now_s
    rig.now_s += 1
    rig.find()
    rig.send(HeartbeatRequest)
    assert rig.member.owned == {T0, T1}


def test_an_error_that_waiting_may_mend_is_told_once() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    for _ in range(3):
        rig.answer(rig.send(JoinGroupRequest), JoinGroupResponse(error_code=KafkaError.GROUP_AUTHORIZATION_FAILED))
        rig.now_s += 2
    assert [error.code() for error in rig.member.errors] == [KafkaError.GROUP_AUTHORIZATION_FAILED]
    assert "'g'" in rig.member.errors[0].str()


def test_a_failed_look_up_is_told_if_it_will_not_mend_itself() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.step()
    rig.member.failed(None, NetworkError("refused"), rig.now_s)
    assert rig.member.errors == []
    rig.now_s += 2
    rig.step()
    rig.member.failed(None, AuthError("wrong password"), rig.now_s)
    assert [error.code() for error in rig.member.errors] == [KafkaError._AUTHENTICATION]


@pytest.mark.parametrize("data", [b"\x00\x01\x7f", b"\xff\xff"])
def test_an_assignment_that_cannot_be_read_is_told_and_joined_anew(data: bytes) -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join()
    rig.answer(rig.send(SyncGroupRequest), SyncGroupResponse(assignment=data))
    assert rig.state() is State.JOINING
    assert "assignment" in rig.member.errors[0].str()


def test_a_rejected_commit_counts_like_a_heartbeat() -> None:
    rig = Rig().stable()
    rig.commit_rejected(KafkaError.REBALANCE_IN_PROGRESS)
    rig.step()
    assert rig.state() is State.PREPARING
    rig = Rig().stable()
    rig.commit_rejected(KafkaError.UNKNOWN_MEMBER_ID)
    assert rig.state() is State.LOSING
    rig = Rig(instance_id="i").stable()
    rig.commit_rejected(KafkaError.FENCED_INSTANCE_ID)
    assert rig.state() is State.FATAL


def test_a_rejected_commit_of_an_earlier_membership_says_nothing_about_this_one() -> None:
    rig = Rig().stable()
    for code in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS):
        rig.commit_rejected(code, generation=rig.member.generation - 1)
        rig.member.commit_rejected(code, "a former id", rig.member.generation)
        rig.step()
        assert rig.state() is State.STABLE


def test_a_member_that_wanted_to_leave_and_subscribes_again_has_no_deadline_for_leaving() -> None:
    rig = Rig("cooperative-sticky").stable()
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    rig.send(JoinGroupRequest)
    rig.member.unsubscribe()
    rig.member.watch(rig.now_s, rig.poll_s)
    rig.member.subscribe({"t"})
    rig.now_s += 5
    rig.join(generation=2)
    rig.sync(T0, T1)
    rig.done(EventKind.ASSIGN)
    step = rig.step()
    assert isinstance(step, Wait)
    assert step.until_s > rig.now_s, "the driver would turn in circles"


def test_a_heartbeat_of_a_former_member_id_is_passed_over() -> None:
    rig = Rig().stable()
    request = HeartbeatRequest(group_id="g", generation_id=rig.member.generation, member_id="a former id")
    rig.answer(request, HeartbeatResponse(error_code=KafkaError.UNKNOWN_MEMBER_ID))
    assert rig.state() is State.STABLE


def test_partitions_that_come_while_the_group_rebalances_are_noticed_at_its_end() -> None:
    rig = Rig()
    rig.member.subscribe({"t"})
    rig.find()
    rig.join(leads=True)
    assert isinstance(rig.step(), PlanAssignment)
    rig.member.plan(view({"t": 0}), rig.now_s)  # the topic was just deleted
    rig.member.partition_counts_changed({"t": 2}, rig.now_s)  # and is there again
    rig.sync()
    rig.done(EventKind.ASSIGN)
    rig.step()
    assert rig.state() is not State.STABLE, "nobody would read the topic until the next metadata"


def test_a_heartbeat_of_an_older_generation_is_passed_over() -> None:
    rig = Rig().stable()
    old = HeartbeatRequest(generation_id=0)
    rig.member.received(old, HeartbeatResponse(error_code=KafkaError.UNKNOWN_MEMBER_ID), rig.now_s)
    assert rig.state() is State.STABLE


def test_impossible_moves_name_both_states() -> None:
    rig = Rig()
    with pytest.raises(StateError, match="idle to stable"):
        rig.member._move(State.STABLE)


def test_done_for_a_foreign_event_changes_nothing() -> None:
    rig = Rig().stable()
    rig.member.done(Event(999, EventKind.REVOKE, frozenset({T0}), False))
    assert rig.member.owned == {T0, T1}


def joining_with_partitions() -> tuple[Rig, JoinGroupRequest]:
    rig = Rig("cooperative-sticky").stable()
    rig.beat(KafkaError.REBALANCE_IN_PROGRESS)
    return rig, rig.send(JoinGroupRequest)


def joined(generation: int) -> JoinGroupResponse:
    return JoinGroupResponse(
        generation_id=generation, protocol_name="cooperative-sticky", leader="other", member_id="m1", members=[]
    )


def test_leaving_with_partitions_while_a_join_waits_gives_them_up_in_the_new_generation() -> None:
    """The coordinator refuses commits of the generation before as soon as it has answered the join."""
    rig, request = joining_with_partitions()
    rig.member.unsubscribe()
    assert not rig.member.outdated(request)
    rig.answer(request, joined(generation=2))
    assert not rig.has_event()  # until everybody has synced, nobody may commit
    rig.sync(T1, T2)
    assert rig.member.generation == 2
    assert rig.done(EventKind.REVOKE) == {T0, T1}
    rig.send(LeaveGroupRequest)


def test_leaving_with_partitions_does_not_wait_long_for_a_join() -> None:
    rig, request = joining_with_partitions()
    rig.member.unsubscribe()
    rig.member.watch(rig.now_s, rig.poll_s)
    assert rig.member.leave_by_s == rig.now_s + 3
    rig.now_s = rig.member.leave_by_s
    rig.member.watch(rig.now_s, rig.poll_s)
    assert rig.member.outdated(request)
    assert rig.done(EventKind.REVOKE) == {T0, T1}
    assert rig.step().apart


def test_leaving_while_the_next_rebalance_begins_gives_up_at_once() -> None:
    """While members join, the coordinator takes commits of the last generation."""
    rig, request = joining_with_partitions()
    rig.member.unsubscribe()
    rig.answer(request, joined(generation=2))
    rig.answer(rig.send(SyncGroupRequest), SyncGroupResponse(error_code=KafkaError.REBALANCE_IN_PROGRESS))
    rig.step()
    assert rig.member.generation == 2
    assert rig.done(EventKind.REVOKE) == {T0, T1}


def test_subscribing_again_while_the_join_waits_stays_a_member() -> None:
    rig, request = joining_with_partitions()
    rig.member.unsubscribe()
    rig.member.subscribe({"t"})
    rig.answer(request, joined(generation=2))
    rig.sync(T0, T1)
    assert rig.done(EventKind.ASSIGN) == set()
    assert rig.state() is State.STABLE


# ---- states


def test_every_state_has_a_row_and_can_be_reached_and_left() -> None:
    assert set(MOVES) == set(State) - {State.ACKNOWLEDGING}  # which is for groups that the broker assigns
    assert set().union(*MOVES.values()) == set(MOVES)
    assert all(MOVES[state] for state in MOVES)
    assert all(state not in targets for state, targets in MOVES.items())


def test_leaving_is_possible_from_every_state_of_a_member() -> None:
    assert all(State.LEAVING in MOVES[state] for state in MOVES if state not in (State.IDLE, State.LEAVING))
    assert {state for state in MOVES if State.LOSING in MOVES[state]} >= BEATING


def test_a_group_is_cooperative_only_if_all_its_assignors_are() -> None:
    assert GroupSettings("g", choose(["cooperative-sticky"])).cooperative
    assert not GroupSettings("g", choose(["cooperative-sticky", "range"])).cooperative
