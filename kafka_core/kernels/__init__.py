"""The hot paths over bytes, in two implementations with the same names; this module picks one when it is imported.

Must not know who calls. `KAFKA_CORE_KERNELS`: `native` (compiled; fails where not built), `pure`, or `auto` (default:
native if built). `IMPL` says which one it is. Spec: DESIGN §12; `pure/` is the specification of `native/`.
"""

from __future__ import annotations

import importlib
import logging
import os
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal

from kafka_core.kernels.abc import BatchHeader, Buffer, Columns

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

Impl = Literal["native", "pure"]
CHOICES: Final = ("auto", "native", "pure")
VARIABLE: Final = "KAFKA_CORE_KERNELS"


def load(choice: str) -> tuple[Impl, ModuleType]:
    """The implementation of that choice.

    Raises:
        ImportError: `native` is asked for and not built.
        ValueError: no such choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"{VARIABLE}={choice!r}: it is one of {', '.join(CHOICES)}")
    if choice != "pure":
        try:
            return "native", importlib.import_module("kafka_core.kernels.native")
        except ImportError as error:
            if choice == "native":
                raise ImportError(
                    f"{VARIABLE}=native, but they are not built ({error}); build them with `make kernels`"
                ) from error
            logger.warning(
                "the compiled kernels are not usable (%s): the client runs on the pure-Python ones, "
                "several times slower; set %s=pure if this is intended",
                error,
                VARIABLE,
            )
    return "pure", importlib.import_module("kafka_core.kernels.pure")


_chosen, _module = load(os.environ.get(VARIABLE) or "auto")
IMPL: Final[Impl] = _chosen
"""The implementation in use."""
logger.info("kernels of the client: %s", IMPL)

globals().update({name: getattr(_module, name) for name in _module.__all__})
