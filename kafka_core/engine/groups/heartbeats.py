"""Members whose coordinator assigns: one heartbeat at a time says and hears everything.

Must not know the fields of a heartbeat: consumer.py (KIP-848) and share.py (KIP-932) do.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Final
from uuid import UUID

from kafka_core.engine.groups.membership import BaseMembership
from kafka_core.engine.groups.states import (
    LEAVE_TIMEOUT_S,
    FindCoordinator,
    GroupSettings,
    LookUpTopics,
    Send,
    State,
    Step,
    Wait,
)
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Backoff, classify
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.protocol import ApiMessage

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
FENCED: Final = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH})
UNSUPPORTED: Final = frozenset({KafkaError.UNSUPPORTED_VERSION, KafkaError._UNSUPPORTED_FEATURE})

Id = tuple[UUID, int]
"""A partition as the coordinator names it."""


class HeartbeatMembership(BaseMembership):
    """Heartbeats, looking up the names of assigned topics, leaving; what an assignment means is the protocol's.

    Attributes:
        MEMBER: states in which the coordinator has, or is to get, this member.
    """

    MEMBER: ClassVar[frozenset[State]]

    def __init__(self, settings: GroupSettings, backoff: Backoff, member_id: str) -> None:
        super().__init__(settings, backoff, member_id)
        self.heartbeat_interval_s = settings.heartbeat_interval_s
        self._names: frozenset[str] = frozenset()
        self._target: frozenset[Id] = frozenset()
        self._topics: dict[UUID, str] = {}
        self._in_flight: ApiMessage | None = None
        self._next_heartbeat_s = -math.inf
        self._look_up_at_s = 0.0
        self._look_ups = 0
        self._known = False

    def group_topics(self) -> frozenset[str]:
        """No member leads here."""
        return frozenset()

    def plan(self, view: ClusterView, now_s: float) -> None:
        """No member plans here."""

    # ---- steps

    def watch(self, now_s: float, last_poll_s: float) -> None:
        """To be called while a request is under way: deadlines that do not wait for it."""
        if self.state in self.MEMBER and now_s >= last_poll_s + self.settings.max_poll_interval_s:
            self._expel(now_s - last_poll_s)

    def next_step(self, now_s: float, last_poll_s: float) -> Step:
        """The next step.

        Args:
            last_poll_s: when the application last polled (now, while it is inside poll).
        """
        self._come_back()
        if self.state in (State.IDLE, State.FATAL, State.LOSING):
            return Wait(math.inf)
        if self.state in (State.LEAVING, State.EXPELLED):
            waits = self._leave_sent if self.state is State.EXPELLED else self.event is not None
            return Wait(math.inf) if waits else self._leave(now_s)
        poll_deadline_s = last_poll_s + self.settings.max_poll_interval_s
        if now_s >= poll_deadline_s:
            self._expel(now_s - last_poll_s)
            return self.next_step(now_s, last_poll_s)
        step = self._member_step(now_s)
        return replace(step, until_s=min(step.until_s, poll_deadline_s)) if isinstance(step, Wait) else step

    def _member_step(self, now_s: float) -> Step:
        if now_s < self._retry_at_s:
            return Wait(self._retry_at_s)
        if self.coordinator is None:
            return FindCoordinator()
        if now_s >= self._next_heartbeat_s or self.state is State.ACKNOWLEDGING:  # the coordinator waits for that
            return self._heartbeat()
        due_s = self._next_heartbeat_s
        if self._unnamed():
            if now_s >= self._look_up_at_s:
                self._look_up_at_s = now_s + self._backoff.delay_s(self._look_ups)
                self._look_ups += 1
                return LookUpTopics()
            due_s = min(due_s, self._look_up_at_s)
        return Wait(due_s)

    def _unnamed(self) -> bool:
        """Whether something is assigned whose topic is not known by name."""
        return self.state in self.MEMBER and any(topic_id not in self._topics for topic_id, _ in self._target)

    def _leave(self, now_s: float) -> Step:
        """One step of leaving: the last heartbeat, or the end where the coordinator need not be told."""
        if self._known and not self._leave_sent and self.coordinator is not None:
            self._leave_sent = True
            request = self._farewell()
            self._in_flight = request
            return Send(request, min(LEAVE_TIMEOUT_S, self.settings.request_timeout_s))
        self._left()
        return Wait(math.inf) if self.state in (State.IDLE, State.EXPELLED) else self.next_step(now_s, now_s)

    def _left(self) -> None:
        self._leave_sent, self._known = True, False
        self._forget_term()
        if self.state is State.LEAVING:
            self._move(State.IDLE)
            if self._wanted:
                self._join()

    # ---- reports of the driver

    def coordinator_found(self, node_id: int) -> None:
        """The answer to `FindCoordinator`."""
        self.coordinator = node_id
        self._retry_at_s = 0.0

    def failed(self, request: ApiMessage | None, error: KafkaException, now_s: float) -> None:
        """A request, or the look-up of the coordinator (None), got no answer.

        What the coordinator knows of this member is uncertain now: the next heartbeat says everything again.
        """
        if request is not None and request is not self._in_flight:
            return
        self._in_flight = None
        if self.state in (State.LEAVING, State.EXPELLED):
            if self._leave_sent:
                self._left()
            return
        if error.code in UNSUPPORTED:
            self._unsupported()
            return
        self.coordinator = None
        self._try_again(now_s)
        if not classify(error).tries_again:
            self._report(error.error)

    # ---- of the protocol

    @abstractmethod
    def _heartbeat(self) -> Step:
        """The next heartbeat."""

    @abstractmethod
    def _farewell(self) -> ApiMessage:
        """The heartbeat that leaves."""

    @abstractmethod
    def _join(self) -> None:
        """Begins a membership: a whole heartbeat with epoch 0."""

    @abstractmethod
    def _forget_term(self) -> None:
        """Forgets what belonged to the membership so far."""

    @abstractmethod
    def _expel(self, silent_s: float) -> None:
        """Leaves because the application does not poll."""

    @abstractmethod
    def _unsupported(self) -> None:
        """Ends: the broker has no groups of this kind."""

    def _join_again(self) -> None:
        self._join()
