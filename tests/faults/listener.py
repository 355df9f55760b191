"""A TCP listener for tests that leaves no socket open, whenever it is closed.

Must not know what is served. Not `asyncio.start_server`: a connection that it accepts just before it is closed stays
open with nobody behind it, and is told as a ResourceWarning in whatever test the garbage collector runs next.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """Calls `serve(reader, writer)` for each connection, in a task of its own, at whose end the connection is closed.

    Attributes:
        port: where it listens, on 127.0.0.1.
    """

    def __init__(self, serve: Serve, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._serve = serve
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=100)
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            client, _ = self._socket.accept()
            client.setblocking(False)
            task = asyncio.get_running_loop().create_task(self._run(client))
            self._tasks.add(task)
            task.add_done_callback(functools.partial(self._ended, client))

    async def _run(self, client: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, client, ssl=self._tls)
        except OSError:  # also every failure of a TLS handshake
            client.close()
            return
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        try:
            await self._serve(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass  # the client has ended it
        finally:
            transport.abort()

    def _ended(self, client: socket.socket, task: asyncio.Task[None]) -> None:
        """Not left to `_run`: a task that is cancelled before its first step runs none of its code."""
        self._tasks.discard(task)
        if task.cancelled():
            client.close()

    async def close(self) -> None:
        """Stops listening, and cuts all connections. May be called again."""
        if self._socket.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(3):  # what was cut is told that it is, and closes its socket
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a listener."""
    listener = Listener(serve, tls=tls)
    try:
        yield listener.port
    finally:
        await listener.close()
