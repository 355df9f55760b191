"""A tiny broker whose every answer a test scripts; runs on the test's own loop. Not a model of Kafka: see `broker`."""

import asyncio
import inspect
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from kafka_core.protocol import (
    REQUESTS,
    ApiMessage,
    decode_request,
    decode_request_header,
    encode_response,
)
from kafka_core.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_core.protocol.messages.request_header import RequestHeader
from kafka_core.protocol.messages.telemetry import GetTelemetrySubscriptionsRequest, PushTelemetryRequest
from tests.faults.listener import Listener

TELEMETRY = (GetTelemetrySubscriptionsRequest.API_KEY, PushTelemetryRequest.API_KEY)


class Silence:
    """Scripted answer: none, ever."""


class HangUp:
    """Scripted answer: the connection is closed."""


Answer = ApiMessage | bytes | type[Silence] | type[HangUp]
"""A message, raw bytes to write (size included), no answer, or the end of the connection."""
Handler = Callable[[Any, RequestHeader], Answer | Awaitable[Answer]]


@dataclass
class ScriptedBroker:
    """A server on 127.0.0.1; an async context manager.

    Attributes:
        handlers: Request class → what answers it; Metadata and ApiVersions have handlers to begin with.
        versions: API key → (min, max) to announce; to begin with all that we know but those of telemetry, which real
            brokers announce only where they have a plug-in for it.
        received: Every request with its header, in order of arrival.
        peers: The cluster's brokers, in Metadata responses; this one alone to begin with.
        topics: Topic → (topic error, {partition: (leader, epoch)}), in Metadata responses.
    """

    node_id: int = 1
    tls: ssl.SSLContext | None = None
    port: int = 0
    cluster_id: str = "scripted"
    handlers: dict[type[ApiMessage], Handler] = field(default_factory=dict)
    versions: dict[int, tuple[int, int]] = field(default_factory=dict)
    received: list[tuple[RequestHeader, Any]] = field(default_factory=list)
    peers: dict[int, tuple[str, int]] = field(default_factory=dict)
    topics: dict[str, tuple[int, dict[int, tuple[int, int]]]] = field(default_factory=dict)
    accepted: int = 0

    async def __aenter__(self) -> Self:
        self.handlers = {ApiVersionsRequest: self._api_versions, MetadataRequest: self._metadata, **self.handlers}
        if not self.versions:
            self.versions = {key: cls.VALID_VERSIONS for key, cls in REQUESTS.items() if key not in TELEMETRY}
        self._writers: set[asyncio.StreamWriter] = set()
        await self.listen()
        self.peers = self.peers or {self.node_id: ("127.0.0.1", self.port)}
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """Connections open now."""
        return len(self._writers)

    def asked(self, request: type[ApiMessage]) -> list[Any]:
        """The requests of that class so far."""
        return [item for _, item in self.received if isinstance(item, request)]

    async def listen(self) -> None:
        """Accept connections (again, on the same port)."""
        self._listener = Listener(self._serve, self.port, self.tls)
        self.port = self._listener.port

    async def stop(self) -> None:
        """Stop listening and close all connections."""
        self.hang_up()
        await self._listener.close()

    def hang_up(self) -> None:
        """Close all connections."""
        for writer in list(self._writers):
            writer.transport.abort()

    def hang_up_politely(self) -> None:
        """Close all connections without a reset, as a broker does with idle ones."""
        for writer in list(self._writers):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._writers.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        finally:
            self._writers.discard(writer)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        header, _ = decode_request_header(frame)
        low, high = self.versions.get(header.request_api_key, (0, -1))
        if header.request_api_key == ApiVersionsRequest.API_KEY and not low <= header.request_api_version <= high:
            refusal = ApiVersionsResponse(error_code=35, api_keys=self._ranges())
            writer.writelines(map(bytes, encode_response(refusal, 0, header.correlation_id)))
            return True
        header, request = decode_request(frame)
        self.received.append((header, request))
        answer = self.handlers[type(request)](request, header)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is HangUp:
            return False
        if isinstance(answer, bytes):
            writer.write(answer)
        elif isinstance(answer, ApiMessage):
            version = header.request_api_version
            writer.writelines([bytes(part) for part in encode_response(answer, version, header.correlation_id)])
        await writer.drain()
        return True

    def _ranges(self) -> list[ApiVersion]:
        return [
            ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in self.versions.items()
        ]

    def _api_versions(self, request: ApiVersionsRequest, header: RequestHeader) -> Answer:
        return ApiVersionsResponse(api_keys=self._ranges())

    def _metadata(self, request: MetadataRequest, header: RequestHeader) -> Answer:
        names = self.topics if request.topics is None else [topic.name or "" for topic in request.topics]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node, host, port) for node, (host, port) in self.peers.items()],
            cluster_id=self.cluster_id,
            controller_id=min(self.peers),
            topics=[self._topic(name) for name in names],
        )

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name not in self.topics:
            return MetadataResponseTopic(error_code=3, name=name)
        error_code, partitions = self.topics[name]
        return MetadataResponseTopic(
            error_code=error_code,
            name=name,
            partitions=[
                MetadataResponsePartition(partition_index=index, leader_id=leader, leader_epoch=epoch)
                for index, (leader, epoch) in partitions.items()
            ],
        )
