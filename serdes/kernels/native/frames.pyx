# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True
"""The frames of a batch, read in place. The twin of `pure/frames.py`, which is the specification."""

import os

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

__all__ = ["Frames"]

cdef enum:
    PREFIX_BYTES = 5
    GUID_BYTES = 17
    MOST_ROWS = 0x7FFFFFFF

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")


cdef inline uint64_t mixed(uint64_t value) noexcept nogil:
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    value *= <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ (value >> 33)


cdef inline uint64_t big_endian(const uint8_t* data, int size) noexcept nogil:
    cdef uint64_t value = 0
    cdef int at
    for at in range(size):
        value = (value << 8) | data[at]
    return value


cdef object named(const Key* key):
    """The number, or the 16 bytes of the GUID."""
    if key.guid:
        return (<object>key.high << 64 | <object>key.low).to_bytes(16, "big")
    return key.low


cdef class Pinned:

    def __cinit__(self, buffer):
        if buffer is not None:
            PyObject_GetBuffer(buffer, &self.view, PyBUF_SIMPLE)
            self.held = True
            self.data = <const uint8_t*>self.view.buf
            self.size = self.view.len

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef class Frames:
    """The rows of a batch: where each payload is, and what names its schema.

    Args:
        rows: how many there will be; `add_…` then adds them all.
    """

    def __cinit__(self, int64_t rows):
        cdef int64_t room = rows if rows > 0 else 1
        if rows > MOST_ROWS:
            raise ValueError("more rows than a batch can have")
        self.rows = rows
        self.last_place = -1
        self.owners = []
        self.payloads = <const uint8_t**>malloc(room * sizeof(uint8_t*))
        self.sizes = <int64_t*>malloc(room * sizeof(int64_t))
        self.prefixes = <uint8_t*>calloc(room, 1)
        self.keys = <int32_t*>malloc(room * sizeof(int32_t))
        if self.payloads == NULL or self.sizes == NULL or self.prefixes == NULL or self.keys == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.payloads)
        free(self.sizes)
        free(self.prefixes)
        free(self.tails)
        free(self.tail_sizes)
        free(self.keys)
        free(self.found)
        free(self.table)

    # --- rows

    cdef int need(self, int64_t rows) except -1:
        if rows < 0 or rows > self.rows - self.filled:
            raise ValueError("more rows than were announced")
        return 0

    cdef int all_valid(self, int64_t offset, int64_t rows, Pinned validity) except -1:
        """Checks what all arrays have; rows are added behind it."""
        self.need(rows)
        if offset < 0 or (validity.held and offset > 8 * validity.size - rows):
            raise ValueError("fewer bits of validity than rows")
        return 0

    def add_nulls(self, int64_t rows):
        """Null rows."""
        self.need(rows)
        for _ in range(rows):
            self.payloads[self.filled] = NULL
            self.sizes[self.filled] = -1
            self.filled += 1

    def add_binary(self, owner, int64_t offset, int64_t rows, validity, offsets not None, data, bint large):
        """Rows of a binary array, with 32-bit or (`large`) 64-bit offsets; the buffers are `owner`'s, None for none.

        Raises:
            ValueError: an offset is not within the data, or a buffer is too short.
        """
        cdef Pinned bits = Pinned(validity)
        cdef Pinned places = Pinned(offsets)
        cdef Pinned octets = Pinned(data)
        cdef const uint8_t* valid = bits.data
        cdef const uint8_t* first = octets.data  # in a register: loops that write rows would read it again each time
        cdef int64_t size = octets.size
        cdef const int32_t* small = <const int32_t*>places.data
        cdef const int64_t* wide = <const int64_t*>places.data
        cdef int64_t at, start, end, before = self.filled
        cdef bint wrong = False
        self.all_valid(offset, rows, bits)
        if offset > places.size // (8 if large else 4) - rows - 1:
            raise ValueError("fewer offsets than rows")
        self.owners.append(owner)
        with nogil:
            for at in range(offset, offset + rows):
                start = wide[at] if large else small[at]
                end = wide[at + 1] if large else small[at + 1]
                if start < 0 or end < start or end > size:
                    wrong = True
                    break
                self.payloads[self.filled] = first + start
                self.sizes[self.filled] = end - start
                if valid != NULL and not valid[at >> 3] >> (at & 7) & 1:
                    self.payloads[self.filled] = NULL
                    self.sizes[self.filled] = -1
                self.filled += 1
        if wrong:
            self.filled = before
            raise ValueError("an offset of the array is not within its data")

    def add_fixed(self, owner, int64_t offset, int64_t rows, validity, data, int64_t width):
        """Rows of an array whose values have `width` bytes each. Raises ValueError if the data are fewer."""
        cdef Pinned bits = Pinned(validity)
        cdef Pinned octets = Pinned(data)
        cdef const uint8_t* valid = bits.data
        cdef const uint8_t* first = octets.data
        cdef int64_t at
        self.all_valid(offset, rows, bits)
        if width < 0 or (width > 0 and rows > 0 and offset > octets.size // width - rows):
            raise ValueError("fewer data than rows")
        self.owners.append(owner)
        with nogil:
            for at in range(offset, offset + rows):
                self.payloads[self.filled] = first + at * width
                self.sizes[self.filled] = width
                if valid != NULL and not valid[at >> 3] >> (at & 7) & 1:
                    self.payloads[self.filled] = NULL
                    self.sizes[self.filled] = -1
                self.filled += 1

    def add_views(self, owner, int64_t offset, int64_t rows, validity, views, list buffers not None):
        """Rows of a view array: 16 bytes each, which hold a short value or say where it is.

        Raises:
            ValueError: a view is not within the data, or a buffer is too short.
        """
        cdef Pinned bits = Pinned(validity)
        cdef Pinned fixed = Pinned(views)
        cdef Pinned data
        cdef const uint8_t* valid = bits.data
        cdef const uint8_t* view = fixed.data
        cdef const int32_t* fields
        cdef int64_t at, before = self.filled
        cdef int64_t count = len(buffers)
        cdef const uint8_t** starts = <const uint8_t**>calloc(count + 1, sizeof(uint8_t*))
        cdef int64_t* sizes = <int64_t*>calloc(count + 1, sizeof(int64_t))
        cdef bint wrong = False
        try:
            if starts == NULL or sizes == NULL:
                raise MemoryError()
            self.all_valid(offset, rows, bits)
            if rows and offset > fixed.size // 16 - rows:
                raise ValueError("fewer views than rows")
            for at in range(count):
                data = Pinned(buffers[at])
                starts[at] = data.data
                sizes[at] = data.size
            self.owners.append(owner)
            with nogil:
                for at in range(offset, offset + rows):
                    fields = <const int32_t*>(view + 16 * at)
                    self.payloads[self.filled] = NULL
                    self.sizes[self.filled] = -1
                    if valid == NULL or valid[at >> 3] >> (at & 7) & 1:
                        self.sizes[self.filled] = fields[0]
                        if 0 <= fields[0] <= 12:
                            self.payloads[self.filled] = view + 16 * at + 4
                        elif (fields[0] < 0 or not 0 <= fields[2] < count or fields[3] < 0
                              or fields[3] > sizes[fields[2]] - fields[0]):
                            wrong = True
                            break
                        else:
                            self.payloads[self.filled] = starts[fields[2]] + fields[3]
                    self.filled += 1
        finally:
            free(starts)
            free(sizes)
        if wrong:
            self.filled = before
            raise ValueError("a view of the array is not within its data")

    # --- what names a row's schema

    def name_by_prefix(self):
        """Takes magic byte and id, or GUID, from in front of each payload."""
        cdef int64_t row
        with nogil:
            for row in range(self.filled):
                self.name(row, self.payloads[row], self.sizes[row], 0)

    def name_by_headers(self, Frames headers not None):
        """Takes them from a header's value; where that is null, from in front of the payload."""
        cdef int64_t row
        cdef int64_t room = self.rows if self.rows > 0 else 1
        if headers.filled != self.filled:
            raise ValueError("as many headers as frames are needed")
        self.owners.append(headers)
        if self.tails == NULL:
            self.tails = <const uint8_t**>calloc(room, sizeof(uint8_t*))
            self.tail_sizes = <int64_t*>calloc(room, sizeof(int64_t))
            if self.tails == NULL or self.tail_sizes == NULL:
                raise MemoryError()
        with nogil:
            for row in range(self.filled):
                if headers.sizes[row] < 0 or self.sizes[row] < 0:
                    self.name(row, self.payloads[row], self.sizes[row], 0)
                else:
                    self.name(row, headers.payloads[row], headers.sizes[row], 1)

    def name_by_number(self, ids not None):
        """Takes the id of each row from a list of numbers; where that is None, from in front of the payload."""
        cdef int64_t row
        if len(ids) != self.filled:
            raise ValueError("as many ids as frames are needed")
        for row in range(self.filled):
            if ids[row] is None or self.sizes[row] < 0:
                self.name(row, self.payloads[row], self.sizes[row], 0)
            else:
                self.keys[row] = self.place_of(0, <uint64_t>ids[row], False)

    cdef int name(self, int64_t row, const uint8_t* data, int64_t size, int64_t taken) except -1 nogil:
        """Reads what names a schema; `taken` says that it does not stand in front of the payload."""
        cdef int64_t used
        cdef uint32_t number
        if self.sizes[row] < 0:
            self.keys[row] = NULL_ROW
            return 0
        if size >= PREFIX_BYTES and data[0] == 0:
            used = PREFIX_BYTES
            memcpy(&number, data + 1, 4)
            if number == self.last_id and self.last_place >= 0:
                self.found[self.last_place].rows += 1
            else:
                self.last_place = self.place_of(0, big_endian(data + 1, 4), False)
                self.last_id = number
            self.keys[row] = self.last_place
        elif size >= GUID_BYTES and data[0] == 1:
            used = GUID_BYTES
            self.keys[row] = self.place_of(big_endian(data + 1, 8), big_endian(data + 9, 8), True)
        else:
            self.keys[row] = NO_FRAME
            return 0
        if taken:
            self.tails[row] = data + used
            self.tail_sizes[row] = size - used
        else:
            self.payloads[row] += used
            self.sizes[row] -= used
            self.prefixes[row] = <uint8_t>used
        return 0

    cdef int32_t place_of(self, uint64_t high, uint64_t low, bint guid) except -1 nogil:
        cdef Key* grown
        cdef int64_t slot
        cdef int32_t place
        if (self.found_count + 1) * 2 > self.table_size:
            self.rehash()
        slot = <int64_t>(mixed(high ^ mixed(low ^ SEED)) & <uint64_t>(self.table_size - 1))
        while self.table[slot] >= 0:
            place = self.table[slot]
            if self.found[place].low == low and self.found[place].high == high and self.found[place].guid == guid:
                self.found[place].rows += 1
                return place
            slot = (slot + 1) & (self.table_size - 1)
        if self.found_count == self.found_room:
            grown = <Key*>realloc(self.found, (self.found_room * 2 + 4) * sizeof(Key))
            if grown == NULL:
                with gil:
                    raise MemoryError()
            self.found = grown
            self.found_room = self.found_room * 2 + 4
        place = <int32_t>self.found_count
        self.found[place].high, self.found[place].low = high, low
        self.found[place].guid, self.found[place].rows = guid, 1
        self.found_count += 1
        self.table[slot] = place
        return place

    cdef int rehash(self) except -1 nogil:
        cdef int64_t size = self.table_size * 4 if self.table_size else 16
        cdef int64_t place, slot
        cdef int32_t* table = <int32_t*>malloc(size * sizeof(int32_t))
        if table == NULL:
            with gil:
                raise MemoryError()
        memset(table, 0xFF, size * sizeof(int32_t))
        for place in range(self.found_count):
            slot = <int64_t>(mixed(self.found[place].high ^ mixed(self.found[place].low ^ SEED)) & <uint64_t>(size - 1))
            while table[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            table[slot] = <int32_t>place
        free(self.table)
        self.table, self.table_size = table, size
        return 0

    # --- what Python asks

    def names(self):
        """The ids of the schemas in order of appearance (the number, or the 16 bytes of the GUID), with their rows."""
        cdef int64_t place
        made = []
        for place in range(self.found_count):
            made.append((named(&self.found[place]), self.found[place].rows))
        return made

    def plan_of_row(self, list plans not None):
        """For each row what `plans` has for its name: native ints of 32 bits; -1 for null rows and what is no frame."""
        cdef bytes made = PyBytes_FromStringAndSize(NULL, self.filled * sizeof(int32_t))
        cdef int32_t* out = <int32_t*><char*>made
        cdef int64_t row
        cdef int32_t* by_name = <int32_t*>malloc((self.found_count + 1) * sizeof(int32_t))
        if by_name == NULL:
            raise MemoryError()
        try:
            if len(plans) != self.found_count:
                raise ValueError("as many plans as names are needed")
            for row in range(self.found_count):
                by_name[row] = plans[row]
            for row in range(self.filled):
                out[row] = by_name[self.keys[row]] if self.keys[row] >= 0 else -1
        finally:
            free(by_name)
        return made

    def rows_of(self, int32_t place):
        """The rows of one name, by its place in `names`; of -1 those that are null, of -2 those that are no frames."""
        cdef int64_t row
        return [row for row in range(self.filled) if self.keys[row] == place]

    def payload(self, int64_t row):
        """A copy of a row's payload; None if it is null."""
        if not 0 <= row < self.filled:
            raise IndexError(row)
        if self.sizes[row] < 0:
            return None
        return PyBytes_FromStringAndSize(<const char*>self.payloads[row], self.sizes[row])

    def frame(self, int64_t row):
        """A copy of a row's whole frame; None if it is null."""
        if not 0 <= row < self.filled:
            raise IndexError(row)
        if self.sizes[row] < 0:
            return None
        return PyBytes_FromStringAndSize(
            <const char*>self.payloads[row] - self.prefixes[row], self.sizes[row] + self.prefixes[row]
        )

    def tail(self, int64_t row):
        """The rest of the row's header after the id (Protobuf: the path of the type); None without a header."""
        if not 0 <= row < self.filled:
            raise IndexError(row)
        if self.tails == NULL or self.tails[row] == NULL:
            return None
        return PyBytes_FromStringAndSize(<const char*>self.tails[row], self.tail_sizes[row])

    def name_of(self, int64_t row):
        """The id of a row's schema: the number, or the 16 bytes of the GUID; None without."""
        if not 0 <= row < self.filled:
            raise IndexError(row)
        return named(&self.found[self.keys[row]]) if self.keys[row] >= 0 else None
