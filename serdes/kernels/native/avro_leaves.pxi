# Avro's numbers, UUIDs and decimals as they are in payloads: a part of avro_columns.pyx.
# Source: https://avro.apache.org/docs/current/specification, "Binary encoding".


cdef const uint8_t* long_varint(const uint8_t* p, const uint8_t* end, int64_t* out) noexcept nogil:
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef int size = varint_size(p) if end - p >= 8 else 0
    if size:
        value = varint_bits(p, size)
        out[0] = <int64_t>((value >> 1) ^ (0 - (value & 1)))
        return p + size
    while shift < 70:
        if p >= end:
            out[0] = ENDS
            return NULL
        if shift == 63 and p[0] & 0x7E:
            out[0] = LONG_NUMBER
            return NULL
        value |= <uint64_t>(p[0] & 0x7F) << shift
        if p[0] < 0x80:
            out[0] = <int64_t>((value >> 1) ^ (0 - (value & 1)))
            return p + 1
        p += 1
        shift += 7
    out[0] = LONG_NUMBER
    return NULL


cdef inline const uint8_t* varint(const uint8_t* p, const uint8_t* end, int64_t* out) noexcept nogil:
    """Reads a number; NULL if there is none, and what is wrong in its place."""
    cdef uint32_t value
    if end - p >= 3:
        value = p[0]
        if value < 0x80:
            out[0] = <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
            return p + 1
        value = (value & 0x7F) | <uint32_t>p[1] << 7
        if p[1] < 0x80:
            out[0] = <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
            return p + 2
        value = (value & 0x3FFF) | <uint32_t>p[2] << 14
        if p[2] < 0x80:
            out[0] = <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
            return p + 3
    return long_varint(p, end, out)


cdef inline const uint8_t* length_of(const uint8_t* p, const uint8_t* end, int64_t* out) noexcept nogil:
    """As `varint`, for what is small and not negative in most cases."""
    if p < end and not p[0] & 0x81:
        out[0] = p[0] >> 1
        return p + 1
    return varint(p, end, out)


cdef int put_uuid(Column* column, const uint8_t* p, int64_t size) noexcept nogil:
    """A UUID in any of the forms that Python takes, as 8-4-4-4-12 small hexadecimal digits; 1 if it is none."""
    cdef uint8_t[36] out
    cdef int64_t at = 0
    cdef int digits = 0
    cdef int place = 0
    cdef int digit
    if size >= 4 and memcmp(p, b"urn:", 4) == 0:
        p += 4
        size -= 4
    if size >= 5 and memcmp(p, b"uuid:", 5) == 0:
        p += 5
        size -= 5
    while size and (p[0] == 0x7B or p[0] == 0x7D):
        p += 1
        size -= 1
    while size and (p[size - 1] == 0x7B or p[size - 1] == 0x7D):
        size -= 1
    for at in range(size):
        if p[at] == 0x2D:
            continue
        digit = hex_value(p[at])
        if digit < 0 or digits == 32:
            return 1
        if digits == 8 or digits == 12 or digits == 16 or digits == 20:
            out[place] = 0x2D
            place += 1
        out[place] = <uint8_t>(48 + digit if digit < 10 else 87 + digit)
        place += 1
        digits += 1
    return append_bytes(column, out, 36) if digits == 32 else 1


cdef int wide_decimal(Column* column, const Op* op, const uint8_t* p, int64_t size) noexcept nogil:
    """A decimal that is long or has another scale; what is wrong with it, or 0."""
    cdef uint32_t[LIMBS] limbs
    cdef bint negative = size > 0 and p[0] >= 0x80
    cdef int64_t at
    cdef int64_t shift = op.b
    cdef int used = 0
    cdef int limb
    cdef uint64_t carry = 0
    cdef int wanted = column.width // 4
    while size > 1 and ((p[0] == 0 and p[1] < 0x80) or (p[0] == 0xFF and p[1] >= 0x80)):
        p += 1
        size -= 1
    if size > (LIMBS - 1) * 4:
        return DIGITS
    memset(limbs, 0, sizeof(limbs))
    for at in range(size):
        limbs[at >> 2] |= <uint32_t>(<uint8_t>(p[size - 1 - at] ^ (0xFF if negative else 0))) << (8 * (at & 3))
    if negative:  # one more than what is inverted
        limb = 0
        while limb < LIMBS:
            limbs[limb] += 1
            if limbs[limb]:
                break
            limb += 1
    used = LIMBS
    while used and not limbs[used - 1]:
        used -= 1
    while shift > 0 and used:
        carry = 0
        for limb in range(used):
            carry += <uint64_t>limbs[limb] * 10
            limbs[limb] = <uint32_t>carry
            carry >>= 32
        if carry:
            limbs[used] = <uint32_t>carry
            used += 1
        if used > 9:
            return DIGITS
        shift -= 1
    while shift < 0 and used:
        carry = 0
        limb = used - 1
        while limb >= 0:
            carry = carry << 32 | limbs[limb]
            limbs[limb] = <uint32_t>(carry // 10)
            carry %= 10
            limb -= 1
        if carry:
            return SCALE
        while used and not limbs[used - 1]:
            used -= 1
        shift += 1
    if used > 9:
        return DIGITS
    limb = 8
    while limb >= 0 and limbs[limb] == WIDE_TENS[op.c][limb]:
        limb -= 1
    if limb < 0 or limbs[limb] > WIDE_TENS[op.c][limb]:
        return DIGITS
    if negative:
        carry = 1
        for limb in range(wanted):
            carry += <uint32_t>~limbs[limb]
            limbs[limb] = <uint32_t>carry
            carry >>= 32
    return append_fixed(column, <const uint8_t*>limbs)


cdef inline int put_decimal(Column* column, const Op* op, const uint8_t* p, int64_t size) noexcept nogil:
    cdef uint64_t value
    cdef int64_t[2] halves
    cdef int64_t at
    if size > 8 or op.b or column.width != 16:
        return wide_decimal(column, op, p, size)
    value = <uint64_t>0 - 1 if size and p[0] >= 0x80 else 0
    for at in range(size):
        value = value << 8 | p[at]
    halves[0] = <int64_t>value
    halves[1] = -1 if halves[0] < 0 else 0
    if op.c < 20 and (0 - value if halves[0] < 0 else value) >= TENS[op.c]:
        return DIGITS
    return append_fixed(column, <const uint8_t*>halves)
