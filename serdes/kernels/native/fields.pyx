# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: nonecheck=True
"""The straight line of a message: key and value are (de)serialized by known codecs, without a context for each.

The twin of `pure/fields.py`, which is the specification.
"""

from collections.abc import Mapping

from kafka_core.kernels.native.message cimport Message, OffsetStore
from serdes.kernels.native.calls cimport FrameDecoders, ValueEncoders, decoded, encoded, naming

NONE = 0
KNOWN = 1
PLAIN = 2
ANY = 3
TEXT = 4

cdef object MISSED = object()


cdef class _Fields:
    cdef object key
    cdef object value
    cdef int key_way
    cdef int value_way
    cdef object context
    cdef object key_field
    cdef object value_field
    cdef object key_error
    cdef object value_error

    def __init__(self, functions, ways, context, fields, errors):
        self.key, self.value = functions
        self.key_way, self.value_way = ways
        self.context = context
        self.key_field, self.value_field = fields
        self.key_error, self.value_error = errors


# Messages of the compiled client are asked without a call of Python's; those of the pure one, as anybody asks them.

cdef inline error_of(message):
    return (<Message>message).error() if type(message) is Message else message.error()


cdef inline headers_of(message):
    return (<Message>message).headers() if type(message) is Message else message.headers()


cdef inline key_of(message):
    return (<Message>message).key() if type(message) is Message else message.key()


cdef inline value_of(message):
    return (<Message>message).value() if type(message) is Message else message.value()


cdef inline replace_key(message, key):
    if type(message) is Message:
        (<Message>message).set_key(key)
    else:
        message.set_key(key)


cdef inline replace_value(message, value):
    if type(message) is Message:
        (<Message>message).set_value(value)
    else:
        message.set_value(value)


cdef class FieldReader(_Fields):
    """Puts what they mean in place of keys and values."""

    def read(self, message):
        """Reads a message; on an error it stays as it was."""
        self.run(message)

    cdef run(self, message):
        key = value = raw = None
        headers = headers_of(message)
        cdef bint named = headers is not None and naming(headers)
        if self.key_way:
            raw = key_of(message)
            key = decoded_by(self.key, self.key_way, raw, named)
            if key is MISSED:
                try:
                    key = self.key(raw, self.context(message.topic() or "", self.key_field, headers))
                except Exception as error:
                    raise self.key_error(error, message) from error
        if self.value_way:
            data = value_of(message)
            value = decoded_by(self.value, self.value_way, data, named)
            if value is MISSED:
                raw = key_of(message)
                try:
                    value = self.value(data, self.context(message.topic() or "", self.value_field, headers, raw))
                except Exception as error:
                    raise self.value_error(error, message) from error
        if self.key_way:
            replace_key(message, key)
        if self.value_way:
            replace_value(message, value)

    def take(self, message, store):
        """Reads a message and stores its offset; None for an event, else what `store` says, True without one."""
        if error_of(message) is not None:
            return None
        self.run(message)
        if store is None:
            return True
        if type(store) is OffsetStore and type(message) is Message:
            return (<OffsetStore>store).store(<Message>message)
        return store(message)

    def read_now(self, message):
        """Reads a message by known codecs alone; False, and it stays as it was, if it needs more or can't be read."""
        return self.run_now(message)

    cdef bint run_now(self, message) except -1:
        key = value = None
        headers = headers_of(message)
        cdef bint named = headers is not None and naming(headers)
        if self.key_way:
            key = decoded_by(self.key, self.key_way, key_of(message), named)
            if key is MISSED:
                return False
        if self.value_way:
            value = decoded_by(self.value, self.value_way, value_of(message), named)
            if value is MISSED:
                return False
        if self.key_way:
            replace_key(message, key)
        if self.value_way:
            replace_value(message, value)
        return True

    def read_many(self, list messages not None):
        """Reads messages up to the first that is an event or can't be read: how many, and why it can't be read."""
        cdef Py_ssize_t good = 0
        for message in messages:
            if error_of(message) is not None:
                return good, None
            try:
                self.run(message)
            except (self.key_error, self.value_error) as failed:
                return good, failed
            good += 1
        return good, None

    def read_many_now(self, list messages not None):
        """Reads messages by known codecs alone, up to the first that is an event or needs more: how many."""
        cdef Py_ssize_t good = 0
        for message in messages:
            if error_of(message) is not None or not self.run_now(message):
                break
            good += 1
        return good


cdef class FieldWriter(_Fields):
    """Serializes keys and values."""

    def write(self, topic, key, value, headers):
        """Key, value and headers as they are produced; functions may have added headers, never to the caller's."""
        return self.run(topic, key, value, headers)

    cdef tuple run(self, topic, key, value, headers):
        given = key
        own = None
        if self.key_way:
            key = encoded_by(self.key, self.key_way, topic, self.key_field, given)
            if key is MISSED:
                own = copied(headers)
                try:
                    key = self.key(given, self.context(topic, self.key_field, own))
                except Exception as error:
                    raise self.key_error(error, topic) from error
        if self.value_way:
            data = encoded_by(self.value, self.value_way, topic, self.value_field, value)
            if data is MISSED:
                if own is None:
                    own = copied(headers)
                try:
                    data = self.value(value, self.context(topic, self.value_field, own, given))
                except Exception as error:
                    raise self.value_error(error, topic) from error
            value = data
        return key, value, (passed(headers) if own is None else own) or None

    def write_now(self, topic, key, value, headers):
        """As `write`, by known codecs alone; None if more is needed, or something can't be written."""
        if self.key_way:
            key = encoded_by(self.key, self.key_way, topic, self.key_field, key)
            if key is MISSED:
                return None
        if self.value_way:
            value = encoded_by(self.value, self.value_way, topic, self.value_field, value)
            if value is MISSED:
                return None
        return key, value, passed(headers) or None


cdef class ProduceCall:
    """Serializes a record and queues it."""

    cdef FieldWriter writer
    cdef object send

    def __init__(self, FieldWriter writer not None, send):
        self.writer = writer
        self.send = send

    def __call__(self, topic, key=None, value=None, partition=-1, on_delivery=None, timestamp=0, headers=None):
        """Implements `serdes.SerializingProducer.produce`."""
        cdef tuple written = self.writer.run(topic, key, value, headers)
        return self.send(topic, written[1], written[0], partition, None, on_delivery, timestamp, written[2])


def last_of_each(list messages not None):
    """The last message of each partition."""
    cdef dict last = {}
    topic = partition = before = None
    for message in messages:
        found_topic = message.topic()
        found_partition = message.partition()
        if before is not None and (found_topic is not topic or found_partition is not partition):
            last[topic, partition] = before
        topic = found_topic
        partition = found_partition
        before = message
    if before is not None:
        last[topic, partition] = before
    return list(last.values())


cdef decoded_by(function, int way, data, bint named):
    """A function's result for bytes, without a context; MISSED if it needs one, or fails."""
    if way == 1:
        if data is None:
            return None
        if named:
            return MISSED
        try:
            decode = (<FrameDecoders?>function).find(data)
            if decode is None:
                return MISSED
            return decoded(decode, <bytes>data)  # it is bytes, else there would be no decoder
        except Exception:  # with a context it says where
            return MISSED
    if way == 4:
        if data is None:
            return None
        try:
            return (<bytes>data).decode("utf-8") if type(data) is bytes else MISSED
        except UnicodeDecodeError:
            return MISSED
    if way == 2:
        try:
            return function(data)
        except Exception:
            return MISSED
    return MISSED


cdef encoded_by(function, int way, topic, field, obj):
    """A function's result for an object, without a context; MISSED if it needs one, or fails."""
    if way == 1:
        if obj is None:
            return None
        try:
            encode = (<ValueEncoders?>function).find(topic, field)
            if encode is None:
                return MISSED
            return encoded(encode, obj)
        except Exception:  # with a context it says where
            return MISSED
    if way == 4:
        if obj is None:
            return None
        try:
            return (<str>obj).encode("utf-8") if type(obj) is str else MISSED
        except UnicodeEncodeError:
            return MISSED
    if way == 2:
        try:
            return function(obj)
        except Exception:
            return MISSED
    return MISSED


cdef list copied(headers):
    if not headers:
        return []
    return list(headers.items() if isinstance(headers, Mapping) else headers)


cdef passed(headers):
    """Headers as the client takes them."""
    return headers if headers is None or type(headers) is list or type(headers) is dict else copied(headers)
