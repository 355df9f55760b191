"""Topics and partitions of the cluster: who leads, who follows, which epoch, and who waits for new records.

Must not know: requests, sockets. Every replica is the same in-memory log: an election loses records only where it is
told to (`cutting.py`).
Spec: KIP-320 (leader epochs), KIP-516 (topic ids).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kafka_core.broker.configs import TopicConfig
from kafka_core.broker.partitions.log import PartitionLog
from kafka_core.broker.partitions.producers import ProducerStates

NO_LEADER = -1
_LEGAL_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def topic_name_problem(name: str) -> str | None:
    """Why `name` can't be a topic's name, None if it can. The sentences are those of the real broker."""
    if not name:
        return "Topic name is invalid: the empty string is not allowed"
    if name in (".", ".."):
        return f"Topic name is invalid: '{name}' is not allowed"
    if len(name) > 249:
        return f"Topic name is invalid: the length of '{name}' is longer than the max allowed length 249"
    if not _LEGAL_NAME.fullmatch(name):
        return (
            f"Topic name is invalid: '{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None


@dataclass(slots=True, eq=False)
class Partition:
    """One partition of a topic."""

    topic: Topic
    index: int
    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int = 0
    log: PartitionLog = field(default_factory=PartitionLog)
    producers: ProducerStates = field(default_factory=ProducerStates)
    #: Called when records arrive or the leader moves, first come first; parked fetches sit here.
    watchers: dict[Callable[[], None], None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.log.epochs.begin(self.leader_epoch, self.log.end_offset)

    def changed(self) -> None:
        """Tell everyone who waits for this partition."""
        for watcher in list(self.watchers):
            watcher()

    def lead(self, node_id: int) -> None:
        """Make `node_id` (or nobody: NO_LEADER) the leader; a new epoch begins."""
        self.leader = node_id
        self.leader_epoch += 1
        if node_id != NO_LEADER:
            self.log.epochs.begin(self.leader_epoch, self.log.end_offset)
        self.changed()

    def node_down(self, node_id: int) -> None:
        """A broker stopped: it leaves the in-sync set (its last member stays in it), another one leads."""
        if node_id in self.isr and len(self.isr) > 1:
            self.isr.remove(node_id)
        if self.leader == node_id:
            others = [replica for replica in self.replicas if replica in self.isr and replica != node_id]
            self.lead(others[0] if others else NO_LEADER)

    def node_up(self, node_id: int) -> None:
        """A broker is back: it is in sync at once, and leads if nobody did."""
        if node_id not in self.replicas:
            return
        if self.leader == NO_LEADER:
            if node_id not in self.isr:
                return
            self.lead(node_id)
        if node_id not in self.isr:
            self.isr.append(node_id)


@dataclass(slots=True, eq=False)
class Topic:
    """A named set of partitions."""

    name: str
    topic_id: UUID
    config: TopicConfig
    partitions: list[Partition] = field(default_factory=list)

    @property
    def is_internal(self) -> bool:
        """Whether brokers keep their own data in it."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition `index`, None when there is none."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def add_partitions(self, assignments: Sequence[Sequence[int]], alive: Collection[int]) -> None:
        """Append one partition per list of replicas; the first living replica leads."""
        for replicas in assignments:
            living = [node_id for node_id in replicas if node_id in alive]
            leader = living[0] if living else NO_LEADER
            isr = living or list(replicas[:1])
            self.partitions.append(Partition(self, len(self.partitions), list(replicas), isr, leader))


def spread_replicas(nodes: Sequence[int], first: int, count: int, replication_factor: int) -> list[list[int]]:
    """Replicas for partitions `first` … `first + count - 1`, leaders in turn over `nodes`."""
    size = len(nodes)
    return [
        [nodes[(index + step) % size] for step in range(replication_factor)] for index in range(first, first + count)
    ]
