"""Whom to ask: known brokers by load, the bootstrap servers, or any broker that can be reached.

Must not know what is asked. `BrokerChooser` is what the metadata refresher stands on, `AnyBroker` what the coordinator
finder stands on.
Spec: KIP-899/1102 (begin again with the bootstrap servers).
"""

import contextlib
import random
from collections.abc import Sequence
from functools import partial
from typing import Final

from kafka_core.aio.cluster.failures import Failures
from kafka_core.aio.cluster.pool import ConnectionPool
from kafka_core.aio.cluster.refresh import STAGGER_S, MetadataRefresher
from kafka_core.aio.cluster.state import ClusterState
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.race import AllFailed, race
from kafka_core.engine.metadata import BrokerAddress, with_broker
from kafka_core.errors import KafkaError, KafkaException, NetworkError
from kafka_core.protocol.messages.metadata import MetadataResponse

_SILENT_S: Final = STAGGER_S / 2
"""After so long without an answer other brokers are asked first."""
_FULL: Final = 1000
"""A full socket counts as so many requests in flight."""


class BrokerChooser:
    """The ways to the cluster.

    Args:
        rebootstraps: metadata.recovery.strategy allows to begin again with the bootstrap servers.
    """

    def __init__(
        self, state: ClusterState, failures: Failures, pool: ConnectionPool, rng: random.Random, *, rebootstraps: bool
    ) -> None:
        self._state = state
        self._failures = failures
        self._pool = pool
        self._rng = rng
        self._rebootstraps = rebootstraps
        self._must_bootstrap = False

    def brokers_by_load(self) -> Sequence[BrokerAddress]:
        """Known brokers: connected ones first, the least loaded first; then those whose back-off ends first; last of
        all those that have stopped answering.

        None at all after a broker told us to begin again with the bootstrap servers.
        """
        if self._must_bootstrap:
            return []

        def cost(broker: BrokerAddress) -> tuple[int, float, float]:
            ready = self._pool.ready(broker.node_id)
            if ready is not None and ready.silent_s > _SILENT_S:
                return 2, ready.silent_s, self._rng.random()
            if ready is not None:
                return 0, ready.in_flight + (0 if ready.writable else _FULL), self._rng.random()
            return 1, self._pool.waits_s(broker.node_id), self._rng.random()

        return sorted(self._state.view.brokers.values(), key=cost)

    async def connection_to(self, broker: BrokerAddress) -> BrokerConnection:
        """The main connection to a known broker."""
        return await self._pool.get(broker)

    def may_bootstrap(self) -> bool:
        """Whether the bootstrap servers may be asked: nobody is known, or (KIP-899) nobody known can be reached."""
        brokers = self._state.view.brokers
        if not brokers or self._must_bootstrap:
            return True
        return self._rebootstraps and self._failures.all_fail(brokers)

    def rebootstrap(self) -> None:
        """A broker answered REBOOTSTRAP_REQUIRED (KIP-1102): only the bootstrap servers are asked until one answers."""
        self._must_bootstrap = self._rebootstraps

    def bootstrapped(self, connection: BrokerConnection, response: MetadataResponse) -> None:
        """A bootstrap server answered: keeps its connection if it is a broker's own address, else lets it go."""
        self._failures.cluster_reached()
        self._must_bootstrap = False
        for item in response.brokers:
            if (item.host, item.port) == (connection.host, connection.port):
                broker = BrokerAddress(item.node_id, item.host, item.port, item.rack)
                if self._pool.adopt(broker, connection):
                    return
        self._pool.retire(connection)

    def bootstrap_failed(self, address: str, error: KafkaException) -> None:
        """A bootstrap server could not be asked."""
        self._failures.bootstrap_failed(address, error)


class AnyBroker:
    """A connection to some broker, with fresh metadata if none of the known ones can be reached."""

    def __init__(
        self,
        state: ClusterState,
        failures: Failures,
        pool: ConnectionPool,
        brokers: BrokerChooser,
        refresher: MetadataRefresher,
    ) -> None:
        self._state = state
        self._failures = failures
        self._pool = pool
        self._brokers = brokers
        self._refresher = refresher

    async def any_connection(self) -> BrokerConnection:
        """A connection to some broker; waits, refreshing metadata, until one can be had."""
        while True:
            brokers = self._brokers.brokers_by_load()
            with contextlib.suppress(AllFailed):
                return await race([partial(self._pool.get, broker) for broker in brokers], stagger_s=STAGGER_S)
            await self._refresher.refresh((), allow_auto_create=False)
            if not self._state.view.brokers:
                raise NetworkError("the cluster says that it has no brokers", KafkaError._ALL_BROKERS_DOWN)

    def broker_seen(self, broker: BrokerAddress) -> None:
        """A broker's address was learnt from a FindCoordinator response."""
        if self._state.view.brokers.get(broker.node_id) is None:
            self._state.publish(with_broker(self._state.view, broker))

    def note_failure(self, error: KafkaException) -> None:
        """Keeps a cause for the text of a time-out, without telling anybody."""
        self._failures.note_passing(error)
