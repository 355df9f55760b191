"""Texts as JSON has them between quotes."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    LONGEST_ESCAPE = 6  # \u001f


cdef inline uint64_t remarkable(uint64_t eight) noexcept nogil:
    """Not 0 if one of eight bytes needs an escape: a control character, a quote, a backslash."""
    cdef uint64_t quotes = eight ^ 0x2222222222222222ULL, slashes = eight ^ 0x5C5C5C5C5C5C5C5CULL
    return (((quotes - 0x0101010101010101ULL) & ~quotes) | ((slashes - 0x0101010101010101ULL) & ~slashes)
            | ((eight - 0x2020202020202020ULL) & ~eight)) & 0x8080808080808080ULL


cdef inline bint copy_plain(uint8_t* out, const uint8_t* data, int64_t size, uint64_t* high) noexcept nogil:
    """Copies a text; whether nothing in it needs an escape. Bits of 0x80 in `high` say that not all is ASCII."""
    cdef int64_t at = 0
    cdef uint64_t eight, found = 0
    cdef uint32_t first, last
    if size >= 8:
        while at <= size - 8:
            memcpy(&eight, data + at, 8)
            memcpy(out + at, &eight, 8)
            found |= remarkable(eight)
            high[0] |= eight
            at += 8
        if at == size:
            return found == 0
        memcpy(&eight, data + size - 8, 8)
        memcpy(out + size - 8, &eight, 8)
    elif size >= 4:
        memcpy(&first, data, 4)
        memcpy(&last, data + size - 4, 4)
        memcpy(out, &first, 4)
        memcpy(out + size - 4, &last, 4)
        eight = first | <uint64_t>last << 32
    elif size:
        eight = (0x2020202020000000ULL | data[0] | <uint64_t>data[size >> 1] << 8 | <uint64_t>data[size - 1] << 16)
        out[0] = data[0]
        out[size >> 1] = data[size >> 1]
        out[size - 1] = data[size - 1]
    else:
        return True
    high[0] |= eight
    return (found | remarkable(eight)) == 0


cdef inline uint8_t* put_escape(uint8_t* out, uint8_t byte) noexcept nogil:
    """The escape of a control character, a quote or a backslash."""
    cdef uint8_t letter = byte
    cdef int low = byte & 15
    out[0] = 92
    if byte == 10:
        letter = 110
    elif byte == 9:
        letter = 116
    elif byte == 13:
        letter = 114
    elif byte == 8:
        letter = 98
    elif byte == 12:
        letter = 102
    elif byte < 32:
        memcpy(out + 1, b"u00", 3)
        out[4] = <uint8_t>(48 + (byte >> 4))
        out[5] = <uint8_t>(48 + low if low < 10 else 87 + low)
        return out + 6
    out[1] = letter
    return out + 2


cdef inline uint8_t* put_escaped(uint8_t* out, const uint8_t* data, int64_t size) noexcept nogil:
    """Bytes of UTF-8, for which there has to be room for `LONGEST_ESCAPE` times as many."""
    cdef int64_t at
    for at in range(size):
        if data[at] >= 32 and data[at] != 34 and data[at] != 92:
            out[0] = data[at]
            out += 1
        else:
            out = put_escape(out, data[at])
    return out


cdef inline uint8_t* put_code(uint8_t* out, uint32_t code) noexcept nogil:
    """A character beyond ASCII as UTF-8."""
    if code < 0x800:
        out[0] = <uint8_t>(0xC0 | code >> 6)
        out[1] = <uint8_t>(0x80 | code & 63)
        return out + 2
    if code < 0x10000:
        out[0] = <uint8_t>(0xE0 | code >> 12)
        out[1] = <uint8_t>(0x80 | code >> 6 & 63)
        out[2] = <uint8_t>(0x80 | code & 63)
        return out + 3
    out[0] = <uint8_t>(0xF0 | code >> 18)
    out[1] = <uint8_t>(0x80 | code >> 12 & 63)
    out[2] = <uint8_t>(0x80 | code >> 6 & 63)
    out[3] = <uint8_t>(0x80 | code & 63)
    return out + 4
