"""Partitioners: the rules behind librdkafka's partitioner names, and the choice for records without a key.

Must not know batches or clusters.
Spec: the `partitioner` property of librdkafka's CONFIGURATION.md; sarama's NewHashPartitioner for fnv1a; KIP-480.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple

from kafka_core.kernels.pure.hashes import fnv1a, murmur2

_UINT64 = 2**64 - 1
_SEED_FACTOR = 2685821657736338717


class Rule(NamedTuple):
    """A partitioner's use of keys.

    Attributes:
        hash_key: the not negative number whose remainder is the partition; None: keys don't matter.
        null_hashed: a missing key counts as an empty one, not as no key.
        empty_hashed: an empty key counts as a key.
    """

    hash_key: Callable[[bytes], int] | None
    null_hashed: bool
    empty_hashed: bool


def _positive_murmur2(key: bytes) -> int:
    return murmur2(key) & 0x7FFFFFFF


def _absolute_fnv1a(key: bytes) -> int:
    """The hash as a signed number, made positive."""
    value = fnv1a(key)
    return value if value < 2**31 else 2**32 - value


PARTITIONERS: dict[str, Rule] = {
    "random": Rule(None, False, False),
    "consistent": Rule(zlib.crc32, True, True),
    "consistent_random": Rule(zlib.crc32, False, False),
    "murmur2": Rule(_positive_murmur2, True, True),
    "murmur2_random": Rule(_positive_murmur2, False, True),
    "fnv1a": Rule(_absolute_fnv1a, True, True),
    "fnv1a_random": Rule(_absolute_fnv1a, False, True),
}


def partition_of(partitioner: str, key: bytes | None, count: int) -> int | None:
    """The partition of a key among `count`; None when the key does not decide it."""
    rule = PARTITIONERS[partitioner]
    if rule.hash_key is None or (key is None and not rule.null_hashed) or (key == b"" and not rule.empty_hashed):
        return None
    return rule.hash_key(key or b"") % count


class XorShift:
    """Marsaglia's generator of 64 bits (13, 7, 17): small, and the same in both twins. Not for secrets."""

    def __init__(self, seed: int) -> None:
        self._state = seed * _SEED_FACTOR & _UINT64 | 1

    def next(self) -> int:
        """The next number, 0 < n < 2**64."""
        state = self._state
        state ^= state << 13 & _UINT64
        state ^= state >> 7
        state ^= state << 17 & _UINT64
        self._state = state
        return state

    def other_than(self, last: int, count: int) -> int:
        """One of `count` numbers from 0 on, another than `last` if that is one of them and there are others."""
        number = self.next()
        if count < 2:
            return 0
        if not 0 <= last < count:
            return number % count
        chosen = number % (count - 1)
        return chosen + 1 if chosen >= last else chosen
