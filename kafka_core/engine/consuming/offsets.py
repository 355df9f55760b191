"""Offsets: what to commit, what the group has committed, where a log begins, ends or was at a time.

Must not know connections or loops: it builds the requests of a version and reads their responses.
Spec: KIP-211 (retention), KIP-320 (leader epochs in commits), KIP-447 (stable offsets), KIP-709 (batched OffsetFetch),
KIP-848 (topic ids in OffsetCommit and OffsetFetch v10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from kafka_core.engine.consuming.subscription import LOGICAL_OFFSETS, Assignment, Key, PartitionState
from kafka_core.engine.consuming.truncation import CONSUMER_REPLICA
from kafka_core.errors import ConfigError, KafkaError
from kafka_core.model import OFFSET_INVALID, TopicPartition
from kafka_core.model import ConsumerGroupMetadata as ConsumerGroupMetadata
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

BATCHED_OFFSET_FETCH: Final = 8
STABLE_OFFSET_FETCH: Final = 7
NAMES_ONLY_VERSION: Final = 9
"""Last version of OffsetCommit and OffsetFetch that says topics by name."""
ISOLATED_LIST_OFFSETS: Final = 2

TopicIds = Callable[[str], UUID]


@dataclass(frozen=True, slots=True)
class Committed:
    """An offset as it is (or is to be) committed; `offset` is -1001 if there is none.

    Attributes:
        life: `PartitionState.life` of the assigned partition that it was taken from; 0: of none.
        timestamp: in ms, of the record that was looked up by time; -1 if it was not.
        topic_id: the topic that it belongs to, which may be deleted and created again before the commit is sent; the
            zero UUID if that is not known.
    """

    offset: int
    leader_epoch: int = -1
    metadata: str | None = None
    error_code: int = 0
    timestamp: int = -1
    life: int = field(default=0, compare=False)
    topic_id: UUID = field(default=ZERO_UUID, compare=False)


Commits = dict[Key, Committed]


# ---- what to commit


def storable(states: Iterable[PartitionState]) -> Commits:
    """Stored offsets that the group does not have yet."""
    return {
        state.key: Committed(
            state.stored, state.stored_epoch, state.stored_metadata, life=state.life, topic_id=state.topic_id
        )
        for state in states
        if state.stored >= 0 and state.stored != state.committed
    }


def of_assigned(commits: Commits, assignment: Assignment) -> Commits:
    """A user's offsets, with the partitions' lives where they are assigned."""
    return {
        key: item if state is None else replace(item, life=state.life, topic_id=state.topic_id)
        for key, item in commits.items()
        for state in (assignment.get(key),)
    }


def given_up(commits: Commits, assignment: Assignment) -> list[Key]:
    """Commits for partitions that were given up since the offsets were taken, even if they are assigned again."""
    return [
        key
        for key, item in commits.items()
        if item.life and ((state := assignment.get(key)) is None or state.life != item.life)
    ]


def of_former_topics(commits: Commits, topic_ids: TopicIds) -> list[Key]:
    """Commits for topics that were created anew since: in the new topic the offsets would skip records."""
    return [
        key
        for key, item in commits.items()
        if item.topic_id != ZERO_UUID and topic_ids(key[0]) not in (ZERO_UUID, item.topic_id)
    ]


def store(assignment: Assignment, partitions: Iterable[TopicPartition]) -> None:
    """Stores offsets for the next commit; all or none. One of the `OFFSET_` constants is no offset: it is passed over.

    Raises:
        ConfigError: an offset is any other negative number.
        StateError: a partition is not assigned.
    """
    items = list(partitions)
    states = [assignment.require((item.topic, item.partition), "StoreOffsets failed") for item in items]
    known = [can_be_committed(item) for item in items]
    for item, state, good in zip(items, states, known, strict=True):
        if not good:
            continue
        state.stored = item.offset
        state.stored_epoch = -1 if item.leader_epoch is None else item.leader_epoch
        state.stored_metadata = item.metadata


def can_be_committed(item: TopicPartition) -> bool:
    """False for one of the `OFFSET_` constants, which stands for no offset.

    Raises:
        ConfigError: any other negative number.
    """
    if item.offset < 0 and item.offset not in LOGICAL_OFFSETS:
        raise ConfigError(
            f"offset {item.offset} of {item.topic}[{item.partition}] can't be committed: it must be from 0 on"
        )
    return item.offset >= 0


def from_partitions(partitions: Iterable[TopicPartition]) -> Commits:
    """A user's offsets to commit; those that are none (OFFSET_INVALID, …) are left out, as librdkafka does it.

    Raises:
        ConfigError: an offset is negative, but none of the constants.
    """
    commits: Commits = {}
    for item in partitions:
        if can_be_committed(item):
            epoch = -1 if item.leader_epoch is None else item.leader_epoch
            commits[item.topic, item.partition] = Committed(item.offset, epoch, item.metadata)
    return commits


def to_partitions(commits: Mapping[Key, Committed]) -> list[TopicPartition]:
    """Offsets as users see them, each with its own error, if there is one."""
    found = []
    for (topic, partition), item in commits.items():
        epoch = item.leader_epoch if item.leader_epoch >= 0 else None
        view = TopicPartition(topic, partition, item.offset, item.metadata, epoch)
        view.error = KafkaError.standard(item.error_code) if item.error_code else None
        found.append(view)
    return found


def ids_of(commits: Commits, topic_ids: TopicIds) -> dict[str, UUID]:
    """The topics of these commits with their ids: the one that the offsets belong to, else the one known now.

    The first also while the topic is not known at all: it was deleted, and by its name alone the commit would be taken
    by the topic that is created in its place.
    """
    return {
        name: item.topic_id if item.topic_id != ZERO_UUID else topic_ids(name) for (name, _), item in commits.items()
    }


def commit_request(
    member: ConsumerGroupMetadata, commits: Mapping[Key, Committed], topic_ids: TopicIds
) -> OffsetCommitRequest:
    """The request; names and ids are both filled in, the version picks."""
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (name, partition), item in commits.items():
        topic_id = item.topic_id if item.topic_id != ZERO_UUID else topic_ids(name)
        topic = topics.setdefault(name, OffsetCommitRequestTopic(name=name, topic_id=topic_id))
        topic.partitions.append(
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=item.offset,
                committed_leader_epoch=item.leader_epoch,
                committed_metadata=item.metadata if item.metadata is not None else "",
            )
        )
    return OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.generation_id,
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        topics=list(topics.values()),
    )


def all_have_ids(topics: Iterable[str], topic_ids: TopicIds) -> bool:
    """Whether a version that names topics by id alone can be used."""
    return all(topic_ids(topic) != ZERO_UUID for topic in topics)


def commit_errors(response: OffsetCommitResponse, names: Mapping[UUID, str]) -> dict[Key, int]:
    """Error code per partition, 0 for those that were committed."""
    return {
        (topic.name or names.get(topic.topic_id, ""), item.partition_index): item.error_code
        for topic in response.topics
        for item in topic.partitions
    }


def committed(assignment: Assignment, commits: Mapping[Key, Committed], errors: Mapping[Key, int]) -> None:
    """Notes a commit's result."""
    for key, item in commits.items():
        state = assignment.get(key)
        if state is not None and item.life in (0, state.life) and errors.get(key, 0) == 0:
            state.committed, state.committed_epoch = item.offset, item.leader_epoch


# ---- what was committed


def by_topic(keys: Iterable[Key]) -> dict[str, list[int]]:
    """Partition numbers per topic."""
    topics: dict[str, list[int]] = {}
    for topic, partition in keys:
        topics.setdefault(topic, []).append(partition)
    return topics


def fetch_request(
    member: ConsumerGroupMetadata, keys: Iterable[Key], topic_ids: TopicIds, version: int, *, as_member: bool = False
) -> OffsetFetchRequest:
    """Asks for committed offsets, in the form of the version.

    Args:
        as_member: only if the member's epoch is the coordinator's (KIP-848): STALE_MEMBER_EPOCH if not.
    """
    topics = by_topic(keys)
    request = OffsetFetchRequest(require_stable=version >= STABLE_OFFSET_FETCH)
    if version < BATCHED_OFFSET_FETCH:
        request.group_id = member.group_id
        request.topics = [OffsetFetchRequestTopic(name=name, partition_indexes=found) for name, found in topics.items()]
    else:
        rows = [
            OffsetFetchRequestTopics(name=name, topic_id=topic_ids(name), partition_indexes=found)
            for name, found in topics.items()
        ]
        group = OffsetFetchRequestGroup(group_id=member.group_id, topics=list(rows))
        if as_member and member.generation_id > 0:
            group.member_id, group.member_epoch = member.member_id, member.generation_id
        request.groups = [group]
    return request


def fetched_commits(response: OffsetFetchResponse, names: Mapping[UUID, str]) -> tuple[int, Commits]:
    """The error of the whole group (0 if none), and its committed offsets."""
    commits: Commits = {}
    if response.groups:
        group = response.groups[0]
        if group.error_code:
            return group.error_code, {}
        for topic in group.topics:
            name = topic.name or names.get(topic.topic_id, "")
            for item in topic.partitions:
                commits[name, item.partition_index] = _committed(
                    item.committed_offset, item.committed_leader_epoch, item.metadata, item.error_code
                )
    for old in response.topics:
        for part in old.partitions:
            commits[old.name, part.partition_index] = _committed(
                part.committed_offset, part.committed_leader_epoch, part.metadata, part.error_code
            )
    return response.error_code, commits


def _committed(offset: int, leader_epoch: int, metadata: str | None, error_code: int) -> Committed:
    known = offset if offset >= 0 else OFFSET_INVALID
    return Committed(known, leader_epoch, metadata or None, _broker_code(error_code))


def _broker_code(code: int) -> int:
    """A code of an answer, UNKNOWN for what no broker sends; the client's own codes are set by the client alone."""
    return KafkaError.from_code(code).code() if code else 0


# ---- where a log begins, ends, was at a time


def list_request(
    wanted: Mapping[Key, int], leader_epochs: Mapping[Key, int], *, read_committed: bool, version: int, timeout_ms: int
) -> ListOffsetsRequest:
    """Asks for offsets by timestamp (milliseconds, or -2 earliest, -1 latest).

    With `read_committed` the latest offset is the last stable one.
    """
    topics: dict[str, ListOffsetsTopic] = {}
    for (name, partition), timestamp in wanted.items():
        topic = topics.setdefault(name, ListOffsetsTopic(name=name))
        epoch = leader_epochs.get((name, partition), -1)
        topic.partitions.append(
            ListOffsetsPartition(partition_index=partition, current_leader_epoch=epoch, timestamp=timestamp)
        )
    return ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA,
        isolation_level=1 if read_committed and version >= ISOLATED_LIST_OFFSETS else 0,
        topics=list(topics.values()),
        timeout_ms=timeout_ms,
    )


def listed_offsets(response: ListOffsetsResponse) -> Commits:
    """Offset, epoch and error per partition; offset -1 means: no record that late."""
    return {
        (topic.name, item.partition_index): Committed(
            item.offset, item.leader_epoch, None, _broker_code(item.error_code), item.timestamp
        )
        for topic in response.topics
        for item in topic.partitions
    }
