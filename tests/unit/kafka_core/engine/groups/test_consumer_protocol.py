"""The bytes that group members exchange: round trips, older and newer versions, hostile input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.groups.consumer_protocol import (
    decode_assignment,
    decode_sticky,
    decode_subscription,
    encode_assignment,
    encode_sticky,
    encode_subscription,
)
from kafka_core.errors import ProtocolError

KEYS = [("t", 0), ("t", 2), ("ü", 1)]
# What the Java client's ConsumerPartitionAssignor writes for version 0: topics, no user data.
VERSION_0 = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x01t" + b"\xff\xff\xff\xff"


def test_a_cooperative_subscription_names_what_is_owned() -> None:
    data = encode_subscription(["u", "t"], KEYS, 5, "rack", assignor="cooperative-sticky")
    member = decode_subscription(data, "m", "i", assignor="cooperative-sticky")
    assert (set(member.topics), set(member.owned), member.generation) == ({"t", "u"}, set(KEYS), 5)
    assert (member.member_id, member.instance_id, member.rack) == ("m", "i", "rack")


def test_an_eager_subscription_owns_nothing_but_the_sticky_one_remembers() -> None:
    data = encode_subscription(["t"], KEYS, 5, None, assignor="range")
    assert decode_subscription(data, "m", None, assignor="range").owned == ()
    data = encode_subscription(["t"], KEYS, 5, None, assignor="sticky")
    member = decode_subscription(data, "m", None, assignor="sticky")
    assert (set(member.owned), member.generation) == (set(KEYS), 5)


def test_old_and_unknown_new_versions_can_be_read() -> None:
    assert decode_subscription(VERSION_0, "m", None, assignor="range").topics == {"t"}
    newer = bytearray(encode_subscription(["t"], [], 1, None, assignor="range"))
    newer[:2] = b"\x00\x09"
    assert decode_subscription(bytes(newer) + b"more", "m", None, assignor="range").topics == {"t"}


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", VERSION_0[:7]])
def test_what_is_no_subscription_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_subscription(data, "m", None, assignor="range")


def test_an_assignment_round_trip_and_none_at_all() -> None:
    assert decode_assignment(encode_assignment(KEYS)) == set(KEYS)
    assert decode_assignment(b"") == frozenset()
    with pytest.raises(ProtocolError):
        decode_assignment(b"\x00\x01\x7f\xff\xff\xff")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 99)), unique=True), st.integers(-1, 2**31 - 1))
def test_sticky_user_data_round_trip(keys: list[tuple[str, int]], generation: int) -> None:
    found, read = decode_sticky(encode_sticky(keys, generation))
    assert (sorted(found), read) == (sorted(keys), generation)


@given(st.binary(max_size=40))
def test_sticky_user_data_of_strangers_never_raises(data: bytes) -> None:
    keys, generation = decode_sticky(data)
    assert isinstance(generation, int)
    assert len(keys) <= len(data)
