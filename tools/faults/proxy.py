"""A TCP proxy that misbehaves on demand: cut, refuse, stall, swallow, half-open, delay, truncate, swap responses.

Runs on a thread of its own, so blocking and asyncio tests can use it; every method may be called from any thread.
"""

import asyncio
import contextlib
import enum
import socket
import struct
import threading
from collections.abc import Callable
from typing import Self, TypeVar

T = TypeVar("T")


class Way(enum.Enum):
    """The direction of a connection that a fault is about."""

    REQUESTS = "requests"
    RESPONSES = "responses"


class Link:
    """One proxied connection."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client, self.server = client, server
        self.held_frame: bytes | None = None
        self.robbed = False  # bytes of it were swallowed: it can't go on
        self.half_open = False  # the server's side is gone, and the client is not told

    def cut(self) -> None:
        """End both sides with a reset, as a crashed machine's kernel would."""
        for writer in (self.client, self.server):
            sock = writer.get_extra_info("socket")
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def forget_server(self) -> None:
        """End the server's side only; the client's stays open, and nothing ever comes through it again."""
        self.half_open = True
        self.server.transport.abort()


class FaultProxy:
    """Forwards connections to `host`:`port`; a context manager.

    Args:
        host: where the server is.
        port: where the server is.
        listen_port: the proxy's own port; 0 takes a free one.

    Attributes:
        address: `127.0.0.1:port` to connect to.
        accepted: Connections accepted so far.
    """

    def __init__(self, host: str, port: int, listen_port: int = 0) -> None:
        self._target = (host, port)
        self._listen_port = listen_port
        self._links: set[Link] = set()
        self._open = {way: asyncio.Event() for way in Way}
        self._delay_s = 0.0
        self._left: dict[Way, int | None] = dict.fromkeys(Way)
        self._swap = 0
        self._shorten = (0, 0)
        self._refuse = False
        self._swallow = False
        self.accepted = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fault-proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5.0)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    # ---- faults

    def cut(self) -> int:
        """Reset every connection; returns how many there were."""
        return self._call(self._cut)

    def refuse(self, on: bool = True) -> None:
        """Close new connections at once."""
        self._call(lambda: setattr(self, "_refuse", on))

    def stall(self, way: Way) -> None:
        """Hold all bytes of one direction back until `resume`."""
        self._call(self._open[way].clear)

    def freeze(self) -> None:
        """Hold all bytes of both directions back until `resume`; nothing is lost."""
        for way in Way:
            self.stall(way)

    def swallow(self) -> None:
        """Take all bytes and pass none on, also those of new connections, until `resume`.

        Connections that lost bytes are reset then.
        """
        self._call(lambda: setattr(self, "_swallow", True))

    def half_open(self) -> int:
        """The server forgets every connection and the clients are not told; returns how many there were.

        New connections work.
        """
        return self._call(self._half_open)

    def resume(self) -> None:
        """End all faults that last."""

        def forget() -> None:
            self._delay_s, self._refuse, self._swap, self._shorten = 0.0, False, 0, (0, 0)
            self._swallow = False
            for link in [link for link in self._links if link.robbed]:
                link.cut()
            for way in Way:
                self._left[way] = None
                self._open[way].set()

        self._call(forget)

    def delay(self, seconds: float) -> None:
        """Pass each chunk of responses on so much later."""
        self._call(lambda: setattr(self, "_delay_s", seconds))

    def truncate_after(self, size_bytes: int, way: Way = Way.RESPONSES) -> None:
        """Let so many more bytes through, then close the connection that carries the next one."""
        self._call(lambda: self._left.__setitem__(way, size_bytes))

    def swap_next_responses(self) -> None:
        """Hand the next two response frames of a connection on in the wrong order."""
        self._call(lambda: setattr(self, "_swap", 2))

    def shorten_responses(self, count: int, by_bytes: int) -> None:
        """Take the last bytes from the next `count` response frames (that come in one piece); their sizes fit."""
        self._call(lambda: setattr(self, "_shorten", (count, by_bytes)))

    # ---- inside, on the proxy's loop

    def _call(self, fn: Callable[[], T]) -> T:
        async def work() -> T:
            return fn()

        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(5.0)

    def _cut(self) -> int:
        links = list(self._links)
        for link in links:
            link.cut()
        return len(links)

    def _half_open(self) -> int:
        links = [link for link in self._links if not link.half_open]
        for link in links:
            link.forget_server()
        return len(links)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        for event in self._open.values():
            event.set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self._listen_port)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        self._cut()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=2.0)
        await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._forward(reader, writer)
        except asyncio.CancelledError:
            return
        finally:
            self._tasks.discard(task)
            if not writer.transport.is_closing():  # cancelled while the other side was being connected
                writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if self._refuse:
            writer.transport.abort()
            return
        try:
            up_reader, up_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, up_writer)
        self._links.add(link)
        pumps = [
            asyncio.ensure_future(self._pump_requests(reader, up_writer, link)),
            asyncio.ensure_future(self._pump_responses(up_reader, writer, link)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            if link.half_open:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                with contextlib.suppress(ConnectionError):
                    while await reader.read(65536):
                        continue  # into the void, until the client gives up
        finally:
            self._links.discard(link)
            for side in (writer, up_writer):  # before anything is awaited: this may be cancelled a second time
                side.transport.close()
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, link: Link) -> None:
        while chunk := await reader.read(65536):
            if self._swallow:
                link.robbed = True
            elif not await self._pass(chunk, writer, Way.REQUESTS):
                return

    async def _pump_responses(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, link: Link) -> None:
        while True:
            if self._swap:
                size = await reader.readexactly(4)
                frame = size + await reader.readexactly(int.from_bytes(size, "big"))
                self._swap -= 1
                if link.held_frame is None:
                    link.held_frame = frame
                    continue
                chunk, link.held_frame = frame + link.held_frame, None
            else:
                chunk = self._shortened(await reader.read(65536))
            if not chunk:
                return
            if self._swallow:
                link.robbed = True
            elif not await self._pass(chunk, writer, Way.RESPONSES):
                return

    def _shortened(self, chunk: bytes) -> bytes:
        left, by_bytes = self._shorten
        size = len(chunk) - 4
        if not left or int.from_bytes(chunk[:4], "big") != size or size <= by_bytes + 4:
            return chunk
        self._shorten = (left - 1, by_bytes)
        return (size - by_bytes).to_bytes(4, "big") + chunk[4:-by_bytes]

    async def _pass(self, chunk: bytes, writer: asyncio.StreamWriter, way: Way) -> bool:
        if way is Way.RESPONSES and self._delay_s:
            await asyncio.sleep(self._delay_s)
        await self._open[way].wait()
        left = self._left[way]
        if left is not None:
            chunk, whole = chunk[:left], len(chunk) <= left
            self._left[way] = left - len(chunk)
        else:
            whole = True
        writer.write(chunk)
        await writer.drain()
        return whole
