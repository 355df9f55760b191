# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True
"""Floating-point numbers of 64 bits as decimal digits and back, without the GIL and exactly.

Writing is the algorithm Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles"): of the decimals that
are read back as the number, one of the fewest digits, of these the nearest. Reading multiplies by a power of ten of 128
bits and gives up where the rounding of that power could matter. Both use one table of powers, which Python's own
integers make at import.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #if defined(__SIZEOF_INT128__)
    static CYTHON_INLINE uint64_t kserdes_product(uint64_t a, uint64_t b, uint64_t* high) {
        unsigned __int128 made = (unsigned __int128) a * b;
        *high = (uint64_t) (made >> 64);
        return (uint64_t) made;
    }
    #else
    static CYTHON_INLINE uint64_t kserdes_product(uint64_t a, uint64_t b, uint64_t* high) {
        uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
        uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32), two = a0 * b1 + (one & 0xFFFFFFFFu);
        *high = a1 * b1 + (one >> 32) + (two >> 32);
        return (two << 32) | (low & 0xFFFFFFFFu);
    }
    #endif
    """
    uint64_t product "kserdes_product" (uint64_t a, uint64_t b, uint64_t* high) noexcept nogil

cdef enum:
    LEAST_POWER = -292
    GREATEST_POWER = 324
    POWERS = 617
    PLAIN_EXPONENT = 16       # from 1e16 on numbers have an exponent
    LEAST_PLAIN = -5          # as those below 0.00001 have

cdef uint64_t[POWERS] HIGH
cdef uint64_t[POWERS] LOW
cdef uint8_t[200] PAIRS


cdef int fill() except -1:
    """10^k = (high, low) / 2^127 * 2^floor(log2(10^k)), rounded up."""
    cdef int at
    for at in range(POWERS):
        power = at + LEAST_POWER
        if power >= 0:
            number = 10**power
            shift = 127 - (number.bit_length() - 1)
            scaled = number << shift if shift >= 0 else -(-number >> -shift)
        else:
            number = 10**-power
            scaled = -(-(1 << (127 + number.bit_length())) // number)
        assert scaled.bit_length() == 128
        HIGH[at] = scaled >> 64
        LOW[at] = scaled & 0xFFFFFFFFFFFFFFFF
    for at in range(100):
        PAIRS[2 * at] = 48 + at // 10
        PAIRS[2 * at + 1] = 48 + at % 10
    return 0


fill()


cdef inline int digits_of(uint64_t value) noexcept nogil:
    """The number of decimal digits."""
    cdef int count = 0
    while value >= 10000:
        value = value // 10000
        count += 4
    return count + 1 + (value >= 10) + (value >= 100) + (value >= 1000)


cdef inline void put_digits(uint64_t value, uint8_t* out, int count) noexcept nogil:
    """A number that has `count` digits, from its end on."""
    while count >= 2:
        count -= 2
        memcpy(out + count, PAIRS + 2 * (value % 100), 2)
        value = value // 100
    if count:
        out[0] = <uint8_t>(48 + value)


cdef int write_whole(uint64_t value, uint8_t* out) noexcept nogil:
    cdef int count = digits_of(value)
    put_digits(value, out, count)
    return count


# --- writing


cdef inline uint64_t rounded_to_odd(uint64_t high, uint64_t low, uint64_t factor) noexcept nogil:
    """The upper 64 bits of the product, whose lowest bit is set if anything is below."""
    cdef uint64_t carried = 0, top = 0, middle
    product(low, factor, &carried)
    middle = product(high, factor, &top) + carried
    top += middle < carried
    return top | (middle > 1)


cdef void decimal_of(uint64_t fraction, int exponent, uint64_t* digits, int* power) noexcept nogil:
    """The shortest decimal of a number that is not zero: its fraction and exponent as they stand in its bits."""
    cdef uint64_t number = fraction, below, middle, above, least, most, four, tens, high, low
    cdef int binary = -1074, k, shift
    cdef bint odd, lower_is_closer = fraction == 0 and exponent > 1, at_least, at_most
    if exponent:
        number |= 1ULL << 52
        binary = exponent - 1075
    if -52 <= binary <= 0 and not number & ((1ULL << -binary) - 1):
        digits[0] = number >> -binary             # a whole number of 53 bits
        power[0] = 0
        return
    odd = number & 1
    k = (binary * 1262611 - (524031 if lower_is_closer else 0)) >> 22
    shift = binary + ((-k * 1741647) >> 19) + 1
    high, low = HIGH[-k - LEAST_POWER], LOW[-k - LEAST_POWER]
    below = rounded_to_odd(high, low, (4 * number - 2 + <uint64_t>lower_is_closer) << shift)
    middle = rounded_to_odd(high, low, (4 * number) << shift)
    above = rounded_to_odd(high, low, (4 * number + 2) << shift)
    least, most = below + <uint64_t>odd, above - <uint64_t>odd
    four = middle // 4
    power[0] = k
    if four >= 10:
        tens = four // 10
        at_least, at_most = least <= 40 * tens, 40 * tens + 40 <= most
        if at_least != at_most:
            digits[0] = tens + <uint64_t>at_most
            power[0] = k + 1
            return
    at_least, at_most = least <= 4 * four, 4 * four + 4 <= most
    if at_least != at_most:
        digits[0] = four + <uint64_t>at_most
        return
    least = 4 * four + 2
    if middle > least or (middle == least and four & 1 == 1):
        four += 1
    digits[0] = four


cdef int write_double(double value, uint8_t* out) noexcept nogil:
    cdef uint64_t bits, digits = 0
    cdef uint8_t text[20]
    cdef int power = 0, count, point, made = 0, exponent
    memcpy(&bits, &value, 8)
    if bits >> 63:
        out[0] = 45
        made = 1
    if not bits << 1:
        memcpy(out + made, b"0.0", 3)
        return made + 3
    decimal_of(bits & 0xFFFFFFFFFFFFFULL, <int>(bits >> 52) & 0x7FF, &digits, &power)
    while digits % 10 == 0:
        if digits % 10000 == 0:
            digits = digits // 10000
            power += 4
        else:
            digits = digits // 10
            power += 1
    count = write_whole(digits, text)
    point = count + power                         # 0.digits * 10^point
    if count <= point <= PLAIN_EXPONENT:
        memcpy(out + made, text, count)
        memset(out + made + count, 48, point - count)
        memcpy(out + made + point, b".0", 2)
        return made + point + 2
    if 0 < point <= PLAIN_EXPONENT:
        memcpy(out + made, text, point)
        out[made + point] = 46
        memcpy(out + made + point + 1, text + point, count - point)
        return made + count + 1
    if LEAST_PLAIN < point <= 0:
        memcpy(out + made, b"0.", 2)
        memset(out + made + 2, 48, -point)
        memcpy(out + made + 2 - point, text, count)
        return made + 2 - point + count
    out[made] = text[0]
    made += 1
    if count > 1:
        out[made] = 46
        memcpy(out + made + 1, text + 1, count - 1)
        made += count
    exponent = point - 1
    out[made] = 101
    out[made + 1] = 45 if exponent < 0 else 43
    return made + 2 + write_whole(<uint64_t>(-exponent if exponent < 0 else exponent), out + made + 2)


# --- reading


cdef bint read_double(uint64_t digits, int64_t exponent, double* value) noexcept nogil:
    """The nearest number to digits * 10^exponent; False where the table's rounding leaves open which that is."""
    cdef uint64_t carried = 0, top = 0, middle, rest, half, bits
    cdef int lead = 0
    cdef int64_t binary
    if digits == 0:
        value[0] = 0.0
        return True
    if not LEAST_POWER <= exponent <= 288:        # neither below the normal numbers nor beyond all
        return False
    while not digits >> 63:
        digits <<= 1
        lead += 1
    product(LOW[exponent - LEAST_POWER], digits, &carried)
    middle = product(HIGH[exponent - LEAST_POWER], digits, &top) + carried
    top += middle < carried
    # The value is (top, middle) / 2^127 * 2^binary, or less by 2 of the last places.
    binary = ((exponent * 217706) >> 16) + 63 - lead + 1
    if not top >> 63:
        top = top << 1 | middle >> 63
        middle <<= 1
        binary -= 1
    rest = top & 0x7FF
    half = 0x400
    if (rest == half or rest == 0) and middle <= 4:
        return False                              # next to halfway, or to a number
    if rest == half - 1 and middle >= 0xFFFFFFFFFFFFFFF0ULL:
        return False
    bits = top >> 11
    if rest >= half:
        bits += 1
        if bits >> 53:
            bits >>= 1
            binary += 1
    if not -1022 <= binary <= 1023:
        return False
    bits = (bits & 0xFFFFFFFFFFFFFULL) | <uint64_t>(binary + 1023) << 52
    memcpy(value, &bits, 8)
    return True


def shortest(double value):
    """The text of a finite number, as kernels write it.

    Raises:
        ValueError: it is not finite.
    """
    cdef uint8_t out[LONGEST_DOUBLE]
    if value - value != 0:
        raise ValueError("the number is not finite")
    cdef int size = write_double(value, out)
    return <bytes>(<char*>out)[:size]


def nearest(uint64_t digits, int64_t exponent):
    """The nearest number to digits * 10^exponent; None where that takes more than kernels do."""
    cdef double value = 0
    return value if read_double(digits, exponent, &value) else None
