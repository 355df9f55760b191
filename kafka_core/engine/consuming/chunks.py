"""Fetched data of one partition, waiting to be taken: batches with a cursor in each, or one event in their place.

Must not know the partition, the queue or requests: values only.
Spec: DESIGN §4.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol


class Cursor(Protocol):
    """The part of a record cursor (kernels.RecordCursor) that the queue needs."""

    @property
    def position(self) -> int:
        """The offset behind the records handed out."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether everything was handed out."""
        ...

    def next(self) -> Any | None:
        """The next message, None at the end."""
        ...

    def take(self, out: list[Any], limit: int) -> int:
        """Appends up to `limit` messages; how many."""
        ...

    def take_columns(self, sink: Any, limit: int) -> int:
        """The same into columns."""
        ...


@dataclass(slots=True, eq=False)
class Chunk:
    """The records of one fetch response for one partition, or one event (an error, end of partition) in their place.

    Attributes:
        version: the partition's when it was asked for: chunks of an older one are dropped.
        cursors: one per batch with its leader epoch, in offset order; used up from the left.
        end_offset: position after the chunk, control records and gaps at its end included.
        records: how many records the batch headers promise; `size_bytes`: memory behind them.
        event: a Message with an error, or None.
    """

    version: int
    cursors: deque[tuple[Cursor, int]]
    end_offset: int
    end_epoch: int
    records: int
    size_bytes: int
    event: Any = None
