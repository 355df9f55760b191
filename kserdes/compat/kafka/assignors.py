"""Assignors of kafka-python, over those of ours, and what they are given and give.

Must not know groups: the clients run the engine's assignors by their names, and those of users through `Own`. Spec:
`kafka.coordinator.assignors` and `kafka.protocol.consumer.metadata` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from kserdes.compat import assigning
from kserdes.compat.kafka.errors import KafkaConfigurationError
from kserdes.compat.kafka.structs import TopicPartition

__all__ = [
    "AbstractPartitionAssignor",
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "ConsumerProtocolType",
    "CooperativeStickyAssignor",
    "RangePartitionAssignor",
    "RebalanceProtocol",
    "RoundRobinPartitionAssignor",
    "StickyAssignorUserData",
    "StickyPartitionAssignor",
    "Subscription",
    "strategies",
]

ConsumerProtocolType = "consumer"


class RebalanceProtocol(enum.IntEnum):
    """Whether members give up everything before they join (KIP-429)."""

    EAGER = 0
    COOPERATIVE = 1


class Partitions(NamedTuple):
    """A topic and numbers of its partitions."""

    topic: str
    partitions: list[int]


class Described:
    """Values with a version, given by position or by name; equal if all are."""

    DEFAULTS: ClassVar[dict[str, Any]] = {}
    TopicPartition = Partitions

    def __init__(self, *args: Any, version: int | None = None, **fields: Any) -> None:
        if args and isinstance(args[0], int) and version is None:
            version, args = args[0], args[1:]
        given = dict(zip(self.DEFAULTS, args, strict=False)) | fields
        unknown = set(given) - set(self.DEFAULTS)
        if unknown or len(args) > len(self.DEFAULTS):
            raise ValueError(f"Unrecognized fields for type {type(self).__name__}: {sorted(unknown) or args}")
        self.version = version
        for name, default in self.DEFAULTS.items():
            setattr(self, name, given.get(name, list(default) if isinstance(default, list) else default))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == {**vars(other), "version": self.version}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class ConsumerProtocolSubscription(Described):
    """A member's subscription: `topics`, `user_data`, and from version 1 on the partitions it has."""

    DEFAULTS: ClassVar = {
        "topics": [], "user_data": None, "owned_partitions": [], "generation_id": -1, "rack_id": None,
    }  # fmt: skip
    topics: list[str]
    user_data: Any
    owned_partitions: list[Partitions]
    generation_id: int


class ConsumerProtocolAssignment(Described):
    """A member's assignment: pairs of topic and partitions."""

    DEFAULTS: ClassVar = {"assigned_partitions": [], "user_data": None}
    assigned_partitions: list[tuple[str, list[int]]]
    user_data: Any

    @property
    def assignment(self) -> list[tuple[str, list[int]]]:
        """As it was called before."""
        return self.assigned_partitions

    def partitions(self) -> list[TopicPartition]:
        """One by one."""
        return [TopicPartition(topic, number) for topic, numbers in self.assigned_partitions for number in numbers]


class StickyAssignorUserData(Described):
    """The partitions that a member of a sticky group had, and since which generation."""

    DEFAULTS: ClassVar = {"previous_assignment": [], "generation": -1}
    previous_assignment: list[tuple[str, list[int]]]
    generation: int


class Subscription:
    """A member's subscription, and its static name."""

    def __init__(self, metadata: Any, group_instance_id: str | None) -> None:
        self._metadata, self._group_instance_id = metadata, group_instance_id

    @property
    def version(self) -> int | None:
        """Of the metadata."""
        version: int | None = self._metadata.version
        return version

    @property
    def user_data(self) -> Any:
        """Of the metadata."""
        return self._metadata.user_data

    @property
    def topics(self) -> list[str]:
        """Of the metadata."""
        topics: list[str] = self._metadata.topics
        return topics

    subscription = topics

    @property
    def group_instance_id(self) -> str | None:
        """The static name."""
        return self._group_instance_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subscription) and (self._metadata, self._group_instance_id) == (
            other._metadata,
            other._group_instance_id,
        )

    __hash__ = None  # type: ignore[assignment]


class AbstractPartitionAssignor(abc.ABC):
    """An assignor of a group's partitions: a subclass has a `name` and these three methods."""

    name: ClassVar[str] = ""
    version: ClassVar[int] = 0

    @abc.abstractmethod
    def assign(self, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        """Member id to its share, of members with `member_id`, `group_instance_id` and `metadata`."""

    @abc.abstractmethod
    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """A member's subscription when it joins."""

    @abc.abstractmethod
    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        """Called with a member's own share."""

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Eager, unless an assignor says otherwise."""
        return [RebalanceProtocol.EAGER]


class Stateless(AbstractPartitionAssignor):
    """One that does not look at what members had."""

    @classmethod
    def assign(cls, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        """Member id to its share, of members with `member_id`, `group_instance_id` and `metadata`."""
        given = [assigning.group_member(each.member_id, each.metadata.topics, static(each)) for each in members]
        shares = assigning.shared(cls.name, cluster, given)
        return {member: ConsumerProtocolAssignment(cls.version, share, b"") for member, share in shares.items()}

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """A member's subscription when it joins."""
        return ConsumerProtocolSubscription(cls.version, list(topics), b"")

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        """Nothing is kept."""


def static(member: Any) -> str | None:
    """A member's static name, which old versions of the protocol have not."""
    name: str | None = getattr(member, "group_instance_id", None)
    return name


class RangePartitionAssignor(Stateless):
    """Neighbouring partitions of each topic."""

    name = "range"


class RoundRobinPartitionAssignor(Stateless):
    """Partitions one by one, over all topics."""

    name = "roundrobin"


class StickyPartitionAssignor(AbstractPartitionAssignor):
    """Evenly, and as before where that can be; members say in their user data what they had."""

    DEFAULT_GENERATION_ID: ClassVar = -1
    name = "sticky"

    def __init__(self) -> None:
        self.member_assignment: list[TopicPartition] | None = None
        self.generation = self.DEFAULT_GENERATION_ID
        self._latest_partition_movements: assigning.Movements | None = None

    def assign(self, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        """Member id to its share, of members with `member_id`, `group_instance_id` and `metadata`."""
        given = [
            assigning.group_member(each.member_id, each.metadata.topics, static(each), *self._owned(each.metadata))
            for each in members
        ]
        shares = assigning.shared(self.name, cluster, given)
        self._latest_partition_movements = assigning.Movements(given, shares)
        return {member: ConsumerProtocolAssignment(self.version, share, b"") for member, share in shares.items()}

    @staticmethod
    def _owned(metadata: Any) -> tuple[assigning.Owned, int]:
        data = metadata.user_data
        if isinstance(data, StickyAssignorUserData):
            pairs = [(topic, number) for topic, numbers in data.previous_assignment for number in numbers]
            return pairs, data.generation
        return assigning.decode_owned(bytes(data)) if data else ([], -1)

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """A member's subscription when it joins."""
        return self._metadata(topics, self.member_assignment, self.generation)

    @classmethod
    def _metadata(
        cls, topics: Iterable[str], member_assignment_partitions: Iterable[Any] | None, generation: int = -1
    ) -> ConsumerProtocolSubscription:
        if member_assignment_partitions is None:
            return ConsumerProtocolSubscription(cls.version, list(topics), b"")
        grouped: dict[str, list[int]] = {}
        for topic, number in member_assignment_partitions:
            grouped.setdefault(topic, []).append(number)
        return ConsumerProtocolSubscription(
            cls.version, list(topics), StickyAssignorUserData(list(grouped.items()), generation, version=1)
        )

    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        """Keeps its assignment for the next `metadata`."""
        self.member_assignment, self.generation = assignment.partitions(), generation


class CooperativeStickyAssignor(StickyPartitionAssignor):
    """Evenly, as before where that can be, and without stopping for it (KIP-429)."""

    name = "cooperative-sticky"
    version = 1

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Cooperative only."""
        return [RebalanceProtocol.COOPERATIVE]

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """A member's subscription when it joins, with the partitions it has."""
        grouped: dict[str, list[int]] = {}
        for topic, number in self.member_assignment or ():
            grouped.setdefault(topic, []).append(number)
        owned = [Partitions(topic, sorted(numbers)) for topic, numbers in grouped.items()]
        return ConsumerProtocolSubscription(self.version, sorted(topics), b"", owned)

    @staticmethod
    def _owned(metadata: Any) -> tuple[assigning.Owned, int]:
        found = getattr(metadata, "owned_partitions", None) or ()
        return [(topic, number) for topic, numbers in found for number in numbers], getattr(
            metadata, "generation_id", -1
        )


OURS: dict[Any, str] = {
    kind: kind.name
    for kind in (
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}


class JoinedMember(NamedTuple):
    """A member, as a user's assignor is given it."""

    member_id: str
    group_instance_id: str | None
    metadata: ConsumerProtocolSubscription


class Own:
    """An assignor of a user, for the engine.

    Args:
        assignor: an object with `name`, `assign`, `metadata` and `on_assignment`.
    """

    def __init__(self, assignor: Any) -> None:
        self._assignor = assignor
        self.name: str = assignor.name

    @property
    def cooperative(self) -> bool:
        """Whether members keep their partitions while they join."""
        supported = getattr(self._assignor, "supported_protocols", lambda: [RebalanceProtocol.EAGER])()
        return RebalanceProtocol.EAGER not in supported

    def user_data(self, topics: frozenset[str]) -> bytes:
        """The assignor's user data when this member joins."""
        said = assigning.guarded(self.name, lambda: self._assignor.metadata(sorted(topics)), None)
        return assigning.bytes_of(getattr(said, "user_data", None))

    def share(
        self, members: Sequence[assigning.GroupMember], counts: Mapping[str, int]
    ) -> dict[str, assigning.OwnedShare]:
        """Member id to its partitions and what its assignor is told."""
        given = [JoinedMember(each.member_id, each.instance_id, self._metadata(each)) for each in members]
        shares = self._assignor.assign(assigning.Counted(counts), given)
        return {
            member: ([tuple(place) for place in share.partitions()], assigning.bytes_of(share.user_data))
            for member, share in shares.items()
        }

    def _metadata(self, member: assigning.GroupMember) -> ConsumerProtocolSubscription:
        owned = [Partitions(topic, numbers) for topic, numbers in assigning.sorted_shares(member.owned)]
        version = getattr(self._assignor, "version", 0)
        return ConsumerProtocolSubscription(
            sorted(member.topics), member.user_data, owned, member.generation, member.rack, version=version
        )

    def assigned(self, keys: frozenset[tuple[str, int]], user_data: bytes, generation: int) -> None:
        """Gives this member's assignment to the assignor."""
        share = ConsumerProtocolAssignment(assigning.sorted_shares(keys), user_data, version=0)
        assigning.guarded(self.name, lambda: self._assignor.on_assignment(share, generation), None)


def strategies(value: Iterable[Any]) -> list[Any]:
    """`partition_assignment_strategy` as `partition.assignors`: names of ours, and assignors of users.

    Raises:
        KafkaConfigurationError: neither a known name nor an assignor, or no assignor at all.
    """
    found: list[Any] = []
    for each in value:
        if each in OURS or type(each) in OURS:
            found.append(OURS[each if isinstance(each, type) else type(each)])
        elif isinstance(each, str):
            if each not in OURS.values():
                raise KafkaConfigurationError(
                    f"partition_assignment_strategy: {each!r} is unknown; there are {', '.join(OURS.values())}"
                )
            found.append(each)
        else:
            found.append(Own(_made(each)))
    if not found:
        raise KafkaConfigurationError("Coordinator requires assignors")
    if len({"cooperative" if _is_cooperative(each) else "eager" for each in found}) > 1:
        raise KafkaConfigurationError("partition_assignment_strategy mixes EAGER and COOPERATIVE assignors")
    return found


def _is_cooperative(item: Any) -> bool:
    return item == CooperativeStickyAssignor.name if isinstance(item, str) else bool(item.cooperative)


def _made(given: Any) -> Any:
    assignor = given() if isinstance(given, type) else given
    if not callable(getattr(assignor, "assign", None)) or not getattr(assignor, "name", None):
        raise KafkaConfigurationError(f"partition_assignment_strategy: {given!r} is no assignor")
    return assignor
