"""Racks of members and of replicas, and how an assignment is brought nearer to them (KIP-881).

Must not know requests, states or the way in which an assignment was made: partitions per member in, the same out with
as many as possible of them where a replica stands in the member's own rack.
Spec: KIP-881; when racks count at all, and what a member without a rack is, as in the assignors of
org.apache.kafka.clients.consumer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.metadata import ClusterView

Racks = Mapping[Key, frozenset[str]]
"""Partition → the racks in which it has a replica; what is missing has none."""
NO_RACKS: Final[Racks] = MappingProxyType({})
_NOWHERE: Final[frozenset[str]] = frozenset()


class RackMap:
    """The racks of partitions' replicas, from metadata.

    A broker that is down is missing in metadata: it keeps the rack that it had, or every restart would look as if
    replicas had moved.
    """

    def __init__(self) -> None:
        self._of_brokers: dict[int, str] = {}

    def learn(self, view: ClusterView, topics: Iterable[str]) -> Racks:
        """The racks of all partitions of these topics that are known."""
        for broker in view.brokers.values():
            if broker.rack:
                self._of_brokers[broker.node_id] = broker.rack
            else:
                self._of_brokers.pop(broker.node_id, None)
        known = self._of_brokers
        return {
            (topic, number): frozenset(known[node] for node in partition.replicas if node in known)
            for topic in topics
            if topic in view.topics
            for number, partition in view.topics[topic].partitions.items()
        }


@dataclass(frozen=True, slots=True)
class Nearness:
    """The nearness of partitions to members: a replica is in the member's rack, or the member has none.

    Attributes:
        members: member id → its rack, if it has one.
        racks: of the partitions.
    """

    members: Mapping[str, str | None]
    racks: Racks

    def near(self, member_id: str, key: Key) -> bool:
        """Whether the member reads this partition from its own rack, or does not care."""
        rack = self.members[member_id]
        return not rack or rack in self.racks.get(key, _NOWHERE)

    def among(self, member_ids: Iterable[str]) -> Nearness:
        """The same for some of the members."""
        return Nearness({member_id: self.members[member_id] for member_id in member_ids}, self.racks)

    def matters(self, keys: Iterable[Key]) -> bool:
        """Whether a member and a replica of these partitions are in one rack at all."""
        wanted = {rack for rack in self.members.values() if rack}
        return bool(wanted) and any(not wanted.isdisjoint(self.racks.get(key, _NOWHERE)) for key in keys)

    def tells_apart(self, keys: Sequence[Key]) -> bool:
        """Whether it matters and the partitions are not all alike."""
        return len({self.racks.get(key, _NOWHERE) for key in keys}) > 1 and self.matters(keys)


Kind = tuple[str, tuple[str, ...]]
"""A topic and the racks, sorted, of partitions that are alike."""
_Pile = tuple[bool, Kind]
"""A set of a member's partitions: whether the member had them before, and their kind."""


@dataclass(slots=True)
class Exchange:
    """Has members exchange partitions until none can be brought nearer, with no member the worse for it.

    One exchange is a ring or a chain: a member gives a partition that is far from it to one to which it is near, which
    passes one of its own on, and so forth. The sizes of the shares stay, or two members swap them. It is the search for
    an augmenting path of bipartite matching, so where all may have every topic the most partitions possible are near.

    Attributes:
        loads: member id → its partitions; changed in place.
        takers: topic → the members that may have its partitions, in order.
        claims: partition → who had it before; such a partition moves only if that brings another one nearer.
    """

    loads: dict[str, set[Key]]
    takers: Mapping[str, Sequence[str]]
    claims: Mapping[Key, str]
    nearness: Nearness
    _near: dict[tuple[str, str | None], list[str]] = field(default_factory=dict)
    _piles: dict[str, dict[_Pile, set[Key]]] = field(default_factory=dict)

    def run(self) -> None:
        """Exchanges all that helps; first only partitions that are new to their members, then any."""
        self._near.clear()
        for topic, members in self.takers.items():
            for member_id in members:
                self._near.setdefault((topic, self.nearness.members[member_id] or None), []).append(member_id)
        self._piles = {member_id: {} for member_id in self.loads}
        for member_id, keys in self.loads.items():
            for key in sorted(keys):
                self._pile(member_id, key).add(key)
        for any_may_move in (False, True):
            while self._pass(any_may_move=any_may_move):
                pass

    def _pile(self, member_id: str, key: Key) -> set[Key]:
        kind = (key[0], tuple(sorted(self.nearness.racks.get(key, _NOWHERE))))
        return self._piles[member_id].setdefault((self.claims.get(key) == member_id, kind), set())

    def _movable(self, member_id: str, *, any_may_move: bool) -> list[_Pile]:
        return [pile for pile, keys in self._piles[member_id].items() if keys and (any_may_move or not pile[0])]

    def _is_near(self, member_id: str, kind: Kind) -> bool:
        rack = self.nearness.members[member_id]
        return not rack or rack in kind[1]

    def _pass(self, *, any_may_move: bool) -> bool:
        """Tries all partitions that are far from their members; whether there was something to exchange."""
        changed = False
        for member_id in self.loads:
            for pile in self._movable(member_id, any_may_move=any_may_move):
                if not self._is_near(member_id, pile[1]):
                    while self._piles[member_id][pile] and self._bring_near(pile, member_id, any_may_move=any_may_move):
                        changed = True
        return changed

    def _bring_near(self, pile: _Pile, holder: str, *, any_may_move: bool) -> bool:
        """Looks for the shortest exchange that takes a partition of the pile from its holder; carries it out."""
        came: dict[str, tuple[str, _Pile | None]] = {}
        """The member with one too many → the member that gives it, and from which pile (None: they swap sizes)."""
        groups: set[tuple[str, str | None]] = set()
        sizes: set[int] = set()
        queue: deque[str] = deque()

        def reach(giver: str, given: _Pile | None, takers: Iterable[str]) -> None:
            for member_id in takers:
                if member_id != holder and member_id not in came:
                    came[member_id] = (giver, given)
                    queue.append(member_id)

        reach(holder, pile, self._near_members(pile[1], groups))
        while queue:
            member_id = queue.popleft()
            size = len(self.loads[member_id])
            if size < len(self.loads[holder]):
                self._carry_out(came, member_id, holder)
                return True
            movable = self._movable(member_id, any_may_move=any_may_move)
            back = self._to_give_back(member_id, holder, movable)
            if back is not None:
                returned = min(self._piles[member_id][back])
                self._carry_out(came, member_id, holder)
                self._move(returned, member_id, holder)
                return True
            for given in movable:
                reach(member_id, given, self._near_members(given[1], groups))
            if size not in sizes:
                sizes.add(size)
                reach(member_id, None, [other for other, keys in self.loads.items() if len(keys) == size + 1])
        return False

    def _near_members(self, kind: Kind, groups: set[tuple[str, str | None]]) -> Iterator[str]:
        """Members to which such a partition is near, but of each group of equals only once in a search."""
        for rack in (*kind[1], None):
            group = (kind[0], rack)
            if group in self._near and group not in groups:
                groups.add(group)
                yield from self._near[group]

    def _to_give_back(self, member_id: str, holder: str, movable: Iterable[_Pile]) -> _Pile | None:
        """The pile that closes the ring: far from its holder now, or near to the one that gets it."""
        return min(
            (
                pile
                for pile in movable
                if holder in self.takers[pile[1][0]]
                and (self._is_near(holder, pile[1]) or not self._is_near(member_id, pile[1]))
            ),
            key=lambda pile: (pile[0], self._is_near(member_id, pile[1]), pile[1]),
            default=None,
        )

    def _carry_out(self, came: Mapping[str, tuple[str, _Pile | None]], last: str, holder: str) -> None:
        """Moves partitions along the way on which the last one was reached, from its end."""
        member_id = last
        while member_id != holder:
            giver, pile = came[member_id]
            if pile is not None:
                self._move(min(self._piles[giver][pile]), giver, member_id)
            member_id = giver

    def _move(self, key: Key, giver: str, taker: str) -> None:
        self.loads[giver].remove(key)
        self._pile(giver, key).remove(key)
        self.loads[taker].add(key)
        self._pile(taker, key).add(key)
