"""An application that administers: creates, deletes and extends topics, and lists their offsets, one call at a time.

Must not know checkers. What a call answered is an `administered` event, with the number of the event at its beginning.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from kafka_core.admin_model import NewPartitions, NewTopic
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.aio import AIOAdminClient
from kafka_core.errors import KafkaException
from kafka_core.model import TopicPartition
from tests.simulation.apps import App
from tests.simulation.plan import Client

if TYPE_CHECKING:
    from tests.simulation.world import World


class AdminApp(App):
    """Does what it is told to, one call after the other, and closes at the end."""

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        super().__init__(world, client, incarnation)
        self.orders: list[tuple[str, str, int]] = []
        self.ordered = asyncio.Event()
        self.finishing = False

    def order(self, operation: str, topic: str, number: int) -> None:
        """Call `operation` (create, delete, extend, offsets); `number`: of partitions."""
        self.orders.append((operation, topic, number))
        self.ordered.set()

    def finish(self) -> None:
        """Do what was ordered, then close."""
        self.finishing = True
        self.ordered.set()

    async def main(self) -> None:
        """Orders, until the end."""
        admin = AIOAdminClient(self.conf)
        while True:
            while self.orders:
                operation, topic, number = self.orders.pop(0)
                await self.in_task("admin", functools.partial(self._call, admin, operation, topic, number))
            if self.finishing:
                break
            self.ordered.clear()
            await self.ordered.wait()
        await self.in_task("close", admin.close)

    async def _call(self, admin: AIOAdminClient, operation: str, topic: str, number: int) -> None:
        begun = self.history.add("administer", operation, topic, number)
        if operation == "offsets":
            await self._offsets(admin, topic, number, begun)
            return
        outcomes: dict[str, Any]
        if operation == "create":
            outcomes = await admin.create_topics([NewTopic(topic, number, 1)])
        elif operation == "delete":
            outcomes = await admin.delete_topics([topic])
        else:
            outcomes = await admin.create_partitions([NewPartitions(topic, number)])
        self._note(operation, topic, number, outcomes[topic].error, begun)

    async def _offsets(self, admin: AIOAdminClient, topic: str, number: int, begun: int) -> None:
        """Both ends of each partition; what the logs' ends were before is noted too."""
        before = self.world.cluster.ends(topic)
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest()):
            outcomes = await admin.list_offsets({TopicPartition(topic, index): spec for index in range(number)})
            after = self.world.cluster.ends(topic)
            for item, outcome in outcomes.items():
                if outcome.error is None:
                    found = outcome.result().offset
                    low, high = (
                        (0, 0) if spec.timestamp == -2 else (before.get(item.partition), after.get(item.partition))
                    )
                    self.history.add("listed", topic, item.partition, found, low, high, begun)
                else:
                    self._note("offsets", topic, item.partition, outcome.error, begun)

    def _note(self, operation: str, topic: str, number: int, error: KafkaException | None, begun: int) -> None:
        self.history.add("administered", operation, topic, number, None if error is None else error.code, begun)
