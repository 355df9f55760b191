"""Administration of configurations: resources → requests, responses → entries.

Must not know connections or time. Spec: KIP-133 (DescribeConfigs, AlterConfigs), KIP-226 (sources and synonyms),
KIP-339 (IncrementalAlterConfigs), KIP-1142 and KIP-848 (groups as resources).
"""

from collections.abc import Iterable, Sequence

from kafka_core.admin_model import (
    WIRE_RESOURCE_TYPES,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ElementError,
    Outcome,
    ResourceType,
    checked_list,
    unique,
)
from kafka_core.protocol.messages import alter_configs, incremental_alter_configs
from kafka_core.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)

Entries = dict[str, ConfigEntry]


def check_resources(resources: object) -> list[ConfigResource]:
    """The resources as a list; TypeError or ValueError when they can't be described or altered."""
    found = unique(checked_list(resources, ConfigResource, "ConfigResource objects"), "resource")
    for resource in found:
        if resource.restype not in WIRE_RESOURCE_TYPES:
            raise ValueError(
                f"{resource}: only topics, brokers, groups and subscriptions to client metrics have a configuration"
            )
        if not resource.name and resource.restype is not ResourceType.BROKER:
            raise ValueError(f"{resource}: the name is empty")
        if resource.restype is ResourceType.BROKER and resource.name and not resource.name.isdecimal():
            raise ValueError(f"{resource}: a broker is named by its id (or '' for the default of all brokers)")
        for name, value in resource.set_config_dict.items():
            config_text(resource, name, value)
    return found


def config_text(resource: object, name: object, value: object) -> str | None:
    """An entry's value as the text that is sent; confluent_kafka takes numbers, too.

    Raises:
        TypeError: the name is no text, or the value neither text, a number nor None.
    """
    if not isinstance(name, str):
        raise TypeError(f"{resource}: the name of an entry must be str, not {type(name).__name__}")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"{resource}: {name} must be text or a number, not {type(value).__name__}")


def by_broker(resources: Iterable[ConfigResource]) -> dict[int | None, list[ConfigResource]]:
    """The broker to ask: a broker itself about its own configuration, any one (None) about the rest."""
    groups: dict[int | None, list[ConfigResource]] = {}
    for resource in resources:
        groups.setdefault(broker_of(resource), []).append(resource)
    return groups


def broker_of(resource: ConfigResource) -> int | None:
    """The broker whose own configuration it is; None for topics, groups and what is set for all brokers."""
    return int(resource.name) if resource.restype is ResourceType.BROKER and resource.name else None


def describe_request(resources: Iterable[ConfigResource]) -> DescribeConfigsRequest:
    """All entries of the resources, with their synonyms."""
    wanted = [DescribeConfigsResource(*_wire_name(resource), configuration_keys=None) for resource in resources]
    return DescribeConfigsRequest(wanted, include_synonyms=True)


def alter_request(resources: Iterable[ConfigResource], *, validate_only: bool) -> alter_configs.AlterConfigsRequest:
    """Replaces the whole configuration of each resource by its `set_config` values."""
    return alter_configs.AlterConfigsRequest(
        [
            alter_configs.AlterConfigsResource(
                *_wire_name(resource),
                [
                    alter_configs.AlterableConfig(name, config_text(resource, name, value))
                    for name, value in resource.set_config_dict.items()
                ],
            )
            for resource in resources
        ],
        validate_only,
    )


def incremental_alter_request(
    resources: Iterable[ConfigResource], *, validate_only: bool
) -> incremental_alter_configs.IncrementalAlterConfigsRequest:
    """Changes only the entries named."""
    return incremental_alter_configs.IncrementalAlterConfigsRequest(
        [
            incremental_alter_configs.AlterConfigsResource(
                *_wire_name(resource), [_alterable(entry) for entry in resource.incremental_configs]
            )
            for resource in resources
        ],
        validate_only,
    )


def check_increments(resources: Sequence[ConfigResource]) -> None:
    """TypeError or ValueError when a resource has no entries, or an entry does not say what to do."""
    for resource in resources:
        if not resource.incremental_configs:
            raise ValueError(f"{resource}: no incremental_configs to apply")
        for entry in resource.incremental_configs:
            if not isinstance(entry, ConfigEntry):
                raise TypeError(f"{resource}: incremental_configs holds {type(entry).__name__}, not ConfigEntry")
            if entry.incremental_operation is None:
                raise ElementError(f"{resource}: {entry.name} has no incremental_operation")
            config_text(resource, entry.name, entry.value)
            if entry.value is None and entry.incremental_operation is not AlterConfigOpType.DELETE:
                raise ValueError(f"{resource}: {entry.name} has no value")


def _alterable(entry: ConfigEntry) -> incremental_alter_configs.AlterableConfig:
    operation = entry.incremental_operation or AlterConfigOpType.SET
    value = None if operation is AlterConfigOpType.DELETE else config_text("an entry", entry.name, entry.value)
    return incremental_alter_configs.AlterableConfig(entry.name, operation.value, value)


def _wire_name(resource: ConfigResource) -> tuple[int, str]:
    return WIRE_RESOURCE_TYPES[resource.restype], resource.name


def altered(
    response: alter_configs.AlterConfigsResponse | incremental_alter_configs.IncrementalAlterConfigsResponse,
) -> dict[ConfigResource, Outcome[None]]:
    """The outcome for each resource."""
    return {
        _resource(item.resource_type, item.resource_name): Outcome.of(item.error_code, item.error_message)
        for item in response.responses
    }


def described(response: DescribeConfigsResponse) -> dict[ConfigResource, Outcome[Entries]]:
    """The entries of each resource by name."""
    return {
        _resource(item.resource_type, item.resource_name): Outcome.of(
            item.error_code, item.error_message, {entry.name: _entry(entry) for entry in item.configs}
        )
        for item in response.results
    }


def _resource(number: int, name: str) -> ConfigResource:
    kinds = {wire: kind for kind, wire in WIRE_RESOURCE_TYPES.items()}
    return ConfigResource(kinds.get(number, ResourceType.UNKNOWN), name)


def _entry(item: DescribeConfigsResourceResult) -> ConfigEntry:
    source = ConfigSource.from_wire(item.config_source)
    return ConfigEntry(
        item.name,
        item.value,
        source,
        is_read_only=item.read_only,
        is_default=source is ConfigSource.DEFAULT_CONFIG,
        is_sensitive=item.is_sensitive,
        synonyms=_synonyms(item),
    )


def _synonyms(item: DescribeConfigsResourceResult) -> dict[str, ConfigEntry]:
    """The sources that the value could come from, the one in force first; of two with one name the first one counts."""
    found: dict[str, ConfigEntry] = {}
    for synonym in item.synonyms:
        source = ConfigSource.from_wire(synonym.source)
        found.setdefault(synonym.name, ConfigEntry(synonym.name, synonym.value, source, is_synonym=True))
    return found
