# What other kernels use of the look at a value.

from cpython.object cimport PyObject

cdef int look(PyObject* value, int levels) noexcept
