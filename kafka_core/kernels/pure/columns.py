"""Records as columns: growing buffers in Arrow's layout.

Must not know of pyarrow (records/arrow.py wraps the buffers).
Spec: https://arrow.apache.org/docs/format/Columnar.html (validity bitmaps, 32-bit offsets, list<struct>).
"""

from __future__ import annotations

from array import array

from kafka_core.kernels.abc import Columns
from kafka_core.kernels.pure.record_batch import RecordCursor, RecordHeaders

DATA_LIMIT = 1 << 30
"""Bytes of keys or values after which a sink takes no more records: 32-bit offsets end at 2 GiB."""


class Variable:
    """A column of nullable bytes: validity, offsets, data."""

    def __init__(self) -> None:
        self.validity = bytearray()
        self.offsets = array("i", [0])
        self.data = bytearray()
        self.rows = 0
        self.nulls = 0

    def put(self, value: bytes | None) -> None:
        """One more row."""
        if self.rows & 7 == 0:
            self.validity.append(0)
        if value is None:
            self.nulls += 1
        else:
            self.validity[-1] |= 1 << (self.rows & 7)
            self.data += value
        self.offsets.append(len(self.data))
        self.rows += 1


class ColumnSink:
    """Columns that cursors put their records into; `take()` hands the columns on and starts anew.

    Attributes:
        rows: records so far.
        runs: (topic, partition, rows) in order; neighbours differ.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.rows = 0
        self.runs: list[tuple[str, int, int]] = []
        self._offset = array("q")
        self._timestamp = array("q")
        self._timestamp_type = array("b")
        self._key, self._value = Variable(), Variable()
        self._header_offsets = array("i", [0])
        self._header_key, self._header_value = Variable(), Variable()

    @property
    def _full(self) -> bool:
        columns = (self._key, self._value, self._header_key, self._header_value)
        return any(len(column.data) > DATA_LIMIT for column in columns)

    def fill(self, cursor: RecordCursor, limit: int) -> int:
        """Takes up to `limit` records of the cursor; returns how many. Stops early at 1 GiB of keys or values.

        Raises:
            CorruptRecordError: as `RecordCursor.next`; the records before it are in the columns.
        """
        taken = 0
        base_offset = cursor.header.base_offset
        try:
            while taken < limit and not self._full and (record := cursor.advance()) is not None:
                kind, time_ms = cursor.timestamp_of(record)
                self._offset.append(base_offset + record.offset_delta)
                self._timestamp.append(time_ms)
                self._timestamp_type.append(kind)
                self._key.put(record.key)
                self._value.put(record.value)
                self._put_headers(record.headers)
                taken += 1
        finally:
            if taken:
                self._run(cursor.topic, cursor.partition, taken)
            self.rows += taken
        return taken

    def _put_headers(self, headers: RecordHeaders) -> None:
        for name, value in headers:
            self._header_key.put(name)
            self._header_value.put(value)
        self._header_offsets.append(self._header_key.rows)

    def _run(self, topic: str, partition: int, rows: int) -> None:
        """Rows of one partition behind each other count as one run."""
        if self.runs and self.runs[-1][:2] == (topic, partition):
            rows += self.runs.pop()[2]
        self.runs.append((topic, partition, rows))

    def take(self) -> Columns:
        """The columns so far; the sink is empty afterwards."""
        key, value, header_key, header_value = self._key, self._value, self._header_key, self._header_value
        taken = Columns(
            rows=self.rows,
            runs=self.runs,
            offset=self._offset.tobytes(),
            timestamp_ms=self._timestamp.tobytes(),
            timestamp_type=self._timestamp_type.tobytes(),
            key_validity=key.validity,
            key_offsets=key.offsets.tobytes(),
            key_data=key.data,
            key_null_count=key.nulls,
            value_validity=value.validity,
            value_offsets=value.offsets.tobytes(),
            value_data=value.data,
            value_null_count=value.nulls,
            header_offsets=self._header_offsets.tobytes(),
            header_key_offsets=header_key.offsets.tobytes(),
            header_key_data=header_key.data,
            header_value_validity=header_value.validity,
            header_value_offsets=header_value.offsets.tobytes(),
            header_value_data=header_value.data,
            header_value_null_count=header_value.nulls,
            header_count=header_key.rows,
        )
        self._start()
        return taken
