# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""The memory behind produce(): records are appended to open batches on the caller's thread; the loop takes batches.

Must not know of sockets, leaders or retries. The twin of `pure/accumulator.py`. Every method is atomic under the GIL:
nothing that may run Python code (allocation of tracked objects, callbacks) stands between a check and its update.
Spec: DESIGN §3; record layout: kafka.apache.org/documentation/#recordbatch; partitioners: librdkafka's names.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_Check
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport malloc, realloc
from libc.string cimport memcpy
from kafka_core.kernels.native.message cimport Memory, Message, Pinned, exact_text, new_message, parse_record
from kafka_core.kernels.native.record_columns cimport Bytes, Headers, Numbers, Rows
from kafka_core.kernels.native.wire cimport (
    ks_crc32c,
    ks_crc_init,
    ks_fnv1a,
    ks_load64,
    ks_murmur2,
    ks_put_uvarint,
    ks_put_varint,
    ks_store16,
    ks_store32,
    ks_store64,
    ks_varint_size,
)

import zlib

from collections.abc import Mapping
from operator import index

from kafka_core.errors import KafkaError, KafkaException, StateError

cdef extern from *:
    """
    #include <time.h>
    static int64_t ks_wall_ms(void) {
        struct timespec t; clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    }
    static double ks_monotonic_s(void) {
        struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    }
    """
    int64_t ks_wall_ms() nogil
    double ks_monotonic_s() nogil

cdef extern from "Python.h":
    bint PyMethod_Check(object callback)
    PyObject* PyMethod_GET_FUNCTION(object method)  # borrowed, as the next one
    PyObject* PyMethod_GET_SELF(object method)
    object PyMethod_New(object function, object receiver)

ks_crc_init()


cdef inline int64_t whole(object number) except? -1:
    """A whole number; of a float, which C would cut off, a TypeError."""
    return number if type(number) is int else index(number)


cdef inline int whole_int(object number) except? -1:
    """`whole`, of 32 bits."""
    return number if type(number) is int else index(number)

cdef int HEADER_BYTES = 61
cdef int RECORD_SPARE = 41         # attributes and the varints of length, time, offset, key, value, headers at their longest
cdef Py_ssize_t FIRST_ROOM = 4096
cdef Py_ssize_t EVERYTHING = 0x7fffffff
cdef int LOG_APPEND_TIME = 2
cdef int FIXED_CRC32 = 1
cdef int FIXED_MURMUR2 = 2
cdef int FIXED_FNV1A = 3

# name -> (hash; 0: none, is a null key hashed, is an empty key hashed)
PARTITIONERS = {
    "random": (0, False, False),
    "consistent": (FIXED_CRC32, True, True),
    "consistent_random": (FIXED_CRC32, False, False),
    "murmur2": (FIXED_MURMUR2, True, True),
    "murmur2_random": (FIXED_MURMUR2, False, True),
    "fnv1a": (FIXED_FNV1A, True, True),
    "fnv1a_random": (FIXED_FNV1A, False, True),
}


include "batches.pxi"
include "prepared.pxi"


cdef class PartitionQueue:
    """The open batch of one partition and the sealed ones that nobody took yet."""

    cdef Batch open
    cdef list sealed
    cdef PreparedRequest prepared
    cdef Py_ssize_t room
    cdef bint listed
    cdef int index

    def __cinit__(self, int index):
        self.index = index
        self.sealed = []
        self.room = FIRST_ROOM


cdef class TopicState:
    """Partitions of a topic; until their number is known its records wait as argument tuples."""

    cdef str name
    cdef int count
    cdef int sticky
    cdef list queues
    cdef dict beyond
    cdef list waiting
    cdef bint moving

    def __cinit__(self, str name not None):
        self.name = name
        self.sticky = -1
        self.queues = []
        self.beyond = {}
        self.waiting = []


cdef class Accumulator:
    """Bounded memory for records on their way out; see the module. API of `produce`: confluent_kafka.Producer.

    Args:
        batch_size_bytes: a batch is sealed before it grows past this; one record may be larger.
        max_queue_records: bound of `queued_records`; reached, `produce` raises BufferError. 0: none.
        max_queue_bytes: bound of `queued_bytes`.
        wake: called on the producing thread when the loop has something new to look at.
        time_ms, monotonic: clocks instead of the system's, for tests.
        seed: of the choice of sticky partitions.
        lock: not needed here, the GIL serves; the pure twin takes it.
    """

    cdef dict topics
    cdef list unknown
    cdef list active
    cdef TopicState last
    cdef object wake
    cdef object time_ms
    cdef object monotonic
    cdef bint woken
    cdef bint owed               # a wake failed: the loop has not seen what is there
    cdef bint prepared           # a queue may have a prepared request
    cdef Py_ssize_t batch_size
    cdef Py_ssize_t batch_records
    cdef Py_ssize_t max_records
    cdef Py_ssize_t max_bytes
    cdef Py_ssize_t max_message
    cdef int hashing
    cdef bint null_hashed
    cdef bint empty_hashed
    cdef uint64_t random
    cdef readonly Py_ssize_t queued_records
    cdef readonly Py_ssize_t queued_bytes
    cdef public object closed_reason

    def __init__(self, *, Py_ssize_t batch_size_bytes, Py_ssize_t batch_max_records, Py_ssize_t max_queue_records,
                 Py_ssize_t max_queue_bytes, Py_ssize_t max_message_bytes, str partitioner="murmur2_random",
                 wake=None, time_ms=None, monotonic=None, int64_t seed=1, lock=None):
        if partitioner not in PARTITIONERS:
            raise ValueError(f"partitioner {partitioner!r} is unknown: {', '.join(PARTITIONERS)}")
        self.hashing, self.null_hashed, self.empty_hashed = PARTITIONERS[partitioner]
        self.topics, self.unknown, self.active = {}, [], []
        self.wake, self.time_ms, self.monotonic = wake, time_ms, monotonic
        self.batch_size = max(batch_size_bytes, HEADER_BYTES + 1)
        self.batch_records = max(batch_max_records, 1)
        self.max_records = max_queue_records
        self.max_bytes = max_queue_bytes
        self.max_message = max_message_bytes
        self.random = (<uint64_t>seed * 2685821657736338717u) | 1

    # ---- the caller's thread

    def produce(self, topic not None, value=None, key=None, partition=-1, callback=None, on_delivery=None,
                timestamp=0, headers=None):
        """Append a record to its partition's open batch. O(size); does no I/O and waits for nothing.

        Args:
            topic: where to.
            value, key: bytes, str (sent as UTF-8), any buffer, or None.
            partition: -1 leaves the choice to the partitioner.
            callback, on_delivery: the same thing: called with (KafkaError or None, Message) by poll() or flush().
            timestamp: milliseconds since the epoch, below -1 before it; 0 is now, -1 none.
            headers: dict or list of (str, bytes | str | None).

        Raises:
            BufferError: the queue is full; poll() or wait, then try again.
            StateError: the producer is closed, or the process was forked.
            KafkaException: MSG_SIZE_TOO_LARGE, _UNKNOWN_PARTITION.
        """
        cdef int place = whole_int(partition)
        cdef int64_t time_ms = whole(timestamp)
        if callback is None:
            callback = on_delivery
        elif on_delivery is not None and on_delivery is not callback:
            raise ValueError("callback and on_delivery are two names of one argument: give one")
        if callback is not None and not callable(callback):
            raise TypeError(f"on_delivery must be callable, not {type(callback).__name__}")
        if type(topic) is not str:
            topic = exact_text(topic)
        if place < -1:
            raise ValueError(f"partition must be a number from 0 on, or -1 for any, not {partition}")
        self.add(topic, flat(value, "value"), flat(key, "key"), place, callback, time_ms,
                 b"" if headers is None else pack_headers(headers))

    def produce_batch(self, topic not None, messages not None, partition=-1, callback=None, on_delivery=None):
        """`produce` for a list of dicts (value, key, headers, timestamp, partition, callback); returns how many went in.

        A dict that can't be queued gets its KafkaError as `_error`; the others go on.

        Raises:
            StateError: the producer is closed, and took none of them.
            TypeError, ValueError: the topic or the callback is wrong, or an item is not a dict; none was taken.
        """
        cdef Py_ssize_t accepted = 0
        if callback is not None and on_delivery is not None and on_delivery is not callback:
            raise ValueError("callback and on_delivery are two names of one argument: give one")
        common = callback if callback is not None else on_delivery
        if common is not None and not callable(common):
            raise TypeError(f"on_delivery must be callable, not {type(common).__name__}")
        topic = exact_text(topic)
        if not topic:
            raise ValueError("topic must not be empty")
        messages = list(messages)
        for item in messages:
            if not isinstance(item, dict):
                raise TypeError(f"a message must be a dict, not {type(item).__name__}")
        for item in messages:
            own = item.get("callback")
            if own is None:
                own = item.get("on_delivery")
            try:
                self.produce(topic, item.get("value"), item.get("key"), item.get("partition", partition),
                             own if own is not None else common, None, item.get("timestamp", 0) or 0,
                             item.get("headers"))
                accepted += 1
            except BufferError as error:
                item["_error"] = KafkaError(KafkaError._QUEUE_FULL, str(error))
            except KafkaException as error:
                if isinstance(error, StateError) and not accepted:
                    raise
                item["_error"] = error.args[0]
            except (TypeError, ValueError, OverflowError) as error:
                item["_error"] = KafkaError(KafkaError._INVALID_ARG, str(error))
        return accepted

    def produce_columns(self, topic not None, columns not None, Py_ssize_t start, Py_ssize_t stop, partition=-1,
                        callback=None):
        """`produce` for rows of Arrow columns, in order, up to the first one that can't be queued.

        Args:
            topic: where to.
            columns: `kafka_core.kernels.abc.RecordColumns`: their buffers, which are only read.
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
        cdef Rows rows
        cdef Py_ssize_t at
        cdef int place = whole_int(partition)
        if callback is not None and not callable(callback):
            raise TypeError(f"on_delivery must be callable, not {type(callback).__name__}")
        topic = exact_text(topic)
        if place < -1:
            raise ValueError(f"partition must be a number from 0 on, or -1 for any, not {partition}")
        rows = Rows(columns)
        if not 0 <= start <= stop <= rows.rows:
            raise ValueError(f"rows {start} to {stop} are not among the {rows.rows} rows")
        for at in range(start, stop):
            try:
                self.add_row(topic, rows, at, place, callback)
            except (BufferError, KafkaException, ValueError):
                if at == start:
                    raise
                return at
            except BaseException as error:
                error.reached_row = at + 1 if self.owed else at
                raise
        return stop

    cdef bint add_row(self, str topic, Rows rows, Py_ssize_t row, int partition, object callback) except -1:
        """Appends one row of columns; an unusual one goes the way of a record of `produce`."""
        cdef const uint8_t* key = NULL
        cdef const uint8_t* value = NULL
        cdef Py_ssize_t key_size = -1, value_size = -1, size
        cdef int64_t timestamp = 0
        cdef bytes headers = b""
        cdef TopicState state
        if rows.value is not None:
            value_size = rows.value.get(row, &value)
        if rows.key is not None:
            key_size = rows.key.get(row, &key)
        if rows.partition is not None and not rows.partition.is_null(row):
            partition = <int>rows.partition.get(row)
            if partition < -1:
                raise ValueError(f"partition must be a number from 0 on, or -1 for any, not {partition}")
        if rows.timestamp_ms is not None and not rows.timestamp_ms.is_null(row):
            timestamp = rows.timestamp_ms.get(row)
        if rows.headers is not None:
            headers = rows.headers.get(row)
        size = HEADER_BYTES + PyBytes_GET_SIZE(headers) + 12 + max(key_size, 0) + max(value_size, 0)
        state = self.topics.get(topic)
        if (state is None or state.count == 0 or state.moving or partition >= state.count
                or self.closed_reason is not None or size > self.max_message
                or (self.max_records and self.queued_records >= self.max_records)
                or (self.queued_bytes + size > self.max_bytes and self.queued_records)):
            return self.add(topic, None if value_size < 0 else PyBytes_FromStringAndSize(<const char*>value, value_size),
                            None if key_size < 0 else PyBytes_FromStringAndSize(<const char*>key, key_size),
                            partition, callback, timestamp, headers)
        if timestamp == 0:
            timestamp = ks_wall_ms() if self.time_ms is None else self.time_ms()
        if partition < 0:
            partition = self.choose(state, key, key_size, None)
        size = self.append(state, partition, timestamp, key, key_size, value, value_size, headers, callback)
        self.queued_records += 1
        self.queued_bytes += size
        if self.wake is not None and not self.woken:
            self.notify(<PartitionQueue>state.queues[partition])
        return True

    cdef bint add(self, str topic, object value, object key, int partition, object callback, int64_t timestamp,
                  bytes headers) except -1:
        cdef const uint8_t* key_data
        cdef const uint8_t* value_data
        cdef Py_ssize_t value_size = point(value, &value_data, "value")
        cdef Py_ssize_t key_size = point(key, &key_data, "key")
        cdef Py_ssize_t headers_size = PyBytes_GET_SIZE(headers)
        cdef Py_ssize_t size = HEADER_BYTES + headers_size + 12
        cdef TopicState state
        size += (key_size if key_size > 0 else 0) + (value_size if value_size > 0 else 0)
        if timestamp == 0:
            timestamp = ks_wall_ms() if self.time_ms is None else self.time_ms()
        if self.closed_reason is not None:
            raise StateError(self.closed_reason)
        if size > self.max_message:
            raise KafkaException(KafkaError(
                KafkaError.MSG_SIZE_TOO_LARGE,
                f"a record of {size} bytes for {topic} is over message.max.bytes ({self.max_message}): raise it here "
                f"and on the topic (max.message.bytes), or send less"))
        if self.max_records and self.queued_records >= self.max_records:
            raise BufferError(
                f"the producer's queue is full: {self.queued_records} messages wait (queue.buffering.max.messages); "
                f"call poll() and try again, or set max.block.ms to wait")
        if self.queued_bytes + size > self.max_bytes and self.queued_records:
            raise BufferError(
                f"the producer's queue is full: {self.queued_bytes} bytes wait (queue.buffering.max.kbytes is "
                f"{self.max_bytes // 1024}); call poll() and try again, or set max.block.ms to wait")
        state = self.last
        if state is None or state.name is not topic:
            state = self.topics.get(topic)
            if state is None:
                state = self.new_topic(topic)
            self.last = state
        if state.count == 0 or state.moving:
            self.wait(state, (value, key, partition, callback, timestamp, headers), size)
            return True
        if partition >= state.count:
            raise KafkaException(KafkaError(
                KafkaError._UNKNOWN_PARTITION, f"{topic} has {state.count} partitions, there is no number {partition}"))
        if partition < 0:
            partition = self.choose(state, key_data, key_size, key)
        size = self.append(state, partition, timestamp, key_data, key_size, value_data, value_size, headers, callback)
        self.queued_records += 1
        self.queued_bytes += size
        if self.prepared and self.send_prepared(state, <PartitionQueue>state.queues[partition]):
            return True
        if self.wake is not None and not self.woken:
            self.notify(<PartitionQueue>state.queues[partition])
        return True

    cdef bint send_prepared(self, TopicState state, PartitionQueue queue) except -1:
        """Sends the record that was just appended, if it is the only one of its partition and a request is prepared.

        No Python code runs until the wake, and no other thread: Ctrl-C comes before it all is done, or after; and the
        loop, which may withdraw the request, finds it unused or used. An error of the socket is the loop's to find.
        """
        cdef PreparedRequest prepared = queue.prepared
        cdef Batch batch
        cdef bytes frame
        cdef int descriptor
        if prepared is None:
            return False
        queue.prepared, self.prepared = None, False
        descriptor = prepared.fileno()
        batch = queue.open
        if (descriptor < 0 or not prepared.usable or batch is None or batch.count != 1 or queue.sealed
                or batch.memory.size > MOST_SENT):
            return False
        try:
            frame = prepared.frame_of(batch)
        except MemoryError:
            return False
        prepared.usable = False
        prepared.batch, prepared.frame, queue.open = batch, frame, None
        prepared.sent_bytes = max(0, ks_send(descriptor, PyBytes_AS_STRING(frame), PyBytes_GET_SIZE(frame)))
        if queue.index == state.sticky:
            self.move_on(state)
        if (not prepared.quiet or self.owed) and self.wake is not None and not self.woken:
            self.call_wake()
        return True

    cdef bint notify(self, PartitionQueue queue) except -1:
        """Wakes the loop if the queue has news: its batch is new, or one is full."""
        if queue.sealed or (queue.open is not None and queue.open.count == 1) or self.owed:
            self.call_wake()
        return True

    cdef bint call_wake(self) except -1:
        """Wakes the loop; if that fails, the next record tries again."""
        self.woken = True
        try:
            self.wake()
        except BaseException:
            self.woken, self.owed = False, True
            raise
        self.owed = False
        return True

    cdef TopicState new_topic(self, str topic):
        cdef TopicState state = TopicState(topic)
        if not topic:
            raise ValueError("topic must not be empty")
        state = self.topics.setdefault(topic, state)
        return state

    cdef bint wait(self, TopicState state, tuple record, Py_ssize_t size) except -1:
        cdef tuple entry = (record, size, self.now_s())
        cdef bint first = False
        self.queued_records += 1
        self.queued_bytes += size
        if state.count and not state.moving:
            # Making the tuples ran a garbage collection, that ran Python code, and then the loop's thread had its
            # turn: the topic is known by now, and nobody will look at what waits for it again.
            self.replay(state, record, size, state.count, entry[2])
            first = True  # it may have opened a batch
        else:
            first = not state.waiting
            if first:
                self.unknown.append(state.name)
            state.waiting.append(entry)
        if (first or self.owed) and self.wake is not None and not self.woken:
            self.call_wake()
        return True

    cdef double now_s(self) except -1:
        return ks_monotonic_s() if self.monotonic is None else self.monotonic()

    cdef int choose(self, TopicState state, const uint8_t* key, Py_ssize_t size, object key_object) except -1:
        cdef uint32_t hashed
        if self.hashing == 0 or (size < 0 and not self.null_hashed) or (size == 0 and not self.empty_hashed):
            if state.sticky < 0 or state.sticky >= state.count:
                self.move_on(state)
            return state.sticky
        if size < 0:
            size = 0
        if self.hashing == FIXED_CRC32:
            hashed = zlib.crc32(b"" if size == 0 else key[:size])
            return <int>(hashed % <uint32_t>state.count)
        if self.hashing == FIXED_MURMUR2:
            return <int>((ks_murmur2(key, <size_t>size) & 0x7fffffffu) % <uint32_t>state.count)
        hashed = ks_fnv1a(key, <size_t>size)
        # Sarama's rule: the remainder of the hash as a signed number, made positive.
        hashed = <uint32_t>(<int32_t>hashed % state.count) if <int32_t>hashed >= 0 else <uint32_t>(
            -(<int64_t><int32_t>hashed) % state.count)
        return <int>hashed

    cdef void move_on(self, TopicState state) noexcept:
        """Another sticky partition than the last one, if there is another."""
        cdef int chosen
        self.random ^= self.random << 13
        self.random ^= self.random >> 7
        self.random ^= self.random << 17
        if state.count < 2:
            state.sticky = 0
        elif state.sticky < 0 or state.sticky >= state.count:
            state.sticky = <int>(self.random % <uint64_t>state.count)
        else:
            chosen = <int>(self.random % <uint64_t>(state.count - 1))
            state.sticky = chosen + 1 if chosen >= state.sticky else chosen

    cdef Py_ssize_t append(self, TopicState state, int partition, int64_t timestamp, const uint8_t* key,
                           Py_ssize_t key_size, const uint8_t* value, Py_ssize_t value_size, bytes headers,
                           object callback, double since_s=-1) except -1:
        """Into the partition's open batch, or a new one (opened at `since_s`, else now); bytes added."""
        cdef PartitionQueue queue
        cdef Batch batch, fresh
        cdef Py_ssize_t added, index
        cdef double opened_at_s
        cdef Py_ssize_t headers_size = PyBytes_GET_SIZE(headers)
        if partition < len(state.queues):
            queue = <PartitionQueue>state.queues[partition]
        elif partition < state.count:
            while len(state.queues) <= partition:
                index = len(state.queues)
                queue = state.beyond.get(index)  # records named it when the topic ended before it: they come first
                if queue is None:
                    queue = PartitionQueue(index)
                if len(state.queues) == index:  # nobody else came in while that was made
                    state.beyond.pop(index, None)
                    state.queues.append(queue)
            queue = <PartitionQueue>state.queues[partition]
        else:  # a record that waited for metadata names a partition that is not there (yet): it gets no leader
            queue = state.beyond.setdefault(partition, PartitionQueue(partition))
        while True:
            batch = queue.open
            if batch is not None:
                added = batch.append(timestamp, key, key_size, value, value_size,
                                     <const uint8_t*>PyBytes_AS_STRING(headers), headers_size, self.batch_records)
                if added > 0:
                    batch.note(callback)
                    return added
                if added < 0:
                    raise MemoryError()
            # Making a batch may run a garbage collection, and with it another thread that produces or takes:
            # look again whether the queue is as it was.
            opened_at_s = self.now_s()
            if 0 <= since_s < opened_at_s:
                opened_at_s = since_s
            fresh = make_batch(state.name, partition, self.batch_size, queue.room, opened_at_s)
            if queue.open is batch:
                if batch is not None:
                    self.seal(state, queue)
                queue.open = fresh
                if not queue.listed:
                    queue.listed = True
                    self.active.append((state, queue))

    cdef bint seal(self, TopicState state, PartitionQueue queue) except -1:
        cdef Batch batch = queue.open
        queue.open = None
        queue.room = max(FIRST_ROOM, min(batch.memory.size + RECORD_SPARE, self.batch_size))
        queue.sealed.append(batch)
        if queue.index == state.sticky:
            self.move_on(state)
        return True

    # ---- the loop's thread

    def new_topics(self):
        """Topics seen whose number of partitions is not known; each is named once."""
        cdef list found = self.unknown
        self.woken = False
        self.unknown = []
        return found

    def set_partition_count(self, str topic not None, int count):
        """The topic has `count` partitions: its waiting records move into batches, in order."""
        cdef TopicState state = self.topics.get(topic)
        cdef list waiting
        cdef Py_ssize_t moved
        cdef int before
        if count < 1:
            raise ValueError(f"{topic} can't have {count} partitions")
        if state is None:
            state = self.new_topic(topic)
        # A replayed record may open a batch, and that may let another thread run (see `append`): while records move,
        # new ones wait behind them, so that nothing produced meanwhile can overtake them.
        state.moving = True
        before = state.count
        try:
            while state.waiting:
                waiting = state.waiting
                state.waiting = []
                moved = 0
                try:
                    for record, size, since_s in waiting:
                        self.replay(state, record, size, count, since_s)
                        moved += 1
                except BaseException:  # out of memory, say: the rest waits on, in its place, for the next try
                    state.waiting[:0] = waiting[moved:]
                    state.count = before
                    raise
            state.count = count
        finally:
            state.moving = False

    cdef bint replay(self, TopicState state, tuple record, Py_ssize_t size, int count, double since_s) except -1:
        """Its time runs since produce(), not since now."""
        cdef const uint8_t* key_data
        cdef const uint8_t* value_data
        cdef Py_ssize_t value_size = point(record[0], &value_data, "value")
        cdef Py_ssize_t key_size = point(record[1], &key_data, "key")
        cdef int partition = record[2]
        state.count = count
        if partition < 0:
            partition = self.choose(state, key_data, key_size, record[1])
        self.queued_bytes += self.append(state, partition, record[4], key_data, key_size, value_data, value_size,
                                         record[5], record[3], since_s) - size
        return True

    def fail_topic(self, str topic not None):
        """The records that wait for this topic as one batch of partition -1, None if there are none."""
        cdef TopicState state = self.topics.get(topic)
        cdef list waiting
        if state is None or not state.waiting:
            return None
        waiting = state.waiting
        state.waiting = []
        return self.gather(state, waiting)

    cdef Batch gather(self, TopicState state, list waiting):
        cdef const uint8_t* key_data
        cdef const uint8_t* value_data
        cdef Py_ssize_t added
        cdef bytes headers
        cdef Py_ssize_t grown = 0
        cdef Batch batch
        try:
            batch = make_batch(state.name, -1, EVERYTHING, FIRST_ROOM, waiting[0][2])
            for record, size, _ in waiting:
                value_size = point(record[0], &value_data, "value")
                key_size = point(record[1], &key_data, "key")
                headers = record[5]
                added = batch.append(record[4], key_data, key_size, value_data, value_size,
                                     <const uint8_t*>PyBytes_AS_STRING(headers), PyBytes_GET_SIZE(headers), EVERYTHING)
                if added < 0:
                    raise MemoryError()
                batch.note(record[3])
                grown += added - <Py_ssize_t>size
        except BaseException:
            state.waiting[:0] = waiting  # nothing was gathered
            raise
        self.queued_bytes += grown
        return batch

    def take_ready(self, double now_s, double linger_s, bint force=False, held=None, double hold_s=0):
        """(sealed batches in order per partition, when the next open one is due or None).

        Open batches that have lingered are sealed, with `force` all of them. Those of partitions in `held`, which can't
        send at the moment, go on collecting until they are full or `hold_s` old; unkeyed records go elsewhere.
        """
        cdef list taken = []
        cdef list active, still
        cdef PartitionQueue queue
        cdef TopicState state
        cdef double due, earliest = -1
        cdef bint over, waits
        still = []
        self.woken = False
        active = self.active
        self.active = still
        hold_s = max(hold_s, linger_s)
        for state, queue in active:
            waits = held is not None and (state.name, queue.index) in held  # may run Python code: before we look
            if queue.open is not None:
                due = queue.open.opened_at_s + linger_s
                over = force or due <= now_s
                if over and waits:
                    due = queue.open.opened_at_s + hold_s
                    over = due <= now_s
                    if not over and queue.index == state.sticky:
                        self.move_on(state)
                if over:
                    self.seal(state, queue)
                elif earliest < 0 or due < earliest:
                    earliest = due
            if queue.sealed:
                taken.extend(queue.sealed)
                queue.sealed.clear()
            if queue.open is not None:
                still.append((state, queue))
            else:
                queue.listed = False
        return taken, (earliest if earliest >= 0 else None)

    def prepare(self, str topic not None, int partition, PreparedRequest request not None):
        """Has `produce` send the next record of that partition itself, if nothing of it waits here; whether it will.

        What it sent is in the request: whoever prepared it withdraws it before anything else may change what it says.
        """
        cdef TopicState state = self.topics.get(topic)
        cdef PartitionQueue queue
        if state is None or state.moving or state.waiting or not 0 <= partition < len(state.queues) or not ks_can_send():
            return False
        queue = <PartitionQueue>state.queues[partition]
        if queue.open is not None or queue.sealed:
            return False
        queue.prepared, self.prepared = request, True
        return True

    def settle(self, Py_ssize_t records, Py_ssize_t size_bytes):
        """These records have their verdict: their memory no longer counts."""
        self.queued_records -= records
        self.queued_bytes -= size_bytes

    def purge(self):
        """Takes out everything that is not on its way yet: batches, and waiting records as batches of partition -1."""
        cdef TopicState state
        cdef list taken
        cdef list waiting
        taken, _ = self.take_ready(0, 0, True)
        for state in list(self.topics.values()):
            if state.waiting:
                waiting = state.waiting
                state.waiting = []
                taken.append(self.gather(state, waiting))
        return taken

    @property
    def has_open(self):
        """Whether anything was produced that nobody took yet."""
        cdef TopicState state
        if self.active:
            return True
        return any([(<TopicState>state).waiting for state in self.topics.values()])
