# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Avro's binary encoding, compiled. The twin of `pure/avro.py`, which is the specification.

Each node writes or reads one type by a C call; what is not of exactly Python's own types goes through the functions of
`serdes.kernels.misfit`, as it does there.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_CheckExact, PyDict_SetItem
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyFloat_FromDouble
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_CheckExact, PyLong_FromLongLong
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from serdes.kernels import misfit as avro_misfit
from serdes.kernels.misfit import Misfit

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    bint PyUnicode_CheckExact(object)
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef int MAX_DEPTH = avro_misfit.MAX_DEPTH
cdef str DEEP = f"nested deeper than {MAX_DEPTH} levels"
cdef str ENDS = "the payload ends inside the value: truncated, or not of this schema"
cdef double LARGEST_SINGLE = 2.0**128 - 2.0**103
cdef object plain = avro_misfit.plain
cdef object refuse = avro_misfit.refuse
cdef object out_of_range = avro_misfit.out_of_range


cdef class Out:
    cdef char* data
    cdef Py_ssize_t size, room
    cdef int depth
    cdef dict memo

    def __cinit__(self, Py_ssize_t room):
        self.room = room
        self.data = <char*>PyMem_Malloc(room)
        if self.data == NULL:
            raise MemoryError()

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int need(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t room = self.room
        cdef char* data
        if more <= room - self.size:
            return 0
        while more > room - self.size:
            room *= 2
        data = <char*>PyMem_Realloc(self.data, room)
        if data == NULL:
            raise MemoryError()
        self.data = data
        self.room = room
        return 0

    cdef int put(self, const char* data, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef int long(self, int64_t value) except -1:
        cdef uint64_t number = (<uint64_t>value << 1) ^ <uint64_t>(value >> 63)
        self.need(10)
        while number > 0x7F:
            self.data[self.size] = <char>((number & 0x7F) | 0x80)
            self.size += 1
            number >>= 7
        self.data[self.size] = <char>number
        self.size += 1
        return 0

    cdef int enter(self) except -1:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Misfit(f"the value is {DEEP}")
        return 0


cdef class Writer:
    """Writes values of one type."""

    cdef int write(self, Out out, object value) except -1:
        raise NotImplementedError


cdef class WriteNull(Writer):
    """Null."""

    cdef int write(self, Out out, object value) except -1:
        if value is not None:
            refuse(value, "null")
        return 0


cdef class WriteBoolean(Writer):
    """A boolean."""

    cdef int write(self, Out out, object value) except -1:
        cdef char byte
        if value is not True and value is not False:
            value = plain(value)
            if value is not True and value is not False:
                refuse(value, "boolean")
        byte = value is True
        return out.put(&byte, 1)


cdef class WriteInt(Writer):
    """A whole number within bounds."""

    cdef int64_t low, high
    cdef object what

    def __init__(self, int64_t low, int64_t high, what):
        self.low = low
        self.high = high
        self.what = what

    cdef int write(self, Out out, object value) except -1:
        cdef int over = 0
        cdef int64_t number
        whole = value if PyLong_CheckExact(value) else avro_misfit.whole_of(value, self.what)
        number = PyLong_AsLongLongAndOverflow(whole, &over)
        if over or number < self.low or number > self.high:
            out_of_range(value, self.what)
        return out.long(number)


cdef class WriteFloat(Writer):
    """A number of 32 bits."""

    cdef int write(self, Out out, object value) except -1:
        cdef double number
        cdef float single
        if PyFloat_CheckExact(value):
            number = PyFloat_AS_DOUBLE(value)
            if not (-LARGEST_SINGLE < number < LARGEST_SINGLE):
                avro_misfit.single(value, "float")
        else:
            number = avro_misfit.single_of(value, "float")
        single = <float>number
        return out.put(<char*>&single, 4)


cdef class WriteDouble(Writer):
    """A number of 64 bits."""

    cdef int write(self, Out out, object value) except -1:
        cdef double number
        if PyFloat_CheckExact(value):
            number = PyFloat_AS_DOUBLE(value)
        else:
            number = avro_misfit.real_of(value, "double")
        return out.put(<char*>&number, 8)


cdef int put_bytes(Out out, bytes data) except -1:
    out.long(PyBytes_GET_SIZE(data))
    return out.put(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef class WriteBytes(Writer):
    """Bytes with their length."""

    cdef object what

    def __init__(self, what):
        self.what = what

    cdef int write(self, Out out, object value) except -1:
        return put_bytes(out, value if PyBytes_CheckExact(value) else avro_misfit.octets_of(value, self.what))


cdef int put_text(Out out, object text) except -1:
    cdef Py_ssize_t size = 0
    cdef const char* data
    try:
        data = PyUnicode_AsUTF8AndSize(text, &size)
    except UnicodeEncodeError:
        raise Misfit("a text with half a surrogate pair has no form in UTF-8") from None
    out.long(size)
    return out.put(data, size)


cdef class WriteString(Writer):
    """Text with its length."""

    cdef object what

    def __init__(self, what):
        self.what = what

    cdef int write(self, Out out, object value) except -1:
        return put_text(out, value if PyUnicode_CheckExact(value) else avro_misfit.text_of(value, self.what))


cdef class WriteFixed(Writer):
    """A fixed number of bytes."""

    cdef Py_ssize_t size
    cdef object what

    def __init__(self, Py_ssize_t size, what):
        self.size = size
        self.what = what

    cdef int write(self, Out out, object value) except -1:
        cdef bytes data = value if PyBytes_CheckExact(value) else avro_misfit.octets_of(value, self.what)
        if PyBytes_GET_SIZE(data) != self.size:
            out_of_range(value, self.what)
        return out.put(PyBytes_AS_STRING(data), self.size)


cdef class WriteEnum(Writer):
    """One of some symbols."""

    cdef dict places
    cdef object what

    def __init__(self, places, what):
        self.places = dict(places)
        self.what = what

    cdef int write(self, Out out, object value) except -1:
        symbol = value if PyUnicode_CheckExact(value) else avro_misfit.symbol_of(value, self.what)
        cdef PyObject* place = PyDict_GetItemWithError(self.places, symbol)
        if place == NULL:
            out_of_range(value, self.what)
        return out.long(<object>place)


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

    cdef int write(self, Out out, object value) except -1:
        cdef list items = value if PyList_CheckExact(value) else avro_misfit.items_of(value, self.what)
        cdef Py_ssize_t count = len(items), at = 0
        cdef char end = 0
        out.enter()
        if count:
            out.long(count)
            try:
                while at < len(items):
                    self.item.write(out, items[at])
                    at += 1
            except Misfit as error:
                error.parts.append(f"[{at}]")
                raise
        if at != count:
            raise Misfit("the array changed while it was written")
        out.depth -= 1
        return out.put(&end, 1)


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

    cdef int write(self, Out out, object value) except -1:
        cdef dict entries = value if PyDict_CheckExact(value) else avro_misfit.entries_of(value, self.what)
        cdef Py_ssize_t count = len(entries), at = 0
        cdef char end = 0
        out.enter()
        if count:
            out.long(count)
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
        return out.put(&end, 1)


cdef class WriteRecord(Writer):
    """Fields in the schema's order."""

    cdef object what
    cdef bint strict, allow_default
    cdef tuple names, nodes, defaults, nullable
    cdef frozenset known

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
        self.names = tuple([name for name, _, _, _ in fields])
        self.nodes = tuple([node for _, node, _, _ in fields])
        self.defaults = tuple([default for _, _, default, _ in fields])
        self.nullable = tuple([bool(nullable) for _, _, _, nullable in fields])
        self.known = frozenset(self.names)

    cdef int write(self, Out out, object value) except -1:
        cdef dict record = value if PyDict_CheckExact(value) else avro_misfit.record_of(value, self.what)
        cdef Py_ssize_t at = 0, count = len(self.names)
        cdef PyObject* found
        if self.strict:
            for key in record:
                if key not in self.known and key != "-type":
                    raise Misfit(f"{key!r} is not a field of {self.what}")
        out.enter()
        try:
            for at in range(count):
                found = PyDict_GetItemWithError(record, <object>self.names[at])
                if found != NULL:
                    (<Writer>self.nodes[at]).write(out, <object>found)
                else:
                    self.missing(out, at)
        except Misfit as error:
            error.parts.append(self.names[at])
            raise
        out.depth -= 1
        return 0

    cdef int missing(self, Out out, Py_ssize_t at) except -1:
        default = self.defaults[at]
        if self.strict and (default is None or not self.allow_default):
            raise Misfit("the field is missing")
        if type(default) is bytes:
            return out.put(PyBytes_AS_STRING(default), PyBytes_GET_SIZE(default))
        if default is not None:
            raise Misfit(default)
        if not self.nullable[at]:
            raise Misfit("the field is missing and has no default")
        return (<Writer>self.nodes[at]).write(out, None)


cdef class WriteUnion(Writer):
    """One of several types."""

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

    cdef int write(self, Out out, object value) except -1:
        cdef PyObject* found = PyDict_GetItemWithError(self.quick, type(value))
        cdef Py_ssize_t place
        if found != NULL:
            place = <object>found
        else:
            if out.memo is None:
                out.memo = {}
            place, value = self.choose(value, out.memo)
        if place < 0 or place >= len(self.branches):
            raise IndexError("no such branch")
        out.long(place)
        return (<Writer>self.branches[place]).write(out, value)


cdef class WritePrepared(Writer):
    """What a function makes of a value."""

    cdef object prepare
    cdef Writer inner

    def __init__(self, prepare, Writer inner not None):
        self.prepare = prepare
        self.inner = inner

    cdef int write(self, Out out, object value) except -1:
        return self.inner.write(out, self.prepare(value))


cdef class Encoder:
    """Encodes values."""

    cdef Writer node
    cdef bytes prefix
    cdef object fault

    def __init__(self, Writer node not None, bytes prefix not None, fault):
        self.node = node
        self.prefix = prefix
        self.fault = fault

    def __call__(self, value):
        """Prefix and payload."""
        cdef Out out = Out(256)
        out.put(PyBytes_AS_STRING(self.prefix), PyBytes_GET_SIZE(self.prefix))
        try:
            self.node.write(out, value)
        except Exception as error:
            raise self.fault(error) from error
        return PyBytes_FromStringAndSize(out.data, out.size)


# --- reading


cdef class Source:
    cdef bytes data
    cdef const char* at
    cdef const char* end
    cdef Py_ssize_t free
    cdef int depth

    cdef int enter(self) except -1:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Misfit(f"the payload is {DEEP}")
        return 0

    cdef int long(self, int64_t* number) except -1:
        cdef uint64_t result = 0
        cdef int shift = 0
        cdef uint8_t byte
        while shift < 70:
            if self.at >= self.end:
                raise Misfit(ENDS)
            byte = <uint8_t>self.at[0]
            self.at += 1
            if shift == 63 and byte > 1:
                break
            result |= <uint64_t>(byte & 0x7F) << shift
            if byte < 0x80:
                number[0] = <int64_t>(result >> 1) ^ -<int64_t>(result & 1)
                return 0
            shift += 7
        raise Misfit("a number of more than 64 bits")

    cdef const char* take(self, int64_t size) except NULL:
        cdef const char* start = self.at
        if size < 0 or size > self.end - self.at:
            raise Misfit(ENDS)
        self.at += size
        return start

    cdef int spend(self, int64_t count) except -1:
        if count > self.free:
            raise Misfit("too many array items that take no bytes (see avro.max.empty.items)")
        self.free -= count
        return 0

    cdef int count(self, int64_t* number) except -1:
        cdef int64_t size
        self.long(number)
        if number[0] < 0:
            if number[0] == -number[0]:  # the one number without a positive twin
                raise Misfit(ENDS)
            number[0] = -number[0]
            self.long(&size)
            if size < 0:
                raise Misfit("a block of a negative size")
        return 0


cdef Source source_of(bytes data, Py_ssize_t skip, Py_ssize_t free):
    cdef Source made = Source.__new__(Source)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    made.data = data
    made.at = PyBytes_AS_STRING(data) + (skip if skip < size else size)
    made.end = PyBytes_AS_STRING(data) + size
    made.free = free
    return made


cdef class Reader:
    """Reads values of one type."""

    cdef object read(self, Source source):
        raise NotImplementedError


cdef class ReadNull(Reader):
    """Null."""

    cdef object read(self, Source source):
        return None


cdef class ReadBoolean(Reader):
    """A boolean."""

    cdef object read(self, Source source):
        cdef uint8_t byte = <uint8_t>source.take(1)[0]
        if byte > 1:
            raise Misfit("a boolean that is neither 0 nor 1")
        return byte == 1


cdef class ReadInt(Reader):
    """A whole number of 32 or 64 bits."""

    cdef bint short

    def __init__(self, int bits):
        self.short = bits == 32

    cdef object read(self, Source source):
        cdef int64_t number
        source.long(&number)
        if self.short and not (-2147483648 <= number <= 2147483647):
            raise Misfit("an int of more than 32 bits")
        return PyLong_FromLongLong(number)


cdef class ReadFloat(Reader):
    """A number of 32 bits."""

    cdef object read(self, Source source):
        cdef float number
        memcpy(&number, source.take(4), 4)
        return PyFloat_FromDouble(number)


cdef class ReadDouble(Reader):
    """A number of 64 bits."""

    cdef object read(self, Source source):
        cdef double number
        memcpy(&number, source.take(8), 8)
        return PyFloat_FromDouble(number)


cdef class ReadBytes(Reader):
    """Bytes with their length."""

    cdef object read(self, Source source):
        cdef int64_t size
        cdef const char* data
        source.long(&size)
        data = source.take(size)
        return PyBytes_FromStringAndSize(data, size)


cdef object text(Source source):
    cdef int64_t size
    cdef const char* data
    source.long(&size)
    data = source.take(size)
    try:
        return PyUnicode_DecodeUTF8(data, size, NULL)
    except UnicodeDecodeError:
        raise Misfit("a text that is not UTF-8") from None


cdef class ReadString(Reader):
    """Text with its length."""

    cdef object read(self, Source source):
        return text(source)


cdef class ReadFixed(Reader):
    """A fixed number of bytes."""

    cdef Py_ssize_t size

    def __init__(self, Py_ssize_t size):
        self.size = size

    cdef object read(self, Source source):
        cdef const char* data = source.take(self.size)
        return PyBytes_FromStringAndSize(data, self.size)


cdef class ReadEnum(Reader):
    """One of some symbols."""

    cdef tuple symbols
    cdef object unknown

    def __init__(self, symbols, unknown):
        self.symbols = tuple(symbols)
        self.unknown = unknown

    cdef object read(self, Source source):
        cdef int64_t place
        source.long(&place)
        if place < 0 or place >= len(self.symbols):
            raise Misfit(f"symbol {place} of an enum of {len(self.symbols)}")
        symbol = self.symbols[place]
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

    cdef object read(self, Source source):
        cdef list made = []
        cdef int64_t count
        cdef bint inside = False
        source.enter()
        try:
            while True:
                source.count(&count)
                if count == 0:
                    break
                if self.free:
                    source.spend(count)
                elif count > source.end - source.at:
                    raise Misfit(ENDS)
                inside = True
                while count > 0:
                    made.append(self.item.read(source))
                    count -= 1
                inside = False
        except Misfit as error:
            if inside:
                error.parts.append(f"[{len(made)}]")
            raise
        source.depth -= 1
        return made


cdef class ReadMap(Reader):
    """Entries in blocks."""

    cdef Reader value

    def __init__(self):
        self.value = ReadNull()

    def fill(self, Reader value not None):
        """Says what the values are."""
        self.value = value

    cdef object read(self, Source source):
        cdef dict made = {}
        cdef int64_t count, at = 0
        cdef bint inside = False
        source.enter()
        try:
            while True:
                source.count(&count)
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

    cdef tuple names, kept, nodes, fresh
    cdef dict constants

    def __init__(self):
        self.fill((), {}, ())

    def fill(self, steps, constants, fresh):
        """Says what the fields are."""
        for _, _, node in (*steps, *fresh):
            if not isinstance(node, Reader):
                raise TypeError("a node is needed")
        self.names = tuple([name for name, _, _ in steps])
        self.kept = tuple([bool(kept) for _, kept, _ in steps])
        self.nodes = tuple([node for _, _, node in steps])
        self.constants = dict(constants)
        self.fresh = tuple([(str(name), bytes(data), node) for name, data, node in fresh])

    cdef object read(self, Source source):
        cdef dict made = {}
        cdef Py_ssize_t at = 0
        cdef str name = None
        source.enter()
        try:
            for at in range(len(self.names)):
                value = (<Reader>self.nodes[at]).read(source)
                if <object>self.kept[at] is True:
                    PyDict_SetItem(made, <object>self.names[at], value)
            if self.constants:
                made.update(self.constants)
            for name, data, node in self.fresh:
                made[name] = (<Reader>node).read(source_of(data, 0, len(data)))
        except Misfit as error:
            error.parts.append(self.names[at] if name is None else name)
            raise
        source.depth -= 1
        return made


cdef class ReadUnion(Reader):
    """One of several types."""

    cdef tuple branches

    def __init__(self):
        self.branches = ()

    def fill(self, branches):
        """Says what the branches are."""
        for node in branches:
            if not isinstance(node, Reader):
                raise TypeError("a node is needed")
        self.branches = tuple(branches)

    cdef object read(self, Source source):
        cdef int64_t place
        source.long(&place)
        if place < 0 or place >= len(self.branches):
            raise Misfit(f"branch {place} of a union of {len(self.branches)}")
        return (<Reader>self.branches[place]).read(source)


cdef class ReadTagged(Reader):
    """A value with what says which branch it is of."""

    cdef object tag
    cdef Reader inner

    def __init__(self, tag, Reader inner not None):
        self.tag = tag
        self.inner = inner

    cdef object read(self, Source source):
        return self.tag, self.inner.read(source)


cdef class ReadConverted(Reader):
    """What a function makes of a value."""

    cdef Reader inner
    cdef object convert

    def __init__(self, Reader inner not None, convert):
        self.inner = inner
        self.convert = convert

    cdef object read(self, Source source):
        return self.convert(self.inner.read(source))


cdef class ReadRefused(Reader):
    """What can't be read."""

    cdef object error

    def __init__(self, error):
        self.error = error

    cdef object read(self, Source source):
        raise self.error()


cdef class Decoder:
    """Decodes frames."""

    cdef Reader node
    cdef Py_ssize_t skip, free
    cdef object fault

    def __init__(self, Reader node not None, Py_ssize_t skip, Py_ssize_t free, fault):
        self.node = node
        self.skip = skip
        self.free = free
        self.fault = fault

    def __call__(self, bytes frame not None):
        """The value."""
        cdef Py_ssize_t size = PyBytes_GET_SIZE(frame)
        cdef Source source = source_of(frame, self.skip, max(self.free, size))
        try:
            value = self.node.read(source)
            if source.at != source.end:
                left = source.end - source.at
                raise Misfit(f"{left} bytes are left over after the value: the payload is not of this schema")
        except Exception as error:
            raise self.fault(error, max(size - self.skip, 0)) from error
        return value
