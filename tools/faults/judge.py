"""Judges the clients' errors and stalls: a pure function of their histories and the log.

It knows nothing of brokers, processes and files. The log is the truth: what the topic held when all was over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple


class Entry(NamedTuple):
    """A record in the log: its number `number` of the producer `source`."""

    partition: int
    offset: int
    source: str
    number: int


class Ack(NamedTuple):
    """A delivery report without an error."""

    time_s: float
    number: int
    partition: int
    offset: int


class Delivery(NamedTuple):
    """A record that poll() returned."""

    time_s: float
    entry: Entry


class Change(NamedTuple):
    """A rebalance callback: `kind` is assigned, revoked or lost."""

    time_s: float
    kind: str
    partitions: tuple[int, ...]


class Commit(NamedTuple):
    """A commit that the broker confirmed: partition → next offset."""

    time_s: float
    offsets: Mapping[int, int]


@dataclass(slots=True)
class ProducerHistory:
    """The history of one producer; `sent` is number → time of produce()."""

    source: str
    sent: dict[int, float] = field(default_factory=dict)
    acks: list[Ack] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)


@dataclass(slots=True)
class MemberHistory:
    """The history of one member of a group."""

    deliveries: list[Delivery] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)

    def owned(self) -> set[int]:
        """The partitions that it has by its callbacks, eager and cooperative ones."""
        have: set[int] = set()
        for change in self.changes:
            have = have | set(change.partitions) if change.kind == "assigned" else have - set(change.partitions)
        return have


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is judged.

    Attributes:
        start_s: when the fault began.
        end_s: when the producers were told to stop.
        valid_from_s: what was handed over or committed before this moment may be gone (a topic that was deleted).
    """

    start_s: float
    end_s: float
    valid_from_s: float = float("-inf")


@dataclass(frozen=True, slots=True)
class ProducerVerdict:
    """Attributes:
    acked: records with a delivery report without error.
    lost: of them, those that the log does not have where the report says.
    doubled: copies in the log beyond the first.
    disordered: records that stand behind a later one of their producer in their partition.
    failed: reports with an error.
    unreported: records without any report at the end.
    silence_s: the longest time within the window in which a partition got no acknowledgement.
    wait_s: the longest time from produce() to the acknowledgement, of those acknowledged since the fault began.
    """

    acked: int
    lost: int
    doubled: int
    disordered: int
    failed: int
    unreported: int
    silence_s: float
    wait_s: float


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """Attributes:
    delivered: different records of the log that reached a member.
    lost: records of the log that reached none.
    skipped: steps of a member over records of the log that it owned then, even if they came later.
    doubled: deliveries of a record again to its owner, or of one that had been committed before.
    again: other repeated deliveries: of records delivered since the last commit.
    disordered: records that came first after a later one of their partition had come.
    unknown: deliveries of what the log does not have (not counted where a topic was deleted).
    silence_s: the longest time within the window in which a partition brought no new record.
    lag_s: the longest time from the acknowledgement of a record, handed over since the fault began, to its delivery.
    commit_silence_s: the longest time within the window in which no commit of the log's records was confirmed.
    """

    delivered: int
    lost: int
    skipped: int
    doubled: int
    again: int
    disordered: int
    unknown: int
    silence_s: float
    lag_s: float
    commit_silence_s: float


def longest_gap(times_s: Iterable[float], start_s: float, end_s: float) -> float:
    """The longest part of start…end without an event."""
    inside = sorted(time_s for time_s in times_s if start_s < time_s < end_s)
    marks = [start_s, *inside, end_s]
    return max(later - earlier for earlier, later in pairwise(marks))


def longest_silence(
    events: Iterable[tuple[int, float]], partitions: Iterable[int], start_s: float, end_s: float
) -> float:
    """The longest gap of any partition; events are (partition, time)."""
    times: dict[int, list[float]] = defaultdict(list)
    for partition, time_s in events:
        times[partition].append(time_s)
    return max((longest_gap(times[partition], start_s, end_s) for partition in partitions), default=0.0)


def judge_producer(history: ProducerHistory, log: Sequence[Entry], window: Window) -> ProducerVerdict:
    """The verdict on one producer's records; `log` holds those of all producers."""
    mine = sorted(entry for entry in log if entry.source == history.source)
    places = {entry[:2]: entry.number for entry in mine}
    must_be_there = [ack for ack in history.acks if history.sent[ack.number] > window.valid_from_s]
    numbers = {entry.number for entry in mine}
    latest: dict[int, int] = {}
    first_seen: set[int] = set()
    disordered = 0
    for entry in mine:
        if entry.number not in first_seen and entry.number < latest.get(entry.partition, -1):
            disordered += 1
        first_seen.add(entry.number)
        latest[entry.partition] = max(entry.number, latest.get(entry.partition, -1))
    reported = {ack.number for ack in history.acks} | set(history.failed)
    partitions = {entry.partition for entry in log}
    return ProducerVerdict(
        acked=len(history.acks),
        lost=sum(places.get((ack.partition, ack.offset)) != ack.number for ack in must_be_there),
        doubled=len(mine) - len(numbers),
        disordered=disordered,
        failed=len(history.failed),
        unreported=len(history.sent.keys() - reported),
        silence_s=longest_silence(
            ((ack.partition, ack.time_s) for ack in history.acks), partitions, window.start_s, window.end_s
        ),
        wait_s=max(
            (ack.time_s - history.sent[ack.number] for ack in history.acks if ack.time_s > window.start_s), default=0.0
        ),
    )


class _Spans:
    """The spans in which a member owned each partition."""

    def __init__(self, member: MemberHistory) -> None:
        self._starts: dict[int, list[float]] = defaultdict(list)
        for change in member.changes:
            if change.kind == "assigned":
                for partition in change.partitions:
                    self._starts[partition].append(change.time_s)

    def start(self, partition: int, time_s: float) -> float:
        """The beginning of the ownership that holds at this time; -inf if none is known."""
        starts = self._starts[partition]
        index = bisect_right(starts, time_s)
        return starts[index - 1] if index else float("-inf")


def judge_group(
    members: Sequence[MemberHistory], log: Sequence[Entry], window: Window, producers: Iterable[ProducerHistory] = ()
) -> GroupVerdict:
    """The verdict on a group's reading of the log; records of a deleted topic are left out."""
    acked_s = {
        (history.source, ack.number): ack.time_s
        for history in producers
        for ack in history.acks
        if history.sent[ack.number] > window.start_s
    }
    place_in_log = {entry: index for index, entry in enumerate(sorted(log))}
    owned = [_Spans(member) for member in members]
    everything = [
        (delivery.time_s, index, delivery.entry)
        for index, member in enumerate(members)
        for delivery in member.deliveries
    ]
    deliveries = sorted((item for item in everything if item[2] in place_in_log), key=itemgetter(0))  # stable
    committed = _Committed([commit for member in members for commit in member.commits], window.valid_from_s)
    doubled = again = disordered = skipped = 0
    seen: set[Entry] = set()
    highest: dict[int, int] = {}
    last: dict[tuple[int, int, float], int] = {}  # of an ownership: the place in the log of its last record
    fresh: list[tuple[int, float]] = []
    lag_s = 0.0
    for time_s, index, entry in deliveries:
        since_s = owned[index].start(entry.partition, time_s)
        owner = (index, entry.partition, since_s)
        place = place_in_log[entry]
        repeated = owner in last and place <= last[owner]
        if entry in seen:
            if repeated or entry.offset < committed.before(since_s, entry.partition):
                doubled += 1
            else:
                again += 1
        else:
            seen.add(entry)
            fresh.append((entry.partition, time_s))
            lag_s = max(lag_s, time_s - acked_s.get((entry.source, entry.number), time_s))
            disordered += entry.offset < highest.get(entry.partition, -1)
            highest[entry.partition] = max(entry.offset, highest.get(entry.partition, -1))
        skipped += owner in last and place > last[owner] + 1
        last[owner] = max(place, last.get(owner, -1))
    return GroupVerdict(
        delivered=len(seen),
        lost=len(place_in_log) - len(seen),
        skipped=skipped,
        doubled=doubled,
        again=again,
        disordered=disordered,
        unknown=len(everything) - len(deliveries) if window.valid_from_s == float("-inf") else 0,
        silence_s=longest_silence(fresh, {entry.partition for entry in log}, window.start_s, window.end_s),
        lag_s=lag_s,
        commit_silence_s=longest_gap(
            (commit.time_s for member in members for commit in member.commits if _is_of(commit, deliveries, window)),
            window.start_s,
            window.end_s,
        ),
    )


def _is_of(commit: Commit, deliveries: Sequence[tuple[float, int, Entry]], window: Window) -> bool:
    """Whether a commit is of what the log holds; where a topic was deleted, those of that one may be confirmed, too."""
    if window.valid_from_s == float("-inf"):
        return True
    ends: dict[int, int] = {}
    for time_s, _, entry in deliveries:
        if time_s <= commit.time_s:
            ends[entry.partition] = max(ends.get(entry.partition, 0), entry.offset + 1)
    return all(offset <= ends.get(partition, 0) for partition, offset in commit.offsets.items())


class _Committed:
    """The group's committed offsets at any time."""

    def __init__(self, commits: Iterable[Commit], valid_from_s: float) -> None:
        self._times: dict[int, list[float]] = defaultdict(list)
        self._offsets: dict[int, list[int]] = defaultdict(list)
        for commit in sorted(commits, key=lambda commit: commit.time_s):
            for partition, offset in commit.offsets.items():
                if commit.time_s > valid_from_s:
                    self._times[partition].append(commit.time_s)
                    self._offsets[partition].append(offset)

    def before(self, time_s: float, partition: int) -> int:
        """The last offset that had been confirmed at that time; -1 without one."""
        index = bisect_right(self._times[partition], time_s)
        return self._offsets[partition][index - 1] if index else -1
