from serdes.kernels.pure.calls import (
    FrameDecoders,
    MessageDecoder,
    MessageEncoder,
    PlanStore,
    ReadCall,
    ValueEncoders,
    WriteCall,
)

__all__ = ["FrameDecoders", "MessageDecoder", "MessageEncoder", "PlanStore", "ReadCall", "ValueEncoders", "WriteCall"]
