"""Small helpers that kafka-python 3.0's `kafka.util` offers: a timer, a check of topics' names, weak methods.

Must not know clients.
"""

from __future__ import annotations

import functools
import re
import time
import weakref
from collections.abc import Callable
from typing import Any, Final

from kserdes.compat.kafka.admin.values import ByName as EnumHelper
from kserdes.compat.kafka.errors import KafkaTimeoutError

__all__ = ["Dict", "EnumHelper", "Timer", "WeakMethod", "classproperty", "ensure_valid_topic_name", "synchronized"]

TOPIC_MAX_LENGTH: Final = 249
TOPIC_LEGAL_CHARS: Final = re.compile(r"^[a-zA-Z0-9._-]+$")


def ensure_valid_topic_name(topic: Any) -> None:
    """Nothing for a name that brokers take.

    Raises:
        TypeError: no text.
        ValueError: empty, `.`, `..`, longer than 249 characters, or with others than `a-zA-Z0-9._-`.
    """
    if topic is None:
        raise TypeError("All topics must not be None")
    if not isinstance(topic, str):
        raise TypeError("All topics must be strings")
    if not topic:
        raise ValueError("All topics must be non-empty strings")
    if topic in (".", ".."):
        raise ValueError('Topic name cannot be "." or ".."')
    if len(topic) > TOPIC_MAX_LENGTH:
        raise ValueError(
            f'Topic name is illegal, it can\'t be longer than {TOPIC_MAX_LENGTH} characters, topic: "{topic}"'
        )
    if not TOPIC_LEGAL_CHARS.match(topic):
        raise ValueError(
            f'Topic name "{topic}" is illegal, it contains a character other than ASCII alphanumerics, ".", "_" and "-"'
        )


class Timer:
    """A timer of a time limit.

    Args:
        timeout_ms: None for no limit.
        error_message: of the error that `maybe_raise` raises.
        start_at: when it began, of `time.monotonic`; None for now.
    """

    def __init__(
        self, timeout_ms: float | None, error_message: str | None = None, start_at: float | None = None
    ) -> None:
        self._start_s = time.monotonic() if start_at is None else start_at
        self._end_s = None if timeout_ms is None else self._start_s + timeout_ms / 1000
        self._message = error_message

    @property
    def elapsed_ms(self) -> int:
        """Since it began."""
        return int((time.monotonic() - self._start_s) * 1000)

    @property
    def timeout_secs(self) -> float | None:
        """Seconds left, not below 0; None without a limit."""
        return None if self._end_s is None else max(0.0, self._end_s - time.monotonic())

    @property
    def timeout_ms(self) -> int | None:
        """Milliseconds left, not below 0; None without a limit."""
        left_s = self.timeout_secs
        return None if left_s is None else int(left_s * 1000)

    @property
    def expired(self) -> bool:
        """Whether nothing is left."""
        return self._end_s is not None and time.monotonic() >= self._end_s

    def maybe_raise(self) -> None:
        """KafkaTimeoutError if nothing is left."""
        if self.expired:
            raise KafkaTimeoutError(self._message)

    def __repr__(self) -> str:
        return f"Timer({self.timeout_ms} ms remaining)"


class WeakMethod:
    """A bound method that does not keep its object alive; calling it afterwards raises ReferenceError."""

    def __init__(self, object_dot_method: Any) -> None:
        self._ref = weakref.WeakMethod(object_dot_method)
        self._key = (id(object_dot_method.__self__), id(object_dot_method.__func__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        method = self._ref()
        if method is None:
            raise ReferenceError("the object of the method is gone")
        return method(*args, **kwargs)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeakMethod) and self._key == other._key


class Dict(dict[Any, Any]):
    """A dict that weak references can point to."""


def synchronized(func: Callable[..., Any]) -> Callable[..., Any]:
    """A method that holds its object's `_lock` while it runs."""

    @functools.wraps(func)
    def locked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return func(self, *args, **kwargs)

    return locked


class classproperty:  # as it is called there
    """A property of a class."""

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self._get = f

    def __get__(self, instance: object, owner: type) -> Any:
        return self._get(owner)
