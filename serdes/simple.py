"""Serializers without schemas: strings, bytes, numbers, UUIDs, and nothing at all.

Must not know of registries. Source: the classes of the same names in Kafka's `org.apache.kafka.common.serialization`
(numbers big-endian; a UUID as its text; Void for null), whose bytes these are.
"""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Callable
from struct import Struct, error
from typing import Any, ClassVar, NoReturn

from serdes.context import SerializationContext
from serdes.errors import SerializationError

__all__ = [
    "BytesDeserializer",
    "BytesSerializer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "FloatDeserializer",
    "FloatSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "LongDeserializer",
    "LongSerializer",
    "NullDeserializer",
    "NullSerializer",
    "ShortDeserializer",
    "ShortSerializer",
    "StringDeserializer",
    "StringSerializer",
    "UUIDDeserializer",
    "UUIDSerializer",
]


def _fail(reason: str, ctx: SerializationContext | None, cause: Exception | None = None) -> NoReturn:
    made = SerializationError(reason)
    raise (made if ctx is None else made.located(ctx.topic, str(ctx.field))) from cause


class OwnsNothing:
    """The `close` and subject methods that serializers of the registry have, here without effect."""

    __slots__ = ()

    def close(self) -> None:
        """Does nothing."""

    def set_cluster_id_resolver(self, resolver: Callable[[], Any]) -> None:
        """Does nothing."""


class StringSerializer(OwnsNothing):
    """str → bytes.

    Args:
        codec: a name Python knows, e.g. `utf_8`.

    Raises:
        LookupError: unknown codec.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        codecs.lookup(codec)
        self.codec = codec

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
            _fail(f"a str is needed, not {type(obj).__name__}", ctx, cause)
        except UnicodeError as cause:
            _fail(f"the string can't be encoded as {self.codec}", ctx, cause)


class StringDeserializer(OwnsNothing):
    """bytes → str.

    Args:
        codec: a name Python knows, e.g. `utf_8`.

    Raises:
        LookupError: unknown codec.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        codecs.lookup(codec)
        self.codec = codec

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
            _fail(f"{len(value)} bytes that are not {self.codec} text", ctx, cause)


class BytesSerializer(OwnsNothing):
    """bytes → the same bytes."""

    def __call__(self, obj: bytes | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Passes bytes on.

        Raises:
            SerializationError: not bytes.
        """
        given: object = obj
        if obj is None or isinstance(given, bytes):
            return obj
        if isinstance(given, (bytearray, memoryview)):
            return bytes(given)
        _fail(f"bytes are needed, not {type(given).__name__}", ctx)


class BytesDeserializer(OwnsNothing):
    """bytes → the same bytes."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Passes bytes on."""
        return value


class NullSerializer(OwnsNothing):
    """None → null; anything else is an error."""

    def __call__(self, obj: None, ctx: SerializationContext | None = None) -> None:
        """Passes None on.

        Raises:
            SerializationError: there is a value.
        """
        found: object = obj
        if found is not None:
            _fail(f"None is needed, not {type(found).__name__}", ctx)


class NullDeserializer(OwnsNothing):
    """null → None; anything else is an error."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> None:
        """Passes None on.

        Raises:
            SerializationError: there are bytes.
        """
        if value is not None:
            _fail(f"null is needed, not {len(value)} bytes", ctx)


class _IntSerializer(OwnsNothing):
    FORM: ClassVar[Struct]

    def __call__(self, obj: int | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Packs one number.

        Raises:
            SerializationError: not an int, or out of range.
        """
        if obj is None:
            return None
        try:
            return self.FORM.pack(obj)
        except error as cause:
            _fail(f"an int of {self.FORM.size * 8} bits is needed: {cause}", ctx, cause)


class _IntDeserializer(OwnsNothing):
    FORM: ClassVar[Struct]
    NAME: ClassVar[str]

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> int | None:
        """Unpacks one number.

        Raises:
            SerializationError: another number of bytes.
        """
        if value is None:
            return None
        if len(value) != self.FORM.size:
            _fail(f"{self.NAME} has {self.FORM.size} bytes, not {len(value)}", ctx)
        number: int = self.FORM.unpack(value)[0]
        return number


class _FloatSerializer(OwnsNothing):
    FORM: ClassVar[Struct]

    def __call__(self, obj: float | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Packs one number.

        Raises:
            SerializationError: not a number, or out of range.
        """
        if obj is None:
            return None
        try:
            return self.FORM.pack(obj)
        except (error, OverflowError) as cause:
            _fail(f"a float of {self.FORM.size * 8} bits is needed: {cause}", ctx, cause)


class _FloatDeserializer(OwnsNothing):
    FORM: ClassVar[Struct]
    NAME: ClassVar[str]

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> float | None:
        """Unpacks one number.

        Raises:
            SerializationError: another number of bytes.
        """
        if value is None:
            return None
        if len(value) != self.FORM.size:
            _fail(f"{self.NAME} has {self.FORM.size} bytes, not {len(value)}", ctx)
        number: float = self.FORM.unpack(value)[0]
        return number


class ShortSerializer(_IntSerializer):
    """int → 2 bytes, big-endian, signed."""

    FORM = Struct(">h")


class ShortDeserializer(_IntDeserializer):
    """2 bytes, big-endian, signed → int."""

    FORM, NAME = ShortSerializer.FORM, "a short"


class IntegerSerializer(_IntSerializer):
    """int → 4 bytes, big-endian, signed."""

    FORM = Struct(">i")


class IntegerDeserializer(_IntDeserializer):
    """4 bytes, big-endian, signed → int."""

    FORM, NAME = IntegerSerializer.FORM, "an int"


class LongSerializer(_IntSerializer):
    """int → 8 bytes, big-endian, signed."""

    FORM = Struct(">q")


class LongDeserializer(_IntDeserializer):
    """8 bytes, big-endian, signed → int."""

    FORM, NAME = LongSerializer.FORM, "a long"


class FloatSerializer(_FloatSerializer):
    """float → 4 bytes, big-endian: the nearest number of 32 bits."""

    FORM = Struct(">f")


class FloatDeserializer(_FloatDeserializer):
    """4 bytes, big-endian → float."""

    FORM, NAME = FloatSerializer.FORM, "a float"


class DoubleSerializer(_FloatSerializer):
    """float → 8 bytes, big-endian."""

    FORM = Struct(">d")


class DoubleDeserializer(_FloatDeserializer):
    """8 bytes, big-endian → float."""

    FORM, NAME = DoubleSerializer.FORM, "a double"


class UUIDSerializer(OwnsNothing):
    """UUID → its text of 36 characters."""

    def __call__(self, obj: uuid.UUID | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Writes one UUID.

        Raises:
            SerializationError: not a UUID.
        """
        if obj is None:
            return None
        if not isinstance(obj, uuid.UUID):
            _fail(f"a UUID is needed, not {type(obj).__name__}", ctx)
        return str(obj).encode()


class UUIDDeserializer(OwnsNothing):
    """The text of a UUID → UUID."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> uuid.UUID | None:
        """Reads one UUID.

        Raises:
            SerializationError: the bytes are not the text of a UUID.
        """
        if value is None:
            return None
        try:
            text = value.decode("ascii")
            if len(text) == 36:
                return uuid.UUID(text)
        except ValueError as cause:
            _fail(f"{len(value)} bytes that are not the text of a UUID", ctx, cause)
        _fail(f"{len(value)} bytes that are not the text of a UUID", ctx)
