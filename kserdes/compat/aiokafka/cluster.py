"""aiokafka's view of the cluster, with the calls that its assignors and partitioners make.

Must not know clients: metadata is handed in. Spec: `aiokafka.cluster` of aiokafka 0.14.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Self

from kserdes.compat.aiokafka.errors import (
    LeaderNotAvailableError,
    NoError,
    TopicAuthorizationFailedError,
    for_code,
)
from kserdes.compat.aiokafka.structs import BrokerMetadata, PartitionMetadata, TopicPartition

__all__ = ["ClusterMetadata", "collect_hosts"]

logger: Final = logging.getLogger("kserdes.compat")
ADDRESS: Final = re.compile(
    r"\[(?P<inside>[^]]+)\](?::(?P<port6>\d+))?|(?P<host>[^:]+)(?::(?P<port>\d+))?|(?P<bare>.+)"
)
DEFAULT_PORT: Final = 9092


def collect_hosts(hosts: str | Iterable[str]) -> list[tuple[str, int]]:
    """Host and port of each address; the port is 9092 where there is none."""
    texts = hosts.strip().split(",") if isinstance(hosts, str) else hosts
    found = []
    for text in texts:
        parts = ADDRESS.fullmatch(text.strip())
        if parts is not None:
            host = parts["inside"] or parts["host"] or parts["bare"]
            found.append((host, int(parts["port6"] or parts["port"] or DEFAULT_PORT)))
    return found


class ClusterMetadata:
    """Brokers, topics and partitions; it asks nobody.

    Args:
        configs: `bootstrap_servers`, `metadata_max_age_ms`, `retry_backoff_ms`; others are passed over.

    Attributes:
        controller: the broker that is the controller, if it is known.
        unauthorized_topics: topics that this client may not see.
        internal_topics: topics of the brokers themselves.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        "retry_backoff_ms": 100,
        "metadata_max_age_ms": 300_000,
        "bootstrap_servers": [],
    }

    def __init__(self, **configs: Any) -> None:
        self.config = {name: configs.get(name, default) for name, default in self.DEFAULT_CONFIG.items()}
        self._brokers: dict[int | str, BrokerMetadata] = {}
        self._partitions: dict[str, dict[int, PartitionMetadata]] = {}
        self._broker_partitions: defaultdict[int, set[TopicPartition]] = defaultdict(set)
        self._listeners: set[Callable[[ClusterMetadata], object]] = set()
        self._future: asyncio.Future[ClusterMetadata] | None = None
        self.need_all_topic_metadata = False
        self.unauthorized_topics: set[str] = set()
        self.internal_topics: set[str] = set()
        self.controller: BrokerMetadata | None = None
        addresses = collect_hosts(self.config["bootstrap_servers"])
        self._bootstrap_brokers = {
            f"bootstrap-{number}": BrokerMetadata(f"bootstrap-{number}", host, port, None)
            for number, (host, port) in enumerate(addresses)
        }

    def __str__(self) -> str:
        return f"ClusterMetadata(brokers: {len(self._brokers)}, topics: {len(self._partitions)})"

    # ---- what is known

    def is_bootstrap(self, node_id: int | str) -> bool:
        """Whether this names an address of the configuration."""
        return node_id in self._bootstrap_brokers

    def brokers(self) -> set[BrokerMetadata]:
        """All brokers; before any is known, the addresses of the configuration."""
        return set(self._brokers.values()) or set(self._bootstrap_brokers.values())

    def broker_metadata(self, broker_id: int | str) -> BrokerMetadata | None:
        """One broker."""
        return self._brokers.get(broker_id) or self._bootstrap_brokers.get(str(broker_id))

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """The topics that are known."""
        return set(self._partitions) - (self.internal_topics if exclude_internal_topics else set())

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """All partitions; None for an unknown topic."""
        return set(self._partitions[topic]) if topic in self._partitions else None

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """The partitions that have a leader; None for an unknown topic."""
        if topic not in self._partitions:
            return None
        return {number for number, each in self._partitions[topic].items() if each.leader != -1}

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """The id of a partition's leader: -1 if it has none, None if the partition is unknown."""
        found = self._partitions.get(partition.topic, {}).get(partition.partition)
        return None if found is None else found.leader

    def partitions_for_broker(self, broker_id: int) -> set[TopicPartition] | None:
        """The partitions that a broker leads; None if there are none."""
        return self._broker_partitions.get(broker_id)

    # ---- what is learnt

    def request_update(self) -> asyncio.Future[ClusterMetadata]:
        """A future that gets this object with the next metadata."""
        if self._future is None or self._future.done():
            self._future = asyncio.get_running_loop().create_future()
        return self._future

    def failed_update(self, exception: BaseException | None) -> None:
        """Metadata did not come."""
        future, self._future = self._future, None
        if future is not None and not future.done():
            future.set_exception(exception or RuntimeError("there is no metadata"))

    def update_metadata(self, metadata: Any) -> None:
        """Learns an answer of a broker, as aiokafka's MetadataResponse has it.

        Args:
            metadata: has `API_VERSION`, `brokers` (node, host, port, rack), `controller_id` and `topics` (code, name,
                internal, partitions), partitions being (code, number, leader, replicas, in sync replicas, …). Version 0
                has no racks, no controller and does not say what is internal.
        """
        if not metadata.brokers:
            logger.warning("there are no brokers in the metadata, which is ignored")
            self.failed_update(RuntimeError("there are no brokers in the metadata"))
            return
        bare = metadata.API_VERSION == 0
        brokers = {
            each[0]: BrokerMetadata(each[0], each[1], each[2], None if bare else each[3]) for each in metadata.brokers
        }
        rows = [(each[0], each[1], False, each[2]) if bare else each[:4] for each in metadata.topics]
        topics, errors = {}, {}
        for code, name, internal, partitions in rows:
            topics[name] = [
                PartitionMetadata(name, place[1], place[2], place[3], place[4], place[0]) for place in partitions
            ]
            errors[name] = (code, internal)
        self.learn(brokers, None if bare else metadata.controller_id, topics, errors)

    def learn(
        self,
        brokers: Mapping[int | str, BrokerMetadata],
        controller_id: int | None,
        topics: Mapping[str, Iterable[PartitionMetadata]],
        errors: Mapping[str, tuple[int, bool]],
    ) -> None:
        """Takes this for all that is known.

        Args:
            brokers: by id.
            controller_id: None if nobody says.
            topics: name to partitions.
            errors: name to the topic's error code, and whether it is internal.
        """
        self._brokers = dict(brokers)
        self.controller = None if controller_id is None else self._brokers.get(controller_id)
        self._partitions, self._broker_partitions = {}, defaultdict(set)
        self.internal_topics = {name for name, (_, internal) in errors.items() if internal}
        self.unauthorized_topics = set()
        for name, partitions in topics.items():
            self._learn_topic(name, partitions, errors.get(name, (0, False))[0])
        future, self._future = self._future, None
        if future is not None and not future.done():
            future.set_result(self)
        for listener in list(self._listeners):
            listener(self)

    def _learn_topic(self, name: str, partitions: Iterable[PartitionMetadata], code: int) -> None:
        kind = for_code(code)
        if kind is NoError:
            self._partitions[name] = {each.partition: each for each in partitions}
            for each in self._partitions[name].values():
                if each.leader != -1:
                    self._broker_partitions[each.leader].add(TopicPartition(name, each.partition))
        elif not self.need_all_topic_metadata:
            if kind is TopicAuthorizationFailedError:
                self.unauthorized_topics.add(name)
            level = logging.WARNING if kind is LeaderNotAvailableError else logging.ERROR
            logger.log(level, "no metadata of the topic %s: %s", name, kind.__name__)

    def add_listener(self, listener: Callable[[Self], object]) -> None:
        """Calls a function with this object whenever metadata is new."""
        self._listeners.add(listener)  # type: ignore[arg-type]

    def remove_listener(self, listener: Callable[[Self], object]) -> None:
        """Raises KeyError: it was not added."""
        self._listeners.remove(listener)  # type: ignore[arg-type]

    def with_partitions(self, partitions_to_add: Iterable[PartitionMetadata]) -> ClusterMetadata:
        """A copy with these partitions, of topics that are known."""
        made = ClusterMetadata(**self.config)
        made._brokers = dict(self._brokers)
        made._partitions = copy.deepcopy(self._partitions)
        made._broker_partitions = copy.deepcopy(self._broker_partitions)
        made.internal_topics, made.unauthorized_topics = set(self.internal_topics), set(self.unauthorized_topics)
        for each in partitions_to_add:
            made._partitions[each.topic][each.partition] = each
            if each.leader not in (None, -1):
                made._broker_partitions[each.leader].add(TopicPartition(each.topic, each.partition))
        return made
