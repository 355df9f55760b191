"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup and the group administration through the dispatcher, in every version.

The state machine has its own tests; here it is about requests, versions and the way to the coordinator.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.handlers.p03_metadata import NOT_ASKED
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_core.protocol.messages.list_groups import ListGroupsRequest
from kafka_core.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.kafka_core.broker.harness import ALL_GROUP_OPERATIONS, Bench

SUBSCRIPTION = b"\0\1" + encode_bytes(ConsumerProtocolSubscription(topics=["t"]), 1)


def join_request(
    version: int, member_id: str = "", instance_id: str | None = None, metadata: bytes = SUBSCRIPTION
) -> Any:
    rebalance_ms = 5_000 if version >= 1 else -1
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    return JoinGroupRequest("g", 10_000, rebalance_ms, member_id, instance_id, "consumer", protocols)


def join(bench: Bench, version: int = 9, **options: Any) -> JoinGroupResponse:
    """Join alone, with the detour over MEMBER_ID_REQUIRED where the version has it."""
    answer: JoinGroupResponse = bench.ask(join_request(version, **options), version)
    if answer.error_code == Code.MEMBER_ID_REQUIRED:
        answer = bench.ask(join_request(version, answer.member_id, **options), version)
    assert answer.error_code == 0
    return answer


def sync(bench: Bench, joined: JoinGroupResponse, version: int = 5) -> bytes:
    assignments = [SyncGroupRequestAssignment(joined.member_id, b"A")]
    request = SyncGroupRequest("g", joined.generation_id, joined.member_id, assignments=assignments)
    if version >= 5:
        request.protocol_type, request.protocol_name = "consumer", "range"
    answer = bench.ask(request, version)
    assert answer.error_code == 0
    return answer.assignment


@pytest.fixture
def stable() -> tuple[Bench, str]:
    bench = Bench()
    bench.topic()
    joined = join(bench)
    sync(bench, joined)
    return bench, joined.member_id


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_in_every_version(version: int) -> None:
    bench = Bench()
    joined = join(bench, version)
    assert (joined.generation_id, joined.protocol_name, joined.leader) == (1, "range", joined.member_id)
    assert joined.protocol_type == ("consumer" if version >= 7 else None)
    assert [bytes(member.metadata) for member in joined.members] == [SUBSCRIPTION]
    assert joined.member_id.startswith("tester-")
    assert bench.cluster.groups.groups["g"].rebalance_timeout_ms == (5_000 if version else 10_000)


@pytest.mark.parametrize(("version", "code"), [(3, Code.NONE), (4, Code.MEMBER_ID_REQUIRED)])
def test_newer_clients_first_get_an_id(version: int, code: Code) -> None:
    assert Bench().ask(join_request(version), version).error_code == code


def test_a_join_is_answered_when_the_others_have_joined(stable: tuple[Bench, str]) -> None:
    bench, member_id = stable
    promise = bench.ask(join_request(9), 9)
    waiting = bench.send(join_request(9, promise.member_id), 9)
    assert not waiting.done
    bench.ask(join_request(9, member_id), 9)
    assert waiting.answer().generation_id == 2


def test_a_refused_join_has_a_null_protocol_where_it_can() -> None:
    for version, name in ((6, ""), (7, None)):
        answer = Bench().ask(join_request(version, "nobody"), version)
        assert (answer.error_code, answer.protocol_name) == (Code.UNKNOWN_MEMBER_ID, name)


@pytest.mark.parametrize("version", range(6))
def test_a_member_syncs_in_every_version(version: int) -> None:
    bench = Bench()
    assert sync(bench, join(bench), version) == b"A"


def test_a_sync_must_name_its_protocol_from_v5_on(stable: tuple[Bench, str]) -> None:
    bench, member_id = stable
    request = SyncGroupRequest("g", 1, member_id)
    assert bench.ask(request, 5).error_code == Code.INCONSISTENT_GROUP_PROTOCOL
    assert bench.ask(request, 4).error_code == 0


@pytest.mark.parametrize("version", range(5))
def test_heartbeats_in_every_version(stable: tuple[Bench, str], version: int) -> None:
    bench, member_id = stable
    assert bench.ask(HeartbeatRequest("g", 1, member_id), version).error_code == 0
    assert bench.ask(HeartbeatRequest("g", 2, member_id), version).error_code == Code.ILLEGAL_GENERATION


@pytest.mark.parametrize("version", range(6))
def test_leaving_in_every_version(stable: tuple[Bench, str], version: int) -> None:
    bench, member_id = stable
    request = LeaveGroupRequest("g", member_id)
    if version >= 3:
        request = LeaveGroupRequest("g", members=[MemberIdentity(member_id), MemberIdentity("nobody", "i")])
    answer = bench.ask(request, version)
    assert answer.error_code == 0
    codes = [(member.member_id, member.group_instance_id, member.error_code) for member in answer.members]
    assert codes == ([(member_id, None, 0), ("nobody", "i", Code.UNKNOWN_MEMBER_ID)] if version >= 3 else [])
    assert bench.cluster.groups.groups["g"].members == {}


def test_requests_without_a_group_or_at_the_wrong_broker() -> None:
    bench = Bench(2)
    node = bench.cluster.coordinator_of("g")
    assert node is not None
    other = 3 - node.node_id
    requests: list[Any] = [SyncGroupRequest("g"), HeartbeatRequest("g"), LeaveGroupRequest("g"), join_request(9)]
    for request in requests:
        assert bench.ask(request, broker=other).error_code == Code.NOT_COORDINATOR
        request.group_id = ""
        assert bench.ask(request).error_code == Code.INVALID_GROUP_ID


# ---- administration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(7))
def test_groups_are_described(stable: tuple[Bench, str], version: int) -> None:
    bench, member_id = stable
    with_operations = version >= 3
    (group, missing) = bench.ask(DescribeGroupsRequest(["g", "nobody"], with_operations), version).groups
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    assert group.authorized_operations == (ALL_GROUP_OPERATIONS if with_operations else NOT_ASKED)
    (member,) = group.members
    assert (member.member_id, member.client_id, member.client_host) == (member_id, "tester", "/10.0.0.1")
    assert (bytes(member.member_metadata), bytes(member.member_assignment)) == (SUBSCRIPTION, b"A")
    assert missing.group_state == "Dead"
    assert missing.error_code == (Code.GROUP_ID_NOT_FOUND if version >= 6 else 0)


def test_a_group_in_a_rebalance_shows_no_protocol(stable: tuple[Bench, str]) -> None:
    bench, member_id = stable
    bench.send(join_request(9, bench.ask(join_request(9), 9).member_id), 9)
    group = bench.ask(DescribeGroupsRequest(["g"])).groups[0]
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert {(member.member_id == member_id, bytes(member.member_metadata)) for member in group.members} == {
        (True, b""),
        (False, b""),
    }


@pytest.mark.parametrize("version", range(6))
def test_groups_are_listed(stable: tuple[Bench, str], version: int) -> None:
    bench, _ = stable
    (group,) = bench.ask(ListGroupsRequest(), version).groups
    assert (group.group_id, group.protocol_type) == ("g", "consumer")
    assert group.group_state == ("Stable" if version >= 4 else "")
    assert group.group_type == ("classic" if version >= 5 else "")


def test_lists_are_filtered_and_each_broker_has_its_own() -> None:
    bench = Bench(2)
    for name in ("a", "b"):
        bench.cluster.groups.admit_commit(name, "", None, -1, unknown=Code.GROUP_ID_NOT_FOUND)
    listed = [[group.group_id for group in bench.ask(ListGroupsRequest(), broker=node).groups] for node in (1, 2)]
    assert sorted(listed) == [["a"], ["b"]]
    counts = [
        sum(len(bench.ask(ListGroupsRequest(states, types), broker=node).groups) for node in (1, 2))
        for states, types in ((["empty"], []), (["stable"], []), ([], ["Classic"]), ([], ["consumer"]))
    ]
    assert counts == [2, 0, 2, 0]


@pytest.mark.parametrize("version", range(3))
def test_groups_are_deleted(stable: tuple[Bench, str], version: int) -> None:
    bench, member_id = stable
    request = DeleteGroupsRequest(["g", "nobody"])
    codes = [item.error_code for item in bench.ask(request, version).results]
    assert codes == [Code.NON_EMPTY_GROUP, Code.GROUP_ID_NOT_FOUND]
    bench.cluster.groups.leave("g", member_id, None)
    assert [item.error_code for item in bench.ask(request, version).results] == [0, Code.GROUP_ID_NOT_FOUND]


def delete_offsets(bench: Bench, *topics: tuple[str, int], broker: int = 1) -> tuple[int, list[int]]:
    items = [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(index)]) for name, index in topics]
    answer = bench.ask(OffsetDeleteRequest("g", items), broker=broker)
    return answer.error_code, [topic.partitions[0].error_code for topic in answer.topics]


def test_positions_are_deleted_where_nobody_is_subscribed(stable: tuple[Bench, str]) -> None:
    bench, member_id = stable
    bench.topic("u")
    for name in ("t", "u"):
        bench.cluster.groups.commit("g", name, 0, 5, -1, None)
    asked = (("t", 0), ("u", 0), ("u", 9), ("nope", 0))
    missing = Code.UNKNOWN_TOPIC_OR_PARTITION
    assert delete_offsets(bench, *asked) == (0, [Code.GROUP_SUBSCRIBED_TO_TOPIC, 0, missing, missing])
    bench.cluster.groups.leave("g", member_id, None)
    assert delete_offsets(bench, ("t", 0)) == (0, [0])
    assert bench.cluster.groups.groups["g"].offsets == {}


def test_a_subscription_nobody_can_read_could_be_to_any_topic() -> None:
    bench = Bench()
    bench.topic()
    sync(bench, join(bench, metadata=b"?"))
    assert delete_offsets(bench, ("t", 0)) == (0, [Code.GROUP_SUBSCRIBED_TO_TOPIC])


def test_positions_of_other_kinds_of_groups() -> None:
    bench = Bench(2)
    node = bench.cluster.coordinator_of("g")
    assert node is not None
    assert delete_offsets(bench, ("t", 0), broker=node.node_id)[0] == Code.GROUP_ID_NOT_FOUND
    assert delete_offsets(bench, ("t", 0), broker=3 - node.node_id)[0] == Code.NOT_COORDINATOR
    request = join_request(3)
    request.protocol_type = "connect"
    bench.ask(request, 3, broker=node.node_id)
    assert delete_offsets(bench, ("t", 0), broker=node.node_id)[0] == Code.NON_EMPTY_GROUP
    assert bench.ask(DescribeGroupsRequest(["g"]), broker=3 - node.node_id).groups[0].error_code == 16
    assert bench.ask(DeleteGroupsRequest(["g"]), broker=3 - node.node_id).results[0].error_code == 16


# ---- p10 find coordinator


@pytest.mark.parametrize("version", range(4))
def test_one_key(version: int) -> None:
    bench = Bench(3)
    response = bench.ask(FindCoordinatorRequest(key="g"), version)
    node = bench.cluster.coordinator_of("g")
    assert node is not None
    assert (response.error_code, response.node_id, response.host, response.port) == (
        0,
        node.node_id,
        "test.invalid",
        node.port,
    )


@pytest.mark.parametrize("version", [4, 5, 6])
def test_several_keys(version: int) -> None:
    bench = Bench(3)
    answers = bench.ask(FindCoordinatorRequest(coordinator_keys=["a", "b", "c"]), version).coordinators
    assert [answer.key for answer in answers] == ["a", "b", "c"]
    assert {answer.node_id for answer in answers} == {1, 2, 3}
    assert all(bench.cluster.coordinates(answer.node_id, answer.key) for answer in answers)


def test_transactional_ids_have_coordinators_and_unknown_kinds_are_refused() -> None:
    bench = Bench()
    answer = bench.ask(FindCoordinatorRequest(key="t", key_type=1), 3)
    assert (answer.error_code, answer.node_id) == (Code.NONE, 1)
    assert bench.ask(FindCoordinatorRequest(key_type=9, coordinator_keys=["a"])).coordinators[0].error_code == 42


def test_no_broker_is_left() -> None:
    bench = Bench()
    bench.cluster.node_down(1)
    assert bench.ask(FindCoordinatorRequest(key="g"), 3).error_code == Code.COORDINATOR_NOT_AVAILABLE
