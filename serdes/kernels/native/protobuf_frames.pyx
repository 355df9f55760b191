# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=True
"""Arrow columns into frames of Protobuf: `serdes.columnar.protobuf` says what is written and what errors mean.

Rows, items and fields are written from the last to the first, each in front of what is behind it, so a message's length
is known when its tag is written: one pass, no sizes beforehand. Fields come out in the order of their numbers. Reads
Arrow's C data interface; free of Python objects inside a batch.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove

from serdes.kernels.native.arrow cimport ArrowArray
from serdes.kernels.native.octets cimport SHORT, is_short_ascii_before, is_utf8
from serdes.kernels.native.protobuf cimport (
    K_BOOL,
    K_DOUBLE,
    K_DURATION,
    K_ENUM,
    K_FIXED32,
    K_FIXED64,
    K_FLOAT,
    K_INT64,
    K_JSON,
    K_SFIXED64,
    K_SINT32,
    K_SINT64,
    K_STRING,
    K_TIMESTAMP,
    K_UINT32,
    K_UINT64,
)

cdef enum SourceOf:
    S_INT8 = 0
    S_INT16 = 1
    S_INT32 = 2
    S_INT64 = 3
    S_UINT8 = 4
    S_UINT16 = 5
    S_UINT32 = 6
    S_UINT64 = 7
    S_FLOAT = 8
    S_DOUBLE = 9
    S_BOOL = 10
    S_TEXT = 11
    S_LARGE_TEXT = 12
    S_FIXED_TEXT = 13
    S_STRUCT = 14
    S_LIST = 15
    S_LARGE_LIST = 16
    S_NULL = 17

cdef enum Wrong:
    FINE = 0
    NULL_REQUIRED = 1
    NULL_ITEM = 2
    NO_SYMBOL = 3
    OUT_OF_RANGE = 4
    NO_TIME = 5
    BAD_UTF8 = 6
    TWO_MEMBERS = 7
    BAD_JSON = 8
    FULL = 9
    NO_MEMORY = 10
    TOO_LONG = 11

cdef enum:
    MAX_PATH = 256
    FEW = 8

cdef int64_t LARGEST = 2147483647
cdef int64_t MOST_UINT32 = 4294967295
cdef int64_t FIRST_SECOND = -62135596800
cdef int64_t LAST_SECOND = 253402300799
cdef int64_t LONGEST_SECONDS = 315576000000
cdef double LARGEST_FLOAT = 3.4028235677973366e38

cdef struct Field:
    uint32_t tag
    int8_t kind
    int8_t shape
    int8_t wrapped
    int8_t delimited
    int8_t required
    int8_t implicit
    int8_t packed
    int8_t wire
    int8_t oneof
    int8_t closed
    int32_t column
    int32_t holder
    int32_t message
    int32_t symbols
    int32_t place

cdef struct Message:
    int32_t count
    Field* fields

cdef struct Source:
    int8_t type
    int32_t width
    int64_t per_second
    int32_t above
    int32_t place

cdef struct Symbols:
    int32_t count
    int32_t* numbers
    int32_t* starts
    char* text

cdef struct Column:
    const uint8_t* valid
    const void* values
    const uint8_t* data
    int64_t offset
    int64_t per_second
    int32_t width
    int32_t type

cdef struct Run:
    const Message* messages
    const Symbols* symbols
    Column* columns
    uint8_t* start
    uint8_t* at
    uint8_t* end
    int32_t code
    int32_t path_count
    int64_t detail
    int32_t path[MAX_PATH]

cdef struct Complaints:
    int64_t* items
    int64_t used
    int64_t room


# --- writing, towards the front


cdef int grow(Run* run, int64_t size) noexcept nogil:
    cdef int64_t used = run.end - run.at
    cdef int64_t room = (run.end - run.start) * 2
    cdef uint8_t* block
    if used + size > LARGEST:
        run.code = FULL
        return FULL
    if room < used + size:
        room = used + size + 1024
    block = <uint8_t*> malloc(room)
    if block == NULL:
        run.code = NO_MEMORY
        return NO_MEMORY
    memcpy(block + room - used, run.at, used)
    free(run.start)
    run.start = block
    run.end = block + room
    run.at = run.end - used
    return FINE


cdef inline int need(Run* run, int64_t size) noexcept nogil:
    if run.at - run.start >= size:
        return FINE
    return grow(run, size)


cdef inline void put_varint(Run* run, uint64_t value) noexcept nogil:
    """There is room for ten bytes."""
    cdef uint8_t* to
    cdef uint64_t rest
    if value < 0x80:
        run.at -= 1
        run.at[0] = <uint8_t> value
        return
    rest = value >> 7
    run.at -= 2
    while rest >= 0x80:
        rest >>= 7
        run.at -= 1
    to = run.at
    while value >= 0x80:
        to[0] = <uint8_t> (value | 0x80)
        value >>= 7
        to += 1
    to[0] = <uint8_t> value


cdef inline int wrong_at(Run* run, int code) noexcept nogil:
    run.code = code
    run.path_count = 0
    return code


cdef inline int below(Run* run, const Field* field, int64_t index) noexcept nogil:
    """Adds a part to an error's path: the field's place in its message, and the index in a list (-1 for none)."""
    if run.path_count + 2 <= MAX_PATH:
        run.path[run.path_count] = field.place
        run.path[run.path_count + 1] = <int32_t> index
        run.path_count += 2
    return run.code


cdef inline bint is_null(const Column* column, int64_t at) noexcept nogil:
    if column.type == S_NULL:
        return True
    return column.valid != NULL and not (column.valid[(at + column.offset) >> 3] >> ((at + column.offset) & 7)) & 1


cdef inline int64_t whole(const Column* column, int64_t at) noexcept nogil:
    """A whole number; one of 64 bits without sign as the bits it has."""
    at += column.offset
    if column.type == S_INT64 or column.type == S_UINT64:
        return (<const int64_t*> column.values)[at]
    if column.type == S_INT32:
        return (<const int32_t*> column.values)[at]
    if column.type == S_UINT32:
        return (<const uint32_t*> column.values)[at]
    if column.type == S_INT16:
        return (<const int16_t*> column.values)[at]
    if column.type == S_UINT16:
        return (<const uint16_t*> column.values)[at]
    if column.type == S_INT8:
        return (<const int8_t*> column.values)[at]
    return (<const uint8_t*> column.values)[at]


cdef inline void text_at(const Column* column, int64_t at, const uint8_t** p, int64_t* size) noexcept nogil:
    cdef const int32_t* small
    cdef const int64_t* wide
    at += column.offset
    if column.type == S_TEXT:
        small = <const int32_t*> column.values
        p[0] = column.data + small[at]
        size[0] = small[at + 1] - small[at]
    elif column.type == S_LARGE_TEXT:
        wide = <const int64_t*> column.values
        p[0] = column.data + wide[at]
        size[0] = wide[at + 1] - wide[at]
    else:
        p[0] = <const uint8_t*> column.values + at * column.width
        size[0] = column.width


cdef inline bint fits(int kind, int64_t value, bint unsigned_source) noexcept nogil:
    """Whether a whole number is one of a kind."""
    if unsigned_source and value < 0:  # 2**63 and more
        return kind == K_UINT64 or kind == K_FIXED64
    if kind == K_INT64 or kind == K_SINT64 or kind == K_SFIXED64:
        return True
    if kind == K_UINT64 or kind == K_FIXED64:
        return value >= 0
    if kind == K_UINT32 or kind == K_FIXED32:
        return 0 <= value <= MOST_UINT32
    return -2147483648 <= value <= 2147483647


cdef int symbol_of(const Field* field, const Symbols* symbols, const uint8_t* p, int64_t size, int64_t* number) noexcept nogil:
    """The number of a name; of an open enum also digits, for numbers that have no name."""
    cdef int low = 0
    cdef int high = symbols.count
    cdef int middle, found
    cdef int64_t length, value, i
    if high <= FEW:
        for middle in range(high):
            length = symbols.starts[middle + 1] - symbols.starts[middle]
            if length == size and memcmp(symbols.text + symbols.starts[middle], p, size) == 0:
                number[0] = symbols.numbers[middle]
                return FINE
    else:
        while low < high:
            middle = (low + high) >> 1
            length = symbols.starts[middle + 1] - symbols.starts[middle]
            found = memcmp(symbols.text + symbols.starts[middle], p, size) if length == size else (
                -1 if length < size else 1
            )
            if found == 0:
                number[0] = symbols.numbers[middle]
                return FINE
            if found < 0:
                low = middle + 1
            else:
                high = middle
    if field.closed or size == 0 or size > 11:
        return NO_SYMBOL
    value = 0
    i = 1 if p[0] == 45 else 0
    if i == size or (p[i] == 48 and size > 1):
        return NO_SYMBOL
    while i < size:
        if p[i] < 48 or p[i] > 57:
            return NO_SYMBOL
        value = value * 10 + (p[i] - 48)
        i += 1
    if p[0] == 45:
        value = -value
    if value < -2147483648 or value > 2147483647:
        return NO_SYMBOL
    number[0] = value
    return FINE


cdef inline bint known_number(const Symbols* symbols, int64_t number) noexcept nogil:
    cdef int i
    for i in range(symbols.count):
        if symbols.numbers[i] == number:
            return True
    return False


cdef int put_number(Run* run, const Field* field, const Column* column, int64_t at, bint* is_default) noexcept nogil:
    """Writes one number, without a tag; there is room for it."""
    cdef int64_t value = 0
    cdef double real
    cdef float single
    cdef uint64_t bits = 0
    cdef uint32_t small
    cdef const uint8_t* p
    cdef int64_t size
    cdef int kind = field.kind
    if kind == K_DOUBLE or kind == K_FLOAT:
        if column.type == S_FLOAT:
            real = (<const float*> column.values)[at + column.offset]
        else:
            real = (<const double*> column.values)[at + column.offset]
        if kind == K_DOUBLE:
            memcpy(&bits, &real, 8)
            is_default[0] = bits == 0
            run.at -= 8
            memcpy(run.at, &bits, 8)
            return FINE
        if (real >= LARGEST_FLOAT or real <= -LARGEST_FLOAT) and real - real == 0:
            return wrong_at(run, OUT_OF_RANGE)
        single = <float> real
        memcpy(&small, &single, 4)
        is_default[0] = small == 0
        run.at -= 4
        memcpy(run.at, &small, 4)
        return FINE
    if kind == K_BOOL:
        at += column.offset
        value = ((<const uint8_t*> column.values)[at >> 3] >> (at & 7)) & 1
    elif kind == K_ENUM and column.type >= S_TEXT:
        text_at(column, at, &p, &size)
        if symbol_of(field, &run.symbols[field.symbols], p, size, &value):
            return wrong_at(run, NO_SYMBOL)
    else:
        value = whole(column, at)
        if not fits(kind, value, column.type == S_UINT64):
            return wrong_at(run, OUT_OF_RANGE)
        if kind == K_ENUM and field.closed and not known_number(&run.symbols[field.symbols], value):
            return wrong_at(run, NO_SYMBOL)
    is_default[0] = value == 0
    if field.wire == 1:
        run.at -= 8
        memcpy(run.at, &value, 8)
    elif field.wire == 5:
        small = <uint32_t> value
        run.at -= 4
        memcpy(run.at, &small, 4)
    elif kind == K_SINT32 or kind == K_SINT64:
        put_varint(run, (<uint64_t> value << 1) ^ <uint64_t> (value >> 63))
    else:
        put_varint(run, <uint64_t> value)
    return FINE


cdef int put_bytes(Run* run, const Field* field, const Column* column, int64_t at, bint* is_default) noexcept nogil:
    """Writes text, bytes or a finished message with its length, without a tag."""
    cdef const uint8_t* p
    cdef int64_t size
    cdef bint few
    text_at(column, at, &p, &size)
    # Of the column's bytes SHORT end with these: they are looked at and copied in one step.
    few = size <= SHORT and column.type != S_FIXED_TEXT and p + size - column.data >= SHORT
    if field.kind == K_JSON:
        if size == 0 or p[0]:
            return wrong_at(run, BAD_JSON)
        p += 1
        size -= 1
    elif field.kind == K_STRING and not (few and is_short_ascii_before(p + size, size)) and not is_utf8(p, size):
        return wrong_at(run, BAD_UTF8)
    is_default[0] = size == 0
    if need(run, size + 32):
        return wrong_at(run, run.code)
    if few:
        memcpy(run.at - SHORT, p + size - SHORT, SHORT)
        run.at -= size
    else:
        run.at -= size
        memcpy(run.at, p, size)
    if field.kind != K_JSON or not field.delimited:
        put_varint(run, <uint64_t> size)
    return FINE


cdef int put_time(Run* run, const Field* field, const Column* column, int64_t at) noexcept nogil:
    """Writes seconds and nanoseconds, without a length; there is room for them."""
    cdef int64_t value = (<const int64_t*> column.values)[at + column.offset]
    cdef int64_t seconds = value // column.per_second
    cdef int64_t nanos = (value - seconds * column.per_second) * (1000000000 // column.per_second)
    if field.kind == K_TIMESTAMP:
        if nanos < 0:
            nanos += 1000000000
            seconds -= 1
        if seconds < FIRST_SECOND or seconds > LAST_SECOND:
            return wrong_at(run, NO_TIME)
    elif seconds < -LONGEST_SECONDS or seconds > LONGEST_SECONDS:
        return wrong_at(run, NO_TIME)
    if nanos:
        put_varint(run, <uint64_t> nanos)
        put_varint(run, 16)
    if seconds:
        put_varint(run, <uint64_t> seconds)
        put_varint(run, 8)
    return FINE


cdef inline void close_message(Run* run, const Field* field, int64_t behind) noexcept nogil:
    """Writes the length of a message whose end has `behind` bytes after it; there is room."""
    if not field.delimited:
        put_varint(run, <uint64_t> ((run.end - run.at) - behind))


cdef int put_value(Run* run, const Field* field, const Column* column, int64_t at) noexcept nogil:
    """Writes one value with its tag; a default of a field with implicit presence is left out."""
    cdef int64_t behind = run.end - run.at
    cdef int64_t inside
    cdef bint is_default = False
    if need(run, 64):
        return wrong_at(run, run.code)
    if field.delimited:
        put_varint(run, field.tag + 1)
    inside = run.end - run.at
    if field.wrapped:
        if field.wire == 2:
            if put_bytes(run, field, column, at, &is_default):
                return run.code
        elif put_number(run, field, column, at, &is_default):
            return run.code
        if is_default:
            run.at = run.end - inside
        elif need(run, 32):
            return wrong_at(run, run.code)
        else:
            put_varint(run, 8 | field.wire)
        close_message(run, field, inside)
    elif field.message >= 0:
        if put_message(run, &run.messages[field.message], at + column.offset):
            return run.code
        if need(run, 32):
            return wrong_at(run, run.code)
        close_message(run, field, inside)
    elif field.kind == K_TIMESTAMP or field.kind == K_DURATION:
        if put_time(run, field, column, at):
            return run.code
        close_message(run, field, inside)
    elif field.wire == 2:
        if put_bytes(run, field, column, at, &is_default):
            return run.code
    elif put_number(run, field, column, at, &is_default):
        return run.code
    if is_default and field.implicit and not field.wrapped and field.kind != K_JSON:
        run.at = run.end - behind
    else:
        put_varint(run, field.tag)
    return FINE


cdef int put_items(Run* run, const Field* field, int64_t at) noexcept nogil:
    """Writes the items of a repeated field, or the entries of a map, from the last to the first."""
    cdef const Column* holder = &run.columns[field.holder]
    cdef const Column* column = &run.columns[field.column]
    cdef int64_t first, count, i, behind
    cdef bint is_default = False
    at += holder.offset
    if holder.type == S_LIST:
        first = (<const int32_t*> holder.values)[at]
        count = (<const int32_t*> holder.values)[at + 1] - first
    else:
        first = (<const int64_t*> holder.values)[at]
        count = (<const int64_t*> holder.values)[at + 1] - first
    if count == 0:
        return FINE
    behind = run.end - run.at
    for i in range(count - 1, -1, -1):
        if is_null(column, first + i):
            wrong_at(run, NULL_ITEM)
            return below(run, field, i)
        if field.packed:
            if need(run, 32):
                wrong_at(run, run.code)
                return below(run, field, i)
            if put_number(run, field, column, first + i, &is_default):
                return below(run, field, i)
        elif put_value(run, field, column, first + i):
            return below(run, field, i)
    if field.packed:
        if need(run, 32):
            wrong_at(run, run.code)
            return below(run, field, -1)
        put_varint(run, <uint64_t> ((run.end - run.at) - behind))
        put_varint(run, ((field.tag >> 3) << 3) | 2)
    return FINE


cdef int put_message(Run* run, const Message* message, int64_t at) noexcept nogil:
    """Writes the fields of a message, without tag and length; `at` counts in its columns."""
    cdef const Field* field
    cdef const Column* column
    cdef uint64_t seen = 0
    cdef int i
    for i in range(message.count - 1, -1, -1):
        field = &message.fields[i]
        column = &run.columns[field.column if field.holder < 0 else field.holder]
        if is_null(column, at):
            if field.required:
                wrong_at(run, NULL_REQUIRED)
                return below(run, field, -1)
            continue
        if field.holder >= 0:
            if put_items(run, field, at):
                return run.code
            continue
        if field.oneof >= 0:
            if seen >> field.oneof & 1:
                wrong_at(run, TWO_MEMBERS)
                return below(run, field, -1)
            seen |= <uint64_t> 1 << field.oneof
        if put_value(run, field, column, at):
            return below(run, field, -1)
    return FINE


# --- rows


cdef int complain(Complaints* list, int64_t row, const Run* run) noexcept nogil:
    """Writes an error down: row, code, parts of the path from the inside out."""
    cdef int64_t needed = list.used + 3 + run.path_count
    cdef int64_t* grown
    cdef int64_t i
    if needed > list.room:
        grown = <int64_t*> realloc(list.items, (needed * 2 + 64) * sizeof(int64_t))
        if grown == NULL:
            return NO_MEMORY
        list.items = grown
        list.room = needed * 2 + 64
    list.items[list.used] = row
    list.items[list.used + 1] = run.code
    list.items[list.used + 2] = run.path_count
    for i in range(run.path_count):
        list.items[list.used + 3 + i] = run.path[i]
    list.used = needed
    return FINE


cdef int write_rows(Run* run, const Column* root, int64_t count, const char* prefix, int64_t prefix_size,
                    int64_t longest, int64_t* behind, uint8_t* valid, Complaints* complaints) noexcept nogil:
    """Writes all rows, the last one first; an error ends its row only, unless memory or the column is short."""
    cdef int64_t row
    cdef int wrong
    behind[count] = 0
    for row in range(count - 1, -1, -1):
        behind[row] = behind[row + 1]
        if is_null(root, row):
            continue
        run.path_count = 0
        wrong = put_message(run, run.messages, row + root.offset)
        if not wrong and run.end - run.at - behind[row] + prefix_size > longest:
            wrong = wrong_at(run, TOO_LONG)
        if not wrong:
            wrong = need(run, prefix_size)
        if not wrong:
            run.at -= prefix_size
            memcpy(run.at, prefix, prefix_size)
            behind[row] = run.end - run.at
            valid[row >> 3] |= <uint8_t> (1 << (row & 7))
            continue
        if wrong == NO_MEMORY or wrong == FULL:
            return wrong
        run.at = run.end - behind[row]
        if complain(complaints, row, run):
            return NO_MEMORY
    return FINE


cdef void release(ArrowArray* array) noexcept nogil:
    """The release callback of Arrow's C data interface."""
    cdef int64_t i
    for i in range(array.n_buffers):
        free(<void*> array.buffers[i])
    free(array.buffers)
    array.release = NULL


cdef void drop_capsule(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*> PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


# --- plans


cdef class FrameWriter:
    """A plan for writing a struct's columns, in C, for any number of batches and threads.

    Args:
        messages: for each message its fields, ordered by number, as `Lowered` has them; the first one is the rows'.
        sources: for each column its type, width, ticks per second, and where it is: below which column, at which place.
            Native ints of 32 bits, as fields are.
        symbols: for each enum its names and numbers, ordered by length and name.
        prefix: what stands in front of every payload.
        longest: bytes of the longest frame.
    """

    cdef Message* messages
    cdef Source* sources
    cdef Symbols* symbols
    cdef int message_count, source_count, symbol_count
    cdef bytes prefix
    cdef int64_t longest

    def __cinit__(self, list messages not None, list sources not None, list symbols not None, bytes prefix not None,
                  int64_t longest):
        cdef int i
        self.prefix, self.longest = prefix, longest
        self.message_count, self.source_count, self.symbol_count = len(messages), len(sources), len(symbols)
        self.messages = <Message*> calloc(self.message_count + 1, sizeof(Message))
        self.sources = <Source*> calloc(self.source_count + 1, sizeof(Source))
        self.symbols = <Symbols*> calloc(self.symbol_count + 1, sizeof(Symbols))
        if self.messages == NULL or self.sources == NULL or self.symbols == NULL:
            raise MemoryError
        for i in range(self.message_count):
            fill_message(&self.messages[i], messages[i])
        for i in range(self.source_count):
            fill_source(&self.sources[i], sources[i])
        for i in range(self.symbol_count):
            fill_symbols(&self.symbols[i], symbols[i])

    def __dealloc__(self):
        cdef int i
        for i in range(self.message_count if self.messages != NULL else 0):
            free(self.messages[i].fields)
        for i in range(self.symbol_count if self.symbols != NULL else 0):
            free(self.symbols[i].numbers)
            free(self.symbols[i].starts)
            free(self.symbols[i].text)
        free(self.messages)
        free(self.sources)
        free(self.symbols)

    def write(self, struct):
        """Writes a batch without the GIL.

        Args:
            struct: the capsule of the struct array, of the type this was made for.

        Returns:
            The capsule of a binary array, and the errors: (row, code, path), the path from the outside in as pairs of
            place and index; rows come from the last to the first.

        Raises:
            MemoryError: there is none.
            OverflowError: the frames are more than 2 GiB.
        """
        cdef ArrowArray* given = <ArrowArray*> PyCapsule_GetPointer(struct, "arrow_array")
        cdef int64_t count = given.length
        cdef Run run
        cdef Complaints complaints
        cdef int64_t* behind = <int64_t*> malloc((count + 1) * sizeof(int64_t))
        cdef uint8_t* valid = <uint8_t*> calloc((count + 7) // 8 + 8, 1)
        cdef const ArrowArray** arrays = <const ArrowArray**> calloc(self.source_count + 1, sizeof(void*))
        cdef const char* prefix = self.prefix
        cdef int64_t prefix_size = len(self.prefix)
        cdef int wrong = FINE
        run.messages, run.symbols = self.messages, self.symbols
        run.columns = <Column*> calloc(self.source_count + 1, sizeof(Column))
        run.start = <uint8_t*> malloc(count * 64 + 1024)
        run.end = run.at = run.start + (count * 64 + 1024)
        run.code = 0
        complaints.items = NULL
        complaints.used = complaints.room = 0
        try:
            if behind == NULL or valid == NULL or arrays == NULL or run.columns == NULL or run.start == NULL:
                raise MemoryError
            with nogil:
                self.find_columns(given, arrays, run.columns)
                wrong = write_rows(&run, run.columns, count, prefix, prefix_size, self.longest, behind, valid, &complaints)
            if wrong == FULL:
                raise OverflowError("the frames of one batch are more than 2 GiB: encode fewer rows at a time")
            if wrong:
                raise MemoryError
            errors = complained(&complaints)
            made = finished(&run, count, behind, valid)
            valid, run.start = NULL, NULL
            return made, errors
        finally:
            free(behind)
            free(valid)
            free(arrays)
            free(run.columns)
            free(run.start)
            free(complaints.items)

    cdef void find_columns(self, const ArrowArray* root, const ArrowArray** arrays, Column* columns) noexcept nogil:
        """Finds the buffers of each column."""
        cdef int i
        cdef const ArrowArray* array
        arrays[0] = root
        for i in range(self.source_count):
            if i:
                arrays[i] = arrays[self.sources[i].above].children[self.sources[i].place]
            array = arrays[i]
            columns[i].type = self.sources[i].type
            columns[i].width = self.sources[i].width
            columns[i].per_second = self.sources[i].per_second
            columns[i].offset = array.offset
            columns[i].valid = <const uint8_t*> array.buffers[0] if array.n_buffers and array.null_count != 0 else NULL
            columns[i].values = array.buffers[1] if array.n_buffers > 1 else NULL
            columns[i].data = <const uint8_t*> array.buffers[2] if array.n_buffers > 2 else NULL


cdef object complained(const Complaints* list):
    cdef int64_t at = 0
    cdef int64_t i, parts
    found = []
    while at < list.used:
        parts = list.items[at + 2]
        path = [(list.items[at + 3 + i], list.items[at + 4 + i]) for i in range(parts - 2, -1, -2)]
        found.append((list.items[at], list.items[at + 1], path))
        at += 3 + parts
    return found


cdef object finished(Run* run, int64_t count, int64_t* behind, uint8_t* valid):
    """The capsule of a binary array, which owns the bytes and the validity from now on."""
    cdef ArrowArray* array = <ArrowArray*> calloc(1, sizeof(ArrowArray))
    cdef const void** buffers = <const void**> calloc(3, sizeof(void*))
    cdef int64_t total = run.end - run.at
    cdef int32_t* offsets = <int32_t*> malloc((count + 1) * sizeof(int32_t))
    cdef int64_t nulls = 0
    cdef int64_t i
    cdef void* shrunk
    if array == NULL or buffers == NULL or offsets == NULL:
        free(array)
        free(buffers)
        free(offsets)
        raise MemoryError
    with nogil:
        memmove(run.start, run.at, total)
        for i in range(count + 1):
            offsets[i] = <int32_t> (total - behind[i])
        for i in range(count):
            nulls += not (valid[i >> 3] >> (i & 7)) & 1
        shrunk = realloc(run.start, total + 8)
        if shrunk != NULL:
            run.start = <uint8_t*> shrunk
    buffers[0] = valid
    buffers[1] = offsets
    buffers[2] = run.start
    array.length = count
    array.null_count = nulls
    array.n_buffers = 3
    array.buffers = buffers
    array.release = release
    return PyCapsule_New(array, "arrow_array", drop_capsule)


cdef fill_message(Message* message, bytes made):
    cdef const int32_t* row = <const int32_t*> <const char*> made
    cdef Field* field
    if len(made) % 64:
        raise ValueError("a table that is not of this kernel")
    message.count = len(made) // 64
    message.fields = <Field*> calloc(message.count + 1, sizeof(Field))
    if message.fields == NULL:
        raise MemoryError
    for i in range(message.count):
        field = &message.fields[i]
        field.tag = <uint32_t> row[0]
        field.kind = <int8_t> row[1]
        field.shape = <int8_t> row[2]
        field.wrapped = <int8_t> row[3]
        field.delimited = <int8_t> row[4]
        field.required = <int8_t> row[5]
        field.implicit = <int8_t> row[6]
        field.packed = <int8_t> row[7]
        field.wire = <int8_t> row[8]
        field.oneof = <int8_t> row[9]
        field.closed = <int8_t> row[10]
        field.column = row[11]
        field.holder = row[12]
        field.message = row[13]
        field.symbols = row[14]
        field.place = row[15]
        row += 16


cdef fill_source(Source* source, bytes made):
    cdef const int32_t* row = <const int32_t*> <const char*> made
    if len(made) != 20:
        raise ValueError("a table that is not of this kernel")
    source.type = <int8_t> row[0]
    source.width = row[1]
    source.per_second = row[2]
    source.above = row[3]
    source.place = row[4]


cdef fill_symbols(Symbols* symbols, tuple made):
    cdef int i
    cdef bytes text
    cdef list names, numbers
    names, numbers = made
    text = b"".join(names)
    symbols.numbers = <int32_t*> malloc((len(names) + 1) * 4)
    symbols.starts = <int32_t*> malloc((len(names) + 1) * 4)
    symbols.text = <char*> malloc(len(text) + 1)
    if symbols.numbers == NULL or symbols.starts == NULL or symbols.text == NULL:
        raise MemoryError
    symbols.count = len(names)
    memcpy(symbols.text, <const char*> text, len(text))
    symbols.starts[0] = 0
    for i in range(symbols.count):
        symbols.numbers[i] = numbers[i]
        symbols.starts[i + 1] = symbols.starts[i] + <int32_t> len(<bytes> names[i])
