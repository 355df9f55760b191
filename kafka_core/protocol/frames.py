"""Whole frames: size, header and body of requests and responses.

Knows header versions; connections, correlation and negotiation are in wire/ and versions.py.
Spec: https://kafka.apache.org/protocol#protocol_messages, KIP-482.
"""

from __future__ import annotations

import struct
from typing import TypeVar

from kafka_core.errors import ProtocolError, UnsupportedVersionError
from kafka_core.protocol.api import REQUESTS, api_name, request_header_version, response_header_version
from kafka_core.protocol.codec import decode_from, encode_onto, leftover
from kafka_core.protocol.messages.request_header import RequestHeader
from kafka_core.protocol.messages.response_header import ResponseHeader
from kafka_core.protocol.primitives import MAX_LENGTH
from kafka_core.protocol.schema import ApiMessage, ApiRequest, Buffer

ResponseT = TypeVar("ResponseT", bound=ApiMessage)

_SIZE = struct.Struct(">i")
_KEY_AND_VERSION = struct.Struct(">hh")


def encode_request(message: ApiMessage, version: int, correlation_id: int, client_id: str | None) -> list[Buffer]:
    """Encodes a request as a frame, ready to send.

    Returns:
        Buffers to send one after the other: the 4-byte size, header and body. Records are not copied.

    Raises:
        ProtocolError, UnsupportedVersionError: as `encode`.
    """
    header = RequestHeader(message.API_KEY, version, correlation_id, client_id)
    return _frame(header, request_header_version(type(message), version), message, version)


def encode_response(message: ApiMessage, version: int, correlation_id: int) -> list[Buffer]:
    """Encodes a response as a frame, ready to send: the 4-byte size, header and body. Errors as `encode`."""
    return _frame(ResponseHeader(correlation_id), response_header_version(type(message), version), message, version)


def _frame(header: ApiMessage, header_version: int, message: ApiMessage, version: int) -> list[Buffer]:
    first = bytearray(4)
    encode_onto(header, header_version, first)
    chunks = encode_onto(message, version, first)
    size = sum(map(len, chunks)) - 4
    if size > MAX_LENGTH:
        raise ProtocolError(f"{type(message).__name__} v{version}: a frame of {size} bytes is too large")
    _SIZE.pack_into(first, 0, size)
    return chunks


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """Reads the header of a request, also when the version of the request is not known here.

    Args:
        frame: a frame without its size.

    Returns:
        The header and the position of the body.

    Raises:
        UnsupportedVersionError: the API key is unknown, so the form of the header is not known either.
        ProtocolError: truncated or malformed.
    """
    view = memoryview(frame)
    if len(view) < _KEY_AND_VERSION.size:
        raise ProtocolError(f"RequestHeader: truncated: 4 bytes needed, {len(view)} left (at byte 0)")
    api_key, version = _KEY_AND_VERSION.unpack_from(view)
    if api_key not in REQUESTS:
        raise UnsupportedVersionError(f"{api_name(api_key)} v{version}: no such request")
    return decode_from(RequestHeader, request_header_version(REQUESTS[api_key], version), view, 0)


def decode_request(frame: Buffer) -> tuple[RequestHeader, ApiMessage]:
    """Decodes a request frame without its size; the broker's side.

    Raises:
        UnsupportedVersionError: unknown API or version (`decode_request_header` still gives the correlation id).
        ProtocolError: truncated, malformed or trailing bytes.
    """
    header, position = decode_request_header(frame)
    request = REQUESTS[header.request_api_key]
    return header, _body(request, header.request_api_version, memoryview(frame), position)


def decode_response(request: type[ApiRequest[ResponseT]], version: int, frame: Buffer) -> tuple[int, ResponseT]:
    """Decodes a response frame without its size; records are memoryviews into it.

    Args:
        request: class of the request this answers.
        version: version the request was sent in.
        frame: the frame; it must stay alive and unchanged as long as records of the message are used.

    Returns:
        Correlation id and message.

    Raises:
        ProtocolError: truncated, malformed or trailing bytes.
    """
    response: type[ResponseT] = request.RESPONSE  # type: ignore[assignment]  # the generated pair matches
    view = memoryview(frame)
    header, position = decode_from(ResponseHeader, response_header_version(response, version), view, 0)
    return header.correlation_id, _body(response, version, view, position)


def _body(cls: type[ResponseT], version: int, view: memoryview, position: int) -> ResponseT:
    message, end = decode_from(cls, version, view, position)
    if end != len(view):
        raise leftover(cls, version, end, len(view))
    return message
