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
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

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
def test_bytes_that_are_no_subscription_are_refused(data: bytes) -> None:
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


def test_sticky_user_data_of_version_0_have_no_generation() -> None:
    assert decode_sticky(encode_sticky(KEYS, 7)[:-4]) == (KEYS, -1)


def test_sticky_user_data_of_kafka_python_have_their_version_in_front() -> None:
    assert decode_sticky(b"\0\1" + encode_sticky(KEYS, 7)) == (KEYS, 7)
    assert decode_sticky(b"\0\1" + encode_sticky([], 7)) == ([], 7)
    for strange in (b"\0\2" + encode_sticky(KEYS, 7), b"\0\1" + encode_sticky(KEYS, 7)[:-1], b"\0\1"):
        with pytest.raises(ProtocolError, match="sticky assignor"):
            decode_sticky(strange)


@given(st.binary(max_size=40))
def test_sticky_user_data_of_strangers_are_read_or_refused(data: bytes) -> None:
    try:
        keys, generation = decode_sticky(data)
    except ProtocolError:
        return
    assert isinstance(generation, int)
    assert len(keys) <= len(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xff\xff\xff",
        encode_sticky(KEYS, 7)[:-1],
        encode_sticky(KEYS, 7)[:9],
        b"\0\0\0\x01\0\x01\xff\0\0\0\0",  # a name that is no UTF-8
        b"\0\0\0\x01\0\x01t\xff\xff\xff\xff",
        # A length that leads back to the same topic: two thousand million of them, 20 bytes that took an hour.
        b"\x7f\xff\xff\xff\0\0\0\0\0\0\xff\xfa\0\0\0\0\0\0\0\0",
    ],
)
def test_damaged_user_data_of_a_member_count_as_nothing_owned(data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ProtocolError, match="sticky assignor"):
        decode_sticky(data)
    said = ConsumerProtocolSubscription(topics=["t"], user_data=data or b"\0", generation_id=5)
    subscription = b"\0\x03" + encode_bytes(said, 3)
    member = decode_subscription(subscription, "m", None, assignor="sticky")
    assert (set(member.topics), member.owned, member.generation) == ({"t"}, (), -1)
    assert "member m: the user data" in caplog.text
