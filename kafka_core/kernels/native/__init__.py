"""The compiled kernels; their twins in `pure/` are the specification. Importing fails where they are not built."""

from kafka_core.kernels.native.accumulator import Accumulator, Batch, PreparedRequest
from kafka_core.kernels.native.columns import ColumnSink
from kafka_core.kernels.native.message import Message, OffsetStore, message_rows, set_delivery_count
from kafka_core.kernels.native.record_batch import RecordCursor, crc32c, fnv1a, murmur2, scan_batches

__all__ = [
    "Accumulator",
    "Batch",
    "ColumnSink",
    "Message",
    "OffsetStore",
    "PreparedRequest",
    "RecordCursor",
    "crc32c",
    "fnv1a",
    "message_rows",
    "murmur2",
    "scan_batches",
    "set_delivery_count",
]
