"""An application that is a member of a share group: it polls, says what becomes of each record, and notes both.

Must not know checkers. Traits: `topics`, `mode` ("implicit" or "explicit"), `words` (what it says in explicit mode, one
drawn for each record), `work_s` per record, `poll_s`, `commit` ("none": the next poll says it, "sync" or "async").
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from kafka_core.aio import AIOShareConsumer
from kafka_core.errors import KafkaException
from kafka_core.kernels import Message
from kafka_core.model import AcknowledgeType, TopicPartition
from tests.simulation.apps import EXPECTED, App
from tests.simulation.plan import Client
from tests.simulation.scenarios import SHARED

if TYPE_CHECKING:
    from tests.simulation.world import World

ACCEPT: Final = ("ACCEPT",)
UNANSWERED: Final = "has been sent already"
"""Said of a renewal that no broker has answered yet; of one that came too late something else is said."""


class ShareApp(App):
    """Polls until the end, then closes.

    Attributes:
        eager: from now on it accepts every record at once: all faults are over.
    """

    def __init__(self, world: World, client: Client, incarnation: int) -> None:
        super().__init__(world, client, incarnation)
        mode = {"group.id": SHARED, "share.acknowledgement.mode": client.traits["mode"]}
        self.consumer = AIOShareConsumer({**self.conf, **mode})
        self.member_id = self.consumer._core.membership.member_id
        self.finishing = self.held = self.eager = False
        self.takes_part = True
        self.rng = random.Random(f"{world.plan.seed} {self.process.name}")

    async def main(self) -> None:
        """Poll and acknowledge until the end, then close."""
        await self.consumer.set_acknowledgement_commit_callback(self._confirmed)
        subscribed, renewed = False, list[Message]()
        while not self.finishing:
            if subscribed != self.takes_part:
                await self.in_task("subscribe", self._subscribe if self.takes_part else self.consumer.unsubscribe)
                subscribed = bool(self.consumer._topics)
            if self.held or not subscribed:
                await asyncio.sleep(0.05)
                continue
            hand: list[Message] = []
            await self.in_task("poll", lambda hand=hand: self._poll(hand))  # type: ignore[misc]
            renewed = await self._say(renewed, ACCEPT)
            renewed += await self._say(hand, self.client.traits["words"])
            if self.client.traits["commit"] != "none":
                await self.in_task("commit", self._commit)
        for _ in range(20):
            await self.in_task("close", self.consumer.close)
            if self.consumer._closed:
                return
        self.history.add("broke", "close", "Endless", "close() was called 20 times and did not end")

    def finish(self) -> None:
        """Close, after the poll that runs."""
        self.finishing = True

    async def _subscribe(self) -> None:
        await self.consumer.subscribe(self.client.traits["topics"])

    async def _poll(self, hand: list[Message]) -> None:
        self.history.add("polls", self.member_id)
        for message in await self.consumer.poll(self.client.traits["poll_s"]):
            error = message.error()
            if error is not None:
                self.history.add("event", error.code(), message.topic(), message.partition(), error.str())
                continue
            value = (message.value() or b"").decode().rstrip("#")
            self.history.add("took", self.member_id, *_place(message), message.delivery_count(), value)
            hand.append(message)

    async def _commit(self) -> None:
        self.history.add("polls", self.member_id)  # in implicit mode a commit accepts, too
        if self.client.traits["commit"] == "async":
            await self.consumer.commit_async()
        else:
            await self.consumer.commit_sync(2.0)

    async def _say(self, hand: Sequence[Message], words: Sequence[str]) -> list[Message]:
        """One word for each record; returns those that were renewed, and need another one after the next poll."""
        renewed: list[Message] = []
        for message in hand:
            work_s = self.client.traits["work_s"]
            if work_s and not self.eager:
                await asyncio.sleep(work_s)
            if self.client.traits["mode"] == "implicit":
                continue
            word = AcknowledgeType[self.rng.choice(ACCEPT if self.eager else words)]
            try:
                await self.consumer.acknowledge(message, word)
            except EXPECTED as error:
                self.history.add("failed", "acknowledge", type(error).__name__, 0, str(error))
                if UNANSWERED in str(error):
                    renewed.append(message)
                continue
            self.history.add("says", self.member_id, *_place(message), word.name)
            if word is AcknowledgeType.RENEW:
                renewed.append(message)
        return renewed

    def _confirmed(self, offsets: dict[TopicPartition, set[int]], error: KafkaException | None) -> None:
        code = None if error is None else error.code
        for item, numbers in offsets.items():
            place = (self.member_id, item.topic, item.partition)
            self.history.add("confirmed", *place, tuple(sorted(numbers)), code)

    # ---- commands

    def hold(self, held: bool) -> None:
        """Stop polling, with records in hand, or go on."""
        self.held = held

    def rest(self, resting: bool) -> None:
        """Leave the group, or take part again."""
        self.takes_part = not resting

    def mend(self) -> None:
        """All faults are over: take part, and accept everything at once."""
        self.eager = self.takes_part = True
        self.held = False


def _place(message: Message) -> tuple[Any, Any, Any]:
    return message.topic(), message.partition(), message.offset()
