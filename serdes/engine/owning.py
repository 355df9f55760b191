"""Closing a serializer: the resources of its rules, and a registry client that it owns.

Must not know of formats, values or plans.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class Owner:
    """A serializer that may own its registry client. `_engine` is set by the class that has this."""

    _engine: Any
    _owns_client = False

    def own_schema_registry_client(self) -> None:
        """Has `close` close the registry client too, from now on: nobody else uses it."""
        self._owns_client = True

    def set_cluster_id_resolver(self, resolver: Callable[[], str]) -> None:
        """Sets a function that gives the Kafka cluster's id, which the associated subject strategy may need."""
        self._engine.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes the executors of rules; the registry client stays open, unless owned. May be called again."""
        self._engine.close()
        if self._owns_client and self._engine.client is not None:
            self._engine.client.close()


class AsyncOwner(Owner):
    """The same for tasks of one event loop."""

    def set_async_cluster_id_resolver(self, resolver: Callable[[], Awaitable[str]]) -> None:
        """`set_cluster_id_resolver` with a coroutine function."""
        self._engine.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes the executors of rules; the registry client stays open: `aclose` closes an owned one."""
        self._engine.close()

    async def aclose(self) -> None:
        """As `close`; closes also the registry client if it is owned."""
        self._engine.close()
        if self._owns_client and self._engine.client is not None:
            await self._engine.client.aclose()
