"""One classic consumer group: its members, generation, chosen protocol and allowed moves between states.

Must not know: timers, the clock, requests (see `coordinator.py`). An impossible move raises and names both states.
Spec: Kafka's client-side assignment proposal (KIP-62, KIP-345, KIP-394, KIP-814); `ClassicGroup` of Apache Kafka 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from kafka_core.broker.codes import Code
from kafka_core.broker.parking import Pending, Timer

#: (name, metadata) in the order the member prefers.
Protocols = list[tuple[str, bytes]]


class GroupState(Enum):
    """States of a classic group; the values are the names DescribeGroups shows."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_MOVES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING, GroupState.DEAD}),
    GroupState.PREPARING: frozenset({GroupState.COMPLETING, GroupState.EMPTY, GroupState.DEAD}),
    GroupState.COMPLETING: frozenset({GroupState.STABLE, GroupState.PREPARING, GroupState.DEAD}),
    GroupState.STABLE: frozenset({GroupState.PREPARING, GroupState.DEAD}),
    GroupState.DEAD: frozenset(),
}


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """A member as the leader sees it in its JoinGroup answer."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class JoinResult:
    """Answer to JoinGroup; `members` is filled for the leader only."""

    code: Code
    member_id: str
    generation: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """Answer to SyncGroup."""

    code: Code
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(slots=True, eq=False)
class Member:
    """One member of the group, with the requests of it that are parked."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    waiting_join: Pending[JoinResult] | None = None
    waiting_sync: Pending[SyncResult] | None = None
    session: Timer | None = None
    is_new: bool = True

    def metadata(self, protocol: str) -> bytes:
        """The member's metadata for `protocol`, empty if it does not speak it."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    def vote(self, candidates: set[str]) -> str:
        """The first of `candidates` in the order of the member's preference."""
        return next(name for name, _ in self.protocols if name in candidates)


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """One committed position."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int


@dataclass(slots=True, eq=False)
class Group:
    """A classic group. `members` keeps the order of joining; the first is the leader-to-be."""

    group_id: str
    state: GroupState = GroupState.EMPTY
    generation: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    #: Member ids handed out by MEMBER_ID_REQUIRED, with the timer that forgets them.
    promised_ids: dict[str, Timer] = field(default_factory=dict)
    static_ids: dict[str, str] = field(default_factory=dict)
    offsets: dict[tuple[str, int], CommittedOffset] = field(default_factory=dict)
    rebalance: Timer | None = None
    sync_deadline: Timer | None = None
    #: Someone joined while the initial rebalance delay ran: wait for more.
    newcomers: bool = False
    #: Moment (monotonic seconds) after which the initial delay is not extended any more.
    initial_limit_s: float | None = None

    def move_to(self, state: GroupState) -> None:
        """Change the state; RuntimeError for a move the table does not allow."""
        if state not in _MOVES[self.state]:
            raise RuntimeError(f"group {self.group_id!r} cannot go from {self.state.value} to {state.value}")
        self.state = state

    def add(self, member: Member) -> None:
        """Take a member in."""
        self.members[member.member_id] = member
        self.promised_ids.pop(member.member_id, None)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id

    def remove(self, member: Member) -> None:
        """Take a member out; the next one in the order of joining leads, preferring those that wait in JoinGroup."""
        self.members.pop(member.member_id, None)
        if member.instance_id is not None and self.static_ids.get(member.instance_id) == member.member_id:
            del self.static_ids[member.instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)

    def rename(self, member: Member, member_id: str) -> None:
        """A static member came back under a new id: same place, same leadership."""
        old_id = member.member_id
        self.members = {(member_id if key == old_id else key): value for key, value in self.members.items()}
        member.member_id = member_id
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member_id
        if self.leader_id == old_id:
            self.leader_id = member_id

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is one of those that rejoined; False if nobody did."""
        leader = self.members.get(self.leader_id or "")
        if leader is not None and leader.waiting_join is not None:
            return True
        for member in self.waiting_members():
            self.leader_id = member.member_id
            return True
        return False

    def waiting_members(self) -> Iterator[Member]:
        """Members whose JoinGroup is parked."""
        return (member for member in list(self.members.values()) if member.waiting_join is not None)

    @property
    def everyone_joined(self) -> bool:
        """Whether nobody is missing: all members wait in JoinGroup and no promised id is open."""
        return not self.promised_ids and all(member.waiting_join is not None for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of the members' rebalance time-outs."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def candidates(self) -> set[str]:
        """Protocols every member speaks."""
        spoken = [{name for name, _ in member.protocols} for member in self.members.values()]
        return set.intersection(*spoken) if spoken else set()

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols can join."""
        if self.state is GroupState.EMPTY or not self.members:
            return bool(protocol_type) and bool(protocols)
        return self.protocol_type == protocol_type and any(name in self.candidates() for name, _ in protocols)

    def select_protocol(self) -> str:
        """The protocol with most votes among those everyone speaks; the first voter's among equals."""
        candidates = self.candidates()
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = member.vote(candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def next_generation(self) -> None:
        """Close the join phase: a new generation with the members there are."""
        self.generation += 1
        if not self.members:
            self.protocol_name = None
            self.move_to(GroupState.EMPTY)
            return
        self.protocol_name = self.select_protocol()
        self.move_to(GroupState.COMPLETING)

    def join_result(self, member: Member, *, skip_assignment: bool = False) -> JoinResult:
        """The answer to `member` about the current generation."""
        is_leader = member.member_id == self.leader_id
        return JoinResult(
            Code.NONE,
            member.member_id,
            self.generation,
            self.protocol_type,
            self.protocol_name,
            self.leader_id or "",
            tuple(self.joined_members()) if is_leader else (),
            skip_assignment,
        )

    def joined_members(self) -> Iterator[JoinedMember]:
        """All members with their metadata for the chosen protocol."""
        protocol = self.protocol_name or ""
        return (JoinedMember(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.members.values())
