"""The calls in Python: the specification of the compiled ones in `native/`, and what runs where those are not built."""

from serdes.kernels.pure.calls import (
    FrameDecoders,
    JsonDecoder,
    JsonEncoder,
    MessageDecoder,
    MessageEncoder,
    PlanStore,
    ReadCall,
    ValueEncoders,
    WriteCall,
)
from serdes.kernels.pure.values import survey

__all__ = [
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
