"""Membership in a share group: join, be told the partitions, leave.

Must not know connections, loops or callbacks: responses, failures and the time are handed in, steps come out.
Spec: KIP-932 (ShareGroupHeartbeat; member epochs 0: joins, -1: leaves; the member makes its own id).

    IDLE ──subscribe──▶ JOINING ──▶ STABLE        LEAVING   tell the coordinator; EXPELLED: left because nobody polled
                          ▲  fenced  │            FATAL     it can't be a member
                          └──────────┘

Partitions are shared with other members, so none has to be given up before another takes it: an assignment counts at
once. `Event` says which partitions there are now; its listener takes them over and calls `done`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.groups.heartbeats import FENCED, JOIN_EPOCH, LEAVE_EPOCH, HeartbeatMembership
from kafka_core.engine.groups.membership import poll_exceeded
from kafka_core.engine.groups.states import (
    ASSIGNED_BY_COORDINATOR,
    NO_GENERATION,
    SHARE_MOVES,
    Event,
    EventKind,
    GroupSettings,
    Send,
    State,
    Step,
)
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import KafkaError
from kafka_core.protocol import ZERO_UUID, ApiMessage
from kafka_core.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

ACTIVE: Final = frozenset({State.JOINING, State.STABLE})
REFUSED: Final = frozenset(
    {
        KafkaError.INVALID_REQUEST,
        KafkaError.INVALID_GROUP_ID,
        KafkaError.GROUP_ID_NOT_FOUND,
        KafkaError.GROUP_MAX_SIZE_REACHED,
    }
)
"""Errors that the same request would only meet again."""


class ShareMembership(HeartbeatMembership):
    """The state machine of one member of a share group; one step at a time (see `membership.GroupMembership`).

    Args:
        member_id: unique; it stays the same as long as the consumer lives, for share sessions are known by it.
    """

    MOVES = SHARE_MOVES
    MEMBER = ACTIVE
    server_patterns = False

    def __init__(self, settings: GroupSettings, backoff: Backoff, member_id: str) -> None:
        super().__init__(settings, backoff, member_id)
        self._said_names: frozenset[str] | None = None

    # ---- what the client asks for

    def identity(self) -> ConsumerGroupMetadata:
        """The membership. Any thread."""
        return ConsumerGroupMetadata(self.settings.group_id, self.generation, self.member_id, None)

    @property
    def term(self) -> int:
        """Acknowledgements belong to share sessions, not to a term of the membership."""
        return 0

    def subscribe(self, topics: Iterable[str], pattern: str | None = None) -> None:
        """Sets the topics to take part with; joins, or tells the group."""
        del pattern
        names = frozenset(topics)
        changed, self._names = names != self._names, names
        self._wanted = True
        if self.state is State.IDLE or (self.state is State.FATAL and changed):
            self._join()
        elif changed:
            self._next_heartbeat_s = -math.inf

    def unsubscribe(self) -> None:
        """Leaves the group."""
        self._wanted = False
        if self.state in (State.IDLE, State.LEAVING):
            return
        self._supersede()
        self._move(State.LEAVING)
        self._leave_sent = False
        self._give_up()

    def metadata_changed(self, view: ClusterView, now_s: float) -> None:
        """Metadata is new: topics that were assigned by their ids may be known by name now."""
        for name, topic in view.topics.items():
            if topic.topic_id != ZERO_UUID:
                self._topics[topic.topic_id] = name
        assigned = {topic_id for topic_id, _ in self._target}
        self._topics = {
            topic_id: name for topic_id, name in self._topics.items() if topic_id in assigned or name in view.topics
        }
        if self.state is State.STABLE:
            self._take()

    def topic_id(self, topic: str) -> UUID | None:
        """The id under which a topic is assigned."""
        ids = {topic_id for topic_id, _ in self._target}
        return next((topic_id for topic_id, name in self._topics.items() if name == topic and topic_id in ids), None)

    def done(self, event: Event) -> None:
        """The listener has taken the event over."""
        if self.event is not None and event.token == self.event.token:
            self._apply(event)

    # ---- steps

    def outdated(self, request: ApiMessage) -> bool:
        """Whether nobody wants the answer of a request any more."""
        leaves = self.state is State.LEAVING and not self._leave_sent
        return leaves or request is not self._in_flight

    def _heartbeat(self) -> Step:
        joins = self.generation <= JOIN_EPOCH
        request = ShareGroupHeartbeatRequest(
            group_id=self.settings.group_id,
            member_id=self.member_id,
            member_epoch=max(self.generation, JOIN_EPOCH),
            rack_id=self.settings.rack if joins else None,
            subscribed_topic_names=sorted(self._names) if joins or self._names != self._said_names else None,
        )
        self._said_names = self._names
        self._in_flight, self._known = request, True
        return Send(request, self.settings.request_timeout_s)

    def _farewell(self) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(
            group_id=self.settings.group_id, member_id=self.member_id, member_epoch=LEAVE_EPOCH
        )

    # ---- reports of the driver

    def received(self, request: ApiMessage, response: ApiMessage, now_s: float) -> None:
        """The answer to a `Send`; one that nobody waits for any more is passed over."""
        if request is not self._in_flight or not isinstance(response, ShareGroupHeartbeatResponse):
            return
        self._in_flight = None
        if self.state in (State.LEAVING, State.EXPELLED):
            if self._leave_sent:
                self._left()
        elif response.error_code:
            self._group_error(response.error_code, response.error_message, now_s)
        else:
            self._beaten(response, now_s)

    def _beaten(self, response: ShareGroupHeartbeatResponse, now_s: float) -> None:
        self._succeeded()
        self.last_heartbeat_s = now_s
        self.heartbeat_interval_s = response.heartbeat_interval_ms / 1000 or self.heartbeat_interval_s
        stale = self._said_names != self._names
        self._next_heartbeat_s = -math.inf if stale else now_s + self.heartbeat_interval_s
        self.generation = response.member_epoch
        self._move(State.STABLE)
        if response.assignment is not None:
            self._target = frozenset(
                (topic.topic_id, number)
                for topic in response.assignment.topic_partitions
                for number in topic.partitions
            )
            self.rebalances += 1
            self.rebalance_reason = ASSIGNED_BY_COORDINATOR
            self._look_ups, self._look_up_at_s = 0, 0.0
        self._take()

    def _take(self) -> None:
        """Takes over the assigned partitions whose names are known."""
        named = frozenset(
            (self._topics[topic_id], number) for topic_id, number in self._target if topic_id in self._topics
        )
        self._supersede()
        if named != self.owned:
            self.event = Event(next(self._tokens), EventKind.ASSIGN, named, incremental=False)

    # ---- errors

    def commit_rejected(self, code: int, member_id: str, generation: int) -> None:
        """There are no commits of offsets here."""

    def _group_error(self, code: int, message: str | None, now_s: float) -> None:
        action = classify(code)
        text = message or KafkaError.from_code(code).str()
        if code in FENCED:
            self._supersede()
            self._known = False
            self._join()
        elif code == KafkaError.UNSUPPORTED_VERSION:
            self._unsupported()
        elif code in REFUSED:
            self._end(KafkaError(code, f"share group {self.settings.group_id!r}: {text}"))
        else:
            if action is Action.FIND_COORDINATOR:
                self.coordinator = None
            elif not action.tries_again:  # rights, for one: say so once, then try now and then
                self._report(KafkaError(code, f"share group {self.settings.group_id!r}: {text}"))
            self._try_again(now_s)

    def _unsupported(self) -> None:
        text = (
            f"share group {self.settings.group_id!r}: the broker has no share groups (KIP-932: Kafka 4.2 or newer with "
            "the feature share.version=1)"
        )
        self._end(KafkaError(KafkaError._UNSUPPORTED_FEATURE, text, fatal=True))

    def _end(self, error: KafkaError) -> None:
        self._supersede()
        self._forget_term()
        self._move(State.FATAL)
        self._report(error)
        self._give_up()

    def _expel(self, silent_s: float) -> None:
        self._report(poll_exceeded(self.settings, silent_s))
        self._supersede()
        self._move(State.EXPELLED)
        self._leave_sent = self._polls_again = False
        self._give_up()

    # ---- small parts

    def _give_up(self) -> None:
        self._raise_event(EventKind.LOST, self.owned)

    def _join(self) -> None:
        """Begins a membership: a whole heartbeat with epoch 0. Partitions stay until there is another assignment."""
        self._move(State.JOINING)
        self._forget_term()
        self._next_heartbeat_s = -math.inf

    def _forget_term(self) -> None:
        self.generation = NO_GENERATION
        self._in_flight = None
        self._said_names = None
        self._target = frozenset()

    def _try_again(self, now_s: float) -> None:
        super()._try_again(now_s)
        self._said_names = None
        self._next_heartbeat_s = -math.inf
