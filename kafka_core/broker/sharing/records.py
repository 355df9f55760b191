"""The records of one partition as one share group sees them: who has which, how often, and what became of each.

Must not know: logs, sessions, requests, clocks (the time is passed in). An impossible move raises and names both
states. Spec: KIP-932, KIP-1206 (strict limits), KIP-1222 (renewal); `SharePartition` of Apache Kafka 4.3, whose
sentences the errors repeat.

Offsets from `start_offset` to `end_offset` are in flight, kept as runs of neighbours that are alike. A run lies within
one batch: what was taken from the log together, which also measures how little of it is given out once its records
have failed often.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from itertools import groupby
from typing import Final

from kafka_core.broker.codes import Code

_FIRST_SUSPECT_DELIVERY: Final = 2
_NOBODY: Final = ""
_PAST: Final = "Batch record not found. The {} offset in request is past acquired records."


class RecordState(Enum):
    """The state of a share group's record."""

    AVAILABLE = "Available"
    ACQUIRED = "Acquired"
    ACKNOWLEDGED = "Acknowledged"
    ARCHIVED = "Archived"


_MOVES: Final[dict[RecordState, frozenset[RecordState]]] = {
    RecordState.AVAILABLE: frozenset({RecordState.ACQUIRED, RecordState.ARCHIVED}),
    RecordState.ACQUIRED: frozenset({RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED}),
    RecordState.ACKNOWLEDGED: frozenset(),
    RecordState.ARCHIVED: frozenset(),
}


class Acknowledge(IntEnum):
    """A member's acknowledgement of a record."""

    GAP = 0
    """There is no record at this offset."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4
    """It needs more time."""


_BECOMES: Final = {
    Acknowledge.GAP: RecordState.ARCHIVED,
    Acknowledge.ACCEPT: RecordState.ACKNOWLEDGED,
    Acknowledge.RELEASE: RecordState.AVAILABLE,
    Acknowledge.REJECT: RecordState.ARCHIVED,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The group's bounds (`share.*` of its configuration)."""

    delivery_count: int = 5
    lock_s: float = 30.0
    max_locks: int = 2000

    @property
    def suspect_from(self) -> int:
        """After so many deliveries a batch is given out in smaller and smaller parts."""
        return max(_FIRST_SUSPECT_DELIVERY, (self.delivery_count + 1) // 2)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A batch of the log; one that `is_void` holds nothing that members may see."""

    first: int
    last: int
    is_void: bool = False


@dataclass(frozen=True, slots=True)
class Acquired:
    """Records that a member has got."""

    first: int
    last: int
    delivery_count: int


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """One type for all offsets of a range, or one for each."""

    first: int
    last: int
    types: Sequence[int]

    def type_at(self, offset: int) -> Acknowledge:
        """The acknowledgement of one offset."""
        return Acknowledge(self.types[0] if len(self.types) == 1 else self.types[offset - self.first])

    def alike(self, first: int, last: int) -> Iterator[tuple[int, int, Acknowledge]]:
        """The part from `first` to `last`, cut where the type changes."""
        while first <= last:
            kind, end = self.type_at(first), first
            while end < last and (len(self.types) == 1 or self.type_at(end + 1) is kind):
                end = last if len(self.types) == 1 else end + 1
            yield first, end, kind
            first = end + 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an acknowledgement does not count."""

    code: Code
    text: str | None = None


@dataclass(slots=True, eq=False)
class Run:
    """Neighbouring offsets of one batch that are alike."""

    first: int
    last: int
    batch: tuple[int, int]
    state: RecordState = RecordState.AVAILABLE
    delivery_count: int = 0
    member_id: str = _NOBODY
    locked_until_s: float = 0.0

    def __len__(self) -> int:
        return self.last - self.first + 1

    @property
    def is_done(self) -> bool:
        """Whether nothing happens to these records any more."""
        return not _MOVES[self.state]

    def is_of(self, member_id: str) -> bool:
        """Whether the member has these records."""
        return self.state is RecordState.ACQUIRED and self.member_id == member_id

    def move_to(self, state: RecordState) -> None:
        """Changes the state; RuntimeError for a move that the table does not allow."""
        if state not in _MOVES[self.state]:
            raise RuntimeError(
                f"records {self.first} to {self.last} cannot go from {self.state.value} to {state.value}"
            )
        self.state = state
        if state is not RecordState.ACQUIRED:
            self.member_id, self.locked_until_s = _NOBODY, 0.0

    def acquire(self, member_id: str, locked_until_s: float) -> Acquired:
        """Gives the records to a member."""
        self.move_to(RecordState.ACQUIRED)
        self.member_id, self.locked_until_s = member_id, locked_until_s
        self.delivery_count += 1
        return Acquired(self.first, self.last, self.delivery_count)

    def give_back(self, limits: Limits) -> None:
        """The member that had the records has them no more: others may try, unless that was the last try."""
        tries_left = self.delivery_count < limits.delivery_count
        self.move_to(RecordState.AVAILABLE if tries_left else RecordState.ARCHIVED)

    def is_like(self, other: Run) -> bool:
        """Whether both could be one run."""
        return (
            self.batch == other.batch
            and self.state is other.state
            and self.delivery_count == other.delivery_count
            and self.member_id == other.member_id
            and self.locked_until_s == other.locked_until_s
        )


class ShareRecords:
    """The records of one partition in the eyes of one share group.

    Attributes:
        start_offset: the first record that something may still happen to; it never goes back.
        end_offset: the first record that nobody has had yet.
    """

    def __init__(self, start_offset: int) -> None:
        self.start_offset = start_offset
        self.end_offset = start_offset
        self._runs: list[Run] = []

    # ---- looking -------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> Sequence[Run]:
        """The records in flight, by offset."""
        return self._runs

    @property
    def done_count(self) -> int:
        """The number of records in flight that are done with."""
        return sum(len(run) for run in self._runs if run.is_done)

    @property
    def next_lock_end_s(self) -> float | None:
        """The end of the first lock, None if there is none."""
        return min((run.locked_until_s for run in self._runs if run.state is RecordState.ACQUIRED), default=None)

    def has_locks_of(self, member_id: str) -> bool:
        """Whether the member has records."""
        return any(run.is_of(member_id) for run in self._runs)

    def next_offset(self, limits: Limits) -> int | None:
        """The first offset that a member could get; None if as many are in flight as may be."""
        for run in self._runs:
            if run.state is RecordState.AVAILABLE:
                return run.first
        return self.end_offset if self._room(limits) > 0 else None

    def _room(self, limits: Limits) -> int:
        return limits.max_locks - (self.end_offset - self.start_offset)

    # ---- acquiring -----------------------------------------------------------------------------------------------

    def acquire(
        self,
        member_id: str,
        stretches: Sequence[Stretch],
        limits: Limits,
        now_s: float,
        *,
        max_records: int,
        batch_size: int,
        strict: bool = False,
    ) -> list[Acquired]:
        """Gives a member records out of neighbouring batches of the log.

        Args:
            batch_size: batches of the log are taken together until they have so many records.
            strict: never more than `max_records`; else the batch that reaches the limit is given out whole.
        """
        if not stretches or max_records <= 0:
            return []
        taken, more = self._acquire_again(member_id, stretches, limits, now_s, max_records, strict=strict)
        room = min(max_records - _count(taken), self._room(limits))
        if more and room > 0:
            new = [stretch for stretch in stretches if stretch.last >= self.end_offset]
            locked_until_s = now_s + limits.lock_s
            taken += self._acquire_new(member_id, new, locked_until_s, room, batch_size, strict=strict)
        self._settle()
        return taken

    def _acquire_again(
        self,
        member_id: str,
        stretches: Sequence[Stretch],
        limits: Limits,
        now_s: float,
        max_records: int,
        *,
        strict: bool,
    ) -> tuple[list[Acquired], bool]:
        """Gives out what came back, and says whether new records may follow it."""
        taken: list[Acquired] = []
        room = max_records
        for run in self._pieces(stretches[0].first, stretches[-1].last, RecordState.AVAILABLE):
            if run.delivery_count >= limits.delivery_count:  # the limit was higher when it came back
                run.move_to(RecordState.ARCHIVED)
                continue
            is_suspect = run.delivery_count >= limits.suspect_from
            if is_suspect and taken:
                return taken, False
            allowed = min(len(run), room) if strict else len(run)
            if is_suspect:
                allowed = min(allowed, _cautious(run, limits))
            self._cut(run, run.first + allowed)
            taken.append(run.acquire(member_id, now_s + limits.lock_s))
            room -= allowed
            if is_suspect or room <= 0:
                return taken, False
        return taken, True

    def _acquire_new(
        self,
        member_id: str,
        stretches: Sequence[Stretch],
        locked_until_s: float,
        room: int,
        batch_size: int,
        *,
        strict: bool,
    ) -> list[Acquired]:
        """Takes batches of the log in flight until `room` is used up."""
        taken: list[Acquired] = []
        together: list[Stretch] = []
        size = 0
        for stretch in stretches:
            if size >= batch_size or size >= room:
                taken += self._begin(together, member_id, locked_until_s, room if strict else size)
                room -= size
                together, size = [], 0
            if room <= 0:
                break
            first = max(stretch.first, self.end_offset)
            together.append(Stretch(first, stretch.last, stretch.is_void))
            size += 0 if stretch.is_void else stretch.last - first + 1
        if together:
            taken += self._begin(together, member_id, locked_until_s, room if strict else size)
        return taken

    def _begin(self, stretches: Sequence[Stretch], member_id: str, locked_until_s: float, most: int) -> list[Acquired]:
        """Makes one batch of what was taken from the log, and gives `most` of its first records to the member."""
        batch = (stretches[0].first, stretches[-1].last)
        taken = []
        for is_void, first, last in _alike(stretches):
            run = Run(first, last, batch)
            self._runs.append(run)
            if is_void:
                run.move_to(RecordState.ARCHIVED)
            elif most > 0:
                self._cut(run, first + most)
                most -= len(run)
                taken.append(run.acquire(member_id, locked_until_s))
        self.end_offset = batch[1] + 1
        return taken

    # ---- what becomes of them ------------------------------------------------------------------------------------

    def acknowledge(
        self, member_id: str, acknowledgements: Iterable[Acknowledgement], limits: Limits, now_s: float
    ) -> Refusal | None:
        """Takes a member's word for its records: all of it, or nothing and the reason why."""
        known = [item for item in acknowledgements if item.last >= self.start_offset]
        end = -1
        for item in known:
            if (refusal := self._refuse(member_id, item, end)) is not None:
                return refusal
            end = item.last
        for item in known:
            for first, last, kind in item.alike(max(item.first, self.start_offset), item.last):
                for run in list(self._pieces(first, last, RecordState.ACQUIRED)):
                    if kind is Acknowledge.RENEW:
                        run.locked_until_s = now_s + limits.lock_s
                    elif kind is Acknowledge.RELEASE:
                        run.give_back(limits)
                    else:
                        run.move_to(_BECOMES[kind])
        self._settle()
        return None

    def _refuse(self, member_id: str, item: Acknowledgement, spoken_of_to: int) -> Refusal | None:
        for which, offset in (("first", item.first), ("last", item.last)):
            if offset >= self.end_offset:
                return Refusal(Code.INVALID_REQUEST, _PAST.format(which))
        for run in self._overlapping(item.first, item.last):
            whole = (run.first, run.last) == run.batch and item.first <= run.first and item.last >= run.last
            if run.state is not RecordState.ACQUIRED or item.first <= spoken_of_to:
                what = "batch" if whole else "offset"
                state = "in the acquired state" if whole else "acquired"
                text = f"The {what} cannot be acknowledged. The {what} is not {state}."
                return Refusal(Code.INVALID_RECORD_STATE, text)
            if run.member_id != member_id:
                text = f"Member is not the owner of {'batch record' if whole else 'offset'}"
                return Refusal(Code.INVALID_RECORD_STATE, text)
        return None

    def release(self, member_id: str, limits: Limits) -> bool:
        """The member has gone: all that it has comes back; False if that was nothing."""
        return self._give_back([run for run in self._runs if run.is_of(member_id)], limits)

    def expire(self, limits: Limits, now_s: float) -> bool:
        """Gives back the records whose locks are over; False if there were none."""
        locked = (run for run in self._runs if run.state is RecordState.ACQUIRED)
        return self._give_back([run for run in locked if run.locked_until_s <= now_s], limits)

    def _give_back(self, runs: Sequence[Run], limits: Limits) -> bool:
        for run in runs:
            run.give_back(limits)
        self._settle()
        return bool(runs)

    def forget_locks(self) -> None:
        """Another broker leads: it knows what was acknowledged, but not who has what, nor that it was given out."""
        for run in self._runs:
            if run.state is RecordState.ACQUIRED:
                run.move_to(RecordState.AVAILABLE)
                run.delivery_count -= 1
        self._settle()

    def begin_at(self, log_start_offset: int) -> None:
        """The log begins there: what lies before is gone, whoever has it."""
        if log_start_offset <= self.start_offset:
            return
        for run in list(self._overlapping(self.start_offset, log_start_offset - 1)):
            self._cut(run, log_start_offset)
        self._runs = [run for run in self._runs if run.first >= log_start_offset]
        self.start_offset = log_start_offset
        self.end_offset = max(self.end_offset, log_start_offset)
        self._settle()

    # ---- runs ----------------------------------------------------------------------------------------------------

    def _overlapping(self, first: int, last: int) -> Iterator[Run]:
        index = max(bisect_right(self._runs, first, key=lambda run: run.first) - 1, 0)
        while index < len(self._runs) and self._runs[index].first <= last:
            if self._runs[index].last >= first:
                yield self._runs[index]
            index += 1

    def _pieces(self, first: int, last: int, state: RecordState) -> Iterator[Run]:
        """Runs in that state from `first` to `last`, cut so that they lie wholly between these."""
        for run in self._overlapping(first, last):
            if run.state is not state:
                continue
            if run.first < first:
                self._cut(run, first)  # the rest of it comes next
                continue
            self._cut(run, last + 1)
            yield run

    def _cut(self, run: Run, offset: int) -> None:
        """Makes two runs of one that holds `offset` behind its first record: the second begins there."""
        if run.first < offset <= run.last:
            index = bisect_right(self._runs, run.first, key=lambda item: item.first)
            self._runs.insert(index, replace(run, first=offset))
            run.last = offset - 1

    def _settle(self) -> None:
        """Moves the start behind what is done with, and joins runs that have become alike."""
        done = 0
        while done < len(self._runs) and self._runs[done].is_done:
            done += 1
        if done:
            self.start_offset = self._runs[done - 1].last + 1
        kept: list[Run] = []
        for run in self._runs[done:]:
            if kept and kept[-1].is_like(run):
                kept[-1].last = run.last
            else:
                kept.append(run)
        self._runs = kept


def _count(taken: Sequence[Acquired]) -> int:
    return sum(item.last - item.first + 1 for item in taken)


def _cautious(run: Run, limits: Limits) -> int:
    """The number of records given out at once of a batch that has failed often; the last time it is one by one."""
    if run.delivery_count + 1 >= limits.delivery_count:
        return 1
    first, last = run.batch
    return max((last - first + 1) >> (run.delivery_count - limits.suspect_from + 1), 1)


def _alike(stretches: Sequence[Stretch]) -> Iterator[tuple[bool, int, int]]:
    """Neighbours joined that are void, or are not."""
    for is_void, group in groupby(stretches, key=lambda stretch: stretch.is_void):
        members = list(group)
        yield is_void, members[0].first, members[-1].last
