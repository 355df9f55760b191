"""Arrow record batches as the buffers that the accumulator takes, for `produce_arrow` of both faces.

Must not know threads or the loop. pyarrow is loaded by whoever has a batch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Final, Self

from kafka_core.errors import KafkaError, KafkaException, StateError
from kafka_core.kernels.abc import ByteColumn, HeaderColumn, NumberColumn, RecordColumns

COLUMNS: Final = ("key", "value", "partition", "timestamp", "headers")
AT_ONCE: Final = 8192
"""Rows of one call of the kernel, which holds the GIL: about 2 ms."""


def record_columns(records: Any) -> Iterator[RecordColumns]:
    """The buffers of a record batch, or of each batch of a table.

    Args:
        records: columns `key`, `value` (bytes or text), `partition` (whole numbers), `timestamp` (timestamps, or whole
            numbers of ms since 1970) and `headers` (lists of structs of `key` and `value`, or maps); all optional.

    Raises:
        TypeError: it is neither, or a column has another type.
        ValueError: a column has another name, or a number is out of range.
    """
    import pyarrow as pa

    if isinstance(records, pa.Table):
        for batch in records.to_batches():
            yield _buffers(batch, pa)
        return
    if not isinstance(records, pa.RecordBatch):
        raise TypeError(f"records must be a pyarrow.RecordBatch or Table, not {type(records).__name__}")
    yield _buffers(records, pa)


def _buffers(batch: Any, pa: Any) -> RecordColumns:
    strangers = [name for name in batch.schema.names if name not in COLUMNS]
    if strangers or len(set(batch.schema.names)) < len(batch.schema.names):
        raise ValueError(f"columns of records are {', '.join(COLUMNS)}, each once; not {', '.join(batch.schema.names)}")
    found = {name: batch.column(name) for name in batch.schema.names}
    found = {name: column for name, column in found.items() if not pa.types.is_null(column.type)}
    return RecordColumns(
        batch.num_rows,
        _bytes(found["value"], "value", pa) if "value" in found else None,
        _bytes(found["key"], "key", pa) if "key" in found else None,
        _number(found["partition"], "partition", pa.int32(), pa) if "partition" in found else None,
        _time(found["timestamp"], pa) if "timestamp" in found else None,
        _headers(found["headers"], pa) if "headers" in found else None,
    )


def _bytes(column: Any, name: str, pa: Any) -> ByteColumn:
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_fixed_size_binary(kind) or types.is_binary_view(kind) or types.is_string_view(kind):
        column = column.cast(pa.large_binary())
        kind = column.type
    wide = types.is_large_binary(kind) or types.is_large_string(kind)
    if not (wide or types.is_binary(kind) or types.is_string(kind)):
        raise TypeError(f"the column {name!r} must be of bytes or text, not {kind}")
    validity, ends, data = column.buffers()
    empty = b"\0" * 8
    return ByteColumn(column.offset, validity, empty if ends is None else ends, b"" if data is None else data, wide)


def _number(column: Any, name: str, kind: Any, pa: Any) -> NumberColumn:
    if not pa.types.is_integer(column.type):
        raise TypeError(f"the column {name!r} must be of whole numbers, not {column.type}")
    column = column.cast(kind)
    validity, data = column.buffers()
    return NumberColumn(column.offset, validity, b"" if data is None else data)


def _time(column: Any, pa: Any) -> NumberColumn:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    return _number(column, "timestamp", pa.int64(), pa)


def _headers(column: Any, pa: Any) -> HeaderColumn:
    kind = column.type
    listed = pa.types.is_list(kind) or pa.types.is_map(kind)
    if pa.types.is_large_list(kind):
        column, listed = column.cast(pa.list_(kind.value_type)), True
    if not listed:
        raise TypeError(f"the column 'headers' must be of lists of structs or of maps, not {kind}")
    items = column.keys if pa.types.is_map(kind) else column.values
    if pa.types.is_map(kind):
        names, values = column.keys, column.items
    elif pa.types.is_struct(items.type) and items.type.num_fields == 2:
        names, values = items.field(0), items.field(1)
    else:
        raise TypeError(f"the column 'headers' must be of lists of structs of key and value, not {kind}")
    validity, ends = column.buffers()[:2]
    return HeaderColumn(
        column.offset,
        validity,
        b"\0" * 4 if ends is None else ends,
        len(items),
        _bytes(names, "headers.key", pa),
        _bytes(values, "headers.value", pa),
    )


class ColumnFeed:
    """Gives the rows of a batch or table to an accumulator, until one can't be queued.

    Args:
        accumulator: what takes them.
        topic: where to.
        records: see `record_columns`.
        partition: for rows that have none.
        callback, on_delivery: for every record; two names of one argument.

    Attributes:
        queued: rows that were queued.
    """

    def __init__(
        self,
        accumulator: Any,
        topic: str,
        records: Any,
        partition: int,
        callback: Callable[..., object] | None,
        on_delivery: Callable[..., object] | None = None,
    ) -> None:
        if callback is not None and on_delivery is not None and on_delivery is not callback:
            raise ValueError("callback and on_delivery are two names of one argument: give one")
        self.queued = 0
        self._accumulator = accumulator
        self._topic = topic
        self._partition = partition
        self._callback = on_delivery if callback is None else callback
        self._parts = list(record_columns(records))  # errors of columns are raised before any row is queued
        self._at = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Whatever comes out of the block says by `queued_rows` how many rows were queued."""
        if error is not None:
            with contextlib.suppress(AttributeError, TypeError):  # of an application, without room for attributes
                error.queued_rows = self.queued  # type: ignore[attr-defined]

    def go_on(self) -> None:
        """Queues all rows that are left.

        Raises:
            BufferError: the queue is full; `go_on` again once there is room.
            KafkaException, ValueError: a row can't be queued; the text has its number, and those before it are queued.
            StateError: closed, or forked.
        """
        while self._parts:
            columns = self._parts[0]
            while self._at < columns.rows:
                self._step(columns)
            del self._parts[0]
            self._at = 0

    def _step(self, columns: RecordColumns) -> None:
        stop = min(self._at + AT_ONCE, columns.rows)
        try:
            reached = self._accumulator.produce_columns(
                self._topic, columns, self._at, stop, self._partition, self._callback
            )
        except (StateError, BufferError):
            raise
        except KafkaException as error:
            cause = error.args[0]
            text = f"row {self.queued} can't be queued, those before it are: {cause.str()}"
            raise KafkaException(KafkaError(cause.code(), text)) from error
        except ValueError as error:
            raise ValueError(f"row {self.queued} can't be queued, those before it are: {error}") from error
        except BaseException as error:  # Ctrl-C, while the loop was woken
            reached = getattr(error, "reached_row", self._at)
            self.queued += reached - self._at
            self._at = reached
            raise
        self.queued += reached - self._at
        self._at = reached
