"""Numbers of 64 bits as JSON writes them: the shortest digits that are read back, and the nearest number to digits."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef enum:
    LONGEST_DOUBLE = 25  # -1.2345678901234567e-300, and one more


cdef int write_double(double value, uint8_t* out) noexcept nogil  # a finite one; gives how many bytes were written
cdef bint read_double(uint64_t digits, int64_t exponent, double* value) noexcept nogil  # False if it can't be told here
cdef int write_whole(uint64_t value, uint8_t* out) noexcept nogil  # 20 bytes at most
