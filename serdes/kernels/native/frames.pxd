"""The frames of a batch as kernels read them: addresses into Arrow's own buffers."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef struct Key:
    uint64_t high  # of a GUID; 0 for a number
    uint64_t low
    int64_t rows
    bint guid


cdef class Pinned:
    """The bytes of a buffer, held as long as this lives; of None there are none."""

    cdef Py_buffer view
    cdef bint held
    cdef const uint8_t* data  # NULL for None
    cdef int64_t size


cdef class Frames:
    cdef readonly int64_t rows
    cdef const uint8_t** payloads  # where a payload starts; NULL for a null row
    cdef int64_t* sizes  # bytes of it; -1 for a null row
    cdef uint8_t* prefixes  # bytes between the start of the frame and the payload
    cdef const uint8_t** tails  # what stands in the header after the id; NULL where the id is in front of the payload
    cdef int64_t* tail_sizes
    cdef int32_t* keys  # place in `found`; NULL_ROW, NO_FRAME
    cdef Key* found
    cdef int64_t found_count, found_room
    cdef int32_t* table
    cdef int64_t table_size
    cdef uint32_t last_id  # as it stands in a frame: most batches have one
    cdef int32_t last_place  # of it in `found`; -1 before the first
    cdef list owners
    cdef int64_t filled

    cdef int need(self, int64_t rows) except -1
    cdef int all_valid(self, int64_t offset, int64_t rows, Pinned validity) except -1
    cdef int32_t place_of(self, uint64_t high, uint64_t low, bint guid) except -1 nogil
    cdef int rehash(self) except -1 nogil
    cdef int name(self, int64_t row, const uint8_t* data, int64_t size, int64_t taken) except -1 nogil


cdef enum:
    NULL_ROW = -1
    NO_FRAME = -2
