"""Steps that tests of groups share."""

from __future__ import annotations

from collections.abc import Callable

from kafka_core import Consumer, TopicPartition
from kafka_core.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from tests.contract.clusters import LIMIT_S, Cluster, wait_for


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def partitions_of(reader: Consumer) -> set[tuple[str, int]]:
    return {(item.topic, item.partition) for item in reader.assignment()}


def shared(readers: list[Consumer], topic: str, count: int) -> Callable[[], bool]:
    """
    Whether the group is settled: the readers have each of `count` partitions once, in even shares.

    Cooperative members and KIP-848's come to their shares in steps, and may own all partitions in uneven ones before.
    """

    def check() -> bool:
        parts = [partitions_of(reader) for reader in readers]
        everything = sorted(item for part in parts for item in part)
        even = max(map(len, parts)) - min(map(len, parts)) <= 1
        return all(parts) and even and everything == [(topic, number) for number in range(count)]

    return check


def committed(reader: Consumer, topic: str, count: int = 1) -> list[int]:
    found = reader.committed([TopicPartition(topic, number) for number in range(count)], LIMIT_S)
    assert [item.error for item in found] == [None] * count
    return [item.offset for item in found]


def set_properties(cluster: Cluster, group: str, **configs: str) -> None:
    """Of a group, which need not be there yet; in names of `configs`, `_` stands for a dot."""
    wanted = {key.replace("_", "."): value for key, value in configs.items()}
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in wanted.items()]
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=entries)
    cluster.admin.incremental_alter_configs([resource])[resource].result(LIMIT_S)

    def in_force() -> bool:  # the controller answers before the broker that is asked knows
        found = cluster.admin.describe_configs([resource])[resource].result(LIMIT_S)
        return all(name in found and found[name].value == value for name, value in wanted.items())

    wait_for(in_force, f"the properties of {group}")


def short_sessions(cluster: Cluster, group: str, session_s: float) -> None:
    """For members of a group with `group.protocol=consumer`; brokers allow no session of more than a minute."""
    set_properties(cluster, group, consumer_session_timeout_ms=str(min(round(session_s * 1000), 60_000)))


class Callbacks:
    """Remembers what was called, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []

    def _note(self, name: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        return lambda _, partitions: self.calls.append((name, sorted(item.partition for item in partitions)))

    def subscribe(self, reader: Consumer, topic: str) -> None:
        reader.subscribe([topic], self._note("assign"), self._note("revoke"), self._note("lost"))
