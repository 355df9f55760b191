"""Share groups call by call: the embedded broker and Kafka 4 give the same answers, to range and sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from kafka_core import Producer
from kafka_core.broker.configs import GROUP_CONFIGS
from kafka_core.protocol import ZERO_UUID, ApiKey
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from kafka_core.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kafka_core.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka_core.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka_core.protocol.messages.list_groups import ListGroupsRequest
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_core.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from tests.contract.clusters import LIMIT_S, Cluster, fill, unique, wait_for
from tests.contract.share_wire import GROUP_RESOURCE, Ranges, Wire, WireMember, new_id

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
NOT_HOSTED = "This server does not host this topic-partition."


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with Wire(cluster) as made:
        made.settle("anybody")
        yield made


def new_group(wire: Wire, **properties: str) -> str:
    """A name for a group that begins with the first record."""
    group = unique("share")
    wire.settle(group)
    assert wire.configure(group, share_auto_offset_reset="earliest", **properties).error_code == 0
    return group


def joined(cluster: Cluster, wire: Wire, *batches: int, partitions: int = 1, **properties: str) -> WireMember:
    """The one member of a new group, and a topic whose partition 0 has batches of so many records."""
    topic = cluster.topic(partitions)
    write(cluster, topic, *batches)
    member = WireMember(wire, new_group(wire, **properties), topic, wire.topic_id(topic))
    member.join(partitions)
    return member


def write(cluster: Cluster, topic: str, *batches: int) -> None:
    for size in batches:
        fill(cluster, topic, [b"value"] * size)


def beside(member: WireMember) -> WireMember:
    """Another member with a session of its own on the same connection. Brokers that lead do not ask who has joined."""
    return WireMember(member.wire, member.group, member.topic, member.topic_id)


# ---- members -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "member", "epoch", "topics", "rack", "text"),
    [
        ("", "m", 0, ["t"], None, "GroupId can't be empty."),
        ("g", "", 0, ["t"], None, None),
        ("g", "m", 0, None, None, "SubscribedTopicNames must be set in first request."),
        ("g", "m", 0, [], None, "SubscribedTopicNames must be set in first request."),
        ("g", "m", 0, ["t"], "", "RackId can't be empty."),
        ("g", "m", -2, None, None, "MemberEpoch is invalid."),
    ],
)
def test_heartbeats_that_say_too_little(
    wire: Wire, group: str, member: str, epoch: int, topics: list[str] | None, rack: str | None, text: str | None
) -> None:
    answer = wire.heartbeat(group, member, epoch, topics, rack)
    assert (answer.error_code, answer.error_message) == (42, text)


def test_a_member_from_its_first_heartbeat_to_its_last(cluster: Cluster, wire: Wire) -> None:
    topic, group, one, two = cluster.topic(2), new_group(wire), new_id(), new_id()
    first = wire.heartbeat(group, one, 0, [topic])
    assert (first.error_code, first.member_id, first.member_epoch) == (0, one, 2)
    member = WireMember(wire, group, topic, wire.topic_id(topic))
    member.member_id, member.member_epoch = one, first.member_epoch
    member.join(2)
    epoch = member.member_epoch
    same = wire.heartbeat(group, one, epoch)
    assert (same.member_epoch, same.assignment) == (epoch, None)
    high = wire.heartbeat(group, one, epoch + 7)
    assert high.error_code == 110
    assert high.error_message == (
        f"The share group member has a greater member epoch ({epoch + 7}) than the one known by the group coordinator "
        f"({epoch}). The member must abandon all its partitions and rejoin."
    )
    second = WireMember(wire, group, topic, member.topic_id)
    second.member_id = two
    second.join(1)
    assert second.member_epoch > epoch
    member.join(1)
    low = wire.heartbeat(group, one, 1)
    assert low.error_code == 110
    assert "has a smaller member epoch (1) than the one known" in low.error_message
    assert f"and it does not match the previous member epoch ({epoch})." in low.error_message
    stranger = new_id()
    for named in (wire.heartbeat(group, stranger, 4), wire.heartbeat(group, stranger, -1)):
        text = f"Member {stranger} is not a member of group {group}."
        assert (named.error_code, named.error_message) == (25, text)
    (described,) = wire.ask(ShareGroupDescribeRequest([group], True)).groups
    assert (described.group_state, described.assignor_name, described.authorized_operations) == (
        *("Stable", "simple"),
        3400,
    )
    parts = {item.member_id: item.assignment.topic_partitions[0].partitions for item in described.members}
    assert sorted(parts) == sorted([one, two])
    assert sorted(number for numbers in parts.values() for number in numbers) == [0, 1]
    assert {(tuple(item.subscribed_topic_names), item.client_id, item.rack_id) for item in described.members} == {
        ((topic,), "wire", None)
    }
    assert wire.ask(DeleteGroupsRequest([group])).results[0].error_code == 68
    left = wire.heartbeat(group, two, -1)
    assert (left.error_code, left.member_id, left.member_epoch, left.assignment) == (0, two, -1, None)
    member.join(2)
    wire.heartbeat(group, one, -1)
    (described,) = wire.ask(ShareGroupDescribeRequest([group])).groups
    assert (described.group_state, described.members) == ("Empty", [])
    assert described.group_epoch == described.assignment_epoch + 1
    assert wire.ask(DeleteGroupsRequest([group])).results[0].error_code == 0
    assert wire.ask(DeleteGroupsRequest([group])).results[0].error_code == 69
    for epoch, text in ((3, f"Share group {group} not found."), (-1, f"Group {group} not found.")):
        gone = wire.heartbeat(group, one, epoch)
        assert (gone.error_code, gone.error_message) == (69, text)
    (described,) = wire.ask(ShareGroupDescribeRequest([group])).groups
    assert (described.error_code, described.error_message) == (69, f"Group {group} not found.")


def test_names_belong_to_one_kind_of_group(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire)
    group, topic = member.group, member.topic
    consumer = ConsumerGroupHeartbeatRequest(group, new_id(), 0, None, None, 30_000, [topic], None, None, [])
    answer = wire.ask(consumer)
    text = f"Group {group} is not a consumer group."
    assert (answer.error_code, answer.error_message) == (69, text)
    (described,) = wire.ask(ConsumerGroupDescribeRequest([group])).groups
    assert (described.error_code, described.error_message) == (69, text)
    protocols = [JoinGroupRequestProtocol("range", bytes(10))]
    assert wire.ask(JoinGroupRequest(group, 10_000, 10_000, "", None, "consumer", protocols)).error_code == 23
    committed = [OffsetCommitRequestTopic(topic, member.topic_id, [OffsetCommitRequestPartition(0, 1)])]
    commit = wire.ask(OffsetCommitRequest(group, -1, "", None, -1, committed))
    assert commit.topics[0].partitions[0].error_code == 69
    (classic,) = wire.ask(DescribeGroupsRequest([group])).groups
    expected = (69, f"Group {group} is not a classic group.", "Dead")
    assert (classic.error_code, classic.error_message, classic.group_state) == expected
    other = unique("consumer")
    wire.settle(other)
    other_member = new_id()
    joining = ConsumerGroupHeartbeatRequest(other, other_member, 0, None, None, 30_000, [topic], None, None, [])
    assert wire.ask(joining).error_code == 0
    for epoch in (0, 1, -1):
        refused = wire.heartbeat(other, new_id(), epoch, [topic])
        assert (refused.error_code, refused.error_message) == (69, f"Group {other} is not a share group.")
    (described_share,) = wire.ask(ShareGroupDescribeRequest([other])).groups
    assert (described_share.error_code, described_share.error_message) == (
        69,
        f"Group {other} is not a share group.",
    )
    wire.ask(ConsumerGroupHeartbeatRequest(other, other_member, -1))


def test_groups_are_listed_with_their_type(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire)

    def listed(states: list[str], types: list[str], version: int | None = None) -> list[tuple[str, str, str]]:
        found = wire.ask(ListGroupsRequest(states, types), version).groups
        named = [item for item in found if item.group_id == member.group]
        return [(item.protocol_type, item.group_state, item.group_type) for item in named]

    assert listed([], []) == listed(["STABLE"], ["Share"]) == [("share", "Stable", "share")]
    assert listed(["Empty"], ["share"]) == listed([], ["consumer", "classic"]) == []
    assert listed([], [], 4) == [("share", "Stable", "")]


# ---- acquiring -----------------------------------------------------------------------------------------------------


def test_whole_batches_and_strict_limits(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 10, 10, 25)
    assert member.acquire({0: []}, max_records=4, mode=1, batch_size=2) == [(0, 3, 1)]
    assert member.acquire(max_records=4, mode=1, batch_size=3) == [(4, 7, 1)]
    assert member.acquire(max_records=4, batch_size=4) == [(8, 9, 1), (10, 19, 1)]
    assert member.acquire(max_records=0) == []
    assert member.acquire(max_records=15, mode=1, batch_size=4) == [(20, 34, 1)]
    assert member.acknowledge((0, 34, [RELEASE])) == (0, None)
    assert member.acquire(max_records=100) == [(0, 9, 2), (10, 19, 2), (20, 34, 2), (35, 44, 1)]
    assert member.acquire(wait_ms=10) == []


def test_ranges_end_where_batches_were_taken_together(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, *[3] * 6)
    other = beside(member)
    assert member.acquire({0: []}, batch_size=5, max_records=14) == [(0, 5, 1), (6, 11, 1), (12, 14, 1)]
    assert member.acquire() == [(15, 17, 1)]
    assert member.acknowledge((1, 1, [ACCEPT]), (2, 2, [RELEASE]), (7, 10, [RELEASE])) == (0, None)
    answer = other.fetch({0: []})
    (part,) = answer.responses[0].partitions
    assert [(a.first_offset, a.last_offset, a.delivery_count) for a in part.acquired_records] == [
        *((2, 2, 2), (7, 10, 2)),
    ]
    assert len(bytes(part.records)) % 4 == 0  # the four batches that the first and the last of them lie in
    assert answer.acquisition_lock_timeout_ms == 30_000


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (2, [(0, 10, 1), (0, 10, 2)]),
        (3, [(0, 10, 1), (0, 10, 2), (0, 0, 3), (1, 1, 3)]),
        (5, [(0, 10, 1), (0, 10, 2), (0, 10, 3), (0, 4, 4), (0, 0, 5), (1, 1, 5)]),
    ],
)
def test_what_comes_back_too_often_is_given_out_bit_by_bit(
    cluster: Cluster, wire: Wire, limit: int, expected: Ranges
) -> None:
    member = joined(cluster, wire, 7, 4, share_delivery_count_limit=str(limit))
    for number, wanted in enumerate(expected):
        assert member.acquire({} if number else {0: []}) == [wanted]
        assert member.acknowledge((wanted[0], wanted[1], [RELEASE])) == (0, None)


def test_aborted_records_are_seen_by_those_who_read_everything(cluster: Cluster, wire: Wire) -> None:
    topic = cluster.topic()
    with Producer({"bootstrap.servers": cluster.servers, "transactional.id": unique("tx")}) as writer:
        writer.init_transactions(LIMIT_S)
        for commits in (False, True):
            writer.begin_transaction()
            for _ in range(3):
                writer.produce(topic, b"v")
            writer.flush(LIMIT_S)
            if commits:
                writer.commit_transaction(LIMIT_S)
            else:
                writer.abort_transaction(LIMIT_S)
    write(cluster, topic, 2)
    everything, committed = new_group(wire), new_group(wire, share_isolation_level="read_committed")
    found: dict[str, set[int]] = {}
    for group in (everything, committed):
        member = WireMember(wire, group, topic, wire.topic_id(topic))
        member.join(1)
        offsets: set[int] = set()

        def look(member: WireMember = member, offsets: set[int] = offsets) -> bool:
            for first, last, _ in member.acquire({0: []} if member.epoch == 0 else {}):
                offsets.update(range(first, last + 1))
            return 9 in offsets

        wait_for(look, "the last record")
        found[group] = offsets
    assert found[everything] == set(range(10))  # markers too: clients say that there is no record
    assert found[committed] == {3, 4, 5, 6, 7, 8, 9}


# ---- acknowledging -------------------------------------------------------------------------------------------------


def test_what_acknowledgements_are_answered(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 10, 10, partitions=2)
    other = beside(member)
    assert member.acquire({0: []}) == [(0, 19, 1)]
    assert other.acquire({0: []}, wait_ms=10) == []
    past = "Batch record not found. The first offset in request is past acquired records."
    not_acquired = "The offset cannot be acknowledged. The offset is not acquired."
    assert member.acknowledge((0, 4, [ACCEPT])) == (0, None)
    assert member.acknowledge((4, 4, [ACCEPT])) == (0, None)  # before the start by now
    assert member.acknowledge((6, 9, [RELEASE, RELEASE, REJECT, 0])) == (0, None)
    assert member.acknowledge((5, 6, [ACCEPT])) == (121, not_acquired)
    assert member.acknowledge((50, 51, [ACCEPT])) == (42, past)
    for malformed in ((10, 10, [9]), (10, 10, [ACCEPT, ACCEPT]), (10, 9, [ACCEPT]), (10, 10, [RENEW])):
        assert member.acknowledge(malformed) == (42, None)
    assert member.acknowledge((10, 12, [ACCEPT]), (11, 12, [ACCEPT])) == (42, None)
    assert member.acknowledge((10, 11, [ACCEPT]), (11, 12, [ACCEPT])) == (121, not_acquired)
    assert member.acknowledge((0, 0, [ACCEPT]), partition=1) == (3, NOT_HOSTED)
    assert member.acknowledge((0, 0, [ACCEPT]), partition=7) == (3, None)
    assert member.acknowledge((0, 0, [ACCEPT]), topic_id=uuid4()) == (100, None)
    assert other.acknowledge((10, 11, [ACCEPT])) == (121, "Member is not the owner of offset")
    assert member.acknowledge_all({0: []}).responses == member.acknowledge_all({}).responses == []
    assert offsets(wire, member) == [(0, 5, 13), (1, -1, -1)]
    assert other.acquire() == [(6, 7, 2)]


def test_renewal_is_said_and_may_be_forbidden(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 4)
    quiet = {"wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    member.acquire({0: []})
    assert member.acknowledge((0, 0, [RENEW]), renew=True) == (0, None)
    assert member.acknowledge((0, 0, [RENEW]), (1, 1, [ACCEPT]), renew=True) == (0, None)
    assert member.acquire({0: [(2, 2, [RENEW])]}, renew=True, **quiet) == []
    assert member.fetch({0: [(2, 2, [RENEW])]}, renew=True).error_code == 42
    assert member.acknowledge((0, 3, [ACCEPT, ACCEPT, ACCEPT, ACCEPT])) == (
        121,
        "The offset cannot be acknowledged. The offset is not acquired.",
    )
    assert member.acknowledge((0, 0, [ACCEPT]), (2, 3, [ACCEPT])) == (0, None)
    strict = joined(cluster, wire, 4, share_renew_acknowledge_enable="false")
    strict.acquire({0: []})
    text = "Renewing acquisition locks is not enabled for the group."
    assert strict.acknowledge((0, 0, [RENEW]), renew=True) == (121, text)
    answer = strict.fetch({0: [(0, 0, [RENEW])]}, renew=True, **quiet)
    (part,) = answer.responses[0].partitions
    assert (part.acknowledge_error_code, part.acknowledge_error_message) == (121, text)


# ---- sessions ------------------------------------------------------------------------------------------------------


def test_epochs_of_a_session(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 4)
    assert member.fetch({0: []}, epoch=5).error_code == 122
    assert member.fetch(epoch=-1).error_code == 122
    assert member.fetch({0: [(0, 1, [ACCEPT])]}, epoch=0).error_code == 42
    assert member.acquire({0: []}) == [(0, 3, 1)]
    assert member.fetch(epoch=9).error_code == 123
    assert member.acknowledge_all({0: [(0, 0, [ACCEPT])]}, epoch=0).error_code == 123
    assert member.acknowledge((0, 0, [ACCEPT])) == (0, None)
    assert member.acknowledge_all({0: [(1, 1, [ACCEPT])]}, epoch=1).error_code == 123
    assert member.fetch(epoch=0, wait_ms=0).responses == []
    (topic,) = member.fetch({0: []}, epoch=0, wait_ms=0).responses
    assert topic.partitions[0].acquired_records == []
    member.epoch = 1
    assert member.acknowledge((1, 1, [ACCEPT])) == (0, None)
    assert member.acknowledge((2, 2, [ACCEPT]), epoch=-1) == (0, None)
    assert member.fetch(epoch=-1).error_code == 122
    other = beside(member)
    assert other.acquire({0: []}) == [(3, 3, 2)]


def test_an_answer_names_what_is_new_or_acknowledged(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 4, partitions=2)

    def named(answer: Any) -> list[tuple[int, int, int]]:
        assert answer.error_code == 0
        found = [part for topic in answer.responses for part in topic.partitions]
        return sorted((p.partition_index, p.acknowledge_error_code, len(p.acquired_records)) for p in found)

    found = wait_for(lambda: named(beside(member).fetch({1: []}, wait_ms=10)), "the broker has loaded the partition")
    assert found == [(1, 0, 0)]
    assert named(member.fetch({0: [], 1: []}, wait_ms=30_000)) == [(0, 0, 1), (1, 0, 0)]  # until there is a record
    assert named(member.fetch(wait_ms=10)) == []
    assert named(member.fetch({0: [(0, 0, [ACCEPT])]}, wait_ms=10)) == [(0, 0, 0)]
    assert named(member.fetch({0: [(1, 1, [9])]}, wait_ms=10)) == [(0, 42, 0)]
    assert named(member.fetch({0: [(1, 1, [ACCEPT])]}, epoch=-1)) == [(0, 0, 0)]


def test_a_connection_that_breaks_gives_back_what_was_acquired(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 10)
    with Wire(cluster) as broken:
        lost = WireMember(broken, member.group, member.topic, member.topic_id)
        assert lost.acquire({0: []}, max_records=3, mode=1) == [(0, 2, 1)]
    found: Ranges = []

    def look() -> bool:
        found.extend(member.acquire({0: []} if member.epoch == 0 else {}, wait_ms=100, max_records=3, mode=1))
        return (0, 2, 2) in found

    wait_for(look, "what the broken connection had")
    again = WireMember(wire, member.group, member.topic, member.topic_id)
    again.member_id = lost.member_id
    assert again.fetch(epoch=1).error_code == 122


# ---- administration ------------------------------------------------------------------------------------------------


def offsets(wire: Wire, member: WireMember, topics: dict[str, list[int]] | None = None) -> list[tuple[int, int, int]]:
    """(partition, start offset, lag) of the member's group."""
    named = None if topics is None else [DescribeShareGroupOffsetsRequestTopic(*item) for item in topics.items()]
    (group,) = wire.ask(
        DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup(member.group, named)])
    ).groups
    assert group.error_code == 0
    return sorted((part.partition_index, part.start_offset, part.lag) for t in group.topics for part in t.partitions)


def test_start_offsets_are_told_one_change_late(cluster: Cluster, wire: Wire) -> None:
    """A change is written with the start offset of before it; the lag is that of after it."""
    member = joined(cluster, wire, 10)
    assert member.acquire({0: []}, max_records=6, mode=1) == [(0, 5, 1)]
    assert member.acknowledge((0, 3, [ACCEPT])) == (0, None)
    assert offsets(wire, member) == [(0, 0, 6)]
    assert member.acknowledge((4, 4, [REJECT])) == (0, None)
    assert offsets(wire, member) == [(0, 4, 5)]
    assert member.acknowledge((5, 5, [RELEASE])) == (0, None)
    assert offsets(wire, member) == [(0, 5, 5)]


def alter(wire: Wire, group: str, topics: dict[str, dict[int, int]]) -> Any:
    items = [
        AlterShareGroupOffsetsRequestTopic(
            name, [AlterShareGroupOffsetsRequestPartition(*part) for part in parts.items()]
        )
        for name, parts in topics.items()
    ]
    return wire.ask(AlterShareGroupOffsetsRequest(group, items))


def forget(wire: Wire, group: str, *topics: str) -> Any:
    items = [DeleteShareGroupOffsetsRequestTopic(name) for name in topics]
    return wire.ask(DeleteShareGroupOffsetsRequest(group, items))


def test_positions_are_moved_and_forgotten(cluster: Cluster, wire: Wire) -> None:
    member = joined(cluster, wire, 10, partitions=2)
    group, topic = member.group, member.topic
    assert offsets(wire, member) == [(0, -1, -1), (1, -1, -1)]
    member.acquire({0: []}, max_records=4, mode=1)
    for refused in (alter(wire, group, {topic: {0: 5}}), forget(wire, group, topic)):
        assert (refused.error_code, refused.error_message) == (68, "The group is not empty.")
    member.fetch(epoch=-1)
    wire.heartbeat(group, member.member_id, -1)
    moved = alter(wire, group, {topic: {0: 5, 9: 1}, "zzz": {0: 1}})
    assert (moved.error_code, moved.error_message) == (0, None)
    assert {
        (item.topic_name, item.topic_id, part.partition_index, part.error_code, part.error_message)
        for item in moved.responses
        for part in item.partitions
    } == {
        (topic, member.topic_id, 0, 0, None),
        (topic, member.topic_id, 9, 3, NOT_HOSTED),
        ("zzz", ZERO_UUID, 0, 3, NOT_HOSTED),
    }
    assert offsets(wire, member) == [(0, 5, 5), (1, -1, -1)]
    assert offsets(wire, member, {topic: [0], "zzz": [0]}) == [(0, -1, -1), (0, 5, 5)]
    gone = forget(wire, group, topic, "zzz")
    assert {(item.topic_name, item.topic_id, item.error_code, item.error_message) for item in gone.responses} == {
        (topic, member.topic_id, 0, None),
        ("zzz", ZERO_UUID, 3, NOT_HOSTED),
    }
    assert offsets(wire, member) == []
    (again,) = forget(wire, group, topic).responses
    text = "There is no offset information to delete."
    assert (again.topic_id, again.error_code, again.error_message) == (ZERO_UUID, 3, text)
    assert alter(wire, group, {topic: {1: 0}}).error_code == 0
    assert offsets(wire, member) == [(1, 0, 0)]
    for nameless in (alter(wire, "", {topic: {0: 1}}), forget(wire, "", topic)):
        assert (nameless.error_code, nameless.error_message) == (24, "The group id is invalid.")
    made = unique("share")
    wire.settle(made)
    assert alter(wire, made, {topic: {0: 3}}).error_code == 0
    assert wire.ask(DeleteGroupsRequest([made])).results[0].error_code == 0


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("nope", "1", "Unknown group config name: nope"),
        (
            "share.record.lock.duration.ms",
            "10",
            "Invalid value 10 for configuration share.record.lock.duration.ms: Value must be at least 1000",
        ),
        (
            "share.record.lock.duration.ms",
            "100000",
            "share.record.lock.duration.ms must be less than or equal to group.share.max.record.lock.duration.ms",
        ),
        (
            "share.record.lock.duration.ms",
            "x",
            "Invalid value x for configuration share.record.lock.duration.ms: Not a number of type INT",
        ),
        (
            "share.isolation.level",
            "x",
            "Invalid value x for configuration share.isolation.level: String must be one of: read_committed, "
            "read_uncommitted",
        ),
        (
            "share.delivery.count.limit",
            "1",
            "Invalid value 1 for configuration share.delivery.count.limit: Value must be at least 2",
        ),
        (
            "share.delivery.count.limit",
            "11",
            "share.delivery.count.limit must be less than or equal to group.share.max.delivery.count.limit",
        ),
        (
            "share.session.timeout.ms",
            "70000",
            "share.session.timeout.ms must be less than or equal to group.share.max.session.timeout.ms",
        ),
        (
            "share.auto.offset.reset",
            "by_duration:-PT1H",
            "Invalid value by_duration:-PT1H for configuration share.auto.offset.reset: Invalid value "
            "`by_duration:-PT1H` for configuration share.auto.offset.reset. The value must be either 'earliest', "
            "'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
        ),
        ("share.auto.offset.reset", "by_duration:P1DT2H3M4.5S", None),
        ("share.partition.max.record.locks", "150", None),
        (
            "consumer.session.timeout.ms",
            "10",
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            "consumer.heartbeat.interval.ms",
            "99999",
            "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms",
        ),
        (
            "consumer.assignment.interval.ms",
            "15001",
            "consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms",
        ),
        (
            "share.assignment.interval.ms",
            "-1",
            "Invalid value -1 for configuration share.assignment.interval.ms: Value must be at least 0",
        ),
        (
            "streams.assignment.interval.ms",
            "15001",
            "streams.assignment.interval.ms must be less than or equal to group.streams.max.assignment.interval.ms",
        ),
        (
            "streams.session.timeout.ms",
            "10",
            "streams.session.timeout.ms must be greater than or equal to group.streams.min.session.timeout.ms",
        ),
        (
            "streams.heartbeat.interval.ms",
            "15001",
            "streams.heartbeat.interval.ms must be less than or equal to group.streams.max.heartbeat.interval.ms",
        ),
        (
            "streams.num.standby.replicas",
            "3",
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
        (
            "streams.num.standby.replicas",
            "-1",
            "Invalid value -1 for configuration streams.num.standby.replicas: Value must be at least 0",
        ),
        ("streams.num.standby.replicas", "2", None),
        ("streams.initial.rebalance.delay.ms", "9999999", None),
        ("streams.session.timeout.ms", "60000", None),
        ("consumer.assignment.interval.ms", "0", None),
        ("share.assignment.interval.ms", "15000", None),
        ("consumer.session.timeout.ms", "6000", None),
        ("consumer.heartbeat.interval.ms", "300", None),
    ],
)
def test_properties_of_a_group(wire: Wire, name: str, value: str, text: str | None) -> None:
    group = unique("share")
    answer = wire.configure(group, **{name: value})
    assert (answer.error_code, answer.error_message) == (40 if text else 0, text)

    def told() -> str | None:
        resource = DescribeConfigsResource(GROUP_RESOURCE, group, [name])
        found = wire.ask(DescribeConfigsRequest([resource], True)).results[0].configs
        of_the_group = 8
        return found[0].value if found and found[0].config_source == of_the_group else None

    if text is None:
        assert wait_for(told, "the property is told") == value
    else:
        assert told() is None


def test_a_session_of_a_group_is_longer_than_its_heartbeats_are_apart(wire: Wire) -> None:
    both = {"consumer.heartbeat.interval.ms": "7000", "consumer.session.timeout.ms": "6000"}
    answer = wire.configure(unique("share"), **both)
    text = "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms"
    assert (answer.error_code, answer.error_message) == (40, text)


def test_properties_of_a_group_that_has_none_of_its_own(wire: Wire) -> None:
    """They are the broker's; streams groups have theirs, too, although the embedded broker has no such groups."""
    asked = DescribeConfigsRequest([DescribeConfigsResource(GROUP_RESOURCE, unique("share"), None)], True)
    (found,) = wire.ask(asked).results
    told = {item.name: item for item in found.configs}
    assert sorted(told) == sorted(GROUP_CONFIGS)
    numbers = {name: (item.value, item.config_type) for name, item in told.items()}
    assert {name: told for name, told in numbers.items() if ".assignment." in name or name.startswith("streams.")} == {
        "consumer.assignment.interval.ms": ("0", 3),
        "share.assignment.interval.ms": ("0", 3),
        "streams.assignment.interval.ms": ("1000", 3),
        "streams.heartbeat.interval.ms": ("5000", 3),
        "streams.initial.rebalance.delay.ms": ("3000", 3),
        "streams.num.standby.replicas": ("0", 3),
        "streams.session.timeout.ms": ("45000", 3),
    }
    sources = {name: {(entry.name, entry.value) for entry in item.synonyms} for name, item in told.items()}
    assert ("group.streams.session.timeout.ms", "45000") in sources["streams.session.timeout.ms"]


def test_properties_of_a_group_without_a_name(wire: Wire) -> None:
    answer = wire.configure("", share_isolation_level="read_committed")
    assert (answer.error_code, answer.error_message) == (42, "Default group resources are not allowed.")
    asked = DescribeConfigsRequest([DescribeConfigsResource(GROUP_RESOURCE, "", None)])
    (found,) = wire.ask(asked).results
    assert (found.error_code, found.error_message) == (42, "Group name must not be empty")


def test_coordinators_of_partitions_of_share_groups(wire: Wire) -> None:
    key = f"group:{new_id()}:0"

    def look() -> bool:
        (found,) = wire.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[key])).coordinators
        return found.error_code == 0 and found.port > 0

    wait_for(look, "the partition has its coordinator")
    for bad, version in ((key, 5), ("bad", 6), ("group:x:0", 6)):
        (found,) = wire.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[bad]), version).coordinators
        assert (found.error_code, found.node_id, found.error_message) == (42, -1, "")


def test_api_versions_announce_the_share_apis(wire: Wire) -> None:
    answer = wire.ask(ApiVersionsRequest("tests", "1"))
    keys = {
        ApiKey.SHARE_GROUP_HEARTBEAT: (1, 1),
        ApiKey.SHARE_GROUP_DESCRIBE: (1, 1),
        ApiKey.SHARE_FETCH: (1, 2),
        ApiKey.SHARE_ACKNOWLEDGE: (1, 2),
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (0, 1),
        ApiKey.ALTER_SHARE_GROUP_OFFSETS: (0, 0),
        ApiKey.DELETE_SHARE_GROUP_OFFSETS: (0, 0),
    }
    announced = {item.api_key: (item.min_version, item.max_version) for item in answer.api_keys}
    assert {key: announced.get(key) for key in keys} == keys
    features = {item.name: (item.min_version, item.max_version) for item in answer.supported_features}
    assert features["share.version"] == (0, 1)
    assert {item.name: item.max_version_level for item in answer.finalized_features}["share.version"] == 1
