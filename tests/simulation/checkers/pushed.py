"""Of the metrics that clients push (KIP-714): what is asked for comes, nothing else, and no time is left out.

Must not know how they are measured. In a calm plan nothing goes wrong, so each moment is told once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kafka_core.errors import KafkaError
from tests.simulation.history import Event
from tests.simulation.plan import Plan
from tests.simulation.scenarios import EVERYTHING
from tests.simulation.world import Run

QUIET = frozenset({"want", "send", "start"})
FATAL = {
    KafkaError.INVALID_REQUEST: "a request that makes no sense",
    KafkaError.INVALID_RECORD: "what can't be read",
    KafkaError.TELEMETRY_TOO_LARGE: "too much",
}
"""Refusals that no client gives a broker reason for; but a push may arrive behind the goodbye."""
USUAL = {
    KafkaError.UNKNOWN_SUBSCRIPTION_ID: (0, KafkaError.UNKNOWN_SUBSCRIPTION_ID, KafkaError.THROTTLING_QUOTA_EXCEEDED)
}
"""The codes that may follow a code, if they are more than usual: the first push of a new subscription comes half an
interval later or more, which brokers count from the push that they refused, as Apache Kafka's do."""


def is_calm(plan: Plan) -> bool:
    """Whether nothing goes wrong, and everything is asked for all the time."""
    return all(
        action.what in QUIET and (action.what != "want" or action.args[0] in EVERYTHING) for action in plan.actions
    )


def windows(run: Run) -> Iterator[str]:
    """Pushes that leave a time out, tell what was not asked for, or that a broker has to refuse."""
    calm = run.plan.scenario == "telemetry" and is_calm(run.plan)
    for client, pushes in _pushes(run).items():
        edges: set[int] = set()
        end_ms: int | None = None
        goodbye = False
        for event in pushes:
            _, code, terminating, covers, _, strays = event.data
            if code in FATAL and not goodbye:
                yield f"{client} pushed {FATAL[code]} at {event.at_s:.3f}"
            if strays:
                yield f"{client} pushed {strays[0]} at {event.at_s:.3f}, which nobody asked for"
            if code == 0 and covers is not None:
                start_ms = covers[0]
                if edges and start_ms not in edges and not terminating:
                    yield f"{client} left out what was before {start_ms}, at {event.at_s:.3f}"
                if calm and end_ms is not None and start_ms != end_ms:
                    yield f"{client} told {start_ms} after {end_ms}, at {event.at_s:.3f}"
                edges.update(covers)
                end_ms = covers[1]
            elif code == 0:  # nothing that tells its window was asked for
                edges.clear()
                end_ms = None
            goodbye = goodbye or terminating


def totals(run: Run) -> Iterator[str]:
    """In calm plans: pushes that are too many or too early, and connections that were not counted, or twice."""
    if run.plan.scenario != "telemetry" or not is_calm(run.plan):
        return
    made = defaultdict(int)
    for event in run.history.of("connected"):
        made[event.who] += 1
    pushes = _pushes(run)
    for client in sorted(made):
        events = pushes.get(client, [])
        if not any(event.data[2] for event in events):
            yield f"{client} said no goodbye"
        if sum(event.data[4] or 0 for event in events if not event.data[1]) != made[client]:
            told = [event.data[4] for event in events if not event.data[1]]
            yield f"{client} made {made[client]} connections and told of {told}"
        before = 0
        for event in events:
            code = event.data[1]
            if code not in USUAL.get(before, (0, KafkaError.UNKNOWN_SUBSCRIPTION_ID)):
                yield f"{client} was refused with {KafkaError(code).name()} at {event.at_s:.3f}"
            before = code


def _pushes(run: Run) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = defaultdict(list)
    for event in run.history.of("pushed"):
        found[event.data[0]].append(event)
    return found
