"""Serializers without schemas: strings, integers, doubles.

Must not know of registries. Source: Kafka's StringSerializer, IntegerSerializer and DoubleSerializer (big-endian).
"""

from __future__ import annotations

import codecs
from struct import Struct, error

from serdes.context import SerializationContext
from serdes.errors import SerializationError

__all__ = [
    "DoubleDeserializer",
    "DoubleSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "StringDeserializer",
    "StringSerializer",
]

INT = Struct(">i")
DOUBLE = Struct(">d")


def _error(reason: str, ctx: SerializationContext | None) -> SerializationError:
    made = SerializationError(reason)
    return made if ctx is None else made.located(ctx.topic, str(ctx.field))


class StringSerializer:
    """str → bytes.

    Args:
        codec: a name Python knows, e.g. `utf_8`.

    Raises:
        LookupError: unknown codec.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, obj: str | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Encodes one string.

        Raises:
            SerializationError: not a string, or not one this codec can encode.
        """
        if obj is None:
            return None
        try:
            return obj.encode(self.codec)
        except AttributeError as cause:
            raise _error(f"a str is needed, not {type(obj).__name__}", ctx) from cause
        except UnicodeError as cause:
            raise _error(f"the string can't be encoded as {self.codec}", ctx) from cause


class StringDeserializer:
    """bytes → str.

    Args:
        codec: a name Python knows, e.g. `utf_8`.

    Raises:
        LookupError: unknown codec.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> str | None:
        """Decodes one string.

        Raises:
            SerializationError: the bytes are not text in this codec.
        """
        if value is None:
            return None
        try:
            return value.decode(self.codec)
        except UnicodeError as cause:
            raise _error(f"{len(value)} bytes that are not {self.codec} text", ctx) from cause


class IntegerSerializer:
    """int → 4 bytes, big-endian, signed."""

    def __call__(self, obj: int | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Packs one number.

        Raises:
            SerializationError: not an int, or out of range.
        """
        if obj is None:
            return None
        try:
            return INT.pack(obj)
        except error as cause:
            raise _error(f"an int of 32 bits is needed: {cause}", ctx) from cause


class IntegerDeserializer:
    """4 bytes, big-endian, signed → int."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> int | None:
        """Unpacks one number.

        Raises:
            SerializationError: not exactly 4 bytes.
        """
        if value is None:
            return None
        if len(value) != INT.size:
            raise _error(f"an int has {INT.size} bytes, not {len(value)}", ctx)
        number: int = INT.unpack(value)[0]
        return number


class DoubleSerializer:
    """float → 8 bytes, big-endian."""

    def __call__(self, obj: float | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Packs one number.

        Raises:
            SerializationError: not a number.
        """
        if obj is None:
            return None
        try:
            return DOUBLE.pack(obj)
        except (error, OverflowError) as cause:
            raise _error(f"a float of 64 bits is needed: {cause}", ctx) from cause


class DoubleDeserializer:
    """8 bytes, big-endian → float."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> float | None:
        """Unpacks one number.

        Raises:
            SerializationError: not exactly 8 bytes.
        """
        if value is None:
            return None
        if len(value) != DOUBLE.size:
            raise _error(f"a double has {DOUBLE.size} bytes, not {len(value)}", ctx)
        number: float = DOUBLE.unpack(value)[0]
        return number
