"""Variable-length integers as records use them: base-128 groups, least significant first; zigzag for signed ones.

Must not know what the numbers mean.
Spec: https://kafka.apache.org/protocol (VARINT, VARLONG, UNSIGNED_VARINT), KIP-482.
"""

from __future__ import annotations

_UINT64_MAX = 2**64 - 1
MAX_VARINT64_BYTES = 10
MAX_VARINT32_BYTES = 5


def encode_uvarint(value: int) -> bytes:
    """Encodes 0 <= value < 2**64 in 1 to 10 bytes.

    Raises:
        OverflowError: out of range.
    """
    if not 0 <= value <= _UINT64_MAX:
        raise OverflowError(f"{value} is not an unsigned 64-bit integer")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_varint(value: int) -> bytes:
    """Encodes -2**63 <= value < 2**63 by zigzag (0, -1, 1, -2 … as 0, 1, 2, 3 …) in 1 to 10 bytes.

    Raises:
        OverflowError: out of range.
    """
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"{value} is not a signed 64-bit integer")
    return encode_uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def wrapped(value: int) -> int:
    """A sum or a difference of signed 64-bit integers, as a machine word holds it."""
    return (value + 2**63) % 2**64 - 2**63


def read_uvarint(
    data: bytes | memoryview, position: int, end: int, bits: int = 64, max_bytes: int = MAX_VARINT64_BYTES
) -> tuple[int, int] | None:
    """(number, position behind it); None if it does not end before `end`, or is longer than it may be."""
    value = shift = 0
    for at in range(position, min(end, position + max_bytes)):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return None if value >> bits else (value, at + 1)
        shift += 7
    return None
