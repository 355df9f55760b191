"""Admission of offsets into one batch of a stream. Pure: offsets and the time in, offsets out.

Must not know of Spark or clients. Rules are those of Spark's own Kafka source (`KafkaMicroBatchStream`): a limit is
shared out by lag, a partition that lags gets one record at least; a minimum is waited for, but not for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.source.splits import Place


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a batch; None: unbounded.

    Attributes:
        most: offsets at the most.
        least: offsets that are waited for.
        delay_s: how long.
        most_bytes: bytes at the most, about.
    """

    most: int | None = None
    least: int | None = None
    delay_s: float = 900.0
    most_bytes: int | None = None

    @property
    def any(self) -> bool:
        """Whether anything is bounded."""
        return self.most is not None or self.least is not None or self.most_bytes is not None


class Waiting:
    """Whether a batch waits for more records; remembers when the last one began."""

    def __init__(self, limits: Limits, now_s: float) -> None:
        self._limits = limits
        self._since_s = now_s

    def is_due(self, start: Mapping[Place, int], end: Mapping[Place, int], now_s: float) -> bool:
        """Whether a batch from start to end is made now."""
        least = self._limits.least
        lag = sum(lag_of(start, end).values())
        if least is not None and lag < least and now_s - self._since_s < self._limits.delay_s:
            return False
        self._since_s = now_s
        return True


def lag_of(start: Mapping[Place, int], end: Mapping[Place, int]) -> dict[Place, int]:
    """The number of waiting offsets of each partition; partitions with none are left out."""
    return {place: offset - start[place] for place, offset in end.items() if offset > start[place]}


def shared_out(
    start: Mapping[Place, int], end: Mapping[Place, int], limit: int, cost: Mapping[Place, float] | None = None
) -> dict[Place, int]:
    """The end of a batch of at most so many offsets; each partition gets its share by its lag.

    Args:
        start: where it begins, for every partition of `end`.
        end: what there is.
        limit: offsets, or, with `cost`, what they cost together.
        cost: of one offset of each partition, for example its bytes.
    """
    lags = lag_of(start, end)
    prices = {place: 1.0 if cost is None else max(cost.get(place, 1.0), 1.0) for place in lags}
    total = sum(lag * prices[place] for place, lag in lags.items())
    if total <= limit:
        return dict(end)
    taken = dict(end)
    for place, lag in lags.items():
        share = int(limit * lag / total)  # limit · (lag · price / total) / price
        taken[place] = start[place] + min(lag, max(share, 1))
    return taken
