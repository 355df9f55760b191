"""Growable Arrow columns for kernels that fill them: appending is inlined into the kernel, everything else is a call.

A tree of columns is one array in preorder: the first child of a column is `column + 1`, its next sibling
`child + child.span`. All appending functions take bytes that were checked before, need no GIL, and give 0, or a code
(`NO_MEMORY`, `FULL`) after which the batch can't go on. Nothing has to be marked before a row: `truncate` finds from
the length of a column what its children held then, half-built lists included.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from serdes.kernels.native.arrow cimport ArrowArray
from serdes.kernels.native.octets cimport SHORT


cdef enum:
    SHAPE_NULLS = 0  # no cells at all
    SHAPE_FIXED = 1  # `width` bytes a cell
    SHAPE_BITS = 2  # booleans
    SHAPE_BINARY = 3  # offsets of 32 bits, and bytes: binary, string
    SHAPE_LIST = 4  # offsets of 32 bits into the one child: list, map
    SHAPE_STRUCT = 5
    SHAPE_UNION = 6  # dense: `values` has the child's place (8 bits), `data` the cell in it (32 bits)
    SHAPES = 7

cdef enum:
    NO_MEMORY = -1
    FULL = -2  # more than 2**31 - 1 bytes or items in one column

cdef enum:
    MOST = 0x7FFFFFFF


cdef struct Column:
    uint8_t* values
    int64_t length  # cells so far
    int64_t room  # cells there is room for in `values` and `validity`
    uint8_t* validity  # bits; NULL as long as no cell is null
    uint8_t* data
    int64_t used  # bytes of `data`; of a list, items of its child at the end of the last list
    int64_t data_room
    int64_t nulls
    int32_t shape
    int32_t width
    int32_t span  # columns of this tree, this one included


cdef class Builders:
    cdef Column* columns
    cdef int32_t count
    cdef bint taken
    cdef ArrowArray exported


cdef int reserve(Column* column, int64_t cells) noexcept nogil  # room for so many more
cdef int reserve_data(Column* column, int64_t size) noexcept nogil  # room for so many more bytes
cdef int reserve_rows(Column* column, int64_t cells) noexcept nogil  # of the column and of what has a cell for each
cdef int with_nulls(Column* column) noexcept nogil  # makes `validity`
cdef int append_null(Column* column) noexcept nogil  # a null, and nulls or empty cells beneath it
cdef int append_empty(Column* column) noexcept nogil  # zero, an empty text or list; a struct of them
cdef void truncate(Column* column, int64_t length) noexcept nogil  # forgets the cells from `length` on, in all beneath


cdef inline void set_bit(uint8_t* bits, int64_t at) noexcept nogil:
    bits[at >> 3] |= <uint8_t>(1 << (at & 7))


cdef inline void end_cell(Column* column) noexcept nogil:
    """The cell that was written last is a value."""
    if column.validity != NULL:
        set_bit(column.validity, column.length)
    column.length += 1


cdef inline int append_int32(Column* column, int32_t value) noexcept nogil:
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    (<int32_t*>column.values)[column.length] = value
    end_cell(column)
    return 0


cdef inline int append_int64(Column* column, int64_t value) noexcept nogil:
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    (<int64_t*>column.values)[column.length] = value
    end_cell(column)
    return 0


cdef inline int append_float(Column* column, float value) noexcept nogil:
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    (<float*>column.values)[column.length] = value
    end_cell(column)
    return 0


cdef inline int append_double(Column* column, double value) noexcept nogil:
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    (<double*>column.values)[column.length] = value
    end_cell(column)
    return 0


cdef inline int append_fixed(Column* column, const uint8_t* value) noexcept nogil:
    """`width` bytes, as they stand in the column."""
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    memcpy(column.values + column.length * column.width, value, column.width)
    end_cell(column)
    return 0


cdef inline int append_bool(Column* column, bint value) noexcept nogil:
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    column.values[column.length >> 3] |= <uint8_t>(value << (column.length & 7))
    end_cell(column)
    return 0


cdef inline int append_bytes(Column* column, const uint8_t* data, int64_t size) noexcept nogil:
    """Bytes of a binary or string column; texts have to be UTF-8."""
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    if size > column.data_room - column.used:
        code = reserve_data(column, size)
        if code:
            return code
    if size:
        memcpy(column.data + column.used, data, size)
    column.used += size
    (<int32_t*>column.values)[column.length + 1] = <int32_t>column.used
    end_cell(column)
    return 0


cdef inline bint has_short_room(const Column* column) noexcept nogil:
    """Whether `append_short` can add a cell as things are; if not, `append_bytes` can, and makes room."""
    return column.length < column.room and column.data_room - column.used >= SHORT


cdef inline void append_short(Column* column, const uint8_t* data, int64_t size) noexcept nogil:
    """As `append_bytes`, of `SHORT` bytes at most, where there is room: copies SHORT, whose end is written over later."""
    memcpy(column.data + column.used, data, SHORT)
    column.used += size
    (<int32_t*>column.values)[column.length + 1] = <int32_t>column.used
    end_cell(column)


cdef inline int append_struct(Column* column) noexcept nogil:
    """A struct whose children got one cell each before."""
    cdef int code
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    end_cell(column)
    return 0


cdef inline int append_list(Column* column) noexcept nogil:
    """A list (or map) of all that its child got since the last one."""
    cdef int code
    cdef int64_t items = (column + 1).length
    if items > MOST:
        return FULL
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    column.used = items
    (<int32_t*>column.values)[column.length + 1] = <int32_t>items
    end_cell(column)
    return 0


cdef inline int append_union(Column* column, Column* child, int8_t place) noexcept nogil:
    """Says which child of a dense union has the value; the value has to be appended to that child next."""
    cdef int code
    if child.length > MOST:
        return FULL
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    (<int8_t*>column.values)[column.length] = place
    (<int32_t*>column.data)[column.length] = <int32_t>child.length
    column.length += 1
    return 0
