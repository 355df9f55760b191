"""The partitions of keys are those that confluent_kafka's functions give, and that the producer chooses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_core
from kafka_core.kernels.pure.partitioners import partition_of

confluent = pytest.importorskip("confluent_kafka")
NAMES = ["consistent", "fnv1a", "murmur2"]


@pytest.mark.parametrize("name", NAMES)
@given(key=st.binary(max_size=40), count=st.integers(1, 2**31 - 1))
def test_a_key_has_the_partition_of_the_reference_and_of_the_producer(name: str, key: bytes, count: int) -> None:
    found = getattr(kafka_core, name)(key, count)
    assert found == getattr(confluent, name)(key, count)
    assert found == partition_of(name, key, count)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", [("abc", 3), (None, 3), (bytearray(b"a"), 3), (b"a", "3"), (b"a", 0), (b"a", -1)])
def test_arguments_that_make_no_sense_are_refused_as_there(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError)) as theirs:
        getattr(confluent, name)(*arguments)
    with pytest.raises(theirs.type):
        getattr(kafka_core, name)(*arguments)
