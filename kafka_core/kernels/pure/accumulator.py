"""The memory behind produce(): records are appended to open batches on the caller's thread; the loop takes batches.

Must not know of sockets, leaders or retries.
Spec: DESIGN §3; KIP-480 (sticky partitions); the `partitioner` property of librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping
from contextlib import AbstractContextManager, nullcontext
from operator import index
from typing import Any, NamedTuple

from kafka_core.errors import KafkaError, KafkaException, StateError
from kafka_core.kernels.abc import HEADER_BYTES, Buffer, DeliveryCallback, Headers, Payload, RecordColumns
from kafka_core.kernels.pure.batch import Batch
from kafka_core.kernels.pure.message import exact_text
from kafka_core.kernels.pure.partitioners import PARTITIONERS, XorShift, partition_of
from kafka_core.kernels.pure.prepared import PreparedRequest
from kafka_core.kernels.pure.record_batch import encode_headers
from kafka_core.kernels.pure.record_columns import Rows

_EVERYTHING = 2**31 - 1
_INT64_END = 2**63
_LEAST_OVERHEAD = 12


class Waiting(NamedTuple):
    """A record whose topic's partitions are not known yet, and what it counts against the bounds."""

    key: bytes | None
    value: bytes | None
    partition: int
    callback: DeliveryCallback | None
    timestamp_ms: int
    header_section: bytes
    size_bytes: int
    since_s: float


class PartitionQueue:
    """The open batch of one partition and the sealed ones that nobody took yet."""

    __slots__ = ("index", "listed", "open", "sealed", "state")

    def __init__(self, state: TopicState, index: int) -> None:
        self.state = state
        self.index = index
        self.open: Batch | None = None
        self.sealed: list[Batch] = []
        self.listed = False


class TopicState:
    """Partitions of a topic; until their number is known (`count` 0) its records wait."""

    __slots__ = ("count", "moving", "name", "queues", "sticky", "waiting")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.sticky = -1
        self.queues: dict[int, PartitionQueue] = {}
        self.waiting: list[Waiting] = []
        self.moving = False


class Accumulator:
    """Bounded memory for records on their way out; see the module. API of `produce`: confluent_kafka.Producer.

    The bounds count records from `produce` until `settle`, batches that were taken included.

    Args:
        batch_size_bytes: a batch is sealed before it grows past this; one record may be larger.
        batch_max_records: a batch is sealed before it has more.
        max_queue_records: bound of `queued_records`; reached, `produce` raises BufferError. 0: none.
        max_queue_bytes: bound of `queued_bytes`.
        max_message_bytes: bound of one record in a batch of its own.
        partitioner: librdkafka's name of it.
        wake: called on the producing thread when the loop has something new to look at; once until the loop looks.
        time_ms: wall clock for records without a timestamp. Clocks of its own are a deliberate exception to DESIGN §12.
        monotonic: clock of `opened_at_s`.
        seed: of the choice of sticky partitions.
        lock: guards against several threads; None when there is one.

    Raises:
        ValueError: the partitioner is unknown.
    """

    def __init__(
        self,
        *,
        batch_size_bytes: int,
        batch_max_records: int,
        max_queue_records: int,
        max_queue_bytes: int,
        max_message_bytes: int,
        partitioner: str = "murmur2_random",
        wake: Callable[[], object] | None = None,
        time_ms: Callable[[], int] | None = None,
        monotonic: Callable[[], float] | None = None,
        seed: int = 1,
        lock: AbstractContextManager[Any] | None = None,
    ) -> None:
        if partitioner not in PARTITIONERS:
            raise ValueError(f"partitioner {partitioner!r} is unknown: {', '.join(PARTITIONERS)}")
        self._partitioner = partitioner
        self._batch_size = max(batch_size_bytes, HEADER_BYTES + 1)
        self._batch_records = max(batch_max_records, 1)
        self._max_records = max_queue_records
        self._max_bytes = max_queue_bytes
        self._max_message = max_message_bytes
        self._wake = wake
        self._time_ms = time_ms or (lambda: time.time_ns() // 1_000_000)
        self._monotonic = monotonic or time.monotonic
        self._random = XorShift(seed)
        self._lock: AbstractContextManager[Any] = lock or nullcontext()
        self._topics: dict[str, TopicState] = {}
        self._unknown: list[str] = []
        self._active: list[PartitionQueue] = []
        self._woken = False
        self._owed = False  # a wake failed: the loop has not seen what is there
        self.queued_records = 0
        self.queued_bytes = 0
        self.closed_reason: str | None = None

    # ---- the caller's thread

    def produce(
        self,
        topic: str,
        value: Payload = None,
        key: Payload = None,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers = None,
    ) -> None:
        """Append a record to its partition's open batch. O(size); does no I/O and waits for nothing.

        Args:
            topic: where to.
            value: bytes, str (sent as UTF-8), any buffer, or None.
            key: as value.
            partition: -1 leaves the choice to the partitioner.
            callback: called with (KafkaError or None, Message) by poll() or flush().
            on_delivery: the same thing under its other name.
            timestamp: milliseconds since the epoch, below -1 before it; 0 is now, -1 none.
            headers: dict or list of (str, bytes | str | None).

        Raises:
            BufferError: the queue is full; poll() or wait, then try again.
            StateError: the producer is closed, or the process was forked.
            KafkaException: MSG_SIZE_TOO_LARGE, _UNKNOWN_PARTITION.
        """
        callback = one_callback(callback, on_delivery)
        topic = exact_text(topic)
        partition, timestamp = _check_partition(partition), _check_timestamp(timestamp)
        section = pack_headers(headers)
        timestamp_ms = timestamp or self._time_ms()
        self._put(topic, flat(key, "key"), flat(value, "value"), partition, callback, timestamp_ms, section)

    def _put(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int,
        callback: DeliveryCallback | None,
        timestamp_ms: int,
        section: bytes,
    ) -> None:
        """Adds one record and wakes the loop if it has to know."""
        with self._lock:
            news = self._add(topic, key, value, partition, callback, timestamp_ms, section)
            wake = (news or self._owed) and not self._woken
            self._woken = self._woken or wake
        if wake and self._wake is not None:
            try:
                self._wake()
            except BaseException:
                self._woken, self._owed = False, True  # nobody was woken: the next record tries again
                raise
            self._owed = False

    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int:
        """`produce` for dicts (value, key, headers, timestamp, partition, callback); returns how many went in.

        A dict that can't be queued gets its KafkaError as `_error`; the others go on.

        Raises:
            StateError: the producer is closed, and took none of them.
            TypeError, ValueError: the topic or the callback is wrong, or an item is not a dict; none was taken.
        """
        accepted = 0
        common = one_callback(callback, on_delivery)
        topic = exact_text(topic)
        if not topic:
            raise ValueError("topic must not be empty")
        messages = list(messages)
        for item in messages:
            if not isinstance(item, dict):
                raise TypeError(f"a message must be a dict, not {type(item).__name__}")
        for item in messages:
            own = item.get("callback")
            own = own if own is not None else item.get("on_delivery")
            try:
                self.produce(
                    topic,
                    item.get("value"),
                    item.get("key"),
                    item.get("partition", partition),
                    own if own is not None else common,
                    timestamp=item.get("timestamp") or 0,
                    headers=item.get("headers"),
                )
                accepted += 1
            except BufferError as error:
                item["_error"] = KafkaError(KafkaError._QUEUE_FULL, str(error))
            except KafkaException as error:
                if isinstance(error, StateError) and not accepted:
                    raise
                item["_error"] = error.error
            except (TypeError, ValueError, OverflowError) as error:
                item["_error"] = KafkaError(KafkaError._INVALID_ARG, str(error))
        return accepted

    def _add(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int,
        callback: DeliveryCallback | None,
        timestamp_ms: int,
        section: bytes,
    ) -> bool:
        """Whether there is news for the loop."""
        size = HEADER_BYTES + _LEAST_OVERHEAD + len(key or b"") + len(value or b"") + len(section)
        self._check_bounds(topic, size)
        state = self._topic(topic)
        if state.count == 0 or state.moving:
            since_s = self._monotonic()
            first = not state.waiting
            if first:
                self._unknown.append(topic)
            state.waiting.append(Waiting(key, value, partition, callback, timestamp_ms, section, size, since_s))
            self.queued_records += 1
            self.queued_bytes += size
            return first
        if partition >= state.count:
            text = f"{topic} has {state.count} partitions, there is no number {partition}"
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION, text))
        if partition < 0:
            partition = self._choose(state, key)
        queue = self._queue(state, partition)
        self.queued_bytes += self._append(queue, key, value, callback, timestamp_ms, section)
        self.queued_records += 1
        return bool(queue.sealed) or (queue.open is not None and queue.open.count == 1)

    def _check_bounds(self, topic: str, size: int) -> None:
        if self.closed_reason is not None:
            raise StateError(self.closed_reason)
        if size > self._max_message:
            text = (
                f"a record of {size} bytes for {topic} is over message.max.bytes ({self._max_message}): raise it here "
                "and on the topic (max.message.bytes), or send less"
            )
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE, text))
        if self._max_records and self.queued_records >= self._max_records:
            raise BufferError(
                f"the producer's queue is full: {self.queued_records} messages wait (queue.buffering.max.messages); "
                "call poll() and try again, or set max.block.ms to wait"
            )
        if self.queued_bytes + size > self._max_bytes and self.queued_records:
            raise BufferError(
                f"the producer's queue is full: {self.queued_bytes} bytes wait (queue.buffering.max.kbytes is "
                f"{self._max_bytes // 1024}); call poll() and try again, or set max.block.ms to wait"
            )

    def _topic(self, topic: str) -> TopicState:
        state = self._topics.get(topic)
        if state is None:
            if not topic:
                raise ValueError("topic must not be empty")
            state = self._topics[topic] = TopicState(topic)
        return state

    def _choose(self, state: TopicState, key: bytes | None) -> int:
        partition = partition_of(self._partitioner, key, state.count)
        if partition is not None:
            return partition
        if not 0 <= state.sticky < state.count:
            self._move_on(state)
        return state.sticky

    def _move_on(self, state: TopicState) -> None:
        """Another sticky partition than the last one, if there is another."""
        state.sticky = self._random.other_than(state.sticky, state.count)

    def _queue(self, state: TopicState, partition: int) -> PartitionQueue:
        queue = state.queues.get(partition)
        if queue is None:
            queue = state.queues[partition] = PartitionQueue(state, partition)
        return queue

    def _append(
        self,
        queue: PartitionQueue,
        key: bytes | None,
        value: bytes | None,
        callback: DeliveryCallback | None,
        timestamp_ms: int,
        section: bytes,
        since_s: float | None = None,
    ) -> int:
        """Into the partition's open batch, or a new one (opened at `since_s`, else now); bytes added."""
        while (batch := queue.open) is None or not batch.has_room(key, value, section, self._batch_records):
            now_s = self._monotonic()
            opened_at_s = now_s if since_s is None else min(since_s, now_s)
            fresh = Batch(queue.state.name, queue.index, self._batch_size, opened_at_s)
            if queue.open is not batch:
                continue  # the clock came back here with a record of its own
            if batch is not None:
                self._seal(queue, batch)
            queue.open = fresh
            if not queue.listed:
                queue.listed = True
                self._active.append(queue)
        return batch.append(key, value, callback, timestamp_ms, section)

    def _seal(self, queue: PartitionQueue, batch: Batch) -> None:
        queue.open = None
        queue.sealed.append(batch)
        if queue.index == queue.state.sticky:
            self._move_on(queue.state)

    # ---- the loop's thread

    def produce_columns(
        self,
        topic: str,
        columns: RecordColumns,
        start: int,
        stop: int,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
    ) -> int:
        """`produce` for rows of Arrow columns, in order, up to the first one that can't be queued.

        Args:
            topic: where to.
            columns: their buffers, which are only read.
            start: the first row.
            stop: the row after the last.
            partition: for rows that have none; -1 leaves the choice to the partitioner.
            callback: called with (KafkaError or None, Message) for every record.

        Returns:
            The row after the last one that was queued: `stop`, or a row that can't be queued. Called again with that
            row as `start` it raises why.

        Raises:
            BufferError, StateError, KafkaException: the row `start` can't be queued, as `produce`.
            ValueError: nothing is queued: the columns or the range are wrong, or the row `start` is: a negative
                partition or timestamp, a header without a name.
            TypeError: nothing is queued: a column is none, or the callback can't be called.
            BaseException: what `wake` raised, for Ctrl-C may come there; `reached_row` is the row after the last one
                that was queued.
        """
        callback = one_callback(callback, None)
        topic, partition = exact_text(topic), _check_partition(partition)
        rows = Rows(columns)
        rows.check(start, stop)
        for at in range(start, stop):
            try:
                found = rows.row(at)
                number = _check_partition(partition if found.partition is None else found.partition)
                timestamp = _check_timestamp(found.timestamp_ms or 0)
                section = pack_headers(found.headers)
                timestamp_ms = timestamp or self._time_ms()
                self._put(topic, found.key, found.value, number, callback, timestamp_ms, section)
            except (BufferError, KafkaException, ValueError):
                if at == start:
                    raise
                return at
            except BaseException as error:
                error.reached_row = at + self._owed  # type: ignore[attr-defined]
                raise
        return stop

    def new_topics(self) -> list[str]:
        """Topics seen whose number of partitions is not known; each is named once."""
        with self._lock:
            self._woken = False
            found, self._unknown = self._unknown, []
        return found

    def set_partition_count(self, topic: str, count: int) -> None:
        """The topic has `count` partitions: its waiting records move into batches, in order.

        A waiting record that named a partition beyond them goes into a batch of that partition: nobody leads it, so
        it ends as a failed delivery and not in silence.

        Raises:
            ValueError: `count` is not positive.
        """
        if count < 1:
            raise ValueError(f"{topic} can't have {count} partitions")
        with self._lock:
            state = self._topic(topic)
            before, state.count = state.count, count
            state.moving = True  # records produced meanwhile wait, too, and so overtake none
            try:
                while state.waiting:
                    waiting, state.waiting = state.waiting, []
                    moved = 0
                    try:
                        for record in waiting:
                            self._replay(state, record)
                            moved += 1
                    except BaseException:  # out of memory, say: the rest waits on, in its place, for the next try
                        state.waiting[:0] = waiting[moved:]
                        state.count = before
                        raise
            finally:
                state.moving = False

    def _replay(self, state: TopicState, record: Waiting) -> None:
        partition = record.partition if record.partition >= 0 else self._choose(state, record.key)
        queue = self._queue(state, partition)
        section, since_s = record.header_section, record.since_s  # its time runs since produce(), not since now
        added = self._append(queue, record.key, record.value, record.callback, record.timestamp_ms, section, since_s)
        self.queued_bytes += added - record.size_bytes

    def fail_topic(self, topic: str) -> Batch | None:
        """The records that wait for this topic as one batch of partition -1, None if there are none."""
        with self._lock:
            state = self._topics.get(topic)
            return self._gather(state) if state is not None and state.waiting else None

    def _gather(self, state: TopicState) -> Batch:
        waiting, state.waiting = state.waiting, []
        grown = 0
        try:
            batch = Batch(state.name, -1, _EVERYTHING, waiting[0].since_s)
            for record in waiting:
                section = record.header_section
                added = batch.append(record.key, record.value, record.callback, record.timestamp_ms, section)
                grown += added - record.size_bytes
        except BaseException:
            state.waiting[:0] = waiting  # nothing was gathered
            raise
        self.queued_bytes += grown
        return batch

    def take_ready(
        self,
        now_s: float,
        linger_s: float,
        force: bool = False,
        held: Container[tuple[str, int]] | None = None,
        hold_s: float = 0.0,
    ) -> tuple[list[Batch], float | None]:
        """(sealed batches in order per partition, when the next open one is due or None).

        Open batches that have lingered are sealed, with `force` all of them. Those of partitions in `held`, which can't
        send at the moment, go on collecting until they are full or `hold_s` old; unkeyed records go elsewhere.
        """
        with self._lock:
            self._woken = False
            return self._take_ready(now_s, linger_s, force, held, max(hold_s, linger_s))

    def _take_ready(
        self, now_s: float, linger_s: float, force: bool, held: Container[tuple[str, int]] | None, hold_s: float
    ) -> tuple[list[Batch], float | None]:
        taken: list[Batch] = []
        still: list[PartitionQueue] = []
        due_s: list[float] = []
        for queue in self._active:
            waits = held is not None and (queue.state.name, queue.index) in held
            batch = queue.open
            if batch is not None:
                due = batch.opened_at_s + linger_s
                over = force or due <= now_s
                if over and waits:
                    due = batch.opened_at_s + hold_s
                    over = due <= now_s
                    if not over and queue.index == queue.state.sticky:
                        self._move_on(queue.state)
                if over:
                    self._seal(queue, batch)
                else:
                    due_s.append(due)
                    still.append(queue)
            taken += queue.sealed
            queue.sealed.clear()
            queue.listed = queue.open is not None
        self._active = still
        return taken, min(due_s, default=None)

    def prepare(self, topic: str, partition: int, request: PreparedRequest) -> bool:
        """Has `produce` send the next record of that partition itself, if nothing of it waits here; whether it will.

        What it sent is in the request: whoever prepared it withdraws it before anything else may change what it says.
        Here it never will: Ctrl-C may come between any two steps.
        """
        return False

    def settle(self, records: int, size_bytes: int) -> None:
        """These records have their verdict: their memory no longer counts."""
        with self._lock:
            self.queued_records -= records
            self.queued_bytes -= size_bytes

    def purge(self) -> list[Batch]:
        """Takes out everything that is not on its way yet: batches, and waiting records as batches of partition -1."""
        with self._lock:
            self._woken = False
            taken, _ = self._take_ready(0.0, 0.0, True, None, 0.0)
            return taken + [self._gather(state) for state in self._topics.values() if state.waiting]

    @property
    def has_open(self) -> bool:
        """Whether anything was produced that nobody took yet."""
        with self._lock:
            return bool(self._active) or any(state.waiting for state in self._topics.values())


def one_callback(callback: DeliveryCallback | None, on_delivery: DeliveryCallback | None) -> DeliveryCallback | None:
    """The callback under either of its names.

    Raises:
        TypeError: it can't be called.
        ValueError: there are two.
    """
    if callback is None:
        callback = on_delivery
    elif on_delivery is not None and on_delivery is not callback:
        raise ValueError("callback and on_delivery are two names of one argument: give one")
    if callback is not None and not callable(callback):
        raise TypeError(f"on_delivery must be callable, not {type(callback).__name__}")
    return callback


def _check_partition(partition: int) -> int:
    partition = index(partition)
    if not -_EVERYTHING - 1 <= partition <= _EVERYTHING:
        raise OverflowError(f"partition {partition} does not fit in 32 bits")
    if partition < -1:
        raise ValueError(f"partition must be a number from 0 on, or -1 for any, not {partition}")
    return partition


def _check_timestamp(timestamp: int) -> int:
    timestamp = index(timestamp)
    if not -_INT64_END <= timestamp < _INT64_END:
        raise OverflowError(f"timestamp {timestamp} does not fit in 64 bits")
    return timestamp


def flat(value: Payload, what: str) -> bytes | None:
    """A key or value as the bytes to be sent.

    Raises:
        TypeError: neither bytes, str, a buffer nor None.
    """
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    try:
        view: Buffer = memoryview(value)
    except TypeError:
        raise TypeError(f"{what} must be bytes, str, a buffer or None, not {type(value).__name__}") from None
    return bytes(view)


def pack_headers(headers: Headers) -> bytes:
    """The header section of a record, b"" for one without headers.

    Raises:
        TypeError: a name is not str, or a value is neither bytes, str, a buffer nor None.
    """
    if headers is None:
        return b""
    if not isinstance(headers, Mapping | list | tuple):
        raise TypeError(f"expected headers to be dict or list of (key, value) tuples, not {type(headers).__name__}")
    pairs: list[tuple[bytes, bytes | None]] = []
    for pair in list(headers.items() if isinstance(headers, Mapping) else headers):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Headers are expected to be a list of (key, value) tuples")
        name, value = pair
        if not isinstance(name, str):
            raise TypeError(f"a header's name must be str, not {type(name).__name__}")
        pairs.append((name.encode(), flat(value, "a header's value")))
    return encode_headers(pairs) if pairs else b""
