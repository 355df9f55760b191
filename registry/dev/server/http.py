"""The HTTP server of an embedded registry: Starlette and uvicorn on a background thread.

Must not know what a request means. Bodies are bounded, slow and silent clients are dropped, idle connections are kept
open for a while. Source: ASGI specification; uvicorn's `Server` and `H11Protocol`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
import logging
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kserdes_base.waiting import result_of
from registry.dev.handlers.requests import MEDIA_TYPE, Response, refused
from registry.dev.refusal import Refusal, too_large, unauthorized
from registry.dev.server.embedded import EmbeddedRegistry
from registry.dev.server.limits import Limits

logger = logging.getLogger("registry.dev")
SILENT_SLACK_S = 5.0


# --- requests


class Application:
    """Answers requests with a registry, each on a worker thread: the registry may be busy comparing."""

    def __init__(self, registry: EmbeddedRegistry, auth: Mapping[str, str] | None, limits: Limits) -> None:
        self._registry = registry
        self._auth = None if auth is None else {name: word.encode() for name, word in auth.items()}
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        try:
            answer = await self._answer(request)
        except ClientDisconnect:
            return
        headers = {"Content-Type": MEDIA_TYPE, **dict(answer.headers)}
        await HttpResponse(answer.body, answer.status, headers)(scope, receive, send)

    async def _answer(self, request: HttpRequest) -> Response:
        try:
            self._authenticate(request)
            body = await self._body(request)
        except Refusal as refusal:
            return refused(refusal)
        path, query = request.scope["raw_path"], request.scope["query_string"]
        target = (path + b"?" + query if query else path).decode("latin-1")
        try:
            media = request.headers.get("Content-Type"), ",".join(request.headers.getlist("Accept")) or None
            return await asyncio.to_thread(self._registry.respond, request.method, target, body, *media)
        except Exception as error:
            logger.exception("%s %s failed", request.method, target)
            return refused(Refusal(500, 500, f"{type(error).__name__}: {error}"))

    def _authenticate(self, request: HttpRequest) -> None:
        if self._auth is None:
            return
        scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            with contextlib.suppress(binascii.Error, UnicodeDecodeError):
                user, _, word = base64.b64decode(credentials.strip(), validate=True).decode().partition(":")
                if hmac.compare_digest(self._auth.get(user, b""), word.encode()) and user in self._auth:
                    return
        raise _closing(unauthorized())

    async def _body(self, request: HttpRequest) -> bytes:
        limit = self._limits.body_bytes
        said = request.headers.get("Content-Length", "0")
        if said.isdecimal() and int(said) > limit:
            raise _closing(too_large(limit))
        found = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_s):
                async for part in request.stream():
                    found += part
                    if len(found) > limit:
                        raise _closing(too_large(limit))
        except TimeoutError:
            raise _closing(Refusal(408, 408, "The request body did not arrive in time")) from None
        return bytes(found)


def _closing(refusal: Refusal) -> Refusal:
    """The refusal of a request whose body may not have been read: the connection can't be used again."""
    return Refusal(refusal.status, refusal.code, refusal.message, [*refusal.headers, ("Connection", "close")])


# --- connections


def _protocol(limits: Limits) -> type[H11Protocol]:
    class Connection(H11Protocol):
        """uvicorn's connection, with a bound on the time until the head of a request is complete."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.logger = logger
            self._head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._unwatch()

        def _watch(self) -> None:
            """Starts the clock while a head is awaited; once a part of it is there, more parts don't restart it."""
            if self.conn.their_state is not h11.IDLE:
                self._unwatch()
            elif self._head is None and self.timeout_keep_alive_task is None:
                self._head = self.loop.call_later(limits.head_s, self.timeout_keep_alive_handler)

        def _unwatch(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

    return Connection


class Server(uvicorn.Server):
    """uvicorn's server, that is told to stop at once and leaves no connection behind."""

    def __init__(self, config: uvicorn.Config, ready: Future[None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stop = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready.set_result(None)

    async def main_loop(self) -> None:
        while not self._stop.is_set():
            await self.on_tick(0)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            transport: asyncio.Transport = connection.transport
            transport.abort()
        await asyncio.sleep(0)

    def stop(self) -> None:
        """Called on the loop's thread."""
        self._stop.set()


class ServerThread:
    """Runs a server on a thread of its own; listening when it is made.

    Raises:
        OSError: nobody can listen at this address.
    """

    def __init__(
        self,
        registry: EmbeddedRegistry,
        host: str,
        port: int,
        auth: Mapping[str, str] | None,
        tls: ssl.SSLContext | None,
        limits: Limits | None,
    ) -> None:
        self._limits = limits or Limits()
        self._application = Application(registry, auth, self._limits)
        self._tls = tls
        self._socket = _listening(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._started: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: Server | None = None
        self._thread = threading.Thread(target=self._run, name=f"registry-{self.port}", daemon=True)
        self._thread.start()
        result_of(self._started)

    def _run(self) -> None:
        try:
            with self._socket, asyncio.Runner() as runner:
                runner.run(self._serve())
        except BaseException as error:
            if self._started.done():
                logger.exception("the registry's server ended")
            else:
                self._started.set_exception(error)

    async def _serve(self) -> None:
        tls = self._tls
        config = uvicorn.Config(
            self._application,
            http=_protocol(self._limits),
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=self._limits.idle_s,
            timeout_graceful_shutdown=self._limits.stop_s,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
        )
        self._loop, self._server = asyncio.get_running_loop(), Server(config, self._started)
        await self._server.serve(sockets=[self._socket])

    def close(self) -> None:
        """Stops; returns when the thread has ended, or after the time requests under way get. May be called again."""
        if self._thread.is_alive() and self._loop is not None and self._server is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just ended by itself
                self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(self._limits.stop_s + SILENT_SLACK_S)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off (40 ms a request) only for sockets whose protocol is said.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except BaseException:
        made.close()
        raise
    return made
