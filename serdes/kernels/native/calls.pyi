from serdes.kernels.pure.calls import MessageDecoder, MessageEncoder, ReadCall, WriteCall

__all__ = ["MessageDecoder", "MessageEncoder", "ReadCall", "WriteCall"]
