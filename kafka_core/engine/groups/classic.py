"""Membership in a classic consumer group: when to join, sync, beat, give up and leave.

Must not know connections, loops or callbacks: responses, failures and the time are handed in, steps come out.
Spec: the group membership protocol of Kafka; KIP-62 (poll interval), KIP-345 (static members), KIP-394 (member id
first), KIP-429 (cooperative), KIP-559 (protocol name and type), KIP-800 (reasons), KIP-814 (leader that only syncs),
KIP-881 (racks).

    IDLE ──subscribe──▶ PREPARING ─▶ JOINING ─▶ PLANNING ─▶ SYNCING ─▶ REVOKING ─▶ ASSIGNING ─▶ STABLE
                          ▲ │  ▲        │          (leader)    │     (cooperative)                │
                          │ ▼  └────────┴──────────────────────┴──────── rebalance ◀──────────────┘
                        LOSING  membership is void: partitions are lost, then from the start
                        LEAVING give up partitions, tell the coordinator; EXPELLED: left because nobody polled; FATAL

The application's callbacks (`Event`) hold the state until `done`; heartbeats go on meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.assignors import Assignor, GroupMember
from kafka_core.engine.groups.consumer_protocol import (
    PROTOCOL_TYPE,
    decode_share,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafka_core.engine.groups.membership import BaseMembership, fenced_instance, poll_exceeded
from kafka_core.engine.groups.racks import NO_RACKS, RackMap, Racks
from kafka_core.engine.groups.states import (
    BEATING,
    HURRIED_BEATS,
    JOIN_MARGIN_S,
    LEAVE_TIMEOUT_S,
    MOVES,
    NO_GENERATION,
    Event,
    EventKind,
    FindCoordinator,
    GroupSettings,
    PlanAssignment,
    Send,
    State,
    Step,
    Wait,
)
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.protocol import ApiMessage
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse


class Membership(BaseMembership):
    """The state machine of one member; one step at a time.

    The driver asks `next_step`, carries it out, reports, and asks again; it may ask again earlier when something
    changed (`subscribe`, `done`, …). Events for the application are in `event`.
    """

    MOVES = MOVES
    server_patterns = False

    def __init__(self, settings: GroupSettings, backoff: Backoff) -> None:
        super().__init__(settings, backoff, member_id="")
        self.protocol_name: str | None = None
        self._topics: frozenset[str] = frozenset()
        self._joined_topics: frozenset[str] = frozenset()
        self._planned_counts: dict[str, int] = {}
        self._counts: Mapping[str, int] = {}
        self._rack_map = RackMap()
        self._planned_racks: Racks = NO_RACKS
        self._racks: Racks = NO_RACKS
        self._counts_at_s = 0.0
        self._gone_since_s: dict[str, float] = {}
        self._hurried_beats = 0
        self._rejoin_reason: str | None = None
        self._next_heartbeat_s = 0.0
        self._session_until_s = math.inf
        self._assignments: dict[str, bytes] = {}
        self._members: tuple[GroupMember, ...] = ()
        self._target: frozenset[Key] = frozenset()
        self._had: tuple[frozenset[Key], int] = frozenset(), NO_GENERATION
        self._join_sent = False
        self._skip_assignment = False
        self._leaves_after_sync = False

    # ---- what the client asks for

    @property
    def cooperative(self) -> bool:
        """Whether partitions are kept over a rebalance."""
        return self.settings.cooperative

    @property
    def heartbeat_interval_s(self) -> float:
        """Time between heartbeats."""
        return self.settings.heartbeat_interval_s

    def identity(self) -> ConsumerGroupMetadata:
        """The membership as commits and transactions name it. Any thread."""
        settings = self.settings
        return ConsumerGroupMetadata(settings.group_id, self.generation, self.member_id, settings.instance_id)

    @property
    def term(self) -> ConsumerGroupMetadata:
        """The generation: partitions may be others' in the next one."""
        return self.identity()

    def subscribe(self, topics: Iterable[str], pattern: str | None = None) -> None:
        """Sets the topics to take part with; joins, or joins again if they changed."""
        del pattern  # the client has matched it
        self._topics = frozenset(topics)
        self._wanted = True
        self._leaves_after_sync = False
        self.leave_by_s = math.inf
        if self.state is State.IDLE:
            self._prepare("joining for the first time")
        elif self._topics != self._joined_topics and self.generation != NO_GENERATION:
            self._rejoin_reason = "the subscribed topics changed"

    def unsubscribe(self) -> None:
        """Gives up all partitions (an event, if there are any) and leaves.

        What a cooperative member owns while it joins can be committed only in the generation that the join leads to,
        which the coordinator may be in already: it takes part to the end of the rebalance first, for a while.
        """
        self._wanted = False
        if self.state in (State.IDLE, State.LEAVING):
            return
        self._leaves_after_sync = True
        self.leave_by_s = math.inf
        if not (self.owned and self.in_rebalance):
            self._begin_leaving()

    @property
    def in_rebalance(self) -> bool:
        """Whether the coordinator may be in a generation that this member does not know or that can't commit yet."""
        joining = self.state is State.JOINING and self._join_sent
        return joining or self.state in (State.PLANNING, State.SYNCING)

    def _leave_if_due(self, now_s: float) -> None:
        if not self._leaves_after_sync:
            return
        self.leave_by_s = min(self.leave_by_s, now_s + LEAVE_TIMEOUT_S)
        if not self.in_rebalance or now_s >= self.leave_by_s:
            self._begin_leaving()

    def _begin_leaving(self) -> None:
        self._leaves_after_sync = False
        self.leave_by_s = math.inf
        self._rejoin_reason = None
        lost = self.state in (State.LOSING, State.EXPELLED, State.FATAL)
        self._supersede()
        self._move(State.LEAVING)
        self._leave_sent = False
        self._raise_event(EventKind.LOST if lost else EventKind.REVOKE, self.owned)

    def metadata_changed(self, view: ClusterView, now_s: float) -> None:
        """Metadata is new."""
        self._racks = self._rack_map.learn(view, self._planned_counts)
        self.partition_counts_changed({name: len(topic.partitions) for name, topic in view.topics.items()}, now_s)

    def partition_counts_changed(self, counts: Mapping[str, int], now_s: float) -> None:
        """Metadata is new: the leader has the group rebalanced if topics of the group grew, appeared or went.

        Also if replicas moved to other racks, and a member of the group has a rack.

        Other members only expect that: their next heartbeats, which tell them, come sooner. A topic that is gone may
        be about to be made anew: its partitions stay where they are for topic.metadata.propagation.max.ms.
        """
        before, self._counts, self._counts_at_s = self._counts, counts, now_s
        if self.state is not State.STABLE:
            return
        if not self.is_leader:
            there = [topic for topic in self._topics if counts.get(topic)]
            if any(counts[topic] != before.get(topic, counts[topic]) for topic in there):
                self._hurried_beats, self._next_heartbeat_s = HURRIED_BEATS, -math.inf
        else:
            now = {topic: self._count(topic, planned) for topic, planned in self._planned_counts.items()}
            if now != self._planned_counts:
                self._rejoin_reason = "the number of partitions of subscribed topics changed"
            elif any(self._racks.get(key, racks) != racks for key, racks in self._planned_racks.items()):
                self._rejoin_reason = "replicas of subscribed topics moved to other racks"

    def _count(self, topic: str, planned: int) -> int:
        """A topic's partitions, as the leader should take them now."""
        count = self._counts.get(topic, 0)
        if count or not planned:
            self._gone_since_s.pop(topic, None)
            return count
        gone_s = self._counts_at_s - self._gone_since_s.setdefault(topic, self._counts_at_s)
        return planned if gone_s < self.settings.topic_patience_s else 0

    def done(self, event: Event) -> None:
        """The application's callback for an event is through and the partitions are taken or given up."""
        if self.event is None or event.token != self.event.token:
            return
        self._apply(event)
        if self.state is State.PREPARING:
            self._move(State.JOINING)
        elif self.state is State.REVOKING:
            self._rejoin_reason = "partitions were given up for other members"
            self._begin_assign()
        elif self.state is State.ASSIGNING:
            self._move(State.STABLE)
            self.partition_counts_changed(self._counts, self._counts_at_s)  # since the plan was made, perhaps
        elif self.state is State.LOSING:
            self._prepare("the membership was lost")

    # ---- steps

    def watch(self, now_s: float, last_poll_s: float) -> None:
        """To be called while a request is under way: deadlines that do not wait for it."""
        self._leave_if_due(now_s)
        active = self.state in BEATING or self.state in (State.JOINING, State.PLANNING, State.SYNCING)
        if active and now_s >= last_poll_s + self.settings.max_poll_interval_s:
            self._expel(now_s - last_poll_s)

    def outdated(self, request: ApiMessage) -> bool:
        """Whether nobody wants the answer of a request any more."""
        if isinstance(request, JoinGroupRequest):
            return self.state is not State.JOINING
        if isinstance(request, HeartbeatRequest):  # one that hangs must not keep us from leaving
            return self.state in (State.LEAVING, State.EXPELLED)
        return isinstance(request, SyncGroupRequest) and self.state is not State.SYNCING

    def next_step(self, now_s: float, last_poll_s: float) -> Step:
        """The next step.

        Args:
            last_poll_s: when the application last polled (now, while it is inside poll).
        """
        self._leave_if_due(now_s)
        self._come_back()
        if self.state in (State.IDLE, State.FATAL, State.EXPELLED, State.LOSING):
            return Wait(math.inf) if self.state is not State.EXPELLED or self._leave_sent else self._leave(now_s)
        if self.state is State.LEAVING:
            return Wait(math.inf) if self.event is not None else self._leave(now_s)
        poll_deadline_s = last_poll_s + self.settings.max_poll_interval_s
        if now_s >= poll_deadline_s:
            self._expel(now_s - last_poll_s)
            return self.next_step(now_s, last_poll_s)
        if self.state in BEATING and now_s >= self._session_until_s:
            self._report(KafkaError(KafkaError._TIMED_OUT, self._session_text(), retriable=True))
            self._lose()
            return self.next_step(now_s, last_poll_s)
        step = self._member_step(now_s)
        if isinstance(step, Wait):
            return replace(step, until_s=min(step.until_s, poll_deadline_s, self.leave_by_s))
        return step

    def _member_step(self, now_s: float) -> Step:
        if now_s < self._retry_at_s:
            return Wait(self._retry_at_s)
        if self.state is State.STABLE and self._rejoin_reason is not None:
            self._prepare(self._rejoin_reason)
        if self.event is not None and self.generation == NO_GENERATION:
            return Wait(math.inf)
        if self.coordinator is None:
            return FindCoordinator()
        if self.state is State.JOINING:
            return self._join()
        if self.state is State.PLANNING:
            return PlanAssignment(self.group_topics())
        if self.state is State.SYNCING:
            return self._sync()
        if now_s >= self._next_heartbeat_s:
            return self._heartbeat()
        return Wait(min(self._next_heartbeat_s, self._session_until_s))

    def _join(self) -> Step:
        settings = self.settings
        self._joined_topics = self._topics
        protocols = [
            JoinGroupRequestProtocol(
                name=assignor.name,
                metadata=encode_subscription(
                    self._topics,
                    *self._claims(assignor.name),
                    settings.rack,
                    assignor=assignor.name,
                    own=assignor.own,
                ),
            )
            for assignor in settings.assignors
        ]
        request = JoinGroupRequest(
            group_id=settings.group_id,
            session_timeout_ms=round(settings.session_timeout_s * 1000),
            rebalance_timeout_ms=round(settings.max_poll_interval_s * 1000),
            member_id=self.member_id,
            group_instance_id=settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=protocols,
            reason=self._rejoin_reason,
        )
        self._join_sent = True
        return Send(request, settings.max_poll_interval_s + JOIN_MARGIN_S)

    def _claims(self, assignor: str) -> tuple[frozenset[Key], int]:
        """The partitions this member would like to keep, and since which generation: an eager one of a sticky group has
        given them up, and names those it got last (KIP-54)."""
        return self._had if assignor == "sticky" else (self.owned, self.generation)

    def _sync(self) -> Step:
        request = SyncGroupRequest(
            group_id=self.settings.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=self.protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=data)
                for member_id, data in self._assignments.items()
            ],
        )
        return Send(request, self.settings.max_poll_interval_s + JOIN_MARGIN_S)

    def _heartbeat(self) -> Step:
        request = HeartbeatRequest(
            group_id=self.settings.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.settings.instance_id,
        )
        return Send(request, min(self.settings.request_timeout_s, self.settings.session_timeout_s))

    def _leave(self, now_s: float) -> Step:
        """The LeaveGroup; a static member that closes stays a member until its session ends (KIP-345)."""
        static = self.settings.instance_id is not None and self.state is State.LEAVING
        if self.member_id and not static and not self._leave_sent and self.coordinator is not None:
            self._leave_sent = True
            expelled = self.state is State.EXPELLED
            reason = "consumer poll timeout has expired" if expelled else "the consumer unsubscribed or is being closed"
            members = [
                MemberIdentity(member_id=self.member_id, group_instance_id=self.settings.instance_id, reason=reason)
            ]
            request = LeaveGroupRequest(group_id=self.settings.group_id, members=members)
            return Send(request, min(LEAVE_TIMEOUT_S, self.settings.request_timeout_s), apart=self._join_sent)
        self._left(now_s)
        return Wait(math.inf)

    def _left(self, now_s: float) -> None:
        self._leave_sent = True
        self._join_sent = False
        self._forget_generation(keep_member_id=False)
        if self.state is State.LEAVING:
            self._move(State.IDLE)
            if self._wanted:
                self._prepare("subscribed again")

    # ---- reports of the driver

    def coordinator_found(self, node_id: int) -> None:
        """The answer to `FindCoordinator`."""
        self.coordinator = node_id
        self._succeeded()

    def failed(self, request: ApiMessage | None, error: KafkaException, now_s: float) -> None:
        """A request, or the look-up of the coordinator (None), got no answer."""
        if isinstance(request, LeaveGroupRequest):
            self._left(now_s)
            return
        if isinstance(request, JoinGroupRequest):
            self._join_sent = False
        self.coordinator = None
        self._try_again(now_s)
        if not classify(error).tries_again:
            self._report(error.error)

    def plan(self, view: ClusterView, now_s: float) -> None:
        """The partitions of all topics of the group are known: makes the assignment."""
        if self.state is not State.PLANNING:
            return
        self._planned_counts = {topic: view.partition_count(topic) or 0 for topic in self.group_topics()}
        self._counts = {**self._counts, **self._planned_counts}
        self._racks = self._rack_map.learn(view, self._planned_counts)
        self._planned_racks = self._racks if any(member.rack for member in self._members) else NO_RACKS
        if not self._skip_assignment:
            assignor = self._assignor()
            assert assignor is not None, "_lead looked for it"
            try:
                plan = assignor.assignments(self._members, self._planned_counts, self._planned_racks)
                self._assignments = {member_id: encode_assignment(*share) for member_id, share in plan.items()}
            except Exception as error:  # an application's own assignor may raise anything
                text = f"group {self.settings.group_id!r}: the assignor {assignor.name!r} failed: {error!r}"
                self._report(KafkaError(KafkaError._FAIL, text))
                self._try_again(now_s)
                self._void(KafkaError.ILLEGAL_GENERATION)  # a member it stays: it joins again, with a pause
                return
        self._move(State.SYNCING)

    def _assignor(self) -> Assignor | None:
        return next((item for item in self.settings.assignors if item.name == self.protocol_name), None)

    def received(self, request: ApiMessage, response: ApiMessage, now_s: float) -> None:
        """The answer to a `Send`; one that came too late for its state is passed over."""
        if isinstance(response, JoinGroupResponse):
            self._join_sent = False
            if self.state is State.JOINING:
                self._joined(response, now_s)
        elif isinstance(response, SyncGroupResponse):
            if self.state is State.SYNCING:
                self._synced(response, now_s)
        elif isinstance(response, HeartbeatResponse):
            named = isinstance(request, HeartbeatRequest) and (request.member_id, request.generation_id)
            if named == (self.member_id, self.generation):
                self._beaten(response.error_code, now_s)
        elif isinstance(response, LeaveGroupResponse):
            self._left(now_s)

    def _joined(self, response: JoinGroupResponse, now_s: float) -> None:
        if response.error_code == KafkaError.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            return
        if response.error_code:
            self._group_error(response.error_code, "join", now_s)
            return
        self._succeeded()
        self.member_id = response.member_id
        self.generation = response.generation_id
        self.protocol_name = response.protocol_name
        self._rejoin_reason = None if self._topics == self._joined_topics else "the subscribed topics changed"
        self._alive(now_s)
        self.is_leader = response.leader == response.member_id
        self._assignments = {}
        if not self.is_leader:
            self._planned_counts, self._planned_racks = {}, NO_RACKS
            self._move(State.SYNCING)
        else:
            self._lead(response, now_s)

    def _lead(self, response: JoinGroupResponse, now_s: float) -> None:
        name = response.protocol_name or ""
        if all(assignor.name != name for assignor in self.settings.assignors):
            self._fail(f"the group chose the assignor {name!r}, which this consumer does not have", now_s=now_s)
            return
        try:
            self._members = tuple(
                decode_subscription(item.metadata, item.member_id, item.group_instance_id, assignor=name)
                for item in response.members
            )
        except KafkaException as error:
            self._fail(f"another member's subscription can't be read: {error}", now_s=now_s)
            return
        self._skip_assignment = response.skip_assignment
        self._move(State.PLANNING)

    def group_topics(self) -> frozenset[str]:
        """The topics of all members, as far as the leader of the group knows them."""
        return frozenset().union(*(member.topics for member in self._members))

    def _synced(self, response: SyncGroupResponse, now_s: float) -> None:
        if response.error_code:
            self._group_error(response.error_code, "sync", now_s)
            return
        try:
            assigned, user_data = decode_share(response.assignment)
        except KafkaException as error:
            self._fail(f"the assignment can't be read: {error}", now_s=now_s)
            return
        assignor = self._assignor()
        if assignor is not None and assignor.own is not None:
            assignor.own.assigned(assigned, user_data, self.generation)
        self._succeeded()
        self._alive(now_s)
        self.rebalances += 1
        if self._leaves_after_sync:
            self._begin_leaving()
            return
        self._target = assigned
        self._had = assigned, self.generation
        given_up = self.owned - assigned
        if given_up and self.cooperative:
            self._move(State.REVOKING)
            self._raise_event(EventKind.REVOKE, given_up, incremental=True)
        else:
            self._begin_assign()

    def _begin_assign(self) -> None:
        self._move(State.ASSIGNING)
        added = self._target - self.owned if self.cooperative else self._target
        self.event = Event(next(self._tokens), EventKind.ASSIGN, added, self.cooperative)

    def _beaten(self, code: int, now_s: float) -> None:
        if code == 0:
            self._succeeded()
            self._alive(now_s)
        elif code == KafkaError.REBALANCE_IN_PROGRESS:
            self._alive(now_s)
            if self.state is State.STABLE:
                self._prepare("the group is rebalancing")
            elif self.state in (State.REVOKING, State.ASSIGNING):
                self._rejoin_reason = "the group is rebalancing"
        else:
            self._group_error(code, "heartbeat", now_s)

    # ---- errors

    def commit_rejected(self, code: int, member_id: str, generation: int) -> None:
        """A commit told that the membership that it named is void, or that a rebalance has begun."""
        if generation == NO_GENERATION or (member_id, generation) != (self.member_id, self.generation):
            return  # it was about an earlier one
        if self.state not in BEATING:
            return
        if code == KafkaError.FENCED_INSTANCE_ID:
            self._fence()
        elif code in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION):
            self._void(code)
        elif code == KafkaError.REBALANCE_IN_PROGRESS:
            self._rejoin_reason = self._rejoin_reason or "the group is rebalancing"

    def _group_error(self, code: int, doing: str, now_s: float) -> None:
        action = classify(code)
        if code == KafkaError.FENCED_INSTANCE_ID:
            self._fence()
        elif code in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION):
            self._void(code)
        elif code == KafkaError.REBALANCE_IN_PROGRESS:
            if self.state is State.JOINING:
                self._try_again(now_s)
            else:
                self._prepare("the group is rebalancing")
        elif action is Action.FIND_COORDINATOR:
            self.coordinator = None
            self._try_again(now_s)
        elif action in (Action.RETRY, Action.REFRESH_AND_RETRY):
            self._try_again(now_s)
        else:
            error = KafkaError.from_code(code)
            self._fail(f"{doing} failed: {error.str()}", now_s=now_s, code=error.code())

    def _fail(self, reason: str, *, now_s: float, code: int = KafkaError._FAIL) -> None:
        """Something that waiting may mend (rights, other members' settings): say so once, then try now and then."""
        self._report(KafkaError(code, f"group {self.settings.group_id!r}: {reason}"))
        self._try_again(now_s)
        if self.state in (State.SYNCING, State.PLANNING):
            self._void(KafkaError.UNKNOWN_MEMBER_ID)

    def _void(self, code: int) -> None:
        """The coordinator no longer knows this member or generation: its partitions are others' by now."""
        self._forget_generation(keep_member_id=code == KafkaError.ILLEGAL_GENERATION)
        if self.state is State.JOINING and not self.owned:
            return
        self._lose()

    def _lose(self) -> None:
        self._supersede()
        self._forget_generation(keep_member_id=True)
        self._rejoin_reason = "the membership was lost"
        if self.owned:
            self._move(State.LOSING)
            self._raise_event(EventKind.LOST, self.owned)
        else:
            self._prepare("the membership was lost")

    def _fence(self) -> None:
        self._supersede()
        self._forget_generation(keep_member_id=False)
        self._move(State.FATAL)
        self._report(fenced_instance(self.settings))
        self._raise_event(EventKind.LOST, self.owned)

    def _expel(self, silent_s: float) -> None:
        self._report(poll_exceeded(self.settings, silent_s))
        self._supersede()
        self._forget_generation(keep_member_id=True)
        self._move(State.EXPELLED)
        self._leave_sent = self._polls_again = False
        self._rejoin_reason = None
        self._raise_event(EventKind.LOST, self.owned)

    def _session_text(self) -> str:
        return (
            f"group {self.settings.group_id!r}: no heartbeat got through for session.timeout.ms "
            f"({round(self.settings.session_timeout_s * 1000)} ms), so the coordinator has given the partitions away"
        )

    # ---- small parts

    def _join_again(self) -> None:
        self._prepare("polling again after max.poll.interval.ms")

    def _prepare(self, reason: str) -> None:
        """Before joining: an eager member gives everything up, a cooperative one what it is no longer subscribed to."""
        self._move(State.PREPARING)
        self._rejoin_reason = self.rebalance_reason = reason
        given_up = self.owned
        if self.cooperative:
            given_up = frozenset(key for key in self.owned if key[0] not in self._topics)
        self._raise_event(EventKind.REVOKE, given_up)
        if self.event is None:
            self._move(State.JOINING)

    def _alive(self, now_s: float) -> None:
        self.last_heartbeat_s = now_s
        interval_s = self.settings.heartbeat_interval_s
        if self._hurried_beats:
            self._hurried_beats -= 1
            interval_s /= HURRIED_BEATS
        self._next_heartbeat_s = now_s + interval_s
        self._session_until_s = now_s + self.settings.session_timeout_s

    def _forget_generation(self, *, keep_member_id: bool) -> None:
        self.generation = NO_GENERATION
        self._session_until_s = math.inf
        self.is_leader = False
        if not keep_member_id:
            self.member_id = ""
