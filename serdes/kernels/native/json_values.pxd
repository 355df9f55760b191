# What other kernels use of the writer of JSON.

from cpython.object cimport PyObject

cdef enum:
    NAMES = 64
    LONGEST_NAME = 32  # bytes between the quotes, those, and a colon


cdef struct Name:
    PyObject* key  # its reference is held, so that no other text comes to its address; NULL for none
    int size
    unsigned char[LONGEST_NAME] out


cdef struct Text:
    unsigned char* out
    Py_ssize_t size
    Py_ssize_t room
    Name[NAMES] names  # those that were written last


cdef class JsonWriter:
    cdef Text text

    cdef bytes written(self, value, bytes prefix, int levels)
