# cython: language_level=3, boundscheck=False, wraparound=False
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""Record batches: finding them in fetched bytes and walking their records; the twin of `pure/record_batch.py`.

Must not know of fetches, groups or compression: what it is given is one decompressed payload.
Spec: https://kafka.apache.org/documentation/#recordbatch.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from kafka_core.kernels.native.message cimport Message, Pinned, exact_text, new_message, parse_record
from kafka_core.kernels.native.wire cimport ks_crc32c, ks_crc_init, ks_load16, ks_load32, ks_load64

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels.abc import BatchHeader

ks_crc_init()

include "hashes.pxi"  # a module of its own would add 9 kB

cdef int HEADER_BYTES = 61
cdef int CRC_AT = 17
cdef int CRC_FROM = 21
cdef int LOG_APPEND_FLAG = 0x08


def scan_batches(buffer, Py_ssize_t start=0, Py_ssize_t end=-1, bint check_crc=True):
    """Headers of the complete batches in `buffer[start:end]`, in order; an incomplete last one is left out.

    Raises:
        CorruptRecordError: a length, a count, the magic byte or the CRC is wrong; names position and base offset.
    """
    cdef Pinned owner = Pinned(buffer)
    cdef Py_ssize_t at = start
    cdef int64_t base_offset, size
    cdef int32_t count, last_delta
    cdef const uint8_t* p
    cdef uint32_t crc
    cdef list found = []
    if end < 0 or end > owner.size:
        end = owner.size
    if start < 0:
        raise ValueError(f"start must not be negative, got {start}")
    while end - at >= 17:
        p = owner.data + at
        base_offset = <int64_t>ks_load64(p)
        size = <int32_t>ks_load32(p + 8)
        if size < 5 or p[16] > 2 or (p[16] == 2 and size < HEADER_BYTES - 12):
            raise CorruptRecordError(
                f"the batch at byte {at} (base offset {base_offset}) claims {size} bytes and magic {p[16]}")
        if size + 12 > end - at:
            break
        if p[16] < 2:
            found.append(BatchHeader(at, size + 12, p[16], p[17] if size > 5 else 0, base_offset, 0, -1, -1, -1, -1,
                                     -1, 1, -1, at + 12))
            at += size + 12
            continue
        if check_crc:
            with nogil:
                crc = ks_crc32c(0, p + CRC_FROM, <size_t>(size + 12 - CRC_FROM))
            if crc != ks_load32(p + CRC_AT):
                raise CorruptRecordError(
                    f"the batch at byte {at} (base offset {base_offset}) has CRC {crc:#010x}, but says "
                    f"{ks_load32(p + CRC_AT):#010x}: it was damaged on its way or on disk")
        count = <int32_t>ks_load32(p + 57)
        last_delta = <int32_t>ks_load32(p + 23)
        if count < 0 or last_delta < 0:
            raise CorruptRecordError(
                f"the batch at byte {at} (base offset {base_offset}) claims {count} records up to offset delta "
                f"{last_delta}")
        found.append(BatchHeader(
            at, size + 12, 2, <int16_t>ks_load16(p + 21), base_offset, last_delta, <int64_t>ks_load64(p + 27),
            <int64_t>ks_load64(p + 35), <int64_t>ks_load64(p + 43), <int16_t>ks_load16(p + 51),
            <int32_t>ks_load32(p + 53), count, <int32_t>ks_load32(p + 12), at + HEADER_BYTES))
        at += size + 12
    return found


cdef class RecordCursor:
    """Walks the records of one decompressed batch payload, from an offset on."""

    def __init__(self, buffer, Py_ssize_t start, Py_ssize_t end, header, topic not None, int partition,
                 int64_t from_offset):
        # Nothing is kept before everything is known to be good: a second call that fails must leave a whole cursor.
        cdef Pinned owner = Pinned(buffer)
        cdef int64_t base_offset, last_delta, base_timestamp, append_time, left
        cdef int leader_epoch, attributes
        if not 0 <= start <= end <= owner.size:
            raise ValueError(f"no range {start} to {end} in a buffer of {owner.size} bytes")
        if type(topic) is not str:
            topic = exact_text(topic)
        if not 0 <= header.base_offset < 2**63 - 1 - header.last_offset_delta:
            raise CorruptRecordError(f"{topic}[{partition}]: a batch begins at offset {header.base_offset}")
        base_offset, last_delta, base_timestamp = header.base_offset, header.last_offset_delta, header.base_timestamp_ms
        left, leader_epoch = header.count, header.partition_leader_epoch
        append_time, attributes = header.max_timestamp_ms, header.attributes
        self.owner = owner
        self.at = owner.data + start
        self.end = owner.data + end
        self.topic = topic
        self.partition = partition
        self.base_offset = base_offset
        self.base_timestamp = base_timestamp
        self.end_offset = base_offset + last_delta + 1
        self.from_offset = from_offset
        self.next_offset = max(from_offset, base_offset)
        self.left = left
        self.leader_epoch = leader_epoch
        self.append_time = append_time
        self.timestamp_type = 2 if attributes & LOG_APPEND_FLAG else 1
        if self.left == 0:
            self.finish()

    @property
    def position(self):
        """The offset behind what was handed out; the end of the batch when it is exhausted."""
        return self.next_offset

    @property
    def exhausted(self):
        """Whether every record was handed out."""
        return self.left == 0

    cdef object corrupt(self, str what):
        return CorruptRecordError(f"{self.topic}[{self.partition}] near offset {self.next_offset}: {what}")

    cdef bint finish(self) except -1:
        if self.at != self.end:
            self.left = 0
            raise self.corrupt(f"{self.end - self.at} bytes follow the last record of the batch")
        self.next_offset = max(self.next_offset, self.end_offset)
        return True

    cdef Message advance(self):
        """The next record at or past `from_offset`; None at the end."""
        cdef Message message
        cdef const uint8_t* next_at
        cdef int64_t offset = 0
        if self.left == 0:
            return None
        message = new_message()
        while self.left > 0:
            next_at = parse_record(self.at, self.end, message, self.base_offset, self.base_timestamp, &offset)
            if next_at == NULL:
                raise self.corrupt("a record's lengths don't fit the batch")
            if offset < self.base_offset or offset >= self.end_offset:
                raise self.corrupt(f"a record's offset {offset} is not in its batch, which ends before {self.end_offset}")
            self.at = next_at
            self.left -= 1
            if offset >= self.from_offset:
                message.owner = self.owner
                message._topic = self.topic
                message._partition = self.partition
                message._leader_epoch = self.leader_epoch
                message.timestamp_type = self.timestamp_type
                if self.timestamp_type == 2:
                    message.timestamp_ms = self.append_time
                elif message.timestamp_ms == -1:
                    message.timestamp_type = 0
                self.next_offset = offset + 1
                if self.left == 0:
                    self.finish()
                return message
        self.finish()
        return None

    def next(self):
        """The next record, None when there is none left.

        Raises:
            CorruptRecordError: a record's lengths don't fit the batch.
        """
        return self.advance()

    def take(self, list out not None, Py_ssize_t limit):
        """Appends up to `limit` records to `out`; returns how many."""
        cdef Py_ssize_t taken = 0
        cdef Message message
        while taken < limit:
            message = self.advance()
            if message is None:
                break
            out.append(message)
            taken += 1
        return taken

    def take_columns(self, sink not None, Py_ssize_t limit):
        """Puts up to `limit` records into the sink's columns; returns how many."""
        return sink.fill(self, limit)
