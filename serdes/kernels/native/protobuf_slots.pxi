# The slots of columns, one in each column of a scope: opened, given room, emptied. A part of protobuf_columns.pyx.
# A new slot is absent; whoever fails half way is emptied again, so that columns of a scope stay of one length.


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
