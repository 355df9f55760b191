# Numbers, tags and what is skipped of Protobuf's wire format: a part of protobuf_columns.pyx.
# Functions give the place behind what they read; NULL with the reason in `code` where there is none of it.
# Source: https://protobuf.dev/programming-guides/encoding


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
