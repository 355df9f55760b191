"""Records as an Arrow record batch: the columns that cursors fill, handed to pyarrow without a copy.

Must not know consumers. Needs the `arrow` extra: nothing else imports this module at start.
Spec: https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafka_core import kernels
from kafka_core.kernels import Columns
from kafka_core.kernels.abc import TIMESTAMP_NOT_AVAILABLE

TIMESTAMP_TYPE: Final = pa.timestamp("ms", tz="UTC")
HEADER_TYPE: Final = pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())])
HEADERS_TYPE: Final = pa.list_(pa.field("item", HEADER_TYPE, nullable=False))
SCHEMA: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", TIMESTAMP_TYPE),
        pa.field("timestamp_type", pa.int8(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", HEADERS_TYPE, nullable=False),
    ]
)
"""The columns of `to_record_batch`. `timestamp` is null where there is none (type 0); `headers` may be empty."""


class ColumnSink(kernels.ColumnSink):
    """Columns that cursors put their records into; `finish()` makes a record batch of them."""

    def finish(self) -> pa.RecordBatch:
        """The records so far, with `SCHEMA`; the sink is empty afterwards. Columns of bytes are not copied."""
        return to_record_batch(self.take())


def to_record_batch(columns: Columns) -> pa.RecordBatch:
    """The columns as a record batch with `SCHEMA`."""
    rows = columns.rows
    types = _fixed(pa.int8(), rows, columns.timestamp_type)
    arrays = [
        _repeated(pa.string(), ((topic, count) for topic, _, count in columns.runs)),
        _repeated(pa.int32(), ((partition, count) for _, partition, count in columns.runs)),
        _fixed(pa.int64(), rows, columns.offset),
        _timestamps(_fixed(TIMESTAMP_TYPE, rows, columns.timestamp_ms), types),
        types,
        _binary(rows, columns.key_validity, columns.key_offsets, columns.key_data, columns.key_null_count),
        _binary(rows, columns.value_validity, columns.value_offsets, columns.value_data, columns.value_null_count),
        _headers(columns),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def first_offsets(batch: pa.RecordBatch) -> dict[tuple[str, int], int]:
    """(topic, partition) → offset of its first record, of a batch with `SCHEMA`."""
    columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset"))
    return {(topic, number): offset for topic, number, offset in reversed([*zip(*columns, strict=True)])}


def _repeated(kind: pa.DataType, runs: Any) -> pa.Array:
    pieces = [pa.repeat(pa.scalar(value, kind), count) for value, count in runs]
    return pa.concat_arrays(pieces) if pieces else pa.array([], kind)


def _fixed(kind: pa.DataType, rows: int, data: Any) -> pa.Array:
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(data)], 0)


def _timestamps(times: pa.Array, types: pa.Array) -> pa.Array:
    known = pc.not_equal(types, TIMESTAMP_NOT_AVAILABLE)
    return times if pc.all(known, min_count=0).as_py() else pc.if_else(known, times, None)


def _binary(rows: int, validity: Any, offsets: Any, data: Any, nulls: int) -> pa.Array:
    bitmap = pa.py_buffer(validity) if nulls else None
    return pa.Array.from_buffers(pa.binary(), rows, [bitmap, pa.py_buffer(offsets), pa.py_buffer(data)], nulls)


def _headers(columns: Columns) -> pa.Array:
    count = columns.header_count
    names = _names(_binary(count, b"", columns.header_key_offsets, columns.header_key_data, 0))
    values = _binary(
        count,
        columns.header_value_validity,
        columns.header_value_offsets,
        columns.header_value_data,
        columns.header_value_null_count,
    )
    pairs = pa.StructArray.from_arrays([names, values], fields=list(HEADER_TYPE))
    offsets = pa.py_buffer(columns.header_offsets)
    return pa.ListArray.from_buffers(HEADERS_TYPE, columns.rows, [None, offsets], 0, children=[pairs])


def _names(raw: pa.Array) -> pa.Array:
    """Header names as text; bytes that are no UTF-8 become U+FFFD, as in `Message.headers()`."""
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.as_py().decode("utf-8", "replace") for name in raw], pa.string())
