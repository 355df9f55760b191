"""Arguments of administration calls: refused on the caller's side when they make no sense.

Must not know connections or the wire. TypeError and ValueError as confluent_kafka.admin raises them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from kafka_core.admin_cluster import FeatureUpdate, MemberToRemove, TopicPartitionReplica
from kafka_core.admin_model import (
    ElementError,
    NewPartitions,
    NewTopic,
    check_text,
    checked_list,
    unique,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.admin_security import (
    AclBinding,
    AclBindingFilter,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka_core.engine.administering import topics as admin_topics
from kafka_core.errors import ConfigError
from kafka_core.listings import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    ElectionType,
    TopicCollection,
)
from kafka_core.model import OFFSET_END, OFFSET_INVALID, IsolationLevel, TopicPartition

MAX_ITERATIONS: Final = 1_000_000
"""More than any broker takes (16384); hashing that often takes a second."""

B = TypeVar("B", bound=AclBinding)


def check_new_topics(topics: object) -> list[NewTopic]:
    """The topics as a list; TypeError or ValueError when they make no sense."""
    found = checked_list(topics, NewTopic, "NewTopic objects")
    unique([topic.topic for topic in found], "topic")
    for topic in found:
        if topic.config is not None and not isinstance(topic.config, Mapping):
            raise TypeError("config must be a dict of strings")
        admin_topics.check_new_topic(topic)
    return found


def check_new_partitions(items: object) -> list[NewPartitions]:
    """The items as a list; TypeError or ValueError when they make no sense."""
    found = checked_list(items, NewPartitions, "NewPartitions objects")
    unique([item.topic for item in found], "topic")
    for item in found:
        check_count(item.new_total_count, f"{item.topic}: new_total_count")
        if item.new_total_count < 1:
            raise ValueError(f"{item.topic}: new_total_count must be at least 1")
        admin_topics.check_assignment(item.topic, item.replica_assignment)
    return found


def check_count(value: object, what: str) -> None:
    """TypeError or ValueError when it is no number that a request can carry."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be a whole number, not {type(value).__name__}")
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"{what} is out of range: {value}")


def check_flag(value: object, name: str) -> bool:
    """The value. TypeError when it is neither True nor False."""
    if not isinstance(value, bool):
        raise TypeError(f"Expected {name} to be bool type, not {type(value).__name__}")
    return value


def check_topics(topics: object) -> list[str]:
    """The names of topics to describe: none at all is no mistake. TypeError or ValueError when they make no sense."""
    names = topics.topic_names if isinstance(topics, TopicCollection) else topics
    return [] if isinstance(names, list | tuple) and not names else check_names(names, "topic names")


def check_isolation(level: object) -> None:
    """TypeError when it is no IsolationLevel."""
    if not isinstance(level, IsolationLevel):
        raise TypeError(f"isolation_level argument should be an IsolationLevel, not {type(level).__name__}")


def check_names(names: object, what: str) -> list[str]:
    """The names as a list; TypeError or ValueError when they make no sense."""
    return unique(checked_list(names, str, what), what.removesuffix("s"))


def check_filters(states: Any, types: Any) -> None:
    """TypeError when the filters are not sets of the enums (or None), ValueError for the unknown type."""
    for given, kind, name in ((states, ConsumerGroupState, "states"), (types, ConsumerGroupType, "types")):
        values = () if given is None else given
        if not isinstance(values, set | frozenset | tuple | list) or not all(isinstance(item, kind) for item in values):
            raise TypeError(f"'{name}' must be a set of {kind.__name__}")
    if ConsumerGroupType.UNKNOWN in (types or ()):
        raise ValueError("UNKNOWN can't be asked for")


def check_group_offsets(request: object, *, offsets_needed: bool) -> dict[str, ConsumerGroupTopicPartitions]:
    """The groups by id; TypeError or ValueError when they make no sense."""
    found = checked_list(request, ConsumerGroupTopicPartitions, "ConsumerGroupTopicPartitions objects")
    unique([group.group_id for group in found], "group")
    for group in found:
        check_text(group.group_id, "a group id")
        if not group.group_id:
            raise ValueError("a group id is empty")
        if group.topic_partitions is None and offsets_needed:
            raise ElementError("topic_partitions must be a list of TopicPartition objects, not None")
        if group.topic_partitions is not None:
            items = unique(checked_list(group.topic_partitions, TopicPartition, "TopicPartition objects"), "partition")
            for item in items:
                if not item.topic:
                    raise ValueError(f"{item}: the topic is empty")
                if item.partition < 0 or (offsets_needed and item.offset < 0):
                    raise ValueError(f"{item}: partition and offset must not be negative")
                if not offsets_needed and item.offset != OFFSET_INVALID:
                    raise ValueError(f"{item}: the offset is the result, it can't be given")
    return {group.group_id: group for group in found}


def check_offset_specs(specs: object) -> dict[TopicPartition, OffsetSpec]:
    """The partitions with what to look for; TypeError or ValueError when they make no sense."""
    if not isinstance(specs, Mapping):
        raise TypeError(f"expected a dict of TopicPartition and OffsetSpec, not {type(specs).__name__}")
    for partition, spec in specs.items():
        if not isinstance(partition, TopicPartition) or not isinstance(spec, OffsetSpec):
            raise TypeError("expected a dict of TopicPartition and OffsetSpec")
        if isinstance(spec.timestamp, bool) or not isinstance(spec.timestamp, int):
            raise ElementError(f"{partition}: a timestamp is a whole number of ms, not {type(spec.timestamp).__name__}")
        if not partition.topic or partition.partition < 0:
            raise ValueError(f"{partition}: topic and partition must be given")
    return dict(specs)


def checked_timeout(value: float | None, name: str, default_s: float) -> float:
    """Seconds; the default for None. Raises TypeError or ValueError when it is no duration."""
    if value is None:
        return default_s
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds")
    if not 0 <= value <= 3600:
        raise ValueError(f"{name} must be from 0 to 3600 seconds, not {value}")
    return float(value)


# ---- records and leaders


def check_deletions(partitions: object) -> dict[TopicPartition, int]:
    """Partitions with the offset before which records go (-1: the end).

    Raises:
        TypeError: no list of TopicPartition.
        ValueError: a partition or offset that can't be, or one partition twice with different offsets.
    """
    wanted: dict[TopicPartition, int] = {}
    for item in _partitions(partitions):
        if item.offset < 0 and item.offset != OFFSET_END:
            raise ConfigError(f"{item}: the offset must be OFFSET_END or not negative")
        if wanted.setdefault(item, item.offset) != item.offset:
            raise ConfigError(f"{item.topic} [{item.partition}] is there twice with different offsets")
    return wanted


def check_election(election_type: object, partitions: object) -> list[TopicPartition] | None:
    """The partitions, each once; None for all of the cluster.

    Raises:
        TypeError, ValueError: no ElectionType, no list of TopicPartition, or a partition that can't be.
    """
    if not isinstance(election_type, ElectionType):
        raise TypeError(f"election_type must be an ElectionType, not {type(election_type).__name__}")
    return None if partitions is None else list(dict.fromkeys(_partitions(partitions)))


def check_partitions(partitions: object) -> list[TopicPartition]:
    """The partitions, each once; TypeError or ValueError when they make no sense."""
    return list(dict.fromkeys(_partitions(partitions)))


def check_reassignments(wanted: object) -> dict[TopicPartition, list[int] | None]:
    """Partitions with their new replicas, or None; TypeError or ValueError when they make no sense."""
    if not isinstance(wanted, Mapping):
        raise TypeError(f"expected a dict of TopicPartition and lists of brokers, not {type(wanted).__name__}")
    _partitions(list(wanted))
    for place, replicas in wanted.items():
        if replicas is not None and not (
            isinstance(replicas, list | tuple) and all(isinstance(each, int) for each in replicas)
        ):
            raise TypeError(f"{place}: the replicas must be a list of the ids of brokers, or None")
    return {place: None if replicas is None else list(replicas) for place, replicas in wanted.items()}


def check_replica_dirs(replicas: object) -> dict[TopicPartitionReplica, str]:
    """Replicas with the paths of directories; TypeError or ValueError when they make no sense."""
    if not isinstance(replicas, Mapping):
        raise TypeError(f"expected a dict of TopicPartitionReplica and paths, not {type(replicas).__name__}")
    for replica, path in replicas.items():
        if not (isinstance(replica, tuple) and len(replica) == 3):
            raise TypeError(f"expected a topic, a partition and a broker's id, not {replica!r}")
        check_text(path, "the path of a directory")
    wanted = {TopicPartitionReplica(*replica): path for replica, path in replicas.items()}
    _partitions([TopicPartition(topic, number) for topic, number, _ in wanted])
    return wanted


def check_features(updates: object) -> dict[str, FeatureUpdate]:
    """Features with what is to become of them; TypeError or ValueError when they make no sense."""
    if not isinstance(updates, Mapping):
        raise TypeError(f"expected a dict of names and FeatureUpdate objects, not {type(updates).__name__}")
    check_names(list(updates), "features")
    for name, update in updates.items():
        if not isinstance(update, FeatureUpdate):
            raise TypeError(f"{name}: expected a FeatureUpdate, not {type(update).__name__}")
    return dict(updates)


def check_members(members: object) -> list[MemberToRemove]:
    """The members, each once; TypeError when they make no sense."""
    if not isinstance(members, list):
        raise TypeError(f"expected a list of MemberToRemove objects, not {type(members).__name__}")
    for item in members:
        if not isinstance(item, MemberToRemove):
            raise TypeError(f"expected a list of MemberToRemove objects, but it holds {type(item).__name__}")
    return list(dict.fromkeys(members))


def _partitions(items: object) -> list[TopicPartition]:
    if not isinstance(items, list):
        raise TypeError(f"expected a list of TopicPartition objects, not {type(items).__name__}")
    for item in items:
        if not isinstance(item, TopicPartition):
            raise TypeError(f"expected a list of TopicPartition objects, but it holds {type(item).__name__}")
        if not item.topic or item.partition < 0:
            raise ConfigError(f"{item}: a topic and a partition that is not negative must be given")
    return items


# ---- ACLs and SCRAM users


def check_bindings(acls: Sequence[AclBinding]) -> list[AclBinding]:
    """The bindings as a list.

    Raises:
        TypeError, ValueError: no list of bindings (a filter is none), an empty one, or the same binding twice.
    """
    return _checked(acls, AclBinding, "ACL binding")


def check_binding_filters(filters: Sequence[AclBindingFilter]) -> list[AclBindingFilter]:
    """The filters as a list; errors as `check_bindings`."""
    return _checked(filters, AclBindingFilter, "ACL binding filter")


def _checked(items: Sequence[B], kind: type[B], what: str) -> list[B]:
    if isinstance(items, str | bytes | AclBinding) or not isinstance(items, Sequence):
        raise ElementError(f"expected a list of {kind.__name__} objects, not {type(items).__name__}")
    for item in items:
        if type(item) is not kind:
            raise ValueError(f"expected a list of {kind.__name__} objects, but it holds {type(item).__name__}")
    if not items:
        raise ValueError(f"expected a non-empty list of {kind.__name__} objects")
    if len(set(items)) != len(items):
        raise ValueError(f"the same {what} is there twice")
    return list(items)


def check_filter(acl_filter: object) -> AclBindingFilter:
    """The filter; TypeError when it is none."""
    if not isinstance(acl_filter, AclBindingFilter):
        raise TypeError(f"expected an AclBindingFilter, not {type(acl_filter).__name__}")
    return acl_filter


def check_users(users: object) -> list[str] | None:
    """Names of users, each once; None for all.

    Raises:
        TypeError, ValueError: no list of names, or an empty name.
    """
    if users is None:
        return None
    if not isinstance(users, list):
        raise TypeError(f"users must be a list of names or None, not {type(users).__name__}")
    return list(dict.fromkeys(_user(user) for user in users))


def check_alterations(alterations: object) -> list[UserScramCredentialAlteration]:
    """The alterations as a list.

    Raises:
        TypeError, ValueError: no list of them, an empty one, or one whose parts make no sense.
    """
    if not isinstance(alterations, list):
        raise TypeError(f"alterations must be a list, not {type(alterations).__name__}")
    if not alterations:
        raise ValueError("expected at least one alteration")
    for item in alterations:
        if isinstance(item, UserScramCredentialUpsertion):
            _check_upsertion(item)
        elif isinstance(item, UserScramCredentialDeletion):
            _mechanism(item.mechanism)
        else:
            raise TypeError(
                "alterations are UserScramCredentialUpsertion and UserScramCredentialDeletion, "
                f"not {type(item).__name__}"
            )
        _user(item.user)
    return alterations


def _check_upsertion(item: UserScramCredentialUpsertion) -> None:
    info = item.scram_credential_info
    if not isinstance(info, ScramCredentialInfo):
        raise TypeError(f"scram_credential_info must be a ScramCredentialInfo, not {type(info).__name__}")
    _mechanism(info.mechanism)
    if isinstance(info.iterations, bool) or not isinstance(info.iterations, int):
        raise TypeError(f"iterations must be a whole number, not {type(info.iterations).__name__}")
    if not 0 < info.iterations <= MAX_ITERATIONS:
        raise ValueError(f"iterations must be from 1 to {MAX_ITERATIONS:,}, not {info.iterations}")
    for name, value in (("password", item.password), ("salt", item.salt)):
        if value is None and name == "salt":
            continue
        if not isinstance(value, bytes):
            raise TypeError(f"{name} must be bytes, not {type(value).__name__}")
        if not value:
            raise ValueError(f"{name} is empty")


def _mechanism(value: object) -> None:
    if not isinstance(value, ScramMechanism):
        raise TypeError(f"mechanism must be a ScramMechanism, not {type(value).__name__}")


def _user(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a user's name must be text, not {type(value).__name__}")
    if not value:
        raise ValueError("a user's name is empty")
    return value
