"""kafka_core.aio.consuming.group: the driver carries out the membership's steps and never waits for a dead request."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core.aio.consuming.group import GroupDriver
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.clock import ManualClock
from kafka_core.engine.groups.assignors import choose
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.groups.consumer_protocol import decode_assignment, encode_assignment
from kafka_core.engine.groups.states import Event, EventKind, GroupSettings, State
from kafka_core.engine.retry import Backoff
from kafka_core.errors import AuthError, KafkaError, KafkaException, NetworkError
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.faults.loop import on_loop, until
from tests.unit.kafka_core.aio.fake_brokers import FakeBrokers

T0, T1 = ("t", 0), ("t", 1)
MAX_POLL_S = 300.0


class Rig:
    """A driver with a membership, a coordinator that says yes, and an application whose callbacks are quick."""

    def __init__(self, *, leads: bool = False) -> None:
        self.clock = ManualClock()
        self.brokers = FakeBrokers()
        self.polls = Polls(self.clock.monotonic())
        self.changed, self.progress = asyncio.Event(), asyncio.Event()
        backoff = Backoff(1, 2, random.Random(1))
        self.member = Membership(GroupSettings("g", choose(["range"])), backoff)
        client: Any = self.brokers
        rpc = ConsumerRpc(client, self.clock, backoff, "g", 5.0)
        self.events: list[Event] = []
        self.errors: list[KafkaError] = []
        self.quick = True
        self.driver = GroupDriver(self.member, client, rpc, self.clock, self, self.polls, self.changed, self.progress)
        self.brokers.handlers = {
            JoinGroupRequest: lambda _, request: self.joined(request, leads=leads),
            SyncGroupRequest: lambda _, request: self.synced(request),
            HeartbeatRequest: lambda *_: HeartbeatResponse(),
            LeaveGroupRequest: lambda *_: LeaveGroupResponse(),
        }

    def poke(self) -> None:
        self.driver.start()
        self.changed.set()

    @staticmethod
    def joined(request: JoinGroupRequest, *, leads: bool) -> JoinGroupResponse:
        member = JoinGroupResponseMember(member_id="m1", metadata=request.protocols[0].metadata)
        return JoinGroupResponse(
            generation_id=1,
            protocol_name="range",
            leader="m1" if leads else "other",
            member_id="m1",
            members=[member] if leads else [],
        )

    @staticmethod
    def synced(request: SyncGroupRequest) -> SyncGroupResponse:
        mine = [item.assignment for item in request.assignments if item.member_id == "m1"]
        return SyncGroupResponse(assignment=mine[0] if mine else encode_assignment([T0]))

    # ---- GroupListener

    def on_event(self, event: Event) -> None:
        self.events.append(event)
        if self.quick:
            self.member.started(event)
            self.member.done(event)
            self.poke()

    def on_group_error(self, error: KafkaError) -> None:
        self.errors.append(error)

    # ---- what tests do

    def subscribe(self) -> None:
        self.member.subscribe({"t"})
        self.poke()

    async def until(self, state: State) -> None:
        await until(lambda: self.member.state is state)

    async def advance(self, seconds: float) -> None:
        """Time goes on and the application polls."""
        self.clock.advance(seconds)
        self.polls.last_s = self.clock.monotonic()
        self.poke()

    async def as_time_goes_on(self, condition: Callable[[], object]) -> None:
        """Waits until the condition holds, while time goes on second by second.

        One leap would not do: an answer that comes after the leap puts what is due next behind it.
        """
        while not condition():
            await self.advance(1.0)
            await asyncio.sleep(0.01)

    async def beats(self) -> None:
        """Time goes on until the next heartbeat is sent."""
        before = len(self.brokers.asked(HeartbeatRequest))
        await self.as_time_goes_on(lambda: len(self.brokers.asked(HeartbeatRequest)) > before)

    def kinds(self) -> list[type]:
        return [type(request) for _, request in self.brokers.log]


@on_loop
async def test_a_subscription_leads_to_partitions_and_heartbeats() -> None:
    rig = Rig()
    rig.subscribe()
    await rig.until(State.STABLE)
    assert rig.kinds() == [JoinGroupRequest, SyncGroupRequest]
    assert {node for node, _ in rig.brokers.log} == {9}
    assert [(event.kind, set(event.partitions)) for event in rig.events] == [(EventKind.ASSIGN, {T0})]
    for _ in range(3):
        await rig.beats()
    assert rig.errors == []
    await rig.driver.stop()


@on_loop
async def test_the_leader_asks_for_partition_counts_and_plans_for_all() -> None:
    rig = Rig(leads=True)
    rig.subscribe()
    await rig.until(State.STABLE)
    assert rig.brokers.refreshed == [["t"]]
    assert rig.member.group_topics() == {"t"}
    (sync,) = rig.brokers.asked(SyncGroupRequest)
    assert decode_assignment(sync.assignments[0].assignment) == {T0, T1}
    assert set(rig.events[0].partitions) == {T0, T1}
    await rig.driver.stop()


@on_loop
async def test_a_leader_that_gets_no_metadata_joins_again() -> None:
    rig = Rig(leads=True)
    rig.brokers.last_error = NetworkError("nobody there")
    rig.subscribe()
    await until(lambda: rig.brokers.refreshed)
    rig.brokers.last_error = None
    await rig.as_time_goes_on(lambda: rig.member.state is State.STABLE)
    assert len(rig.brokers.asked(JoinGroupRequest)) >= 1
    await rig.driver.stop()


@on_loop
async def test_a_lost_coordinator_is_looked_for_again() -> None:
    rig = Rig()
    rig.subscribe()
    await rig.until(State.STABLE)
    rig.brokers.coordinators = [2]
    rig.brokers.in_turn(HeartbeatRequest, HeartbeatResponse(error_code=KafkaError.NOT_COORDINATOR), HeartbeatResponse())
    await rig.as_time_goes_on(lambda: rig.brokers.forgotten)
    await rig.as_time_goes_on(lambda: [node for node, _ in rig.brokers.log][-1] == 2)
    assert rig.member.state is State.STABLE, "the membership is what it was"
    assert [event.kind for event in rig.events] == [EventKind.ASSIGN]
    await rig.driver.stop()


@on_loop
async def test_fatal_group_errors_are_reported_once() -> None:
    rig = Rig()
    rig.brokers.coordinators = [AuthError("wrong password")]
    rig.subscribe()
    await until(lambda: rig.errors)
    for _ in range(3):
        await rig.advance(2.0)
        await asyncio.sleep(0.01)
    assert [error.code() for error in rig.errors] == [KafkaError._AUTHENTICATION]
    assert "wrong password" in rig.errors[0].str()
    await rig.driver.stop()


@on_loop
async def test_leaving_does_not_wait_for_a_join_that_hangs() -> None:
    rig = Rig()
    rig.brokers.in_turn(JoinGroupRequest, None)
    rig.subscribe()
    await until(lambda: rig.brokers.asked(JoinGroupRequest))
    rig.member.unsubscribe()
    rig.poke()
    await rig.until(State.IDLE)
    await rig.driver.stop()


@on_loop
async def test_leaving_gives_the_partitions_back_and_says_so_to_the_coordinator() -> None:
    rig = Rig()
    rig.subscribe()
    await rig.until(State.STABLE)
    rig.member.unsubscribe()
    rig.poke()
    await rig.until(State.IDLE)
    assert [event.kind for event in rig.events] == [EventKind.ASSIGN, EventKind.REVOKE]
    assert rig.kinds()[-1] is LeaveGroupRequest
    await rig.driver.stop()


@on_loop
async def test_a_member_that_does_not_poll_leaves_even_while_a_request_hangs() -> None:
    rig = Rig()
    rig.subscribe()
    await rig.until(State.STABLE)
    rig.brokers.in_turn(HeartbeatRequest, None)
    rig.clock.advance(3.1)
    rig.poke()
    await until(lambda: rig.brokers.asked(HeartbeatRequest))
    rig.clock.advance(MAX_POLL_S)
    rig.poke()
    await rig.until(State.EXPELLED)
    assert rig.events[-1].kind is EventKind.LOST
    assert rig.errors[-1].code() == KafkaError._MAX_POLL_EXCEEDED
    rig.brokers.in_turn(HeartbeatRequest, HeartbeatResponse())
    rig.polls.last_s = rig.clock.monotonic()
    rig.member.polled()
    rig.poke()
    await rig.until(State.STABLE)
    assert LeaveGroupRequest in rig.kinds(), "the coordinator was told, past the request that hangs"
    await rig.driver.stop()


@on_loop
async def test_an_event_is_handed_over_once_and_heartbeats_go_on_while_the_callback_runs() -> None:
    rig = Rig()
    rig.quick = False
    rig.subscribe()
    await until(lambda: rig.events)
    rig.member.started(rig.events[0])
    for _ in range(2):
        await rig.beats()
    assert len(rig.events) == 1
    assert rig.member.state is State.ASSIGNING
    rig.member.done(rig.events[0])
    rig.poke()
    await rig.until(State.STABLE)
    await rig.driver.stop()


@on_loop
async def test_a_fault_of_ours_is_told_and_does_not_end_the_membership(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig()
    failures = [KafkaException(KafkaError(KafkaError._FAIL, "impossible move"))]
    step = rig.member.next_step

    def next_step(now_s: float, last_poll_s: float) -> Any:
        if failures:
            raise failures.pop()
        return step(now_s, last_poll_s)

    monkeypatch.setattr("kafka_core.aio.consuming.group.asyncio.sleep", no_sleep)
    monkeypatch.setattr(rig.member, "next_step", next_step)
    rig.subscribe()
    await until_stable(rig)
    assert "impossible move" in rig.errors[0].str()
    assert "a step failed" in caplog.text
    await rig.driver.stop()


async def no_sleep(_: float) -> None:
    return


async def until_stable(rig: Rig) -> None:
    """Without `asyncio.sleep`, which the test has taken away."""
    while rig.member.state is not State.STABLE:
        rig.progress.clear()
        await rig.progress.wait()
