"""The view of the cluster that kafka-python's partitioners and assignors are given.

Must not know clients: what is known is handed in, and nothing is asked for. Spec: `kafka.cluster` of kafka-python 3.0.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, Self
from uuid import UUID

from kafka_core.admin import ClusterMetadata as Known
from kserdes.compat.kafka.structs import TopicPartition

__all__ = ["DEFAULT_KAFKA_PORT", "Broker", "ClusterMetadata", "collect_hosts", "get_ip_port_afi"]

DEFAULT_KAFKA_PORT: Final = 9092
INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class Broker(NamedTuple):
    """A broker of the cluster; of its rack nothing is known here."""

    node_id: int | str
    host: str | None
    port: int
    rack: str | None


def get_ip_port_afi(host_and_port_str: str) -> tuple[str, int, int]:
    """Host, port and family of an address, as in `host`, `host:port`, `1.2.3.4:port`, `[::1]:port`, `::1`.

    Without a port it is 9092; names are of no family (`socket.AF_UNSPEC`).

    Raises:
        ValueError: the port is no number.
    """
    text = host_and_port_str.strip()
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, int(rest[1:]) if rest else DEFAULT_KAFKA_PORT, socket.AF_INET6
    if is_address(socket.AF_INET6, text):
        return text, DEFAULT_KAFKA_PORT, socket.AF_INET6
    head, colon, port = text.rpartition(":")
    host = head if colon else text
    family = socket.AF_INET if is_address(socket.AF_INET, host) else socket.AF_UNSPEC
    return host, int(port) if colon else DEFAULT_KAFKA_PORT, family


def is_address(family: int, text: str) -> bool:
    """Whether a text is a number address of a family."""
    try:
        socket.inet_pton(family, text)
    except (OSError, ValueError):
        return False
    return True


def collect_hosts(hosts: str | Iterable[str], randomize: bool = True) -> list[tuple[str, int, int]]:
    """Host, port and family of each address of a list or a text with commas, in any order unless told otherwise.

    What stands before `://` is left out.
    """
    texts = hosts.strip().split(",") if isinstance(hosts, str) else hosts
    found = [get_ip_port_afi(text.rpartition("://")[2]) for text in texts]
    if randomize:
        random.shuffle(found)
    return found


class ClusterMetadata:
    """Brokers, topics and partitions. One that an application makes knows the addresses it is given.

    Args:
        configs: `bootstrap_servers` and the others of `DEFAULT_CONFIG`; unknown ones are passed over.

    Attributes:
        config: what was given, with the defaults.
        cluster_id: its name; None if nothing is known.
    """

    DEFAULT_CONFIG: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "retry_backoff_ms": 100,
            "metadata_max_age_ms": 300_000,
            "bootstrap_servers": (),
            "allow_auto_create_topics": True,
            "client_dns_lookup": "use_all_dns_ips",
        }
    )

    def __init__(self, **configs: Any) -> None:
        self.config = {name: configs.get(name, default) for name, default in self.DEFAULT_CONFIG.items()}
        self._metadata = Known()
        self._bootstrap = [
            Broker(f"bootstrap-{number}", host, port, None)
            for number, (host, port, _) in enumerate(collect_hosts(self.config["bootstrap_servers"]))
        ]

    @classmethod
    def of(cls, metadata: Known, **configs: Any) -> Self:
        """A view of what `list_topics()` of our clients gave."""
        made = cls(**configs)
        made._metadata = metadata
        return made

    def __str__(self) -> str:
        return f"ClusterMetadata(brokers: {len(self._metadata.brokers)}, topics: {len(self._metadata.topics)})"

    # ---- brokers

    @property
    def cluster_id(self) -> str | None:
        """The cluster's name; None if nothing is known."""
        return self._metadata.cluster_id

    @property
    def controller(self) -> Broker | None:
        """The broker that is the controller."""
        return self.broker_metadata(self._metadata.controller_id)

    def brokers(self) -> list[Broker]:
        """All brokers."""
        return [self._broker(each) for each in self._metadata.brokers.values()]

    def bootstrap_brokers(self) -> list[Broker]:
        """The addresses of the configuration, named `bootstrap-0` and so on."""
        return list(self._bootstrap)

    def is_bootstrap(self, node_id: int | str) -> bool:
        """Whether this names an address of the configuration."""
        return any(each.node_id == node_id for each in self._bootstrap)

    def broker_metadata(self, broker_id: int | str) -> Broker | None:
        """One broker, or address of the configuration; None if it is not known."""
        found = self._metadata.brokers.get(broker_id) if isinstance(broker_id, int) else None
        if found is not None:
            return self._broker(found)
        return next((each for each in self._bootstrap if each.node_id == broker_id), None)

    @staticmethod
    def _broker(found: Any) -> Broker:
        return Broker(found.id, found.host, found.port, None)

    # ---- topics

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """The topics that are known."""
        return {each for each in self._metadata.topics if not exclude_internal_topics or each not in INTERNAL_TOPICS}

    def topic_id(self, topic_name: str) -> UUID | None:
        """The id of a topic (KIP-516); None for an unknown one."""
        found = self._metadata.topics.get(topic_name)
        return None if found is None or found.topic_id is None else found.topic_id.to_uuid()

    def topic_name_for_id(self, topic_id: UUID) -> str | None:
        """The topic with an id; None if there is none."""
        return next((name for name in self._metadata.topics if self.topic_id(name) == topic_id), None)

    # ---- partitions

    def _place(self, partition: TopicPartition) -> Any:
        found = self._metadata.topics.get(partition.topic)
        return None if found is None else found.partitions.get(partition.partition)

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """The id of a partition's leader: -1 if it has none, None if the partition is unknown."""
        place = self._place(partition)
        return None if place is None else place.leader

    def is_replica_node(self, partition: TopicPartition, node_id: int) -> Broker | None:
        """The broker, if it is known and has a replica of the partition (KIP-392)."""
        place = self._place(partition)
        return None if place is None or node_id not in place.replicas else self.broker_metadata(node_id)

    def partitions_for_broker(self, broker_id: int | str) -> set[TopicPartition] | None:
        """The partitions that a broker leads; None if there are none."""
        led = {
            TopicPartition(topic, number)
            for topic, found in self._metadata.topics.items()
            for number, place in found.partitions.items()
            if place.leader == broker_id
        }
        return led or None

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """All partitions; None for an unknown topic."""
        found = self._metadata.topics.get(topic)
        return set(found.partitions) if found is not None and found.partitions else None

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """The partitions that have a leader; None for an unknown topic."""
        found = self._metadata.topics.get(topic)
        if found is None or not found.partitions:
            return None
        return {number for number, each in found.partitions.items() if each.leader >= 0}
