"""A connection without a network: what is sent is given to the fake cluster that the connection belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from kafka_core.errors import NetworkError
from kafka_core.protocol.versions import BrokerVersions


class FakeConnection:
    """To one broker.

    Args:
        node_id: the broker.
        version_of: request class → the version it is sent in.
        send: is given every request, with the keyword arguments of a connection's `send`; gives what that gives.
        versions: what the broker supports, for those who look at it themselves.

    Attributes:
        usable, writable: the test's to set; `drain` makes it writable.
    """

    def __init__(
        self,
        node_id: int,
        version_of: Callable[[type[Any]], int],
        send: Callable[..., Any],
        versions: BrokerVersions | None = None,
    ) -> None:
        self.node_id = node_id
        self.versions = versions
        self.version_of = version_of
        self.send = send
        self.usable = self.writable = True

    @property
    def free(self) -> bool:
        """As a connection that is never re-authenticated."""
        return self.usable and self.writable

    def ask(self, request: Any, on_answer: Callable[[Any, Any], object], **options: Any) -> None:
        """As a connection's `ask`; `send` must give a future."""

        def tell(done: asyncio.Future[Any]) -> None:
            error = NetworkError("cancelled") if done.cancelled() else done.exception()
            on_answer(None if error else done.result(), error)

        self.send(request, **options).add_done_callback(tell)

    async def drain(self) -> None:
        self.writable = True
