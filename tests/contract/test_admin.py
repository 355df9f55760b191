"""Administrators on every kind of cluster: topics, configurations, groups, offsets."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

import pytest

from kafka_core import (
    OFFSET_END,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ElectionType,
    KafkaError,
    KafkaException,
    TopicPartition,
    Uuid,
)
from kafka_core.admin import (
    AdminClient,
    AlterConfigOpType,
    ClusterMetadata,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)
from kafka_core.broker import EmbeddedCluster
from tests.contract.clusters import LIMIT_S, Cluster, consumer, fill, poll_until, producer, take, unique, wait_for

E = KafkaError


def refused(future: Future[object]) -> KafkaError:
    """Why it was refused; a success fails the test."""
    with pytest.raises(KafkaException) as caught:
        future.result(LIMIT_S)
    return caught.value.error


def refused_one(futures: Mapping[object, Future[object]]) -> KafkaError:
    (future,) = futures.values()
    return refused(future)


def partition_count(admin: AdminClient, topic: str) -> int:
    return len(admin.list_topics(topic, LIMIT_S).topics[topic].partitions)


def entries(cluster: Cluster, resource: ConfigResource) -> dict[str, ConfigEntry]:
    (future,) = cluster.admin.describe_configs([resource]).values()
    found = future.result(LIMIT_S)
    assert found is not None
    return found


def config_of(cluster: Cluster, topic: str, name: str) -> ConfigEntry:
    return entries(cluster, ConfigResource("topic", topic))[name]


# ---- topics


def test_a_topic_is_created_described_and_deleted(cluster: Cluster) -> None:
    admin, name = cluster.admin, unique("made")
    made = admin.create_topics([NewTopic(name, 3, 1, config={"retention.ms": "3600000"})])
    assert made[name].result(LIMIT_S) is None
    # The controller answers when the topic is decided; a broker's metadata has it a moment later. Neither Java nor
    # librdkafka waits for that, nor do we: there is no moment at which every broker is known to have heard.

    def told() -> ClusterMetadata | None:
        found = admin.list_topics(timeout=LIMIT_S)
        return found if name in found.topics and found.topics[name].error is None else None

    seen = wait_for(told, "the topic is in the metadata")
    assert seen is not None
    assert sorted(seen.topics[name].partitions) == [0, 1, 2]
    assert seen.topics[name].error is None
    described = admin.describe_topics([name])[name].result(LIMIT_S)
    brokers = set(seen.brokers)
    assert (described.name, described.is_internal) == (name, False)
    assert (seen.topics[name].topic_id or Uuid(0, 0)) == described.topic_id
    assert [part.id for part in described.partitions] == [0, 1, 2]
    for part in described.partitions:
        assert part.leader is not None
        assert {part.leader.id} <= brokers
        assert [node.id for node in part.replicas] == [node.id for node in part.isr] == [part.leader.id]
    assert config_of(cluster, name, "retention.ms").value == "3600000"
    assert admin.delete_topics([name])[name].result(LIMIT_S) is None
    wait_for(lambda: name not in admin.list_topics(timeout=LIMIT_S).topics, "the topic is gone")
    assert refused_one(admin.describe_topics([name])).code() == E.UNKNOWN_TOPIC_OR_PART


def test_topic_ids_are_told_and_differ_for_a_namesake(modern_cluster: Cluster) -> None:
    admin, name = modern_cluster.admin, unique("twin")
    ids = []
    for _ in range(2):
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)
        wait_for(lambda: name in admin.list_topics(timeout=LIMIT_S).topics, "the topic is there")
        ids.append(str(admin.describe_topics([name])[name].result(LIMIT_S).topic_id))
        admin.delete_topics([name])[name].result(LIMIT_S)
        wait_for(lambda: name not in admin.list_topics(timeout=LIMIT_S).topics, "the topic is gone")
    assert ids[0] != ids[1]


def test_the_broker_chooses_what_is_not_said(cluster: Cluster) -> None:
    name = unique("default")
    cluster.admin.create_topics([NewTopic(name)])[name].result(LIMIT_S)
    assert wait_for(lambda: partition_count(cluster.admin, name), "the broker knows the topic") == 1


@pytest.mark.parametrize(
    ("bad", "code", "word"),
    [
        (lambda: NewTopic("with space", 1, 1), E.TOPIC_EXCEPTION, "with space"),
        (lambda: NewTopic("x" * 250, 1, 1), E.TOPIC_EXCEPTION, "249"),
        (lambda: NewTopic("..", 1, 1), E.TOPIC_EXCEPTION, "'..'"),
        (lambda: NewTopic(unique("far"), 1, 77), E.INVALID_REPLICATION_FACTOR, "77"),
        (lambda: NewTopic(unique("cfg"), 1, 1, config={"no.such": "1"}), E.INVALID_CONFIG, "no.such"),
        (lambda: NewTopic(unique("cfg"), 1, 1, config={"retention.ms": "soon"}), E.INVALID_CONFIG, "soon"),
        (lambda: NewTopic(unique("cfg"), 1, 1, config={"cleanup.policy": "burn"}), E.INVALID_CONFIG, "burn"),
        (lambda: NewTopic(unique("by-hand"), replica_assignment=[[77]]), E.INVALID_REPLICA_ASSIGNMENT, "77"),
    ],
)  # fmt: skip
def test_a_topic_that_cannot_be_is_refused_with_the_reason(cluster: Cluster, bad, code: int, word: str) -> None:  # type: ignore[no-untyped-def]
    topic = bad()
    error = refused_one(cluster.admin.create_topics([topic]))
    assert error.code() == code
    assert word in error.str()
    assert topic.topic not in cluster.admin.list_topics(timeout=LIMIT_S).topics


def test_one_bad_topic_does_not_stop_the_others(cluster: Cluster) -> None:
    good, there = unique("good"), cluster.topic()
    futures = cluster.admin.create_topics([NewTopic(there, 1, 1), NewTopic(good, 2, 1)])
    assert futures[good].result(LIMIT_S) is None
    error = refused(futures[there])
    assert error.code() == E.TOPIC_ALREADY_EXISTS
    assert there in error.str()
    assert wait_for(lambda: partition_count(cluster.admin, good), "the broker knows the topic") == 2


def test_validate_only_makes_nothing(cluster: Cluster) -> None:
    name, there = unique("check"), cluster.topic()
    admin = cluster.admin
    assert admin.create_topics([NewTopic(name, 1, 1)], validate_only=True)[name].result(LIMIT_S) is None
    assert name not in admin.list_topics(timeout=LIMIT_S).topics
    taken = refused_one(admin.create_topics([NewTopic(there, 1, 1)], validate_only=True))
    assert taken.code() == E.TOPIC_ALREADY_EXISTS
    assert admin.create_partitions([NewPartitions(there, 4)], validate_only=True)[there].result(LIMIT_S) is None
    assert partition_count(admin, there) == 1
    resource = ConfigResource("topic", there, set_config={"retention.ms": "1000"})
    admin.alter_configs([resource], validate_only=True)[resource].result(LIMIT_S)
    assert config_of(cluster, there, "retention.ms").value != "1000"


def test_a_topic_that_is_not_there_is_not_deleted_and_not_made_by_asking(cluster: Cluster) -> None:
    name, there = unique("missing"), cluster.topic()
    futures = cluster.admin.delete_topics([name, there])
    assert refused(futures[name]).code() == E.UNKNOWN_TOPIC_OR_PART
    assert futures[there].result(LIMIT_S) is None
    one = cluster.admin.list_topics(name, LIMIT_S).topics[name]
    assert one.error is not None
    assert one.error.code() == E.UNKNOWN_TOPIC_OR_PART
    assert refused_one(cluster.admin.describe_topics([name])).code() == E.UNKNOWN_TOPIC_OR_PART
    assert name not in cluster.admin.list_topics(timeout=LIMIT_S).topics


# ---- partitions


def test_partitions_are_added_and_keep_what_is_there(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, [b"old"], 1)
    assert cluster.admin.create_partitions([NewPartitions(topic, 5)])[topic].result(LIMIT_S) is None
    wait_for(lambda: partition_count(cluster.admin, topic) == 5, "five partitions")
    fill(cluster, topic, [b"new"], 4)
    with consumer(cluster) as reader:
        reader.assign([TopicPartition(topic, number, 0) for number in range(5)])
        found = take(reader, 2)
    assert {(item.partition(), item.value()) for item in found} == {(1, b"old"), (4, b"new")}


@pytest.mark.parametrize(("count", "word"), [(2, "2"), (1, "1")])
def test_partitions_never_get_fewer(cluster: Cluster, count: int, word: str) -> None:
    topic = cluster.topic(2)
    error = refused_one(cluster.admin.create_partitions([NewPartitions(topic, count)]))
    assert error.code() == E.INVALID_PARTITIONS
    assert word in error.str()
    assert partition_count(cluster.admin, topic) == 2


def test_partitions_of_what_is_not_there(cluster: Cluster) -> None:
    error = refused_one(cluster.admin.create_partitions([NewPartitions(unique("missing"), 3)]))
    assert error.code() == E.UNKNOWN_TOPIC_OR_PART


def test_partitions_on_brokers_that_are_not_there(cluster: Cluster) -> None:
    topic = cluster.topic()
    futures = cluster.admin.create_partitions([NewPartitions(topic, 2, replica_assignment=[[77]])])
    assert refused_one(futures).code() == E.INVALID_REPLICA_ASSIGNMENT
    futures = cluster.admin.create_partitions([NewPartitions(topic, 4, replica_assignment=[[1]])])
    assert refused_one(futures).code() == E.INVALID_REPLICA_ASSIGNMENT


# ---- configurations


def test_a_topics_configuration_is_described_with_its_sources(cluster: Cluster) -> None:
    topic = cluster.topic(max_message_bytes="2000")
    found = entries(cluster, ConfigResource("topic", topic))
    own, default = found["max.message.bytes"], found["segment.bytes"]
    assert (own.value, own.source, own.is_default) == ("2000", ConfigSource.DYNAMIC_TOPIC_CONFIG, False)
    assert (default.value, default.source, default.is_default) == ("1073741824", ConfigSource.DEFAULT_CONFIG, True)
    assert {"cleanup.policy", "compression.type", "min.insync.replicas", "retention.ms"} <= set(found)
    assert list(own.synonyms) == ["max.message.bytes", "message.max.bytes"]
    assert own.synonyms["message.max.bytes"].value == "1048588"
    assert not own.is_read_only
    assert not own.is_sensitive


def test_alter_replaces_all_that_was_set(cluster: Cluster) -> None:
    topic = cluster.topic(max_message_bytes="2000", retention_ms="1000")
    resource = ConfigResource("topic", topic, set_config={"retention.ms": "5000"})
    assert cluster.admin.alter_configs([resource])[resource].result(LIMIT_S) is None
    wait_for(lambda: config_of(cluster, topic, "retention.ms").value == "5000", "the new value is in force")
    assert config_of(cluster, topic, "max.message.bytes").value == "1048588"


def test_incremental_changes_leave_the_rest(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic(max_message_bytes="2000", retention_ms="1000", cleanup_policy="delete")
    changes = [
        ConfigEntry("retention.ms", "7000", incremental_operation=AlterConfigOpType.SET),
        ConfigEntry("max.message.bytes", None, incremental_operation=AlterConfigOpType.DELETE),
        ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND),
    ]
    resource = ConfigResource("topic", topic, incremental_configs=changes)
    assert modern_cluster.admin.incremental_alter_configs([resource])[resource].result(LIMIT_S) is None
    wait_for(lambda: config_of(modern_cluster, topic, "retention.ms").value == "7000", "the new value is in force")
    assert config_of(modern_cluster, topic, "max.message.bytes").source != ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert config_of(modern_cluster, topic, "cleanup.policy").value == "delete,compact"
    take_away = ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SUBTRACT)
    resource = ConfigResource("topic", topic, incremental_configs=[take_away])
    modern_cluster.admin.incremental_alter_configs([resource])[resource].result(LIMIT_S)
    wait_for(lambda: config_of(modern_cluster, topic, "cleanup.policy").value == "compact", "one policy is left")


def test_a_value_that_cannot_be_is_refused_and_changes_nothing(cluster: Cluster) -> None:
    topic = cluster.topic(retention_ms="1000")
    for name, value in (("retention.ms", "soon"), ("no.such.thing", "1"), ("min.insync.replicas", "0")):
        resource = ConfigResource("topic", topic, set_config={"segment.ms": "60000", name: value})
        error = refused_one(cluster.admin.alter_configs([resource]))
        assert error.code() == E.INVALID_CONFIG
        assert name in error.str()
    assert config_of(cluster, topic, "retention.ms").value == "1000"
    assert config_of(cluster, topic, "segment.ms").value != "60000"


def test_a_list_operation_on_what_is_no_list_is_refused(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic()
    change = ConfigEntry("retention.ms", "1", incremental_operation=AlterConfigOpType.APPEND)
    resource = ConfigResource("topic", topic, incremental_configs=[change])
    error = refused_one(modern_cluster.admin.incremental_alter_configs([resource]))
    assert error.code() == E.INVALID_CONFIG
    assert "retention.ms" in error.str()


def test_configurations_of_what_is_not_there(cluster: Cluster) -> None:
    missing = ConfigResource("topic", unique("missing"))
    there = ConfigResource("topic", cluster.topic())
    futures = cluster.admin.describe_configs([missing, there])
    assert refused(futures[missing]).code() == E.UNKNOWN_TOPIC_OR_PART
    assert futures[there].result(LIMIT_S)
    change = ConfigResource("topic", unique("missing"), set_config={"retention.ms": "1"})
    assert refused_one(cluster.admin.alter_configs([change])).code() == E.UNKNOWN_TOPIC_OR_PART


def test_a_brokers_configuration(cluster: Cluster) -> None:
    (broker, *_) = cluster.admin.list_topics(timeout=LIMIT_S).brokers
    found = entries(cluster, ConfigResource("broker", str(broker)))
    assert found["num.partitions"].value == "1"
    assert found["num.partitions"].is_read_only
    assert found["group.min.session.timeout.ms"].value in ("1000", "6000")
    assert not found["message.max.bytes"].is_read_only


def test_a_read_only_property_of_a_broker_is_refused(modern_cluster: Cluster) -> None:
    (broker, *_) = modern_cluster.admin.list_topics(timeout=LIMIT_S).brokers
    change = ConfigEntry("num.partitions", "3", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource("broker", str(broker), incremental_configs=[change])
    error = refused_one(modern_cluster.admin.incremental_alter_configs([resource]))
    assert error.code() == E.INVALID_REQUEST
    assert "num.partitions" in error.str()


# ---- records and leaders


def test_records_before_an_offset_are_deleted(cluster: Cluster) -> None:
    topic = cluster.topic(partitions=2)
    fill(cluster, topic, [b"%d" % number for number in range(10)])
    cut, end = TopicPartition(topic, 0, 4), TopicPartition(topic, 1, OFFSET_END)
    done = cluster.admin.delete_records([cut, end])
    assert done[cut].result(LIMIT_S).low_watermark == 4
    assert done[end].result(LIMIT_S).low_watermark == 0
    with consumer(cluster) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        assert [item.value() for item in take(reader, 6)] == [b"%d" % number for number in range(4, 10)]
    (rest,) = cluster.admin.delete_records([TopicPartition(topic, 0, OFFSET_END)]).values()
    assert rest.result(LIMIT_S).low_watermark == 10


def test_records_that_are_not_there_cannot_be_deleted(cluster: Cluster) -> None:
    topic, compacted = cluster.topic(), cluster.topic(cleanup_policy="compact")
    beyond, elsewhere = TopicPartition(topic, 0, 1), TopicPartition(topic, 7, 0)
    done = cluster.admin.delete_records([beyond, elsewhere, TopicPartition(compacted, 0, 0)])
    assert refused(done[beyond]).code() == E.OFFSET_OUT_OF_RANGE
    assert refused(done[elsewhere]).code() == E.UNKNOWN_TOPIC_OR_PART
    assert refused(done[TopicPartition(compacted, 0)]).code() == E.POLICY_VIOLATION


def test_a_leader_that_is_there_need_not_be_elected(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic(partitions=2)
    known, unknown = [TopicPartition(topic, 0), TopicPartition(topic, 1)], TopicPartition(topic, 9)
    for election_type in ElectionType:
        found = modern_cluster.admin.elect_leaders(election_type, [*known, unknown]).result(LIMIT_S)
        codes = {item: error.error.code() for item, error in found.items() if error is not None}
        assert codes == {**dict.fromkeys(known, E.ELECTION_NOT_NEEDED), unknown: E.UNKNOWN_TOPIC_OR_PART}
        assert modern_cluster.admin.elect_leaders(election_type).result(LIMIT_S) == {}


def test_the_preferred_replica_leads_again_after_an_election() -> None:
    topic = unique("moved")
    with EmbeddedCluster(brokers=3) as cluster, AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        admin.create_topics([NewTopic(topic, replica_assignment=[[2, 3], [3, 1]])])[topic].result(LIMIT_S)

        def leaders() -> list[int]:
            return [part.leader.id for part in admin.describe_topics([topic])[topic].result(LIMIT_S).partitions]

        cluster.move_leader(topic, 0, 3)
        assert leaders() == [3, 3]
        moved, still = TopicPartition(topic, 0), TopicPartition(topic, 1)
        assert admin.elect_leaders(ElectionType.PREFERRED).result(LIMIT_S) == {moved: None}
        assert leaders() == [2, 3]
        found = admin.elect_leaders(ElectionType.PREFERRED, [moved, still]).result(LIMIT_S)
        assert {error.error.code() for error in found.values() if error} == {E.ELECTION_NOT_NEEDED}
        cluster.stop_broker(2)
        found = admin.elect_leaders(ElectionType.PREFERRED, [moved]).result(LIMIT_S)
        assert found[moved] is not None
        assert found[moved].error.code() == E.PREFERRED_LEADER_NOT_AVAILABLE


# ---- groups


def test_a_group_is_listed_described_and_deleted(cluster: Cluster) -> None:
    admin, topic, group = cluster.admin, cluster.topic(2), unique("group")
    fill(cluster, topic, [b"1", b"2"], 0)
    with consumer(cluster, group, client_id="one of us") as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: len(reader.assignment()) == 2, "it has both")
        listed = {item.group_id: item for item in admin.list_consumer_groups().result(LIMIT_S).valid}
        assert not listed[group].is_simple_consumer_group
        if cluster.kind != "capped":  # brokers before 2.6 list no states
            assert listed[group].state == ConsumerGroupState.STABLE
        described = admin.describe_consumer_groups([group])[group].result(LIMIT_S)
        assert (described.group_id, described.state) == (group, ConsumerGroupState.STABLE)
        assert described.partition_assignor == "range"
        assert described.coordinator is not None
        (member,) = described.members
        assert member.client_id == "one of us"
        assert member.member_id == reader.memberid()
        assert "127.0.0.1" in member.host
        assert {(item.topic, item.partition) for item in member.assignment.topic_partitions} == {(topic, 0), (topic, 1)}
        assert refused_one(admin.delete_consumer_groups([group])).code() == E.NON_EMPTY_GROUP
        (old,) = admin.list_groups(group, LIMIT_S)
        assert (old.id, old.state, old.protocol, old.protocol_type) == (group, "Stable", "range", "consumer")
        assert [item.id for item in old.members] == [member.member_id]
    wait_for(
        lambda: admin.describe_consumer_groups([group])[group].result(LIMIT_S).state == ConsumerGroupState.EMPTY,
        "the member has left",
    )
    assert admin.delete_consumer_groups([group])[group].result(LIMIT_S) is None
    names = {item.group_id for item in admin.list_consumer_groups().result(LIMIT_S).valid}
    assert group not in names
    assert refused_one(admin.delete_consumer_groups([group])).code() == E.GROUP_ID_NOT_FOUND


def test_groups_are_listed_by_their_state(modern_cluster: Cluster) -> None:
    admin, topic, group = modern_cluster.admin, modern_cluster.topic(), unique("group")

    def with_state(state: ConsumerGroupState) -> set[str]:
        return {item.group_id for item in admin.list_consumer_groups(states={state}).result(LIMIT_S).valid}

    with consumer(modern_cluster, group) as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: bool(reader.assignment()), "it has its partition")
        assert group in with_state(ConsumerGroupState.STABLE)
        assert group not in with_state(ConsumerGroupState.EMPTY)


def test_a_group_that_is_not_there(cluster: Cluster) -> None:
    """Brokers from 4.0 on say so; older ones describe it as dead."""
    group = unique("missing")
    future = cluster.admin.describe_consumer_groups([group])[group]
    if cluster.kind in ("capped", "old"):
        assert future.result(LIMIT_S).state == ConsumerGroupState.DEAD
        assert future.result().members == []
    else:
        error = refused(future)
        assert error.code() == E.GROUP_ID_NOT_FOUND
        assert group in error.str()


# ---- offsets


def offsets_of(cluster: Cluster, group: str, topic: str) -> dict[int, int]:
    asked = [ConsumerGroupTopicPartitions(group)]
    found = cluster.admin.list_consumer_group_offsets(asked)[group].result(LIMIT_S)
    assert found.topic_partitions is not None
    return {item.partition: item.offset for item in found.topic_partitions if item.topic == topic}


def test_committed_offsets_are_listed_and_altered(cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    fill(cluster, topic, [b"0", b"1", b"2"], 0)
    with consumer(cluster, group, enable_auto_commit=False) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        take(reader, 3)
        reader.commit(asynchronous=False)
    assert offsets_of(cluster, group, topic) == {0: 3}
    new = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1), TopicPartition(topic, 1, 0)])]
    altered = cluster.admin.alter_consumer_group_offsets(new)[group].result(LIMIT_S)
    assert [item.error for item in altered.topic_partitions] == [None, None]
    assert offsets_of(cluster, group, topic) == {0: 1, 1: 0}
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        assert [item.value() for item in take(reader, 2)] == [b"1", b"2"]


def test_offsets_of_a_group_that_has_members_are_not_altered(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: bool(reader.assignment()), "it has its partition")
        new = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1)])]
        assert refused_one(cluster.admin.alter_consumer_group_offsets(new)).code() == E.UNKNOWN_MEMBER_ID


def test_first_last_and_timed_offsets(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    with producer(cluster) as writer:
        for number in range(5):
            writer.produce(topic, b"%d" % number, partition=0, timestamp=1_700_000_000_000 + number * 1000)
        assert writer.flush(LIMIT_S) == 0

    def offset(partition: int, spec: OffsetSpec) -> int:
        asked = TopicPartition(topic, partition)
        return int(cluster.admin.list_offsets({asked: spec})[asked].result(LIMIT_S).offset)

    assert offset(0, OffsetSpec.earliest()) == 0
    assert offset(0, OffsetSpec.latest()) == 5
    assert offset(0, OffsetSpec.for_timestamp(1_700_000_002_000)) == 2
    assert offset(0, OffsetSpec.for_timestamp(1_800_000_000_000)) == -1
    assert offset(1, OffsetSpec.latest()) == 0
    if cluster.kind != "capped":  # brokers before 3.0 know no largest timestamp
        assert offset(0, OffsetSpec.max_timestamp()) == 4
    far = TopicPartition(topic, 9)
    assert refused_one(cluster.admin.list_offsets({far: OffsetSpec.latest()})).code() == E.UNKNOWN_TOPIC_OR_PART


# ---- the cluster


def test_the_cluster_is_described(cluster: Cluster) -> None:
    found = cluster.admin.describe_cluster().result(LIMIT_S)
    seen = cluster.admin.list_topics(timeout=LIMIT_S)
    assert found.cluster_id == seen.cluster_id == cluster.admin.cluster_id(LIMIT_S)
    assert {node.id for node in found.nodes} == set(seen.brokers)
    assert found.controller is not None
    assert found.controller.id in set(seen.brokers)
    addresses = {f"{node.host}:{node.port}" for node in found.nodes}
    assert set(cluster.servers.split(",")) <= addresses
    assert found.authorized_operations is None


def test_old_brokers_name_the_admin_calls_they_lack(capped: Cluster) -> None:
    topic = capped.topic()
    change = ConfigEntry("retention.ms", "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource("topic", topic, incremental_configs=[change])
    error = refused_one(capped.admin.incremental_alter_configs([resource]))
    assert error.code() == E._UNSUPPORTED_FEATURE
    assert "INCREMENTAL_ALTER_CONFIGS" in error.str()
