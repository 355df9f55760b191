"""The producer that serializes: `confluent_kafka`'s name over `kafka_core`'s producer, with typed keys and values.

Must not know how a value is made (`serdes.clients.fields` and the serializers do), nor of consumers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from kafka_core.sync.producer import Producer
from serdes.builders import BuiltSerdes, closing_on_error
from serdes.clients.fields import SERIALIZERS, DeliveryCallback, FieldSerializers, take_functions
from serdes.clients.fields import Key as K
from serdes.clients.fields import Value as V
from serdes.context import Headers
from serdes.errors import FieldError
from serdes.kernels.fields import ProduceCall


class SerializingProducer(Producer, Generic[K, V]):
    """A `kafka_core.Producer` that takes objects.

    Args:
        conf: properties of the Producer, and `key.serializer`, `value.serializer`: `function(obj, ctx) -> bytes`;
            without one, keys (or values) are bytes or str as the Producer takes them. `key.serializer.builder` and
            `value.serializer.builder` (serdes.builders) make them instead; what they make is closed with this.

    Raises:
        ConfigError: as the Producer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = BuiltSerdes(conf, SERIALIZERS)
        with closing_on_error(self._built):
            rest, key, value = take_functions(self._built.conf, SERIALIZERS)
            self._serializers = FieldSerializers(key, value)
            super().__init__(rest)
        self._built.tell_cluster_of(self)
        # As in `Producer`: no Python frame per record, unless a subclass has its own way or the call may wait.
        if not self._max_block_s and type(self).produce is SerializingProducer.produce:
            self.__dict__["produce"] = ProduceCall(self._serializers.writer, self._accumulator.produce)

    def close(self, timeout: float | None = None) -> bool:
        """As `Producer.close`; closes what builders made, too."""
        try:
            return super().close(timeout)
        finally:
            self._built.close()

    def produce(  # type: ignore[override]  # the reference API has the key before the value here
        self,
        topic: str,
        key: K | None = None,
        value: V | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> None:
        """Serializes and queues one record; everything else is as `Producer.produce` says.

        Args:
            topic: where to.
            key: given to the key serializer (None too).
            value: given to the value serializer (None too: most make a tombstone of it).
            partition: -1 leaves the choice to the partitioner.
            on_delivery: called with (KafkaError or None, Message) by poll() or flush(); the message holds bytes.
            timestamp: milliseconds since 1970-01-01 UTC; 0 is now.
            headers: pairs or a dict.

        Raises:
            KeySerializationError, ValueSerializationError: the object can't be serialized; nothing was queued.
            BufferError: the queue is full.
            KafkaException: the record is too large, or the partition does not exist.
        """
        written_key, written_value, sent = self._serializers.write(topic, key, value, headers)
        super().produce(
            topic,
            written_value,
            written_key,
            partition,
            None,
            on_delivery,
            timestamp,
            sent,
        )

    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int:
        """As `Producer.produce_batch`, with objects as `key` and `value`.

        A message that can't be serialized gets the error as `_error` (its code is _KEY_SERIALIZATION or
        _VALUE_SERIALIZATION) and is not queued; the others are.
        """
        written: list[dict[str, Any]] = []
        sources: list[dict[str, Any]] = []
        for message in messages:
            message.pop("_error", None)
            try:
                given = message.get("key"), message.get("value"), message.get("headers")
                key, value, headers = self._serializers.write(topic, *given)
            except FieldError as error:
                message["_error"] = error.args[0]
            else:
                written.append({**message, "key": key, "value": value, "headers": headers})
                sources.append(message)
        accepted = super().produce_batch(topic, written, partition, callback, on_delivery)
        for source, copy in zip(sources, written, strict=True):
            if "_error" in copy:
                source["_error"] = copy["_error"]
        return accepted
