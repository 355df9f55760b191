"""Progress at the end of a run: the deliveries that the drain still waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.checkers.spans import Key, Spans

if TYPE_CHECKING:
    from tests.simulation.world import World


def missing(world: World, spans: Spans) -> list[str]:
    """Living consumers that have not come to the end of their topics, and where they are, in words."""
    spans.feed(world.history.events)
    found: list[str] = []
    owners: dict[tuple[str, Key], bool] = {}
    for app in world.apps.values():
        if not app.alive or app.client.role not in ("reader", "member"):
            continue
        reading = spans.reading(app.process.name)
        for key, span in reading.spans.items():
            end = world.cluster.ends(key[0]).get(key[1])
            if end is None:
                continue
            if not spans.may_stand_at(app.process.name, key, end):
                found.append(f"{app.process} stands at {span.next} of {end} in {key[0]}[{key[1]}]")
            owners[reading.group, key] = True
        if app.client.role == "member":
            for topic in app.client.traits["topics"]:
                for partition in world.cluster.ends(topic):
                    owners.setdefault((reading.group, (topic, partition)), False)
    found += [f"nobody of {group} reads {key[0]}[{key[1]}]" for (group, key), owned in owners.items() if not owned]
    return found
