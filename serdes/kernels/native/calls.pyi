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
    "may_name_schema",
    "survey",
]
