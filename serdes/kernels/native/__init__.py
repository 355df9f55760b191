"""The compiled calls; their twins in `pure/` are the specification. Importing fails where they are not built."""

from serdes.kernels.native.calls import (
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
