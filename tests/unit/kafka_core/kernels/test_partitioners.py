"""The choice of sticky partitions. Keyed records are tested in test_accumulator.py, on both implementations."""

from __future__ import annotations

from collections import Counter

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
