"""Fetching against a model of logs and brokers: whatever the order of assignments, seeks, answers, losses, leader moves
and topics that are made anew, a position moves only by the records that were handed out, or by a reset."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kafka_core.engine.consuming.fetch_queue import FetchQueue, Marks
from kafka_core.engine.consuming.fetcher import Fetcher, FetchSettings, PlannedFetch
from kafka_core.engine.consuming.subscription import EARLIEST_TIMESTAMP, Assignment, PartitionState, Phase
from kafka_core.engine.metadata import BrokerAddress, ClusterView, PartitionView, TopicView
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError
from kafka_core.model import OFFSET_BEGINNING, OFFSET_END, TopicPartition
from kafka_core.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka_core.records import NewRecord, build_batch, open_batches

PARTITIONS = 2
NODES = (1, 2)
BATCH = 3

partitions = st.integers(0, PARTITIONS - 1)
picks = st.integers(0, 9)


@dataclass
class Log:
    """One partition on the brokers: `first` and `end` of its offsets, who leads it."""

    first: int = 0
    end: int = 12
    leader: int = 1
    epoch: int = 1


@dataclass(eq=False)
class Sent:
    """A request on its way, and its answer once a broker has made one."""

    planned: PlannedFetch
    beside: bool
    response: FetchResponse | None = None


class Positions(RuleBasedStateMachine):
    """`expected` is the next offset to be handed out of each assigned partition; None while it is looked for.

    `held` is what a call has taken and not given yet (partition, topic, offset), as far as it may come again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.topic = 1
        self.logs = [Log() for _ in range(PARTITIONS)]
        self.assignment = Assignment()
        self.queue = FetchQueue(Marks(8, 10**6), contextlib.nullcontext(), lambda: None, lambda: None)
        backoff = Backoff(100, 1000, random.Random(1))
        self.fetcher = Fetcher(FetchSettings(), self.assignment, self.queue, open_batches, self.event, backoff)
        self.now_s = 100.0
        self.sent: list[Sent] = []
        self.expected: dict[int, int | None] = {}
        self.topics: dict[int, int] = {}
        self.left: dict[tuple[int, int], int] = {}
        self.held: list[tuple[int, int, int]] = []
        self.view = self.seen_now()

    @staticmethod
    def event(state: PartitionState, error: KafkaError, offset: int) -> Any:
        raise AssertionError(f"{state.key} at {offset}: {error}")

    def seen_now(self) -> ClusterView:
        rows = {number: PartitionView(number, log.leader, log.epoch) for number, log in enumerate(self.logs)}
        brokers = {node: BrokerAddress(node, "h", node) for node in NODES}
        return ClusterView(brokers=brokers, topics={"t": TopicView("t", UUID(int=self.topic), rows)})

    # ---- the application

    @rule(number=partitions, start=st.sampled_from([0, 2, 5, OFFSET_BEGINNING, OFFSET_END]))
    def assigns(self, number: int, start: int) -> None:
        """A partition is given, or given again."""
        for state in self.assignment.remove([("t", number)]):
            self.queue.drop(state)
        self.assignment.add([TopicPartition("t", number, start)])
        self.begins(number, start)
        self.topics.pop(number, None)
        self.left = {key: offset for key, offset in self.left.items() if key[0] != number}
        self.plans()

    @rule(number=partitions)
    def revokes(self, number: int) -> None:
        for state in self.assignment.remove([("t", number)]):
            self.queue.drop(state)
        self.expected.pop(number, None)

    @rule(number=partitions, start=st.sampled_from([0, 1, 3, OFFSET_BEGINNING, OFFSET_END]))
    def seeks(self, number: int, start: int) -> None:
        state = self.assignment.get(("t", number))
        if state is not None:
            self.queue.restart(state, start)
            self.begins(number, start)
            self.plans()

    def begins(self, number: int, start: int) -> None:
        self.held = [item for item in self.held if item[0] != number]
        self.expected[number] = start if start >= 0 else None

    @rule(number=partitions, resumes=st.booleans())
    def pauses(self, number: int, resumes: bool) -> None:
        state = self.assignment.get(("t", number))
        if state is not None:
            (self.queue.resume if resumes else self.queue.pause)(state)

    @rule(limit=st.integers(1, 8))
    def takes(self, limit: int) -> None:
        """Hands records out: they must be the next ones."""
        out: list[Any] = []
        self.queue.take(out, limit)
        for message in out:
            number, offset = message.partition(), message.offset()
            assert offset == self.expected[number], f"[{number}]: {offset} came instead of {self.expected[number]}"
            assert message.value() == b"%d:%d" % (self.topics[number], offset), "a record of another topic"
            self.expected[number] = offset + 1
            self.held.append((number, self.topics[number], offset))

    @rule()
    def call_ends(self) -> None:
        """The call's records are the application's now."""
        self.held.clear()

    @rule()
    def call_is_broken_off(self) -> None:
        """The call's records come again: all of them, and no others unless it held records of two topics."""
        for state in self.assignment:
            number = state.partition
            held = [(topic, offset) for each, topic, offset in self.held if each == number]
            if not held:
                continue
            before = state.position
            self.queue.hand_back(state, min(offset for _, offset in held))
            own = [offset for topic, offset in held if topic == self.topics[number]]
            if state.position >= 0:
                first = min(own, default=before)
                one_topic = len({topic for topic, _ in held}) == 1
                assert state.position == first or (not one_topic and state.position < first)
                self.expected[number] = state.position
        self.held.clear()
        self.plans()

    # ---- the consumer's loop

    @rule(rounds=st.integers(1, 4), limit=st.integers(0, 4))
    def all_goes_well(self, rounds: int, limit: int) -> None:
        """Some rounds without trouble, so that runs get far; the last request stays out."""
        for _ in range(rounds):
            while self.sent:
                if self.sent[0].response is None:
                    self.broker_answers(0)
                self.settle(next(item for item in self.sent if item.response is not None))
            for number in range(PARTITIONS):
                self.finds(number)
            self.takes(limit)
            self.plans()

    @rule()
    def plans(self) -> None:
        self.now_s += 2.0
        busy = {item.planned.node_id for item in self.sent}
        planned, _, _ = self.fetcher.plan(self.view, self.now_s, busy)
        self.sent += [Sent(item, beside=False) for item in planned]
        overtakable = {
            item.planned.node_id: item.planned
            for item in self.sent
            if not item.beside
            and not any(other.beside and other.planned.node_id == item.planned.node_id for other in self.sent)
        }
        self.sent += [Sent(item, beside=True) for item in self.fetcher.plan_beside(self.view, self.now_s, overtakable)]
        for state in self.assignment:
            self.follow(state)

    def follow(self, state: PartitionState) -> None:
        """Another topic: read on where it was left, or look for its beginning."""
        number, topic = state.partition, state.topic_id.int
        before = self.topics.get(number)
        self.topics[number] = topic
        if before is None or before == topic:
            return
        offset = self.expected[number]
        if offset is not None:
            self.left[number, before] = offset
        if state.phase is Phase.FETCH:
            assert state.next_fetch_offset == self.left[number, topic]
            self.expected[number] = state.next_fetch_offset
        else:
            self.expected[number] = None

    @rule(number=partitions)
    def finds(self, number: int) -> None:
        """A look-up of this partition is answered."""
        state = self.assignment.get(("t", number))
        if state is None:
            return
        log = self.logs[number]
        if state.phase is Phase.LOOKUP:
            offset = log.first if state.lookup_timestamp == EARLIEST_TIMESTAMP else log.end
            state.found(offset, log.epoch)
            self.expected[number] = offset
        elif state.phase is Phase.VALIDATE:
            state.leader_epoch = max(state.leader_epoch, log.epoch)
            state.move(Phase.FETCH)

    @rule(late=st.booleans())
    def learns(self, late: bool) -> None:
        """Metadata arrives; from a broker that lags behind, of the topic before."""
        self.view = self.seen_now()
        if late and self.topic > 1:
            rows = {number: PartitionView(number, 1, 1) for number in range(PARTITIONS)}
            self.view = ClusterView(self.view.brokers, {"t": TopicView("t", UUID(int=self.topic - 1), rows)})

    # ---- brokers and the network

    @rule(number=partitions, count=st.integers(1, 5))
    def records_come(self, number: int, count: int) -> None:
        self.logs[number].end += count

    @rule(number=partitions)
    def leader_moves(self, number: int) -> None:
        log = self.logs[number]
        log.leader, log.epoch = 3 - log.leader, log.epoch + 1

    @rule(sizes=st.lists(st.integers(0, 9), min_size=PARTITIONS, max_size=PARTITIONS))
    def topic_is_made_anew(self, sizes: list[int]) -> None:
        self.topic += 1
        self.logs = [Log(end=size) for size in sizes]

    @rule(pick=picks)
    def broker_answers(self, pick: int) -> None:
        waiting = [item for item in self.sent if item.response is None]
        if waiting:
            item = waiting[pick % len(waiting)]
            wanted = item.planned.session.wanted
            rows = [self.row(item.planned.node_id, number, wanted[topic, number]) for topic, number in wanted]
            ids = {wanted[key].topic_id for key in wanted}
            assert len(ids) == 1
            topic = FetchableTopicResponse(topic_id=ids.pop(), partitions=rows)
            item.response = FetchResponse(session_id=9, responses=[topic])

    def row(self, node: int, number: int, wanted: Any) -> PartitionData:
        log = self.logs[number]
        code = 0
        if wanted.topic_id.int != self.topic:
            code = KafkaError.UNKNOWN_TOPIC_ID
        elif log.leader != node:
            code = KafkaError.NOT_LEADER_FOR_PARTITION
        elif wanted.leader_epoch < log.epoch:
            code = KafkaError.FENCED_LEADER_EPOCH
        elif not log.first <= wanted.offset <= log.end:
            code = KafkaError.OFFSET_OUT_OF_RANGE
        if code:
            return PartitionData(partition_index=number, error_code=code, records=None)
        offsets = range(wanted.offset, min(log.end, wanted.offset + BATCH))
        rows = [NewRecord(b"%d:%d" % (self.topic, offset), timestamp_ms=1) for offset in offsets]
        data = (
            memoryview(build_batch(rows, base_offset=wanted.offset, partition_leader_epoch=log.epoch)) if rows else None
        )
        return PartitionData(number, 0, log.end, log.end, log.first, records=data)

    @rule(pick=picks)
    def answer_arrives(self, pick: int) -> None:
        ready = [item for item in self.sent if item.response is not None]
        if ready:
            self.settle(ready[pick % len(ready)])
            self.plans()

    @rule(number=partitions, start=st.sampled_from([0, 1, 3]), anew=st.booleans())
    def an_old_answer_comes_first(self, number: int, start: int, anew: bool) -> None:
        """A request before a seek or a new assignment is answered before one after it."""
        self.records_come(number, 2)
        (self.assigns if anew else self.seeks)(number, start)
        for item in [item for item in self.sent if item.response is None][:1]:
            self.broker_answers(0)
            self.settle(item)
        self.takes(2)

    @rule(pick=picks)
    def connection_breaks(self, pick: int) -> None:
        if self.sent:
            item = self.sent[pick % len(self.sent)]
            item.response = None
            self.settle(item)

    def settle(self, item: Sent) -> None:
        self.sent.remove(item)
        if item.beside:
            self.fetcher.received_beside(item.planned, item.response, self.now_s)
        elif item.response is None:
            self.fetcher.failed(item.planned, self.now_s)
        else:
            self.fetcher.received(item.planned, item.response, self.now_s)
        for state in self.assignment:
            if state.phase is Phase.LOOKUP and not state.chunks:
                self.expected[state.partition] = None  # the offset was out of range: a reset

    # ---- what must always hold

    @invariant()
    def positions_move_by_records_or_resets(self) -> None:
        for state in self.assignment:
            expected = self.expected[state.partition]
            if expected is not None:
                assert state.position == expected, f"[{state.partition}] is at {state.position} instead of {expected}"

    def teardown(self) -> None:
        """Left alone, everything that is assigned is read to its end."""
        for state in self.assignment:
            self.queue.resume(state)
        for _ in range(60):
            self.takes(100)
            self.learns(late=False)
            self.plans()
            while self.sent:
                if self.sent[0].response is None:
                    self.broker_answers(0)
                self.settle(next(item for item in self.sent if item.response is not None))
                self.takes(100)
            for number in range(PARTITIONS):
                self.finds(number)
        for state in self.assignment:
            log = self.logs[state.partition]
            assert (self.topics[state.partition], state.position) == (self.topic, log.end)


TestPositions = Positions.TestCase
TestPositions.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
