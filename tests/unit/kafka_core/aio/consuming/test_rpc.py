"""kafka_core.aio.consuming.rpc: who is asked, in which version, what is tried again and what is said in the end."""

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from kafka_core.aio.cluster.client import Purpose
from kafka_core.aio.consuming.rpc import ConsumerRpc, concerns_all
from kafka_core.clock import SystemClock
from kafka_core.engine.consuming.offsets import Committed, ConsumerGroupMetadata
from kafka_core.engine.retry import Backoff
from kafka_core.errors import AuthError, BrokerError, KafkaError, NetworkError
from kafka_core.protocol import ApiKey
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafka_core.protocol.versions import BrokerVersions
from tests.faults.loop import on_loop, outcome
from tests.patience import judged_by
from tests.unit.kafka_core.aio.fake_brokers import FakeBrokers

MEMBER = ConsumerGroupMetadata("g", 3, "m")
COMMITS = {("t", 0): Committed(5), ("t", 1): Committed(6, metadata="note")}
E = KafkaError


def make(brokers: FakeBrokers) -> ConsumerRpc:
    client: Any = brokers
    return ConsumerRpc(client, SystemClock(), Backoff(1, 2, random.Random(1)), "g", 5.0)


def commit_answer(*codes: int) -> OffsetCommitResponse:
    parts = [OffsetCommitResponsePartition(number, code) for number, code in enumerate(codes)]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", partitions=parts)])


def fetch_answer(*rows: tuple[int, int], code: int = 0) -> OffsetFetchResponse:
    """(offset, error code) per partition."""
    parts = [OffsetFetchResponsePartitions(n, offset, error_code=error) for n, (offset, error) in enumerate(rows)]
    topics = [OffsetFetchResponseTopics("t", partitions=parts)]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics, code)])


def list_answer(node_id: int, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Offset 100 × partition + node, for whatever is asked."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name,
                [
                    ListOffsetsPartitionResponse(item.partition_index, offset=100 * item.partition_index + node_id)
                    for item in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


# ---- commits


@on_loop
async def test_a_commit_goes_to_the_coordinator_with_the_membership() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(OffsetCommitRequest, commit_answer(0, E.OFFSET_METADATA_TOO_LARGE))
    errors = await make(brokers).commit(lambda: MEMBER, COMMITS)
    assert errors == {("t", 0): 0, ("t", 1): E.OFFSET_METADATA_TOO_LARGE}
    ((node_id, request),) = brokers.log
    assert node_id == 9
    assert (request.group_id, request.generation_id_or_member_epoch, request.member_id) == ("g", 3, "m")
    (topic,) = request.topics
    assert [(item.partition_index, item.committed_offset, item.committed_metadata) for item in topic.partitions] == [
        (0, 5, ""),
        (1, 6, "note"),
    ]
    assert brokers.sent_versions == [9], "without topic ids the newest version that names topics"


@on_loop
async def test_another_coordinator_is_looked_for_and_the_membership_asked_again() -> None:
    brokers = FakeBrokers()
    brokers.coordinators = [9, 2]
    brokers.in_turn(OffsetCommitRequest, commit_answer(E.NOT_COORDINATOR, E.NOT_COORDINATOR), commit_answer(0, 0))
    generations = iter([3, 4])
    errors = await make(brokers).commit(lambda: ConsumerGroupMetadata("g", next(generations), "m"), COMMITS)
    assert set(errors.values()) == {0}
    assert brokers.forgotten == ["g"]
    assert [(node, request.generation_id_or_member_epoch) for node, request in brokers.log] == [(9, 3), (2, 4)]


@on_loop
async def test_a_coordinator_that_cannot_be_reached_is_not_waited_for_but_looked_for() -> None:
    brokers = FakeBrokers()
    brokers.coordinators = [9, 9, 2]
    brokers.backs_off_s[9] = 10.0
    brokers.in_turn(OffsetCommitRequest, commit_answer(0, 0))
    errors = await make(brokers).commit(lambda: MEMBER, COMMITS)
    assert set(errors.values()) == {0}
    assert brokers.forgotten == ["g", "g"]
    assert [node for node, _ in brokers.log] == [2]


@on_loop
async def test_an_offset_in_a_topic_that_was_made_anew_is_not_committed() -> None:
    brokers = FakeBrokers()
    brokers.learn()
    topic = brokers.metadata.topics["t"]
    brokers.metadata = replace(brokers.metadata, topics={"t": replace(topic, topic_id=UUID(int=8))})
    former = {key: replace(item, topic_id=UUID(int=7)) for key, item in COMMITS.items()}
    errors = await make(brokers).commit(lambda: MEMBER, former)
    assert errors == dict.fromkeys(COMMITS, E.UNKNOWN_TOPIC_ID)
    assert brokers.asked(OffsetCommitRequest) == []


@on_loop
async def test_an_offset_in_a_topic_that_is_gone_names_its_id_lest_the_next_one_of_that_name_takes_it() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(OffsetCommitRequest, commit_answer(E.UNKNOWN_TOPIC_ID, E.UNKNOWN_TOPIC_ID))
    former = {key: replace(item, topic_id=UUID(int=7)) for key, item in COMMITS.items()}
    await make(brokers).commit(lambda: MEMBER, former)
    (request,) = brokers.asked(OffsetCommitRequest)
    assert [topic.topic_id for topic in request.topics] == [UUID(int=7)]
    assert brokers.sent_versions == [10]


@pytest.mark.parametrize("code", [E.ILLEGAL_GENERATION, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS])
@on_loop
async def test_an_error_about_the_membership_is_raised(code: int) -> None:
    brokers = FakeBrokers()
    brokers.in_turn(OffsetCommitRequest, commit_answer(code, code))
    error = await outcome(make(brokers).commit(lambda: MEMBER, COMMITS))
    assert isinstance(error, BrokerError)
    assert error.code == code
    assert len(brokers.log) == 1


@on_loop
async def test_a_lost_connection_is_tried_again_and_a_wrong_password_is_not() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(OffsetCommitRequest, NetworkError("cut"), commit_answer(0, 0), AuthError("password"))
    rpc = make(brokers)
    assert await rpc.commit(lambda: MEMBER, COMMITS) == dict.fromkeys(COMMITS, 0)
    assert brokers.forgotten == ["g"]
    assert isinstance(await outcome(rpc.commit(lambda: MEMBER, COMMITS)), AuthError)


def test_when_time_is_over_the_last_cause_is_named() -> None:
    @on_loop
    async def named_within(limit_s: float) -> None:
        brokers = FakeBrokers()
        brokers.in_turn(OffsetCommitRequest, commit_answer(E.COORDINATOR_LOAD_IN_PROGRESS, 0))
        error = await outcome(make(brokers).commit(lambda: MEMBER, COMMITS, limit_s))
        assert isinstance(error, NetworkError)
        assert error.code == E._TIMED_OUT
        assert f"committing offsets of group 'g': no answer within {limit_s:g} s" in str(error)
        assert "Coordinator load in progress" in str(error)
        assert isinstance(error.__cause__, BrokerError)

    judged_by(0.05, named_within)


@on_loop
async def test_no_answer_at_all_ends_in_time_with_what_the_client_knows() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(OffsetCommitRequest, None)
    brokers.learn()
    brokers.last_error = NetworkError("nothing listens")
    error = await outcome(make(brokers).commit(lambda: MEMBER, COMMITS, 0.02))
    assert "nothing listens" in str(error)


@pytest.mark.parametrize(
    ("code", "whole"),
    [(0, False), (E.NOT_COORDINATOR, True), (E.ILLEGAL_GENERATION, True), (E.FENCED_INSTANCE_ID, True),
     (E.COORDINATOR_LOAD_IN_PROGRESS, True), (E.OFFSET_METADATA_TOO_LARGE, False), (E.UNKNOWN_TOPIC_OR_PART, False),
     (E.TOPIC_AUTHORIZATION_FAILED, False)],
)  # fmt: skip
def test_which_errors_of_a_partition_are_about_the_whole_commit(code: int, whole: bool) -> None:
    assert concerns_all(code) is whole


# ---- committed offsets


@on_loop
async def test_committed_offsets_wait_for_transactions_that_end() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(
        OffsetFetchRequest, fetch_answer((4, 0), (-1, E.UNSTABLE_OFFSET_COMMIT)), fetch_answer((4, 0), (7, 0))
    )
    found = await make(brokers).committed(lambda: MEMBER, [("t", 0), ("t", 1)])
    assert {key: item.offset for key, item in found.items()} == {("t", 0): 4, ("t", 1): 7}
    assert [request.require_stable for request in brokers.asked(OffsetFetchRequest)] == [True, True]
    assert brokers.refreshed == [["t"]], "the topic is learnt first, for its id"


@on_loop
async def test_an_error_of_the_group_is_raised_and_one_of_a_partition_is_in_its_row() -> None:
    brokers = FakeBrokers()
    denied = fetch_answer((-1, E.TOPIC_AUTHORIZATION_FAILED))
    brokers.in_turn(OffsetFetchRequest, denied, fetch_answer(code=E.GROUP_AUTHORIZATION_FAILED))
    rpc = make(brokers)
    found = await rpc.committed(lambda: MEMBER, [("t", 0)])
    assert found["t", 0].error_code == E.TOPIC_AUTHORIZATION_FAILED
    error = await outcome(rpc.committed(lambda: MEMBER, [("t", 0)]))
    assert isinstance(error, BrokerError)
    assert error.code == E.GROUP_AUTHORIZATION_FAILED


# ---- offsets by time


@on_loop
async def test_each_leader_is_asked_about_its_own() -> None:
    brokers = FakeBrokers()
    brokers.epochs = {("t", 0): 4}
    brokers.handlers[ListOffsetsRequest] = list_answer
    found = await make(brokers).list_offsets({("t", 0): -2, ("t", 1): 1234}, read_committed=True)
    assert {key: item.offset for key, item in found.items()} == {("t", 0): 1, ("t", 1): 102}
    asked = dict(brokers.log)
    assert {node: request.topics[0].partitions[0].timestamp for node, request in asked.items()} == {1: -2, 2: 1234}
    assert asked[1].topics[0].partitions[0].current_leader_epoch == 4
    assert {request.isolation_level for request in asked.values()} == {1}


@on_loop
async def test_answered_partitions_are_not_asked_again() -> None:
    brokers = FakeBrokers()
    moved = [ListOffsetsPartitionResponse(1, E.NOT_LEADER_FOR_PARTITION)]

    def answer(node_id: int, request: ListOffsetsRequest) -> ListOffsetsResponse:
        if node_id == 2:
            brokers.leaders["t", 1] = 1
            brokers.learn()  # the refresh that `invalidate` leads to
            return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", moved)])
        return list_answer(node_id, request)

    brokers.handlers[ListOffsetsRequest] = answer
    found = await make(brokers).list_offsets({("t", 0): -1, ("t", 1): -1}, read_committed=False)
    assert {key: item.offset for key, item in found.items()} == {("t", 0): 1, ("t", 1): 101}
    assert brokers.invalidated == [None]
    partitions = [[item.partition_index for item in request.topics[0].partitions] for _, request in brokers.log]
    assert sorted(partitions[:2]) == [[0], [1]]
    assert partitions[2:] == [[1]]


def test_a_missing_topic_is_waited_for() -> None:
    @on_loop
    async def waited_for(limit_s: float) -> None:
        brokers = FakeBrokers()
        brokers.handlers[ListOffsetsRequest] = list_answer
        error = await outcome(make(brokers).list_offsets({("gone", 0): -1}, read_committed=False, timeout_s=limit_s))
        assert isinstance(error, NetworkError)
        assert "Unknown topic" in str(error)

    judged_by(0.03, waited_for)


@on_loop
async def test_a_missing_topic_is_told_at_once_if_asked_for() -> None:
    brokers = FakeBrokers()
    brokers.handlers[ListOffsetsRequest] = list_answer
    rpc = make(brokers)
    wanted = {("gone", 0): -1, ("t", 0): -1, ("t", 7): -1}
    found = await rpc.list_offsets(wanted, read_committed=False, missing_is_final=True)
    assert {key: item.error_code for key, item in found.items()} == {
        ("gone", 0): E.UNKNOWN_TOPIC_OR_PART,
        ("t", 0): 0,
        ("t", 7): E._UNKNOWN_PARTITION,
    }


@on_loop
async def test_a_topic_that_may_not_be_seen_is_an_error_of_its_partitions() -> None:
    brokers = FakeBrokers()
    brokers.handlers[ListOffsetsRequest] = list_answer
    brokers.errors = {"secret": E.TOPIC_AUTHORIZATION_FAILED}
    found = await make(brokers).list_offsets({("secret", 0): -1, ("t", 0): -1}, read_committed=False)
    assert found["secret", 0].error_code == E.TOPIC_AUTHORIZATION_FAILED
    assert found["t", 0].offset == 1


@on_loop
async def test_a_partition_without_a_leader_is_waited_for() -> None:
    brokers = FakeBrokers()
    brokers.handlers[ListOffsetsRequest] = list_answer
    brokers.leaders["t", 1] = None  # type: ignore[assignment]
    error = await outcome(make(brokers).list_offsets({("t", 1): -1}, read_committed=False, timeout_s=0.02))
    assert "leader" in str(error).lower()


# ---- the group


@on_loop
async def test_requests_of_the_group_have_their_own_connection_unless_that_is_blocked() -> None:
    brokers = FakeBrokers()
    brokers.in_turn(HeartbeatRequest, HeartbeatResponse())
    rpc = make(brokers)
    await rpc.group(9, HeartbeatRequest("g"), 1.0, apart=False)
    await rpc.group(9, HeartbeatRequest("g"), 1.0, apart=True)
    assert brokers.purposes == [Purpose.GROUP, Purpose.MAIN]


@pytest.mark.parametrize(("newest", "by_members"), [(5, True), (3, True), (2, False), (0, False)])
@on_loop
async def test_leaving_takes_the_form_that_the_coordinator_knows(newest: int, by_members: bool) -> None:
    brokers = FakeBrokers()
    brokers.versions = BrokerVersions({ApiKey.LEAVE_GROUP: (0, newest)})
    brokers.in_turn(LeaveGroupRequest, LeaveGroupResponse())
    await make(brokers).group(9, LeaveGroupRequest("g", members=[MemberIdentity("m")]), 1.0, apart=False)
    (request,) = brokers.asked(LeaveGroupRequest)
    assert [item.member_id for item in request.members] == (["m"] if by_members else [])
    assert request.member_id == ("" if by_members else "m")
