"""The hot path of blocking serializers, in two implementations with the same names; one is picked at import.

Must not know of registries, plans or rules. `KAFKA_CORE_KERNELS` chooses, as it does for the client's kernels:
`native` (compiled; fails where not built), `pure`, or `auto` (default: native if built). `pure/` is the specification.
"""

from __future__ import annotations

import importlib
import logging
import os
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from serdes.kernels.pure import (
        FrameDecoders,
        JsonDecoder,
        JsonEncoder,
        MessageDecoder,
        MessageEncoder,
        PlanStore,
        ReadCall,
        ValueEncoders,
        WriteCall,
        survey,
    )

__all__ = [
    "IMPL",
    "FrameDecoders",
    "JsonDecoder",
    "JsonEncoder",
    "MessageDecoder",
    "MessageEncoder",
    "PlanStore",
    "ReadCall",
    "ValueEncoders",
    "WriteCall",
    "survey",
]

logger: Final = logging.getLogger("serdes.kernels")

CHOICES: Final = ("auto", "native", "pure")
VARIABLE: Final = "KAFKA_CORE_KERNELS"


def _picked() -> Literal["native", "pure"]:
    choice = os.environ.get(VARIABLE) or "auto"
    if choice not in CHOICES:
        raise ValueError(f"{VARIABLE}={choice!r}: it is one of {', '.join(CHOICES)}")
    if choice == "pure":
        return "pure"
    try:
        importlib.import_module("serdes.kernels.native")
    except ImportError as error:
        if choice == "native":
            raise
        logger.warning(
            "the compiled kernels are not usable (%s): serializers run on the pure-Python ones, several times slower; "
            "set %s=pure if this is intended",
            error,
            VARIABLE,
        )
        return "pure"
    return "native"


IMPL: Final = _picked()
"""The implementation in use."""
logger.info("kernels of the serializers: %s", IMPL)

_module = importlib.import_module(f"serdes.kernels.{IMPL}")
globals().update({name: getattr(_module, name) for name in _module.__all__})
