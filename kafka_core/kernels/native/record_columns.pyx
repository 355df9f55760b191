# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""Rows of Arrow columns that are to be sent: buffers in, places in them out. The twin of `pure/record_columns.py`.

Must not know of pyarrow or of what is done with the rows. Every read is checked against its buffer first: columns come
from callers. Spec: https://arrow.apache.org/docs/format/Columnar.html.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from kafka_core.kernels.native.wire cimport ks_put_varint, ks_varint_size

cdef Py_ssize_t MOST_ROWS = 1 << 48


cdef class Part:
    """A buffer, held while it is looked at."""

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef Part hold(object buffer):
    cdef Part part = Part.__new__(Part)
    PyObject_GetBuffer(buffer, &part.view, PyBUF_SIMPLE)
    part.held = True
    part.data, part.size = <const uint8_t*>part.view.buf, part.view.len
    return part


cdef Py_ssize_t count_of(object number, str what) except -1:
    if not isinstance(number, int) or not 0 <= number < MOST_ROWS:
        raise ValueError(f"{what} {number!r}")
    return number


cdef class Slots:
    """Base of all columns: a first row, and which rows are there."""

    cdef int check(self, first, validity, Py_ssize_t rows) except -1:
        self.first = count_of(first, "a column can't begin at row")
        if validity is not None:
            self.bits = hold(validity)
            if self.bits.size < (self.first + rows + 7) // 8:
                raise ValueError("a column's validity has not as many bits as there are rows")
        return 0

    cdef bint is_null(self, Py_ssize_t row) noexcept:
        cdef Py_ssize_t at = self.first + row
        return self.bits is not None and not (self.bits.data[at >> 3] >> (at & 7)) & 1


cdef class Numbers(Slots):
    """A column of whole numbers."""

    cdef int64_t get(self, Py_ssize_t row) noexcept:
        cdef int64_t wide
        cdef int32_t narrow
        cdef Py_ssize_t at = self.first + row
        if self.wide:
            memcpy(&wide, self.data.data + at * 8, 8)
            return wide
        memcpy(&narrow, self.data.data + at * 4, 4)
        return narrow


cdef Numbers numbers(object first, object validity, object data, Py_ssize_t rows, bint wide):
    cdef Numbers made = Numbers.__new__(Numbers)
    made.check(first, validity, rows)
    made.data, made.wide = hold(data), wide
    if made.data.size // (8 if wide else 4) < made.first + rows:
        raise ValueError("a column of numbers has not as many as there are rows")
    return made


cdef class Bytes(Slots):
    """A column of bytes or text."""

    cdef Py_ssize_t get(self, Py_ssize_t row, const uint8_t** data) except -2:
        """Points at the bytes of a row; their number, -1 for null."""
        cdef int64_t begin, end
        if self.is_null(row):
            data[0] = NULL
            return -1
        begin, end = self.ends.get(row), self.ends.get(row + 1)
        if not 0 <= begin <= end <= self.data.size:
            raise ValueError(f"row {row} of a column is outside of its buffer")
        data[0] = self.data.data + begin
        return <Py_ssize_t>(end - begin)


cdef Bytes byte_column(object column, Py_ssize_t rows):
    cdef Bytes made = Bytes.__new__(Bytes)
    first, validity, ends, data, wide = column
    made.check(first, validity, rows)
    made.ends = numbers(first, None, ends, rows + 1, bool(wide))
    made.data = hold(data)
    return made


cdef class Headers(Slots):
    """A column of headers."""

    cdef bytes get(self, Py_ssize_t row):
        """The header section of a record; b"" for none."""
        cdef int64_t begin, end
        cdef Py_ssize_t at, size, name_size, value_size
        cdef const uint8_t* name
        cdef const uint8_t* value
        cdef uint8_t* out
        cdef bytes section
        if self.is_null(row):
            return b""
        begin, end = self.ends.get(row), self.ends.get(row + 1)
        if not 0 <= begin <= end <= self.items:
            raise ValueError(f"the headers of row {row} are outside of their buffer")
        if begin == end:
            return b""
        size = ks_varint_size(end - begin)
        for at in range(begin, end):
            name_size = self.names.get(at, &name)
            if name_size < 0:
                raise ValueError(f"a header of row {row} has no name")
            PyUnicode_DecodeUTF8(<const char*>name, name_size, NULL)
            value_size = self.values.get(at, &value)
            size += ks_varint_size(name_size) + name_size + ks_varint_size(value_size) + max(value_size, 0)
        section = PyBytes_FromStringAndSize(NULL, size)
        out = ks_put_varint(<uint8_t*>PyBytes_AS_STRING(section), end - begin)
        for at in range(begin, end):
            name_size = self.names.get(at, &name)
            out = ks_put_varint(out, name_size)
            memcpy(out, name, name_size)
            value_size = self.values.get(at, &value)
            out = ks_put_varint(out + name_size, value_size)
            if value_size > 0:
                memcpy(out, value, value_size)
                out += value_size
        return section


cdef Headers header_column(object column, Py_ssize_t rows):
    cdef Headers made = Headers.__new__(Headers)
    first, validity, ends, items, names, values = column
    made.check(first, validity, rows)
    made.ends = numbers(first, None, ends, rows + 1, False)
    made.items = count_of(items, "there can't be this number of headers:")
    made.names, made.values = byte_column(names, made.items), byte_column(values, made.items)
    return made


cdef class Rows:
    """The rows of columns.

    Raises:
        ValueError: a column has fewer rows than are said, or its buffers don't hold them.
        TypeError: something is no column.
    """

    def __cinit__(self, columns):
        rows, value, key, partition, timestamp_ms, headers = columns
        self.rows = count_of(rows, "there can't be this number of rows:")
        if value is not None:
            self.value = byte_column(value, self.rows)
        if key is not None:
            self.key = byte_column(key, self.rows)
        if partition is not None:
            first, validity, data = partition
            self.partition = numbers(first, validity, data, self.rows, False)
        if timestamp_ms is not None:
            first, validity, data = timestamp_ms
            self.timestamp_ms = numbers(first, validity, data, self.rows, True)
        if headers is not None:
            self.headers = header_column(headers, self.rows)
