"""The asyncio consumer that deserializes: `confluent_kafka`'s name over `kafka_core`'s asyncio consumer.

Must not know how a value is made (`serdes.clients.fields` and the deserializers do), nor which messages are handed out,
raised or set aside (`serdes.clients.messages` does).
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Generic, cast

from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.errors import ConsumeError, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from serdes.builders import BuiltSerdes, closing_on_error
from serdes.clients.fields import DESERIALIZERS, Awaited, FieldDeserializers, settle_async, take_functions
from serdes.clients.fields import Key as K
from serdes.clients.fields import Value as V
from serdes.clients.messages import TypedMessage, last_of_each, taking
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.errors import FieldError

if TYPE_CHECKING:
    import pyarrow

    from serdes.clients.dead_letters import AIODeadLetters

log = logging.getLogger("serdes")


class AIODeserializingConsumer(Awaited, AIOConsumer, Generic[K, V]):
    """A `kafka_core.aio.AIOConsumer` that gives objects; see `DeserializingConsumer`.

    Args:
        conf: properties of the AIOConsumer, and `key.deserializer`, `value.deserializer`: functions or coroutine
            functions `(bytes or None, ctx) -> object`.

    Raises:
        ConfigError: as the AIOConsumer.
        ValueError: a deserializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = built = BuiltSerdes(conf, DESERIALIZERS)
        with closing_on_error(built):
            rest, key, value = take_functions(built.conf, DESERIALIZERS)
            rest, self._policy = PoisonPolicy.take(rest)
        self._deserializers = FieldDeserializers(key, value)
        self._letters: AIODeadLetters | None = None
        self._held: deque[ConsumeError | FieldError] = deque()
        self._reader = self._deserializers.reader
        with closing_on_error(built):
            super().__init__(rest)
        built.tell_cluster_of(self, "set_async_cluster_id_resolver")
        self._stores = self._core.leave_storing()
        self._store = self._core.positions.store_behind

    async def poll(self, timeout: float | None = None) -> TypedMessage[K, V] | None:  # type: ignore[override]
        """See `DeserializingConsumer.poll`."""
        deadline = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        while True:
            if self._held:
                raise self._held.popleft()
            message = await super().poll(timeout)
            found = await self._take([] if message is None else [message])
            if found or message is None:
                return found[0] if found else None
            timeout = timeout if deadline is None else max(0.0, deadline - time.monotonic())  # it was passed over

    async def consume(  # type: ignore[override]
        self, num_messages: int = 1, timeout: float = -1
    ) -> list[TypedMessage[K, V]]:
        """See `DeserializingConsumer.consume`."""
        if self._held:
            raise self._held.popleft()
        return await self._take(await super().consume(num_messages, timeout))

    async def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """As `AIOConsumer.consume_arrow`: raw bytes in columns, nothing is deserialized."""
        batch = await super().consume_arrow(num_messages, timeout)
        try:
            if self._stores:
                places = await self.position(await self.assignment())
                await self.keep([place for place in places if place.offset >= 0])
        except BaseException:
            self.hand_back(batch)
            raise
        return batch

    def __aiter__(self) -> AsyncIterator[TypedMessage[K, V]]:  # type: ignore[override]
        """Messages until the consumer is closed, as `poll` gives them."""
        return cast("AsyncIterator[TypedMessage[K, V]]", super().__aiter__())

    async def _take(self, raw: list[Message]) -> list[TypedMessage[K, V]]:
        try:
            good = self._reader.read_many_now(raw)
            if good == len(raw):  # nothing has to be awaited
                if self._stores:
                    for last in last_of_each(raw):
                        if not self._store(last):
                            log.debug("offset not stored: %s is not assigned any more", last)
                return cast("list[TypedMessage[K, V]]", raw)
            took = taking(raw, self._deserializers, self._policy, self, self._stores, good)
            batch, raised = await settle_async(took)
        except BaseException:  # cancelled, above all: the next call gives them again
            self.hand_back(raw)
            raise
        self._held.extend(event for event in batch.events if event is not raised)
        if raised is not None:
            raise raised
        return cast("list[TypedMessage[K, V]]", batch.messages)

    async def go_back(self, place: TopicPartition) -> None:
        """Sets the position; a partition that was revoked meanwhile is left to its next owner."""
        try:
            await self.seek(place)
        except StateError as gone:
            log.debug("the position was not set back to %s: %s", place, gone)

    async def keep(self, places: list[TopicPartition]) -> None:
        """Stores offsets; partitions revoked meanwhile are left out, as by the consumer itself."""
        for place in places:
            try:
                await self.store_offsets(offsets=[place])
            except StateError as gone:
                log.debug("offset not stored: %s", gone)

    async def set_aside(self, letter: Letter) -> None:
        """Delivers a dead letter, and waits for it.

        Raises:
            KafkaException: it was not delivered.
        """
        if self._letters is None:
            from serdes.clients.dead_letters import AIODeadLetters  # with a producer, which few consumers need

            self._letters = AIODeadLetters(self._policy.producer_conf or {})
        await self._letters.deliver(letter)

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        if self._letters is not None:
            self._letters.let_go(letter)

    async def close(self) -> None:
        """As `AIOConsumer.close`; closes the producer of dead letters and what builders made, too, whatever fails."""
        async with AsyncExitStack() as then:
            then.push_async_callback(self._built.aclose)
            if self._letters is not None:
                then.push_async_callback(self._letters.close)
            await super().close()
