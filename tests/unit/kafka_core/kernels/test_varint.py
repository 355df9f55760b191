"""Variable-length integers of the pure kernels at their borders; the compiled ones have theirs inside `wire.h`."""

from __future__ import annotations

import pytest

from kafka_core.kernels.pure.varint import MAX_VARINT32_BYTES, encode_uvarint, encode_varint, read_uvarint

UNSIGNED = [
    (0, "00"),
    (1, "01"),
    (127, "7f"),
    (128, "8001"),
    (300, "ac02"),
    (16383, "ff7f"),
    (16384, "808001"),
    (2**32 - 1, "ffffffff0f"),
    (2**63, "80808080808080808001"),
    (2**64 - 1, "ffffffffffffffffff01"),
]
SIGNED = [
    (0, "00"),
    (-1, "01"),
    (1, "02"),
    (63, "7e"),
    (-64, "7f"),
    (64, "8001"),
    (-65, "8101"),
    (2**31 - 1, "feffffff0f"),
    (-(2**31), "ffffffff0f"),
    (2**63 - 1, "feffffffffffffffff01"),
    (-(2**63), "ffffffffffffffffff01"),
]


@pytest.mark.parametrize(("value", "encoded"), UNSIGNED)
def test_unsigned(value: int, encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert encode_uvarint(value) == data
    assert read_uvarint(b"\xff" + data + b"\xff", 1, 1 + len(data)) == (value, 1 + len(data))


@pytest.mark.parametrize(("value", "encoded"), SIGNED)
def test_signed(value: int, encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert encode_varint(value) == data
    assert read_uvarint(memoryview(data + b"\xff"), 0, len(data) + 1) == (value * 2 ^ value >> 63, len(data))


@pytest.mark.parametrize("value", [-1, 2**64])
def test_unsigned_out_of_range(value: int) -> None:
    with pytest.raises(OverflowError):
        encode_uvarint(value)


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_signed_out_of_range(value: int) -> None:
    with pytest.raises(OverflowError):
        encode_varint(value)


@pytest.mark.parametrize("encoded", ["", "80", "ffff", "ffffffffffffffffff02", "8080808080808080808000"])
def test_malformed(encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert read_uvarint(data, 0, len(data)) is None


def test_longer_than_asked_for() -> None:
    data = bytes.fromhex("ffffffff1f")  # 33 bits
    assert read_uvarint(data, 0, 5, bits=32, max_bytes=MAX_VARINT32_BYTES) is None
    assert read_uvarint(data, 0, 5) == (2**33 - 1, 5)


def test_position_outside() -> None:
    for position in (1, 5):
        assert read_uvarint(b"\x01", position, 1) is None
