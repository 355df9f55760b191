"""Arrow arrays as kernels that write rows read them, in place, and the frames that they make: what formats share."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from serdes.kernels.native.arrow cimport ArrowArray

cdef enum:
    # how Arrow holds a value: `serdes.kernels.arrays.Source`
    I8 = 0
    I16 = 1
    I32 = 2
    I64 = 3
    U8 = 4
    U16 = 5
    U32 = 6
    U64 = 7
    F16 = 8
    F32 = 9
    F64 = 10
    OFFSETS_32 = 11
    OFFSETS_64 = 12
    VIEW = 13
    WIDTH = 14
    VIEWS_32 = 15
    VIEWS_64 = 16
    SPARSE = 17
    DENSE = 18

cdef enum:
    SOUND = 0
    UNSOUND = 13              # the array is not valid: `Fault.BROKEN` of all formats
    TOO_FAR = 2               # a number of more than 63 bits: `Fault.OUT_OF_RANGE`


cdef struct Column:
    const uint8_t* valid
    const uint8_t* first      # values, offsets, views, type ids
    const uint8_t* second     # data of offsets, sizes of list views, offsets of unions
    const void** more         # data buffers of views
    int64_t more_count
    int64_t offset
    int64_t length


cdef struct Shape:
    int children
    int has_validity
    int buffers               # -1: views have any number
    int has_dictionary
    int shares_offset         # children are read at the parent's positions


cdef class Shapes:
    cdef Shape* shapes
    cdef int count

    cdef int bind(self, const ArrowArray* array, Column* columns) except -1
    cdef int part(self, const ArrowArray* array, int64_t base, Column* columns, int at) except -1


cdef struct Output:
    int64_t* offsets
    uint8_t* validity         # NULL while all rows are valid
    int64_t rows
    int64_t nulls
    int64_t* faults           # row, fault, step, depth, then so many indexes
    int64_t fault_size
    int64_t fault_room
    int64_t total             # rows there is room for


cdef bint start_rows(Output* made, int64_t total) noexcept nogil  # False without memory
cdef void drop_rows(Output* made) noexcept nogil
cdef bint end_null(Output* made, int64_t size) noexcept nogil  # a row without a frame; False without memory
cdef bint note_fault(Output* made, int fault, int step, int depth, const int64_t* path) noexcept nogil
cdef object finished(Output* made, uint8_t** out, int64_t size)  # takes over what it gives


cdef inline void end_row(Output* made, int64_t size) noexcept nogil:
    """The row that ends where there are so many bytes is a frame."""
    made.rows += 1
    made.offsets[made.rows] = size


cdef inline bint is_valid(const Column* column, int64_t at) noexcept nogil:
    return column.valid == NULL or (column.valid[at >> 3] >> (at & 7)) & 1


cdef inline int octets_at(const Column* column, int source, int64_t width, int64_t at,
                          const uint8_t** data, int64_t* size) noexcept nogil:
    cdef int64_t start, end
    cdef int32_t length, buffer, place
    if source == OFFSETS_32:
        start = (<const int32_t*>column.first)[at]
        end = (<const int32_t*>column.first)[at + 1]
    elif source == OFFSETS_64:
        start = (<const int64_t*>column.first)[at]
        end = (<const int64_t*>column.first)[at + 1]
    elif source == WIDTH:
        data[0] = column.first + at * width
        size[0] = width
        return SOUND
    else:
        memcpy(&length, column.first + 16 * at, 4)
        if length < 0:
            return UNSOUND
        size[0] = length
        if length <= 12:
            data[0] = column.first + 16 * at + 4
            return SOUND
        memcpy(&buffer, column.first + 16 * at + 8, 4)
        memcpy(&place, column.first + 16 * at + 12, 4)
        if buffer < 0 or buffer >= column.more_count or place < 0:
            return UNSOUND
        if length > (<const int64_t*>column.more[column.more_count])[buffer] - place:
            return UNSOUND
        data[0] = <const uint8_t*>column.more[buffer] + place
        return SOUND
    if start < 0 or end < start:
        return UNSOUND
    data[0] = column.second + start
    size[0] = end - start
    return SOUND


cdef inline int range_at(const Column* column, const Column* items, int source, int64_t width, int64_t at,
                         int64_t* start, int64_t* end) noexcept nogil:
    """The range of a list's items among all items."""
    if source == OFFSETS_32:
        start[0] = (<const int32_t*>column.first)[at]
        end[0] = (<const int32_t*>column.first)[at + 1]
    elif source == OFFSETS_64:
        start[0] = (<const int64_t*>column.first)[at]
        end[0] = (<const int64_t*>column.first)[at + 1]
    elif source == WIDTH:
        start[0] = at * width
        end[0] = start[0] + width
    elif source == VIEWS_32:
        start[0] = (<const int32_t*>column.first)[at]
        end[0] = start[0] + (<const int32_t*>column.second)[at]
    else:
        start[0] = (<const int64_t*>column.first)[at]
        end[0] = start[0] + (<const int64_t*>column.second)[at]
    if start[0] < 0 or end[0] < start[0] or end[0] > items.length:
        return UNSOUND
    return SOUND


cdef inline int whole_at(int source, const uint8_t* first, int64_t at, int64_t* value) noexcept nogil:
    """A whole number; not SOUND but TOO_FAR for one of 2^63 and more."""
    cdef uint64_t large
    if source == I32:
        value[0] = (<const int32_t*>first)[at]
    elif source == I64:
        value[0] = (<const int64_t*>first)[at]
    elif source == I16:
        value[0] = (<const int16_t*>first)[at]
    elif source == I8:
        value[0] = (<const int8_t*>first)[at]
    elif source == U8:
        value[0] = first[at]
    elif source == U16:
        value[0] = (<const uint16_t*>first)[at]
    elif source == U32:
        value[0] = (<const uint32_t*>first)[at]
    else:
        large = (<const uint64_t*>first)[at]
        if large >> 63:
            return TOO_FAR
        value[0] = <int64_t>large
    return SOUND


cdef inline double half_of(uint16_t bits) noexcept nogil:
    """A floating-point number of 16 bits."""
    cdef int exponent = (bits >> 10) & 31
    cdef double value = bits & 1023
    cdef int at
    if exponent == 31:
        value = 1e300 * 1e300 if bits & 1023 == 0 else 1e300 * 1e300 * 0.0
    elif exponent == 0:
        value /= 16777216.0
    else:
        value = (value + 1024.0) / 33554432.0
        for at in range(exponent):
            value *= 2.0
    return -value if bits >> 15 else value
