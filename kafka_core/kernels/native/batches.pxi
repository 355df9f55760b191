# The bytes of records and of the batch that holds them: a part of accumulator.pyx.
# Source: https://kafka.apache.org/documentation/#recordbatch


cdef class Span:
    """The bytes of a key or value that is neither bytes nor str, held while they are copied."""

    cdef Py_buffer view

    def __cinit__(self, value):
        PyObject_GetBuffer(value, &self.view, PyBUF_SIMPLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef inline Py_ssize_t point(object value, const uint8_t** data, str what) except -2:
    """Points at the bytes of a bytes or str; its size, -1 for None."""
    cdef Py_ssize_t size
    if value is None:
        data[0] = NULL
        return -1
    if PyBytes_Check(value):
        data[0] = <const uint8_t*>PyBytes_AS_STRING(value)
        return PyBytes_GET_SIZE(value)
    if PyUnicode_Check(value):
        data[0] = <const uint8_t*>PyUnicode_AsUTF8AndSize(value, &size)
        return size
    raise TypeError(f"{what} must be bytes, str or None, not {type(value).__name__}")


cdef inline object flat(object value, str what):
    """bytes, str and None as they are; any other buffer as bytes."""
    cdef Span span
    if value is None or PyBytes_Check(value) or PyUnicode_Check(value):
        return value
    try:
        span = Span(value)
    except TypeError:
        raise TypeError(f"{what} must be bytes, str, a buffer or None, not {type(value).__name__}") from None
    except BufferError:  # it has gaps; and to the caller, BufferError would say that the queue is full
        return memoryview(value).tobytes()
    return PyBytes_FromStringAndSize(<const char*>span.view.buf, span.view.len)


cdef object known_pairs(object headers):
    """Headers that are no list or dict: a tuple of pairs and other mappings will do."""
    if isinstance(headers, Mapping):
        return dict(headers)
    if isinstance(headers, tuple):
        return list(headers)
    raise TypeError(f"expected headers to be dict or list of (key, value) tuples, not {type(headers).__name__}")


cdef bytes pack_headers(object headers):
    """The header section of a record (count and pairs), b"" for none."""
    cdef const uint8_t* data
    cdef Py_ssize_t size
    cdef uint8_t[10] number
    cdef uint8_t* end
    cdef list parts
    if not isinstance(headers, (list, dict)):
        headers = known_pairs(headers)
    if not headers:
        return b""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    end = ks_put_varint(number, len(pairs))
    parts = [PyBytes_FromStringAndSize(<char*>number, end - number)]
    for pair in pairs:
        if not isinstance(pair, tuple) or len(<tuple>pair) != 2:
            raise TypeError("Headers are expected to be a list of (key, value) tuples")
        name, value = <tuple>pair
        if not isinstance(name, str):
            raise TypeError(f"a header's name must be str, not {type(name).__name__}")
        value = flat(value, "a header's value")
        size = point(name, &data, "a header's name")
        end = ks_put_varint(number, size)
        parts.append(PyBytes_FromStringAndSize(<char*>number, end - number))
        parts.append(PyBytes_FromStringAndSize(<const char*>data, size))
        size = point(value, &data, "a header's value")
        end = ks_put_varint(number, size)
        parts.append(PyBytes_FromStringAndSize(<char*>number, end - number))
        if size > 0:
            parts.append(PyBytes_FromStringAndSize(<const char*>data, size))
    return b"".join(parts)


cdef class Batch:
    """A batch of one partition: open while it grows, then sealed; the records lie behind room for the header.

    Attributes:
        size_bytes: bytes of its records, which is what counts against the memory bound.
    """

    cdef Memory memory
    cdef bint written
    cdef int64_t written_id
    cdef int written_epoch
    cdef int written_sequence
    cdef bint written_transactional
    cdef Py_ssize_t limit
    cdef list callbacks
    cdef list receivers          # the `self` of callbacks that are bound methods, once there is one
    cdef readonly str topic
    cdef readonly int partition
    cdef readonly Py_ssize_t count
    cdef readonly double opened_at_s
    cdef readonly int64_t max_timestamp_ms
    cdef int64_t base_timestamp
    cdef readonly bint has_callbacks
    cdef bint has_receivers
    cdef Py_ssize_t shrunk       # bytes that a split saved: they were counted, and must be settled

    def __cinit__(self, str topic not None, int partition, Py_ssize_t limit, Py_ssize_t room, double opened_at_s):
        self.topic, self.partition, self.opened_at_s = topic, partition, opened_at_s
        self.limit = limit
        self.callbacks, self.receivers = [], []
        room = max(room, HEADER_BYTES)
        self.memory = Memory.__new__(Memory)
        self.memory.room = room
        self.memory.size = HEADER_BYTES
        self.max_timestamp_ms = -1
        self.memory.data = <uint8_t*>malloc(room)
        if self.memory.data == NULL:
            raise MemoryError()

    @property
    def size_bytes(self):
        """Its share of the queue's bound."""
        return self.memory.size - HEADER_BYTES + self.shrunk

    cdef Py_ssize_t append(self, int64_t timestamp, const uint8_t* key, Py_ssize_t key_size, const uint8_t* value,
                           Py_ssize_t value_size, const uint8_t* headers, Py_ssize_t headers_size,
                           Py_ssize_t max_records) noexcept:
        """Bytes added; 0 when it does not fit any more, -1 without memory. Allocates no Python object."""
        cdef Py_ssize_t payload = (key_size if key_size > 0 else 0) + (value_size if value_size > 0 else 0)
        cdef Py_ssize_t need = self.memory.size + payload + headers_size + RECORD_SPARE
        cdef int64_t body, delta
        cdef uint8_t* p
        cdef uint8_t* grown
        cdef Py_ssize_t room
        if self.count and (need > self.limit or self.count >= max_records):
            return 0
        if need > self.memory.room:
            room = max(need, min(self.memory.room * 2, self.limit))
            grown = <uint8_t*>realloc(self.memory.data, room)
            if grown == NULL:
                return -1
            self.memory.data, self.memory.room = grown, room
        if self.count == 0:
            self.base_timestamp = timestamp
        delta = <int64_t>(<uint64_t>timestamp - <uint64_t>self.base_timestamp)
        body = (1 + ks_varint_size(delta) + ks_varint_size(self.count) + ks_varint_size(key_size)
                + ks_varint_size(value_size) + payload + (headers_size if headers_size else 1))
        p = ks_put_varint(self.memory.data + self.memory.size, body)
        p[0] = 0
        p = ks_put_varint(p + 1, delta)
        p = ks_put_varint(p, self.count)
        p = ks_put_varint(p, key_size)
        if key_size > 0:
            memcpy(p, key, key_size)
            p += key_size
        p = ks_put_varint(p, value_size)
        if value_size > 0:
            memcpy(p, value, value_size)
            p += value_size
        if headers_size:
            memcpy(p, headers, headers_size)
            p += headers_size
        else:
            p[0] = 0
            p += 1
        body = (p - self.memory.data) - self.memory.size
        self.memory.size = p - self.memory.data
        self.count += 1
        if timestamp > self.max_timestamp_ms:
            self.max_timestamp_ms = timestamp
        return body

    cdef bint note(self, object callback) except -1:
        """Keeps the callback of the record just appended.

        Of a bound method its function and its object: every `self.done` is an object of its own, and walking a hundred
        thousand of them again and again costs the garbage collector more time than all the rest of produce().
        """
        cdef object receiver = None
        if callback is None and not self.has_callbacks:
            return True
        self.has_callbacks = True
        if PyMethod_Check(callback):
            self.has_receivers = True
            receiver = <object>PyMethod_GET_SELF(callback)
            callback = <object>PyMethod_GET_FUNCTION(callback)
        put_at(self.callbacks, self.count - 1, callback)
        if self.has_receivers:
            put_at(self.receivers, self.count - 1, receiver)
        return True

    cdef object callback_of(self, Py_ssize_t index):
        if not self.has_callbacks:
            return None
        if self.has_receivers and self.receivers[index] is not None:
            return PyMethod_New(self.callbacks[index], self.receivers[index])
        return self.callbacks[index]

    def encode(self, *, int codec_id=0, compress=None, int64_t producer_id=-1, int producer_epoch=-1,
               int base_sequence=-1, bint transactional=False):
        """The whole v2 batch as one buffer; may be called again with other ids once the first result is not in use.

        Without a codec the result is a view of this batch's own memory. The CRC is computed without the GIL. Records that
        the codec makes no smaller are left as they are.

        Args:
            codec_id: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
            compress: called with a view of the records; needed with a codec.
        """
        cdef Pinned packed
        cdef bytes out
        cdef uint8_t* target
        cdef Py_ssize_t size = self.memory.size
        if codec_id == 0:
            return self.encode_plain(producer_id, producer_epoch, base_sequence, transactional)
        found = compress(memoryview(self.memory)[HEADER_BYTES:])
        if found is None:
            raise TypeError("compress must return a buffer, not None")
        packed = Pinned(found)
        if packed.size >= size - HEADER_BYTES:
            return self.encode_plain(producer_id, producer_epoch, base_sequence, transactional)
        size = HEADER_BYTES + packed.size
        out = PyBytes_FromStringAndSize(NULL, size)
        target = <uint8_t*>PyBytes_AS_STRING(out)
        if packed.size:
            memcpy(target + HEADER_BYTES, packed.data, packed.size)
        self.finish(target, size, codec_id, producer_id, producer_epoch, base_sequence, transactional)
        return out

    cdef encode_plain(self, int64_t producer_id, int producer_epoch, int base_sequence, bint transactional):
        """A view of this batch's own memory; a copy if an earlier view still shows other ids."""
        cdef bytes out
        cdef bint same = (self.written and self.written_id == producer_id and self.written_epoch == producer_epoch
                          and self.written_sequence == base_sequence and self.written_transactional == transactional)
        if not same and self.memory.views > 0:
            out = PyBytes_FromStringAndSize(<const char*>self.memory.data, self.memory.size)
            self.finish(<uint8_t*>PyBytes_AS_STRING(out), self.memory.size, 0, producer_id, producer_epoch,
                        base_sequence, transactional)
            return out
        if not same:
            self.finish(self.memory.data, self.memory.size, 0, producer_id, producer_epoch, base_sequence,
                        transactional)
            self.keep_ids(producer_id, producer_epoch, base_sequence, transactional)
        return memoryview(self.memory)

    cdef void keep_ids(self, int64_t producer_id, int producer_epoch, int base_sequence, bint transactional) noexcept:
        """Notes the ids in the header in this batch's own memory."""
        self.written, self.written_id, self.written_epoch = True, producer_id, producer_epoch
        self.written_sequence, self.written_transactional = base_sequence, transactional

    cdef void seal_plain(self, int64_t producer_id, int producer_epoch, int base_sequence) noexcept:
        """The header in this batch's own memory, which nobody sees yet, without letting go of the GIL."""
        self.head(self.memory.data, self.memory.size, 0, producer_id, producer_epoch, base_sequence, False)
        ks_store32(self.memory.data + 17, ks_crc32c(0, self.memory.data + 21, <size_t>(self.memory.size - 21)))
        self.keep_ids(producer_id, producer_epoch, base_sequence, False)

    cdef void finish(self, uint8_t* p, Py_ssize_t size, int codec_id, int64_t producer_id, int producer_epoch,
                     int base_sequence, bint transactional) noexcept:
        self.head(p, size, codec_id, producer_id, producer_epoch, base_sequence, transactional)
        with nogil:
            ks_store32(p + 17, ks_crc32c(0, p + 21, <size_t>(size - 21)))

    cdef void head(self, uint8_t* p, Py_ssize_t size, int codec_id, int64_t producer_id, int producer_epoch,
                   int base_sequence, bint transactional) noexcept:
        cdef int64_t base_timestamp = self.base_timestamp
        ks_store64(p, 0)
        ks_store32(p + 8, <uint32_t>(size - 12))
        ks_store32(p + 12, 0xffffffff)
        p[16] = 2
        ks_store16(p + 21, codec_id | (0x10 if transactional else 0))
        ks_store32(p + 23, <uint32_t>(self.count - 1))
        ks_store64(p + 27, <uint64_t>base_timestamp)
        ks_store64(p + 35, <uint64_t>self.max_timestamp_ms)
        ks_store64(p + 43, <uint64_t>producer_id)
        ks_store16(p + 51, <uint32_t>producer_epoch & 0xffff)
        ks_store32(p + 53, <uint32_t>base_sequence)
        ks_store32(p + 57, <uint32_t>self.count)

    def reports(self, error, int64_t base_offset, int64_t log_append_time_ms=-1, latency_s=None):
        """(callback or None, Message) for every record, in order: what poll() hands to the application."""
        cdef const uint8_t* p = self.memory.data + HEADER_BYTES
        cdef const uint8_t* end = self.memory.data + self.memory.size
        cdef int64_t offset = 0
        cdef Py_ssize_t index
        cdef Message message
        cdef list found = []
        cdef object rare = None if error is None and latency_s is None else (error, None, latency_s)
        for index in range(self.count):
            message = new_message()
            p = parse_record(p, end, message, 0, self.base_timestamp, &offset)
            if p == NULL:
                raise RuntimeError("a batch of our own making is corrupt")
            message.owner = self.memory
            message._topic = self.topic
            message._partition = self.partition
            message._offset = base_offset + index if base_offset >= 0 else -1001
            message.timestamp_type = 1
            if log_append_time_ms >= 0:
                message.timestamp_type, message.timestamp_ms = LOG_APPEND_TIME, log_append_time_ms
            message._rare = rare
            found.append((self.callback_of(index), message))
        return found

    def split(self):
        """Two batches with the first and the second half of the records; for more than one record."""
        cdef list halves = []
        cdef Py_ssize_t middle = self.count // 2
        if self.count < 2:
            raise ValueError("a batch of one record can't be split")
        halves.append(self.part(0, middle))
        halves.append(self.part(middle, self.count))
        # Numbered from 0 again, the second half may be a few bytes shorter; those were counted, too.
        (<Batch>halves[1]).shrunk = self.size_bytes - (<Batch>halves[0]).size_bytes - (<Batch>halves[1]).size_bytes
        return halves

    cdef Batch part(self, Py_ssize_t first, Py_ssize_t last):
        cdef const uint8_t* p = self.memory.data + HEADER_BYTES
        cdef const uint8_t* end = self.memory.data + self.memory.size
        cdef const uint8_t* stop
        cdef int64_t offset = 0
        cdef Py_ssize_t index
        cdef Message message = Message.__new__(Message)
        cdef Batch batch = make_batch(self.topic, self.partition, self.limit, self.memory.room, self.opened_at_s)
        for index in range(last):
            stop = parse_record(p, end, message, 0, self.base_timestamp, &offset)
            if stop == NULL:
                raise RuntimeError("a batch of our own making is corrupt")
            if index >= first:
                # The header section goes over as it stands: the count's varint lies just before the first pair.
                if batch.append(message.timestamp_ms, message.key_data, message.key_size, message.value_data,
                                message.value_size, headers_start(message), headers_length(message),
                                self.count) < 0:
                    raise MemoryError()
                batch.note(self.callback_of(index))
            p = stop
        return batch


cdef inline const uint8_t* headers_start(Message message) noexcept:
    return message.header_data - ks_varint_size(message.header_count)


cdef inline Py_ssize_t headers_length(Message message) noexcept:
    return message.record_end - headers_start(message) if message.header_count else 0


cdef Batch make_batch(str topic, int partition, Py_ssize_t limit, Py_ssize_t room, double opened_at_s):
    return Batch(topic, partition, limit, room, opened_at_s)


cdef inline bint put_at(list kept, Py_ssize_t index, object item) except -1:
    """`item` behind as many None as it takes. Appending runs no garbage collection, and so no other code."""
    while len(kept) < index:
        kept.append(None)
    kept.append(item)
    return True
