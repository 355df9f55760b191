"""One partition after the other, whatever the key."""

from __future__ import annotations

from collections.abc import Sequence

from kserdes.compat.simple.partitioner.base import Partitioner


class RoundRobinPartitioner(Partitioner):
    """Takes the partitions in turn; begins anew when they have changed."""

    def __init__(self, partitions: Sequence[int]) -> None:
        super().__init__(partitions)
        self._next = 0

    def partition(self, key: bytes | str | None, partitions: Sequence[int] | None = None) -> int:
        if partitions is not None and list(partitions) != self.partitions:
            self.partitions, self._next = list(partitions), 0
        chosen = self.partitions[self._next % len(self.partitions)]
        self._next += 1
        return chosen
