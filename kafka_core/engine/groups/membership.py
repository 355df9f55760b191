"""The interface of a group membership, for both protocols, and the parts they share.

Must not know connections, loops or the protocols' requests: classic.py and consumer.py do.
Spec: confluent_kafka's `group.protocol`; KIP-848 for the second one.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import ClassVar, Protocol

from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.states import NO_GENERATION, Event, EventKind, GroupSettings, State, Step
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, KafkaException, StateError
from kafka_core.protocol import ApiMessage


class GroupMembership(Protocol):
    """One member, one step at a time: the driver asks `next_step`, carries it out and reports.

    Attributes:
        server_patterns: the coordinator matches topic patterns; else the client does, and subscribes to names.
        generation: the generation (classic) or the member epoch; -1 without a membership.
        heartbeat_interval_s: as configured, or as the coordinator last said.
        leave_by_s: until when a member that leaves waits for the rebalance under way.
        rebalances: how many there were. `rebalance_reason`: why the last one began; empty before the first.
    """

    server_patterns: bool
    settings: GroupSettings
    state: State
    member_id: str
    generation: int
    owned: frozenset[Key]
    coordinator: int | None
    event: Event | None
    errors: list[KafkaError]
    last_heartbeat_s: float | None
    is_leader: bool
    rebalances: int
    rebalance_reason: str
    leave_by_s: float

    @property
    def heartbeat_interval_s(self) -> float: ...
    @property
    def wants_membership(self) -> bool: ...
    @property
    def settled(self) -> bool: ...
    @property
    def in_rebalance(self) -> bool: ...
    def identity(self) -> ConsumerGroupMetadata: ...
    @property
    def term(self) -> Hashable:
        """Equal as long as nothing was given up: then commits of an earlier moment are still this member's."""
        ...

    def subscribe(self, topics: Iterable[str], pattern: str | None = None) -> None: ...
    def unsubscribe(self) -> None: ...
    def metadata_changed(self, view: ClusterView, now_s: float) -> None: ...
    def polled(self) -> None: ...
    def started(self, event: Event) -> None: ...
    def done(self, event: Event) -> None: ...
    def watch(self, now_s: float, last_poll_s: float) -> None: ...
    def outdated(self, request: ApiMessage) -> bool: ...
    def next_step(self, now_s: float, last_poll_s: float) -> Step: ...
    def coordinator_found(self, node_id: int) -> None: ...
    def forget_coordinator(self) -> None: ...
    def failed(self, request: ApiMessage | None, error: KafkaException, now_s: float) -> None: ...
    def plan(self, view: ClusterView, now_s: float) -> None: ...
    def received(self, request: ApiMessage, response: ApiMessage, now_s: float) -> None: ...
    def group_topics(self) -> frozenset[str]: ...
    def commit_rejected(self, code: int, member_id: str, generation: int) -> None: ...


class BaseMembership(ABC):
    """Shared base of the memberships of all protocols: events for the application, polls, errors, tries, allowed moves.

    Attributes:
        MOVES: the allowed moves of the protocol; staying where one is needs no permission.
    """

    MOVES: ClassVar[Mapping[State, frozenset[State]]]

    def __init__(self, settings: GroupSettings, backoff: Backoff, member_id: str) -> None:
        self.settings = settings
        self.state = State.IDLE
        self.member_id = member_id
        self.generation = NO_GENERATION
        self.owned: frozenset[Key] = frozenset()
        self.coordinator: int | None = None
        self.event: Event | None = None
        self.errors: list[KafkaError] = []
        self.last_heartbeat_s: float | None = None
        self.is_leader = False
        self.rebalances = 0
        self.rebalance_reason = ""
        self.leave_by_s = math.inf
        self._backoff = backoff
        self._tokens = itertools.count(1)
        self._started = 0
        self._wanted = False
        self._leave_sent = False
        self._polls_again = False
        self._retry_at_s = 0.0
        self._attempt = 0
        self._last_reported = 0

    @property
    def cooperative(self) -> bool:
        """Whether partitions are kept over a rebalance, so that events tell only what changes."""
        return True

    @property
    def wants_membership(self) -> bool:
        """Whether there is a subscription."""
        return self._wanted

    @property
    def settled(self) -> bool:
        """Whether nothing is under way: stable, or out of the group."""
        return self.event is None and self.state in (State.IDLE, State.STABLE, State.FATAL)

    @property
    def in_rebalance(self) -> bool:
        """Whether the coordinator may be in a generation that this member does not know or that can't commit yet.

        It ends without the application. Epochs of a member that the coordinator assigns can always commit (KIP-848).
        """
        return False

    def forget_coordinator(self) -> None:
        """The coordinator can't be reached or is another one."""
        self.coordinator = None

    # ---- polls

    def polled(self) -> None:
        """The application polls again: a member that was thrown out for not polling may come back.

        It does so when it has left and the application has dealt with its loss, which may be in this very poll.
        """
        self._polls_again = self.state is State.EXPELLED
        self._come_back()

    def _come_back(self) -> None:
        if self.state is State.EXPELLED and self._polls_again and self._leave_sent and self.event is None:
            self._join_again()

    @abstractmethod
    def _join_again(self) -> None:
        """Begins a new membership after the application has not polled for too long."""

    # ---- events for the application

    def started(self, event: Event) -> None:
        """The application's callback for an event begins: from now on the event counts, even if the group moves on."""
        if self.event is not None and event.token == self.event.token:
            self._started = event.token

    def _raise_event(self, kind: EventKind, partitions: frozenset[Key], *, incremental: bool | None = None) -> None:
        """Holds the machine until the application has dealt with it; nothing to deal with: no event."""
        self.event = None
        if partitions:
            whole = self.cooperative if incremental is None else incremental
            self.event = Event(next(self._tokens), kind, partitions, whole)

    def _apply(self, event: Event) -> None:
        """The event was carried out."""
        self.event = None
        if event.kind is EventKind.ASSIGN:
            self.owned = self.owned | event.partitions if event.incremental else event.partitions
        else:
            self.owned -= event.partitions

    def _supersede(self) -> None:
        """Something stronger than the pending event happened.

        If its callback has begun, the client will carry it out to the end: it counts as done, and what comes next
        (the loss of what it assigns, say) builds on it. If not, the application never hears of it.
        """
        if self.event is not None and self.event.token == self._started:
            self._apply(self.event)
        self.event = None

    # ---- moves, tries, errors

    def _move(self, state: State) -> None:
        if state is not self.state and state not in self.MOVES[self.state]:
            raise StateError(f"group membership can't go from {self.state.value} to {state.value}")
        self.state = state

    def _succeeded(self) -> None:
        self._attempt = 0
        self._retry_at_s = 0.0
        self._last_reported = 0

    def _try_again(self, now_s: float) -> None:
        self._retry_at_s = now_s + self._backoff.delay_s(self._attempt)
        self._attempt += 1

    def _report(self, error: KafkaError) -> None:
        """Keeps an error for the application; the same one again only after a success."""
        if error.code() != self._last_reported or error.code() == KafkaError._MAX_POLL_EXCEEDED:
            self._last_reported = error.code()
            self.errors.append(error)


def poll_exceeded(settings: GroupSettings, silent_s: float) -> KafkaError:
    """The application's error for exceeding `max.poll.interval.ms`."""
    limit_ms = round(settings.max_poll_interval_s * 1000)
    text = (
        f"Application maximum poll interval ({limit_ms}ms) exceeded by "
        f"{max(0, round(silent_s * 1000) - limit_ms)}ms: the consumer left group {settings.group_id!r} and "
        "its partitions go to other members. It joins again at the next poll(). Process records faster, take fewer "
        "per call, or raise max.poll.interval.ms"
    )
    return KafkaError(KafkaError._MAX_POLL_EXCEEDED, text)


def fenced_instance(settings: GroupSettings) -> KafkaError:
    """The application's error after another member took its `group.instance.id`."""
    text = (
        f"group {settings.group_id!r}: another consumer joined with group.instance.id {settings.instance_id!r}, so "
        "this one is fenced: give each instance its own id"
    )
    return KafkaError(KafkaError.FENCED_INSTANCE_ID, text, fatal=True)
