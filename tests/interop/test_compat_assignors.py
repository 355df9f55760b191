"""Assignors of the dialects beside those of kafka-python and aiokafka, on clusters and groups that Hypothesis makes."""

from __future__ import annotations

import importlib
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kserdes.compat.aiokafka import assignors as aio
from kserdes.compat.kafka import assignors as ours
from kserdes.compat.kafka.structs import TopicPartition

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    pytest.importorskip("kafka")
    pytest.importorskip("aiokafka")
    import aiokafka.coordinator.protocol as aio_protocol
    import kafka.coordinator.subscription
    import kafka.protocol.consumer.metadata as protocol

TOPICS = ("a", "b", "c", "d")
COUNTS = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 6), max_size=4)
GROUPS = st.dictionaries(
    st.text("xyz", min_size=1, max_size=3), st.lists(st.sampled_from(TOPICS), unique=True), min_size=1, max_size=5
)
STICKY = "sticky.sticky_assignor"


def cluster(counts: dict[str, int]) -> Any:
    """The cluster for assignors; topics that are not in it are unknown."""
    return SimpleNamespace(partitions_for_topic=lambda topic: set(range(counts[topic])) if topic in counts else None)


def theirs(package: str, module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{package}.coordinator.assignors.{module}"), name)


def plain(assignment: dict[str, Any]) -> dict[str, Any]:
    return {
        member: (each.version, [(topic, list(numbers)) for topic, numbers in each.assignment], each.user_data)
        for member, each in assignment.items()
    }


def kafka_members(subscription: Any, group: dict[str, list[str]], static: bool) -> list[Any]:
    return [
        SimpleNamespace(
            member_id=name, group_instance_id=f"static-{name[::-1]}" if static else None,
            metadata=subscription(0, topics, b""),
        )
        for name, topics in group.items()
    ]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(COUNTS, GROUPS, st.booleans(), st.booleans())
def test_ranges_and_turns(counts: dict[str, int], group: dict[str, list[str]], static: bool, alike: bool) -> None:
    if alike:
        group = dict.fromkeys(group, sorted(counts))
    for module, name in (("range", "RangePartitionAssignor"), ("roundrobin", "RoundRobinPartitionAssignor")):
        mine, other = getattr(aio, name), theirs("aiokafka", module, name)
        given_mine, given_other = (
            {member: kind(0, topics, b"") for member, topics in group.items()}
            for kind in (aio.ConsumerProtocolMemberMetadata, aio_protocol.ConsumerProtocolMemberMetadata)
        )
        assert plain(mine.assign(cluster(counts), given_mine)) == plain(other.assign(cluster(counts), given_other))
        if module == "roundrobin" and not alike:
            continue  # kafka-python's fails as soon as it passes a member over
        mine, other = getattr(ours, name), theirs("kafka", module, name)
        assert plain(
            mine.assign(cluster(counts), kafka_members(ours.ConsumerProtocolSubscription, group, static))
        ) == plain(other.assign(cluster(counts), kafka_members(protocol.ConsumerProtocolSubscription, group, static)))


def check(counts: dict[str, int], group: dict[str, list[str]], assignment: dict[str, Any]) -> None:
    """Every partition has one member that wants it, and nobody could take one from a member with two more."""
    wanted = {topic for topics in group.values() for topic in topics}
    dealt = sorted(each for member in assignment.values() for each in member.partitions())
    assert dealt == sorted((topic, number) for topic in wanted & set(counts) for number in range(counts[topic]))
    loads = {member: list(each.partitions()) for member, each in assignment.items()}
    for member, topics in group.items():
        assert {topic for topic, _ in loads[member]} <= set(topics)
        for other, held in loads.items():
            if len(held) >= len(loads[member]) + 2:
                assert not {topic for topic, _ in held} & set(topics), (member, other)


@settings(max_examples=100, deadline=None)
@given(COUNTS, GROUPS, st.lists(st.tuples(COUNTS, GROUPS), min_size=1, max_size=3))
def test_members_keep_what_they_have(
    counts: dict[str, int], group: dict[str, list[str]], changes: list[tuple[dict[str, int], dict[str, list[str]]]]
) -> None:
    """Over several rebalances: user data goes from one to the next, as a member's `metadata` makes it."""
    had: dict[str, Any] = {}
    for generation, (topics, members) in enumerate([(counts, group), *changes]):
        metadata = {
            name: aio.StickyPartitionAssignor._metadata(each, had.get(name), generation)
            for name, each in members.items()
        }
        found = aio.StickyPartitionAssignor.assign(cluster(topics), metadata)
        check(topics, members, found)
        assignor = ours.StickyPartitionAssignor()
        given_mine = [
            SimpleNamespace(member_id=name, metadata=assignor._metadata(each, had.get(name), generation))
            for name, each in members.items()
        ]
        same = assignor.assign(cluster(topics), given_mine)
        assert plain(same) == plain(found)
        # Nothing has changed: nobody's share may.
        again = aio.StickyPartitionAssignor.assign(
            cluster(topics),
            {
                name: aio.StickyPartitionAssignor._metadata(each, found[name].partitions(), generation + 1)
                for name, each in members.items()
            },
        )
        assert plain(again) == plain(found)
        assert aio.StickyPartitionAssignor._latest_partition_movements is not None
        assert aio.StickyPartitionAssignor._latest_partition_movements.are_sticky()
        had = {name: each.partitions() for name, each in found.items()}


OWNED = st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 9)), unique=True, max_size=8)


@settings(max_examples=100, deadline=None)
@given(OWNED, st.integers(-1, 99))
def test_user_data_have_the_bytes_of_aiokafkas(owned: list[tuple[str, int]], generation: int) -> None:
    decode = theirs("aiokafka", STICKY, "StickyPartitionAssignor").parse_member_metadata
    partitions = [TopicPartition(*each) for each in owned]
    mine = aio.StickyPartitionAssignor._metadata(["a"], partitions, generation)  # type: ignore[arg-type]
    read = decode(aio_protocol.ConsumerProtocolMemberMetadata(0, ["a"], mine.user_data))
    assert (sorted(read.partitions), read.generation) == (sorted(owned), generation)
    assert aio.StickyPartitionAssignor._owned(mine) == (read.partitions, generation)
    for damaged in (mine.user_data[:-1], b"\0\0\0\x01\xff\xff", b"\0\0\0\x01\0\x02\xff\xfe\0\0\0\0\0\0\0\0"):
        broken = aio.ConsumerProtocolMemberMetadata(0, ["a"], damaged)
        assert aio.StickyPartitionAssignor._owned(broken) == ([], -1)


def test_partitions_move_in_two_steps() -> None:
    """KIP-429: what another member has is given only after it gave it up."""
    assignor = ours.CooperativeStickyAssignor()
    owner = ours.ConsumerProtocolSubscription(1, ["a"], b"", [("a", [0, 1, 2, 3])])
    late = ours.ConsumerProtocolSubscription(1, ["a"], b"")
    members = [SimpleNamespace(member_id=name, metadata=each) for name, each in (("x", owner), ("y", late))]
    first = assignor.assign(cluster({"a": 4}), members)
    assert {name: len(each.partitions()) for name, each in first.items()} == {"x": 2, "y": 0}
    owner.owned_partitions = [("a", [number for _, number in first["x"].partitions()])]  # type: ignore[list-item]
    second = assignor.assign(cluster({"a": 4}), members)
    assert second["x"].partitions() == first["x"].partitions()
    assert len(second["y"].partitions()) == 2
    assert assignor.supported_protocols() == [ours.RebalanceProtocol.COOPERATIVE]
    assert ours.RangePartitionAssignor().supported_protocols() == [ours.RebalanceProtocol.EAGER]


def test_assignors_have_the_metadata_and_state_of_kafka_python() -> None:
    def story(here: Any, values: Any) -> list[Any]:
        seen: list[Any] = []
        for name in ("RangePartitionAssignor", "RoundRobinPartitionAssignor"):
            said = here(name).metadata(["b", "a"])
            seen += [said.version, said.topics, said.user_data, here(name).name, here(name).version]
        for name in ("StickyPartitionAssignor", "CooperativeStickyAssignor"):
            assignor = here(name)()
            for _ in range(2):
                said = assignor.metadata(["a"])
                data = said.user_data
                seen += [said.version, said.topics, list(map(tuple, getattr(data, "previous_assignment", ())))]
                seen += [(each.topic, each.partitions) for each in said.owned_partitions]
                seen += [said.generation_id, assignor.generation, assignor.member_assignment]
                assignor.on_assignment(values.ConsumerProtocolAssignment(0, [("a", [2, 1])], b""), 7)
        share = values.ConsumerProtocolAssignment(1, [("a", [0, 1])], b"x")
        seen += [share.partitions(), share.assignment, share.user_data, share.version]
        seen += [share == values.ConsumerProtocolAssignment(1, [("a", [0, 1])], b"x"), share == "a"]
        wanted = values.ConsumerProtocolSubscription(0, ["a"], b"u")
        static = values.Subscription(wanted, "me")
        seen += [static.topics, static.subscription, static.version, static.user_data, static.group_instance_id]
        seen += [static == values.Subscription(wanted, "me"), static == values.Subscription(wanted, None)]
        seen.append(wanted == values.ConsumerProtocolSubscription(0, ["b"], b"u"))
        try:
            values.ConsumerProtocolAssignment(nope=1)
        except ValueError as error:
            seen.append(type(error).__name__)
        return seen

    homes = {
        "RangePartitionAssignor": "range", "RoundRobinPartitionAssignor": "roundrobin",
        "StickyPartitionAssignor": STICKY, "CooperativeStickyAssignor": "cooperative_sticky",
    }  # fmt: skip
    peers = SimpleNamespace(**vars(protocol), Subscription=kafka.coordinator.subscription.Subscription)
    assert story(lambda name: getattr(ours, name), ours) == story(
        lambda name: theirs("kafka", homes[name], name), peers
    )
    try:
        share = aio.ConsumerProtocolMemberAssignment(0, [("a", [1])], b"")
        aio.StickyPartitionAssignor.on_assignment(share)
        aio.StickyPartitionAssignor.on_generation_assignment(5)
        assert aio.StickyPartitionAssignor._owned(aio.StickyPartitionAssignor.metadata(["a"])) == ([("a", 1)], 5)
    finally:
        aio.StickyPartitionAssignor.member_assignment, aio.StickyPartitionAssignor.generation = None, -1


def test_a_topic_that_nobody_knows_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    members = {"x": aio.ConsumerProtocolMemberMetadata(0, ["a", "none"], b"")}
    found = aio.RangePartitionAssignor.assign(cluster({"a": 1}), members)
    assert found["x"].assignment == [("a", [0])]
    assert "no partitions of none are known" in caplog.text
    gaps = SimpleNamespace(partitions_for_topic=lambda topic: {3, 7})
    assert aio.RangePartitionAssignor.assign(gaps, members)["x"].partitions() == [
        ("a", 3),
        ("a", 7),
        ("none", 3),
        ("none", 7),
    ]
