"""The records that were fetched and not yet taken: per-partition chunks of open batches, handed out in turns.

Must not know requests or loops. The lock and the two calls (`wake` the taker, `room` for the fetcher) are handed in.
Spec: DESIGN §4; names of the marks are librdkafka's (`queued.min.messages`, `queued.max.messages.kbytes`).

Order is kept within a partition. Between partitions the turn changes after `QUANTUM` records, so that one partition
with a long queue can't keep the others waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from kafka_core.engine.consuming.chunks import Chunk, Cursor
from kafka_core.engine.consuming.subscription import Key, PartitionState, Phase
from kafka_core.engine.consuming.truncation import EpochEnd
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import OFFSET_INVALID, LogTruncation

LITTLE_BYTES: Final = 16_384
"""Bytes that an application takes in less time than a request for more needs."""
QUANTUM: Final = 1000
"""Records of one partition that are handed out before it is another one's turn."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The bounds of the records kept ready.

    Attributes:
        records: per partition; with more than this it is held back until half of it is left.
        size_bytes: all partitions together; the same.
    """

    records: int
    size_bytes: int


class FetchQueue:
    """Chunks of all partitions.

    The loop's side pushes, drops, pauses; the taker's side takes. Both under `lock`.

    Args:
        marks: when to hold partitions back.
        lock: a re-entrant lock; a null context where loop and taker are one thread.
        wake: called by `push` if somebody waits (`waiting`, a count).
        room: called by the taker when partitions that were held back may be fetched again.
        auto_store: the offset after each record handed out is stored for the next commit: by `next` at once, by the
            others when `given` is called.
        event: makes the message for a batch whose records can't be walked, though its checksum is right; without it
            the error is raised.

    Attributes:
        auto_store: as given; may be changed before anything is taken.
    """

    def __init__(
        self,
        marks: Marks,
        lock: AbstractContextManager[Any],
        wake: Callable[[], object],
        room: Callable[[], object],
        *,
        auto_store: bool = True,
        event: Callable[[PartitionState, KafkaError, int], Any] | None = None,
    ) -> None:
        self._marks = marks
        self._lock = lock
        self._wake = wake
        self._room = room
        self.auto_store = auto_store
        self._event = event
        self._ring: deque[PartitionState] = deque()
        self._turn = 0
        self._held: set[PartitionState] = set()
        self._not_given: dict[PartitionState, tuple[int, int]] = {}  # offset and epoch to store
        self._draining = False
        self.waiting = 0
        self.queued_bytes = 0

    def __len__(self) -> int:
        """Partitions with something to take."""
        return len(self._ring)

    # ---- the loop's side

    def little_for_one_waiting(self) -> bool:
        """Whether somebody waits, for what takes less time to take than to fetch more."""
        return self.waiting > 0 and 0 < self.queued_bytes <= LITTLE_BYTES

    def push(self, state: PartitionState, chunk: Chunk) -> None:
        """Adds a chunk at the end of a partition; one for an older version of the partition is dropped."""
        with self._lock:
            if not state.active or chunk.version != state.version:
                return
            if not chunk.cursors and chunk.event is None:
                self._skip(state, chunk)
                return
            if not state.chunks and not state.paused:
                self._ring.append(state)
            state.chunks.append(chunk)
            state.queued_records += chunk.records
            state.queued_bytes += chunk.size_bytes
            self.queued_bytes += chunk.size_bytes
        if self.waiting:
            self._wake()

    def _skip(self, state: PartitionState, chunk: Chunk) -> None:
        """Moves the position over control records: at once, or with the chunk before."""
        if state.chunks and state.chunks[-1].event is None:
            state.chunks[-1].end_offset = chunk.end_offset
            state.chunks[-1].end_epoch = chunk.end_epoch
        elif state.chunks:
            state.chunks.append(chunk)
        else:
            self._advance(state, chunk.end_offset, chunk.end_epoch)

    def drop(self, state: PartitionState) -> None:
        """Forgets a partition's queued records; those taken and not given yet are not stored either."""
        with self._lock:
            if state in self._ring:  # maybe without a chunk: a taker was interrupted
                self._ring.remove(state)
                self._turn = 0
            self.queued_bytes -= state.queued_bytes
            state.chunks.clear()
            state.queued_records = state.queued_bytes = 0
            state.held_back = False
            self._held.discard(state)
            self._not_given.pop(state, None)

    def restart(self, state: PartitionState, offset: int, leader_epoch: int | None = None) -> None:
        """`PartitionState.restart` with the queue emptied, as one step for the taker."""
        with self._lock:
            self.drop(state)
            state.restart(offset, leader_epoch)

    def go_back(self, state: PartitionState, offset: int) -> None:
        """`PartitionState.go_back` with the queue emptied, as one step for the taker."""
        with self._lock:
            self.drop(state)
            state.go_back(offset)

    def cut(self, state: PartitionState, end: EpochEnd, reset: int | None) -> LogTruncation | None:
        """`PartitionState.cut` with the queue emptied, as one step for the taker."""
        with self._lock:
            self.drop(state)
            return state.cut(end, reset)

    def change_topic(self, state: PartitionState, topic_id: UUID, offset: int, start: int = OFFSET_INVALID) -> None:
        """`PartitionState.change_topic` and `restart` with the queue emptied, as one step for the taker.

        Args:
            start: of a topic that was read before.
        """
        with self._lock:
            self.drop(state)
            state.change_topic(topic_id)
            state.restart(offset)
            if start >= 0:
                state.start = start

    def leave(self, state: PartitionState, version: int, phase: Phase) -> bool:
        """Moves a partition from FETCH to another phase, as one step for the taker; False if it has changed its mind.

        The taker may halt it at any moment, for a batch that can't be read.
        """
        with self._lock:
            if state.version != version or state.phase is not Phase.FETCH:
                return False
            state.move(phase)
            return True

    def hand_back(self, state: PartitionState, offset: int, *, unstore: bool = False) -> None:
        """Records from `offset` on were taken, but never reached the application: they come again, uncommitted.

        Args:
            offset: the lowest of them; some may have been taken before a seek, and do not come again.
            unstore: whoever took them has stored their offsets itself.
        """
        with self._lock:
            offset = max(offset, state.start)
            if not 0 <= offset < state.position:
                return  # something else has moved the partition meanwhile, a seek for example
            self.go_back(state, offset)
            if (self.auto_store or unstore) and state.stored > offset:
                state.stored, state.stored_epoch = offset, state.fetch_epoch

    def pause(self, state: PartitionState) -> None:
        """Keeps queued records but hands none out."""
        with self._lock:
            if not state.paused:
                state.paused = True
                if state.chunks:
                    self._ring.remove(state)
                    self._turn = 0

    def resume(self, state: PartitionState) -> None:
        """Hands out again."""
        with self._lock:
            if state.paused:
                state.paused, state.hurried = False, True
                if state.chunks:
                    self._ring.append(state)
        if self.waiting and state.chunks:
            self._wake()

    def has_room(self, state: PartitionState) -> bool:
        """Whether more of this partition should be fetched; remembers the answer until the low marks are reached."""
        marks = self._marks
        with self._lock:
            if state.held_back:
                state.held_back = state.queued_records > marks.records // 2 or self._bytes_over(state, marks, 2)
            else:
                state.held_back = state.queued_records >= marks.records or self._bytes_over(state, marks, 1)
            if state.held_back:
                self._held.add(state)
            return not state.held_back

    def _bytes_over(self, state: PartitionState, marks: Marks, divisor: int) -> bool:
        # A partition with nothing queued is always fetched: a paused neighbour may hold all the bytes for ever.
        return state.queued_bytes > 0 and self.queued_bytes >= marks.size_bytes // divisor

    # ---- the taker's side

    def next(self) -> Any | None:
        """One message or event; None when there is nothing."""
        state, before = None, -1
        try:
            with self._lock:
                ring = self._ring
                while ring:
                    state = ring[0]
                    before = state.position
                    chunk = state.chunks[0]
                    if chunk.event is not None:
                        return self._finish(state, chunk)
                    cursors = chunk.cursors
                    while cursors:
                        cursor, epoch = cursors[0]
                        try:
                            message = cursor.next()
                        except KafkaException as error:
                            self._spoil(state, cursor, epoch, error)
                            return self._finish(state, state.chunks[0])
                        if message is not None:
                            position = state.position = cursor.position
                            state.position_epoch, state.consumed = epoch, True
                            if self.auto_store:
                                state.stored, state.stored_epoch = position, epoch
                            self._turn += 1
                            if self._turn >= QUANTUM:
                                self._rotate()
                            return message
                        cursors.popleft()
                    self._finish(state, chunk)
                return None
        except BaseException:
            if state is not None:
                self._mend(state, before)
            raise

    def given(self) -> None:
        """The messages taken since the last call have reached the application: now their offsets may be committed."""
        if self._not_given:
            with self._lock:
                for state, (offset, epoch) in self._not_given.items():
                    state.stored, state.stored_epoch = offset, epoch
                self._not_given.clear()

    def take(self, out: list[Any], limit: int, only: Collection[Key] | None = None) -> int:
        """Appends up to `limit` messages and events to `out`; how many there were. `given` must follow.

        Args:
            only: the partitions to take from; None: all.
        """
        if only is None:
            return self._drain(limit, lambda cursor, count: cursor.take(out, count), out.__len__, out.append)
        with self._lock, self._set_aside(only):
            return self._drain(limit, lambda cursor, count: cursor.take(out, count), out.__len__, out.append)

    @contextmanager
    def _set_aside(self, only: Collection[Key]) -> Iterator[None]:
        """Leaves only these partitions in the ring for a while; the others keep their turns."""
        aside = [state for state in self._ring if state.key not in only]
        if not aside:
            yield
            return
        first, turn = self._ring[0], self._turn
        self._turn = 0
        for state in aside:
            self._ring.remove(state)
        try:
            yield
        finally:
            self._ring.extendleft(reversed(aside))
            self._turn = turn if self._ring[0] is first else 0

    def take_columns(self, sink: Any, limit: int, first: dict[Key, int]) -> int:
        """The same into columns, but it stops before an event, which `next` hands out.

        Args:
            first: gets the lowest offset of each partition here (a seek may go back meanwhile), for `hand_back`.
        """

        def fill(cursor: Cursor, count: int) -> None:
            state = self._ring[0]
            first[state.key] = min(state.position, first.get(state.key, state.position))
            cursor.take_columns(sink, count)

        return self._drain(limit, fill, lambda: int(sink.rows), None)

    def peek_event(self) -> Any | None:
        """The event that `next` would give now; None if it is a record or nothing."""
        with self._lock:
            return self._ring[0].chunks[0].event if self._ring else None

    def _drain(
        self,
        limit: int,
        fill: Callable[[Cursor, int], object],
        filled: Callable[[], int],
        on_event: Callable[[Any], object] | None,
    ) -> int:
        taken = 0
        state = None
        try:
            with self._lock, self._not_given_yet():
                ring = self._ring
                while ring and taken < limit:
                    state = ring[0]
                    chunk = state.chunks[0]
                    if chunk.event is not None:
                        if on_event is None:
                            break
                        on_event(self._finish(state, chunk))
                        taken += 1
                        continue
                    cursors = chunk.cursors
                    room = min(limit - taken, QUANTUM - self._turn)
                    want = room
                    cursor, epoch = None, -1
                    while want > 0 and cursors:
                        cursor, epoch = cursors[0]
                        before = filled()
                        try:
                            fill(cursor, want)
                        except KafkaException as error:
                            taken += room - want + filled() - before
                            self._spoil(state, cursor, epoch, error)
                            break
                        got = filled() - before
                        want -= got
                        if cursor.exhausted:
                            cursors.popleft()
                        elif want > 0:
                            limit = 0  # the columns are full before the limit: the rest is for the next call
                            break
                    if state.chunks[0] is not chunk:
                        continue  # spoiled: its event is there now
                    taken += room - want
                    if want < room and cursor is not None:
                        self._advance(state, cursor.position, epoch)
                    if not cursors:
                        self._finish(state, chunk)
                    else:
                        self._turn += room - want
                        if self._turn >= QUANTUM:
                            self._rotate()
        except BaseException:
            if state is not None:
                self._mend(state, state.position)
            raise
        return taken

    def _mend(self, state: PartitionState, offset: int) -> None:
        """A taker was interrupted (Ctrl-C, a signal handler that raises) in the middle: its partition begins again."""
        with self._lock:
            self.go_back(state, offset)
            if self.auto_store and state.stored > offset:
                state.stored, state.stored_epoch = offset, state.fetch_epoch

    def _spoil(self, state: PartitionState, cursor: Cursor, epoch: int, error: KafkaException) -> None:
        """A batch broke while it was read: records before are handed out, an event follows, the rest is dropped."""
        if self._event is None:
            raise error
        offset = cursor.position
        text = (
            f"{error}. Nothing was skipped: seek() past the batch to go on, or to {offset} to try it again "
            f"({state.topic}[{state.partition}])"
        )
        self._advance(state, offset, epoch)
        self.queued_bytes -= state.queued_bytes
        state.queued_records = state.queued_bytes = 0
        state.void()  # the fetch that may be under way
        state.phase = Phase.HALTED
        state.chunks.clear()
        event = self._event(state, KafkaError(error.code, text), offset)
        state.chunks.append(Chunk(state.version, deque(), offset, epoch, 0, 0, event))

    @contextmanager
    def _not_given_yet(self) -> Iterator[None]:
        self._draining = True
        try:
            yield
        finally:
            self._draining = False

    def _advance(self, state: PartitionState, position: int, epoch: int) -> None:
        # Also where nothing was to be handed out: aborted records, markers, the gaps that compaction leaves.
        state.consumed = state.consumed or position != state.position
        state.position, state.position_epoch = position, epoch
        if not self.auto_store:
            return
        if self._draining or state in self._not_given:
            self._not_given[state] = position, epoch
        else:
            state.stored, state.stored_epoch = position, epoch

    def _rotate(self) -> None:
        self._turn = 0
        self._ring.rotate(-1)

    def _finish(self, state: PartitionState, chunk: Chunk) -> Any:
        """The first chunk of the first partition is used up; gives back its event."""
        state.chunks.popleft()
        state.queued_records -= chunk.records
        state.queued_bytes -= chunk.size_bytes
        self.queued_bytes -= chunk.size_bytes
        if chunk.event is None:
            self._advance(state, chunk.end_offset, chunk.end_epoch)
        if state.chunks:
            self._rotate()
        else:
            self._turn = 0
            self._ring.popleft()
        if self._held:
            self._tell_room()
        return chunk.event

    def _tell_room(self) -> None:
        """Asks for more, once, when a partition that was held back has fallen below the low marks."""
        marks = self._marks
        low = marks.records // 2
        if any(state.queued_records <= low and not self._bytes_over(state, marks, 2) for state in self._held):
            self._held.clear()
            self._room()
