"""Share groups by requests: members, fetches that wait, locks that end, sessions that break, what administrators see.

Answers to the same calls by Kafka 4.3.1 are in tests/contract/test_share_protocol.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages import share_acknowledge, share_fetch
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_core.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
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
from tests.unit.kafka_core.broker.harness import Bench, batch, header_of

Ack = tuple[int, int, list[int]]
Acks = Mapping[int, Sequence[Ack]]
NOTHING: Acks = {}
SHORT = {
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "10000",
    "group.share.heartbeat.interval.ms": "3000",
}
CONTROL, TRANSACTIONAL = 0x20, 0x10


class Member:
    """A member of group `g` with a connection of its own."""

    def __init__(self, bench: Bench, name: str, topic_id: UUID, broker: int = 1) -> None:
        self.bench, self.name, self.topic_id, self.broker = bench, name, topic_id, broker
        self.connection = bench.connect(broker)
        self.epoch = 0

    def heartbeat(self, epoch: int = 0, topics: Sequence[str] | None = ("t",)) -> Any:
        names = None if topics is None else list(topics)
        return self.bench.ask(ShareGroupHeartbeatRequest("g", self.name, epoch, None, names))

    def send(self, parts: Acks = NOTHING, wait_ms: int = 500, max_records: int = 100, **more: Any) -> Any:
        """A ShareFetch; `parts` names partitions, with what is acknowledged in them."""
        items = [
            share_fetch.FetchPartition(number, 0, [share_fetch.AcknowledgementBatch(*item) for item in said])
            for number, said in parts.items()
        ]
        request = share_fetch.ShareFetchRequest(
            "g",
            self.name,
            more.pop("epoch", self.epoch),
            wait_ms,
            more.pop("min_bytes", 1),
            more.pop("max_bytes", 1 << 20),
            max_records,
            more.pop("batch_size", 100),
            topics=[share_fetch.FetchTopic(self.topic_id, items)] if items else [],
            **more,
        )
        if request.share_session_epoch == self.epoch:
            self.epoch += 1
        return self.bench.send(request, broker=self.broker, connection=self.connection)

    def fetch(self, parts: Acks = NOTHING, **options: Any) -> Any:
        return self.send(parts, **options).answer()

    def acknowledge(self, parts: Acks, *, renew: bool = False, epoch: int | None = None) -> Any:
        items = [
            share_acknowledge.AcknowledgePartition(
                number, [share_acknowledge.AcknowledgementBatch(*item) for item in said]
            )
            for number, said in parts.items()
        ]
        topics = [share_acknowledge.AcknowledgeTopic(self.topic_id, items)]
        sent = self.epoch if epoch is None else epoch
        self.epoch += epoch is None
        return self.bench.ask(
            share_acknowledge.ShareAcknowledgeRequest("g", self.name, sent, renew, topics),
            broker=self.broker,
            connection=self.connection,
        )


def acquired(answer: Any) -> dict[int, list[tuple[int, int, int]]]:
    """Partition → what was acquired; errors fail the test."""
    assert answer.error_code == Code.NONE, answer
    found = {}
    for topic in answer.responses:
        for part in topic.partitions:
            assert part.error_code == part.acknowledge_error_code == Code.NONE, part
            if part.acquired_records:
                found[part.partition_index] = [
                    (item.first_offset, item.last_offset, item.delivery_count) for item in part.acquired_records
                ]
    return found


def verdicts(answer: Any) -> list[tuple[int, int]]:
    assert answer.error_code == Code.NONE, answer
    return [(part.partition_index, part.error_code) for topic in answer.responses for part in topic.partitions]


@pytest.fixture
def bench() -> Bench:
    return Bench(properties=SHORT)


@pytest.fixture
def topic_id(bench: Bench) -> UUID:
    made = bench.topic("t", 2)
    bench.cluster.set_group_config("g", _config(bench, {"share.auto.offset.reset": "earliest"}))
    return made


def _config(bench: Bench, own: Mapping[str, str]) -> Any:
    config = bench.cluster.group_config("g")
    return type(config)(bench.cluster.config, {**config.own, **own})


@pytest.fixture
def member(bench: Bench, topic_id: UUID) -> Member:
    made = Member(bench, "m", topic_id)
    assert made.heartbeat().error_code == Code.NONE
    return made


@pytest.fixture
def other(bench: Bench, topic_id: UUID) -> Member:
    return Member(bench, "other", topic_id)


def positions(bench: Bench, topics: Mapping[str, list[int]] | None = None) -> list[tuple[int, int, int]]:
    """(partition, start offset, lag)."""
    names = None if topics is None else [DescribeShareGroupOffsetsRequestTopic(*item) for item in topics.items()]
    asked = DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup("g", names)])
    (group,) = bench.ask(asked).groups
    assert group.error_code == Code.NONE
    return [(part.partition_index, part.start_offset, part.lag) for item in group.topics for part in item.partitions]


def alter(bench: Bench, offsets: Mapping[int, int], group: str = "g") -> Any:
    items = [AlterShareGroupOffsetsRequestPartition(*item) for item in offsets.items()]
    return bench.ask(AlterShareGroupOffsetsRequest(group, [AlterShareGroupOffsetsRequestTopic("t", items)]))


# ---- members -------------------------------------------------------------------------------------------------------


def test_a_member_that_is_silent_is_out_and_its_partitions_are_others(bench: Bench, member: Member) -> None:
    other = Member(bench, "other", member.topic_id)
    other.heartbeat()
    (parts,) = member.heartbeat(2).assignment.topic_partitions
    assert len(parts.partitions) == 1
    bench.advance(44.0)
    assert member.heartbeat(3, None).error_code == Code.NONE
    bench.advance(2.0)
    assert other.heartbeat(3, None).error_code == Code.UNKNOWN_MEMBER_ID
    (parts,) = member.heartbeat(3, None).assignment.topic_partitions
    assert parts.partitions == [0, 1]
    bench.advance(46.0)
    (group,) = bench.ask(ShareGroupDescribeRequest(["g"])).groups
    assert (group.group_state, group.members) == ("Empty", [])


def test_the_groups_own_times_count(bench: Bench, member: Member) -> None:
    bench.cluster.set_group_config(
        "g", _config(bench, {"share.session.timeout.ms": "50000", "share.heartbeat.interval.ms": "7000"})
    )
    assert member.heartbeat(2).heartbeat_interval_ms == 7000
    bench.advance(49.9)
    assert member.heartbeat(2, None).error_code == Code.NONE


def test_a_group_has_its_largest_size() -> None:
    bench = Bench(properties={"group.share.max.size": "1"})
    topic_id = bench.topic()
    assert Member(bench, "a", topic_id).heartbeat().error_code == Code.NONE
    refused = Member(bench, "b", topic_id).heartbeat()
    assert refused.error_code == Code.GROUP_MAX_SIZE_REACHED
    assert refused.error_message == "The share group has reached its maximum capacity of 1 members."


def test_new_partitions_and_topics_are_assigned_at_the_next_heartbeat(bench: Bench, member: Member) -> None:
    assert member.heartbeat(2, None).assignment is None
    bench.cluster.add_partitions("t", 3)
    told = member.heartbeat(2, None)
    assert (told.member_epoch, told.assignment.topic_partitions[0].partitions) == (3, [0, 1, 2])
    bench.cluster.delete_topic(bench.cluster.topics["t"])
    told = member.heartbeat(3, None)
    assert (told.member_epoch, told.assignment.topic_partitions) == (4, [])


# ---- fetching ------------------------------------------------------------------------------------------------------


def test_a_fetch_waits_for_records_and_others_get_none_of_them(bench: Bench, member: Member, other: Member) -> None:
    parked, beside = member.send({0: []}), other.send({0: []})
    assert not parked.done
    bench.write([b"a", b"b"])
    assert acquired(parked.answer()) == {0: [(0, 1, 1)]}
    assert not beside.done
    bench.write([b"c"])
    assert acquired(beside.answer()) == {0: [(2, 2, 1)]}
    assert bench.partition().watchers == {}


def test_a_fetch_that_finds_nothing_ends_in_time(bench: Bench, member: Member) -> None:
    parked = member.send({0: [], 1: []}, wait_ms=300)
    bench.advance(0.2)
    assert not parked.done
    bench.advance(0.11)
    assert [part.partition_index for part in parked.answer().responses[0].partitions] == [0, 1]
    later = member.send(wait_ms=300)
    bench.advance(0.3)
    assert later.answer().responses == []
    assert bench.partition().watchers == {}


def test_a_fetch_waits_for_as_many_bytes_as_it_wants(bench: Bench, member: Member) -> None:
    parked = member.send({0: []}, min_bytes=150)
    bench.write([b"a"])
    assert not parked.done
    bench.write([b"b"])
    bench.write([b"c"])
    assert acquired(parked.answer()) == {0: [(0, 2, 1)]}


def test_records_that_come_back_wake_those_who_wait(bench: Bench, member: Member, other: Member) -> None:
    bench.write([b"a", b"b", b"c"])
    assert acquired(member.fetch({0: []})) == {0: [(0, 2, 1)]}
    parked = other.send({0: []})
    assert not parked.done
    assert verdicts(member.acknowledge({0: [(1, 1, [2])]})) == [(0, 0)]
    assert acquired(parked.answer()) == {0: [(1, 1, 2)]}


def test_a_lock_ends_and_the_records_are_others(bench: Bench, member: Member, other: Member) -> None:
    bench.write([b"a", b"b", b"c"])
    member.fetch({0: []})
    bench.advance(6.0)
    assert verdicts(member.acknowledge({0: [(2, 2, [4])]}, renew=True)) == [(0, 0)]
    parked = other.send({0: []}, wait_ms=60_000)
    bench.advance(3.9)
    assert not parked.done
    bench.advance(0.2)
    assert acquired(parked.answer()) == {0: [(0, 1, 2)]}
    assert verdicts(member.acknowledge({0: [(0, 0, [1])]})) == [(0, Code.INVALID_RECORD_STATE)]
    assert verdicts(member.acknowledge({0: [(2, 2, [1])]})) == [(0, 0)]


def test_few_timers_watch_many_locks(bench: Bench, member: Member) -> None:
    for number in range(50):
        bench.write([b"v"])
        member.fetch({0: []} if not number else {})
        member.acknowledge({0: [(number, number, [1])]})
    assert len(bench.cluster.timers._heap) < 10


def test_partitions_take_turns_when_a_fetch_cannot_hold_all(bench: Bench, member: Member) -> None:
    for index in (0, 1):
        for _ in range(2):
            bench.write([b"v"] * 3, index=index)
    found = [acquired(member.fetch({0: [], 1: []} if not turn else {}, max_records=3)) for turn in range(4)]
    assert found == [{0: [(0, 2, 1)]}, {1: [(0, 2, 1)]}, {0: [(3, 5, 1)]}, {1: [(3, 5, 1)]}]


def test_a_fetch_keeps_to_its_bytes_but_gives_one_batch_at_least(bench: Bench, member: Member) -> None:
    for index in (0, 0, 1):
        bench.write([b"v" * 1000], index=index)
    answer = member.fetch({0: [], 1: []}, max_bytes=1500)
    assert acquired(answer) == {0: [(0, 0, 1)]}
    assert acquired(member.fetch(max_bytes=10)) == {1: [(0, 0, 1)]}
    assert acquired(member.fetch(max_bytes=10)) == {0: [(1, 1, 1)]}


def test_records_are_whole_batches_from_the_first_to_the_last_that_was_acquired(bench: Bench, member: Member) -> None:
    for value in (b"a", b"b", b"c"):
        bench.write([value] * 2)
    (topic,) = member.fetch({0: []}, max_records=3, share_acquire_mode=1).responses
    records = bytes(topic.partitions[0].records)
    assert len(records) == 2 * len(batch([b"a"] * 2))
    assert header_of(records)["base_offset"] == 0


def test_acknowledgements_on_the_way_count_first(bench: Bench, member: Member) -> None:
    bench.write([b"v"] * 4)
    member.fetch({0: []})
    assert acquired(member.fetch({0: [(0, 1, [1]), (2, 3, [2])]})) == {0: [(2, 3, 2)]}
    (topic,) = member.fetch({0: [(0, 0, [1]), (2, 2, [9])]}, wait_ms=0).responses
    assert topic.partitions[0].acknowledge_error_code == Code.INVALID_REQUEST
    assert topic.partitions[0].error_code == Code.NONE


@pytest.mark.parametrize(
    ("reset", "expected"),
    [("earliest", (0, 3)), ("latest", None), ("by_duration:PT1M30S", (2, 3)), ("by_duration:P1D", (0, 3))],
)
def test_where_a_group_begins(bench: Bench, member: Member, reset: str, expected: tuple[int, int] | None) -> None:
    bench.cluster.set_group_config("g", _config(bench, {"share.auto.offset.reset": reset}))
    bench.write([b"a", b"b"])
    bench.advance(60.0)
    member.heartbeat(2, None)
    bench.write([b"c", b"d"])
    bench.advance(60.0)
    member.heartbeat(2, None)
    first = member.send({0: []}, wait_ms=10)
    if expected is None:
        bench.write([b"e"])
        assert acquired(first.answer()) == {0: [(4, 4, 1)]}
    else:
        ((begin, end, _),) = acquired(first.answer())[0]
        assert (begin, end) == expected


def test_aborted_records_are_not_given_to_read_committed_members(bench: Bench, member: Member) -> None:
    bench.cluster.set_group_config("g", _config(bench, {"share.isolation.level": "read_committed"}))
    log = bench.partition().log

    def write(producer_id: int, attributes: int) -> int:
        data = batch([b"v"] * 2, attributes=attributes, producer=(producer_id, 0, 0))
        return log.append(memoryview(bytearray(data)), 2, 0, 0, 0)

    log.transaction_wrote(7, write(7, TRANSACTIONAL))
    bench.write([b"a"])
    parked = member.send({0: []}, wait_ms=100)
    assert not parked.done  # the transaction is open
    log.transaction_ended(7, write(7, TRANSACTIONAL | CONTROL), commit=False)
    log.transaction_wrote(7, write(7, TRANSACTIONAL))
    log.transaction_ended(7, write(7, TRANSACTIONAL | CONTROL), commit=True)
    bench.partition().changed()
    assert acquired(parked.answer()) == {0: [(2, 8, 1)]}
    assert verdicts(member.acknowledge({0: [(2, 8, [1, 0, 0, 1, 1, 0, 0])]})) == [(0, 0)]
    assert positions(bench)[0] == (0, 2, 0)  # the start offset is told one change late


# ---- sessions ------------------------------------------------------------------------------------------------------


def test_a_broken_connection_gives_back_what_its_member_had(bench: Bench, member: Member, other: Member) -> None:
    bench.write([b"v"] * 2)
    member.fetch({0: []})
    lost, waits = member.send(), other.send({0: []})
    bench.cluster.disconnected(1, member.connection.connection_id)
    assert lost.answer().error_code == Code.SHARE_SESSION_NOT_FOUND
    assert acquired(waits.answer()) == {0: [(0, 1, 2)]}
    assert member.fetch().error_code == Code.SHARE_SESSION_NOT_FOUND


def test_the_last_request_of_a_session_gives_back_what_it_does_not_speak_of(
    bench: Bench, member: Member, other: Member
) -> None:
    bench.write([b"v"] * 4)
    member.fetch({0: []})
    assert verdicts(member.acknowledge({0: [(0, 1, [1])]}, epoch=-1)) == [(0, 0)]
    assert acquired(other.fetch({0: []})) == {0: [(2, 3, 2)]}
    answer = other.fetch({0: [(2, 2, [1])]}, epoch=-1)
    assert [part.acknowledge_error_code for part in answer.responses[0].partitions] == [Code.NONE]
    assert other.fetch({}, epoch=-1).error_code == Code.SHARE_SESSION_NOT_FOUND
    assert positions(bench)[0] == (0, 3, 1)


def test_a_new_session_keeps_the_locks_of_the_old_one(bench: Bench, member: Member) -> None:
    bench.write([b"v"] * 2)
    member.fetch({0: []})
    assert member.fetch({}, epoch=0, wait_ms=0).responses == []
    member.epoch = 1
    assert verdicts(member.acknowledge({0: [(0, 1, [1])]})) == [(0, 0)]


@pytest.mark.parametrize("epoch", [3, 1])
def test_an_epoch_out_of_turn_is_refused(bench: Bench, member: Member, epoch: int) -> None:
    bench.write([b"v"])
    member.fetch({0: []})
    member.fetch(wait_ms=0)
    assert member.fetch(epoch=epoch).error_code == Code.INVALID_SHARE_SESSION_EPOCH
    assert member.acknowledge({0: [(0, 0, [1])]}, epoch=epoch).error_code == Code.INVALID_SHARE_SESSION_EPOCH
    assert member.acknowledge({0: [(0, 0, [1])]}, epoch=0).error_code == Code.INVALID_SHARE_SESSION_EPOCH
    assert verdicts(member.acknowledge({0: [(0, 0, [1])]})) == [(0, 0)]


def test_there_are_as_many_sessions_as_may_be() -> None:
    bench = Bench(properties={"group.share.max.share.sessions": "1"})
    topic_id = bench.topic()
    one, two = Member(bench, "a", topic_id), Member(bench, "b", topic_id)
    one.heartbeat()
    assert one.fetch({0: []}, wait_ms=0).error_code == Code.NONE
    assert two.fetch({0: []}, wait_ms=0).error_code == Code.SHARE_SESSION_LIMIT_REACHED
    assert one.fetch({}, epoch=-1).error_code == Code.NONE
    assert two.fetch({0: []}, wait_ms=0, epoch=0).error_code == Code.NONE


def test_forgotten_partitions_are_read_no_more(bench: Bench, member: Member) -> None:
    bench.write([b"v"], index=1)
    forgotten = [share_fetch.ForgottenTopic(member.topic_id, [1])]
    member.fetch({0: [], 1: []}, wait_ms=0, max_records=0)
    assert acquired(member.fetch(wait_ms=0, forgotten_topics_data=forgotten)) == {}
    assert acquired(member.fetch({1: []}, wait_ms=0)) == {1: [(0, 0, 1)]}


@pytest.mark.parametrize("field", ["wait_ms", "min_bytes", "max_bytes", "max_records"])
def test_a_renewal_fetches_nothing(bench: Bench, member: Member, field: str) -> None:
    bench.write([b"v"])
    member.fetch({0: []})
    quiet = {"wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    refused = member.fetch({0: [(0, 0, [4])]}, is_renew_ack=True, epoch=1, **{**quiet, field: 1})
    assert refused.error_code == Code.INVALID_REQUEST
    member.epoch = 1
    assert acquired(member.fetch({0: [(0, 0, [4])]}, is_renew_ack=True, **quiet)) == {}


# ---- brokers -------------------------------------------------------------------------------------------------------


def test_a_new_leader_is_named_and_gives_out_what_was_locked() -> None:
    bench = Bench(2, properties=SHORT)
    topic_id = bench.topic()
    bench.cluster.set_group_config("g", _config(bench, {"share.auto.offset.reset": "earliest"}))
    coordinator = bench.cluster.coordinator_of("g")
    assert coordinator is not None
    asked = ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"])
    assert bench.ask(asked, broker=coordinator.node_id).error_code == Code.NONE
    assert bench.ask(asked, broker=3 - coordinator.node_id).error_code == Code.NOT_COORDINATOR
    here, there = Member(bench, "m", topic_id, 1), Member(bench, "m", topic_id, 2)
    bench.write([b"v"] * 3)
    assert acquired(here.fetch({0: []})) == {0: [(0, 2, 1)]}
    here.acknowledge({0: [(0, 0, [1])]})
    waits = here.send(wait_ms=9000)
    bench.cluster.move_leader("t", 0, 2)
    for answer in (waits.answer(), here.fetch()):
        (part,) = answer.responses[0].partitions
        assert (part.error_code, part.current_leader.leader_id) == (Code.NOT_LEADER_OR_FOLLOWER, 2)
        assert [node.node_id for node in answer.node_endpoints] == [2]
    answer = here.acknowledge({0: [(1, 1, [1])]})
    (part,) = answer.responses[0].partitions
    assert (part.error_code, part.current_leader.leader_id) == (Code.NOT_LEADER_OR_FOLLOWER, 2)
    assert [node.node_id for node in answer.node_endpoints] == [2]
    assert acquired(there.fetch({0: []})) == {0: [(1, 2, 1)]}


def test_a_broker_that_stops_forgets_its_sessions(bench: Bench, member: Member, other: Member) -> None:
    bench.write([b"v"] * 2)
    member.fetch({0: []})
    waits = other.send({0: []}, wait_ms=9000)
    bench.cluster.node_down(1)
    assert waits.answer().error_code == Code.SHARE_SESSION_NOT_FOUND
    bench.cluster.node_up(1)
    assert member.fetch().error_code == Code.SHARE_SESSION_NOT_FOUND
    assert acquired(member.fetch({0: []}, epoch=0)) == {0: [(0, 1, 1)]}


def test_a_topic_that_goes_is_told_to_those_who_wait(bench: Bench, member: Member) -> None:
    waits = member.send({0: []}, wait_ms=9000)
    bench.cluster.delete_topic(bench.cluster.topics["t"])
    (part,) = waits.answer().responses[0].partitions
    assert part.error_code == Code.UNKNOWN_TOPIC_ID
    assert positions(bench) == []


def test_deleted_records_are_passed_over(bench: Bench, member: Member) -> None:
    bench.write([b"v"] * 3)
    member.fetch({0: []})
    bench.write([b"w"] * 3)
    bench.partition().log.delete_before(4)
    assert acquired(member.fetch({}, wait_ms=0)) == {0: [(4, 5, 1)]}
    assert verdicts(member.acknowledge({0: [(0, 5, [1])]})) == [(0, 0)]


# ---- administration ------------------------------------------------------------------------------------------------


def test_a_group_is_moved_once_its_members_have_left(bench: Bench, member: Member) -> None:
    bench.write([b"v"] * 10)
    member.fetch({0: []}, max_records=2, share_acquire_mode=1)
    assert positions(bench) == [(0, -1, -1), (1, -1, -1)]
    member.acknowledge({0: [(0, 1, [1])]})
    assert positions(bench) == [(0, 0, 8), (1, -1, -1)]  # the start offset is told one change late
    assert alter(bench, {0: 5}).error_code == Code.NON_EMPTY_GROUP
    assert member.heartbeat(-1).member_epoch == -1
    (topic,) = alter(bench, {0: 5, 9: 1}).responses
    assert [part.error_code for part in topic.partitions] == [Code.NONE, Code.UNKNOWN_TOPIC_OR_PARTITION]
    assert positions(bench, {"t": [0, 1], "zzz": [0]}) == [(0, 5, 5), (1, -1, -1), (0, -1, -1)]
    assert acquired(member.fetch()) == {0: [(5, 9, 1)]}


def test_moving_wakes_those_who_wait(bench: Bench, member: Member) -> None:
    bench.write([b"v"] * 3)
    member.fetch({0: []})
    member.acknowledge({0: [(0, 2, [1])]})
    member.heartbeat(-1)
    waits = member.send(wait_ms=9000)
    assert not waits.done
    alter(bench, {0: 1})
    assert acquired(waits.answer()) == {0: [(1, 2, 1)]}


def test_positions_are_forgotten_with_the_topic_and_with_the_group(bench: Bench, member: Member) -> None:
    member.heartbeat(-1)
    forget = DeleteShareGroupOffsetsRequest("g", [DeleteShareGroupOffsetsRequestTopic("t")])
    (topic,) = bench.ask(forget).responses
    assert (topic.error_code, topic.topic_id) == (Code.NONE, member.topic_id)
    assert positions(bench) == []
    (topic,) = bench.ask(forget).responses
    assert (topic.error_code, topic.topic_id) == (Code.UNKNOWN_TOPIC_OR_PARTITION, ZERO_UUID)
    alter(bench, {0: 3})
    assert bench.ask(DeleteGroupsRequest(["g"])).results[0].error_code == Code.NONE
    assert positions(bench) == []
    assert bench.ask(DeleteGroupsRequest(["g"])).results[0].error_code == Code.GROUP_ID_NOT_FOUND
    assert bench.cluster.share_partitions.of_group("g") == []


def test_a_group_that_is_moved_is_made(bench: Bench, topic_id: UUID) -> None:
    assert alter(bench, {0: 3}, "new").error_code == Code.NONE
    (group,) = bench.ask(ShareGroupDescribeRequest(["new"])).groups
    assert (group.group_state, group.error_code) == ("Empty", Code.NONE)
    assert topic_id == bench.cluster.topics["t"].topic_id
