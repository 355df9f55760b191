"""Share consumers of both faces behind one set of methods, and steps that tests of share groups share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from kafka_core import AcknowledgeType, KafkaException, Message, ShareConsumer, TopicPartition
from kafka_core.aio import AIOShareConsumer
from tests.contract.clusters import LIMIT_S, Cluster, options, unique
from tests.contract.groups import set_properties


class Member:
    """A share consumer; the asyncio one runs on a loop of its own, which stands still between calls."""

    def __init__(self, face: str, conf: dict[str, Any]) -> None:
        self._runner = asyncio.Runner() if face == "asyncio" else None
        self.consumer: Any = AIOShareConsumer(conf) if self._runner else ShareConsumer(conf)

    def _call(self, name: str, *arguments: Any) -> Any:
        result = getattr(self.consumer, name)(*arguments)
        return self._runner.run(result) if self._runner else result

    def subscribe(self, *topics: str) -> None:
        self._call("subscribe", list(topics))

    def unsubscribe(self) -> None:
        self._call("unsubscribe")

    def subscription(self) -> list[str]:
        return list(self._call("subscription"))

    def poll(self, timeout: float = 0.5) -> Sequence[Message]:
        found: Sequence[Message] = self._call("poll", timeout)
        return found

    def acknowledge(self, message: Message, kind: AcknowledgeType = AcknowledgeType.ACCEPT) -> None:
        self._call("acknowledge", message, kind)

    def acknowledge_offset(self, *arguments: Any) -> None:
        self._call("acknowledge_offset", *arguments)

    def commit(self, timeout: float = LIMIT_S) -> dict[TopicPartition, KafkaException | None]:
        result: dict[TopicPartition, KafkaException | None] = self._call("commit_sync", timeout)
        return result

    def commit_async(self) -> None:
        self._call("commit_async")

    def on_commit(self, callback: Callable[..., object] | None) -> None:
        self._call("set_acknowledgement_commit_callback", callback)

    def lock_timeout_ms(self) -> int | None:
        found: int | None = self._call("acquisition_lock_timeout_ms")
        return found

    def close(self) -> None:
        self._call("close")
        if self._runner:
            self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def share_conf(cluster: Cluster, group: str, /, **conf: object) -> dict[str, Any]:
    return {"bootstrap.servers": cluster.servers, "group.id": group, **options(conf)}


def share_group(cluster: Cluster, **configs: str) -> str:
    """A new group that begins at the start of topics; in names of `configs`, `_` stands for a dot."""
    group = unique("share")
    set_properties(cluster, group, **{"share_auto_offset_reset": "earliest", **configs})
    return group


def good(messages: Iterable[Message]) -> list[Message]:
    found = list(messages)
    for message in found:
        assert message.error() is None, message.error()
    return found


def take(member: Member, count: int, limit_s: float = 2 * LIMIT_S) -> list[Message]:
    """Exactly `count` records, of as many polls as it takes (implicit mode) or of one."""
    found: list[Message] = []
    deadline_s = time.monotonic() + limit_s
    while len(found) < count:
        assert time.monotonic() < deadline_s, f"{len(found)} records of {count} within {limit_s:g} s"
        found += good(member.poll())
    assert len(found) == count
    return found


def first(member: Member, limit_s: float = 2 * LIMIT_S) -> list[Message]:
    """The records of the first poll that has some."""
    deadline_s = time.monotonic() + limit_s
    while not (found := good(member.poll())):
        assert time.monotonic() < deadline_s, f"no records within {limit_s:g} s"
    return found


def counts(messages: Iterable[Message]) -> dict[bytes, int | None]:
    """Value → delivery count."""
    return {message.value(): message.delivery_count() for message in messages}
