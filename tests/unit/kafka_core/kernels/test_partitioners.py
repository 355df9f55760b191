"""kafka_core.kernels.pure.partitioners: known values of other clients, records without a key, sticky partitions."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_core
from kafka_core.kernels import Accumulator
from kafka_core.kernels.pure.partitioners import PARTITIONERS, XorShift, partition_of


def test_the_names_are_those_of_librdkafka() -> None:
    assert set(PARTITIONERS) == {
        "random",
        "consistent",
        "consistent_random",
        "murmur2",
        "murmur2_random",
        "fnv1a",
        "fnv1a_random",
    }


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
        assert partition_of(name, key, 1000) == (java_hash & 0x7FFFFFFF) % 1000


@pytest.mark.parametrize("name", ["consistent", "consistent_random"])
def test_consistent_is_crc32(name: str) -> None:
    assert partition_of(name, b"123456789", 1009) == 0xCBF43926 % 1009


@pytest.mark.parametrize(
    ("name", "missing_decides", "empty_decides"),
    [
        ("random", False, False),
        ("consistent", True, True),
        ("consistent_random", False, False),
        ("murmur2", True, True),
        ("murmur2_random", False, True),
        ("fnv1a", True, True),
        ("fnv1a_random", False, True),
    ],
)
def test_a_missing_or_empty_key_decides_only_where_the_name_says_so(
    name: str, missing_decides: bool, empty_decides: bool
) -> None:
    assert (partition_of(name, None, 7) is not None) is missing_decides
    assert (partition_of(name, b"", 7) is not None) is empty_decides
    if missing_decides:
        assert partition_of(name, None, 7) == partition_of(name, b"", 7)


@given(st.binary(max_size=40), st.integers(1, 500), st.sampled_from(sorted(PARTITIONERS)))
def test_the_accumulator_puts_records_where_the_rule_says(key: bytes, count: int, name: str) -> None:
    expected = partition_of(name, key, count)
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


def test_the_smallest_signed_hash() -> None:
    assert partition_of("fnv1a", b"a", 2**31) == 2**32 - 0xE40C292C


def test_numbers_of_xorshift() -> None:
    generator = XorShift(0)  # a state of 1
    first = generator.next()
    assert first == 1 ^ 1 << 13 ^ (1 ^ 1 << 13) >> 7 ^ (1 ^ 1 << 13 ^ (1 ^ 1 << 13) >> 7) << 17
    assert 0 < generator.next() < 2**64


def test_another_number_each_time_and_all_of_them() -> None:
    generator = XorShift(5)
    last, seen = -1, Counter[int]()
    for _ in range(1000):
        number = generator.other_than(last, 4)
        assert number != last
        last = number
        seen[number] += 1
    assert set(seen) == {0, 1, 2, 3}
    assert min(seen.values()) > 200


def test_one_partition_leaves_no_choice() -> None:
    assert XorShift(5).other_than(0, 1) == 0
    assert XorShift(5).other_than(7, 1) == 0


# ---- hashes


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # RFC 3720 B.4, and the usual check value
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_crc32c(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.crc32c(data) == expected
    assert kernels.crc32c(memoryview(bytearray(data))) == expected


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 9, 31, 32])
def test_crc32c_goes_on(kernels: ModuleType, cut: int) -> None:
    data = bytes(range(32))
    assert kernels.crc32c(data[cut:], kernels.crc32c(data[:cut])) == 0x46DD794E


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # what Java's Utils.murmur2 gives, a signed number there
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.murmur2(data) == expected % 2**32
    assert kernels.murmur2(bytearray(data)) == expected % 2**32


@pytest.mark.parametrize(("data", "expected"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)])
def test_fnv1a(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.fnv1a(data) == expected


# ---- the public functions, beside confluent_kafka's

NAMES = ["consistent", "fnv1a", "murmur2"]


@pytest.mark.parametrize("name", NAMES)
@given(key=st.binary(max_size=40), count=st.integers(1, 2**31 - 1))
def test_a_key_has_the_partition_of_the_reference_and_of_the_producer(name: str, key: bytes, count: int) -> None:
    confluent = pytest.importorskip("confluent_kafka")
    found = getattr(kafka_core, name)(key, count)
    assert found == getattr(confluent, name)(key, count)
    assert found == partition_of(name, key, count)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", [("abc", 3), (None, 3), (bytearray(b"a"), 3), (b"a", "3"), (b"a", 0), (b"a", -1)])
def test_arguments_that_make_no_sense_are_refused_as_there(name: str, arguments: tuple[Any, ...]) -> None:
    confluent = pytest.importorskip("confluent_kafka")
    with pytest.raises((TypeError, ValueError)) as theirs:
        getattr(confluent, name)(*arguments)
    with pytest.raises(theirs.type):
        getattr(kafka_core, name)(*arguments)
