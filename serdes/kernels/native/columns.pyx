# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True
"""Growable Arrow columns: what of `columns.pxd` is not inlined, and how they become an Arrow array.

There is no pure twin: without compiled kernels columns are made from Python objects (`serdes.columnar`). Source: Arrow
columnar format 1.5, "Physical memory layout"; Arrow C data interface.
"""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc

__all__ = ["Builders"]


cdef struct Held:
    const void* buffers[3]
    ArrowArray** children


cdef int64_t values_size(Column* column, int64_t cells) noexcept nogil:
    """Bytes of `values` for so many cells."""
    if column.shape == SHAPE_FIXED:
        return cells * column.width
    if column.shape == SHAPE_BITS:
        return (cells + 7) >> 3
    if column.shape == SHAPE_BINARY or column.shape == SHAPE_LIST:
        return (cells + 1) * 4
    return cells if column.shape == SHAPE_UNION else 0


cdef int enlarge(uint8_t** place, int64_t old, int64_t size) noexcept nogil:
    """Room for `size` bytes, of which those after `old` are zero."""
    cdef uint8_t* made
    if place[0] == NULL:
        place[0] = <uint8_t*>calloc(size if size > 0 else 1, 1)
        return 0 if place[0] != NULL else NO_MEMORY
    made = <uint8_t*>realloc(place[0], size if size > 0 else 1)
    if made == NULL:
        return NO_MEMORY
    if size > old:
        memset(made + old, 0, size - old)
    place[0] = made
    return 0


cdef int reserve(Column* column, int64_t cells) noexcept nogil:
    cdef int64_t room = column.length + cells
    cdef int64_t old = values_size(column, column.room) if column.values != NULL else 0
    if room <= column.room:
        return 0
    if room < column.room * 2:
        room = column.room * 2
    if room < 16:
        room = 16
    cdef int64_t size = values_size(column, room)
    cdef uint8_t* made
    if column.shape == SHAPE_BINARY and column.data == NULL and reserve_data(column, 1):
        return NO_MEMORY
    if column.shape == SHAPE_BITS:
        if enlarge(&column.values, old, size):
            return NO_MEMORY
    elif size:
        made = <uint8_t*>realloc(column.values, size)
        if made == NULL:
            return NO_MEMORY
        if column.values == NULL and (column.shape == SHAPE_BINARY or column.shape == SHAPE_LIST):
            (<int32_t*>made)[0] = 0
        column.values = made
    if column.validity != NULL and enlarge(&column.validity, (column.room + 7) >> 3, (room + 7) >> 3):
        return NO_MEMORY
    if column.shape == SHAPE_UNION:
        made = <uint8_t*>realloc(column.data, room * 4)
        if made == NULL:
            return NO_MEMORY
        column.data = made
    column.room = room
    return 0


cdef int reserve_data(Column* column, int64_t size) noexcept nogil:
    cdef int64_t room = column.used + size
    cdef uint8_t* made
    if room > MOST:
        return FULL
    if room <= column.data_room and column.data != NULL:
        return 0
    if room < column.data_room * 2:
        room = column.data_room * 2
    if room < 64:
        room = 64
    made = <uint8_t*>realloc(column.data, room)
    if made == NULL:
        return NO_MEMORY
    column.data = made
    column.data_room = room
    return 0


cdef int reserve_rows(Column* column, int64_t cells) noexcept nogil:
    cdef Column* child = column + 1
    cdef Column* end = column + column.span
    if reserve(column, cells):
        return NO_MEMORY
    if column.shape == SHAPE_STRUCT:
        while child < end:
            if reserve_rows(child, cells):
                return NO_MEMORY
            child += child.span
    return 0


cdef int with_nulls(Column* column) noexcept nogil:
    cdef int64_t whole = column.length >> 3
    cdef int64_t size
    if column.validity != NULL:
        return 0
    if column.room == 0 and reserve(column, 1):
        return NO_MEMORY
    size = (column.room + 7) >> 3
    column.validity = <uint8_t*>calloc(size if size > 0 else 1, 1)
    if column.validity == NULL:
        return NO_MEMORY
    memset(column.validity, 0xFF, whole)
    if column.length & 7:
        column.validity[whole] = <uint8_t>((1 << (column.length & 7)) - 1)
    return 0


cdef int append_null(Column* column) noexcept nogil:
    cdef Column* child = column + 1
    cdef Column* end = column + column.span
    cdef int code
    if column.shape == SHAPE_NULLS:
        column.length += 1
        return 0
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    if column.shape == SHAPE_UNION:
        code = append_union(column, child, 0)
        return code if code else append_null(child)
    if column.validity == NULL:
        code = with_nulls(column)
        if code:
            return code
    if column.shape == SHAPE_FIXED:
        memset(column.values + column.length * column.width, 0, column.width)
    elif column.shape == SHAPE_BINARY or column.shape == SHAPE_LIST:
        (<int32_t*>column.values)[column.length + 1] = <int32_t>column.used
    elif column.shape == SHAPE_STRUCT:
        while child < end:
            code = append_null(child)
            if code:
                return code
            child += child.span
    column.length += 1
    column.nulls += 1
    return 0


cdef int append_empty(Column* column) noexcept nogil:
    cdef Column* child = column + 1
    cdef Column* end = column + column.span
    cdef int code
    if column.shape == SHAPE_NULLS:
        column.length += 1
        return 0
    if column.length >= column.room:
        code = reserve(column, 1)
        if code:
            return code
    if column.shape == SHAPE_UNION:
        code = append_union(column, child, 0)
        return code if code else append_empty(child)
    if column.shape == SHAPE_FIXED:
        memset(column.values + column.length * column.width, 0, column.width)
    elif column.shape == SHAPE_BINARY or column.shape == SHAPE_LIST:
        (<int32_t*>column.values)[column.length + 1] = <int32_t>column.used
    elif column.shape == SHAPE_STRUCT:
        while child < end:
            code = append_empty(child)
            if code:
                return code
            child += child.span
    end_cell(column)
    return 0


cdef void clear_bits(uint8_t* bits, int64_t start, int64_t end) noexcept nogil:
    cdef int64_t at = start
    while at < end and at & 7:
        bits[at >> 3] &= <uint8_t>~(1 << (at & 7))
        at += 1
    if at < end:
        memset(bits + (at >> 3), 0, ((end + 7) >> 3) - (at >> 3))


cdef void truncate(Column* column, int64_t length) noexcept nogil:
    cdef Column* child = column + 1
    cdef Column* end = column + column.span
    cdef int64_t at
    cdef int64_t gone = column.length
    if column.shape == SHAPE_UNION:
        at = length
        while at < gone:
            child = column + 1
            for _ in range((<int8_t*>column.values)[at]):
                child += child.span
            truncate(child, (<int32_t*>column.data)[at])  # also if it has no cell yet: what is beneath it may
            at += 1
        column.length = length if length < gone else gone
        return
    if gone > length:
        if column.validity != NULL:
            at = length
            while at < gone:
                column.nulls -= not column.validity[at >> 3] >> (at & 7) & 1
                at += 1
            clear_bits(column.validity, length, gone)
        if column.shape == SHAPE_BITS:
            clear_bits(column.values, length, gone)
        column.length = length
    if column.shape == SHAPE_BINARY:
        if column.values != NULL:
            column.used = (<int32_t*>column.values)[column.length]
    elif column.shape == SHAPE_LIST:
        column.used = (<int32_t*>column.values)[column.length] if column.values != NULL else 0
        truncate(child, column.used)
    elif column.shape == SHAPE_STRUCT:
        while child < end:
            truncate(child, column.length if column.length < length else length)
            child += child.span


# --- as an Arrow array


cdef void release(ArrowArray* array) noexcept nogil:
    """Frees a node and, unless they were moved elsewhere, those beneath it."""
    cdef Held* held = <Held*>array.private_data
    cdef int64_t at
    for at in range(3):
        free(<void*>held.buffers[at])
    for at in range(array.n_children):
        if held.children[at].release != NULL:
            held.children[at].release(held.children[at])
        free(held.children[at])
    free(held.children)
    free(held)
    array.release = NULL


cdef const void* handed_over(uint8_t** place, int64_t size) noexcept nogil:
    """A buffer cut to its size, which is no longer the column's."""
    cdef uint8_t* made = <uint8_t*>realloc(place[0], size if size > 0 else 1)
    if made == NULL:  # it could not be cut: as it is
        made = place[0]
    place[0] = NULL
    return made


cdef int export(Column* column, ArrowArray* array) noexcept nogil:
    """Hands a column and all beneath it over; on `NO_MEMORY` nothing is handed over that `release` would not free."""
    cdef Held* held = <Held*>calloc(1, sizeof(Held))
    cdef Column* child = column + 1
    cdef Column* end = column + column.span
    cdef int64_t children = 0
    memset(array, 0, sizeof(ArrowArray))
    if held == NULL:
        return NO_MEMORY
    array.release = release
    array.private_data = held
    array.buffers = held.buffers
    array.length = column.length
    array.null_count = column.length if column.shape == SHAPE_NULLS else column.nulls
    while child < end:
        children += 1
        child += child.span
    if children:
        held.children = <ArrowArray**>calloc(children, sizeof(ArrowArray*))
        if held.children == NULL:
            return NO_MEMORY
        array.children = held.children
    child = column + 1
    while child < end:
        held.children[array.n_children] = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        if held.children[array.n_children] == NULL:
            return NO_MEMORY
        array.n_children += 1
        if export(child, held.children[array.n_children - 1]):
            return NO_MEMORY
        child += child.span
    if column.shape == SHAPE_NULLS:
        return 0
    if column.values == NULL and reserve(column, 1):
        return NO_MEMORY
    if column.shape == SHAPE_UNION:
        array.n_buffers = 2
        held.buffers[0] = handed_over(&column.values, column.length)
        held.buffers[1] = handed_over(&column.data, column.length * 4)
        return 0
    array.n_buffers = 3 if column.shape == SHAPE_BINARY else 1 if column.shape == SHAPE_STRUCT else 2
    if column.nulls:
        held.buffers[0] = handed_over(&column.validity, (column.length + 7) >> 3)
    if column.shape != SHAPE_STRUCT:
        held.buffers[1] = handed_over(&column.values, values_size(column, column.length))
    if column.shape == SHAPE_BINARY:
        held.buffers[2] = handed_over(&column.data, column.used)
    return 0


cdef class Builders:
    """A tree of empty columns, for one batch.

    Args:
        shapes: of each column, in preorder, three native ints of 32 bits: shape, bytes of a cell, columns of its tree.

    Raises:
        ValueError: that is not a tree of columns.
        MemoryError: there is no memory for it.
    """

    def __cinit__(self, bytes shapes not None):
        cdef const int32_t* facts = <const int32_t*><const char*>shapes
        cdef int32_t at
        if not shapes or len(shapes) % 12:
            raise ValueError("shapes are three ints a column")
        self.count = <int32_t>(len(shapes) // 12)
        self.columns = <Column*>calloc(self.count, sizeof(Column))
        if self.columns == NULL:
            raise MemoryError()
        for at in range(self.count):
            self.columns[at].shape = facts[3 * at]
            self.columns[at].width = facts[3 * at + 1]
            self.columns[at].span = facts[3 * at + 2]
        if checked(self.columns, self.count, 0) != self.count:
            raise ValueError("not a tree of columns")

    def __dealloc__(self):
        cdef int32_t at
        if self.columns != NULL:
            for at in range(self.count):
                free(self.columns[at].values)
                free(self.columns[at].validity)
                free(self.columns[at].data)
            free(self.columns)
        if self.exported.release != NULL:
            self.exported.release(&self.exported)

    @property
    def length(self):
        """Cells of the root."""
        return self.columns.length

    def truncate(self, int64_t length):
        """Forgets the cells of the root from `length` on, and all beneath them."""
        if length < 0:
            raise ValueError("a length is not negative")
        truncate(self.columns, length)

    def append(self, int32_t place, value):
        """Adds a cell at the end of a column.

        Args:
            place: the column's, in preorder.
            value: None for null; bytes for binary, text and fixed columns; a bool for bits; for a dense union the
                child's place, whose value comes next; True for structs and lists, after what is in them.

        Raises:
            ValueError: there is no such column, or the value is of another size.
            OverflowError: the column would have more than 2**31 - 1 bytes or items.
            MemoryError: there is no memory for it.
        """
        cdef Column* column
        cdef Column* child
        cdef bytes data
        cdef int at, code
        if self.taken or not 0 <= place < self.count:
            raise ValueError("there is no such column")
        column = self.columns + place
        if value is None or column.shape == SHAPE_NULLS:
            code = append_null(column)
        elif column.shape == SHAPE_BINARY:
            data = value
            code = append_bytes(column, <const uint8_t*><const char*>data, len(data))
        elif column.shape == SHAPE_FIXED:
            data = value
            if len(data) != column.width:
                raise ValueError(f"a cell has {column.width} bytes")
            code = append_fixed(column, <const uint8_t*><const char*>data)
        elif column.shape == SHAPE_BITS:
            code = append_bool(column, value)
        elif column.shape == SHAPE_LIST:
            code = append_list(column)
        elif column.shape == SHAPE_STRUCT:
            code = append_struct(column)
        else:
            child = column + 1
            for at in range(value):
                child += child.span
            if value < 0 or child >= column + column.span:
                raise ValueError("the union has no such child")
            code = append_union(column, child, value)
        if code == FULL:
            raise OverflowError("a column has more than 2**31 - 1 bytes or items: take fewer rows at once")
        if code:
            raise MemoryError()

    def finish(self):
        """The columns as an `ArrowArray` of the C data interface; there can be no second call.

        Returns:
            its address; who imports it has to do so while this object lives.

        Raises:
            MemoryError: there is no memory for it.
        """
        cdef int code
        if self.taken:
            raise ValueError("the columns were taken before")
        self.taken = True
        code = export(self.columns, &self.exported)
        if code:
            raise MemoryError()
        return <uintptr_t>&self.exported


cdef int32_t checked(Column* columns, int32_t count, int depth):
    """Columns of the tree that starts here, or -1 if it is none."""
    cdef int32_t at = 1
    cdef int32_t children = 0
    cdef int32_t size
    if count < 1 or columns.span < 1 or columns.span > count or depth > 1000:
        return -1
    while at < columns.span:
        size = checked(columns + at, columns.span - at, depth + 1)
        if size < 0:
            return -1
        at += size
        children += 1
    if columns.shape < 0 or columns.shape >= SHAPES or (columns.shape == SHAPE_FIXED and columns.width < 1):
        return -1
    if columns.shape == SHAPE_LIST:
        return columns.span if children == 1 else -1
    if columns.shape == SHAPE_UNION:
        return columns.span if 0 < children <= 127 else -1
    return columns.span if children == 0 or columns.shape == SHAPE_STRUCT else -1
