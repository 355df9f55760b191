"""A network that damages answers: an embedded cluster whose answers are changed on their way out, by a seed.

Must not know what answers mean. It also watches what a damaged answer must never lead to (`Watch`).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_core.broker.server import BrokerProtocol
from kafka_core.errors import KafkaException

LENGTHS = (0x7FFFFFFF, 100_000_000, 0xFFFFFFFF, 0xFFFFFFFE, 0, 1, 65_535, 0x80000000)
FRAME_BYTES = 4


class Damage:
    """Changes one in `every` answers, while it is on. Answers of all connections come in the order they are sent."""

    def __init__(self, seed: int, every: int = 10) -> None:
        self._rng = random.Random(seed)
        self._every = every
        self.on = False
        self.seen = 0
        self.damaged = 0

    def __call__(self, answer: bytes) -> bytes:
        """The answer as it arrives."""
        if not self.on:
            return answer
        self.seen += 1
        if self._rng.randrange(self._every):
            return answer
        self.damaged += 1
        return self._rng.choice(
            [self._bit, self._byte, self._code, self._length, self._short, self._long, self._cut, self._repeat]
        )(bytearray(answer))

    def _at(self, answer: bytearray, size: int) -> int:
        """Mostly inside the message; now and then the frame's own size and correlation id."""
        first = 0 if self._rng.random() < 0.1 else FRAME_BYTES * 2
        return min(self._rng.randrange(first, max(first + 1, len(answer))), max(0, len(answer) - size))

    def _bit(self, answer: bytearray) -> bytes:
        answer[self._at(answer, 1)] ^= 1 << self._rng.randrange(8)
        return bytes(answer)

    def _byte(self, answer: bytearray) -> bytes:
        answer[self._at(answer, 1)] = self._rng.randrange(256)
        return bytes(answer)

    def _code(self, answer: bytearray) -> bytes:
        at = self._at(answer, 2)
        answer[at : at + 2] = self._rng.choice([-2, -1000, 1, 27, 29, 77, 500, 2**15 - 1]).to_bytes(
            2, "big", signed=True
        )
        return bytes(answer)

    def _length(self, answer: bytearray) -> bytes:
        at = self._at(answer, 4)
        answer[at : at + 4] = self._rng.choice(LENGTHS).to_bytes(4, "big")
        return bytes(answer)

    def _short(self, answer: bytearray) -> bytes:
        """Bytes are missing inside, and the frame says so."""
        at = self._at(answer, 1)
        del answer[at : at + self._rng.randrange(1, 20)]
        answer[:FRAME_BYTES] = max(0, len(answer) - FRAME_BYTES).to_bytes(4, "big")
        return bytes(answer)

    def _long(self, answer: bytearray) -> bytes:
        at = self._at(answer, 1)
        answer[at:at] = self._rng.randbytes(self._rng.randrange(1, 20))
        answer[:FRAME_BYTES] = (len(answer) - FRAME_BYTES).to_bytes(4, "big")
        return bytes(answer)

    def _cut(self, answer: bytearray) -> bytes:
        """The rest never comes: what follows is taken for it."""
        return bytes(answer[: self._rng.randrange(1, len(answer))])

    def _repeat(self, answer: bytearray) -> bytes:
        return bytes(answer) * 2


class Watch:
    """Collects what must not be: tasks that die unseen, coroutines nobody awaits, errors that are not the client's."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def call(self, work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call it; a KafkaException with a sentence may come out. None then."""
        try:
            return work(*args, **options)
        except Exception as error:
            self.judge(error)
            return None

    async def wait(self, work: Any) -> Any:
        """The same for something to await."""
        try:
            return await work
        except Exception as error:
            self.judge(error)
            return None

    def judge(self, error: Any) -> None:
        """An exception, or a KafkaError, that a user sees."""
        text = str(error)
        if isinstance(error, Exception) and not isinstance(error, KafkaException):
            self.wrong.append(f"{type(error).__name__} came out: {error}")
        if "cannot go from" in text or len(text) < 10:
            self.wrong.append(f"no sentence for users: {text!r}")


@contextmanager
def damaged(damage: Damage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Answers of every embedded cluster go through `damage`; what goes wrong unseen fails the test at the end."""
    watch, send = Watch(), BrokerProtocol._send

    def sending(self: BrokerProtocol, reply: Any) -> None:
        send(self, [damage(b"".join(map(bytes, reply)))] if isinstance(reply, list) else reply)

    def unseen(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        watch.wrong.append(f"the loop was told: {context.get('message')} {context.get('exception')!r}")

    class Unexpected(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and not isinstance(record.exc_info[1], KafkaException):
                watch.wrong.append(f"logged: {record.getMessage()} {record.exc_info[1]!r}")

    gc.collect()  # what other tests left is not told below
    handler = Unexpected(logging.ERROR)
    logging.getLogger("kafka_core").addHandler(handler)
    monkeypatch.setattr(BrokerProtocol, "_send", sending)
    monkeypatch.setattr(asyncio.BaseEventLoop, "call_exception_handler", unseen)
    monkeypatch.setattr(sys, "unraisablehook", lambda args: watch.wrong.append(f"unraisable: {args.exc_value!r}"))
    try:
        yield watch
        gc.collect()
    finally:
        logging.getLogger("kafka_core").removeHandler(handler)
    assert damage.damaged
    assert watch.wrong == [], watch.wrong
