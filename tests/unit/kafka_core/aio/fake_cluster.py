"""A cluster client without a network, for the producer's tests: it keeps what is produced and answers as told."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView, with_leaders
from kafka_core.engine.telemetry.meters import Meters
from kafka_core.errors import KafkaError, KafkaException, NetworkError
from kafka_core.kernels import scan_batches
from kafka_core.protocol import ZERO_UUID, ApiRequest, decode
from kafka_core.protocol.frames import EncodedRequest
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_core.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.unit.kafka_core.fake_connection import FakeConnection

UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PART
Answer = int | Exception
"""An error code for every partition of a request (0: append), or what the request fails with."""


def as_message(request: ApiRequest[ProduceResponse], version: int) -> ProduceRequest:
    """The broker's form of a request whose body may have been encoded before."""
    if isinstance(request, ProduceRequest):
        return request
    assert isinstance(request, EncodedRequest)
    return decode(ProduceRequest, version, b"".join(request.body))


@dataclass(frozen=True)
class Written:
    """One batch as the broker saw it."""

    topic: str
    partition: int
    node_id: int
    producer_id: int
    epoch: int
    sequence: int
    count: int
    attributes: int


@dataclass
class FakeCluster:
    """Stands for ClusterClient.

    Attributes:
        topics: Topic → partitions, or an error code; missing ones do not exist.
        answers: For the next produce requests; when there are none left, they succeed.
        hold: Requests wait for `release`.
        identities: For the next InitProducerId requests; when there are none left, id 7 is granted.
        unreachable: Nodes to which no connection can be had.
    """

    topics: dict[str, int | KafkaError] = field(default_factory=lambda: {"events": 2})
    leaders: dict[int, int] = field(default_factory=dict)
    topic_id: UUID = ZERO_UUID
    produce_version: int = 12
    answers: "deque[Answer]" = field(default_factory=deque)
    hold: bool = False
    throttle_time_ms: int = 0
    identities: "deque[Answer]" = field(default_factory=deque)
    unreachable: set[int] = field(default_factory=set)
    metadata: ClusterView = field(default_factory=ClusterView)
    last_error: KafkaException | None = None
    requests: list[tuple[int, ProduceRequest, int]] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    held: "deque[tuple[int, ProduceRequest, asyncio.Future[ProduceResponse]]]" = field(default_factory=deque)
    invalidated: list[str | None] = field(default_factory=list)
    refreshed: list[list[str] | None] = field(default_factory=list)
    tracked: list[str] = field(default_factory=list)
    connects: int = 0
    closed: bool = False
    meters: Meters = field(default_factory=lambda: Meters("producer.", 0.0, 0))

    def __post_init__(self) -> None:
        self.connections = {node_id: self.connected(node_id) for node_id in (1, 2)}
        self._on_metadata: list[Callable[[ClusterView], None]] = []
        self.on_error_listeners: list[Callable[[KafkaError], None]] = []
        self.ends: dict[tuple[str, int], int] = {}

    # ---- ClusterClient

    needs_token = awaits_token = False

    async def connect_early(self) -> None:
        """There is nothing to connect to."""

    def connected_to(self) -> frozenset[int]:
        return frozenset(self.metadata.brokers) - self.unreachable

    def unanswered(self) -> dict[int, tuple[int, int]]:
        return {}

    async def start(self) -> None:
        pass

    async def close(self, timeout_s: float = 5.0) -> None:
        self.closed = True
        while self.held:
            self.held.popleft()[2].set_exception(NetworkError("closed", KafkaError._DESTROY))

    def on_metadata(self, listener: Callable[[ClusterView], None]) -> None:
        self._on_metadata.append(listener)

    def on_error(self, listener: Callable[[KafkaError], None]) -> None:
        self.on_error_listeners.append(listener)

    def track_topics(self, topics: Iterable[str]) -> None:
        self.tracked = list(topics)

    def invalidate(self, topic: str | None = None) -> None:
        self.invalidated.append(topic)

    def hint_leaders(self, leaders: Sequence[tuple[str, int, int, int]], brokers: Sequence[BrokerAddress] = ()) -> None:
        self.publish(with_leaders(self.metadata, leaders, brokers))

    async def refresh_metadata(
        self, topics: Iterable[str] | None = None, *, timeout_s: float | None = None
    ) -> ClusterView:
        await asyncio.sleep(0)
        wanted = list(self.topics) if topics is None else list(topics)
        self.refreshed.append(None if topics is None else wanted)
        if self.last_error is not None:
            raise self.last_error
        self.publish(self.view(wanted))
        return self.metadata

    def connected(self, node_id: int) -> FakeConnection:
        def send(sent: ApiRequest[ProduceResponse], *, version: int) -> "asyncio.Future[ProduceResponse]":
            request = as_message(sent, version)
            future: asyncio.Future[ProduceResponse] = asyncio.get_running_loop().create_future()
            self.requests.append((node_id, request, version))
            self.held.append((node_id, request, future))
            if not self.hold:
                asyncio.get_running_loop().call_soon(self.release)
            return future

        return FakeConnection(node_id, lambda request: self.produce_version, send)

    async def connection(self, node_id: int) -> FakeConnection:
        self.connects += 1
        await asyncio.sleep(0)
        if node_id in self.unreachable:
            raise NetworkError(f"broker {node_id} refuses")
        return self.connections[node_id]

    async def send_any(self, request: InitProducerIdRequest) -> InitProducerIdResponse:
        await asyncio.sleep(0)
        answer = self.identities.popleft() if self.identities else 0
        if isinstance(answer, Exception):
            raise answer
        return InitProducerIdResponse(error_code=answer, producer_id=7, producer_epoch=0)

    # ---- what tests do

    def view(self, wanted: Iterable[str]) -> ClusterView:
        """The cluster's present answer about these topics."""
        topics = dict(self.metadata.topics)
        for name in wanted:
            known = self.topics.get(name, KafkaError(UNKNOWN))
            if isinstance(known, KafkaError):
                topics[name] = TopicView(name, error_code=known.code())
            else:
                partitions = {number: PartitionView(number, self.leaders.get(number, 1), 0) for number in range(known)}
                topics[name] = TopicView(name, self.topic_id, partitions)
        brokers = {node_id: BrokerAddress(node_id, f"host{node_id}", 9092) for node_id in self.connections}
        return replace(self.metadata, brokers=brokers, topics=topics, cluster_id="fake")

    def publish(self, view: ClusterView) -> None:
        self.metadata = view
        for listener in self._on_metadata:
            listener(view)

    def release(self) -> None:
        """Answer the oldest request that waits."""
        if not self.held:
            return
        node_id, request, future = self.held.popleft()
        answer = self.answers.popleft() if self.answers else 0
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(self.respond(node_id, request, answer))

    def respond(self, node_id: int, request: ProduceRequest, code: int) -> ProduceResponse:
        topics = []
        for topic in request.topic_data:
            name = topic.name or "events"
            parts = []
            for item in topic.partition_data:
                led = self.leaders.get(item.index, 1) == node_id
                error = code or (0 if led else KafkaError.NOT_LEADER_FOR_PARTITION)
                base = self.append(name, item.index, node_id, item.records, error)
                parts.append(PartitionProduceResponse(item.index, error, base))
            topics.append(TopicProduceResponse(topic.name, topic.topic_id, parts))
        return ProduceResponse(topics if request.acks else [], self.throttle_time_ms)

    def append(self, topic: str, partition: int, node_id: int, records: Any, code: int) -> int:
        """The base offset; -1 when it is refused."""
        if code:
            return -1
        [header] = scan_batches(records)
        self.written.append(
            Written(
                topic,
                partition,
                node_id,
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                header.count,
                header.attributes,
            )
        )
        base = self.ends.get((topic, partition), 0)
        self.ends[topic, partition] = base + header.count
        return base
