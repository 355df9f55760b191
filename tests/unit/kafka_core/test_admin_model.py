"""kafka_core.admin_model: the values of confluent_kafka.admin."""

from __future__ import annotations

import pytest

from kafka_core.admin_model import (
    AclOperation,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    Outcome,
    ResourceType,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.errors import BrokerError


def test_outcome_reads_like_a_finished_future() -> None:
    assert Outcome.of(0, "ignored", 5).result() == 5
    assert Outcome.of(0, None).exception() is None
    failed: Outcome[int] = Outcome.of(36, "", 5)
    assert isinstance(failed.exception(), BrokerError)
    with pytest.raises(BrokerError, match="Broker: Topic already exists"):
        failed.result()


def test_topics_and_partitions_compare_by_name_and_count() -> None:
    assert NewTopic("a", 1) == NewTopic("a", 1, 3)
    assert NewTopic("a", 1) < NewTopic("a", 2)
    assert NewTopic("a") != NewTopic("b")
    assert NewTopic("a") != NewPartitions("a", 1)
    assert len({NewTopic("a", 1), NewTopic("a", 1, 3), NewTopic("a", 2)}) == 2
    assert len({NewPartitions("a", 1), NewPartitions("a", 1), NewPartitions("a", 2), NewPartitions("b", 2)}) == 3
    assert sorted([NewTopic("b"), NewTopic("a")]) == [NewTopic("a"), NewTopic("b")]
    assert NewPartitions("a", 1) < NewPartitions("a", 2) < NewPartitions("b", 1)
    assert str(NewTopic("a", 3)) == "NewTopic(topic=a,num_partitions=3)"
    assert str(NewPartitions("a", 3)) == "NewPartitions(topic=a,new_total_count=3)"


def test_resource_takes_its_kind_in_three_forms() -> None:
    resources = [ConfigResource("topic", "t"), ConfigResource(2, "t"), ConfigResource(ResourceType.TOPIC, "t")]
    assert len(set(resources)) == 1
    assert {resource.restype for resource in resources} == {ResourceType.TOPIC}
    assert repr(resources[0]) == "ConfigResource(ResourceType.TOPIC,t)"


@pytest.mark.parametrize(("kind", "name"), [("tpoic", "t"), (99, "t"), ("topic", None)])
def test_resource_refuses_nonsense(kind: str | int, name: str | None) -> None:
    with pytest.raises(ValueError, match=r"Unknown resource type|not a valid ResourceType|name to be a string"):
        ConfigResource(kind, name)


def test_resource_order_and_values() -> None:
    resource = ConfigResource("topic", "t", {"a": "1"})
    resource.set_config("a", "2", overwrite=False)
    resource.set_config("b", "3")
    resource.set_config("b", "4")
    assert resource.set_config_dict == {"a": "1", "b": "4"}
    assert len(resource) == 2
    assert bool(ConfigResource("topic", "t"))
    assert ConfigResource("topic", "b") > ConfigResource("topic", "a")
    assert ConfigResource("broker", "1") > ConfigResource("topic", "z")
    assert resource != ("topic", "t")
    given = {"a": "1"}
    ConfigResource("topic", "t", given).set_config("a", "2")
    assert given == {"a": "1"}


def test_sensitive_values_are_not_printed() -> None:
    assert str(ConfigEntry("a", "b")) == 'a="b"'
    assert str(ConfigEntry("a", None, is_sensitive=True)) == 'a="***"'


def test_numbers_of_brokers_become_names() -> None:
    assert ConfigSource.from_wire(8) is ConfigSource.GROUP_CONFIG
    assert ConfigSource.from_wire(6) is ConfigSource.UNKNOWN_CONFIG
    assert AclOperation.from_bits(-(2**31)) is None
    assert AclOperation.from_bits(0) == []
    assert AclOperation.from_bits(1 << 3 | 1 << 12) == [AclOperation.READ, AclOperation.IDEMPOTENT_WRITE]


def test_offset_specs_are_what_the_request_carries() -> None:
    specs = (OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.max_timestamp(), OffsetSpec.for_timestamp(7))
    assert [spec.timestamp for spec in specs] == [-2, -1, -3, 7]
