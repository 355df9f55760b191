"""The embedded cluster as tests and demos use it: TCP and TLS servers on a loop thread of its own.

Must not know: what requests mean (`dispatch.py`). All state belongs to the loop thread; public methods hop onto it.
Spec: DESIGN §7; https://kafka.apache.org/protocol#protocol_network.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import random
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, TypeVar, cast

from kafka_core.broker.cluster import ClusterState, Node
from kafka_core.broker.context import Connection
from kafka_core.broker.dispatch import Reply, receive
from kafka_core.broker.faults import Interceptor, Rule
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.partitions import reading
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.broker.telemetry.subscriptions import PushedTelemetry
from kafka_core.clock import Clock, SystemClock
from kafka_core.kernels.abc import MessageLike
from kafka_core.protocol import ApiMessage

T = TypeVar("T")
logger: Final = logging.getLogger(__name__)

_CALL_TIMEOUT_S = 60.0
#: With a clock that is not the system's nobody wakes the loop when time moves, so it looks this often.
_FOREIGN_CLOCK_POLL_S = 0.005
_SIZE_BYTES = 4
_BACKLOG = 100
_WILDCARDS = ("", "0.0.0.0", "::")
#: Addresses for documentation: nobody has them, and a datagram socket that is connected to one sends nothing.
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}


class BrokerProtocol(asyncio.BufferedProtocol):
    """One client connection: frames in, answers out in the order of the requests.

    As the real broker does, it takes the next request of a connection only once the one before is answered.
    """

    def __init__(self, cluster: EmbeddedCluster, node: Node) -> None:
        self._cluster = cluster
        self._node = node
        self._transport: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._size = bytearray(_SIZE_BYTES)
        self._frame: bytearray | None = None
        self._filled = 0
        self._waiting: deque[bytearray] = deque()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is here."""
        self._transport = cast(asyncio.Transport, transport)
        peer = self._transport.get_extra_info("peername")
        self._connection = self._cluster.admit(self, self._node, *peer[:2] if peer else ("unknown", 0))
        if self._connection is None:
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, or was cut off."""
        self._transport = None
        self._waiting.clear()
        self._cluster.dismiss(self, self._connection)

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for the next bytes: the size field or, without a copy in between, the frame itself."""
        del sizehint
        target = self._size if self._frame is None else self._frame
        return memoryview(target)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came; when a frame is whole, it is a request."""
        self._filled += nbytes
        if self._frame is None:
            if self._filled < _SIZE_BYTES:
                return
            size = int.from_bytes(self._size, "big", signed=True)
            if not 0 < size <= self._cluster.max_frame_bytes:
                logger.warning("broker %d cuts a connection: a frame of %d bytes", self._node.node_id, size)
                self.cut()
                return
            self._frame, self._filled = bytearray(size), 0
            return
        if self._filled == len(self._frame):
            frame, self._frame, self._filled = self._frame, None, 0
            self._waiting.append(frame)
            self._next()

    def _next(self) -> None:
        while self._waiting and not self._busy and self._transport is not None and self._connection is not None:
            self._busy = True
            reply = receive(self._cluster.state, self._connection, self._waiting.popleft())
            if reply.done:
                self._send(reply.value)
            else:
                reply.then(self._send_later)
            self._cluster.plan_wakeup()

    def _send_later(self, reply: Reply) -> None:
        """A parked answer comes from inside other work on the state: write it once that is over."""
        asyncio.get_running_loop().call_soon(self._send_and_go_on, reply)

    def _send_and_go_on(self, reply: Reply) -> None:
        self._send(reply)
        self._next()

    def _send(self, reply: Reply) -> None:
        self._busy = False
        if self._transport is None or self._transport.is_closing():
            return
        if isinstance(reply, list):
            self._transport.writelines(cast(Any, reply))
        if reply is Special.HANG_UP:
            self.cut()
        elif self._connection is not None and self._connection.close_after_reply:
            self._transport.close()

    def cut(self) -> None:
        """End the connection at once; what was not written is lost."""
        if self._transport is not None:
            self._transport.abort()


class EmbeddedCluster:
    """A Kafka cluster inside this process, for tests, demos and development. In memory; gone when closed.

    Use it as a context manager, or `start()` and `close()`. Methods may be called from any thread but the cluster's
    own (an interceptor runs there: it works on `cluster.state` directly).

    Args:
        brokers: how many virtual brokers, with ids from 1 on; each listens on a port of its own.
        default_partitions: of topics made without a number (`num.partitions`).
        auto_create_topics: whether clients may create topics by asking for them.
        properties: any broker property by its name in server.properties, e.g. `message.max.bytes`. Other
            than in a real broker, `group.initial.rebalance.delay.ms` is 0 and `default.replication.factor` up to 3.
        sasl: who may log in; None for no authentication.
        tls: a server-side context; None for plain TCP.
        max_versions: upper bound per API key, to play an older broker; None for a key hides that API.
        host: address to listen on.
        advertised_host: name or address that clients are told; None for `host`, or for the machine's own address
            where that is a wildcard (`0.0.0.0`, `::`), which no client could connect to.
        ports: one per broker; without them free ones are taken.
        racks: one per broker (`broker.rack`). With the property `replica.selector.class` set to
            `org.apache.kafka.common.replica.RackAwareReplicaSelector` readers are sent to a replica in their own.
        clock: time; the system's by default. With a manual clock, timers run soon after it was moved.
        seed: of all ids; a fixed seed gives the same ones in every run.

    Raises:
        ValueError: a property that does not exist or a value it can't have.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        default_partitions: int = 1,
        auto_create_topics: bool = True,
        properties: Mapping[str, str] | None = None,
        sasl: SaslSettings | None = None,
        tls: ssl.SSLContext | None = None,
        max_versions: Mapping[int, int | None] | None = None,
        host: str = "127.0.0.1",
        advertised_host: str | None = None,
        ports: Sequence[int] = (),
        racks: Sequence[str] = (),
        clock: Clock | None = None,
        seed: int | None = None,
    ) -> None:
        clock = clock or SystemClock()
        settings = {
            "num.partitions": str(default_partitions),
            "auto.create.topics.enable": str(auto_create_topics).lower(),
            "default.replication.factor": str(min(brokers, 3)),
            "group.initial.rebalance.delay.ms": "0",
            **(properties or {}),
        }
        rng = random.Random(seed)
        self._host = host
        self.advertised_host = advertised_host or (own_address(host) if host in _WILDCARDS else host)
        self.state = ClusterState(range(1, brokers + 1), clock, rng, settings, sasl, max_versions, self.advertised_host)
        for node, rack in zip(self.state.nodes.values(), racks, strict=False):
            node.rack = rack
        self.max_frame_bytes = self.state.config.integer("socket.request.max.bytes")
        self._poll_s = None if isinstance(clock, SystemClock) else _FOREIGN_CLOCK_POLL_S
        self._tls = tls
        self._ports = dict(zip(self.state.nodes, ports, strict=False))
        self._listeners: dict[int, socket.socket] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._reservations: list[socket.socket] = []
        self._protocols: dict[BrokerProtocol, int] = {}
        self._connections = 0
        self._empty: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._wakeup: asyncio.TimerHandle | None = None
        self._wakeup_s = 0.0

    # ---- life ----------------------------------------------------------------------------------------------------

    def start(self) -> EmbeddedCluster:
        """Start the loop thread and all brokers; OSError if a port is taken."""
        if self._thread is not None:
            raise RuntimeError("this cluster runs already")
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, args=(loop,), name="kserdes-broker", daemon=True)
        self._thread.start()
        try:
            for node_id in self.state.nodes:
                self._await(self._listen(node_id))
        except BaseException:
            self.close()
            raise
        return self

    @staticmethod
    def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def close(self) -> None:
        """Cut all connections and end the loop thread. May be called twice."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._await(self._stop_everything())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CALL_TIMEOUT_S)
        self._loop = self._thread = None

    def __enter__(self) -> EmbeddedCluster:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self.state.failures:
            raise self.state.failures[0]

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker that runs, with commas between; IPv6 addresses in brackets."""
        running = (node for node in self.state.nodes.values() if node.alive)
        return ",".join(
            f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}" for node in running
        )

    # ---- what tests do to it -------------------------------------------------------------------------------------

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic; `Refused` with a code if that is not possible."""
        self._call(
            lambda: self.state.create_topic(
                name,
                -1 if partitions is None else partitions,
                -1 if replication_factor is None else replication_factor,
                dict(configs or {}),
            )
        )

    def delete_topic(self, name: str) -> None:
        """Delete a topic and its records; KeyError if there is none."""
        self._call(lambda: self.state.delete_topic(self.state.topics[name]))

    def records(self, topic: str, partition: int, from_offset: int = 0) -> list[MessageLike]:
        """All records of a partition from `from_offset` on; KeyError or IndexError if there is no partition."""
        return self._call(lambda: reading.messages(self.state.topics[topic].partitions[partition], from_offset))

    def offsets(self, topic: str, partition: int) -> tuple[int, int]:
        """(first offset, end offset) of a partition; KeyError or IndexError if there is none."""

        def read() -> tuple[int, int]:
            found = self.state.topics[topic].partitions[partition].log
            return found.start_offset, found.end_offset

        return self._call(read)

    def leader(self, topic: str, partition: int) -> int:
        """Id of the broker that leads a partition, -1 if nobody does."""
        return self._call(lambda: self.state.topics[topic].partitions[partition].leader)

    def coordinator(self, group: str) -> int:
        """Id of the broker that coordinates a group, -1 if no broker runs."""

        def find() -> int:
            node = self.state.coordinator_of(group)
            return -1 if node is None else node.node_id

        return self._call(find)

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        """The offset a group has committed, None if it has not."""

        def find() -> int | None:
            entry = self.state.groups.committed(group, topic, partition)
            return None if entry is None else entry.offset

        return self._call(find)

    def telemetry(self) -> list[PushedTelemetry]:
        """All pushes of clients (KIP-714) since the last call, in order.

        Brokers take telemetry where the property `metric.reporters` names any class but Kafka's own JmxReporter, and
        clients push what a resource of type CLIENT_METRICS asks for.
        """

        def take() -> list[PushedTelemetry]:
            kept = self.state.telemetry
            taken, kept.pushed = kept.pushed, []
            return taken

        return self._call(take)

    def intercept(
        self,
        api: int | type[ApiMessage],
        interceptor: Interceptor,
        *,
        times: int | None = None,
        broker: int | None = None,
    ) -> Rule:
        """Let `interceptor(request, context)` decide on requests of one API. It runs on the cluster's own thread.

        It returns None (go on), a response message (the answer), an error code (every part of the answer carries it),
        or `Drop`, `Delay`, `Disconnect` from `kafka_core.broker.faults`.

        Args:
            api: API key or request class.
            interceptor: called for every such request that an earlier rule did not decide.
            times: act at most so often (calls that return None do not count).
            broker: only requests to this broker.

        Returns:
            The rule; `rule.seen` counts the requests it was asked about, `stop_intercepting(rule)` ends it.
        """
        api_key = api if isinstance(api, int) else api.API_KEY
        rule = Rule(api_key, interceptor, times, broker)
        self._call(lambda: self.state.faults.add(rule))
        return rule

    def stop_intercepting(self, rule: Rule | None = None) -> None:
        """End one rule, or all."""
        self._call(self.state.faults.clear if rule is None else lambda: self.state.faults.remove(rule))

    def move_leader(self, topic: str, partition: int, broker: int, *, end_offset: int | None = None) -> None:
        """Make another living broker lead a partition; `Refused` if that is not possible.

        Args:
            end_offset: play an unclean election: the new leader's log ends here (at the start of the batch around it),
                whatever was written behind is lost. It may be the broker that leads already.
        """
        self._call(lambda: self.state.move_leader(topic, partition, broker, end_offset=end_offset))

    def stop_broker(self, broker: int) -> None:
        """Stop a broker: port closed, connections cut, its partitions led by others. KeyError if unknown."""
        self._await(self._stop(broker))

    def start_broker(self, broker: int) -> None:
        """Start a stopped broker on the port it had. KeyError if unknown."""
        self._await(self._start_again(broker))

    def disconnect_all(self, broker: int | None = None) -> int:
        """Cut all connections (to one broker); returns how many there were."""

        def cut() -> int:
            found = [protocol for protocol, node_id in self._protocols.items() if broker in (None, node_id)]
            for protocol in found:
                protocol.cut()
            return len(found)

        return self._call(cut)

    # ---- the loop thread -----------------------------------------------------------------------------------------

    def admit(self, protocol: BrokerProtocol, node: Node, client_host: str, client_port: int) -> Connection | None:
        """A connection was made (called by its protocol); None if the broker was stopped since it was accepted."""
        if node.node_id not in self._listeners:
            return None
        self._connections += 1
        self._protocols[protocol] = node.node_id
        return Connection(
            self._connections,
            node.node_id,
            f"/{client_host}",
            authenticated=self.state.sasl is None,
            client_port=client_port,
        )

    def dismiss(self, protocol: BrokerProtocol, connection: Connection | None) -> None:
        """A connection ended (called by its protocol)."""
        self._protocols.pop(protocol, None)
        if connection is not None:
            self.state.disconnected(connection.broker_id, connection.connection_id)
        if not self._protocols and self._empty is not None:
            self._empty.set()

    def plan_wakeup(self) -> None:
        """See that the loop runs timers when the first one is due."""
        deadline_s = self.state.timers.next_deadline_s()
        if deadline_s is None or self._loop is None:
            return
        if self._wakeup is not None:
            if self._wakeup_s <= deadline_s:
                return  # it comes early enough, and plans the next one
            self._wakeup.cancel()
        delay_s = max(deadline_s - self.state.clock.monotonic(), 0.0)
        if self._poll_s is not None:
            delay_s = min(delay_s, self._poll_s)
        self._wakeup_s = deadline_s
        self._wakeup = self._loop.call_later(delay_s, self._run_timers)

    def _run_timers(self) -> None:
        self._wakeup = None
        self.state.timers.run_due()
        self.plan_wakeup()

    def _reserve(self, node: Node) -> None:
        """Bind the broker's port for as long as the cluster runs, so that nobody takes it while the broker is stopped.

        The reserving socket never listens: connections to a stopped broker are refused.
        """
        reservation = _bound_socket(self._host, self._ports.get(node.node_id, 0))
        self._reservations.append(reservation)
        node.port = reservation.getsockname()[1]

    async def _listen(self, node_id: int) -> None:
        """Take connections of a broker.

        Not by `loop.create_server`: when that is closed between accepting a connection and making its transport, it
        forgets the connection, which then stays open with nobody behind it (CPython 3.11, `Server._attach`). Nor by
        `loop.sock_accept`: a connection accepted just before its caller is cancelled is lost the same way.
        """
        node = self.state.nodes[node_id]
        if not node.port:
            self._reserve(node)
        listener = _bound_socket(self._host, node.port)
        try:
            listener.listen(_BACKLOG)
            listener.setblocking(False)
        except BaseException:
            listener.close()
            raise
        self._listeners[node_id] = listener
        asyncio.get_running_loop().add_reader(listener, self._accept, listener, node)

    def _accept(self, listener: socket.socket, node: Node) -> None:
        with contextlib.suppress(BlockingIOError):
            client, _ = listener.accept()
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serving = asyncio.get_running_loop().create_task(self._serve(client, node))
            self._starting.add(serving)
            serving.add_done_callback(functools.partial(self._served, client))

    async def _serve(self, client: socket.socket, node: Node) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: BrokerProtocol(self, node), client, ssl=self._tls)
        except OSError as error:  # also every failure of a TLS handshake
            logger.info("broker %d: a connection came to nothing: %s", node.node_id, error)
            client.close()

    def _served(self, client: socket.socket, serving: asyncio.Task[None]) -> None:
        """Not left to `_serve`: a task that is cancelled before its first step runs none of its code."""
        self._starting.discard(serving)
        if serving.cancelled():
            client.close()

    async def _stop(self, node_id: int) -> None:
        if not self.state.nodes[node_id].alive:
            return
        self._close_listener(node_id)
        self.state.node_down(node_id)
        self.plan_wakeup()

    async def _start_again(self, node_id: int) -> None:
        if self.state.nodes[node_id].alive:
            return
        await self._listen(node_id)
        self.state.node_up(node_id)

    def _close_listener(self, node_id: int) -> None:
        listener = self._listeners.pop(node_id, None)
        if listener is None:
            return
        asyncio.get_running_loop().remove_reader(listener)
        listener.close()
        for protocol in [found for found, owner in self._protocols.items() if owner == node_id]:
            protocol.cut()

    async def _stop_everything(self) -> None:
        for node_id in list(self._listeners):
            self._close_listener(node_id)
        for serving in list(self._starting):
            serving.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        if self._wakeup is not None:
            self._wakeup.cancel()
            self._wakeup = None
        for reservation in self._reservations:
            reservation.close()
        self._reservations.clear()
        for node in self.state.nodes.values():
            node.port = 0
        if self._protocols:  # their connections are cut; each takes itself out when it hears of it
            self._empty = asyncio.Event()
            await asyncio.wait_for(self._empty.wait(), _CALL_TIMEOUT_S)

    def _call(self, action: Callable[[], T]) -> T:
        """Run `action` on the loop thread and wait for it."""

        async def run() -> T:
            try:
                return action()
            finally:
                self.plan_wakeup()

        return self._await(run())

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        loop = self._loop
        if loop is None:
            work.close()
            raise RuntimeError("this cluster does not run: use it as a context manager, or call start()")
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("called on the cluster's own thread (an interceptor?): use cluster.state there")
        return asyncio.run_coroutine_threadsafe(work, loop).result(_CALL_TIMEOUT_S)


def own_address(wildcard: str) -> str:
    """The address of this machine that others reach it by; that of the loopback interface if it has no other."""
    family = socket.AF_INET6 if ":" in wildcard else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE[family], 9))
        except OSError:
            return "::1" if family == socket.AF_INET6 else "127.0.0.1"
        return str(probe.getsockname()[0])


def _bound_socket(host: str, port: int) -> socket.socket:
    """A TCP socket bound to the address (0: any free port) that shares it with others of ours."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    return bound
