"""The short way of a call: a value that needs nothing but its encoder, a frame that needs nothing but its decoder.

Must not know of registries, plans or rules: what is not found here goes the long way, which the class that is built on
this one has. Nothing waits here and no lock is taken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["MessageDecoder", "MessageEncoder", "ReadCall", "WriteCall"]


class WriteCall:
    """Serializes with the encoder known for topic and field.

    Attributes:
        _quick: (topic, field) → encoder; entries are added, never changed: where plans end it is replaced as a whole.
            Without a context both are None.
    """

    _quick: dict[tuple[str | None, str | None], Callable[[Any], bytes]]

    @abstractmethod
    def _long_way(self, obj: Any, ctx: Any) -> bytes | None:
        """Serializes a value that is not None where no encoder is known."""

    @abstractmethod
    def _blame(self, error: Exception, value: Any, ctx: Any) -> None:
        """Tells an error where it happened; raises instead what is to be raised for one that is not ours."""

    def __call__(self, obj: Any, ctx: Any = None) -> bytes | None:
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        encode = self._quick.get((None, None) if ctx is None else (ctx.topic, ctx.field))
        if encode is None:
            return self._long_way(obj, ctx)
        try:
            return encode(obj)
        except Exception as error:
            self._blame(error, obj, ctx)
            raise


class ReadCall:
    """Deserializes with the decoder known for the start of a frame, if no header may say otherwise.

    Attributes:
        _quick: the first bytes of a frame → decoder of such frames; entries are added, never changed: where plans end
            it is replaced as a whole.
        _quick_size: how many bytes those are.
    """

    _quick: dict[bytes, Callable[[bytes], Any]]
    _quick_size: int

    @abstractmethod
    def _long_way(self, value: Any, ctx: Any) -> Any:
        """Deserializes a frame where no decoder is known, or a header may name one."""

    @abstractmethod
    def _blame(self, error: Exception, value: bytes, ctx: Any) -> None:
        """Tells an error where it happened; raises instead what is to be raised for one that is not ours."""

    def __call__(self, value: bytes | None, ctx: Any = None) -> Any:
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        if value is None:
            return None
        if value.__class__ is bytes and (ctx is None or not ctx.headers):
            decode = self._quick.get(value[: self._quick_size])
            if decode is not None:
                try:
                    return decode(value)
                except Exception as error:
                    self._blame(error, value, ctx)
                    raise
        return self._long_way(value, ctx)


class MessageEncoder:
    """Encodes Protobuf messages of exactly one class, behind a prefix."""

    __slots__ = ("_message", "_otherwise", "_prefix")

    def __init__(self, message: type[Any], prefix: bytes, otherwise: Callable[[Any], bytes]) -> None:
        """Makes an encoder.

        Args:
            message: the class.
            prefix: put in front of every message.
            otherwise: is given what is of another class or can't be encoded: converts it, or says why not.
        """
        self._message = message
        self._prefix = prefix
        self._otherwise = otherwise

    def __call__(self, value: Any) -> bytes:
        """Prefix and message."""
        if value.__class__ is self._message:
            try:
                payload: bytes = value.SerializeToString()
            except Exception:
                return self._otherwise(value)
            return self._prefix + payload
        return self._otherwise(value)


class MessageDecoder:
    """Decodes Protobuf messages of one class."""

    __slots__ = ("_otherwise", "_parse", "_skip")

    def __init__(self, parse: Callable[[bytes], Any], skip: int, otherwise: Callable[[bytes], Any]) -> None:
        """Makes a decoder.

        Args:
            parse: bytes → message.
            skip: bytes in front of every message.
            otherwise: is given the frame that can't be parsed: says why not.
        """
        self._parse = parse
        self._skip = skip
        self._otherwise = otherwise

    def __call__(self, frame: bytes) -> Any:
        """The message behind the skipped bytes."""
        try:
            return self._parse(frame[self._skip :])
        except Exception:
            return self._otherwise(frame)
