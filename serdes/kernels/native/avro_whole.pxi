# Whole values: what is called to encode and decode one. Part of avro.pyx.

cdef class Encoder:
    """Encodes values."""

    cdef Writer node
    cdef bytes prefix
    cdef object fault
    cdef char* spare  # the buffer of the last call, unless a call is using it
    cdef Py_ssize_t room

    def __cinit__(self, *args, **kwargs):
        self.prefix = b""  # never None, whoever makes one without `__init__`

    def __init__(self, Writer node not None, bytes prefix not None, fault):
        self.node = node
        self.prefix = prefix
        self.fault = fault

    def __dealloc__(self):
        PyMem_Free(self.spare)

    def __call__(self, value):
        """Prefix and payload."""
        cdef Out out
        cdef PyObject* made
        out.data, out.room = self.spare, self.room
        self.spare = NULL
        out.size = out.depth = 0
        out.memo = NULL
        made = (<Encode>encode)(self, &out, value)
        if made == NULL:
            self.failed(&out)
        self.release(&out)
        return taken(made)

    cdef int failed(self, Out* out) except -1:
        try:
            return raised()
        except Exception as error:
            raise self.fault(error) from error
        finally:
            self.release(out)

    cdef int release(self, Out* out) except -1:
        Py_XDECREF(out.memo)
        if self.spare == NULL and out.room <= ROOM_KEPT:
            self.spare, self.room = out.data, out.room
        else:
            PyMem_Free(out.data)
        return 0


ctypedef PyObject* (*Encode)(Encoder, Out*, object) noexcept


cdef object encode(Encoder self, Out* out, object value):
    if out.data == NULL:
        out.room = ROOM
        out.data = <char*>PyMem_Malloc(ROOM)
        if out.data == NULL:
            raise MemoryError()
    put(out, PyBytes_AS_STRING(self.prefix), PyBytes_GET_SIZE(self.prefix))
    self.node.write(out, value)
    return PyBytes_FromStringAndSize(out.data, out.size)


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
        cdef Source source
        cdef PyObject* made
        open_source(&source, frame, self.skip, max(self.free, size))
        made = (<ReadWhole>read_whole)(self.node, &source)
        if made == NULL:
            self.failed(max(size - self.skip, 0))
        return taken(made)

    cdef int failed(self, Py_ssize_t size) except -1:
        try:
            return raised()
        except Exception as error:
            raise self.fault(error, size) from error


ctypedef PyObject* (*ReadWhole)(Reader, Source*) noexcept


cdef object read_whole(Reader node, Source* source):
    value = node.read(source)
    if source.at != source.end:
        left = source.end - source.at
        raise Misfit(f"{left} bytes are left over after the value: the payload is not of this schema")
    return value
