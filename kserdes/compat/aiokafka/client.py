"""aiokafka's AIOKafkaClient on our asyncio client: metadata, coordinators, connections.

Must not know the protocol; so there is no `send`, which takes requests of aiokafka's own protocol modules. Spec:
`aiokafka.client` of aiokafka 0.14.
"""

from __future__ import annotations

import asyncio
import random
import time
import warnings
from collections.abc import Coroutine, Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from kafka_core import KafkaException
from kafka_core import admin as core_admin
from kserdes.compat.aiokafka.arguments import ADMIN, CLIENT_ID
from kserdes.compat.aiokafka.cluster import ClusterMetadata, collect_hosts
from kserdes.compat.aiokafka.connecting import FirstContact, properties, translating
from kserdes.compat.aiokafka.errors import (
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    translated,
)
from kserdes.compat.aiokafka.structs import BrokerMetadata, PartitionMetadata

if TYPE_CHECKING:
    import ssl

    from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider

__all__ = ["AIOKafkaClient", "ConnectionGroup", "CoordinationType"]


def _replicas(place: Any) -> tuple[list[int], list[int], Any]:
    return list(place.replicas), list(place.isr), place.error_code


class ConnectionGroup(IntEnum):
    """The purpose of a connection; our client chooses it itself."""

    DEFAULT = 0
    COORDINATION = 1


class CoordinationType(IntEnum):
    """The kind of a coordinator."""

    GROUP = 0
    TRANSACTION = 1


class AIOKafkaClient:
    """Knows the cluster; arguments are those of aiokafka 0.14 (`arguments.ADMIN` says what each does).

    Attributes:
        cluster: its metadata.

    Raises:
        ValueError: arguments that make no sense.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        bootstrap_servers: str | list[str] = "localhost",
        client_id: str = CLIENT_ID,
        metadata_max_age_ms: int = 300000,
        request_timeout_ms: int = 40000,
        retry_backoff_ms: int = 100,
        ssl_context: ssl.SSLContext | None = None,
        security_protocol: str = "PLAINTEXT",
        api_version: str | None = None,
        connections_max_idle_ms: int = 540000,
        sasl_mechanism: str = "PLAIN",
        sasl_plain_username: str | None = None,
        sasl_plain_password: str | None = None,
        sasl_kerberos_service_name: str = "kafka",
        sasl_kerberos_domain_name: str | None = None,
        sasl_oauth_token_provider: AbstractTokenProvider | None = None,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in ADMIN.rows}
        if api_version is not None:
            warnings.warn("the argument `api_version` has no effect", DeprecationWarning, stacklevel=2)
        self._loop = loop or asyncio.get_running_loop()
        self._bootstrap_servers = bootstrap_servers
        self._client_id = client_id
        self._request_timeout_ms = request_timeout_ms
        self._metadata_max_age_ms = metadata_max_age_ms
        self._retry_backoff = retry_backoff_ms / 1000
        self._contact = FirstContact(bootstrap_servers)
        conf = properties(ADMIN, values, lambda: self._loop)
        try:
            self._admin = core_admin.AIOAdminClient(conf)
        except KafkaException as error:
            raise translated(error) from error
        self._core: Any = self._admin.client
        self._core.on_error(self._contact.on_error)
        self.cluster = ClusterMetadata(metadata_max_age_ms=metadata_max_age_ms)
        self._topics: set[str] = set()
        self._update: asyncio.Task[bool] | None = None
        self._sync_task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<AIOKafkaClient client_id={self._client_id}>"

    @property
    def hosts(self) -> list[tuple[str, int]]:
        """The addresses of the configuration."""
        return collect_hosts(self._bootstrap_servers)

    async def bootstrap(self) -> None:
        """Connects, and learns the brokers.

        Raises:
            KafkaConnectionError: no broker can be reached.
        """
        await self._contact.make(self._admin.cluster_id(self._request_timeout_ms / 1000))
        self._learn(self.cluster, await self._ask(set()), self._topics)
        if self._sync_task is None:
            self._sync_task = self._loop.create_task(self._keep_fresh())

    async def close(self) -> None:
        """Closes all connections."""
        for task in (self._sync_task, self._update):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task})
        self._sync_task = self._update = None
        await self._admin.close()

    # ---- metadata

    def force_metadata_update(self) -> asyncio.Future[bool]:
        """Asks for metadata now; the future's result is whether it came."""
        if self._update is None or self._update.done():
            self._update = self._loop.create_task(self._refresh())
        return asyncio.shield(self._update)

    async def fetch_all_metadata(self) -> ClusterMetadata:
        """Metadata of all topics, apart from `cluster`.

        Raises:
            KafkaError: nobody answers.
        """
        found = ClusterMetadata(metadata_max_age_ms=self._metadata_max_age_ms)
        with translating():
            self._learn(found, await self._ask(None), None)
        return found

    def add_topic(self, topic: str) -> asyncio.Future[bool]:
        """Follows one more topic."""
        known = topic in self._topics
        self._topics.add(topic)
        return self._done() if known else self.force_metadata_update()

    def set_topics(self, topics: Iterable[str]) -> asyncio.Future[bool]:
        """Follows these topics, or all if there are none."""
        assert not isinstance(topics, str)
        wanted = set(topics)
        more = not wanted or bool(wanted - self._topics)
        self._topics = wanted
        return self.force_metadata_update() if more else self._done()

    def _done(self) -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = self._loop.create_future()
        future.set_result(True)
        return future

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(self._metadata_max_age_ms / 1000)
            await self.force_metadata_update()

    async def _refresh(self) -> bool:
        while True:
            topics = set(self._topics)
            try:
                view = await self._ask(topics or None)
            except KafkaException as error:
                self.cluster.failed_update(translated(error))
                return False
            if topics == self._topics:
                self._learn(self.cluster, view, topics)
                return True

    def _ask(self, topics: set[str] | None) -> Coroutine[Any, Any, Any]:
        found: Coroutine[Any, Any, Any] = self._core.refresh_metadata(topics)
        return found

    def _learn(self, cluster: ClusterMetadata, view: Any, wanted: set[str] | None) -> None:
        known = [(name, topic) for name, topic in view.topics.items() if not wanted or name in wanted]
        topics = {
            name: [
                PartitionMetadata(
                    name, place.partition, -1 if place.leader is None else place.leader, *_replicas(place)
                )
                for place in topic.partitions.values()
            ]
            for name, topic in known
        }
        cluster.learn(
            {node: BrokerMetadata(node, each.host, each.port, each.rack) for node, each in view.brokers.items()},
            view.controller_id,
            topics,
            {name: (topic.error_code, topic.is_internal) for name, topic in known},
        )

    async def _wait_on_metadata(self, topic: str) -> set[int]:
        """The partitions of a topic, once they are known.

        Raises:
            UnknownTopicOrPartitionError: they are not, after `request_timeout_ms`.
            TopicAuthorizationFailedError: this client may not see it.
        """
        ends_s = time.monotonic() + self._request_timeout_ms / 1000
        if (found := self.cluster.partitions_for_topic(topic)) is not None:
            return found
        await self.add_topic(topic)
        while (found := self.cluster.partitions_for_topic(topic)) is None:
            if topic in self.cluster.unauthorized_topics:
                raise TopicAuthorizationFailedError(topic)
            if time.monotonic() > ends_s:
                raise UnknownTopicOrPartitionError
            await asyncio.sleep(self._retry_backoff)
            await self.force_metadata_update()
        return found

    async def _maybe_wait_metadata(self) -> None:
        if self._update is not None and not self._update.done():
            await asyncio.shield(self._update)

    # ---- brokers

    def get_random_node(self) -> int | str | None:
        """The id of some broker; None if none is known."""
        found = [broker.nodeId for broker in self.cluster.brokers()]
        return random.choice(found) if found else None

    async def ready(self, node_id: int, *, group: ConnectionGroup = ConnectionGroup.DEFAULT) -> bool:
        """Whether there is a connection to a broker; makes one if need be."""
        if self.cluster.broker_metadata(node_id) is None:
            self.force_metadata_update()
            return False
        try:
            await asyncio.wait_for(self._core.connection(node_id), self._request_timeout_ms / 1000)
        except (KafkaException, TimeoutError):
            self.force_metadata_update()
            return False
        return True

    async def coordinator_lookup(self, coordinator_type: CoordinationType | int, coordinator_key: str) -> int:
        """The id of the broker that coordinates a group or a transactional id.

        Raises:
            KafkaError: nobody says.
        """
        with translating():
            node_id: int = await self._core.coordinator(CoordinationType(coordinator_type), coordinator_key)
        return node_id
