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
]
