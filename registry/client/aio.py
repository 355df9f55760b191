"""The asyncio registry client: the same thin shell as `registry.client.blocking`, over httpx's asynchronous client.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). A test
compares both shells' signatures and docstrings.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import random
import time
from collections.abc import Hashable, Mapping
from types import TracebackType
from typing import Any, TypeVar

import httpx

from registry.client.aio_operations import AsyncOperations
from registry.client.auth import credentials
from registry.client.cache import SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery
from registry.client.exchange import Body, closed, mock_transport, tls_context, unreachable
from registry.client.forks import share_no_fork
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import SchemaRegistryError

__all__ = ["AsyncSchemaRegistryClient"]

T = TypeVar("T")


class AsyncSchemaRegistryClient(AsyncOperations):
    """A client of Confluent's Schema Registry and of registries with its API, for tasks of one event loop.

    Args:
        conf: properties of confluent_kafka's client: `url` (several separated by commas: if one does not answer the
            next is tried), `basic.auth.user.info`, `ssl.*`, `timeout` (seconds), `max.retries`, … `mock://name` is a
            registry inside this process, the same one for every client of that name.
        transport: how httpx reaches the registry, instead of what the properties say.
        auth: how httpx signs requests, beside the credentials of the properties.

    Raises:
        ValueError: unknown or contradicting properties, unusable files.
        TypeError: a property of the wrong type.

    Every operation raises `ResponseError` (`IncompatibleSchemaError`, `InvalidSchemaError`) for what the registry
    refuses and `TransportError` if no registry answers; both are `SchemaRegistryError`s.
    """

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
            contextlib.nullcontext(),
            time.monotonic,
            config.missing_capacity,
            config.missing_ttl_s,
        )
        self._delivery = Delivery(config, credentials(config, time.monotonic, rng), time.monotonic, rng, time.time)
        self._flights: dict[Hashable, asyncio.Task[Any]] = {}
        self._http = httpx.AsyncClient(
            transport=self._transport,
            auth=self._auth,
            verify=self._tls,
            timeout=config.timeout_s,
            proxy=config.proxy,
            follow_redirects=False,
        )

    def _after_fork(self) -> None:
        """Starts anew in a child, as the blocking client does."""
        listeners = self._caches.listeners_after_fork()
        self._open()
        for listener in listeners:
            self._caches.tell(listener)

    async def __aenter__(self) -> AsyncSchemaRegistryClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> AsyncSchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return AsyncSchemaRegistryClient(conf)

    async def aclose(self) -> None:
        """Closes all connections. Calls after it raise."""
        for task in list(self._flights.values()):
            task.cancel()
        await self._http.aclose()

    # --- the shell itself

    async def _drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end in the caller's task."""
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
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Invoke):
            result = step.function()
            return await result if inspect.isawaitable(result) else result
        return await self._share(step)

    async def _send(self, step: Send) -> Reply | Unreachable:
        if self._http.is_closed:
            raise closed()
        deadline_s = time.monotonic() + self._timeout_s
        try:
            request = self._http.build_request(
                step.method, step.url, params=step.query, headers=step.headers, content=step.content
            )
            auth = httpx.USE_CLIENT_DEFAULT if step.to_registry else None
            answer = await self._http.send(request, stream=True, auth=auth)
            async with contextlib.aclosing(answer):
                body = Body(self._timeout_s, deadline_s)
                async for chunk in answer.aiter_bytes():
                    body.add(chunk, time.monotonic())
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return unreachable(error)
        return Reply(answer.status_code, bytes(body.data), answer.headers)

    async def _share(self, step: Share) -> Any:
        """The look-up runs in a task of its own: whoever is cancelled while waiting leaves it to the others."""
        task = self._flights.get(step.key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._drive(step.start()))
            self._flights[step.key] = task
            task.add_done_callback(lambda done: self._land(step.key, done))
        try:
            return await asyncio.shield(task)
        except SchemaRegistryError as error:
            raise copy.copy(error) from error
        except asyncio.CancelledError:
            if task.cancelled() and self._http.is_closed:  # by `aclose`: the caller's own task is not cancelled
                raise closed() from None
            raise

    def _land(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen, also if everybody who waited for it was cancelled
