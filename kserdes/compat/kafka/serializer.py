"""Serializers of kafka-python: base classes, text, JSON, and plain functions in their place.

Must not know clients. Spec: `kafka.serializer` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import json
from collections.abc import Callable
from typing import Any

__all__ = [
    "DefaultSerializer",
    "DeserializeWrapper",
    "Deserializer",
    "JsonSerializer",
    "SerializeWrapper",
    "Serializer",
]


class Serializer(abc.ABC):
    """Makes bytes of the application's values."""

    @abc.abstractmethod
    def serialize(self, topic: str, headers: list[tuple[str, bytes]], data: Any) -> bytes | None:
        """The bytes, or None for a null."""

    def close(self) -> None:  # noqa: B027
        """Called when the client is closed."""


class Deserializer(abc.ABC):
    """Makes values for the application of bytes."""

    @abc.abstractmethod
    def deserialize(self, topic: str, headers: list[tuple[str, bytes]], data: bytes) -> Any:
        """The value."""

    def close(self) -> None:  # noqa: B027
        """Called when the client is closed."""


class DefaultSerializer(Serializer, Deserializer):
    """Text in an encoding; bytes stay as they are."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def serialize(self, topic: str, headers: Any, data: Any) -> bytes | None:
        """Text as bytes; bytes and None as they are."""
        if data is None or isinstance(data, bytes | bytearray | memoryview):
            return data  # type: ignore[return-value]
        encoded: bytes = data.encode(self.encoding)
        return encoded

    def deserialize(self, topic: str, headers: Any, data: bytes | None) -> Any:
        """Bytes as text."""
        return None if data is None else data.decode(self.encoding)


class JsonSerializer(DefaultSerializer):
    """JSON; None stays a null."""

    def serialize(self, topic: str, headers: Any, data: Any) -> bytes | None:
        """A value as JSON."""
        return None if data is None else json.dumps(data).encode(self.encoding)

    def deserialize(self, topic: str, headers: Any, data: bytes | None) -> Any:
        """JSON as a value."""
        return None if data is None else json.loads(data.decode(self.encoding))


class SerializeWrapper(Serializer):
    """A function in place of a serializer; None leaves bytes as they are."""

    def __init__(self, fn: Callable[[Any], bytes | None] | None) -> None:
        self.fn = fn

    def serialize(self, topic: str, headers: Any, data: Any) -> bytes | None:
        """The function's result."""
        return data if self.fn is None else self.fn(data)


class DeserializeWrapper(Deserializer):
    """A function in place of a deserializer; None leaves bytes as they are."""

    def __init__(self, fn: Callable[[bytes], Any] | None) -> None:
        self.fn = fn

    def deserialize(self, topic: str, headers: Any, data: bytes) -> Any:
        """The function's result."""
        return data if self.fn is None else self.fn(data)
