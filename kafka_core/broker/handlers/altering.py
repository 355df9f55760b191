"""Changing properties of topics, brokers and groups: what AlterConfigs and IncrementalAlterConfigs have in common.

Must not know: requests. Spec: KIP-133 (replace all), KIP-226 (brokers at run time), KIP-339 (single operations).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.configs import (
    BROKER_CONFIGS,
    GROUP_CONFIGS,
    METRICS_CONFIGS,
    TOPIC_CONFIGS,
    ConfigKey,
    ConfigType,
    GroupConfig,
    MetricsConfig,
    topic_config_problem,
)
from kafka_core.broker.handlers.p32_describe_configs import (
    RESOURCE_BROKER,
    RESOURCE_GROUP,
    RESOURCE_METRICS,
    RESOURCE_TOPIC,
)


class Operation(IntEnum):
    """The operation of IncrementalAlterConfigs on one property."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


#: Makes the new properties of a resource from those set now; Refused if that can't be.
Change = Callable[[dict[str, str], Mapping[str, ConfigKey]], dict[str, str]]


def alter(cluster: ClusterState, node_id: int, kind: int, name: str, change: Change, *, validate_only: bool) -> None:
    """Check and make a change, asked of broker `node_id`.

    Raises:
        Refused: unknown resource, unknown property or a value it can't have.
    """
    if kind == RESOURCE_TOPIC:
        _alter_topic(cluster, name, change, validate_only=validate_only)
    elif kind == RESOURCE_BROKER:
        _alter_broker(cluster, name, change, node_id, validate_only=validate_only)
    elif kind == RESOURCE_GROUP:
        _alter_group(cluster, name, change, validate_only=validate_only)
    elif kind == RESOURCE_METRICS:
        _alter_subscription(cluster, name, change, validate_only=validate_only)
    else:
        raise Refused(Code.INVALID_REQUEST, f"Unexpected resource type {kind}.")


def _alter_topic(cluster: ClusterState, name: str, change: Change, *, validate_only: bool) -> None:
    topic = cluster.topics.get(name)
    if topic is None:
        raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    own = change(dict(topic.config.own), TOPIC_CONFIGS)
    for key, value in own.items():
        problem = topic_config_problem(key, value)
        if problem is not None:
            raise Refused(Code.INVALID_CONFIG, problem)
    if not validate_only:
        topic.config.own = own


def _alter_broker(cluster: ClusterState, name: str, change: Change, node_id: int, *, validate_only: bool) -> None:
    """Change this broker (brokers share their values here), or with an empty name the cluster's default.

    Names a broker does not know are taken, as the real one does: they could be for a plug-in of its.
    """
    if name not in ("", str(node_id)):
        raise Refused(Code.INVALID_REQUEST, f"Unexpected broker id, expected {node_id}, but received {name}")
    config = cluster.config
    values = change(dict(config.dynamic if name else config.cluster_default), BROKER_CONFIGS)
    for key_name, value in values.items():
        key = BROKER_CONFIGS.get(key_name)
        if key is not None and key.read_only:
            raise Refused(Code.INVALID_REQUEST, f"Cannot update these configs dynamically: [{key_name}]")
        problem = key.problem(value) if key is not None else None
        if problem is not None:
            raise Refused(Code.INVALID_REQUEST, problem)
    if validate_only:
        return
    if name:
        config.dynamic = values
    else:
        config.cluster_default = values


def _alter_group(cluster: ClusterState, name: str, change: Change, *, validate_only: bool) -> None:
    """Change a group, whether there is one of that name or not: its members find the properties when they come."""
    if not name:
        raise Refused(Code.INVALID_REQUEST, "Default group resources are not allowed.")
    config = GroupConfig(cluster.config, change(dict(cluster.group_config(name).own), GROUP_CONFIGS))
    problems = (config.problem(key, value) for key, value in config.own.items())
    problem = next((text for text in problems if text is not None), None) or config.whole_problem()
    if problem is not None:
        raise Refused(Code.INVALID_CONFIG, problem)
    if not validate_only:
        cluster.set_group_config(name, config)


def _alter_subscription(cluster: ClusterState, name: str, change: Change, *, validate_only: bool) -> None:
    """Change a subscription to clients' metrics; it is there as long as it has properties."""
    if not name:
        raise Refused(Code.INVALID_REQUEST, "Subscription name can't be empty")
    own = change(dict(cluster.telemetry.subscription(name).own), METRICS_CONFIGS)
    config = MetricsConfig(cluster.config, own)
    for code, problem in ((Code.INVALID_REQUEST, config.refusal()), (Code.INVALID_CONFIG, config.problem())):
        if problem is not None:
            raise Refused(code, problem)
    if not validate_only:
        cluster.telemetry.subscribe(name, config)


def replace_all(values: Mapping[str, str | None]) -> Change:
    """AlterConfigs: these properties and no others."""

    def change(own: dict[str, str], keys: Mapping[str, ConfigKey]) -> dict[str, str]:
        del own, keys
        missing = [name for name, value in values.items() if value is None]
        if missing:
            raise Refused(Code.INVALID_REQUEST, f"Null value not supported for : {', '.join(missing)}")
        return {name: value for name, value in values.items() if value is not None}

    return change


def apply_operations(operations: list[tuple[str, int, str | None]]) -> Change:
    """IncrementalAlterConfigs: (name, operation, value), each property once."""

    def change(own: dict[str, str], keys: Mapping[str, ConfigKey]) -> dict[str, str]:
        names = [name for name, _, _ in operations]
        if len(set(names)) != len(names):
            raise Refused(Code.INVALID_REQUEST, "Error due to duplicate config keys")
        for name, operation, value in operations:
            _apply(own, keys, name, operation, value)
        return own

    return change


def _apply(own: dict[str, str], keys: Mapping[str, ConfigKey], name: str, operation: int, value: str | None) -> None:
    if operation == Operation.DELETE:
        own.pop(name, None)
        return
    if value is None:
        raise Refused(Code.INVALID_REQUEST, f"Null value not supported for : {name}")
    if operation == Operation.SET:
        own[name] = value
        return
    key = keys.get(name)
    if operation not in (Operation.APPEND, Operation.SUBTRACT):
        raise Refused(Code.INVALID_REQUEST, f"Unknown config operation {operation}")
    if key is None or key.type is not ConfigType.LIST:
        text = f"Can't {Operation(operation).name} to key {name} because its type is not LIST."
        raise Refused(Code.INVALID_CONFIG, text)
    current = own.get(name, key.default) or ""
    items = [item for item in current.split(",") if item]
    changes = [item for item in value.split(",") if item]
    if operation == Operation.APPEND:
        items += [item for item in changes if item not in items]
    else:
        items = [item for item in items if item not in changes]
    own[name] = ",".join(items)
