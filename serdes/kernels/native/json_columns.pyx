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

NUMBERS = {
    "Expected": {"BOOLEAN": BOOLEAN, "INTEGER": INTEGER, "UNSIGNED": UNSIGNED, "NUMBER": NUMBER, "TEXT": TEXT,
                 "BASE64": BASE64, "DATE": DATE, "INSTANT": INSTANT, "LOCAL_TIMESTAMP": LOCAL_TIMESTAMP, "TIME": TIME,
                 "LOCAL_TIME": LOCAL_TIME, "UUID": UUID, "DECIMAL": DECIMAL, "ANY": ANY, "ARRAY": ARRAY, "MAP": MAP,
                 "OBJECT": OBJECT},
    "Fault": {"FINE": FINE, "ENDS": ENDS, "NOT_JSON": NOT_JSON, "NOT_UTF8": NOT_UTF8, "ESCAPE": ESCAPE, "DEEP": DEEP,
              "LEFT_OVER": LEFT_OVER, "NOT_EXPECTED": NOT_EXPECTED, "OUT_OF_RANGE": OUT_OF_RANGE,
              "NOT_WHOLE": NOT_WHOLE, "NOT_OF_FORMAT": NOT_OF_FORMAT, "LOSES_DIGITS": LOSES_DIGITS,
              "KEY_TWICE": KEY_TWICE, "ROW_BYTES": ROW_BYTES, "UNNAMED": UNNAMED},
}
for _name, _kind in (("Expected", Expected_), ("Fault", Fault_)):
    if NUMBERS[_name] != {one.name: one.value for one in _kind}:
        raise ImportError(f"the kernel's numbers of {_name} are not those of serdes.kernels.json_columns")

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


# --- tokens


cdef inline void skip_space(Run* run) noexcept nogil:
    while run.at < run.end and (run.at[0] == 32 or run.at[0] == 10 or run.at[0] == 13 or run.at[0] == 9):
        run.at += 1


cdef inline int must_be(Run* run, uint8_t byte) noexcept nogil:
    if run.at >= run.end:
        return ENDS
    if run.at[0] != byte:
        return NOT_JSON
    run.at += 1
    return FINE


cdef int literal(Run* run, const char* word, int64_t size) noexcept nogil:
    cdef int64_t at
    for at in range(size):
        if run.at + at >= run.end:
            run.at = run.end
            return ENDS
        if run.at[at] != <uint8_t>word[at]:
            run.at += at
            return NOT_JSON
    run.at += size
    return FINE


cdef int hex_four(const uint8_t* at) noexcept nogil:
    cdef int made = 0, i, digit
    for i in range(4):
        digit = hex_value(at[i])
        if digit < 0:
            return -1
        made = made << 4 | digit
    return made


cdef int unescaped(Run* run, const uint8_t* begin, const uint8_t** data, int64_t* size) noexcept nogil:
    """A text with escapes, copied to the scratch; the run stands at the first backslash."""
    cdef int64_t made = run.at - begin
    cdef const uint8_t* at = run.at
    cdef const uint8_t* end = run.end
    cdef uint8_t byte
    cdef int code, low
    cdef void* more
    if run.room < end - begin:
        more = realloc(run.scratch, end - begin)
        if more == NULL:
            return NO_MEMORY
        run.scratch = <uint8_t*>more
        run.room = end - begin
    memcpy(run.scratch, begin, made)
    while True:
        if at >= end:
            run.at = end
            return ENDS
        byte = at[0]
        if byte == 34:
            break
        if byte < 32:
            run.at = at
            return NOT_JSON
        if byte != 92:
            run.scratch[made] = byte
            made += 1
            at += 1
            continue
        run.at = at
        if end - at < 2:
            return ENDS
        byte = at[1]
        at += 2
        if byte == 117:
            if end - at < 4:
                return ENDS
            code = hex_four(at)
            if code < 0:
                return ESCAPE
            at += 4
            if 0xDC00 <= code < 0xE000:
                return ESCAPE
            if 0xD800 <= code < 0xDC00:
                low = hex_four(at + 2) if end - at >= 6 and at[0] == 92 and at[1] == 117 else -1
                if not 0xDC00 <= low < 0xE000:
                    return ESCAPE
                at += 6
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            made += put_utf8(run.scratch + made, code)
            continue
        if byte == 110:
            byte = 10
        elif byte == 116:
            byte = 9
        elif byte == 114:
            byte = 13
        elif byte == 98:
            byte = 8
        elif byte == 102:
            byte = 12
        elif byte != 34 and byte != 92 and byte != 47:
            return ESCAPE
        run.scratch[made] = byte
        made += 1
    run.at = at + 1
    data[0] = run.scratch
    size[0] = made
    return FINE


cdef int put_utf8(uint8_t* out, int code) noexcept nogil:
    if code < 0x80:
        out[0] = <uint8_t>code
        return 1
    if code < 0x800:
        out[0] = <uint8_t>(0xC0 | code >> 6)
        out[1] = <uint8_t>(0x80 | code & 63)
        return 2
    if code < 0x10000:
        out[0] = <uint8_t>(0xE0 | code >> 12)
        out[1] = <uint8_t>(0x80 | code >> 6 & 63)
        out[2] = <uint8_t>(0x80 | code & 63)
        return 3
    out[0] = <uint8_t>(0xF0 | code >> 18)
    out[1] = <uint8_t>(0x80 | code >> 12 & 63)
    out[2] = <uint8_t>(0x80 | code >> 6 & 63)
    out[3] = <uint8_t>(0x80 | code & 63)
    return 4


cdef inline int text(Run* run, const uint8_t** data, int64_t* size) noexcept nogil:
    """The text that starts at the quote where the run stands; it may be in the scratch until the next one."""
    cdef const uint8_t* begin = run.at + 1
    cdef const uint8_t* at = begin
    cdef const uint8_t* end = run.end
    cdef uint64_t eight, quotes, slashes, high = 0
    cdef int fault
    while end - at >= 8:
        memcpy(&eight, at, 8)
        quotes = eight ^ 0x2222222222222222ULL
        slashes = eight ^ 0x5C5C5C5C5C5C5C5CULL
        if (((quotes - 0x0101010101010101ULL) & ~quotes) | ((slashes - 0x0101010101010101ULL) & ~slashes)
                | ((eight - 0x2020202020202020ULL) & ~eight)) & 0x8080808080808080ULL:
            break
        high |= eight
        at += 8
    while at < end and at[0] != 34 and at[0] != 92 and at[0] >= 32:
        high |= <uint64_t>at[0]
        at += 1
    if at >= end:
        run.at = end
        return ENDS
    if at[0] == 34:
        data[0] = begin
        size[0] = at - begin
        run.at = at + 1
    elif at[0] == 92:
        run.at = at
        fault = unescaped(run, begin, data, size)
        if fault:
            return fault
        high = 0x80
    else:
        run.at = at
        return NOT_JSON
    if high & 0x8080808080808080ULL and not is_utf8(data[0], size[0]):
        run.at = begin
        return NOT_UTF8
    return FINE


cdef inline bint is_digit(const Run* run) noexcept nogil:
    return run.at < run.end and 48 <= run.at[0] <= 57


cdef int number(Run* run, Number* made) noexcept nogil:
    """The number where the run stands."""
    cdef int64_t exponent = 0, used = 0
    cdef bint down = False
    made.text = run.at
    made.digits = 0
    made.exponent = 0
    made.whole = True
    made.long_one = False
    made.negative = run.at[0] == 45
    if made.negative:
        run.at += 1
    if not is_digit(run):
        return ENDS if run.at >= run.end else NOT_JSON
    if run.at[0] == 48:
        run.at += 1
        if is_digit(run):
            return NOT_JSON
    while is_digit(run):
        if used < 19:
            made.digits = made.digits * 10 + (run.at[0] - 48)
            used += 1
        else:
            made.long_one = True
        run.at += 1
    if run.at < run.end and run.at[0] == 46:
        made.whole = False
        run.at += 1
        if not is_digit(run):
            return ENDS if run.at >= run.end else NOT_JSON
        while is_digit(run):
            if used < 19:
                made.digits = made.digits * 10 + (run.at[0] - 48)
                used += made.digits != 0
                made.exponent -= 1
            else:
                made.long_one = True
            run.at += 1
    if run.at < run.end and (run.at[0] | 32) == 101:
        made.whole = False
        run.at += 1
        if run.at < run.end and (run.at[0] == 43 or run.at[0] == 45):
            down = run.at[0] == 45
            run.at += 1
        if not is_digit(run):
            return ENDS if run.at >= run.end else NOT_JSON
        while is_digit(run):
            if exponent < 100000:
                exponent = exponent * 10 + (run.at[0] - 48)
            run.at += 1
        made.exponent += -exponent if down else exponent
    made.size = run.at - made.text
    return FINE


cdef int skip(Run* run) noexcept nogil:
    """Looks at a value of any kind."""
    cdef const uint8_t* data = NULL
    cdef int64_t size = 0
    cdef Number unused
    cdef uint8_t byte, close
    cdef int fault
    if run.at >= run.end:
        return ENDS
    byte = run.at[0]
    if byte == 34:
        return text(run, &data, &size)
    if byte == 116:
        return literal(run, b"true", 4)
    if byte == 102:
        return literal(run, b"false", 5)
    if byte == 110:
        return literal(run, b"null", 4)
    if byte == 45 or 48 <= byte <= 57:
        return number(run, &unused)
    if byte != 91 and byte != 123:
        return NOT_JSON
    close = byte + 2
    if run.level >= MAX_DEPTH:
        return DEEP
    run.level += 1
    run.at += 1
    skip_space(run)
    if run.at < run.end and run.at[0] == close:
        run.at += 1
        run.level -= 1
        return FINE
    while True:
        if byte == 123:
            if run.at >= run.end:
                return ENDS
            if run.at[0] != 34:
                return NOT_JSON
            fault = text(run, &data, &size)
            if not fault:
                skip_space(run)
                fault = must_be(run, 58)
            if fault:
                return fault
            skip_space(run)
        fault = skip(run)
        if fault:
            return fault
        skip_space(run)
        if run.at < run.end and run.at[0] == close:
            run.at += 1
            run.level -= 1
            return FINE
        fault = must_be(run, 44)
        if fault:
            return fault
        skip_space(run)


# --- values


cdef int exact_number(Run* run, const Step* step, const Number* read) noexcept with gil:
    """What needs Python's own arithmetic."""
    cdef Column* column = &run.columns[step.column]
    given = read.text[:read.size]
    if step.expected != NUMBER:
        made = exact_int(given, step.expected == INTEGER)
        if isinstance(made, Fault_):
            return made
        return append_int64(column, <int64_t>(<uint64_t>made) if step.expected == UNSIGNED else <int64_t>made)
    made = exact_float(given)
    return made if isinstance(made, Fault_) else append_double(column, made)


cdef inline int put_integer(Run* run, const Step* step) noexcept nogil:
    cdef Number read
    cdef int fault = number(run, &read)
    if fault:
        return fault
    if read.digits == 0 and not read.long_one:
        return append_int64(&run.columns[step.column], 0)
    while read.exponent < 0 and read.digits % 10 == 0:
        read.digits = read.digits // 10
        read.exponent += 1
    if read.long_one or read.exponent > 0:
        return exact_number(run, step, &read)
    if read.exponent < 0:
        return NOT_WHOLE
    if step.expected == UNSIGNED:
        return OUT_OF_RANGE if read.negative else append_int64(&run.columns[step.column], <int64_t>read.digits)
    if read.digits > 0x7FFFFFFFFFFFFFFFULL + (1 if read.negative else 0):
        return OUT_OF_RANGE
    return append_int64(
        &run.columns[step.column], <int64_t>(0 - read.digits) if read.negative else <int64_t>read.digits
    )


cdef inline int put_number(Run* run, const Step* step) noexcept nogil:
    cdef Number read
    cdef double value = 0
    cdef int fault = number(run, &read)
    if fault:
        return fault
    if read.long_one:
        return exact_number(run, step, &read)
    if read.digits <= 9007199254740992ULL and -22 <= read.exponent <= 22:
        value = <double>read.digits
        value = value / POWERS[-read.exponent] if read.exponent < 0 else value * POWERS[read.exponent]
    elif (read.whole and read.digits > 9007199254740992ULL) or not read_double(read.digits, read.exponent, &value):
        return exact_number(run, step, &read)
    return append_double(&run.columns[step.column], -value if read.negative else value)


cdef inline int two(const uint8_t* at) noexcept nogil:
    if not (48 <= at[0] <= 57 and 48 <= at[1] <= 57):
        return -1
    return (at[0] - 48) * 10 + at[1] - 48


cdef int64_t days_of(const uint8_t* at) noexcept nogil:
    """Days since 1970 of `YYYY-MM-DD`, ten bytes; far below all dates if it is none."""
    cdef int century = two(at), years = two(at + 2), month = two(at + 5), day = two(at + 8), last
    cdef int64_t year, era, of_era, of_year
    if century < 0 or years < 0 or at[4] != 45 or at[7] != 45 or not 1 <= month <= 12 or day < 1:
        return NO_DATE
    year = century * 100 + years
    if year == 0:
        return NO_DATE
    if month == 2:
        last = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    else:
        last = 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31
    if day > last:
        return NO_DATE
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


cdef int clock(const uint8_t** place, const uint8_t* end, int64_t* micros) noexcept nogil:
    """`HH:MM:SS` with a fraction or without."""
    cdef const uint8_t* at = place[0]
    cdef int hours, minutes, seconds, digits = 0
    cdef int64_t fraction = 0
    if end - at < 8 or at[2] != 58 or at[5] != 58:
        return NOT_OF_FORMAT
    hours = two(at)
    minutes = two(at + 3)
    seconds = two(at + 6)
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 60):
        return NOT_OF_FORMAT
    at += 8
    if at < end and at[0] == 46:
        at += 1
        while at < end and 48 <= at[0] <= 57:
            if digits < 6:
                fraction = fraction * 10 + (at[0] - 48)
            elif at[0] != 48:
                return LOSES_DIGITS
            digits += 1
            at += 1
        if digits == 0:
            return NOT_OF_FORMAT
        while digits < 6:
            fraction *= 10
            digits += 1
    micros[0] = ((hours * 60 + minutes) * 60 + seconds) * 1000000LL + fraction
    place[0] = at
    return FINE


cdef int zone(const uint8_t** place, const uint8_t* end, int* minutes) noexcept nogil:
    """`Z` or `+HH:MM`."""
    cdef const uint8_t* at = place[0]
    cdef int hours, rest
    if at >= end:
        return NOT_OF_FORMAT
    if (at[0] | 32) == 122:
        minutes[0] = 0
        place[0] = at + 1
        return FINE
    if end - at < 6 or (at[0] != 43 and at[0] != 45) or at[3] != 58:
        return NOT_OF_FORMAT
    hours = two(at + 1)
    rest = two(at + 4)
    if not (0 <= hours < 24 and 0 <= rest < 60):
        return NOT_OF_FORMAT
    minutes[0] = hours * 60 + rest
    if at[0] == 45:
        minutes[0] = -minutes[0]
    place[0] = at + 6
    return FINE


cdef int put_moment(Column* column, int expected, const uint8_t* at, int64_t size) noexcept nogil:
    cdef const uint8_t* end = at + size
    cdef int64_t days = 0, micros = 0
    cdef int minutes = 0, fault
    if expected != TIME and expected != LOCAL_TIME:
        if size < 10:
            return NOT_OF_FORMAT
        days = days_of(at)
        if days == NO_DATE:
            return NOT_OF_FORMAT
        at += 10
        if expected == DATE:
            return append_int32(column, <int32_t>days) if at == end else NOT_OF_FORMAT
        if at >= end or ((at[0] | 32) != 116 and at[0] != 32):
            return NOT_OF_FORMAT
        at += 1
    fault = clock(&at, end, &micros)
    if not fault and (expected == INSTANT or expected == TIME):
        fault = zone(&at, end, &minutes)
    if fault:
        return fault
    if at != end or (expected == TIME and minutes):
        return NOT_OF_FORMAT
    return append_int64(column, days * 86400000000LL + micros - minutes * 60000000LL)


cdef inline int sextet(uint8_t byte) noexcept nogil:
    if 65 <= byte <= 90:
        return byte - 65
    if 97 <= byte <= 122:
        return byte - 71
    if 48 <= byte <= 57:
        return byte + 4
    if byte == 43:
        return 62
    return 63 if byte == 47 else -1


cdef int put_base64(Run* run, Column* column, const uint8_t* data, int64_t size) noexcept nogil:
    """Decoded in the scratch, which may be where the text is: it gets shorter."""
    cdef int64_t at = 0, made = 0, pads = 0
    cdef uint32_t group = 0
    cdef int digit, i
    cdef void* more
    if size % 4:
        return NOT_OF_FORMAT
    if run.room < size:
        more = realloc(run.scratch, size)
        if more == NULL:
            return NO_MEMORY
        run.scratch = <uint8_t*>more
        run.room = size
    if size:
        pads = 2 if data[size - 2] == 61 else 1 if data[size - 1] == 61 else 0
    while at < size:
        group = 0
        for i in range(4):
            digit = 0 if at + i >= size - pads and data[at + i] == 61 else sextet(data[at + i])
            if digit < 0:
                return NOT_OF_FORMAT
            group = group << 6 | digit
        at += 4
        run.scratch[made] = <uint8_t>(group >> 16)
        run.scratch[made + 1] = <uint8_t>(group >> 8)
        run.scratch[made + 2] = <uint8_t>group
        made += 3
    if pads and group & (0xFF if pads == 1 else 0xFFFF):
        return NOT_OF_FORMAT
    run.left -= made
    return append_bytes(column, run.scratch, made - pads)


cdef int put_decimal(const Step* step, Column* column, const uint8_t* data, int64_t size) noexcept nogil:
    """`-12.50` as a whole number of units of the scale."""
    cdef uint32_t limbs[8]
    cdef uint64_t carry
    cdef int64_t at = 0
    cdef int i, digits = 0, behind = -1
    cdef bint negative = size > 0 and data[0] == 45, some = False
    memset(limbs, 0, 32)
    at = negative
    while at < size or behind < step.scale:
        carry = 0
        if at < size:
            if data[at] == 46:
                if behind >= 0 or not some or at + 1 == size:
                    return NOT_OF_FORMAT
                behind = 0
                at += 1
                continue
            if not 48 <= data[at] <= 57:
                return NOT_OF_FORMAT
            carry = data[at] - 48
            some = True
            if behind >= step.scale:
                if carry:
                    return LOSES_DIGITS
                at += 1
                continue
        elif behind < 0:
            behind = 0
            continue
        at += 1
        if behind >= 0:
            behind += 1
        if digits or carry:
            digits += 1
        if digits > step.digits:
            return OUT_OF_RANGE
        for i in range(8):
            carry += <uint64_t>limbs[i] * 10
            limbs[i] = <uint32_t>carry
            carry >>= 32
    if not some:
        return NOT_OF_FORMAT
    if negative:
        carry = 1
        for i in range(8):
            carry += <uint32_t>~limbs[i]
            limbs[i] = <uint32_t>carry
            carry >>= 32
    return append_fixed(column, <const uint8_t*>limbs)


cdef inline int put_text(Run* run, const Step* step) noexcept nogil:
    """What stands in quotes."""
    cdef const uint8_t* data = NULL
    cdef const uint8_t* begin = run.at
    cdef int64_t size = 0
    cdef uint8_t made[16]
    cdef Column* column = &run.columns[step.column]
    cdef int fault = text(run, &data, &size)
    if fault:
        return fault
    if step.expected == TEXT:
        run.left -= size
        return append_bytes(column, data, size)
    if step.expected == UUID:
        fault = append_bytes(column, data, size) if uuid_of(data, size, made) else NOT_OF_FORMAT
    elif step.expected == BASE64:
        fault = put_base64(run, column, data, size)
    elif step.expected == DECIMAL:
        fault = put_decimal(step, column, data, size)
    else:
        fault = put_moment(column, step.expected, data, size)
    if fault > 0:
        run.at = begin
    return fault


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


cdef int members(Run* run, const Step* step) noexcept nogil:
    """An object as a struct: members in any order, each once; missing ones are null."""
    cdef Column* own = &run.columns[step.column]
    cdef Column* child
    cdef const uint8_t* data = NULL
    cdef int64_t size = 0, cells = own.length
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
            if i < 0 or i >= step.count:
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
    """What is in brackets or braces."""
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
            if not fault:
                run.left -= run.at - begin
                fault = append_null(column) if byte == 110 else append_bytes(column, begin, run.at - begin)
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
            and width of a decimal, bytes of an item in the columns, whether members without a name are faults; a kid
            has a higher number than its parent, and names without a kid come last.
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
        step.expected, step.column, kids, names, step.digits, step.scale, step.width, step.cost, step.closed = given
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
