# What writes and reads, for the modules that add nodes of their own.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy


cdef struct Out:
    char* data
    Py_ssize_t size
    Py_ssize_t room
    int depth
    PyObject* memo


cdef int grow(Out* out, Py_ssize_t more) except -1
cdef int misplaced(tuple names, Py_ssize_t at) except -1
cdef int deeper(Out* out) except -1
cdef int put_text(Out* out, object text) except -1
cdef dict memo_of(Out* out)


cdef inline int need(Out* out, Py_ssize_t more) except -1:
    if more > out.room - out.size:
        grow(out, more)
    return 0


cdef inline int put(Out* out, const char* data, Py_ssize_t size) except -1:
    need(out, size)
    memcpy(out.data + out.size, data, size)
    out.size += size
    return 0


cdef inline int put_byte(Out* out, char byte) except -1:
    need(out, 1)
    out.data[out.size] = byte
    out.size += 1
    return 0


cdef inline int put_long(Out* out, int64_t value) except -1:
    cdef uint64_t number = (<uint64_t>value << 1) ^ <uint64_t>(value >> 63)
    cdef char* at
    need(out, 10)
    at = out.data + out.size
    while number > 0x7F:
        at[0] = <char>((number & 0x7F) | 0x80)
        at += 1
        number >>= 7
    at[0] = <char>number
    out.size = at + 1 - out.data
    return 0


cdef inline int put_bytes(Out* out, bytes data) except -1:
    put_long(out, PyBytes_GET_SIZE(data))
    return put(out, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef class Writer:
    cdef int write(self, Out* out, object value) except -1


cdef class WriteNull(Writer):
    pass


cdef class WriteInt(Writer):
    cdef int64_t low, high
    cdef object what


cdef class WritePrepared(Writer):
    cdef object prepare
    cdef Writer inner


cdef class WriteRecord(Writer):
    cdef object what
    cdef bint strict, allow_default
    cdef tuple names, nodes, defaults, nullable
    cdef frozenset known
    cdef int missing(self, Out* out, Py_ssize_t at) except -1


cdef struct Source:
    const char* at
    const char* end
    Py_ssize_t free
    int depth


cdef int sink(Source* source) except -1
cdef int long_number(Source* source, int64_t* number) except -1
cdef int ends() except -1
cdef object new_text(const char* data, Py_ssize_t size)
cdef void open_source(Source* source, bytes data, Py_ssize_t skip, Py_ssize_t free) noexcept


cdef inline int take_long(Source* source, int64_t* number) except -1:
    cdef uint8_t byte
    if source.at < source.end:
        byte = <uint8_t>source.at[0]
        if byte < 0x80:
            source.at += 1
            number[0] = (byte >> 1) ^ -<int64_t>(byte & 1)
            return 0
        if source.end - source.at > 1 and <uint8_t>source.at[1] < 0x80:
            number[0] = ((byte & 0x7F) >> 1 | <int64_t>source.at[1] << 6) ^ -<int64_t>(byte & 1)
            source.at += 2
            return 0
    return long_number(source, number)


cdef inline const char* take(Source* source, int64_t size) except NULL:
    cdef const char* start = source.at
    if size < 0 or size > source.end - source.at:
        ends()
    source.at += size
    return start


cdef class Reader:
    cdef object read(self, Source* source)


cdef class ReadInt(Reader):
    cdef bint short
    cdef inline int number(self, Source* source, int64_t* found) except -1:
        take_long(source, found)
        if self.short and not (-2147483648 <= found[0] <= 2147483647):
            self.too_long()
        return 0
    cdef int too_long(self) except -1




cdef class ReadFixed(Reader):
    cdef Py_ssize_t size


cdef class ReadConverted(Reader):
    cdef Reader inner
    cdef object convert


cdef class ReadRecord(Reader):
    cdef tuple names, nodes, fresh
    cdef list kept
    cdef dict constants, template


cdef object fresh_value(name, bytes data, Reader node)
