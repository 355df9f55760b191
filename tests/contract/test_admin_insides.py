"""A cluster's insides, with both faces: features, disks, replicas, transactions, members and offsets of groups."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core import KafkaError as E
from kafka_core import KafkaException, Producer, TopicPartition
from kafka_core.admin import (
    FeatureMetadata,
    FeatureUpdate,
    FeatureUpgradeType,
    MemberToRemove,
    ReplicaInfo,
    TransactionListing,
)
from tests.contract.admins import Face
from tests.contract.clusters import LIMIT_S, Cluster, consumer, fill, unique, wait_for

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]
DOWN = FeatureUpgradeType.SAFE_DOWNGRADE


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["blocking", "asyncio"])
def admin(request: pytest.FixtureRequest, cluster: Cluster) -> Face:
    return Face(cluster, str(request.param))


def codes(outcomes: Any) -> list[int]:
    return [0 if each.error is None else each.error.error.code() for each in outcomes.values()]


# ---- features and resources


def test_features_and_versions_are_told(admin: Face) -> None:
    found: FeatureMetadata = admin.ask("describe_features")
    assert found.supported["transaction.version"] == (0, 2)
    assert found.finalized["transaction.version"] == (2, 2)
    assert found.finalized_epoch is not None
    assert found.api_versions[18, "API_VERSIONS"] == (0, 4)
    assert admin.ask("describe_features", broker_id=1).supported == found.supported
    with pytest.raises(KafkaException) as caught:
        admin.ask("describe_features", broker_id=99)
    assert caught.value.error.code() == E._UNKNOWN_BROKER


@pytest.mark.parametrize(
    ("update", "text"),
    [
        (FeatureUpdate(1), None),
        (FeatureUpdate(0, DOWN), None),
        (FeatureUpdate(0), "Can't downgrade the version of this feature"),
        (FeatureUpdate(9), "only supports versions 0-1"),
        (FeatureUpdate(-1, DOWN), "A feature version cannot be less than 0."),
        (FeatureUpdate(1, FeatureUpgradeType.UNKNOWN), "does not support the given upgrade type"),
    ],
)
def test_a_feature_is_moved_or_refused(admin: Face, update: FeatureUpdate, text: str | None) -> None:
    found = admin.ask("update_features", {"share.version": update}, validate_only=True)["share.version"]
    if text is None:
        assert found.error is None
    else:
        assert found.error.error.code() == E.INVALID_UPDATE_VERSION
        assert text in found.error.error.str()
    assert admin.ask("describe_features").finalized["share.version"] == (1, 1)


def test_one_feature_that_is_refused_stops_all(admin: Face) -> None:
    updates = {"share.version": FeatureUpdate(0, DOWN), "nope": FeatureUpdate(1)}
    found = admin.ask("update_features", updates)
    assert codes(found) == [E.INVALID_UPDATE_VERSION] * 2
    assert "does not support this feature" in found["share.version"].error.error.str()
    assert admin.ask("describe_features").finalized["share.version"] == (1, 1)


def test_resources_with_a_configuration(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic()
    every = admin.ask("list_config_resources")
    assert ("topic", topic) in every
    assert ("broker", "1") in every
    assert ("broker_logger", "1") in every
    assert {kind for kind, _ in admin.ask("list_config_resources", ["broker", "topic"])} == {"broker", "topic"}
    assert admin.ask("list_config_resources", ["client_metrics"]) == []
    with pytest.raises(ValueError, match="unknown kind of resource 'nope'"):
        admin.ask("list_config_resources", ["nope"])


# ---- replicas


def test_log_directories(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, [b"a", b"b", b"c"])
    wanted = [TopicPartition(topic, 0), TopicPartition(topic, 9), TopicPartition("nope", 0)]
    for brokers in (None, [1]):
        (outcome,) = admin.ask("describe_log_dirs", brokers, partitions=wanted).values()
        (disk,) = outcome.result()
        assert list(disk.replicas) == [TopicPartition(topic, 0)]
        assert disk.path.startswith("/")
        assert (disk.error, disk.is_cordoned) == (None, False)
        replica: ReplicaInfo = disk.replicas[TopicPartition(topic, 0)]
        assert replica.size > 60
        assert (replica.offset_lag, replica.is_future) == (0, False)
    (every,) = admin.ask("describe_log_dirs")[1].result()
    assert TopicPartition(topic, 1) in every.replicas
    assert codes(admin.ask("describe_log_dirs", [99, 1])) == [E._UNKNOWN_BROKER, 0]


def test_reassignments(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(2)
    here, nowhere = TopicPartition(topic, 0), TopicPartition(topic, 9)
    assert codes(admin.ask("alter_partition_reassignments", {here: [1], nowhere: [1]})) == [
        0,
        E.UNKNOWN_TOPIC_OR_PART,
    ]
    for replicas, code, text in (
        ([99], E.INVALID_REPLICA_ASSIGNMENT, "includes broker 99, but no such broker is registered."),
        ([], E.INVALID_REPLICA_ASSIGNMENT, "includes an empty replica list."),
        ([1, 1], E.INVALID_REPLICA_ASSIGNMENT, "includes the broker 1 more than once."),
        (None, E.NO_REASSIGNMENT_IN_PROGRESS, ""),  # the broker sends no sentence
    ):
        (outcome,) = admin.ask("alter_partition_reassignments", {here: replicas}).values()
        assert outcome.error.error.code() == code
        assert outcome.error.error.str().endswith(text)
    for partitions in (None, [here], [nowhere]):
        assert admin.ask("list_partition_reassignments", partitions) == {}


# ---- transactions


def test_transactions_and_producers(admin: Face, cluster: Cluster) -> None:
    topic, name = cluster.topic(2), unique("tx")
    place = TopicPartition(topic, 1)
    producer = Producer({"bootstrap.servers": cluster.servers, "transactional.id": name})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"v", partition=1)
    assert producer.flush(LIMIT_S) == 0

    def listed(**filters: Any) -> list[TransactionListing]:
        outcomes = admin.ask("list_transactions", **filters)
        return [each for found in outcomes.values() for each in found.result() if each.transactional_id == name]

    (mine,) = listed()
    assert mine.state == "Ongoing"
    assert listed(states=["Ongoing"], producer_ids=[mine.producer_id], brokers=[1]) == [mine]
    assert listed(transactional_id_pattern="tx-.*") == [mine]
    assert listed(states=["Empty"]) == listed(producer_ids=[2**40]) == listed(longer_than_ms=3_600_000) == []
    assert codes(admin.ask("list_transactions", brokers=[99])) == [E._UNKNOWN_BROKER]
    assert codes(admin.ask("list_transactions", transactional_id_pattern="(((")) == [E.INVALID_REGULAR_EXPRESSION]

    found = admin.ask("describe_transactions", [name, name + "-no"])
    assert codes(found) == [0, E.TRANSACTIONAL_ID_NOT_FOUND]
    described = found[name].result()
    assert (described.coordinator_id, described.state, described.producer_id) == (1, "Ongoing", mine.producer_id)
    assert described.partitions == {place}
    assert described.start_time_ms > 1_600_000_000_000
    assert described.timeout_ms == 60_000

    states = admin.ask("describe_producers", [place, TopicPartition(topic, 0), TopicPartition(topic, 9)])
    assert codes(states) == [0, 0, E.UNKNOWN_TOPIC_OR_PART]
    (state,) = states[place].result()
    assert (state.producer_id, state.last_sequence, state.coordinator_epoch) == (mine.producer_id, 0, None)
    assert state.current_transaction_start_offset == 0
    assert states[TopicPartition(topic, 0)].result() == []
    (state,) = admin.one("describe_producers", [place], broker_id=1)
    assert state.producer_id == mine.producer_id

    producer.commit_transaction(LIMIT_S)
    wait_for(lambda: listed(states=["CompleteCommit"]), "the commit is done")
    ended = admin.one("describe_transactions", [name])
    assert (ended.start_time_ms, ended.partitions) == (described.start_time_ms, frozenset())
    ((state,),) = [each.result() for each in admin.ask("describe_producers", [place]).values()]
    assert (state.coordinator_epoch, state.current_transaction_start_offset) == (0, None)


# ---- groups


def test_offsets_of_a_group_are_deleted(admin: Face, cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    here, there, nowhere = (TopicPartition(topic, number) for number in (0, 1, 9))
    member = consumer(cluster, group)
    member.subscribe([topic])
    wait_for(lambda: member.poll(0.1) or member.assignment(), "the member is in")
    member.commit(offsets=[TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 0)], asynchronous=False)
    assert codes(admin.ask("delete_consumer_group_offsets", group, [here])) == [E.GROUP_SUBSCRIBED_TO_TOPIC]
    member.close()
    assert codes(admin.ask("delete_consumer_group_offsets", group, [here, nowhere])) == [0, E.UNKNOWN_TOPIC_OR_PART]
    reader = consumer(cluster, group)
    assert [each.offset >= 0 for each in reader.committed([here, there], LIMIT_S)] == [False, True]
    reader.close()
    assert admin.ask("delete_consumer_group_offsets", group, []) == {}
    assert codes(admin.ask("delete_consumer_group_offsets", group + "-no", [here, there])) == [
        E.GROUP_ID_NOT_FOUND,
        E.GROUP_ID_NOT_FOUND,
    ]


def test_members_are_made_to_leave(admin: Face, cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    with_name = consumer(cluster, group, group_instance_id="fixed")
    without = consumer(cluster, group)
    for member in (with_name, without):
        member.subscribe([topic])

    def settled() -> bool:
        with_name.poll(0.05)
        without.poll(0.05)
        return len(with_name.assignment()) == len(without.assignment()) == 1

    wait_for(settled, "both are in")
    nobody, static, dynamic = MemberToRemove("nobody"), MemberToRemove(None, "fixed", "why"), without.memberid()
    assert dynamic is not None
    found = admin.ask("remove_consumer_group_members", group, [nobody, static, MemberToRemove(dynamic)])
    assert codes(found) == [E.UNKNOWN_MEMBER_ID, 0, 0]
    (described,) = admin.ask("describe_consumer_groups", [group]).values()
    assert dynamic not in [member.member_id for member in described.result().members]
    assert admin.ask("remove_consumer_group_members", group, []) == {}
    with pytest.raises(ValueError, match="member_id or its group_instance_id"):
        MemberToRemove()
    for member in (with_name, without):
        member.close()


# ---- arguments


@pytest.mark.parametrize(
    ("method", "arguments", "kind"),
    [
        ("delete_consumer_group_offsets", ("", [TopicPartition("t", 0)]), ValueError),
        ("delete_consumer_group_offsets", ("g", TopicPartition("t", 0)), TypeError),
        ("remove_consumer_group_members", ("g", ["member"]), TypeError),
        ("remove_consumer_group_members", ("g", "member"), TypeError),
        ("describe_transactions", ("tx",), TypeError),
        ("describe_producers", ([TopicPartition("t", -1)],), ValueError),
        ("update_features", ({"share.version": 1},), TypeError),
        ("update_features", ([],), TypeError),
        ("alter_partition_reassignments", ({TopicPartition("t", 0): 1},), TypeError),
        ("alter_partition_reassignments", ([TopicPartition("t", 0)],), TypeError),
        ("list_partition_reassignments", (["t"],), TypeError),
        ("describe_log_dirs", (None,), None),
    ],
)
def test_arguments_are_checked(embedded: Cluster, method: str, arguments: Any, kind: type[Exception] | None) -> None:
    for face in ("blocking", "asyncio"):
        if kind is None:
            assert Face(embedded, face).ask(method, *arguments)
            continue
        with pytest.raises(kind):
            Face(embedded, face).ask(method, *arguments)
