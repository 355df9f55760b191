"""Assignors over random groups: everything assigned once, balanced, near, little moved, cooperative in steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.groups.assignors import (
    GroupMember,
    Plan,
    assign_cooperative,
    assign_range,
    assign_roundrobin,
    assign_sticky,
    nearness_of,
)
from kafka_core.engine.groups.racks import Racks

Members = list[GroupMember]
Counts = dict[str, int]
Assign = Callable[[Members, Counts, Racks], Plan]

TOPICS = ("a", "b", "c", "d")
counts_of_topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 7), max_size=len(TOPICS))
COMPLETE: list[Assign] = [assign_range, assign_roundrobin, assign_sticky]
some_topics = st.frozensets(st.sampled_from(TOPICS), min_size=1)
EVERYTHING = [(topic, number) for topic in TOPICS for number in range(7)]
NAMES = ("x", "y", "z")
PLACES = [frozenset(name for bit, name in enumerate(NAMES) if number >> bit & 1) for number in range(8)]
some_racks = st.one_of(
    st.just({}),
    st.binary(min_size=len(EVERYTHING), max_size=len(EVERYTHING)).map(
        lambda data: {key: PLACES[byte % 8] for key, byte in zip(EVERYTHING, data, strict=True)}
    ),
)


@st.composite
def groups(
    draw: st.DrawFn, *, same_topics: bool = False, with_claims: bool = False, most: int = 6
) -> list[GroupMember]:
    size = draw(st.integers(1, most))
    shared = draw(some_topics)
    members = []
    for number in range(size):
        topics = shared if same_topics else draw(some_topics)
        owned: tuple[tuple[str, int], ...] = ()
        if with_claims:
            owned = tuple(
                draw(st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 7)), max_size=6, unique=True))
            )
        instance = draw(st.sampled_from([None, f"i{number}"]))
        generation = draw(st.integers(-1, 3)) if with_claims else -1
        rack = draw(st.sampled_from([None, *NAMES]))
        members.append(GroupMember(f"m{number}", topics, instance, owned, generation, rack))
    return members


def expected_keys(members: list[GroupMember], counts: dict[str, int]) -> set[tuple[str, int]]:
    subscribed = {topic for member in members for topic in member.topics}
    return {(topic, number) for topic in subscribed for number in range(counts.get(topic, 0))}


def check_complete(plan: Plan, members: list[GroupMember], counts: dict[str, int]) -> None:
    given_out = [key for keys in plan.values() for key in keys]
    assert len(given_out) == len(set(given_out)), "a partition was given to two members"
    assert set(given_out) == expected_keys(members, counts)
    topics = {member.member_id: member.topics for member in members}
    assert set(plan) == set(topics)
    assert all(key[0] in topics[member_id] for member_id, keys in plan.items() for key in keys)


@given(groups(with_claims=True), counts_of_topics, some_racks, st.sampled_from(COMPLETE))
def test_every_partition_goes_to_exactly_one_subscriber(
    members: Members, counts: Counts, racks: Racks, assign: Assign
) -> None:
    check_complete(assign(members, counts, racks), members, counts)


@given(
    groups(with_claims=True),
    counts_of_topics,
    some_racks,
    st.randoms(),
    st.sampled_from([assign_range, assign_roundrobin, assign_sticky, assign_cooperative]),
)
def test_the_order_of_members_does_not_matter(
    members: Members, counts: Counts, racks: Racks, random: Random, assign: Assign
) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)
    assert assign(shuffled, counts, racks) == assign(members, counts, racks)


@given(groups(same_topics=True), counts_of_topics)
def test_round_robin_over_equal_subscriptions_differs_by_one_at_most(members: Members, counts: Counts) -> None:
    sizes = [len(keys) for keys in assign_roundrobin(members, counts).values()]
    assert max(sizes) - min(sizes) <= 1


@given(groups(), counts_of_topics)
def test_range_gives_each_member_one_run_of_neighbours_per_topic(members: Members, counts: Counts) -> None:
    for keys in assign_range(members, counts).values():
        for topic in TOPICS:
            numbers = [number for name, number in keys if name == topic]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


@given(groups(with_claims=True), counts_of_topics, some_racks)
def test_sticky_leaves_nothing_that_one_move_would_balance(members: Members, counts: Counts, racks: Racks) -> None:
    plan = assign_sticky(members, counts, racks)
    for donor in members:
        for taker in members:
            if len(plan[donor.member_id]) >= len(plan[taker.member_id]) + 2:
                assert not any(topic in taker.topics for topic, _ in plan[donor.member_id])


@given(groups(with_claims=True), counts_of_topics, some_racks)
def test_sticky_repeated_changes_nothing(members: Members, counts: Counts, racks: Racks) -> None:
    plan = assign_sticky(members, counts, racks)
    again = [replace(member, owned=tuple(plan[member.member_id]), generation=9) for member in members]
    assert assign_sticky(again, counts, racks) == plan


@given(groups(same_topics=True), counts_of_topics, st.integers(0, 5))
def test_sticky_moves_only_what_a_leaver_or_joiner_makes_necessary(members: Members, counts: Counts, pick: int) -> None:
    plan = assign_sticky(members, counts)
    settled = [replace(member, owned=tuple(plan[member.member_id]), generation=1) for member in members]
    joiner = GroupMember("new", members[0].topics)
    after = assign_sticky([*settled, joiner], counts)
    for member in members:
        assert set(after[member.member_id]) <= set(plan[member.member_id]), "an old member got something new"
    if len(settled) > 1:
        gone = settled.pop(pick % len(settled))
        after = assign_sticky(settled, counts)
        for member in settled:
            assert set(after[member.member_id]) >= set(member.owned), "a member that stayed lost something"
        assert gone.member_id not in after


@given(groups(with_claims=True), counts_of_topics, some_racks)
def test_cooperative_gives_nobody_what_another_still_claims(members: Members, counts: Counts, racks: Racks) -> None:
    plan = assign_cooperative(members, counts, racks)
    claims = {member.member_id: set(member.owned) for member in members}
    for member_id, keys in plan.items():
        for other, owned in claims.items():
            assert other == member_id or not owned & set(keys)


@given(groups(with_claims=True), counts_of_topics, some_racks)
def test_cooperative_ends_complete_and_balanced_after_a_few_rounds(
    members: Members, counts: Counts, racks: Racks
) -> None:
    generation = 10
    for _ in range(4):
        plan = assign_cooperative(members, counts, racks)
        following = [replace(member, owned=tuple(plan[member.member_id]), generation=generation) for member in members]
        if {m.member_id: set(m.owned) for m in following} == {m.member_id: set(m.owned) for m in members}:
            break
        members, generation = following, generation + 1
    else:
        raise AssertionError("still moving after four rebalances")
    check_complete(plan, members, counts)


# ---- racks


def near(members: Members, racks: Racks, plan: Plan) -> int:
    """The number of partitions near to their members."""
    nearness = nearness_of(members, racks)
    return sum(nearness.near(member_id, key) for member_id, keys in plan.items() for key in keys)


def most_near(members: Members, counts: Counts, racks: Racks) -> int:
    """The most near partitions of any balanced assignment to members with the same topics (brute force)."""
    nearness = nearness_of(members, racks)
    keys = sorted(expected_keys(members, counts))
    share, rest = divmod(len(keys), len(members))
    best = 0
    for larger in set(permutations([1] * rest + [0] * (len(members) - rest))):
        # Rooms left → the most that were near so far, partition by partition.
        states = {tuple(share + extra for extra in larger): 0}
        for key in keys:
            following: dict[tuple[int, ...], int] = {}
            for rooms, count in states.items():
                for index, member in enumerate(members):
                    if rooms[index]:
                        left = (*rooms[:index], rooms[index] - 1, *rooms[index + 1 :])
                        following[left] = max(following.get(left, 0), count + nearness.near(member.member_id, key))
            states = following
        best = max(best, *states.values())
    return best


@given(
    groups(same_topics=True, with_claims=True, most=4),
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 4)),
    some_racks,
)
def test_sticky_has_as_many_near_as_a_balanced_assignment_can(members: Members, counts: Counts, racks: Racks) -> None:
    """Whatever the members had before; where no rack is shared, all assignments are as good."""
    plan = assign_sticky(members, counts, racks)
    sizes = [len(keys) for keys in plan.values()]
    assert max(sizes) - min(sizes) <= 1
    if nearness_of(members, racks).matters(expected_keys(members, counts)):
        assert near(members, racks, plan) == most_near(members, counts, racks)


@given(groups(with_claims=True), counts_of_topics, some_racks)
def test_without_racks_of_members_those_of_replicas_change_nothing(
    members: Members, counts: Counts, racks: Racks
) -> None:
    bare = [replace(member, rack=None) for member in members]
    for assign in (assign_range, assign_roundrobin, assign_sticky, assign_cooperative):
        assert assign(bare, counts, racks) == assign(bare, counts)
        assert assign(members, counts) == assign(bare, counts)


@given(groups(same_topics=True), counts_of_topics, some_racks)
def test_range_shares_each_topic_evenly_whatever_the_racks(members: Members, counts: Counts, racks: Racks) -> None:
    plan = assign_range(members, counts, racks)
    for topic in TOPICS:
        sizes = [sum(key[0] == topic for key in keys) for keys in plan.values()]
        assert max(sizes) - min(sizes) <= 1
