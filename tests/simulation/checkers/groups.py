"""Of consumer groups: everything is delivered to somebody, commits follow delivery, one owner per generation.

Must not know how members are driven. `committed` holds for readers with a group id too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from kafka_core.protocol import decode
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from tests.simulation.world import Run

Key = tuple[str, int]


def delivered(run: Run) -> Iterator[str]:
    """Every record of the topics that a group reads from the beginning is delivered to one of its members."""
    for group, topics in groups_of(run).items():
        members = {client.name for client in run.plan.clients if client.conf.get("group.id") == group}
        got = {event.data[3] for event in run.history.of("deliver") if name_of(event.who) in members}
        for (incarnation, partition), records in run.truth.items():
            topic = run.incarnations[incarnation][0]
            if topic not in topics or incarnation in deleted(run):
                continue
            lost = [(offset, text) for offset, text in records if text not in got]
            if lost:
                offsets = ", ".join(str(offset) for offset, _ in lost[:8])
                yield (
                    f"{len(lost)} of {len(records)} records of {topic}[{partition}] were never delivered to {group}: "
                    f"offsets {offsets} ({lost[0][1][:24]} …)"
                )


def committed(run: Run) -> Iterator[str]:
    """A group never commits an offset while a record before it has not been delivered to a member.

    For readers, who may begin anywhere, only the records behind the last delivered one count. Of a log that lost
    records members may go on committing what they had read of it until they are told: `told` looks at those.
    """
    cut: set[Key] = set()
    contiguous = set(groups_of(run))
    got: dict[tuple[str, Key], set[int]] = defaultdict(set)
    frontier: dict[tuple[str, Key], int] = defaultdict(int)
    group_by_name = {client.name: client.conf.get("group.id", "") for client in run.plan.clients}
    lives_of: dict[str, set[int]] = defaultdict(set)  # sent again without an answer, a record is in the next one, too
    for (incarnation, _), records in run.truth.items():
        for _, text in records:
            lives_of[text].add(incarnation)
    life: dict[str, int] = {}
    lives = 0
    for event in run.history.events:
        if event.what == "deliver":
            topic, partition, offset, text = event.data[:4]
            if text in lives_of and life.get(topic) not in lives_of[text]:
                continue  # of a topic that is gone
            place = (group_by_name[name_of(event.who)], (topic, partition))
            got[place].add(offset)
            if place[0] in contiguous:
                while frontier[place] in got[place]:
                    frontier[place] += 1
            else:
                frontier[place] = max(frontier[place], offset + 1)
        elif event.what == "topic":
            life[event.data[0]] = lives
            lives += 1
            for place in [place for place in got if place[1][0] == event.data[0]]:
                got[place].clear()
                frontier[place] = 0
        elif event.what == "lost":
            cut.add(event.data[:2])
        elif event.what == "committed":
            group, topic, partition, offset = event.data
            place = (group, (topic, partition))
            if offset > frontier[place] and place[1] not in cut:
                yield (
                    f"{group} committed {offset} of {topic}[{partition}] at {event.at_s:.3f}, but {frontier[place]} "
                    "was not delivered yet"
                )


def backwards(run: Run) -> Iterator[str]:
    """A group whose members only go forward never commits less than before: that would undo what another has done.

    A commit that the broker or the network held back may be taken after later ones: its member has long closed the
    connection on which it came, and the protocol gives it no means to call the request back. Where a log has lost
    records its members have to go back.
    """
    cut: set[Key] = set()
    last: dict[tuple[str, Key], int] = {}
    held: set[tuple[str, int, int]] = set()
    groups = set(groups_of(run))
    for event in run.history.of("committed", "topic", "held", "lost"):
        if event.what == "lost":
            cut.add(event.data[:2])
            continue
        if event.what == "held":
            held.update((event.data[0], partition, offset) for partition, offset in event.data[1])
            continue
        if event.what == "topic":
            last = {place: offset for place, offset in last.items() if place[1][0] != event.data[0]}
            continue
        group, topic, partition, offset = event.data
        before = last.get((group, (topic, partition)), -1)
        known = (group, partition, offset) in held or (topic, partition) in cut
        if group in groups and offset < before and not known:
            yield f"{group} committed {offset} of {topic}[{partition}] at {event.at_s:.3f}, after {before}"
        last[group, (topic, partition)] = offset


def owners(run: Run) -> Iterator[str]:
    """In a generation a partition belongs to one member, and nobody in it still holds it from before."""
    holding: dict[str, dict[Key, int]] = defaultdict(dict)
    member_of: dict[str, str] = {}
    for event in run.history.events:
        if event.what == "generation":
            group, generation, assignments = event.data
            seen: dict[Key, str] = {}
            for member, raw in assignments.items():
                for key in assigned(raw):
                    if key in seen:
                        where = f"{key[0]}[{key[1]}] in generation {generation} of {group}"
                        yield f"{where} was given to {seen[key]} and to {member}"
                    seen[key] = member
            yield from held_by_others(event.at_s, seen, set(assignments), holding, member_of)
        elif event.what == "owns":
            keys, generation, member = event.data
            member_of[event.who] = member
            holding[event.who].update(dict.fromkeys(keys, generation))
        elif event.what in ("gives", "loses"):
            for key in event.data[0]:
                holding[event.who].pop(key, None)
        elif event.what in ("kill", "ended"):
            holding.pop(event.data[0] if event.data else event.who, None)


def holds(run: Run) -> Iterator[str]:
    """A member that takes partitions has those that its leader gave to it in that generation, and no others.

    What it has of a membership it loses with that: it is no longer its own, to keep or to give up in good order.
    Of members that share them out themselves: a KIP-848 coordinator gives partitions one by one.
    """
    group_of = {
        client.name: client.conf.get("group.id", "")
        for client in run.plan.clients
        if client.role == "member" and client.conf.get("group.protocol", "classic") == "classic"
    }
    shares: dict[tuple[str, int, str], frozenset[Key]] = {}
    holding: dict[str, set[Key]] = defaultdict(set)
    member_of: dict[str, str] = {}
    for event in run.history.events:
        if event.what in ("owns", "gives") and name_of(event.who) in group_of and holding[event.who]:
            before, now = member_of[event.who], event.data[2]
            if now != before:
                yield f"{event.who} still held {sorted(holding[event.who])} of {before} at {event.at_s:.3f}, as {now!r}"
        if event.what == "generation":
            group, generation, assignments = event.data
            for member, raw in assignments.items():
                shares[group, generation, member] = frozenset(assigned(raw))
        elif event.what == "owns" and name_of(event.who) in group_of:
            keys, generation, member = event.data
            holding[event.who].update(keys)
            member_of[event.who] = member
            share = shares.get((group_of[name_of(event.who)], generation, member))
            if share is not None and share != holding[event.who]:
                yield (
                    f"{event.who} held {sorted(holding[event.who])} at {event.at_s:.3f}, but generation {generation} "
                    f"gave {sorted(share)} to it"
                )
        elif event.what in ("gives", "loses"):
            holding[event.who].difference_update(event.data[0])
        elif event.what in ("kill", "ended"):
            holding.pop(event.data[0] if event.data else event.who, None)


def held_by_others(
    at_s: float, seen: dict[Key, str], members: set[str], holding: Any, member_of: dict[str, str]
) -> Iterator[str]:
    for who, keys in holding.items():
        for key, since in keys.items():
            new = seen.get(key)
            if new is not None and member_of[who] in members and new != member_of[who]:
                what = f"{key[0]}[{key[1]}] was given to {new} at {at_s:.3f}"
                yield f"{what} while {who} held it since generation {since}"


def assigned(raw: bytes) -> list[Key]:
    """The partitions in a member's assignment."""
    if len(raw) < 2:
        return []
    version = int.from_bytes(raw[:2], "big")
    content = decode(ConsumerProtocolAssignment, min(version, 3), memoryview(raw)[2:], exact=False)
    return [(item.topic, number) for item in content.assigned_partitions for number in item.partitions]


def groups_of(run: Run) -> dict[str, set[str]]:
    """Groups with members that read from the beginning, and their topics."""
    found: dict[str, set[str]] = defaultdict(set)
    for client in run.plan.clients:
        if client.role == "member" and client.conf.get("auto.offset.reset") == "earliest":
            found[client.conf["group.id"]].update(client.traits["topics"])
    return found


def deleted(run: Run) -> set[int]:
    """Incarnations that were followed by another one of the same name, or deleted."""
    last = {topic: index for index, (topic, _) in enumerate(run.incarnations)}
    return {index for index, (topic, _) in enumerate(run.incarnations) if last[topic] != index}


def name_of(process: str) -> str:
    """The client's name of one of its processes."""
    return process.partition(".")[0]
