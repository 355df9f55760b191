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
    may_name_schema,
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
    "may_name_schema",
]
