"""aiokafka's assignors, over those of ours, and what they are given and give.

Must not hold any algorithm, nor know groups: the clients run kafka_core's assignors by their names, and those of users
through `Own`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from kserdes.compat import assigning
from kserdes.compat.aiokafka.structs import TopicPartition

__all__ = [
    "AbstractPartitionAssignor",
    "ConsumerProtocol",
    "ConsumerProtocolMemberAssignment",
    "ConsumerProtocolMemberMetadata",
    "RangePartitionAssignor",
    "RoundRobinPartitionAssignor",
    "StickyPartitionAssignor",
    "assignors_of",
]


@dataclass
class ConsumerProtocolMemberMetadata:
    """A member's subscription: its topics; `user_data` is its assignor's."""

    version: int
    subscription: list[str]
    user_data: bytes


class Assignment(NamedTuple):
    """A topic and numbers of its partitions."""

    topic: str
    partitions: list[int]


@dataclass
class ConsumerProtocolMemberAssignment:
    """A member's assignment: pairs of topic and partitions."""

    Assignment: ClassVar[type[Assignment]] = Assignment

    version: int
    assignment: list[tuple[str, list[int]]] = field(default_factory=list)
    user_data: bytes = b""

    def partitions(self) -> list[TopicPartition]:
        """One by one."""
        return [TopicPartition(topic, number) for topic, numbers in self.assignment for number in numbers]


class ConsumerProtocol:
    """The protocol type of consumer groups, and the classes of subscriptions and assignments."""

    PROTOCOL_TYPE = "consumer"
    ASSIGNMENT_STRATEGIES = ("range", "roundrobin")
    METADATA = ConsumerProtocolMemberMetadata
    ASSIGNMENT = ConsumerProtocolMemberAssignment


Metadata = ConsumerProtocolMemberMetadata


class AbstractPartitionAssignor:
    """A way to share partitions out, known by its name in the group's protocol."""

    name: ClassVar[str] = ""
    version: ClassVar[int] = 0

    @classmethod
    def assign(cls, cluster: Any, members: Mapping[str, Metadata]) -> dict[str, ConsumerProtocolMemberAssignment]:
        """Member id to its share.

        Args:
            cluster: has `partitions_for_topic(topic)`; a topic of which that is None is left out.
            members: member id → its subscription.
        """
        given = [
            assigning.group_member(member_id, each.subscription, None, *cls._owned(each))
            for member_id, each in members.items()
        ]
        shares = assigning.shared(cls.name, cluster, given)
        cls._keep(assigning.Movements(given, shares))
        return {member: ConsumerProtocolMemberAssignment(cls.version, share, b"") for member, share in shares.items()}

    @classmethod
    def _owned(cls, metadata: Metadata) -> tuple[assigning.Owned, int]:
        return [], -1

    @classmethod
    def _keep(cls, movements: assigning.Movements) -> None:
        """Nothing is kept."""

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> Metadata:
        """A member's subscription when it joins."""
        return Metadata(cls.version, list(topics), b"")

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Nothing is kept."""


class RangePartitionAssignor(AbstractPartitionAssignor):
    """Per topic, neighbouring partitions to each member."""

    name = "range"


class RoundRobinPartitionAssignor(AbstractPartitionAssignor):
    """All partitions of all topics in turns."""

    name = "roundrobin"


class StickyPartitionAssignor(AbstractPartitionAssignor):
    """Even, and as few moves as can be; what a member has is kept with the class, as in aiokafka."""

    DEFAULT_GENERATION_ID: ClassVar[int] = -1
    name = "sticky"
    member_assignment: ClassVar[list[TopicPartition] | None] = None
    generation: ClassVar[int] = DEFAULT_GENERATION_ID
    _latest_partition_movements: ClassVar[assigning.Movements | None] = None

    @classmethod
    def _owned(cls, metadata: Metadata) -> tuple[assigning.Owned, int]:
        return assigning.decode_owned(metadata.user_data) if metadata.user_data else ([], -1)

    @classmethod
    def _keep(cls, movements: assigning.Movements) -> None:
        cls._latest_partition_movements = movements

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> Metadata:
        """A member's subscription when it joins, with the partitions it has."""
        return cls._metadata(topics, cls.member_assignment, cls.generation)

    @classmethod
    def _metadata(
        cls, topics: Iterable[str], member_assignment_partitions: Iterable[TopicPartition] | None, generation: int = -1
    ) -> Metadata:
        owned = member_assignment_partitions
        return Metadata(cls.version, list(topics), b"" if owned is None else assigning.encode_sticky(owned, generation))

    @classmethod
    def on_assignment(cls, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Keeps its assignment for the next `metadata`."""
        cls.member_assignment = assignment.partitions()

    @classmethod
    def on_generation_assignment(cls, generation: int) -> None:
        """Keeps since when."""
        cls.generation = generation


OURS: dict[Any, str] = {kind: kind.name for kind in AbstractPartitionAssignor.__subclasses__()}


class Own:
    """An assignor of a user, for kafka_core.

    Args:
        assignor: has `name`, `assign`, `metadata` and `on_assignment`; mostly a class with class methods.
    """

    cooperative = False

    def __init__(self, assignor: Any) -> None:
        self._assignor = assignor
        self.name: str = assignor.name

    def user_data(self, topics: frozenset[str]) -> bytes:
        """The assignor's user data when this member joins."""
        said = assigning.guarded(self.name, lambda: self._assignor.metadata(topics), None)
        return assigning.bytes_of(getattr(said, "user_data", None))

    def share(
        self, members: Iterable[assigning.GroupMember], counts: Mapping[str, int]
    ) -> dict[str, assigning.OwnedShare]:
        """Member id to its partitions and what its assignor is told."""
        version = getattr(self._assignor, "version", 0)
        given = {each.member_id: Metadata(version, sorted(each.topics), each.user_data) for each in members}
        shares = self._assignor.assign(assigning.Counted(counts), given)
        return {
            member: ([tuple(place) for place in share.partitions()], assigning.bytes_of(share.user_data))
            for member, share in shares.items()
        }

    def assigned(self, keys: frozenset[tuple[str, int]], user_data: bytes, generation: int) -> None:
        """Gives this member's assignment to the assignor."""
        share = ConsumerProtocolMemberAssignment(0, assigning.sorted_shares(keys), user_data)
        assigning.guarded(self.name, lambda: self._assignor.on_assignment(share), None)
        tell = getattr(self._assignor, "on_generation_assignment", None)
        if tell is not None:
            assigning.guarded(self.name, lambda: tell(generation), None)


def assignors_of(assignors: Iterable[Any]) -> list[Any] | None:
    """Assignor classes as `partition.assignors` takes them: names of ours, and assignors of users; None for none.

    Raises:
        ValueError: one is no assignor.
    """
    found: list[Any] = []
    for assignor in assignors:
        if isinstance(assignor, str):
            if assignor not in OURS.values():
                raise ValueError(f"there is no assignor {assignor!r}: use one of {', '.join(sorted(OURS.values()))}")
            found.append(assignor)
        elif assignor in OURS or type(assignor) in OURS:
            found.append(assignor.name)
        elif callable(getattr(assignor, "assign", None)) and getattr(assignor, "name", None):
            found.append(Own(assignor))
        else:
            raise ValueError(f"{assignor!r} is no assignor")
    return found or None
