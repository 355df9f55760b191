"""Follows what each consumer reads: spans of one partition that begin with an assignment or a seek.

Within a span offsets follow each other without a gap; its first one is where the span had to begin. Fed with events as
they come, so that the drain can ask how far everybody is; `positions` is the checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.simulation.history import Event
from tests.simulation.plan import Plan

if TYPE_CHECKING:
    from tests.simulation.world import Run

Key = tuple[str, int]
BEGINNING, END, STORED, INVALID = -2, -1, -1000, -1001


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of reading.

    Attributes:
        since: number of the event it began with.
        starts: where it may begin; None: at the group's committed offset, or where auto.offset.reset says.
        next: the offset that must come next; None before the first.
        before: the span it replaced, whose records a call that ran at that time may still hold.
    """

    since: int
    starts: frozenset[int] | None
    next: int | None = None
    before: Span | None = None


@dataclass(slots=True)
class Reading:
    """Of one process: its spans, and partitions that it had before (a call may hold their records)."""

    group: str
    latest: bool
    spans: dict[Key, Span] = field(default_factory=dict)
    given: dict[Key, Span] = field(default_factory=dict)
    paused: set[Key] = field(default_factory=set)


class Spans:
    """All consumers of a run. `violations` grows while events are fed."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.readings: dict[str, Reading] = {}
        self.violations: list[str] = []
        self.incarnation: dict[str, int] = {}
        self._fed = 0
        self._commits: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
        self._resets: dict[str, list[int]] = {}

    def feed(self, events: list[Event]) -> None:
        """Take the events that are new."""
        for number in range(self._fed, len(events)):
            handler = _HANDLERS.get(events[number].what)
            if handler is not None:
                handler(self, number, events[number])
        self._fed = len(events)

    def reading(self, who: str) -> Reading:
        """What is known of a process."""
        if who not in self.readings:
            client = self.plan.client(who.partition(".")[0])
            conf = client.conf
            self.readings[who] = Reading(conf.get("group.id", ""), conf.get("auto.offset.reset") != "earliest")
        return self.readings[who]

    # ---- events

    def _assigned(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        old = {**reading.given, **reading.spans}
        reading.spans = {}
        reading.given = old
        for topic, partition, offset, *end in event.data[0]:
            self._begin(
                number, reading, (topic, partition), offset, end[0] if end else None, old.get((topic, partition))
            )

    def _seeked(self, number: int, event: Event) -> None:
        topic, partition, offset, end = event.data
        reading = self.reading(event.who)
        span = reading.spans.get((topic, partition))
        if span is not None:
            self._begin(number, reading, (topic, partition), offset, end, span)

    def _begin(
        self, number: int, reading: Reading, key: Key, offset: int, end: int | None, before: Span | None
    ) -> None:
        starts: frozenset[int] | None
        if offset == BEGINNING:
            starts = frozenset({0})
        elif offset >= 0:
            beyond = end is None or offset > end
            starts = frozenset({offset, 0} if beyond and not reading.latest else {offset})
        else:
            starts = None
        if before is not None:
            before.before = None
        reading.spans[key] = Span(number, starts, before=before)

    def _owns(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        for key in event.data[0]:
            if key in reading.spans:
                self.violations.append(f"{event.who} was assigned {key[0]}[{key[1]}] at {event.at_s:.3f}, which it had")
            reading.spans[key] = Span(number, None, before=reading.given.pop(key, None))

    def _gives(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        for key in event.data[0]:
            span = reading.spans.pop(key, None)
            if span is None:
                self.violations.append(f"{event.who} gave up {key[0]}[{key[1]}] at {event.at_s:.3f}, which it had not")
            else:
                span.before = None
                reading.given[key] = span

    def _committed(self, number: int, event: Event) -> None:
        group, topic, partition, offset = event.data
        self._commits.setdefault((group, topic, partition), []).append((number, offset))

    def _topic(self, number: int, event: Event) -> None:
        self.incarnation[event.data[0]] = number
        self._resets.setdefault(event.data[0], []).append(number)

    def _delivered(self, number: int, event: Event) -> None:
        topic, partition, offset, value, begun = event.data
        reading = self.reading(event.who)
        key = (topic, partition)
        span = reading.spans.get(key)
        where = f"{event.who} at {event.at_s:.3f} got {topic}[{partition}] {offset} ({value[:24]})"
        if span is None:
            given = reading.given.get(key)
            if given is None or not self._still_held(given, offset):
                self.violations.append(f"{where}, which is not assigned to it")
            return
        if (
            begun < span.since
            and span.next is None
            and span.before is not None
            and self._still_held(span.before, offset)
        ):
            return
        if span.next is not None:
            if offset != span.next:
                self.violations.append(f"{where}, but {span.next} comes next")
        elif not self._may_begin(span, reading, key, offset):
            self.violations.append(f"{where} first, but {self._expected(span, reading, key)} comes first")
        span.next = offset + 1

    @staticmethod
    def _still_held(span: Span, offset: int) -> bool:
        """Whether a call that began before the change may hand this out: it continues the span that was."""
        if span.next is not None and offset == span.next:
            span.next = offset + 1
            return True
        return False

    def _may_begin(self, span: Span, reading: Reading, key: Key, offset: int) -> bool:
        if span.starts is not None:
            return offset in span.starts
        allowed = self._group_starts(span, reading, key)
        return offset in allowed or (reading.latest and -1 in allowed)

    def _group_starts(self, span: Span, reading: Reading, key: Key) -> set[int]:
        """The committed offsets in force from the span's beginning to now; -1 (or 0) where there was none."""
        starts: set[int] = set()
        in_force = -1
        for number, offset in self._commits.get((reading.group, *key), ()):
            if number <= span.since:
                in_force = offset
            else:
                starts.add(offset)
        starts.add(in_force)
        if -1 in starts and not reading.latest:
            starts = starts - {-1} | {0}
        return starts

    def _expected(self, span: Span, reading: Reading, key: Key) -> Any:
        starts = span.starts if span.starts is not None else self._group_starts(span, reading, key)
        return " or ".join(map(str, sorted(starts)))


_HANDLERS: dict[str, Any] = {
    "assign": Spans._assigned,
    "seek": Spans._seeked,
    "owns": Spans._owns,
    "gives": Spans._gives,
    "loses": Spans._gives,
    "committed": Spans._committed,
    "topic": Spans._topic,
    "deliver": Spans._delivered,
}


def positions(run: Run) -> Iterator[str]:
    """What is handed out continues where the consumer stands; nothing is handed out of what it does not have."""
    spans = Spans(run.plan)
    spans.feed(run.history.events)
    yield from spans.violations
