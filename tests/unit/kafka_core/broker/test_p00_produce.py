"""Produce requests through the dispatcher."""

from __future__ import annotations

import uuid
from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.handlers.api import Special
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.kafka_core.broker.harness import Bench, batch, header_of


def request(
    name: str = "t", index: int = 0, *, acks: int = -1, topic_id: UUID = ZERO_UUID, data: bytes | None = None
) -> ProduceRequest:
    records = batch() if data is None else data
    topic = TopicProduceData(name, topic_id, [PartitionProduceData(index, records)])
    return ProduceRequest(None, acks, 1000, [topic])


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_appends(version: int) -> None:
    bench = Bench()
    topic_id = bench.topic()
    by_id = version >= 13
    asked = request("" if by_id else "t", topic_id=topic_id if by_id else ZERO_UUID)
    for offset in range(2):
        (topic,) = bench.ask(asked, version).responses
        (answer,) = topic.partition_responses
        assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (0, offset, -1)
        assert (topic.topic_id if by_id else topic.name) == (topic_id if by_id else "t")
    assert bench.partition().log.end_offset == 2


@pytest.mark.parametrize(
    ("name", "index", "version", "code"),
    [
        ("nope", 0, 12, Code.UNKNOWN_TOPIC_OR_PARTITION),
        ("t", 7, 12, Code.UNKNOWN_TOPIC_OR_PARTITION),
        ("", 0, 13, Code.UNKNOWN_TOPIC_ID),
    ],
)
def test_partitions_that_do_not_exist(name: str, index: int, version: int, code: Code) -> None:
    bench = Bench()
    bench.topic()
    topic_id = uuid.UUID(int=99) if version == 13 else ZERO_UUID
    answer = bench.ask(request(name, index, topic_id=topic_id), version).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (code, -1)


@pytest.mark.parametrize("version", [9, 10])
def test_the_wrong_broker_names_the_leader_where_the_version_can(version: int) -> None:
    bench = Bench(2)
    bench.topic()
    response = bench.ask(request(), version, broker=2)
    answer = response.responses[0].partition_responses[0]
    assert answer.error_code == Code.NOT_LEADER_OR_FOLLOWER
    hint = answer.current_leader
    endpoints = [(node.node_id, node.host, node.port) for node in response.node_endpoints]
    if version < 10:
        assert (hint.leader_id, hint.leader_epoch, endpoints) == (-1, -1, [])
    else:
        assert (hint.leader_id, hint.leader_epoch, endpoints) == (1, 0, [(1, "test.invalid", 9001)])


def test_no_leader_gives_no_endpoint() -> None:
    bench = Bench(2)
    bench.cluster.create_topic("t", 1, 1)
    bench.cluster.node_down(1)
    response = bench.ask(request(), 12, broker=2)
    assert response.responses[0].partition_responses[0].current_leader.leader_id == -1
    assert response.node_endpoints == []


def test_without_acks_there_is_no_answer_and_an_error_cuts_the_connection() -> None:
    bench = Bench()
    bench.topic()
    assert bench.send(request(acks=0)).answer() is Special.HANG_UP  # the newest version wants an id
    assert bench.send(request(acks=0), 12).answer() is Special.NO_ANSWER
    assert bench.partition().log.end_offset == 1
    assert bench.send(request(acks=0, data=b""), 12).answer() is Special.HANG_UP


def test_other_acks_are_refused() -> None:
    bench = Bench()
    bench.topic()
    answer = bench.ask(request(acks=2), 12).responses[0].partition_responses[0]
    assert answer.error_code == Code.INVALID_REQUIRED_ACKS
    assert bench.partition().log.end_offset == 0


def test_records_that_are_refused_are_named() -> None:
    bench = Bench()
    bench.topic(configs={"cleanup.policy": "compact"})
    answer = bench.ask(request(), 12).responses[0].partition_responses[0]
    assert answer.error_code == Code.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [0]
    assert "1 record errors in total" in (answer.error_message or "")


def test_the_leader_epoch_is_written_into_the_batch() -> None:
    bench = Bench(2)
    bench.topic()
    bench.cluster.move_leader("t", 0, 2)
    bench.ask(request(), 12, broker=2)
    (stored,) = bench.partition().log.batches()
    assert header_of(stored.data)["leader_epoch"] == 1


def test_partitions_of_one_request_succeed_or_fail_on_their_own() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    items = [PartitionProduceData(index, batch(crc=1) if index else batch()) for index in range(2)]
    response = bench.ask(ProduceRequest(None, -1, 1000, [TopicProduceData("t", ZERO_UUID, items)]), 12)
    codes = [answer.error_code for answer in response.responses[0].partition_responses]
    assert codes == [Code.NONE, Code.CORRUPT_MESSAGE]


def test_the_newest_acks_error_carries_ids() -> None:
    bench = Bench()
    topic_id = bench.topic()
    response = bench.ask(request("", acks=5, topic_id=topic_id))
    assert response.responses[0].topic_id == topic_id
