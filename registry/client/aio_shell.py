"""The shell of the asyncio client: how it is made, how a flow is driven and a request sent.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`).
`tools/generate_twins.py` writes the shell that waits from the one that awaits.
"""

from __future__ import annotations

import contextlib
import random
import time
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from kserdes_base import deadlines
from kserdes_base.forks import share_no_fork
from registry.client.aio_operations import AsyncOperations
from registry.client.auth import credentials
from registry.client.cache import SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery
from registry.client.exchange import (
    Body,
    OnlyAnswer,
    closed,
    log,
    mock_transport,
    tls_context,
    unreachable,
    unusable_proxy,
)
from registry.client.networks import other_network
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError

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
        self._transport = transport or mock_transport(config)
        self._auth = auth
        self._urls = config.urls
        self._timeout_s = config.timeout_s
        self._tls = httpx.create_ssl_context(verify=tls_context(config)) if self._transport is None else True
        self._open()
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
        self._connect()

    def _connect(self) -> None:
        """A client of httpx with no connections yet."""
        config = self._config
        try:
            self._http = httpx.AsyncClient(
                transport=self._transport,
                auth=self._auth,
                verify=self._tls,
                timeout=config.timeout_s,
                proxy=config.proxy,
                follow_redirects=False,
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise unusable_proxy(config, error) from None  # its text may quote a password
        if self._transport is None and not deadlines.bound(self._http):
            deadlines.tell_of_changes(log, "an answer that comes slowly is not bounded as a whole")

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

    async def _exchange(self, request: httpx.Request, auth: Any) -> httpx.Response:
        """The answer to a request, its body not read yet.

        Raises:
            httpx.RequestError: there is none.
        """
        network = None if self._transport is not None else other_network()
        if network is not None:
            return await network.ask_async(request)
        answer: httpx.Response = await self._http.send(request, stream=True, auth=auth)
        return answer

    async def _send(self, step: Send) -> Reply | Unreachable:
        if self._http.is_closed:
            raise closed()
        deadline_s = time.monotonic() + self._timeout_s
        try:
            request = self._http.build_request(
                step.method, step.url, params=step.query, headers=step.headers, content=step.content
            )
            auth = httpx.USE_CLIENT_DEFAULT if step.to_registry else None
            with deadlines.until(deadline_s):
                answer = await self._exchange(request, auth)
                async with contextlib.aclosing(answer):
                    answer.stream = OnlyAnswer(answer)
                    body = Body(self._timeout_s, deadline_s)
                    async for chunk in answer.aiter_bytes():
                        body.add(chunk, time.monotonic())
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return unreachable(error)
        return Reply(answer.status_code, bytes(body.data), answer.headers)
