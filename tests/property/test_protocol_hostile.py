"""Hostile bytes: only ProtocolError, in time and memory that follow the size of the input."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.errors import ProtocolError
from kafka_core.protocol import REQUESTS, ApiMessage, decode, decode_request, decode_response, encode_bytes
from tests.strategies.messages import all_versions, messages

VERSIONS = all_versions()
BYTES_PER_INPUT_BYTE = 400  # the smallest structs take 2 bytes and become objects with a list of tagged fields
FIXED_BYTES = 64 * 1024
LENGTHS = [b"\x7f\xff", b"\x80\x00", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff\x0f", b"\xff" * 10]


@pytest.fixture(autouse=True, scope="module")
def _trace_memory() -> Iterator[None]:
    for cls, version in VERSIONS:  # compiled code stays, so it must be there before memory is measured
        try_decoding(cls, version, b"")
    tracemalloc.start()
    yield
    tracemalloc.stop()


def try_decoding(cls: type[ApiMessage], version: int, data: bytes) -> ApiMessage | None:
    try:
        return decode(cls, version, data)
    except ProtocolError:
        return None


def decode_within_bounds(cls: type[ApiMessage], version: int, data: bytes) -> ApiMessage | None:
    """Decodes, with nothing but ProtocolError allowed, and looks at the peak of memory."""
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    message = try_decoding(cls, version, data)
    _, peak = tracemalloc.get_traced_memory()
    assert peak - before < FIXED_BYTES + BYTES_PER_INPUT_BYTE * len(data)
    return message


def accepted_message_is_sound(message: ApiMessage, version: int) -> None:
    """Writes and reads an accepted message again, unless its tags are in an order that is refused on writing."""
    try:
        data = encode_bytes(message, version)
    except ProtocolError as error:
        refusal = str(error)
    else:
        assert encode_bytes(decode(type(message), version, data), version) == data
        return
    assert "tag" in refusal


@st.composite
def encoded(draw: st.DrawFn) -> tuple[type[ApiMessage], int, bytes]:
    cls, version = draw(st.sampled_from(VERSIONS))
    return cls, version, encode_bytes(draw(messages(cls, version)), version)


@given(st.sampled_from(VERSIONS), st.binary(max_size=300))
def test_random_bytes(target: tuple[type[ApiMessage], int], data: bytes) -> None:
    message = decode_within_bounds(*target, data)
    if message is not None:
        accepted_message_is_sound(message, target[1])


@given(st.sampled_from(VERSIONS), st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]), st.integers(0, 20_000))
def test_one_byte_repeated(target: tuple[type[ApiMessage], int], byte: int, count: int) -> None:
    decode_within_bounds(*target, bytes([byte]) * count)


@given(encoded(), st.data())
def test_truncated_messages_are_refused(sample: tuple[type[ApiMessage], int, bytes], data: st.DataObject) -> None:
    cls, version, whole = sample
    if whole:
        kept = data.draw(st.integers(0, len(whole) - 1))
        assert decode_within_bounds(cls, version, whole[:kept]) is None
    assert decode_within_bounds(cls, version, whole + b"\x00") is None


@given(encoded(), st.data())
def test_flipped_bits(sample: tuple[type[ApiMessage], int, bytes], data: st.DataObject) -> None:
    cls, version, whole = sample
    broken = bytearray(whole or b"\x00")
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    message = decode_within_bounds(cls, version, bytes(broken))
    if message is not None:
        accepted_message_is_sound(message, version)


@given(encoded(), st.data())
def test_huge_lengths_anywhere(sample: tuple[type[ApiMessage], int, bytes], data: st.DataObject) -> None:
    cls, version, whole = sample
    at = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.sampled_from(LENGTHS))
    decode_within_bounds(cls, version, whole[:at] + length + whole[at + len(length) :])
    decode_within_bounds(cls, version, whole[:at] + length + bytes(data.draw(st.integers(0, 300))))


@given(st.binary(max_size=60), st.sampled_from(list(REQUESTS)), st.data())
def test_hostile_frames(data: bytes, api_key: int, draw: st.DataObject) -> None:
    cls = REQUESTS[api_key]
    version = draw.draw(st.integers(*cls.VALID_VERSIONS))
    head = api_key.to_bytes(2, "big") + version.to_bytes(2, "big")
    for attempt in (
        lambda: decode_request(data),
        lambda: decode_request(head + data),
        lambda: decode_response(cls, version, data),
    ):
        try:
            attempt()
        except ProtocolError:
            continue
