"""kafka_core.aio.consuming.core: what is told, what a rebalance does by itself, positions, and the end."""

import asyncio
import contextlib
from typing import Any

import pytest

from kafka_core.aio.consuming.core import ConsumerCore
from kafka_core.aio.consuming.events import ClientError, CommitDone, Notice, Rebalance, RebalanceCallbacks, Throttled
from kafka_core.aio.consuming.inbox import ThrottleListener
from kafka_core.config import Role, parse
from kafka_core.engine.consuming.subscription import Phase
from kafka_core.engine.groups.consumer_protocol import encode_assignment
from kafka_core.engine.groups.states import EventKind, State
from kafka_core.errors import ConfigError, KafkaError, NetworkError, StateError
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_INVALID, TopicPartition
from kafka_core.protocol.messages.fetch import FetchRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.faults.loop import on_loop, outcome, until
from tests.unit.kafka_core.aio.fake_brokers import FakeBrokers

E = KafkaError
T0, T1 = ("t", 0), ("t", 1)


class Rig:
    """A core over fake brokers: the group gives it partition 0 (or `given`), nothing is committed, nothing is read."""

    def __init__(self, *given: tuple[str, int], **conf: Any) -> None:
        self.brokers = FakeBrokers()
        self.given = list(given or (T0,))
        self.wakes = 0
        own = {"bootstrap.servers": "x:1", "group.id": "g", "auto.offset.reset": "earliest", "retry.backoff.ms": 1}
        names = {
            name if name.startswith("on_") or name.endswith("_cb") else name.replace("_", "."): value
            for name, value in conf.items()
        }
        config = parse({**own, **names}, Role.CONSUMER)
        client: Any = self.brokers
        self.core = ConsumerCore(
            config,
            lock=contextlib.nullcontext(),
            wake=self.wake,
            post=lambda call: asyncio.get_running_loop().call_soon(call),
            client=client,
        )
        self.brokers.handlers = {
            FetchRequest: lambda *_: None,
            JoinGroupRequest: lambda *_: JoinGroupResponse(
                generation_id=1, protocol_name="range", leader="other", member_id="m1"
            ),
            SyncGroupRequest: lambda *_: SyncGroupResponse(assignment=encode_assignment(self.given)),
            HeartbeatRequest: lambda *_: HeartbeatResponse(),
            LeaveGroupRequest: lambda *_: LeaveGroupResponse(),
            OffsetFetchRequest: self.committed,
            OffsetCommitRequest: self.commit,
        }

    def wake(self) -> None:
        self.wakes += 1

    @staticmethod
    def committed(_: int, request: OffsetFetchRequest) -> OffsetFetchResponse:
        topics = [
            OffsetFetchResponseTopics(
                topic.name,
                partitions=[OffsetFetchResponsePartitions(number, 3) for number in topic.partition_indexes],
            )
            for topic in request.groups[0].topics or []
        ]
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics)])

    @staticmethod
    def commit(_: int, request: OffsetCommitRequest) -> OffsetCommitResponse:
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    topic.name,
                    partitions=[OffsetCommitResponsePartition(item.partition_index) for item in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    def commits(self) -> list[dict[int, int]]:
        return [
            {item.partition_index: item.committed_offset for topic in request.topics for item in topic.partitions}
            for request in self.brokers.asked(OffsetCommitRequest)
        ]

    def assigned(self) -> set[tuple[str, int]]:
        return {state.key for state in self.core.assignment}

    async def subscribed(self, callbacks: RebalanceCallbacks | None = None) -> None:
        await self.core.subscribing.subscribe(["t"], callbacks or RebalanceCallbacks())

    async def joined(self) -> None:
        await self.subscribed()
        await until(lambda: self.core.membership.state is State.STABLE)

    async def event(self, kind: EventKind) -> Rebalance:
        """The next thing in the inbox, which is that event."""
        await until(lambda: self.core.inbox)
        item = self.core.inbox.popleft()
        assert isinstance(item, Rebalance)
        assert item.event.kind is kind
        return item

    async def close(self) -> None:
        await self.core.begin_close()
        await self.core.wait_leave(1.0)
        await self.core.finish_close(1.0)


def note(*_: Any) -> None:
    """Stands for any callback."""


# ---- rebalances without callbacks


@on_loop
async def test_without_callbacks_partitions_are_taken_and_given_up_by_themselves() -> None:
    rig = Rig()
    await rig.joined()
    assert rig.assigned() == {T0}
    await until(lambda: rig.core.assignment.require(T0, "").phase is Phase.FETCH)
    assert rig.core.assignment.require(T0, "").next_fetch_offset == 3, "the committed offset"
    assert rig.brokers.tracked == {"t"}
    await rig.core.subscribing.unsubscribe()
    await until(lambda: rig.core.membership.state is State.IDLE)
    assert rig.assigned() == set()
    assert rig.brokers.tracked == set()
    assert not rig.core.inbox
    await rig.close()


@pytest.mark.parametrize("auto", [True, False])
@on_loop
async def test_polled_offsets_are_committed_before_partitions_are_revoked(auto: bool) -> None:
    rig = Rig(enable_auto_commit=auto, auto_commit_interval_ms=60_000)
    await rig.joined()
    rig.core.assignment.require(T0, "").stored = 17
    await rig.core.subscribing.unsubscribe()
    await until(lambda: rig.core.membership.state is State.IDLE)
    assert rig.commits() == ([{0: 17}] if auto else [])
    await rig.close()


# ---- rebalances with callbacks


@on_loop
async def test_the_group_waits_for_the_callback_and_takes_what_it_left_undone() -> None:
    rig = Rig()
    await rig.subscribed(RebalanceCallbacks(on_assign=note))
    item = await rig.event(EventKind.ASSIGN)
    assert rig.wakes > 0
    assert rig.assigned() == set()
    assert rig.core.membership.state is State.ASSIGNING
    assert await rig.core.rebalancing.begin(item.event)
    await rig.core.rebalancing.finish(item.event)
    assert rig.assigned() == {T0}
    await until(lambda: rig.core.membership.state is State.STABLE)
    await rig.close()


@on_loop
async def test_a_callback_that_assigns_by_itself_has_the_last_word() -> None:
    rig = Rig()
    await rig.subscribed(RebalanceCallbacks(on_assign=note))
    item = await rig.event(EventKind.ASSIGN)
    assert await rig.core.rebalancing.begin(item.event)
    await rig.core.assigning.assign([TopicPartition("t", 1, 42)])
    await rig.core.rebalancing.finish(item.event)
    assert rig.assigned() == {T1}
    assert rig.core.assignment.require(T1, "").next_fetch_offset == 42
    await rig.close()


@on_loop
async def test_an_event_that_is_no_longer_true_is_not_begun() -> None:
    rig = Rig()
    await rig.subscribed(RebalanceCallbacks(on_assign=note))
    item = await rig.event(EventKind.ASSIGN)
    await rig.core.subscribing.unsubscribe()
    assert not await rig.core.rebalancing.begin(item.event)
    await until(lambda: rig.core.membership.state is State.IDLE)
    await rig.close()


@on_loop
async def test_lost_partitions_are_not_committed() -> None:
    rig = Rig(heartbeat_interval_ms=10, auto_commit_interval_ms=3_600_000)
    await rig.joined()
    rig.core.assignment.require(T0, "").stored = 17
    rig.core.rebalancing.callbacks = RebalanceCallbacks(on_lost=note)
    rig.brokers.in_turn(HeartbeatRequest, HeartbeatResponse(error_code=E.UNKNOWN_MEMBER_ID))
    item = await rig.event(EventKind.LOST)
    assert await rig.core.rebalancing.begin(item.event)
    await rig.core.rebalancing.finish(item.event)
    assert rig.commits() == []
    assert rig.assigned() == set()
    rig.core.rebalancing.callbacks = RebalanceCallbacks()
    await rig.close()


# ---- what is told


@on_loop
async def test_errors_of_the_client_go_to_error_cb_and_without_it_only_those_that_waiting_will_not_mend() -> None:
    with_callback = Rig(error_cb=note)
    (listener,) = with_callback.brokers.error_listeners
    listener(E(E._TRANSPORT, "cut"))
    assert isinstance(with_callback.core.inbox[0], ClientError)
    rig = Rig()
    (listener,) = rig.brokers.error_listeners
    listener(E(E._AUTHENTICATION, "password"))
    assert [item.message.error().code() for item in rig.core.inbox if isinstance(item, Notice)] == [E._AUTHENTICATION]
    rig.core.inbox.clear()
    for code in (E._ALL_BROKERS_DOWN, E._RESOLVE, E._TRANSPORT):
        rig.brokers.last_error = NetworkError("down")
        listener(E(code, "down"))
    assert not rig.core.inbox, "a loop that raises what poll() gives it must survive the restart of a broker"
    assert all(task is asyncio.current_task() for task in asyncio.all_tasks()), "nothing is told later"
    await rig.close()


@on_loop
async def test_a_topic_that_is_missing_is_told_once_until_it_was_there() -> None:
    rig = Rig()
    rig.brokers.errors = {"t": E.UNKNOWN_TOPIC_OR_PART}
    await rig.core.assigning.assign([TopicPartition("t", 0, 0)])
    rig.brokers.learn()
    rig.brokers.learn()
    (item,) = rig.core.inbox
    assert isinstance(item, Notice)
    assert item.message.topic() == "t"
    assert item.message.error().code() == E.UNKNOWN_TOPIC_OR_PART
    assert "t" in rig.brokers.invalidated, "it is looked for now and then: it may come, or come again"
    rig.core.inbox.clear()
    rig.brokers.invalidated.clear()
    rig.brokers.errors = {}
    rig.brokers.learn()
    assert not rig.core.inbox
    assert rig.brokers.invalidated == []
    rig.brokers.errors = {"t": E.UNKNOWN_TOPIC_OR_PART}
    rig.brokers.learn()
    assert len(rig.core.inbox) == 1
    await rig.close()


@pytest.mark.parametrize("wanted", [True, False])
@on_loop
async def test_results_of_commits_are_told_if_somebody_wants_them(wanted: bool) -> None:
    rig = Rig(**({"on_commit": note} if wanted else {}))
    rig.core.inbox.tell(CommitDone(None, []))
    assert bool(rig.core.inbox) is wanted


@on_loop
async def test_statistics_and_throttling_are_told_when_asked_for() -> None:
    rig = Rig(stats_cb=note, statistics_interval_ms=5, throttle_cb=note)
    await rig.core.running.start()
    await until(lambda: rig.core.inbox)
    rig.core.inbox.clear()
    throttles = ThrottleListener(rig.core.inbox)
    rig.brokers.on_metadata(throttles.on_metadata)
    throttles.on_throttle(1, "Fetch", 0.5)
    rig.brokers.learn()
    throttles.on_throttle(1, "Fetch", 0.5)
    names = [item.event.broker_name for item in rig.core.inbox if isinstance(item, Throttled)]
    assert names == ["bootstrap", "host1:9092"]
    await rig.close()


# ---- positions


@on_loop
async def test_a_call_that_is_broken_off_gives_back_records_and_events() -> None:
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 5), TopicPartition("t", 1, 5)])
    for key, position in ((T0, 9), (T1, 7)):
        state = rig.core.assignment.require(key, "")
        state.position = state.stored = position
    told, passed = Message("t", 1, error=E(E._BAD_MSG)), Message("t", 0, error=E(E._PARTITION_EOF))
    first = Message("elsewhere", error=E(E._ALL_BROKERS_DOWN))
    rig.core.positions.hand_back([first, Message("t", 0, 6), Message("t", 0, 8), passed, told, Message("gone", 0, 1)])
    state = rig.core.assignment.require(T0, "")
    assert (state.position, state.stored, state.phase) == (6, 6, Phase.FETCH)
    assert rig.core.assignment.require(T1, "").position == 7
    assert [item.message for item in rig.core.inbox if isinstance(item, Notice)] == [first, told], "the end comes again"
    await rig.close()


@on_loop
async def test_positions_have_the_epochs_of_the_records_behind_them() -> None:
    """The leader's epoch may be a later one; what was read is checked against its own (KIP-320)."""
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 5)])
    state = rig.core.assignment.require(T0, "")
    state.position, state.position_epoch, state.consumed, state.leader_epoch = 9, 3, True, 7
    (found,) = rig.core.positions.position([TopicPartition("t", 0, 1, "note")])
    assert (found.offset, found.leader_epoch, found.metadata) == (9, 3, "note")
    state.consumed = False
    (found,) = rig.core.positions.position([TopicPartition("t", 0, 1)])
    assert (found.offset, found.leader_epoch) == (OFFSET_INVALID, None)
    await rig.close()


@on_loop
async def test_more_is_expected_while_a_broker_is_known_to_have_it() -> None:
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 5)])
    state = rig.core.assignment.require(T0, "")
    assert not rig.core.positions.more_expected(), "nobody has said yet"
    state.high_watermark, state.last_stable_offset = 9, 5
    assert not rig.core.positions.more_expected(), "read_committed ends at the last stable offset"
    state.last_stable_offset = 6
    assert rig.core.positions.more_expected()
    await rig.core.positions.pause([TopicPartition("t", 0)])
    assert not rig.core.positions.more_expected()
    await rig.close()


@on_loop
async def test_pausing_what_is_not_assigned_is_told_in_its_row_and_seeking_raises() -> None:
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 5)])
    rows = [TopicPartition("t", 0), TopicPartition("t", 1)]
    await rig.core.positions.pause(rows)
    assert [item.error and item.error.code() for item in rows] == [None, E._UNKNOWN_PARTITION]
    assert isinstance(await outcome(rig.core.positions.seek(TopicPartition("t", 1, 3))), StateError)
    assert isinstance(await outcome(rig.core.positions.seek(TopicPartition("t", 0, -7))), ConfigError)
    assert rig.core.positions.position([TopicPartition("t", 0)])[0].offset == OFFSET_INVALID
    await rig.close()


@on_loop
async def test_an_assignment_with_a_mistake_changes_nothing() -> None:
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 5)])
    twice = [TopicPartition("t", 1, 0), TopicPartition("t", 1, 0)]
    assert isinstance(await outcome(rig.core.assigning.assign(twice)), ConfigError)
    assert rig.assigned() == {T0}
    assert isinstance(await outcome(rig.core.assigning.incremental_unassign([TopicPartition("t", 1)])), ConfigError)
    await rig.core.assigning.incremental_assign([TopicPartition("t", 1, 0)])
    assert rig.assigned() == {T0, T1}
    await rig.core.assigning.incremental_unassign([TopicPartition("t", 0)])
    assert rig.assigned() == {T1}
    await rig.close()


# ---- automatic commits, and the end


@on_loop
async def test_stored_offsets_are_committed_every_interval() -> None:
    rig = Rig(enable_auto_commit=True, auto_commit_interval_ms=5)
    await rig.core.assigning.assign([TopicPartition("t", 0, 5)])
    rig.core.assignment.require(T0, "").stored = 8
    await until(lambda: rig.commits())
    assert rig.commits() == [{0: 8}]
    await rig.close()


@on_loop
async def test_closing_commits_leaves_and_closes_the_client() -> None:
    rig = Rig(enable_auto_commit=True, auto_commit_interval_ms=60_000)
    await rig.joined()
    rig.core.assignment.require(T0, "").stored = 8
    await rig.close()
    assert rig.commits() == [{0: 8}]
    assert len(rig.brokers.asked(LeaveGroupRequest)) == 1
    assert rig.brokers.closed
    assert isinstance(await outcome(rig.core.running.start()), StateError)
    assert len(asyncio.all_tasks()) == 1


@on_loop
async def test_closing_is_bounded_when_the_coordinator_is_silent() -> None:
    rig = Rig(enable_auto_commit=True)
    await rig.joined()
    rig.core.assignment.require(T0, "").stored = 8
    rig.brokers.in_turn(OffsetCommitRequest, None)
    rig.brokers.in_turn(LeaveGroupRequest, None)
    await rig.core.begin_close()
    await rig.core.wait_leave(0.05)
    await rig.core.finish_close(0.05)
    assert rig.brokers.closed
    assert rig.assigned() == set()


@on_loop
async def test_closing_what_was_never_used_asks_nobody() -> None:
    rig = Rig()
    await rig.close()
    assert rig.brokers.log == []


@on_loop
async def test_of_assignments_at_the_same_time_the_last_one_counts() -> None:
    rig = Rig()
    await rig.core.assigning.assign([TopicPartition("t", 0, 0), TopicPartition("t", 2, 0)])
    rig.core.assignment.require(T0, "").stored = 17  # so that the next one commits, which takes its time
    await asyncio.gather(
        rig.core.assigning.assign([TopicPartition("t", 1, 3)]),
        rig.core.assigning.assign([TopicPartition("t", 1, 3)]),
        rig.core.assigning.assign([TopicPartition("t", 0, 5)]),
    )
    assert rig.assigned() == {T0}
    assert rig.core.assignment.require(T0, "").next_fetch_offset == 5
    await rig.core.finish_close(5.0)


@on_loop
async def test_an_assignment_cancelled_while_it_commits_is_made_all_the_same() -> None:
    rig = Rig()
    rig.brokers.handlers[OffsetCommitRequest] = lambda *_: None  # never answered
    await rig.core.assigning.assign([TopicPartition("t", 0, 0)])
    rig.core.assignment.require(T0, "").stored = 17
    call = asyncio.ensure_future(rig.core.assigning.assign([TopicPartition("t", 1, 3)]))
    await until(lambda: rig.assigned() == set())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert rig.assigned() == {T1}
    await rig.core.finish_close(0.1)
