"""Who gets which partition: the assignors that a group's leader runs.

Must not know requests, states or time: members with their subscriptions in, partitions per member out.
Spec: KIP-54 (sticky), KIP-429 (cooperative), KIP-345 (order of static members); results of `range` and `roundrobin`
equal those of org.apache.kafka.clients.consumer.{RangeAssignor,RoundRobinAssignor} without racks.

All of them are deterministic: the same input gives the same output, in whatever order it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kafka_core.engine.consuming.subscription import Key
from kafka_core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member as the leader sees it.

    Attributes:
        topics: what it is subscribed to.
        owned: what it says it has; `generation`: when it got it, -1 if it does not say.
    """

    member_id: str
    topics: frozenset[str]
    instance_id: str | None = None
    owned: tuple[Key, ...] = ()
    generation: int = -1
    rack: str | None = None

    @property
    def rank(self) -> tuple[bool, str]:
        """Order of members: static ones first, by instance id, then the others by member id."""
        return (self.instance_id is None, self.instance_id if self.instance_id is not None else self.member_id)


Plan = dict[str, list[Key]]
"""Member id → its partitions."""
Counts = Mapping[str, int]
"""Topic → how many partitions it has; a topic that is missing or has none is left out of the assignment."""


def ranked(members: Iterable[GroupMember]) -> list[GroupMember]:
    """The members in the order in which assignors serve them."""
    return sorted(members, key=lambda member: member.rank)


def assign_range(members: Iterable[GroupMember], counts: Counts) -> Plan:
    """Per topic, contiguous ranges to its subscribers in order; the first get one more if it doesn't divide."""
    order = ranked(members)
    plan: Plan = {member.member_id: [] for member in order}
    for topic in sorted({topic for member in order for topic in member.topics}):
        count = counts.get(topic, 0)
        takers = [member for member in order if topic in member.topics]
        share, rest = divmod(count, len(takers))
        start = 0
        for index, member in enumerate(takers):
            size = share + (index < rest)
            plan[member.member_id] += [(topic, number) for number in range(start, start + size)]
            start += size
    return plan


def assign_roundrobin(members: Iterable[GroupMember], counts: Counts) -> Plan:
    """All partitions of all topics, dealt to the members in turn; who is not subscribed to the topic is passed over."""
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


def assign_sticky(members: Iterable[GroupMember], counts: Counts) -> Plan:
    """As balanced as the subscriptions allow, moving as little as possible from what the members own.

    Balanced: nobody can take a partition from a member that has at least two more than itself.
    """
    order = ranked(members)
    return _Sticky(order, counts, valid_claims(order, counts)).plan()


def assign_cooperative(members: Iterable[GroupMember], counts: Counts) -> Plan:
    """The sticky assignment, without the partitions that another member still has to give up (KIP-429).

    Their old owner sees that they are missing, revokes them and joins again; the rebalance after this one gives them
    to their new owner.
    """
    order = ranked(members)
    claims = valid_claims(order, counts)
    plan = _Sticky(order, counts, claims).plan()
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
        for key in sorted(free, key=lambda key: (len(self.takers[key[0]]), key)):
            self.loads[self.emptiest(key[0])].add(key)
        while self.move_one():
            pass
        return {member_id: sorted(keys) for member_id, keys in self.loads.items()}

    def emptiest(self, topic: str) -> str:
        return min(self.takers[topic], key=lambda member_id: (len(self.loads[member_id]), self.rank[member_id]))

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


@dataclass(frozen=True, slots=True)
class Assignor:
    """An assignor by its protocol name.

    Attributes:
        cooperative: members keep what they have while they join (KIP-429).
    """

    name: str
    assign: Callable[[Iterable[GroupMember], Counts], Plan]
    cooperative: bool = False


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
