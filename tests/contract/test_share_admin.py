"""Administration of share groups (KIP-932) with both faces of the administration client."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    TopicPartition,
    UnsupportedVersionError,
)
from kafka_core import KafkaError as E
from kafka_core.admin import AclOperation, SharePartitionOffsetInfo
from tests.contract.admins import Face
from tests.contract.clusters import LIMIT_S, Cluster, fill, unique
from tests.contract.groups import numbers
from tests.contract.share_groups import Member, counts, share_conf, share_group, take

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]
SHARE = {ConsumerGroupType.SHARE}


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["blocking", "asyncio"])
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Admin(Face):
    """With what only share groups have."""

    def offsets(self, group: str, *partitions: TopicPartition) -> dict[TopicPartition, SharePartitionOffsetInfo]:
        wanted = ConsumerGroupTopicPartitions(group, list(partitions) or None)
        found: dict[TopicPartition, SharePartitionOffsetInfo] = self.one("list_share_group_offsets", [wanted])
        return found


@pytest.fixture
def admin(cluster: Cluster, face: str) -> Admin:
    return Admin(cluster, face)


def at(group: str, topic: str, /, **offsets: int) -> list[ConsumerGroupTopicPartitions]:
    """`at(group, topic, p0=5)`: partition 0 at offset 5."""
    partitions = [TopicPartition(topic, int(name[1:]), offset) for name, offset in offsets.items()]
    return [ConsumerGroupTopicPartitions(group, partitions)]


def member(cluster: Cluster, group: str, topic: str) -> Member:
    made = Member("blocking", share_conf(cluster, group, client_id="one of us"))
    made.subscribe(topic)
    return made


def test_a_share_group_is_listed_described_and_deleted(cluster: Cluster, admin: Admin) -> None:
    topic, group = cluster.topic(2), share_group(cluster)

    def described(**more: Any) -> Any:
        return admin.one("describe_share_groups", [group], **more)

    def listed(**filters: Any) -> dict[str, Any]:
        return {item.group_id: item for item in admin.ask("list_consumer_groups", **filters).valid}

    with member(cluster, group, topic) as reader:
        fill(cluster, topic, [b"1"])
        take(reader, 1)
        found = described(include_authorized_operations=True)
        assert (found.group_id, found.state, found.partition_assignor) == (group, ConsumerGroupState.STABLE, "simple")
        assert found.group_epoch == found.target_assignment_epoch > 0
        assert set(found.authorized_operations) == {
            AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE,
            AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS,
        }  # fmt: skip
        assert found.coordinator.host
        (one,) = found.members
        assert (one.client_id, one.subscribed_topics, one.rack_id) == ("one of us", [topic], None)
        assert one.host.startswith("/")
        assert one.member_epoch == found.group_epoch
        assert sorted(one.assignment.topic_partitions) == [TopicPartition(topic, 0), TopicPartition(topic, 1)]
        item = listed(types=SHARE)[group]
        assert (item.type, item.state) == (ConsumerGroupType.SHARE, ConsumerGroupState.STABLE)
        assert not item.is_simple_consumer_group
        assert group not in listed()
        assert group not in listed(types=SHARE, states={ConsumerGroupState.EMPTY})
        assert admin.refused("delete_share_groups", [group])[0] == E.NON_EMPTY_GROUP
    assert (described().state, described().members, described().authorized_operations) == (
        *(ConsumerGroupState.EMPTY, []),
        None,
    )
    missing = unique("missing")
    outcomes = admin.ask("delete_share_groups", [missing, group])
    assert list(outcomes) == [missing, group]
    assert outcomes[group].error is None
    assert outcomes[missing].error.error.code() == E.GROUP_ID_NOT_FOUND
    assert group not in listed(types=SHARE)
    text = f"Group {group} not found."
    assert admin.refused("describe_share_groups", [group]) == (E.GROUP_ID_NOT_FOUND, text)
    assert admin.refused("delete_share_groups", [group]) == (E.GROUP_ID_NOT_FOUND, text)


def test_a_group_of_another_kind_is_not_deleted_as_a_share_group(cluster: Cluster, admin: Admin) -> None:
    topic, group = cluster.topic(), unique("group")
    cluster.admin.alter_consumer_group_offsets(at(group, topic, p0=0))[group].result(LIMIT_S)
    text = f"Group {group} is not a share group."
    assert admin.refused("describe_share_groups", [group]) == (E.GROUP_ID_NOT_FOUND, text)
    assert admin.refused("delete_share_groups", [group]) == (E.GROUP_ID_NOT_FOUND, text)
    assert group in {item.group_id for item in cluster.admin.list_consumer_groups().result(LIMIT_S).valid}
    assert admin.refused("alter_share_group_offsets", at(group, topic, p0=0))[0] == E.GROUP_ID_NOT_FOUND
    assert admin.refused("delete_share_group_offsets", group, [topic])[0] == E.GROUP_ID_NOT_FOUND


def test_offsets_are_listed_altered_and_deleted(cluster: Cluster, admin: Admin) -> None:
    topic, group = cluster.topic(2), share_group(cluster)
    first, second, absent, nowhere = parts = [
        TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition(topic, 9), TopicPartition("zzz", 0),
    ]  # fmt: skip
    fill(cluster, topic, numbers(10))
    with member(cluster, group, topic) as reader:
        take(reader, 10)
        reader.commit()
        found = admin.offsets(group)
        assert (found[first].lag, found[first].error) == (0, None)
        assert found[first].start_offset in (0, 10)  # one acknowledgement behind, of as many as the polls took
        assert found[first].leader_epoch is not None
        assert list(found) == [first, second]
        for call in (
            ("alter_share_group_offsets", at(group, topic, p0=5)),
            ("delete_share_group_offsets", group, [topic]),
        ):
            assert admin.refused(*call) == (E.NON_EMPTY_GROUP, "The group is not empty.")
    altered = admin.one("alter_share_group_offsets", at(group, topic, p0=5, p9=1))
    assert [(item, item.offset, item.error and item.error.code()) for item in altered.topic_partitions] == [
        (first, 5, None),
        (absent, 1, E.UNKNOWN_TOPIC_OR_PART),
    ]
    found = admin.offsets(group, *reversed(parts))
    assert list(found) == list(reversed(parts))
    assert (found[first].start_offset, found[first].lag, found[first].error) == (5, 5, None)
    for part in (absent, nowhere):  # which Kafka 4.3.1 would not answer at all
        assert (found[part].start_offset, found[part].error.code()) == (None, E.UNKNOWN_TOPIC_OR_PART)  # type: ignore[union-attr]
    with member(cluster, group, topic) as reader:
        assert set(counts(take(reader, 5))) == set(numbers(5, 5))
    outcomes = admin.ask("delete_share_group_offsets", group, ["zzz", topic])
    assert [(name, outcome.error and outcome.error.error.code()) for name, outcome in outcomes.items()] == [
        ("zzz", E.UNKNOWN_TOPIC_OR_PART),
        (topic, None),
    ]
    assert admin.offsets(group) == {}
    assert admin.offsets(group, first) == {first: SharePartitionOffsetInfo()}
    with member(cluster, group, topic) as reader:
        assert set(counts(take(reader, 10))) == set(numbers(10))


def test_offsets_of_groups_that_are_not_there(cluster: Cluster, admin: Admin) -> None:
    topic, groups = cluster.topic(), [unique("missing"), unique("missing")]
    part = TopicPartition(topic, 0)
    wanted = [ConsumerGroupTopicPartitions(groups[0]), ConsumerGroupTopicPartitions(groups[1], [part])]
    outcomes = admin.ask("list_share_group_offsets", wanted)
    assert {name: outcome.result() for name, outcome in outcomes.items()} == {
        groups[0]: {},
        groups[1]: {part: SharePartitionOffsetInfo()},
    }
    fill(cluster, topic, numbers(3))
    made = admin.one("alter_share_group_offsets", at(groups[0], topic, p0=2))
    assert [item.error for item in made.topic_partitions] == [None]
    found = admin.offsets(groups[0])
    assert (found[part].start_offset, found[part].lag) == (2, 1)
    assert admin.one("describe_share_groups", [groups[0]]).state == ConsumerGroupState.EMPTY
    assert admin.one("delete_share_groups", [groups[0]]) is None


def test_brokers_that_have_no_share_groups_say_so(capped: Cluster, face: str) -> None:
    admin, group = Admin(capped, face), unique("group")
    calls: list[tuple[Any, ...]] = [
        ("describe_share_groups", [group]),
        ("delete_share_groups", [group]),
        ("list_share_group_offsets", [ConsumerGroupTopicPartitions(group)]),
        ("alter_share_group_offsets", at(group, "t", p0=0)),
        ("delete_share_group_offsets", group, ["t"]),
    ]
    for call in calls:
        with pytest.raises(UnsupportedVersionError):
            admin.one(*call)
