"""DescribeConfigs v1-4: effective properties of topics, brokers and groups, with their sources.

Must not know: how they are changed. Versions: v1 sources and synonyms, v3 types and documentation (none here),
v4 flexible. Spec: KIP-133, KIP-226, KIP-569.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import MALFORMED, Code
from kafka_core.broker.configs import ConfigEntry, ConfigSource
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.partitions.topics import topic_name_problem
from kafka_core.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

RESOURCE_TOPIC = 2
RESOURCE_BROKER = 4
RESOURCE_METRICS = 16
RESOURCE_GROUP = 32


def handle(cluster: ClusterState, context: Context, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """Describe each resource: all its properties, or those named."""
    return DescribeConfigsResponse(
        results=[_resource(cluster, context, item, request.include_synonyms) for item in request.resources]
    )


def _resource(
    cluster: ClusterState, context: Context, item: DescribeConfigsResource, with_synonyms: bool
) -> DescribeConfigsResult:
    entries: Iterable[ConfigEntry]
    if item.resource_type == RESOURCE_TOPIC:
        topic = cluster.topics.get(item.resource_name)
        if topic is None:
            problem = topic_name_problem(item.resource_name)
            code = Code.UNKNOWN_TOPIC_OR_PARTITION if problem is None else Code.INVALID_TOPIC_EXCEPTION
            return _refusal(item, code, problem or "")
        entries = topic.config.entries()
    elif item.resource_type == RESOURCE_BROKER:
        if item.resource_name not in ("", str(context.broker_id)):
            text = (
                f"Unexpected broker id, expected {context.broker_id} or empty string, but received {item.resource_name}"
            )
            return _refusal(item, Code.INVALID_REQUEST, text)
        entries = cluster.config.entries()
        if not item.resource_name:  # the cluster-wide default holds what was changed at run time
            entries = [entry for entry in entries if entry.source is ConfigSource.DYNAMIC_DEFAULT_BROKER]
    elif item.resource_type == RESOURCE_METRICS:
        if not item.resource_name:
            return _refusal(item, Code.INVALID_REQUEST, "Client metrics subscription name must not be empty")
        entries = cluster.telemetry.subscription(item.resource_name).entries()
    elif item.resource_type == RESOURCE_GROUP:
        if not item.resource_name:
            return _refusal(item, Code.INVALID_REQUEST, "Group name must not be empty")
        entries = cluster.group_config(item.resource_name).entries()
    else:
        return _refusal(item, Code.INVALID_REQUEST, MALFORMED)
    wanted = item.configuration_keys
    return DescribeConfigsResult(
        Code.NONE,
        "",
        item.resource_type,
        item.resource_name,
        [_config(entry, with_synonyms) for entry in entries if wanted is None or entry.key.name in wanted],
    )


def _config(entry: ConfigEntry, with_synonyms: bool) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        entry.key.name,
        entry.value,
        entry.key.read_only,
        entry.source,
        False,
        [DescribeConfigsSynonym(*synonym) for synonym in entry.synonyms] if with_synonyms else [],
        entry.key.type,
        None,
    )


def _refusal(item: DescribeConfigsResource, code: int, text: str | None) -> DescribeConfigsResult:
    return DescribeConfigsResult(code, text, item.resource_type, item.resource_name)


def fail(request: DescribeConfigsRequest, code: int) -> DescribeConfigsResponse:
    """The error for every resource of the request."""
    return DescribeConfigsResponse(results=[_refusal(item, code, None) for item in request.resources])


API = Api(DescribeConfigsRequest, handle, fail)
