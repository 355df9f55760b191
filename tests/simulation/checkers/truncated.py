"""Of logs that lose records: whoever was given some of them is told so before it gets what stands in their place.

Must not know how it is found out.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_core.errors import KafkaError
from tests.simulation.world import Run

Place = tuple[str, tuple[str, int]]


def told(run: Run) -> Iterator[str]:
    """Consumers that got new records where they had been given others, without a word in between."""
    ends: dict[Place, int] = {}
    owed: dict[Place, int] = {}
    gone: set[str] = set()
    for event in run.history.events:
        if event.what == "lost":
            topic, partition, end, values = event.data
            gone.update(values)
            for place in [place for place, reached in ends.items() if place[1] == (topic, partition) and reached > end]:
                owed[place] = min(end, owed.get(place, end))
        elif event.what == "event" and event.data[0] == KafkaError._LOG_TRUNCATION:
            place = event.who, (event.data[1], event.data[2])
            owed.pop(place, None)
            ends.pop(place, None)
        elif event.what == "deliver":
            topic, partition, offset, value = event.data[:4]
            place = event.who, (topic, partition)
            if place in owed and offset >= owed[place] and value not in gone:
                yield (
                    f"{event.who} got {topic}[{partition}] {offset} ({value}) at {event.at_s:.3f}, and was not told "
                    f"that the log had lost what it had read from {owed.pop(place)} on"
                )
            ends[place] = offset + 1
        elif event.what in ("assign", "gives", "loses", "seek"):
            _forget(event.who, ends, owed)
        elif event.what in ("kill", "ended"):
            _forget(event.data[0] if event.data else event.who, ends, owed)


def _forget(who: str, *books: dict[Place, int]) -> None:
    for book in books:
        for place in [place for place in book if place[0] == who]:
            del book[place]
