"""The one place that picks the kernels: `pure` (the readable reference) or `native` (its compiled twin).

`KAFKA_CORE_KERNELS=auto|native|pure`: `native` without the build is an error, `auto` falls back and says so in `IMPL`
and the debug log. Must not know what the kernels do. See STYLE §6, docs/decisions/0001-kernels.md.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from kafka_core.kernels.abc import BatchHeader, Columns

__all__ = [
    "IMPL",
    "Accumulator",
    "Batch",
    "BatchHeader",
    "ColumnSink",
    "Columns",
    "Message",
    "RecordCursor",
    "crc32c",
    "decode_uvarint",
    "decode_varint",
    "encode_uvarint",
    "encode_varint",
    "fnv1a",
    "murmur2",
    "scan_batches",
]

_log = logging.getLogger("kafka_core.kernels")


def _native_is_there() -> bool:
    try:
        import kafka_core.kernels.native
    except ImportError as error:
        _log.debug("the compiled kernels can't be imported, the pure ones serve: %s", error)
        return False
    return True


def _choose() -> str:
    asked = os.environ.get("KAFKA_CORE_KERNELS", "auto").strip().lower() or "auto"
    if asked not in ("auto", "native", "pure"):
        raise ImportError(f"KAFKA_CORE_KERNELS={asked!r}: must be auto, native or pure")
    if asked == "native":
        try:
            import kafka_core.kernels.native
        except ImportError as error:
            raise ImportError(
                "KAFKA_CORE_KERNELS=native, but the compiled kernels can't be imported: build them with `make kernels` "
                f"({error})"
            ) from error
        return "native"
    return "native" if asked == "auto" and _native_is_there() else "pure"


IMPL = _choose()
"""`"native"` or `"pure"`: which kernels this process uses."""

if TYPE_CHECKING or IMPL == "native":
    from kafka_core.kernels.native import (
        Accumulator,
        Batch,
        ColumnSink,
        Message,
        RecordCursor,
        crc32c,
        decode_uvarint,
        decode_varint,
        encode_uvarint,
        encode_varint,
        fnv1a,
        murmur2,
        scan_batches,
    )
else:
    from kafka_core.kernels.pure import (
        Accumulator,
        Batch,
        ColumnSink,
        Message,
        RecordCursor,
        crc32c,
        decode_uvarint,
        decode_varint,
        encode_uvarint,
        encode_varint,
        fnv1a,
        murmur2,
        scan_batches,
    )
