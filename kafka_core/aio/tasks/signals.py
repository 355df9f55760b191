"""A signal from several parts of a client to others: something changed, look again.

Must not know Kafka.
Spec: none.
"""

import asyncio
from collections.abc import Callable


class Signal:
    """Made before the parts that set it and the parts that watch it, so that neither have to know the others.

    However often it is set during one round of the loop, each watcher looks once, in the next round. On the loop.
    """

    __slots__ = ("_looks", "_scheduled")

    def __init__(self) -> None:
        self._looks: list[Callable[[], object]] = []
        self._scheduled = False

    def watch(self, look: Callable[[], object]) -> None:
        """Has `look` called after every change from now on."""
        self._looks.append(look)

    def set(self) -> None:
        """Something changed."""
        if self._looks and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._scheduled = False
        for look in self._looks:
            look()
