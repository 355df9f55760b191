"""The interface of a partitioner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Partitioner(ABC):
    """Chooses partitions of one topic; to be derived from.

    Args:
        partitions: the topic's partitions.
    """

    def __init__(self, partitions: Sequence[int]) -> None:
        self.partitions = list(partitions)

    @abstractmethod
    def partition(self, key: bytes | str | None, partitions: Sequence[int] | None = None) -> int:
        """The partition for a key, of `partitions` if they are given."""
