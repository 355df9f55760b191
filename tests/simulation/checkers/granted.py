"""Of groups whose coordinator assigns (KIP-848): no partition is in the hands of two members at once.

Must not know how members are driven. A member that the coordinator has put out of the group may not know that yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.checkers.groups import Key, held_by_others
from tests.simulation.world import Run


def apart(run: Run) -> Iterator[str]:
    """Partitions that the coordinator lets one member read must not be held, nor be granted, to another one."""
    holding: dict[str, dict[Key, int]] = defaultdict(dict)
    member_of: dict[str, str] = {}
    grants: dict[str, tuple[Key, ...]] = {}
    for event in run.history.events:
        if event.what == "granted":
            group, epoch, grants = event.data
            seen: dict[Key, str] = {}
            for member, keys in grants.items():
                for key in keys:
                    if key in seen:
                        yield f"{key[0]}[{key[1]}] was given to {seen[key]} and to {member} in epoch {epoch} of {group}"
                    seen[key] = member
            yield from held_by_others(event.at_s, seen, set(grants), holding, member_of)
        elif event.what == "owns":
            keys, epoch, member = event.data
            member_of[event.who] = member
            for key in keys:
                if member in grants and key not in grants[member]:
                    yield f"{event.who} took {key[0]}[{key[1]}] at {event.at_s:.3f}, which the group did not give to it"
            holding[event.who].update(dict.fromkeys(keys, epoch))
        elif event.what in ("given", "loses"):  # a partition is given up when the callback is through
            for key in event.data[0]:
                holding[event.who].pop(key, None)
        elif event.what == "joins":  # it says that it has nothing, or nothing any more: the coordinator put it out
            for who in [who for who, member in member_of.items() if member == event.data[1]]:
                holding[who].clear()
        elif event.what in ("kill", "ended"):
            holding.pop(event.data[0] if event.data else event.who, None)
