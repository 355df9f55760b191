"""Starts the tasks that nobody awaits, and sees to it that none of them dies unseen.

Must not know what the tasks do.
Spec: none. asyncio itself tells of a failed task only when it is collected, long afterwards and not in our log.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from kafka_core.clock import Clock

T = TypeVar("T")

logger: Final = logging.getLogger("kafka_core.aio")


def background(work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
    """A task on the running loop whose exception is logged at once, whoever holds or awaits it.

    Args:
        work: Taken over: also closed when no loop runs any more.
        name: What the log calls it: `kafka-core-...`.
    """
    try:
        task = asyncio.get_running_loop().create_task(work, name=name)
    except RuntimeError:
        work.close()
        raise
    task.add_done_callback(_observe)
    return task


async def every(interval_s: float, work: Callable[[], Awaitable[object]], clock: Clock) -> None:
    """Does `work` again and again, for ever: each time `interval_s` after the last one began.

    How long it takes shifts nothing. If it takes longer than that, the next one follows at once, and what was left out
    is not made up for.
    """
    due_s = clock.monotonic()
    while True:
        due_s = max(due_s + interval_s, clock.monotonic())
        await asyncio.sleep(due_s - clock.monotonic())
        await work()


def retrieve_error(future: "asyncio.Future[Any]") -> None:
    """A done callback that marks the future's exception as retrieved, so that asyncio does not report it."""
    if not future.cancelled():
        future.exception()


def _observe(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("the background task %s ended with an error: %r", task.get_name(), error, exc_info=error)
