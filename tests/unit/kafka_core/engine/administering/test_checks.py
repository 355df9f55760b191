"""kafka_core.engine.administering.checks: durations and offsets; wrong arguments by call are in sync/test_admin.py."""

from __future__ import annotations

import pytest

from kafka_core.admin_model import OffsetSpec
from kafka_core.engine.administering import checks as admin_checks
from kafka_core.model import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, TopicPartition


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
