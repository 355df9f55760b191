"""Every message in every version: what is encoded is decoded to the same values, and written the same way again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_core.protocol import (
    RESPONSES,
    ApiMessage,
    ApiRequest,
    decode,
    decode_request,
    decode_response,
    encode,
    encode_bytes,
    encode_request,
    encode_response,
)
from tests.strategies.messages import all_classes, all_versions, messages, versions

EXAMPLES_PER_VERSION = max(5, settings.default.max_examples // 10) if settings.default else 5
CLIENT_IDS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
CORRELATION_IDS = st.integers(-(2**31), 2**31 - 1)
REQUEST_CLASSES = [cls for cls in all_classes() if issubclass(cls, ApiRequest)]
RESPONSE_CLASSES = list(RESPONSES.values())


def name(value: object) -> str:
    return value.__name__ if isinstance(value, type) else f"v{value}"


@pytest.mark.parametrize(("cls", "version"), all_versions(), ids=name)
def test_a_message_survives_encoding_and_decoding(cls: type[ApiMessage], version: int) -> None:
    @settings(max_examples=EXAMPLES_PER_VERSION)
    @given(messages(cls, version))
    def check(message: ApiMessage) -> None:
        chunks = encode(message, version)
        data = b"".join(chunks)
        assert data == encode_bytes(message, version)
        again = decode(cls, version, bytearray(data))
        assert again == message
        assert encode_bytes(again, version) == data

    check()


@pytest.mark.parametrize("cls", REQUEST_CLASSES, ids=name)
def test_a_request_frame_survives(cls: type[ApiMessage]) -> None:
    @settings(max_examples=EXAMPLES_PER_VERSION)
    @given(st.data(), st.sampled_from(versions(cls)), CORRELATION_IDS, CLIENT_IDS)
    def check(data: st.DataObject, version: int, correlation_id: int, client_id: str | None) -> None:
        message = data.draw(messages(cls, version))
        frame = b"".join(encode_request(message, version, correlation_id, client_id))
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        header, again = decode_request(frame[4:])
        assert (header.request_api_key, header.request_api_version) == (cls.API_KEY, version)
        assert (header.correlation_id, header.client_id) == (correlation_id, client_id)
        assert again == message

    check()


@pytest.mark.parametrize("cls", REQUEST_CLASSES, ids=name)
def test_a_response_frame_survives(cls: type[ApiRequest[ApiMessage]]) -> None:
    @settings(max_examples=EXAMPLES_PER_VERSION)
    @given(st.data(), st.sampled_from(versions(cls)), CORRELATION_IDS)
    def check(data: st.DataObject, version: int, correlation_id: int) -> None:
        message = data.draw(messages(cls.RESPONSE, version))
        frame = b"".join(encode_response(message, version, correlation_id))
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        assert decode_response(cls, version, frame[4:]) == (correlation_id, message)

    check()
