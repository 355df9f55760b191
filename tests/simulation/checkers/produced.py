"""Of records that were produced: acknowledged ones are in the log, once, in order; each gets one report.

Must not know consumers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.simulation.world import Run


def acknowledged(run: Run) -> Iterator[str]:
    """Records reported as delivered are in the log, at the reported place, unless the log lost them later."""
    gone = {value for event in run.history.of("lost") for value in event.data[3]}
    places: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for (incarnation, partition), records in run.produced():
        topic = run.incarnations[incarnation][0]
        for offset, text in records:
            places[text].append((topic, partition, offset))
    for event in run.history.of("report"):
        value, code, topic, partition, offset = event.data[:5]
        if code is not None or value in gone:
            continue
        found = places.get(value, [])
        if not found:
            yield f"{value} was acknowledged ({topic}[{partition}] at {offset}) and is in no log"
        elif offset is not None and offset >= 0 and (topic, partition, offset) not in found:
            yield f"{value} was acknowledged at {topic}[{partition}] {offset} and is at {found}"


def doubled(run: Run) -> Iterator[str]:
    """No log holds a record of an idempotent producer twice."""
    idempotent = idempotent_producers(run)
    for (incarnation, partition), records in run.produced():
        counts = Counter(text for _, text in records)
        for value, count in counts.items():
            if count > 1 and producer_of(value) in idempotent:
                offsets = [offset for offset, text in records if text == value]
                yield f"{value} is in {run.incarnations[incarnation][0]}[{partition}] {count} times, at {offsets}"


def order(run: Run) -> Iterator[str]:
    """Records of a producer stand in its partition in the order in which they were sent.

    But for those that were on their way when an unclean election took the log's end: with that a broker forgets the
    producer, and takes whichever batch of its requests in flight comes first for the first one.
    """
    unsure = _on_their_way(run)
    ordered = idempotent_producers(run) | {
        client.name
        for client in run.plan.clients
        if client.role == "producer" and client.conf.get("max.in.flight.requests.per.connection") == 1
    }
    for (incarnation, partition), records in run.produced():
        last: dict[str, int] = {}
        seen: set[str] = set()
        for offset, text in records:
            value = text
            if value in seen:  # a double is judged elsewhere
                continue
            seen.add(value)
            process, _, number = value.partition(":")
            if producer_of(value) in ordered and int(number) < last.get(process, 0):
                name = run.incarnations[incarnation][0]
                before = f"{process}:{last[process]}"
                if not any({value, before} <= pending for pending in unsure[name, partition]):
                    yield f"{value} at {name}[{partition}] {offset} stands behind {before}"
            last[process] = max(int(number), last.get(process, 0))


def _on_their_way(run: Run) -> dict[tuple[str, int], list[set[str]]]:
    """By partition, for each unclean election: the records that were sent before it and not reported yet."""
    pending: set[str] = set()
    found: dict[tuple[str, int], list[set[str]]] = defaultdict(list)
    for event in run.history.of("send", "report", "lost"):
        if event.what == "lost":
            found[event.data[0], event.data[1]].append(set(pending))
        elif event.what == "send":
            pending.add(event.data[0])
        else:
            pending.discard(event.data[0])
    return found


def reports(run: Run) -> Iterator[str]:
    """Every record that was taken gets one report, if its producer was closed; none gets two."""
    counts = Counter(event.data[0] for event in run.history.of("report"))
    for value, count in counts.items():
        if count > 1:
            yield f"{value} was reported {count} times"
    ended = {event.who for event in run.history.of("ended")}
    for event in run.history.of("queued"):
        if event.who in ended and not counts[event.data[0]]:
            yield f"{event.data[0]} was never reported although its producer was closed"
    refused = {event.data[0] for event in run.history.of("refused")}
    for value in refused & counts.keys():
        yield f"{value} was refused by produce() and reported all the same"


def recovered(run: Run) -> Iterator[str]:
    """Records sent after all faults are mended are delivered."""
    marked = False
    late: set[str] = set()
    for event in run.history.of("recovered", "send", "report", "refused"):
        if event.what == "recovered":
            marked = True
        elif event.what == "send" and marked:
            late.add(event.data[0])
        elif event.what == "report" and event.data[0] in late and event.data[1] is not None:
            yield f"{event.data[0]} failed with {event.data[1]} at {event.at_s:.3f} although everything works again"
        elif event.what == "refused" and event.data[0] in late:
            yield f"{event.data[0]} was refused at {event.at_s:.3f} although everything works again"


def producer_of(value: str) -> str:
    """Name of the client (not of its incarnation) that sent a value."""
    return value.partition(":")[0].partition(".")[0]


def idempotent_producers(run: Run) -> set[str]:
    """Names of the idempotent ones."""
    return {
        client.name
        for client in run.plan.clients
        if client.role == "producer" and client.conf.get("enable.idempotence", True)
    }
