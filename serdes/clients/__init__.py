"""Typed clients: `kafka_core`'s producers and consumers with serializers of keys and values.

Every name is imported at its first use: a producer loads no consumer, and a consumer no producer.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from serdes.clients.aio_deserializing_consumer import AIODeserializingConsumer
    from serdes.clients.aio_serializing_producer import AIOSerializingProducer
    from serdes.clients.deserializing_consumer import DeserializingConsumer
    from serdes.clients.serializing_producer import SerializingProducer
    from serdes.clients.share import AIODeserializingShareConsumer, DeserializingShareConsumer

__all__ = [
    "AIODeserializingConsumer",
    "AIODeserializingShareConsumer",
    "AIOSerializingProducer",
    "DeserializingConsumer",
    "DeserializingShareConsumer",
    "SerializingProducer",
]

HOMES: Final = {
    "serdes.clients.aio_deserializing_consumer": ("AIODeserializingConsumer",),
    "serdes.clients.aio_serializing_producer": ("AIOSerializingProducer",),
    "serdes.clients.deserializing_consumer": ("DeserializingConsumer",),
    "serdes.clients.serializing_producer": ("SerializingProducer",),
    "serdes.clients.share": ("AIODeserializingShareConsumer", "DeserializingShareConsumer"),
}

if not TYPE_CHECKING:  # type checkers read the imports above
    __getattr__, __dir__ = public_names(__name__, HOMES)
