"""The compiled calls; their twins in `pure/` are the specification. Importing fails where they are not built."""

from serdes.kernels.native.calls import MessageDecoder, MessageEncoder, ReadCall, WriteCall
from serdes.kernels.native.values import survey

__all__ = ["MessageDecoder", "MessageEncoder", "ReadCall", "WriteCall", "survey"]
