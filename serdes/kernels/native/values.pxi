# A look at a whole value before it is encoded as JSON, or after it was decoded: may the fast library be trusted?
#
# Part of calls.pyx; the twin of `pure/values.py`, which is the specification. No code of the value's types runs, so
# nothing changes meanwhile, and references are borrowed.

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* type_of "Py_TYPE" (PyObject* value) nogil
    int is_dict "PyDict_Check" (PyObject* value) nogil
    int is_list "PyList_Check" (PyObject* value) nogil
    int is_tuple "PyTuple_Check" (PyObject* value) nogil
    int next_of "PyDict_Next" (PyObject* value, Py_ssize_t* at, PyObject** key, PyObject** item)
    double double_of "PyFloat_AS_DOUBLE" (PyObject* value) nogil
    Py_ssize_t list_size "PyList_GET_SIZE" (PyObject* value) nogil
    PyObject* list_item "PyList_GET_ITEM" (PyObject* value, Py_ssize_t at) nogil
    Py_ssize_t tuple_size "PyTuple_GET_SIZE" (PyObject* value) nogil
    PyObject* tuple_item "PyTuple_GET_ITEM" (PyObject* value, Py_ssize_t at) nogil
    PyTypeObject STR "PyUnicode_Type"
    PyTypeObject INT "PyLong_Type"
    PyTypeObject FLOAT "PyFloat_Type"
    PyTypeObject BOOL "PyBool_Type"
    PyTypeObject DICT "PyDict_Type"
    PyTypeObject LIST "PyList_Type"
    PyTypeObject TUPLE "PyTuple_Type"
    PyObject* NONE "Py_None"

OTHER = 1
NOT_FINITE = 2
LARGE = 4
DEEP = 8


def survey(value, int levels):
    """The traits of a value, as a sum of the constants of this module; 0 for none."""
    return look(<PyObject*>value, levels)


cdef int look(PyObject* value, int levels) noexcept:
    return parts(value, levels) if is_container(value) else scalar(value)


cdef inline bint is_plain(PyObject* value, PyTypeObject* kind) noexcept nogil:
    return kind == &STR or kind == &INT or kind == &BOOL or value == NONE


cdef inline bint is_container(PyObject* value) noexcept nogil:
    return is_dict(value) or is_list(value) or is_tuple(value)


cdef int scalar(PyObject* value) noexcept nogil:
    cdef PyTypeObject* kind = type_of(value)
    cdef double number
    if is_plain(value, kind):
        return 0
    if kind != &FLOAT:
        return 1
    number = double_of(value)
    if number - number != 0.0:
        return 2
    return 4 if number >= 9223372036854775808.0 or number <= -9223372036854775808.0 else 0


cdef inline int part(PyObject* value, int levels) noexcept:
    # Most parts are plain: no call for them.
    cdef PyTypeObject* kind = type_of(value)
    if is_plain(value, kind):
        return 0
    return look(value, levels)


cdef int parts(PyObject* value, int levels) noexcept:
    # What is remarkable in a dict, list or tuple.
    cdef PyTypeObject* kind = type_of(value)
    cdef int found = 0
    cdef Py_ssize_t at = 0
    cdef PyObject* key
    cdef PyObject* item
    if levels <= 0:
        return 8
    levels -= 1
    if is_dict(value):
        if kind != &DICT:
            found = 1
        while next_of(value, &at, &key, &item):
            found |= part(item, levels)
            if type_of(key) != &STR:
                found |= 1
            if found & 8:
                break
    elif is_list(value):
        if kind != &LIST:
            found = 1
        for at in range(list_size(value)):
            found |= part(list_item(value, at), levels)
            if found & 8:
                break
    else:
        if kind != &TUPLE:
            found = 1
        for at in range(tuple_size(value)):
            found |= part(tuple_item(value, at), levels)
            if found & 8:
                break
    return found
