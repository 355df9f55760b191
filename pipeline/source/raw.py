"""The columns of records as they are, and how a batch of them is kept small.

Must not know of Spark or of clients, which cost what plans a read more than all the rest of it. Columns are those of
Spark's own Kafka source (https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from pipeline.source.options import ReadOptions

HEADERS: Final = pa.field("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])))
RAW_SCHEMA: Final = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
    ]
)


def raw_schema(options: ReadOptions) -> pa.Schema:
    """The columns of a read that decodes nothing."""
    return RAW_SCHEMA.append(HEADERS) if options.include_headers else RAW_SCHEMA


def slices(batch: pa.RecordBatch, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """The batch in parts of so many bytes at the most, one row at least; nothing of an empty one. Copies nothing."""
    rows = batch.num_rows
    if not rows:
        return
    if batch.nbytes <= most_bytes or rows == 1:
        yield batch
        return
    half = rows // 2
    yield from slices(batch.slice(0, half), most_bytes)
    yield from slices(batch.slice(half), most_bytes)
