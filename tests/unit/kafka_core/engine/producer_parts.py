"""Common parts of the producer's tests: batches without a kernel, a view, answers, and a driver for the batcher."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka_core.clock import ManualClock
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.producing.batcher import Batcher, BatcherRules, Reaction, Settled, Shipment
from kafka_core.engine.producing.lane import SealedBatch
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, NetworkError
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

TOPIC = "events"


@dataclass(eq=False)
class FakeBatch:
    """A sealed batch that is only its numbers; `name` tells batches apart in assertions."""

    name: str
    partition: int = 0
    count: int = 10
    opened_at_s: float = 1000.0
    topic: str = TOPIC
    size_bytes: int = 1000
    has_callbacks: bool = False

    def encode(self, *, producer_id: int = -1, producer_epoch: int = -1, base_sequence: int = -1, **_: object) -> bytes:
        return f"{self.name}/{producer_id}/{producer_epoch}/{base_sequence}".encode()

    def reports(self, error: KafkaError | None, base_offset: int, *_: object, **__: object) -> list[Any]:
        return [(None, (self.name, error, base_offset + number)) for number in range(self.count)]

    def split(self) -> Sequence[SealedBatch]:
        first = self.count // 2
        return [
            FakeBatch(f"{self.name}{letter}", self.partition, count, self.opened_at_s, self.topic, self.size_bytes // 2)
            for letter, count in (("a", first), ("b", self.count - first))
        ]

    def __repr__(self) -> str:
        return self.name


def view(
    leaders: dict[int, int | None],
    *,
    topic: str = TOPIC,
    epoch: int = 0,
    nodes: Iterable[int] = (1, 2),
    topic_id: UUID = ZERO_UUID,
) -> ClusterView:
    """Partition → leader, every partition with this leader epoch."""
    partitions = {number: PartitionView(number, leader, epoch) for number, leader in leaders.items()}
    brokers = {node: BrokerAddress(node, f"host{node}", 9092) for node in nodes}
    return ClusterView(brokers=brokers, topics={topic: TopicView(topic, topic_id, partitions)})


@dataclass
class Driver:
    """A batcher with a clock that stands still; collects what it says.

    Its brokers have acknowledged something of this producer on every partition before (`fresh`: nothing yet).
    """

    rules: BatcherRules = field(default_factory=BatcherRules)
    clock: ManualClock = field(default_factory=ManualClock)
    leaders: dict[int, int | None] = field(default_factory=lambda: {0: 1, 1: 1, 2: 2})
    fresh: bool = False
    settled: list[Settled] = field(default_factory=list)
    last: Reaction = field(default_factory=Reaction)

    def __post_init__(self) -> None:
        self.batcher = Batcher(self.rules, Backoff(100, 1000, random.Random(1)))
        self.batcher.use_view(view(self.leaders))
        if self.rules.idempotent:
            self.batcher.ids.requested()
            self.batcher.ids.granted(ProducerIdentity(7, 0))

    def add(self, *names: str, partition: int = 0, count: int = 10) -> None:
        now_s = self.clock.monotonic()
        self.batcher.add([FakeBatch(name, partition, count, now_s) for name in names])
        for lane in self.batcher.lanes():
            identity = self.batcher.ids.identity
            if not self.fresh and identity is not None and lane.sequence is not None and lane.sequence.identity is None:
                lane.sequence.restart(identity)
                lane.sequence.known = True

    def take(self, node_id: int = 1) -> Shipment:
        shipment = self.batcher.take(node_id, self.clock.monotonic())
        assert shipment is not None, "nothing may be sent"
        return shipment

    def nothing(self, node_id: int = 1) -> bool:
        return self.batcher.take(node_id, self.clock.monotonic()) is None

    def answer(self, shipment: Shipment, code: int = 0, offset: int = 0, **fields: object) -> None:
        """One answer with this code for all of the shipment's partitions."""
        self.answer_each(shipment, [(code, offset)] * len(shipment.items), **fields)

    def answer_each(self, shipment: Shipment, codes: Sequence[tuple[int, int]], **fields: object) -> None:
        parts = [
            TopicProduceResponse(
                lane.topic,
                partition_responses=[PartitionProduceResponse(lane.partition, code, offset, **fields)],  # type: ignore[arg-type]
            )
            for (lane, _), (code, offset) in zip(shipment.items, codes, strict=True)
        ]
        self.note(self.batcher.answered(shipment, ProduceResponse(parts), self.clock.monotonic()))

    def hint(self, shipment: Shipment, leader: int, epoch: int) -> None:
        """NOT_LEADER with the new leader (KIP-951)."""
        lane, _ = shipment.items[0]
        answer = PartitionProduceResponse(lane.partition, KafkaError.NOT_LEADER_FOR_PARTITION, -1)
        answer.current_leader = LeaderIdAndEpoch(leader, epoch)
        response = ProduceResponse([TopicProduceResponse(lane.topic, partition_responses=[answer])])
        response.node_endpoints = [NodeEndpoint(leader, f"host{leader}", 9092)]
        self.note(self.batcher.answered(shipment, response, self.clock.monotonic()))

    def lose(self, shipment: Shipment) -> None:
        """The connection breaks while the shipment is in flight."""
        self.note(self.batcher.failed(shipment, NetworkError("connection lost"), self.clock.monotonic()))

    def expire(self) -> None:
        self.note(self.batcher.expire(self.clock.monotonic()))

    def back_off(self) -> None:
        """Long enough for every back-off to be over."""
        self.clock.advance(1.5)
        self.expire()

    def note(self, reaction: Reaction) -> None:
        self.last = reaction
        self.settled += reaction.settled

    def outcome(self) -> list[tuple[str, int]]:
        """(batch, error code) in the order of the verdicts."""
        return [(str(item.batch), item.error.code() if item.error else 0) for item in self.settled]


def names(shipment: Shipment) -> list[str]:
    return [str(delivery.batch) for _, delivery in shipment.items]


def numbers(shipment: Shipment) -> list[tuple[int, int]]:
    """(epoch, base sequence) of the shipment's batches."""
    return [(delivery.identity.epoch if delivery.identity else -1, delivery.sequence) for _, delivery in shipment.items]
