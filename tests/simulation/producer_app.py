"""An application that produces: bursts of records, each with a value of its own, and the report of each.

Must not know checkers. Traits: `slow_s` between records, `partition` (-1: the partitioner decides).
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from kafka_core.aio import AIOProducer
from kafka_core.errors import KafkaError
from tests.simulation.apps import EXPECTED, App
from tests.simulation.plan import Client

if TYPE_CHECKING:
    from tests.simulation.world import World


class ProducerApp(App):
    """Sends what it is told to, one burst after the other, and closes at the end."""

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        super().__init__(world, client, incarnation)
        self.orders: list[tuple[str, int, int, int | None]] = []
        self.ordered = asyncio.Event()
        self.finishing = False
        self.sent = 0
        self.producer: AIOProducer | None = None

    def order(self, topic: str, count: int, size_bytes: int = 0, partition: int | None = None) -> None:
        """Send `count` records to a topic; without a partition, as the trait says."""
        self.orders.append((topic, count, size_bytes, partition))
        self.ordered.set()

    def finish(self) -> None:
        """Send what was ordered, then close."""
        self.finishing = True
        self.ordered.set()

    async def main(self) -> None:
        """Orders, until the end."""
        producer = self.producer = AIOProducer(self.conf)
        while True:
            while self.orders:
                topic, count, size_bytes, partition = self.orders.pop(0)
                if partition is None:
                    partition = self.client.traits.get("partition", -1)
                send = functools.partial(self._produce, producer, topic, size_bytes, partition)
                for _ in range(count):
                    await self.in_task("produce", send)
                    gap_s = self.client.traits.get("gap_s", 0.0)
                    if gap_s:
                        await asyncio.sleep(gap_s)
            if self.finishing:
                break
            self.ordered.clear()
            await self.ordered.wait()
        while not producer._closed or len(producer):
            await self.in_task("close", producer.close)
            if producer._closed:
                break

    async def _produce(self, producer: AIOProducer, topic: str, size_bytes: int, partition: int) -> None:
        self.sent += 1
        value = f"{self.process.name}:{self.sent}"
        number = self.history.add("send", value, topic)
        text = value + "#" * max(0, size_bytes - len(value))

        def report(error: KafkaError | None, message: Any) -> None:
            code = None if error is None else error.code()
            self.history.add("report", value, code, message.topic(), message.partition(), message.offset(), number)

        try:
            future = await producer.produce(topic, text, partition=partition, on_delivery=report)
        except EXPECTED as error:
            self.history.add("refused", value, type(error).__name__, str(error))
            return
        self.history.add("queued", value)
        future.add_done_callback(_look_at)

    def memory(self) -> tuple[int, int]:
        """Bytes in the accumulator, and its bound."""
        if self.producer is None:
            return 0, 0
        return self.producer._accumulator.queued_bytes, self.producer._core.config.integer(
            "queue.buffering.max.kbytes"
        ) * 1024


def _look_at(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
