"""A look at a whole value before it is encoded as JSON, or after it was decoded: may the fast library be trusted?

The twin of `pure/values.py`, which is the specification. No code of the value's types runs, so nothing changes meanwhile.
"""

from cpython.bool cimport PyBool_Check
from cpython.dict cimport PyDict_Check, PyDict_CheckExact, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_Check, PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_Check, PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact

OTHER = 1
NOT_FINITE = 2
LARGE = 4
DEEP = 8


def survey(value, int levels):
    """What is remarkable in a value, as a sum of the constants of this module; 0 for nothing."""
    return look(value, levels)


cdef int look(object value, int levels) noexcept:
    cdef double number
    cdef int found = 0
    cdef Py_ssize_t at = 0
    cdef PyObject* key
    cdef PyObject* item
    if PyUnicode_CheckExact(value) or PyLong_CheckExact(value) or value is None or PyBool_Check(value):
        return 0
    if PyFloat_CheckExact(value):
        number = PyFloat_AS_DOUBLE(value)
        if number - number != 0.0:
            return 2
        return 4 if number >= 9223372036854775808.0 or number <= -9223372036854775808.0 else 0
    if PyDict_Check(value):
        if levels <= 0:
            return 8
        if not PyDict_CheckExact(value):
            found = 1
        while PyDict_Next(value, &at, &key, &item):
            found |= look(<object>item, levels - 1)
            if not PyUnicode_CheckExact(<object>key):
                found |= 1
            if found & 8:
                break
        return found
    if PyList_Check(value):
        if levels <= 0:
            return 8
        if not PyList_CheckExact(value):
            found = 1
        for at in range(PyList_GET_SIZE(value)):
            found |= look(<object>PyList_GET_ITEM(value, at), levels - 1)
            if found & 8:
                break
        return found
    if PyTuple_Check(value):
        if levels <= 0:
            return 8
        if not PyTuple_CheckExact(value):
            found = 1
        for at in range(PyTuple_GET_SIZE(value)):
            found |= look(<object>PyTuple_GET_ITEM(value, at), levels - 1)
            if found & 8:
                break
        return found
    return 1
