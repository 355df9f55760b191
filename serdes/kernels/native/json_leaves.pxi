# Values without parts: from tokens into the cells of columns. A part of json_columns.pyx.
# What has no cell is a fault, after which nothing was appended. Sources: RFC 3339 (times), RFC 4648 (base64).


cdef int exact_number(Run* run, const Step* step, const Number* read) noexcept with gil:
    """Reads a number that needs Python's own arithmetic."""
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
    """Reads the text in quotes into a cell."""
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
