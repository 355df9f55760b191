"""One classic group without time: members, leaders, protocols and moves."""

from __future__ import annotations

import pytest

from kafka_core.broker.groups.classic_groups import Group, GroupState, JoinResult, Member
from kafka_core.broker.parking import Pending


def member(member_id: str, *protocols: str, instance_id: str | None = None) -> Member:
    return Member(member_id, instance_id, "c", "/h", 10_000, 5_000, [(name, name.encode()) for name in protocols])


def group_of(*members: Member) -> Group:
    group = Group("g")
    for item in members:
        group.add(item)
    group.protocol_type = "consumer"
    return group


@pytest.mark.parametrize(
    ("start", "goal"),
    [
        (GroupState.EMPTY, GroupState.STABLE),
        (GroupState.STABLE, GroupState.COMPLETING),
        (GroupState.DEAD, GroupState.EMPTY),
        (GroupState.PREPARING, GroupState.PREPARING),
    ],
)
def test_impossible_moves_name_both_states(start: GroupState, goal: GroupState) -> None:
    group = Group("g", state=start)
    with pytest.raises(RuntimeError, match=f"{start.value} to {goal.value}"):
        group.move_to(goal)
    assert group.state is start


def test_the_protocol_with_most_votes_among_the_common_ones_wins() -> None:
    group = group_of(member("a", "x", "range", "rr"), member("b", "rr", "range"), member("c", "rr", "range"))
    assert group.candidates() == {"range", "rr"}
    assert group.select_protocol() == "rr"


def test_a_newcomer_must_speak_a_protocol_of_all() -> None:
    group = group_of(member("a", "range", "rr"), member("b", "rr"))
    group.move_to(GroupState.PREPARING)
    assert group.supports("consumer", [("rr", b""), ("x", b"")])
    assert not group.supports("consumer", [("range", b"")])
    assert not group.supports("connect", [("rr", b"")])
    assert not Group("h").supports("", [("rr", b"")])
    assert not Group("h").supports("consumer", [])


def test_leadership_passes_on() -> None:
    a, b = member("a", "rr"), member("b", "rr")
    group = group_of(a, b)
    assert group.leader_id == "a"
    group.remove(a)
    assert group.leader_id == "b"
    group.remove(b)
    assert group.leader_id is None


def test_a_leader_that_did_not_rejoin_is_replaced_by_one_that_did() -> None:
    a, b = member("a", "rr"), member("b", "rr")
    group = group_of(a, b)
    assert not group.elect_joined_leader()
    answer: Pending[JoinResult] = Pending()
    b.waiting_join = answer
    assert group.elect_joined_leader()
    assert group.leader_id == "b"
    assert group.elect_joined_leader()
    assert not group.everyone_joined


def test_a_static_member_keeps_its_place_under_a_new_id() -> None:
    group = group_of(member("a", "rr", instance_id="i"), member("b", "rr"))
    group.rename(group.members["a"], "a2")
    assert list(group.members) == ["a2", "b"]
    assert (group.leader_id, group.static_ids) == ("a2", {"i": "a2"})
    group.remove(group.members["a2"])
    assert group.static_ids == {}


def test_only_the_leader_is_told_of_the_members() -> None:
    a, b = member("a", "rr"), member("b", "rr")
    group = group_of(a, b)
    group.move_to(GroupState.PREPARING)
    group.next_generation()
    assert (group.generation, group.protocol_name, group.state) == (1, "rr", GroupState.COMPLETING)
    assert [item.metadata for item in group.join_result(a).members] == [b"rr", b"rr"]
    assert group.join_result(b).members == ()
    assert group.join_result(b).leader == "a"
    assert a.metadata("other") == b""
    assert group.rebalance_timeout_ms == 5_000


def test_without_members_the_next_generation_is_empty() -> None:
    group = Group("g")
    group.move_to(GroupState.PREPARING)
    group.next_generation()
    assert (group.state, group.generation, group.protocol_name, group.rebalance_timeout_ms) == (
        GroupState.EMPTY,
        1,
        None,
        0,
    )
