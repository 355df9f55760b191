# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True
"""Avro payloads into Arrow columns: runs the programs of `serdes.columnar.avro.plan` over a batch, without the GIL.

There is no pure twin: without compiled kernels columns are made from decoded objects, which is the specification
(`serdes.columnar.avro.reference`). What each operation means is said in `serdes.columnar.avro.program`, which also
checks every program before it comes here. Nothing is allocated for what a payload announces before it was compared
with the bytes that are left, or with what a row may take.
"""

import os

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.native.columns cimport (
    FULL,
    NO_MEMORY,
    Builders,
    Column,
    append_bool,
    append_bytes,
    append_double,
    append_fixed,
    append_float,
    append_int32,
    append_int64,
    append_list,
    append_null,
    append_short,
    append_struct,
    append_union,
    has_short_room,
    reserve_rows,
    truncate,
)
from serdes.kernels.native.frames cimport Frames
from serdes.kernels.native.octets cimport SHORT, hex_value, is_short_ascii, is_utf8

from serdes.kernels import misfit as avro_misfit

__all__ = ["Program", "codes", "decode"]

include "avro_codes.pxi"

cdef enum:
    DEPTH = 1000
    LIMBS = 40  # of 32 bits, of a decimal on its way to another scale
    FEW_ENTRIES = 8
    MOST_COLUMNS = 1000000

cdef int MAX_DEPTH = avro_misfit.MAX_DEPTH
if MAX_DEPTH != DEPTH:
    raise ImportError(f"compiled for values of {DEPTH} levels, not {MAX_DEPTH}")

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")

cdef struct Op:
    int32_t code
    int32_t column  # how many bytes behind the first
    int32_t a
    int32_t b
    int64_t c
    int64_t d


cdef struct Tables:
    const Op* ops
    const int64_t* table
    const int64_t* numbers
    const uint8_t* pool


cdef struct Loop:
    int64_t left  # items of this block, the one that is read included
    int64_t index  # of the item that is read
    int64_t first  # entries in the map's column when it began


cdef struct Run:
    Loop* loops
    int64_t loops_open
    int32_t* calls
    int64_t calls_open
    int64_t empty_items  # that may still come in this row
    int64_t room  # bytes that items may still take in this row
    int64_t* ordinals  # of the entries of open maps
    int64_t ordinals_used, ordinals_room
    int64_t entries  # of all maps of this row
    uint8_t* dropped  # entries that have a later one with their key
    int64_t dropped_room
    bint again  # the row has to be read again without them
    bint sieving
    int32_t at
    const uint8_t* place
    int64_t detail


cdef inline bint is_int(int64_t number) noexcept:
    return number == <int32_t>number


cdef class Program:
    """The operations of a plan. Nothing is checked here: `serdes.columnar.avro.program.verify` did.

    Args:
        ops: of each operation its code, column and operands, six native ints of 64 bits.
        table, numbers: see `serdes.columnar.avro.program.Program`; native ints of 64 bits, too.
        pool: see there.
        columns: how many it is made for.
    """

    cdef Op* ops
    cdef bytes table
    cdef bytes numbers
    cdef bytes pool
    cdef int32_t columns

    def __cinit__(self, bytes ops not None, bytes table not None, bytes numbers not None, bytes pool not None, int columns):
        cdef int64_t count = len(ops) // (6 * sizeof(int64_t))
        cdef int64_t at
        cdef const int64_t* given = <const int64_t*><const char*>ops
        if count == 0 or len(ops) % (6 * sizeof(int64_t)):
            raise ValueError("an operation is six numbers, and a program has one")
        self.ops = <Op*>malloc(count * sizeof(Op))
        if self.ops == NULL:
            raise MemoryError()
        for at in range(count):
            if not (-1 <= given[1] < MOST_COLUMNS and is_int(given[0]) and is_int(given[2]) and is_int(given[3])):
                raise ValueError("more columns than a program can have, or an operand that is too large")
            self.ops[at].code = <int32_t>given[0]
            self.ops[at].column = <int32_t>(given[1] * <int64_t>sizeof(Column))
            self.ops[at].a = <int32_t>given[2]
            self.ops[at].b = <int32_t>given[3]
            self.ops[at].c = given[4]
            self.ops[at].d = given[5]
            given += 6
        self.table, self.numbers, self.pool = table, numbers, pool + bytes(SHORT)
        self.columns = columns

    def __dealloc__(self):
        free(self.ops)


include "avro_numbers.pxi"
include "avro_leaves.pxi"
include "avro_blocks.pxi"


# --- one row


cdef int read_row(Run* run, const Tables* tables, Column* columns, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Runs a program over a payload: 0, or what is wrong with it (> 0), or with the batch (< 0)."""
    cdef const Op* ops = tables.ops
    cdef const Op* op
    cdef Column* column
    cdef Column* child
    cdef const uint8_t* q
    cdef const uint8_t* start = p
    cdef const uint8_t* kept = NULL
    cdef const uint8_t* kept_end = NULL
    cdef const int64_t* facts
    cdef int64_t number = 0
    cdef int64_t size = 0
    cdef const Op* following = ops
    cdef int wrong = 0
    cdef int32_t place
    cdef float single = 0
    cdef double real = 0
    cdef Loop* loop
    while True:
        op = following
        column = <Column*>(<uint8_t*>columns + op.column)
        following = op + 1
        if op.code == INT:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number != <int32_t>number:
                wrong = LONG_INT
                break
            wrong = append_int32(column, <int32_t>number)
            if wrong:
                break
            p = q
        elif op.code == LONG:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            wrong = append_int64(column, number)
            if wrong:
                break
            p = q
        elif op.code == STRING:
            q = length_of(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number > end - q:
                wrong = ENDS
                break
            if number <= SHORT and end - q >= SHORT and has_short_room(column) and is_short_ascii(q, number):
                append_short(column, q, number)
            elif is_utf8(q, number):
                wrong = append_bytes(column, q, number)
                if wrong:
                    break
            else:
                wrong = UTF8
                break
            p = q + number
        elif op.code == OPTIONAL:
            if p < end and p[0] <= 2 and not p[0] & 1:
                number = p[0] >> 1
                q = p + 1
            else:
                q = varint(p, end, &number)
                if q == NULL:
                    wrong = <int>number
                    break
                if number != 0 and number != 1:
                    run.detail = number
                    wrong = NO_BRANCH
                    break
            p = q
            if number == op.a:
                wrong = append_null(column)
                if wrong:
                    break
                following = ops + op.b
        elif op.code == LONG_WITHIN:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if op.b and number != <int32_t>number:
                wrong = LONG_INT
                break
            if number < op.c or number > op.d:
                wrong = op.a
                break
            wrong = append_int64(column, number)
            if wrong:
                break
            p = q
        elif op.code == INT_WITHIN:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number != <int32_t>number:
                wrong = LONG_INT
                break
            if number < op.c or number > op.d:
                wrong = op.a
                break
            wrong = append_int32(column, <int32_t>number)
            if wrong:
                break
            p = q
        elif op.code == DOUBLE:
            if end - p < 8:
                wrong = ENDS
                break
            memcpy(&real, p, 8)
            wrong = append_double(column, real)
            if wrong:
                break
            p += 8
        elif op.code == FLOAT:
            if end - p < 4:
                wrong = ENDS
                break
            memcpy(&place, p, 4)  # as it is: a NaN keeps its bits
            wrong = append_int32(column, place)
            if wrong:
                break
            p += 4
        elif op.code == FLOAT_DOUBLE:
            if end - p < 4:
                wrong = ENDS
                break
            memcpy(&single, p, 4)
            wrong = append_double(column, single)
            if wrong:
                break
            p += 4
        elif op.code == BOOL:
            if p >= end:
                wrong = ENDS
                break
            if p[0] > 1:
                wrong = BOOLEAN
                break
            wrong = append_bool(column, p[0])
            if wrong:
                break
            p += 1
        elif op.code == STRUCT:
            wrong = append_struct(column)
            if wrong:
                break
        elif op.code == NULL_CELL:
            wrong = append_null(column)
            if wrong:
                break
        elif op.code == ENUM or op.code == ENUM_NUMBER:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number >= op.b:
                run.detail = number
                wrong = SYMBOL
                break
            if op.code == ENUM:
                facts = tables.table + op.a + 2 * number
            else:
                facts = tables.table + op.a + number
            if facts[0] < 0:
                wrong = LACKING
                break
            if op.code == ENUM and facts[1] <= SHORT and has_short_room(column):
                append_short(column, tables.pool + facts[0], facts[1])  # behind the pool there are so many bytes more
            elif op.code == ENUM:
                wrong = append_bytes(column, tables.pool + facts[0], facts[1])
            else:
                wrong = append_int32(column, <int32_t>facts[0])
            if wrong:
                break
            p = q
        elif op.code == BYTES:
            q = length_of(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number > end - q:
                wrong = ENDS
                break
            wrong = append_bytes(column, q, number)
            if wrong:
                break
            p = q + number
        elif op.code == DECIMAL:
            if op.a >= 0:
                q, number = p, op.a
            else:
                q = varint(p, end, &number)
                if q == NULL:
                    wrong = <int>number
                    break
            if number < 0 or number > end - q:
                wrong = ENDS
                break
            if op.d and not is_utf8(q, number):
                wrong = UTF8
                break
            wrong = put_decimal(column, op, q, number)
            if wrong:
                break
            p = q + number
        elif op.code == LIST or op.code == MAP:
            if run.loops_open + run.calls_open >= DEPTH:
                wrong = DEEP
                break
            q = block(p, end, &number, &size)
            if q == NULL:
                wrong = <int>number
                break
            loop = run.loops + run.loops_open
            loop.left, loop.index = number, 0
            if number:
                wrong = admit(run, op, number, end - q)
                if wrong:
                    break
                loop.first = (column + 1).length
                run.loops_open += 1
            else:
                wrong = append_list(column)
                if wrong:
                    break
                following = ops + op.a
            p = q
        elif op.code == LIST_END or op.code == MAP_END:
            loop = run.loops + run.loops_open - 1
            if op.code == MAP_END:
                wrong = end_entry(run, column + 1)
                if wrong:
                    break
            loop.index += 1
            loop.left -= 1
            if loop.left:
                following = ops + op.a
                continue
            q = block(p, end, &number, &size)
            if q == NULL:
                run.loops_open -= 1
                wrong = <int>number
                break
            if number:
                wrong = admit(run, op, number, end - q)
                if wrong:
                    run.loops_open -= 1
                    break
                loop.left = number
                following = ops + op.a
            else:
                run.loops_open -= 1
                if op.code == MAP_END:
                    wrong = end_map(run, column, loop.first)
                else:
                    wrong = append_list(column)
                if wrong:
                    break
            p = q
        elif op.code == INT_LONG or op.code == WHOLE_FLOAT or op.code == WHOLE_DOUBLE:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if (op.code == INT_LONG or op.a == 32) and number != <int32_t>number:
                wrong = LONG_INT
                break
            if op.code == INT_LONG:
                wrong = append_int64(column, number)
            elif op.code == WHOLE_FLOAT:
                wrong = append_float(column, <float>number)
            elif op.b:
                wrong = append_double(column, <double><float>number)
            else:
                wrong = append_double(column, <double>number)
            if wrong:
                break
            p = q
        elif op.code == SCALED:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if op.a == 32 and number != <int32_t>number:
                wrong = LONG_INT
                break
            facts = tables.numbers + op.b
            if number % facts[1]:
                wrong = FINER
                break
            number = number // facts[1]
            size = MOST_LONG // facts[0]
            if number > size or number < -size:
                wrong = UNIT
                break
            number *= facts[0]
            if number < facts[2] or number > facts[3]:
                wrong = <int>facts[4]
                break
            if column.width == 4:
                wrong = append_int32(column, <int32_t>number)
            else:
                wrong = append_int64(column, number)
            if wrong:
                break
            p = q
        elif op.code == FIXED:
            if op.a > end - p:
                wrong = ENDS
                break
            wrong = append_bytes(column, p, op.a)
            if wrong:
                break
            p += op.a
        elif op.code == UUID:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number > end - q:
                wrong = ENDS
                break
            wrong = put_uuid(column, q, number)
            if wrong:
                wrong = NO_UUID if wrong > 0 else wrong
                break
            p = q + number
        elif op.code == SKIP_RUN:
            if run.loops_open + run.calls_open < DEPTH and end - start >= 8 and kept == NULL:
                q = passed_run(tables.table + op.b, op.c, p, end)
                if q != NULL:
                    p = q
                    following = ops + op.a
        elif op.code == SKIP_INT or op.code == SKIP_LONG:
            if end - p >= 8:  # so many bytes are no number of more than 32, or of 64 bits
                place = varint_size(p)
                if place and (place <= 4 or op.code == SKIP_LONG):
                    p += place
                    continue
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if op.code == SKIP_INT and number != <int32_t>number:
                wrong = LONG_INT
                break
            p = q
        elif op.code == SKIP_BYTES:
            if op.a > end - p:
                wrong = ENDS
                break
            p += op.a
        elif op.code == SKIP_TEXT:
            q = length_of(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number > end - q:
                wrong = ENDS
                break
            if op.a and not is_utf8(q, number):
                wrong = UTF8
                break
            p = q + number
        elif op.code == SKIP_BOOL:
            if p >= end:
                wrong = ENDS
                break
            if p[0] > 1:
                wrong = BOOLEAN
                break
            p += 1
        elif op.code == SKIP_ENUM:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number >= op.a:
                run.detail = number
                wrong = SYMBOL
                break
            p = q
        elif op.code == BRANCH:
            q = varint(p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number < 0 or number >= op.b:
                run.detail = number
                wrong = NO_BRANCH
                break
            p = q
            following = ops + tables.table[op.a + number]
        elif op.code == JUMP:
            following = ops + op.a
        elif op.code == SKIP_LIST:
            if run.loops_open + run.calls_open >= DEPTH:
                wrong = DEEP
                break
            q = skip_blocks(run, op, p, end, &number)
            if q == NULL:
                wrong = <int>number
                break
            if number:
                loop = run.loops + run.loops_open
                loop.left, loop.index = number, 0
                run.loops_open += 1
            else:
                following = ops + op.a
            p = q
        elif op.code == SKIP_LIST_END:
            loop = run.loops + run.loops_open - 1
            loop.index += 1
            loop.left -= 1
            if loop.left:
                following = ops + op.a
                continue
            q = skip_blocks(run, op, p, end, &number)
            if q == NULL:
                run.loops_open -= 1
                wrong = <int>number
                break
            if number:
                loop.left = number
                following = ops + op.a
            else:
                run.loops_open -= 1
            p = q
        elif op.code == UNION:
            child = column + 1
            for place in range(op.a):
                child += child.span
            wrong = append_union(column, child, <int8_t>op.a)
            if wrong:
                break
        elif op.code == INPUT:
            kept, kept_end = p, end
            p = tables.pool + op.c
            end = p + op.d
        elif op.code == OUTPUT:
            p, end = kept, kept_end
            kept = NULL
        elif op.code == CALL:
            if run.loops_open + run.calls_open >= DEPTH:
                wrong = DEEP
                break
            run.calls[run.calls_open] = <int32_t>(op - ops)
            run.calls_open += 1
            following = ops + op.a
        elif op.code == RETURN:
            run.calls_open -= 1
            following = ops + run.calls[run.calls_open] + 1
        elif op.code == END:
            if p == end:
                return 0
            run.detail = end - p
            wrong = LEFT_OVER
            break
        else:
            wrong = REFUSED
            break
    run.at = <int32_t>(op - ops)
    run.place = p if kept == NULL else kept
    return wrong


# --- a batch


def decode(
    Frames frames not None,
    Builders builders not None,
    list programs not None,
    bytes plan_of_row not None,
    int64_t max_row_bytes,
    int64_t max_empty_items,
):
    """Reads all rows of a batch into columns; a row that can't be read is null in all of them.

    Args:
        frames: the payloads.
        builders: empty columns.
        programs: made for these columns.
        plan_of_row: native ints of 32 bits, the place of each row's program; -1 for a row that is null.
        max_row_bytes: what the items of a row's lists may take.
        max_empty_items: items without bytes that a row may have at least.

    Returns:
        for each row that can't be read: row, program, what is wrong, operation, byte of the payload, detail, numbers of
        the items, operations that called, bytes of the payload.

    Raises:
        OverflowError: a column has more than 2**31 - 1 bytes or items.
        MemoryError: there is no memory for it.
    """
    cdef int64_t rows = frames.rows
    cdef int64_t row, at
    cdef int32_t which
    cdef const int32_t* which_of = <const int32_t*><const char*>plan_of_row
    cdef int64_t count = len(programs)
    cdef Program program
    cdef Run run
    cdef int wrong = 0
    cdef const uint8_t* start
    cdef list found = []
    cdef Tables* tables
    if <int64_t>len(plan_of_row) != rows * 4 or builders.taken or frames.filled != rows:
        raise ValueError("a program for each row is needed, and columns that were not taken")
    for row in range(rows):
        if which_of[row] >= count or (which_of[row] >= 0 and frames.sizes[row] < 0):
            raise ValueError("a row names a program that there is not, or is null and has one")
    memset(&run, 0, sizeof(Run))
    tables = <Tables*>malloc((count + 1) * sizeof(Tables))
    run.loops = <Loop*>malloc((DEPTH + 1) * sizeof(Loop))
    run.calls = <int32_t*>malloc((DEPTH + 1) * sizeof(int32_t))
    try:
        if tables == NULL or run.loops == NULL or run.calls == NULL:
            raise MemoryError()
        for at in range(count):
            program = programs[at]
            if program.columns != builders.count:
                raise ValueError("a program for other columns")
            tables[at].ops, tables[at].pool = program.ops, <const uint8_t*><const char*>program.pool
            tables[at].table = <const int64_t*><const char*>program.table
            tables[at].numbers = <const int64_t*><const char*>program.numbers
        with nogil:
            wrong = reserve_rows(builders.columns, rows)
            row = 0
            while row < rows and not wrong:
                which = which_of[row]
                if which < 0:
                    wrong = append_null(builders.columns)
                    row += 1
                    continue
                start = frames.payloads[row]
                run.loops_open = run.calls_open = run.ordinals_used = run.entries = 0
                run.empty_items = frames.sizes[row] + frames.prefixes[row]
                if run.empty_items < max_empty_items:
                    run.empty_items = max_empty_items
                run.room = max_row_bytes
                wrong = read_row(&run, tables + which, builders.columns, start, start + frames.sizes[row])
                if wrong == 0 and run.again and not run.sieving:
                    truncate(builders.columns, row)
                    run.sieving = True
                    continue
                if wrong > 0:
                    truncate(builders.columns, row)
                    with gil:
                        found.append((
                            row, which, wrong, run.at, run.place - start, run.detail,
                            [run.loops[at].index for at in range(run.loops_open)],
                            [run.calls[at] for at in range(run.calls_open)], frames.sizes[row],
                        ))
                    wrong = append_null(builders.columns)
                if run.again:
                    run.again = run.sieving = False
                    memset(run.dropped, 0, run.dropped_room)
                row += 1
    finally:
        free(tables)
        free(run.loops)
        free(run.calls)
        free(run.ordinals)
        free(run.dropped)
    if wrong == FULL:
        raise OverflowError("a column would have more than 2**31 - 1 bytes or items: decode fewer frames at once")
    if wrong:
        raise MemoryError()
    return found
