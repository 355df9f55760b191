# Numbers as Avro writes them, several bytes in one step, and powers of ten. A part of avro_columns.pyx.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define MOST_LONG INT64_MAX
    /* Bytes of the number that begins here, if it ends within eight that can be read, else 0; no loop to foresee. */
    static inline int kserdes_varint_size(const uint8_t* p) {
    #if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        uint64_t bytes;
        memcpy(&bytes, p, 8);
        bytes = ~bytes & 0x8080808080808080u;
        return bytes ? (__builtin_ctzll(bytes) >> 3) + 1 : 0;
    #else
        int size = 1;
        while (size <= 8 && p[size - 1] & 0x80)
            size++;
        return size <= 8 ? size : 0;
    #endif
    }
    /* The same of a number that may end with the last before `end`, which are at least eight; p is one of these. */
    static inline int kserdes_varint_size_in(const uint8_t* p, const uint8_t* end) {
    #if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        uint64_t bytes;
        int64_t left = end - p;
        memcpy(&bytes, left < 8 ? end - 8 : p, 8);
        bytes >>= left < 8 ? 8 * (8 - left) : 0;
        bytes = ~bytes & 0x8080808080808080u;
        left = bytes ? (__builtin_ctzll(bytes) >> 3) + 1 : 0;
        return left <= end - p ? (int)left : 0;
    #else
        int size = 1;
        while (size <= 8 && p + size <= end && p[size - 1] & 0x80)
            size++;
        return size <= 8 && p + size <= end ? size : 0;
    #endif
    }
    /* The 7 bits of each of so many bytes, 1 to 8, one after the other. */
    static inline uint64_t kserdes_varint_bits(const uint8_t* p, int size) {
    #if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        uint64_t bits;
        memcpy(&bits, p, 8);
        bits &= 0x7F7F7F7F7F7F7F7Fu >> (64 - 8 * size);
        bits = (bits & 0x007F007F007F007Fu) | (bits & 0x7F007F007F007F00u) >> 1;
        bits = (bits & 0x00003FFF00003FFFu) | (bits & 0x3FFF00003FFF0000u) >> 2;
        return (bits & 0x000000000FFFFFFFu) | (bits & 0x0FFFFFFF00000000u) >> 4;
    #else
        uint64_t bits = 0;
        int at;
        for (at = 0; at < size; at++)
            bits |= (uint64_t)(p[at] & 0x7F) << (7 * at);
        return bits;
    #endif
    }
    """
    const int64_t MOST_LONG
    int varint_size "kserdes_varint_size"(const uint8_t* p) noexcept nogil
    int varint_size_in "kserdes_varint_size_in"(const uint8_t* p, const uint8_t* end) noexcept nogil
    uint64_t varint_bits "kserdes_varint_bits"(const uint8_t* p, int size) noexcept nogil

cdef uint64_t[20] TENS
cdef uint32_t[77][9] WIDE_TENS


cdef void fill_tens() noexcept nogil:
    """The powers of ten, as one number and as nine of 32 bits, the lowest first."""
    cdef int at, limb
    cdef uint64_t carry
    TENS[0] = 1
    memset(WIDE_TENS, 0, sizeof(WIDE_TENS))
    WIDE_TENS[0][0] = 1
    for at in range(1, 20):
        TENS[at] = TENS[at - 1] * 10
    for at in range(1, 77):
        carry = 0
        for limb in range(9):
            carry += <uint64_t>WIDE_TENS[at - 1][limb] * 10
            WIDE_TENS[at][limb] = <uint32_t>carry
            carry >>= 32


fill_tens()
