"""Ends a client that was dropped without `close()`: its tasks would go on for ever, and with them its membership.

Must not know clients. A running task is never collected, nor is what it holds, so a client's tasks must not hold the
object in the user's hands: when that one goes, a finalizer warns (as for any unclosed resource) and ends what is below.
Spec: none; `ResourceWarning` as Python's own sockets and files give it.
"""

import asyncio
import logging
import os
import warnings
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final

from kafka_core.aio.tasks.background import background

logger: Final = logging.getLogger("kafka_core.aio")

End = Callable[[], Coroutine[Any, Any, None]]
LoopOf = Callable[[], asyncio.AbstractEventLoop | None]


class Leash:
    """Watches one client.

    Args:
        owner: The object in the user's hands.
        loop_of: The loop on which something below it runs; None if nothing does yet.
        end: Ends what is below it, on that loop. Neither may hold the owner.
    """

    __slots__ = ("_finalizer",)

    def __init__(self, owner: object, loop_of: LoopOf, end: End) -> None:
        self._finalizer = weakref.finalize(owner, _dropped, type(owner).__name__, loop_of, end, os.getpid())
        self._finalizer.atexit = False

    def closed(self) -> None:
        """The client was closed: there is nothing to end."""
        self._finalizer.detach()


def _dropped(name: str, loop_of: LoopOf, end: End, pid: int) -> None:
    """The owner is gone. Any thread: wherever a garbage collection happened to run."""
    loop = loop_of()
    if loop is None or loop.is_closed() or pid != os.getpid():
        return  # nothing was begun, or the end of the loop was the end of its tasks
    try:
        loop.call_soon_threadsafe(lambda: background(end(), f"kafka-core-dropped-{name}"))
    except RuntimeError as error:
        logger.debug("%s: dropped while its loop was closed: %s", name, error)
        return
    warnings.warn(
        f"unclosed {name}: it was dropped without close() and is ended now; "
        f"use 'async with {name}(...)' or await its close()",
        ResourceWarning,
        stacklevel=2,
    )
