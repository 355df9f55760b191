# Blocks of lists and maps: what may come, what is passed, and of which entries of a map the key comes again. A part of
# avro_columns.pyx. Nothing is allocated for what a payload announces before it was compared with what is left.


cdef const uint8_t* block(const uint8_t* p, const uint8_t* end, int64_t* count, int64_t* size) noexcept nogil:
    """Reads how many items come, and their bytes if that is said (else -1); NULL: what is wrong stands in `count`."""
    p = varint(p, end, count)
    size[0] = -1
    if p == NULL or count[0] >= 0:
        return p
    count[0] = -(count[0] + 1)  # the smallest number has no counterpart
    if count[0] < MOST_LONG:
        count[0] += 1
    p = varint(p, end, size)
    if p == NULL:
        count[0] = size[0]
    elif size[0] < 0:
        count[0] = BLOCK
        return NULL
    return p


cdef int admit(Run* run, const Op* op, int64_t count, int64_t left) noexcept nogil:
    """Whether so many items may come; what is wrong with that, or 0."""
    if op.b:
        run.empty_items -= count
        if run.empty_items < 0:
            return EMPTY_ITEMS
    elif count > left:
        return ENDS
    if op.c and count > run.room // op.c:
        return ROW_BYTES
    run.room -= count * op.c
    return 0


cdef const uint8_t* skip_blocks(
    Run* run, const Op* op, const uint8_t* p, const uint8_t* end, int64_t* count
) noexcept nogil:
    """Passes blocks whose bytes are said; gives the items of the first other one, 0 at the end of the list."""
    cdef int64_t size
    cdef int wrong
    while True:
        p = block(p, end, count, &size)
        if p == NULL or count[0] == 0:
            return p
        if size < 0:
            wrong = admit(run, op, count[0], end - p)
            if wrong:
                count[0] = wrong
                return NULL
            return p
        if size > end - p:
            count[0] = ENDS
            return NULL
        p += size


cdef int end_entry(Run* run, Column* entry) noexcept nogil:
    """Notes an entry of a map; takes it back if a later one has its key."""
    cdef int64_t* grown
    cdef int64_t room
    if run.sieving:
        if run.entries < run.dropped_room and run.dropped[run.entries]:
            truncate(entry, entry.length - 1)
        run.entries += 1
        return 0
    if run.ordinals_used == run.ordinals_room:
        room = run.ordinals_room * 2 + 64
        grown = <int64_t*>realloc(run.ordinals, room * sizeof(int64_t))
        if grown == NULL:
            return NO_MEMORY
        run.ordinals, run.ordinals_room = grown, room
    run.ordinals[run.ordinals_used] = run.entries
    run.ordinals_used += 1
    run.entries += 1
    return 0


cdef int drop(Run* run, int64_t ordinal) noexcept nogil:
    """Says that an entry is not to be kept when the row is read again."""
    cdef int64_t room
    cdef uint8_t* grown
    run.again = True
    if ordinal >= run.dropped_room:
        room = run.entries * 2 + 64
        grown = <uint8_t*>realloc(run.dropped, room)
        if grown == NULL:
            return NO_MEMORY
        memset(grown + run.dropped_room, 0, room - run.dropped_room)
        run.dropped, run.dropped_room = grown, room
    run.dropped[ordinal] = 1
    return 0


cdef inline bint same_key(Column* keys, int64_t one, int64_t other) noexcept nogil:
    cdef const int32_t* offsets = <const int32_t*>keys.values
    cdef int32_t size = offsets[one + 1] - offsets[one]
    if size != offsets[other + 1] - offsets[other]:
        return False
    return size == 0 or memcmp(keys.data + offsets[one], keys.data + offsets[other], size) == 0


cdef int sieve(Run* run, Column* keys, int64_t first, int64_t count) noexcept nogil:
    """Finds the entries of a map, which are the last so many, whose key comes again."""
    cdef int64_t base = run.ordinals_used - count
    cdef int64_t one, other, slot, size
    cdef int32_t* table
    cdef uint64_t mixed
    cdef int32_t at
    cdef const int32_t* offsets = <const int32_t*>keys.values
    cdef int code = 0
    if count <= FEW_ENTRIES:
        for one in range(count):
            for other in range(one + 1, count):
                if same_key(keys, first + one, first + other):
                    if drop(run, run.ordinals[base + one]):
                        return NO_MEMORY
                    break
        return 0
    size = 32
    while size < 2 * count:
        size *= 2
    table = <int32_t*>malloc(size * sizeof(int32_t))
    if table == NULL:
        return NO_MEMORY
    memset(table, 0xFF, size * sizeof(int32_t))
    one = count - 1
    while one >= 0 and not code:  # from the end: the last one of a key comes first
        mixed = SEED
        for at in range(offsets[first + one], offsets[first + one + 1]):
            mixed = (mixed ^ keys.data[at]) * <uint64_t>0x9E3779B97F4A7C15
            mixed ^= mixed >> 29
        slot = <int64_t>(mixed & <uint64_t>(size - 1))
        while table[slot] >= 0:
            if same_key(keys, first + table[slot], first + one):
                code = drop(run, run.ordinals[base + one])
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = <int32_t>one
        one -= 1
    free(table)
    return code


cdef int end_map(Run* run, Column* column, int64_t first) noexcept nogil:
    cdef int64_t count
    cdef int code = 0
    if not run.sieving:
        count = (column + 1).length - first
        if count > 1:
            code = sieve(run, column + 2, first, count)
        run.ordinals_used -= count
    return code if code else append_list(column)


cdef inline const uint8_t* passed(int64_t kind, int64_t operand, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Behind a value that is plainly right; NULL if it needs a closer look."""
    cdef int64_t size = 0
    if kind == PASS_BYTES:
        return p + operand if operand <= end - p else NULL
    if p >= end:
        return NULL
    if kind == PASS_TEXT:
        if not p[0] & 0x81:
            size = (p[0] >> 1) + 1
        elif not p[0] & 1 and end - p >= 2 and p[1] < 0x80:
            size = ((p[0] & 0x7F) >> 1 | <int64_t>p[1] << 6) + 2
        return p + size if size and size <= end - p else NULL
    if kind == PASS_BOOL:
        return p + 1 if p[0] <= 1 else NULL
    if kind == PASS_ENUM:
        return p + 1 if not p[0] & 0x81 and p[0] >> 1 < operand else NULL
    size = varint_size_in(p, end)
    return p + size if size and (size <= 4 or kind == PASS_LONG) else NULL


cdef const uint8_t* passed_run(
    const int64_t* facts, int64_t count, const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """Behind values that are plainly right, as the pairs of `Pass` and operand have them; NULL if there is another.

    There are at least eight bytes before `end`. What is not plain, and what is wrong with it, is found by the operations
    behind.
    """
    cdef const int64_t* behind = facts + 2 * count
    cdef int64_t left
    while facts < behind:
        if facts[0] == PASS_OPTIONAL:
            if p >= end or p[0] & 0xFD:
                return NULL
            if p[0] >> 1 == facts[1]:
                facts += 2
            p += 1
        elif facts[0] == PASS_LIST:
            facts += 2
            while True:
                if p >= end or p[0] & 0x81:
                    return NULL
                left = p[0] >> 1
                p += 1
                if left == 0:
                    break
                while left:
                    p = passed(facts[0], facts[1], p, end)
                    if p == NULL:
                        return NULL
                    left -= 1
        else:
            p = passed(facts[0], facts[1], p, end)
            if p == NULL:
                return NULL
        facts += 2
    return p
