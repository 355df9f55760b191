"""Which partition a key belongs to, by librdkafka's partitioner names: the rule behind `produce()`, on its own.

The compiled accumulator applies the same rule to every record; this is for callers who want to know beforehand, and
what its tests are compared with. Must not know records or clusters.
Spec: the `partitioner` property of librdkafka's CONFIGURATION.md; Java's BuiltInPartitioner for murmur2_random.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Final

from kafka_core.errors import ConfigError
from kafka_core.kernels import fnv1a, murmur2

_POSITIVE: Final = 0x7FFFFFFF


def _java_murmur2(key: bytes) -> int:
    return murmur2(key) & _POSITIVE


def _absolute_fnv1a(key: bytes) -> int:
    """As a signed number made positive, which is what Sarama does and librdkafka after it."""
    value = fnv1a(key)
    return value if value <= _POSITIVE else (1 << 32) - value


HASHES: Final[Mapping[str, Callable[[bytes], int]]] = {
    "consistent": zlib.crc32,
    "consistent_random": zlib.crc32,
    "murmur2": _java_murmur2,
    "murmur2_random": _java_murmur2,
    "fnv1a": _absolute_fnv1a,
    "fnv1a_random": _absolute_fnv1a,
}
"""Partitioner → hash of the key, which is not negative."""

PARTITIONERS: Final = frozenset({"random", *HASHES})


def partition_for_key(partitioner: str, key: bytes | None, partition_count: int) -> int | None:
    """The partition of a key among `partition_count`; None when the key does not decide it.

    It does not for `random`, for a missing key under the `…_random` ones, and for an empty key under
    `consistent_random`. Under the plain names a missing key counts as an empty one.

    Raises:
        ConfigError: no partitioner has that name.
        ValueError: `partition_count` is not positive.
    """
    if partitioner not in PARTITIONERS:
        raise ConfigError(f"partitioner: {partitioner!r} is not one of {', '.join(sorted(PARTITIONERS))}")
    if partition_count <= 0:
        raise ValueError(f"a topic has at least one partition, not {partition_count}")
    keyless = key is None or (partitioner == "consistent_random" and not key)
    if partitioner == "random" or (keyless and partitioner.endswith("_random")):
        return None
    return HASHES[partitioner](key or b"") % partition_count
