# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Arrow columns written as framed Avro, a batch at a time, without the GIL.

A program is the plan of `serdes.columnar.avro.writing` as a table; it is not changed by running it, so threads may
share it. Arrays come through Arrow's C data interface and are read in place. The encoder of `serdes.formats.avro`, to
which rows go where this module is not built, is the specification. Sources: Avro specification 1.12, "Binary Encoding";
Arrow columnar format 1.5, "C data interface".
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.agreement import agree
from serdes.kernels.avro_frames import Fault, Op
from serdes.kernels.native.arrays cimport (
    DENSE,
    F16,
    F32,
    F64,
    I8,
    SPARSE,
    U64,
    Column,
    Output,
    Shapes,
    drop_rows,
    end_null,
    end_row,
    finished,
    half_of,
    is_valid,
    note_fault,
    octets_at,
    range_at,
    start_rows,
    whole_at,
)
from serdes.kernels.native.arrow cimport ArrowArray
from serdes.kernels.native.octets cimport hashed, is_utf8, uuid_of, uuid_text

cdef enum:
    # what a step writes: `Op`
    NULL_ = 0
    BOOLEAN = 1
    INT = 2
    FLOAT = 3
    DOUBLE = 4
    OCTETS = 5
    ENUM = 6
    FIXED = 7
    DECIMAL = 8
    UUID_OF_BYTES = 9
    UUID_OF_TEXT = 10
    INTERVAL = 11
    LAPSE = 12
    LIST = 13
    MAP = 14
    RECORD = 15
    CONSTANT = 16
    MEMBERS = 17
    VARIANT = 18
    DICTIONARY = 19
    # why it can't: `Fault`
    FINE = 0
    FAULT_NULL = 1
    OUT_OF_RANGE = 2
    LOSES_DIGITS = 3
    NOT_UTF8 = 4
    NO_SYMBOL = 5
    WRONG_SIZE = 6
    NOT_UUID = 7
    NO_MEMBER = 8
    SEVERAL_MEMBERS = 9
    TOO_LARGE = 10
    KEY_TWICE = 11
    NULL_KEY = 12
    BROKEN = 13
    NO_MEMORY = 14
    INEXACT = 15

cdef enum:
    LIMBS = 8                 # of 32 bits: a decimal of 256 bits
    PLAIN_TEXT = 0
    UTF8_TEXT = 1
    UUID_TEXT = 2
    FEW_KEYS = 8

cdef double LARGEST_SINGLE = 2.0**128 - 2.0**103

cdef int[20] OPS = [
    NULL_, BOOLEAN, INT, FLOAT, DOUBLE, OCTETS, ENUM, FIXED, DECIMAL, UUID_OF_BYTES, UUID_OF_TEXT, INTERVAL, LAPSE, LIST,
    MAP, RECORD, CONSTANT, MEMBERS, VARIANT, DICTIONARY,
]
cdef int[16] FAULTS = [
    FINE, FAULT_NULL, OUT_OF_RANGE, LOSES_DIGITS, NOT_UTF8, NO_SYMBOL, WRONG_SIZE, NOT_UUID, NO_MEMBER, SEVERAL_MEMBERS,
    TOO_LARGE, KEY_TWICE, NULL_KEY, BROKEN, NO_MEMORY, INEXACT,
]
agree(
    Op,
    "NULL BOOLEAN INT FLOAT DOUBLE OCTETS ENUM FIXED DECIMAL UUID_OF_BYTES UUID_OF_TEXT INTERVAL LAPSE LIST MAP RECORD"
    " CONSTANT MEMBERS VARIANT DICTIONARY",
    OPS,
)
agree(
    Fault,
    "FINE NULL OUT_OF_RANGE LOSES_DIGITS NOT_UTF8 NO_SYMBOL WRONG_SIZE NOT_UUID NO_MEMBER SEVERAL_MEMBERS TOO_LARGE"
    " KEY_TWICE NULL_KEY BROKEN NO_MEMORY INEXACT",
    FAULTS,
)


cdef struct Step:
    int op
    int source
    int column
    int count                 # of kids
    int* kids
    int64_t place             # of the branch, -1 outside of unions
    int64_t null_place        # of the null branch, -1 if there is none
    int64_t int_place         # of the branch int where `place` is that of long, else -1
    int64_t low
    int64_t high
    int64_t times
    int64_t over
    int64_t width
    int64_t size              # bytes of a fixed type, -1 for bytes with a length
    int check                 # of a text
    uint8_t* data             # constant; symbols
    int64_t data_size
    int32_t* starts           # where symbols begin in data; one more than symbols
    uint32_t symbols
    int32_t* slots            # hash table: place of a symbol, -1
    uint32_t mask
    uint32_t limit[LIMBS]     # a decimal's absolute value is less


cdef struct Run:
    Step* steps
    Column* columns
    uint8_t* out
    int64_t size
    int64_t room
    int64_t row_start
    int64_t max_row
    int fault_step
    int depth
    int64_t* path             # indexes on the way to a fault, innermost first
    int32_t* table
    int64_t table_room


cdef int grow(Run* run, int64_t more) noexcept nogil:
    cdef int64_t room = run.room
    cdef void* made
    if more < 0 or run.size - run.row_start + more > run.max_row:
        return TOO_LARGE
    while room - run.size < more:
        room *= 2
    made = realloc(run.out, room)
    if made == NULL:
        return NO_MEMORY
    run.out = <uint8_t*>made
    run.room = room
    return FINE


cdef inline int need(Run* run, int64_t more) noexcept nogil:
    if run.room - run.size >= more:
        return FINE
    return grow(run, more)


cdef inline void put_long(Run* run, int64_t value) noexcept nogil:
    """A number, for which ten bytes have to be there."""
    cdef uint64_t number = (<uint64_t>value << 1) ^ <uint64_t>(value >> 63)
    cdef uint8_t* at = run.out + run.size
    while number > 0x7F:
        at[0] = <uint8_t>((number & 0x7F) | 0x80)
        at += 1
        number >>= 7
    at[0] = <uint8_t>number
    run.size = at + 1 - run.out


cdef inline int put_octets(Run* run, const uint8_t* data, int64_t size) noexcept nogil:
    """Length and bytes."""
    cdef int fault = need(run, size + 10)
    if fault:
        return fault
    put_long(run, size)
    if size:
        memcpy(run.out + run.size, data, size)
        run.size += size
    return FINE


cdef inline int put_bytes(Run* run, const uint8_t* data, int64_t size) noexcept nogil:
    cdef int fault = need(run, size)
    if fault:
        return fault
    if size:
        memcpy(run.out + run.size, data, size)
        run.size += size
    return FINE


cdef inline int symbol_place(const Step* step, const uint8_t* data, int64_t size) noexcept nogil:
    cdef uint32_t slot = hashed(data, size) & step.mask
    cdef int32_t place
    while True:
        place = step.slots[slot]
        if place < 0:
            return -1
        if (step.starts[place + 1] - step.starts[place] == size
                and (size == 0 or memcmp(step.data + step.starts[place], data, size) == 0)):
            return place
        slot = (slot + 1) & step.mask


# --- numbers


cdef inline int write_int(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int64_t value
    cdef int fault = whole_at(step.source, column.first, at, &value)
    if fault:
        return fault
    if step.over > 1:
        if value % step.over:
            return LOSES_DIGITS
        value = value // step.over
    if value < step.low or value > step.high:
        return OUT_OF_RANGE
    value *= step.times
    fault = need(run, 20)
    if fault:
        return fault
    if step.place >= 0:
        if step.int_place >= 0 and -2147483648LL <= value <= 2147483647LL:
            put_long(run, step.int_place)
        else:
            put_long(run, step.place)
    put_long(run, value)
    return FINE


cdef int write_real(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef double value
    cdef float single
    cdef int64_t whole = 0
    cdef uint64_t significant
    cdef int fault = need(run, 8)
    if fault:
        return fault
    if step.source == F64:
        value = (<const double*>column.first)[at]
    elif step.source == F32:
        if step.op == FLOAT:
            memcpy(run.out + run.size, column.first + 4 * at, 4)
            run.size += 4
            return FINE
        value = (<const float*>column.first)[at]
    elif step.source == F16:
        value = half_of((<const uint16_t*>column.first)[at])
    else:
        if step.source == U64:
            significant = (<const uint64_t*>column.first)[at]
            value = <double>significant
        else:
            whole_at(step.source, column.first, at, &whole)
            significant = <uint64_t>whole if whole >= 0 else 0 - <uint64_t>whole
            value = <double>whole
        while significant and not significant & 1:
            significant >>= 1
        if significant >= (1ULL << (24 if step.op == FLOAT else 53)):
            return INEXACT
    if step.op == DOUBLE:
        memcpy(run.out + run.size, &value, 8)
        run.size += 8
        return FINE
    if not (-LARGEST_SINGLE < value < LARGEST_SINGLE) and value - value == 0:
        return OUT_OF_RANGE
    single = <float>value
    memcpy(run.out + run.size, &single, 4)
    run.size += 4
    return FINE


cdef int write_decimal(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """The number scaled, as big-endian two's complement."""
    cdef uint32_t limbs[LIMBS]
    cdef const uint8_t* data = column.first + at * step.width
    cdef bint negative = data[step.width - 1] >> 7
    cdef uint64_t carry
    cdef int64_t left
    cdef int i, bits, size, used = <int>(step.width // 4)
    cdef uint8_t* out
    cdef int fault
    memcpy(limbs, data, step.width)
    for i in range(used, LIMBS):
        limbs[i] = 0xFFFFFFFFu if negative else 0
    if negative:
        carry = 1
        for i in range(LIMBS):
            carry += <uint32_t>~limbs[i]
            limbs[i] = <uint32_t>carry
            carry >>= 32
    left = step.times
    while left > 1:                     # times 10^k, in steps of 10^9
        carry = 0
        for i in range(LIMBS):
            carry += <uint64_t>limbs[i] * <uint64_t>ten_to(left if left < 10 else 10)
            limbs[i] = <uint32_t>carry
            carry >>= 32
        if carry:
            return OUT_OF_RANGE
        left -= 9
    left = step.over
    while left > 1:
        carry = 0
        for i in range(LIMBS - 1, -1, -1):
            carry = carry << 32 | limbs[i]
            limbs[i] = <uint32_t>(carry // ten_to(left if left < 10 else 10))
            carry = carry % ten_to(left if left < 10 else 10)
        if carry:
            return LOSES_DIGITS
        left -= 9
    i = LIMBS - 1
    while i >= 0 and limbs[i] == step.limit[i]:
        i -= 1
    if i < 0 or limbs[i] > step.limit[i]:
        return OUT_OF_RANGE
    bits = 0
    for i in range(LIMBS - 1, -1, -1):
        if limbs[i]:
            bits = 32 * i
            carry = limbs[i]
            while carry:
                bits += 1
                carry >>= 1
            break
    size = (bits + 8) // 8 if step.size < 0 else <int>step.size
    if size * 8 < bits + 1:
        return OUT_OF_RANGE
    if negative:
        carry = 1
        for i in range(LIMBS):
            carry += <uint32_t>~limbs[i]
            limbs[i] = <uint32_t>carry
            carry >>= 32
    fault = need(run, size + 10)
    if fault:
        return fault
    if step.size < 0:
        put_long(run, size)
    out = run.out + run.size
    for i in range(size):
        if size - 1 - i < 4 * LIMBS:
            out[i] = <uint8_t>(limbs[(size - 1 - i) // 4] >> (8 * ((size - 1 - i) % 4)))
        else:
            out[i] = 0xFF if negative and bits else 0
    run.size += size
    return FINE


cdef inline uint32_t ten_to(int64_t one_more) noexcept nogil:
    """10 to the power of one less: a factor that stands for no digits is told from none at all."""
    cdef uint32_t made = 1
    cdef int64_t at
    for at in range(one_more - 1):
        made *= 10
    return made


cdef int put_duration(Run* run, int64_t months, int64_t days, int64_t millis) noexcept nogil:
    cdef uint32_t parts[3]
    if not (0 <= months <= 0xFFFFFFFFLL and 0 <= days <= 0xFFFFFFFFLL and 0 <= millis <= 0xFFFFFFFFLL):
        return OUT_OF_RANGE
    parts[0] = <uint32_t>months
    parts[1] = <uint32_t>days
    parts[2] = <uint32_t>millis
    return put_bytes(run, <const uint8_t*>parts, 12)


cdef int write_interval(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int32_t months, days
    cdef int64_t nanos
    memcpy(&months, column.first + 16 * at, 4)
    memcpy(&days, column.first + 16 * at + 4, 4)
    memcpy(&nanos, column.first + 16 * at + 8, 8)
    if nanos % 1000000:
        return LOSES_DIGITS
    return put_duration(run, months, days, nanos // 1000000)


cdef int write_lapse(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """A time span as days and milliseconds; `over` is units in a millisecond, or `times` milliseconds in a unit."""
    cdef int64_t value = (<const int64_t*>column.first)[at], days, per_day
    per_day = 86400000 * step.over // step.times
    if value < 0:
        return OUT_OF_RANGE
    days = value // per_day
    value = value % per_day
    if value % step.over:
        return LOSES_DIGITS
    return put_duration(run, 0, days, value // step.over * step.times)


# --- texts


cdef inline int write_octets(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef const uint8_t* data
    cdef int64_t size
    cdef uint8_t made[36]
    cdef int fault = octets_at(column, step.source, step.width, at, &data, &size)
    if fault:
        return fault
    if step.op == OCTETS:
        if step.check == UTF8_TEXT:
            if not is_utf8(data, size):
                return NOT_UTF8
        elif step.check == UUID_TEXT and not uuid_of(data, size, made):
            return NOT_UUID
        return put_octets(run, data, size)
    if step.op == ENUM:
        fault = symbol_place(step, data, size)
        if fault < 0:
            return NO_SYMBOL
        size = fault
        fault = need(run, 10)
        if fault:
            return fault
        put_long(run, size)
        return FINE
    if step.op == FIXED:
        if size != step.size:
            return WRONG_SIZE
        return put_bytes(run, data, size)
    if step.op == UUID_OF_TEXT:
        if not uuid_of(data, size, made):
            return NOT_UUID
        return put_bytes(run, made, 16)
    if size != 16:
        return WRONG_SIZE
    uuid_text(data, made)
    return put_octets(run, made, 36)


# --- parts


cdef int write_list(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int64_t start, end, item
    cdef int kid = step.kids[0], fault
    fault = range_at(column, &run.columns[step.column + 1], step.source, step.width, at, &start, &end)
    if fault:
        return fault
    fault = need(run, 11)
    if fault:
        return fault
    if end > start:
        put_long(run, end - start)
        if run.steps[kid].op != NULL_ or run.steps[kid].place >= 0 or run.steps[kid].null_place >= 0:
            for item in range(start, end):
                fault = write(run, kid, item)
                if fault:
                    run.path[run.depth] = item - start
                    run.depth += 1
                    return fault
        fault = need(run, 1)
        if fault:
            return fault
    run.out[run.size] = 0
    run.size += 1
    return FINE


cdef int distinct(Run* run, const Step* step, const Column* keys, int64_t start, int64_t end, int64_t* twice) noexcept nogil:
    """Whether the keys of a map are different ones."""
    cdef int64_t at, other, room = 16, slot
    cdef const uint8_t* data
    cdef const uint8_t* known = NULL
    cdef int64_t size, known_size = 0
    cdef void* made
    cdef int fault
    if end - start < 2:
        return FINE
    if end - start > 0x3FFFFFFF:
        return TOO_LARGE
    while room < 2 * (end - start):
        room *= 2
    if run.table_room < room:
        made = realloc(run.table, room * sizeof(int32_t))
        if made == NULL:
            return NO_MEMORY
        run.table = <int32_t*>made
        run.table_room = room
    memset(run.table, 0xFF, room * sizeof(int32_t))
    for at in range(start, end):
        fault = octets_at(keys, step.source, 0, at + keys.offset, &data, &size)
        if fault:
            return fault
        slot = hashed(data, size) & (room - 1)
        while run.table[slot] >= 0:
            other = start + run.table[slot]
            octets_at(keys, step.source, 0, other + keys.offset, &known, &known_size)
            if size == known_size and (size == 0 or memcmp(data, known, size) == 0):
                twice[0] = at
                return KEY_TWICE
            slot = (slot + 1) & (room - 1)
        run.table[slot] = <int32_t>(at - start)
    return FINE


cdef int write_map(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """Entries in one block. Kids are key and value; the entries are a struct, whose offset both have."""
    cdef int64_t start, end, item
    cdef int key = step.kids[0], value = step.kids[1], fault
    fault = range_at(column, &run.columns[step.column + 1], step.source, step.width, at, &start, &end)
    if fault:
        return fault
    fault = need(run, 11)
    if fault:
        return fault
    if end > start:
        put_long(run, end - start)
        item = start
        fault = distinct(run, &run.steps[key], &run.columns[run.steps[key].column], start, end, &item)
        while not fault and item < end:
            fault = write(run, key, item)
            if fault == FAULT_NULL:
                fault = NULL_KEY
            if not fault:
                fault = write(run, value, item)
            if not fault:
                item += 1
        if fault:
            if run.fault_step < 0:
                run.fault_step = key
            run.path[run.depth] = item - start
            run.depth += 1
            return fault
        fault = need(run, 1)
        if fault:
            return fault
    run.out[run.size] = 0
    run.size += 1
    return FINE


cdef int write_variant(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """A value of Arrow's unions: `data` holds the kid of each type id, 255 for none."""
    cdef uint8_t kid = step.data[column.first[at] & 127]
    cdef int64_t place = at - column.offset
    if column.first[at] > 127 or kid == 255:
        return BROKEN
    if step.source == SPARSE:
        return write(run, step.kids[kid], place)
    place = (<const int32_t*>column.second)[at]
    if place < 0 or place >= run.columns[run.steps[step.kids[kid]].column].length:
        return BROKEN
    return write(run, step.kids[kid], place)


cdef int write_dictionary(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int64_t place
    if whole_at(step.source, column.first, at, &place):
        return BROKEN
    if place < 0 or place >= run.columns[run.steps[step.kids[0]].column].length:
        return BROKEN
    return write(run, step.kids[0], place)


cdef int put_null(Run* run, const Step* step) noexcept nogil:
    cdef int fault
    if step.null_place < 0:
        return FAULT_NULL
    fault = need(run, 10)
    if not fault:
        put_long(run, step.null_place)
    return fault


cdef int write_parts(Run* run, const Step* step, const Column* column, int64_t index, int64_t at) noexcept nogil:
    """Writes a cell that has steps of its own; `index` is the position without the column's offset."""
    cdef int i, fault, found = -1
    cdef Column* member
    if step.op == RECORD:
        for i in range(step.count):
            fault = write(run, step.kids[i], index)
            if fault:
                return fault
        return FINE
    if step.op == LIST:
        return write_list(run, step, column, at)
    if step.op == MAP:
        return write_map(run, step, column, at)
    if step.op == DICTIONARY:
        return write_dictionary(run, step, column, at)
    if step.op == VARIANT:
        return write_variant(run, step, column, at)
    for i in range(step.count):           # MEMBERS
        member = &run.columns[run.steps[step.kids[i]].column]
        if is_valid(member, index + member.offset):
            if found >= 0:
                return SEVERAL_MEMBERS
            found = step.kids[i]
    if found >= 0:
        return write(run, found, index)
    return NO_MEMBER if put_null(run, step) else FINE


cdef int write(Run* run, int number, int64_t index) noexcept nogil:
    """Writes the value of a step at a position."""
    cdef const Step* step = &run.steps[number]
    cdef const Column* column
    cdef int64_t at
    cdef int fault
    if step.op == CONSTANT:
        fault = put_bytes(run, step.data, step.data_size)
        if fault:
            run.fault_step = number
        return fault
    column = &run.columns[step.column]
    at = index + column.offset
    if column.valid != NULL and not (column.valid[at >> 3] >> (at & 7)) & 1:
        fault = put_null(run, step)
    elif step.op == INT:
        fault = write_int(run, step, column, at)
    elif step.op == NULL_:
        fault = put_null(run, step) if step.null_place >= 0 else FINE
    else:
        if step.place >= 0:
            fault = need(run, 10)
            if fault:
                run.fault_step = number
                return fault
            put_long(run, step.place)
        if step.op == BOOLEAN:
            fault = need(run, 1)
            if not fault:
                run.out[run.size] = (column.first[at >> 3] >> (at & 7)) & 1
                run.size += 1
        elif step.op == FLOAT or step.op == DOUBLE:
            fault = write_real(run, step, column, at)
        elif step.op >= LIST:
            fault = write_parts(run, step, column, index, at)
        elif step.op == DECIMAL:
            fault = write_decimal(run, step, column, at)
        elif step.op == INTERVAL:
            fault = write_interval(run, step, column, at)
        elif step.op == LAPSE:
            fault = write_lapse(run, step, column, at)
        else:
            fault = write_octets(run, step, column, at)
    if fault and run.fault_step < 0:
        run.fault_step = number
    return fault


cdef int rows_of(Run* run, Output* made, int64_t rows, const uint8_t* prefix, int64_t prefix_size) noexcept nogil:
    """Writes the rows of one array."""
    cdef int64_t row
    cdef int fault
    cdef Column* root = &run.columns[0]
    for row in range(rows):
        run.row_start = run.size
        fault = FINE
        if is_valid(root, row + root.offset):
            run.fault_step = -1
            run.depth = 0
            fault = need(run, prefix_size)
            if not fault:
                memcpy(run.out + run.size, prefix, prefix_size)
                run.size += prefix_size
                fault = write(run, 0, row)
            if not fault and run.size - run.row_start > run.max_row:
                fault = TOO_LARGE
            if fault == FINE:
                end_row(made, run.size)
                continue
            if run.fault_step < 0:
                run.fault_step = 0
            if fault == NO_MEMORY or not note_fault(made, fault, run.fault_step, run.depth, run.path):
                return NO_MEMORY
        run.size = run.row_start
        if not end_null(made, run.size):
            return NO_MEMORY
    return FINE


# --- programs


cdef class FramesProgram:
    """A plan as a table.

    Args:
        steps: of each step op, source, column, place, place of null, place of int, low, high, times, over, width, size,
            check, kids, data; a kid has a higher number than its parent.
        shapes: of the arrays of the Arrow type.
        depth: how many lists and maps are inside of one another at most.
    """

    cdef Step* steps
    cdef int step_count
    cdef Shapes shapes
    cdef int depth

    def __init__(self, steps, Shapes shapes not None, int depth):
        if self.steps != NULL:
            raise TypeError("a program is made once")
        self.step_count = len(steps)
        self.shapes = shapes
        self.depth = depth
        self.steps = <Step*>calloc(self.step_count, sizeof(Step))
        if self.steps == NULL:
            raise MemoryError()
        cdef int at
        for at in range(self.step_count):
            self.fill(&self.steps[at], steps[at])

    cdef int fill(self, Step* step, tuple given) except -1:
        cdef int i
        (step.op, step.source, step.column, step.place, step.null_place, step.int_place, step.low, step.high,
         step.times, step.over, step.width, step.size, step.check, kids, data) = given
        step.count = len(kids)
        step.kids = <int*>malloc(max(1, step.count) * sizeof(int))
        if step.kids == NULL:
            raise MemoryError()
        for i in range(step.count):
            step.kids[i] = kids[i]
        if step.op == DECIMAL:
            for i in range(LIMBS):
                step.limit[i] = int.from_bytes(data[0][4 * i : 4 * i + 4], "little")
        elif data:
            self.keep(step, data)
        return 0

    cdef int keep(self, Step* step, tuple data) except -1:
        cdef bytes joined = b"".join(data)
        cdef const char* start = joined
        cdef uint32_t room = 4, slot
        cdef uint32_t at
        step.data_size = len(joined)
        step.data = <uint8_t*>malloc(max(1, step.data_size))
        if step.data == NULL:
            raise MemoryError()
        memcpy(step.data, start, step.data_size)
        if step.op != ENUM:
            return 0
        step.symbols = len(data)
        while room < 2 * step.symbols:
            room *= 2
        step.mask = room - 1
        step.starts = <int32_t*>malloc((step.symbols + 1) * sizeof(int32_t))
        step.slots = <int32_t*>malloc(room * sizeof(int32_t))
        if step.starts == NULL or step.slots == NULL:
            raise MemoryError()
        memset(step.slots, 0xFF, room * sizeof(int32_t))
        step.starts[0] = 0
        for at in range(step.symbols):
            step.starts[at + 1] = step.starts[at] + <int32_t>len(data[at])
            slot = hashed(step.data + step.starts[at], step.starts[at + 1] - step.starts[at]) & step.mask
            while step.slots[slot] >= 0:
                slot = (slot + 1) & step.mask
            step.slots[slot] = at
        return 0

    def __dealloc__(self):
        cdef int at
        if self.steps != NULL:
            for at in range(self.step_count):
                free(self.steps[at].kids)
                free(self.steps[at].data)
                free(self.steps[at].starts)
                free(self.steps[at].slots)
        free(self.steps)

    def run(self, list arrays, bytes prefix, int64_t max_row_bytes):
        """Writes rows.

        Args:
            arrays: capsules of Arrow's C data interface (`arrow_array`), all of the plan's type; read in place.
            prefix: in front of each row.
            max_row_bytes: a longer row, its prefix counted, has a fault.

        Returns:
            data, offsets, validity (None if all rows are valid) as `Block`s, the number of rows and of nulls, whether
            offsets have 64 bits, and the faults: row, `Fault`, step, indexes in lists and maps from the inside out.

        Raises:
            MemoryError: there is not enough.
            ValueError: an array is not of the plan's type.
        """
        cdef Run run
        cdef Output made
        cdef ArrowArray* array
        cdef int64_t total = 0, rows
        cdef const uint8_t* start = prefix
        cdef int64_t prefix_size = len(prefix)
        cdef int failed = FINE
        if self.shapes is None:
            raise TypeError("a program is made of steps and shapes")
        memset(&run, 0, sizeof(Run))
        for capsule in arrays:
            total += (<ArrowArray*>PyCapsule_GetPointer(capsule, b"arrow_array")).length
        run.steps = self.steps
        run.max_row = max_row_bytes
        run.room = 256 + 32 * total
        run.out = <uint8_t*>malloc(run.room)
        run.columns = <Column*>calloc(max(self.shapes.count, 1), sizeof(Column))
        run.path = <int64_t*>malloc((self.depth + 1) * sizeof(int64_t))
        try:
            if not start_rows(&made, total) or run.out == NULL or run.columns == NULL or run.path == NULL:
                raise MemoryError()
            for capsule in arrays:
                array = <ArrowArray*>PyCapsule_GetPointer(capsule, b"arrow_array")
                self.shapes.bind(array, run.columns)
                rows = array.length
                with nogil:
                    failed = rows_of(&run, &made, rows, start, prefix_size)
                if failed:
                    raise MemoryError("not enough memory for the frames")
            return finished(&made, &run.out, run.size)
        finally:
            free(run.out)
            free(run.columns)
            free(run.path)
            free(run.table)
            drop_rows(&made)
