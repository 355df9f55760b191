"""Unsigned numbers in base-128 groups, the least significant first, as Protobuf writes them.

Must not know what the numbers mean. Records have their own, compiled ones (`kafka_core.kernels`). Spec: Protobuf's
encoding.
"""

from __future__ import annotations


def uvarint(number: int) -> bytes:
    """A number that is not negative."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
