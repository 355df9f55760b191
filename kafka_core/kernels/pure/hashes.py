"""Checksums of batches and hashes of keys: CRC-32C, Java's murmur2, FNV-1a.

Must not know records or partitions.
Spec: RFC 3720 appendix B.4 (CRC-32C); Utils.murmur2 of kafka-clients; FNV-1a (32 bit) as in the "IETF draft of FNV".
"""

from __future__ import annotations

import struct

from kafka_core.kernels.abc import Buffer

_MASK = 0xFFFFFFFF
_CASTAGNOLI_REVERSED = 0x82F63B78
_MURMUR_SEED = 0x9747B28C
_MURMUR_FACTOR = 0x5BD1E995
_MURMUR_SHIFT = 24
_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193


def _crc_tables() -> list[list[int]]:
    """Eight tables: the n-th gives what a byte contributes that lies n bytes before the end of a group."""
    first = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_CASTAGNOLI_REVERSED if byte & 1 else 0)
        first.append(byte)
    tables = [first]
    for _ in range(7):
        tables.append([first[value & 0xFF] ^ value >> 8 for value in tables[-1]])
    return tables


_TABLES = _crc_tables()
_TWO_WORDS = struct.Struct("<II")


def crc32c(data: Buffer, value: int = 0) -> int:
    """CRC-32C (Castagnoli) of `data`, going on from the checksum `value` of what came before. 0 <= result < 2**32."""
    t0, t1, t2, t3, t4, t5, t6, t7 = _TABLES
    crc = value ^ _MASK
    whole = len(data) & ~7
    view = memoryview(data).cast("B")
    for low, high in _TWO_WORDS.iter_unpack(view[:whole]):
        low ^= crc
        crc = (
            t7[low & 0xFF] ^ t6[low >> 8 & 0xFF] ^ t5[low >> 16 & 0xFF] ^ t4[low >> 24]
            ^ t3[high & 0xFF] ^ t2[high >> 8 & 0xFF] ^ t1[high >> 16 & 0xFF] ^ t0[high >> 24]
        )  # fmt: skip
    for byte in view[whole:]:
        crc = t0[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ _MASK


def murmur2(data: Buffer) -> int:
    """The hash of Java's default partitioner as an unsigned 32-bit number (Java's is the same bits, signed)."""
    view = memoryview(data).cast("B")
    size = len(view)
    h = (_MURMUR_SEED ^ size) & _MASK
    whole = size & ~3
    for (k,) in struct.iter_unpack("<I", view[:whole]):
        k = k * _MURMUR_FACTOR & _MASK
        k = (k ^ k >> _MURMUR_SHIFT) * _MURMUR_FACTOR & _MASK
        h = (h * _MURMUR_FACTOR & _MASK) ^ k
    if whole < size:
        h = (h ^ int.from_bytes(view[whole:], "little")) * _MURMUR_FACTOR & _MASK
    h = (h ^ h >> 13) * _MURMUR_FACTOR & _MASK
    return h ^ h >> 15


def fnv1a(data: Buffer) -> int:
    """FNV-1a, unsigned 32 bit. Partitioners take its absolute value as a signed number, see `partition_of_fnv1a`."""
    h = _FNV_OFFSET
    for byte in memoryview(data).cast("B"):
        h = (h ^ byte) * _FNV_PRIME & _MASK
    return h
