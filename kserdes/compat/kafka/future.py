"""Futures of kafka-python: a value or an error that comes later, and those who want to hear of it.

Must not know clients. Callbacks run on the thread that settles the future; what they raise is logged.
Spec: `kafka.future.Future`, `kafka.producer.future.FutureRecordMetadata` of kafka-python 3.0.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Callable, Generator
from typing import Any, Final, Self

from kafka_core import KafkaError, Message
from kserdes.compat.kafka.errors import KafkaTimeoutError, RetriableError
from kserdes.compat.kafka.failures import translated
from kserdes.compat.kafka.structs import RecordMetadata, TopicPartition

__all__ = ["Future", "FutureRecordMetadata"]

logger: Final = logging.getLogger("kserdes.compat")
_LOCK: Final = threading.Lock()  # held for a few instructions; one for all keeps a future small


class Future:
    """A result that comes later.

    Attributes:
        is_done: whether it is there.
        value: the value; None while it is not there, and after a failure.
        exception: the error; None while it is not there, and after a success.
    """

    __slots__ = ("__weakref__", "_callbacks", "_errbacks", "_waiter", "exception", "is_done", "value")
    error_on_callbacks = False

    def __init__(self) -> None:
        self.is_done = False
        self.value: Any = None
        self.exception: BaseException | None = None
        self._callbacks: list[Callable[[Any], object]] | None = None
        self._errbacks: list[Callable[[Any], object]] | None = None
        self._waiter: threading.Event | None = None

    def succeeded(self) -> bool:
        """Whether it is done, and well."""
        return self.is_done and self.exception is None

    def failed(self) -> bool:
        """Whether it is done, and an error."""
        return self.is_done and self.exception is not None

    def retriable(self) -> bool:
        """Whether it failed with an error that may go away."""
        return self.is_done and isinstance(self.exception, RetriableError)

    def success(self, value: Any) -> Self:
        """Settles it with a value."""
        self.value = value
        self._settle()
        return self

    def failure(self, e: BaseException | type[BaseException]) -> Self:
        """Settles it with an error, or one of a class."""
        exception = e() if isinstance(e, type) else e
        if not isinstance(exception, BaseException):
            raise TypeError("future failed without an exception")
        self.exception = exception
        self._settle()
        return self

    def _settle(self) -> None:
        with _LOCK:
            assert not self.is_done, "a future is settled once"
            self.is_done = True
            calls = self._callbacks if self.exception is None else self._errbacks
            waiter = self._waiter
            self._callbacks = self._errbacks = self._waiter = None
        try:
            for call in calls or ():
                self._call(call)
        finally:  # with error_on_callbacks
            if waiter is not None:
                waiter.set()

    def _call(self, call: Callable[[Any], object]) -> None:
        try:
            call(self.value if self.exception is None else self.exception)
        except Exception:
            if self.error_on_callbacks:
                raise
            logger.exception("a callback of a future failed")

    def wait(self, timeout: float | None) -> bool:
        """Waits until it is done, so many seconds at most; whether it is."""
        with _LOCK:
            if self.is_done:
                return True
            waiter = self._waiter = self._waiter or threading.Event()
        return waiter.wait(timeout)

    def add_callback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Calls `f(*args, value, **kwargs)` when it succeeds, at once if it has."""
        call = functools.partial(f, *args, **kwargs) if args or kwargs else f
        with _LOCK:
            if not self.is_done:
                self._callbacks = [*(self._callbacks or ()), call]
                return self
        if self.exception is None:
            self._call(call)
        return self

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Calls `f(*args, error, **kwargs)` when it fails, at once if it has."""
        call = functools.partial(f, *args, **kwargs) if args or kwargs else f
        with _LOCK:
            if not self.is_done:
                self._errbacks = [*(self._errbacks or ()), call]
                return self
        if self.exception is not None:
            self._call(call)
        return self

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> Self:
        """Calls `f` with the value or with the error."""
        self.add_callback(f, *args, **kwargs)
        return self.add_errback(f, *args, **kwargs)

    def chain(self, future: Future) -> Self:
        """Settles another one as this one is."""
        self.add_callback(future.success)
        return self.add_errback(future.failure)

    def __await__(self) -> Generator[Any, None, Any]:
        """Its value, for a coroutine of asyncio.

        Raises:
            BaseException: its error.
        """
        if not self.is_done:
            loop = asyncio.get_running_loop()
            there: asyncio.Future[None] = loop.create_future()
            self.add_both(lambda _: loop.call_soon_threadsafe(_release, there))
            yield from there
        if self.exception is not None:
            raise self.exception
        return self.value


def _release(waiter: asyncio.Future[None]) -> None:
    """Lets a coroutine go on, unless it was cancelled meanwhile."""
    if not waiter.done():
        waiter.set_result(None)


class FutureRecordMetadata(Future):
    """The future of a record's metadata, which is made when it is asked for."""

    __slots__ = ("_message", "_metadata", "_sizes")

    def __init__(self, sizes: tuple[int, int, int]) -> None:
        self._message: Message | None = None
        self._metadata: RecordMetadata | None = None
        self._sizes = sizes
        self.is_done = False
        self.exception = None
        self._callbacks = self._errbacks = self._waiter = None

    @property
    def value(self) -> RecordMetadata | None:
        """The place of the record; None while it is unknown."""
        message = self._message
        if self._metadata is None and message is not None:
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None
            assert partition is not None
            self._metadata = RecordMetadata(
                topic,
                partition,
                TopicPartition(topic, partition),
                -1 if offset is None or offset < 0 else offset,
                message.timestamp()[1],
                None,
                *self._sizes,
            )
        return self._metadata

    def success(self, value: RecordMetadata) -> Self:
        """Settles it with where the record went."""
        self._metadata = value
        self._settle()
        return self

    def report(self, error: KafkaError | None, message: Message) -> None:
        """The delivery report of `kafka_core.Producer`."""
        if error is not None:
            self.exception = translated(error)
        else:
            self._message = message
        self._settle()

    def get(self, timeout: float | None = None) -> RecordMetadata | None:
        """Waits until it is done, so many seconds at most.

        Raises:
            KafkaTimeoutError: it is not done by then.
            KafkaError: the record was not written.
        """
        if not self.is_done and not self.wait(timeout):
            raise KafkaTimeoutError(f"Timeout after waiting for {timeout} secs.")
        if self.exception is not None:
            raise self.exception
        return self.value
