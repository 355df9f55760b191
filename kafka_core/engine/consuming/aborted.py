"""Recognising batches of aborted transactions, for `isolation.level=read_committed`.

Must not know requests or queues: it is fed a response's aborted transactions and its batches in order.
Spec: KIP-98 (transactions); the broker names every aborted transaction that overlaps the fetched range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

ABORT_MARKER: Final = 0
"""Type in the key of the control record that ends an aborted transaction."""


class Aborted(Protocol):
    """A row of a fetch response's aborted transactions."""

    producer_id: int
    first_offset: int


class AbortedFilter:
    """Walks the batches of one partition in one response.

    A producer's batches count as aborted from the first offset that the response names until its abort marker.
    """

    __slots__ = ("_aborting", "_coming")

    def __init__(self, aborted: Sequence[Aborted]) -> None:
        self._coming = [(item.first_offset, item.producer_id) for item in aborted] if aborted else []
        self._coming.sort(reverse=True)
        self._aborting: set[int] = set()

    def keeps(self, batch: Any) -> bool:
        """Whether the next batch's records may be seen; to be called for every batch, control batches too."""
        while self._coming and self._coming[-1][0] < batch.end_offset:
            self._aborting.add(self._coming.pop()[1])
        header = batch.header
        if batch.is_control:
            if batch.control_type == ABORT_MARKER:
                self._aborting.discard(header.producer_id)
            return False
        return not (batch.is_transactional and header.producer_id in self._aborting)
