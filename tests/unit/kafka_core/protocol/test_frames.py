"""Frames: the right header for each API, and what a broker can still read of a request it does not know."""

from __future__ import annotations

import pytest

from kafka_core.errors import ProtocolError, UnsupportedVersionError
from kafka_core.protocol import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    frames,
)
from kafka_core.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_core.protocol.messages.request_header import RequestHeader


def request_bytes(*arguments: object) -> str:
    return b"".join(encode_request(*arguments)).hex(" ")  # type: ignore[arg-type]


def test_a_request_with_the_old_header() -> None:
    assert request_bytes(ApiVersionsRequest(), 0, 7, "me") == "00 00 00 0c 00 12 00 00 00 00 00 07 00 02 6d 65"


def test_a_request_without_client_id() -> None:
    assert request_bytes(ApiVersionsRequest(), 0, 7, None) == "00 00 00 0a 00 12 00 00 00 00 00 07 ff ff"


def test_a_flexible_request_keeps_the_old_form_of_the_client_id() -> None:
    assert (
        request_bytes(HeartbeatRequest("g", 1, "m"), 4, -1, "me")
        == "00 00 00 17 00 0c 00 04 ff ff ff ff 00 02 6d 65 00 02 67 00 00 00 01 02 6d 00 00"
    )


def test_responses_with_both_headers() -> None:
    assert b"".join(encode_response(HeartbeatResponse(0, 27), 3, 5)).hex() == "0000000a0000000500000000001b"
    assert b"".join(encode_response(HeartbeatResponse(0, 27), 4, 5)).hex() == "0000000c000000050000000000001b00"


def test_api_versions_is_always_answered_with_the_oldest_header() -> None:
    frame = b"".join(encode_response(ApiVersionsResponse(0, [ApiVersion(18, 0, 4)]), 3, 5))
    assert frame[4:].hex() == "00000005000002001200000004000000000000"
    assert decode_response(ApiVersionsRequest, 3, frame[4:])[1].api_keys == [ApiVersion(18, 0, 4)]


def test_records_of_a_frame_are_not_copied() -> None:
    records = bytearray(b"records")
    request = ProduceRequest(topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(0, records)])])
    chunks = encode_request(request, 9, 1, None)
    assert chunks[1] is records
    frame = b"".join(chunks)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, again = decode_request(memoryview(frame)[4:])
    assert header == RequestHeader(0, 9, 1, None)
    assert again == request


def test_a_frame_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_LENGTH", 20)
    with pytest.raises(ProtocolError, match="HeartbeatRequest v0: a frame of 22 bytes is too large"):
        encode_request(HeartbeatRequest("abcd"), 0, 1, None)


@pytest.mark.parametrize("bad", [2**31, None, "x"])
def test_a_correlation_id_out_of_range_is_refused(bad: object) -> None:
    with pytest.raises(ProtocolError, match="RequestHeader v1: correlation_id"):
        request_bytes(HeartbeatRequest(), 0, bad, None)
    with pytest.raises(ProtocolError, match="ResponseHeader v0: correlation_id"):
        encode_response(HeartbeatResponse(), 0, bad)  # type: ignore[arg-type]


def test_the_header_of_an_unknown_version_can_be_read() -> None:
    frame = bytes.fromhex("0012 0063 00000007 0002 6d65 00 08")
    header, position = decode_request_header(frame)
    assert (header.request_api_version, header.correlation_id, header.client_id, position) == (99, 7, "me", 13)
    with pytest.raises(UnsupportedVersionError, match="ApiVersionsRequest has versions 0 to 4, not 99"):
        decode_request(frame)


def test_an_unknown_api_is_named() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"unknown API \(999\) v1: no such request"):
        decode_request(bytes.fromhex("03e7 0001 00000007 ffff"))
    with pytest.raises(UnsupportedVersionError, match=r"CONTROLLED_SHUTDOWN \(7\) v0: no such request"):
        decode_request(bytes.fromhex("0007 0000 00000007"))


@pytest.mark.parametrize("size", range(4))
def test_a_frame_without_api_key_and_version(size: int) -> None:
    with pytest.raises(ProtocolError, match=f"RequestHeader: truncated: 4 bytes needed, {size} left"):
        decode_request(bytes(size))


def test_trailing_and_missing_bytes() -> None:
    request = b"".join(encode_request(HeartbeatRequest(), 0, 1, None))[4:]
    response = b"".join(encode_response(HeartbeatResponse(), 0, 1))[4:]
    with pytest.raises(ProtocolError, match="HeartbeatRequest v0: 1 bytes left over at byte 18"):
        decode_request(request + b"x")
    with pytest.raises(ProtocolError, match="HeartbeatResponse v0: 2 bytes left over at byte 6"):
        decode_response(HeartbeatRequest, 0, response + b"xx")
    with pytest.raises(ProtocolError, match="ResponseHeader v0: correlation_id: truncated"):
        decode_response(HeartbeatRequest, 0, response[:3])
    with pytest.raises(ProtocolError, match="HeartbeatResponse v0: error_code: truncated"):
        decode_response(HeartbeatRequest, 0, response[:5])
