"""The producer's hashing partitioners as functions, for code that must know a key's partition beforehand.

Must not know clusters or batches. Names, arguments and errors are those of confluent_kafka; the numbers are the same as
the `partitioner` property gives (and as other clients with the same hash choose).
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable

from kafka_core import kernels


def murmur2(key: bytes, partition_count: int) -> int:
    """The partition of `partitioner=murmur2`, which is the Java client's for records with a key.

    Args:
        key: the record's key.
        partition_count: how many partitions the topic has.

    Returns:
        A partition from 0 to `partition_count - 1`.

    Raises:
        TypeError: `key` is not bytes, or `partition_count` no whole number. ValueError: it is not positive.
    """
    return _partition(lambda data: kernels.murmur2(data) & 0x7FFFFFFF, key, partition_count)


def consistent(key: bytes, partition_count: int) -> int:
    """The partition of `partitioner=consistent`, a CRC-32, which is librdkafka's default for records with a key.

    Arguments, result and errors as in `murmur2`.
    """
    return _partition(zlib.crc32, key, partition_count)


def fnv1a(key: bytes, partition_count: int) -> int:
    """The partition of `partitioner=fnv1a`, which is sarama's. Arguments, result and errors as in `murmur2`."""
    return _partition(_absolute_fnv1a, key, partition_count)


def _absolute_fnv1a(data: bytes) -> int:
    """The hash as a signed number, made positive."""
    value = kernels.fnv1a(data)
    return value if value < 2**31 else 2**32 - value


def _partition(hash_of: Callable[[bytes], int], key: bytes, partition_count: int) -> int:
    if not isinstance(key, bytes):
        raise TypeError(f"a key must be bytes, not {type(key).__name__}")
    count = operator.index(partition_count)
    if count <= 0:
        raise ValueError(f"partition_count must be positive, not {count}")
    return hash_of(key) % count
