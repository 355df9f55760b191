"""KafkaAdminClient of kafka-python 3.0 on `kafka_core.admin.AdminClient`: dicts in, dicts out, as there.

Must not hold any protocol.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from enum import Enum
from types import TracebackType
from typing import Any, Final, Self

from kafka_core import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType
from kafka_core import IsolationLevel as OurIsolation
from kafka_core import TopicPartition as Place
from kafka_core import admin as ours
from kserdes.compat.kafka import errors
from kserdes.compat.kafka.admin.acls import (
    ACL,
    AclCalls,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kserdes.compat.kafka.admin.base import outcome
from kserdes.compat.kafka.admin.cluster import ClusterCalls
from kserdes.compat.kafka.admin.partitions import PartitionCalls
from kserdes.compat.kafka.admin.transactions import TransactionCalls
from kserdes.compat.kafka.admin.users import (
    ScramMechanism,
    UserCalls,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kserdes.compat.kafka.admin.values import (
    AbortTransactionSpec,
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    ConfigSourceType,
    ConfigType,
    GroupState,
    GroupType,
    IsolationLevel,
    MemberToRemove,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    OffsetTimestamp,
    PartitionProducerState,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionState,
    UpdateFeatureType,
)
from kserdes.compat.kafka.failures import translated, translating
from kserdes.compat.kafka.producer import bootstrap
from kserdes.compat.kafka.settings import ADMIN, check_common
from kserdes.compat.kafka.structs import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

__all__ = [
    "ACL",
    "ACLFilter",
    "ACLOperation",
    "ACLPermissionType",
    "ACLResourcePatternType",
    "AbortTransactionSpec",
    "AlterConfigOp",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSourceType",
    "ConfigType",
    "GroupState",
    "GroupType",
    "IsolationLevel",
    "KafkaAdminClient",
    "MemberToRemove",
    "NewPartitions",
    "NewTopic",
    "OffsetSpec",
    "OffsetTimestamp",
    "PartitionProducerState",
    "ProducerState",
    "ResourcePattern",
    "ResourcePatternFilter",
    "ResourceType",
    "ScramMechanism",
    "TransactionDescription",
    "TransactionListing",
    "TransactionState",
    "UpdateFeatureType",
    "UserScramCredentialDeletion",
    "UserScramCredentialUpsertion",
]

FIRST_WAIT_S: Final = 0.05


STATES: Final = {
    ConsumerGroupState.STABLE: GroupState.STABLE,
    ConsumerGroupState.DEAD: GroupState.DEAD,
    ConsumerGroupState.EMPTY: GroupState.EMPTY,
    ConsumerGroupState.PREPARING_REBALANCING: GroupState.PREPARING_REBALANCE,
    ConsumerGroupState.COMPLETING_REBALANCING: GroupState.COMPLETING_REBALANCE,
}
TYPES: Final = {ConsumerGroupType.CLASSIC: GroupType.CLASSIC, ConsumerGroupType.CONSUMER: GroupType.CONSUMER}


class KafkaAdminClient(AclCalls, ClusterCalls, PartitionCalls, TransactionCalls, UserCalls):
    """Topics, partitions, configurations, groups and their offsets.

    Args:
        **configs: `DEFAULT_CONFIG` has all of them with their defaults.

    Raises:
        KafkaConfigurationError: there is no such argument. KafkaTimeoutError: no broker answered in time.
    """

    DEFAULT_CONFIG: Final = ADMIN.defaults()
    OF_GROUPS: Final = (
        errors.GroupIdNotFoundError,
        errors.NonEmptyGroupError,
        errors.GroupAuthorizationFailedError,
        errors.InvalidGroupIdError,
        errors.NotCoordinatorError,
        errors.CoordinatorNotAvailableError,
    )

    def __init__(self, **configs: Any) -> None:
        if unknown := ADMIN.unknown(configs):
            raise errors.KafkaConfigurationError(f"Unrecognized configs: {set(unknown)}")
        ADMIN.tell_unused(configs)
        self.config = {**self.DEFAULT_CONFIG, **configs}
        check_common(self.config)
        with translating():
            self._client = ours.AdminClient(ADMIN.properties(self.config))
        try:
            bootstrap(self._client.cluster_id, self.config)
        except BaseException:
            self._client.close()
            raise

    # ---- topics

    def create_topics(
        self,
        new_topics: Mapping[str, Mapping[str, Any]] | Sequence[str | NewTopic],
        timeout_ms: float | None = None,
        validate_only: bool = False,
        raise_errors: bool = True,
        wait_for_metadata: bool = False,
    ) -> dict[str, Any]:
        """Makes topics: names, or names with `num_partitions`, `replication_factor`, `assignments`, `configs`."""
        topics = [new_topic(each) for each in pairs(new_topics)]
        with translating():
            answers = self._client.create_topics(topics, validate_only=validate_only, **self._limits(timeout_ms))
        found = self._results(answers, raise_errors)
        if wait_for_metadata and not validate_only:
            self.wait_for_topics([topic.topic for topic in topics])
        return {"topics": found}

    def delete_topics(
        self, topics: Sequence[str], timeout_ms: float | None = None, raise_errors: bool = True
    ) -> dict[str, Any]:
        """Deletes topics."""
        with translating():
            answers = self._client.delete_topics(list(topics), **self._limits(timeout_ms))
        return {"topics": self._results(answers, raise_errors)}

    def create_partitions(
        self,
        topic_partitions: Mapping[str, Any],
        timeout_ms: float | None = None,
        validate_only: bool = False,
        raise_errors: bool = True,
    ) -> dict[str, Any]:
        """Gives topics more partitions: a number, or a dict with `count` and `assignments`."""
        wanted = [new_partitions(topic, each) for topic, each in topic_partitions.items()]
        with translating():
            answers = self._client.create_partitions(wanted, validate_only=validate_only, **self._limits(timeout_ms))
        return {"results": self._results(answers, raise_errors)}

    def _results(self, answers: Mapping[str, Any], raise_errors: bool) -> list[dict[str, Any]]:
        """One dict per topic; the first error is raised, if errors are."""
        found = []
        for topic, answer in answers.items():
            failure = outcome(answer)
            if failure is not None and raise_errors:
                raise translated(failure) from failure
            code = 0 if failure is None else failure.code
            text = None if failure is None else failure.error.str()
            found.append({"name": topic, "error_code": code, "error_message": text})
        return found

    def list_topics(self) -> list[str]:
        """All topics."""
        with translating():
            return list(self._client.list_topics().topics)

    def describe_topics(self, topics: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Topics with their partitions; all without an argument."""
        names = self.list_topics() if topics is None else list(topics)
        if not names:
            return []
        found = []
        with translating():
            answers = self._client.describe_topics(ours_topics(names))
        for name, answer in answers.items():
            failure = outcome(answer)
            if failure is not None:
                if failure.code < 0:
                    raise translated(failure) from failure
                found.append(topic_dict(name, failure.code))
                continue
            topic = answer.result()
            partitions = [
                {
                    "error_code": 0,
                    "partition_index": each.id,
                    "leader_id": -1 if each.leader is None else each.leader.id,
                    "replica_nodes": [node.id for node in each.replicas],
                    "isr_nodes": [node.id for node in each.isr],
                }
                for each in topic.partitions
            ]
            found.append(topic_dict(name, 0, str(topic.topic_id.to_uuid()), topic.is_internal, partitions))
        return found

    def wait_for_topics(self, topic_names: Iterable[str], timeout_ms: float = 10_000) -> None:
        """Waits until topics are there, with leaders.

        Raises:
            KafkaTimeoutError: one is not, by then.
        """
        names = list(topic_names)
        deadline_s, wait_s = time.monotonic() + timeout_ms / 1000, FIRST_WAIT_S
        while True:
            described = self.describe_topics(names)
            missing = [
                each["name"]
                for each in described
                if each["error_code"] or any(part["leader_id"] < 0 for part in each["partitions"])
            ]
            if not missing:
                return
            if time.monotonic() + wait_s > deadline_s:
                raise errors.KafkaTimeoutError(f"Topics not ready after {timeout_ms}ms: {missing}")
            threading.Event().wait(wait_s)
            wait_s = min(1.0, wait_s * 2)

    def delete_records(
        self,
        records_to_delete: Mapping[TopicPartition, int],
        timeout_ms: float | None = None,
        partition_leader_id: int | None = None,
    ) -> dict[TopicPartition, dict[str, int]]:
        """Deletes records before offsets (-1: all that are there). `partition_leader_id` is found here."""
        places = [Place(*place, offset) for place, offset in records_to_delete.items()]
        found = {}
        with translating():
            for place, answer in self._client.delete_records(places, **self._limits(timeout_ms)).items():
                low = answer.result().low_watermark
                found[TopicPartition(place.topic, place.partition)] = {
                    "partition_index": place.partition,
                    "low_watermark": low,
                    "error_code": 0,
                }
        return found

    # ---- the cluster

    def describe_cluster(self) -> dict[str, Any]:
        """The cluster and its brokers."""
        with translating():
            found = self._client.describe_cluster(include_authorized_operations=True).result()
        return {
            "cluster_id": found.cluster_id,
            "controller_id": -1 if found.controller is None else found.controller.id,
            "brokers": [
                {"broker_id": node.id, "host": node.host, "port": node.port, "rack": node.rack} for node in found.nodes
            ],
            "authorized_operations": [each.name for each in found.authorized_operations or ()],
        }

    # ---- configurations

    def describe_configs(
        self,
        config_resources: Sequence[ConfigResource],
        include_synonyms: bool = False,
        config_filter: str = "modified",
    ) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
        """Configurations: those that differ from the default, or `config_filter="all"`."""
        found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        with translating():
            answers = self._client.describe_configs([resource(each) for each in config_resources])
            for each, answer in zip(config_resources, answers.values(), strict=True):
                entries = answer.result()
                wanted = set(each.configs) if each.configs else None
                found.setdefault(each.resource_type.name.lower(), {})[each.name] = {
                    name: entry_dict(entry, include_synonyms)
                    for name, entry in entries.items()
                    if (name in wanted if wanted is not None else config_filter == "all" or modified(entry))
                }
        return found

    def alter_configs(
        self,
        config_resources: Sequence[ConfigResource],
        validate_only: bool = False,
        raise_on_unknown: bool = True,
        incremental: bool | None = None,
    ) -> dict[str, dict[str, str]]:
        """Sets the given values, and leaves the others (always incremental)."""
        return self._change(config_resources, ours.AlterConfigOpType.SET, validate_only, raise_on_unknown)

    def reset_configs(
        self,
        config_resources: Sequence[ConfigResource],
        validate_only: bool = False,
        raise_on_unknown: bool = True,
        incremental: bool | None = None,
    ) -> dict[str, dict[str, str]]:
        """Gives the named ones their defaults again."""
        return self._change(config_resources, ours.AlterConfigOpType.DELETE, validate_only, raise_on_unknown)

    def _change(
        self,
        resources: Sequence[ConfigResource],
        operation: ours.AlterConfigOpType,
        validate_only: bool,
        raise_on_unknown: bool,
    ) -> dict[str, dict[str, str]]:
        if raise_on_unknown:
            known = self.describe_configs(
                [ConfigResource(each.resource_type, each.name) for each in resources], config_filter="all"
            )
            for each in resources:
                names = set(known[each.resource_type.name.lower()][each.name])
                if unknown := set(each.configs or ()) - names:
                    raise ValueError(f"Unrecognized configs: {unknown}")
        changes = []
        for each in resources:
            values = each.configs if isinstance(each.configs, Mapping) else dict.fromkeys(each.configs or (), "")
            entries = [
                ours.ConfigEntry(
                    name,
                    str(value) if operation is ours.AlterConfigOpType.SET else None,
                    incremental_operation=operation,
                )
                for name, value in values.items()
            ]
            changes.append(resource(each, entries))
        found: dict[str, dict[str, str]] = {}
        with translating():
            answers = self._client.incremental_alter_configs(changes, validate_only=validate_only)
        for each, answer in zip(resources, answers.values(), strict=True):
            failure = outcome(answer)
            text = "OK" if failure is None else str(translated(failure))
            found.setdefault(each.resource_type.name.lower(), {})[each.name] = text
        return found

    # ---- groups

    def list_groups(
        self,
        broker_ids: Sequence[int] | None = None,
        states_filter: Collection[GroupState | str] | None = None,
        types_filter: Collection[GroupType | str] | None = None,
    ) -> list[dict[str, Any]]:
        """All groups; `broker_ids` is not looked at: every broker is asked."""
        with translating():
            found = self._client.list_consumer_groups().result()
        if found.errors and not found.valid:
            raise translated(found.errors[0])
        groups = [
            {
                "group_id": each.group_id,
                "protocol_type": "" if each.is_simple_consumer_group else "consumer",
                "group_state": text_of(STATES, each.state, GroupState.UNKNOWN),
                "group_type": text_of(TYPES, each.type, GroupType.UNKNOWN),
            }
            for each in found.valid
        ]
        states = None if states_filter is None else {GroupState(each).value for each in states_filter}
        types = None if types_filter is None else {GroupType(each).value for each in types_filter}
        return [
            group
            for group in groups
            if (states is None or group["group_state"] in states) and (types is None or group["group_type"] in types)
        ]

    def describe_groups(
        self,
        group_ids: Sequence[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Groups with their members; coordinators are found here."""
        with translating():
            answers = self._client.describe_consumer_groups(
                list(group_ids), include_authorized_operations=include_authorized_operations
            )
        found = {}
        for name, answer in answers.items():
            failure = outcome(answer)
            if failure is not None:
                found[name] = group_dict(name, GroupState.DEAD.value, error=str(translated(failure)))
                continue
            group = answer.result()
            found[name] = group_dict(
                name,
                text_of(STATES, group.state, GroupState.UNKNOWN),
                "consumer",
                group.partition_assignor,
                [member_dict(each) for each in group.members],
                None if group.authorized_operations is None else [each.name for each in group.authorized_operations],
            )
        return found

    def delete_groups(self, group_ids: Sequence[str], group_coordinator_id: int | None = None) -> dict[str, str]:
        """Deletes groups: "OK", or the name of an error, for each."""
        with translating():
            answers = self._client.delete_consumer_groups(list(group_ids))
        failures = {name: outcome(answer) for name, answer in answers.items()}
        return {
            name: "OK" if failure is None else type(translated(failure)).__name__ for name, failure in failures.items()
        }

    def list_group_offsets(
        self, group_specs: Mapping[str, Sequence[TopicPartition] | None] | Sequence[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """The offsets that groups have committed: for the given partitions, or for all (None, or names only)."""
        specs = group_specs if isinstance(group_specs, Mapping) else dict.fromkeys(group_specs)
        return {name: self._committed(name, places) for name, places in specs.items()}

    def _committed(
        self, group: str, places: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        wanted = None if places is None else [Place(*each) for each in places]
        with translating():
            answers = self._client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)])
            found = answers[group].result().topic_partitions or []
        return {
            TopicPartition(each.topic, each.partition): OffsetAndMetadata(
                each.offset, each.metadata or "", -1 if each.leader_epoch is None else each.leader_epoch
            )
            for each in found
            if each.offset >= 0
        }

    def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_coordinator_id: int | None = None,
    ) -> dict[TopicPartition, type[errors.BrokerResponseError]]:
        """Commits offsets for a group without members: an error class (NoError) for each partition."""
        places = [
            Place(place.topic, place.partition, given.offset or 0, given.metadata or None)
            for place, given in offsets.items()
        ]
        if not places:
            return {}
        with translating():
            answers = self._client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group_id, places)])
            found = answers[group_id].result().topic_partitions or []
        return {
            TopicPartition(each.topic, each.partition): errors.for_code(0 if each.error is None else each.error.code())
            for each in found
        }

    def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], group_coordinator_id: int | None = None
    ) -> dict[TopicPartition, type[errors.KafkaError]]:
        """Forgets where a group is: an error class (NoError) for each partition.

        Raises:
            BrokerResponseError: the group is not there, or has members that are no consumers.
        """
        wanted = [Place(*each) for each in partitions]
        with translating():
            answers = self._client.delete_consumer_group_offsets(group_id, wanted)
        return {
            TopicPartition(place.topic, place.partition): of_key(answer, self.OF_GROUPS)
            for place, answer in answers.items()
        }

    def remove_group_members(
        self, group_id: str, members: Iterable[MemberToRemove], group_coordinator_id: int | None = None
    ) -> dict[str | None, type[errors.KafkaError]]:
        """Makes members leave a group: an error class (NoError) for each, by its id, or else its name."""
        wanted = list(members)
        keys = [ours.MemberToRemove(each.member_id, each.group_instance_id, each.reason) for each in wanted]
        with translating():
            answers = self._client.remove_consumer_group_members(group_id, keys)
        return {
            member.member_id or member.group_instance_id: of_key(answers[key], self.OF_GROUPS)
            for member, key in zip(wanted, keys, strict=True)
        }

    def reset_group_offsets(
        self,
        group_id: str,
        offset_specs: Mapping[TopicPartition, OffsetSpec | OffsetTimestamp | int],
        group_coordinator_id: int | None = None,
    ) -> dict[TopicPartition, dict[str, Any]]:
        """Commits first, last or timed offsets for a group without members."""
        offsets = {
            place: OffsetAndMetadata(found.offset) for place, found in self.list_partition_offsets(offset_specs).items()
        }
        done = self.alter_group_offsets(group_id, offsets)
        return {place: {"error": error, "offset": offsets[place].offset} for place, error in done.items()}

    def list_partition_offsets(
        self,
        topic_partition_specs: Mapping[TopicPartition, OffsetSpec | OffsetTimestamp | int],
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout_ms: float | None = None,
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """First, last or timed offsets of partitions."""
        wanted = {Place(*place): offset_spec(spec) for place, spec in topic_partition_specs.items()}
        if not wanted:
            return {}
        found = {}
        with translating():
            answers = self._client.list_offsets(
                wanted,
                isolation_level=OurIsolation(int(isolation_level)),
                request_timeout=self._limits(timeout_ms)["request_timeout"],
            )
            for place, answer in answers.items():
                at = answer.result()
                found[TopicPartition(place.topic, place.partition)] = OffsetAndTimestamp(
                    at.offset, at.timestamp, at.leader_epoch
                )
        return found

    # ---- the end

    def close(self) -> None:
        """Ends; may be called again."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()


def of_key(answer: Future[Any], of_the_whole: Collection[type[errors.KafkaError]]) -> type[errors.KafkaError]:
    """NoError, or the error's class; one that the whole request failed with is raised."""
    failure = outcome(answer)
    if failure is None:
        return errors.NoError
    error = translated(failure)
    if isinstance(error, tuple(of_the_whole)) or failure.code < 0:
        raise error from failure
    return type(error)


def pairs(given: Any) -> list[tuple[str, Mapping[str, Any] | NewTopic]]:
    """Topics with their wanted parts."""
    if isinstance(given, Mapping):
        return list(given.items())
    return [(each, {}) if isinstance(each, str) else (each.name, each) for each in given]


def new_topic(pair: tuple[str, Mapping[str, Any] | NewTopic]) -> ours.NewTopic:
    """One of ours."""
    name, wanted = pair
    if isinstance(wanted, Mapping):
        wanted = NewTopic(
            name,
            wanted.get("num_partitions", -1),
            wanted.get("replication_factor", -1),
            wanted.get("assignments"),
            wanted.get("configs"),
        )
    replicas = wanted.replica_assignments
    assignment = [list(replicas[number]) for number in sorted(replicas)] or None
    return ours.NewTopic(
        name,
        -1 if assignment else wanted.num_partitions,
        -1 if assignment else wanted.replication_factor,
        assignment,
        {key: str(value) for key, value in wanted.topic_configs.items()},
    )


def new_partitions(topic: str, wanted: Any) -> ours.NewPartitions:
    """One of ours."""
    if isinstance(wanted, Mapping):
        return ours.NewPartitions(topic, wanted["count"], wanted.get("assignments"))
    if isinstance(wanted, NewPartitions):
        return ours.NewPartitions(
            topic, wanted.total_count, [list(each) for each in wanted.new_assignments or ()] or None
        )
    return ours.NewPartitions(topic, wanted)


def ours_topics(names: Sequence[str]) -> Any:
    """Names as `describe_topics` takes them."""
    from kafka_core import TopicCollection

    return TopicCollection(list(names))


def resource(given: ConfigResource, entries: Sequence[ours.ConfigEntry] | None = None) -> ours.ConfigResource:
    """One of ours."""
    kinds = {ConfigResourceType.TOPIC: "topic", ConfigResourceType.BROKER: "broker", ConfigResourceType.GROUP: "group"}
    if given.resource_type not in kinds:
        raise errors.IllegalArgumentError(f"{given.resource_type.name} has no configuration that can be reached here")
    return ours.ConfigResource(kinds[given.resource_type], given.name, incremental_configs=entries)


def offset_spec(given: Any) -> ours.OffsetSpec:
    """One of ours."""
    if isinstance(given, OffsetSpec) or given in (-1, -2, -3):
        specs = {-1: ours.OffsetSpec.latest, -2: ours.OffsetSpec.earliest, -3: ours.OffsetSpec.max_timestamp}
        if int(given) not in specs:
            raise errors.UnsupportedVersionError(f"{given!r} is not supported")
        return specs[int(given)]()
    return ours.OffsetSpec.for_timestamp(int(given))


def modified(entry: ours.ConfigEntry) -> bool:
    """Whether somebody has set it where it belongs."""
    return entry.source in (ours.ConfigSource.DYNAMIC_TOPIC_CONFIG, ours.ConfigSource.DYNAMIC_BROKER_CONFIG)


def entry_dict(entry: ours.ConfigEntry, include_synonyms: bool) -> dict[str, Any]:
    """As kafka-python shows it."""
    synonyms = entry.synonyms.values() if include_synonyms else ()
    return {
        "value": entry.value,
        "read_only": entry.is_read_only,
        "config_source": entry.source.name,
        "is_sensitive": entry.is_sensitive,
        "synonyms": [{"name": each.name, "value": each.value, "source": each.source.name} for each in synonyms],
    }


def topic_dict(
    name: str, code: int, topic_id: str | None = None, is_internal: bool = False, partitions: Sequence[Any] = ()
) -> dict[str, Any]:
    """As kafka-python shows it."""
    return {
        "error_code": code,
        "name": name,
        "topic_id": topic_id,
        "is_internal": is_internal,
        "partitions": list(partitions),
    }


def group_dict(
    name: str,
    state: str,
    protocol: str = "",
    assignor: str = "",
    members: Sequence[Any] = (),
    operations: list[str] | None = None,
    error: str | None = None,
) -> dict[str, Any]:
    """As kafka-python shows it."""
    return {
        "group_id": name,
        "group_state": state,
        "protocol_type": protocol,
        "protocol_data": assignor,
        "members": list(members),
        "authorized_operations": operations,
        "error": error,
    }


def member_dict(member: ours.MemberDescription) -> dict[str, Any]:
    """As kafka-python shows it."""
    assigned: dict[str, list[int]] = {}
    for each in member.assignment.topic_partitions:
        assigned.setdefault(each.topic, []).append(each.partition)
    return {
        "member_id": member.member_id,
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "client_host": member.host,
        "member_assignment": {
            "assigned_partitions": [
                {"topic": topic, "partitions": sorted(numbers)} for topic, numbers in assigned.items()
            ]
        },
    }


def text_of(table: Mapping[Any, Enum], value: Any, unknown: Enum) -> str:
    """An enum of ours as kafka-python's word."""
    return str(table.get(value, unknown).value)
