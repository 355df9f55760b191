"""Steps that tests of groups share."""

from __future__ import annotations

from collections.abc import Callable

from kafka_core import Consumer, TopicPartition
from tests.contract.clusters import LIMIT_S


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def partitions_of(reader: Consumer) -> set[tuple[str, int]]:
    return {(item.topic, item.partition) for item in reader.assignment()}


def shared(readers: list[Consumer], topic: str, count: int) -> Callable[[], bool]:
    """Whether every reader has something, and together they have each of `count` partitions once."""

    def check() -> bool:
        parts = [partitions_of(reader) for reader in readers]
        everything = sorted(item for part in parts for item in part)
        return all(parts) and everything == [(topic, number) for number in range(count)]

    return check


def committed(reader: Consumer, topic: str, count: int = 1) -> list[int]:
    found = reader.committed([TopicPartition(topic, number) for number in range(count)], LIMIT_S)
    assert [item.error for item in found] == [None] * count
    return [item.offset for item in found]


class Callbacks:
    """Remembers what was called, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []

    def _note(self, name: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        return lambda _, partitions: self.calls.append((name, sorted(item.partition for item in partitions)))

    def subscribe(self, reader: Consumer, topic: str) -> None:
        reader.subscribe([topic], self._note("assign"), self._note("revoke"), self._note("lost"))
