# Columns as arrays of Arrow's C data interface, which take the buffers over. A part of protobuf_columns.pyx.
# Sizes become offsets, bytes become bits, seconds and nanoseconds one number, numbers of enums names.


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
    """Packs bytes that are 0 or 1 into bits, and counts the ones; NULL without memory."""
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
