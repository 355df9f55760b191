"""Errors of functions that are called as if they had none: a call that ends well pays for no handler.

A function that gives an object, or -1 for an error, is called through a type that says `noexcept`. Where it gave NULL
or -1, an error is set; `raised` raises it where there is a handler.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

cdef extern from *:
    """
    static CYTHON_INLINE int kserdes_raised(void) { return -1; }
    """
    int raised "kserdes_raised" () except -1  # raises the error that is set


cdef inline taken(PyObject* made):
    """A result whose reference is the caller's."""
    found = <object>made
    Py_DECREF(found)
    return found
