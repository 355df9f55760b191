"""Connections per broker and purpose: made when needed, shared, reconnected with back-off, closed when a broker goes.

Must not know metadata rules or requests; the client says which brokers exist.
Spec: reconnect.backoff.ms, reconnect.backoff.max.ms (KIP-144, KIP-580).
"""

import asyncio
import contextlib
import enum
import logging
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol

from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.background import retrieve_error
from kafka_core.clock import Clock
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaException, StateError

logger: Final = logging.getLogger("kafka_core.aio")

_SILENT_S: Final = 10.0
"""Least silence of a connection that is given up because another one to the same broker timed out: a broker may hold
the answer to a fetch back for a while."""


class Purpose(enum.Enum):
    """The purpose of a request, which picks one of a broker's connections: waiting ones must not hold up others."""

    MAIN = "main"
    """Produce, metadata, admin: answered at once."""
    FETCH = "fetch"
    """Fetch: the broker holds the answer back until there is data."""
    GROUP = "group"
    """Join, sync, heartbeat: the broker may hold the answer back for minutes."""


class Connects(Protocol):
    """The part of `Connector` that the pool uses."""

    async def connect(self, host: str, port: int, node_id: int = -1) -> BrokerConnection:
        """A connection that is ready for requests."""
        ...


class Slot:
    """One broker's connection for one purpose, with the history that decides when to connect again."""

    __slots__ = ("attempt", "broker", "connection", "not_before_s", "purpose", "refused", "task", "up")

    def __init__(self, broker: BrokerAddress, purpose: Purpose) -> None:
        self.broker = broker
        self.purpose = purpose
        self.connection: BrokerConnection | None = None
        self.task: asyncio.Task[BrokerConnection] | None = None
        self.attempt = 0
        self.not_before_s = 0.0
        self.refused = False  # whether the last attempt did not even connect
        self.up: asyncio.Event | None = None  # set while an attempt waits for its time: ends the wait

    def reachable(self) -> None:
        """A connection of another purpose has just reached the same broker: this one may try at once."""
        if self.refused:
            self.attempt, self.not_before_s = 0, 0.0
            if self.up is not None:
                self.up.set()


class ConnectionPool:
    """All connections to brokers whose id is known.

    Args:
        on_up: Called with the broker when a connection to it is ready.
        on_down: Called with broker and error when connecting failed or a connection was lost (not when we closed it).
    """

    def __init__(
        self,
        connector: Connects,
        *,
        clock: Clock,
        rng: random.Random,
        backoff_ms: float,
        backoff_max_ms: float,
        on_up: Callable[[BrokerAddress], object],
        on_down: Callable[[BrokerAddress, KafkaException], object],
    ) -> None:
        self._connector = connector
        self._clock = clock
        self._backoff = Backoff(backoff_ms, backoff_max_ms, rng)
        self._settled_after_s = max(backoff_ms, backoff_max_ms) / 1000
        self._on_up, self._on_down = on_up, on_down
        self._slots: dict[tuple[int, Purpose], Slot] = {}
        self._ending: set[BrokerConnection] = set()  # no slot's any more, but their sockets may be open yet
        self._closed = False

    async def get(self, broker: BrokerAddress, purpose: Purpose = Purpose.MAIN) -> BrokerConnection:
        """The broker's connection for that purpose; connects, after the back-off, when there is none.

        Concurrent callers share one attempt; cancelling one of them does not stop it.

        Raises:
            NetworkError, AuthError, ProtocolError: this attempt failed.
            StateError: the pool is closed.
        """
        if self._closed:
            raise StateError("the client is closed")
        slot = self._slot(broker, purpose)
        if slot.connection is not None and slot.connection.usable:
            return slot.connection
        if slot.task is None:
            slot.task = asyncio.get_running_loop().create_task(self._connect(slot))
            slot.task.add_done_callback(retrieve_error)
        return await asyncio.shield(slot.task)

    def ready(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> BrokerConnection | None:
        """The connection, if there is a usable one now."""
        slot = self._slots.get((node_id, purpose))
        if slot is None or slot.connection is None or not slot.connection.usable:
            return None
        return slot.connection

    def waits_s(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> float:
        """Seconds until the back-off lets a new attempt begin; 0.0 when it may begin now."""
        slot = self._slots.get((node_id, purpose))
        return max(0.0, slot.not_before_s - self._clock.monotonic()) if slot is not None else 0.0

    def throttled_s(self) -> dict[int, float]:
        """Brokers that throttle this client, with the seconds that are left."""
        found: dict[int, float] = {}
        for (node_id, _), slot in self._slots.items():
            left_s = slot.connection.throttled_s if slot.connection is not None else 0.0
            if left_s > 0:
                found[node_id] = max(left_s, found.get(node_id, 0.0))
        return found

    def unanswered(self) -> dict[int, tuple[int, int]]:
        """By broker with a connection: requests that wait to be written, and those that wait for their answers."""
        found: dict[int, tuple[int, int]] = {}
        for (node_id, _), slot in self._slots.items():
            if slot.connection is not None:
                held, waiting = found.get(node_id, (0, 0))
                more = slot.connection.held
                found[node_id] = held + more, waiting + slot.connection.in_flight - more
        return found

    def adopt(self, broker: BrokerAddress, connection: BrokerConnection) -> bool:
        """Take a connection made elsewhere as the broker's MAIN one; False when there is one already.

        The broker can be reached: an attempt that waits out its back-off does so no longer.
        """
        slot = self._slot(broker, Purpose.MAIN)
        slot.reachable()
        if self._closed or slot.task is not None or (slot.connection is not None and slot.connection.usable):
            return False
        connection.node_id = broker.node_id
        self._take(slot, connection)
        return True

    def keep_only(self, brokers: Mapping[int, BrokerAddress]) -> None:
        """Let go of brokers that are not in the cluster any more or have moved: answers are waited for, then closed."""
        for key, slot in list(self._slots.items()):
            broker = brokers.get(slot.broker.node_id)
            if broker is None or (broker.host, broker.port) != (slot.broker.host, slot.broker.port):
                del self._slots[key]
                self._let_go(slot)

    def retire(self, connection: BrokerConnection) -> None:
        """Closes a connection once all its answers have come, even one made outside the pool."""
        self._watch_end(connection)
        connection.retire()
        if self._closed:
            connection.abort()  # nobody waits for a goodbye any more

    async def close(self, timeout_s: float) -> None:
        """Close everything at once; in-flight requests fail. Later calls of `get` raise StateError."""
        self._closed = True
        connections = [slot.connection for slot in self._slots.values() if slot.connection is not None]
        connections += self._ending
        tasks = [slot.task for slot in self._slots.values() if slot.task is not None]
        self._slots.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*(connection.close(timeout_s) for connection in connections))
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def abort(self) -> None:
        """Drop everything without waiting."""
        self._closed = True
        for slot in self._slots.values():
            if slot.task is not None:
                slot.task.cancel()
            if slot.connection is not None:
                slot.connection.abort()
        for connection in list(self._ending):
            connection.abort()
        self._slots.clear()

    # ---- inside

    def _slot(self, broker: BrokerAddress, purpose: Purpose) -> Slot:
        key = (broker.node_id, purpose)
        slot = self._slots.get(key)
        if slot is not None and (slot.broker.host, slot.broker.port) != (broker.host, broker.port):
            self._let_go(slot)
            slot = None
        if slot is None:
            slot = self._slots[key] = Slot(broker, purpose)
        return slot

    async def _connect(self, slot: Slot) -> BrokerConnection:
        try:
            wait_s = slot.not_before_s - self._clock.monotonic()
            if wait_s > 0:
                await self._back_off(slot, wait_s)
            # The next attempt may begin a back-off after the beginning of this one, however this one ends: a broker
            # that accepts connections and drops them at once must not be hammered either.
            slot.not_before_s = self._clock.monotonic() + self._backoff.delay_s(slot.attempt)
            slot.attempt += 1
            connection = await self._connector.connect(slot.broker.host, slot.broker.port, slot.broker.node_id)
        except KafkaException as error:
            slot.refused = True
            slot.not_before_s = max(
                slot.not_before_s, self._clock.monotonic() + self._backoff.delay_s(slot.attempt - 1)
            )
            self._on_down(slot.broker, error)
            raise
        finally:
            slot.task = None
        if self._slots.get((slot.broker.node_id, slot.purpose)) is not slot:  # let go while we were connecting
            self.retire(connection)
            return connection
        self._take(slot, connection)
        return connection

    async def _back_off(self, slot: Slot, wait_s: float) -> None:
        slot.up = asyncio.Event()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await slot.up.wait()
        finally:
            slot.up = None

    def _take(self, slot: Slot, connection: BrokerConnection) -> None:
        slot.connection, slot.refused = connection, False
        for purpose in Purpose:  # the broker can be reached: the others need not wait out their back-off
            other = self._slots.get((slot.broker.node_id, purpose))
            if other is not None and other is not slot:
                other.reachable()
        self._on_up(slot.broker)
        connection.on_end(partial(self._lost, slot, connection))

    def _lost(self, slot: Slot, connection: BrokerConnection, error: KafkaException | None) -> None:
        self._watch_end(connection)  # TLS says goodbye first
        if slot.connection is connection:
            slot.connection = None
        lasted_s = self._clock.monotonic() - connection.connected_at_s
        if connection.answered or lasted_s > self._settled_after_s:  # it worked: its end is no failure to connect
            slot.attempt = 0
            slot.not_before_s = min(slot.not_before_s, connection.connected_at_s + self._backoff.delay_s(0))
        if error is not None and not self._closed:
            self._on_down(slot.broker, error)
        if error is not None and connection.unanswered_since_s is not None:
            self._drop_silent(slot, connection.unanswered_since_s, error)

    def _drop_silent(self, slot: Slot, since_s: float, error: KafkaException) -> None:
        """Drop a broker's other connections from which nothing has come either since the unanswered request was sent.

        What has swallowed that one (a firewall that forgot us, a machine that was switched off) has them too, and
        each would cost a time-out of its own.
        """
        since_s = min(since_s, self._clock.monotonic() - _SILENT_S)
        for purpose in Purpose:
            other = self._slots.get((slot.broker.node_id, purpose))
            found = other.connection if other is not None and other is not slot else None
            if found is not None and found.heard_s < since_s:
                found.abort(error if found.in_flight else None)

    def _let_go(self, slot: Slot) -> None:
        if slot.connection is not None:
            self.retire(slot.connection)

    def _watch_end(self, connection: BrokerConnection) -> None:
        if connection not in self._ending:
            self._ending.add(connection)
            connection.on_closed(partial(self._ending.discard, connection))
