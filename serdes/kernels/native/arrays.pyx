# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Arrow arrays bound to the columns of a plan, and the frames, offsets and faults of a batch.

Arrays come through Arrow's C data interface and are read in place. Source: Arrow columnar format 1.5, "C data
interface".
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from serdes.kernels.agreement import agree
from serdes.kernels.arrays import Source
from serdes.kernels.native.arrow cimport ArrowArray

cdef int[19] SOURCES = [
    I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, OFFSETS_32, OFFSETS_64, VIEW, WIDTH, VIEWS_32, VIEWS_64, SPARSE,
    DENSE,
]
agree(
    Source,
    "I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 OFFSETS_32 OFFSETS_64 VIEW WIDTH VIEWS_32 VIEWS_64 SPARSE DENSE",
    SOURCES,
)


cdef class Shapes:
    """The arrays of an Arrow type.

    Args:
        columns: of each array, parents first: number of children, whether it has validity, number of buffers without it
            (-1 for any), whether it has a dictionary, whether children share its positions.
    """

    def __init__(self, columns):
        cdef int at
        if self.shapes != NULL:
            raise TypeError("shapes are made once")
        self.count = len(columns)
        self.shapes = <Shape*>calloc(max(self.count, 1), sizeof(Shape))
        if self.shapes == NULL:
            raise MemoryError()
        for at in range(self.count):
            shape = columns[at]
            self.shapes[at].children = shape[0]
            self.shapes[at].has_validity = shape[1]
            self.shapes[at].buffers = shape[2]
            self.shapes[at].has_dictionary = shape[3]
            self.shapes[at].shares_offset = shape[4]

    def __dealloc__(self):
        free(self.shapes)

    cdef int bind(self, const ArrowArray* array, Column* columns) except -1:
        """Notes where the buffers of an array and of all that is in it are; there is a column for each shape.

        Raises:
            ValueError: the array is not of this type.
        """
        memset(columns, 0, self.count * sizeof(Column))
        if self.part(array, 0, columns, 0) != self.count:
            raise ValueError("the array has fewer parts than the plan's Arrow type")
        return 0

    cdef int part(self, const ArrowArray* array, int64_t base, Column* columns, int at) except -1:
        """The same for an array and its parts; gives the next column's number."""
        if at >= self.count:
            raise ValueError("the array has more parts than the plan's Arrow type")
        cdef Shape* shape = &self.shapes[at]
        cdef Column* column = &columns[at]
        cdef int64_t first = shape.has_validity, child
        cdef int following = at + 1
        if (array.n_children != shape.children or (array.dictionary != NULL) != shape.has_dictionary
                or (array.n_buffers < first + 2 if shape.buffers < 0 else array.n_buffers != first + shape.buffers)):
            raise ValueError("the array is not of the plan's Arrow type")
        column.offset = array.offset + base
        column.length = array.length
        column.valid = <const uint8_t*>array.buffers[0] if shape.has_validity and array.null_count != 0 else NULL
        if array.n_buffers > first:
            column.first = <const uint8_t*>array.buffers[first]
        if array.n_buffers > first + 1:
            column.second = <const uint8_t*>array.buffers[first + 1]
        if shape.buffers < 0:
            column.more = array.buffers + first + 1
            column.more_count = array.n_buffers - first - 2
        for child in range(array.n_children):
            following = self.part(array.children[child], column.offset if shape.shares_offset else 0, columns, following)
        if array.dictionary != NULL:
            following = self.part(array.dictionary, 0, columns, following)
        return following


# --- frames


cdef bint start_rows(Output* made, int64_t total) noexcept nogil:
    memset(made, 0, sizeof(Output))
    made.total = total
    made.offsets = <int64_t*>malloc((total + 1) * sizeof(int64_t))
    if made.offsets == NULL:
        return False
    made.offsets[0] = 0
    return True


cdef void drop_rows(Output* made) noexcept nogil:
    free(made.offsets)
    free(made.validity)
    free(made.faults)


cdef bint end_null(Output* made, int64_t size) noexcept nogil:
    if made.validity == NULL:
        made.validity = <uint8_t*>malloc((made.total + 7) // 8)
        if made.validity == NULL:
            return False
        memset(made.validity, 0xFF, (made.total + 7) // 8)
    made.validity[made.rows >> 3] &= <uint8_t>~(1 << (made.rows & 7))
    made.nulls += 1
    end_row(made, size)
    return True


cdef bint note_fault(Output* made, int fault, int step, int depth, const int64_t* path) noexcept nogil:
    cdef int64_t room = made.fault_room
    cdef int64_t* at
    cdef void* more
    cdef int i
    if made.fault_room - made.fault_size < 4 + depth:
        room = 2 * room + 64 + depth
        more = realloc(made.faults, room * sizeof(int64_t))
        if more == NULL:
            return False
        made.faults = <int64_t*>more
        made.fault_room = room
    at = made.faults + made.fault_size
    at[0] = made.rows
    at[1] = fault
    at[2] = step
    at[3] = depth
    for i in range(depth):
        at[4 + i] = path[i]
    made.fault_size += 4 + depth
    return True


cdef class Block:
    """Bytes that Arrow arrays hold on to.

    Attributes:
        address: where they are.
        size: how many.
    """

    cdef void* data
    cdef readonly int64_t size

    def __dealloc__(self):
        free(self.data)

    @property
    def address(self):
        return <uintptr_t>self.data


cdef Block block_of(void* data, int64_t size):
    """Takes over memory."""
    cdef Block made = Block.__new__(Block)
    made.data = data
    made.size = size
    return made


cdef bint narrow(Output* made) noexcept nogil:
    """Makes offsets of 32 bits of those of 64, in place, if they fit."""
    cdef int64_t at
    cdef int32_t* small = <int32_t*>made.offsets
    cdef void* less
    if made.offsets[made.rows] > 0x7FFFFFFF:
        return False
    for at in range(made.rows + 1):
        small[at] = <int32_t>made.offsets[at]
    less = realloc(made.offsets, (made.rows + 1) * sizeof(int32_t))
    if less != NULL:
        made.offsets = <int64_t*>less
    return True


cdef object finished(Output* made, uint8_t** out, int64_t size):
    """Data, offsets, validity (None if all rows are valid) as `Block`s, the number of rows and of nulls, whether offsets
    have 64 bits, and the faults: row, fault, step, indexes from the inside out.
    """
    cdef list faults = []
    cdef int64_t at = 0, depth, i
    cdef bint large
    cdef void* less
    while at < made.fault_size:
        depth = made.faults[at + 3]
        faults.append((made.faults[at], made.faults[at + 1], made.faults[at + 2],
                       tuple([made.faults[at + 4 + i] for i in range(depth)])))
        at += 4 + depth
    with nogil:
        large = not narrow(made)
        less = realloc(out[0], size if size else 1)
    if less != NULL:
        out[0] = <uint8_t*>less
    data = block_of(out[0], size)
    out[0] = NULL
    offsets = block_of(made.offsets, (made.rows + 1) * (8 if large else 4))
    made.offsets = NULL
    validity = None
    if made.validity != NULL:
        validity = block_of(made.validity, (made.rows + 7) // 8)
        made.validity = NULL
    return data, offsets, validity, made.rows, made.nulls, large, faults
