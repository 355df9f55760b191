"""Assignors: the examples of Kafka's own documentation and the corners that random groups seldom show."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_core.engine.groups.assignors import (
    GroupMember,
    assign_cooperative,
    assign_range,
    assign_roundrobin,
    assign_sticky,
    choose,
    valid_claims,
)
from kafka_core.errors import ConfigError

Keys = Sequence[tuple[str, int]]


def member(name: str, *topics: str, instance: str | None = None, owned: Keys = (), generation: int = -1) -> GroupMember:
    return GroupMember(name, frozenset(topics), instance, tuple(owned), generation)


def keys(text: str) -> list[tuple[str, int]]:
    """`a0 a1 b0` as partitions."""
    return [(word[:-1], int(word[-1])) for word in text.split()]


def test_range_gives_the_rest_to_the_first_members() -> None:
    plan = assign_range([member("c1", "t0", "t1"), member("c0", "t0", "t1")], {"t0": 3, "t1": 3})
    assert plan == {"c0": keys("t00 t01 t10 t11"), "c1": keys("t02 t12")}


def test_round_robin_of_two_members_over_two_topics() -> None:
    plan = assign_roundrobin([member("c0", "t0", "t1"), member("c1", "t0", "t1")], {"t0": 3, "t1": 3})
    assert plan == {"c0": keys("t00 t02 t11"), "c1": keys("t01 t10 t12")}


def test_round_robin_passes_over_members_without_the_topic() -> None:
    members = [member("c0", "t0"), member("c1", "t0", "t1"), member("c2", "t0", "t1", "t2")]
    plan = assign_roundrobin(members, {"t0": 1, "t1": 2, "t2": 3})
    assert plan == {"c0": keys("t00"), "c1": keys("t10"), "c2": keys("t11 t20 t21 t22")}


def test_static_members_come_first_and_by_instance_id() -> None:
    members = [member("a", "t"), member("z", "t", instance="1"), member("b", "t", instance="2")]
    assert assign_range(members, {"t": 3}) == {"z": keys("t0"), "b": keys("t1"), "a": keys("t2")}


def test_topics_that_nobody_knows_are_left_out() -> None:
    for assign in (assign_range, assign_roundrobin, assign_sticky, assign_cooperative):
        assert assign([member("c0", "gone", "t")], {"t": 1}) == {"c0": keys("t0")}


def test_sticky_gives_a_joiner_only_what_is_too_much_elsewhere() -> None:
    members = [
        member("c0", "t", owned=keys("t0 t1 t2"), generation=1),
        member("c1", "t", owned=keys("t3 t4 t5"), generation=1),
        member("c2", "t"),
    ]
    plan = assign_sticky(members, {"t": 6})
    assert len(plan["c2"]) == 2
    assert set(plan["c0"]) < set(keys("t0 t1 t2"))
    assert set(plan["c1"]) < set(keys("t3 t4 t5"))


def test_cooperative_takes_first_and_gives_in_the_next_round() -> None:
    old = member("c0", "t", owned=keys("t0 t1"), generation=1)
    first = assign_cooperative([old, member("c1", "t")], {"t": 2})
    assert first == {"c0": keys("t0"), "c1": []}
    after = assign_cooperative([member("c0", "t", owned=keys("t0"), generation=2), member("c1", "t")], {"t": 2})
    assert after == {"c0": keys("t0"), "c1": keys("t1")}


def test_of_two_claims_the_newer_generation_counts_and_of_equal_ones_none() -> None:
    newer = [member("c0", "t", owned=keys("t0"), generation=1), member("c1", "t", owned=keys("t0"), generation=2)]
    assert valid_claims(newer, {"t": 1}) == {("t", 0): "c1"}
    equal = [member("c0", "t", owned=keys("t0"), generation=2), member("c1", "t", owned=keys("t0"), generation=2)]
    assert valid_claims(equal, {"t": 1}) == {}


def test_a_lost_claim_still_bars_a_partition_until_its_owner_has_let_go() -> None:
    members = [member("c0", "t", owned=keys("t0"), generation=1), member("c1", "t", owned=keys("t0"), generation=2)]
    assert assign_cooperative(members, {"t": 1}) == {"c0": [], "c1": []}


def test_claims_on_dropped_topics_and_missing_partitions_do_not_count() -> None:
    assert valid_claims([member("c0", "t", owned=keys("u0 t7"), generation=1)], {"t": 1, "u": 1}) == {}


def test_a_large_group_is_planned_quickly() -> None:
    members = [member(f"m{number:03}", "a", "b") for number in range(100)]
    plan = assign_sticky(members, {"a": 1000, "b": 1000})
    assert {len(found) for found in plan.values()} == {20}


def test_choose_names_assignors_in_order() -> None:
    assert [item.name for item in choose(["roundrobin", "range", "roundrobin"])] == ["roundrobin", "range"]
    assert choose(["cooperative-sticky"])[0].cooperative


@pytest.mark.parametrize("names", [[], ["uniform"]])
def test_choose_refuses_what_it_does_not_know(names: list[str]) -> None:
    with pytest.raises(ConfigError):
        choose(names)
