"""aiokafka's administrator on `kafka_core.admin.AIOAdminClient`.

Must not know the protocol: it maps arguments, results and errors.
Spec: aiokafka 0.14's signatures and behaviour; docs/guide/migrating-aiokafka.md lists the differences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from kafka_core import ConsumerGroupTopicPartitions, KafkaException, StateError
from kafka_core import KafkaError as CoreError
from kafka_core import admin as core_admin
from kserdes.compat.aiokafka.arguments import ADMIN, CLIENT_ID
from kserdes.compat.aiokafka.connecting import FirstContact, properties, translating
from kserdes.compat.aiokafka.errors import (
    IllegalArgumentError,
    IncompatibleBrokerVersion,
    for_code,
    translated,
)
from kserdes.compat.aiokafka.responses import (
    AlterConfigsResponse,
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteTopicsResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
)
from kserdes.compat.aiokafka.structs import OffsetAndMetadata, TopicPartition
from kserdes.compat.aiokafka.values import core, ours

if TYPE_CHECKING:
    import ssl

    from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider

__all__ = [
    "AIOKafkaAdminClient",
    "ConfigResource",
    "ConfigResourceType",
    "NewPartitions",
    "NewTopic",
    "RecordsToDelete",
]

GROUP_COORDINATOR: Final = 0


class ConfigResourceType(IntEnum):
    """The kind of resource that has a configuration."""

    BROKER = 4
    TOPIC = 2


class ConfigResource:
    """A topic or broker, and values for it, or the names that are asked for."""

    def __init__(
        self,
        resource_type: ConfigResourceType | str,
        name: str,
        configs: Mapping[str, Any] | Sequence[str] | None = None,
    ) -> None:
        if not isinstance(resource_type, ConfigResourceType):
            resource_type = ConfigResourceType[str(resource_type).upper()]
        self.resource_type = resource_type
        self.name = name
        self.configs = configs


class NewTopic:
    """A topic to create: with numbers, or with the replicas of each partition (and -1 for one of the numbers).

    Raises:
        IllegalArgumentError: both, or neither.
    """

    def __init__(
        self,
        name: str,
        num_partitions: int,
        replication_factor: int,
        replica_assignments: Mapping[int, Sequence[int]] | None = None,
        topic_configs: Mapping[str, str] | None = None,
    ) -> None:
        if (-1 in (num_partitions, replication_factor)) == (replica_assignments is None):
            raise IllegalArgumentError(
                f"{name}: give either num_partitions and replication_factor, or replica_assignments and -1"
            )
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.replica_assignments = replica_assignments or {}
        self.topic_configs = topic_configs or {}


class NewPartitions:
    """The new total of a topic's partitions, and the replicas of the new ones."""

    def __init__(self, total_count: int, new_assignments: Sequence[Sequence[int]] | None = None) -> None:
        self.total_count = total_count
        self.new_assignments = new_assignments


class RecordsToDelete:
    """Records before this offset."""

    def __init__(self, before_offset: int) -> None:
        self.before_offset = before_offset


class AIOKafkaAdminClient:
    """Administers a cluster; arguments are those of aiokafka 0.14 (`arguments.ADMIN` says what each does).

    Raises:
        ValueError: arguments that make no sense.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        bootstrap_servers: str | list[str] = "localhost",
        client_id: str = CLIENT_ID,
        request_timeout_ms: int = 40000,
        connections_max_idle_ms: int = 540000,
        retry_backoff_ms: int = 100,
        metadata_max_age_ms: int = 300000,
        security_protocol: str = "PLAINTEXT",
        ssl_context: ssl.SSLContext | None = None,
        api_version: None = None,
        sasl_mechanism: str = "PLAIN",
        sasl_plain_username: str | None = None,
        sasl_plain_password: str | None = None,
        sasl_kerberos_service_name: str = "kafka",
        sasl_kerberos_domain_name: str | None = None,
        sasl_oauth_token_provider: AbstractTokenProvider | None = None,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in ADMIN.rows}
        self._contact = FirstContact(bootstrap_servers)
        conf = properties(ADMIN, values, self._own_loop)
        try:
            self._admin = core_admin.AIOAdminClient(conf)
        except KafkaException as error:
            raise translated(error) from error
        self._admin.client.on_error(self._contact.on_error)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timeout_s = request_timeout_ms / 1000

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise StateError("the administrator has not been started")
        return self._loop

    async def start(self) -> None:
        """Connects.

        Raises:
            KafkaConnectionError: no broker can be reached.
        """
        self._loop = asyncio.get_running_loop()
        await self._contact.make(self._admin.cluster_id(self._timeout_s))

    async def close(self) -> None:
        """Closes all connections."""
        await self._admin.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    # ---- topics

    async def create_topics(
        self, new_topics: list[NewTopic], timeout_ms: int | None = None, validate_only: bool = False
    ) -> CreateTopicsResponse:
        """Creates topics; the response has a code and text for each."""
        wanted = [
            core_admin.NewTopic(
                topic.name,
                -1 if topic.replica_assignments else topic.num_partitions,
                -1 if topic.replica_assignments else topic.replication_factor,
                [list(topic.replica_assignments[number]) for number in sorted(topic.replica_assignments)] or None,
                dict(topic.topic_configs),
            )
            for topic in new_topics
        ]
        with translating():
            found = await self._admin.create_topics(wanted, validate_only=validate_only, **times(timeout_ms))
        return CreateTopicsResponse([(name, *told(found[name].error)) for name in found])

    async def delete_topics(self, topics: list[str], timeout_ms: int | None = None) -> DeleteTopicsResponse:
        """Deletes topics; the response has a code for each."""
        with translating():
            found = await self._admin.delete_topics(topics, **times(timeout_ms))
        return DeleteTopicsResponse([(name, told(found[name].error)[0]) for name in found])

    async def create_partitions(
        self,
        topic_partitions: dict[str, NewPartitions],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> CreatePartitionsResponse:
        """Gives topics more partitions.

        Raises:
            KafkaError: of the code of the first topic that does not get them.
        """
        wanted = [
            core_admin.NewPartitions(topic, item.total_count, item.new_assignments)
            for topic, item in topic_partitions.items()
        ]
        with translating():
            found = await self._admin.create_partitions(wanted, validate_only=validate_only, **times(timeout_ms))
        rows = [(name, *told(found[name].error)) for name in found]
        for name, code, text in rows:
            if code:
                raise for_code(code)(f"Could not create partitions for {name}: {text}")
        return CreatePartitionsResponse(rows)

    async def list_topics(self) -> list[str]:
        """The names of all topics."""
        with translating():
            return list((await self._admin.list_topics()).topics)

    async def describe_topics(self, topics: list[str] | None = None) -> list[Any]:
        """A dict per topic, with one per partition; of all topics if none are named."""
        names = await self.list_topics() if topics is None else topics
        if not names:
            return []
        with translating():
            found = await self._admin.describe_topics(names)
        return [described(name, found[name]) for name in names]

    # ---- cluster

    async def describe_cluster(self) -> dict[str, Any]:
        """The brokers, the cluster's id and its controller."""
        with translating():
            found = await self._admin.describe_cluster()
        return {
            "throttle_time_ms": 0,
            "brokers": [
                {"node_id": node.id, "host": node.host, "port": node.port, "rack": node.rack} for node in found.nodes
            ],
            "cluster_id": found.cluster_id,
            "controller_id": -1 if found.controller is None else found.controller.id,
        }

    async def describe_configs(
        self, config_resources: list[ConfigResource], include_synonyms: bool = False
    ) -> list[DescribeConfigsResponse]:
        """The configurations of topics and brokers, all entries or those named in `configs`.

        Returns:
            One response for the topics, and one per broker.
        """
        wanted = {core_resource(item): item for item in config_resources}
        with translating():
            found = await self._admin.describe_configs(list(wanted))
        parts: dict[str, list[tuple[Any, ...]]] = {}
        for resource, item in wanted.items():
            outcome = found[resource]
            names = None if item.configs is None else set(item.configs)
            entries = [
                config_row(entry, include_synonyms)
                for name, entry in (outcome.value or {}).items()
                if names is None or name in names
            ]
            code, text = told(outcome.error)
            row = (code, text or "", int(item.resource_type), item.name, entries)
            parts.setdefault(part_of(item), []).append(row)
        return [DescribeConfigsResponse(rows) for rows in parts.values()]

    async def alter_configs(self, config_resources: list[ConfigResource]) -> list[AlterConfigsResponse]:
        """Replaces configurations: unset properties go back to their defaults.

        Returns:
            One response for the topics, and one per broker.
        """
        wanted = {core_resource(item, values=True): item for item in config_resources}
        with translating():
            found = await self._admin.alter_configs(list(wanted))
        parts: dict[str, list[tuple[Any, ...]]] = {}
        for resource, item in wanted.items():
            row = (*told(found[resource].error), int(item.resource_type), item.name)
            parts.setdefault(part_of(item), []).append(row)
        return [AlterConfigsResponse(rows) for rows in parts.values()]

    async def delete_records(
        self, records_to_delete: dict[TopicPartition, RecordsToDelete], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """Deletes records before offsets.

        Returns:
            The first offset of each partition now.

        Raises:
            KafkaError: that of the first failed partition.
        """
        wanted = [core(item, what.before_offset) for item, what in records_to_delete.items()]
        with translating():
            found = await self._admin.delete_records(wanted, **times(timeout_ms))
            results = {item: found[item].result() for item in wanted}
        return {ours(item): -1 if result is None else result.low_watermark for item, result in results.items()}

    # ---- groups

    async def describe_consumer_groups(
        self,
        group_ids: list[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> list[DescribeGroupsResponse]:
        """A response per group, with its members; the coordinators are found in any case.

        Raises:
            IncompatibleBrokerVersion: operations are asked for, which these responses can't tell.
        """
        if include_authorized_operations:
            raise IncompatibleBrokerVersion("the operations of a group are in kafka_core.admin.AIOAdminClient's answer")
        answers = []
        for group_id in group_ids:
            with translating():
                listed = await self._admin.list_groups(group_id)
            rows = [
                (
                    0 if group.error is None else group.error.code(),
                    group.id,
                    group.state,
                    group.protocol_type,
                    group.protocol,
                    [
                        (member.id, member.client_id, member.client_host, member.metadata, member.assignment)
                        for member in group.members
                    ],
                )
                for group in listed
            ]
            for code, *_ in rows:
                if code:
                    raise for_code(code)(group_id)
            answers.append(DescribeGroupsResponse(rows or [(0, group_id, "Dead", "", "", [])]))
        return answers

    async def list_consumer_groups(self, broker_ids: list[int] | None = None) -> list[tuple[Any, ...]]:
        """(group, protocol type) of the groups of all brokers, or of those that these coordinate."""
        with translating():
            groups = await self._admin.list_groups()
        return [
            (group.id, group.protocol_type)
            for group in groups
            if broker_ids is None or (group.broker is not None and group.broker.id in broker_ids)
        ]

    async def find_coordinator(self, group_id: str, coordinator_type: int = GROUP_COORDINATOR) -> int:
        """The id of the broker that coordinates a group.

        Raises:
            IncompatibleBrokerVersion: the coordinator of a transactional id, which kafka_core tells nobody.
        """
        if coordinator_type != GROUP_COORDINATOR:
            raise IncompatibleBrokerVersion("only the coordinators of groups can be found")
        with translating():
            found = (await self._admin.describe_consumer_groups([group_id]))[group_id]
        if found.error is not None:
            if found.error.code != CoreError.GROUP_ID_NOT_FOUND:
                raise translated(found.error) from found.error
            raise for_code(CoreError.GROUP_ID_NOT_FOUND)(group_id) from found.error
        assert found.value is not None
        return -1 if found.value.coordinator is None else found.value.coordinator.id

    async def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: list[TopicPartition] | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets that a group has committed: of these partitions (-1 where nothing), or all."""
        wanted = None if partitions is None else [core(item) for item in partitions]
        with translating():
            found = await self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group_id, wanted)])
            result = found[group_id].result()
        offsets = {}
        for item in [] if result is None else result.topic_partitions or ():
            if item.error is not None:
                raise translated(item.error)
            offsets[ours(item)] = OffsetAndMetadata(max(item.offset, -1), item.metadata or "")
        return offsets


def times(timeout_ms: int | None) -> dict[str, float]:
    """`timeout_ms` as a keyword argument of ours."""
    return {} if timeout_ms is None else {"operation_timeout": timeout_ms / 1000}


def told(error: KafkaException | None) -> tuple[int, str | None]:
    """The code and text of a failure; what no broker said is raised.

    Raises:
        KafkaError: nobody was there, or it took too long.
    """
    if error is None:
        return 0, None
    if error.code < 0:
        raise translated(error) from error
    return error.code, error.error.str()


def core_resource(item: ConfigResource, *, values: bool = False) -> core_admin.ConfigResource:
    """A resource as ours; with its values if these are to be set."""
    given = dict(item.configs) if values and isinstance(item.configs, Mapping) else None
    return core_admin.ConfigResource(int(item.resource_type), item.name, given)


def part_of(item: ConfigResource) -> str:
    """Whom it is asked of: resources with one answer have the same."""
    return item.name if item.resource_type is ConfigResourceType.BROKER else ""


def config_row(entry: core_admin.ConfigEntry, include_synonyms: bool) -> tuple[Any, ...]:
    """An entry of a configuration."""
    synonyms: Iterable[core_admin.ConfigEntry] = entry.synonyms.values() if include_synonyms else ()
    return (
        entry.name,
        entry.value,
        entry.is_read_only,
        entry.source.value,
        entry.is_sensitive,
        [(item.name, item.value, item.source.value) for item in synonyms],
    )


def described(name: str, outcome: core_admin.Outcome[core_admin.TopicDescription]) -> dict[str, Any]:
    """A topic's dict."""
    topic = outcome.value
    partitions = [
        {
            "error_code": 0 if item.leader is not None else CoreError.LEADER_NOT_AVAILABLE,
            "partition": item.id,
            "leader": -1 if item.leader is None else item.leader.id,
            "replicas": [node.id for node in item.replicas],
            "isr": [node.id for node in item.isr],
            "offline_replicas": [],
        }
        for item in ([] if topic is None else topic.partitions)
    ]
    return {
        "error_code": told(outcome.error)[0],
        "topic": name,
        "is_internal": topic is not None and topic.is_internal,
        "partitions": partitions,
    }
