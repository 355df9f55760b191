"""Lag and cluster metadata as users see them."""

from __future__ import annotations

import pytest

from kafka_core.aio.consumer_status import cluster_metadata, lag_of, partition_statistics
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.subscription import PartitionState
from kafka_core.errors import KafkaError

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


@pytest.mark.parametrize(("position", "end", "lag"), [(-1001, 5, None), (3, -1001, None), (3, 5, 2), (7, 5, 0)])
def test_lag_is_what_is_left_to_the_end(position: int, end: int, lag: int | None) -> None:
    state = PartitionState("t", 0, position=position, high_watermark=end)
    assert lag_of(state) == lag
    assert partition_statistics(state, VIEW)["consumer_lag"] == (-1 if lag is None else lag)


def test_cluster_metadata_has_errors_where_they_belong() -> None:
    found = cluster_metadata(VIEW, None)
    assert (found.cluster_id, found.controller_id) == ("c", -1)
    assert found.brokers[1].port == 9092
    assert found.topics["t"].partitions[0].leader == 1
    assert (found.topics["t"].partitions[1].leader, found.topics["t"].partitions[1].error) == (-1, KafkaError(5))
    assert found.topics["u"].error == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert list(cluster_metadata(VIEW, "u").topics) == ["u"]
    assert cluster_metadata(VIEW, "none").topics == {}
