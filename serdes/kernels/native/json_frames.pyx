# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Arrow columns written as framed JSON, a batch at a time, without the GIL.

A program is the plan of `serdes.columnar.json.steps` as a table; it is not changed by running it, so threads may share
it. Whatever is not plainly right (a null that is not allowed, NaN, a text that is not UTF-8, a date beyond the year 9999)
makes its row a fault, without a reason: such rows go through `serdes.columnar.json.writing`, which is the specification
and says why. Sources: RFC 8259, RFC 3339; Arrow columnar format 1.5.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.agreement import agree
from serdes.kernels.json_frames import Null as Null_
from serdes.kernels.json_frames import Op as Op_
from serdes.kernels.native.arrays cimport (
    F16,
    F32,
    I32,
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
from serdes.kernels.native.doubles cimport LONGEST_DOUBLE, write_double, write_whole
from serdes.kernels.native.json_text cimport LONGEST_ESCAPE, copy_plain, put_escaped
from serdes.kernels.native.octets cimport hashed, is_utf8, uuid_text

cdef enum:
    # what a step writes: `Op`
    NULL_ = 0
    BOOLEAN = 1
    WHOLE = 2
    REAL = 3
    TEXT = 4
    BASE64 = 5
    UUID = 6
    DATE = 7
    MOMENT = 8
    TIME = 9
    DECIMAL = 10
    LIST = 11
    OBJECT = 12
    MAP = 13
    DICTIONARY = 14
    UNNAMED = 15
    # what becomes of a null: `Null`
    WRITTEN = 0
    LEFT_OUT = 1
    LEFT_TO_OBJECTS = 2
    # outcomes
    FINE = 0
    UNSURE = 1
    NO_MEMORY = 2

cdef enum:
    LIMBS = 8                 # of 32 bits: a decimal of 256 bits
    GROUPS = 9                # of nine digits each, in such a decimal
    DAY_SECONDS = 86400
    LONGEST_MOMENT = 40
    FEW_KEYS = 8

cdef int64_t FIRST_DAY = -719162
cdef int64_t LAST_DAY = 2932896
cdef bytes LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
cdef const char* BASE = LETTERS

cdef int[16] OPS = [
    NULL_, BOOLEAN, WHOLE, REAL, TEXT, BASE64, UUID, DATE, MOMENT, TIME, DECIMAL, LIST, OBJECT, MAP, DICTIONARY,
    UNNAMED,
]
cdef int[3] NULLS = [WRITTEN, LEFT_OUT, LEFT_TO_OBJECTS]
agree(Op_, "NULL BOOLEAN WHOLE REAL TEXT BASE64 UUID DATE MOMENT TIME DECIMAL LIST OBJECT MAP DICTIONARY UNNAMED", OPS)
agree(Null_, "WRITTEN LEFT_OUT LEFT_TO_OBJECTS", NULLS)


cdef struct Step:
    int op
    int source
    int column
    int null                  # what becomes of one
    int count                 # of kids
    int* kids
    int64_t width             # of a value in Arrow, or items of a fixed-size list
    int64_t units             # in a second, or in a day
    int digits                # of a second's fraction; of a decimal's; binary ones of a whole number without a sign
    int zone                  # whether a point in time ends in Z
    uint8_t* data             # names of members as JSON, with their colons; a text's symbols; names that members lack
    int32_t* starts
    uint32_t symbols
    int32_t* slots            # hash table: place of a symbol, -1
    uint32_t mask


cdef struct Run:
    Step* steps
    Column* columns
    uint8_t* out
    int64_t size
    int64_t room
    int64_t row_start
    int64_t max_row
    int32_t* table
    int64_t table_room


cdef int grow(Run* run, int64_t more) noexcept nogil:
    cdef int64_t room = run.room
    cdef void* made
    if more < 0 or run.size - run.row_start > run.max_row or more - LONGEST_MOMENT > LONGEST_ESCAPE * run.max_row:
        return UNSURE
    while room - run.size < more:
        room *= 2
    made = realloc(run.out, room)
    if made == NULL:
        return NO_MEMORY
    run.out = <uint8_t*>made
    run.room = room
    return FINE


cdef inline int need(Run* run, int64_t more) noexcept nogil:
    return FINE if run.room - run.size >= more else grow(run, more)


cdef inline int put_byte(Run* run, uint8_t byte) noexcept nogil:
    cdef int outcome = need(run, 1)
    if not outcome:
        run.out[run.size] = byte
        run.size += 1
    return outcome


cdef inline int put_null(Run* run) noexcept nogil:
    cdef int outcome = need(run, 4)
    if not outcome:
        memcpy(run.out + run.size, b"null", 4)
        run.size += 4
    return outcome


# --- leaves


cdef inline bint is_symbol(const Step* step, const uint8_t* data, int64_t size) noexcept nogil:
    cdef uint32_t slot = hashed(data, size) & step.mask
    cdef int32_t place
    while True:
        place = step.slots[slot]
        if place < 0:
            return False
        if (step.starts[place + 1] - step.starts[place] == size
                and (size == 0 or memcmp(step.data + step.starts[place], data, size) == 0)):
            return True
        slot = (slot + 1) & step.mask


cdef inline int put_text(Run* run, const uint8_t* data, int64_t size) noexcept nogil:
    """A text between quotes."""
    cdef uint64_t high = 0
    cdef uint8_t* out
    cdef int outcome = need(run, size + 2)
    if outcome:
        return outcome
    out = run.out + run.size
    out[0] = 34
    if copy_plain(out + 1, data, size, &high):
        if high & 0x8080808080808080ULL and not is_utf8(data, size):
            return UNSURE
        out[size + 1] = 34
        run.size += size + 2
        return FINE
    if not is_utf8(data, size):
        return UNSURE
    outcome = need(run, LONGEST_ESCAPE * size + 2)
    if outcome:
        return outcome
    out = run.out + run.size
    out[0] = 34
    out = put_escaped(out + 1, data, size)
    out[0] = 34
    run.size = out + 1 - run.out
    return FINE


cdef int put_base64(Run* run, const uint8_t* data, int64_t size) noexcept nogil:
    cdef int64_t at = 0
    cdef uint32_t three
    cdef uint8_t* out
    cdef int outcome = need(run, (size + 2) // 3 * 4 + 2)
    if outcome:
        return outcome
    out = run.out + run.size
    out[0] = 34
    out += 1
    while at < size:
        three = <uint32_t>data[at] << 16
        if at + 1 < size:
            three |= <uint32_t>data[at + 1] << 8
        if at + 2 < size:
            three |= data[at + 2]
        out[0] = <uint8_t>BASE[three >> 18]
        out[1] = <uint8_t>BASE[three >> 12 & 63]
        out[2] = <uint8_t>BASE[three >> 6 & 63] if at + 1 < size else 61
        out[3] = <uint8_t>BASE[three & 63] if at + 2 < size else 61
        out += 4
        at += 3
    out[0] = 34
    run.size = out + 1 - run.out
    return FINE


cdef int put_octets(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef const uint8_t* data = NULL
    cdef int64_t size = 0
    cdef int outcome
    if octets_at(column, step.source, step.width, at, &data, &size):
        return UNSURE
    if step.op == TEXT:
        if step.slots != NULL and not is_symbol(step, data, size):
            return UNSURE
        return put_text(run, data, size)
    if step.op == BASE64:
        return put_base64(run, data, size)
    outcome = need(run, 38)
    if outcome:
        return outcome
    run.out[run.size] = 34
    uuid_text(data, run.out + run.size + 1)
    run.out[run.size + 37] = 34
    run.size += 38
    return FINE


cdef inline int put_whole(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int64_t value = 0
    cdef int outcome = need(run, 21)
    if outcome:
        return outcome
    if step.source == U64:
        if step.digits and (<const uint64_t*>column.first)[at] >> step.digits:
            return UNSURE
        run.size += write_whole((<const uint64_t*>column.first)[at], run.out + run.size)
        return FINE
    whole_at(step.source, column.first, at, &value)
    if value < 0:
        run.out[run.size] = 45
        run.size += 1
    run.size += write_whole(0 - <uint64_t>value if value < 0 else <uint64_t>value, run.out + run.size)
    return FINE


cdef inline int put_real(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef double value
    cdef int outcome = need(run, LONGEST_DOUBLE)
    if outcome:
        return outcome
    if step.source == F32:
        value = (<const float*>column.first)[at]
    elif step.source == F16:
        value = half_of((<const uint16_t*>column.first)[at])
    else:
        value = (<const double*>column.first)[at]
    if value - value != 0:
        return UNSURE
    run.size += write_double(value, run.out + run.size)
    return FINE


cdef inline uint8_t* put_two(uint8_t* out, int64_t value) noexcept nogil:
    out[0] = <uint8_t>(48 + value // 10)
    out[1] = <uint8_t>(48 + value % 10)
    return out + 2


cdef uint8_t* put_date(uint8_t* out, int64_t days) noexcept nogil:
    """YYYY-MM-DD of days since 1970, within the years 1 to 9999. Years begin in March here: leap days come last."""
    cdef int64_t day = days - FIRST_DAY + 306, era, year, month
    era = day // 146097                           # 400 years
    day -= era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    year += 400 * era + (month >= 10)
    month += -9 if month >= 10 else 3
    out = put_two(put_two(out, year // 100), year % 100)
    out[0] = 45
    out = put_two(out + 1, month)
    out[0] = 45
    return put_two(out + 1, day)


cdef uint8_t* put_clock(uint8_t* out, int64_t seconds, int64_t fraction, int digits) noexcept nogil:
    cdef int at
    out = put_two(out, seconds // 3600)
    out[0] = 58
    out = put_two(out + 1, seconds // 60 % 60)
    out[0] = 58
    out = put_two(out + 1, seconds % 60)
    if not fraction:
        return out
    out[0] = 46
    for at in range(digits, 0, -1):
        out[at] = <uint8_t>(48 + fraction % 10)
        fraction = fraction // 10
    return out + digits + 1


cdef int put_time(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """A date, a point in time, a time of day."""
    cdef int64_t value = 0, rest
    cdef uint8_t* out
    cdef int outcome = need(run, LONGEST_MOMENT)
    if outcome:
        return outcome
    if step.source == I32:
        value = (<const int32_t*>column.first)[at]
    else:
        value = (<const int64_t*>column.first)[at]
    rest = value % step.units
    value = value // step.units
    if rest < 0:
        rest += step.units
        value -= 1
    out = run.out + run.size
    out[0] = 34
    out += 1
    if step.op == TIME:
        if not 0 <= value < DAY_SECONDS:
            return UNSURE
        out = put_clock(out, value, rest, step.digits)
    elif step.op == DATE:
        if rest or not FIRST_DAY <= value <= LAST_DAY:
            return UNSURE
        out = put_date(out, value)
    else:
        at = value % DAY_SECONDS
        value = value // DAY_SECONDS
        if at < 0:
            at += DAY_SECONDS
            value -= 1
        if not FIRST_DAY <= value <= LAST_DAY:
            return UNSURE
        out = put_date(out, value)
        out[0] = 84
        out = put_clock(out + 1, at, rest, step.digits)
        if step.zone:
            out[0] = 90
            out += 1
    out[0] = 34
    run.size = out + 1 - run.out
    return FINE


cdef int put_decimal(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """A decimal of up to 256 bits as a text, with all digits of its scale."""
    cdef uint32_t limbs[LIMBS]
    cdef uint8_t text[GROUPS * 9]
    cdef const uint8_t* data = column.first + at * step.width
    cdef bint negative = data[step.width - 1] >> 7
    cdef uint64_t carry = 1
    cdef int i, used = <int>(step.width // 4), first = GROUPS * 9, digit, least
    cdef uint8_t* out
    cdef int outcome = need(run, GROUPS * 9 + 8)
    if outcome:
        return outcome
    memcpy(limbs, data, step.width)
    if negative:
        for i in range(used):
            carry += <uint32_t>~limbs[i]
            limbs[i] = <uint32_t>carry
            carry >>= 32
    while used and limbs[used - 1] == 0:
        used -= 1
    while used:
        if first < 9:
            return UNSURE                         # more digits than 256 bits of a decimal may have
        carry = 0
        for i in range(used - 1, -1, -1):
            carry = carry << 32 | limbs[i]
            limbs[i] = <uint32_t>(carry // 1000000000)
            carry = carry % 1000000000
        for digit in range(9):
            first -= 1
            text[first] = <uint8_t>(48 + carry % 10)
            carry = carry // 10
        while used and limbs[used - 1] == 0:
            used -= 1
    while first < GROUPS * 9 and text[first] == 48:
        first += 1
    least = GROUPS * 9 - step.digits - 1          # a digit in front of the point
    while first > least:
        first -= 1
        text[first] = 48
    out = run.out + run.size
    out[0] = 34
    out += 1
    if negative:
        out[0] = 45
        out += 1
    i = GROUPS * 9 - step.digits - first
    memcpy(out, text + first, i)
    out += i
    if step.digits:
        out[0] = 46
        memcpy(out + 1, text + first + i, step.digits)
        out += step.digits + 1
    out[0] = 34
    run.size = out + 1 - run.out
    return FINE


# --- parts


cdef int put_items(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    cdef int64_t start = 0, end = 0, item
    cdef int outcome = FINE
    if range_at(column, &run.columns[step.column + 1], step.source, step.width, at, &start, &end):
        return UNSURE
    outcome = put_byte(run, 91)
    for item in range(start, end):
        if not outcome and item > start:
            outcome = put_byte(run, 44)
        if not outcome:
            outcome = write(run, step.kids[0], item)
        if outcome:
            return outcome
    return outcome if outcome else put_byte(run, 93)


cdef int distinct(Run* run, const Step* step, const Column* keys, int64_t start, int64_t end) noexcept nogil:
    """Whether the keys of a map are there, and different ones."""
    cdef int64_t at, room = 16, slot
    cdef const uint8_t* data = NULL
    cdef const uint8_t* known = NULL
    cdef int64_t size = 0, known_size = 0
    cdef void* made
    if end - start > 0x3FFFFFFF:
        return UNSURE
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
        if not is_valid(keys, at + keys.offset):
            return UNSURE
        if octets_at(keys, step.source, 0, at + keys.offset, &data, &size):
            return UNSURE
        slot = hashed(data, size) & (room - 1)
        while run.table[slot] >= 0:
            octets_at(keys, step.source, 0, start + run.table[slot] + keys.offset, &known, &known_size)
            if size == known_size and (size == 0 or memcmp(data, known, size) == 0):
                return UNSURE
            slot = (slot + 1) & (room - 1)
        run.table[slot] = <int32_t>(at - start)
    return FINE


cdef int put_entries(Run* run, const Step* step, const Column* column, int64_t at) noexcept nogil:
    """A map as an object."""
    cdef int outcome = put_byte(run, 123)
    if not outcome:
        outcome = put_pairs(run, step, column, at, False)
    return outcome if outcome else put_byte(run, 125)


cdef int put_pairs(Run* run, const Step* step, const Column* column, int64_t at, bint more) noexcept nogil:
    """The entries of a map as members; `more` says that there are others in front of them.

    Kids are key and value; the entries are a struct, whose offset both have.
    """
    cdef int64_t start = 0, end = 0, item, size = 0
    cdef const uint8_t* data = NULL
    cdef const Step* key = &run.steps[step.kids[0]]
    cdef const Column* keys = &run.columns[key.column]
    cdef int outcome
    if range_at(column, &run.columns[step.column + 1], step.source, 0, at, &start, &end):
        return UNSURE
    outcome = distinct(run, key, keys, start, end)
    for item in range(start, end):
        if not outcome and step.slots != NULL:
            if octets_at(keys, key.source, 0, item + keys.offset, &data, &size) or is_symbol(step, data, size):
                return UNSURE
        if not outcome and (more or item > start):
            outcome = put_byte(run, 44)
        if not outcome:
            outcome = write(run, step.kids[0], item)
        if not outcome:
            outcome = put_byte(run, 58)
        if not outcome:
            outcome = write(run, step.kids[1], item)
        if outcome:
            return outcome
    return outcome


cdef inline bint is_null(const Run* run, const Step* step, int64_t index) noexcept nogil:
    """Whether a value is null: in its column, or in the dictionary that it is a place of."""
    cdef const Column* column = &run.columns[step.column]
    cdef int64_t place = 0
    if step.op == NULL_ or not is_valid(column, index + column.offset):
        return True
    if step.op != DICTIONARY or whole_at(step.source, column.first, index + column.offset, &place):
        return False
    if place < 0 or place >= run.columns[run.steps[step.kids[0]].column].length:
        return False
    return is_null(run, &run.steps[step.kids[0]], place)


cdef int put_members(Run* run, const Step* step, int64_t index) noexcept nogil:
    cdef int i, outcome
    cdef int64_t size
    cdef uint8_t before = 123
    cdef const Step* kid
    for i in range(step.count):
        kid = &run.steps[step.kids[i]]
        if kid.op == UNNAMED:                     # the last one
            if not is_null(run, kid, index):
                return put_unnamed(run, kid, index, before)
            continue
        if kid.null == LEFT_OUT and is_null(run, kid, index):
            continue
        size = step.starts[i + 1] - step.starts[i]
        outcome = need(run, size + 1)
        if outcome:
            return outcome
        run.out[run.size] = before
        memcpy(run.out + run.size + 1, step.data + step.starts[i], size)
        run.size += size + 1
        before = 44
        outcome = write(run, step.kids[i], index)
        if outcome:
            return outcome
    if before == 123:
        outcome = put_byte(run, 123)
        if outcome:
            return outcome
    return put_byte(run, 125)


cdef int put_unnamed(Run* run, const Step* step, int64_t index, uint8_t before) noexcept nogil:
    """The entries of a map as the last members of an object, of which `before` says whether it has any."""
    cdef const Column* column = &run.columns[step.column]
    cdef int outcome = put_byte(run, 123) if before == 123 else FINE
    if not outcome:
        outcome = put_pairs(run, step, column, index + column.offset, before != 123)
    return outcome if outcome else put_byte(run, 125)


cdef int put_parts(Run* run, const Step* step, const Column* column, int64_t index, int64_t at) noexcept nogil:
    cdef int64_t place = 0
    if step.op == OBJECT:
        return put_members(run, step, index)
    if step.op == LIST:
        return put_items(run, step, column, at)
    if step.op == MAP:
        return put_entries(run, step, column, at)
    if whole_at(step.source, column.first, at, &place):
        return UNSURE
    if place < 0 or place >= run.columns[run.steps[step.kids[0]].column].length:
        return UNSURE
    return write(run, step.kids[0], place)


cdef int write(Run* run, int number, int64_t index) noexcept nogil:
    """Writes the value of a step at a position."""
    cdef const Step* step = &run.steps[number]
    cdef const Column* column = &run.columns[step.column]
    cdef int64_t at = index + column.offset
    cdef bint set
    cdef int outcome
    if step.op == NULL_ or not is_valid(column, at):
        return put_null(run) if step.null == WRITTEN else UNSURE
    if step.op == TEXT:
        return put_octets(run, step, column, at)
    if step.op == WHOLE:
        return put_whole(run, step, column, at)
    if step.op == REAL:
        return put_real(run, step, column, at)
    if step.op >= LIST:
        return put_parts(run, step, column, index, at)
    if step.op == BOOLEAN:
        outcome = need(run, 5)
        if outcome:
            return outcome
        set = (column.first[at >> 3] >> (at & 7)) & 1
        memcpy(run.out + run.size, b"true" if set else b"fals", 4)
        run.out[run.size + 4] = 101               # of false
        run.size += 4 if set else 5
        return FINE
    if step.op == DECIMAL:
        return put_decimal(run, step, column, at)
    if step.op >= DATE:
        return put_time(run, step, column, at)
    return put_octets(run, step, column, at)


cdef int rows_of(Run* run, Output* made, int64_t rows, const uint8_t* prefix, int64_t prefix_size) noexcept nogil:
    """Writes the rows of one array."""
    cdef int64_t row
    cdef int outcome
    cdef Column* root = &run.columns[0]
    for row in range(rows):
        run.row_start = run.size
        if is_valid(root, row + root.offset):
            outcome = need(run, prefix_size)
            if not outcome:
                memcpy(run.out + run.size, prefix, prefix_size)
                run.size += prefix_size
                outcome = write(run, 0, row)
            if not outcome and run.size - run.row_start > run.max_row:
                outcome = UNSURE
            if not outcome:
                end_row(made, run.size)
                continue
            if outcome == NO_MEMORY or not note_fault(made, UNSURE, 0, 0, NULL):
                return NO_MEMORY
        run.size = run.row_start
        if not end_null(made, run.size):
            return NO_MEMORY
    return FINE


# --- programs


cdef class JsonFramesProgram:
    """A plan as a table.

    Args:
        steps: of each step op, source, column, what becomes of null, width, units, digits, whether it has a zone, kids,
            names or symbols; a kid has a higher number than its parent, and members without a name are the last.
        shapes: of the arrays of the Arrow type.
    """

    cdef Step* steps
    cdef int step_count
    cdef Shapes shapes

    def __init__(self, steps, Shapes shapes not None):
        cdef int at
        if self.steps != NULL:
            raise TypeError("a program is made once")
        self.shapes = shapes
        self.step_count = len(steps)
        self.steps = <Step*>calloc(self.step_count, sizeof(Step))
        if self.steps == NULL:
            raise MemoryError()
        for at in range(self.step_count):
            self.fill(&self.steps[at], steps[at])

    cdef int fill(self, Step* step, tuple given) except -1:
        cdef int i
        cdef uint32_t room = 4, slot
        cdef bytes joined
        cdef const char* start
        (step.op, step.source, step.column, step.null, step.width, step.units, step.digits, step.zone, kids,
         data) = given
        joined = b"".join(data)
        start = joined
        step.count = len(kids)
        step.kids = <int*>malloc(max(1, step.count) * sizeof(int))
        step.data = <uint8_t*>malloc(len(joined) + 1)
        step.starts = <int32_t*>malloc((len(data) + 1) * sizeof(int32_t))
        if step.kids == NULL or step.data == NULL or step.starts == NULL:
            raise MemoryError()
        for i in range(step.count):
            step.kids[i] = kids[i]
        memcpy(step.data, start, len(joined))
        step.starts[0] = 0
        for i in range(len(data)):
            step.starts[i + 1] = step.starts[i] + <int32_t>len(data[i])
        if (step.op != TEXT and step.op != UNNAMED) or not data:
            return 0
        step.symbols = len(data)
        while room < 2 * step.symbols:
            room *= 2
        step.mask = room - 1
        step.slots = <int32_t*>malloc(room * sizeof(int32_t))
        if step.slots == NULL:
            raise MemoryError()
        memset(step.slots, 0xFF, room * sizeof(int32_t))
        for i in range(len(data)):
            slot = hashed(step.data + step.starts[i], step.starts[i + 1] - step.starts[i]) & step.mask
            while step.slots[slot] >= 0:
                slot = (slot + 1) & step.mask
            step.slots[slot] = i
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
            offsets have 64 bits, and the faults, whose first part is the row.

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
        run.room = 256 + 64 * total
        run.out = <uint8_t*>malloc(run.room)
        run.columns = <Column*>calloc(max(self.shapes.count, 1), sizeof(Column))
        try:
            if not start_rows(&made, total) or run.out == NULL or run.columns == NULL:
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
            free(run.table)
            drop_rows(&made)
