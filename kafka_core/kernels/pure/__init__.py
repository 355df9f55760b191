"""The kernels in Python: the specification of the compiled ones in `native/`, and what runs where those are not built.

Must not know config, I/O or callbacks of the client.
Spec: https://kafka.apache.org/documentation/#recordbatch.
"""

from kafka_core.kernels.pure.accumulator import Accumulator
from kafka_core.kernels.pure.batch import Batch
from kafka_core.kernels.pure.columns import ColumnSink
from kafka_core.kernels.pure.hashes import crc32c, fnv1a, murmur2
from kafka_core.kernels.pure.message import Message, OffsetStore, message_rows, set_delivery_count
from kafka_core.kernels.pure.prepared import PreparedRequest
from kafka_core.kernels.pure.record_batch import RecordCursor, scan_batches

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
