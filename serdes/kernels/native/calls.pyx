# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""The short way of a call: a value that needs nothing but its encoder, a frame that needs nothing but its decoder.

The twin of `pure/calls.py`, which is the specification. What was found last is remembered in one tuple, which is
replaced as a whole: threads that share a serializer see the old or the new one, never a mixture.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.string cimport memcmp, memcpy

from serdes.kernels.native.json_values cimport JsonWriter
from serdes.kernels.native.slots cimport offset_of, slot_of
from serdes.kernels.native.uncaught cimport raised, taken
from serdes.kernels.naming import KEY_HEADER, VALUE_HEADER

include "values.pxi"  # a module of its own would add 7 kB

cdef enum:
    DIGITS = 19  # of 2**63, the least integer that orjson might read as a float

ctypedef PyObject* (*Uncaught)(PyObject*, PyObject*) noexcept

cdef object CONTEXT = None  # the class of contexts whose attributes are read where they lie: the first with slots
cdef Py_ssize_t TOPIC = -1, FIELD = -1, HEADERS = -1

cdef str KEY_NAME = KEY_HEADER
cdef str VALUE_NAME = VALUE_HEADER


cdef class PlanStore:
    """The plans of one serializer or deserializer. Threads share it."""

    def __init__(self):
        self.plans = {}

    def forget(self):
        """Forgets all plans; one that is being made goes into the dictionary that its maker had before."""
        self.plans = {}


cdef class ValueEncoders:
    """Finds the encoder of a topic and field."""

    def __cinit__(self, *args, **kwargs):
        self.store = PlanStore()  # never null, whatever a subclass does

    def __init__(self, PlanStore store not None):
        self.store = store

    def encoder_of(self, topic, field):
        """The encoder of a topic and field; None if there is none, or more to do."""
        return self.find(topic, field)

    cdef find(self, topic, field):
        last = self.last
        plans = self.store.plans
        if last is not None and <object>last[0] is topic and <object>last[1] is field and <object>last[3] is plans:
            return last[2]
        plan = plans.get((topic, field, b"", False))
        if plan is None:
            return None
        encode = plan.direct
        if encode is not None:
            self.last = (topic, field, encode, plans)
        return encode


    cdef find_in(self, ctx):
        cdef PyObject* topic
        cdef PyObject* field
        if type(ctx) is CONTEXT:
            topic, field = slot_of(ctx, TOPIC), slot_of(ctx, FIELD)
            if topic != NULL and field != NULL:
                return self.find(<object>topic, <object>field)
        elif CONTEXT is None:
            learn(type(ctx))
        return self.find(ctx.topic, ctx.field)


cdef int learn(kind) except -1:
    """Finds where contexts of a class have their attributes."""
    global CONTEXT, TOPIC, FIELD, HEADERS
    cdef Py_ssize_t topic = offset_of(kind, "topic"), field = offset_of(kind, "field")
    cdef Py_ssize_t headers = offset_of(kind, "headers")
    if topic >= 0 and field >= 0 and headers >= 0:
        CONTEXT, TOPIC, FIELD, HEADERS = kind, topic, field, headers
    return 0


cdef class WriteCall(ValueEncoders):
    """Serializes with the encoder known for topic and field."""

    short_way = True

    def __call__(self, obj, ctx=None):
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        cdef PyObject* made
        if obj is None:
            return None
        encode = self.find(None, None) if ctx is None else self.find_in(ctx)
        if encode is None:
            return self._long_way(obj, ctx)
        made = (<Uncaught>encoded)(<PyObject*>encode, <PyObject*>obj)
        if made == NULL:
            blame(self, obj, ctx)
        return taken(made)


cdef class FrameDecoders:
    """Finds the decoder of a frame by its first bytes."""

    def __cinit__(self, *args, **kwargs):
        self.store = PlanStore()  # never null, whatever a subclass does

    def __init__(self, PlanStore store not None, Py_ssize_t size):
        self.store = store
        self.size = size

    def decoder_of(self, value):
        """The decoder of a frame; None if there is none, or more to do. Headers may name another schema."""
        return self.find(value)

    cdef find(self, value):
        cdef Py_ssize_t size = self.size
        cdef bytes frame
        if not PyBytes_CheckExact(value):
            return None
        frame = <bytes>value
        last = self.last
        plans = self.store.plans
        if (last is not None and <object>last[2] is plans and PyBytes_GET_SIZE(frame) >= size
                and PyBytes_GET_SIZE(<bytes>last[0]) == size):
            if memcmp(PyBytes_AS_STRING(frame), PyBytes_AS_STRING(<bytes>last[0]), size) == 0:
                return last[1]
        start = frame[:max(size, 0)]
        plan = plans.get((None, None, start, False))
        if plan is None:
            return None
        decode = plan.direct
        if decode is not None:
            self.last = (start, decode, plans)
        return decode


cdef class ReadCall(FrameDecoders):
    """Deserializes with the decoder known for the start of a frame, if no header may say otherwise."""

    short_way = True

    def __call__(self, value, ctx=None):
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        cdef PyObject* made
        if value is None:
            return None
        decode = self.find(value) if ctx is None or not naming(headers_in(ctx)) else None
        if decode is None:
            return self._long_way(value, ctx)
        made = (<Uncaught>decoded)(<PyObject*>decode, <PyObject*>value)
        if made == NULL:
            blame(self, value, ctx)
        return taken(made)


cdef int blame(call, value, ctx) except -1:
    """Tells the error that is set where it happened, and raises it again."""
    try:
        return raised()
    except Exception as error:
        call._blame(error, value, ctx)
        raise


cdef inline headers_in(ctx):
    cdef PyObject* headers
    if type(ctx) is CONTEXT:
        headers = slot_of(ctx, HEADERS)
        if headers != NULL:
            return <object>headers
    elif CONTEXT is None:
        learn(type(ctx))
    return ctx.headers


def may_name_schema(headers):
    """Whether headers may name the schema of a key or value: all but pairs, or a dict, of other names."""
    return naming(headers)


cdef bint naming(headers) except -1:
    cdef tuple pair
    if headers is None:
        return False
    if type(headers) is list:
        for item in <list>headers:
            if type(item) is not tuple:
                return True
            pair = <tuple>item
            if len(pair) != 2 or not is_other(<object>pair[0]):
                return True
        return False
    if type(headers) is dict:
        for name in list(<dict>headers):
            if not is_other(name):
                return True
        return False
    return True if headers else False


cdef bint is_other(name) except -1:
    return type(name) is str and <str>name != KEY_NAME and <str>name != VALUE_NAME


cdef class MessageEncoder:
    """Encodes Protobuf messages of exactly one class, behind a prefix."""

    def __init__(self, message, bytes prefix not None, otherwise):
        self.message = message
        self.prefix = prefix
        self.otherwise = otherwise

    def __call__(self, value):
        """Prefix and message."""
        return self.run(value)

    cdef run(self, value):
        cdef bytes payload
        if <object>type(value) is not self.message:
            return self.otherwise(value)
        try:
            payload = value.SerializeToString()
        except Exception:
            return self.otherwise(value)
        if payload is None or self.prefix is None:
            return self.otherwise(value)
        return framed(self.prefix, payload)


cdef class MessageDecoder:
    """Decodes Protobuf messages of one class."""

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
        try:
            return self.parse(behind(frame, self.skip))
        except Exception:
            return self.otherwise(frame)


cdef class JsonEncoder:
    """Encodes JSON values that hold nothing remarkable, behind a prefix."""

    def __init__(self, is_valid, int levels, bytes prefix not None, otherwise):
        self.writer = JsonWriter()
        self.is_valid = is_valid
        self.levels = levels
        self.prefix = prefix
        self.otherwise = otherwise

    def __call__(self, value):
        """Prefix and JSON."""
        return self.run(value)

    cdef run(self, value):
        cdef bytes frame
        if self.writer is None or self.prefix is None:
            return self.otherwise(value)
        frame = self.writer.written(value, self.prefix, self.levels)
        if frame is None:
            return self.otherwise(value)
        if self.is_valid is not None:
            try:
                if self.is_valid(value) is not True:
                    return self.otherwise(value)
            except Exception:
                return self.otherwise(value)
        return frame


cdef class JsonDecoder:
    """Decodes JSON behind skipped bytes, if the values hold nothing remarkable."""

    def __init__(self, loads, is_valid, int levels, Py_ssize_t skip, otherwise):
        if skip < 0:
            raise ValueError(f"skip must not be negative, got {skip}")
        self.loads = loads
        self.is_valid = is_valid
        self.levels = levels
        self.skip = skip
        self.otherwise = otherwise

    def __call__(self, bytes frame not None):
        """The value behind the skipped bytes."""
        return self.run(frame)

    cdef run(self, bytes frame):
        cdef bint good
        cdef bytes payload
        try:
            payload = behind(frame, self.skip)
            value = self.loads(payload)
            good = harmless(payload, self.levels) or look(<PyObject*>value, self.levels) == 0
            good = good and (self.is_valid is None or self.is_valid(value) is True)
        except Exception:
            return self.otherwise(frame)
        return value if good else self.otherwise(frame)


cdef inline bytes framed(bytes prefix, bytes payload):
    cdef Py_ssize_t before = PyBytes_GET_SIZE(prefix)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(payload)
    cdef bytes frame = PyBytes_FromStringAndSize(NULL, before + size)
    memcpy(PyBytes_AS_STRING(frame), PyBytes_AS_STRING(prefix), before)
    memcpy(PyBytes_AS_STRING(frame) + before, PyBytes_AS_STRING(payload), size)
    return frame


cdef inline bytes behind(bytes frame, Py_ssize_t skip):
    cdef Py_ssize_t size = max(PyBytes_GET_SIZE(frame) - skip, 0)
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(frame) + PyBytes_GET_SIZE(frame) - size, size)


cdef bint harmless(bytes payload, Py_ssize_t levels) noexcept:
    # Whether JSON that was decoded can't hold anything remarkable, by its bytes: then its values need no look. Too few
    # brackets for more levels; and no integer beyond 64 bits, for those have 19 digits one after another, of which one
    # is at every 19th place. A float of 2**63 and more may be there: only an integer must not have become one.
    cdef const unsigned char* data = <const unsigned char*>PyBytes_AS_STRING(payload)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(payload)
    cdef Py_ssize_t at, start, stop, opened = 0
    if size > 2 * levels:
        for at in range(size):
            opened += (data[at] | 32) == 123  # [ and {, which differ in one bit
        if opened > levels:
            return False
    at = DIGITS - 1
    while at < size:
        if is_digit(data[at]):
            start, stop = at, at + 1
            while start > 0 and is_digit(data[start - 1]) and stop - start < DIGITS:
                start -= 1
            while stop < size and is_digit(data[stop]) and stop - start < DIGITS:
                stop += 1
            if stop - start >= DIGITS:
                return False
        at += DIGITS
    return True


cdef inline bint is_digit(unsigned char letter) noexcept nogil:
    return 48 <= letter <= 57
