"""kafka_core.engine.administering.topics: what aio/administering/test_admin.py does not show."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.admin_model import NewPartitions, NewTopic
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.engine.administering import checks as admin_checks
from kafka_core.engine.administering import topics as admin_topics
from kafka_core.engine.cluster_metadata import cluster_metadata
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView, merge
from kafka_core.errors import KafkaError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType
from kafka_core.model import TopicPartition
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.create_topics import CreateTopicsRequest
from kafka_core.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker

VIEW = ClusterView(
    brokers={1: BrokerAddress(1, "h", 9092)},
    topics={
        "t": TopicView(
            "t", partitions={0: PartitionView(0, 1, 2, (1,), (1,)), 1: PartitionView(1, None, error_code=5)}
        ),
        "u": TopicView("u", error_code=29),
    },
    cluster_id="c",
)


@pytest.mark.parametrize(
    "version", range(CreateTopicsRequest.VALID_VERSIONS[0], CreateTopicsRequest.VALID_VERSIONS[1] + 1)
)
def test_creation_can_be_said_in_every_version(version: int) -> None:
    topics = [NewTopic("a", 3, 1, config={"retention.ms": "5"}), NewTopic("b", replica_assignment=[[0, 1]])]
    request = admin_topics.create_topics_request(topics, timeout_ms=5, validate_only=True)
    assert encode_bytes(request, version)


def test_values_of_a_new_topics_configuration_are_sent_as_text() -> None:
    topic = NewTopic("a", config={"retention.ms": 5})  # type: ignore[dict-item]
    (item,) = admin_topics.create_topics_request([topic], timeout_ms=5, validate_only=False).topics
    assert [(config.name, config.value) for config in item.configs] == [("retention.ms", "5")]


def test_empty_assignment_is_sent_as_given() -> None:
    request = admin_topics.create_partitions_request([NewPartitions("a", 2, [])], timeout_ms=5, validate_only=False)
    assert request.topics[0].assignments == []


def test_metadata_of_an_empty_view() -> None:
    metadata = cluster_metadata(ClusterView())
    assert (metadata.cluster_id, metadata.controller_id, metadata.brokers, metadata.topics) == (None, -1, {}, {})


def test_metadata_has_errors_where_they_belong() -> None:
    found = cluster_metadata(VIEW)
    assert (found.cluster_id, found.controller_id) == ("c", -1)
    assert found.brokers[1].port == 9092
    assert found.topics["t"].partitions[0].leader == 1
    assert (found.topics["t"].partitions[1].leader, found.topics["t"].partitions[1].error) == (-1, KafkaError(5))
    assert found.topics["u"].error == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert list(cluster_metadata(VIEW, "u").topics) == ["u"]
    assert cluster_metadata(VIEW, "none").topics["none"].error == KafkaError.UNKNOWN_TOPIC_OR_PART


@pytest.mark.parametrize(
    ("asked", "said"), [(("h", 9092), (1, "h:9092/1")), (("127.0.0.1", 9092), (-1, "127.0.0.1:9092/bootstrap"))]
)
def test_metadata_says_who_gave_it(asked: tuple[str, int], said: tuple[int, str]) -> None:
    response = MetadataResponse(brokers=[MetadataResponseBroker(1, "h", 9092)])
    view = merge(VIEW, response, now_s=1.0, all_topics=True, address=asked)
    found = cluster_metadata(view)
    assert (found.orig_broker_id, found.orig_broker_name) == said


def test_topic_ids_are_written_as_kafka_does() -> None:
    view = ClusterView(topics={"t": TopicView("t", UUID(int=1 << 64 | 2))})
    description = admin_topics.describe_topic(view, "t").result()
    assert description is not None
    assert str(description.topic_id) == "AAAAAAAAAAEAAAAAAAAAAg"


def test_cluster_without_a_controller() -> None:
    view = ClusterView(brokers={4: BrokerAddress(4, "h", 9, "r")}, cluster_id="c")
    result = admin_topics.cluster_description_of_view(view)
    assert (result.controller, result.cluster_id) == (None, "c")
    assert [(node.id, node.host, node.port, node.rack) for node in result.nodes] == [(4, "h", 9, "r")]


# ---- checks


@pytest.mark.parametrize(("value", "seconds"), [(None, 60.0), (0, 0.0), (1.5, 1.5), (3600, 3600.0)])
def test_durations(value: float | None, seconds: float) -> None:
    assert admin_checks.checked_timeout(value, "request_timeout", 60.0) == seconds


@pytest.mark.parametrize("value", [-0.1, 3601, float("nan"), float("inf")])
def test_durations_out_of_range(value: float) -> None:
    with pytest.raises(ValueError, match="request_timeout must be from 0 to 3600 seconds"):
        admin_checks.checked_timeout(value, "request_timeout", 60.0)


@pytest.mark.parametrize("value", [True, "5"])
def test_durations_that_are_no_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="request_timeout must be a number"):
        admin_checks.checked_timeout(value, "request_timeout", 60.0)  # type: ignore[arg-type]


def test_right_arguments_pass_unchanged() -> None:
    groups = [ConsumerGroupTopicPartitions("g"), ConsumerGroupTopicPartitions("h", [TopicPartition("t", 0)])]
    assert admin_checks.check_group_offsets(groups, offsets_needed=False) == {"g": groups[0], "h": groups[1]}
    specs = {TopicPartition("t", 0): OffsetSpec.latest()}
    assert admin_checks.check_offset_specs(specs) == specs
    assert admin_checks.check_names(("a", "b"), "topic names") == ["a", "b"]
    admin_checks.check_filters({ConsumerGroupState.STABLE}, (ConsumerGroupType.CLASSIC,))


def test_the_same_partition_twice_is_refused() -> None:
    twice = [ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 1), TopicPartition("t", 0, 2)])]
    with pytest.raises(ValueError, match="same partition is there twice"):
        admin_checks.check_group_offsets(twice, offsets_needed=True)
