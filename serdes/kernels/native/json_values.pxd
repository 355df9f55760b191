# What other kernels use of the writer of JSON.

cdef struct Text:
    unsigned char* out
    Py_ssize_t size
    Py_ssize_t room


cdef class JsonWriter:
    cdef Text text

    cdef bytes written(self, value, bytes prefix, int levels)
