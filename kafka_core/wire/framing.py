"""Cuts the byte stream of a connection into response frames, each read into a buffer of its own.

Must not know sockets, messages or correlation; it is handed bytes and hands out frames without their size.
Spec: https://kafka.apache.org/protocol#protocol_common (size, then message); first bytes of TLS: RFC 8446 §5.1.
"""

import struct
from typing import Final

from kafka_core.errors import ProtocolError

_SIZE: Final = struct.Struct(">i")
_SIZE_BYTES: Final = 4

_HEAD_BYTES: Final = 4096
"""A read starts in a small fixed buffer: most answers come whole in one read. Of a larger one only what arrived here
(at most this many bytes) is copied; the rest is received straight into the frame's own buffer."""

_STEP_BYTES: Final = 1 << 24
"""The size allocated up front for a frame; a larger frame grows (by copying) as bytes arrive."""

_TEXT_GREETINGS: Final = {
    b"HTTP": "HTTP",
    b"SSH-": "SSH",
    b"220 ": "SMTP or FTP",
    b"-ERR": "Redis",
    b"RFB ": "VNC",
    b"* OK": "IMAP",
    b"+OK ": "POP3",
    b"AMQP": "AMQP",
}
_TLS_RECORD_TYPES: Final = (0x15, 0x16)  # alert, handshake


class FrameReader:
    """The reading half of a connection, shaped for `asyncio.BufferedProtocol`.

    Ask `get_buffer` where the next bytes go, put them there, and tell `buffer_updated` how many they were; it returns
    the frames which that completed. Each frame is a bytearray of exactly its size that belongs to the receiver.

    Args:
        max_frame_bytes: `receive.message.max.bytes`; a larger size is refused before anything is allocated.
    """

    __slots__ = (
        "_filled",
        "_frame",
        "_frame_filled",
        "_head",
        "_head_view",
        "_max_frame_bytes",
        "_size",
        "received_bytes",
    )

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._head = bytearray(_HEAD_BYTES)
        self._head_view = memoryview(self._head)
        self._filled = 0  # bytes in the head that belong to no frame yet
        self._frame: bytearray | None = None  # a frame that did not fit into what has arrived
        self._frame_filled = 0
        self._size = 0  # of that frame as announced
        self.received_bytes = 0

    def get_buffer(self, sizehint: int = -1) -> memoryview:
        """The free space to receive into; never empty. Valid until the next `buffer_updated`."""
        if self._frame is not None:
            return memoryview(self._frame)[self._frame_filled :]
        return self._head_view[self._filled :]

    def buffer_updated(self, size_bytes: int) -> list[bytearray]:
        """Take note of `size_bytes` new bytes in the buffer; returns the frames that are complete now, in order.

        Raises:
            ProtocolError: a negative or too large size, or first bytes of another protocol (HTTP, TLS, …), named.
        """
        first_read = self.received_bytes < _SIZE_BYTES
        self.received_bytes += size_bytes
        if self._frame is not None:
            self._frame_filled += size_bytes
            if self._frame_filled < len(self._frame):
                return []
            if self._frame_filled < self._size:
                grown = bytearray(min(self._size, 2 * len(self._frame)))
                grown[: self._frame_filled] = self._frame
                self._frame = grown
                return []
            frame, self._frame = self._frame, None
            return [frame]
        self._filled += size_bytes
        if first_read and self._filled >= _SIZE_BYTES:
            self._refuse_strangers()
        if self._filled >= _SIZE_BYTES:
            size: int = _SIZE.unpack_from(self._head)[0]
            if self._filled == size + _SIZE_BYTES:  # one answer, whole: the rule
                self._check_size(size, 0)
                self._filled = 0
                return [self._head[_SIZE_BYTES : size + _SIZE_BYTES]]
        return self._cut()

    def first_bytes(self) -> bytearray | None:
        """The buffer of received bytes that `buffer_updated` was not told of yet, if they are the first of a frame."""
        return self._head if self._frame is None and not self._filled else None

    def pass_over(self, size_bytes: int) -> None:
        """Instead of `buffer_updated`, of whole frames that were read where they are."""
        self.received_bytes += size_bytes

    @property
    def in_frame(self) -> bool:
        """Whether the stream stands inside a frame; the end of the connection here truncates a response."""
        return self._frame is not None or self._filled > 0

    def describe_position(self) -> str:
        """The position in the stream, for errors: `between responses` or `after 12 of 400 bytes of a response`."""
        if self._frame is not None:
            return f"after {self._frame_filled} of {self._size} bytes of a response"
        if self._filled:
            return f"after {self._filled} bytes of a response's size"
        return "between responses"

    def _cut(self) -> list[bytearray]:
        frames: list[bytearray] = []
        position = 0
        while self._filled - position >= _SIZE_BYTES:
            size: int = _SIZE.unpack_from(self._head, position)[0]
            self._check_size(size, position)
            start, available = position + _SIZE_BYTES, self._filled - position - _SIZE_BYTES
            frame = bytearray(min(size, _STEP_BYTES))
            if available < size:
                self._size = size
                frame[:available] = self._head_view[start : start + available]
                self._frame, self._frame_filled = frame, available
                self._filled = 0
                return frames
            frame[:] = self._head_view[start : start + size]
            frames.append(frame)
            position = start + size
        rest = self._filled - position
        if position and rest:
            self._head[:rest] = self._head[position : self._filled]
        self._filled = rest
        return frames

    def _check_size(self, size: int, position: int) -> None:
        if 0 <= size <= self._max_frame_bytes:
            return
        first_bytes = bytes(self._head[position : position + _SIZE_BYTES])
        if size < 0:
            raise ProtocolError(f"a response has the impossible size {size} (bytes {first_bytes!r})")
        raise ProtocolError(
            f"a response of {size} bytes is larger than receive.message.max.bytes = {self._max_frame_bytes}; "
            f"raise that setting if the peer is a Kafka broker (the size was the bytes {first_bytes!r})"
        )

    def _refuse_strangers(self) -> None:
        first_bytes = bytes(self._head[:_SIZE_BYTES])
        if first_bytes[0] in _TLS_RECORD_TYPES and first_bytes[1] == 3:
            raise ProtocolError("connected to a TLS port without TLS: set security.protocol=SSL (or SASL_SSL)")
        name = _TEXT_GREETINGS.get(first_bytes)
        if name is not None:
            raise ProtocolError(f"the port answers {name}, it is not a Kafka broker's; check bootstrap.servers")
