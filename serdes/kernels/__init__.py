"""The hot path of blocking serializers, in two implementations with the same names; one is picked at import.

Must not know of registries, plans or rules. `KAFKA_CORE_KERNELS` chooses, as it does for the client's kernels
(`kserdes_base.kernels`); `pure/` is the specification.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kserdes_base.kernels import Impl, load

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

_chosen, _module = load(__name__, "serializers run")
IMPL: Final[Impl] = _chosen
"""The implementation in use."""
logger.info("kernels of the serializers: %s", IMPL)

globals().update({name: getattr(_module, name) for name in _module.__all__})
