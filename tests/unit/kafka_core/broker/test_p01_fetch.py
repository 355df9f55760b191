"""Fetch requests through the dispatcher: bounds, waiting, sessions, epochs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, ForgottenTopic
from tests.unit.kafka_core.broker.harness import Bench, header_of

MANY = 1 << 20


def partition(
    index: int = 0, offset: int = 0, *, max_bytes: int = MANY, epoch: int = -1, last: int = -1
) -> FetchPartition:
    return FetchPartition(index, epoch, offset, last, -1, max_bytes)


def request(*items: FetchPartition, name: str = "t", **fields: Any) -> FetchRequest:
    options: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": MANY, **fields}
    return FetchRequest(topics=[FetchTopic(name, ZERO_UUID, list(items))] if items else [], **options)


def only(response: FetchResponse) -> Any:
    ((item,),) = [topic.partitions for topic in response.responses]
    return item


def base_offsets(records: Any) -> list[int]:
    data, found = bytes(records or b""), []
    while data:
        header = header_of(data)
        found.append(header["base_offset"])
        data = data[12 + header["size"] :]
    return found


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.topic(partitions=2)
    for value in (b"a", b"b", b"c"):
        bench.write([value] * 2)
    return bench


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_reads(bench: Bench, version: int) -> None:
    by_id = version >= 13
    topic_id = bench.cluster.topics["t"].topic_id
    asked = request(partition(0, 3))
    asked.topics[0].topic, asked.topics[0].topic_id = ("", topic_id) if by_id else ("t", ZERO_UUID)
    response = bench.ask(asked, version)
    item = only(response)
    assert (item.error_code, item.high_watermark, item.last_stable_offset) == (0, 6, 6)
    assert base_offsets(item.records) == [2, 4]
    assert item.aborted_transactions is None
    assert (response.responses[0].topic_id if by_id else response.responses[0].topic) == (topic_id if by_id else "t")


@pytest.mark.parametrize(
    ("offset", "code", "watermark"),
    [(6, Code.NONE, 6), (7, Code.OFFSET_OUT_OF_RANGE, -1), (-1, Code.OFFSET_OUT_OF_RANGE, -1)],
)
def test_offsets_at_and_beyond_the_end(bench: Bench, offset: int, code: Code, watermark: int) -> None:
    item = only(bench.ask(request(partition(0, offset)), 12))
    assert (item.error_code, item.high_watermark, bytes(item.records)) == (code, watermark, b"")


def test_unknown_topics_and_partitions_are_errors(bench: Bench) -> None:
    assert only(bench.ask(request(partition(), name="nope"), 12)).error_code == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert only(bench.ask(request(partition(9)), 12)).error_code == Code.UNKNOWN_TOPIC_OR_PARTITION
    asked = request(partition(), name="")
    asked.topics[0].topic_id = UUID(int=5)
    item = only(bench.ask(asked, 13))
    assert (item.error_code, item.aborted_transactions) == (Code.UNKNOWN_TOPIC_ID, [])


def test_readers_of_committed_records_get_a_list_of_aborted_ones(bench: Bench) -> None:
    assert only(bench.ask(request(partition(), isolation_level=1), 12)).aborted_transactions == []


def test_bounds_are_kept_but_one_batch_always_comes(bench: Bench) -> None:
    bench.write([b"d"], index=1)
    size = len(next(iter(bench.partition().log.batches())).data)
    assert base_offsets(only(bench.ask(request(partition(0, 0, max_bytes=2 * size + 1)), 12)).records) == [0, 2]
    assert base_offsets(only(bench.ask(request(partition(0, 0, max_bytes=1)), 12)).records) == [0]
    response = bench.ask(request(partition(0), partition(1), max_bytes=1), 12)
    assert [base_offsets(item.records) for item in response.responses[0].partitions] == [[0], []]
    response = bench.ask(request(partition(0, 6), partition(1), max_bytes=1), 12)
    assert [base_offsets(item.records) for item in response.responses[0].partitions] == [[], [0]]


# ---- waiting -------------------------------------------------------------------------------------------------------


def test_a_fetch_waits_for_bytes(bench: Bench) -> None:
    waiting = bench.send(request(partition(0, 6), partition(1), max_wait_ms=500, min_bytes=200), 12)
    bench.write([b"x"], index=1)
    assert not waiting.done
    bench.write([b"x" * 200])
    assert [base_offsets(item.records) for item in waiting.answer().responses[0].partitions] == [[6], [0]]
    assert all(not item.watchers for item in bench.cluster.partitions())
    bench.advance(1)


def test_a_fetch_is_answered_when_its_time_is_over(bench: Bench) -> None:
    waiting = bench.send(request(partition(0, 6), max_wait_ms=500, min_bytes=1), 12)
    bench.advance(0.499)
    assert not waiting.done
    bench.advance(0.001)
    assert only(waiting.answer()).error_code == 0
    assert not bench.partition().watchers


def test_errors_do_not_wait(bench: Bench) -> None:
    for item, name in ((partition(0, 99), "t"), (partition(), "nope")):
        assert bench.send(request(item, name=name, max_wait_ms=500, min_bytes=1), 12).done


def test_a_fetch_that_waits_hears_of_a_new_leader_and_of_the_topics_end() -> None:
    bench = Bench(2)
    bench.topic()
    waiting = bench.send(request(partition(), max_wait_ms=500, min_bytes=1), 16)
    assert waiting.done  # by name in a version that wants ids: unknown at once
    waiting = bench.send(request(partition(epoch=0), max_wait_ms=500, min_bytes=1), 12)
    bench.cluster.move_leader("t", 0, 2)
    item = only(waiting.answer())
    assert item.error_code == Code.FENCED_LEADER_EPOCH
    assert (item.current_leader.leader_id, item.current_leader.leader_epoch) == (2, 1)
    waiting = bench.send(request(partition(), max_wait_ms=500, min_bytes=1), 12, broker=2)
    bench.cluster.delete_topic(bench.cluster.topics["t"])
    assert only(waiting.answer()).error_code == Code.UNKNOWN_TOPIC_OR_PARTITION


def test_the_newest_versions_give_the_leaders_address() -> None:
    bench = Bench(2)
    topic_id = bench.cluster.create_topic("t", assignments=[[1]]).topic_id
    asked = request(partition(), name="")
    asked.topics[0].topic_id = topic_id
    response = bench.ask(asked, 16, broker=2)
    assert [(node.node_id, node.port) for node in response.node_endpoints] == [(1, 9001)]
    assert bench.ask(asked, 15, broker=2).node_endpoints == []
    assert only(bench.ask(request(partition()), 11, broker=2)).current_leader.leader_id == -1


# ---- epochs --------------------------------------------------------------------------------------------------------


def test_epochs_are_compared(bench: Bench) -> None:
    bench.partition().lead(1)
    codes = [only(bench.ask(request(partition(epoch=epoch)), 12)).error_code for epoch in (-1, 0, 1, 2)]
    assert codes == [Code.NONE, Code.FENCED_LEADER_EPOCH, Code.NONE, Code.UNKNOWN_LEADER_EPOCH]


def test_a_reader_hears_where_its_log_parts_from_ours(bench: Bench) -> None:
    bench.partition().lead(1)
    bench.write([b"d"])
    diverging = only(bench.ask(request(partition(0, 7, last=0)), 12)).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 6)
    item = only(bench.ask(request(partition(0, 6, last=0)), 12))
    assert (item.diverging_epoch.epoch, base_offsets(item.records)) == (-1, [6])
    assert only(bench.ask(request(partition(0, 6, last=9)), 12)).error_code == Code.OFFSET_OUT_OF_RANGE


# ---- sessions ------------------------------------------------------------------------------------------------------


def start_session(bench: Bench, *items: FetchPartition) -> int:
    response = bench.ask(request(*items, session_epoch=0), 12)
    assert response.session_id > 0
    return response.session_id


def ask_session(bench: Bench, session_id: int, epoch: int, *items: FetchPartition, **fields: Any) -> FetchResponse:
    return bench.ask(request(*items, session_id=session_id, session_epoch=epoch, **fields), 12)


def test_a_session_answers_news_only(bench: Bench) -> None:
    session_id = start_session(bench, partition(0, 6), partition(1))
    assert ask_session(bench, session_id, 1).responses == []
    bench.write([b"x"], index=1)
    response = ask_session(bench, session_id, 2)
    assert response.session_id == session_id
    item = only(response)
    assert (item.partition_index, base_offsets(item.records)) == (1, [0])
    assert ask_session(bench, session_id, 3, partition(1, 1)).responses == []
    assert base_offsets(only(ask_session(bench, session_id, 4, partition(0, 4))).records) == [4]


def test_a_session_forgets_partitions_and_ends(bench: Bench) -> None:
    session_id = start_session(bench, partition(0), partition(1))
    forgotten = [ForgottenTopic("t", ZERO_UUID, [0])]
    assert ask_session(bench, session_id, 1, forgotten_topics_data=forgotten).responses == []
    assert ask_session(bench, session_id, -1).session_id == 0
    assert ask_session(bench, session_id, 2).error_code == Code.FETCH_SESSION_ID_NOT_FOUND


def test_session_epochs_are_checked(bench: Bench) -> None:
    session_id = start_session(bench, partition(0))
    response = ask_session(bench, session_id, 7)
    assert (response.error_code, response.session_id) == (Code.INVALID_FETCH_SESSION_EPOCH, 0)


def test_sessions_end_with_their_broker(bench: Bench) -> None:
    session_id = start_session(bench, partition(0))
    bench.cluster.node_down(1)
    bench.cluster.node_up(1)
    assert ask_session(bench, session_id, 1).error_code == Code.FETCH_SESSION_ID_NOT_FOUND


def test_partitions_with_records_take_turns(bench: Bench) -> None:
    bench.write([b"x"], index=1)
    session_id = start_session(bench, partition(0, 6), partition(1, 1))
    order = []
    for epoch in range(1, 5):
        response = ask_session(bench, session_id, epoch, partition(0), partition(1), max_bytes=1)
        (topic,) = response.responses
        order.append([item.partition_index for item in topic.partitions if item.records])
    assert order == [[0], [1], [0], [1]]


# ---- reading from followers (KIP-392)

BY_RACK = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


def racks(properties: dict[str, str] | None = None) -> Bench:
    """Three brokers in racks a, b and c; the first leads, two are replicas."""
    bench = Bench(3, properties)
    for node, rack in zip(bench.cluster.nodes.values(), "abc", strict=True):
        node.rack = rack
    bench.cluster.create_topic("t", assignments=[[1, 2]])
    bench.write([b"a", b"b"])
    return bench


def fetched(bench: Bench, rack: str, *, broker: int = 1, version: int = 12, **fields: Any) -> tuple[int, int, int]:
    """Error, preferred replica and bytes."""
    item = only(bench.ask(request(partition(), rack_id=rack, **fields), version, broker=broker))
    return item.error_code, item.preferred_read_replica, len(bytes(item.records or b""))


def test_a_reader_is_sent_to_the_replica_in_its_rack_at_once() -> None:
    bench = racks(BY_RACK)
    waiting = bench.send(request(partition(0, 2), rack_id="b", max_wait_ms=500, min_bytes=1), 12)
    assert waiting.done
    item = only(waiting.answer())
    assert (item.error_code, item.preferred_read_replica, item.high_watermark) == (0, 2, 2)
    assert fetched(bench, "b") == (0, 2, 0)


@pytest.mark.parametrize("rack", ["", "a", "c", "d"])
def test_where_no_follower_is_nearer_the_leader_serves_itself(rack: str) -> None:
    code, preferred, size = fetched(racks(BY_RACK), rack)
    assert (code, preferred) == (0, -1)
    assert size > 0


def test_without_a_selector_racks_do_not_matter() -> None:
    assert fetched(racks(), "b")[:2] == (0, -1)


def test_a_replica_out_of_sync_is_not_preferred() -> None:
    bench = racks(BY_RACK)
    bench.partition().isr.remove(2)
    assert fetched(bench, "b")[:2] == (0, -1)


def test_a_follower_gives_out_records_and_sends_nobody_on() -> None:
    bench = racks(BY_RACK)
    code, preferred, size = fetched(bench, "b", broker=2)
    assert (code, preferred) == (0, -1)
    assert size > 0


def test_only_replicas_do_so_and_not_for_old_versions_or_without_a_leader() -> None:
    bench = racks(BY_RACK)
    assert fetched(bench, "c", broker=3)[0] == Code.NOT_LEADER_OR_FOLLOWER
    assert fetched(bench, "", broker=2, version=10)[0] == Code.NOT_LEADER_OR_FOLLOWER
    bench.partition().lead(-1)
    assert fetched(bench, "b", broker=2)[0] == Code.NOT_LEADER_OR_FOLLOWER


def test_a_follower_refuses_other_leader_epochs() -> None:
    bench = racks(BY_RACK)
    bench.cluster.move_leader("t", 0, 1)
    bench.partition().lead(1)
    for epoch, code in ((0, Code.FENCED_LEADER_EPOCH), (1, Code.NONE), (2, Code.UNKNOWN_LEADER_EPOCH)):
        assert only(bench.ask(request(partition(epoch=epoch)), 12, broker=2)).error_code == code


def test_a_session_is_told_of_the_preferred_replica_whenever_it_asks() -> None:
    bench = racks(BY_RACK)
    first = bench.ask(request(partition(0, 2), rack_id="b", session_epoch=0), 12)
    again = request(rack_id="b", session_id=first.session_id, session_epoch=1)
    assert only(bench.ask(again, 12)).preferred_read_replica == 2
