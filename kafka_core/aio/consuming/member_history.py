"""The part of the statistics (stats_cb) about a group's member: its state in librdkafka's words, and since when.

Must not know what a member has to do.
Spec: librdkafka's STATISTICS.md for names, words and units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kafka_core.clock import Clock
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import State

JOIN_STATES: Final[Mapping[State, str]] = {
    State.IDLE: "init",
    State.PREPARING: "init",
    State.JOINING: "wait-join",
    State.PLANNING: "wait-metadata",
    State.SYNCING: "wait-sync",
    State.REVOKING: "wait-unassign-call",
    State.ASSIGNING: "wait-assign-call",
    State.ACKNOWLEDGING: "steady",
    State.STABLE: "steady",
    State.LOSING: "wait-unassign-call",
    State.LEAVING: "init",
    State.EXPELLED: "init",
    State.FATAL: "init",
}
"""librdkafka's words (`join_state`) for the states of a membership."""


def group_state(state: State, coordinator: int | None) -> str:
    """librdkafka's word for a member and its coordinator: `up` where there is one."""
    if state is State.IDLE:
        return "init"
    if state is State.FATAL:
        return "term"
    return "query-coord" if coordinator is None else "up"


class MemberHistory:
    """When the state of a member, and its last rebalance, began: the engine has no clock.

    `look` is called after every step of the membership; nothing else costs anything.
    """

    __slots__ = ("_clock", "_membership", "_rebalances", "_rebalances_at_s", "_state", "_state_at_s")

    def __init__(self, membership: GroupMembership, clock: Clock) -> None:
        self._membership, self._clock = membership, clock
        self._state, self._rebalances = group_state(membership.state, membership.coordinator), membership.rebalances
        self._state_at_s = self._rebalances_at_s = clock.monotonic()

    def look(self) -> None:
        """Notes what has changed. On the loop."""
        membership = self._membership
        state = group_state(membership.state, membership.coordinator)
        if state != self._state:
            self._state, self._state_at_s = state, self._clock.monotonic()
        if membership.rebalances != self._rebalances:
            self._rebalances, self._rebalances_at_s = membership.rebalances, self._clock.monotonic()

    def shown(self, assignment_size: int) -> dict[str, Any]:
        """The `cgrp` part of the statistics; ages in ms, that of the last rebalance 0 before the first."""
        self.look()
        membership, now_s = self._membership, self._clock.monotonic()
        return {
            "state": self._state,
            "stateage": round((now_s - self._state_at_s) * 1000),
            "join_state": JOIN_STATES[membership.state],
            "rebalance_age": round((now_s - self._rebalances_at_s) * 1000) if membership.rebalances else 0,
            "rebalance_cnt": membership.rebalances,
            "rebalance_reason": membership.rebalance_reason,
            "assignment_size": assignment_size,
        }
