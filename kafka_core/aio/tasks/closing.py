"""Closing something once, whoever asks and however often, and to the end, though a caller is cancelled meanwhile.

Must not know what is closed.
Spec: none. A `close()` that is cancelled at one of its awaits would leave tasks and memberships that nobody ends.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from kafka_core.aio.tasks.background import retrieve_error


class Closing:
    """The one run of a `close()`.

    It is a task of its own: cancelling a caller cancels only its waiting, and the next caller waits for the same run.
    Only a run that was itself cancelled (the loop is torn down) is begun anew.
    """

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether the run has begun and not ended."""
        return self._task is not None and not self._task.done()

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Closes, or waits for the run that does; harmless afterwards and inside that run (in a callback of it).

        Raises:
            Exception: the run's, to the callers that waited for it.
        """
        task = self._task
        if task is None or task.cancelled():
            task = self._task = asyncio.get_running_loop().create_task(work(), name="kafka-core-close")
            task.add_done_callback(retrieve_error)
        elif task.done() or task is asyncio.current_task():
            return
        await asyncio.shield(task)
