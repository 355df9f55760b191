"""The broker's consumer groups (KIP-848): assignors, epochs, reconciliation, time-outs, static members, refusals."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import BrokerConfig, GroupConfig
from kafka_core.broker.groups.classic_coordinator import GroupCoordinator, GroupSettings, JoinCall
from kafka_core.broker.groups.classic_groups import GroupState
from kafka_core.broker.groups.consumer_assignors import ranges, uniform
from kafka_core.broker.groups.consumer_coordinator import (
    ConsumerGroups,
    ConsumerGroupSettings,
    HeartbeatCall,
    HeartbeatResult,
    regex_problem,
)
from kafka_core.broker.groups.consumer_groups import ConsumerGroupState, MemberState
from kafka_core.broker.groups.migration import Migration, assignment_of, subscription_of
from kafka_core.broker.parking import Timers
from kafka_core.clock import ManualClock
from kafka_core.errors import ProtocolError
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition

T, U = UUID(int=1), UUID(int=2)
EVERYTHING = frozenset({(T, 0), (T, 1), (T, 2), (T, 3)})


class Rig:
    """Both coordinators on a clock that stands still, with a topic of four partitions."""

    def __init__(self, *, max_size: int = 10, policy: bool = True) -> None:
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.topics: dict[str, tuple[UUID, int]] = {"t": (T, 4), "u": (U, 1)}
        rng = random.Random(1)
        self.classic = GroupCoordinator(self.clock, self.timers, rng, GroupSettings(1000, 60_000, 0, 10, 100))
        shape = ConsumerGroupSettings(max_size, ("uniform", "range"), upgrades=policy, downgrades=policy)
        times = {"group.consumer.session.timeout.ms": "10000", "group.consumer.heartbeat.interval.ms": "3000"}
        self.config = GroupConfig(BrokerConfig(times))
        self.groups = ConsumerGroups(
            self.timers, shape, lambda group_id: self.config, lambda: self.topics, self.classic.groups
        )
        self.migration = Migration(self.groups, self.classic, lambda name: f"{name}-{rng.random()}")

    def join(self, member_id: str, **given: Any) -> HeartbeatResult:
        facts = {"rebalance_timeout_ms": 5000, "topics": frozenset({"t"}), "owned": frozenset()}
        return self.groups.heartbeat(HeartbeatCall("g", member_id, 0, **{**facts, **given}))

    def beat(self, member_id: str, epoch: int, **given: Any) -> HeartbeatResult:
        return self.groups.heartbeat(HeartbeatCall("g", member_id, epoch, **given))

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()


def test_uniform_keeps_what_it_can_and_is_even() -> None:
    last = {"a": [("t", number) for number in range(4)]}
    plan = uniform({"a": ["t"], "b": ["t"]}, {"t": 4}, last)
    assert [len(plan[member]) for member in "ab"] == [2, 2]
    assert plan["a"] <= set(last["a"])
    assert uniform({"a": ["t"], "b": ["t"]}, {"t": 4}, plan) == plan


def test_uniform_gives_only_what_is_subscribed() -> None:
    plan = uniform({"a": ["t", "u"], "b": ["t"], "c": []}, {"t": 3, "u": 3}, {"b": [("u", 0)]})
    assert plan["b"] <= {("t", 0), ("t", 1), ("t", 2)}
    assert plan["c"] == set()
    assert plan["a"] | plan["b"] == {(topic, number) for topic in "tu" for number in range(3)}
    assert len(plan["a"]) + len(plan["b"]) == 6


def test_range_puts_the_same_numbers_of_topics_together() -> None:
    plan = ranges({"b": ["t", "u"], "a": ["t", "u"]}, {"t": 3, "u": 3}, {})
    assert plan == {"a": {("t", 0), ("t", 1), ("u", 0), ("u", 1)}, "b": {("t", 2), ("u", 2)}}


def test_a_newcomer_waits_until_partitions_are_given_up() -> None:
    rig = Rig()
    first = rig.join("a")
    assert (first.code, first.epoch, first.assigned) == (Code.NONE, 1, EVERYTHING)
    second = rig.join("b")
    assert (second.epoch, second.assigned) == (2, frozenset())
    told = rig.beat("a", 1)
    assert told.epoch == 1  # it has something to give up first
    assert told.assigned is not None
    assert len(told.assigned) == 2
    assert rig.beat("b", 2).assigned is None
    assert rig.beat("a", 1, owned=EVERYTHING).epoch == 1
    assert rig.beat("a", 1, owned=told.assigned).epoch == 2
    assert rig.beat("b", 2).assigned == EVERYTHING - told.assigned
    group = rig.groups.get("g")
    assert group is not None
    assert (group.state, group.epoch, group.target_epoch) == (ConsumerGroupState.STABLE, 2, 2)


def test_a_member_that_does_not_revoke_in_time_is_removed() -> None:
    rig = Rig()
    rig.join("a")
    rig.join("b")
    rig.beat("a", 1)
    for _ in range(6):
        rig.pass_time(1)
        rig.beat("a", 1, owned=EVERYTHING)
        rig.beat("b", 2)
    assert rig.beat("a", 1).code is Code.UNKNOWN_MEMBER_ID
    group = rig.groups.get("g")
    assert group is not None
    assert group.members["b"].assigned == EVERYTHING


def test_silence_ends_a_session_and_heartbeats_prolong_it() -> None:
    rig = Rig()
    rig.join("a")
    rig.pass_time(9)
    assert rig.beat("a", 1).code is Code.NONE
    rig.pass_time(9)
    assert rig.beat("a", 1).code is Code.NONE
    rig.pass_time(11)
    assert rig.beat("a", 1).code is Code.UNKNOWN_MEMBER_ID


def test_the_groups_own_times_count() -> None:
    rig = Rig()
    assert rig.join("a").heartbeat_interval_ms == 3000
    rig.config.own = {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "7000"}
    assert rig.beat("a", 1).heartbeat_interval_ms == 7000
    rig.pass_time(49)
    assert rig.beat("a", 1).code is Code.NONE
    rig.pass_time(51)
    assert rig.beat("a", 1).code is Code.UNKNOWN_MEMBER_ID


def test_a_group_assigns_no_sooner_than_its_interval_says() -> None:
    rig = Rig()
    rig.config.own = {"consumer.assignment.interval.ms": "2000"}
    assert rig.join("a").assigned == EVERYTHING
    late = rig.join("b")
    assert (late.code, late.epoch, late.assigned) == (Code.NONE, 1, frozenset())
    assert rig.groups.groups["g"].state is ConsumerGroupState.ASSIGNING
    rig.join("c")
    rig.pass_time(1.9)
    assert rig.beat("a", 1).assigned is None
    rig.pass_time(0.2)
    assert rig.groups.groups["g"].target_epoch == rig.groups.groups["g"].epoch  # both newcomers in one go
    given = rig.beat("a", 1, owned=EVERYTHING).assigned
    assert given is not None
    assert len(given) == 2
    rig.beat("a", 1, owned=given)
    assert len(rig.beat("b", 1).assigned or ()) == 1
    rig.groups.heartbeat(HeartbeatCall("g", "c", -1))
    rig.pass_time(2.1)
    assert rig.groups.groups["g"].target_epoch == rig.groups.groups["g"].epoch
    rig.pass_time(2.1)
    assert rig.groups.groups["g"].rest is None


@pytest.mark.parametrize("interval", [None, "0"])
def test_without_an_interval_of_its_own_a_group_assigns_at_once(interval: str | None) -> None:
    rig = Rig()
    rig.config.own = {} if interval is None else {"consumer.assignment.interval.ms": interval}
    rig.join("a")
    assert rig.join("b").epoch == 2
    assert rig.groups.groups["g"].rest is None


def test_a_member_that_missed_an_answer_may_name_the_epoch_before() -> None:
    rig = Rig()
    rig.join("a")
    rig.topics["t"] = (T, 5)
    assert rig.beat("a", 1).epoch == 2
    again = rig.beat("a", 1, topics=frozenset({"t"}), rebalance_timeout_ms=5000, owned=EVERYTHING)
    assert (again.code, again.epoch) == (Code.NONE, 2)
    assert again.assigned == EVERYTHING | {(T, 4)}  # it said everything, so it is told everything
    assert rig.beat("a", 1).code is Code.FENCED_MEMBER_EPOCH
    assert rig.beat("a", 1, owned=frozenset({(U, 0)})).code is Code.FENCED_MEMBER_EPOCH
    assert rig.beat("a", 3).code is Code.FENCED_MEMBER_EPOCH


def test_a_static_member_keeps_its_place_for_a_session() -> None:
    rig = Rig()
    rig.join("a", instance_id="i")
    assert rig.join("b", instance_id="i").code is Code.UNRELEASED_INSTANCE_ID
    assert rig.beat("a", -2, instance_id="i").epoch == -2
    back = rig.join("b", instance_id="i")
    assert (back.code, back.epoch, back.assigned) == (Code.NONE, 1, EVERYTHING)  # nothing moved
    assert rig.beat("a", 1, instance_id="i").code is Code.FENCED_INSTANCE_ID
    rig.beat("b", -2, instance_id="i")
    rig.pass_time(11)
    group = rig.groups.get("g")
    assert group is not None
    assert group.state is ConsumerGroupState.EMPTY


def test_patterns_match_whole_names_and_what_they_match_now() -> None:
    rig = Rig()
    assert rig.join("a", topics=None, regex="[tu]").assigned == EVERYTHING | {(U, 0)}
    rig.topics["ut"] = (UUID(int=3), 1)
    assert rig.beat("a", 1).assigned is None
    assert rig.beat("a", 1, topics=frozenset({"u"}), regex="").assigned == {(U, 0)}
    assert regex_problem("^a.*|b") is None
    for wrong in ("(", "(?=a)", r"(a)\1"):
        refused = Rig().join("a", regex=wrong)
        assert refused.code is Code.INVALID_REGULAR_EXPRESSION
        assert wrong in (refused.text or "")


def test_commits_and_reads_name_the_epoch() -> None:
    rig = Rig()
    rig.join("a")
    group = rig.groups.get("g")
    assert group is not None
    assert group.commit_problem("a", 1, version_knows_epochs=True) is Code.NONE
    assert group.commit_problem("a", 0, version_knows_epochs=True) is Code.STALE_MEMBER_EPOCH
    assert group.commit_problem("a", 1, version_knows_epochs=False) is Code.UNSUPPORTED_VERSION
    assert group.commit_problem("", -1, version_knows_epochs=True) is Code.UNKNOWN_MEMBER_ID
    assert group.fetch_problem(None, -1) is Code.NONE
    assert group.fetch_problem("a", 2) is Code.STALE_MEMBER_EPOCH
    assert group.fetch_problem("b", 1) is Code.UNKNOWN_MEMBER_ID
    rig.beat("a", -1)
    assert group.commit_problem("", -1, version_knows_epochs=True) is Code.NONE


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (HeartbeatCall("", "a", 0), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "", 0), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 0), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 0, rebalance_timeout_ms=1, owned=frozenset({(T, 0)})), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 0, rebalance_timeout_ms=1, owned=frozenset()), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", -2), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", -3), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 1, instance_id=""), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 1, rack_id=""), Code.INVALID_REQUEST),
        (HeartbeatCall("g", "a", 1), Code.GROUP_ID_NOT_FOUND),
        (HeartbeatCall("g", "a", -1), Code.GROUP_ID_NOT_FOUND),
        (HeartbeatCall("g", "a", 1, assignor="x"), Code.UNSUPPORTED_ASSIGNOR),
    ],
)
def test_invalid_heartbeats_are_refused(call: HeartbeatCall, code: Code) -> None:
    refused = Rig().groups.heartbeat(call)
    assert (refused.code, bool(refused.text)) == (code, True)


def test_a_full_group_takes_no_more() -> None:
    rig = Rig(max_size=1)
    rig.join("a")
    assert rig.join("b").code is Code.GROUP_MAX_SIZE_REACHED
    assert rig.join("a").code is Code.NONE


def test_only_an_empty_group_gives_its_name_away() -> None:
    rig = Rig()
    rig.join("a")
    assert rig.groups.give_way("g") is Code.NON_EMPTY_GROUP
    rig.beat("a", -1)
    assert [group.group_id for group in rig.groups.list(["empty"])] == ["g"]
    assert rig.groups.give_way("g") is Code.NONE
    assert rig.groups.get("g") is None


# ---- members of the classic protocol


def subscription(*owned: int, rack: str | None) -> bytes:
    has = [TopicPartition("t", list(owned))]
    message = ConsumerProtocolSubscription(topics=["t"], owned_partitions=has, rack_id=rack)
    return (3).to_bytes(2, "big") + encode_bytes(message, 3)


def classic_join(member_id: str, *owned: int, known: bool = False, rack: str | None = None) -> JoinCall:
    protocols = [("cooperative-sticky", subscription(*owned, rack=rack))]
    return JoinCall("g", member_id, None, "c", "h", 10_000, 5000, "consumer", protocols, known, True)


def upgraded(rig: Rig) -> str:
    """A classic group with one member, which has everything, and a member of KIP-848 that has come."""
    member_id = rig.classic.join(classic_join("")).value.member_id
    assignment = rig.migration._encoded(EVERYTHING)
    rig.classic.sync("g", member_id, None, 1, "consumer", "cooperative-sticky", {member_id: assignment})
    assert rig.join("new").code is Code.NONE
    return member_id


def test_a_classic_member_goes_on_in_a_group_that_is_upgraded() -> None:
    rig = Rig()
    old = upgraded(rig)
    group = rig.groups.get("g")
    assert group is not None
    assert group.members[old].assigned == EVERYTHING
    assert rig.migration.heartbeat(group, old, None, 1) is Code.REBALANCE_IN_PROGRESS
    joined = rig.migration.join(group, classic_join(old, 0, 1, 2, 3))
    assert (joined.code, joined.generation, joined.leader) == (Code.NONE, 1, "")
    assert group.members[old].state is MemberState.UNREVOKED
    kept = assignment_of(rig.migration.sync(group, old, None, 1).assignment)
    assert len(kept) == 2
    again = rig.migration.join(group, classic_join(old, *(number for _, number in kept)))
    assert again.generation == group.epoch
    assert rig.migration.heartbeat(group, old, None, group.epoch) is Code.NONE
    told = rig.beat("new", group.epoch)
    assert told.assigned is not None
    assert len(told.assigned) == 2
    assert rig.migration.heartbeat(group, old, None, 1) is Code.ILLEGAL_GENERATION
    assert rig.migration.heartbeat(group, "new", None, group.epoch) is Code.UNKNOWN_MEMBER_ID


def test_the_rack_of_a_classic_member_is_kept() -> None:
    rig = Rig()
    member_id = rig.classic.join(classic_join("", rack="a")).value.member_id
    rig.classic.sync("g", member_id, None, 1, "consumer", "cooperative-sticky", {member_id: b""})
    assert rig.join("new").code is Code.NONE
    group = rig.groups.get("g")
    assert group is not None
    assert group.members[member_id].rack_id == "a"
    rig.migration.join(group, classic_join(member_id, rack="b"))
    assert group.members[member_id].rack_id == "b"
    rig.migration.join(group, classic_join(member_id, rack=""))
    assert group.members[member_id].rack_id is None


def test_the_last_one_of_the_new_protocol_leaves_a_classic_group_behind() -> None:
    rig = Rig()
    old = upgraded(rig)
    rig.beat("new", -1)
    assert rig.groups.get("g") is None
    group = rig.classic.groups["g"]
    assert (group.state, list(group.members)) == (GroupState.PREPARING, [old])
    assert assignment_of(group.members[old].assignment) == [("t", number) for number in range(4)]
    assert rig.classic.heartbeat("g", old, None, group.generation) is Code.REBALANCE_IN_PROGRESS


def test_a_classic_group_stays_one_where_migration_is_off() -> None:
    rig = Rig(policy=False)
    rig.classic.join(classic_join(""))
    assert rig.join("new").code is Code.GROUP_ID_NOT_FOUND


def test_new_classic_members_of_a_consumer_group_get_an_id_first_and_leave_as_usual() -> None:
    rig = Rig()
    rig.join("new")
    group = rig.groups.get("g")
    assert group is not None
    first = rig.migration.join(group, classic_join("", known=True))
    assert first.code is Code.MEMBER_ID_REQUIRED
    assert rig.migration.join(group, classic_join(first.member_id)).code is Code.NONE
    assert rig.migration.join(group, classic_join("nobody")).code is Code.UNKNOWN_MEMBER_ID
    assert rig.migration.sync(group, first.member_id, None, 9).code is Code.ILLEGAL_GENERATION
    assert rig.migration.leave(group, first.member_id, None) is Code.NONE
    assert rig.migration.leave(group, first.member_id, None) is Code.UNKNOWN_MEMBER_ID
    with pytest.raises(ProtocolError):
        subscription_of([("range", b"")])
