"""Carries out a client's telemetry: one task, from the first broker that takes any to the goodbye.

Must not know what is measured or what an answer means: `engine/telemetry` does. It makes no connections: pushes go over
those that the client has, and wait where it has none.
Spec: KIP-714: one broker is kept as long as it can be reached, for each counts the time between pushes by itself.
"""

import asyncio
import contextlib
import logging
import random
from typing import Any, Final
from uuid import UUID

from kafka_core.aio.cluster.pool import ConnectionPool
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.engine.telemetry.meters import Meters
from kafka_core.engine.telemetry.reporter import Reporter
from kafka_core.errors import BrokerError, KafkaException, StateError, UnsupportedVersionError
from kafka_core.hooks import Hooks
from kafka_core.protocol import ApiRequest
from kafka_core.protocol.messages.telemetry import GetTelemetrySubscriptionsRequest, PushTelemetryRequest
from kserdes_base.version import VERSION

logger: Final = logging.getLogger("kafka_core.telemetry")

GOODBYE_S: Final = 0.25
"""The longest wait of closing for the answer to the last push, in seconds."""
LOOK_AGAIN_S: Final = 5.0
"""After so long connections are looked at again, which were full or throttled when a push was due."""
NO_TELEMETRY: Final = (
    "the cluster takes no client telemetry, so it gives clients no ids: its brokers have no MetricsReporter with "
    "ClientTelemetry, or are older than Kafka 3.7"
)


class Telemetry:
    """The telemetry of one client. On its loop.

    Args:
        hooks: those that tell of the client's requests; they are listened to while somebody wants metrics.
    """

    def __init__(self, meters: Meters, pool: ConnectionPool, clock: Clock, rng: random.Random, hooks: Hooks) -> None:
        self._meters = meters
        self._pool = pool
        self._clock = clock
        self._hooks = hooks
        self._reporter = Reporter(self._meters, ("kserdes", VERSION), rng, clock.monotonic())
        self._node_id = -1
        self._nodes: set[int] = set()
        self._refused = False
        self._up = asyncio.Event()
        self._answered = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def broker_up(self, broker: BrokerAddress) -> None:
        """There is a new connection to a broker."""
        self._nodes.add(broker.node_id)
        self._up.set()
        connection = self._pool.ready(broker.node_id)
        if self._task is not None or self._closed or connection is None:
            return
        if _takes_telemetry(connection):
            self._task = background(self._run(), "kafka-core-telemetry")
        elif not self._refused:
            self._refused = True
            logger.debug("broker %s takes no telemetry", broker)

    async def instance_id(self) -> UUID:
        """The id that the cluster has given this client; waits for it, once there is a connection.

        Raises:
            UnsupportedVersionError: the broker that the client is connected to takes no telemetry.
            BrokerError: it refuses to give an id.
            StateError: the client is closed.
        """
        while (found := self._reporter.client_instance_id) is None:
            if self._closed:
                raise StateError("the client is closed")
            if self._task is None and self._refused:
                raise UnsupportedVersionError(NO_TELEMETRY)
            if self._reporter.refusal:
                raise BrokerError(self._reporter.refusal)
            self._answered.clear()
            await self._answered.wait()
        return found

    async def close(self, timeout_s: float) -> None:
        """Pushes once more, if anybody wants it, and waits for the answer for `GOODBYE_S` at most."""
        self._closed = True
        self._answered.set()
        if self._task is not None:
            self._task.cancel()
            request = self._reporter.last_push(self._clock.monotonic(), self._clock.time_ms())
            connection = self._connection()
            if request is not None and connection is not None:
                with contextlib.suppress(KafkaException, TimeoutError):
                    async with asyncio.timeout(min(GOODBYE_S, timeout_s)):
                        await connection.send(request)
        self._reporter.end()

    # ---- inside

    async def _run(self) -> None:
        try:
            while (due_s := self._reporter.due_s()) is not None:
                await asyncio.sleep(max(0.0, due_s - self._clock.monotonic()))
                connection = self._connection()
                if connection is None:
                    await self._wait_for_one()
                    continue
                await self._ask(connection, self._reporter.request(self._clock.monotonic(), self._clock.time_ms()))
        finally:
            self._answered.set()

    async def _wait_for_one(self) -> None:
        self._up.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_S):
                await self._up.wait()

    async def _ask(self, connection: BrokerConnection, request: ApiRequest[Any]) -> None:
        try:
            response = await connection.send(request)
        except KafkaException as error:
            logger.debug("no answer about telemetry: %s", error)
            self._node_id = -1
            self._reporter.failed(self._clock.monotonic())
        else:
            self._reporter.answered(response, self._clock.monotonic())
        self._meters.activate(self._hooks, active=self._reporter.wants_metrics)
        self._answered.set()

    def _connection(self) -> BrokerConnection | None:
        """The connection to the broker asked before, or else to any that takes telemetry and has room now."""
        for node_id in (self._node_id, *sorted(self._nodes)):
            connection = self._pool.ready(node_id)
            if connection is not None and connection.writable and _takes_telemetry(connection):
                self._node_id = node_id
                return connection
        return None


def _takes_telemetry(connection: BrokerConnection) -> bool:
    return all(map(connection.versions.supports, (GetTelemetrySubscriptionsRequest, PushTelemetryRequest)))
