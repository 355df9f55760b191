"""Whole frames: size, header and body of requests and responses.

Knows header versions; connections, correlation and negotiation are in wire/ and versions.py.
Spec: https://kafka.apache.org/protocol#protocol_messages, KIP-482.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from kafka_core.errors import ProtocolError, UnsupportedVersionError
from kafka_core.protocol.api import REQUESTS, api_name, request_header_version, response_header_version
from kafka_core.protocol.coding import decode_from, encode_bytes, encode_onto, leftover
from kafka_core.protocol.messages.request_header import RequestHeader
from kafka_core.protocol.messages.response_header import ResponseHeader
from kafka_core.protocol.primitives import MAX_LENGTH
from kafka_core.protocol.schema import ApiMessage, ApiRequest, Buffer

ResponseT = TypeVar("ResponseT", bound=ApiMessage)

USUAL_FORMS: dict[tuple[type[ApiMessage], int], Callable[[memoryview, int], Any]] = {}
"""Class and version of a response → what reads a body in its usual form, given the frame and the body's position, and
gives None for any other form (`usual_writes`, `usual_fetches`). The versions are flexible ones."""

_SIZE = struct.Struct(">i")
_REQUEST_HEAD = struct.Struct(">ihhi")
"""Size, API key, version and correlation id: what every request begins with, in all header versions."""
_KEY_AND_VERSION = struct.Struct(">hh")


class EncodedRequest(ApiRequest[ResponseT]):
    """A request whose body its maker has encoded, in a flexible version: for one that is sent again and again.

    A subclass names API_KEY and RESPONSE of the request that it stands for.

    Args:
        body: Buffers to send one after the other.
    """

    __slots__ = ("body",)

    def __init__(self, *body: Buffer) -> None:
        self.body = body

    def frame(self, version: int, correlation_id: int, client_id: str | None) -> list[Buffer]:
        """As `encode_request`."""
        rest = _after_correlation_id(2, client_id)
        size = _REQUEST_HEAD.size - _SIZE.size + len(rest) + sum(map(len, self.body))
        return [_REQUEST_HEAD.pack(size, self.API_KEY, version, correlation_id) + rest, *self.body]


def encode_request(message: ApiMessage, version: int, correlation_id: int, client_id: str | None) -> list[Buffer]:
    """Encodes a request as a frame, ready to send.

    Returns:
        Buffers to send one after the other: the 4-byte size, header and body. Records are not copied.

    Raises:
        ProtocolError, UnsupportedVersionError: as `encode`.
    """
    if isinstance(message, EncodedRequest):
        return message.frame(version, correlation_id, client_id)
    header_version = request_header_version(type(message), version)
    try:
        first = bytearray(_REQUEST_HEAD.pack(0, message.API_KEY, version, correlation_id))
    except struct.error:
        encode_bytes(RequestHeader(message.API_KEY, version, correlation_id, client_id), header_version)
        raise  # its text names the error
    first += _after_correlation_id(header_version, client_id)
    return _frame(first, message, version)


def head_of(request: type[EncodedRequest[Any]], version: int, correlation_id: int, client_id: str | None) -> bytes:
    """The bytes between the size and the body of the frame of an `EncodedRequest`."""
    head = _REQUEST_HEAD.pack(0, request.API_KEY, version, correlation_id)
    return head[_SIZE.size :] + _after_correlation_id(2, client_id)


def encode_response(message: ApiMessage, version: int, correlation_id: int) -> list[Buffer]:
    """Encodes a response as a frame, ready to send: the 4-byte size, header and body. Errors as `encode`."""
    first = bytearray(4)
    encode_onto(ResponseHeader(correlation_id), response_header_version(type(message), version), first)
    return _frame(first, message, version)


@functools.lru_cache(maxsize=256)
def _after_correlation_id(header_version: int, client_id: str | None) -> bytes:
    """The rest of a request's header, which is the same for all requests of a client."""
    return encode_bytes(RequestHeader(client_id=client_id), header_version)[_REQUEST_HEAD.size - _SIZE.size :]


def _frame(first: bytearray, message: ApiMessage, version: int) -> list[Buffer]:
    """The frame whose first bytes, room for its size and the header, are there."""
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
    plain = len(view) > _SIZE.size and not view[_SIZE.size]  # a header without tagged fields, if the version has such
    usual_form = USUAL_FORMS.get((response, version))
    if usual_form is not None and plain:
        message: ResponseT | None = usual_form(view, _SIZE.size + 1)
        if message is not None:
            return _SIZE.unpack_from(view)[0], message
    header_version = response_header_version(response, version)
    if header_version and plain:
        correlation_id: int = _SIZE.unpack_from(view)[0]
        return correlation_id, _body(response, version, view, _SIZE.size + 1)
    header, position = decode_from(ResponseHeader, header_version, view, 0)
    return header.correlation_id, _body(response, version, view, position)


def _body(cls: type[ResponseT], version: int, view: memoryview, position: int) -> ResponseT:
    message, end = decode_from(cls, version, view, position)
    if end != len(view):
        raise leftover(cls, version, end, len(view))
    return message
