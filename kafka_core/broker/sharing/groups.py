"""One share group of KIP-932: its members with their epochs, and which partitions each of them reads.

Must not know: timers, the clock, requests (see `share_coordinator.py`), records (`share_records.py`).
Spec: KIP-932; `ShareGroup` and `SimpleAssignor` of Apache Kafka 4.3.

Members share partitions, so that nobody has to give one up before another one gets it: a member has the newest target
assignment as soon as it sends a heartbeat.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

from kafka_core.broker.groups.consumer_groups import Id, Topics
from kafka_core.broker.parking import Timer

ASSIGNOR: Final = "simple"
_FIRST_EPOCH: Final = 1


class ShareGroupState(Enum):
    """States of a share group; the values are the names ShareGroupDescribe shows."""

    EMPTY = "Empty"
    STABLE = "Stable"


@dataclass(slots=True, eq=False)
class ShareMember:
    """One member.

    Attributes:
        epoch: of the target assignment that it has. `previous_epoch`: the one before; a member that missed the answer
            of a heartbeat may still name it.
    """

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    epoch: int = 0
    previous_epoch: int = 0
    assigned: frozenset[Id] = frozenset()
    session: Timer | None = None

    def reach(self, epoch: int, assigned: frozenset[Id]) -> bool:
        """Takes the target over; False if the member has it already."""
        if epoch != self.epoch:
            self.previous_epoch, self.epoch = self.epoch, epoch
        before, self.assigned = self.assigned, assigned
        return assigned != before

    def epoch_problem(self, epoch: int) -> str | None:
        """Why a heartbeat may not name this epoch, None if it may."""
        if epoch in (self.epoch, self.previous_epoch):
            return None
        is_old = epoch < self.epoch
        mismatch = f", and it does not match the previous member epoch ({self.previous_epoch})" if is_old else ""
        return (
            f"The share group member has a {'smaller' if is_old else 'greater'} member epoch ({epoch}) than the one "
            f"known by the group coordinator ({self.epoch}){mismatch}. The member must abandon all its partitions and "
            "rejoin."
        )


@dataclass(slots=True, eq=False)
class ShareGroup:
    """A share group."""

    group_id: str
    epoch: int = _FIRST_EPOCH
    target_epoch: int = 0
    members: dict[str, ShareMember] = field(default_factory=dict)
    target: dict[str, frozenset[Id]] = field(default_factory=dict)
    #: The members' topics, as they were when the assignor last ran.
    topics: dict[str, list[Id]] = field(default_factory=dict)
    #: Runs until the assignor may run again (KIP-1263); None where it may.
    rest: Timer | None = None

    @property
    def state(self) -> ShareGroupState:
        """The state of the group."""
        return ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY

    def assign(self, topics: Topics) -> bool:
        """Runs the assignor if members, subscriptions or topics have changed since it last ran; whether it did.

        While the group rests, only its epoch grows.
        """
        wanted = {name for member in self.members.values() for name in member.topics if name in topics}
        found = {name: _partitions(*topics[name]) for name in sorted(wanted)}
        if found != self.topics:
            self.topics = found
            if self.epoch == self.target_epoch:  # else it has grown already: once is enough
                self.epoch += 1
        if self.epoch == self.target_epoch or self.rest is not None:
            return False
        subscriptions = {member_id: member.topics for member_id, member in self.members.items()}
        self.target = assign_simple(subscriptions, self.topics, self.target)
        self.target_epoch = self.epoch
        return True

    def remove(self, member: ShareMember) -> None:
        """Takes a member out; the group epoch grows."""
        self.members.pop(member.member_id, None)
        self.target.pop(member.member_id, None)
        self.epoch += 1


def _partitions(topic_id: UUID, count: int) -> list[Id]:
    return [(topic_id, number) for number in range(count)]


def assign_simple(
    subscriptions: Mapping[str, Collection[str]],
    partitions: Mapping[str, Iterable[Id]],
    current: Mapping[str, Collection[Id]],
) -> dict[str, frozenset[Id]]:
    """Gives every member something to read, and every partition the same number of members.

    Topics with the same subscribers are shared out together. Members keep what they have where that is fair.
    """
    alike: dict[tuple[str, ...], list[Id]] = {}
    for topic, ids in partitions.items():
        readers = tuple(member_id for member_id, names in subscriptions.items() if topic in names)
        alike.setdefault(readers, []).extend(ids)
    found: dict[str, set[Id]] = {member_id: set() for member_id in subscriptions}
    for readers, ids in alike.items():
        if readers and ids:
            for member_id, given in _share_out(readers, ids, current).items():
                found[member_id] |= given
    return {member_id: frozenset(given) for member_id, given in found.items()}


def _share_out(readers: Iterable[str], ids: list[Id], current: Mapping[str, Collection[Id]]) -> dict[str, set[Id]]:
    given: dict[str, set[Id]] = {member_id: set() for member_id in readers}
    sharing = -(-len(given) // len(ids))
    fewest, extra = divmod(len(ids) * sharing, len(given))
    missing = dict.fromkeys(ids, sharing)
    for member_id, mine in given.items():
        for key in sorted(current.get(member_id, ())):
            has_extra = len(mine) == fewest and extra > 0
            if missing.get(key, 0) > 0 and (len(mine) < fewest or has_extra):
                extra -= has_extra
                mine.add(key)
                missing[key] -= 1
    for key, lacking in missing.items():
        others = sorted((member_id for member_id in given if key not in given[member_id]), key=lambda m: len(given[m]))
        for member_id in others[:lacking]:
            given[member_id].add(key)
    return given
