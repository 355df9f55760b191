# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=True
"""Protobuf payloads into Arrow columns: `serdes.columnar.protobuf` says what the columns are and what errors mean.

Columns here are slots, not streams: fields of a message come in any order, and the last one wins, so each row opens a
slot in every column, absent by default, and what comes writes into it. A sub-message that comes in parts merges for
free, because it writes into the same slots again. A bad row empties its slots. Free of Python objects inside a batch.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.native.arrow cimport ArrowArray
from serdes.kernels.native.frames cimport Frames, Pinned
from serdes.kernels.native.octets cimport SHORT, is_short_ascii, is_utf8
from serdes.kernels.native.protobuf cimport (
    K_BOOL,
    K_BYTES,
    K_DOUBLE,
    K_DURATION,
    K_ENUM,
    K_FIXED32,
    K_FIXED64,
    K_FLOAT,
    K_INT64,
    K_JSON,
    K_MESSAGE,
    K_SFIXED32,
    K_SFIXED64,
    K_SINT32,
    K_SINT64,
    K_STRING,
    K_TIMESTAMP,
    K_UINT64,
)

cdef enum Store:
    FIXED = 0
    BITS = 1
    BYTES = 2
    LIST = 3
    MAP = 4
    STRUCT = 5
    CASE = 6
    TIME = 7
    SYMBOL = 8

cdef enum Wrong:
    FINE = 0
    TRUNCATED = 1
    BAD_VARINT = 2
    BAD_TAG = 3
    BAD_UTF8 = 4
    BAD_GROUP = 5
    TOO_DEEP = 6
    MISSING = 7
    OUT_OF_RANGE = 8
    ROW_TOO_LARGE = 9
    COLUMN_FULL = 10
    BAD_PATH = 11
    OTHER_TYPE = 12
    REPEATED_KEY = 13
    NO_MEMORY = 14

cdef enum Content:
    C_STRUCT = 1
    C_ENTRY = 2
    C_VALUE = 3
    C_LIST = 4
    C_ANY = 5

cdef enum:
    MAX_DEPTH = 100
    MAX_PATH = 256
    DENSE = 1024

cdef int64_t LARGEST = 2147483647
cdef int64_t FIRST_SECOND = -62135596800
cdef int64_t LAST_SECOND = 253402300799
cdef int64_t LONGEST_SECONDS = 315576000000
cdef int64_t NS_SECONDS = 9223372036

cdef struct Field:
    int32_t number
    int8_t kind
    int8_t shape
    int8_t wire
    int8_t kept
    int8_t wrapped
    int8_t delimited
    int8_t required
    int8_t packable
    int8_t closed
    int8_t verified
    int8_t content
    int32_t column
    int32_t holder
    int32_t message
    int32_t case_column
    int32_t case
    int32_t symbols
    int32_t place

cdef struct Message:
    int32_t count
    int32_t dense_count
    int32_t scope
    int32_t checks
    int32_t entry
    Field* fields
    int16_t* dense

cdef struct Symbols:
    int32_t count
    int32_t closed
    int32_t* numbers
    int32_t* starts
    char* text

cdef struct Column:
    int8_t store
    int8_t nullable
    int8_t width
    int8_t kind
    int32_t scope
    int32_t child_scope
    int32_t symbols
    int32_t child_count
    int32_t* children
    uint8_t* valid
    uint8_t* values
    uint8_t* extra
    uint8_t* data
    int64_t used
    int64_t room

cdef struct Scope:
    int64_t count
    int64_t room
    int64_t slot_bytes
    int32_t column_count
    int32_t* columns

cdef struct Run:
    Column* columns
    Scope* scopes
    const Message* messages
    const Symbols* symbols
    int64_t budget
    const uint8_t* end  # of the row's payload
    const uint8_t* at
    int64_t detail
    int32_t code
    int32_t depth
    int32_t nanoseconds
    int32_t suspect
    int32_t strange
    int32_t path_count
    int32_t path[MAX_PATH]

# --- reading numbers


cdef inline const uint8_t* long_varint(const uint8_t* p, const uint8_t* end, uint64_t* out, int32_t* code) noexcept nogil:
    """A number of up to ten bytes; NULL with the reason in `code`."""
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    while shift < 70:
        if p >= end:
            code[0] = TRUNCATED
            return NULL
        byte = p[0]
        p += 1
        if shift < 64:
            value |= (<uint64_t> (byte & 0x7F)) << shift
        if byte < 0x80:
            out[0] = value
            return p
        shift += 7
    code[0] = BAD_VARINT
    return NULL


cdef inline const uint8_t* varint(const uint8_t* p, const uint8_t* end, uint64_t* out, int32_t* code) noexcept nogil:
    if p < end and p[0] < 0x80:
        out[0] = p[0]
        return p + 1
    return long_varint(p, end, out, code)


cdef inline const uint8_t* any_tag_of(const uint8_t* p, const uint8_t* end, uint32_t* out, int32_t* code) noexcept nogil:
    """A field's number and wire type: at most five bytes and 32 bits."""
    cdef uint64_t value
    cdef const uint8_t* behind
    if p[0] < 0x80:
        out[0] = p[0]
        behind = p + 1
    else:
        behind = long_varint(p, end, &value, code)
        if behind == NULL:
            return NULL
        if behind - p > 5 or value > 0xFFFFFFFFU:
            code[0] = BAD_TAG
            return NULL
        out[0] = <uint32_t> value
    return behind


cdef inline const uint8_t* tag_of(const uint8_t* p, const uint8_t* end, uint32_t* out, int32_t* code) noexcept nogil:
    """As `any_tag_of`, and the number is not 0."""
    p = any_tag_of(p, end, out, code)
    if p != NULL and out[0] < 8:
        code[0] = BAD_TAG
        return NULL
    return p


cdef const uint8_t* skipped(const uint8_t* p, const uint8_t* end, uint32_t tag, int depth, int32_t* code) noexcept nogil:
    """Behind the value of a tag; groups are walked with the numbers of those that are open.

    In an unknown group a field may have the number 0, as `google.protobuf` has it.
    """
    cdef uint32_t still_open[MAX_DEPTH + 1]
    cdef int count = 0
    cdef uint64_t value
    cdef uint32_t wire
    while True:
        wire = tag & 7
        if wire == 0:
            p = varint(p, end, &value, code)
            if p == NULL:
                return NULL
        elif wire == 1 or wire == 5:
            if end - p < (8 if wire == 1 else 4):
                code[0] = TRUNCATED
                return NULL
            p += 8 if wire == 1 else 4
        elif wire == 2:
            p = varint(p, end, &value, code)
            if p == NULL:
                return NULL
            if value > <uint64_t> (end - p):
                code[0] = TRUNCATED
                return NULL
            p += value
        elif wire == 3:
            if depth + count >= MAX_DEPTH:
                code[0] = TOO_DEEP
                return NULL
            still_open[count] = tag >> 3
            count += 1
        elif wire == 4:
            if count == 0 or still_open[count - 1] != tag >> 3:
                code[0] = BAD_GROUP
                return NULL
            count -= 1
        else:
            code[0] = BAD_TAG
            return NULL
        if count == 0:
            return p
        if p >= end:
            code[0] = TRUNCATED
            return NULL
        p = any_tag_of(p, end, &tag, code)
        if p == NULL:
            return NULL


cdef const uint8_t* group_end(const uint8_t* p, const uint8_t* end, uint32_t tag, int depth, const uint8_t** content_end, int32_t* code) noexcept nogil:
    """Behind a group whose content starts at `p`; `content_end` is where its end tag starts."""
    cdef uint32_t found
    cdef const uint8_t* start
    while p < end:
        start = p
        p = tag_of(p, end, &found, code)
        if p == NULL:
            return NULL
        if found & 7 == 4:
            if found >> 3 != tag >> 3:
                code[0] = BAD_GROUP
                return NULL
            content_end[0] = start
            return p
        p = skipped(p, end, found, depth + 1, code)
        if p == NULL:
            return NULL
    code[0] = TRUNCATED
    return NULL


# --- slots


cdef inline void* zeroed(void* block, int64_t before, int64_t after) noexcept nogil:
    """A block grown to `after` bytes, the new ones zero; NULL (and the old block untouched) without memory."""
    cdef uint8_t* grown
    if block == NULL:
        return calloc(after if after else 1, 1)
    grown = <uint8_t*> realloc(block, after)
    if grown != NULL:
        memset(grown + before, 0, after - before)
    return grown


cdef int grow_scope(Run* run, Scope* scope, int64_t room) noexcept nogil:
    """Gives every column of a scope room for so many slots; each new one is absent."""
    cdef Column* column
    cdef void* block
    cdef int i
    for i in range(scope.column_count):
        column = &run.columns[scope.columns[i]]
        if column.nullable:
            block = zeroed(column.valid, scope.room, room)
            if block == NULL:
                return NO_MEMORY
            column.valid = <uint8_t*> block
        if column.width:
            block = zeroed(column.values, scope.room * column.width, room * column.width)
            if block == NULL:
                return NO_MEMORY
            column.values = <uint8_t*> block
        if column.store == TIME:
            block = zeroed(column.extra, scope.room * 4, room * 4)
            if block == NULL:
                return NO_MEMORY
            column.extra = <uint8_t*> block
    scope.room = room
    return FINE


cdef inline int open_slot(Run* run, Scope* scope) noexcept nogil:
    """A new slot at the end of a scope: its number is `scope.count - 1` then."""
    cdef int wrong
    run.budget -= scope.slot_bytes
    if run.budget < 0:
        return ROW_TOO_LARGE
    if scope.count >= scope.room:
        if scope.count >= LARGEST:
            return COLUMN_FULL
        wrong = grow_scope(run, scope, scope.room * 2 if scope.room else 64)
        if wrong:
            return wrong
    scope.count += 1
    return FINE


cdef inline int room_for(Run* run, Column* column, int64_t size) noexcept nogil:
    """Makes room for so many bytes of text."""
    cdef int64_t room
    cdef uint8_t* data
    run.budget -= size
    if run.budget < 0:
        return ROW_TOO_LARGE
    if column.used + size <= column.room:
        return FINE
    if column.used + size > LARGEST:
        return COLUMN_FULL
    room = column.room * 2
    if room < column.used + size:
        room = column.used + size + 64
    if room > LARGEST:
        room = LARGEST
    data = <uint8_t*> realloc(column.data, room)
    if data == NULL:
        return NO_MEMORY
    column.data = data
    column.room = room
    return FINE


cdef void clear_field(Run* run, const Field* field, int64_t slot) noexcept nogil:
    """Makes a field absent in a slot that is the last one of its scope."""
    cdef Column* holder
    cdef Scope* scope
    cdef int32_t* sizes
    cdef int64_t i
    if not field.kept:
        return
    if field.holder >= 0:
        holder = &run.columns[field.holder]
        sizes = <int32_t*> holder.values
        scope = &run.scopes[holder.child_scope]
        for i in range(sizes[slot]):
            clear_value(run, field, scope.count - 1)
            scope.count -= 1
        sizes[slot] = 0
    else:
        clear_value(run, field, slot)


cdef void clear_value(Run* run, const Field* field, int64_t slot) noexcept nogil:
    cdef Column* column = &run.columns[field.column]
    if column.nullable:
        column.valid[slot] = 0
    if field.message >= 0:
        clear_message(run, &run.messages[field.message], slot)
    elif column.store == BYTES:
        column.used -= (<int32_t*> column.values)[slot]
        (<int32_t*> column.values)[slot] = 0
    else:
        memset(column.values + slot * column.width, 0, column.width)
        if column.store == TIME:
            (<int32_t*> column.extra)[slot] = 0


cdef void clear_message(Run* run, const Message* message, int64_t slot) noexcept nogil:
    cdef const Field* field
    cdef int i
    for i in range(message.count):
        field = &message.fields[i]
        clear_field(run, field, slot)
        if field.case_column >= 0:
            (<int32_t*> run.columns[field.case_column].values)[slot] = 0


# --- one message


cdef inline int wrong_at(Run* run, int code, const uint8_t* at) noexcept nogil:
    """Notes an error; the callers add the path on their way out."""
    run.code = code
    run.at = at
    run.path_count = 0
    return code


cdef inline int below(Run* run, const Field* field, int64_t index) noexcept nogil:
    """Adds a part to an error's path: the field's place in its message, and the index in a list (-1 for none)."""
    if run.path_count + 2 <= MAX_PATH:
        run.path[run.path_count] = field.place
        run.path[run.path_count + 1] = <int32_t> index
        run.path_count += 2
    return run.code


cdef inline const Field* find(const Message* message, uint32_t number) noexcept nogil:
    cdef int low, high, middle
    if number < <uint32_t> message.dense_count:
        low = message.dense[number]
        return NULL if low < 0 else &message.fields[low]
    low, high = 0, message.count
    while low < high:
        middle = (low + high) >> 1
        if <uint32_t> message.fields[middle].number < number:
            low = middle + 1
        else:
            high = middle
    if low < message.count and <uint32_t> message.fields[low].number == number:
        return &message.fields[low]
    return NULL


cdef inline int symbol_at(const Symbols* symbols, int32_t number) noexcept nogil:
    """The place of an enum's number, -1 if the enum has no such number."""
    cdef int low, high, middle
    if 0 <= number < symbols.count and symbols.numbers[number] == number:
        return number
    low, high = 0, symbols.count
    while low < high:
        middle = (low + high) >> 1
        if symbols.numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < symbols.count and symbols.numbers[low] == number else -1


cdef void choose(Run* run, const Message* message, const Field* field, int64_t slot) noexcept nogil:
    """Makes a field the one that is set of its oneof: what was set before is absent again."""
    cdef int32_t* case = &(<int32_t*> run.columns[field.case_column].values)[slot]
    if case[0] == field.case:
        return
    if case[0]:
        clear_field(run, &message.fields[case[0] - 1], slot)
    case[0] = field.case


cdef inline const uint8_t* put_number(const Field* field, uint8_t* to, const uint8_t* p, const uint8_t* end, int32_t* code) noexcept nogil:
    """Reads one number of a field's kind."""
    cdef uint64_t value
    cdef int kind = field.kind
    if field.wire == 1:
        if end - p < 8:
            code[0] = TRUNCATED
            return NULL
        memcpy(to, p, 8)
        return p + 8
    if field.wire == 5:
        if end - p < 4:
            code[0] = TRUNCATED
            return NULL
        memcpy(to, p, 4)
        return p + 4
    p = varint(p, end, &value, code)
    if p == NULL:
        return NULL
    if kind == K_INT64 or kind == K_UINT64:
        (<uint64_t*> to)[0] = value
    elif kind == K_SINT64:
        (<uint64_t*> to)[0] = (value >> 1) ^ (0 - (value & 1))
    elif kind == K_SINT32:
        (<uint32_t*> to)[0] = <uint32_t> (((<uint32_t> value) >> 1) ^ (0 - ((<uint32_t> value) & 1)))
    elif kind == K_BOOL:
        to[0] = value != 0
    else:
        (<uint32_t*> to)[0] = <uint32_t> value
    return p


cdef int check_content(Run* run, int content, const uint8_t* p, const uint8_t* end, int depth) noexcept nogil:
    """Whether bytes are a Struct, Value, ListValue or Any: each part for itself, before parts are put together."""
    cdef uint32_t tag
    cdef uint64_t size
    cdef int inner
    cdef const uint8_t* here
    if depth > MAX_DEPTH:
        return wrong_at(run, TOO_DEEP, p)
    while p < end:
        here = p
        p = tag_of(p, end, &tag, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
        if tag & 7 != 2:
            p = skipped(p, end, tag, depth, &run.code)
            if p == NULL:
                return wrong_at(run, run.code, here)
            continue
        p = varint(p, end, &size, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
        if size > <uint64_t> (end - p):
            return wrong_at(run, TRUNCATED, here)
        inner = 0
        if (tag == 10 and (content == C_ENTRY or content == C_ANY)) or (tag == 26 and content == C_VALUE):
            if not is_utf8(p, <int64_t> size):
                return wrong_at(run, BAD_UTF8, p)
        elif tag == 10 and content == C_STRUCT:
            inner = C_ENTRY
        elif (tag == 18 and content == C_ENTRY) or (tag == 10 and content == C_LIST):
            inner = C_VALUE
        elif content == C_VALUE and (tag == 42 or tag == 50):
            inner = C_STRUCT if tag == 42 else C_LIST
        if inner and check_content(run, inner, p, p + size, depth + 1):
            return run.code
        p += size
    return FINE


cdef inline int put_bytes(Run* run, const Field* field, Column* column, int64_t slot, const uint8_t* p, int64_t size) noexcept nogil:
    """Text or bytes in place of what the slot has; parts of JSON's messages are put together, which merges them."""
    cdef int32_t* sizes = <int32_t*> column.values
    cdef int wrong
    cdef bint few = size <= SHORT and run.end - p >= SHORT  # can be read and copied in one step
    if field.kind == K_STRING and not (few and is_short_ascii(p, size)) and not is_utf8(p, size):
        if field.verified or field.holder >= 0:
            return wrong_at(run, BAD_UTF8, p)
        run.suspect = 1
    if field.kind == K_JSON:
        if check_content(run, field.content, p, p + size, run.depth + 1):
            return run.code
    else:
        column.used -= sizes[slot]
        sizes[slot] = 0
    wrong = room_for(run, column, size)
    if wrong:
        return wrong_at(run, wrong, p)
    if few and column.room - column.used >= SHORT:
        memcpy(column.data + column.used, p, SHORT)
    elif size:
        memcpy(column.data + column.used, p, size)
    column.used += size
    sizes[slot] += <int32_t> size
    return FINE


cdef inline bint time_fits(const Run* run, int kind, int64_t seconds, int32_t nanos) noexcept nogil:
    if kind == K_TIMESTAMP:
        if seconds < FIRST_SECOND or seconds > LAST_SECOND or nanos < 0 or nanos > 999999999:
            return False
    elif (
        seconds < -LONGEST_SECONDS or seconds > LONGEST_SECONDS or nanos < -999999999 or nanos > 999999999
        or (seconds > 0 and nanos < 0) or (seconds < 0 and nanos > 0)
    ):
        return False
    return not run.nanoseconds or -NS_SECONDS < seconds < NS_SECONDS


cdef int put_time(Run* run, const Field* field, Column* column, int64_t slot, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """The seconds (1) and nanoseconds (2) of a message; both are kept apart until the column is finished."""
    cdef uint32_t tag
    cdef uint64_t value
    cdef const uint8_t* start = p
    cdef const uint8_t* here
    while p < end:
        here = p
        p = tag_of(p, end, &tag, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
        if tag == 8 or tag == 16:
            p = varint(p, end, &value, &run.code)
            if p != NULL:
                if tag == 8:
                    (<int64_t*> column.values)[slot] = <int64_t> value
                else:
                    (<int32_t*> column.extra)[slot] = <int32_t> value
        else:
            p = skipped(p, end, tag, run.depth + 1, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
    if not time_fits(run, field.kind, (<int64_t*> column.values)[slot], (<int32_t*> column.extra)[slot]):
        if field.holder >= 0:
            return wrong_at(run, OUT_OF_RANGE, start)
        run.suspect = 1
    return FINE


cdef int put_wrapped(Run* run, const Field* field, Column* column, int64_t slot, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """The value (1) of a wrapper message."""
    cdef uint32_t tag
    cdef uint64_t size
    cdef int wire = 2 if column.store == BYTES else field_wire(field.kind)
    cdef const uint8_t* here
    cdef Field inner
    inner.kind = field.kind
    inner.wire = wire
    while p < end:
        here = p
        p = tag_of(p, end, &tag, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
        if tag == <uint32_t> (8 | wire):
            if wire != 2:
                p = put_number(&inner, column.values + slot * column.width, p, end, &run.code)
            else:
                p = varint(p, end, &size, &run.code)
                if p != NULL:
                    if size > <uint64_t> (end - p):
                        return wrong_at(run, TRUNCATED, here)
                    if put_bytes(run, field, column, slot, p, <int64_t> size):
                        return run.code
                    p += size
        else:
            p = skipped(p, end, tag, run.depth + 1, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
    return FINE


cdef inline int field_wire(int kind) noexcept nogil:
    """The wire type of one value of a kind; those of messages may be groups instead."""
    if kind == K_DOUBLE or kind == K_FIXED64 or kind == K_SFIXED64:
        return 1
    if kind == K_FLOAT or kind == K_FIXED32 or kind == K_SFIXED32:
        return 5
    if kind == K_STRING or kind == K_BYTES or kind >= K_TIMESTAMP or kind == K_MESSAGE:
        return 2
    return 0


cdef int read_packed(Run* run, const Field* field, int64_t slot, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Numbers of a repeated field in one length."""
    cdef Column* holder = &run.columns[field.holder]
    cdef Column* column = &run.columns[field.column]
    cdef Scope* scope = &run.scopes[holder.child_scope]
    cdef int32_t* sizes = <int32_t*> holder.values
    cdef const uint8_t* here
    cdef int wrong
    while p < end:
        here = p
        wrong = open_slot(run, scope)
        if wrong:
            return wrong_at(run, wrong, here)
        sizes[slot] += 1
        p = put_number(field, column.values + (scope.count - 1) * column.width, p, end, &run.code)
        if p == NULL:
            wrong_at(run, run.code, here)
            return below(run, field, sizes[slot] - 1)
        if field.closed:
            if symbol_at(&run.symbols[field.symbols], (<int32_t*> column.values)[scope.count - 1]) < 0:
                (<int32_t*> column.values)[scope.count - 1] = 0
                scope.count -= 1
                sizes[slot] -= 1
    return FINE


cdef const uint8_t* checked_number(
    Run* run, const Message* message, const Field* field, Column* column, int64_t slot, int64_t to,
    const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """Reads a number that may not count: a closed enum's unknown numbers are unknown fields."""
    cdef uint8_t value[8]
    cdef int32_t number
    cdef Column* holder
    p = put_number(field, value, p, end, &run.code)
    if p == NULL:
        return NULL
    if field.closed:
        memcpy(&number, value, 4)
        if symbol_at(&run.symbols[field.symbols], number) < 0:
            run.strange |= message.entry
            if field.holder >= 0:
                holder = &run.columns[field.holder]
                run.scopes[holder.child_scope].count -= 1
                (<int32_t*> holder.values)[slot] -= 1
            return p
    if field.case_column >= 0:
        choose(run, message, field, slot)
    memcpy(column.values + to * column.width, value, column.width)
    if column.nullable:
        column.valid[to] = 1
    return p


cdef int complete(Run* run, const Message* message, int64_t slot, const uint8_t* at) noexcept nogil:
    """What can be judged only when all parts are there: required fields, times, keys of maps, text of proto2."""
    cdef const Field* field
    cdef Column* column
    cdef int32_t size
    cdef int i, wrong
    for i in range(message.count):
        field = &message.fields[i]
        if not field.kept:
            continue
        column = &run.columns[field.column]
        if field.required and not column.valid[slot]:
            wrong_at(run, MISSING, at)
            return below(run, field, -1)
        if field.shape == 0:
            if column.nullable and not column.valid[slot]:
                continue
            if column.store == TIME and run.suspect:
                if not time_fits(run, field.kind, (<int64_t*> column.values)[slot], (<int32_t*> column.extra)[slot]):
                    wrong_at(run, OUT_OF_RANGE, at)
                    return below(run, field, -1)
            elif field.kind == K_STRING and run.suspect:
                size = (<int32_t*> column.values)[slot]
                if not is_utf8(column.data + column.used - size, size):
                    wrong_at(run, BAD_UTF8, at)
                    return below(run, field, -1)
            elif field.message >= 0 and (run.suspect or run.messages[field.message].checks):
                if complete(run, &run.messages[field.message], slot, at):
                    return below(run, field, -1)
        elif field.shape == 2:
            wrong = unique_keys(run, field, slot)
            if wrong:
                wrong_at(run, wrong, at)
                return below(run, field, -1)
    return FINE


cdef inline uint64_t hashed(const uint8_t* p, int64_t size) noexcept nogil:
    cdef uint64_t found = 0xCBF29CE484222325ULL
    cdef int64_t i
    for i in range(size):
        found = (found ^ p[i]) * 0x100000001B3ULL
    return found ^ (found >> 29)


cdef int unique_keys(Run* run, const Field* field, int64_t slot) noexcept nogil:
    """Whether no key of a map comes twice; its entries are the last ones of their scope."""
    cdef Column* holder = &run.columns[field.holder]
    cdef int64_t count = (<int32_t*> holder.values)[slot]
    cdef Scope* scope = &run.scopes[holder.child_scope]
    cdef const Field* key = &run.messages[field.message].fields[0]
    cdef Column* column = &run.columns[key.column]
    cdef int64_t first = scope.count - count
    cdef int64_t i, j, at, slots, size
    cdef const uint8_t** keys
    cdef int64_t* table
    cdef const uint8_t* here
    cdef int wrong = FINE
    if count < 2:
        return FINE
    slots = 4
    while slots < 2 * count:
        slots *= 2
    keys = <const uint8_t**> malloc(count * sizeof(void*))
    table = <int64_t*> calloc(slots, sizeof(int64_t))
    if keys == NULL or table == NULL:
        wrong = NO_MEMORY
    elif column.store == BYTES:
        here = column.data + column.used
        for i in range(count - 1, -1, -1):
            here -= (<int32_t*> column.values)[first + i]
            keys[i] = here
    else:
        for i in range(count):
            keys[i] = column.values + (first + i) * column.width
    for i in range(count):
        if wrong:
            break
        size = key_size(column, first + i)
        at = <int64_t> (hashed(keys[i], size) & <uint64_t> (slots - 1))
        while table[at]:
            j = table[at] - 1
            if key_size(column, first + j) == size and (size == 0 or memcmp(keys[i], keys[j], size) == 0):
                wrong = REPEATED_KEY
                break
            at = (at + 1) & (slots - 1)
        table[at] = i + 1
    free(keys)
    free(table)
    return wrong


cdef inline int64_t key_size(const Column* column, int64_t slot) noexcept nogil:
    return (<int32_t*> column.values)[slot] if column.store == BYTES else column.width


cdef inline bint known(Run* run, const Field* field, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Whether the value of a field without a column counts: all do but unknown numbers of closed enums."""
    cdef uint64_t value
    cdef int32_t code = 0
    if not field.closed:
        return True
    if varint(p, end, &value, &code) == NULL:
        return False
    return symbol_at(&run.symbols[field.symbols], <int32_t> value) >= 0


cdef int read_message(Run* run, const Message* message, int64_t slot, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Reads the fields of a message into a slot."""
    cdef uint32_t tag, wire
    cdef uint64_t size
    cdef int64_t to, index
    cdef const uint8_t* here
    cdef const uint8_t* stop
    cdef const Field* field
    cdef Column* column
    cdef Scope* scope = NULL
    cdef int32_t* sizes = NULL
    cdef int wrong
    cdef int32_t outer
    while p < end:
        here = p
        p = tag_of(p, end, &tag, &run.code)
        if p == NULL:
            return wrong_at(run, run.code, here)
        wire = tag & 7
        field = find(message, tag >> 3)
        if field == NULL or (wire != <uint32_t> field.wire and not (wire == 2 and field.packable)):
            run.strange |= message.entry
            p = skipped(p, end, tag, run.depth, &run.code)
            if p == NULL:
                return wrong_at(run, run.code, here)
            continue

        # where the value is: [p, stop), behind it `size` more bytes
        if wire == 2:
            p = varint(p, end, &size, &run.code)
            if p == NULL:
                wrong_at(run, run.code, here)
                return below(run, field, -1)
            if size > <uint64_t> (end - p):
                wrong_at(run, TRUNCATED, here)
                return below(run, field, -1)
            stop = p + size
            size = 0
        elif wire == 3:
            stop = p
            if run.depth >= MAX_DEPTH:
                wrong_at(run, TOO_DEEP, here)
                return below(run, field, -1)
            here = group_end(p, end, tag, run.depth, &stop, &run.code)
            if here == NULL:
                wrong_at(run, run.code, p)
                return below(run, field, -1)
            size = <uint64_t> (here - stop)
        else:
            stop = end
            size = 0

        if not field.kept:
            if field.case_column >= 0 and known(run, field, p, end):
                choose(run, message, field, slot)
            if wire == 2 or wire == 3:
                p = stop + size
            else:
                p = skipped(p, end, tag, run.depth, &run.code)
                if p == NULL:
                    wrong_at(run, run.code, here)
                    return below(run, field, -1)
            continue

        if wire != <uint32_t> field.wire:
            if read_packed(run, field, slot, p, stop):
                if run.path_count == 0:
                    below(run, field, -1)
                return run.code
            p = stop
            continue

        column = &run.columns[field.column]
        if field.holder < 0:
            to = slot
            index = -1
            if field.case_column >= 0 and wire >= 2 and wire != 5:
                choose(run, message, field, slot)
        else:
            sizes = <int32_t*> run.columns[field.holder].values
            scope = &run.scopes[run.columns[field.holder].child_scope]
            wrong = open_slot(run, scope)
            if wrong:
                wrong_at(run, wrong, here)
                return below(run, field, sizes[slot])
            to = scope.count - 1
            index = sizes[slot]
            sizes[slot] += 1

        if wire != 2 and wire != 3:
            if field.case_column >= 0 or field.closed:
                p = checked_number(run, message, field, column, slot, to, p, end)
            else:
                p = put_number(field, column.values + to * column.width, p, end, &run.code)
                if column.nullable:
                    column.valid[to] = 1
            if p == NULL:
                wrong_at(run, run.code, here)
                return below(run, field, index)
            continue

        if column.nullable:
            column.valid[to] = 1
        if field.message >= 0:
            if run.depth >= MAX_DEPTH:
                wrong = wrong_at(run, TOO_DEEP, here)
            else:
                run.depth += 1
                outer, run.strange = run.strange, 0
                wrong = read_message(run, &run.messages[field.message], to, p, stop)
                run.depth -= 1
                if not wrong and field.holder >= 0:
                    if run.messages[field.message].checks or run.suspect:
                        wrong = complete(run, &run.messages[field.message], to, here)
                    if not wrong and run.strange:  # an entry with an unknown field is one itself
                        clear_value(run, field, to)
                        scope.count -= 1
                        sizes[slot] -= 1
                run.strange = outer
        elif run.depth >= MAX_DEPTH and (field.wrapped or column.store == TIME or field.kind == K_JSON):
            wrong = wrong_at(run, TOO_DEEP, here)
        elif field.wrapped:
            wrong = put_wrapped(run, field, column, to, p, stop)
        elif column.store == TIME:
            wrong = put_time(run, field, column, to, p, stop)
        else:
            wrong = put_bytes(run, field, column, to, p, stop - p)
        if wrong:
            return below(run, field, index)
        p = stop + size
    return FINE


# --- rows


cdef struct Rows:
    int64_t count
    const uint8_t** payloads
    const int64_t* sizes
    const uint8_t** tails
    const int64_t* tail_sizes
    const uint8_t* bare
    const int32_t* plans
    const int32_t* paths
    const int32_t* path_starts
    int64_t most_bytes

cdef struct Complaints:
    int64_t* items
    int64_t used
    int64_t room


cdef const uint8_t* message_path(const Rows* rows, int32_t plan, const uint8_t* p, const uint8_t* end, int32_t* code) noexcept nogil:
    """Behind the path of a message type, which has to be one of the plan's; NULL with the reason in `code`."""
    cdef const int32_t* paths = rows.paths + rows.path_starts[plan]
    cdef int32_t several = paths[0]
    cdef int32_t i, j
    cdef uint64_t count, index
    cdef int64_t part
    cdef const uint8_t* here
    cdef bint same
    paths += 1
    if p < end and p[0] == 0:
        for i in range(several):
            if paths[0] == 1 and paths[1] == 0:
                return p + 1
            paths += 1 + paths[0]
        code[0] = OTHER_TYPE
        return NULL
    p = varint(p, end, &count, code)
    if p == NULL or count & 1 or count > 2000:
        code[0] = BAD_PATH
        return NULL
    count >>= 1
    for i in range(several):
        here = p
        same = <uint64_t> paths[0] == count
        for j in range(<int32_t> count):
            here = varint(here, end, &index, code)
            if here == NULL or index & 1:
                code[0] = BAD_PATH
                return NULL
            part = <int64_t> (index >> 1)
            same = same and paths[1 + j] == part
        if same:
            return here
        paths += 1 + paths[0]
    code[0] = OTHER_TYPE
    return NULL


cdef int complain(Complaints* list, int64_t row, const Run* run, const uint8_t* start) noexcept nogil:
    """Writes an error down: row, code, offset, parts of the path from the inside out."""
    cdef int64_t need = list.used + 4 + run.path_count
    cdef int64_t* grown
    cdef int64_t i
    if need > list.room:
        grown = <int64_t*> realloc(list.items, (need * 2 + 64) * sizeof(int64_t))
        if grown == NULL:
            return NO_MEMORY
        list.items = grown
        list.room = need * 2 + 64
    list.items[list.used] = row
    list.items[list.used + 1] = run.code
    list.items[list.used + 2] = run.at - start
    list.items[list.used + 3] = run.path_count
    for i in range(run.path_count):
        list.items[list.used + 4 + i] = run.path[i]
    list.used = need
    return FINE


cdef int read_rows(Run* run, const Rows* rows, uint8_t* valid, Complaints* complaints) noexcept nogil:
    """Reads all rows; an error ends its row only, unless memory is short."""
    cdef int64_t row
    cdef const uint8_t* start
    cdef const uint8_t* p
    cdef const uint8_t* end
    cdef const uint8_t* tail_end
    cdef const Message* root = run.messages
    cdef int wrong
    for row in range(rows.count):
        if rows.plans[row] < 0:
            continue
        start = rows.payloads[row]
        p = start
        end = start + rows.sizes[row]
        run.budget = rows.most_bytes
        run.end = end
        run.depth = 0
        run.suspect = 0
        run.strange = 0
        run.code = 0
        run.path_count = 0
        wrong = FINE
        if rows.bare != NULL and rows.bare[row]:
            pass
        elif rows.tails != NULL and rows.tails[row] != NULL:
            tail_end = rows.tails[row] + rows.tail_sizes[row]
            if message_path(rows, rows.plans[row], rows.tails[row], tail_end, &run.code) == NULL:
                wrong = wrong_at(run, run.code, start)
        else:
            p = message_path(rows, rows.plans[row], p, end, &run.code)
            if p == NULL:
                wrong = wrong_at(run, run.code, start)
            else:
                start = p
        if not wrong:
            wrong = read_message(run, root, row, p, end)
            if not wrong and (root.checks or run.suspect):
                wrong = complete(run, root, row, p)
        if wrong:
            clear_message(run, root, row)
            if wrong == NO_MEMORY or complain(complaints, row, run, start):
                return NO_MEMORY
        else:
            valid[row] = 1
    return FINE


# --- finished columns


cdef void release(ArrowArray* array) noexcept nogil:
    """The release callback of Arrow's C data interface."""
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
        free(array.children[i])
    for i in range(array.n_buffers):
        free(<void*> array.buffers[i])
    free(array.children)
    free(array.buffers)
    array.release = NULL


cdef ArrowArray* new_array(int64_t length, int buffers, int children) noexcept nogil:
    """An array whose buffers and children are still to be set; NULL without memory."""
    cdef ArrowArray* array = <ArrowArray*> calloc(1, sizeof(ArrowArray))
    if array == NULL:
        return NULL
    array.length = length
    array.release = release
    array.buffers = <const void**> calloc(buffers, sizeof(void*))
    array.children = <ArrowArray**> calloc(children + 1, sizeof(void*))
    if array.buffers == NULL or array.children == NULL:
        free(array.buffers)
        free(array.children)
        free(array)
        return NULL
    array.n_buffers = buffers
    return array


cdef void* packed_bits(const uint8_t* bytes, int64_t count, int64_t* ones) noexcept nogil:
    """One bit for each byte that is 0 or 1, and how many are 1; NULL without memory."""
    cdef uint8_t* bits = <uint8_t*> malloc((count + 7) // 8 + 8)
    cdef uint64_t eight
    cdef int64_t i = 0
    cdef int64_t found = 0
    if bits == NULL:
        return NULL
    while i + 8 <= count:
        memcpy(&eight, bytes + i, 8)
        found += (eight * 0x0101010101010101ULL) >> 56
        bits[i >> 3] = <uint8_t> ((eight * 0x0102040810204080ULL) >> 56)
        i += 8
    if i < count:
        bits[i >> 3] = 0
    while i < count:
        bits[i >> 3] |= <uint8_t> (bytes[i] << (i & 7))
        found += bytes[i]
        i += 1
    ones[0] = found
    return bits


cdef bint set_validity(ArrowArray* array, const uint8_t* valid) noexcept nogil:
    """False without memory."""
    cdef int64_t ones
    cdef void* bits
    if valid == NULL:
        return True
    bits = packed_bits(valid, array.length, &ones)
    if bits == NULL:
        return False
    array.null_count = array.length - ones
    if array.null_count:
        array.buffers[0] = bits
    else:
        free(bits)
    return True


cdef int32_t* summed(Column* column, int64_t count) noexcept nogil:
    """Offsets in place of sizes; takes the column's values over. NULL without memory."""
    cdef int32_t* offsets = <int32_t*> realloc(column.values, (count + 1) * 4)
    cdef int32_t total = 0
    cdef int32_t size
    cdef int64_t i
    if offsets == NULL:
        return NULL
    column.values = NULL
    for i in range(count):
        size = offsets[i]
        offsets[i] = total
        total += size
    offsets[count] = total
    return offsets


cdef bint finish_times(Run* run, Column* column, int64_t count) noexcept nogil:
    cdef int64_t* seconds = <int64_t*> column.values
    cdef int32_t* nanos = <int32_t*> column.extra
    cdef int64_t i
    if run.nanoseconds:
        for i in range(count):
            seconds[i] = seconds[i] * 1000000000 + nanos[i]
    else:
        for i in range(count):
            seconds[i] = seconds[i] * 1000000 + nanos[i] // 1000
    return True


cdef bint finish_symbols(ArrowArray* array, Run* run, Column* column, const uint8_t* valid) noexcept nogil:
    """Names in place of an enum's numbers; a number without a name is itself, as text. False without memory."""
    cdef const Symbols* symbols = &run.symbols[column.symbols]
    cdef const int32_t* numbers = <const int32_t*> column.values
    cdef int32_t* offsets = <int32_t*> malloc((array.length + 1) * 4)
    cdef int64_t room = array.length * 8 + 64
    cdef int64_t used = 0
    cdef int64_t i, size
    cdef uint8_t* data = <uint8_t*> malloc(room)
    cdef uint8_t* grown
    cdef char digits[SHORT]
    cdef const char* name
    cdef int place
    array.buffers[1] = offsets
    array.buffers[2] = data
    if offsets == NULL or data == NULL:
        return False
    for i in range(array.length):
        offsets[i] = <int32_t> used
        if valid != NULL and not valid[i]:
            continue
        place = symbol_at(symbols, numbers[i])
        if place >= 0:
            name = symbols.text + symbols.starts[place]
            size = symbols.starts[place + 1] - symbols.starts[place]
        else:
            size = snprintf(digits, SHORT, "%d", <int> numbers[i])
            name = digits
        if used + size > room:
            if used + size > LARGEST:
                return False
            room = room * 2 + size
            grown = <uint8_t*> realloc(data, room)
            if grown == NULL:
                return False
            data = grown
            array.buffers[2] = data
        if size <= SHORT and room - used >= SHORT:
            memcpy(data + used, name, SHORT)  # behind the names there are so many bytes more
        elif size:
            memcpy(data + used, name, size)
        used += size
    offsets[array.length] = <int32_t> used
    return True


cdef bint empty_text(Column* column) noexcept nogil:
    if column.data == NULL:
        column.data = <uint8_t*> malloc(8)
    return column.data != NULL


cdef ArrowArray* finished(Run* run, int32_t at, const uint8_t* above) noexcept nogil:
    """A column as an Arrow array, which takes its buffers over; NULL without memory.

    `above` is the validity of the enclosing struct: where it is null, so is everything in it.
    """
    cdef Column* column = &run.columns[at]
    cdef Scope* scope = &run.scopes[column.scope]
    cdef int64_t count = scope.count
    cdef const uint8_t* valid = above
    cdef int buffers = 2
    cdef ArrowArray* array
    cdef ArrowArray* child
    cdef int32_t* offsets
    cdef int64_t ones
    cdef int i
    if column.nullable:
        valid = column.valid
    if column.store == BYTES or column.store == SYMBOL:
        buffers = 3
    elif column.store == STRUCT:
        buffers = 1
    array = new_array(count, buffers, column.child_count)
    if array == NULL:
        return NULL
    if not set_validity(array, valid):
        return dropped(array)
    if column.store == SYMBOL:
        if not finish_symbols(array, run, column, valid):
            return dropped(array)
    elif column.store == BYTES or column.store == LIST or column.store == MAP:
        offsets = summed(column, count)
        if offsets == NULL:
            return dropped(array)
        array.buffers[1] = offsets
        if column.store == BYTES:
            if not empty_text(column):
                return dropped(array)
            array.buffers[2] = column.data
            column.data = NULL
    elif column.store == BITS:
        array.buffers[1] = packed_bits(column.values, count, &ones)
        if array.buffers[1] == NULL:
            return dropped(array)
    elif column.store != STRUCT:
        if column.store == TIME:
            finish_times(run, column, count)
        if column.values == NULL:
            column.values = <uint8_t*> malloc(8)
            if column.values == NULL:
                return dropped(array)
        if scope.room > count + (count >> 2):
            array.buffers[1] = realloc(column.values, count * column.width + 8)
        else:
            array.buffers[1] = column.values
        column.values = NULL
        if array.buffers[1] == NULL:
            return dropped(array)
    for i in range(column.child_count):
        child = finished(run, column.children[i], valid if column.store == STRUCT else NULL)
        if child == NULL:
            return dropped(array)
        array.children[i] = child
        array.n_children += 1
    return array


cdef ArrowArray* dropped(ArrowArray* array) noexcept nogil:
    release(array)
    free(array)
    return NULL


cdef void drop_capsule(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*> PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


# --- plans and batches


cdef class ColumnReader:
    """A tree of fields in C, for any number of batches and threads.

    Args:
        tree: a `serdes.columnar.protobuf.tree.Message`.
    """

    cdef Message* messages
    cdef Column* columns
    cdef Scope* scopes
    cdef Symbols* symbols
    cdef int message_count, column_count, scope_count, symbol_count
    cdef int nanoseconds
    cdef readonly object json_columns

    def __cinit__(self, tree, nanoseconds):
        cdef int i, j
        cdef Lowering lowered = Lowering(tree)
        self.nanoseconds = nanoseconds
        self.json_columns = lowered.json_columns
        self.message_count, self.column_count = len(lowered.messages), len(lowered.columns)
        self.scope_count, self.symbol_count = len(lowered.scopes), len(lowered.symbols)
        self.messages = <Message*> calloc(self.message_count, sizeof(Message))
        self.columns = <Column*> calloc(self.column_count, sizeof(Column))
        self.scopes = <Scope*> calloc(self.scope_count, sizeof(Scope))
        self.symbols = <Symbols*> calloc(self.symbol_count + 1, sizeof(Symbols))
        if self.messages == NULL or self.columns == NULL or self.scopes == NULL or self.symbols == NULL:
            raise MemoryError
        for i in range(self.message_count):
            fill_message(&self.messages[i], lowered.messages[i])
        for i in range(self.column_count):
            fill_column(&self.columns[i], lowered.columns[i])
        for i in range(self.scope_count):
            fill_scope(&self.scopes[i], lowered.scopes[i], lowered.columns)
        for i in range(self.symbol_count):
            fill_symbols(&self.symbols[i], lowered.symbols[i])

    def __dealloc__(self):
        cdef int i
        for i in range(self.message_count if self.messages != NULL else 0):
            free(self.messages[i].fields)
            free(self.messages[i].dense)
        for i in range(self.column_count if self.columns != NULL else 0):
            free(self.columns[i].children)
        for i in range(self.scope_count if self.scopes != NULL else 0):
            free(self.scopes[i].columns)
        for i in range(self.symbol_count if self.symbols != NULL else 0):
            free(self.symbols[i].numbers)
            free(self.symbols[i].starts)
            free(self.symbols[i].text)
        free(self.messages)
        free(self.columns)
        free(self.scopes)
        free(self.symbols)

    def read(self, Frames frames not None, plans not None, paths not None, path_starts not None,
             int64_t max_row_bytes, dict replaced not None):
        """Reads a batch without the GIL.

        Args:
            frames: the batch.
            plans: of each row, which of the plans its frame has; negative for a row that stays null. Native ints of 32
                bits (format `i`), as in both arguments below.
            paths: message types, per plan a count of paths, and each as its length and indexes.
            path_starts: where each plan's begin in `paths`.
            max_row_bytes: so many bytes one row may take in all columns.
            replaced: payloads that take the place of rows' own, without a path.

        Raises:
            MemoryError: there is none.
        """
        cdef ColumnBatch batch = ColumnBatch.__new__(ColumnBatch)
        cdef Rows rows
        cdef int wrong
        cdef int64_t count = frames.filled
        for numbers in (plans, paths, path_starts):
            if memoryview(numbers).format != "i":
                raise ValueError("plans and paths are native ints of 32 bits")
        cdef Pinned chosen = Pinned(plans)
        cdef Pinned steps = Pinned(paths)
        cdef Pinned starts = Pinned(path_starts)
        if chosen.size != 4 * count or starts.size == 0:
            raise ValueError("plans have a number for each row, and there is a plan")
        rows.count = count
        rows.payloads = frames.payloads
        rows.sizes = frames.sizes
        rows.tails = frames.tails
        rows.tail_sizes = frames.tail_sizes
        rows.bare = NULL
        rows.plans = <const int32_t*>chosen.data
        rows.paths = <const int32_t*>steps.data
        rows.path_starts = <const int32_t*>starts.data
        rows.most_bytes = max_row_bytes
        batch.start(self, count)
        if replaced:
            batch.give_others(&rows, replaced)
        with nogil:
            wrong = grow_scope(&batch.run, &batch.run.scopes[0], count + 1)
            if not wrong:
                batch.run.scopes[0].count = count
                wrong = read_rows(&batch.run, &rows, batch.valid, &batch.complaints)
        if wrong:
            raise MemoryError
        return batch


cdef class ColumnBatch:
    """What a batch has become: errors, and columns that are taken once."""

    cdef ColumnReader plan
    cdef Run run
    cdef uint8_t* valid
    cdef Complaints complaints
    cdef const uint8_t** payloads
    cdef int64_t* sizes
    cdef uint8_t* bare
    cdef dict replaced
    cdef bint taken

    cdef Column* column(self, int64_t number) except NULL:
        """A column that is there and not taken yet."""
        if self.plan is None or self.taken:
            raise ValueError("a batch is made by ColumnReader.read, and its columns are taken once")
        if not 0 <= number < self.plan.column_count:
            raise IndexError("there is no such column")
        return &self.run.columns[number]

    cdef give_others(self, Rows* rows, dict replaced):
        """Points some rows at other payloads, which have no path in front."""
        cdef bytes payload
        self.replaced = replaced
        self.payloads = <const uint8_t**> malloc((rows.count + 1) * sizeof(void*))
        self.sizes = <int64_t*> malloc((rows.count + 1) * sizeof(int64_t))
        self.bare = <uint8_t*> calloc(rows.count + 1, 1)
        if self.payloads == NULL or self.sizes == NULL or self.bare == NULL:
            raise MemoryError
        memcpy(self.payloads, rows.payloads, rows.count * sizeof(void*))
        memcpy(self.sizes, rows.sizes, rows.count * sizeof(int64_t))
        for row, payload in replaced.items():
            self.payloads[<int64_t> row] = <const uint8_t*> <const char*> payload
            self.sizes[<int64_t> row] = len(payload)
            self.bare[<int64_t> row] = 1
        rows.payloads, rows.sizes, rows.bare = self.payloads, self.sizes, self.bare

    cdef start(self, ColumnReader plan, int64_t count):
        self.plan = plan
        self.run.messages = plan.messages
        self.run.symbols = plan.symbols
        self.run.nanoseconds = plan.nanoseconds
        self.run.columns = <Column*> malloc(plan.column_count * sizeof(Column))
        self.run.scopes = <Scope*> malloc(plan.scope_count * sizeof(Scope))
        self.valid = <uint8_t*> calloc(count + 1, 1)
        if self.run.columns == NULL or self.run.scopes == NULL or self.valid == NULL:
            raise MemoryError
        memcpy(self.run.columns, plan.columns, plan.column_count * sizeof(Column))
        memcpy(self.run.scopes, plan.scopes, plan.scope_count * sizeof(Scope))

    def __dealloc__(self):
        cdef int i
        if self.run.columns != NULL:
            for i in range(self.plan.column_count):
                free(self.run.columns[i].valid)
                free(self.run.columns[i].values)
                free(self.run.columns[i].extra)
                free(self.run.columns[i].data)
        free(self.run.columns)
        free(self.run.scopes)
        free(self.valid)
        free(self.complaints.items)
        free(self.payloads)
        free(self.sizes)
        free(self.bare)

    def errors(self):
        """Rows that failed: (row, code, offset, path), the path from the outside in as (place, index) pairs."""
        found = []
        cdef int64_t at = 0
        cdef int64_t i, parts
        cdef int64_t* items = self.complaints.items
        while at < self.complaints.used:
            parts = items[at + 3]
            path = [(items[at + 4 + i], items[at + 5 + i]) for i in range(parts - 2, -1, -2)]
            found.append((items[at], items[at + 1], items[at + 2], path))
            at += 4 + parts
        return found

    def texts(self, int column):
        """The bytes of each slot of a column, None where it is absent."""
        cdef Column* found = self.column(column)
        cdef int64_t at = 0
        cdef int64_t i
        cdef int32_t size
        texts = []
        if found.store != BYTES:
            raise TypeError("only columns of bytes have texts")
        for i in range(self.run.scopes[found.scope].count):
            size = (<int32_t*> found.values)[i]
            texts.append((<char*> found.data + at)[:size] if size else (b"" if self._present(found, i) else None))
            at += size
        return texts

    cdef bint _present(self, Column* column, int64_t slot):
        if column.nullable:
            return column.valid[slot]
        return True

    def replace(self, int column, list texts not None):
        """Gives a column other bytes, one for each slot; None and b"" alike take no room."""
        cdef Column* found = self.column(column)
        cdef int64_t total = 0
        cdef int64_t at = 0
        cdef int64_t i
        cdef bytes text
        for text in texts:  # a TypeError if it is no bytes
            total += 0 if text is None else len(text)
        if found.store != BYTES:
            raise TypeError("only columns of bytes have texts")
        if total > LARGEST or len(texts) != self.run.scopes[found.scope].count:
            raise OverflowError("the texts of one column are more than 2 GiB: decode fewer rows at a time")
        cdef uint8_t* data = <uint8_t*> malloc(total + 8)
        if data == NULL:
            raise MemoryError
        for i, text in enumerate(texts):
            if text is None:
                text = b""
            memcpy(data + at, <const char*> text, len(text))
            at += len(text)
            (<int32_t*> found.values)[i] = <int32_t> len(text)
        free(found.data)
        found.data = data
        found.used = found.room = total

    def row_of(self, int column, int64_t slot):
        """The row in which a slot of a column is."""
        cdef int32_t scope = self.column(column).scope
        cdef int32_t holder = 0
        cdef int64_t total, i
        if not 0 <= slot < self.run.scopes[scope].count:
            raise IndexError("there is no such slot")
        while scope != 0:
            for holder in range(self.plan.column_count):
                if self.run.columns[holder].child_scope == scope:
                    break
            total = i = 0
            while total + (<int32_t*> self.run.columns[holder].values)[i] <= slot:
                total += (<int32_t*> self.run.columns[holder].values)[i]
                i += 1
            slot = i
            scope = self.run.columns[holder].scope
        return slot

    def finish(self):
        """The capsule of a struct array of all columns; once.

        Raises:
            MemoryError: there is none, or names of an enum are more than 2 GiB.
        """
        cdef ArrowArray* array
        cdef Column* root = self.column(0)
        self.taken = True
        root.valid = self.valid
        self.valid = NULL
        with nogil:
            array = finished(&self.run, 0, NULL)
        if array == NULL:
            raise MemoryError
        return PyCapsule_New(array, "arrow_array", drop_capsule)


CONTENTS = {
    "google.protobuf.Struct": C_STRUCT,
    "google.protobuf.Value": C_VALUE,
    "google.protobuf.ListValue": C_LIST,
    "google.protobuf.Any": C_ANY,
}


cdef class Lowering:
    """A tree as flat lists: messages, columns, scopes and enums that name each other by number."""

    cdef list messages, columns, scopes, symbols, json_columns
    cdef dict _known

    def __init__(self, tree):
        self.messages, self.columns, self.scopes, self.symbols, self.json_columns = [], [], [], [], []
        self._known = {}
        self.scopes.append([])
        root = self.column(STRUCT, 0, nullable=True)
        self.scopes[0].remove(root)  # the validity of rows is not a slot of its own
        self.message(tree, 0, root, path=())

    def column(self, store, scope, nullable=False, width=0, kind=0, child_scope=-1, symbols=-1):
        self.columns.append(
            {"store": store, "nullable": nullable, "width": width, "kind": kind, "scope": scope,
             "child_scope": child_scope, "symbols": symbols, "children": []}
        )
        self.scopes[scope].append(len(self.columns) - 1)
        return len(self.columns) - 1

    def message(self, tree, scope, above, entry=False, path=()):
        """A message's number; its columns become children of the column `above`."""
        made = {"scope": scope, "fields": [], "checks": False, "entry": entry}
        self.messages.append(made)
        number = len(self.messages) - 1
        cases = {}
        for place, field in enumerate(tree.fields):
            found = self.field(field, place, scope, above, (*path, field.name))
            if field.oneof >= 0 and len([one for one in tree.fields if one.oneof == field.oneof]) > 1:
                if field.oneof not in cases:
                    cases[field.oneof] = self.column(CASE, scope, width=4)
                found["case_column"] = cases[field.oneof]
            made["fields"].append(found)
            inner = self.messages[found["message"]]["checks"] if found["message"] >= 0 and field.shape == 0 else False
            made["checks"] |= field.kept and (field.required or field.shape == 2 or inner)
        made["fields"].sort(key=lambda one: one["number"])
        for at, found in enumerate(made["fields"]):
            found["case"] = at + 1
        return number

    def field(self, field, place, scope, above, path):
        made = {"number": field.number, "kind": int(field.kind), "shape": int(field.shape), "kept": field.kept,
                "wrapped": field.wrapped, "delimited": field.delimited, "required": field.required, "verified": field.verified, "column": -1,
                "holder": -1, "message": -1, "case_column": -1, "symbols": -1, "place": place, "closed": False,
                "packable": False}
        wire = 2 if field.wrapped else field_wire(field.kind)
        made["wire"] = 3 if field.delimited else wire
        made["content"] = CONTENTS.get(field.json, 0)
        made["packable"] = field.shape == 1 and not field.wrapped and not field.delimited and wire != 2
        if field.symbols is not None:
            made["symbols"] = self.enum(field.symbols)
            made["closed"] = field.symbols.closed
        if not field.kept:
            return made
        nullable = not field.implicit
        if field.shape != 0:
            self.scopes.append([])
            inner = len(self.scopes) - 1
            made["holder"] = self.column(MAP if field.shape == 2 else LIST, scope, width=4, child_scope=inner)
            self.columns[above]["children"].append(made["holder"])
            above, scope, nullable = made["holder"], inner, False
        made["column"] = self.value(field, made, scope, nullable, path)
        self.columns[above]["children"].append(made["column"])
        if field.message is not None:
            made["message"] = self.message(field.message, scope, made["column"], field.shape == 2, path)
        return made

    def value(self, field, made, scope, nullable, path):
        kind = int(field.kind)
        if kind == K_MESSAGE:
            return self.column(STRUCT, scope, nullable)
        if kind == K_STRING or kind == K_BYTES or kind == K_JSON:
            found = self.column(BYTES, scope, nullable, 4, kind)
            if kind == K_JSON:
                self.json_columns.append((found, field.json, ".".join(path)))
            return found
        if kind == K_TIMESTAMP or kind == K_DURATION:
            return self.column(TIME, scope, nullable, 8, kind)
        if kind == K_BOOL:
            return self.column(BITS, scope, nullable, 1, kind)
        if kind == K_ENUM:
            store = FIXED if field.symbols.as_numbers else SYMBOL
            return self.column(store, scope, nullable, 4, kind, symbols=made["symbols"])
        wide = kind in (K_DOUBLE, K_INT64, K_UINT64, K_FIXED64, K_SFIXED64, K_SINT64)
        return self.column(FIXED, scope, nullable, 8 if wide else 4, kind)

    def enum(self, symbols):
        if symbols.full_name not in self._known:
            self._known[symbols.full_name] = len(self.symbols)
            self.symbols.append(symbols)
        return self._known[symbols.full_name]


cdef fill_message(Message* message, made):
    cdef int i, number
    cdef int count = len(made["fields"])
    message.scope = made["scope"]
    message.checks = made["checks"]
    message.entry = made["entry"]
    message.fields = <Field*> calloc(count + 1, sizeof(Field))
    largest = max((one["number"] for one in made["fields"] if one["number"] < DENSE), default=-1)
    message.dense = <int16_t*> malloc((largest + 2) * 2)
    if message.fields == NULL or message.dense == NULL:
        raise MemoryError
    message.count = count
    message.dense_count = largest + 1
    for i in range(largest + 1):
        message.dense[i] = -1
    for i, one in enumerate(made["fields"]):
        number = one["number"]
        if number < DENSE:
            message.dense[number] = i
        message.fields[i].number = number
        message.fields[i].kind = one["kind"]
        message.fields[i].shape = one["shape"]
        message.fields[i].wire = one["wire"]
        message.fields[i].kept = one["kept"]
        message.fields[i].wrapped = one["wrapped"]
        message.fields[i].delimited = one["delimited"]
        message.fields[i].required = one["required"]
        message.fields[i].packable = one["packable"]
        message.fields[i].closed = one["closed"]
        message.fields[i].verified = one["verified"]
        message.fields[i].content = one["content"]
        message.fields[i].column = one["column"]
        message.fields[i].holder = one["holder"]
        message.fields[i].message = one["message"]
        message.fields[i].case_column = one["case_column"]
        message.fields[i].case = one["case"]
        message.fields[i].symbols = one["symbols"]
        message.fields[i].place = one["place"]


cdef fill_column(Column* column, made):
    cdef int i
    column.store = made["store"]
    column.nullable = made["nullable"]
    column.width = made["width"]
    column.kind = made["kind"]
    column.scope = made["scope"]
    column.child_scope = made["child_scope"]
    column.symbols = made["symbols"]
    column.children = <int32_t*> malloc((len(made["children"]) + 1) * 4)
    if column.children == NULL:
        raise MemoryError
    column.child_count = len(made["children"])
    for i, child in enumerate(made["children"]):
        column.children[i] = child


cdef fill_scope(Scope* scope, made, columns):
    cdef int i
    scope.columns = <int32_t*> malloc((len(made) + 1) * 4)
    if scope.columns == NULL:
        raise MemoryError
    scope.column_count = len(made)
    for i, column in enumerate(made):
        scope.columns[i] = column
        scope.slot_bytes += columns[column]["width"] + columns[column]["nullable"]
    scope.slot_bytes = max(scope.slot_bytes, 1)


cdef fill_symbols(Symbols* symbols, made):
    cdef int i
    cdef bytes text
    numbers = sorted(made.names)
    names = [made.names[number].encode() for number in numbers]
    text = b"".join(names)
    symbols.numbers = <int32_t*> malloc((len(numbers) + 1) * 4)
    symbols.starts = <int32_t*> malloc((len(numbers) + 1) * 4)
    symbols.text = <char*> calloc(len(text) + SHORT, 1)
    if symbols.numbers == NULL or symbols.starts == NULL or symbols.text == NULL:
        raise MemoryError
    symbols.count = len(numbers)
    symbols.closed = made.closed
    memcpy(symbols.text, <const char*> text, len(text))
    symbols.starts[0] = 0
    for i, number in enumerate(numbers):
        symbols.numbers[i] = number
        symbols.starts[i + 1] = symbols.starts[i] + len(names[i])
