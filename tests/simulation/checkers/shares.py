"""Of share groups: one member at a time has a record, deliveries are counted, what is said of it is the member's word.

Must not know how members are driven, nor how the broker keeps records: it follows each of them from what was given out,
acknowledged and released, and from the group's properties, and judges the broker by that. Fed with events as they come,
so that the drain can ask what is left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.history import Event
from tests.simulation.plan import Plan

if TYPE_CHECKING:
    from tests.simulation.world import Run

Key = tuple[str, int]
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
NAMES: Final = ("GAP", "ACCEPT", "RELEASE", "REJECT", "RENEW")
INVALID_RECORD_STATE: Final = 121
ALMOST_S: Final = 1e-6
"""Less than the steps of virtual time."""
LONG_LOCK_S: Final = 10.0
"""Locks that last so long end in nobody's hands as long as nothing goes wrong."""
CALM: Final = frozenset({"start", "send", "cancel"})
"""Actions that take no record out of anybody's hands."""


@dataclass(slots=True)
class Record:
    """One record, as far as the group has come with it.

    Attributes:
        count: how often it was given out. `holder`: who has it, until `until_s`.
        done: accepted, rejected, or given out as often as it may be.
    """

    count: int = 0
    holder: str | None = None
    until_s: float = 0.0
    done: bool = False


@dataclass(slots=True)
class Member:
    """One member's records and acknowledgements, by (partition, offset).

    Attributes:
        given: deliveries that the application has not seen yet. `words`: the last one of each record in hand.
        taken: acknowledgements that the broker took and the member was not told of yet.
    """

    given: Counter[tuple[Key, int, int]] = field(default_factory=Counter)
    seen: set[tuple[Key, int]] = field(default_factory=set)
    words: dict[tuple[Key, int], str] = field(default_factory=dict)
    taken: Counter[tuple[Key, int]] = field(default_factory=Counter)


class Shares:
    """All records that a share group was given out of, as its promises say they must be."""

    def __init__(self, plan: Plan) -> None:
        self.lock_s = int(plan.properties.get("group.share.record.lock.duration.ms", "30000")) / 1000
        self.limit = int(plan.properties.get("group.share.delivery.count.limit", "5"))
        self.records: dict[Key, dict[int, Record]] = defaultdict(lambda: defaultdict(Record))
        self.gaps: set[tuple[Key, int]] = set()
        self.wrong: list[tuple[str, str]] = []
        self._members: dict[str, Member] = defaultdict(Member)
        self._explicit = {
            client.name for client in plan.clients if client.role == "sharer" and client.traits["mode"] == "explicit"
        }
        self._starts: Counter[Key] = Counter()
        self._fed = 0

    def feed(self, events: list[Event]) -> None:
        """Follow what has happened since."""
        for event in events[self._fed :]:
            follow = getattr(self, f"_{event.what}", None) if event.what in FOLLOWED else None
            if follow is not None:
                follow(event, *event.data)
        self._fed = len(events)

    def left(self, ends: Mapping[Key, int]) -> list[str]:
        """Records that the group is not done with, in words."""
        found = []
        for key, end in sorted(ends.items()):
            open_offsets = [offset for offset in range(end) if not self.records[key][offset].done]
            if open_offsets:
                record = self.records[key][open_offsets[0]]
                whose = f"in the hands of {record.holder}" if record.holder else "in nobody's hands"
                text = f"{len(open_offsets)} of {end} records of {key[0]}[{key[1]}] are not done with: "
                found.append(f"{text}the first one, {open_offsets[0]}, is {whose} after {record.count} deliveries")
        return found

    def _start(self, key: Key) -> int:
        """The first record that the group is not done with."""
        records = self.records[key]
        while records[self._starts[key]].done:
            self._starts[key] += 1
        return self._starts[key]

    # ---- the broker

    def _acquired(self, event: Event, who: str, topic: str, partition: int, items: Iterable[Any]) -> None:
        key, member = (topic, partition), self._members[who]
        for first, last, count in items:
            for offset in range(first, last + 1):
                record = self.records[key][offset]
                text = f"{topic}[{partition}] {offset} was given to {who} at {event.at_s:.3f}"
                if record.done:
                    self._say("shared", f"{text}, when the group was done with it")
                elif record.holder is not None:
                    self._say("shared", f"{text}, when {record.holder} had it until {record.until_s:.3f}")
                elif count != record.count + 1:
                    self._say("shared", f"{text} with delivery count {count} after {record.count} deliveries")
                record.holder, record.until_s = who, event.at_s + self.lock_s
                record.count = count
                member.given[key, offset, count] += 1
                member.words.pop((key, offset), None)
                member.seen.discard((key, offset))

    def _acked(self, event: Event, who: str, topic: str, partition: int, items: Iterable[Any], code: int) -> None:
        key = (topic, partition)
        said = [(first + number, kind) for first, kinds in items for number, kind in enumerate(kinds)]
        if code:
            held = [self.records[key][offset] for offset, _ in said]
            if held and all(record.holder == who and record.until_s > event.at_s + ALMOST_S for record in held):
                offsets = f"{said[0][0]} to {said[-1][0]}"
                text = f"{who} was refused {topic}[{partition}] {offsets} at {event.at_s:.3f} with {code}"
                self._say("shared", f"{text}, although it had them")
            return
        for offset, kind in said:
            self._acknowledged(event, who, key, offset, kind)

    def _acknowledged(self, event: Event, who: str, key: Key, offset: int, kind: int) -> None:
        record, member, name = self.records[key][offset], self._members[who], NAMES[kind]
        place = f"{key[0]}[{key[1]}] {offset}"
        if offset < self._start(key):  # Kafka passes over words about what lies before the start
            member.taken[key, offset] += 1
            return
        if record.holder != who:
            self._say("shared", f"the group took {name} of {place} from {who}, which did not have it")
            return
        word = member.words.get((key, offset))
        if kind == GAP:
            self.gaps.add((key, offset))
        elif word != name and not (word is None and kind == RELEASE):
            self._say("words", f"{who} said {name} of {place} at {event.at_s:.3f}; the application's word was {word}")
        member.taken[key, offset] += 1
        if kind == RENEW:
            record.until_s = event.at_s + self.lock_s
            return
        member.words.pop((key, offset), None)
        if kind == RELEASE:
            self._free(record)
        else:
            record.holder, record.done = None, True

    def _freed(self, event: Event, who: str, topic: str, partition: int) -> None:
        for record in self.records[topic, partition].values():
            if record.holder == who:
                self._free(record)

    def _unlocked(self, event: Event, topic: str, partition: int) -> None:
        for record in self.records[topic, partition].values():
            if record.holder is not None and record.until_s <= event.at_s + ALMOST_S:
                self._free(record)

    def _led(self, event: Event, topic: str, partition: int) -> None:
        """Another broker leads, which knows what was acknowledged, and not what was only given out."""
        for record in self.records[topic, partition].values():
            if record.holder is not None:
                record.holder, record.count = None, record.count - 1

    def _free(self, record: Record) -> None:
        record.holder, record.done = None, record.count >= self.limit

    # ---- the members

    def _took(self, event: Event, who: str, topic: str, partition: int, offset: int, count: int, value: str) -> None:
        key, member = (topic, partition), self._members[who]
        if member.given[key, offset, count] <= 0:
            text = f"{event.who} got {topic}[{partition}] {offset} at {event.at_s:.3f}, delivery {count}"
            self._say("words", f"{text}, which the group did not give to it")
        member.given[key, offset, count] -= 1
        member.seen.add((key, offset))

    def _polls(self, event: Event, who: str) -> None:
        member = self._members[who]
        if event.who.partition(".")[0] not in self._explicit:
            member.words.update(dict.fromkeys(member.seen, "ACCEPT"))
        member.seen.clear()

    def _says(self, event: Event, who: str, topic: str, partition: int, offset: int, word: str) -> None:
        self._members[who].words[(topic, partition), offset] = word

    def _confirmed(
        self, event: Event, who: str, topic: str, partition: int, offsets: Iterable[int], code: int | None
    ) -> None:
        if code is not None:
            return
        taken = self._members[who].taken
        for offset in offsets:
            if taken[(topic, partition), offset] <= 0:
                place = f"{topic}[{partition}] {offset}"
                self._say("words", f"{event.who} was told at {event.at_s:.3f} that its word of {place} was taken")
            taken[(topic, partition), offset] -= 1

    def _say(self, checker: str, text: str) -> None:
        self.wrong.append((checker, text))


FOLLOWED: Final = frozenset({"acquired", "acked", "freed", "unlocked", "led", "took", "polls", "says", "confirmed"})


def _followed(run: Run) -> Shares:
    shares = Shares(run.plan)
    shares.feed(run.history.events)
    return shares


def shared(run: Run) -> Iterator[str]:
    """A record has one member at a time, deliveries are counted, what the group is done with does not come back."""
    yield from (text for checker, text in _followed(run).wrong if checker == "shared")


def words(run: Run) -> Iterator[str]:
    """A member sends the application's word on a record, and the application gets true reports of it."""
    shares = _followed(run)
    yield from (text for checker, text in shares.wrong if checker == "words")
    logs = {(run.incarnations[index][0], number): dict(log) for (index, number), log in run.truth.items()}
    for key, offset in sorted(shares.gaps):
        if offset in logs.get(key, {}):
            yield f"the group was told that there is no record at {key[0]}[{key[1]}] {offset}"
    for event in run.history.of("took"):
        _, topic, partition, offset, _, value = event.data
        if logs.get((topic, partition), {}).get(offset) != value:
            yield f"{event.who} got {value} as {topic}[{partition}] {offset} at {event.at_s:.3f}"


def settled(run: Run) -> Iterator[str]:
    """In the end the group is done with each record.

    Where nothing went wrong it was given out once, and once more for each time that it was released.
    """
    if not any(client.role == "sharer" for client in run.plan.clients):
        return
    shares = _followed(run)
    names = {index: topic for index, (topic, _) in enumerate(run.incarnations)}
    yield from shares.left({(names[index], number): len(log) for (index, number), log in run.truth.items()})
    if shares.lock_s < LONG_LOCK_S or run.late or not all(action.what in CALM for action in run.plan.actions):
        return
    took: Counter[tuple[str, int, int]] = Counter(event.data[1:4] for event in run.history.of("took"))
    released = Counter(event.data[1:4] for event in run.history.of("says") if event.data[4] == "RELEASE")
    for place, count in sorted(took.items()):
        if count > released[place] + 1:
            yield f"{place[0]}[{place[1]}] {place[2]} was given out {count} times, and released {released[place]} times"
