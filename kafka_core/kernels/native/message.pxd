# The layout of Message, for the modules that make them.
from libc.stdint cimport int64_t, uint8_t

cdef class Message


cdef class Pinned:
    cdef Py_buffer view
    cdef bint held
    cdef const uint8_t* data
    cdef Py_ssize_t size


cdef class Memory:
    cdef uint8_t* data
    cdef Py_ssize_t size
    cdef Py_ssize_t room
    cdef Py_ssize_t views


cdef Message new_message()
cdef str exact_text(object topic)


cdef class Message:
    cdef object owner            # keeps the memory under the pointers alive; None when nothing is lazy
    cdef object _topic
    cdef object _key             # made at first use, or set
    cdef object _value
    cdef object _rare            # (error, headers, latency_s) or None: most messages have none of them
    cdef const uint8_t* key_data
    cdef const uint8_t* value_data
    cdef const uint8_t* header_data
    cdef const uint8_t* record_end
    cdef Py_ssize_t key_size     # -1: null, or not lazy
    cdef Py_ssize_t value_size
    cdef int64_t _offset
    cdef int64_t timestamp_ms
    cdef int header_count        # 0: none
    cdef int _partition
    cdef int _leader_epoch
    cdef int _delivery_count     # 0: unknown
    cdef int timestamp_type

    cdef list parse_headers(self)
    cdef bint watch(self) except -1
    cpdef error(self)
    cpdef topic(self)
    cpdef key(self)
    cpdef value(self)
    cpdef headers(self)
    cpdef set_key(self, key)
    cpdef set_value(self, value)


cdef class OffsetStore:
    cdef dict states
    cdef object topic            # of the last record, with its partition and their state: the next is mostly of them
    cdef object state
    cdef int partition

    cdef bint store(self, Message record) except -1


cdef const uint8_t* parse_record(const uint8_t* p, const uint8_t* end, Message message, int64_t base_offset,
                                 int64_t base_timestamp, int64_t* offset_out) noexcept nogil
