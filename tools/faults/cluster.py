"""Three real brokers behind proxies, and what is done to them; our own client is not used here.

Everything that is asked or changed goes through confluent-kafka's clients and Kafka's own tools.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from confluent_kafka import Consumer, ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tools.faults.judge import Entry
from tools.faults.proxy import FaultProxy
from tools.real_kafka import RealKafka, free_ports

NODES = (1, 2, 3)
LIMIT_S = 120.0
OFFSETS_TOPIC = "__consumer_offsets"
SETTINGS = {
    "auto.create.topics.enable": "false",  # else a producer re-creates the deleted topic itself
}


def wait_until(condition: Callable[[], bool], what: str, limit_s: float = LIMIT_S, step_s: float = 0.2) -> None:
    """Returns when the condition holds.

    Raises:
        TimeoutError: it never did; the text names `what`.
    """
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"not so after {limit_s:.0f} s: {what}")
        time.sleep(step_s)


def java_hash(text: str) -> int:
    """`String.hashCode`, which decides on the coordinator of a group."""
    value = 0
    for unit in text:
        value = (value * 31 + ord(unit)) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


class FaultCluster:
    """Three brokers, each with a plain listener and one that advertises a proxy; a context manager."""

    def __init__(self, heap: str = "384m") -> None:
        ports = free_ports(len(NODES))
        self.kafka = RealKafka(nodes=len(NODES), heap=heap, extra=SETTINGS, fast_boot=True, proxy_ports=ports)
        self.proxies = {
            node_id: FaultProxy("127.0.0.1", node.ports["PROXIED"], port)
            for (node_id, node), port in zip(self.kafka.nodes.items(), ports, strict=True)
        }
        self._admin: AdminClient | None = None

    def __enter__(self) -> Self:
        try:
            for proxy in self.proxies.values():
                proxy.__enter__()
            self.kafka.start()
            wait_until(lambda: len(self._metadata().brokers) == len(NODES), "three brokers")
            self._make_offsets_topic()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kafka.stop()
        for proxy in self.proxies.values():
            proxy.__exit__()

    @property
    def admin(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.kafka.bootstrap_servers, "log_level": 0})
        return self._admin

    def _metadata(self, topic: str | None = None) -> Any:
        return self.admin.list_topics(topic, timeout=LIMIT_S)

    def _make_offsets_topic(self) -> None:
        """A look at a group makes the brokers create their topic of offsets."""
        conf = {"bootstrap.servers": self.kafka.bootstrap_servers, "group.id": "first", "log_level": 0}
        consumer = Consumer(conf)

        def answered() -> bool:
            try:
                consumer.committed([TopicPartition("nothing", 0)], timeout=5)
            except KafkaException:
                return False
            return True

        try:
            wait_until(answered, "a coordinator")
        finally:
            consumer.close()
        self.wait_in_sync()

    def leaders(self, topic: str) -> dict[int, int]:
        """Partition → node."""
        return {number: part.leader for number, part in self._metadata(topic).topics[topic].partitions.items()}

    def wait_in_sync(self) -> None:
        """Returns when every replica of every partition is in sync."""

        def in_sync() -> bool:
            view = self._metadata()
            parts = [part for topic in view.topics.values() for part in topic.partitions.values()]
            nodes = len(view.brokers) == len(NODES)
            return nodes and all(part.leader in NODES and len(part.isrs) == len(part.replicas) for part in parts)

        wait_until(in_sync, "all replicas in sync")

    def elect_preferred(self) -> None:
        """Leaders become those that should be; needs all replicas in sync."""
        with contextlib.suppress(KafkaException):  # there is nothing to elect
            self.admin.elect_leaders(ElectionType.PREFERRED).result(LIMIT_S)

    def create(self, topic: str, replicas: Sequence[Sequence[int]]) -> None:
        """A topic with these replicas per partition (the first leads); returns when all have leaders."""
        config = {"min.insync.replicas": "2"}
        new = NewTopic(topic, len(replicas), replica_assignment=[list(nodes) for nodes in replicas], config=config)
        self.admin.create_topics([new])[topic].result(LIMIT_S)
        wanted = {number: nodes[0] for number, nodes in enumerate(replicas)}
        wait_until(lambda: self.leaders(topic) == wanted, f"the leaders of {topic}")

    def delete(self, topic: str) -> None:
        """Deletes a topic; returns when nobody names it any more."""
        self.admin.delete_topics([topic])[topic].result(LIMIT_S)
        wait_until(lambda: topic not in self._metadata().topics, f"the end of {topic}")

    def extend(self, topic: str, count: int) -> None:
        """More partitions; returns when all have leaders."""
        self.admin.create_partitions([NewPartitions(topic, count)])[topic].result(LIMIT_S)
        wait_until(lambda: len(self.leaders(topic)) == count, f"the new partitions of {topic}")

    def move(self, topic: str, replicas: Sequence[Sequence[int]]) -> None:
        """Reassigns the partitions; returns when they are where they should be."""
        parts = [{"topic": topic, "partition": n, "replicas": list(nodes)} for n, nodes in enumerate(replicas)]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump({"version": 1, "partitions": parts}, plan)
            plan.flush()
            tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
            servers = ["--bootstrap-server", self.kafka.bootstrap_servers]
            self.kafka.run_tool(tool, *servers, "--reassignment-json-file", plan.name, "--execute")

        def moved() -> bool:
            found = self._metadata(topic).topics[topic].partitions
            return all(sorted(found[n].isrs) == sorted(nodes) for n, nodes in enumerate(replicas))

        wait_until(moved, f"the reassignment of {topic}")

    def coordinator_slot(self, *, leads: int | None = None, not_led_by: int | None = None) -> tuple[int, int, int]:
        """(partition of the offsets topic, number of them, its leader), as asked for if that is possible."""
        leaders = self.leaders(OFFSETS_TOPIC)
        fitting = [n for n, node in leaders.items() if leads in (None, node) and node != not_led_by]
        slot = min(fitting or leaders)
        return slot, len(leaders), leaders[slot]

    def read_log(self, topic: str, limit_s: float = LIMIT_S) -> list[Entry]:
        """All records of the topic as they stand there now."""
        conf = {"bootstrap.servers": self.kafka.bootstrap_servers, "group.id": "judge", "log_level": 0}
        consumer = Consumer({**conf, "enable.auto.commit": False, "auto.offset.reset": "error"})
        try:
            ends = {n: consumer.get_watermark_offsets(TopicPartition(topic, n), LIMIT_S) for n in self.leaders(topic)}
            consumer.assign([TopicPartition(topic, n, low) for n, (low, _) in ends.items()])
            missing = {n for n, (low, high) in ends.items() if high > low}
            found: list[Entry] = []
            deadline_s = time.monotonic() + limit_s
            while missing:
                if time.monotonic() > deadline_s:
                    raise TimeoutError(f"the log of {topic} could not be read to its end: {missing}")
                message: Any  # an Entry's parts are never None in a message without an error
                for message in consumer.consume(1000, 0.2):
                    if message.error() is not None:
                        raise KafkaException(message.error())
                    source, number = message.value().split(b":")
                    found.append(Entry(message.partition(), message.offset(), source.decode(), int(number)))
                    if message.offset() >= ends[message.partition()][1] - 1:
                        missing.discard(message.partition())
        finally:
            consumer.close()
        return sorted(found)
