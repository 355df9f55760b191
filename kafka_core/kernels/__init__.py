"""The hot paths over bytes, in two implementations with the same names; this module picks one when it is imported.

Must not know who calls. `KAFKA_CORE_KERNELS` chooses (`kserdes_base.kernels`), `IMPL` says which one it is.
Spec: DESIGN §12; `pure/` is the specification of `native/`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kafka_core.kernels.abc import BatchHeader, Buffer, Columns
from kserdes_base.kernels import Impl, load

if TYPE_CHECKING:
    from kafka_core.kernels.pure import (
        Accumulator,
        Batch,
        ColumnSink,
        Message,
        OffsetStore,
        PreparedRequest,
        RecordCursor,
        crc32c,
        fnv1a,
        message_rows,
        murmur2,
        scan_batches,
        set_delivery_count,
    )

__all__ = [
    "IMPL",
    "Accumulator",
    "Batch",
    "BatchHeader",
    "Buffer",
    "ColumnSink",
    "Columns",
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

logger: Final = logging.getLogger("kafka_core.kernels")

_chosen, _module = load(__name__, "the client runs")
IMPL: Final[Impl] = _chosen
"""The implementation in use."""
logger.info("kernels of the client: %s", IMPL)

globals().update({name: getattr(_module, name) for name in _module.__all__})
