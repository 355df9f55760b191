"""A stand-in for aio.client.ClusterClient: requests are answered by functions, after a trip through the codec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafka_core.aio.cluster.client import CoordinatorKind
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.engine.telemetry.meters import Meters
from kafka_core.errors import KafkaError, KafkaException, UnsupportedVersionError
from kafka_core.protocol import ApiMessage, ApiRequest, decode, encode_bytes
from tests.unit.kafka_core.fake_connection import FakeConnection

Handler = Callable[[Any, int | None], ApiMessage]
ANY, CONTROLLER = None, 0

BROKERS = {index: BrokerAddress(index, f"host{index}", 9000 + index, "rack" if index else None) for index in range(3)}
VIEW = ClusterView(brokers=BROKERS, controller_id=0, cluster_id="cluster")


def travel(message: ApiMessage, version: int) -> Any:
    """The message as the other side sees it: refuses what can't be said in that version."""
    return decode(type(message), version, encode_bytes(message, version))


class FakeCluster:
    """`handlers` answer by request class; `log` holds (request name, broker asked); `views` are given out in turn."""

    def __init__(self, handlers: dict[type, Handler] | None = None, view: ClusterView = VIEW) -> None:
        self.handlers = handlers or {}
        self.metadata = view
        self.versions: dict[type, int] = {}
        self.log: list[tuple[str, int | None]] = []
        self.refreshed: list[list[str] | None] = []
        self.forgotten: list[str] = []
        self.coordinators: dict[str, int | KafkaException] = {}
        self.started = self.closed = 0
        self.last_error: KafkaException | None = None
        self.meters = Meters("client.", 0.0, 0)
        self.error_listeners: list[Callable[[KafkaError], None]] = []

    needs_token = awaits_token = False

    async def connect_early(self) -> None:
        """There is nothing to connect to."""

    async def start(self) -> None:
        self.started += 1

    async def close(self, timeout_s: float = 5.0) -> None:
        self.closed += 1

    def connected(self, node_id: int) -> FakeConnection:
        def version_of(request: type[ApiRequest[Any]]) -> int:
            if request not in self.handlers:
                raise UnsupportedVersionError(f"this broker has no {request.__name__}")
            return self.versions.get(request, request.VALID_VERSIONS[1])

        async def send(request: ApiRequest[Any], *, timeout_s: float | None = None, version: int | None = None) -> Any:
            return await self.answer(request, node_id, version)

        return FakeConnection(node_id, version_of, send)

    async def answer(self, request: ApiRequest[Any], node_id: int | None, version: int | None = None) -> Any:
        kind = type(request)
        self.log.append((kind.__name__, node_id))
        chosen = version if version is not None else self.versions.get(kind, kind.VALID_VERSIONS[1])
        return travel(self.handlers[kind](travel(request, chosen), node_id), chosen)

    async def send(self, node_id: int, request: ApiRequest[Any], *, timeout_s: float | None = None) -> Any:
        assert timeout_s is not None
        assert timeout_s > 0
        return await self.answer(request, node_id)

    async def send_any(self, request: ApiRequest[Any], *, timeout_s: float | None = None) -> Any:
        return await self.answer(request, ANY)

    async def send_controller(self, request: ApiRequest[Any], *, timeout_s: float | None = None) -> Any:
        return await self.answer(request, CONTROLLER)

    async def connection(self, node_id: int) -> FakeConnection:
        return self.connected(node_id)

    async def any_connection(self) -> FakeConnection:
        return self.connected(2)

    async def refresh_metadata(
        self,
        topics: Iterable[str] | None = None,
        *,
        timeout_s: float | None = None,
        allow_auto_create: bool | None = None,
    ) -> ClusterView:
        self.refreshed.append(None if topics is None else sorted(topics))
        assert allow_auto_create is not True
        return self.metadata

    async def coordinator(self, kind: CoordinatorKind, key: str, *, timeout_s: float | None = None) -> int:
        assert kind is CoordinatorKind.GROUP
        found = self.coordinators.get(key, 1)
        if isinstance(found, KafkaException):
            raise found
        return found

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        self.forgotten.append(key)

    def on_error(self, listener: Callable[[KafkaError], None]) -> None:
        self.error_listeners.append(listener)
