# cython: language_level=3, boundscheck=False, wraparound=False
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""Records as columns: growing buffers in Arrow's layout, filled without a Python object per record.

Must not know of pyarrow (records/arrow.py wraps the buffers). The twin of `pure/columns.py`.
Spec: Arrow columnar format (validity bitmaps with the least significant bit first, 32-bit offsets, list<struct>).
"""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset
from kafka_core.kernels.native.message cimport Message
from kafka_core.kernels.native.record_batch cimport RecordCursor
from kafka_core.kernels.native.wire cimport ks_get_varint32

from kafka_core.kernels.abc import Columns

cdef Py_ssize_t DATA_LIMIT = 1 << 30


cdef class Block:
    """Growing memory that is handed on as a buffer."""

    cdef uint8_t* data
    cdef Py_ssize_t size
    cdef Py_ssize_t room

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data if self.data != NULL else <uint8_t*>b"", self.size, 1, flags)

    def __len__(self):
        return self.size

    cdef uint8_t* grow(self, Py_ssize_t more) except NULL:
        """Room for `more` bytes at the end, which count as written."""
        cdef Py_ssize_t room
        cdef uint8_t* data
        if self.size + more > self.room:
            room = max(self.size + more, self.room * 2, 4096)
            data = <uint8_t*>realloc(self.data, room)
            if data == NULL:
                raise MemoryError()
            self.data, self.room = data, room
        self.size += more
        return self.data + self.size - more

    cdef bint put32(self, int32_t value) except -1:
        (<int32_t*>self.grow(4))[0] = value
        return True

    cdef bint put64(self, int64_t value) except -1:
        (<int64_t*>self.grow(8))[0] = value
        return True


cdef class Variable:
    """A column of nullable bytes: validity, offsets, data."""

    cdef Block validity
    cdef Block offsets
    cdef Block data
    cdef Py_ssize_t rows
    cdef Py_ssize_t nulls

    def __cinit__(self):
        self.validity, self.offsets, self.data = Block(), Block(), Block()
        self.offsets.put32(0)

    cdef bint put(self, const uint8_t* value, int64_t size) except -1:
        if self.rows & 7 == 0:
            self.validity.grow(1)[0] = 0
        if size >= 0:
            self.validity.data[self.rows >> 3] |= 1 << (self.rows & 7)
            if size > 0:
                memcpy(self.data.grow(size), value, size)
        else:
            self.nulls += 1
        self.offsets.put32(<int32_t>self.data.size)
        self.rows += 1
        return True


cdef class ColumnSink:
    """Columns that cursors fill; `take()` hands them on and starts anew."""

    cdef readonly Py_ssize_t rows
    cdef readonly list runs
    cdef Block offset
    cdef Block timestamp
    cdef Block timestamp_type
    cdef Variable key
    cdef Variable value
    cdef Block header_offsets
    cdef Variable header_key
    cdef Variable header_value

    def __cinit__(self):
        self._start()

    cdef _start(self):
        self.rows = 0
        self.runs = []
        self.offset, self.timestamp, self.timestamp_type, self.header_offsets = Block(), Block(), Block(), Block()
        self.key, self.value, self.header_key, self.header_value = Variable(), Variable(), Variable(), Variable()
        self.header_offsets.put32(0)

    cdef bint full(self):
        """Whether a data buffer nears what 32-bit offsets can address."""
        return (self.key.data.size > DATA_LIMIT or self.value.data.size > DATA_LIMIT
                or self.header_key.data.size > DATA_LIMIT or self.header_value.data.size > DATA_LIMIT)

    def fill(self, RecordCursor cursor not None, Py_ssize_t limit):
        """Takes up to `limit` records of the cursor; returns how many. Stops early at 1 GiB of keys or values."""
        cdef Py_ssize_t taken = 0
        cdef Message message
        try:
            while taken < limit and not self.full():
                message = cursor.advance()
                if message is None:
                    break
                self.offset.put64(message._offset)
                self.timestamp.put64(message.timestamp_ms)
                (<int8_t*>self.timestamp_type.grow(1))[0] = <int8_t>message.timestamp_type
                self.key.put(message.key_data, message.key_size)
                self.value.put(message.value_data, message.value_size)
                self._headers(message)
                taken += 1
        finally:  # the records before a corrupt one stay: rows must agree with the columns
            if taken:
                self._run(cursor.topic, cursor.partition, taken)
            self.rows += taken
        return taken

    cdef bint _headers(self, Message message) except -1:
        cdef const uint8_t* p = message.header_data
        cdef const uint8_t* end = message.record_end  # parse_record() has walked them: every length is good
        cdef int64_t size = 0
        cdef int number
        for number in range(message.header_count):
            p = ks_get_varint32(p, end, &size)
            self.header_key.put(p, size)
            p = ks_get_varint32(p + size, end, &size)
            self.header_value.put(p, size)
            if size > 0:
                p += size
        self.header_offsets.put32(<int32_t>self.header_key.rows)
        return True

    cdef bint _run(self, topic, int partition, Py_ssize_t rows) except -1:
        """Rows of one partition behind each other count as one run."""
        if self.runs:
            last_topic, last_partition, last_rows = self.runs.pop()
            if last_topic == topic and last_partition == partition:
                rows += last_rows
            else:
                self.runs.append((last_topic, last_partition, last_rows))
        self.runs.append((topic, partition, rows))
        return True

    def take(self):
        """The columns so far; the sink is empty afterwards."""
        taken = Columns(
            self.rows, self.runs, self.offset, self.timestamp, self.timestamp_type,
            self.key.validity, self.key.offsets, self.key.data, self.key.nulls,
            self.value.validity, self.value.offsets, self.value.data, self.value.nulls,
            self.header_offsets, self.header_key.offsets, self.header_key.data,
            self.header_value.validity, self.header_value.offsets, self.header_value.data, self.header_value.nulls,
            self.header_key.rows)
        self._start()
        return taken
