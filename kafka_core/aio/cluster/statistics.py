"""The parts of the statistics (stats_cb) that all clients have: brokers, and the words for a group's member.

Must not know producers or consumers: it is told which partitions they have.
Spec: librdkafka's STATISTICS.md for names, words and units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.traffic import Traffic, led_by
from kafka_core.clock import Clock
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import State

UNANSWERED_NOTHING: Final = (0, 0)

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


def brokers(client: ClusterClient, traffic: Traffic, partitions: list[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """The known brokers, by `host:port/id`; begins the next windows.

    `state` is librdkafka's word for a broker with a connection, or for one without.

    Args:
        partitions: of the client; each is shown under its leader.
    """
    view, up, unanswered = client.metadata, client.connected_to(), client.unanswered()
    found = {}
    for item in view.brokers.values():
        held, waiting = unanswered.get(item.node_id, UNANSWERED_NOTHING)
        found[str(item)] = {
            "name": str(item),
            "nodeid": item.node_id,
            "nodename": f"{item.host}:{item.port}",
            "source": "learned",
            "state": "UP" if item.node_id in up else "INIT",
            "outbuf_cnt": held,
            "waitresp_cnt": waiting,
            **traffic.broker(item),
            "toppars": led_by(item.node_id, partitions, view),
        }
    return found
