"""Bytes as kernels look at them: texts in UTF-8, UUIDs, hashes."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef enum:
    SHORT = 16  # bytes that are looked at and copied in one step

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    static inline int kserdes_short_ascii(const uint8_t* data, ptrdiff_t size) {
        static const uint8_t HIGHEST[32] = {128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128};
        uint64_t text[2], counting[2];
        memcpy(text, data, 16);
        memcpy(counting, HIGHEST + 16 - size, 16);
        return !((text[0] & counting[0]) | (text[1] & counting[1]));
    }
    static inline int kserdes_short_ascii_before(const uint8_t* end, ptrdiff_t size) {
        static const uint8_t HIGHEST[32] = {
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
        };
        uint64_t text[2], counting[2];
        memcpy(text, end - 16, 16);
        memcpy(counting, HIGHEST + size, 16);
        return !((text[0] & counting[0]) | (text[1] & counting[1]));
    }
    """
    # Whether the first, or the last, `size` of SHORT bytes are ASCII; all SHORT are read. No branch depends on `size`.
    bint is_short_ascii "kserdes_short_ascii"(const uint8_t* data, int64_t size) noexcept nogil
    bint is_short_ascii_before "kserdes_short_ascii_before"(const uint8_t* end, int64_t size) noexcept nogil


cdef inline bint is_utf8_beyond(const uint8_t* data, int64_t at, int64_t size) noexcept nogil:
    cdef uint8_t byte
    while at < size:
        byte = data[at]
        if byte < 0x80:
            at += 1
        elif byte < 0xC2:
            return False
        elif byte < 0xE0:
            if size - at < 2 or data[at + 1] & 0xC0 != 0x80:
                return False
            at += 2
        elif byte < 0xF0:
            if size - at < 3 or data[at + 1] & 0xC0 != 0x80 or data[at + 2] & 0xC0 != 0x80:
                return False
            if (byte == 0xE0 and data[at + 1] < 0xA0) or (byte == 0xED and data[at + 1] >= 0xA0):
                return False
            at += 3
        elif byte < 0xF5:
            if (size - at < 4 or data[at + 1] & 0xC0 != 0x80 or data[at + 2] & 0xC0 != 0x80
                    or data[at + 3] & 0xC0 != 0x80):
                return False
            if (byte == 0xF0 and data[at + 1] < 0x90) or (byte == 0xF4 and data[at + 1] >= 0x90):
                return False
            at += 4
        else:
            return False
    return True


cdef inline bint is_utf8(const uint8_t* data, int64_t size) noexcept nogil:
    cdef int64_t at = 0
    cdef uint64_t eight
    while size - at >= 8:
        memcpy(&eight, data + at, 8)
        if eight & 0x8080808080808080ULL:
            return is_utf8_beyond(data, at, size)
        at += 8
    while at < size:
        if data[at] & 0x80:
            return is_utf8_beyond(data, at, size)
        at += 1
    return True


cdef inline int hex_value(uint8_t byte) noexcept nogil:
    if 48 <= byte <= 57:
        return byte - 48
    byte |= 0x20
    if 97 <= byte <= 102:
        return byte - 87
    return -1


cdef inline bint is_dash_place(int64_t at) noexcept nogil:
    return at == 8 or at == 13 or at == 18 or at == 23


cdef inline bint uuid_of(const uint8_t* text, int64_t size, uint8_t* out) noexcept nogil:
    """The 16 bytes of a UUID's text."""
    cdef int64_t at = 0
    cdef int made = 0, high, low
    if size != 36:
        return False
    while at < 36:
        if is_dash_place(at):
            if text[at] != 45:
                return False
            at += 1
            continue
        high = hex_value(text[at])
        low = hex_value(text[at + 1])
        if high < 0 or low < 0:
            return False
        out[made] = <uint8_t>(high << 4 | low)
        made += 1
        at += 2
    return True


cdef inline uint8_t hex_digit(int value) noexcept nogil:
    return <uint8_t>(48 + value if value < 10 else 87 + value)


cdef inline void uuid_text(const uint8_t* data, uint8_t* out) noexcept nogil:
    """The text of a UUID's 16 bytes."""
    cdef int at, made = 0
    for at in range(16):
        if is_dash_place(made):
            out[made] = 45
            made += 1
        out[made] = hex_digit(data[at] >> 4)
        out[made + 1] = hex_digit(data[at] & 15)
        made += 2


cdef inline uint32_t hashed(const uint8_t* data, int64_t size) noexcept nogil:
    """FNV-1a."""
    cdef uint32_t found = 2166136261u
    cdef int64_t at
    for at in range(size):
        found = (found ^ data[at]) * 16777619u
    return found
