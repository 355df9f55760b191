"""Partition assignors, run by the leader of a classic group.

Must not know requests, states or time: members with their subscriptions in, partitions per member out.
Spec: KIP-54 (sticky), KIP-429 (cooperative), KIP-345 (order of static members), KIP-881 (racks; `roundrobin` has none).
Results of `range` and `roundrobin` equal those of org.apache.kafka.clients.consumer.{RangeAssignor,RoundRobinAssignor}.

All of them are deterministic: the same input gives the same output, in whatever order it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.racks import NO_RACKS, Exchange, Nearness, Racks
from kafka_core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member as the leader sees it.

    Attributes:
        topics: its subscription.
        owned: partitions it reports; `generation`: of these, -1 if not given.
        user_data: what its assignor says, as it came.
    """

    member_id: str
    topics: frozenset[str]
    instance_id: str | None = None
    owned: tuple[Key, ...] = ()
    generation: int = -1
    rack: str | None = None
    user_data: bytes = b""

    @property
    def rank(self) -> tuple[bool, str]:
        """Order of members: static ones first, by instance id, then the others by member id."""
        return (self.instance_id is None, self.instance_id if self.instance_id is not None else self.member_id)


Share = tuple[Iterable[Key], bytes]
"""Partitions, and data for the member's assignor."""
Plan = dict[str, list[Key]]
"""Member id → its partitions."""
Counts = Mapping[str, int]
"""Topic → how many partitions it has; a topic that is missing or has none is left out of the assignment."""


def ranked(members: Iterable[GroupMember]) -> list[GroupMember]:
    """The members in the order in which assignors serve them."""
    return sorted(members, key=lambda member: member.rank)


def assign_range(members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan:
    """Per topic, contiguous ranges to its subscribers in order; the first get one more if it doesn't divide.

    Where racks matter, subscribers first get what is near to them. Topics with the same subscribers and as many
    partitions keep equal numbers together: a number goes to who is near to it in all of them.
    """
    order = ranked(members)
    nearness = nearness_of(order, racks)
    topics = [
        _Ranges(topic, [member.member_id for member in order if topic in member.topics], counts[topic])
        for topic in sorted({topic for member in order for topic in member.topics})
        if counts.get(topic)
    ]
    if any(nearness.among(ranges.takers).tells_apart(list(ranges.left)) for ranges in topics):
        _assign_near(topics, nearness)
    for ranges in topics:
        ranges.fill(lambda member_id, key: True)
    return {
        member.member_id: sorted(key for ranges in topics for key in ranges.shares.get(member.member_id, ()))
        for member in order
    }


def nearness_of(members: Iterable[GroupMember], racks: Racks) -> Nearness:
    """The nearness of members to partitions."""
    return Nearness({member.member_id: member.rack for member in members}, racks)


@dataclass(slots=True)
class _Ranges:
    """One topic of the range assignor, on its way to being shared out."""

    topic: str
    takers: list[str]
    count: int
    left: dict[Key, None] = field(default_factory=dict)
    shares: dict[str, list[Key]] = field(default_factory=dict)
    extras: int = 0

    def __post_init__(self) -> None:
        self.left = {(self.topic, number): None for number in range(self.count)}
        self.shares = {member_id: [] for member_id in self.takers}
        self.extras = self.count % len(self.takers)

    def room(self, member_id: str) -> int:
        """The number of partitions the member may still get, as long as somebody may have one more than the others."""
        return self.count // len(self.takers) + (self.extras > 0) - len(self.shares[member_id])

    def give(self, member_id: str, keys: Sequence[Key]) -> None:
        share = self.shares[member_id]
        share += keys
        self.extras -= len(share) > self.count // len(self.takers)
        for key in keys:
            del self.left[key]

    def fill(self, fits: Callable[[str, Key], bool]) -> None:
        """Gives every member, in order, as much as there is room for of what fits."""
        for member_id in self.takers:
            fitting = (key for key in self.left if fits(member_id, key))
            if keys := list(islice(fitting, max(0, self.room(member_id)))):
                self.give(member_id, keys)


def _assign_near(topics: Iterable[_Ranges], nearness: Nearness) -> None:
    """Gives out what is near to somebody who has room for it."""
    alike: dict[tuple[tuple[str, ...], int], list[_Ranges]] = {}
    for ranges in topics:
        alike.setdefault((tuple(ranges.takers), ranges.count), []).append(ranges)
    for (takers, count), group in alike.items():
        if len(group) == 1:
            (ranges,) = group
            if nearness.among(takers).tells_apart(list(ranges.left)):
                ranges.fill(nearness.near)
            continue
        waiting = list(takers)  # topics that are alike have the same room for a member
        for number in range(count):
            keys = [(ranges.topic, number) for ranges in group]
            taker = next((name for name in waiting if all(nearness.near(name, key) for key in keys)), None)
            if taker is not None:
                for ranges, key in zip(group, keys, strict=True):
                    ranges.give(taker, [key])
                waiting = [name for name in waiting if group[0].room(name) > 0]


def assign_roundrobin(members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan:
    """All partitions of all topics, dealt to the members in turn; who is not subscribed to the topic is passed over.

    Racks are not looked at, as in Java.
    """
    del racks
    order = ranked(members)
    plan: Plan = {member.member_id: [] for member in order}
    turn = 0
    for key in partitions_of(order, counts):
        while key[0] not in order[turn % len(order)].topics:
            turn += 1
        plan[order[turn % len(order)].member_id].append(key)
        turn += 1
    return plan


def partitions_of(members: Iterable[GroupMember], counts: Counts) -> list[Key]:
    """All partitions to assign, sorted."""
    topics = sorted({topic for member in members for topic in member.topics})
    return [(topic, number) for topic in topics for number in range(counts.get(topic, 0))]


def assign_sticky(members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan:
    """As balanced as the subscriptions allow, moving as little as possible from what the members own.

    Balanced: nobody can take a partition from a member that has at least two more than itself. Being near comes after
    balance and before staying where it is, as in Java.
    """
    order = ranked(members)
    return _Sticky(order, counts, valid_claims(order, counts), nearness_of(order, racks)).plan()


def assign_cooperative(members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan:
    """The sticky assignment, without the partitions that another member still has to give up (KIP-429).

    Their old owner sees that they are missing, revokes them and joins again; the rebalance after this one gives them
    to their new owner.
    """
    order = ranked(members)
    claims = valid_claims(order, counts)
    plan = _Sticky(order, counts, claims, nearness_of(order, racks)).plan()
    # Anybody who still claims a partition may be reading it, also one whose claim lost against a newer one.
    claimants: dict[Key, set[str]] = {}
    for member in order:
        for key in member.owned:
            claimants.setdefault(key, set()).add(member.member_id)
    return {
        member_id: [key for key in keys if claimants.get(key, {member_id}) <= {member_id}]
        for member_id, keys in plan.items()
    }


def valid_claims(order: Iterable[GroupMember], counts: Counts) -> dict[Key, str]:
    """Partition → the member that may keep it.

    Of two that claim the same one, the newer generation has it; with equal generations neither is believed.
    Claims on topics that are gone or no longer subscribed do not count.
    """
    best: dict[Key, tuple[int, str | None]] = {}
    for member in order:
        for key in dict.fromkeys(member.owned):
            if key[0] not in member.topics or key[1] >= counts.get(key[0], 0):
                continue
            held = best.get(key)
            if held is None or member.generation > held[0]:
                best[key] = (member.generation, member.member_id)
            elif member.generation == held[0]:
                best[key] = (member.generation, None)
    return {key: owner for key, (_, owner) in best.items() if owner is not None}


@dataclass(slots=True)
class _Sticky:
    """One run: keep the claims, give out the rest, then move from the fullest to the emptiest."""

    order: list[GroupMember]
    counts: Counts
    claims: Mapping[Key, str]
    nearness: Nearness
    loads: dict[str, set[Key]] = field(default_factory=dict)
    takers: dict[str, list[str]] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)

    def plan(self) -> Plan:
        self.rank = {member.member_id: index for index, member in enumerate(self.order)}
        self.loads = {member.member_id: set() for member in self.order}
        for member in self.order:
            for topic in member.topics:
                self.takers.setdefault(topic, []).append(member.member_id)
        free = []
        for key in partitions_of(self.order, self.counts):
            owner = self.claims.get(key)
            if owner is None:
                free.append(key)
            else:
                self.loads[owner].add(key)
        # Partitions with few possible takers first: the others can still go anywhere afterwards.
        free.sort(key=lambda key: (len(self.takers[key[0]]), key))
        near = self.nearness.matters(partitions_of(self.order, self.counts))
        for key in self.place_near(free) if near else free:
            self.loads[self.emptiest(key[0])].add(key)
        while self.move_one():
            pass
        if near:
            self.bring_near()
        return {member_id: sorted(keys) for member_id, keys in self.loads.items()}

    def place_near(self, free: Iterable[Key]) -> list[Key]:
        """Gives partitions to members that are near and have less than an equal share; the others come back."""
        share = len(partitions_of(self.order, self.counts)) // len(self.order)
        left = []
        for key in free:
            near = [
                member_id
                for member_id in self.takers[key[0]]
                if len(self.loads[member_id]) < share and self.nearness.near(member_id, key)
            ]
            if near:
                self.loads[min(near, key=self.fullness)].add(key)
            else:
                left.append(key)
        return left

    def bring_near(self) -> None:
        """Exchanges and moves in turn: an exchange may allow a better balance; every move lowers the bound of moves."""
        exchange = Exchange(self.loads, self.takers, self.claims, self.nearness)
        exchange.run()
        while self.move_one():
            exchange.run()

    def emptiest(self, topic: str) -> str:
        return min(self.takers[topic], key=self.fullness)

    def fullness(self, member_id: str) -> tuple[int, int]:
        """Order in which members are given something: the emptiest first, then as they are ranked."""
        return (len(self.loads[member_id]), self.rank[member_id])

    def move_one(self) -> bool:
        """Moves one partition to a member that has at least two less; False when there is none to move.

        Every move lowers the sum of the squared loads, so this ends.
        """
        for donor in sorted(self.loads, key=lambda member_id: (-len(self.loads[member_id]), self.rank[member_id])):
            load = len(self.loads[donor])
            best: tuple[int, bool, int, Key, str] | None = None
            for topic in sorted({topic for topic, _ in self.loads[donor]}):
                taker = self.emptiest(topic)
                room = len(self.loads[taker])
                if room + 1 >= load:
                    continue
                key, kept = self.least_attached(donor, topic)
                choice = (room, kept, self.rank[taker], key, taker)
                best = choice if best is None or choice < best else best
            if best is not None:
                self.loads[donor].remove(best[3])
                self.loads[best[4]].add(best[3])
                return True
        return False

    def least_attached(self, donor: str, topic: str) -> tuple[Key, bool]:
        """A partition of the topic to give away, and whether the donor owned it: rather one that it just got."""
        kept, negated = min((self.claims.get(key) == donor, -key[1]) for key in self.loads[donor] if key[0] == topic)
        return (topic, -negated), kept


class Assign(Protocol):
    """An assignor's call: members, the number of partitions by topic, and the racks of replicas."""

    def __call__(self, members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan: ...


class OwnAssignor(Protocol):
    """An assignor of the application (`partition.assignors`). It is called on the client's loop, and must not wait."""

    @property
    def name(self) -> str:
        """The name in the group; all members have the assignor by this name."""

    @property
    def cooperative(self) -> bool:
        """Whether members keep their partitions while they join (KIP-429)."""

    def user_data(self, topics: frozenset[str]) -> bytes:
        """The user data of this member when it joins."""

    def share(self, members: Sequence[GroupMember], counts: Counts) -> Mapping[str, tuple[Iterable[Key], bytes]]:
        """Member id → its partitions, and what its assignor is told. Only the group's leader is asked."""

    def assigned(self, keys: frozenset[Key], user_data: bytes, generation: int) -> None:
        """Takes this member's assignment."""


@dataclass(frozen=True, slots=True)
class Assignor:
    """An assignor by its protocol name.

    Attributes:
        cooperative: members keep their partitions while they join (KIP-429).
        own: the application's, which then assigns.
    """

    name: str
    assign: Assign
    cooperative: bool = False
    own: OwnAssignor | None = None

    def assignments(self, members: Sequence[GroupMember], counts: Counts, racks: Racks) -> dict[str, Share]:
        """Member id → its partitions, and what its assignor is told."""
        if self.own is None:
            return {member_id: (keys, b"") for member_id, keys in self.assign(members, counts, racks).items()}
        given = self.own.share(members, counts)
        return {member.member_id: given.get(member.member_id, ((), b"")) for member in members}


ASSIGNORS: Final[Mapping[str, Assignor]] = {
    "range": Assignor("range", assign_range),
    "roundrobin": Assignor("roundrobin", assign_roundrobin),
    "sticky": Assignor("sticky", assign_sticky),
    "cooperative-sticky": Assignor("cooperative-sticky", assign_cooperative, cooperative=True),
}


def choose(names: Iterable[str]) -> tuple[Assignor, ...]:
    """The assignors of `partition.assignment.strategy`, most wanted first.

    Raises:
        ConfigError: an unknown name, or none.
    """
    found = []
    for name in names:
        if name not in ASSIGNORS:
            raise ConfigError(
                f"partition.assignment.strategy: {name!r} is unknown; choose from {', '.join(sorted(ASSIGNORS))}"
            )
        found.append(ASSIGNORS[name])
    if not found:
        raise ConfigError("partition.assignment.strategy names no assignor")
    return tuple(dict.fromkeys(found))


def choose_own(items: Iterable[str | OwnAssignor]) -> tuple[Assignor, ...]:
    """The assignors of `partition.assignors`: names of ours and the application's own, most wanted first.

    Raises:
        ConfigError: an unknown name, or a name twice.
    """
    found: list[Assignor] = []
    for item in items:
        found += choose([item]) if isinstance(item, str) else [Assignor(item.name, _none, item.cooperative, item)]
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ConfigError(f"partition.assignors: two assignors have one name: {', '.join(names)}")
    return tuple(found)


def _none(members: Iterable[GroupMember], counts: Counts, racks: Racks = NO_RACKS) -> Plan:
    """Nothing for anybody."""
    return {member.member_id: [] for member in members}
