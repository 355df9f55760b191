"""Lag as users see it."""

from __future__ import annotations

import pytest

from kafka_core.aio.consuming.status import lag_of, partition_statistics
from kafka_core.engine.consuming.subscription import PartitionState
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView

VIEW = ClusterView(topics={"t": TopicView("t", partitions={0: PartitionView(0, 1, 2, (1,), (1,))})})


@pytest.mark.parametrize(("position", "end", "lag"), [(-1001, 5, None), (3, -1001, None), (3, 5, 2), (7, 5, 0)])
def test_lag_is_what_is_left_to_the_end(position: int, end: int, lag: int | None) -> None:
    state = PartitionState("t", 0, position=position, high_watermark=end)
    assert lag_of(state) == lag
    assert partition_statistics(state, VIEW)["consumer_lag"] == (-1 if lag is None else lag)
