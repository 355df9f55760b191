"""Membership in a group that its coordinator assigns (`group.protocol=consumer`): join, reconcile, acknowledge, leave.

Must not know connections, loops or callbacks: responses, failures and the time are handed in, steps come out.
Spec: KIP-848 (member epochs -1: leaves, -2: a static member leaves for a while, 0: joins; null fields have not changed
since the last heartbeat that was answered), KIP-1082 (the client makes its member id).

    IDLE ──subscribe──▶ JOINING ─▶ STABLE ─▶ REVOKING ─▶ ASSIGNING ─▶ ACKNOWLEDGING ─▶ STABLE
                          ▲          (another assignment, at any time)
                        LOSING  fenced: partitions are lost, then it joins again
                        LEAVING give up partitions, tell the coordinator; EXPELLED: left because nobody polled; FATAL

There is one heartbeat at a time. The coordinator gives a partition out only after its owner has acknowledged, in
`topic_partitions`, that it gave it up. The application's callbacks (`Event`) hold the state until `done`; what goes
out meanwhile names no partitions, or all that the member has, takes and was promised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.heartbeats import FENCED, JOIN_EPOCH, LEAVE_EPOCH, HeartbeatMembership
from kafka_core.engine.groups.membership import fenced_instance, poll_exceeded
from kafka_core.engine.groups.states import (
    ASSIGNED_BY_COORDINATOR,
    CONSUMER_MOVES,
    NO_GENERATION,
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
from kafka_core.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

STATIC_LEAVE_EPOCH: Final = -2
UNCERTAIN: Final = object()
"""The coordinator's state after a heartbeat without an answer."""

WITH_HEARTBEATS: Final = frozenset({State.JOINING, State.REVOKING, State.ASSIGNING, State.ACKNOWLEDGING, State.STABLE})
"""States in which the coordinator has, or is to get, this member."""
RECONCILING: Final = frozenset({State.JOINING, State.ACKNOWLEDGING, State.STABLE})
"""States in which another assignment can be taken at once; in the others it waits for the callback."""
REFUSED: Final = frozenset(
    {
        KafkaError.INVALID_REQUEST,
        KafkaError.INVALID_GROUP_ID,
        KafkaError.GROUP_ID_NOT_FOUND,
        KafkaError.UNSUPPORTED_ASSIGNOR,
        KafkaError.GROUP_MAX_SIZE_REACHED,
        KafkaError.INVALID_REGULAR_EXPRESSION,
    }
)
"""Errors that the same request would only meet again: it takes another subscription or another configuration."""


class ConsumerMembership(HeartbeatMembership):
    """The state machine of one member; one step at a time (see `membership.GroupMembership`).

    Args:
        member_id: unique; it stays the same as long as the consumer lives.
    """

    MOVES = CONSUMER_MOVES
    MEMBER = WITH_HEARTBEATS
    server_patterns = True

    def __init__(self, settings: GroupSettings, backoff: Backoff, member_id: str) -> None:
        super().__init__(settings, backoff, member_id)
        self._pattern: str | None = None
        self._ids: dict[Key, UUID] = {}
        self._term = 0
        self._sent: dict[str, object] = {}
        self._said: dict[str, object] = {}
        self._said_pattern = False
        self._refused = False

    # ---- what the client asks for

    def identity(self) -> ConsumerGroupMetadata:
        """The membership as commits and transactions name it. Any thread."""
        settings, epoch = self.settings, self.generation
        member_id = self.member_id if epoch > 0 else ""
        return ConsumerGroupMetadata(settings.group_id, epoch, member_id, settings.instance_id)

    @property
    def term(self) -> int:
        """Another number after each loss and each revocation: what is kept can be committed in any later epoch."""
        return self._term

    def subscribe(self, topics: Iterable[str], pattern: str | None = None) -> None:
        """Sets the topics to take part with, and a regular expression (RE2/J) of more; joins, or tells the group."""
        changed = (frozenset(topics), pattern) != (self._names, self._pattern)
        self._names, self._pattern = frozenset(topics), pattern
        self._wanted = True
        if self.state is State.IDLE or (self.state is State.FATAL and self._refused and changed):
            self._join()
        elif changed:
            self._next_heartbeat_s = -math.inf

    def unsubscribe(self) -> None:
        """Gives up all partitions (an event, if there are any) and leaves."""
        self._wanted = False
        if self.state in (State.IDLE, State.LEAVING):
            return
        lost = self.state in (State.LOSING, State.EXPELLED, State.FATAL)
        self._supersede()
        self._move(State.LEAVING)
        self._leave_sent = False
        self._raise_event(EventKind.LOST if lost else EventKind.REVOKE, self.owned)

    def metadata_changed(self, view: ClusterView, now_s: float) -> None:
        """Metadata is new: topics that were assigned by their ids may be known by name now."""
        waits = self._unnamed()
        for name, topic in view.topics.items():
            if topic.topic_id != ZERO_UUID:
                self._topics[topic.topic_id] = name
        if waits and self.state in RECONCILING:
            self._reconcile()
        kept = {topic_id for topic_id, _ in self._target} | set(self._ids.values())
        self._topics = {
            topic_id: name for topic_id, name in self._topics.items() if topic_id in kept or name in view.topics
        }

    def done(self, event: Event) -> None:
        """The application's callback for an event is through and the partitions are taken or given up."""
        if self.event is None or event.token != self.event.token:
            return
        self._apply(event)
        if self.state in (State.REVOKING, State.ASSIGNING):
            # To be said even if it was said before: the coordinator waits for words that come after its own.
            for said in (self._sent, self._said):
                said.pop("topic_partitions", None)
            self._reconcile()
        elif self.state is State.LOSING:
            self._join()

    def _apply(self, event: Event) -> None:
        super()._apply(event)
        if event.kind is not EventKind.ASSIGN:
            self._term += 1
            self._ids = {key: topic_id for key, topic_id in self._ids.items() if key in self.owned}

    # ---- steps

    def outdated(self, request: ApiMessage) -> bool:
        """Whether nobody wants the answer of a request any more.

        A heartbeat is waited for while partitions are given up before leaving: their last commit needs its epoch.
        """
        leaves = self.state is State.LEAVING and self.event is None and not self._leave_sent
        return leaves or request is not self._in_flight

    def _heartbeat(self) -> Step:
        joining = self.generation <= JOIN_EPOCH
        settings = self.settings
        said: dict[str, object] = {
            "rack_id": settings.rack,
            "rebalance_timeout_ms": round(settings.max_poll_interval_s * 1000),
            "subscribed_topic_names": sorted(self._names),
            "subscribed_topic_regex": self._pattern,
            "server_assignor": settings.remote_assignor,
        }
        if self.event is None or joining:
            said["topic_partitions"] = [] if joining else self._partitions()
        elif "topic_partitions" not in self._sent:
            said["topic_partitions"] = self._partitions()
        request = ConsumerGroupHeartbeatRequest(
            group_id=settings.group_id,
            member_id=self.member_id,
            member_epoch=max(self.generation, JOIN_EPOCH),
            instance_id=settings.instance_id,
        )
        for name, value in said.items():
            if name not in self._sent or self._sent[name] != value:
                setattr(request, name, value)
        if self._pattern is not None:
            self._said_pattern = True
        elif self._said_pattern and self._sent.get("subscribed_topic_regex", UNCERTAIN) is not None:
            request.subscribed_topic_regex = ""  # null would mean: as before
        self._said = {**self._sent, **said}
        self._in_flight, self._known = request, True
        return Send(request, settings.request_timeout_s)

    def _partitions(self) -> list[TopicPartitions]:
        """The partitions this member has, is about to take, or was promised: a missing one counts as given up.

        An assignment takes a callback's time, and the coordinator may take a partition back meanwhile: a heartbeat
        without it would be the acknowledgement, with the partition on its way into `owned`.
        """
        held = {(self._ids[key], key[1]) for key in self.owned} | self._target
        if self.event is not None:
            held |= {(self._ids[key], key[1]) for key in self.event.partitions}
        topics: dict[UUID, list[int]] = {}
        for topic_id, number in sorted(held):
            topics.setdefault(topic_id, []).append(number)
        return [TopicPartitions(topic_id=topic_id, partitions=found) for topic_id, found in topics.items()]

    def _farewell(self) -> ConsumerGroupHeartbeatRequest:
        """A static member's partitions stay its own until its session ends (KIP-848)."""
        return ConsumerGroupHeartbeatRequest(
            group_id=self.settings.group_id,
            member_id=self.member_id,
            member_epoch=LEAVE_EPOCH if self.settings.instance_id is None else STATIC_LEAVE_EPOCH,
            instance_id=self.settings.instance_id,
        )

    # ---- reports of the driver

    def received(self, request: ApiMessage, response: ApiMessage, now_s: float) -> None:
        """The answer to a `Send`; one that nobody waits for any more is passed over."""
        if request is not self._in_flight or not isinstance(response, ConsumerGroupHeartbeatResponse):
            return
        self._in_flight = None
        if self.state in (State.LEAVING, State.EXPELLED):
            if self._leave_sent:
                self._left()
            elif not response.error_code:
                self.generation = response.member_epoch
        elif response.error_code:
            self._group_error(response.error_code, response.error_message, now_s)
        else:
            self._beaten(response, now_s)

    def _beaten(self, response: ConsumerGroupHeartbeatResponse, now_s: float) -> None:
        self._succeeded()
        self._sent = self._said
        self.last_heartbeat_s = now_s
        self.heartbeat_interval_s = response.heartbeat_interval_ms / 1000 or self.heartbeat_interval_s
        stale = any(
            self._sent[name] != value
            for name, value in (
                ("subscribed_topic_names", sorted(self._names)),
                ("subscribed_topic_regex", self._pattern),
            )
        )
        self._next_heartbeat_s = -math.inf if stale else now_s + self.heartbeat_interval_s
        self.generation = response.member_epoch
        if response.assignment is not None:
            self._target = frozenset(
                (topic.topic_id, number)
                for topic in response.assignment.topic_partitions
                for number in topic.partitions
            )
            self._look_ups, self._look_up_at_s = 0, 0.0
        if self.state in RECONCILING:
            self._reconcile()

    # ---- the assignment

    def _reconcile(self) -> None:
        """One step from the owned to the assigned partitions: gives up, then takes, then acknowledges."""
        kept = {key for key, topic_id in self._ids.items() if key in self.owned and (topic_id, key[1]) in self._target}
        given_up = self.owned - kept
        if given_up:
            self._move(State.REVOKING)
            self._raise_event(EventKind.REVOKE, given_up)
            return
        added: dict[Key, UUID] = {}
        for topic_id, number in self._target:
            name = self._topics.get(topic_id)
            if name is not None and (name, number) not in self.owned:
                added[name, number] = topic_id
        if added:
            self._ids |= added
            self._move(State.ASSIGNING)
            self._raise_event(EventKind.ASSIGN, frozenset(added))
        elif self.state is not State.JOINING and self._sent.get("topic_partitions") != self._partitions():
            if "topic_partitions" not in self._sent:  # else it is a promise that came or went
                self.rebalances += 1
                self.rebalance_reason = ASSIGNED_BY_COORDINATOR
            self._move(State.ACKNOWLEDGING)
        else:
            self._move(State.STABLE)

    # ---- errors

    def commit_rejected(self, code: int, member_id: str, generation: int) -> None:
        """A commit told that its membership is void or has another epoch: the next heartbeat says more."""
        if generation > 0 and member_id == self.member_id and code in (*FENCED, KafkaError.STALE_MEMBER_EPOCH):
            self._next_heartbeat_s = -math.inf

    def _group_error(self, code: int, message: str | None, now_s: float) -> None:
        action = classify(code)
        if code in FENCED:
            self._lose()
        elif code == KafkaError.FENCED_INSTANCE_ID:
            self._end(fenced_instance(self.settings))
        elif code == KafkaError.UNSUPPORTED_VERSION:
            self._unsupported()
        elif code == KafkaError.UNRELEASED_INSTANCE_ID:
            self._report(self._error(code, self._unreleased_text()))
            self._try_again(now_s)
        elif code in REFUSED:
            self._refused = True
            self._end(self._error(code, message or KafkaError.from_code(code).str()))
        else:
            if action is Action.FIND_COORDINATOR:
                self.coordinator = None
            elif not action.tries_again:  # rights, for one: say so once, then try now and then
                self._report(self._error(code, message or KafkaError.from_code(code).str()))
            self._try_again(now_s)

    def _error(self, code: int, text: str) -> KafkaError:
        return KafkaError(code, f"group {self.settings.group_id!r}: {text}")

    def _unreleased_text(self) -> str:
        return (
            f"group.instance.id {self.settings.instance_id!r} belongs to another member: this one joins when that one "
            "leaves or its session ends; give each instance its own id"
        )

    def _unsupported(self) -> None:
        text = (
            f"group {self.settings.group_id!r}: the broker has no groups of group.protocol=consumer (KIP-848, Kafka "
            "4.0 or newer with the feature group.version=1): set group.protocol=classic"
        )
        self._end(KafkaError(KafkaError._UNSUPPORTED_FEATURE, text, fatal=True))

    def _end(self, error: KafkaError) -> None:
        """It can't be a member: its partitions are lost."""
        self._supersede()
        self._forget_term()
        self._move(State.FATAL)
        self._report(error)
        self._raise_event(EventKind.LOST, self.owned)

    def _lose(self) -> None:
        """The coordinator no longer knows this member or its epoch: its partitions are others' by now."""
        self._supersede()
        self._known = False
        self._forget_term()
        if self.owned:
            self._move(State.LOSING)
            self._raise_event(EventKind.LOST, self.owned)
        else:
            self._join()

    def _expel(self, silent_s: float) -> None:
        self._report(poll_exceeded(self.settings, silent_s))
        self._supersede()
        self._forget_term()
        self._move(State.EXPELLED)
        self._leave_sent = self._polls_again = False
        self._raise_event(EventKind.LOST, self.owned)

    # ---- small parts

    def _join(self) -> None:
        """Begins a membership: a whole heartbeat with epoch 0."""
        self._move(State.JOINING)
        self._forget_term()
        self._refused = False
        self._next_heartbeat_s = -math.inf

    def _forget_term(self) -> None:
        self.generation = NO_GENERATION
        self._term += 1
        self._in_flight = None
        self._sent = {}
        self._target = frozenset()

    def _try_again(self, now_s: float) -> None:
        super()._try_again(now_s)
        self._sent = {}
        self._next_heartbeat_s = -math.inf
