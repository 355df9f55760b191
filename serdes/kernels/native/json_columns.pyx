# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""JSON documents read into Arrow columns, a batch at a time, without the GIL.

A program is the plan of `serdes.columnar.json.types` as a table; it is not changed by running it, so threads may share
it. Every byte of a document is looked at, that of members that have no column too. Numbers of more than 19 digits, and
those next to halfway between two numbers of 64 bits, take the GIL for a moment: `serdes.kernels.json_columns` makes
them. Source: RFC 8259, RFC 3339.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.agreement import agree
from serdes.kernels.json_columns import MAX_DEPTH as MOST_LEVELS
from serdes.kernels.json_columns import Expected as Expected_
from serdes.kernels.json_columns import Fault as Fault_
from serdes.kernels.json_columns import exact_float, exact_int
from serdes.kernels.native.columns cimport (
    NO_MEMORY,
    Builders,
    Column,
    append_bool,
    append_bytes,
    append_double,
    append_fixed,
    append_int32,
    append_int64,
    append_list,
    append_null,
    append_struct,
    truncate,
)
from serdes.kernels.native.doubles cimport read_double
from serdes.kernels.native.frames cimport Frames
from serdes.kernels.native.octets cimport hashed, hex_value, is_utf8, uuid_of

cdef enum Expected:
    BOOLEAN = 0
    INTEGER = 1
    UNSIGNED = 2
    NUMBER = 3
    TEXT = 4
    BASE64 = 5
    DATE = 6
    INSTANT = 7
    LOCAL_TIMESTAMP = 8
    TIME = 9
    LOCAL_TIME = 10
    UUID = 11
    DECIMAL = 12
    ANY = 13
    ARRAY = 14
    MAP = 15
    OBJECT = 16

cdef enum:
    NO_DATE = -1000000        # below all dates

cdef enum Fault:
    FINE = 0
    ENDS = 1
    NOT_JSON = 2
    NOT_UTF8 = 3
    ESCAPE = 4
    DEEP = 5
    LEFT_OVER = 6
    NOT_EXPECTED = 7
    OUT_OF_RANGE = 8
    NOT_WHOLE = 9
    NOT_OF_FORMAT = 10
    LOSES_DIGITS = 11
    KEY_TWICE = 12
    ROW_BYTES = 13
    UNNAMED = 14

cdef int[17] EXPECTED = [
    BOOLEAN, INTEGER, UNSIGNED, NUMBER, TEXT, BASE64, DATE, INSTANT, LOCAL_TIMESTAMP, TIME, LOCAL_TIME, UUID, DECIMAL,
    ANY, ARRAY, MAP, OBJECT,
]
cdef int[15] FAULTS = [
    FINE, ENDS, NOT_JSON, NOT_UTF8, ESCAPE, DEEP, LEFT_OVER, NOT_EXPECTED, OUT_OF_RANGE, NOT_WHOLE, NOT_OF_FORMAT,
    LOSES_DIGITS, KEY_TWICE, ROW_BYTES, UNNAMED,
]
agree(
    Expected_,
    "BOOLEAN INTEGER UNSIGNED NUMBER TEXT BASE64 DATE INSTANT LOCAL_TIMESTAMP TIME LOCAL_TIME UUID DECIMAL"
    " ANY ARRAY MAP OBJECT",
    EXPECTED,
)
agree(
    Fault_,
    "FINE ENDS NOT_JSON NOT_UTF8 ESCAPE DEEP LEFT_OVER NOT_EXPECTED OUT_OF_RANGE NOT_WHOLE NOT_OF_FORMAT LOSES_DIGITS"
    " KEY_TWICE ROW_BYTES UNNAMED",
    FAULTS,
)

cdef int MAX_DEPTH = MOST_LEVELS
cdef double[23] POWERS
cdef int _at
for _at in range(23):
    POWERS[_at] = float(10**_at)


cdef struct Step:
    int expected
    int column
    int count                 # of kids
    int* kids
    uint8_t* names            # of members, one after the other; first those of kids
    int32_t* starts
    int32_t* slots            # hash table: place of a name, -1
    uint32_t mask
    int digits                # of a decimal
    int scale
    int width                 # of its cell
    int64_t cost              # of an item in the columns
    bint closed               # whether members without a name here are faults
    int rest                  # the step of the map of such members; -1


cdef struct Number:
    const uint8_t* text
    int64_t size
    uint64_t digits
    int64_t exponent
    bint negative
    bint whole                # neither fraction nor exponent
    bint long_one             # of more than 19 digits, or an exponent beyond all bounds


cdef struct Run:
    const uint8_t* start
    const uint8_t* at
    const uint8_t* end
    Step* steps
    Column* columns
    uint8_t* scratch
    int64_t room
    int64_t left              # bytes that items of this row may still take
    int level
    int fault_step
    int depth
    int64_t* path
    int32_t* table
    int64_t table_room


include "json_tokens.pxi"
include "json_leaves.pxi"


cdef inline int member_of(const Step* step, int next_one, const uint8_t* data, int64_t size) noexcept nogil:
    """The place of a member, which is often the one after the last; those from `step.count` on have no column.

    -1 if the schema does not name it.
    """
    cdef uint32_t slot
    cdef int32_t place
    if next_one < step.count:
        if (step.starts[next_one + 1] - step.starts[next_one] == size
                and memcmp(step.names + step.starts[next_one], data, size) == 0):
            return next_one
    slot = hashed(data, size) & step.mask
    while True:
        place = step.slots[slot]
        if place < 0:
            return -1
        if (step.starts[place + 1] - step.starts[place] == size
                and memcmp(step.names + step.starts[place], data, size) == 0):
            return place
        slot = (slot + 1) & step.mask


cdef int unnamed(Run* run, int number, const uint8_t* name, int64_t size, int64_t count) noexcept nogil:
    """A member that goes into the map of those without a name, after `count` others."""
    cdef const Step* step = &run.steps[number]
    cdef Column* entry = &run.columns[step.column] + 1
    cdef int fault
    run.left -= step.cost
    fault = ROW_BYTES if run.left < 0 else append_bytes(entry + 1, name, size)
    if not fault:
        run.left -= size
        fault = value(run, step.kids[0])
    if not fault:
        fault = append_struct(entry)
    if fault:
        run.path[run.depth] = count
        run.depth += 1
        if run.fault_step < 0:
            run.fault_step = number
    return fault


cdef int members(Run* run, const Step* step) noexcept nogil:
    """An object as a struct: members in any order, each once; missing ones are null."""
    cdef Column* own = &run.columns[step.column]
    cdef Column* child
    cdef Column* rest = NULL if step.rest < 0 else &run.columns[run.steps[step.rest].column]
    cdef const uint8_t* data = NULL
    cdef int64_t size = 0, cells = own.length, first = 0 if rest == NULL else rest[1].length
    cdef int place = -1, fault, i
    run.at += 1
    skip_space(run)
    if run.at < run.end and run.at[0] == 125:
        run.at += 1
    else:
        while True:
            if run.at >= run.end:
                return ENDS
            if run.at[0] != 34:
                return NOT_JSON
            fault = text(run, &data, &size)
            if fault:
                return fault
            i = member_of(step, place + 1, data, size)
            skip_space(run)
            fault = must_be(run, 58)
            if fault:
                return fault
            skip_space(run)
            if i < 0 and step.closed:
                return UNNAMED
            if i < 0 and rest != NULL:
                fault = unnamed(run, step.rest, data, size, rest[1].length - first)
            elif i < 0 or i >= step.count:
                fault = skip(run)
            else:
                place = i
                child = &run.columns[run.steps[step.kids[place]].column]
                if child.length != cells:
                    run.fault_step = step.kids[place]
                    return KEY_TWICE
                fault = value(run, step.kids[place])
            if fault:
                return fault
            skip_space(run)
            if run.at < run.end and run.at[0] == 125:
                run.at += 1
                break
            fault = must_be(run, 44)
            if fault:
                return fault
            skip_space(run)
    for i in range(step.count):
        child = &run.columns[run.steps[step.kids[i]].column]
        if child.length == cells:
            fault = append_null(child)
            if fault:
                return fault
    if rest != NULL:
        fault = distinct(run, rest + 2, first, rest[1].length)
        if fault:
            run.fault_step = step.rest
            return fault
        fault = append_list(rest)
        if fault:
            return fault
    return append_struct(own)


cdef int items(Run* run, const Step* step) noexcept nogil:
    cdef int64_t count = 0
    cdef int fault
    run.at += 1
    skip_space(run)
    if run.at < run.end and run.at[0] == 93:
        run.at += 1
        return append_list(&run.columns[step.column])
    while True:
        run.left -= step.cost
        fault = ROW_BYTES if run.left < 0 else value(run, step.kids[0])
        if fault:
            run.path[run.depth] = count
            run.depth += 1
            return fault
        count += 1
        skip_space(run)
        if run.at < run.end and run.at[0] == 93:
            run.at += 1
            return append_list(&run.columns[step.column])
        fault = must_be(run, 44)
        if fault:
            return fault
        skip_space(run)


cdef int entries(Run* run, const Step* step) noexcept nogil:
    """An object as a map; a key that comes twice is a fault."""
    cdef Column* own = &run.columns[step.column]
    cdef Column* entry = own + 1
    cdef Column* keys = own + 2
    cdef const uint8_t* data = NULL
    cdef int64_t size = 0, first = entry.length, count = 0
    cdef int fault = FINE
    run.at += 1
    skip_space(run)
    if run.at < run.end and run.at[0] == 125:
        run.at += 1
        return append_list(own)
    while True:
        if run.at >= run.end:
            fault = ENDS
        elif run.at[0] != 34:
            fault = NOT_JSON
        else:
            run.left -= step.cost
            fault = ROW_BYTES if run.left < 0 else text(run, &data, &size)
        if not fault:
            run.left -= size
            fault = append_bytes(keys, data, size)
        if not fault:
            skip_space(run)
            fault = must_be(run, 58)
        if not fault:
            skip_space(run)
            fault = value(run, step.kids[0])
        if not fault:
            fault = append_struct(entry)
        if fault:
            run.path[run.depth] = count
            run.depth += 1
            return fault
        count += 1
        skip_space(run)
        if run.at < run.end and run.at[0] == 125:
            run.at += 1
            break
        fault = must_be(run, 44)
        if fault:
            return fault
        skip_space(run)
    fault = distinct(run, keys, first, entry.length)
    return fault if fault else append_list(own)


cdef int distinct(Run* run, const Column* keys, int64_t first, int64_t end) noexcept nogil:
    """Whether the last keys of a map's column are different ones."""
    cdef const int32_t* starts = <const int32_t*>keys.values
    cdef int64_t at, other, room = 16, slot, size
    cdef void* more
    if end - first < 2:
        return FINE
    while room < 2 * (end - first):
        room *= 2
    if run.table_room < room:
        more = realloc(run.table, room * sizeof(int32_t))
        if more == NULL:
            return NO_MEMORY
        run.table = <int32_t*>more
        run.table_room = room
    memset(run.table, 0xFF, room * sizeof(int32_t))
    for at in range(first, end):
        size = starts[at + 1] - starts[at]
        slot = hashed(keys.data + starts[at], size) & (room - 1)
        while run.table[slot] >= 0:
            other = first + run.table[slot]
            if (starts[other + 1] - starts[other] == size
                    and (size == 0 or memcmp(keys.data + starts[other], keys.data + starts[at], size) == 0)):
                run.path[run.depth] = at - first
                run.depth += 1
                return KEY_TWICE
            slot = (slot + 1) & (room - 1)
        run.table[slot] = <int32_t>(at - first)
    return FINE


cdef int nested(Run* run, const Step* step, uint8_t byte) noexcept nogil:
    """Reads an array or object."""
    cdef int fault
    if byte != (91 if step.expected == ARRAY else 123):
        return NOT_EXPECTED
    if run.level >= MAX_DEPTH:
        return DEEP
    run.level += 1
    if step.expected == ARRAY:
        fault = items(run, step)
    elif step.expected == MAP:
        fault = entries(run, step)
    else:
        fault = members(run, step)
    run.level -= 1
    return fault


cdef int value(Run* run, int number_of_step) noexcept nogil:
    """Reads the value of a step into its column."""
    cdef const Step* step = &run.steps[number_of_step]
    cdef Column* column = &run.columns[step.column]
    cdef const uint8_t* begin = run.at
    cdef uint8_t byte
    cdef int fault
    if run.at >= run.end:
        fault = ENDS
    elif run.at[0] == 110 and step.expected != ANY:
        fault = literal(run, b"null", 4)
        if not fault:
            fault = append_null(column)
    else:
        byte = run.at[0]
        if step.expected == ANY:
            fault = literal(run, b"null", 4) if byte == 110 else skip(run)
            if not fault and byte == 110:
                fault = append_null(column)
            elif not fault:
                run.left -= run.at - begin
                fault = append_bytes(column, begin, run.at - begin)
        elif step.expected >= ARRAY:
            fault = nested(run, step, byte)
        elif step.expected >= TEXT:
            fault = put_text(run, step) if byte == 34 else NOT_EXPECTED
        elif step.expected == BOOLEAN:
            if byte == 116:
                fault = literal(run, b"true", 4)
            else:
                fault = literal(run, b"false", 5) if byte == 102 else NOT_EXPECTED
            if not fault:
                fault = append_bool(column, byte == 116)
        elif byte == 45 or 48 <= byte <= 57:
            fault = put_number(run, step) if step.expected == NUMBER else put_integer(run, step)
            if OUT_OF_RANGE <= fault <= NOT_WHOLE:
                run.at = begin
        else:
            fault = NOT_EXPECTED
        if fault == NOT_EXPECTED and run.at == begin and skip(run) > 0 and run.fault_step < 0:
            fault = NOT_JSON                 # nor is it anything else
        elif fault == NOT_EXPECTED and run.fault_step < 0:
            run.at = begin
    if fault and run.fault_step < 0:
        run.fault_step = number_of_step
    return fault


# --- programs


cdef class JsonProgram:
    """A plan as a table.

    Args:
        steps: of each step what is expected, its column's place in the layout, kids, names of members, digits, scale
            and width of a decimal, bytes of an item in the columns, whether members without a name are faults, and the
            step of their map or -1; a kid has a higher number than its parent, and names without a kid come last.
        depth: how many arrays and maps are inside of one another at most.
    """

    cdef Step* steps
    cdef int count
    cdef int depth
    cdef int last_column

    def __init__(self, steps, int depth):
        if self.steps != NULL:
            raise TypeError("a program is made once")
        cdef int at
        self.depth = depth
        self.steps = <Step*>calloc(len(steps), sizeof(Step))
        if self.steps == NULL:
            raise MemoryError()
        self.count = len(steps)
        for at in range(self.count):
            self.fill(&self.steps[at], steps[at])
            self.last_column = max(self.last_column, self.steps[at].column)

    cdef int fill(self, Step* step, tuple given) except -1:
        cdef int at
        cdef uint32_t room = 4, slot
        cdef bytes joined
        cdef const char* start
        (step.expected, step.column, kids, names, step.digits, step.scale, step.width, step.cost, step.closed,
         step.rest) = given
        step.count = len(kids)
        while room < 2 * <uint32_t>len(names):
            room *= 2
        joined = b"".join(names)
        start = joined
        step.mask = room - 1
        step.kids = <int*>calloc(step.count + 1, sizeof(int))
        step.starts = <int32_t*>calloc(len(names) + 1, sizeof(int32_t))
        step.slots = <int32_t*>malloc(room * sizeof(int32_t))
        step.names = <uint8_t*>malloc(len(joined) + 1)
        if step.kids == NULL or step.starts == NULL or step.slots == NULL or step.names == NULL:
            raise MemoryError()
        memcpy(step.names, start, len(joined))
        memset(step.slots, 0xFF, room * sizeof(int32_t))
        for at in range(step.count):
            step.kids[at] = kids[at]
        for at in range(<int>len(names)):
            step.starts[at + 1] = step.starts[at] + <int32_t>len(names[at])
            slot = hashed(step.names + step.starts[at], step.starts[at + 1] - step.starts[at]) & step.mask
            while step.slots[slot] >= 0:
                slot = (slot + 1) & step.mask
            step.slots[slot] = at
        return 0

    def __dealloc__(self):
        cdef int at
        for at in range(self.count):
            free(self.steps[at].kids)
            free(self.steps[at].starts)
            free(self.steps[at].slots)
            free(self.steps[at].names)
        free(self.steps)

    def decode(self, Frames frames not None, Builders builders not None, bytes plan_of_row not None,
               int64_t max_row_bytes):
        """Reads the payloads of a batch.

        Args:
            frames: the batch.
            builders: of the plan's layout, empty; they get a cell for each row.
            plan_of_row: a native int of 32 bits for each row; -1 for a row that stays null.
            max_row_bytes: what items and texts of a row may take in the columns.

        Returns:
            The faults: row, `Fault`, step, offset in the payload, indexes in arrays and maps from the inside out.

        Raises:
            OverflowError: a column would have more than 2**31 - 1 bytes or items.
            MemoryError: there is not enough.
        """
        cdef Run run
        cdef int64_t row, cells
        cdef int fault = FINE, at
        cdef const int32_t* chosen = <const int32_t*><const char*>plan_of_row
        cdef list faults = []
        if len(plan_of_row) != 4 * frames.rows or self.last_column >= builders.count:
            raise ValueError("plan_of_row or builders are not of this batch or plan")
        memset(&run, 0, sizeof(Run))
        run.steps = self.steps
        run.columns = builders.columns
        run.path = <int64_t*>malloc((self.depth + 2) * sizeof(int64_t))
        if run.path == NULL:
            raise MemoryError()
        try:
            with nogil:
                for row in range(frames.rows):
                    cells = run.columns.length
                    fault = FINE
                    if chosen[row] >= 0 and frames.payloads[row] != NULL:
                        run.start = run.at = frames.payloads[row]
                        run.end = run.start + frames.sizes[row]
                        run.left = max_row_bytes
                        run.level = 0
                        run.depth = 0
                        run.fault_step = -1
                        skip_space(&run)
                        fault = value(&run, 0)
                        if fault == FINE:
                            skip_space(&run)
                            if run.at < run.end:
                                fault = LEFT_OVER
                            elif run.left < 0:
                                fault = ROW_BYTES
                        if fault == FINE:
                            continue
                        if fault > 0:
                            with gil:
                                faults.append((row, fault, max(run.fault_step, 0), run.at - run.start,
                                               tuple([run.path[at] for at in range(run.depth)])))
                            truncate(run.columns, cells)
                            fault = FINE
                    if fault == FINE:
                        fault = append_null(run.columns)
                    if fault:
                        break
            if fault == NO_MEMORY and frames.rows:
                raise MemoryError("not enough memory for the columns")
            if fault and frames.rows:
                raise OverflowError("a column would have more than 2**31 - 1 bytes or items: decode fewer rows at once")
            return faults
        finally:
            free(run.path)
            free(run.scratch)
            free(run.table)
