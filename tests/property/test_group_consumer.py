"""Members of `group.protocol=consumer` and the embedded broker's coordinator, talking to each other in memory.

Whatever the order of joins, losses, callbacks, deaths and time: no partition is read by two members that the
coordinator counts on, no impossible move is made, and left alone the group shares everything."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafka_core.broker.configs import BrokerConfig, GroupConfig
from kafka_core.broker.groups.classic_groups import Group
from kafka_core.broker.groups.consumer_coordinator import ConsumerGroups, ConsumerGroupSettings, HeartbeatCall
from kafka_core.broker.groups.consumer_groups import ConsumerGroupState, MemberState
from kafka_core.broker.parking import Timers
from kafka_core.clock import ManualClock
from kafka_core.engine.groups.consumer import ConsumerMembership
from kafka_core.engine.groups.states import (
    Event,
    EventKind,
    FindCoordinator,
    GroupSettings,
    LookUpTopics,
    Send,
    State,
    Wait,
)
from kafka_core.engine.metadata import ClusterView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import NetworkError
from kafka_core.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

SESSION_S, BEAT_S, POLL_S = 10.0, 3.0, 30.0
PATTERNS = st.sampled_from([None, "u"])


@dataclass
class Client:
    """A member with what its application has at hand."""

    membership: ConsumerMembership
    dead: bool = False
    reads: set[tuple[str, int]] = field(default_factory=set)
    running: Event | None = None
    in_flight: ConsumerGroupHeartbeatRequest | None = None
    answer: ConsumerGroupHeartbeatResponse | None = None
    last_poll_s: float = 0.0


class ConsumerProtocolGroup(RuleBasedStateMachine):
    @initialize(size=st.integers(1, 3), assignor=st.sampled_from(["uniform,range", "range,uniform"]))
    def begin(self, size: int, assignor: str) -> None:
        self.clock = ManualClock()
        self.topics = {"t": (UUID(int=1), 5), "u": (UUID(int=2), 2)}
        self.made = 0
        settings_ = ConsumerGroupSettings(10, assignor.split(","), upgrades=True, downgrades=True)
        times = {
            "group.consumer.session.timeout.ms": str(round(SESSION_S * 1000)),
            "group.consumer.heartbeat.interval.ms": str(round(BEAT_S * 1000)),
        }
        config = GroupConfig(BrokerConfig(times))
        self.timers = Timers(self.clock)
        classic: dict[str, Group] = {}
        self.coordinator = ConsumerGroups(self.timers, settings_, lambda _: config, lambda: self.topics, classic)
        self.clients: list[Client] = []
        for _ in range(size):
            self.somebody_comes(None)

    def now_s(self) -> float:
        return self.clock.monotonic()

    # ---- what may happen

    @precondition(lambda self: len(self.clients) < 5)
    @rule(instance=st.sampled_from([None, None, "i"]))
    def somebody_comes(self, instance: str | None) -> None:
        self.made += 1
        shape = GroupSettings("g", instance_id=instance, max_poll_interval_s=POLL_S)
        backoff = Backoff(100, 1000, random.Random(self.made))
        client = Client(ConsumerMembership(shape, backoff, f"m{self.made}"), last_poll_s=self.now_s())
        client.membership.metadata_changed(self.view(), self.now_s())
        client.membership.subscribe({"t"})
        self.clients.append(client)

    @rule(pick=st.integers(0, 9))
    def work(self, pick: int) -> None:
        self.step(self.clients[pick % len(self.clients)])

    @rule(rounds=st.integers(1, 12))
    def everybody_works(self, rounds: int) -> None:
        self.rounds(rounds)

    @rule(rounds=st.integers(4, 12), pick=st.integers(0, 9))
    def everybody_works_while_one_is_busy(self, rounds: int, pick: int) -> None:
        """One application polls and its heartbeats go on, but its callback does not come to its end."""
        self.rounds(rounds, busy=self.clients[pick % len(self.clients)])

    @rule(pick=st.integers(0, 9))
    def callback_begins(self, pick: int) -> None:
        self.begin_callback(self.clients[pick % len(self.clients)])

    @rule(pick=st.integers(0, 9))
    def callback_ends(self, pick: int) -> None:
        self.end_callback(self.clients[pick % len(self.clients)])

    @rule(seconds=st.sampled_from([0.5, 3.0, 11.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.pass_time(seconds)

    @rule(pick=st.integers(0, 9), heard=st.booleans())
    def a_heartbeat_is_lost(self, pick: int, heard: bool) -> None:
        """The request on its way out, or only its answer."""
        client = self.clients[pick % len(self.clients)]
        if client.in_flight is not None:
            if heard:
                self.hear(client)
            request, client.in_flight, client.answer = client.in_flight, None, None
            client.membership.failed(request, NetworkError("lost"), self.now_s())

    @rule(pick=st.integers(0, 9))
    def dies(self, pick: int) -> None:
        client = self.clients[pick % len(self.clients)]
        client.dead = sum(not other.dead for other in self.clients) > 1

    @rule(
        pick=st.integers(0, 9), topics=st.sampled_from([{"t"}, {"u"}, {"t", "u"}]), pattern=st.sampled_from([None, "u"])
    )
    def subscribes_anew(self, pick: int, topics: set[str], pattern: str | None) -> None:
        self.clients[pick % len(self.clients)].membership.subscribe(topics, pattern)

    @rule(pick=st.integers(0, 9))
    def unsubscribes(self, pick: int) -> None:
        self.clients[pick % len(self.clients)].membership.unsubscribe()

    @rule()
    def a_topic_grows(self) -> None:
        topic_id, count = self.topics["u"]
        self.topics["u"] = (topic_id, min(count + 1, 6))

    # ---- carrying it out

    def view(self) -> ClusterView:
        return ClusterView(topics={name: TopicView(name, item[0], {}) for name, item in self.topics.items()})

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()

    def step(self, client: Client) -> None:
        if client.dead:
            return
        membership = client.membership
        if client.in_flight is not None:
            membership.watch(self.now_s(), client.last_poll_s)
            if membership.outdated(client.in_flight):
                client.in_flight, client.answer = None, None
            elif client.answer is None:
                self.hear(client)
            else:
                request, answer = client.in_flight, client.answer
                client.in_flight, client.answer = None, None
                membership.received(request, answer, self.now_s())
            return
        step = membership.next_step(self.now_s(), client.last_poll_s)
        if isinstance(step, FindCoordinator):
            membership.coordinator_found(1)
        elif isinstance(step, LookUpTopics):
            membership.metadata_changed(self.view(), self.now_s())
        elif isinstance(step, Send):
            assert isinstance(step.request, ConsumerGroupHeartbeatRequest)
            client.in_flight = step.request
        else:
            assert isinstance(step, Wait)
            assert step.until_s > self.now_s() or math.isinf(step.until_s)

    def hear(self, client: Client) -> None:
        """The coordinator takes the request that is on its way."""
        request = client.in_flight
        assert request is not None
        names, owned = request.subscribed_topic_names, request.topic_partitions
        call = HeartbeatCall(
            request.group_id,
            request.member_id,
            request.member_epoch,
            request.instance_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=None if names is None else frozenset(names),
            regex=request.subscribed_topic_regex,
            owned=None if owned is None else frozenset((t.topic_id, n) for t in owned for n in t.partitions),
        )
        result = self.coordinator.heartbeat(call)
        given = result.assigned
        client.answer = ConsumerGroupHeartbeatResponse(
            error_code=result.code,
            member_id=result.member_id,
            member_epoch=result.epoch,
            heartbeat_interval_ms=result.heartbeat_interval_ms,
            assignment=None if given is None else Assignment([TopicPartitions(key[0], [key[1]]) for key in given]),
        )

    def begin_callback(self, client: Client) -> None:
        event = client.membership.event
        if event is not None and client.running is None and not client.dead:
            client.membership.started(event)
            client.running = event
            if event.kind is not EventKind.ASSIGN:
                client.reads -= event.partitions

    def end_callback(self, client: Client) -> None:
        if client.dead:
            return
        event, client.running = client.running, None
        if event is not None:
            if event.kind is EventKind.ASSIGN:
                assert not client.reads & event.partitions
                client.reads |= event.partitions
            client.membership.done(event)

    # ---- what must always hold

    @invariant()
    def nobody_shares_a_partition(self) -> None:
        """Members that the coordinator counts on, and that know it, never read the same partition."""
        group = self.coordinator.get("g") if hasattr(self, "clients") else None
        if group is None:
            return
        seen: set[tuple[str, int]] = set()
        for client in self.clients:
            if client.membership.member_id not in group.members or client.membership.generation <= 0:
                continue
            if client.membership.event is not None and client.membership.event.kind is EventKind.LOST:
                continue
            assert not seen & client.reads, "two members read the same partition"
            seen |= client.reads

    @invariant()
    def the_coordinator_gives_nothing_twice(self) -> None:
        group = self.coordinator.get("g") if hasattr(self, "clients") else None
        given = (
            [key for member in group.members.values() for key in (*member.assigned, *member.revoking)] if group else []
        )
        assert len(given) == len(set(given))

    @invariant()
    def what_is_owned_is_what_is_read(self) -> None:
        for client in getattr(self, "clients", ()):
            if client.running is None and not client.dead:
                assert client.reads == client.membership.owned

    def rounds(self, count: int, busy: Client | None = None) -> None:
        for _ in range(count):
            self.pass_time(0.5)
            for client in self.clients:
                if client.dead:
                    continue
                client.last_poll_s = self.now_s()
                client.membership.polled()
                if client is not busy:
                    self.begin_callback(client)
                    self.end_callback(client)
                for _ in range(4):
                    self.step(client)
                self.nobody_shares_a_partition()
                self.the_coordinator_gives_nothing_twice()

    def teardown(self) -> None:
        """Left alone, with everybody polling, all who want to be members share everything."""
        if not hasattr(self, "clients"):
            return
        self.rounds(200)
        living = [client for client in self.clients if not client.dead]
        wanting = [client for client in living if client.membership.wants_membership]
        waiting = {client.membership.settings.instance_id for client in wanting if client.membership.generation <= 0}
        assert waiting <= {"i"}, "only who shares its instance id with another member may have to wait"
        inside = [client for client in wanting if client.membership.generation > 0]
        assert {client.membership.state for client in inside} <= {State.STABLE}
        assert all(client.membership.state is State.IDLE for client in living if client not in wanting)
        group = self.coordinator.get("g")
        if group is None:
            assert not wanting
            return
        assert set(group.members) == {client.membership.member_id for client in inside}
        if not inside:
            assert group.state is ConsumerGroupState.EMPTY
            return
        assert group.state is ConsumerGroupState.STABLE
        assert {member.state for member in group.members.values()} == {MemberState.STABLE}
        wanted = {name for client in inside for name in client.membership._names}
        wanted |= {client.membership._pattern for client in inside if client.membership._pattern}
        everything = {(name, number) for name in wanted for number in range(self.topics[name][1])}
        assert sorted(key for client in inside for key in client.reads) == sorted(everything)


TestConsumerProtocolGroup = ConsumerProtocolGroup.TestCase
TestConsumerProtocolGroup.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
