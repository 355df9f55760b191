"""kafka_core.aio.administering.share_groups: who is asked what, and what is tried again, against a scripted cluster."""

from __future__ import annotations

import asyncio
import random
from typing import Any, cast

from kafka_core.admin_model import SharePartitionOffsetInfo
from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import BrokerError, KafkaError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType
from kafka_core.model import TopicPartition
from kafka_core.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka_core.protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from tests.unit.kafka_core.fake_cluster import BROKERS, FakeCluster

CONF: dict[str, object] = {"bootstrap.servers": "b", "retry.backoff.ms": 1, "retry.backoff.max.ms": 1}
VIEW = ClusterView(BROKERS, {"t": TopicView("t", partitions={0: PartitionView(0, 1), 1: PartitionView(1, 2)})}, 0)
T0, T1, T9 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 9)


def call(cluster: FakeCluster, method: str, *arguments: Any, **more: Any) -> Any:
    made = AIOAdminClient(CONF, client=cast(ClusterClient, cluster), rng=random.Random(1))
    return asyncio.run(getattr(made, method)(*arguments, **more))


def test_each_coordinator_describes_its_groups_and_a_moved_one_is_found() -> None:
    def respond(request: Any, node_id: int | None) -> ShareGroupDescribeResponse:
        assert request.include_authorized_operations
        if node_id == 1:
            cluster.coordinators["a"] = 2
            return ShareGroupDescribeResponse(groups=[DescribedGroup(16, None, name) for name in request.group_ids])
        return ShareGroupDescribeResponse(
            groups=[DescribedGroup(group_id=name, group_state="Empty", group_epoch=4) for name in request.group_ids]
        )

    cluster = FakeCluster({ShareGroupDescribeRequest: respond})
    cluster.coordinators = {"a": 1, "b": 2, "c": BrokerError(30)}
    outcomes = call(cluster, "describe_share_groups", ["c", "a", "b"], include_authorized_operations=True)
    assert list(outcomes) == ["c", "a", "b"]
    assert outcomes["c"].error.code == 30
    assert cluster.forgotten == ["a"]
    found = outcomes["a"].result()
    assert (found.group_id, found.state, found.group_epoch, found.coordinator.id) == (
        *("a", ConsumerGroupState.EMPTY, 4),
        2,
    )


def test_only_share_groups_are_deleted() -> None:
    deleted: list[list[str]] = []

    def describe(request: Any, node_id: int | None) -> ShareGroupDescribeResponse:
        known = {"consumers": 69}
        return ShareGroupDescribeResponse(
            groups=[DescribedGroup(known.get(name, 0), None, name) for name in request.group_ids]
        )

    def delete(request: Any, node_id: int | None) -> DeleteGroupsResponse:
        deleted.append(request.groups_names)
        codes = {"busy": 68}
        return DeleteGroupsResponse(
            results=[DeletableGroupResult(name, codes.get(name, 0)) for name in request.groups_names]
        )

    cluster = FakeCluster({ShareGroupDescribeRequest: describe, DeleteGroupsRequest: delete})
    outcomes = call(cluster, "delete_share_groups", ["consumers", "busy", "done"])
    assert [item.error and item.error.code for item in outcomes.values()] == [69, 68, None]
    assert deleted == [["busy", "done"]]
    assert call(cluster, "delete_share_groups", ["consumers"])["consumers"].error.code == 69
    assert len(deleted) == 1


def offsets_answer(request: Any) -> DescribeShareGroupOffsetsResponse:
    """Every partition named is at its number; who asks for all gets the first of `t`."""
    part = DescribeShareGroupOffsetsResponsePartition
    groups = []
    for group in request.groups:
        named = {"t": [0]} if group.topics is None else {item.topic_name: item.partitions for item in group.topics}
        topics = [
            DescribeShareGroupOffsetsResponseTopic(name, partitions=[part(number, number, 5, 1) for number in numbers])
            for name, numbers in named.items()
        ]
        groups.append(DescribeShareGroupOffsetsResponseGroup(group.group_id, topics))
    return DescribeShareGroupOffsetsResponse(groups=groups)


def test_partitions_that_the_cluster_has_not_are_not_asked_for() -> None:
    asked: dict[str, Any] = {}

    def respond(request: Any, node_id: int | None) -> DescribeShareGroupOffsetsResponse:
        for group in request.groups:
            asked[group.group_id] = group.topics and [(item.topic_name, item.partitions) for item in group.topics]
        return offsets_answer(request)

    cluster = FakeCluster({DescribeShareGroupOffsetsRequest: respond}, VIEW)
    groups = {"all": None, "some": [T9, T1, T0], "none": [T9]}
    wanted = [ConsumerGroupTopicPartitions(name, parts) for name, parts in groups.items()]
    outcomes = call(cluster, "list_share_group_offsets", wanted)
    assert asked == {"all": None, "some": [("t", [1, 0])]}
    assert outcomes["all"].result() == {T0: SharePartitionOffsetInfo(0, 5, 1)}
    some, none = outcomes["some"].result(), outcomes["none"].result()
    assert list(some) == [T9, T1, T0]
    assert (some[T1], some[T0]) == (SharePartitionOffsetInfo(1, 5, 1), SharePartitionOffsetInfo(0, 5, 1))
    for found in (some, none):
        assert found[T9].error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert cluster.refreshed == [["t"]]
    asked.clear()
    assert list(call(cluster, "list_share_group_offsets", wanted[2:])["none"].result()) == [T9]
    assert asked == {}


def test_an_answer_in_the_oldest_version_has_no_lag() -> None:
    cluster = FakeCluster({DescribeShareGroupOffsetsRequest: lambda request, node_id: offsets_answer(request)}, VIEW)
    cluster.versions[DescribeShareGroupOffsetsRequest] = 0
    outcome = call(cluster, "list_share_group_offsets", [ConsumerGroupTopicPartitions("g")])["g"]
    assert outcome.result() == {T0: SharePartitionOffsetInfo(0, 5)}


def test_a_group_that_the_answer_leaves_out_has_failed() -> None:
    cluster = FakeCluster(
        {DescribeShareGroupOffsetsRequest: lambda request, node_id: DescribeShareGroupOffsetsResponse()}, VIEW
    )
    outcome = call(cluster, "list_share_group_offsets", [ConsumerGroupTopicPartitions("g", [T0])])["g"]
    assert "leaves out g" in str(outcome.error)


def test_offsets_are_altered_once_the_coordinator_is_found() -> None:
    row = AlterShareGroupOffsetsResponsePartition(0)
    answers = [
        AlterShareGroupOffsetsResponse(error_code=16),
        AlterShareGroupOffsetsResponse(responses=[AlterShareGroupOffsetsResponseTopic("t", partitions=[row])]),
    ]
    cluster = FakeCluster({AlterShareGroupOffsetsRequest: lambda request, node_id: answers.pop(0)})
    wanted = [ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 7)])]
    result = call(cluster, "alter_share_group_offsets", wanted)["g"].result()
    assert [(item.offset, item.error) for item in result.topic_partitions] == [(7, None)]
    assert cluster.forgotten == ["g"]


def test_offsets_are_deleted_by_topic() -> None:
    answers = [
        DeleteShareGroupOffsetsResponse(error_code=16),
        DeleteShareGroupOffsetsResponse(
            responses=[
                DeleteShareGroupOffsetsResponseTopic("t"),
                DeleteShareGroupOffsetsResponseTopic("u", error_code=3, error_message="nowhere"),
            ]
        ),
        DeleteShareGroupOffsetsResponse(error_code=68, error_message="not empty"),
    ]
    cluster = FakeCluster({DeleteShareGroupOffsetsRequest: lambda request, node_id: answers.pop(0)})
    outcomes = call(cluster, "delete_share_group_offsets", "g", ["u", "t"])
    assert [(name, outcome.error and outcome.error.code) for name, outcome in outcomes.items()] == [
        ("u", 3),
        ("t", None),
    ]
    assert cluster.forgotten == ["g"]  # the group, not the topics
    outcomes = call(cluster, "delete_share_group_offsets", "g", ["u", "t"])
    assert [outcome.error.code for outcome in outcomes.values()] == [68, 68]


def test_share_groups_are_listed_when_asked_for() -> None:
    requests: list[Any] = []

    def respond(request: Any, node_id: int | None) -> ListGroupsResponse:
        requests.append(request)
        groups = [ListedGroup("s", "share", "Empty", "Share"), ListedGroup("c", "consumer", "Stable", "Consumer")]
        return ListGroupsResponse(groups=groups if node_id == 1 else [])

    cluster = FakeCluster({ListGroupsRequest: respond})
    assert [item.group_id for item in call(cluster, "list_consumer_groups").valid] == ["c"]
    both = {ConsumerGroupType.SHARE, ConsumerGroupType.CONSUMER}
    assert [(item.group_id, item.type) for item in call(cluster, "list_consumer_groups", types=both).valid] == [
        ("s", ConsumerGroupType.SHARE),
        ("c", ConsumerGroupType.CONSUMER),
    ]
    assert requests[-1].types_filter == ["consumer", "share"]
