"""A virtual network: in-memory TCP connections with latencies, cuts, stalls, half-open ends and partitions.

Must not know the Kafka protocol. Within one connection bytes keep their order; connections know nothing of each other,
so what travels on different ones overtakes. A path (client process to broker port) has the conditions of the moment.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kafka_core.aio.net.transport import OpenTransport, TransportSettings
from kafka_core.errors import KafkaError, NetworkError
from tests.simulation.loop import OWNER, VirtualLoop

Address = tuple[str, int]
LINK: Final[contextvars.ContextVar[Link | None]] = contextvars.ContextVar("LINK", default=None)
"""The connection on which a broker's end was made; known in all that it does for it."""
EOF: Final = b""


@dataclass(slots=True, eq=False)
class Path:
    """The path between a client process and a broker.

    Attributes:
        latency_s: of one segment, at least; up to `jitter` times as much is added.
        blocked: packets are lost for now: nothing arrives, connecting waits; all goes on afterwards.
    """

    latency_s: float
    jitter: float = 1.0
    blocked: bool = False
    waiting: list[Pipe] = field(default_factory=list)
    opened: asyncio.Future[None] | None = None


class Pipe:
    """One direction of a connection: bytes on their way, in order."""

    def __init__(self, network: VirtualNetwork, path: Path, number: int) -> None:
        self.network = network
        self.path = path
        self.number = number
        self.rng = random.Random(network.seed * 1_000_003 + number)
        self.receiver: VirtualTransport | None = None
        self.sender: VirtualTransport | None = None
        self.queue: deque[tuple[float, bytes]] = deque()
        self.size_bytes = 0
        self._last_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def send(self, data: bytes) -> None:
        """Put bytes (or EOF) on their way, in one segment or several."""
        rng = self.rng
        self.size_bytes += len(data)
        if len(data) > 1 and rng.random() < self.network.split:
            middle = rng.randrange(1, len(data))
            self._put(data[:middle])
            data = data[middle:]
        self._put(data)
        self._arm()

    def _put(self, data: bytes) -> None:
        delay_s = self.path.latency_s * (1 + self.path.jitter * self.rng.random())
        self._last_at_s = max(self._last_at_s, self.network.loop.time() + delay_s)
        self.queue.append((self._last_at_s, data))

    def _arm(self) -> None:
        if self._timer is None and self.queue and self.receiver is not None:
            self._timer = self.network.loop.call_at(
                self.queue[0][0], self._deliver, context=self.receiver.context.copy()
            )

    def _deliver(self) -> None:
        self._timer = None
        if self.path.blocked:
            self.path.waiting.append(self)
            return
        now_s = self.network.loop.time()
        while self.queue and self.queue[0][0] <= now_s and not self.path.blocked:
            data = self.queue.popleft()[1]
            self.size_bytes -= len(data)
            assert self.receiver is not None
            self.network.note(self.number, data)
            self.receiver.feed(data)
        if self.sender is not None:
            self.sender.check_room()
        self._arm()

    def go_on(self) -> None:
        """The path is open again: what was held back comes now."""
        self.queue = deque((max(at_s, self.network.loop.time()), data) for at_s, data in self.queue)
        self._arm()

    def clear(self) -> None:
        """Drop what is on its way."""
        self.queue.clear()
        self.size_bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class VirtualTransport(asyncio.Transport):
    """One end of a connection.

    Attributes:
        lost: the protocol was told, or is about to be told, that the connection is gone.
    """

    def __init__(self, link: Link, protocol: asyncio.BaseProtocol, out: Pipe, peer: Address) -> None:
        super().__init__(extra={"peername": peer})
        self._link = link
        self._out = out
        self.protocol: Any = protocol
        self.context = contextvars.copy_context()
        self._closing = self.lost = self._paused = False
        self._high, self._low = 1 << 16, 1 << 14

    # ---- asyncio.Transport

    def write(self, data: Any) -> None:
        """Send bytes; dropped when the connection is closing."""
        if data and not self._closing:
            self._out.send(bytes(data))
            self.check_room()

    def writelines(self, list_of_data: Any) -> None:
        """Send several buffers as one segment."""
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        """Lets the bytes on their way arrive, then the end of the stream."""
        if not self._closing:
            self._closing = True
            self._out.send(EOF)
            self._say_lost(None)

    def abort(self) -> None:
        """End the connection at once; the other end hears of it a little later."""
        if not self.lost:
            self._closing = True
            self._link.reset(self)

    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self._closing

    def get_write_buffer_size(self) -> int:
        """Bytes that the other end has not got yet."""
        return self._out.size_bytes

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The network has its own, smaller ones, so that back-pressure occurs."""
        del high, low

    # ---- from the network

    def feed(self, data: bytes) -> None:
        """Bytes have arrived, or the end of the stream."""
        if self._closing:
            return
        if not data:
            if not self.protocol.eof_received():
                self.close()
            return
        view = memoryview(data)
        while view and not self._closing:
            target = self.protocol.get_buffer(-1)
            size = min(len(target), len(view))
            target[:size] = view[:size]
            self.protocol.buffer_updated(size)
            view = view[size:]

    def lose(self, error: Exception | None) -> None:
        """The connection is gone."""
        self._closing = True
        self._say_lost(error)

    def _say_lost(self, error: Exception | None) -> None:
        if not self.lost:
            self.lost = True
            self._link.ended()
            loop = self._link.network.loop
            loop.call_soon(self.protocol.connection_lost, error, context=self.context.copy())

    def check_room(self) -> None:
        """Tell the protocol when too much waits in the network, and when there is room again."""
        if self.lost:
            return
        if not self._paused and self._out.size_bytes > self._high:
            self._paused = True
            self.protocol.pause_writing()
        elif self._paused and self._out.size_bytes <= self._low:
            self._paused = False
            loop = self._link.network.loop
            loop.call_soon(self.protocol.resume_writing, context=self.context.copy())


class Link:
    """A connection: two ends, two directions."""

    def __init__(self, network: VirtualNetwork, number: int, client: str, address: Address, path: Path) -> None:
        self.network = network
        self.number = number
        self.client, self.address = client, address
        self.path = path
        self.there, self.back = Pipe(network, path, 2 * number), Pipe(network, path, 2 * number + 1)
        self.open_ends = 2
        self.ends: list[VirtualTransport] = []

    def connect(self, client_protocol: asyncio.BaseProtocol, listener: Callable[[], asyncio.BaseProtocol]) -> None:
        """Make both ends; the broker's runs in a context of its own, not in that of the client."""
        server_end = contextvars.Context().run(self._server_end, listener)
        client_end = VirtualTransport(self, client_protocol, self.there, self.address)
        self.ends = [client_end, server_end]
        self.there.sender = self.back.receiver = client_end
        self.there.receiver = self.back.sender = server_end
        server_end.context.copy().run(server_end.protocol.connection_made, server_end)
        client_protocol.connection_made(client_end)

    def _server_end(self, listener: Callable[[], asyncio.BaseProtocol]) -> VirtualTransport:
        LINK.set(self)
        return VirtualTransport(self, listener(), self.back, ("10.0.0.1", 40000 + self.number))

    def reset(self, origin: VirtualTransport | None = None) -> None:
        """Cut the connection: by one end, or (None) from outside. What is on its way is lost, now and then arrives."""
        for end, out in zip(self.ends, (self.there, self.back), strict=True):
            other = self.ends[1] if end is self.ends[0] else self.ends[0]
            if end is origin:
                end.lose(None)
                if out.rng.random() < 0.5:
                    out.clear()
                delay_s = self.path.latency_s * (1 + out.rng.random())
                self.network.loop.call_later(delay_s, self._hear, other, context=other.context.copy())
            elif origin is None:
                out.clear()
                end.lose(ConnectionResetError(104, "Connection reset by peer"))

    def _hear(self, end: VirtualTransport) -> None:
        if self.path.blocked:
            self.network.loop.call_later(0.05, self._hear, end, context=end.context.copy())
        else:
            end.lose(ConnectionResetError(104, "Connection reset by peer"))

    def freeze(self) -> None:
        """Half-open: nothing arrives at either end any more, and nobody is told."""
        self.path = self.there.path = self.back.path = Path(1.0, blocked=True)

    def forsake(self) -> None:
        """The client is dead: the broker hears of it, the client does not."""
        self.ends[0]._closing = self.ends[0].lost = True
        self.there.clear()
        self.back.clear()
        self.ends[1].lose(ConnectionResetError(104, "Connection reset by peer"))
        self.network.links.pop(self.number, None)

    @property
    def forsaken(self) -> bool:
        """Whether the client has left it: what still arrives was given up by the client long ago."""
        return self.ends[0].lost

    def ended(self) -> None:
        """One end is gone; when both are, the connection is forgotten."""
        self.open_ends -= 1
        if self.open_ends <= 0:
            self.network.links.pop(self.number, None)


class VirtualNetwork:
    """All paths, listeners and connections.

    Attributes:
        split: the share of writes that arrive in two pieces.
        connected: told of each connection, in the process that made it.
        digest: changes with every byte that arrives; the same for two runs of one seed.
    """

    def __init__(self, loop: VirtualLoop, seed: int, *, latency_s: float = 0.001, split: float = 0.1) -> None:
        self.loop = loop
        self.seed = seed
        self.split = split
        self.latency_s = latency_s
        self.links: dict[int, Link] = {}
        self.listeners: dict[Address, Callable[[], asyncio.BaseProtocol]] = {}
        self.silent: set[Address] = set()
        self.connections = 0
        self.connected: Callable[[], object] | None = None
        self.segments = 0
        self.digest = 0
        self._paths: dict[tuple[str, Address], Path] = {}
        self._rng = random.Random(seed ^ 0x5EED)

    def note(self, pipe: int, data: bytes) -> None:
        """Bytes arrive."""
        self.segments += 1
        self.digest = zlib.crc32(data, zlib.crc32(b"%d %.6f" % (pipe, self.loop.time()), self.digest))

    def path(self, client: str, address: Address) -> Path:
        """The way from a client to a broker."""
        key = (client, address)
        if key not in self._paths:
            self._paths[key] = Path(self.latency_s * (0.5 + self._rng.random()))
        return self._paths[key]

    def paths(self, client: str | None = None, port: int | None = None) -> list[Path]:
        """The paths of a client (None: all) to a broker (None: all), as far as they were used."""
        return [
            path
            for (name, address), path in self._paths.items()
            if client in (None, name) and port in (None, address[1])
        ]

    def block(self, path: Path) -> None:
        """Lose all packets on a path until `unblock`."""
        path.blocked = True

    def unblock(self, path: Path) -> None:
        """Let packets through again; what was sent meanwhile arrives (TCP sends it again)."""
        path.blocked = False
        waiting, path.waiting = path.waiting, []
        for pipe in waiting:
            pipe.go_on()
        opened, path.opened = path.opened, None
        if opened is not None and not opened.done():
            opened.set_result(None)

    async def open(
        self,
        settings: TransportSettings,
        host: str,
        port: int,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
    ) -> OpenTransport:
        """`kafka_core.aio.net.transport.open_transport` on this network."""
        owner = OWNER.get()
        client = owner.name if owner is not None else "nobody"
        path = self.path(client, (host, port))
        try:
            async with asyncio.timeout(settings.setup_timeout_s):
                await self._handshake(path, (host, port))
        except TimeoutError:
            raise NetworkError(
                f"{host}:{port}: no connection within {settings.setup_timeout_s:g} s", KafkaError._TIMED_OUT
            ) from None
        listener = self.listeners.get((host, port))
        if listener is None:
            raise NetworkError(f"{host}:{port}: connection refused: nothing listens on that port")
        self.connections += 1
        link = self.links[self.connections] = Link(self, self.connections, client, (host, port), path)
        protocol = protocol_factory()
        link.connect(protocol, listener)
        if self.connected is not None:
            self.connected()
        return OpenTransport(link.ends[0], None)

    async def _handshake(self, path: Path, address: Address) -> None:
        while path.blocked or address in self.silent:
            if path.opened is None or path.opened.done():
                path.opened = self.loop.create_future()
            await asyncio.shield(path.opened)
        await asyncio.sleep(path.latency_s * 2)

    def links_of(self, client: str | None = None, port: int | None = None) -> list[Link]:
        """Open connections of a client (None: all) to a port (None: all)."""
        return [
            link
            for link in list(self.links.values())
            if client in (None, link.client) and port in (None, link.address[1])
        ]
