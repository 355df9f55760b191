"""The straight line of a message: key and value are (de)serialized by known codecs, without a context for each.

Must not know of clients, registries or rules. What is not that simple gets a context and is called as it wants to be;
what would have to be awaited is left to the caller. Twin: `native/fields.pyx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from serdes.kernels.pure.calls import may_name_schema

__all__ = ["ANY", "KNOWN", "NONE", "PLAIN", "TEXT", "FieldReader", "FieldWriter", "ProduceCall", "last_of_each"]

NONE: Final = 0
"""There is no function."""
KNOWN: Final = 1
"""A `ValueEncoders` or `FrameDecoders` whose call does no more than the codec it finds."""
PLAIN: Final = 2
"""A function that needs its context for the texts of errors only."""
ANY: Final = 3
"""Any other function."""
TEXT: Final = 4
"""Strings in UTF-8: the function is not called but for what is no such string, to say so."""
MISSED: Final = object()
"""The short way does not go there."""


class FieldReader:
    """Puts what they mean in place of keys and values.

    Args:
        functions: for the key and the value; None leaves bytes.
        ways: NONE, KNOWN, PLAIN, ANY or TEXT for each.
        context: topic, field, headers and key → context.
        fields: what contexts call the key and the value.
        errors: makes the error for a key and for a value, of what was raised and the message.
    """

    def __init__(
        self,
        functions: tuple[Any, Any],
        ways: tuple[int, int],
        context: Callable[..., Any],
        fields: tuple[Any, Any],
        errors: tuple[type[Exception], type[Exception]],
    ) -> None:
        self._key, self._value = functions
        self._key_way, self._value_way = ways
        self._context = context
        self._key_field, self._value_field = fields
        self._key_error, self._value_error = errors

    def read(self, message: Any) -> None:
        """Reads a message; on an error it stays as it was.

        Raises:
            Exception: one that `errors` made, of what a function raised.
        """
        key = value = raw = None
        headers = message.headers()
        named = may_name_schema(headers)
        if self._key_way:
            raw = message.key()
            key = _decoded(self._key, self._key_way, raw, named)
            if key is MISSED:
                try:
                    key = self._key(raw, self._context(message.topic() or "", self._key_field, headers))
                except Exception as error:
                    raise self._key_error(error, message) from error
        if self._value_way:
            data = message.value()
            value = _decoded(self._value, self._value_way, data, named)
            if value is MISSED:
                raw = message.key()
                try:
                    value = self._value(data, self._context(message.topic() or "", self._value_field, headers, raw))
                except Exception as error:
                    raise self._value_error(error, message) from error
        if self._key_way:
            message.set_key(key)
        if self._value_way:
            message.set_value(value)

    def take(self, message: Any, store: Callable[[Any], bool] | None) -> bool | None:
        """Reads a message and stores its offset.

        Args:
            message: a message or an event.
            store: stores the offset behind a message; None: nothing is stored.

        Returns:
            None for an event, which is left as it is; else what `store` says, True without one.

        Raises:
            Exception: as `read`; nothing is stored then.
        """
        if message.error() is not None:
            return None
        self.read(message)
        return True if store is None else store(message)

    def read_now(self, message: Any) -> bool:
        """Reads a message by known codecs alone; False, and it stays as it was, if it needs more or can't be read."""
        key = value = None
        headers = message.headers()
        named = may_name_schema(headers)
        if self._key_way:
            key = _decoded(self._key, self._key_way, message.key(), named)
            if key is MISSED:
                return False
        if self._value_way:
            value = _decoded(self._value, self._value_way, message.value(), named)
            if value is MISSED:
                return False
        if self._key_way:
            message.set_key(key)
        if self._value_way:
            message.set_value(value)
        return True

    def read_many(self, messages: list[Any]) -> tuple[int, Any]:
        """Reads messages up to the first that is an event or can't be read: how many, and why it can't be read."""
        for good, message in enumerate(messages):
            if message.error() is not None:
                return good, None
            try:
                self.read(message)
            except (self._key_error, self._value_error) as failed:
                return good, failed
        return len(messages), None

    def read_many_now(self, messages: list[Any]) -> int:
        """Reads messages by known codecs alone, up to the first that is an event or needs more: how many."""
        for good, message in enumerate(messages):
            if message.error() is not None or not self.read_now(message):
                return good
        return len(messages)


class FieldWriter:
    """Serializes keys and values.

    Args:
        functions: for the key and the value; None passes bytes on.
        ways: NONE, KNOWN, PLAIN, ANY or TEXT for each.
        context: topic, field, headers and key → context.
        fields: what contexts call the key and the value.
        errors: makes the error for a key and for a value, of what was raised and the topic.
    """

    def __init__(
        self,
        functions: tuple[Any, Any],
        ways: tuple[int, int],
        context: Callable[..., Any],
        fields: tuple[Any, Any],
        errors: tuple[type[Exception], type[Exception]],
    ) -> None:
        self._key, self._value = functions
        self._key_way, self._value_way = ways
        self._context = context
        self._key_field, self._value_field = fields
        self._key_error, self._value_error = errors

    def write(self, topic: str, key: Any, value: Any, headers: Any) -> tuple[Any, Any, Any]:
        """Key, value and headers as they are produced; functions may have added headers, never to the caller's.

        Raises:
            Exception: one that `errors` made, of what a function raised.
        """
        given, own = key, None
        if self._key_way:
            key = _encoded(self._key, self._key_way, topic, self._key_field, given)
            if key is MISSED:
                own = _copied(headers)
                try:
                    key = self._key(given, self._context(topic, self._key_field, own))
                except Exception as error:
                    raise self._key_error(error, topic) from error
        if self._value_way:
            data = _encoded(self._value, self._value_way, topic, self._value_field, value)
            if data is MISSED:
                own = _copied(headers) if own is None else own
                try:
                    data = self._value(value, self._context(topic, self._value_field, own, given))
                except Exception as error:
                    raise self._value_error(error, topic) from error
            value = data
        return key, value, (_passed(headers) if own is None else own) or None

    def write_now(self, topic: str, key: Any, value: Any, headers: Any) -> tuple[Any, Any, Any] | None:
        """As `write`, by known codecs alone; None if more is needed, or something can't be written."""
        if self._key_way:
            key = _encoded(self._key, self._key_way, topic, self._key_field, key)
            if key is MISSED:
                return None
        if self._value_way:
            value = _encoded(self._value, self._value_way, topic, self._value_field, value)
            if value is MISSED:
                return None
        return key, value, _passed(headers) or None


class ProduceCall:
    """Serializes a record and queues it.

    Args:
        writer: serializes.
        send: topic, value, key, partition, None, callback, timestamp and headers are given to it.
    """

    def __init__(self, writer: FieldWriter, send: Callable[..., Any]) -> None:
        self._writer = writer
        self._send = send

    def __call__(
        self,
        topic: str,
        key: Any = None,
        value: Any = None,
        partition: int = -1,
        on_delivery: Any = None,
        timestamp: int = 0,
        headers: Any = None,
    ) -> Any:
        """Does what `serdes.SerializingProducer.produce` does."""
        key, value, headers = self._writer.write(topic, key, value, headers)
        return self._send(topic, value, key, partition, None, on_delivery, timestamp, headers)


def last_of_each(messages: list[Any]) -> list[Any]:
    """The last message of each partition."""
    return list({(message.topic(), message.partition()): message for message in messages}.values())


def _decoded(function: Any, way: int, data: Any, named: bool) -> Any:
    """The function's result for bytes, without a context; MISSED if it needs one, or fails."""
    try:
        if way == KNOWN:
            if data is None:
                return None
            decode = None if named else function.decoder_of(data)
            return MISSED if decode is None else decode(data)
        if way == TEXT:
            return None if data is None else data.decode() if type(data) is bytes else MISSED
        return function(data) if way == PLAIN else MISSED
    except Exception:  # with a context it says where
        return MISSED


def _encoded(function: Any, way: int, topic: Any, field: Any, obj: Any) -> Any:
    """The function's result for an object, without a context; MISSED if it needs one, or fails."""
    try:
        if way == KNOWN:
            if obj is None:
                return None
            encode = function.encoder_of(topic, field)
            return MISSED if encode is None else encode(obj)
        if way == TEXT:
            return None if obj is None else obj.encode() if type(obj) is str else MISSED
        return function(obj) if way == PLAIN else MISSED
    except Exception:  # with a context it says where
        return MISSED


def _copied(headers: Any) -> list[Any]:
    if not headers:
        return []
    return list(headers.items() if isinstance(headers, Mapping) else headers)


def _passed(headers: Any) -> Any:
    """Headers as the client takes them."""
    return headers if headers is None or type(headers) in (list, dict) else _copied(headers)
