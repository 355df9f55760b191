# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""The short way of a call: a value that needs nothing but its encoder, a frame that needs nothing but its decoder.

The twin of `pure/calls.py`, which is the specification. What was found last is remembered in one tuple, which is
replaced as a whole: threads that share a serializer see the old or the new one, never a mixture.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memcmp, memcpy


cdef class WriteCall:
    """Serializes with the encoder known for topic and field."""

    cdef public dict _quick
    cdef tuple _last  # topic, field, encoder, the dictionary it is from

    def __call__(self, obj, ctx=None):
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        topic = field = None
        if ctx is not None:
            topic = ctx.topic
            field = ctx.field
        last = self._last
        quick = self._quick
        if last is None or <object>last[0] is not topic or <object>last[1] is not field or <object>last[3] is not quick:
            encode = quick.get((topic, field))
            if encode is None:
                return self._long_way(obj, ctx)
            last = (topic, field, encode, quick)
            self._last = last
        encode = last[2]
        try:
            if type(encode) is MessageEncoder:
                return (<MessageEncoder>encode).run(obj)
            return encode(obj)
        except Exception as error:
            self._blame(error, obj, ctx)
            raise


cdef class ReadCall:
    """Deserializes with the decoder known for the start of a frame, if no header may say otherwise."""

    cdef public dict _quick
    cdef public Py_ssize_t _quick_size
    cdef tuple _last  # the start of a frame, decoder, the dictionary it is from

    def __call__(self, value, ctx=None):
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        if value is None:
            return None
        if not PyBytes_CheckExact(value) or (ctx is not None and ctx.headers):
            return self._long_way(value, ctx)
        decode = self.decoder_of(<bytes>value)
        if decode is None:
            return self._long_way(value, ctx)
        try:
            if type(decode) is MessageDecoder:
                return (<MessageDecoder>decode).run(<bytes>value)
            return decode(value)
        except Exception as error:
            self._blame(error, value, ctx)
            raise

    cdef decoder_of(self, bytes frame):
        cdef Py_ssize_t size = self._quick_size
        last = self._last
        quick = self._quick
        if (last is not None and <object>last[2] is quick and PyBytes_GET_SIZE(frame) >= size
                and PyBytes_GET_SIZE(<bytes>last[0]) == size):
            if memcmp(PyBytes_AS_STRING(frame), PyBytes_AS_STRING(<bytes>last[0]), size) == 0:
                return last[1]
        start = frame[:max(size, 0)]
        decode = quick.get(start)
        if decode is not None:
            self._last = (start, decode, quick)
        return decode


cdef class MessageEncoder:
    """Encodes Protobuf messages of exactly one class, behind a prefix."""

    cdef object message
    cdef bytes prefix
    cdef object otherwise

    def __init__(self, message, bytes prefix not None, otherwise):
        self.message = message
        self.prefix = prefix
        self.otherwise = otherwise

    def __call__(self, value):
        """Prefix and message."""
        return self.run(value)

    cdef run(self, value):
        cdef bytes payload
        cdef bytes frame
        cdef Py_ssize_t before, behind
        if <object>type(value) is not self.message:
            return self.otherwise(value)
        try:
            payload = value.SerializeToString()
        except Exception:
            return self.otherwise(value)
        if payload is None or self.prefix is None:
            return self.otherwise(value)
        before = PyBytes_GET_SIZE(self.prefix)
        behind = PyBytes_GET_SIZE(payload)
        frame = PyBytes_FromStringAndSize(NULL, before + behind)
        memcpy(PyBytes_AS_STRING(frame), PyBytes_AS_STRING(self.prefix), before)
        memcpy(PyBytes_AS_STRING(frame) + before, PyBytes_AS_STRING(payload), behind)
        return frame


cdef class MessageDecoder:
    """Decodes Protobuf messages of one class."""

    cdef object parse
    cdef Py_ssize_t skip
    cdef object otherwise

    def __init__(self, parse, Py_ssize_t skip, otherwise):
        if skip < 0:
            raise ValueError(f"skip must not be negative, got {skip}")
        self.parse = parse
        self.skip = skip
        self.otherwise = otherwise

    def __call__(self, bytes frame not None):
        """The message behind the skipped bytes."""
        return self.run(frame)

    cdef run(self, bytes frame):
        cdef Py_ssize_t size
        size = max(PyBytes_GET_SIZE(frame) - self.skip, 0)
        try:
            return self.parse(PyBytes_FromStringAndSize(PyBytes_AS_STRING(frame) + PyBytes_GET_SIZE(frame) - size, size))
        except Exception:
            return self.otherwise(frame)
