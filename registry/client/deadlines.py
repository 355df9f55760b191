"""A bound for an answer as a whole: httpx bounds each read alone, so that a peer that gives a byte now and then holds a
caller for hours, with the first lines of an answer (a body is bounded by `exchange.Body`) or a proxy's CONNECT.

Must not know of registries. Nothing public says when an answer has to be there: the streams that httpx's transports
read from are wrapped (`tests/unit/registry/client/test_deadlines.py` fails where httpx has them elsewhere).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import httpx

NO_DEADLINE: Final = float("inf")
TRANSPORT, PROXIES, POOL, BACKEND = "_transport", "_mounts", "_pool", "_network_backend"
"""From httpx's client to what opens httpcore's connections."""
_deadline_s: ContextVar[float] = ContextVar("registry_deadline_s", default=NO_DEADLINE)


@contextmanager
def until(deadline_s: float) -> Iterator[None]:
    """Ends all reading, writing and connecting inside by then, in seconds of the monotonic clock."""
    token = _deadline_s.set(deadline_s)
    try:
        yield
    finally:
        _deadline_s.reset(token)


def bound(client: httpx.Client | httpx.AsyncClient) -> int:
    """Makes the connections that a client opens end by the deadline of their request (`until`).

    Args:
        client: made by us, with transports of httpx's own.

    Returns:
        How many of its transports were found.
    """
    kind = _AsyncBackend if isinstance(client, httpx.AsyncClient) else _Backend
    found = 0
    for transport in (getattr(client, TRANSPORT, None), *getattr(client, PROXIES, {}).values()):
        pool = getattr(transport, POOL, None)
        backend = getattr(pool, BACKEND, None)
        if backend is not None:
            setattr(pool, BACKEND, kind(backend))
            found += 1
    return found


def _left_s(timeout_s: float | None) -> float | None:
    """The rest of a time-out, in seconds.

    Raises:
        httpx.ReadTimeout: nothing.
    """
    left_s = _deadline_s.get() - time.monotonic()
    if left_s <= 0:
        raise httpx.ReadTimeout("the answer is not complete in time")
    if left_s == NO_DEADLINE:
        return timeout_s
    return left_s if timeout_s is None else min(left_s, timeout_s)


class _Wrapped:
    def __init__(self, inside: Any) -> None:
        self._inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)


class _Stream(_Wrapped):
    """httpcore's NetworkStream."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        read: bytes = self._inside.read(max_bytes, _left_s(timeout))
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inside.write(buffer, _left_s(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        return _Stream(self._inside.start_tls(ssl_context, server_hostname, _left_s(timeout)))


class _Backend(_Wrapped):
    """httpcore's NetworkBackend."""

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> _Stream:
        return _Stream(self._inside.connect_tcp(host, port, _left_s(timeout), **more))


class _AsyncStream(_Wrapped):
    """httpcore's AsyncNetworkStream."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        read: bytes = await self._inside.read(max_bytes, _left_s(timeout))
        return read

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inside.write(buffer, _left_s(timeout))

    async def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _AsyncStream:
        return _AsyncStream(await self._inside.start_tls(ssl_context, server_hostname, _left_s(timeout)))


class _AsyncBackend(_Wrapped):
    """httpcore's AsyncNetworkBackend."""

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> _AsyncStream:
        return _AsyncStream(await self._inside.connect_tcp(host, port, _left_s(timeout), **more))
