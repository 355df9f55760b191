"""Memberships against a model of the coordinator: whatever the order of polls, losses and time, no partition is read
by two members of a group at once, no impossible move is made, and left alone the group becomes stable and complete."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from itertools import cycle

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafka_core.engine.groups.assignors import choose
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.groups.states import (
    Event,
    EventKind,
    FindCoordinator,
    GroupSettings,
    PlanAssignment,
    Send,
    State,
    Wait,
)
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, NetworkError
from kafka_core.protocol import ApiMessage
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

SESSION_S, REBALANCE_S = 10.0, 30.0
COUNTS = {"t": 5, "u": 2}
RACKS = ("x", "y", None)
VIEW = ClusterView(
    {node: BrokerAddress(node, "b", 9092, rack) for node, rack in enumerate(RACKS)},
    {
        topic: TopicView(topic, partitions={n: PartitionView(n, n % 3, replicas=(n % 3, n % 2)) for n in range(count)})
        for topic, count in COUNTS.items()
    },
)
"""Two of the brokers have racks, as have some of the members."""


@dataclass
class Seat:
    """A member as the coordinator knows it."""

    joined: JoinGroupRequest | None = None
    waiting: bool = False
    wants_sync: bool = False
    beat_s: float = 0.0
    assignment: bytes | None = None


@dataclass
class Coordinator:
    """The broker's half of the classic protocol, as far as members can tell."""

    seats: dict[str, Seat] = field(default_factory=dict)
    generation: int = 0
    phase: str = "empty"  # empty, preparing, completing, stable
    leader: str = ""
    since_s: float = 0.0
    ids: int = 0
    pending: set[str] = field(default_factory=set)

    def rebalance(self, now_s: float) -> None:
        if self.phase != "preparing":
            self.phase, self.since_s = "preparing", now_s
            for seat in self.seats.values():
                seat.joined, seat.assignment, seat.wants_sync = None, None, False

    def remove(self, member_id: str, now_s: float) -> None:
        if self.seats.pop(member_id, None) is not None:
            self.rebalance(now_s)

    def expire(self, now_s: float) -> None:
        for member_id, seat in list(self.seats.items()):
            if not seat.waiting and not seat.wants_sync and now_s - seat.beat_s > SESSION_S:
                self.remove(member_id, now_s)
        if self.phase == "preparing" and now_s - self.since_s > REBALANCE_S:
            for member_id, seat in list(self.seats.items()):
                if not seat.waiting:
                    del self.seats[member_id]

    def request(self, request: ApiMessage, now_s: float) -> ApiMessage | None:
        """The answer, or None while the request has to wait."""
        if isinstance(request, JoinGroupRequest):
            return self.join(request, now_s)
        if isinstance(request, LeaveGroupRequest):
            self.remove(request.members[0].member_id, now_s)
            return LeaveGroupResponse()
        assert isinstance(request, (HeartbeatRequest, SyncGroupRequest))
        response = SyncGroupResponse() if isinstance(request, SyncGroupRequest) else HeartbeatResponse()
        seat = self.seats.get(request.member_id)
        if seat is None:
            response.error_code = KafkaError.UNKNOWN_MEMBER_ID
        elif request.generation_id != self.generation:
            response.error_code = KafkaError.ILLEGAL_GENERATION
        elif self.phase == "preparing":
            seat.beat_s = now_s
            response.error_code = KafkaError.REBALANCE_IN_PROGRESS
        else:
            seat.beat_s = now_s
            if isinstance(request, SyncGroupRequest):
                return self.sync(request, seat)
        return response

    def join(self, request: JoinGroupRequest, now_s: float) -> ApiMessage | None:
        if not request.member_id:
            self.ids += 1
            self.pending.add(f"member-{self.ids}")
            return JoinGroupResponse(error_code=KafkaError.MEMBER_ID_REQUIRED, member_id=f"member-{self.ids}")
        if request.member_id not in self.seats:
            if request.member_id not in self.pending:
                return JoinGroupResponse(error_code=KafkaError.UNKNOWN_MEMBER_ID)
            self.pending.remove(request.member_id)
            self.seats[request.member_id] = Seat(beat_s=now_s)
            self.rebalance(now_s)
        seat = self.seats[request.member_id]
        if self.phase in ("stable", "completing"):
            self.rebalance(now_s)
        seat.joined, seat.waiting, seat.beat_s = request, True, now_s
        return None

    def sync(self, request: SyncGroupRequest, seat: Seat) -> ApiMessage | None:
        if request.member_id == self.leader and self.phase == "completing":
            given = {item.member_id: item.assignment for item in request.assignments}
            for member_id, other in self.seats.items():
                other.assignment = given.get(member_id, b"")
            self.phase = "stable"
        if self.phase == "stable":
            return SyncGroupResponse(assignment=seat.assignment or b"")
        seat.wants_sync = True
        return None

    def join_is_complete(self) -> bool:
        return self.phase == "preparing" and bool(self.seats) and all(seat.waiting for seat in self.seats.values())

    def complete_join(self, now_s: float) -> dict[str, JoinGroupResponse]:
        self.generation += 1
        self.phase = "completing"
        self.leader = min(self.seats)
        members = []
        for member_id, seat in self.seats.items():
            assert seat.joined is not None
            metadata = seat.joined.protocols[0].metadata
            members.append(JoinGroupResponseMember(member_id=member_id, metadata=metadata))
        answers = {}
        for member_id, seat in self.seats.items():
            assert seat.joined is not None
            seat.waiting, seat.beat_s = False, now_s
            answers[member_id] = JoinGroupResponse(
                generation_id=self.generation,
                protocol_name=seat.joined.protocols[0].name,
                leader=self.leader,
                member_id=member_id,
                members=members if member_id == self.leader else [],
            )
        return answers


@dataclass
class Client:
    """A member with what its application has at hand."""

    membership: Membership
    reads: set[tuple[str, int]] = field(default_factory=set)
    pending: Send | None = None
    running: Event | None = None
    last_poll_s: float = 0.0


class Group(RuleBasedStateMachine):
    strategy = "range"

    @initialize(size=st.integers(1, 3))
    def begin(self, size: int) -> None:
        self.now_s = 100.0
        self.coordinator = Coordinator()
        self.racks = cycle(RACKS)
        self.clients = [self.new_client() for _ in range(size)]

    def new_client(self) -> Client:
        group_settings = GroupSettings(
            "g",
            choose([self.strategy]),
            session_timeout_s=SESSION_S,
            max_poll_interval_s=REBALANCE_S,
            rack=next(self.racks),
        )
        client = Client(Membership(group_settings, Backoff(100, 1000, random.Random(1))), last_poll_s=self.now_s)
        client.membership.subscribe({"t"})
        return client

    # ---- what may happen

    @rule(pick=st.integers(0, 9))
    def work(self, pick: int) -> None:
        """A member takes its next step."""
        self.step(self.clients[pick % len(self.clients)])

    @rule(rounds=st.integers(1, 12))
    def everybody_works(self, rounds: int) -> None:
        """Some rounds without trouble, so that runs get far."""
        self.rounds(rounds)

    @rule(pick=st.integers(0, 9))
    def callback_begins(self, pick: int) -> None:
        self.begin_callback(self.clients[pick % len(self.clients)])

    @rule(pick=st.integers(0, 9))
    def callback_ends(self, pick: int) -> None:
        self.end_callback(self.clients[pick % len(self.clients)])

    @rule(seconds=st.sampled_from([0.5, 3.0, 11.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds
        self.coordinator.expire(self.now_s)

    @rule(pick=st.integers(0, 9))
    def polls(self, pick: int) -> None:
        self.poll(self.clients[pick % len(self.clients)])

    @rule(pick=st.integers(0, 9))
    def connection_breaks(self, pick: int) -> None:
        client = self.clients[pick % len(self.clients)]
        if client.pending is not None:
            request, client.pending = client.pending.request, None
            self.forget_waiting(client)
            client.membership.failed(request, NetworkError("lost"), self.now_s)

    @rule(pick=st.integers(0, 9), topics=st.sampled_from([{"t"}, {"u"}, {"t", "u"}]))
    def subscribes_anew(self, pick: int, topics: set[str]) -> None:
        self.clients[pick % len(self.clients)].membership.subscribe(topics)

    @rule(pick=st.integers(0, 9))
    def unsubscribes(self, pick: int) -> None:
        self.clients[pick % len(self.clients)].membership.unsubscribe()

    @precondition(lambda self: len(self.clients) < 4)
    @rule()
    def somebody_comes(self) -> None:
        self.clients.append(self.new_client())

    # ---- carrying it out

    def step(self, client: Client) -> None:
        membership = client.membership
        if client.pending is not None:
            membership.watch(self.now_s, client.last_poll_s)
            if membership.outdated(client.pending.request):
                client.pending = None
                self.forget_waiting(client)
            else:
                self.answer(client)
            return
        action = membership.next_step(self.now_s, client.last_poll_s)
        if isinstance(action, FindCoordinator):
            membership.coordinator_found(1)
        elif isinstance(action, PlanAssignment):
            membership.plan(VIEW, self.now_s)
        elif isinstance(action, Send):
            client.pending = action
            self.deliver(client, self.coordinator.request(action.request, self.now_s))
        else:
            assert isinstance(action, Wait)
            assert action.until_s > self.now_s or math.isinf(action.until_s)

    def forget_waiting(self, client: Client) -> None:
        """The coordinator may not answer to a connection that is gone."""
        seat = self.coordinator.seats.get(client.membership.member_id)
        if seat is not None:
            seat.waiting = seat.wants_sync = False

    def answer(self, client: Client) -> None:
        """Gives a waiting request its answer, if the coordinator has come so far."""
        if self.coordinator.join_is_complete():
            answers = self.coordinator.complete_join(self.now_s)
            for other in self.clients:
                member_id = other.membership.member_id
                if other.pending is not None and member_id in answers:
                    self.deliver(other, answers[member_id])
            return
        assert client.pending is not None
        if isinstance(client.pending.request, JoinGroupRequest):
            seat = self.coordinator.seats.get(client.membership.member_id)
            if seat is None or not seat.waiting:
                self.deliver(client, JoinGroupResponse(error_code=KafkaError.UNKNOWN_MEMBER_ID))
        else:
            self.deliver(client, self.coordinator.request(client.pending.request, self.now_s))

    def deliver(self, client: Client, response: ApiMessage | None) -> None:
        if response is not None and client.pending is not None:
            request, client.pending = client.pending.request, None
            client.membership.received(request, response, self.now_s)

    def begin_callback(self, client: Client) -> None:
        event = client.membership.event
        if event is not None and client.running is None:
            client.membership.started(event)
            client.running = event
            if event.kind is not EventKind.ASSIGN:
                client.reads -= event.partitions

    def end_callback(self, client: Client) -> None:
        event, client.running = client.running, None
        if event is not None:
            if event.kind is EventKind.ASSIGN:
                assert event.incremental or not client.reads
                client.reads |= event.partitions
            client.membership.done(event)

    def poll(self, client: Client) -> None:
        client.last_poll_s = self.now_s
        client.membership.polled()

    # ---- what must always hold

    @invariant()
    def nobody_shares_a_partition(self) -> None:
        """Members that the coordinator counts on never read the same partition."""
        seen: set[tuple[str, int]] = set()
        for client in getattr(self, "clients", ()):
            membership = client.membership
            seat = self.coordinator.seats.get(membership.member_id)
            if seat is None or membership.generation != self.coordinator.generation:
                continue
            if membership.event is not None and membership.event.kind is EventKind.LOST:
                continue
            assert not seen & client.reads, "two members of one generation read the same partition"
            seen |= client.reads

    @invariant()
    def what_is_owned_is_what_is_read(self) -> None:
        for client in getattr(self, "clients", ()):
            if client.running is None:
                expected = client.membership.owned
                assert client.reads == expected, f"{client.membership.state}: reads {client.reads}, owns {expected}"

    def rounds(self, count: int) -> None:
        for _ in range(count):
            self.now_s += 0.5
            self.coordinator.expire(self.now_s)
            for client in self.clients:
                self.poll(client)
                self.begin_callback(client)
                self.end_callback(client)
                self.step(client)
                self.step(client)
                self.nobody_shares_a_partition()
                self.what_is_owned_is_what_is_read()

    def teardown(self) -> None:
        """Left alone, with everybody polling, all who want to be members share everything."""
        if not hasattr(self, "clients"):
            return
        self.rounds(300)
        wanting = [client for client in self.clients if client.membership.wants_membership]
        for client in self.clients:
            expected = State.STABLE if client in wanting else State.IDLE
            assert client.membership.state is expected, f"{client.membership.state} instead of {expected}"
        topics = set().union(*(client.membership._topics for client in wanting))
        everything = {(topic, number) for topic in topics for number in range(COUNTS[topic])}
        given = [key for client in wanting for key in client.reads]
        assert sorted(given) == sorted(everything)
        if wanting and len({frozenset(client.membership._topics) for client in wanting}) == 1 and len(topics) == 1:
            sizes = [len(client.reads) for client in wanting]
            assert max(sizes) - min(sizes) <= 1, f"unfair: {sizes}"


class CooperativeGroup(Group):
    strategy = "cooperative-sticky"


TestEagerGroup = Group.TestCase
TestCooperativeGroup = CooperativeGroup.TestCase
TestEagerGroup.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
TestCooperativeGroup.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
