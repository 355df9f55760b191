"""A topic that is deleted and created again under a consumer: nothing of the old one is skipped, committed or read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from kafka_core import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Message, TopicPartition
from kafka_core.admin import NewTopic
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.config import Role, parse
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    Reports,
    consumer,
    fill,
    poll_until,
    producer,
    take,
    unique,
    values_of,
    wait_for,
    wait_until_led,
    whole,
)
from tests.contract.share_groups import Member, share_conf, share_group
from tests.contract.share_groups import take as share_take

SHARE_KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def delete(cluster: Cluster, topic: str) -> None:
    cluster.admin.delete_topics([topic])[topic].result(LIMIT_S)


def create(cluster: Cluster, topic: str, partitions: int = 1) -> None:
    """Once the old one is gone."""

    def make() -> bool:
        return cluster.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].exception(LIMIT_S) is None

    wait_for(make, f"{topic} is created again")
    wait_until_led(cluster.admin, {topic: partitions})


def committed(cluster: Cluster, group: str, topic: str) -> int:
    with consumer(cluster, group) as reader:
        (found,) = reader.committed([TopicPartition(topic, 0)], LIMIT_S)
        return found.offset


@pytest.mark.parametrize("begin", ["subscribe", "assign"])
def test_the_new_topic_is_read_whole_though_the_old_position_is_in_it(modern_cluster: Cluster, begin: str) -> None:
    topic, group = modern_cluster.topic(), unique("group")
    fill(modern_cluster, topic, numbers(5))
    conf = {"topic_metadata_refresh_interval_ms": 200, "auto_commit_interval_ms": 50, "enable_auto_commit": True}
    with consumer(modern_cluster, group, **conf) as reader:
        starts: dict[str, Callable[[], None]] = {
            "subscribe": lambda: reader.subscribe([topic]),
            "assign": lambda: reader.assign([whole(topic, offset=0)]),
        }
        starts[begin]()
        take(reader, 5)
        commit_what_is_left(reader)
        delete(modern_cluster, topic)
        create(modern_cluster, topic)
        fill(modern_cluster, topic, numbers(12, 500))
        assert values_of(take_past_errors(reader, 12)) == numbers(12, 500)
        commit_what_is_left(reader)
    assert committed(modern_cluster, group, topic) == 12


def commit_what_is_left(reader: Consumer) -> None:
    """Commits what was read; the automatic commit may have come before."""
    try:
        reader.commit(asynchronous=False)
    except KafkaException as error:
        if error.code != KafkaError._NO_OFFSET:
            raise


def take_past_errors(reader: Consumer, count: int) -> list[Message]:
    """Records; that the topic is missing for a while is told meanwhile."""
    found: list[Message] = []

    def read() -> bool:
        message = reader.poll(0.2)
        if message is not None and message.error() is None:
            found.append(message)
        return len(found) >= count

    wait_for(read, f"{count} records")
    return found


def test_commits_of_a_deleted_topic_do_not_apply_to_the_new_one(modern_cluster: Cluster) -> None:
    topic, group = modern_cluster.topic(), unique("group")
    fill(modern_cluster, topic, numbers(5))
    with consumer(modern_cluster, group, enable_auto_commit=False) as reader:
        reader.assign([whole(topic, offset=0)])
        take(reader, 5)
        reader.commit(asynchronous=False)
    assert committed(modern_cluster, group, topic) == 5
    delete(modern_cluster, topic)
    create(modern_cluster, topic)
    wait_for(lambda: committed(modern_cluster, group, topic) == OFFSET_INVALID, "the offset is gone")
    fill(modern_cluster, topic, numbers(8, 500))
    with consumer(modern_cluster, group, auto_offset_reset="earliest") as reader:
        reader.subscribe([topic])
        assert values_of(take(reader, 8)) == numbers(8, 500)


def test_a_partition_that_the_new_topic_lacks_is_told_and_the_others_are_read(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic(2)
    for partition in range(2):
        fill(modern_cluster, topic, numbers(5), partition)
    troubles: list[KafkaError] = []
    conf = {"topic_metadata_refresh_interval_ms": 200, "enable_auto_commit": False, "error_cb": troubles.append}
    with consumer(modern_cluster, **conf) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        take(reader, 10)
        delete(modern_cluster, topic)
        create(modern_cluster, topic)
        fill(modern_cluster, topic, numbers(3, 500))
        assert values_of(take_past_errors(reader, 3)) == numbers(3, 500)
        here, lacking = reader.position([TopicPartition(topic, number) for number in range(2)])
        assert (here.offset, lacking.offset) == (3, OFFSET_INVALID)
        assert [item.partition for item in reader.commit(asynchronous=False) or []] == [0]

        def told() -> list[str]:
            found = [error for error in troubles if error.code() == KafkaError._UNKNOWN_PARTITION]
            return [error.str().split(":")[0] for error in found]

        poll_until([reader], lambda: bool(told()), "it is told")
        assert told() == [f"{topic} [1]"]


@pytest.mark.parametrize("idempotent", [False, True])
def test_records_that_wait_are_for_the_new_topic_or_fail(modern_cluster: Cluster, idempotent: bool) -> None:
    """Of four partitions two are left: what was queued for the others fails, all else goes to the new topic."""
    topic, reports, later = modern_cluster.topic(4), Reports(), Reports()
    conf = {"linger_ms": 60_000, "enable_idempotence": idempotent}
    with producer(modern_cluster, **conf) as writer:
        for partition in range(4):
            writer.produce(topic, b"old", partition=partition)
        assert writer.flush(LIMIT_S) == 0
        for partition in range(4):
            writer.produce(topic, b"%d" % partition, partition=partition, on_delivery=reports)
        delete(modern_cluster, topic)
        create(modern_cluster, topic, 2)
        assert writer.flush(LIMIT_S) == 0
        for number in range(20):
            writer.produce(topic, b"%d" % (10 + number), b"%d" % number, on_delivery=later)
        assert writer.flush(LIMIT_S) == 0
        with pytest.raises(KafkaException) as refused:
            writer.produce(topic, b"x", partition=2)
    assert refused.value.code == KafkaError._UNKNOWN_PARTITION
    assert sorted((message.partition(), message.offset()) for message in reports.delivered) == [(0, 0), (1, 0)]
    failed = sorted((error.name(), message.partition()) for error, message in reports.failed)
    assert failed == [("_UNKNOWN_PARTITION", 2), ("_UNKNOWN_PARTITION", 3)]
    assert later.failed == []
    with consumer(modern_cluster) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        found = values_of(take(reader, 22))
    assert sorted(found) == sorted([b"0", b"1", *numbers(20, 10)])


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
@pytest.mark.parametrize("mode", ["implicit", "explicit"])
@pytest.mark.parametrize("kind", SHARE_KINDS)
def test_acknowledgements_for_the_old_topic_are_refused_and_the_new_one_is_shared(
    request: pytest.FixtureRequest, kind: str, mode: str, face: str
) -> None:
    cluster: Cluster = request.getfixturevalue(kind)
    topic, group = cluster.topic(), share_group(cluster)
    fill(cluster, topic, numbers(6))
    told: list[tuple[set[int], str | None]] = []

    def on_commit(offsets: dict[TopicPartition, set[int]], error: KafkaException | None) -> None:
        told.extend((set(found), None if error is None else error.error.name()) for found in offsets.values())

    conf = share_conf(cluster, group, share_acknowledgement_mode=mode, topic_metadata_refresh_interval_ms=200)
    with Member(face, conf) as member:
        member.on_commit(on_commit)
        member.subscribe(topic)
        held = share_take(member, 6)
        if mode == "explicit":
            for message in held:
                member.acknowledge(message)
        delete(cluster, topic)
        create(cluster, topic)
        fill(cluster, topic, numbers(3, 500))
        (refused,) = member.commit().values()
        assert refused is not None
        assert refused.error.name() == "UNKNOWN_TOPIC_ID"
        found: list[Message] = []

        def read() -> bool:
            for message in member.poll():
                if message.error() is None:
                    found.append(message)
                    if mode == "explicit":
                        member.acknowledge(message)
            return len(found) >= 3

        wait_for(read, "the new topic's records")
        assert sorted(values_of(found)) == numbers(3, 500)
        member.commit()
    refusals, accepted = told[:1], [offset for offsets, error in told[1:] for offset in offsets if error is None]
    assert refusals == [(set(range(6)), "UNKNOWN_TOPIC_ID")]
    assert sorted(accepted) == [0, 1, 2]


def test_fetches_by_id_and_their_sessions_are_refused_with_the_same_codes(modern_cluster: Cluster) -> None:
    topic = modern_cluster.topic()
    fill(modern_cluster, topic, numbers(3))
    codes = asyncio.run(asyncio.wait_for(refusals(modern_cluster, topic), LIMIT_S))
    assert codes == {
        "fine": (0, [0]),
        "an id that nobody has": (0, [KafkaError.UNKNOWN_TOPIC_ID]),
        "by name in a session by ids": (106, []),
        "a wrong epoch": (KafkaError.INVALID_FETCH_SESSION_EPOCH, []),
        "no such session": (KafkaError.FETCH_SESSION_ID_NOT_FOUND, []),
        "the session's topic was deleted": (0, [KafkaError.UNKNOWN_TOPIC_ID]),
        "the session's topic was made anew": (0, [KafkaError.UNKNOWN_TOPIC_ID]),
        "the old id": (0, [KafkaError.UNKNOWN_TOPIC_ID]),
        "the new id": (0, [0]),
    }


async def refusals(cluster: Cluster, topic: str) -> dict[str, tuple[int, list[int]]]:
    """(code of the answer, codes of its partitions) by what was asked."""
    client = ClusterClient(parse({"bootstrap.servers": cluster.servers}, Role.ADMIN))
    found: dict[str, tuple[int, list[int]]] = {}

    async def ask(
        what: str, topic_id: UUID | None, session: int = 0, epoch: int = -1, version: int | None = None
    ) -> FetchResponse:
        items = [FetchPartition(0, fetch_offset=0, partition_max_bytes=1000)]
        topics = [] if topic_id is None else [FetchTopic("" if version is None else topic, topic_id, items)]
        request = FetchRequest(session_id=session, session_epoch=epoch, topics=topics, max_wait_ms=0)
        response = await connection.send(request, version=version or connection.version_of(FetchRequest))
        parts = [item.error_code for one in response.responses for item in one.partitions]
        found[what] = (response.error_code, parts)
        return response

    async def id_other_than(*ids: UUID) -> UUID:
        while True:
            topic_id = (await client.refresh_metadata([topic])).topic_id(topic)
            if topic_id not in ids:
                return topic_id
            await asyncio.sleep(0.02)

    try:
        old_id = await id_other_than(ZERO_UUID)
        leader = client.metadata.leader(topic, 0)
        assert leader is not None
        connection = await client.connection(leader)
        assert connection.version_of(FetchRequest) >= 13
        session = (await ask("fine", old_id, epoch=0)).session_id
        await ask("an id that nobody has", uuid4())
        await ask("by name in a session by ids", ZERO_UUID, session, 1, 12)
        await ask("a wrong epoch", None, session, 9)
        await ask("no such session", None, session ^ 1, 1)
        await asyncio.to_thread(delete, cluster, topic)
        await id_other_than(old_id)
        session = (await ask("the session's topic was deleted", old_id, epoch=0)).session_id
        await asyncio.to_thread(create, cluster, topic)
        new_id = await id_other_than(old_id, ZERO_UUID)
        await ask("the session's topic was made anew", None, session, 1)
        await ask("the old id", old_id)
        await ask("the new id", new_id)
        while found["the new id"][1] == [KafkaError.NOT_LEADER_FOR_PARTITION]:  # it is named before its log is there
            await asyncio.sleep(0.02)
            await ask("the new id", new_id)
    finally:
        await client.close()
    return found
