"""An application that reads a topic and writes another, in transactions: each input once in the output.

Must not know checkers. Traits: `batch` (inputs per transaction), `abort` (share of transactions that it gives up),
`pause_s` between transactions, `poll_s`.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from kafka_core.aio import AIOConsumer, AIOProducer
from kafka_core.errors import KafkaException
from tests.simulation.apps import EXPECTED, App
from tests.simulation.plan import Client

if TYPE_CHECKING:
    from tests.simulation.world import World

OUTPUT = "out"


class GaveUp(Exception):
    """The application does not want this transaction."""


class PipeApp(App):
    """Transactions until the end; a producer that cannot go on is replaced by another one with the same name."""

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        super().__init__(world, client, incarnation)
        self.finishing = False
        self.count = 0
        self.clients: list[
            AIOProducer | AIOConsumer
        ] = []  # held, so that a killed process's are not seen to be dropped
        self.rng = random.Random(f"{world.plan.seed} {self.process.name}")

    @property
    def both(self) -> dict[str, Any]:
        """The configuration of both producer and consumer."""
        return {"bootstrap.servers": self.world.bootstrap, "client.id": self.process.name, **self.client.traits["base"]}

    def finish(self) -> None:
        """End after the transaction that runs."""
        self.finishing = True

    async def main(self) -> None:
        """Make both clients, work, close both."""
        reads = {"group.id": "pipes", "enable.auto.commit": False, "isolation.level": "read_committed"}
        consumer = AIOConsumer({**self.both, **self.client.conf, **reads, "auto.offset.reset": "earliest"})
        self.clients.append(consumer)
        await consumer.subscribe(["t"])
        producer: AIOProducer | None = None
        while not self.finishing:
            if producer is None:
                writes = {"transactional.id": self.client.name, "transaction.timeout.ms": 20_000, "linger.ms": 1}
                producer = AIOProducer({**self.both, **writes})
                self.clients.append(producer)
                try:
                    await producer.init_transactions(30)
                except EXPECTED as error:
                    self.history.add("failed", "init", type(error).__name__, 0, str(error))
                    await producer.close(2.0)
                    producer = None
                    continue
            try:
                await self._one(producer, consumer)
            except GaveUp:
                self.history.add("gave-up", self.count)
            except EXPECTED as error:
                self.history.add("failed", "transaction", type(error).__name__, 0, str(error))
                if not isinstance(error, KafkaException) or not error.abortable:
                    await producer.close(2.0)
                    producer = None
            await asyncio.sleep(self.client.traits.get("pause_s", 0.0))
        if producer is not None:
            await producer.close()
        await consumer.close()

    async def _one(self, producer: AIOProducer, consumer: AIOConsumer) -> None:
        self.count += 1
        name = f"{self.process.name}#{self.count}"
        async with producer.transaction(consumer, 20):
            for _ in range(self.client.traits["batch"]):
                message = await consumer.poll(self.client.traits.get("poll_s", 0.1))
                if message is None:
                    break
                if message.error() is not None:
                    continue
                value = (message.value() or b"").decode().rstrip("#")
                self.history.add("pipe", name, value)
                future = await producer.produce(OUTPUT, value, partition=message.partition() or 0)
                future.add_done_callback(_look_at)
            if self.rng.random() < self.client.traits["abort"]:
                raise GaveUp
        self.history.add("piped", name)


def _look_at(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
