"""kafka_core.engine.admin_topics: what the asyncio client's tests (aio/test_admin.py) do not show."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.admin_model import NewPartitions, NewTopic
from kafka_core.engine import admin_topics
from kafka_core.engine.metadata import BrokerAddress, ClusterView, TopicView
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.create_topics import CreateTopicsRequest


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
    metadata = admin_topics.cluster_metadata(ClusterView())
    assert (metadata.cluster_id, metadata.controller_id, metadata.brokers, metadata.topics) == (None, -1, {}, {})


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
