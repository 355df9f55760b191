"""Variable-length integers at their borders."""

from __future__ import annotations

from types import ModuleType

import pytest

from kafka_core.errors import ProtocolError

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
def test_unsigned(kernels: ModuleType, value: int, encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert kernels.encode_uvarint(value) == data
    assert kernels.decode_uvarint(b"\xff" + data + b"\xff", 1) == (value, 1 + len(data))


@pytest.mark.parametrize(("value", "encoded"), SIGNED)
def test_signed(kernels: ModuleType, value: int, encoded: str) -> None:
    data = bytes.fromhex(encoded)
    assert kernels.encode_varint(value) == data
    assert kernels.decode_varint(memoryview(data + b"\xff")) == (value, len(data))


@pytest.mark.parametrize("value", [-1, 2**64])
def test_unsigned_out_of_range(kernels: ModuleType, value: int) -> None:
    with pytest.raises(OverflowError):
        kernels.encode_uvarint(value)


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_signed_out_of_range(kernels: ModuleType, value: int) -> None:
    with pytest.raises(OverflowError):
        kernels.encode_varint(value)


@pytest.mark.parametrize("encoded", ["", "80", "ffff", "ffffffffffffffffff02", "8080808080808080808000"])
def test_malformed(kernels: ModuleType, encoded: str) -> None:
    data = bytes.fromhex(encoded)
    for decode in (kernels.decode_uvarint, kernels.decode_varint):
        with pytest.raises(ProtocolError, match=f"no varint at byte 0 of {len(data)}"):
            decode(data)


def test_position_outside(kernels: ModuleType) -> None:
    for position in (-1, 1, 5):
        with pytest.raises(ProtocolError, match=f"byte {position} of 1"):
            kernels.decode_uvarint(b"\x01", position)
