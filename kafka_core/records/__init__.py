"""Record batches between wire and application: opening, building, compression, old formats, control records, columns.

Must not know requests, brokers or consumers. The bytes themselves are walked in `kafka_core.kernels`. Every name is
imported at its first use: who only writes records loads nothing that opens them.
Spec: https://kafka.apache.org/documentation/#messageformat.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from kafka_core.records.batch import NewRecord, OpenBatch, build_batch, open_batches
    from kafka_core.records.codecs import Codec
    from kafka_core.records.compression import compress, decompress
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

HOMES: Final = {
    "kafka_core.records.batch": ("NewRecord", "OpenBatch", "build_batch", "open_batches"),
    "kafka_core.records.codecs": ("Codec",),
    "kafka_core.records.compression": ("compress", "decompress"),
    "kafka_core.records.control": ("ControlType", "control_key", "control_value", "parse_control_key"),
}

if not TYPE_CHECKING:  # type checkers read the imports above
    __getattr__, __dir__ = public_names(__name__, HOMES)
