"""The bases of confluent_kafka's serializers, which applications inherit and ask for with `isinstance`.

`serdes.Serializer` and `serdes.Deserializer` say the same to type checkers; nothing of ours needs a base.
"""

from __future__ import annotations

from typing import Any

from serdes import SerializationContext
from serdes.engine.aio import AsyncDeserializer, AsyncSerializer
from serdes.engine.blocking import BlockingDeserializer, BlockingSerializer
from serdes.simple import OwnsNothing

__all__ = ["Deserializer", "Serializer"]


class _Kind(type):
    """Counts what does the same without inheriting it."""

    alike: tuple[str, tuple[type, ...]] = ("", ())

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        ending, engines = cls.alike
        return super().__subclasscheck__(subclass) or (
            cls in _BASES
            and (issubclass(subclass, engines) or (issubclass(subclass, OwnsNothing) and ending in subclass.__name__))
        )


class Serializer(OwnsNothing, metaclass=_Kind):
    """Makes bytes of a value; the classes that inherit it say how."""

    __slots__ = ()
    alike = ("Serializer", (BlockingSerializer, AsyncSerializer))

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> Any:
        """Serializes one value."""
        raise NotImplementedError


class Deserializer(OwnsNothing, metaclass=_Kind):
    """Makes a value of bytes; the classes that inherit it say how."""

    __slots__ = ()
    alike = ("Deserializer", (BlockingDeserializer, AsyncDeserializer))

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserializes one value."""
        raise NotImplementedError


_BASES = (Serializer, Deserializer)
