"""Share groups and their assignor."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import BrokerConfig, GroupConfig
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.parking import Timers
from kafka_core.broker.sharing.coordinator import ShareGroups, ShareHeartbeatCall, ShareHeartbeatResult
from kafka_core.broker.sharing.groups import ShareGroup, ShareGroupState, ShareMember, assign_simple
from kafka_core.clock import ManualClock

A, B = UUID(int=1), UUID(int=2)


def ids(topic: UUID, count: int) -> list[Id]:
    return [(topic, number) for number in range(count)]


def sizes(members: int, *counts: int) -> list[int]:
    """The sizes of members' shares of topics that all subscribe to; every partition has as many readers."""
    topics = {f"t{number}": ids(UUID(int=number + 1), count) for number, count in enumerate(counts)}
    found = assign_simple({f"m{number}": list(topics) for number in range(members)}, topics, {})
    readers = [sum(key in given for given in found.values()) for part in topics.values() for key in part]
    assert set(readers) == {-(-members // sum(counts))}
    return sorted(len(given) for given in found.values())


@pytest.mark.parametrize(
    ("members", "counts", "expected"),
    [
        (3, [2], [1, 1, 2]),
        (2, [3], [1, 2]),
        (4, [1], [1, 1, 1, 1]),
        (3, [2, 2], [1, 1, 2]),
        (5, [3], [1, 1, 1, 1, 2]),
        (1, [4], [4]),
    ],
)
def test_members_get_what_kafka_gives_them(members: int, counts: list[int], expected: list[int]) -> None:
    assert sizes(members, *counts) == expected


subscriptions = st.dictionaries(st.sampled_from("abcdefg"), st.sets(st.sampled_from("xyz")), max_size=7)


@given(
    before=subscriptions,
    after=subscriptions,
    counts=st.fixed_dictionaries({name: st.integers(1, 5) for name in "xyz"}),
)
def test_partitions_have_readers_and_readers_have_partitions(
    before: dict[str, set[str]], after: dict[str, set[str]], counts: dict[str, int]
) -> None:
    topics = {name: ids(UUID(int=ord(name)), count) for name, count in counts.items()}
    current = assign_simple(before, topics, {})
    found = assign_simple(after, topics, current)
    assert set(found) == set(after)
    for name, parts in topics.items():
        readers = {member for member, names in after.items() if name in names}
        for key in parts:
            holders = {member for member, given_ in found.items() if key in given_}
            assert holders <= readers
            assert bool(holders) == bool(readers)
    for member, names in after.items():
        assert bool(found[member]) == bool(names)
    if before == after:
        assert found == current


def test_members_keep_what_they_have_where_that_is_fair() -> None:
    topics = {"t": ids(A, 4)}
    one = assign_simple({"a": ["t"], "b": ["t"]}, topics, {})
    two = assign_simple({"a": ["t"], "b": ["t"], "c": ["t"]}, topics, one)
    assert sum(len(two[member] & one[member]) for member in "ab") == 3
    assert sorted(map(len, two.values())) == [1, 1, 2]


def test_a_group_assigns_anew_when_members_or_topics_change() -> None:
    group = ShareGroup("g")
    assert group.state is ShareGroupState.EMPTY
    group.members["m"] = ShareMember("m", topics=frozenset({"t", "gone"}))
    group.epoch += 1
    group.assign({"t": (A, 2), "other": (B, 1)})
    assert (group.epoch, group.target_epoch) == (2, 2)
    assert group.target["m"] == frozenset(ids(A, 2))
    group.assign({"t": (A, 2), "other": (B, 3)})
    assert group.epoch == 2
    group.assign({"t": (A, 3)})
    assert (group.epoch, group.target["m"]) == (3, frozenset(ids(A, 3)))
    group.assign({"t": (B, 1)})  # made anew
    assert group.target["m"] == frozenset(ids(B, 1))
    group.remove(group.members["m"])
    assert (group.epoch, group.target_epoch, group.target) == (5, 4, {})


def test_epochs_that_a_member_may_name() -> None:
    member = ShareMember("m")
    assert member.reach(3, frozenset(ids(A, 1)))
    assert not member.reach(5, frozenset(ids(A, 1)))
    assert member.epoch_problem(5) is None
    assert member.epoch_problem(3) is None
    assert "smaller member epoch (4)" in str(member.epoch_problem(4))
    assert "previous member epoch (3)" in str(member.epoch_problem(4))
    assert "greater member epoch (6)" in str(member.epoch_problem(6))


def test_a_group_assigns_no_sooner_than_its_interval_says() -> None:
    clock = ManualClock()
    timers = Timers(clock)
    config = GroupConfig(BrokerConfig({"group.share.assignment.interval.ms": "1000"}))
    begun: list[Id] = []
    groups = ShareGroups(
        timers, 10, lambda _: config, lambda: {"t": (A, 2)}, lambda _: False, lambda _, keys: begun.extend(keys)
    )

    def beat(member_id: str, epoch: int) -> ShareHeartbeatResult:
        return groups.heartbeat(ShareHeartbeatCall("g", member_id, epoch, topics=frozenset({"t"})))

    first = beat("a", 0)
    assert first.assigned == {(A, 0), (A, 1)}
    late = beat("b", 0)
    assert (late.code, late.epoch, late.assigned) == (Code.NONE, first.epoch, frozenset())
    clock.advance(1.1)
    timers.run_due()
    assert [len(beat(member_id, first.epoch).assigned or ()) for member_id in ("a", "b")] == [1, 1]
    before = groups.groups["g"].epoch
    assert set(begun) == {(A, 0), (A, 1)}
    config.own = {"share.assignment.interval.ms": "0"}
    clock.advance(1.1)
    timers.run_due()
    assert beat("c", 0).epoch == before + 1
