"""One consumer group of KIP-848: members with their epochs, the target assignment, and each member's way to it.

Must not know: timers, the clock, requests (see `consumer_coordinator.py`); how members of the classic protocol take
part (`consumer_migration.py`). An impossible move raises and names both states.
Spec: KIP-848; `ConsumerGroup`, `ConsumerGroupMember` and `CurrentAssignmentBuilder` of Apache Kafka 4.

A heartbeat may bump three things, in this order: the group epoch (a subscription or a topic changed), the target epoch
(the assignor has run for that group epoch), the member epoch (the member was moved towards the target).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias
from uuid import UUID

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.classic_groups import Protocols
from kafka_core.broker.groups.consumer_assignors import ASSIGNORS
from kafka_core.broker.parking import Timer

Id: TypeAlias = tuple[UUID, int]
Topics: TypeAlias = Mapping[str, tuple[UUID, int]]
"""Topic → id and number of partitions."""

STATIC_LEAVE_EPOCH: Final = -2


class MemberState(Enum):
    """A member's progress towards the target assignment."""

    STABLE = "stable"
    UNREVOKED = "unrevoked"
    """It still has to give partitions up."""
    UNRELEASED = "unreleased"
    """Others still have partitions that are meant for it."""


class ConsumerGroupState(Enum):
    """States of a consumer group; the values are the names ConsumerGroupDescribe shows."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True)
class ClassicPart:
    """The classic protocol's part of a member that joined with it (online migration)."""

    session_timeout_ms: int
    protocols: Protocols

    @property
    def protocol_name(self) -> str:
        """The protocol that it is told the group has chosen: its first."""
        return self.protocols[0][0] if self.protocols else ""


@dataclass(slots=True, eq=False)
class ConsumerMember:
    """One member.

    Attributes:
        epoch: of the target assignment that it has reached; STATIC_LEAVE_EPOCH while a static member is away.
        previous_epoch: the one before; a member that missed the answer of a heartbeat may still name it.
        assigned: what it may read. `revoking`: what it must give up before it gets anything else.
        classic: set for a member of the classic protocol.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    regex: str | None = None
    assignor: str | None = None
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: frozenset[Id] = frozenset()
    revoking: frozenset[Id] = frozenset()
    session: Timer | None = None
    rebalance: Timer | None = None
    classic: ClassicPart | None = None

    def reach(self, epoch: int, state: MemberState, assigned: Iterable[Id], revoking: Iterable[Id] = ()) -> None:
        """Takes a step towards the target."""
        if epoch != self.epoch:
            self.previous_epoch, self.epoch = self.epoch, epoch
        self.state, self.assigned, self.revoking = state, frozenset(assigned), frozenset(revoking)

    def epoch_problem(self, epoch: int, owned: Collection[Id] | None) -> Code:
        """Whether a heartbeat may name this epoch: its own, or the one before if nothing was lost on the way."""
        if epoch == self.epoch:
            return Code.NONE
        missed = epoch == self.previous_epoch and owned is not None and self.assigned.issuperset(owned)
        return Code.NONE if epoch < self.epoch and missed else Code.FENCED_MEMBER_EPOCH


@dataclass(slots=True, eq=False)
class ConsumerGroup:
    """A consumer group. Its committed positions are those of the classic group of the same name."""

    group_id: str
    epoch: int = 0
    target_epoch: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    target: dict[str, frozenset[Id]] = field(default_factory=dict)
    #: The members' topics, as they were when the group epoch was last bumped.
    topics: dict[str, tuple[UUID, int]] = field(default_factory=dict)
    #: Runs until the assignor may run again (KIP-1263); None where it may.
    rest: Timer | None = None

    @property
    def state(self) -> ConsumerGroupState:
        """The state of the group."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        settled = all(
            member.state is MemberState.STABLE and member.epoch in (self.target_epoch, STATIC_LEAVE_EPOCH)
            for member in self.members.values()
        )
        return ConsumerGroupState.STABLE if settled else ConsumerGroupState.RECONCILING

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """The member with this group.instance.id."""
        return next((member for member in self.members.values() if member.instance_id == instance_id), None)

    def assignor(self, default: str) -> str:
        """The assignor that most members ask for; the default where none asks."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.assignor is not None:
                votes[member.assignor] = votes.get(member.assignor, 0) + 1
        return max(votes, key=lambda name: votes[name]) if votes else default

    def changed(self, topics: Topics) -> bool:
        """Notes the topics of all members as they are now; bumps the group epoch if they differ from before."""
        if dict(topics) == self.topics:
            return False
        self.topics = dict(topics)
        if self.epoch == self.target_epoch:  # else it has grown already: once is enough
            self.epoch += 1
        return True

    def assign(self, subscriptions: Mapping[str, Collection[str]], default_assignor: str) -> None:
        """Runs the assignor if the group epoch has grown since it last ran.

        Args:
            subscriptions: member → topics, patterns resolved.
        """
        if self.epoch <= self.target_epoch:
            return
        names = {topic_id: name for name, (topic_id, _) in self.topics.items()}
        last = {
            member_id: [(names[topic_id], number) for topic_id, number in keys if topic_id in names]
            for member_id, keys in self.target.items()
        }
        counts = {name: count for name, (_, count) in self.topics.items()}
        plan = ASSIGNORS[self.assignor(default_assignor)](subscriptions, counts, last)
        self.target = {
            member_id: frozenset((self.topics[name][0], number) for name, number in keys)
            for member_id, keys in plan.items()
        }
        self.target_epoch = self.epoch

    def remove(self, member: ConsumerMember) -> None:
        """Takes a member out; the group epoch grows, and its partitions are free."""
        self.members.pop(member.member_id, None)
        self.target.pop(member.member_id, None)
        self.epoch += 1

    def replace(self, member: ConsumerMember, member_id: str) -> None:
        """A static member is back under a new id: it has what its old self had."""
        self.members = {(member_id if key == member.member_id else key): value for key, value in self.members.items()}
        self.target = {(member_id if key == member.member_id else key): value for key, value in self.target.items()}
        member.member_id = member_id
        member.epoch, member.previous_epoch = 0, -1

    # ---- a member's way to the target

    def reconcile(self, member: ConsumerMember, owned: Collection[Id] | None) -> None:
        """The member's next step: give up, wait for others, or take.

        Args:
            owned: what the member says that it has; None if it says nothing of that.
        """
        if member.state is MemberState.STABLE and member.epoch == self.target_epoch:
            return
        if member.state is MemberState.UNREVOKED and (owned is None or member.revoking & set(owned)):
            return
        target = self.target.get(member.member_id, frozenset())
        kept = member.assigned & target
        given_up = member.assigned - target
        wanted = target - kept
        taken = self._taken_by_others(member)
        free = {key for key in wanted if key not in taken}
        if given_up and (owned is None or given_up & set(owned)):
            member.reach(member.epoch, MemberState.UNREVOKED, kept, given_up)
        else:
            state = MemberState.STABLE if len(free) == len(wanted) else MemberState.UNRELEASED
            member.reach(self.target_epoch, state, kept | free)

    def _taken_by_others(self, member: ConsumerMember) -> set[Id]:
        return {
            key for other in self.members.values() if other is not member for key in (*other.assigned, *other.revoking)
        }

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether nothing of what is meant for the member and missing is free yet."""
        missing = self.target.get(member.member_id, frozenset()) - member.assigned
        taken = self._taken_by_others(member)
        return all(key in taken for key in missing)

    # ---- commits

    def commit_problem(self, member_id: str, epoch: int, version_knows_epochs: bool) -> Code:
        """Whether a member may commit in this epoch."""
        if epoch < 0 and not self.members:
            return Code.NONE
        member = self.members.get(member_id)
        if member is None:
            return Code.UNKNOWN_MEMBER_ID
        if member.classic is not None:
            return Code.NONE if epoch == member.epoch else Code.ILLEGAL_GENERATION
        if not version_knows_epochs:
            return Code.UNSUPPORTED_VERSION
        return Code.NONE if epoch == member.epoch else Code.STALE_MEMBER_EPOCH

    def fetch_problem(self, member_id: str | None, epoch: int) -> Code:
        """Whether a member may read positions in this epoch; without a member everybody may."""
        if member_id is None and epoch < 0:
            return Code.NONE
        member = self.members.get(member_id or "")
        if member is None:
            return Code.UNKNOWN_MEMBER_ID
        return Code.NONE if epoch == member.epoch else Code.STALE_MEMBER_EPOCH
