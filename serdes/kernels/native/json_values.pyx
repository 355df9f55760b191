# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Python values written as JSON behind a prefix, in one pass over the value and with one copy of the text.

What comes out are the bytes that `orjson` writes. Only values of exactly the types that JSON has are written, with
integers of 64 bits with a sign; for all others there is nothing, and whoever called finds another way. No code of the
value's types runs, so nothing changes meanwhile, and references are borrowed. Names that Python has interned, as those in
programs are, are remembered as they were written: most values have the names of the one before. Source: RFC 8259.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF, Py_XINCREF
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from serdes.kernels.native.doubles cimport LONGEST_DOUBLE, write_double, write_whole
from serdes.kernels.native.json_text cimport LONGEST_ESCAPE, copy_plain, put_code, put_escape, put_escaped

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* type_of "Py_TYPE" (PyObject* value)
    int next_of "PyDict_Next" (PyObject* value, Py_ssize_t* at, PyObject** key, PyObject** item)
    Py_ssize_t dict_size "PyDict_GET_SIZE" (PyObject* value)
    double double_of "PyFloat_AS_DOUBLE" (PyObject* value)
    long long whole_of "PyLong_AsLongLongAndOverflow" (PyObject* value, int* overflow)
    Py_ssize_t list_size "PyList_GET_SIZE" (PyObject* value)
    PyObject* list_item "PyList_GET_ITEM" (PyObject* value, Py_ssize_t at)
    Py_ssize_t tuple_size "PyTuple_GET_SIZE" (PyObject* value)
    PyObject* tuple_item "PyTuple_GET_ITEM" (PyObject* value, Py_ssize_t at)
    Py_ssize_t text_size "PyUnicode_GET_LENGTH" (PyObject* value)
    int is_ascii "PyUnicode_IS_ASCII" (PyObject* value)
    int width_of "PyUnicode_KIND" (PyObject* value)
    const void* text_of "PyUnicode_DATA" (PyObject* value)
    int is_interned "PyUnicode_CHECK_INTERNED" (PyObject* value)
    PyTypeObject STR "PyUnicode_Type"
    PyTypeObject INT "PyLong_Type"
    PyTypeObject FLOAT "PyFloat_Type"
    PyTypeObject BOOL "PyBool_Type"
    PyTypeObject DICT "PyDict_Type"
    PyTypeObject LIST "PyList_Type"
    PyTypeObject TUPLE "PyTuple_Type"
    PyObject* NONE "Py_None"
    PyObject* TRUE "Py_True"

cdef enum:
    KEPT = 1 << 16            # a larger buffer is given back after its value
    LONGEST_NUMBER = 32       # LONGEST_DOUBLE, a sign, a comma
    DONE = 0
    REMARKABLE = 1
    NO_MEMORY = 2


cdef inline int need(Text* text, Py_ssize_t more) noexcept:
    return 0 if text.room - text.size >= more else grow(text, more)


cdef int grow(Text* text, Py_ssize_t more) noexcept:
    cdef Py_ssize_t room = max(2 * text.room, text.size + more + 256)
    cdef void* made = PyMem_Realloc(text.out, room)
    if made == NULL:
        return NO_MEMORY
    text.out = <uint8_t*>made
    text.room = room
    return 0


cdef inline int put(Text* text, PyObject* value, int levels) noexcept:
    cdef PyTypeObject* kind = type_of(value)
    if kind == &STR:
        return put_text(text, value)
    if kind == &INT:
        return put_whole(text, value)
    if value == NONE:
        if need(text, 4):
            return NO_MEMORY
        memcpy(text.out + text.size, b"null", 4)
        text.size += 4
        return DONE
    if kind == &FLOAT:
        return put_real(text, double_of(value))
    if kind == &BOOL:
        if need(text, 5):
            return NO_MEMORY
        memcpy(text.out + text.size, b"true" if value == TRUE else b"fals", 4)
        text.size += 4
        if value != TRUE:
            text.out[text.size] = 101
            text.size += 1
        return DONE
    if kind == &DICT:
        return put_dict(text, value, levels - 1) if levels > 0 else REMARKABLE
    if kind == &LIST or kind == &TUPLE:
        return put_items(text, value, kind == &LIST, levels - 1) if levels > 0 else REMARKABLE
    return REMARKABLE


cdef int put_whole(Text* text, PyObject* value) noexcept:
    cdef int overflow = 0
    cdef long long number = whole_of(value, &overflow)
    if overflow:
        return REMARKABLE
    if need(text, LONGEST_NUMBER):
        return NO_MEMORY
    if number < 0:
        text.out[text.size] = 45
        text.size += 1
    text.size += write_whole(0 - <uint64_t>number if number < 0 else <uint64_t>number, text.out + text.size)
    return DONE


cdef int put_real(Text* text, double number) noexcept:
    if number - number != 0.0:
        return REMARKABLE
    if need(text, LONGEST_NUMBER):
        return NO_MEMORY
    text.size += write_double(number, text.out + text.size)
    return DONE


cdef inline int put_text(Text* text, PyObject* value) noexcept:
    cdef Py_ssize_t size = text_size(value)
    cdef uint8_t* out
    cdef uint64_t unused = 0
    if not is_ascii(value):
        return put_wide(text, value, size)
    if need(text, size + 2):
        return NO_MEMORY
    out = text.out + text.size
    out[0] = 34
    if not copy_plain(out + 1, <const uint8_t*>text_of(value), size, &unused):
        return put_narrow(text, value, size)
    out[size + 1] = 34
    text.size += size + 2
    return DONE


cdef int put_narrow(Text* text, PyObject* value, Py_ssize_t size) noexcept:
    """A text of ASCII with escapes."""
    cdef uint8_t* out
    if need(text, LONGEST_ESCAPE * size + 2):
        return NO_MEMORY
    out = text.out + text.size
    out[0] = 34
    out = put_escaped(out + 1, <const uint8_t*>text_of(value), size)
    out[0] = 34
    text.size = out + 1 - text.out
    return DONE


cdef int put_wide(Text* text, PyObject* value, Py_ssize_t size) noexcept:
    """A text with characters beyond ASCII."""
    cdef const void* data = text_of(value)
    cdef int width = width_of(value)
    cdef Py_ssize_t at
    cdef uint32_t code
    cdef uint8_t* out
    if need(text, LONGEST_ESCAPE * size + 2):
        return NO_MEMORY
    out = text.out + text.size
    out[0] = 34
    out += 1
    for at in range(size):
        if width == 1:
            code = (<const uint8_t*>data)[at]
        elif width == 2:
            code = (<const uint16_t*>data)[at]
        else:
            code = (<const uint32_t*>data)[at]
        if code >= 128:
            if 0xD800 <= code < 0xE000:
                return REMARKABLE
            out = put_code(out, code)
        elif code >= 32 and code != 34 and code != 92:
            out[0] = <uint8_t>code
            out += 1
        else:
            out = put_escape(out, <uint8_t>code)
    out[0] = 34
    text.size = out + 1 - text.out
    return DONE


cdef inline Name* name_at(Text* text, PyObject* key) noexcept:
    """The place of a name in the memory of names: objects next to each other have different places."""
    return &text.names[(<size_t>key >> 4 ^ <size_t>key >> 10) % NAMES]


cdef int put_name(Text* text, PyObject* key, Name* known) noexcept:
    """The name of a member with its colon, which is remembered if it will come again."""
    cdef Py_ssize_t start = text.size
    cdef int outcome
    if type_of(key) != &STR:
        return REMARKABLE
    outcome = put_text(text, key)
    if outcome:
        return outcome
    if need(text, 1):
        return NO_MEMORY
    text.out[text.size] = 58
    text.size += 1
    if text.size - start <= LONGEST_NAME and is_interned(key):
        Py_XINCREF(key)
        Py_XDECREF(known.key)  # of exactly str: no code runs
        known.key = key
        known.size = <int>(text.size - start)
        memcpy(known.out, text.out + start, known.size)
    return DONE


cdef int put_dict(Text* text, PyObject* value, int levels) noexcept:
    cdef Py_ssize_t at = 0
    cdef PyObject* key = NULL
    cdef PyObject* item = NULL
    cdef Name* known
    cdef uint8_t before = 123
    cdef int outcome
    if dict_size(value) == 0:
        return put_two(text, 123)
    while next_of(value, &at, &key, &item):
        if need(text, 1 + LONGEST_NAME):
            return NO_MEMORY
        text.out[text.size] = before
        text.size += 1
        before = 44
        known = name_at(text, key)
        if known.key == key:
            memcpy(text.out + text.size, known.out, LONGEST_NAME)
            text.size += known.size
        else:
            outcome = put_name(text, key, known)
            if outcome:
                return outcome
        outcome = put(text, item, levels)
        if outcome:
            return outcome
    if need(text, 1):
        return NO_MEMORY
    text.out[text.size] = 125
    text.size += 1
    return DONE


cdef int put_items(Text* text, PyObject* value, bint is_list, int levels) noexcept:
    cdef int outcome
    cdef Py_ssize_t at, count = list_size(value) if is_list else tuple_size(value)
    if count == 0:
        return put_two(text, 91)
    for at in range(count):
        if need(text, 1):
            return NO_MEMORY
        text.out[text.size] = 44 if at else 91
        text.size += 1
        outcome = put(text, list_item(value, at) if is_list else tuple_item(value, at), levels)
        if outcome:
            return outcome
    if need(text, 1):
        return NO_MEMORY
    text.out[text.size] = 93
    text.size += 1
    return DONE


cdef int put_two(Text* text, uint8_t opening) noexcept:
    if need(text, 2):
        return NO_MEMORY
    text.out[text.size] = opening
    text.out[text.size + 1] = opening + 2
    text.size += 2
    return DONE


cdef class JsonWriter:
    """Writes values; the buffer is its own, so it may not be used by two threads without the GIL."""

    def __dealloc__(self):
        cdef int at
        for at in range(NAMES):
            Py_XDECREF(self.text.names[at].key)
        PyMem_Free(self.text.out)

    def write(self, value, bytes prefix not None, int levels):
        """The prefix and the value as JSON; None for a value that is remarkable.

        Args:
            value: the value.
            prefix: in front of the text.
            levels: how many levels of dicts, lists and tuples are allowed.
        """
        return self.written(value, prefix, levels)

    cdef bytes written(self, value, bytes prefix, int levels):
        cdef Text* text = &self.text
        cdef bytes made = None
        cdef Py_ssize_t before = PyBytes_GET_SIZE(prefix)
        cdef int outcome = NO_MEMORY
        text.size = 0
        if need(text, before + 1) == DONE:  # there is a buffer, also for an empty prefix
            memcpy(text.out, PyBytes_AS_STRING(prefix), before)
            text.size = before
            outcome = put(text, <PyObject*>value, levels)
        if outcome == DONE:
            made = PyBytes_FromStringAndSize(<char*>text.out, text.size)
        if text.room > KEPT:
            PyMem_Free(text.out)
            text.out = NULL
            text.room = 0
        if outcome == NO_MEMORY:
            raise MemoryError()
        return made
