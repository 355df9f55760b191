"""Administration with both faces: pages of partitions, directories of replicas, hanging transactions, the quorum."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core import Consumer, KafkaException, Producer, TopicPartition
from kafka_core import KafkaError as E
from kafka_core.admin import PartitionCursor, QuorumInfo, TopicPartitionReplica, TopicPartitionsPage
from tests.contract.admins import Face
from tests.contract.clusters import LIMIT_S, Cluster, fill, unique

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["blocking", "asyncio"])
def admin(request: pytest.FixtureRequest, cluster: Cluster) -> Face:
    return Face(cluster, str(request.param))


def code(error: KafkaException | None) -> int:
    return 0 if error is None else error.error.code()


def test_the_quorum_is_told(admin: Face, cluster: Cluster) -> None:
    found: QuorumInfo = admin.ask("describe_metadata_quorum")
    (voter,) = found.voters
    assert found.leader_id == voter.replica_id == 1
    assert (found.leader_epoch >= 1, found.high_watermark == voter.log_end_offset) == (True, True)
    assert (voter.directory_id, found.observers) == (None, [])
    assert voter.last_caught_up_timestamp is not None
    assert voter.last_caught_up_timestamp > 1_600_000_000_000
    assert [listener.name for listener in found.nodes[1]] == ["CONTROLLER"]


# ---- pages


def numbers(page: TopicPartitionsPage) -> list[tuple[str, list[int]]]:
    return [(each.topic, [part.partition for part in each.partitions]) for each in page.topics]


def test_partitions_come_in_pages(admin: Face, cluster: Cluster) -> None:
    first, second = sorted([cluster.topic(3), cluster.topic(2)])
    sizes = {name: len(cluster.admin.list_topics(name).topics[name].partitions) for name in (first, second)}
    everything = [(name, number) for name in (first, second) for number in range(sizes[name])]
    for limit in (1, 2, 3, 4):
        seen, cursor = [], None
        while True:
            page = admin.ask("describe_topic_partitions", [second, first], limit=limit, cursor=cursor)
            rows = [(name, number) for name, parts in numbers(page) for number in parts]
            assert 1 <= len(rows) <= limit
            seen += rows
            if (cursor := page.next_cursor) is None:
                break
        assert seen == everything
    assert numbers(admin.ask("describe_topic_partitions", [first], limit=0)) == [(first, [0])]  # one, at least


def test_a_partition_is_described(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(1)
    (found,) = admin.ask("describe_topic_partitions", [topic]).topics
    assert (found.topic, found.error, found.is_internal) == (topic, None, False)
    assert found.topic_id is not None
    assert found.authorized_operations is not None
    (part,) = found.partitions
    assert (part.leader_id, part.leader_epoch, part.replicas, part.isr) == (1, 0, [1], [1])
    assert (part.offline_replicas, part.eligible_leader_replicas, part.last_known_eligible) == ([], [], [])
    assert part.error is None
    assert topic in [each.topic for each in admin.ask("describe_topic_partitions").topics]


def test_topics_that_are_not_there(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(2)
    page = admin.ask("describe_topic_partitions", [topic, "A-nope", "b!d"])
    assert [(each.topic, code(each.error), len(each.partitions)) for each in page.topics] == [
        ("A-nope", E.UNKNOWN_TOPIC_OR_PART, 0),
        ("b!d", E.TOPIC_EXCEPTION, 0),
        (topic, 0, 2),
    ]
    assert (page.topics[0].topic_id, page.next_cursor) == (None, None)


@pytest.mark.parametrize(
    ("cursor", "expected"),
    [
        (("", -1), E.INVALID_REQUEST),
        (("another", 0), E.INVALID_REQUEST),
        (("", 7), 0),
        (("", 1), 0),
    ],
)
def test_cursors(admin: Face, cluster: Cluster, cursor: tuple[str, int], expected: int) -> None:
    topic = cluster.topic(2)
    begin = PartitionCursor(cursor[0] or topic, cursor[1])
    (found,) = admin.ask("describe_topic_partitions", [topic], cursor=begin).topics
    assert code(found.error) == expected
    assert [part.partition for part in found.partitions] == ([1] if cursor[1] == 1 else [])


# ---- directories


def test_replicas_go_to_directories(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(3)
    ((disk,),) = [each.result() for each in admin.ask("describe_log_dirs").values()]
    wanted = {
        TopicPartitionReplica(topic, 0, 1): disk.path,
        TopicPartitionReplica(topic, 1, 1): "/nowhere",
        TopicPartitionReplica(topic, 2, 99): disk.path,
        TopicPartitionReplica(topic, 9, 1): disk.path,
        TopicPartitionReplica("nope", 0, 1): "/nowhere",
    }
    found = admin.ask("alter_replica_log_dirs", wanted)
    assert [code(each.error) for each in found.values()] == [
        0,
        E.LOG_DIR_NOT_FOUND,
        E._UNKNOWN_BROKER,
        E.UNKNOWN_TOPIC_OR_PART,
        E.LOG_DIR_NOT_FOUND,
    ]
    assert list(found) == list(wanted)
    assert admin.ask("alter_replica_log_dirs", {}) == {}


# ---- hanging transactions


def test_a_hanging_transaction_is_ended(admin: Face, cluster: Cluster) -> None:
    topic = cluster.topic(2)
    place, other = TopicPartition(topic, 1), TopicPartition(topic, 0)
    producer = Producer({"bootstrap.servers": cluster.servers, "transactional.id": unique("tx")})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"hanging", partition=1)
    assert producer.flush(LIMIT_S) == 0
    fill(cluster, topic, [b"after"], partition=1)

    def state() -> Any:
        found = admin.one("describe_producers", [place])
        return next(each for each in found if each.producer_id == mine.producer_id)

    mine = next(
        each for each in admin.one("describe_producers", [place]) if each.current_transaction_start_offset is not None
    )
    who = mine.producer_id, mine.producer_epoch
    for wrong, expected in (
        ((TopicPartition(topic, 9), *who), E.UNKNOWN_TOPIC_OR_PART),
        ((TopicPartition("nope", 0), *who), E.UNKNOWN_TOPIC_OR_PART),
    ):
        with pytest.raises(KafkaException) as caught:
            admin.ask("abort_transaction", *wrong)
        assert caught.value.error.code() == expected
    assert admin.ask("abort_transaction", place, *who, coordinator_epoch=3) is None
    assert (state().current_transaction_start_offset, state().coordinator_epoch) == (None, 3)
    with pytest.raises(KafkaException) as caught:
        admin.ask("abort_transaction", place, *who)  # an older coordinator
    assert caught.value.error.code() == E.TRANSACTION_COORDINATOR_FENCED
    assert admin.ask("abort_transaction", place, who[0], who[1] + 1, coordinator_epoch=3) is None
    with pytest.raises(KafkaException) as caught:
        admin.ask("abort_transaction", place, *who, coordinator_epoch=3)
    assert caught.value.error.code() == E.INVALID_PRODUCER_EPOCH
    assert admin.ask("abort_transaction", other, 2**40, 0) is None  # nobody knows that producer: a marker, no harm

    with Consumer(
        {"bootstrap.servers": cluster.servers, "group.id": unique("g"), "enable.auto.commit": False}
    ) as reader:
        reader.assign([TopicPartition(topic, 1, 0)])
        assert [each.value() for each in reader.consume(1, timeout=LIMIT_S)] == [b"after"]
    producer.close(0)


# ---- arguments


@pytest.mark.parametrize(
    ("method", "arguments", "kind"),
    [
        ("describe_topic_partitions", ("topic",), TypeError),
        ("describe_topic_partitions", ([1],), TypeError),
        ("alter_replica_log_dirs", ([TopicPartitionReplica("t", 0, 1)],), TypeError),
        ("alter_replica_log_dirs", ({("t", 0): "/"},), TypeError),
        ("alter_replica_log_dirs", ({TopicPartitionReplica("t", 0, 1): 7},), TypeError),
        ("alter_replica_log_dirs", ({TopicPartitionReplica("t", -1, 1): "/"},), ValueError),
        ("abort_transaction", ("t", 0, 0), TypeError),
        ("abort_transaction", (TopicPartition("t", -1), 0, 0), ValueError),
    ],
)
def test_arguments_are_checked(embedded: Cluster, method: str, arguments: Any, kind: type[Exception]) -> None:
    for face in ("blocking", "asyncio"):
        with pytest.raises(kind):
            Face(embedded, face).ask(method, *arguments)
