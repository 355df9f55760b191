"""A cluster client without a network, for the consumer's parts: each kind of request is answered as the test says."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.telemetry.meters import Meters
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.protocol import REQUESTS
from kafka_core.protocol.versions import BrokerVersions, negotiate
from tests.unit.kafka_core.fake_connection import FakeConnection

Answer = Any
"""A response; an exception to raise; None: never."""


class FakeBrokers:
    """Stands for ClusterClient.

    Attributes:
        leaders: (topic, partition) → leader; what metadata says. A topic in `errors` has that code instead.
        handlers: request class → what answers it, given (node id, request).
        log: (node id, request) of everything that was asked, in order; `sent_versions`, `purposes` beside it.
        coordinators: what the look-ups of the coordinator give, one after the other; the last one stays.
    """

    def __init__(self, leaders: dict[tuple[str, int], int] | None = None) -> None:
        self.leaders = dict(leaders or {("t", 0): 1, ("t", 1): 2})
        self.epochs: dict[tuple[str, int], int] = {}
        self.errors: dict[str, int] = {}
        self.handlers: dict[type[Any], Callable[[int, Any], Answer]] = {}
        self.log: list[tuple[int, Any]] = []
        self.sent_versions: list[int | None] = []
        self.purposes: list[object] = []
        self.coordinators: list[int | Exception] = [9]
        self.versions = BrokerVersions({key: cls.VALID_VERSIONS for key, cls in REQUESTS.items()})
        self.metadata = ClusterView()
        self.last_error: KafkaException | None = None
        self.forgotten: list[str] = []
        self.invalidated: list[str | None] = []
        self.refreshed: list[list[str] | None] = []
        self.hinted: list[Any] = []
        self.tracked: set[str] = set()
        self.closed = False
        self.unreachable: dict[int, asyncio.Event] = {}
        self.backs_off_s: dict[int, float] = {}
        self.opened: dict[tuple[int, object], FakeConnection] = {}
        self.metadata_listeners: list[Callable[[ClusterView], None]] = []
        self.error_listeners: list[Callable[[KafkaError], None]] = []
        self.meters = Meters("consumer.", 0.0, 0)

    def asked(self, request: type[Any]) -> list[Any]:
        """The requests of that class so far."""
        return [item for _, item in self.log if isinstance(item, request)]

    def answer(self, node_id: int, request: Any) -> Answer:
        return self.handlers[type(request)](node_id, request)

    def in_turn(self, request: type[Any], *answers: Answer) -> None:
        """These answers, one after the other; the last one again and again."""
        left = list(answers)
        self.handlers[request] = lambda *_: left.pop(0) if len(left) > 1 else left[0]

    # ---- ClusterClient

    async def start(self) -> None:
        return

    async def close(self, timeout_s: float = 5.0) -> None:
        self.closed = True

    def connected_to(self) -> frozenset[int]:
        return frozenset(node_id for node_id, _ in self.opened)

    def unanswered(self) -> dict[int, tuple[int, int]]:
        return {}

    def on_metadata(self, listener: Callable[[ClusterView], None]) -> None:
        self.metadata_listeners.append(listener)

    def on_error(self, listener: Callable[[KafkaError], None]) -> None:
        self.error_listeners.append(listener)

    def track_topics(self, topics: Iterable[str]) -> None:
        self.tracked = set(topics)

    def connects_in_s(self, node_id: int, purpose: object = None) -> float | None:
        return 0.0 if self.unreachable.get(node_id) else self.backs_off_s.get(node_id)

    async def connection(self, node_id: int, purpose: object = None) -> FakeConnection:
        await asyncio.sleep(0)
        if gate := self.unreachable.get(node_id):
            await gate.wait()

        async def send(request: Any, *, timeout_s: float | None = None, version: int | None = None) -> Any:
            self.log.append((node_id, request))
            self.sent_versions.append(version)
            self.purposes.append(purpose)
            answer = self.answer(node_id, request)
            await asyncio.sleep(0)
            if answer is None:
                await asyncio.Event().wait()
            if isinstance(answer, Exception):
                raise answer
            return answer

        versions = self.versions
        connection = FakeConnection(node_id, lambda request: negotiate(request, versions), send, versions)
        self.opened[node_id, purpose] = connection

        def ask(request: Any, on_answer: Callable[[Any, Any], object], **options: Any) -> None:
            self.log.append((node_id, request))
            self.sent_versions.append(options.get("version"))
            self.purposes.append(purpose)
            answer = self.answer(node_id, request)
            error = answer if isinstance(answer, Exception) else None
            if answer is not None:
                asyncio.get_running_loop().call_soon(on_answer, None if error else answer, error)

        connection.ask = ask  # type: ignore[method-assign]
        return connection

    def writable(self, node_id: int, purpose: object = None) -> FakeConnection | None:
        return None if self.unreachable.get(node_id) else self.opened.get((node_id, purpose))

    async def coordinator(self, kind: object, key: str, *, timeout_s: float | None = None) -> int:
        await asyncio.sleep(0)
        found = self.coordinators.pop(0) if len(self.coordinators) > 1 else self.coordinators[0]
        if isinstance(found, Exception):
            raise found
        return found

    def forget_coordinator(self, kind: object, key: str) -> None:
        self.forgotten.append(key)

    def invalidate(self, topic: str | None = None) -> None:
        self.invalidated.append(topic)

    def hint_leaders(self, leaders: Any, brokers: Any = ()) -> None:
        self.hinted.append((list(leaders), list(brokers)))

    async def refresh_metadata(
        self, topics: Iterable[str] | None = None, *, timeout_s: float | None = None
    ) -> ClusterView:
        wanted = None if topics is None else sorted(topics)
        self.refreshed.append(wanted)
        await asyncio.sleep(0)
        if self.last_error is not None:
            raise self.last_error
        self.learn()
        return self.metadata

    def learn(self) -> None:
        """Metadata is what `leaders` and `errors` say."""
        topics = {name: TopicView(name, error_code=code) for name, code in self.errors.items()}
        for name in {topic for topic, _ in self.leaders} - set(self.errors):
            partitions = {
                number: PartitionView(number, leader, self.epochs.get((topic, number), 0))
                for (topic, number), leader in self.leaders.items()
                if topic == name
            }
            topics[name] = TopicView(name, partitions=partitions)
        brokers = {node: BrokerAddress(node, f"host{node}", 9092) for node in (1, 2, 9)}
        self.metadata = replace(self.metadata, brokers=brokers, topics=topics)
        for listener in self.metadata_listeners:
            listener(self.metadata)
