"""Prints what a reader of a violation needs: the plan, what was done, and what happened around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.simulation.history import Event
from tests.simulation.plan import Plan

QUIET = frozenset({"poll"})


def plan_lines(plan: Plan) -> Iterator[str]:
    """The plan for reading."""
    yield f"seed {plan.seed}, scenario {plan.scenario}: {plan.brokers} brokers, topics {plan.topics}"
    order = "task steps shuffled" if plan.shuffle else "task steps in order"
    yield f"latency {plan.latency_s * 1000:g} ms, {plan.split:.0%} of writes split, {order}"
    for client in plan.clients:
        yield f"{client.role} {client.name}: {client.conf} {client.traits}"
    for action in plan.actions:
        yield str(action)


def lines(events: Iterable[Event], about: str = "") -> Iterator[str]:
    """The history for reading, polls left out; only events that mention `about`, if it is given."""
    for event in events:
        if event.what in QUIET:
            continue
        text = str(event)
        if about in text:
            yield text
