"""Serializers and deserializers that work on the caller's thread.

Must not know of formats, schemas or frames: the engines do everything, the kernels take the short way past them.
"""

from __future__ import annotations

from typing import Any

from serdes.context import SerializationContext
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.drivers import drive
from serdes.engine.owning import Owner
from serdes.engine.serializer import SerializerEngine
from serdes.kernels import ReadCall, WriteCall


class BlockingSerializer(Owner, WriteCall):
    """Serializes on the caller's thread. Threads may share one.

    Args:
        engine: does what is not done by an encoder alone.
    """

    _engine: SerializerEngine

    def __init__(self, engine: SerializerEngine) -> None:
        super().__init__(engine.cache.store)
        self._engine = engine

    def _long_way(self, obj: Any, ctx: SerializationContext | None) -> bytes:
        return drive(self._engine.client, self._engine.serialize(obj, ctx))

    def _blame(self, error: Exception, value: Any, ctx: SerializationContext | None) -> None:
        self._engine.blame(error, ctx)


class BlockingDeserializer(Owner, ReadCall):
    """Deserializes on the caller's thread. Threads may share one.

    Args:
        engine: does what is not done by a decoder alone.
    """

    _engine: DeserializerEngine

    def __init__(self, engine: DeserializerEngine) -> None:
        super().__init__(engine.cache.store, engine.start_bytes)
        self._engine = engine

    def _long_way(self, value: Any, ctx: SerializationContext | None) -> Any:
        return drive(self._engine.client, self._engine.deserialize(value, ctx))

    def _blame(self, error: Exception, value: bytes, ctx: SerializationContext | None) -> None:
        self._engine.blame(error, value, ctx)
