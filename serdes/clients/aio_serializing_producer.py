"""The asyncio producer that serializes: `confluent_kafka`'s name over `kafka_core`'s asyncio producer.

Must not know how a value is made (`serdes.clients.fields` and the serializers do), nor of consumers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Generic

from kafka_core.aio.producing.producer import AIOProducer
from kafka_core.kernels import Message
from serdes.builders import BuiltSerdes, closing_on_error
from serdes.clients.fields import SERIALIZERS, Awaited, DeliveryCallback, FieldSerializers, take_functions
from serdes.clients.fields import Key as K
from serdes.clients.fields import Value as V
from serdes.context import Headers


class AIOSerializingProducer(Awaited, AIOProducer, Generic[K, V]):
    """A `kafka_core.aio.AIOProducer` that takes objects; see `SerializingProducer`.

    `produce_batch` takes objects as `key` and `value` too: the future of a message that can't be serialized raises
    KeySerializationError or ValueSerializationError.

    Args:
        conf: properties of the AIOProducer, and `key.serializer`, `value.serializer`: functions or coroutine functions
            `(obj, ctx) -> bytes`.

    Raises:
        ConfigError: as the AIOProducer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = BuiltSerdes(conf, SERIALIZERS)
        with closing_on_error(self._built):
            rest, key, value = take_functions(self._built.conf, SERIALIZERS)
            self._serializers = FieldSerializers(key, value)
            super().__init__(rest)
        self._built.tell_cluster_of(self, "set_async_cluster_id_resolver")

    async def close(self, timeout: float | None = None) -> None:
        """As `AIOProducer.close`; closes what builders made, too."""
        try:
            await super().close(timeout)
        finally:
            await self._built.aclose()

    async def produce(  # type: ignore[override]  # the reference API has the key before the value here
        self,
        topic: str,
        key: K | None = None,
        value: V | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> asyncio.Future[Message]:
        """Serializes and queues one record; see `SerializingProducer.produce`.

        Records of tasks that produce at once are queued in the order in which their serializers end.

        Returns:
            A future of the delivered Message, which holds bytes; it raises KafkaException when the record failed.
        """
        written_key, written_value, sent = await self._serializers.write_async(topic, key, value, headers)
        return await super().produce(
            topic,
            written_value,
            written_key,
            partition,
            on_delivery,
            timestamp,
            sent,
        )
