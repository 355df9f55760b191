"""The broker's assignors of consumer groups: `uniform` and `range`.

Must not know: requests, epochs, timers. Subscriptions, counts and the last plan in, a new plan out; sorted, so that the
same input gives the same plan.
Spec: KIP-848 (server-side assignors); `UniformAssignor` keeps what it can, `RangeAssignor` puts the same numbers of
several topics together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

Key: TypeAlias = tuple[str, int]
Plan: TypeAlias = dict[str, set[Key]]
Subscriptions: TypeAlias = Mapping[str, Collection[str]]
"""Member → topics; in the order in which members are served."""


def uniform(subscriptions: Subscriptions, counts: Mapping[str, int], last: Mapping[str, Collection[Key]]) -> Plan:
    """Numbers of partitions as equal as subscriptions allow; no more partitions move than that takes."""
    plan: Plan = {member: set() for member in subscriptions}
    free = {
        (topic, number) for topics in subscriptions.values() for topic in topics for number in _numbers(counts, topic)
    }
    for member in subscriptions:
        kept = {key for key in last.get(member, ()) if key in free and key[0] in subscriptions[member]}
        plan[member] |= kept
        free -= kept
    for key in sorted(free):
        plan[min(_takers(subscriptions, key), key=lambda member: len(plan[member]))].add(key)
    while (move := _next_move(plan, subscriptions)) is not None:
        giver, taker, key = move
        plan[giver].remove(key)
        plan[taker].add(key)
    return plan


def _numbers(counts: Mapping[str, int], topic: str) -> range:
    return range(counts.get(topic, 0))


def _takers(subscriptions: Subscriptions, key: Key) -> list[str]:
    return [member for member, topics in subscriptions.items() if key[0] in topics]


def _next_move(plan: Plan, subscriptions: Subscriptions) -> tuple[str, str, Key] | None:
    """A partition of a member that has at least two more than another one who could take it."""
    for giver in sorted(plan, key=lambda member: -len(plan[member])):
        for key in sorted(plan[giver], reverse=True):
            taker = min(_takers(subscriptions, key), key=lambda member: len(plan[member]))
            if len(plan[giver]) - len(plan[taker]) > 1:
                return giver, taker, key
    return None


def ranges(subscriptions: Subscriptions, counts: Mapping[str, int], last: Mapping[str, Collection[Key]]) -> Plan:
    """Of each topic a run of neighbours to each member; the first members get one more where shares differ."""
    del last
    plan: Plan = {member: set() for member in subscriptions}
    for topic in sorted({topic for topics in subscriptions.values() for topic in topics}):
        takers = sorted(_takers(subscriptions, (topic, 0)))
        share, more = divmod(counts.get(topic, 0), len(takers))
        start = 0
        for place, member in enumerate(takers):
            end = start + share + (place < more)
            plan[member] |= {(topic, number) for number in range(start, end)}
            start = end
    return plan


ASSIGNORS: Final[Mapping[str, Callable[[Subscriptions, Mapping[str, int], Mapping[str, Collection[Key]]], Plan]]] = {
    "uniform": uniform,
    "range": ranges,
}
"""Name → assignor."""
