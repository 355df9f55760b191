"""`OffsetSpec`: the offsets that `list_offsets` looks for.

Knows nothing of the wire or of clients. Names are those of confluent_kafka.admin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar


class OffsetSpec:
    """The offset to look for. The class methods make one, as does the number that a request carries.

    The numbers are -1 (latest), -2 (earliest), -3 (highest timestamp), or ms since 1970; another negative one is a
    KeyError.
    """

    __slots__ = ("timestamp",)
    timestamp: int

    def __new__(cls, index: int) -> OffsetSpec:
        if index < 0:
            return _SPECS[index]()
        return TimestampSpec(index)

    @classmethod
    def earliest(cls) -> OffsetSpec:
        """The first offset in the log."""
        return EarliestSpec()

    @classmethod
    def latest(cls) -> OffsetSpec:
        """The offset after the last record (for read_committed: after the last one that is stable)."""
        return LatestSpec()

    @classmethod
    def max_timestamp(cls) -> OffsetSpec:
        """The offset of the record with the highest timestamp (KIP-734)."""
        return MaxTimestampSpec()

    @classmethod
    def for_timestamp(cls, timestamp: int) -> OffsetSpec:
        """The first offset with this timestamp (ms since 1970) or a later one."""
        return TimestampSpec(timestamp)

    def __eq__(self, other: object) -> bool:
        return self.timestamp == other.timestamp if isinstance(other, OffsetSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.timestamp)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.timestamp})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.timestamp,)


class EarliestSpec(OffsetSpec):
    """The first offset in the log."""

    __slots__ = ()

    def __new__(cls, timestamp: int = -2) -> EarliestSpec:
        return _spec(cls, -2)


class LatestSpec(OffsetSpec):
    """The offset after the last record."""

    __slots__ = ()

    def __new__(cls, timestamp: int = -1) -> LatestSpec:
        return _spec(cls, -1)


class MaxTimestampSpec(OffsetSpec):
    """The offset of the record with the highest timestamp."""

    __slots__ = ()

    def __new__(cls, timestamp: int = -3) -> MaxTimestampSpec:
        return _spec(cls, -3)


class TimestampSpec(OffsetSpec):
    """The first offset with a timestamp or a later one."""

    __slots__ = ()

    def __new__(cls, timestamp: int) -> TimestampSpec:
        return _spec(cls, timestamp)


S = TypeVar("S", bound=OffsetSpec)
_SPECS: Final[Mapping[int, Callable[[], OffsetSpec]]] = {-1: LatestSpec, -2: EarliestSpec, -3: MaxTimestampSpec}


def _spec(cls: type[S], timestamp: int) -> S:
    """A specification, made once its class is known."""
    made = object.__new__(cls)
    made.timestamp = timestamp
    return made
