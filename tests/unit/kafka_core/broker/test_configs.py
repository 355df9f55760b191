"""Properties of topics and brokers: defaults, sources and what is refused."""

from __future__ import annotations

import pytest

from kafka_core.broker.configs import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    BrokerConfig,
    ConfigSource,
    TopicConfig,
    topic_config_problem,
)


def test_every_default_is_a_value_that_is_allowed() -> None:
    for key in (*TOPIC_CONFIGS.values(), *BROKER_CONFIGS.values()):
        if key.default:
            assert key.problem(key.default) is None, key.name


def test_a_topic_takes_what_it_lacks_from_the_broker() -> None:
    broker = BrokerConfig({"message.max.bytes": "5000"})
    topic = TopicConfig(broker, {"retention.ms": "7"})
    assert topic.integer("max.message.bytes") == 5000
    assert topic.integer("retention.ms") == 7
    assert topic.text("cleanup.policy") == "delete"
    broker.dynamic = {"message.max.bytes": "6000"}
    assert topic.integer("max.message.bytes") == 6000


def test_sources_and_synonyms_show_where_a_value_comes_from() -> None:
    broker = BrokerConfig({"message.max.bytes": "5000"})
    broker.dynamic = {"message.max.bytes": "6000"}
    topic = TopicConfig(broker, {"max.message.bytes": "7000"})
    assert topic.entry("max.message.bytes").synonyms == (
        ("max.message.bytes", "7000", ConfigSource.TOPIC),
        ("message.max.bytes", "6000", ConfigSource.DYNAMIC_BROKER),
        ("message.max.bytes", "5000", ConfigSource.STATIC_BROKER),
        ("message.max.bytes", "1048588", ConfigSource.DEFAULT),
    )
    assert topic.entry("retention.ms").source is ConfigSource.DEFAULT
    assert topic.entry("min.insync.replicas").source is ConfigSource.DYNAMIC_DEFAULT_BROKER
    assert [entry.key.name for entry in topic.entries()] == list(TOPIC_CONFIGS)
    assert [entry.key.name for entry in broker.entries()] == list(BROKER_CONFIGS)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("retention.ms", "abc", "Invalid value abc for configuration retention.ms: Not a number of type LONG"),
        ("retention.ms", "-5", "Value must be at least -1"),
        ("segment.bytes", "1000", "Value must be at least 1048576"),
        ("cleanup.policy", "abc", "String must be one of: compact, delete"),
        ("cleanup.policy", "compact,abc", "String must be one of: compact, delete"),
        ("preallocate", "x", "Expected value to be either true or false"),
        ("min.cleanable.dirty.ratio", "2", "Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("nope", "1", "Unknown topic config name: nope"),
        ("retention.ms", None, "Null value not supported for topic configs: retention.ms"),
    ],
)
def test_topic_configs_with_invalid_values_are_refused(name: str, value: str | None, text: str) -> None:
    problem = topic_config_problem(name, value)
    assert problem is not None
    assert text in problem


@pytest.mark.parametrize(("name", "value"), [("cleanup.policy", "compact,delete"), ("preallocate", "TRUE")])
def test_topic_configs_with_valid_values_are_taken(name: str, value: str) -> None:
    assert topic_config_problem(name, value) is None


@pytest.mark.parametrize("properties", [{"nope": "1"}, {"message.max.bytes": "many"}])
def test_a_broker_does_not_start_with_wrong_properties(properties: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(properties))):
        BrokerConfig(properties)


def test_flags() -> None:
    assert BrokerConfig({}).flag("auto.create.topics.enable")
    assert not BrokerConfig({"auto.create.topics.enable": "False"}).flag("auto.create.topics.enable")


def test_a_topic_needs_at_least_one_replica_in_sync() -> None:
    assert topic_config_problem("min.insync.replicas", "1") is None
    assert topic_config_problem("min.insync.replicas", "0") is not None
