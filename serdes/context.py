"""`SerializationContext`, which tells a serializer the topic, key or value, and the headers of a value.

Must not know of schemas. Names are those of `confluent_kafka.serialization`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import typing_extensions

    Value = typing_extensions.TypeVar("Value", default=Any)  # so that a serializer without a model is one of anything
else:
    Value = TypeVar("Value")

Headers: TypeAlias = Mapping[str, "str | bytes | None"] | Sequence[tuple[str, "str | bytes | None"]]
In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)


class MessageField(enum.StrEnum):
    """The part of a message that a value is."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"

    __hash__ = str.__hash__  # Enum's own is written in Python, and this is hashed for every message


@dataclass(slots=True)
class SerializationContext:
    """The place of a value.

    Attributes:
        topic: the topic it goes to or comes from.
        field: key or value.
        headers: the message's headers.
        key: for a value, the message's key before it was serialized (when reading: its bytes), if that is known.
    """

    topic: str
    field: MessageField
    headers: Headers | None = None
    key: Any = None


def place(ctx: SerializationContext | None) -> tuple[str | None, str | None]:
    """Topic and field, for errors; both None without a context."""
    return (None, None) if ctx is None else (ctx.topic, str(ctx.field))


class Serializer(Protocol[In]):
    """Makes bytes of a value. None stays None: a tombstone."""

    def __call__(self, obj: In | None, ctx: SerializationContext | None = None) -> bytes | None:
        """Serializes one value.

        Raises:
            SerializationError: the value can't be serialized.
        """
        ...


class Deserializer(Protocol[Out]):
    """Makes a value of bytes. None stays None."""

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Out | None:
        """Deserializes one value.

        Raises:
            SerializationError: the bytes are not what they should be.
        """
        ...
