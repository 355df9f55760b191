# cython: language_level=3, boundscheck=False, wraparound=False
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""Message: a record as the application sees it, decoded where it lies; the twin of `pure/message.py`.

Must not know of consumers or producers. API: confluent_kafka.Message; record layout: kafka.apache.org/documentation/#record.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_FromObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from kafka_core.kernels.native.wire cimport ks_get_varint32, ks_get_varint64

from operator import index
from types import GenericAlias

from kafka_core.kernels.rebuild import rebuild

cdef extern from "Python.h":
    void PyObject_GC_Track(PyObject* op)
    void PyObject_GC_UnTrack(PyObject* op)
    int PyObject_GC_IsTracked(object op)


cdef class Pinned:
    """Memory of a buffer, held as long as anything points into it."""

    def __cinit__(self, buffer):
        PyObject_GetBuffer(buffer, &self.view, PyBUF_SIMPLE)
        self.held = True
        self.data = <const uint8_t*>self.view.buf
        self.size = self.view.len

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef const uint8_t* parse_record(const uint8_t* p, const uint8_t* end, Message message, int64_t base_offset,
                                 int64_t base_timestamp, int64_t* offset_out) noexcept nogil:
    """Reads the record at `p` into the message's pointers; returns where the next one starts, NULL if it is corrupt.

    With `message` None only the offset is read (and the record's length trusted as far as `end`).
    """
    cdef int64_t length, delta, key_size, value_size, count, size
    cdef const uint8_t* stop
    cdef int64_t number
    p = ks_get_varint32(p, end, &length)
    if p == NULL or length < 0 or length > end - p:
        return NULL
    stop = p + length
    if length == 0:
        return NULL
    p += 1
    p = ks_get_varint64(p, stop, &delta)
    if p == NULL:
        return NULL
    p = ks_get_varint32(p, stop, &number)
    if p == NULL:
        return NULL
    offset_out[0] = base_offset + number
    if message is None:
        return stop
    message._offset = base_offset + number
    message.timestamp_ms = base_timestamp + delta
    p = ks_get_varint32(p, stop, &key_size)
    if p == NULL or key_size < -1 or key_size > stop - p:
        return NULL
    message.key_data = p
    message.key_size = key_size
    if key_size > 0:
        p += key_size
    p = ks_get_varint32(p, stop, &value_size)
    if p == NULL or value_size < -1 or value_size > stop - p:
        return NULL
    message.value_data = p
    message.value_size = value_size
    if value_size > 0:
        p += value_size
    p = ks_get_varint32(p, stop, &count)
    if p == NULL or count < 0 or count > (stop - p) // 2:
        return NULL
    message.header_data = p
    message.record_end = stop
    message.header_count = <int>count
    for number in range(count):
        p = ks_get_varint32(p, stop, &size)
        if p == NULL or size < 0 or size > stop - p:
            return NULL
        p += size
        p = ks_get_varint32(p, stop, &size)
        if p == NULL or size < -1 or size > stop - p:
            return NULL
        if size > 0:
            p += size
    if p != stop:
        return NULL
    return stop


@cython.no_gc
cdef class Memory:
    """The bytes of one batch of ours, and nothing else: what messages of delivery reports keep alive."""

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.size, 1, flags)
        self.views += 1

    def __releasebuffer__(self, Py_buffer* view):
        self.views -= 1


cdef str exact_text(object topic):
    """A topic's name as plain str, whatever kind of str (an enum's member) it is given as."""
    if not isinstance(topic, str):
        raise TypeError(f"topic must be str, not {type(topic).__name__}")
    return PyUnicode_FromObject(topic)


cdef object _seconds(object latency):
    if not isinstance(latency, (int, float)):
        raise TypeError(f"latency must be a number of seconds, not {type(latency).__name__}")
    return float(latency)


cdef Message new_message():
    """An empty message that the garbage collector does not look at.

    Thousands live at once, and one that points into bytes can't be part of a cycle; `set_*` puts it back in its care.
    """
    cdef Message message = Message.__new__(Message)
    PyObject_GC_UnTrack(<PyObject*>message)
    return message


@cython.freelist(512)
cdef class Message:
    """A consumed record, a delivery report's record, or an event (`error()` is set).

    Keys and values are copied out of the fetched bytes at first use, so a message that was never looked at costs
    little; it keeps the whole fetched batch in memory as long as it lives. API: confluent_kafka.Message.
    """
    # When the collector breaks a cycle it takes `owner` first, and code that still runs may ask for the key: whoever
    # follows a pointer looks whether there is an owner.

    def __cinit__(self):
        self.key_size = self.value_size = -1
        self._offset = -1001
        self.timestamp_ms = -1
        self._partition = self._leader_epoch = -1
        self._delivery_count = 0

    def __init__(self, topic=None, partition=None, offset=None, key=None, value=None, headers=None, error=None,
                 timestamp=None, latency=None, leader_epoch=None, delivery_count=None):
        self._topic = topic
        self._value = value
        self._key = key
        if error is not None or headers is not None or latency is not None:
            self._rare = (error, _pairs(headers), None if latency is None else _seconds(latency))
        self._partition = -1 if partition is None else index(partition)
        self._offset = -1001 if offset is None else index(offset)
        if timestamp is None:
            self.timestamp_ms = 0
        elif isinstance(timestamp, tuple) and len(timestamp) == 2:
            self.timestamp_type, self.timestamp_ms = index(timestamp[0]), index(timestamp[1])
        else:
            raise TypeError("timestamp must be a tuple of (int, int)")
        self._leader_epoch = -1 if leader_epoch is None else index(leader_epoch)
        self._delivery_count = 0 if delivery_count is None else index(delivery_count)

    cpdef error(self):
        """The KafkaError of an event or a failed delivery; None for a good record."""
        return None if self._rare is None else self._rare[0]

    cpdef topic(self):
        """Topic name, None for an event of no topic."""
        return self._topic

    def partition(self):
        """Partition number, None if unknown."""
        return None if self._partition < 0 else self._partition

    def offset(self):
        """Offset in the partition, None if unknown."""
        return None if self._offset < 0 else self._offset

    def leader_epoch(self):
        """Leader epoch of the batch, None if unknown."""
        return None if self._leader_epoch < 0 else self._leader_epoch

    cpdef key(self):
        """The key as bytes (or what `set_key` left); None for a null key."""
        if self._key is None and self.key_size >= 0 and self.owner is not None:
            self._key = PyBytes_FromStringAndSize(<const char*>self.key_data, self.key_size)
        return self._key

    cpdef value(self):
        """The value as bytes (or what `set_value` left); None for a tombstone."""
        if self._value is None and self.value_size >= 0 and self.owner is not None:
            self._value = PyBytes_FromStringAndSize(<const char*>self.value_data, self.value_size)
        return self._value

    cpdef headers(self):
        """List of (name, bytes or None), None if the record has none."""
        if self._rare is not None and self._rare[1] is not None:
            return self._rare[1]
        if self.header_count == 0 or self.owner is None:
            return None
        self.watch()  # the list can be changed, even to one that has this message in it
        self._rare = (self.error(), self.parse_headers(), self.latency())
        return self._rare[1]

    cdef list parse_headers(self):
        cdef const uint8_t* p = self.header_data
        cdef const uint8_t* end = self.record_end  # parse_record() has walked them: every length is good
        cdef int64_t size = 0
        cdef list found = []
        for _ in range(self.header_count):
            p = ks_get_varint32(p, end, &size)
            name = p[:size].decode("utf-8", "replace")
            p = ks_get_varint32(p + size, end, &size)
            found.append((name, None if size < 0 else p[:size]))
            if size > 0:
                p += size
        return found

    def timestamp(self):
        """(type, milliseconds since the epoch): type 0 not available (-1 ms), 1 create time, 2 log append time."""
        return (self.timestamp_type, self.timestamp_ms)

    def latency(self):
        """Seconds from produce() to the acknowledgement, on delivery reports; None elsewhere."""
        return None if self._rare is None else self._rare[2]

    def deserialized_key(self):
        """The same as `key()`: for code that says which of the two it means."""
        return self.key()

    def deserialized_value(self):
        """The same as `value()`: what a deserializer left there, else the bytes."""
        return self.value()

    def delivery_count(self):
        """The number of deliveries to members of a share group, this one included; None elsewhere."""
        return None if self._delivery_count <= 0 else self._delivery_count

    cdef bint watch(self) except -1:
        """An object of the application may refer back to this message: cycles must be found from now on."""
        if not PyObject_GC_IsTracked(self):
            PyObject_GC_Track(<PyObject*>self)
        return True

    cpdef set_key(self, key):
        """Puts another object in place of the key (deserializers do)."""
        self.watch()
        self._key = key
        self.key_size = -1

    cpdef set_value(self, value):
        """Puts another object in place of the value (deserializers do)."""
        self.watch()
        self._value = value
        self.value_size = -1

    def set_headers(self, headers):
        """Puts other headers in place (a dict or a list of pairs)."""
        self.watch()
        self._rare = (self.error(), _pairs(headers), self.latency())
        self.header_count = 0

    def set_topic(self, topic):
        """Puts another topic name in place."""
        self.watch()
        self._topic = topic

    def set_error(self, error):
        """Puts an error in place."""
        self.watch()
        self._rare = (error, self.headers(), self.latency())

    @classmethod
    def __class_getitem__(cls, parameters):
        """For annotations: `Message[str, Order]`."""
        return GenericAlias(cls, parameters)

    def __len__(self):
        if self._value is None:
            return self.value_size if self.value_size > 0 else 0
        return len(self._value)

    def __bool__(self):
        return True

    def _state(self):
        return (self._topic, self.partition(), self.offset(), self.key(), self.value(), self.headers(), self.error(),
                self.timestamp(), self.latency(), self.leader_epoch(), self.delivery_count())

    def __reduce__(self):
        return (rebuild, self._state())

    def __eq__(self, other):
        if not isinstance(other, Message):
            return NotImplemented
        return self._state() == (<Message>other)._state()

    __hash__ = None

    def __repr__(self):
        if self.error() is not None:
            return f"Message({self._topic}[{self.partition()}], error={self.error()!r})"
        return f"Message({self._topic}[{self.partition()}] at {self.offset()}, {_measure(self)})"


def set_delivery_count(Message message not None, int count):
    """Notes how often the record was given to members of a share group."""
    message._delivery_count = count


def message_rows(list messages not None):
    """Topic, partition, offset, type of timestamp, timestamp, key, value and headers of each, up to the first error."""
    cdef list rows = []
    cdef Message message
    for item in messages:
        message = <Message?>item
        if message._rare is not None and message._rare[0] is not None:
            break
        key, value, headers = message._key, message._value, ()
        if key is None and message.key_size >= 0 and message.owner is not None:
            key = PyBytes_FromStringAndSize(<const char*>message.key_data, message.key_size)
        if value is None and message.value_size >= 0 and message.owner is not None:
            value = PyBytes_FromStringAndSize(<const char*>message.value_data, message.value_size)
        if message.header_count or message._rare is not None:
            found = message.headers()
            headers = () if found is None else tuple(found)
        rows.append((message._topic, message._partition, message._offset, message.timestamp_type,
                     message.timestamp_ms, key, value, headers))
    return rows


cdef class OffsetStore:
    """Stores the offset behind a record for the next commit; False if it has none, or no state for its partition."""

    def __init__(self, dict states not None):
        self.states = states
        self.forget()

    def __call__(self, Message record not None):
        return self.store(record)

    def forget(self):
        """States were taken away: the one that is remembered is not told any more."""
        self.topic = self.state = None
        self.partition = -1

    cdef bint store(self, Message record) except -1:
        if record._offset < 0 or record._partition < 0 or record._rare is not None and record._rare[0] is not None:
            return False
        if self.state is None or record._topic is not self.topic or record._partition != self.partition:
            if self.states is None:
                return False
            state = self.states.get(("" if record._topic is None else record._topic, record._partition))
            if state is None:
                return False
            self.topic, self.partition, self.state = record._topic, record._partition, state
        state = self.state
        state.stored = record._offset + 1
        state.stored_epoch = record._leader_epoch if record._leader_epoch > -1 else -1
        state.stored_metadata = None
        return True


cdef list _pairs(headers):
    if headers is None:
        return None
    return list(headers.items()) if isinstance(headers, dict) else list(headers)


cdef str _measure(Message message):
    """The value's size as text; a deserialized one, which need not have a length, is named by its class."""
    value = message._value
    if value is None or isinstance(value, (bytes, str)):
        return f"{len(message)} bytes" if not isinstance(value, str) else f"{len(value)} characters"
    return type(value).__name__
