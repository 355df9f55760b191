"""Encodes and decodes message bodies; the functions behind it are compiled at first use and cached.

Knows classes and versions, not headers or connections; see frames.py for those.
Spec: https://kafka.apache.org/protocol#protocol_types, KIP-482.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from kafka_core.errors import KafkaError, ProtocolError, UnsupportedVersionError
from kafka_core.protocol.decode_compiler import DecodeCompiler
from kafka_core.protocol.emit import FORMAT_NAMES, FORMAT_SIZES, Lines, Part, fill_indexes
from kafka_core.protocol.encode_compiler import EncodeCompiler
from kafka_core.protocol.primitives import Malformed, Unsupported
from kafka_core.protocol.schema import ApiMessage, Buffer

MessageT = TypeVar("MessageT", bound=ApiMessage)

DECODE_FAILURES = (Malformed, struct.error, IndexError, UnicodeDecodeError)
ENCODE_FAILURES = (Malformed, struct.error, AttributeError, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True)
class Coder:
    """One compiled direction of one message version."""

    title: str
    function: Callable[..., Any]
    lines: Lines


_decoders: dict[tuple[type[ApiMessage], int], Coder] = {}
_encoders: dict[tuple[type[ApiMessage], int], Coder] = {}


def encode(message: ApiMessage, version: int) -> list[Buffer]:
    """Encodes the body of a message (no size, no header).

    Returns:
        Buffers to send one after the other. Records are passed through without a copy, so they must not change
        until they are sent; all other fields are coalesced into the buffers between them.

    Raises:
        UnsupportedVersionError: no such version, or a field is set that the version lacks and that is not ignorable.
        ProtocolError: a value is null, of the wrong type, too long or out of range; names the field.
    """
    return encode_onto(message, version, bytearray())


def encode_bytes(message: ApiMessage, version: int) -> bytes:
    """Like `encode`, joined into one bytes object."""
    return b"".join(encode(message, version))


def encode_onto(message: ApiMessage, version: int, out: bytearray) -> list[Buffer]:
    """Like `encode`, but appends to `out`, which becomes the first buffer of the result."""
    coder = _encoders.get((type(message), version)) or _encoder(type(message), version)
    chunks: list[Buffer] = []
    try:
        chunks.append(coder.function(message, chunks, out))
    except ENCODE_FAILURES as error:
        raise _encode_error(coder, error) from error
    return chunks


def decode(cls: type[MessageT], version: int, buffer: Buffer, *, exact: bool = True) -> MessageT:
    """Decodes the body of a message.

    Args:
        cls: message class to decode.
        version: version the bytes were written in.
        buffer: the body; records fields become memoryviews into it, everything else is copied.
        exact: bytes behind the message are an error.

    Raises:
        UnsupportedVersionError: no such version.
        ProtocolError: truncated, malformed or trailing bytes; names the field and the position. Lengths and counts
            are checked against the bytes left before anything is allocated for them.
    """
    view = memoryview(buffer)
    if view.format != "B":
        view = view.cast("B")
    message, position = decode_from(cls, version, view, 0)
    if exact and position != len(view):
        raise leftover(cls, version, position, len(view))
    return message


def decode_from(cls: type[MessageT], version: int, view: memoryview, position: int) -> tuple[MessageT, int]:
    """Decodes one message at a position of a view of bytes; returns it and the position behind it."""
    coder = _decoders.get((cls, version)) or _decoder(cls, version)
    try:
        result: tuple[MessageT, int] = coder.function(view, position, len(view))
    except DECODE_FAILURES as error:
        raise _decode_error(coder, error) from error
    return result


def leftover(cls: type[ApiMessage], version: int, position: int, end: int) -> ProtocolError:
    """The error for bytes behind a message."""
    return ProtocolError(f"{cls.__name__} v{version}: {end - position} bytes left over at byte {position}")


def check_version(cls: type[ApiMessage], version: int) -> None:
    """UnsupportedVersionError unless the class has that version; TypeError for what is no message class."""
    if not issubclass(cls, ApiMessage):
        raise TypeError(f"{cls.__name__} is not a message of the protocol")
    first, last = cls.VALID_VERSIONS
    if not first <= version <= last:
        raise UnsupportedVersionError(f"{cls.__name__} has versions {first} to {last}, not {version}")


def _encoder(cls: type[ApiMessage], version: int) -> Coder:
    check_version(cls, version)
    lines = EncodeCompiler(cls, version).compile()
    coder = Coder(f"{cls.__name__} v{version}", lines.namespace["encode"], lines)
    return _encoders.setdefault((cls, version), coder)


def _decoder(cls: type[ApiMessage], version: int) -> Coder:
    check_version(cls, version)
    lines = DecodeCompiler(cls, version).compile()
    coder = Coder(f"{cls.__name__} v{version}", lines.namespace["decode"], lines)
    return _decoders.setdefault((cls, version), coder)


# -- from a failing line to a readable error


def _decode_error(coder: Coder, error: Exception) -> ProtocolError:
    frame, parts = coder.lines.failing_frame(error)
    position = frame.f_locals["p"]
    left = frame.f_locals["end"] - position
    part, text = parts[0], str(error)
    if isinstance(error, struct.error):
        sizes = [FORMAT_SIZES[each.letter] for each in parts]
        index = next(i for i in range(len(parts)) if sum(sizes[: i + 1]) > left)
        part, skipped = parts[index], sum(sizes[:index])
        position += skipped
        text = f"truncated: {sizes[index]} bytes needed, {left - skipped} left"
    elif isinstance(error, IndexError):
        text = "truncated: 1 byte needed, 0 left"
    elif isinstance(error, UnicodeDecodeError):
        text = f"not valid UTF-8 ({error.reason})"
    return ProtocolError(f"{coder.title}: {fill_indexes(part.path, frame)}: {text} (at byte {position})")


def _encode_error(coder: Coder, error: Exception) -> ProtocolError:
    frame, parts = coder.lines.failing_frame(error)
    if isinstance(error, Unsupported):
        return UnsupportedVersionError(f"{coder.title}: {fill_indexes(parts[0].path, frame)} {error}")
    for part in parts:
        text = _refusal(coder.lines, part, frame)
        if text is not None:
            return _unsendable(f"{coder.title}: {fill_indexes(part.path, frame)}: {text}")
    path = fill_indexes(parts[0].path, frame) if parts else "message"
    return _unsendable(f"{coder.title}: {path}: {error}")


def _unsendable(text: str) -> ProtocolError:
    """An error that is the caller's: unlike bad bytes of a broker, it does not go away when it is tried again."""
    return ProtocolError(text, KafkaError._INVALID_ARG)


def _refusal(lines: Lines, part: Part, frame: FrameType) -> str | None:
    """Why this one value cannot be packed; None if it can, or if the error already says it best."""
    if not part.expression:
        return None
    try:
        value = eval(part.expression, lines.namespace, frame.f_locals)
    except (AttributeError, TypeError) as error:
        return str(error)
    if value is None:
        return "null in a field that may not be null"
    if not part.letter:
        return None
    try:
        struct.pack(">" + part.letter, value)
    except (struct.error, TypeError) as error:
        return f"{value!r:.60} is no {FORMAT_NAMES[part.letter]} ({error})"
    return None
