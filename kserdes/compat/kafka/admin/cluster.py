"""Features, disks, reassignments and elections in kafka-python 3.0's administration, on `kafka_core.admin`.

Must not hold any protocol. `kafka.protocol`'s classes of answers are plain values here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from kafka_core import ElectionType as OurElection
from kafka_core import TopicPartition as Place
from kafka_core import admin as ours
from kserdes.compat.kafka import errors
from kserdes.compat.kafka.admin.base import AdminBase, outcome
from kserdes.compat.kafka.admin.values import ConfigResourceType, UpdateFeatureType
from kserdes.compat.kafka.failures import error_class, translated, translating
from kserdes.compat.kafka.structs import TopicPartition

__all__ = ["ClusterCalls", "ElectLeadersResponse", "ElectionType", "PartitionResult", "ReplicaElectionResult"]


class ElectionType(IntEnum):
    """The replicas that may be elected: the preferred one, or any."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass
class PartitionResult:
    """The result of a partition's election."""

    partition_id: int
    error_code: int = 0
    error_message: str | None = None


@dataclass
class ReplicaElectionResult:
    """The results of the elections of a topic's partitions."""

    topic: str
    partition_result: list[PartitionResult] = field(default_factory=list)


@dataclass
class ElectLeadersResponse:
    """The results of elections."""

    throttle_time_ms: int = 0
    error_code: int = 0
    replica_election_results: list[ReplicaElectionResult] = field(default_factory=list)


class ClusterCalls(AdminBase):
    """The calls about a cluster's parts."""

    def elect_leaders(
        self,
        election_type: ElectionType | int,
        topic_partitions: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
        timeout_ms: float | None = None,
        raise_errors: bool = True,
    ) -> ElectLeadersResponse:
        """Elects leaders: of some partitions, of topics, or of all (None).

        Raises:
            BrokerResponseError: the first partition that failed, unless the election was not needed.
        """
        kind = OurElection(ElectionType(election_type).value)
        with translating():
            topics = list(self._client.list_topics().topics) if topic_partitions is None else topic_partitions
        wanted = self._places(topics)
        with translating():
            answers = self._client.elect_leaders(kind, wanted, **self._limits(timeout_ms)).result()
        found: dict[str, ReplicaElectionResult] = {}
        for place, failure in answers.items():
            error = None if failure is None else translated(failure)
            if raise_errors and error is not None and not isinstance(error, errors.ElectionNotNeededError):
                raise error from failure
            result = PartitionResult(place.partition)
            if failure is not None:
                result.error_code, result.error_message = failure.code, failure.error.str()
            found.setdefault(place.topic, ReplicaElectionResult(place.topic)).partition_result.append(result)
        return ElectLeadersResponse(replica_election_results=list(found.values()))

    def _places(self, given: Mapping[str, Sequence[int]] | Iterable[Any] | None) -> list[Place] | None:
        """Partitions of a dict, of topics' names or of TopicPartitions; None: all."""
        if given is None:
            return None
        if isinstance(given, Mapping):
            return [Place(topic, number) for topic, numbers in given.items() for number in numbers]
        places = []
        for each in given:
            if isinstance(each, str):
                places += [Place(each, number) for number in self._numbers(each)]
            else:
                places.append(Place(*each))
        return places

    def _numbers(self, topic: str) -> list[int]:
        with translating():
            return sorted(self._client.list_topics(topic).topics[topic].partitions)

    # ---- features

    def api_versions(self) -> dict[Any, tuple[int, int]]:
        """First and last version of each request that a broker takes, by members of an enum with their numbers."""
        with translating():
            found = self._client.describe_features().result().api_versions
        names = [(name.title().replace("_", ""), key) for key, name in found if name]
        keys = IntEnum("ApiKey", names)  # type: ignore[misc]  # as kafka.protocol names them
        return {keys(key): (versions.first, versions.last) for (key, name), versions in found.items() if name}

    def describe_features(self, send_request_to_controller: bool = False) -> dict[str, dict[str, Any]]:
        """Levels of features: `supported`, and for those in force `finalized` and `finalized_epoch`."""
        with translating():
            controller = None
            if send_request_to_controller:
                node = self._client.describe_cluster().result().controller
                controller = None if node is None else node.id
            found = self._client.describe_features(broker_id=controller).result()
        described: dict[str, dict[str, Any]] = {
            name: {"supported": tuple(levels)} for name, levels in found.supported.items()
        }
        for name, levels in found.finalized.items():
            described.setdefault(name, {}).update(finalized=tuple(levels), finalized_epoch=found.finalized_epoch)
        return described

    def update_features(
        self, feature_updates: Mapping[str, Any], validate_only: bool = False, timeout_ms: float = 60_000
    ) -> dict[str, str]:
        """Moves features to other levels: a level, or a type and a level; "OK" for each.

        Raises:
            ValueError: no such type. BrokerResponseError: one was refused, so that none was moved.
        """
        updates = {name: feature_update(each) for name, each in feature_updates.items()}
        with translating():
            answers = self._client.update_features(updates, validate_only=validate_only, **self._limits(timeout_ms))
        done = {}
        for name, answer in answers.items():
            if (failure := outcome(answer)) is not None:
                raise translated(failure) from failure
            done[name] = "OK"
        return done

    def list_config_resources(
        self, resource_types: Sequence[ConfigResourceType | str] | None = None
    ) -> dict[str, list[str]]:
        """The resources with configurations, by kind.

        Raises:
            ValueError: no such kind.
        """
        kinds = [ConfigResourceType.build_from(each).name.lower() for each in resource_types or ()]
        found: dict[str, list[str]] = {}
        with translating():
            for kind, name in self._client.list_config_resources(kinds).result():
                found.setdefault(kind, []).append(name)
        return found

    # ---- replicas

    def describe_log_dirs(
        self,
        topic_partitions: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
        brokers: Sequence[int] | None = None,
    ) -> list[dict[str, Any]]:
        """The log directories of brokers, with some partitions, with topics' or with all (None)."""
        wanted = self._places(topic_partitions)
        with translating():
            answers = self._client.describe_log_dirs(brokers, partitions=wanted).result()
            return [
                {"broker": node_id, "log_dirs": [log_dir(each) for each in answer.result() or ()]}
                for node_id, answer in answers.items()
            ]

    def list_partition_reassignments(
        self,
        topic_partitions: Mapping[str, Sequence[int]] | Sequence[TopicPartition] | None = None,
        timeout_ms: float | None = None,
    ) -> dict[TopicPartition, dict[str, list[int]]]:
        """Moves of partitions that are under way."""
        wanted = self._places(topic_partitions)
        with translating():
            found = self._client.list_partition_reassignments(wanted, **self._limits(timeout_ms)).result()
        return {
            TopicPartition(place.topic, place.partition): {
                "replicas": move.replicas,
                "adding_replicas": move.adding_replicas,
                "removing_replicas": move.removing_replicas,
            }
            for place, move in found.items()
        }

    def alter_partition_reassignments(
        self, reassignments: Mapping[TopicPartition, Sequence[int] | None], timeout_ms: float | None = None
    ) -> dict[TopicPartition, type[errors.KafkaError] | None]:
        """Gives partitions other replicas, or (None) ends a move: None, or an error's class, for each."""
        wanted = {Place(*place): replicas for place, replicas in reassignments.items()}
        with translating():
            answers = self._client.alter_partition_reassignments(wanted, **self._limits(timeout_ms))
        done: dict[TopicPartition, type[errors.KafkaError] | None] = {}
        for place, answer in answers.items():
            failure = outcome(answer)
            if failure is not None and failure.code < 0:
                raise translated(failure) from failure
            done[TopicPartition(place.topic, place.partition)] = None if failure is None else error_class(failure)
        return done


def feature_update(given: Any) -> ours.FeatureUpdate:
    """One of ours, of a level or a type with a level."""
    kind, level = given if isinstance(given, tuple | list) else (UpdateFeatureType.UPGRADE, given)
    return ours.FeatureUpdate(level, ours.FeatureUpgradeType(UpdateFeatureType.build_from(kind).value))


def log_dir(found: ours.LogDirDescription) -> dict[str, Any]:
    """As kafka-python shows it."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for place, replica in found.replicas.items():
        topics.setdefault(place.topic, []).append(
            {
                "partition_index": place.partition,
                "partition_size": replica.size,
                "offset_lag": replica.offset_lag,
                "is_future_key": replica.is_future,
            }
        )
    return {
        "error_code": 0 if found.error is None else found.error.code,
        "log_dir": found.path,
        "topics": [{"name": name, "partitions": partitions} for name, partitions in topics.items()],
        "total_bytes": -1 if found.total_bytes is None else found.total_bytes,
        "usable_bytes": -1 if found.usable_bytes is None else found.usable_bytes,
        "is_cordoned": found.is_cordoned,
    }
