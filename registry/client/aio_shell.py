"""The shell of the asyncio client: how it is made, how a flow is driven and a request sent.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`).
`tools/generate_twins.py` writes the shell that waits from the one that awaits.
"""

from __future__ import annotations

import contextlib
import random
import ssl
import threading
import time
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kserdes_base.forks import share_no_fork
from registry.client.aio_operations import AsyncOperations
from registry.client.auth import credentials
from registry.client.base import closed
from registry.client.cache import SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery
from registry.client.mocks import mock_registry
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.client.tls import needs_httpx, tls_context
from registry.errors import SchemaRegistryError

if TYPE_CHECKING:
    import httpx

    from registry.client.aio_connections import AsyncConnections

T = TypeVar("T")


class AsyncShell(AsyncOperations):
    """All of a client except how it waits, how callers share look-ups, and how it closes."""

    @abstractmethod
    def _cache_lock(self) -> AbstractContextManager[Any]:
        """Guards the caches against other threads."""

    @abstractmethod
    async def _sleep(self, seconds: float) -> None:
        """Waits before the next try."""

    @abstractmethod
    async def _settled(self, result: Any) -> Any:
        """The result of a user's function, awaited if it is awaitable."""

    @abstractmethod
    async def _share(self, step: Share) -> Any:
        """The result of a look-up that callers share."""

    @abstractmethod
    def _after_fork(self) -> None:
        """Starts anew in a child process."""

    @abstractmethod
    async def aclose(self) -> None:
        """Closes all connections. Calls after it raise."""

    def __init__(
        self,
        conf: Mapping[str, object],
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        auth: httpx.Auth | None = None,
    ) -> None:
        config = ClientConfig.parse(conf)
        self._config = config
        self._conf = dict(conf)
        self._transport = transport
        self._mock = None if transport is not None else mock_registry(config)
        self._has_network = transport is None and self._mock is None
        self._auth = auth
        self._urls = config.urls
        self._tls: ssl.SSLContext | bool = tls_context(config) if self._has_network else True
        self._open()
        if auth is not None or needs_httpx(config, network=self._has_network):
            self._connected()
        share_no_fork(self)

    def _open(self) -> None:
        """Connections, caches and look-ups under way: all that belongs to one process."""
        config, rng = self._config, random.Random()
        self._caches = SchemaCaches(
            config.cache_capacity,
            config.latest_ttl_s,
            self._cache_lock(),
            time.monotonic,
            config.missing_capacity,
            config.missing_ttl_s,
        )
        self._delivery = Delivery(config, credentials(config, time.monotonic, rng), time.monotonic, rng, time.time)
        self._connecting = threading.Lock()
        self._connections: AsyncConnections | None = None
        self._ended = False

    def _connected(self) -> AsyncConnections:
        """The connections, made by the first of the threads that need them.

        Raises:
            PropertyError: httpx does not take the proxy of the environment.
            TransportError: the client is closed.
        """
        connections = self._connections
        if connections is not None:
            return connections
        from registry.client.aio_connections import AsyncConnections  # with httpx, which is slow to import

        with self._connecting:
            if self._ended:
                raise closed()
            if self._connections is None:
                transport = self._transport if self._mock is None else self._mock.transport()
                self._connections = AsyncConnections(self._config, transport, self._auth, self._tls)
                self._tls = self._connections.tls
            return self._connections

    @property
    def _http(self) -> httpx.AsyncClient:
        """The client of httpx."""
        return self._connected().http

    def _verification(self) -> ssl.SSLContext | bool:
        """What servers are verified by: the TLS context, True where there is no network."""
        if self._has_network and self._tls is True:
            import httpx  # few ask before the first request

            self._tls = httpx.create_ssl_context()
        return self._tls

    def _is_closed(self) -> bool:
        return self._ended or (self._connections is not None and self._connections.http.is_closed)

    async def _disconnect(self) -> None:
        """Closes all connections; there will be no others."""
        with self._connecting:
            self._ended, connections = True, self._connections
        if connections is not None:
            await connections.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end, in the caller."""
        steps: Steps[T] = self._delivery.run(flow)
        outcome: Any = None
        error: Exception | None = None
        with contextlib.closing(steps):
            while True:
                try:
                    step = steps.send(outcome) if error is None else steps.throw(error)
                except StopIteration as stop:
                    result: T = stop.value
                    return result
                outcome, error = None, None
                try:
                    outcome = await self._perform(step)
                except SchemaRegistryError as raised:
                    error = raised
                except Exception as raised:
                    if not isinstance(step, Invoke):
                        raise
                    error = raised

    async def _perform(self, step: Send | Wait | Share | Invoke) -> Any:
        if isinstance(step, Send):
            return await self._send(step)
        if isinstance(step, Wait):
            return await self._sleep(step.seconds)
        if isinstance(step, Invoke):
            return await self._settled(step.function())
        return await self._share(step)

    async def _send(self, step: Send) -> Reply | Unreachable:
        if self._is_closed():
            raise closed()
        return await self._connected().exchange(step)
