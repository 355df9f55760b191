"""Receivers of a request's answer: a future, or a function that is called in the same turn of the loop.

Must not know requests or connections.
Spec: none. A future tells those who wait for it in the next turn of the loop; for a stream of small requests each turn,
with its look at all sockets, costs as much as the rest of their way.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from kafka_core.errors import KafkaException
from kafka_core.protocol import ApiMessage

OnAnswer = Callable[[Any, KafkaException | None], object]
"""Called once with the response and None, or with None and why there is none."""


class Answer(Protocol):
    """The part of a future that a connection uses."""

    def done(self) -> bool:
        """Whether nobody waits any more."""
        ...

    def set_result(self, result: Any, /) -> None:
        """The response is here."""
        ...

    def set_exception(self, exception: Any, /) -> None:
        """There will be no response."""
        ...

    def exception(self) -> BaseException | None:
        """The error given to `set_exception`."""
        ...


class DirectAnswer:
    """Calls a function with the response, at once; with an error soon, when the connection has dealt with its end.

    Args:
        at_once: False for a request that has no answer: what is called may send the next one, inside which this
            would be called again, deeper and deeper.
    """

    __slots__ = ("_at_once", "_error", "_loop", "_on_answer")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_answer: OnAnswer, *, at_once: bool) -> None:
        self._loop = loop
        self._on_answer = on_answer
        self._at_once = at_once
        self._error: KafkaException | None = None

    def done(self) -> bool:
        """Never: nobody can cancel it."""
        return False

    def set_result(self, result: ApiMessage, /) -> None:
        """Hands over the answer. An exception of the function is logged as asyncio logs it; the connection goes on."""
        if not self._at_once:
            self._loop.call_soon(self._on_answer, result, None)
            return
        try:
            self._on_answer(result, None)
        except Exception as error:
            context = {"message": "a function that was given an answer failed", "exception": error}
            self._loop.call_exception_handler(context)

    def set_exception(self, exception: KafkaException, /) -> None:
        """The function is called in the next turn."""
        self._error = exception
        self._loop.call_soon(self._on_answer, None, exception)

    def exception(self) -> KafkaException | None:
        """The error given to `set_exception`."""
        return self._error
