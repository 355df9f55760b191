"""Record batches between wire and application: opening, building, compression, old formats, control records, columns.

Must not know requests, brokers or consumers. The bytes themselves are walked in `kafka_core.kernels`.
Spec: https://kafka.apache.org/documentation/#messageformat.
"""

from kafka_core.records.batch import NewRecord, OpenBatch, build_batch, open_batches
from kafka_core.records.compression import Codec, compress, decompress
from kafka_core.records.control import ControlType, control_key, control_value, parse_control_key

__all__ = [
    "Codec",
    "ControlType",
    "NewRecord",
    "OpenBatch",
    "build_batch",
    "compress",
    "control_key",
    "control_value",
    "decompress",
    "open_batches",
    "parse_control_key",
]
