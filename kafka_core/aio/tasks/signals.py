"""A signal from several parts of a client to one: something changed, look again.

Must not know Kafka.
Spec: none.
"""

import asyncio
from collections.abc import Callable


class Signal:
    """Made before the parts that set it and the part that watches it, so that neither has to know the other.

    However often it is set during one round of the loop, the watcher looks once, in the next round. On the loop.
    """

    __slots__ = ("_look", "_scheduled")

    def __init__(self) -> None:
        self._look: Callable[[], object] | None = None
        self._scheduled = False

    def watch(self, look: Callable[[], object]) -> None:
        """Has `look` called after every change from now on; there is one watcher."""
        self._look = look

    def set(self) -> None:
        """Something changed."""
        if self._look is not None and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._scheduled = False
        if self._look is not None:
            self._look()
