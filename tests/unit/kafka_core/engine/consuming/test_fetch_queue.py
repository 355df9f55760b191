"""The queue between fetcher and application: order, turns, marks, pauses, events, broken batches."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any
from uuid import UUID

import pytest

from kafka_core.engine.consuming.chunks import Chunk
from kafka_core.engine.consuming.fetch_queue import LITTLE_BYTES, QUANTUM, FetchQueue, Marks
from kafka_core.engine.consuming.subscription import LATEST_TIMESTAMP, PartitionState, Phase
from kafka_core.errors import CorruptRecordError, KafkaError
from kafka_core.model import OFFSET_END


class FakeCursor:
    """Hands out (partition, offset) pairs; `broken_at` raises there."""

    def __init__(self, partition: int, offsets: range, broken_at: int | None = None) -> None:
        self.partition, self.left, self.position = partition, deque(offsets), offsets.start
        self.broken_at = broken_at
        self.end = offsets.stop

    @property
    def exhausted(self) -> bool:
        return not self.left

    def next(self) -> Any:
        if not self.left:
            return None
        if self.left[0] == self.broken_at:
            raise CorruptRecordError("lengths do not fit")
        offset = self.left.popleft()
        self.position = offset + 1
        return self.partition, offset

    def take(self, out: list[Any], limit: int) -> int:
        count = 0
        while count < limit and (found := self.next()) is not None:
            out.append(found)
            count += 1
        return count

    def take_columns(self, sink: Any, limit: int) -> int:
        count = self.take(sink.out, min(limit, sink.room - len(sink.out)))
        sink.rows = len(sink.out)
        return count


class Sink:
    def __init__(self, room: int = 10**9) -> None:
        self.out: list[Any] = []
        self.rows, self.room = 0, room


class Bench:
    """A queue with its calls counted."""

    def __init__(self, records: int = 100, size_bytes: int = 10**6, **options: Any) -> None:
        self.wakes, self.rooms = 0, 0
        self.queue = FetchQueue(Marks(records, size_bytes), contextlib.nullcontext(), self.wake, self.room, **options)

    def wake(self) -> None:
        self.wakes += 1

    def room(self) -> None:
        self.rooms += 1

    def push(self, state: PartitionState, *ranges: range, end: int | None = None, broken_at: int | None = None) -> None:
        cursors: Any = deque((FakeCursor(state.partition, item, broken_at), 1) for item in ranges)
        count = sum(map(len, ranges))
        last = ranges[-1].stop if ranges else state.next_fetch_offset
        chunk = Chunk(state.version, cursors, last if end is None else end, 1, count, count * 10)
        self.queue.push(state, chunk)

    def event(self, state: PartitionState, what: Any) -> None:
        self.queue.push(state, Chunk(state.version, deque(), 0, -1, 0, 0, what))

    def take(self, limit: int = 10**6) -> list[Any]:
        out: list[Any] = []
        assert self.queue.take(out, limit) == len(out)
        self.queue.given()
        return out


def state_of(partition: int, offset: int = 0) -> PartitionState:
    state = PartitionState("t", partition)
    state.restart(offset)
    return state


def test_records_come_in_order_and_move_position_and_stored_offset() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(3), range(3, 5))
    assert bench.take(4) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert (state.position, state.stored, state.stored_epoch, state.consumed) == (4, 4, 1, True)
    assert bench.queue.next() == (0, 4)
    assert bench.queue.next() is None
    assert (state.position, state.queued_records, state.queued_bytes, bench.queue.queued_bytes) == (5, 0, 0, 0)


def test_the_position_passes_compacted_and_control_records_at_the_end() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(2), end=9)
    bench.take()
    assert state.position == 9
    bench.push(state, end=12)  # nothing but control records
    assert (state.position, state.stored) == (12, 12)
    bench.push(state, range(12, 13))
    bench.push(state, end=15)
    assert bench.take() == [(0, 12)]
    assert state.position == 15


def test_without_auto_store_only_the_position_moves() -> None:
    bench, state = Bench(auto_store=False), state_of(0)
    bench.push(state, range(3))
    bench.queue.next()
    bench.take()
    assert (state.position, state.stored) == (3, -1001)


@pytest.mark.parametrize("by_one", [True, False])
def test_partitions_take_turns(by_one: bool) -> None:
    bench, first, second = Bench(), state_of(0), state_of(1)
    bench.push(first, range(3 * QUANTUM))
    bench.push(second, range(3))
    if by_one:
        found = [bench.queue.next() for _ in range(QUANTUM + 3)]
    else:
        found = bench.take(QUANTUM + 3)
    assert [partition for partition, _ in found] == [0] * QUANTUM + [1] * 3
    assert len(bench.take()) == 2 * QUANTUM


def test_a_chunk_for_an_older_version_is_dropped() -> None:
    bench, state = Bench(), state_of(0)
    old = state.version
    bench.queue.restart(state, 50)
    bench.queue.push(state, Chunk(old, deque([(FakeCursor(0, range(5)), 1)]), 5, 1, 5, 50))
    assert bench.queue.next() is None
    assert state.position == 50


def test_drop_forgets_everything_of_a_partition() -> None:
    bench, state, other = Bench(), state_of(0), state_of(1)
    bench.push(state, range(5))
    bench.push(other, range(2))
    bench.queue.drop(state)
    assert bench.take() == [(1, 0), (1, 1)]
    assert (state.queued_records, bench.queue.queued_bytes) == (0, 0)


def test_pause_keeps_what_is_fetched() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(5))
    assert bench.queue.next() == (0, 0)
    bench.queue.pause(state)
    bench.queue.pause(state)
    bench.push(state, range(5, 6))
    assert bench.queue.next() is None
    bench.queue.resume(state)
    bench.queue.resume(state)
    assert [offset for _, offset in bench.take()] == [1, 2, 3, 4, 5]


def test_events_come_in_their_place() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(2))
    bench.event(state, "end")
    assert bench.queue.peek_event() is None
    assert bench.take() == [(0, 0), (0, 1), "end"]
    bench.event(state, "again")
    bench.push(state, end=7)
    assert bench.queue.next() == "again"
    assert bench.queue.next() is None
    assert state.position == 7


def test_columns_stop_before_an_event() -> None:
    bench, state, sink = Bench(), state_of(0), Sink()
    bench.push(state, range(2))
    bench.event(state, "end")
    assert bench.queue.take_columns(sink, 10, {}) == 2
    assert bench.queue.take_columns(sink, 10, {}) == 0
    assert bench.queue.peek_event() == "end"


def test_columns_that_are_full_leave_the_rest() -> None:
    bench, state, sink = Bench(), state_of(0), Sink(room=3)
    bench.push(state, range(5), range(5, 7))
    assert bench.queue.take_columns(sink, 10, {}) == 3
    assert state.position == 3
    assert [offset for _, offset in bench.take()] == [3, 4, 5, 6]


def test_the_taker_is_woken_only_while_it_waits() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(1))
    assert bench.wakes == 0
    bench.queue.waiting = True
    bench.push(state, range(1, 2))
    assert bench.wakes == 1


def test_one_who_waits_for_little_is_known() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(2))
    assert not bench.queue.little_for_one_waiting(), "nobody waits"
    bench.queue.waiting = 1
    assert bench.queue.little_for_one_waiting()
    bench.push(state, range(2, LITTLE_BYTES // 10 + 1))
    assert not bench.queue.little_for_one_waiting()
    bench.take()
    assert not bench.queue.little_for_one_waiting(), "there is nothing"


def test_a_full_partition_is_held_back_until_half_is_taken_and_room_is_told_once() -> None:
    bench, state = Bench(records=10), state_of(0)
    assert bench.queue.has_room(state)
    for start in range(0, 12, 2):
        bench.push(state, range(start, start + 2))
    assert not bench.queue.has_room(state)
    bench.take(6)
    assert bench.rooms == 0
    assert not bench.queue.has_room(state)
    bench.take(2)
    assert bench.rooms == 1
    assert bench.queue.has_room(state)
    bench.take()
    assert bench.rooms == 1


def test_the_bound_on_bytes_holds_everybody_back_but_empty_partitions() -> None:
    bench, state, other, empty = Bench(size_bytes=100), state_of(0), state_of(1), state_of(2)
    bench.push(state, range(9))
    bench.push(other, range(1))
    assert not bench.queue.has_room(other)
    assert bench.queue.has_room(empty)
    bench.take(9)
    assert bench.rooms == 1
    assert bench.queue.has_room(other)


def test_only_a_partition_that_still_fetches_leaves_for_another_phase() -> None:
    bench, state = Bench(), state_of(0)
    before = state.version
    state.void()
    assert not bench.queue.leave(state, before, Phase.LOOKUP), "it was seeked meanwhile"
    assert bench.queue.leave(state, state.version, Phase.HALTED)
    assert not bench.queue.leave(state, state.version, Phase.LOOKUP), "it was halted meanwhile"
    assert state.phase is Phase.HALTED


@pytest.mark.parametrize("by_one", [True, False])
def test_a_batch_that_breaks_while_it_is_read_gives_what_is_before_it_then_one_event(by_one: bool) -> None:
    seen: list[tuple[KafkaError, int]] = []

    def event(state: PartitionState, error: KafkaError, offset: int) -> str:
        seen.append((error, offset))
        return "broken"

    bench, state = Bench(event=event), state_of(0)
    bench.push(state, range(5), broken_at=3)
    bench.push(state, range(5, 9))
    version = state.version
    found = [bench.queue.next() for _ in range(4)] if by_one else bench.take()
    assert found == [(0, 0), (0, 1), (0, 2), "broken"]
    assert bench.queue.next() is None
    assert (state.position, state.phase, bench.queue.queued_bytes) == (3, Phase.HALTED, 0)
    assert state.version > version
    assert seen[0][1] == 3
    assert "seek()" in seen[0][0].str()


def test_records_of_an_interrupted_call_come_again_and_are_not_committed() -> None:
    bench, state = Bench(), PartitionState("t", 0)
    state.restart(0)
    bench.push(state, range(10))
    out: list[Any] = []
    assert bench.queue.take(out, 4) == 4
    bench.queue.given()
    assert (state.position, state.stored) == (4, 4)
    bench.queue.hand_back(state, 2)
    assert (state.position, state.stored, state.next_fetch_offset, state.phase) == (2, 2, 2, Phase.FETCH)
    assert bench.queue.next() is None  # fetched anew
    bench.queue.hand_back(state, 5)  # a seek has gone back further meanwhile
    assert state.position == 2


def test_a_seek_forward_is_not_undone_by_records_taken_before() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(5))
    bench.queue.take([], 5)
    bench.queue.restart(state, 8)
    bench.queue.hand_back(state, 0)
    assert state.position == 8, "nothing was taken since the seek"
    bench.push(state, range(8, 12))
    bench.queue.take([], 2)
    bench.queue.hand_back(state, 0)
    assert (state.position, state.phase) == (8, Phase.FETCH), "what was taken since the seek comes again"


@pytest.mark.parametrize(("found", "expected"), [(3, 0), (7, 7)], ids=["truncated", "cut off at its beginning"])
def test_a_reset_is_gone_back_over_only_where_records_may_be_left(found: int, expected: int) -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(5))
    bench.queue.take([], 5)
    state.look_up(LATEST_TIMESTAMP)
    state.found(found)
    bench.push(state, range(found, found + 2))
    bench.queue.take([], 1)
    bench.queue.hand_back(state, 0)
    assert state.position == expected


def test_the_offset_that_a_seek_to_the_end_found_is_where_it_goes_back_to() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(5))
    bench.queue.take([], 5)
    bench.queue.restart(state, OFFSET_END)
    bench.queue.hand_back(state, 0)
    assert state.phase is Phase.LOOKUP
    state.found(9)
    bench.push(state, range(9, 12))
    bench.queue.take([], 3)
    bench.queue.hand_back(state, 0)
    assert state.position == 9


def test_what_was_taken_of_a_topic_comes_again_though_another_one_was_named_meanwhile() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(5))
    bench.queue.take([], 5)
    former = state.topic_id
    bench.queue.change_topic(state, UUID(int=7), 0)
    offset, start = state.former_positions[former]
    bench.queue.change_topic(state, former, offset, start)
    assert state.position == 5
    bench.queue.hand_back(state, 2)
    assert state.position == 2


@pytest.mark.parametrize("columns", [False, True])
def test_a_taker_that_is_interrupted_finds_its_partition_where_it_was(columns: bool) -> None:
    bench, state, other = Bench(), PartitionState("t", 0), PartitionState("t", 1)
    for each in (state, other):
        each.restart(0)
        bench.push(each, range(4))
    walk = state.chunks[0].cursors[0][0]

    def interrupted(*_: object) -> None:
        walk.left.popleft()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    walk.next = interrupted  # type: ignore[method-assign]
    first: dict[tuple[str, int], int] = {}
    with pytest.raises(KeyboardInterrupt):
        bench.queue.take_columns(Sink(), 3, first) if columns else bench.queue.next()
    assert (state.position, state.next_fetch_offset, state.stored) == (0, 0, -1001)
    assert first == ({("t", 0): 0} if columns else {})
    assert bench.queue.queued_bytes == other.queued_bytes
    assert bench.take() == [(1, offset) for offset in range(4)]
    bench.push(state, range(4))
    assert bench.take() == [(0, offset) for offset in range(4)]


def test_offsets_stored_by_hand_stay_when_records_are_handed_back() -> None:
    bench, state = Bench(auto_store=False), PartitionState("t", 0)
    state.restart(0)
    bench.push(state, range(10))
    bench.queue.take([], 4)
    state.stored = 1
    bench.queue.hand_back(state, 0)
    assert (state.position, state.stored) == (0, 1)


def test_offsets_are_stored_when_the_call_has_returned_the_records() -> None:
    bench, state = Bench(), state_of(0)
    bench.push(state, range(3))
    bench.queue.take([], 2)
    assert (state.position, state.stored) == (2, -1001)
    bench.queue.take([], 5)
    bench.push(state, end=4)  # control records behind what is held
    assert (state.position, state.stored) == (4, -1001)
    bench.queue.given()
    assert (state.stored, state.stored_epoch) == (4, 1)
    bench.push(state, range(4, 6))
    bench.queue.take([], 1)
    bench.queue.hand_back(state, 4)
    bench.queue.given()
    assert (state.position, state.stored) == (4, 4)
    bench.push(state, range(4, 6))
    bench.queue.take([], 1)
    bench.queue.restart(state, 0)
    bench.queue.given()
    assert state.stored == 4, "a seek meanwhile: what was held is not committed"
