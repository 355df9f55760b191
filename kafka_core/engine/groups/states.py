"""The values around a group membership: states and their moves, steps for the driver, events for the application.

Must not know how a membership decides: classic.py and consumer.py do, and draw their states.
Spec: see there.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.assignors import Assignor
from kafka_core.protocol import ApiMessage

NO_GENERATION: Final = -1
ASSIGNED_BY_COORDINATOR: Final = "the coordinator assigned other partitions"
"""The reason of a rebalance where members do not assign."""
LEAVE_TIMEOUT_S: Final = 3.0
JOIN_MARGIN_S: Final = 5.0
"""Seconds that a JoinGroup may take beyond the rebalance timeout, as in the Java client."""
HURRIED_BEATS: Final = 10
"""Into how many parts a member that expects a rebalance divides its next heartbeat interval."""


class State(enum.Enum):
    """The state of a membership."""

    IDLE = "idle"
    PREPARING = "preparing"
    JOINING = "joining"
    PLANNING = "planning"
    SYNCING = "syncing"
    REVOKING = "revoking"
    ASSIGNING = "assigning"
    ACKNOWLEDGING = "acknowledging"
    STABLE = "stable"
    LOSING = "losing"
    LEAVING = "leaving"
    EXPELLED = "expelled"
    FATAL = "fatal"


_ANYTIME: Final = frozenset({State.LOSING, State.LEAVING, State.EXPELLED, State.FATAL})

MOVES: Final[Mapping[State, frozenset[State]]] = {
    State.IDLE: frozenset({State.PREPARING}),
    State.PREPARING: frozenset({State.JOINING}) | _ANYTIME,
    State.JOINING: frozenset({State.PLANNING, State.SYNCING, State.PREPARING}) | _ANYTIME,
    State.PLANNING: frozenset({State.SYNCING, State.PREPARING}) | _ANYTIME,
    State.SYNCING: frozenset({State.REVOKING, State.ASSIGNING, State.PREPARING}) | _ANYTIME,
    State.REVOKING: frozenset({State.ASSIGNING, State.PREPARING}) | _ANYTIME,
    State.ASSIGNING: frozenset({State.STABLE, State.PREPARING}) | _ANYTIME,
    State.STABLE: frozenset({State.PREPARING}) | _ANYTIME,
    State.LOSING: frozenset({State.PREPARING, State.LEAVING, State.EXPELLED, State.FATAL}),
    State.LEAVING: frozenset({State.IDLE}),
    State.EXPELLED: frozenset({State.PREPARING, State.LEAVING}),
    State.FATAL: frozenset({State.LEAVING}),
}
"""Allowed moves of a classic member; staying where one is needs no permission."""

CONSUMER_MOVES: Final[Mapping[State, frozenset[State]]] = {
    State.IDLE: frozenset({State.JOINING}),
    State.JOINING: frozenset({State.REVOKING, State.ASSIGNING, State.STABLE}) | _ANYTIME,
    State.REVOKING: frozenset({State.ASSIGNING, State.ACKNOWLEDGING, State.JOINING}) | _ANYTIME,
    State.ASSIGNING: frozenset({State.REVOKING, State.ACKNOWLEDGING, State.JOINING}) | _ANYTIME,
    State.ACKNOWLEDGING: frozenset({State.REVOKING, State.ASSIGNING, State.STABLE, State.JOINING}) | _ANYTIME,
    State.STABLE: frozenset({State.REVOKING, State.ASSIGNING, State.ACKNOWLEDGING, State.JOINING}) | _ANYTIME,
    State.LOSING: frozenset({State.JOINING, State.LEAVING, State.EXPELLED, State.FATAL}),
    State.LEAVING: frozenset({State.IDLE}),
    State.EXPELLED: frozenset({State.JOINING, State.LEAVING}),
    State.FATAL: frozenset({State.LEAVING, State.JOINING}),
}
"""Allowed moves of a member with `group.protocol=consumer`."""

SHARE_MOVES: Final[Mapping[State, frozenset[State]]] = {
    State.IDLE: frozenset({State.JOINING}),
    State.JOINING: frozenset({State.STABLE, State.LEAVING, State.EXPELLED, State.FATAL}),
    State.STABLE: frozenset({State.JOINING, State.LEAVING, State.EXPELLED, State.FATAL}),
    State.LEAVING: frozenset({State.IDLE}),
    State.EXPELLED: frozenset({State.JOINING, State.LEAVING}),
    State.FATAL: frozenset({State.LEAVING, State.JOINING}),
}
"""Allowed moves of a member of a share group."""

BEATING: Final = frozenset({State.PREPARING, State.REVOKING, State.ASSIGNING, State.STABLE})
"""States with heartbeats: stable, and those in which the application's callback may take its time.

In the others the coordinator knows that we are there by the request that waits with it.
"""


class EventKind(enum.Enum):
    """The kind of a change of the assigned partitions."""

    ASSIGN = "assign"
    REVOKE = "revoke"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Event:
    """Partitions that change hands; the membership waits until `done(event)`.

    Attributes:
        token: tells this event from every other one.
        incremental: the partitions are added to or taken from those at hand (cooperative), not all there are.
    """

    token: int
    kind: EventKind
    partitions: frozenset[Key]
    incremental: bool


@dataclass(frozen=True, slots=True)
class FindCoordinator:
    """Look the coordinator up and report `coordinator_found` or `failed`."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this to the coordinator and report `received` or `failed`.

    Attributes:
        apart: on another connection than a request that is still waiting there (a join blocks its connection).
    """

    request: ApiMessage
    timeout_s: float
    apart: bool = False


@dataclass(frozen=True, slots=True)
class PlanAssignment:
    """This member leads: learn which partitions these topics have and report `plan`."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until_s` (monotonic; infinity: until something happens)."""

    until_s: float


@dataclass(frozen=True, slots=True)
class LookUpTopics:
    """Topics that were assigned by their ids are not known by name: refresh the metadata of all topics."""


Step = FindCoordinator | Send | PlanAssignment | LookUpTopics | Wait


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """The properties that shape a membership, under their usual names, in seconds.

    With `group.protocol=consumer` the broker has the time-outs of session and heartbeat, and the assignors.
    """

    group_id: str
    assignors: tuple[Assignor, ...] = ()
    instance_id: str | None = None
    session_timeout_s: float = 45.0
    heartbeat_interval_s: float = 3.0
    max_poll_interval_s: float = 300.0
    request_timeout_s: float = 60.0
    rack: str | None = None
    topic_patience_s: float = 30.0
    remote_assignor: str | None = None

    @property
    def cooperative(self) -> bool:
        """Whether members keep partitions while they join: only if every assignor can deal with it."""
        return all(assignor.cooperative for assignor in self.assignors)
