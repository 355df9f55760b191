# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Avro's logical types, compiled: the common values by arithmetic, all others by the function that the node was given.

The twin of `pure/avro_logical.py`, where the functions do all. Each function is the specification of its node.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.datetime cimport (
    PyDate_CheckExact,
    PyDateTime_CheckExact,
    PyTime_CheckExact,
    date_new,
    datetime_day,
    datetime_hour,
    datetime_microsecond,
    datetime_minute,
    datetime_month,
    datetime_new,
    datetime_second,
    datetime_tzinfo,
    datetime_year,
    date_day,
    date_month,
    date_year,
    import_datetime,
    time_hour,
    time_microsecond,
    time_minute,
    time_new,
    time_second,
    time_tzinfo,
)
from cpython.long cimport PyLong_FromLongLong
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t

import datetime
import decimal
import uuid

from serdes.kernels.native.avro cimport (
    Out,
    ReadConverted,
    Reader,
    ReadFixed,
    ReadInt,
    Source,
    WriteInt,
    WritePrepared,
    Writer,
    need,
    new_text,
    put,
    put_byte,
    put_long,
    take,
    take_long,
)

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object, object, object) except -1
    object PyUnicode_New(Py_ssize_t, Py_UCS4)
    void* PyUnicode_DATA(object)
    bint PyUnicode_IS_COMPACT_ASCII(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    object PyLong_FromUnsignedLongLong(unsigned long long)
    unsigned long long PyLong_AsUnsignedLongLongMask(object) except? 0xFFFFFFFFFFFFFFFF
    object PyObject_Str(object)

import_datetime()

cdef object UTC = datetime.timezone.utc
cdef object Decimal = decimal.Decimal
cdef object UUID = uuid.UUID
cdef object SAFE_UNKNOWN = uuid.SafeUUID.unknown
cdef object HALF = 64
cdef int64_t DAY = 86400
cdef int64_t FIRST_SECOND = -62135596800
cdef int64_t LAST_SECOND = 253402300799
cdef int64_t FIRST_DAY = -719162
cdef int64_t LAST_DAY = 2932896


cdef inline int64_t days_of(int64_t year, int month, int day) noexcept:
    """Days from 1970-01-01 to a date of years 1 to 9999."""
    cdef int64_t era, of_era, of_year
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


cdef inline void date_of(int64_t days, int* year, int* month, int* day) noexcept:
    """The date of years 1 to 9999 so many days after 1970-01-01."""
    cdef int64_t era, of_era, years, of_year, part
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    part = (5 * of_year + 2) // 153
    day[0] = <int>(of_year - (153 * part + 2) // 5 + 1)
    month[0] = <int>(part + 3 if part < 10 else part - 9)
    year[0] = <int>(years + era * 400 + (month[0] <= 2))


# --- writing


cdef class WriteInstant(WritePrepared):
    """A point in time: of UTC, or without a time zone."""

    cdef int64_t units
    cdef object zone

    def __init__(self, prepare, Writer inner not None, int64_t units, bint utc):
        WritePrepared.__init__(self, prepare, inner)
        self.units = units if units <= 1000000 else 0
        self.zone = UTC if utc else None

    cdef int write(self, Out* out, object value) except -1:
        cdef int64_t seconds
        if PyDateTime_CheckExact(value) and datetime_tzinfo(value) is self.zone and self.units:
            seconds = days_of(datetime_year(value), datetime_month(value), datetime_day(value)) * DAY
            seconds += datetime_hour(value) * 3600 + datetime_minute(value) * 60 + datetime_second(value)
            return put_long(out, seconds * self.units + datetime_microsecond(value) * self.units // 1000000)
        return self.inner.write(out, self.prepare(value))


cdef class WriteDate(WritePrepared):
    """A date."""

    cdef int write(self, Out* out, object value) except -1:
        if PyDate_CheckExact(value):
            return put_long(out, days_of(date_year(value), date_month(value), date_day(value)))
        return self.inner.write(out, self.prepare(value))


cdef class WriteTimeOfDay(WritePrepared):
    """A time of day."""

    cdef int64_t units

    def __init__(self, prepare, Writer inner not None, int64_t units):
        WritePrepared.__init__(self, prepare, inner)
        self.units = units

    cdef int write(self, Out* out, object value) except -1:
        cdef int64_t seconds
        if PyTime_CheckExact(value) and time_tzinfo(value) is None and self.units:
            seconds = time_hour(value) * 3600 + time_minute(value) * 60 + time_second(value)
            return put_long(out, seconds * self.units + time_microsecond(value) * self.units // 1000000)
        return self.inner.write(out, self.prepare(value))


cdef class WriteDecimal(WritePrepared):
    """A decimal of up to 18 digits; longer ones, and those in scientific notation, by the function."""

    cdef int scale
    cdef int64_t bound
    cdef Py_ssize_t size

    def __init__(self, prepare, Writer inner not None, precision, scale, size):
        WritePrepared.__init__(self, prepare, inner)
        self.bound = 10 ** min(precision, 18)
        self.scale = min(scale, 1000)
        self.size = -1 if size is None else size

    cdef int write(self, Out* out, object value) except -1:
        cdef int64_t number = 0
        if type(value) is Decimal and self.bound and self.unscaled(PyObject_Str(value), &number):
            return self.put_number(out, number)
        return self.inner.write(out, self.prepare(value))

    cdef bint unscaled(self, object text, int64_t* number) noexcept:
        """Whether the decimal is a small one that fits, and its digits as a number."""
        cdef const char* at = <const char*>PyUnicode_DATA(text)
        cdef const char* end
        cdef int64_t made = 0
        cdef int digits = 0, after = -1
        cdef bint negative
        if not PyUnicode_IS_COMPACT_ASCII(text):
            return False
        end = at + PyUnicode_GET_LENGTH(text)
        negative = at[0] == c"-"
        at += negative
        while at < end:
            if c"0" <= at[0] <= c"9":
                if digits == 18:  # more do not fit
                    return False
                made = made * 10 + (at[0] - c"0")
                digits += 1
                after += after >= 0
            elif at[0] == c"." and after < 0:
                after = 0
            else:
                return False
            at += 1
        after = max(after, 0)
        if digits == 0 or after > self.scale:
            return False
        while after < self.scale:
            if made >= 100000000000000000:
                return False
            made *= 10
            after += 1
        if made >= self.bound:
            return False
        number[0] = -made if negative else made
        return True

    cdef int put_number(self, Out* out, int64_t number) except -1:
        """In two's complement with a bit for the sign, or as long as the fixed type is."""
        cdef Py_ssize_t size = 1, at
        cdef char* data
        cdef int64_t rest = -number if number < 0 else number
        if self.size >= 0:
            size = self.size
        else:
            while rest > 127:
                rest >>= 8
                size += 1
            put_byte(out, <char>(size << 1))
        need(out, size)
        data = out.data + out.size
        for at in range(size - 1, -1, -1):
            data[at] = <char>(number & 0xFF)
            number >>= 8
        out.size += size
        return 0


cdef const char* HEX = "0123456789abcdef"


cdef class WriteUUID(WritePrepared):
    """A UUID, as text or as 16 bytes."""

    cdef bint text

    def __init__(self, prepare, Writer inner not None, bint text):
        WritePrepared.__init__(self, prepare, inner)
        self.text = text

    cdef int write(self, Out* out, object value) except -1:
        cdef uint8_t data[16]
        cdef uint64_t half
        cdef int at, part
        cdef char* made
        if type(value) is not UUID:
            return self.inner.write(out, self.prepare(value))
        number = value.int
        for part in range(2):
            half = PyLong_AsUnsignedLongLongMask(number if part else number >> HALF)
            for at in range(7, -1, -1):
                data[part * 8 + at] = half & 0xFF
                half >>= 8
        if not self.text:
            return put(out, <char*>data, 16)
        need(out, 37)
        made = out.data + out.size
        made[0] = 72
        made += 1
        for at in range(16):
            if at == 4 or at == 6 or at == 8 or at == 10:
                made[0] = c"-"
                made += 1
            made[0] = HEX[data[at] >> 4]
            made[1] = HEX[data[at] & 15]
            made += 2
        out.size += 37
        return 0


# --- reading


cdef class ReadInstant(ReadConverted):
    """A point in time: of UTC, or without a time zone."""

    cdef int64_t units
    cdef object zone
    cdef ReadInt number

    def __init__(self, ReadInt inner not None, convert, int64_t units, bint utc):
        ReadConverted.__init__(self, inner, convert)
        self.number = inner
        self.units = units
        self.zone = UTC if utc else None

    cdef object read(self, Source* source):
        cdef int64_t given, number, rest, days
        cdef int year, month, day, seconds
        self.number.number(source, &given)
        number, rest = given // self.units, given % self.units  # towards 0, as C has it
        if rest < 0:
            number -= 1
            rest += self.units
        if number < FIRST_SECOND or number > LAST_SECOND:
            return self.convert(PyLong_FromLongLong(given))
        seconds = <int>(number % DAY)
        if seconds < 0:
            seconds += <int>DAY
        days = (number - seconds) // DAY
        date_of(days, &year, &month, &day)
        rest = rest * (1000000 // self.units)
        return datetime_new(
            year, month, day, seconds // 3600, seconds % 3600 // 60, seconds % 60, <int>rest, self.zone, 0
        )


cdef class ReadDate(ReadConverted):
    """A date."""

    cdef ReadInt number

    def __init__(self, ReadInt inner not None, convert):
        ReadConverted.__init__(self, inner, convert)
        self.number = inner

    cdef object read(self, Source* source):
        cdef int64_t number
        cdef int year, month, day
        self.number.number(source, &number)
        if number < FIRST_DAY or number > LAST_DAY:
            return self.convert(PyLong_FromLongLong(number))
        date_of(number, &year, &month, &day)
        return date_new(year, month, day)


cdef class ReadTimeOfDay(ReadConverted):
    """A time of day."""

    cdef int64_t units
    cdef ReadInt number

    def __init__(self, ReadInt inner not None, convert, int64_t units):
        ReadConverted.__init__(self, inner, convert)
        self.number = inner
        self.units = units

    cdef object read(self, Source* source):
        cdef int64_t number, rest
        cdef int seconds
        self.number.number(source, &number)
        if number < 0 or number >= DAY * self.units:
            return self.convert(PyLong_FromLongLong(number))
        rest = number % self.units * (1000000 // self.units)
        seconds = <int>(number // self.units)
        return time_new(seconds // 3600, seconds % 3600 // 60, seconds % 60, <int>rest, None, 0)


cdef class ReadDecimal(ReadConverted):
    """A decimal of up to 18 digits; longer ones by the function."""

    cdef int scale
    cdef Py_ssize_t size

    def __init__(self, Reader inner not None, convert, scale):
        ReadConverted.__init__(self, inner, convert)
        self.scale = min(scale, 1000)
        self.size = (<ReadFixed>inner).size if isinstance(inner, ReadFixed) else -1

    cdef object read(self, Source* source):
        cdef int64_t size = self.size, number, rest
        cdef const char* data
        cdef char made[24]
        cdef int at = 24, digits = 0
        if size < 0:
            take_long(source, &size)
        data = take(source, size)
        if not 0 < size <= 8 or self.scale > 17:
            return self.convert(PyBytes_FromStringAndSize(data, size))
        number = <signed char>data[0]
        for at in range(1, <int>size):
            number = number * 256 + <uint8_t>data[at]  # a shift of a negative number is not defined in C
        rest = <int64_t>(0 - <uint64_t>number) if number < 0 else number
        if rest < 0 or rest >= 1000000000000000000:
            return self.convert(PyBytes_FromStringAndSize(data, size))
        at = 24
        while rest or digits <= self.scale:
            if digits and digits == self.scale:
                at -= 1
                made[at] = c"."
            at -= 1
            made[at] = <char>(c"0" + rest % 10)
            rest //= 10
            digits += 1
        if number < 0:
            at -= 1
            made[at] = c"-"
        return Decimal(new_text(made + at, 24 - at))


cdef class ReadUUID(ReadConverted):
    """A UUID, from text or from 16 bytes."""

    cdef bint text

    def __init__(self, Reader inner not None, convert):
        ReadConverted.__init__(self, inner, convert)
        self.text = not isinstance(inner, ReadFixed)

    cdef object read(self, Source* source):
        cdef int64_t size = 16
        cdef const char* data
        cdef uint64_t half[2]
        cdef int at, place = 0
        cdef uint8_t digit
        if self.text:
            take_long(source, &size)
        data = take(source, size)
        half[0] = half[1] = 0
        if not self.text:
            for at in range(16):
                half[at >> 3] = half[at >> 3] << 8 | <uint8_t>data[at]
            return new_uuid(half[0], half[1])
        if size != 36:
            return self.convert(new_text(data, size))
        for at in range(36):
            if at == 8 or at == 13 or at == 18 or at == 23:
                if data[at] != c"-":
                    return self.convert(new_text(data, size))
                continue
            digit = <uint8_t>data[at]
            if c"0" <= digit <= c"9":
                digit -= c"0"
            elif c"a" <= digit <= c"f":
                digit -= c"a" - 10
            elif c"A" <= digit <= c"F":
                digit -= c"A" - 10
            else:
                return self.convert(new_text(data, size))
            half[place >> 4] = half[place >> 4] << 4 | digit
            place += 1
        return new_uuid(half[0], half[1])


cdef object new_uuid(uint64_t high, uint64_t low):
    made = UUID.__new__(UUID)
    number = PyLong_FromUnsignedLongLong(high) << HALF | PyLong_FromUnsignedLongLong(low)
    PyObject_GenericSetAttr(made, "int", number)
    PyObject_GenericSetAttr(made, "is_safe", SAFE_UNKNOWN)
    return made
