"""The short way of a call: a value that needs nothing but its encoder, a frame that needs nothing but its decoder.

Must not know of registries, formats or rules: what is not found here goes the long way, which the class that is built
on these has. Nothing waits here and no lock is taken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import orjson

from serdes.kernels.naming import KEY_HEADER, VALUE_HEADER
from serdes.kernels.pure.values import LARGE, survey

__all__ = [
    "FrameDecoders",
    "JsonDecoder",
    "JsonEncoder",
    "MessageDecoder",
    "MessageEncoder",
    "PlanStore",
    "ReadCall",
    "ValueEncoders",
    "WriteCall",
    "may_name_schema",
]

PlanKey: TypeAlias = tuple[str | None, str | None, bytes, bool]
"""Topic, field, the bytes that name the schema, and whether they are in a header. The last two are empty and False for
writing; topic and field are None for a plan that is good everywhere, and without a context."""


class Plan(Protocol):
    """A serializer's plan for a key.

    Attributes:
        direct: the encoder or decoder, if that is all there is to do; None if it takes the long way.
    """

    @property
    def direct(self) -> Callable[[Any], Any] | None: ...


class PlanStore:
    """The plans of one serializer or deserializer. Threads share it.

    Attributes:
        plans: key → plan; entries are put in, and all are forgotten at once, with the dictionary that has them.
    """

    __slots__ = ("plans",)

    def __init__(self) -> None:
        self.plans: dict[PlanKey, Any] = {}

    def forget(self) -> None:
        """Forgets all plans; one that is being made goes into the dictionary that its maker had before."""
        self.plans = {}


class ValueEncoders:
    """Finds the encoder of a topic and field."""

    def __init__(self, store: PlanStore) -> None:
        """Makes the serializer.

        Args:
            store: the serializer's plans.
        """
        self._store = store

    def encoder_of(self, topic: str | None, field: str | None) -> Callable[[Any], bytes] | None:
        """The encoder of a topic and field; None if there is none, or more to do."""
        plan = self._store.plans.get((topic, field, b"", False))
        return None if plan is None else plan.direct


class WriteCall(ValueEncoders):
    """Serializes with the encoder known for topic and field.

    Attributes:
        short_way: a call does no more than the encoder that `encoder_of` finds, if it finds one. Who sees it in the
            class that has the `__call__` may use the encoder itself.
    """

    short_way = True

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
        encode = self.encoder_of(None, None) if ctx is None else self.encoder_of(ctx.topic, ctx.field)
        if encode is None:
            return self._long_way(obj, ctx)
        try:
            return encode(obj)
        except Exception as error:
            self._blame(error, obj, ctx)
            raise


class FrameDecoders:
    """Finds the decoder of a frame by its first bytes."""

    def __init__(self, store: PlanStore, size: int) -> None:
        """Makes the serializer.

        Args:
            store: the deserializer's plans.
            size: how many bytes of a frame name its schema.
        """
        self._store = store
        self._size = size

    def decoder_of(self, value: Any) -> Callable[[bytes], Any] | None:
        """The decoder of a frame; None if there is none, or more to do. Headers may name another schema."""
        if value.__class__ is not bytes:
            return None
        plan = self._store.plans.get((None, None, value[: self._size], False))
        return None if plan is None else plan.direct


class ReadCall(FrameDecoders):
    """Deserializes with the decoder known for the start of a frame, if no header may say otherwise.

    Attributes:
        short_way: as for `WriteCall`.
    """

    short_way = True

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
        decode = self.decoder_of(value) if ctx is None or not may_name_schema(ctx.headers) else None
        if decode is None:
            return self._long_way(value, ctx)
        try:
            return decode(value)
        except Exception as error:
            self._blame(error, value, ctx)
            raise


def may_name_schema(headers: Any) -> bool:
    """Whether headers may name the schema of a key or value: all but pairs, or a dict, of other names."""
    if type(headers) is list:
        return not all(type(pair) is tuple and len(pair) == 2 and _is_other(pair[0]) for pair in headers)
    if type(headers) is dict:
        return not all(map(_is_other, headers))
    return bool(headers)


def _is_other(name: Any) -> bool:
    return type(name) is str and name not in (KEY_HEADER, VALUE_HEADER)


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


class JsonEncoder:
    """Encodes JSON values that hold nothing remarkable, behind a prefix."""

    __slots__ = ("_is_valid", "_levels", "_otherwise", "_prefix")

    def __init__(
        self,
        is_valid: Callable[[Any], bool] | None,
        levels: int,
        prefix: bytes,
        otherwise: Callable[[Any], bytes],
    ) -> None:
        """Makes an encoder.

        Args:
            is_valid: judges values; None for no check.
            levels: how many levels of dicts, lists and tuples a value may have.
            prefix: put in front of every payload.
            otherwise: is given all other values, those that are not valid or can't be encoded too: finds a way, or says
                why not.
        """
        self._is_valid = is_valid
        self._levels = levels
        self._prefix = prefix
        self._otherwise = otherwise

    def __call__(self, value: Any) -> bytes:
        """Prefix and JSON."""
        if survey(value, self._levels) & ~LARGE:
            return self._otherwise(value)
        try:
            if self._is_valid is not None and self._is_valid(value) is not True:
                return self._otherwise(value)
            payload = orjson.dumps(value)
        except Exception:
            return self._otherwise(value)
        return self._prefix + payload


class JsonDecoder:
    """Decodes JSON behind skipped bytes, if the values hold nothing remarkable."""

    __slots__ = ("_is_valid", "_levels", "_loads", "_otherwise", "_skip")

    def __init__(
        self,
        loads: Callable[[bytes], Any],
        is_valid: Callable[[Any], bool] | None,
        levels: int,
        skip: int,
        otherwise: Callable[[bytes], Any],
    ) -> None:
        """Makes a decoder.

        Args:
            loads: JSON → value.
            is_valid: judges values; None for no check.
            levels: how many levels of objects and arrays a value may have.
            skip: bytes in front of every payload.
            otherwise: is given the frames of all other values, and what is not JSON: finds a way, or says why not.
        """
        self._loads = loads
        self._is_valid = is_valid
        self._levels = levels
        self._skip = skip
        self._otherwise = otherwise

    def __call__(self, frame: bytes) -> Any:
        """The value behind the skipped bytes."""
        try:
            value = self._loads(frame[self._skip :])
            good = survey(value, self._levels) == 0 and (self._is_valid is None or self._is_valid(value) is True)
        except Exception:
            return self._otherwise(frame)
        return value if good else self._otherwise(frame)
