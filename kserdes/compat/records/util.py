"""Zigzag varints and checksums, as the `record.util` modules of kafka-python and aiokafka have them.

Must not know batches. Spec: https://protobuf.dev/programming-guides/encoding/#varints.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from kafka_core.kernels import crc32c

__all__ = ["calc_crc32", "calc_crc32c", "decode_varint", "encode_varint", "size_of_varint"]

Buffer = bytes | bytearray | memoryview


def encode_varint(value: int, write: Callable[[int], object]) -> int:
    """Gives the bytes of a number to `write`, one by one; how many they were."""
    left = (value << 1) ^ (value >> 63)
    count = 1
    while left > 0x7F:
        write(left & 0x7F | 0x80)
        left >>= 7
        count += 1
    write(left)
    return count


def size_of_varint(value: int) -> int:
    """The number of bytes that a varint takes."""
    left = (value << 1) ^ (value >> 63)
    return max(1, (left.bit_length() + 6) // 7)


def decode_varint(buffer: Buffer, pos: int = 0) -> tuple[int, int]:
    """A number and the position behind it.

    Raises:
        ValueError: more than 64 bits. IndexError: the buffer ends within.
    """
    result = shift = 0
    while True:
        byte = buffer[pos]
        result |= (byte & 0x7F) << shift
        pos += 1
        if byte < 0x80:
            return (result >> 1) ^ -(result & 1), pos
        shift += 7
        if shift > 63:
            raise ValueError("Out of int64 range")


def calc_crc32c(memview: Buffer) -> int:
    """CRC-32C (Castagnoli), of batches with magic 2."""
    return crc32c(memview)


def calc_crc32(memview: Buffer) -> int:
    """CRC-32, of messages with magic 0 and 1."""
    return zlib.crc32(memview) & 0xFFFFFFFF
