# The tokens of JSON documents: spaces, literals, texts, numbers, and values that are passed over. A part of
# json_columns.pyx. The run stands at what is read, and behind it or at what is wrong afterwards. Source: RFC 8259.


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
