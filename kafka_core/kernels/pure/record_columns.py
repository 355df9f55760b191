"""Rows of Arrow columns that are to be sent, one after the other: buffers in, bytes out.

Must not know of pyarrow or of what is done with the rows. Every read is checked against its buffer first: columns come
from callers. Spec: https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_core.kernels.abc import ByteColumn, RecordColumns

__all__ = ["Row", "Rows"]

MOST_ROWS: Final = 1 << 48


class Row(NamedTuple):
    """One record."""

    value: bytes | None
    key: bytes | None
    partition: int | None
    timestamp_ms: int | None
    headers: list[tuple[str, bytes | None]]


class Rows:
    """The rows of columns.

    Raises:
        ValueError: a column has fewer rows than are said, or its buffers don't hold them.
        TypeError: something is no column.
    """

    def __init__(self, columns: RecordColumns) -> None:
        self._rows, value, key, partition, timestamp_ms, headers = columns
        rows = self._rows
        check_count(rows, "there can't be this number of rows:")
        self._value = None if value is None else Bytes(*value, rows=rows)
        self._key = None if key is None else Bytes(*key, rows=rows)
        self._partition = None if partition is None else Numbers(*partition, rows=rows, width=4)
        self._timestamp_ms = None if timestamp_ms is None else Numbers(*timestamp_ms, rows=rows, width=8)
        self._headers = None if headers is None else Headers(*headers, rows=rows)

    def check(self, start: int, stop: int) -> None:
        """Refuses a range that is not within the rows.

        Raises:
            ValueError: see above.
        """
        if not 0 <= start <= stop <= self._rows:
            raise ValueError(f"rows {start} to {stop} are not among the {self._rows} rows")

    def row(self, at: int) -> Row:
        """One record.

        Raises:
            ValueError: its place in a buffer is outside of the buffer, or a header's name is null or no UTF-8.
        """
        return Row(
            None if self._value is None else self._value.get(at),
            None if self._key is None else self._key.get(at),
            None if self._partition is None else self._partition.get(at),
            None if self._timestamp_ms is None else self._timestamp_ms.get(at),
            [] if self._headers is None else self._headers.get(at),
        )


class Slots:
    """Shared base of all columns: a first row, and which rows are there."""

    def __init__(self, first: int, validity: object, rows: int) -> None:
        check_count(first, "a column can't begin at row")
        self.first = first
        self.bits = None if validity is None else flat_view(validity)
        if self.bits is not None and len(self.bits) * 8 < first + rows:
            raise ValueError("a column's validity has not as many bits as there are rows")

    def is_null(self, at: int) -> bool:
        """Whether a row is null; `at` counts from the buffers' beginning."""
        return self.bits is not None and not self.bits[at >> 3] >> (at & 7) & 1


class Numbers(Slots):
    """A column of whole numbers."""

    def __init__(self, first: int, validity: object, data: object, *, rows: int, width: int) -> None:
        super().__init__(first, validity, rows)
        self._data = flat_view(data)
        self._width = width
        if len(self._data) // width < first + rows:
            raise ValueError("a column of numbers has not as many as there are rows")

    def get(self, row: int) -> int | None:
        at = self.first + row
        if self.is_null(at):
            return None
        return int.from_bytes(self._data[at * self._width : (at + 1) * self._width], "little", signed=True)


class Bytes(Slots):
    """A column of bytes or text."""

    def __init__(
        self, first: int, validity: object, ends: object, data: object, wide: bool = False, *, rows: int
    ) -> None:
        super().__init__(first, validity, rows)
        self._ends = Numbers(first, None, ends, rows=rows + 1, width=8 if wide else 4)
        self._data = flat_view(data)

    def get(self, row: int) -> bytes | None:
        if self.is_null(self.first + row):
            return None
        begin, end = self._ends.get(row) or 0, self._ends.get(row + 1) or 0
        if not 0 <= begin <= end <= len(self._data):
            raise ValueError(f"row {row} of a column is outside of its buffer")
        return bytes(self._data[begin:end])


class Headers(Slots):
    """A column of headers."""

    def __init__(
        self,
        first: int,
        validity: object,
        ends: object,
        items: int,
        names: ByteColumn,
        values: ByteColumn,
        *,
        rows: int,
    ) -> None:
        super().__init__(first, validity, rows)
        check_count(items, "there can't be this number of headers:")
        self._ends = Numbers(first, None, ends, rows=rows + 1, width=4)
        self._items = items
        self._names = Bytes(*names, rows=items)
        self._values = Bytes(*values, rows=items)

    def get(self, row: int) -> list[tuple[str, bytes | None]]:
        if self.is_null(self.first + row):
            return []
        begin, end = self._ends.get(row) or 0, self._ends.get(row + 1) or 0
        if not 0 <= begin <= end <= self._items:
            raise ValueError(f"the headers of row {row} are outside of their buffer")
        found: list[tuple[str, bytes | None]] = []
        for at in range(begin, end):
            name = self._names.get(at)
            if name is None:
                raise ValueError(f"a header of row {row} has no name")
            found.append((name.decode(), self._values.get(at)))
        return found


def check_count(number: object, what: str) -> None:
    """Refuses what is no number from 0 on.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(number, int) or not 0 <= number < MOST_ROWS:
        raise ValueError(f"{what} {number!r}")


def flat_view(buffer: object) -> memoryview:
    """The bytes of a buffer.

    Raises:
        TypeError: it is none.
    """
    return memoryview(buffer).cast("B")  # type: ignore[arg-type]
