"""The producers of dead letters: deliver a message that can't be read to the topic that is set aside for such.

Must not know why it can't be read, nor what a letter says (`serdes.clients.poison` does). A consumer loads this module
with its first letter, so that no other consumer loads a producer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from kafka_core.aio.producing.producer import AIOProducer
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.sync.producer import Producer
from serdes.clients.poison import DELIVERY_S, Letter, SentLetters

ON_ITS_WAY: Final = "the dead letter is still on its way"


class _Delivery:
    """The result of a dead letter's delivery."""

    __slots__ = ("error", "told")

    def __init__(self) -> None:
        self.told = False
        self.error: KafkaError | None = None

    def report(self, error: KafkaError | None, _: Message) -> None:
        self.error, self.told = error, True


class DeadLetters:
    """Delivers the dead letters of a consumer.

    Args:
        conf: properties of the producer.

    Raises:
        ConfigError: as the Producer.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._producer = Producer(dict(conf))
        self._sent: SentLetters[_Delivery] = SentLetters()

    def deliver(self, letter: Letter) -> None:
        """Delivers a letter, once until it is let go, and waits for it.

        Raises:
            KafkaException: it was not delivered.
        """
        delivery = self._sent.of(letter)
        if delivery is None:
            delivery = _Delivery()
            self._producer.produce(
                letter.topic,
                letter.value,
                letter.key,
                on_delivery=delivery.report,
                timestamp=letter.timestamp,
                headers=letter.headers,
            )
            self._sent.begun(letter, delivery)
        if not delivery.told:
            self._producer.flush(DELIVERY_S)
        if not delivery.told:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, ON_ITS_WAY))
        if delivery.error is not None:
            self._sent.forget(letter)
            raise KafkaException(delivery.error)

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a letter's message."""
        self._sent.forget(letter)

    def close(self) -> None:
        """Closes the producer."""
        self._producer.close()


class AIODeadLetters:
    """Delivers the dead letters of an asyncio consumer; see `DeadLetters`."""

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._producer = AIOProducer(dict(conf))
        self._sent: SentLetters[asyncio.Future[Message]] = SentLetters()

    async def deliver(self, letter: Letter) -> None:
        """See `DeadLetters.deliver`."""
        delivery = self._sent.of(letter)
        if delivery is None:
            delivery = await self._producer.produce(
                letter.topic, letter.value, letter.key, timestamp=letter.timestamp, headers=letter.headers
            )
            delivery.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # maybe nobody waits
            self._sent.begun(letter, delivery)
        try:
            await asyncio.wait_for(asyncio.shield(delivery), DELIVERY_S)
        except TimeoutError as late:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, ON_ITS_WAY)) from late
        except KafkaException:
            self._sent.forget(letter)
            raise

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a letter's message."""
        self._sent.forget(letter)

    async def close(self) -> None:
        """Closes the producer."""
        await self._producer.close()
