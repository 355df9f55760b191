"""kafka_core.aio.administering.admin: every call's requests, routing and results, against a scripted cluster."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar, cast
from uuid import UUID

import pytest

from kafka_core.admin_model import (
    AclOperation,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import (
    BrokerError,
    ConfigError,
    KafkaError,
    KafkaException,
    NetworkError,
    UnsupportedVersionError,
)
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, TopicCollection
from kafka_core.model import IsolationLevel, TopicPartition
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages import alter_configs, incremental_alter_configs
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_core.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from kafka_core.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kafka_core.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from kafka_core.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from kafka_core.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from kafka_core.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafka_core.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka_core.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
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
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from tests.patience import judged_by
from tests.unit.kafka_core.fake_cluster import ANY, BROKERS, CONTROLLER, FakeCluster, Handler

T = TypeVar("T")
CONF: dict[str, object] = {"bootstrap.servers": "b", "retry.backoff.ms": 1, "retry.backoff.max.ms": 1}


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def admin(cluster: FakeCluster) -> AIOAdminClient:
    return AIOAdminClient(CONF, client=cast(ClusterClient, cluster), rng=random.Random(1))


def codes(*errors: KafkaError | KafkaException | None) -> list[int]:
    """The codes of errors, 0 for none."""
    values = [error.error if isinstance(error, KafkaException) else error for error in errors]
    return [0 if value is None else value.code() for value in values]


def seen(response: Any) -> tuple[list[Any], Handler]:
    """A handler that gives this response, and the requests it was given."""
    requests: list[Any] = []

    def handle(request: Any, node_id: int | None) -> Any:
        requests.append(request)
        return response(request, node_id) if callable(response) else response

    return requests, handle


# ---- topics


def test_create_topics_sends_one_request_to_the_controller() -> None:
    answer = CreateTopicsResponse(
        topics=[
            CreatableTopicResult("b", error_code=36, error_message="Topic 'b' already exists."),
            CreatableTopicResult("a"),
        ]
    )
    requests, handler = seen(answer)
    cluster = FakeCluster({CreateTopicsRequest: handler})
    topics = [NewTopic("a", 3, 2, config={"x": "1"}), NewTopic("b", replica_assignment=[[1, 2], [2, 0]])]
    outcomes = run(admin(cluster).create_topics(topics, operation_timeout=1.5, validate_only=True))
    assert list(outcomes) == ["a", "b"]
    assert outcomes["a"].result() is None
    error = outcomes["b"].exception()
    assert isinstance(error, BrokerError)
    assert (error.code, str(error)) == (KafkaError.TOPIC_ALREADY_EXISTS, "Topic 'b' already exists.")
    with pytest.raises(BrokerError):
        outcomes["b"].result()
    assert cluster.log == [("CreateTopicsRequest", CONTROLLER)]
    (request,) = requests
    first, second = request.topics
    assert (request.timeout_ms, request.validate_only) == (1500, True)
    assert (first.name, first.num_partitions, first.replication_factor) == ("a", 3, 2)
    assert [(item.name, item.value) for item in first.configs] == [("x", "1")]
    assert (second.num_partitions, second.replication_factor) == (-1, -1)
    assert [(item.partition_index, item.broker_ids) for item in second.assignments] == [(0, [1, 2]), (1, [2, 0])]


def test_default_time_outs_come_from_the_configuration() -> None:
    requests, handler = seen(CreateTopicsResponse(topics=[CreatableTopicResult("a")]))
    run(admin(FakeCluster({CreateTopicsRequest: handler})).create_topics([NewTopic("a")]))
    assert requests[0].timeout_ms == 60_000


def test_not_controller_refreshes_metadata_and_tries_only_what_failed_again() -> None:
    def respond(request: Any, node_id: int | None) -> CreateTopicsResponse:
        codes = {"a": 0, "b": 41 if len(cluster.log) == 1 else 0}
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(topic.name, error_code=codes[topic.name]) for topic in request.topics]
        )

    requests, handler = seen(respond)
    cluster = FakeCluster({CreateTopicsRequest: handler})
    outcomes = run(admin(cluster).create_topics([NewTopic("a"), NewTopic("b")]))
    assert [outcome.error for outcome in outcomes.values()] == [None, None]
    assert [[topic.name for topic in request.topics] for request in requests] == [["a", "b"], ["b"]]
    assert cluster.refreshed == [[]]


def test_lost_connections_are_tried_again() -> None:
    def respond(request: Any, node_id: int | None) -> CreateTopicsResponse:
        if len(cluster.log) < 3:
            raise NetworkError("lost")
        return CreateTopicsResponse(topics=[CreatableTopicResult("a")])

    cluster = FakeCluster({CreateTopicsRequest: respond})
    assert run(admin(cluster).create_topics([NewTopic("a")]))["a"].error is None
    assert len(cluster.log) == 3


def test_when_time_is_over_the_last_cause_is_told() -> None:
    def respond(request: Any, node_id: int | None) -> CreateTopicsResponse:
        raise NetworkError("host1:9001: connection refused")

    cluster = FakeCluster({CreateTopicsRequest: respond})

    def asked_within(limit_s: float) -> None:
        outcomes = run(admin(cluster).create_topics([NewTopic("a"), NewTopic("b")], request_timeout=limit_s))
        text = "Failed while waiting for controller: Local: Timed out: host1:9001: connection refused"
        assert [str(outcome.error) for outcome in outcomes.values()] == [text] * 2

    judged_by(0.02, asked_within)


def test_no_time_at_all_is_a_time_out() -> None:
    outcome = run(admin(FakeCluster()).create_topics([NewTopic("a")], request_timeout=0))["a"]
    assert outcome.error is not None
    assert outcome.error.code == KafkaError._TIMED_OUT


def test_final_errors_are_not_tried_again() -> None:
    answer = DeleteTopicsResponse(responses=[DeletableTopicResult("a", error_code=3)])
    cluster = FakeCluster({DeleteTopicsRequest: lambda request, node_id: answer})
    outcome = run(admin(cluster).delete_topics(["a"]))["a"]
    assert outcome.error is not None
    assert outcome.error.code == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert len(cluster.log) == 1


def test_topic_that_the_response_leaves_out_is_an_error() -> None:
    cluster = FakeCluster({CreateTopicsRequest: lambda request, node_id: CreateTopicsResponse()})
    outcome = run(admin(cluster).create_topics([NewTopic("a")]))["a"]
    with pytest.raises(BrokerError, match="create_topics: the broker's response leaves out a"):
        outcome.result()


@pytest.mark.parametrize("version", [1, 5, 6])
def test_delete_topics_speaks_old_and_new_versions(version: int) -> None:
    requests, handler = seen(
        DeleteTopicsResponse(responses=[DeletableTopicResult("a"), DeletableTopicResult("b", error_code=29)])
    )
    cluster = FakeCluster({DeleteTopicsRequest: handler})
    cluster.versions[DeleteTopicsRequest] = version
    outcomes = run(admin(cluster).delete_topics(["a", "b"], operation_timeout=2))
    assert [outcome.error.code if outcome.error else 0 for outcome in outcomes.values()] == [0, 29]
    (request,) = requests
    assert (request.topic_names or [item.name for item in request.topics]) == ["a", "b"]
    assert request.timeout_ms == 2000
    assert cluster.log == [("DeleteTopicsRequest", 0)]


def test_delete_topics_without_a_known_controller_asks_anybody() -> None:
    answer = DeleteTopicsResponse(responses=[DeletableTopicResult("a")])
    cluster = FakeCluster(
        {DeleteTopicsRequest: lambda request, node_id: answer}, ClusterView(brokers=BROKERS, controller_id=None)
    )
    assert run(admin(cluster).delete_topics(["a"]))["a"].error is None
    assert cluster.refreshed == [[]]
    assert cluster.log == [("DeleteTopicsRequest", 2)]


def test_create_partitions() -> None:
    requests, handler = seen(
        CreatePartitionsResponse(
            results=[CreatePartitionsTopicResult("a"), CreatePartitionsTopicResult("b", 37, "has more already")]
        )
    )
    items = [NewPartitions("a", 4), NewPartitions("b", 2, [[1], [2]])]
    outcomes = run(admin(FakeCluster({CreatePartitionsRequest: handler})).create_partitions(items, validate_only=True))
    assert outcomes["a"].error is None
    assert str(outcomes["b"].error) == "has more already"
    (request,) = requests
    assert request.validate_only
    assert [(item.name, item.count) for item in request.topics] == [("a", 4), ("b", 2)]
    assert request.topics[0].assignments is None
    assert [item.broker_ids for item in request.topics[1].assignments] == [[1], [2]]


TOPICS = {
    "t": TopicView(
        "t",
        UUID(int=5),
        {1: PartitionView(1, None, replicas=(1, 9), error_code=5), 0: PartitionView(0, 2, 7, (2, 1), (2,))},
    ),
    "bad": TopicView("bad", error_code=17),
}
FULL_VIEW = ClusterView(BROKERS, TOPICS, 0, "cluster")


def test_list_topics() -> None:
    cluster = FakeCluster(view=FULL_VIEW)
    metadata = run(admin(cluster).list_topics())
    assert cluster.refreshed == [None]
    assert (metadata.cluster_id, metadata.controller_id) == ("cluster", 0)
    assert {broker.id: (broker.host, broker.port) for broker in metadata.brokers.values()} == {
        0: ("host0", 9000),
        1: ("host1", 9001),
        2: ("host2", 9002),
    }
    assert list(metadata.topics) == ["t", "bad"]
    first, second = metadata.topics["t"].partitions.values()
    assert (first.id, first.leader, first.replicas, first.isrs, first.error) == (0, 2, [2, 1], [2], None)
    assert (second.id, second.leader, codes(second.error)) == (1, -1, [KafkaError.LEADER_NOT_AVAILABLE])
    assert codes(metadata.topics["bad"].error) == [KafkaError.TOPIC_EXCEPTION]


def test_list_topics_of_one_topic() -> None:
    cluster = FakeCluster(view=FULL_VIEW)
    assert list(run(admin(cluster).list_topics("t", 1.0)).topics) == ["t"]
    missing = run(admin(cluster).list_topics("nope")).topics["nope"]
    assert (missing.partitions, codes(missing.error)) == ({}, [KafkaError.UNKNOWN_TOPIC_OR_PART])
    assert cluster.refreshed == [["t"], ["nope"]]


def test_describe_topics() -> None:
    outcomes = run(admin(FakeCluster(view=FULL_VIEW)).describe_topics(TopicCollection(["t", "bad", "nope"])))
    topic = outcomes["t"].result()
    assert topic is not None
    assert (topic.name, int(topic.topic_id), topic.is_internal) == ("t", 5, False)
    assert topic.partitions[0].leader is not None
    assert (topic.partitions[0].leader.id, topic.partitions[0].leader.rack) == (2, "rack")
    assert [node.id for node in topic.partitions[0].isr] == [2]
    assert topic.partitions[1].leader is None
    # A replica on a broker that is down has no address.
    assert (topic.partitions[1].replicas[1].id, topic.partitions[1].replicas[1].port) == (
        9,
        -1,
    )
    assert codes(outcomes["bad"].error, outcomes["nope"].error) == [17, 3]


# ---- cluster


def test_describe_cluster() -> None:
    answer = DescribeClusterResponse(
        cluster_id="c",
        controller_id=1,
        brokers=[DescribeClusterBroker(1, "h", 9, "r"), DescribeClusterBroker(2, "i", 8)],
        cluster_authorized_operations=1 << 8 | 1 << 10,
    )
    requests, handler = seen(answer)
    cluster = FakeCluster({DescribeClusterRequest: handler})
    result = run(admin(cluster).describe_cluster(include_authorized_operations=True))
    assert requests[0].include_cluster_authorized_operations
    assert result.controller is not None
    assert (result.cluster_id, result.controller.id, [node.port for node in result.nodes]) == ("c", 1, [9, 8])
    assert result.authorized_operations == [AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS]
    assert run(admin(cluster).cluster_id()) == "c"
    assert cluster.log == [("DescribeClusterRequest", ANY)] * 2


def test_describe_cluster_of_an_old_broker_comes_from_metadata() -> None:
    def refuse(request: Any, node_id: int | None) -> Any:
        raise UnsupportedVersionError("too old")

    result = run(admin(FakeCluster({DescribeClusterRequest: refuse})).describe_cluster())
    assert (result.cluster_id, len(result.nodes), result.authorized_operations) == ("cluster", 3, None)
    assert result.controller is not None
    assert result.controller.id == 0


def test_describe_cluster_that_is_forbidden() -> None:
    answer = DescribeClusterResponse(error_code=31, error_message="no")
    with pytest.raises(BrokerError, match="no"):
        run(admin(FakeCluster({DescribeClusterRequest: lambda request, node_id: answer})).describe_cluster())


# ---- configurations

TOPIC, BROKER, GROUP = (
    ConfigResource("topic", "t"),
    ConfigResource(ConfigResource.Type.BROKER, "2"),
    ConfigResource("group", "g"),
)


def test_describe_configs_asks_a_broker_about_itself_and_anybody_about_the_rest() -> None:
    def respond(request: Any, node_id: int | None) -> DescribeConfigsResponse:
        entry = DescribeConfigsResourceResult(
            "retention.ms",
            "5",
            config_source=1,
            is_sensitive=True,
            synonyms=[
                DescribeConfigsSynonym("retention.ms", "5", 1),
                DescribeConfigsSynonym("log.retention.ms", "9", 4),
            ],
        )
        default = DescribeConfigsResourceResult("x", None, read_only=True, config_source=5)
        strange = DescribeConfigsResourceResult("y", "1", config_source=99)
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(0, None, item.resource_type, item.resource_name, [entry, default, strange])
                for item in request.resources
            ]
        )

    requests, handler = seen(respond)
    cluster = FakeCluster({DescribeConfigsRequest: handler})
    outcomes = run(admin(cluster).describe_configs([TOPIC, BROKER, GROUP]))
    assert sorted(cluster.log, key=str) == [("DescribeConfigsRequest", 2), ("DescribeConfigsRequest", ANY)]
    asked = [[(item.resource_type, item.resource_name) for item in request.resources] for request in requests]
    assert sorted(asked) == [[(2, "t"), (32, "g")], [(4, "2")]]
    assert all(item.configuration_keys is None for request in requests for item in request.resources)
    assert list(outcomes) == [TOPIC, BROKER, GROUP]
    entries = outcomes[TOPIC].result()
    assert entries is not None
    entry = entries["retention.ms"]
    assert (entry.value, entry.source, entry.is_default) == ("5", ConfigSource.DYNAMIC_TOPIC_CONFIG, False)
    assert (str(entry), list(entry.synonyms)) == ('retention.ms="***"', ["retention.ms", "log.retention.ms"])
    assert entry.synonyms["log.retention.ms"].is_synonym
    assert (entries["x"].is_default, entries["x"].is_read_only, entries["x"].value) == (True, True, None)
    assert entries["y"].source is ConfigSource.UNKNOWN_CONFIG


def test_a_broker_that_fails_fails_only_for_its_own_resources() -> None:
    def respond(request: Any, node_id: int | None) -> DescribeConfigsResponse:
        if node_id == 2:
            raise ConfigError("broken")
        return DescribeConfigsResponse(results=[DescribeConfigsResult(resource_type=2, resource_name="t")])

    outcomes = run(admin(FakeCluster({DescribeConfigsRequest: respond})).describe_configs([TOPIC, BROKER]))
    assert outcomes[TOPIC].error is None
    assert str(outcomes[BROKER].error) == "broken"


def test_alter_configs_replaces_everything() -> None:
    requests, handler = seen(
        alter_configs.AlterConfigsResponse(
            responses=[alter_configs.AlterConfigsResourceResponse(40, "bad value", 2, "t")]
        )
    )
    cluster = FakeCluster({alter_configs.AlterConfigsRequest: handler})
    resource = ConfigResource("topic", "t", {"a": "1"})
    resource.set_config("b", "2")
    outcomes = run(admin(cluster).alter_configs([resource], validate_only=True))
    assert str(outcomes[resource].error) == "bad value"
    assert [(item.name, item.value) for item in requests[0].resources[0].configs] == [("a", "1"), ("b", "2")]
    assert requests[0].validate_only
    assert cluster.log == [("AlterConfigsRequest", CONTROLLER)]


@pytest.mark.parametrize(("broker", "asked"), [(None, CONTROLLER), (1, 1)])
def test_incremental_alter_configs(broker: int | None, asked: int) -> None:
    requests, handler = seen(
        incremental_alter_configs.IncrementalAlterConfigsResponse(
            responses=[incremental_alter_configs.AlterConfigsResourceResponse(0, None, 2, "t")]
        )
    )
    cluster = FakeCluster({incremental_alter_configs.IncrementalAlterConfigsRequest: handler})
    resource = ConfigResource("topic", "t")
    for name, value, operation in (
        ("a", "1", AlterConfigOpType.SET),
        ("b", "ignored", AlterConfigOpType.DELETE),
        ("c", "x", AlterConfigOpType.APPEND),
        ("d", "y", AlterConfigOpType.SUBTRACT),
    ):
        resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=operation))
    outcomes = run(admin(cluster).incremental_alter_configs([resource], broker=broker))
    assert outcomes[resource].error is None
    changes = [(item.name, item.config_operation, item.value) for item in requests[0].resources[0].configs]
    assert changes == [("a", 0, "1"), ("b", 1, None), ("c", 2, "x"), ("d", 3, "y")]
    assert cluster.log == [("IncrementalAlterConfigsRequest", asked)]


# ---- groups


def test_list_consumer_groups_asks_every_broker() -> None:
    def respond(request: Any, node_id: int | None) -> ListGroupsResponse:
        groups = {
            0: [ListedGroup("g0", "consumer", "Stable", "Classic"), ListedGroup("c", "connect", "Stable", "Classic")],
            1: [ListedGroup("g1", "", "Empty", "Classic"), ListedGroup("g2", "consumer", "Assigning", "Consumer")],
        }
        if node_id == 2:
            return ListGroupsResponse(error_code=30)
        return ListGroupsResponse(groups=groups[node_id or 0])

    requests, handler = seen(respond)
    cluster = FakeCluster({ListGroupsRequest: handler})
    result = run(
        admin(cluster).list_consumer_groups(
            states={ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY}, types={ConsumerGroupType.CLASSIC}
        )
    )
    assert [(item.group_id, item.is_simple_consumer_group, item.state, item.type) for item in result.valid] == [
        ("g0", False, ConsumerGroupState.STABLE, ConsumerGroupType.CLASSIC),
        ("g1", True, ConsumerGroupState.EMPTY, ConsumerGroupType.CLASSIC),
        ("g2", False, ConsumerGroupState.UNKNOWN, ConsumerGroupType.CONSUMER),
    ]
    assert [error.code for error in result.errors] == [30]
    assert (requests[0].states_filter, requests[0].types_filter) == (["Stable", "Empty"], ["classic"])


def assigned(*topics: tuple[str, list[int]]) -> bytes:
    message = ConsumerProtocolAssignment([AssignedTopic(name, numbers) for name, numbers in topics])
    return b"\0\1" + encode_bytes(message, 1)


def test_describe_consumer_groups_asks_each_coordinator() -> None:
    def respond(request: Any, node_id: int | None) -> DescribeGroupsResponse:
        member = DescribedGroupMember("m", "i", "cid", "/1.2.3.4", b"", assigned(("t", [0, 2]), ("u", [1])))
        return DescribeGroupsResponse(
            groups=[
                DescribedGroup(
                    group_id=name,
                    group_state="Stable",
                    protocol_type="consumer",
                    protocol_data="range",
                    members=[member],
                    authorized_operations=1 << 3,
                )
                for name in request.groups
            ]
        )

    requests, handler = seen(respond)
    cluster = FakeCluster({DescribeGroupsRequest: handler})
    cluster.coordinators = {"a": 1, "b": 2, "c": 1, "d": BrokerError(30)}
    outcomes = run(admin(cluster).describe_consumer_groups(["a", "b", "c", "d"], include_authorized_operations=True))
    assert sorted(request.groups for request in requests) == [["a", "c"], ["b"]]
    group = outcomes["b"].result()
    assert group is not None
    assert group.coordinator is not None
    assert (group.group_id, group.state, group.partition_assignor) == ("b", ConsumerGroupState.STABLE, "range")
    assert (group.coordinator.id, group.authorized_operations) == (2, [AclOperation.READ])
    (member,) = group.members
    assert (member.member_id, member.group_instance_id, member.client_id, member.host) == ("m", "i", "cid", "/1.2.3.4")
    assert member.assignment.topic_partitions == [
        TopicPartition("t", 0),
        TopicPartition("t", 2),
        TopicPartition("u", 1),
    ]
    assert outcomes["d"].error is not None
    assert outcomes["d"].error.code == 30


@pytest.mark.parametrize("data", [b"\0", b"\xff\xff", b"\0\0\xff\xff\xff\xff\x01", b"\0\0\x7f\xff\xff\xff"])
def test_malformed_assignments_fail_for_their_group_only(data: bytes) -> None:
    def respond(request: Any, node_id: int | None) -> DescribeGroupsResponse:
        members = {"bad": [DescribedGroupMember("m", member_assignment=data)], "good": [DescribedGroupMember("n")]}
        return DescribeGroupsResponse(
            groups=[DescribedGroup(group_id=name, protocol_type="consumer", members=members[name]) for name in members]
        )

    outcomes = run(admin(FakeCluster({DescribeGroupsRequest: respond})).describe_consumer_groups(["bad", "good"]))
    assert "group bad: " in str(outcomes["bad"].error)
    good = outcomes["good"].result()
    assert good is not None
    assert good.members[0].assignment.topic_partitions == []


def test_moved_coordinator_is_looked_up_again() -> None:
    def respond(request: Any, node_id: int | None) -> DeleteGroupsResponse:
        if node_id == 1:
            cluster.coordinators["a"] = 2
            return DeleteGroupsResponse(results=[DeletableGroupResult("a", 16)])
        return DeleteGroupsResponse(results=[DeletableGroupResult("a", 0)])

    cluster = FakeCluster({DeleteGroupsRequest: respond})
    assert run(admin(cluster).delete_consumer_groups(["a"]))["a"].error is None
    assert cluster.forgotten == ["a"]
    assert cluster.log == [("DeleteGroupsRequest", 1), ("DeleteGroupsRequest", 2)]


def test_unreachable_coordinator_is_looked_up_again_too() -> None:
    def respond(request: Any, node_id: int | None) -> DeleteGroupsResponse:
        if len(cluster.log) == 1:
            raise NetworkError("lost")
        return DeleteGroupsResponse(results=[DeletableGroupResult("a", 68)])

    cluster = FakeCluster({DeleteGroupsRequest: respond})
    outcome = run(admin(cluster).delete_consumer_groups(["a"]))["a"]
    assert outcome.error is not None
    assert outcome.error.code == KafkaError.NON_EMPTY_GROUP
    assert cluster.forgotten == ["a"]


def group_handlers() -> dict[type, Handler]:
    def describe(request: Any, node_id: int | None) -> DescribeGroupsResponse:
        member = DescribedGroupMember("m", None, "cid", "/h", b"meta", b"assignment")
        return DescribeGroupsResponse(
            groups=[
                DescribedGroup(group_id=name, group_state="Stable", protocol_type="connect", members=[member])
                for name in request.groups
            ]
        )

    def listing(request: Any, node_id: int | None) -> ListGroupsResponse:
        if node_id == 2:
            raise ConfigError("broken")
        return ListGroupsResponse(groups=[ListedGroup(f"g{node_id}", "connect")])

    return {ListGroupsRequest: listing, DescribeGroupsRequest: describe}


def test_list_groups_describes_groups_of_all_kinds() -> None:
    groups = run(admin(FakeCluster(group_handlers())).list_groups())
    assert [(group.id, group.broker.id, group.state, group.protocol_type) for group in groups if group.broker] == [
        ("g0", 0, "Stable", "connect"),
        ("g1", 1, "Stable", "connect"),
    ]
    member = groups[0].members[0]
    assert (member.id, member.client_host, member.metadata, member.assignment) == ("m", "/h", b"meta", b"assignment")
    assert [group.id for group in run(admin(FakeCluster(group_handlers())).list_groups("g1", 5.0))] == ["g1"]


def test_list_groups_fails_when_no_broker_answers() -> None:
    def refuse(request: Any, node_id: int | None) -> Any:
        raise ConfigError("broken")

    with pytest.raises(ConfigError, match="broken"):
        run(admin(FakeCluster({ListGroupsRequest: refuse})).list_groups())


# ---- offsets


@pytest.mark.parametrize("version", [7, 8, 9, 10])
@pytest.mark.parametrize("partitions", [None, [TopicPartition("t", 0), TopicPartition("t", 1)]])
def test_list_consumer_group_offsets(version: int, partitions: list[TopicPartition] | None) -> None:
    def respond(request: Any, node_id: int | None) -> OffsetFetchResponse:
        if request.groups:
            rows = [OffsetFetchResponsePartitions(0, 5, 3, "note"), OffsetFetchResponsePartitions(1, -1, error_code=29)]
            topics = [OffsetFetchResponseTopics("t", partitions=rows)]
            return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics)])
        old = [OffsetFetchResponsePartition(0, 5, 3, "note"), OffsetFetchResponsePartition(1, -1, error_code=29)]
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", old)])

    requests, handler = seen(respond)
    cluster = FakeCluster({OffsetFetchRequest: handler})
    cluster.versions[OffsetFetchRequest] = version
    wanted = [ConsumerGroupTopicPartitions("g", partitions)]
    result = run(admin(cluster).list_consumer_group_offsets(wanted, require_stable=True))["g"].result()
    assert result is not None
    assert result.topic_partitions is not None
    first, second = result.topic_partitions
    assert (first.topic, first.partition, first.offset, first.metadata, first.leader_epoch) == ("t", 0, 5, "note", 3)
    assert (second.offset, second.leader_epoch, codes(second.error)) == (-1001, None, [29])
    (request,) = requests
    assert request.require_stable
    topics = request.groups[0].topics if request.groups else request.topics
    assert (None if topics is None else topics[0].partition_indexes) == (None if partitions is None else [0, 1])


@pytest.mark.parametrize("version", [7, 9])
def test_group_errors_of_offset_fetch(version: int) -> None:
    def respond(request: Any, node_id: int | None) -> OffsetFetchResponse:
        if request.groups:
            return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", error_code=30)])
        return OffsetFetchResponse(error_code=30)

    cluster = FakeCluster({OffsetFetchRequest: respond})
    cluster.versions[OffsetFetchRequest] = version
    outcome = run(admin(cluster).list_consumer_group_offsets([ConsumerGroupTopicPartitions("g")]))["g"]
    assert outcome.error is not None
    assert outcome.error.code == KafkaError.GROUP_AUTHORIZATION_FAILED


def committed(*codes: int) -> OffsetCommitResponse:
    rows = [OffsetCommitResponsePartition(index, code) for index, code in enumerate(codes)]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", partitions=rows)])


def test_alter_consumer_group_offsets() -> None:
    requests, handler = seen(committed(0, 12))
    cluster = FakeCluster({OffsetCommitRequest: handler})
    wanted = [TopicPartition("t", 0, 7, "note", 2), TopicPartition("t", 1, 9)]
    outcome = run(admin(cluster).alter_consumer_group_offsets([ConsumerGroupTopicPartitions("g", wanted)]))["g"]
    result = outcome.result()
    assert result is not None
    assert result.topic_partitions is not None
    assert [(item.offset, *codes(item.error)) for item in result.topic_partitions] == [(7, 0), (9, 12)]
    assert wanted[1].error is None
    (request,) = requests
    assert (request.group_id, request.member_id, request.generation_id_or_member_epoch) == ("g", "", -1)
    rows = request.topics[0].partitions
    assert [(row.committed_offset, row.committed_leader_epoch, row.committed_metadata) for row in rows] == [
        (7, 2, "note"),
        (9, -1, ""),
    ]


def test_commit_that_fails_as_a_whole_is_the_groups_error_and_moved_coordinators_are_found() -> None:
    answers = [committed(16), committed(25)]
    cluster = FakeCluster({OffsetCommitRequest: lambda request, node_id: answers.pop(0)})
    wanted = [ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 7)])]
    outcome = run(admin(cluster).alter_consumer_group_offsets(wanted))["g"]
    assert outcome.error is not None
    assert outcome.error.code == KafkaError.UNKNOWN_MEMBER_ID
    assert cluster.forgotten == ["g"]


def test_list_offsets_asks_the_leaders() -> None:
    view = ClusterView(
        BROKERS,
        {"t": TopicView("t", partitions={0: PartitionView(0, 1), 1: PartitionView(1, 2), 2: PartitionView(2, 1)})},
    )

    def respond(request: Any, node_id: int | None) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    topic.name,
                    [
                        ListOffsetsPartitionResponse(
                            item.partition_index, 0, item.timestamp, 100 + item.partition_index
                        )
                        for item in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    requests, handler = seen(respond)
    cluster = FakeCluster({ListOffsetsRequest: handler}, view)
    specs = {
        TopicPartition("t", 0): OffsetSpec.earliest(),
        TopicPartition("t", 1): OffsetSpec.latest(),
        TopicPartition("t", 2): OffsetSpec.for_timestamp(55),
        TopicPartition("t", 9): OffsetSpec.max_timestamp(),
        TopicPartition("u", 0): OffsetSpec.latest(),
    }
    outcomes = run(admin(cluster).list_offsets(specs, isolation_level=IsolationLevel.READ_COMMITTED))
    assert list(outcomes) == list(specs)
    found = [outcomes[item].result() for item in list(specs)[:3]]
    assert [(info.offset, info.timestamp, info.leader_epoch) for info in found if info] == [
        (100, -2, None),
        (101, -1, None),
        (102, 55, None),
    ]
    assert codes(*(outcomes[item].error for item in list(specs)[3:])) == [3, 3]
    assert sorted(cluster.log) == [("ListOffsetsRequest", 1), ("ListOffsetsRequest", 2)]
    assert all(request.isolation_level == 1 and request.replica_id == -1 for request in requests)


def test_list_offsets_waits_for_a_leader() -> None:
    class Electing(FakeCluster):
        async def refresh_metadata(self, *arguments: Any, **more: Any) -> ClusterView:
            await super().refresh_metadata(*arguments, **more)
            leader = 1 if len(self.refreshed) > 1 else None
            self.metadata = ClusterView(BROKERS, {"t": TopicView("t", partitions={0: PartitionView(0, leader)})})
            return self.metadata

    answer = ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", [ListOffsetsPartitionResponse(0, 0, -1, 4, 6)])])
    cluster = Electing({ListOffsetsRequest: lambda request, node_id: answer})
    partition = TopicPartition("t", 0)
    info = run(admin(cluster).list_offsets({partition: OffsetSpec.latest()}))[partition].result()
    assert info is not None
    assert (info.offset, info.leader_epoch) == (4, 6)


# ---- life


def test_the_client_is_started_once_and_closed() -> None:
    cluster = FakeCluster(view=FULL_VIEW)

    async def use() -> None:
        async with admin(cluster) as client:
            await client.list_topics()
            await client.list_topics()

    run(use())
    assert (cluster.started, cluster.closed) == (1, 1)


def test_wrong_configuration_is_refused() -> None:
    with pytest.raises(ConfigError, match="No such configuration property"):
        AIOAdminClient({"bootstrap.servers": "b", "linger": 1})


def test_arguments_are_checked_before_anything_is_sent() -> None:
    cluster = FakeCluster()
    with pytest.raises(ValueError, match="request_timeout must be from 0"):
        run(admin(cluster).delete_topics(["a"], request_timeout=-1))
    with pytest.raises(TypeError, match="operation_timeout must be a number"):
        run(admin(cluster).delete_topics(["a"], operation_timeout="soon"))  # type: ignore[arg-type]
    assert cluster.log == []
