"""kafka_core.aio.consuming.fetch: one fetch per broker, where reading begins, and whether old positions still hold."""

import asyncio
import contextlib
import itertools
import random
from typing import Any

import pytest

from kafka_core.aio.cluster.client import Purpose
from kafka_core.aio.consuming import fetch as consumer_fetch
from kafka_core.aio.consuming.fetch import FetchLoop
from kafka_core.aio.consuming.position_finder import PositionFinder
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.tasks.signals import Signal
from kafka_core.clock import SystemClock
from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.fetcher import Fetcher, FetchSettings
from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment, PartitionState, Phase
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, NetworkError, StateError
from kafka_core.hooks import Hooks
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_BEGINNING, OFFSET_STORED, LogTruncation, TopicPartition
from kafka_core.protocol import BrokerVersions
from kafka_core.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from kafka_core.records import NewRecord, build_batch, open_batches
from tests.faults.loop import on_loop, until
from tests.unit.kafka_core.aio.fake_brokers import FakeBrokers

E = KafkaError
END = 6


class Log:
    """Both partitions hold END records in batches of two; a fetch behind the end waits until somebody cancels it."""

    def __call__(self, node_id: int, request: FetchRequest) -> Any:
        del node_id
        rows = []
        for topic in request.topics:
            for item in topic.partitions:
                first = item.fetch_offset
                if first < END:
                    records = [
                        NewRecord(b"%d" % number, timestamp_ms=1) for number in range(first, min(first + 2, END))
                    ]
                    data = memoryview(build_batch(records, base_offset=first, partition_leader_epoch=0))
                    rows.append(PartitionData(item.partition, 0, END, END, 0, records=data))
        if not rows:
            return None
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])


class Rig:
    """Fetch loop and position finder over fake brokers: partition 0 is led by broker 1, partition 1 by broker 2."""

    def __init__(self, *offsets: int, reset: int | None = -2, hook: object = None) -> None:
        self.brokers = FakeBrokers()
        self.brokers.learn()
        client: Any = self.brokers
        self.assignment = Assignment()
        backoff = Backoff(1, 2, random.Random(1))
        settings = FetchSettings(reset=reset)
        self.wakes = 0
        self.again = Signal()
        self.queue = FetchQueue(Marks(1000, 10**6), contextlib.nullcontext(), self.wake, self.again.set)
        clock = SystemClock()
        rpc = ConsumerRpc(client, clock, backoff, "g", 1.0)
        self.reports: list[tuple[str, KafkaError]] = []
        self.truncations: list[tuple[LogTruncation, str]] = []
        self.positions = PositionFinder(
            self.assignment,
            self.queue,
            client,
            rpc,
            settings,
            clock,
            backoff,
            lambda: ConsumerGroupMetadata("g"),
            lambda state, error: self.reports.append((f"{state.topic}[{state.partition}]", error)),
            lambda _state, lost, text: self.truncations.append((lost, text)),
            self.again,
        )
        self.fetcher = fetcher = Fetcher(settings, self.assignment, self.queue, open_batches, self.event, backoff)
        hooks = Hooks(() if hook is None else (hook,))
        self.fetches = FetchLoop(client, fetcher, self.positions, clock, hooks, 1.0, self.again)
        self.brokers.handlers = {FetchRequest: Log()}
        self.assignment.add([TopicPartition("t", number, offset) for number, offset in enumerate(offsets)])

    @staticmethod
    def event(state: PartitionState, error: KafkaError, offset: int) -> Message:
        return Message(state.topic, state.partition, offset, error=error)

    def wake(self) -> None:
        self.wakes += 1

    def state(self, number: int = 0) -> PartitionState:
        return self.assignment.require(("t", number), "")

    async def read(self, count: int) -> list[tuple[int | None, int | None]]:
        """(partition, offset) of so many messages."""
        found: list[Message] = []
        self.again.set()
        await until(lambda: self.queue.take(found, count - len(found)) is not None and len(found) >= count)
        return sorted((item.partition(), item.offset()) for item in found)

    async def stop(self) -> None:
        await self.fetches.stop()
        await self.positions.stop()

    def committed(self, *rows: tuple[int, int], epoch: int = -1) -> None:
        """(offset, error code) per partition, and the epoch of all, as the coordinator answers."""
        parts = [
            OffsetFetchResponsePartitions(n, offset, epoch, error_code=code) for n, (offset, code) in enumerate(rows)
        ]
        group = OffsetFetchResponseGroup("g", [OffsetFetchResponseTopics("t", partitions=parts)])
        self.brokers.in_turn(OffsetFetchRequest, OffsetFetchResponse(groups=[group]))

    def listed(self, offset: int, code: int = 0) -> None:
        row = ListOffsetsPartitionResponse(0, code, offset=offset, leader_epoch=0)
        self.brokers.in_turn(ListOffsetsRequest, ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", [row])]))

    def epoch_ends(self, *answers: tuple[int, int, int]) -> None:
        """(error code, epoch, end offset) for partition 0, one after the other."""
        rows = [EpochEndOffset(code, 0, epoch, end) for code, epoch, end in answers]
        self.brokers.in_turn(
            OffsetForLeaderEpochRequest,
            *(OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult("t", [row])]) for row in rows),
        )


# ---- where reading begins


@on_loop
async def test_a_seek_between_the_decision_to_look_up_and_the_look_up_ends_it() -> None:
    rig = Rig(OFFSET_STORED, OFFSET_STORED)
    rig.committed((1, 0), (5, 0))
    rig.positions.find_due()  # the round begins with the loop's next turn
    rig.queue.restart(rig.state(), 4)
    assert await rig.read(3) == [(0, 4), (0, 5), (1, 5)]
    assert rig.reports == []  # nor does the other partition suffer
    await rig.stop()


# ---- fetching


@on_loop
async def test_what_came_is_told_of_before_more_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    rig = Rig(0)
    plan = rig.fetches._plan
    monkeypatch.setattr(rig.fetches, "_put", lambda: order.append(f"put {len(rig.queue)}"))
    monkeypatch.setattr(rig.fetches, "_plan", lambda: (order.append("plan"), plan()))
    assert await rig.read(6) == [(0, offset) for offset in range(6)]
    first = order.index("put 1")
    await until(lambda: len(order) > first + 1)
    await rig.stop()
    assert order[first + 1] == "plan"


@on_loop
async def test_every_leader_is_read_with_one_request_at_a_time() -> None:
    rig = Rig(0, 3)
    assert await rig.read(9) == [*((0, n) for n in range(6)), *((1, n) for n in range(3, 6))]
    await asyncio.sleep(0.01)
    assert set(rig.brokers.purposes) == {Purpose.FETCH}
    waiting = [node for node, request in rig.brokers.log if not request.topics or request.topics[0].partitions]
    assert set(waiting) == {1, 2}
    before = len(rig.brokers.log)
    for _ in range(5):
        rig.again.set()
        await asyncio.sleep(0)
    assert len(rig.brokers.log) == before, "the last request of each broker is still out"
    await rig.stop()


@on_loop
async def test_a_plan_that_fails_is_logged_and_made_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(4)
    plan, failures = rig.fetcher.plan, [ValueError("a mistake of ours")]

    def planning(*args: Any) -> Any:
        if failures:
            raise failures.pop()
        return plan(*args)

    monkeypatch.setattr(rig.fetcher, "plan", planning)
    monkeypatch.setattr(consumer_fetch, "REPLAN_S", 0.001)
    assert await rig.read(2) == [(0, 4), (0, 5)]
    assert "planning fetches failed" in caplog.text
    await rig.stop()


@on_loop
async def test_a_failed_fetch_is_tried_again_with_fresh_metadata() -> None:
    rig = Rig(4)
    log, answers = Log(), [NetworkError("cut")]
    rig.brokers.handlers[FetchRequest] = lambda node, request: answers.pop() if answers else log(node, request)
    assert await rig.read(2) == [(0, 4), (0, 5)]
    assert rig.brokers.invalidated == ["t"]
    await rig.stop()


@on_loop
async def test_while_a_leader_cannot_be_reached_the_metadata_is_asked_who_leads_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumer_fetch, "LEADER_PATIENCE_S", 0.001)
    rig = Rig(0)
    rig.brokers.unreachable = {1: asyncio.Event()}
    rig.again.set()
    await until(lambda: rig.brokers.invalidated.count("t") >= 3)
    rig.brokers.leaders["t", 0] = 2
    rig.brokers.epochs["t", 0] = 1
    rig.brokers.learn()
    assert await rig.read(END) == [(0, offset) for offset in range(END)]
    assert {node for node, _ in rig.brokers.log} == {2}
    await rig.stop()
    assert len(asyncio.all_tasks()) == 1


@on_loop
async def test_while_a_follower_cannot_be_reached_the_leader_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_fetch, "LEADER_PATIENCE_S", 0.001)
    rig = Rig(0)
    rig.brokers.unreachable = {2: asyncio.Event()}
    rig.state().leader_epoch = 0
    rig.state().preferred_replica, rig.state().preferred_until_s = 2, float("inf")
    assert await rig.read(END) == [(0, offset) for offset in range(END)]
    assert {node for node, _ in rig.brokers.log} == {1}
    await rig.stop()
    assert len(asyncio.all_tasks()) == 1


@on_loop
async def test_a_partition_without_a_leader_has_metadata_asked_for() -> None:
    rig = Rig(0)
    rig.brokers.leaders["t", 0] = None  # type: ignore[assignment]
    rig.brokers.learn()
    rig.again.set()
    await until(lambda: rig.brokers.invalidated)
    assert rig.brokers.log == []
    rig.brokers.leaders["t", 0] = 2
    rig.brokers.learn()
    assert await rig.read(1) == [(0, 0)]
    assert rig.brokers.log[0][0] == 2
    await rig.stop()


@on_loop
async def test_the_answer_to_a_request_from_before_a_seek_is_dropped() -> None:
    rig = Rig(0)
    gate, log = asyncio.Event(), Log()
    real_send = rig.brokers.answer

    def answer(node_id: int, request: Any) -> Any:
        if not gate.is_set():
            gate.set()
            rig.queue.restart(rig.state(), 4)  # while the first request is out
        return real_send(node_id, request)

    rig.brokers.answer = answer  # type: ignore[method-assign]
    rig.brokers.handlers[FetchRequest] = log
    assert await rig.read(2) == [(0, 4), (0, 5)]
    await rig.stop()


@on_loop
async def test_a_seek_overtakes_the_request_that_waits_at_the_broker() -> None:
    rig = Rig(END)
    rig.again.set()
    await until(lambda: len(rig.brokers.log) == 1)
    rig.queue.restart(rig.state(), 1)
    assert await rig.read(5) == [(0, n) for n in range(1, 6)]
    await asyncio.sleep(0.01)
    first, *beside = rig.brokers.asked(FetchRequest)
    assert rig.brokers.purposes[0] is Purpose.FETCH
    assert set(rig.brokers.purposes[1:]) == {Purpose.MAIN}
    assert (first.session_epoch, {item.session_epoch for item in beside}) == (0, {-1})
    await rig.stop()


@on_loop
async def test_a_request_beside_the_session_may_fail() -> None:
    rig = Rig(END)
    log, answers = Log(), [NetworkError("cut")]
    rig.again.set()
    await until(lambda: len(rig.brokers.log) == 1)
    rig.brokers.handlers[FetchRequest] = lambda node, request: answers.pop() if answers else log(node, request)
    rig.queue.restart(rig.state(), 4)
    rig.again.set()
    await until(lambda: len(rig.brokers.log) == 2)
    await asyncio.sleep(0.01)
    assert len(rig.brokers.log) == 2, "it is left to the session"
    await rig.stop()


@on_loop
async def test_hooks_hear_of_what_was_fetched() -> None:
    class Hook:
        heard: list[tuple[Any, ...]] = []

        def on_batch_fetched(self, *facts: Any) -> None:
            self.heard.append(facts)

    rig = Rig(4, hook=Hook())
    await rig.read(2)
    assert [facts[:4] for facts in Hook.heard] == [(1, "t", 0, 2)]
    await rig.stop()


@on_loop
async def test_stopping_ends_what_is_out_and_nothing_begins_any_more() -> None:
    rig = Rig(END)
    rig.again.set()
    await until(lambda: rig.brokers.log)
    await rig.stop()
    rig.again.set()
    rig.positions.find_due()
    await asyncio.sleep(0.01)
    assert len(rig.brokers.log) == 1
    assert len(asyncio.all_tasks()) == 1


# ---- where to begin


@on_loop
async def test_reading_begins_at_the_committed_offset() -> None:
    rig = Rig(OFFSET_STORED)
    rig.committed((4, 0))
    assert await rig.read(2) == [(0, 4), (0, 5)]
    assert rig.state().committed == 4
    await rig.stop()


@on_loop
async def test_the_committed_offset_is_known_with_its_epoch() -> None:
    rig = Rig(OFFSET_STORED)
    rig.committed((4, 0), epoch=0)
    rig.epoch_ends((0, 0, 9))
    assert await rig.read(1) == [(0, 4)]
    assert (rig.state().committed, rig.state().committed_epoch) == (4, 0)
    await rig.stop()


@on_loop
async def test_a_partition_that_an_answer_leaves_out_is_asked_for_again() -> None:
    rig = Rig(OFFSET_STORED)
    rig.committed()  # says nothing about it: that is not "nothing was committed"
    rig.committed((4, 0))
    assert await rig.read(2) == [(0, 4), (0, 5)]
    assert rig.brokers.asked(ListOffsetsRequest) == []
    await rig.stop()


@on_loop
async def test_an_answer_that_cannot_be_used_does_not_end_the_fetching(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(0)
    received = rig.fetcher.received
    mistakes: list[Exception] = [KeyError("ours"), StateError("an impossible move")]

    def wrong(*args: Any) -> Any:
        if mistakes:
            raise mistakes.pop()
        return received(*args)

    rig.fetcher.received = wrong  # type: ignore[method-assign, assignment]
    assert await rig.read(END) == [(0, offset) for offset in range(END)]
    assert "could not be used" in caplog.text
    await rig.stop()


@on_loop
async def test_what_follows_an_answer_may_break_without_an_end_of_the_fetching() -> None:
    rig = Rig(0)
    follow, told = rig.fetches._follow, list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    calls = itertools.count(1)

    def wrong(*args: Any) -> None:
        if next(calls) == 2:  # the first request is sent by a task, for there is no connection yet
            raise KeyError("ours")
        follow(*args)

    rig.fetches._follow = wrong  # type: ignore[method-assign, assignment]
    assert await rig.read(END) == [(0, offset) for offset in range(END)]
    assert [type(error) for error in told] == [KeyError]
    await rig.stop()


@on_loop
async def test_a_search_for_positions_that_breaks_is_told_and_done_again() -> None:
    rig = Rig(OFFSET_STORED)
    committed = rig.positions._rpc.committed
    mistakes = [KeyError("ours")]

    async def wrong(*args: Any) -> Any:
        if mistakes:
            raise mistakes.pop()
        return await committed(*args)

    rig.positions._rpc.committed = wrong  # type: ignore[method-assign, assignment]
    rig.committed((4, 0))
    assert await rig.read(2) == [(0, 4), (0, 5)]
    ((_, error),) = rig.reports
    assert error.code() == E._FAIL
    await rig.stop()


@on_loop
async def test_without_a_committed_offset_the_rule_decides() -> None:
    rig = Rig(OFFSET_STORED, reset=-2)
    rig.committed((-1, 0))
    rig.listed(3)
    assert (await rig.read(1))[0] == (0, 3)
    (request,) = rig.brokers.asked(ListOffsetsRequest)
    assert request.topics[0].partitions[0].timestamp == -2
    await rig.stop()


@on_loop
async def test_without_an_offset_and_a_rule_it_is_told_once_and_a_seek_goes_on() -> None:
    rig = Rig(OFFSET_STORED, reset=None)
    rig.committed((-1, 0))
    rig.positions.find_due()
    await until(lambda: rig.reports)
    assert rig.state().phase is Phase.HALTED
    ((where, error),) = rig.reports
    assert (where, error.code()) == ("t[0]", E._AUTO_OFFSET_RESET)
    assert "auto.offset.reset" in error.str()
    rig.queue.restart(rig.state(), 5)
    assert await rig.read(1) == [(0, 5)]
    assert len(rig.reports) == 1
    await rig.stop()


@on_loop
async def test_an_error_that_stays_is_told_once_and_tried_again_in_silence() -> None:
    rig = Rig(OFFSET_STORED)
    rig.committed((-1, E.TOPIC_AUTHORIZATION_FAILED))
    rig.positions.find_due()
    await until(lambda: len(rig.brokers.asked(OffsetFetchRequest)) >= 3)
    assert [error.code() for _, error in rig.reports] == [E.TOPIC_AUTHORIZATION_FAILED]
    rig.committed((4, 0))
    assert await rig.read(2) == [(0, 4), (0, 5)]
    await rig.stop()


@on_loop
async def test_the_beginning_and_the_end_are_looked_up() -> None:
    rig = Rig(OFFSET_BEGINNING)
    rig.listed(2)
    assert (await rig.read(1))[0] == (0, 2)
    assert rig.brokers.asked(OffsetFetchRequest) == []
    await rig.stop()


@on_loop
async def test_a_position_that_was_seeked_meanwhile_is_not_overwritten() -> None:
    rig = Rig(OFFSET_BEGINNING)

    def answer(*_: Any) -> ListOffsetsResponse:
        rig.queue.restart(rig.state(), 5)
        row = ListOffsetsPartitionResponse(0, 0, offset=0, leader_epoch=0)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", [row])])

    rig.brokers.handlers[ListOffsetsRequest] = answer
    assert await rig.read(1) == [(0, 5)]
    await rig.stop()


# ---- after a change of leader (KIP-320)


async def moved(rig: Rig) -> None:
    """Two records were read from epoch 0; then broker 2 leads with epoch 1."""
    await rig.read(2)
    rig.brokers.leaders["t", 0] = 2
    rig.brokers.epochs["t", 0] = 1
    rig.brokers.learn()
    rig.queue.restart(rig.state(), 2)
    rig.state().fetch_epoch = 0
    rig.again.set()
    await until(lambda: rig.brokers.asked(OffsetForLeaderEpochRequest))


@on_loop
async def test_a_new_leader_that_has_what_was_read_is_read_on() -> None:
    rig = Rig(0)
    rig.epoch_ends((0, 0, 100))
    await moved(rig)
    assert await rig.read(1) == [(0, 2)]
    assert rig.brokers.log[-1][0] == 2
    assert (rig.reports, rig.truncations) == ([], [])
    asked = rig.brokers.asked(OffsetForLeaderEpochRequest)[0].topics[0].partitions[0]
    assert (asked.current_leader_epoch, asked.leader_epoch) == (1, 0)
    await rig.stop()


@on_loop
async def test_a_new_leader_that_lost_records_is_told_and_read_from_its_end(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(0)
    rig.epoch_ends((0, 0, 1))
    await moved(rig)
    assert (await rig.read(1))[0] == (0, 1)
    ((lost, text),) = rig.truncations
    assert lost == LogTruncation("t", 0, 2, 0, 1, 0)
    assert "truncated to offset 1" in text
    assert text in caplog.text
    await rig.stop()


@on_loop
async def test_without_a_policy_it_is_told_and_read_on_after_a_seek() -> None:
    rig = Rig(0, reset=None)
    rig.epoch_ends((0, 0, 1))
    await moved(rig)
    await until(lambda: rig.truncations)
    assert rig.state().phase is Phase.HALTED
    rig.queue.restart(rig.state(), 1)
    assert (await rig.read(1))[0] == (0, 1)
    assert len(rig.truncations) == 1
    await rig.stop()


@on_loop
async def test_where_the_leader_knows_nothing_of_the_epoch_the_policy_says_where_to_go_on() -> None:
    rig = Rig(0)
    rig.epoch_ends((0, -1, -1))
    rig.listed(4)
    await moved(rig)
    assert (await rig.read(1))[0] == (0, 4)
    assert [lost.divergent_offset for lost, _ in rig.truncations] == [None]
    await rig.stop()


@on_loop
async def test_what_the_group_committed_with_an_epoch_is_checked_first() -> None:
    rig = Rig(OFFSET_STORED)
    part = OffsetFetchResponsePartitions(0, 5, 0)
    group = OffsetFetchResponseGroup("g", [OffsetFetchResponseTopics("t", partitions=[part])])
    rig.brokers.in_turn(OffsetFetchRequest, OffsetFetchResponse(groups=[group]))
    rig.epoch_ends((0, 0, 3))
    assert (await rig.read(1))[0] == (0, 3)
    assert [lost for lost, _ in rig.truncations] == [LogTruncation("t", 0, 5, 0, 3, 0)]
    await rig.stop()


@on_loop
async def test_a_broker_that_does_not_know_the_question_is_believed() -> None:
    rig = Rig(0)
    rig.epoch_ends((0, 0, 1))
    rig.brokers.versions = BrokerVersions(
        {key: found for key, found in rig.brokers.versions.ranges.items() if key != OffsetForLeaderEpochRequest.API_KEY}
    )
    rig.queue.restart(rig.state(), 2, 0)
    assert (await rig.read(1))[0] == (0, 2)
    assert (rig.reports, rig.truncations) == ([], [])
    await rig.stop()


@on_loop
async def test_where_the_metadata_has_no_epochs_nobody_is_asked() -> None:
    rig = Rig(0)
    rig.brokers.epochs["t", 0] = -1
    rig.brokers.learn()
    rig.queue.restart(rig.state(), 2, 0)
    assert (await rig.read(1))[0] == (0, 2)
    assert rig.brokers.asked(OffsetForLeaderEpochRequest) == []
    await rig.stop()


@on_loop
async def test_a_leader_that_cannot_be_asked_does_not_keep_the_others_back() -> None:
    rig = Rig(0, 0)
    rig.brokers.unreachable = {1: asyncio.Event()}
    rows = [EpochEndOffset(0, 1, 0, 100)]
    answer = OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult("t", rows)])
    rig.brokers.in_turn(OffsetForLeaderEpochRequest, answer)
    for number in (0, 1):
        rig.queue.restart(rig.state(number), 2, 0)
    rig.again.set()
    assert (await rig.read(1))[0] == (1, 2)
    await rig.stop()


@on_loop
async def test_a_leader_that_is_not_ready_is_asked_again() -> None:
    rig = Rig(0)
    rig.epoch_ends((E.FENCED_LEADER_EPOCH, -1, -1), (0, 0, 100))
    await moved(rig)
    assert (await rig.read(1))[0] == (0, 2)
    assert len(rig.brokers.asked(OffsetForLeaderEpochRequest)) == 2
    assert "t" in rig.brokers.invalidated
    await rig.stop()
