# The rows of Arrow columns, for the accumulator.
from libc.stdint cimport int64_t, uint8_t


cdef class Part:
    cdef Py_buffer view
    cdef bint held
    cdef const uint8_t* data
    cdef Py_ssize_t size


cdef class Slots:
    cdef Py_ssize_t first
    cdef Part bits
    cdef int check(self, first, validity, Py_ssize_t rows) except -1
    cdef bint is_null(self, Py_ssize_t row) noexcept


cdef class Numbers(Slots):
    cdef Part data
    cdef bint wide
    cdef int64_t get(self, Py_ssize_t row) noexcept


cdef class Bytes(Slots):
    cdef Numbers ends
    cdef Part data
    cdef Py_ssize_t get(self, Py_ssize_t row, const uint8_t** data) except -2


cdef class Headers(Slots):
    cdef Numbers ends
    cdef Py_ssize_t items
    cdef Bytes names
    cdef Bytes values
    cdef bytes get(self, Py_ssize_t row)


cdef class Rows:
    cdef Py_ssize_t rows
    cdef Bytes value
    cdef Bytes key
    cdef Numbers partition
    cdef Numbers timestamp_ms
    cdef Headers headers
