"""kafka_core.engine.partitioner: known values of other clients, keyless records, and the accumulator's agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.partitioner import PARTITIONERS, partition_for_key
from kafka_core.errors import ConfigError
from kafka_core.kernels import Accumulator

# What Java's Utils.murmur2 gives for these keys (its own unit test has the hashes), among 1,000 partitions.
JAVA = [
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
]


@pytest.mark.parametrize(("key", "java_hash"), JAVA)
def test_murmur2_is_javas(key: bytes, java_hash: int) -> None:
    for name in ("murmur2", "murmur2_random"):
        assert partition_for_key(name, key, 1000) == (java_hash & 0x7FFFFFFF) % 1000


@pytest.mark.parametrize(("name", "expected"), [("consistent", 0xCBF43926), ("consistent_random", 0xCBF43926)])
def test_consistent_is_crc32(name: str, expected: int) -> None:
    assert partition_for_key(name, b"123456789", 1009) == expected % 1009


@pytest.mark.parametrize(
    ("name", "missing", "empty"),
    [
        ("random", None, None),
        ("consistent", 0, 0),
        ("consistent_random", None, None),
        ("murmur2", 1, 1),
        ("murmur2_random", None, 1),
        ("fnv1a", 1, 1),
        ("fnv1a_random", None, 1),
    ],
)
def test_a_missing_or_empty_key_decides_only_where_the_name_says_so(
    name: str, missing: int | None, empty: int | None
) -> None:
    assert (partition_for_key(name, None, 7) is None) is (missing is None)
    assert (partition_for_key(name, b"", 7) is None) is (empty is None)
    if missing is not None:
        assert partition_for_key(name, None, 7) == partition_for_key(name, b"", 7)


def test_random_never_looks_at_the_key() -> None:
    assert partition_for_key("random", b"key", 7) is None


def test_mistakes_are_refused() -> None:
    with pytest.raises(ConfigError, match="'md5' is not one of consistent"):
        partition_for_key("md5", b"", 1)
    with pytest.raises(ValueError, match="at least one partition"):
        partition_for_key("murmur2", b"", 0)


@given(st.binary(max_size=40), st.integers(1, 500), st.sampled_from(sorted(PARTITIONERS)))
def test_the_accumulator_puts_records_where_the_rule_says(key: bytes, count: int, name: str) -> None:
    expected = partition_for_key(name, key, count)
    accumulator = Accumulator(
        batch_size_bytes=1000,
        batch_max_records=100,
        max_queue_records=10,
        max_queue_bytes=100_000,
        max_message_bytes=10_000,
        partitioner=name,
    )
    accumulator.set_partition_count("topic", count)
    accumulator.produce("topic", b"value", key)
    [batch], _ = accumulator.take_ready(0.0, 0.0, True)
    assert 0 <= batch.partition < count
    if expected is not None:
        assert batch.partition == expected
