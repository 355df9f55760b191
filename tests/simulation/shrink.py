"""Cuts a plan that shows a violation down to the actions that matter (delta debugging).

Must not know what actions mean: it leaves some out, runs the plan again, and keeps what still shows the violation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.simulation.plan import Action, Plan

Shows = Callable[[Plan], bool]
"""Whether a plan still shows the violation that is looked for."""


def shrink(plan: Plan, shows: Shows, *, max_runs: int = 200) -> Plan:
    """The smallest plan found that still `shows` it; at most `max_runs` runs."""
    actions: Sequence[Action] = plan.actions
    runs = 0
    chunk = max(1, len(actions) // 2)
    while chunk:
        start, removed = 0, False
        while start < len(actions):
            if runs >= max_runs:
                return plan.with_actions(actions)
            rest = [*actions[:start], *actions[start + chunk :]]
            runs += 1
            if shows(plan.with_actions(rest)):
                actions, removed = rest, True
            else:
                start += chunk
        if not removed or chunk > 1:
            chunk = chunk // 2 if chunk > 1 else 0 if not removed else 1
    return plan.with_actions(actions)
