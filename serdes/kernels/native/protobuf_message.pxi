# One message read into a slot: fields in any order, the last one wins. A part of protobuf_columns.pyx.
# Errors are noted by `wrong_at` where they are found; callers add their part of the path on the way out.


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
    """Judges a message whose parts are all there: required fields, times, keys of maps, text of proto2."""
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
