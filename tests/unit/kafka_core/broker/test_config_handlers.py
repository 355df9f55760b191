"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and DescribeCluster through the dispatcher."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.handlers.altering import Operation
from kafka_core.protocol.messages import alter_configs, incremental_alter_configs
from kafka_core.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_core.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from tests.unit.kafka_core.broker.harness import ALL_CLUSTER_OPERATIONS, Bench

TOPIC, BROKER = 2, 4


def describe(
    bench: Bench, kind: int, name: str, keys: list[str] | None = None, version: int = 4, synonyms: bool = False
) -> DescribeConfigsResult:
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, keys)], synonyms)
    (result,) = bench.ask(request, version).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


@pytest.mark.parametrize("version", range(1, 5))
def test_topics_show_values_sources_and_synonyms(version: int) -> None:
    bench = Bench()
    bench.topic(configs={"retention.ms": "7"})
    result = describe(bench, TOPIC, "t", ["retention.ms", "max.message.bytes", "nope"], version, synonyms=True)
    largest, retention = sorted(result.configs, key=lambda config: config.name)
    assert (retention.value, retention.config_source, retention.read_only) == ("7", 1, False)
    assert [(s.name, s.value, s.source) for s in largest.synonyms] == [("message.max.bytes", "1048588", 5)]
    assert retention.config_type == (5 if version >= 3 else 0)
    assert describe(bench, TOPIC, "t", ["retention.ms"]).configs[0].synonyms == []


def test_everything_is_shown_without_keys() -> None:
    bench = Bench()
    bench.topic()
    assert len(describe(bench, TOPIC, "t").configs) == 33
    names = {config.name for config in describe(bench, BROKER, "1").configs}
    assert {"message.max.bytes", "num.partitions", "log.retention.bytes"} <= names


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "nope", Code.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a b", Code.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", Code.INVALID_REQUEST),
        (1, "x", Code.INVALID_REQUEST),
    ],
)
def test_resources_that_do_not_exist(kind: int, name: str, code: Code) -> None:
    assert describe(Bench(), kind, name).error_code == code


def change(bench: Bench, kind: int, name: str, *operations: tuple[str, int, str | None], validate: bool = False) -> int:
    configs = [incremental_alter_configs.AlterableConfig(*operation) for operation in operations]
    resource = incremental_alter_configs.AlterConfigsResource(kind, name, configs)
    request = incremental_alter_configs.IncrementalAlterConfigsRequest([resource], validate)
    codes = {bench.ask(request, version).responses[0].error_code for version in ((0, 1) if validate else (1,))}
    (code,) = codes
    return code


def test_single_properties_are_set_and_deleted() -> None:
    bench = Bench()
    bench.topic(configs={"retention.ms": "7"})
    own = bench.cluster.topics["t"].config
    assert change(bench, TOPIC, "t", ("segment.ms", Operation.SET, "5"), ("retention.ms", Operation.DELETE, None)) == 0
    assert own.own == {"segment.ms": "5"}
    assert change(bench, TOPIC, "t", ("segment.ms", Operation.SET, "9"), validate=True) == 0
    assert own.own == {"segment.ms": "5"}


def test_lists_grow_and_shrink() -> None:
    bench = Bench()
    bench.topic()
    own = bench.cluster.topics["t"].config
    assert change(bench, TOPIC, "t", ("cleanup.policy", Operation.APPEND, "compact")) == 0
    assert own.own["cleanup.policy"] == "delete,compact"
    assert change(bench, TOPIC, "t", ("cleanup.policy", Operation.SUBTRACT, "delete")) == 0
    assert own.own["cleanup.policy"] == "compact"
    assert change(bench, TOPIC, "t", ("retention.ms", Operation.APPEND, "1")) == Code.INVALID_CONFIG


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([("retention.ms", 0, "abc")], Code.INVALID_CONFIG),
        ([("nope", 0, "1")], Code.INVALID_CONFIG),
        ([("retention.ms", 0, None)], Code.INVALID_REQUEST),
        ([("retention.ms", 0, "1"), ("retention.ms", 1, None)], Code.INVALID_REQUEST),
        ([("retention.ms", 7, "1")], Code.INVALID_REQUEST),
    ],
)
def test_a_wrong_change_changes_nothing(operations: list[tuple[str, int, str | None]], code: Code) -> None:
    bench = Bench()
    bench.topic()
    assert change(bench, TOPIC, "t", ("segment.ms", 0, "5"), *operations) == code
    assert bench.cluster.topics["t"].config.own == {}


def test_topics_that_do_not_exist_and_other_resources_cannot_be_changed() -> None:
    assert change(Bench(), TOPIC, "nope", ("retention.ms", 0, "1")) == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert change(Bench(), 1, "x", ("retention.ms", 0, "1")) == Code.INVALID_REQUEST


def test_brokers_are_changed_at_run_time() -> None:
    bench = Bench()
    bench.topic()
    assert change(bench, BROKER, "1", ("message.max.bytes", 0, "2000000"), ("some.plugin", 0, "x")) == 0
    assert bench.cluster.topics["t"].config.integer("max.message.bytes") == 2_000_000
    assert change(bench, BROKER, "1", ("num.partitions", 0, "3")) == Code.INVALID_REQUEST
    assert change(bench, BROKER, "7", ("message.max.bytes", 0, "3")) == Code.INVALID_REQUEST
    assert change(bench, BROKER, "", ("message.max.bytes", 0, "x")) == Code.INVALID_REQUEST
    assert change(bench, BROKER, "", ("log.retention.bytes", 0, "5")) == 0
    assert change(bench, BROKER, "1", ("message.max.bytes", 0, "3"), validate=True) == 0
    assert bench.cluster.config.integer("message.max.bytes") == 2_000_000
    shared = describe(bench, BROKER, "")
    assert {config.name: config.value for config in shared.configs} == {
        "log.retention.bytes": "5",
        "min.insync.replicas": "1",
    }


@pytest.mark.parametrize("version", range(3))
def test_all_properties_are_replaced(version: int) -> None:
    bench = Bench()
    bench.topic(configs={"retention.ms": "7"})

    def alter(value: str | None, *, validate: bool = False, name: str = "t") -> int:
        configs = [alter_configs.AlterableConfig("segment.ms", value)]
        resource = alter_configs.AlterConfigsResource(TOPIC, name, configs)
        return bench.ask(alter_configs.AlterConfigsRequest([resource], validate), version).responses[0].error_code

    assert alter("3", validate=True) == 0
    assert bench.cluster.topics["t"].config.own == {"retention.ms": "7"}
    assert alter("3") == 0
    assert bench.cluster.topics["t"].config.own == {"segment.ms": "3"}
    assert alter("x") == Code.INVALID_CONFIG
    assert alter(None) == Code.INVALID_REQUEST
    assert alter("3", name="nope") == Code.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described(version: int) -> None:
    bench = Bench(2)
    bench.cluster.node_down(1)
    response = bench.ask(DescribeClusterRequest(True), version)
    assert (response.cluster_id, response.controller_id) == (bench.cluster.cluster_id, 2)
    assert [(node.broker_id, node.port) for node in response.brokers] == [(2, 9002)]
    assert response.cluster_authorized_operations == ALL_CLUSTER_OPERATIONS


def test_stopped_brokers_are_shown_as_fenced_on_request() -> None:
    bench = Bench(2)
    bench.cluster.node_down(1)
    response = bench.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)
    assert [(node.broker_id, node.is_fenced) for node in response.brokers] == [(1, True), (2, False)]


@pytest.mark.parametrize(("kind", "code"), [(2, Code.MISMATCHED_ENDPOINT_TYPE), (9, Code.UNSUPPORTED_ENDPOINT_TYPE)])
def test_there_are_no_other_endpoints(kind: int, code: Code) -> None:
    assert Bench().ask(DescribeClusterRequest(endpoint_type=kind), 1).error_code == code
