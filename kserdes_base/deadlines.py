"""A bound for an answer as a whole, for whoever asks with httpx: the registry's clients and token requests.

httpx bounds each read alone, so that a peer that gives a byte now and then holds a caller for hours, with the first
lines of an answer, with its body or with a proxy's CONNECT.

Must not know what is asked, and does not load httpx: who has one of its clients has loaded it. Nothing public says when
an answer has to be there: the streams that httpx's transports read from are wrapped
(`tests/unit/kserdes_base/test_deadlines.py` fails where httpx has them elsewhere).
"""

from __future__ import annotations

import functools
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import httpx

NO_DEADLINE: Final = float("inf")
TRANSPORT, PROXIES, POOL, BACKEND = "_transport", "_mounts", "_pool", "_network_backend"
"""From httpx's client to what opens httpcore's connections."""
_deadline_s: ContextVar[float] = ContextVar("kserdes_deadline_s", default=NO_DEADLINE)


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
        How many of its transports were found; where none was, `tell_of_changes` is due.
    """
    import httpx

    kind = _AsyncBackend if isinstance(client, httpx.AsyncClient) else _Backend
    found = 0
    for transport in (getattr(client, TRANSPORT, None), *getattr(client, PROXIES, {}).values()):
        pool = getattr(transport, POOL, None)
        backend = getattr(pool, BACKEND, None)
        if backend is not None:
            setattr(pool, BACKEND, kind(backend))
            found += 1
    return found


@functools.cache
def tell_of_changes(log: logging.Logger, loss: str) -> None:
    """Warns, once for each loss, that httpx is not inside as kserdes knows it.

    Args:
        log: of the package that asks.
        loss: what does not work for that.
    """
    import httpx

    log.warning("httpx %s is not inside as this version of kserdes knows it: %s", httpx.__version__, loss)


def check() -> None:
    """Between the parts of an answer, for transports that `bound` has not found.

    Raises:
        httpx.ReadTimeout: the time is over.
    """
    if time.monotonic() > _deadline_s.get():
        raise _late()


def _late() -> httpx.ReadTimeout:
    import httpx

    return httpx.ReadTimeout("the answer is not complete in time")


def _left_s(timeout_s: float | None) -> float | None:
    """The rest of a time-out, in seconds.

    Raises:
        httpx.ReadTimeout: nothing.
    """
    left_s = _deadline_s.get() - time.monotonic()
    if left_s <= 0:
        raise _late()
    if left_s == NO_DEADLINE:
        return timeout_s
    return left_s if timeout_s is None else min(left_s, timeout_s)


@contextmanager
def _cut(connection: socket.socket, left_s: float | None) -> Iterator[None]:
    """Shuts a connection down when the time of what is done inside is over.

    Blocking TLS inside TLS (by an https proxy) is several reads for httpcore, and each of them has the whole time-out.

    Raises:
        httpx.ReadTimeout: it was over.
    """
    if left_s is None:
        yield
        return
    timer = threading.Timer(left_s, _shut, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        check()  # the error of a connection that was shut down would say something else


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        # Not SSLSocket's own: that takes the TLS state away from the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


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
        left_s = _left_s(timeout)
        if self._inside.get_extra_info("ssl_object") is None:
            return _Stream(self._inside.start_tls(ssl_context, server_hostname, left_s))
        with _cut(self._inside.get_extra_info("socket"), left_s):
            return _TlsInTlsStream(self._inside.start_tls(ssl_context, server_hostname, left_s))


class _TlsInTlsStream(_Stream):
    """A stream that is TLS inside TLS."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _cut(self._inside.get_extra_info("socket"), _left_s(timeout)):
            return super().read(max_bytes, timeout)


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
