# The cursor's layout, for columns.pyx.
from libc.stdint cimport int64_t, uint8_t
from kafka_core.kernels.native.message cimport Message, Pinned


cdef class RecordCursor:
    cdef Pinned owner
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef object topic
    cdef int partition
    cdef int64_t base_offset
    cdef int64_t base_timestamp
    cdef int64_t end_offset
    cdef int64_t from_offset
    cdef int64_t next_offset
    cdef Py_ssize_t left
    cdef int leader_epoch
    cdef int timestamp_type
    cdef int64_t append_time

    cdef Message advance(self)
    cdef bint finish(self) except -1
    cdef object corrupt(self, str what)
