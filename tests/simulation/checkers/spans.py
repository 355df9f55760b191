"""Follows what each consumer reads: spans of one partition that begin with an assignment or a seek.

Within a span offsets follow each other without a gap; its first one is where the span had to begin. Fed with events as
they come, so that the drain can ask how far everybody is; `positions` is the checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.history import Event
from tests.simulation.plan import Plan

if TYPE_CHECKING:
    from tests.simulation.world import Run

Key = tuple[str, int]
State = tuple[int | None, int | None]
BEGINNING: Final = -2


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of reading.

    A call that ran when the span began may still hold records of the one before it, and hand them out first; which of
    both a record belongs to may not be clear, so all possibilities are followed.

    Attributes:
        since: number of the event it began with.
        starts: where it may begin; None: at the group's committed offset, or where auto.offset.reset says.
        states: the possibilities, each (next offset of this span, None before its first record; next offset of the
            span before, or None).
        anew: how often the topic was made anew meanwhile: so often the span may begin again, at 0 (what was on its way
            of one made anew may come when there is another already). `owed`: it has not done so yet.
    """

    since: int
    starts: frozenset[int] | None
    states: frozenset[State]
    anew: int = 0
    owed: bool = False

    @property
    def next(self) -> int | None:
        """The offset that comes next; None if (perhaps) nothing of this span was handed out yet."""
        found = {new for new, _ in self.states}
        return None if None in found else max((new for new in found if new is not None), default=None)

    def after(self, offset: int) -> frozenset[State]:
        """The possibilities when a call that goes on with this span after its end hands this out; none: it may not."""
        states: set[State] = set()
        for new, old in self.states:
            if offset == new or (new is None and self.starts is not None and offset in self.starts):
                states.add((offset + 1, old))
            if offset == old:
                states.add((new, offset + 1))
        return frozenset(states)

    def loose_ends(self) -> frozenset[int]:
        """The offsets that may come next for a call that goes on with this span after its end."""
        begun = frozenset(item for state in self.states for item in state if item is not None)
        return begun | self.starts if self.starts is not None and self.next is None else begun


def new_span(since: int, starts: frozenset[int] | None, before: Span | None = None) -> Span:
    """A span with nothing handed out yet."""
    loose = before.loose_ends() if before is not None else frozenset()
    return Span(since, starts, frozenset([(None, None), *((None, old) for old in loose)]))


@dataclass(slots=True)
class Reading:
    """Of one process: its spans, those it gave up (a call may hold their records), and all it began by itself."""

    group: str
    latest: bool
    spans: dict[Key, Span] = field(default_factory=dict)
    given: dict[Key, tuple[int, Span]] = field(default_factory=dict)
    begun: dict[Key, list[Span]] = field(default_factory=dict)


class Spans:
    """All consumers of a run. `violations` grows while events are fed."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.violations: list[str] = []
        self._readings: dict[str, Reading] = {}
        self._fed = 0
        self._commits: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
        self._cuts: dict[Key, set[int]] = {}

    def feed(self, events: list[Event]) -> None:
        """Take the events that are new."""
        for number in range(self._fed, len(events)):
            handler = _HANDLERS.get(events[number].what)
            if handler is not None:
                handler(self, number, events[number])
        self._fed = len(events)

    def reading(self, who: str) -> Reading:
        """The known state of a process."""
        if who not in self._readings:
            conf = self.plan.client(who.partition(".")[0]).conf
            self._readings[who] = Reading(conf.get("group.id", ""), conf.get("auto.offset.reset") != "earliest")
        return self._readings[who]

    def may_stand_at(self, who: str, key: Key, end: int) -> bool:
        """Whether a consumer has nothing more to read: it stands at `end`, or begins there."""
        reading = self.reading(who)
        span = reading.spans[key]
        if span.owed or (span.anew and end == 0):
            return end == 0
        if any(new == end for new, _ in span.states):
            return True
        if end in self._cuts.get(key, ()) and (span.next is None or span.next > end):
            return True  # it stands where the log ended before, and will be told
        return span.next is None and end in (
            span.starts if span.starts is not None else self._group_starts(span, reading, key)
        )

    # ---- events

    def _assigned(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        old, reading.spans = reading.spans, {}
        for key, span in old.items():
            reading.given[key] = number, span
        for topic, partition, offset, end in event.data[0]:
            given = reading.given.get((topic, partition))
            self._begin(number, reading, (topic, partition), offset, end, given[1] if given else None)

    def _seeked(self, number: int, event: Event) -> None:
        topic, partition, offset, end = event.data
        reading = self.reading(event.who)
        span = reading.spans.get((topic, partition))
        if span is not None:
            self._begin(number, reading, (topic, partition), offset, end, span)

    @staticmethod
    def _begin(number: int, reading: Reading, key: Key, offset: int, end: int, before: Span | None) -> None:
        starts: frozenset[int] | None = None
        if offset == BEGINNING:
            starts = frozenset({0})
        elif offset >= 0:
            starts = frozenset({offset, 0} if offset > end and not reading.latest else {offset})
        span = reading.spans[key] = new_span(number, starts, before)
        reading.begun.setdefault(key, []).append(span)

    def _owns(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        for key in event.data[0]:
            if key in reading.spans:
                self.violations.append(f"{event.who} was assigned {key[0]}[{key[1]}] at {event.at_s:.3f}, which it had")
            reading.spans[key] = new_span(number, None)

    def _gives(self, number: int, event: Event) -> None:
        reading = self.reading(event.who)
        for key in event.data[0]:
            span = reading.spans.pop(key, None)
            if span is None:
                self.violations.append(f"{event.who} gave up {key[0]}[{key[1]}] at {event.at_s:.3f}, which it had not")
            else:
                reading.given[key] = number, span

    def _committed(self, number: int, event: Event) -> None:
        group, topic, partition, offset = event.data
        self._commits.setdefault((group, topic, partition), []).append((number, offset))

    def _topic(self, number: int, event: Event) -> None:
        """A topic is made, maybe anew: whoever reads it may have to begin again, and nothing is committed in it."""
        name = event.data[0]
        for reading in self._readings.values():
            for key, span in reading.spans.items():
                if key[0] == name:
                    span.anew, span.owed = span.anew + 1, span.next is not None
        for (_, topic, _), commits in self._commits.items():
            if topic == name:
                commits.append((number, -1))

    def _lost(self, number: int, event: Event) -> None:
        """A log ends earlier: reading goes on from there, whoever was further."""
        topic, partition, end, _ = event.data
        self._cuts.setdefault((topic, partition), set()).add(end)

    def _delivered(self, number: int, event: Event) -> None:
        topic, partition, offset, value, begun = event.data
        reading = self.reading(event.who)
        key = (topic, partition)
        span = reading.spans.get(key)
        where = f"{event.who} at {event.at_s:.3f} got {topic}[{partition}] {offset} ({value})"
        if span is None:
            since, given = reading.given.get(key, (-1, None))
            held_on = given.after(offset) if given is not None and begun <= since else None
            if given is None or not held_on:
                self.violations.append(f"{where}, which is not assigned to it")
            else:
                given.states = held_on
            return
        states: set[State] = set()
        for new, old in span.states:
            if offset == new or (new is None and self._may_begin(span, reading, key, offset)):
                states.add((offset + 1, old))
            held = old == offset or offset in self._passed(reading, key, begun, span)
            if new is None and held and begun < span.since:
                states.add((None, offset + 1))
        span.owed = span.owed and offset != 0
        if not states and span.anew and offset == 0:
            states.add((1, None))
            span.anew -= 1
        if not states and offset in self._cuts.get(key, ()):
            states.add((offset + 1, None))
        if not states:
            expected = span.next if span.next is not None else self._expected(span, reading, key)
            self.violations.append(f"{where}, but {expected} comes next")
            states = {(offset + 1, None)}
        span.states = frozenset(states)

    @staticmethod
    def _passed(reading: Reading, key: Key, begun: int, last: Span) -> set[int]:
        """The starts of spans that came and went while a call ran: it may hold their records, too."""
        spans = [span for span in reading.begun.get(key, ()) if begun < span.since < last.since]
        return set().union(*(span.starts for span in spans if span.starts is not None))

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

    def _expected(self, span: Span, reading: Reading, key: Key) -> str:
        starts = span.starts if span.starts is not None else self._group_starts(span, reading, key)
        return " or ".join(map(str, sorted(starts)))


_HANDLERS: Final[dict[str, Any]] = {
    "assign": Spans._assigned,
    "seek": Spans._seeked,
    "owns": Spans._owns,
    "gives": Spans._gives,
    "loses": Spans._gives,
    "committed": Spans._committed,
    "topic": Spans._topic,
    "lost": Spans._lost,
    "deliver": Spans._delivered,
}


def positions(run: Run) -> Iterator[str]:
    """Records continue at the consumer's position; none come of partitions that it does not have."""
    spans = Spans(run.plan)
    spans.feed(run.history.events)
    yield from spans.violations
