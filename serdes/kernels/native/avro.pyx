# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Avro's binary encoding, compiled. The twin of `pure/avro.py`, which is the specification.

Each node writes or reads one type by a C call; what is not of exactly Python's own types goes through the functions of
`serdes.kernels.misfit`, as it does there.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_CheckExact, PyDict_Copy, PyDict_Next, PyDict_SetItem
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyFloat_FromDouble
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact, PyLong_FromLongLong
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import sys

from serdes.kernels import misfit as avro_misfit
from serdes.kernels.misfit import Misfit

from serdes.kernels.native.uncaught cimport raised, taken

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    bint PyUnicode_CheckExact(object)
    bint PyUnicode_IS_COMPACT_ASCII(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    void* PyUnicode_DATA(object)
    object PyUnicode_New(Py_ssize_t, Py_UCS4)
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef int MAX_DEPTH = avro_misfit.MAX_DEPTH
cdef str DEEP = f"nested deeper than {MAX_DEPTH} levels"
cdef str ENDS = "the payload ends inside the value: truncated, or not of this schema"
cdef Py_ssize_t ROOM = 512
cdef Py_ssize_t ROOM_KEPT = 1 << 16
cdef double LARGEST_SINGLE = 2.0**128 - 2.0**103
cdef object plain = avro_misfit.plain
cdef object refuse = avro_misfit.refuse
cdef object out_of_range = avro_misfit.out_of_range


cdef int grow(Out* out, Py_ssize_t more) except -1:
    cdef Py_ssize_t room = out.room
    cdef char* data
    while more > room - out.size:
        room *= 2
    data = <char*>PyMem_Realloc(out.data, room)
    if data == NULL:
        raise MemoryError()
    out.data = data
    out.room = room
    return 0


cdef int misplaced(tuple names, Py_ssize_t at) except -1:
    """Raises the error that is set; a misfit is told the name it was at, or the item without names; nothing with -1."""
    try:
        return raised()
    except Misfit as error:
        if at >= 0:
            error.parts.append(f"[{at}]" if names is None else names[at])
        raise


cdef int deeper(Out* out) except -1:
    out.depth += 1
    if out.depth > MAX_DEPTH:
        raise Misfit(f"the value is {DEEP}")
    return 0


cdef class Writer:
    """Writes values of one type."""

    cdef int write(self, Out* out, object value) except -1:
        raise NotImplementedError


cdef class WriteNull(Writer):
    """Null."""

    cdef int write(self, Out* out, object value) except -1:
        if value is not None:
            refuse(value, "null")
        return 0


cdef class WriteBoolean(Writer):
    """A boolean."""

    cdef int write(self, Out* out, object value) except -1:
        if value is not True and value is not False:
            value = plain(value)
            if value is not True and value is not False:
                refuse(value, "boolean")
        return put_byte(out, value is True)


cdef class WriteInt(Writer):
    """A whole number within bounds."""

    def __init__(self, int64_t low, int64_t high, what):
        self.low = low
        self.high = high
        self.what = what

    cdef int write(self, Out* out, object value) except -1:
        cdef int over = 0
        cdef int64_t number
        whole = value if PyLong_CheckExact(value) else avro_misfit.whole_of(value, self.what)
        number = PyLong_AsLongLongAndOverflow(whole, &over)
        if over or number < self.low or number > self.high:
            out_of_range(value, self.what)
        return put_long(out, number)


cdef class WriteFloat(Writer):
    """A number of 32 bits."""

    cdef int write(self, Out* out, object value) except -1:
        cdef double number
        cdef float single
        if PyFloat_CheckExact(value):
            number = PyFloat_AS_DOUBLE(value)
            if not (-LARGEST_SINGLE < number < LARGEST_SINGLE):
                avro_misfit.single(value, "float")
        else:
            number = avro_misfit.single_of(value, "float")
        single = <float>number
        return put(out, <char*>&single, 4)


cdef class WriteDouble(Writer):
    """A number of 64 bits."""

    cdef int write(self, Out* out, object value) except -1:
        cdef double number
        if PyFloat_CheckExact(value):
            number = PyFloat_AS_DOUBLE(value)
        else:
            number = avro_misfit.real_of(value, "double")
        return put(out, <char*>&number, 8)


cdef class WriteBytes(Writer):
    """Bytes with their length."""

    cdef object what

    def __init__(self, what):
        self.what = what

    cdef int write(self, Out* out, object value) except -1:
        return put_bytes(out, value if PyBytes_CheckExact(value) else avro_misfit.octets_of(value, self.what))


cdef int put_text(Out* out, object text) except -1:
    cdef Py_ssize_t size = 0
    cdef const char* data
    if PyUnicode_IS_COMPACT_ASCII(text):
        data = <const char*>PyUnicode_DATA(text)
        size = PyUnicode_GET_LENGTH(text)
    else:
        try:
            data = PyUnicode_AsUTF8AndSize(text, &size)
        except UnicodeEncodeError:
            raise Misfit("a text with half a surrogate pair has no form in UTF-8") from None
    put_long(out, size)
    return put(out, data, size)


cdef class WriteString(Writer):
    """Text with its length."""

    cdef object what

    def __init__(self, what):
        self.what = what

    cdef int write(self, Out* out, object value) except -1:
        return put_text(out, value if PyUnicode_CheckExact(value) else avro_misfit.text_of(value, self.what))


cdef class WriteFixed(Writer):
    """A fixed number of bytes."""

    cdef Py_ssize_t size
    cdef object what

    def __init__(self, Py_ssize_t size, what):
        self.size = size
        self.what = what

    cdef int write(self, Out* out, object value) except -1:
        cdef bytes data = value if PyBytes_CheckExact(value) else avro_misfit.octets_of(value, self.what)
        if PyBytes_GET_SIZE(data) != self.size:
            out_of_range(value, self.what)
        return put(out, PyBytes_AS_STRING(data), self.size)


cdef class WriteEnum(Writer):
    """A symbol of an enum."""

    cdef dict places
    cdef object what

    def __init__(self, places, what):
        self.places = dict(places)
        self.what = what

    cdef int write(self, Out* out, object value) except -1:
        symbol = value if PyUnicode_CheckExact(value) else avro_misfit.symbol_of(value, self.what)
        cdef PyObject* place = PyDict_GetItemWithError(self.places, symbol)
        if place == NULL:
            out_of_range(value, self.what)
        return put_long(out, <object>place)


ctypedef int (*WriteItems)(Writer, Out*, list, Py_ssize_t*) noexcept


cdef int write_items(Writer node, Out* out, list items, Py_ssize_t* at) except -1:
    while at[0] < PyList_GET_SIZE(items):
        node.write(out, <object>PyList_GET_ITEM(items, at[0]))
        at[0] += 1
    return 0


cdef class WriteArray(Writer):
    """Items in one block."""

    cdef object what
    cdef Writer item

    def __init__(self, what):
        self.what = what
        self.item = WriteNull()

    def fill(self, Writer item not None):
        """Says what the items are."""
        self.item = item

    cdef int write(self, Out* out, object value) except -1:
        cdef list items = value if PyList_CheckExact(value) else avro_misfit.items_of(value, self.what)
        cdef Py_ssize_t count = len(items), at = 0
        deeper(out)
        if count:
            put_long(out, count)
            if (<WriteItems>write_items)(self.item, out, items, &at) < 0:
                misplaced(None, at)
        if at != count:
            raise Misfit("the array changed while it was written")
        out.depth -= 1
        return put_byte(out, 0)


cdef class WriteMap(Writer):
    """Entries in one block."""

    cdef object what
    cdef Writer value

    def __init__(self, what):
        self.what = what
        self.value = WriteNull()

    def fill(self, Writer value not None):
        """Says what the values are."""
        self.value = value

    cdef int write(self, Out* out, object value) except -1:
        cdef dict entries = value if PyDict_CheckExact(value) else avro_misfit.entries_of(value, self.what)
        cdef Py_ssize_t count = len(entries), at = 0
        deeper(out)
        if count:
            put_long(out, count)
            try:
                for key, item in entries.items():
                    put_text(out, key if PyUnicode_CheckExact(key) else avro_misfit.text_of(key, "a key of a map"))
                    self.value.write(out, item)
                    at += 1
            except Misfit as error:
                error.parts.append(f"[entry {at}]")
                raise
        if at != count:
            raise Misfit("the map changed while it was written")
        out.depth -= 1
        return put_byte(out, 0)


ctypedef int (*WriteFields)(WriteRecord, Out*, dict, Py_ssize_t*) noexcept


cdef int write_fields(WriteRecord self, Out* out, dict record, Py_ssize_t* reached) except -1:
    cdef Py_ssize_t at, place = 0
    cdef tuple names = self.names, nodes = self.nodes
    cdef PyObject* name
    cdef PyObject* key
    cdef PyObject* found
    cdef bint ordered = True  # so far the value's keys have come in the schema's order: none was looked up
    for at in range(len(names)):  # an error for None, of a node that was never made ready
        reached[0] = at
        name = PyTuple_GET_ITEM(names, at)
        if ordered:
            ordered = PyDict_Next(record, &place, &key, &found) and key == name
        if not ordered:
            found = PyDict_GetItemWithError(record, <object>name)
            if found == NULL:
                self.missing(out, at)
                continue
        (<Writer>PyTuple_GET_ITEM(nodes, at)).write(out, <object>found)
    return 0


cdef class WriteRecord(Writer):
    """Fields in the schema's order."""

    def __init__(self, what, bint strict, bint allow_default):
        self.what = what
        self.strict = strict
        self.allow_default = allow_default
        self.fill(())

    def fill(self, fields):
        """Says what the fields are."""
        for _, node, _, _ in fields:
            if not isinstance(node, Writer):
                raise TypeError("a node is needed")
        self.names = tuple([sys.intern(name) for name, _, _, _ in fields])
        self.nodes = tuple([node for _, node, _, _ in fields])
        self.defaults = tuple([default for _, _, default, _ in fields])
        self.nullable = tuple([bool(nullable) for _, _, _, nullable in fields])
        self.known = frozenset(self.names)

    cdef int write(self, Out* out, object value) except -1:
        cdef dict record = value if PyDict_CheckExact(value) else avro_misfit.record_of(value, self.what)
        cdef Py_ssize_t at = 0
        if self.strict:
            for given in record:
                if given not in self.known and given != "-type":
                    raise Misfit(f"{given!r} is not a field of {self.what}")
        deeper(out)
        if (<WriteFields>write_fields)(self, out, record, &at) < 0:
            misplaced(self.names, at)
        out.depth -= 1
        return 0

    cdef int missing(self, Out* out, Py_ssize_t at) except -1:
        default = self.defaults[at]
        if self.strict and (default is None or not self.allow_default):
            raise Misfit("the field is missing")
        if type(default) is bytes:
            return put(out, PyBytes_AS_STRING(default), PyBytes_GET_SIZE(default))
        if default is not None:
            raise Misfit(default)
        if not self.nullable[at]:
            raise Misfit("the field is missing and has no default")
        return (<Writer>self.nodes[at]).write(out, None)


cdef dict memo_of(Out* out):
    """The memo: findings about parts of the value so far."""
    if out.memo == NULL:
        made = {}
        Py_INCREF(made)
        out.memo = <PyObject*>made
    return <dict>out.memo


cdef class WriteUnion(Writer):
    """A value of one of several types."""

    cdef dict quick
    cdef object choose
    cdef tuple branches

    def __init__(self, quick, choose):
        self.quick = dict(quick)
        self.choose = choose
        self.branches = ()

    def fill(self, branches):
        """Says what the branches are."""
        for node in branches:
            if not isinstance(node, Writer):
                raise TypeError("a node is needed")
        self.branches = tuple(branches)

    cdef int write(self, Out* out, object value) except -1:
        cdef PyObject* found = PyDict_GetItemWithError(self.quick, type(value))
        cdef Py_ssize_t place
        if found != NULL:
            place = <object>found
        else:
            place, value = self.choose(value, memo_of(out))
        if place < 0 or place >= len(self.branches):
            raise IndexError("no such branch")
        put_long(out, place)
        return (<Writer>PyTuple_GET_ITEM(self.branches, place)).write(out, value)


cdef class WritePrepared(Writer):
    """The result of a function for a value."""

    def __init__(self, prepare, Writer inner not None):
        self.prepare = prepare
        self.inner = inner

    cdef int write(self, Out* out, object value) except -1:
        return self.inner.write(out, self.prepare(value))


# --- reading


cdef int sink(Source* source) except -1:
    source.depth += 1
    if source.depth > MAX_DEPTH:
        raise Misfit(f"the payload is {DEEP}")
    return 0


cdef int ends() except -1:
    raise Misfit(ENDS)


cdef int long_number(Source* source, int64_t* number) except -1:
    cdef uint64_t result = 0
    cdef int shift = 0
    cdef uint8_t byte
    while shift < 70:
        if source.at >= source.end:
            raise Misfit(ENDS)
        byte = <uint8_t>source.at[0]
        source.at += 1
        if shift == 63 and byte > 1:
            break
        result |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            number[0] = <int64_t>(result >> 1) ^ -<int64_t>(result & 1)
            return 0
        shift += 7
    raise Misfit("a number of more than 64 bits")


cdef int spend(Source* source, int64_t count) except -1:
    if count > source.free:
        raise Misfit("too many array items that take no bytes (see avro.max.empty.items)")
    source.free -= count
    return 0


cdef int take_count(Source* source, int64_t* number) except -1:
    cdef int64_t size
    take_long(source, number)
    if number[0] < 0:
        if number[0] == INT64_MIN:  # the one number without a positive twin
            raise Misfit(ENDS)
        number[0] = -number[0]
        take_long(source, &size)
        if size < 0:
            raise Misfit("a block of a negative size")
    return 0


cdef void open_source(Source* source, bytes data, Py_ssize_t skip, Py_ssize_t free) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    source.at = PyBytes_AS_STRING(data) + (skip if skip < size else size)
    source.end = PyBytes_AS_STRING(data) + size
    source.free = free
    source.depth = 0


cdef class Reader:
    """Reads values of one type."""

    cdef object read(self, Source* source):
        raise NotImplementedError


cdef class ReadNull(Reader):
    """Null."""

    cdef object read(self, Source* source):
        return None


cdef class ReadBoolean(Reader):
    """A boolean."""

    cdef object read(self, Source* source):
        cdef uint8_t byte = <uint8_t>take(source, 1)[0]
        if byte > 1:
            raise Misfit("a boolean that is neither 0 nor 1")
        return byte == 1


cdef class ReadInt(Reader):
    """A whole number of 32 or 64 bits."""

    def __init__(self, int bits):
        self.short = bits == 32

    cdef object read(self, Source* source):
        cdef int64_t number
        self.number(source, &number)
        return PyLong_FromLongLong(number)

    cdef int too_long(self) except -1:
        raise Misfit("an int of more than 32 bits")


cdef class ReadFloat(Reader):
    """A number of 32 bits."""

    cdef object read(self, Source* source):
        cdef float number
        memcpy(&number, take(source, 4), 4)
        return PyFloat_FromDouble(number)


cdef class ReadDouble(Reader):
    """A number of 64 bits."""

    cdef object read(self, Source* source):
        cdef double number
        memcpy(&number, take(source, 8), 8)
        return PyFloat_FromDouble(number)


cdef class ReadBytes(Reader):
    """Bytes with their length."""

    cdef object read(self, Source* source):
        cdef int64_t size
        cdef const char* data
        take_long(source, &size)
        data = take(source, size)
        return PyBytes_FromStringAndSize(data, size)


cdef object new_text(const char* data, Py_ssize_t size):
    cdef Py_ssize_t at = 0
    cdef uint64_t eight, seen = 0
    if 1 < size <= 64:  # texts of one character are known already
        while at + 8 <= size:
            memcpy(&eight, data + at, 8)
            seen |= eight
            at += 8
        while at < size:
            seen |= <uint8_t>data[at]
            at += 1
        if not seen & <uint64_t>0x8080808080808080:
            made = PyUnicode_New(size, 127)
            memcpy(PyUnicode_DATA(made), data, size)
            return made
    try:
        return PyUnicode_DecodeUTF8(data, size, NULL)
    except UnicodeDecodeError:
        raise Misfit("a text that is not UTF-8") from None


cdef object text(Source* source):
    cdef int64_t size
    cdef const char* data
    take_long(source, &size)
    data = take(source, size)
    return new_text(data, size)


cdef class ReadString(Reader):
    """Text with its length."""

    cdef object read(self, Source* source):
        return text(source)


cdef class ReadFixed(Reader):
    """A fixed number of bytes."""

    def __init__(self, Py_ssize_t size):
        self.size = size

    cdef object read(self, Source* source):
        cdef const char* data = take(source, self.size)
        return PyBytes_FromStringAndSize(data, self.size)


cdef class ReadEnum(Reader):
    """A symbol of an enum."""

    cdef tuple symbols
    cdef object unknown

    def __init__(self, symbols, unknown):
        self.symbols = tuple(symbols)
        self.unknown = unknown

    cdef object read(self, Source* source):
        cdef int64_t place
        take_long(source, &place)
        if place < 0 or place >= len(self.symbols):
            raise Misfit(f"symbol {place} of an enum of {len(self.symbols)}")
        symbol = <object>PyTuple_GET_ITEM(self.symbols, place)
        if symbol is None:
            raise self.unknown()
        return symbol


cdef class ReadArray(Reader):
    """Items in blocks."""

    cdef bint free
    cdef Reader item

    def __init__(self, bint free):
        self.free = free
        self.item = ReadNull()

    def fill(self, Reader item not None):
        """Says what the items are."""
        self.item = item

    cdef object read(self, Source* source):
        cdef list made = []
        cdef bint inside = False
        sink(source)
        if (<ReadItems>read_items)(self, source, made, &inside) < 0:
            misplaced(None, len(made) if inside else -1)
        source.depth -= 1
        return made


ctypedef int (*ReadItems)(ReadArray, Source*, list, bint*) noexcept


cdef int read_items(ReadArray self, Source* source, list made, bint* inside) except -1:
    cdef int64_t count = 0
    cdef Reader node = self.item
    while True:
        take_count(source, &count)
        if count == 0:
            return 0
        if self.free:
            spend(source, count)
        elif count > source.end - source.at:
            raise Misfit(ENDS)
        inside[0] = True
        while count > 0:
            made.append(node.read(source))
            count -= 1
        inside[0] = False


cdef class ReadMap(Reader):
    """Entries in blocks."""

    cdef Reader value

    def __init__(self):
        self.value = ReadNull()

    def fill(self, Reader value not None):
        """Says what the values are."""
        self.value = value

    cdef object read(self, Source* source):
        cdef dict made = {}
        cdef int64_t count, at = 0
        cdef bint inside = False
        sink(source)
        try:
            while True:
                take_count(source, &count)
                if count == 0:
                    break
                if count > source.end - source.at:
                    raise Misfit(ENDS)
                inside = True
                while count > 0:
                    key = text(source)
                    made[key] = self.value.read(source)
                    count -= 1
                    at += 1
                inside = False
        except Misfit as error:
            if inside:
                error.parts.append(f"[entry {at}]")
            raise
        source.depth -= 1
        return made


cdef class ReadRecord(Reader):
    """Fields in the writer's order, then what the reader adds."""

    def __init__(self):
        self.fill((), {}, ())

    def fill(self, steps, constants, fresh):
        """Says what the fields are."""
        for _, _, node in (*steps, *fresh):
            if not isinstance(node, Reader):
                raise TypeError("a node is needed")
        self.names = tuple([sys.intern(name) for name, _, _ in steps])
        self.kept = [bool(kept) for _, kept, _ in steps]
        self.nodes = tuple([node for _, _, node in steps])
        self.constants = {sys.intern(name): value for name, value in constants.items()}
        self.fresh = tuple([(sys.intern(name), bytes(data), node) for name, data, node in fresh])
        self.template = {name: None for name, kept in zip(self.names, self.kept) if kept}
        self.template.update(self.constants)

    cdef object read(self, Source* source):
        cdef dict made = PyDict_Copy(self.template)
        cdef Py_ssize_t at = 0
        sink(source)
        if (<ReadFields>read_fields)(self, source, made, &at) < 0:
            misplaced(self.names, at)
        for name, data, node in self.fresh:
            made[name] = fresh_value(name, data, node)
        source.depth -= 1
        return made


ctypedef int (*ReadFields)(ReadRecord, Source*, dict, Py_ssize_t*) noexcept


cdef int read_fields(ReadRecord self, Source* source, dict made, Py_ssize_t* reached) except -1:
    cdef Py_ssize_t at
    cdef tuple names = self.names, nodes = self.nodes
    cdef list kept = self.kept
    for at in range(PyTuple_GET_SIZE(nodes)):
        reached[0] = at
        value = (<Reader>PyTuple_GET_ITEM(nodes, at)).read(source)
        if <object>PyList_GET_ITEM(kept, at) is True:
            PyDict_SetItem(made, <object>PyTuple_GET_ITEM(names, at), value)
    return 0


cdef object fresh_value(name, bytes data, Reader node):
    """A default that belongs to one value only."""
    cdef Source source
    open_source(&source, data, 0, PyBytes_GET_SIZE(data))
    try:
        return node.read(&source)
    except Misfit as error:
        error.parts.append(name)
        raise


cdef class ReadUnion(Reader):
    """A value of one of several types."""

    cdef tuple branches

    def __init__(self):
        self.branches = ()

    def fill(self, branches):
        """Says what the branches are."""
        for node in branches:
            if not isinstance(node, Reader):
                raise TypeError("a node is needed")
        self.branches = tuple(branches)

    cdef object read(self, Source* source):
        cdef int64_t place
        take_long(source, &place)
        if place < 0 or place >= len(self.branches):
            raise Misfit(f"branch {place} of a union of {len(self.branches)}")
        return (<Reader>PyTuple_GET_ITEM(self.branches, place)).read(source)


cdef class ReadTagged(Reader):
    """A value with what says which branch it is of."""

    cdef object tag
    cdef Reader inner

    def __init__(self, tag, Reader inner not None):
        self.tag = tag
        self.inner = inner

    cdef object read(self, Source* source):
        return self.tag, self.inner.read(source)


cdef class ReadConverted(Reader):
    """The result of a function for a value."""

    def __init__(self, Reader inner not None, convert):
        self.inner = inner
        self.convert = convert

    cdef object read(self, Source* source):
        return self.convert(self.inner.read(source))


cdef class ReadRefused(Reader):
    """A value that can't be read."""

    cdef object error

    def __init__(self, error):
        self.error = error

    cdef object read(self, Source* source):
        raise self.error()


# --- whole values

include "avro_whole.pxi"
