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
from tests.contract.clusters import LIMIT_S, Cluster, consumer, fill, take, unique, values_of, wait_for, whole


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def delete(cluster: Cluster, topic: str) -> None:
    cluster.admin.delete_topics([topic])[topic].result(LIMIT_S)


def create(cluster: Cluster, topic: str) -> None:
    """Once the old one is gone."""

    def make() -> bool:
        return cluster.admin.create_topics([NewTopic(topic, 1, 1)])[topic].exception(LIMIT_S) is None

    wait_for(make, f"{topic} is created again")


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
