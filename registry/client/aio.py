"""The asyncio registry client: how it waits, and how its tasks share look-ups; `aio_shell.py` has the rest.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`).
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import importlib
import inspect
import sys
from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from registry.client.aio_shell import AsyncShell
from registry.client.base import closed
from registry.client.steps import Reply, Send, Share, Unreachable
from registry.errors import SchemaRegistryError, TransportError


class AsyncSchemaRegistryClient(AsyncShell):
    """A client of Confluent's Schema Registry and of registries with its API, for tasks of one event loop at a time.

    Args:
        conf: properties of confluent_kafka's client: `url` (several separated by commas: if one does not answer the
            next is tried), `basic.auth.user.info`, `ssl.*`, `timeout` (seconds), `max.retries`, … `mock://name` is a
            registry inside this process, the same one for every client of that name.
        transport: httpx's, instead of the properties'.
        auth: how httpx signs requests, beside the credentials of the properties.

    Raises:
        ValueError: unknown or contradicting properties, unusable files.
        TypeError: a property of the wrong type.

    Every operation raises `ResponseError` (`IncompatibleSchemaError`, `InvalidSchemaError`) for what the registry
    refuses and `TransportError` if no registry answers; both are `SchemaRegistryError`s.
    """

    def _open(self) -> None:
        super()._open()
        self._flights: dict[Hashable, asyncio.Task[Any]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_httpx = "httpx" in sys.modules

    def _after_fork(self) -> None:
        """Starts anew in a child, as the blocking client does."""
        listeners = self._caches.listeners_after_fork()
        self._open()
        for listener in listeners:
            self._caches.tell(listener)

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> AsyncSchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return AsyncSchemaRegistryClient(conf)

    async def aclose(self) -> None:
        """Closes all connections. Calls after it raise."""
        self._settle_in()
        for task in list(self._flights.values()):
            task.cancel()
        await self._disconnect()

    def _settle_in(self) -> None:
        """Makes the running loop this client's, if the one before does not run any more.

        Connections and look-ups belong to a loop and end with it: in the next one they would fail, or wait for ever.

        Raises:
            TransportError: that one runs, on another thread, and there are connections.
        """
        loop, before = asyncio.get_running_loop(), self._loop
        if loop is before or self._is_closed():
            return
        if before is not None and before.is_running():
            if self._has_network:
                text = "the registry client belongs to another event loop, which runs: make one for each"
                raise TransportError(-1, -1, text)
            return
        if before is not None:
            self._flights = {}
            self._connections = None
        self._loop = loop

    # --- how it waits

    def _cache_lock(self) -> AbstractContextManager[Any]:
        return contextlib.nullcontext()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _settled(self, result: Any) -> Any:
        return await result if inspect.isawaitable(result) else result

    async def _send(self, step: Send) -> Reply | Unreachable:
        self._settle_in()
        if not self._has_httpx:  # importing it takes a tenth of a second, in which the loop has other work
            await asyncio.to_thread(importlib.import_module, "httpx")
            self._has_httpx = True
        return await super()._send(step)

    async def _share(self, step: Share) -> Any:
        """The look-up runs in a task of its own: whoever is cancelled while waiting leaves it to the others."""
        self._settle_in()
        task = self._flights.get(step.key)
        if task is not None and task.get_loop() is not asyncio.get_running_loop():
            return await self._drive(step.start())
        if task is None:
            task = asyncio.get_running_loop().create_task(self._drive(step.start()))
            self._flights[step.key] = task
            task.add_done_callback(lambda done: self._land(step.key, done))
        try:
            return await asyncio.shield(task)
        except SchemaRegistryError as error:
            raise copy.copy(error) from error
        except asyncio.CancelledError:
            if task.cancelled() and self._is_closed():  # by `aclose`: the caller's own task is not cancelled
                raise closed() from None
            raise

    def _land(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._flights.get(key) is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen, also if everybody who waited for it was cancelled
