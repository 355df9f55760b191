"""Serializers and deserializers for tasks of one event loop.

Must not know of formats, schemas or frames: the engines do everything, and what needs nothing but its encoder or
decoder is done at once, without waiting.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Self

from serdes.context import SerializationContext
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.drivers import drive_async
from serdes.engine.owning import AsyncOwner
from serdes.engine.serializer import SerializerEngine
from serdes.kernels import FrameDecoders, ValueEncoders


class AsyncSerializer(AsyncOwner, ValueEncoders):
    """Serializes for tasks of one event loop.

    Args:
        engine: does what is not done by an encoder alone.

    Attributes:
        short_way: see `serdes.kernels.WriteCall`.
    """

    short_way = True

    _engine: SerializerEngine

    def __init__(self, engine: SerializerEngine) -> None:
        super().__init__(engine.cache.store)
        self._engine = engine

    def __await__(self) -> Generator[Any, None, Self]:
        """Itself: in confluent_kafka the constructor is awaited."""
        yield from ()
        return self

    async def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        encode = self.encoder_of(None, None) if ctx is None else self.encoder_of(ctx.topic, ctx.field)
        if encode is None:
            return await drive_async(self._engine.client, self._engine.serialize(obj, ctx))
        try:
            return encode(obj)
        except Exception as error:
            self._engine.blame(error, ctx)
            raise


class AsyncDeserializer(AsyncOwner, FrameDecoders):
    """Deserializes for tasks of one event loop.

    Args:
        engine: does what is not done by a decoder alone.

    Attributes:
        short_way: see `serdes.kernels.ReadCall`.
    """

    short_way = True

    _engine: DeserializerEngine

    def __init__(self, engine: DeserializerEngine) -> None:
        super().__init__(engine.cache.store, engine.start_bytes)
        self._engine = engine

    def __await__(self) -> Generator[Any, None, Self]:
        """Itself: in confluent_kafka the constructor is awaited."""
        yield from ()
        return self

    async def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        if value is None:
            return None
        decode = self.decoder_of(value) if ctx is None or not ctx.headers else None
        if decode is None:
            return await drive_async(self._engine.client, self._engine.deserialize(value, ctx))
        try:
            return decode(value)
        except Exception as error:
            self._engine.blame(error, value, ctx)
            raise
