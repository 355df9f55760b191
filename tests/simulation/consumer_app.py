"""Applications that consume: a reader that assigns partitions itself, and a member of a group.

Must not know checkers. Traits: `batch` (0: poll, n: consume up to n), `poll_s` (how long a poll waits), `pause_s`
between polls, `callback_s` (how long rebalance callbacks take), `commit` ("auto", "sync" or "async"), `topics`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kafka_core.aio import AIOConsumer
from kafka_core.model import TopicPartition
from tests.simulation.apps import App
from tests.simulation.plan import Client

if TYPE_CHECKING:
    from tests.simulation.world import World

POLL_S = 0.25
"""Seconds that a poll waits, unless the trait `poll_s` is set."""


class ConsumerApp(App):
    """Shared base of both kinds: the poll loop and the commands."""

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        super().__init__(world, client, incarnation)
        self.consumer = AIOConsumer(self.conf)
        self.finishing = False
        self.held = False
        self.taken = 0

    async def begin(self) -> None:
        """The calls before the first poll."""

    async def main(self) -> None:
        """Poll until the end, then close."""
        await self.in_task("begin", self.begin)
        while not self.finishing:
            if self.held:
                await asyncio.sleep(0.05)
                continue
            await self.in_task("poll", self._take)
            if pause_s := self.client.traits.get("pause_s", 0.0):
                await asyncio.sleep(pause_s)
        for _ in range(20):
            await self.in_task("close", self.consumer.close)
            if self.consumer._closed:
                return
        self.history.add("broke", "close", "Endless", "close() was called 20 times and did not end")

    def finish(self) -> None:
        """Close, after the poll that runs."""
        self.finishing = True
        self.consumer.wakeup()

    async def _take(self) -> None:
        begun = self.history.add("poll")
        batch = self.client.traits.get("batch", 0)
        poll_s = self.client.traits.get("poll_s", POLL_S)
        if batch:
            messages = await self.consumer.consume(batch, poll_s)
        else:
            message = await self.consumer.poll(poll_s)
            messages = [] if message is None else [message]
        for message in messages:
            error = message.error()
            if error is not None:
                self.history.add("event", error.code(), message.topic(), message.partition(), error.str())
            else:
                self.taken += 1
                value = (message.value() or b"").decode().rstrip("#")
                self.history.add("deliver", message.topic(), message.partition(), message.offset(), value, begun)
        every = self.client.traits.get("commit", "auto")
        if messages and every != "auto":
            await self.consumer.commit(asynchronous=every == "async")

    def _end(self, topic: str, partition: int) -> int:
        """The log's end right now: a seek beyond that is reset."""
        return self.world.cluster.ends(topic).get(partition, 0)

    # ---- commands

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Go on from an offset."""

        async def work() -> None:
            await self.consumer.seek(TopicPartition(topic, partition, offset))
            self.history.add("seek", topic, partition, offset, self._end(topic, partition))

        self.command("seek", work)

    def pause(self, topic: str, partition: int) -> None:
        """Hand nothing out of a partition."""

        async def work() -> None:
            await self.consumer.pause([TopicPartition(topic, partition)])
            self.history.add("pause", topic, partition)

        self.command("pause", work)

    def resume(self) -> None:
        """Hand out everything that is assigned."""

        async def work() -> None:
            await self.consumer.resume(await self.consumer.assignment())
            self.history.add("resume")

        self.command("resume", work)

    def commit(self, asynchronous: bool) -> None:
        """Commit what is stored."""

        async def work() -> None:
            await self.consumer.commit(asynchronous=asynchronous)

        self.command("commit", work)

    def look(self) -> None:
        """Ask for this and that."""

        async def work() -> None:
            partitions = await self.consumer.assignment()
            await self.consumer.position(partitions)
            if partitions:
                await self.consumer.get_watermark_offsets(partitions[0], timeout=2.0)
                await self.consumer.committed(partitions, timeout=2.0)

        self.command("look", work)

    def hold(self, held: bool) -> None:
        """Stop polling (the application is busy), or go on."""
        self.held = held

    def memory(self) -> tuple[int, int]:
        """Bytes in the queue, and its bound with one fetch more per broker."""
        core = self.consumer._core
        held = sum(state.queued_bytes for state in core.assignment)
        allowed = core.config.integer("queued.max.messages.kbytes") * 1024
        return held, allowed + 2 * len(self.world.plan.topics) * core.config.integer("fetch.max.bytes")


class ReaderApp(ConsumerApp):
    """Assigns partitions itself; `traits["start"]` lists (topic, partition, offset)."""

    async def begin(self) -> None:
        """The first assignment."""
        await self._assign(self.client.traits["start"])

    async def _assign(self, items: Any) -> None:
        await self.consumer.assign([TopicPartition(topic, partition, offset) for topic, partition, offset in items])
        self.history.add("assign", tuple((*item, self._end(item[0], item[1])) for item in items))

    def assign(self, *items: Any) -> None:
        """Replace what is read."""
        self.command("assign", lambda: self._assign(items))


class MemberApp(ConsumerApp):
    """A member of a group."""

    async def begin(self) -> None:
        """Subscribe."""
        await self._subscribe()

    async def _subscribe(self) -> None:
        topics = list(self.client.traits["topics"])
        await self.consumer.subscribe(topics, self._on_assign, self._on_revoke, self._on_lost)

    def subscribe(self) -> None:
        """Subscribe again."""
        self.command("subscribe", self._subscribe)

    def unsubscribe(self) -> None:
        """Leave the group."""
        self.command("unsubscribe", self.consumer.unsubscribe)

    async def _on_assign(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        await self._changed("owns", partitions)

    async def _on_revoke(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        await self._changed("gives", partitions)

    async def _on_lost(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        await self._changed("loses", partitions)

    async def _changed(self, what: str, partitions: list[TopicPartition]) -> None:
        membership = self.consumer._core.membership
        keys = tuple(sorted((item.topic, item.partition) for item in partitions))
        self.history.add(what, keys, membership.generation, membership.member_id)
        try:
            if wait_s := self.client.traits.get("callback_s", 0.0):
                await asyncio.sleep(wait_s)
        finally:
            if what == "gives":
                self.history.add("given", keys)
