# The layout of the calls, for the kernel that (de)serializes whole messages.

from serdes.kernels.native.json_values cimport JsonWriter


cdef class PlanStore:
    cdef public dict plans


cdef class ValueEncoders:
    cdef PlanStore store
    cdef tuple last  # topic, field, encoder, the dictionary it is from

    cdef find(self, topic, field)
    cdef find_in(self, ctx)


cdef class WriteCall(ValueEncoders):
    pass


cdef class FrameDecoders:
    cdef PlanStore store
    cdef Py_ssize_t size
    cdef tuple last  # the start of a frame, decoder, the dictionary it is from

    cdef find(self, value)


cdef class ReadCall(FrameDecoders):
    pass


cdef bint naming(headers) except -1


cdef class MessageEncoder:
    cdef object message
    cdef bytes prefix
    cdef object otherwise

    cdef run(self, value)


cdef class MessageDecoder:
    cdef object parse
    cdef Py_ssize_t skip
    cdef object otherwise

    cdef run(self, bytes frame)


cdef class JsonEncoder:
    cdef JsonWriter writer
    cdef object is_valid
    cdef int levels
    cdef bytes prefix
    cdef object otherwise

    cdef run(self, value)


cdef class JsonDecoder:
    cdef object loads
    cdef object is_valid
    cdef int levels
    cdef Py_ssize_t skip
    cdef object otherwise

    cdef run(self, bytes frame)


cdef inline encoded(encode, obj):
    if type(encode) is MessageEncoder:
        return (<MessageEncoder>encode).run(obj)
    if type(encode) is JsonEncoder:
        return (<JsonEncoder>encode).run(obj)
    return encode(obj)


cdef inline decoded(decode, bytes frame):
    if type(decode) is MessageDecoder:
        return (<MessageDecoder>decode).run(frame)
    if type(decode) is JsonDecoder:
        return (<JsonDecoder>decode).run(frame)
    return decode(frame)
