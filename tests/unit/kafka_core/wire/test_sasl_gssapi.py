"""kafka_core.wire.sasl.gssapi: the order of tokens, and what of a broker is not accepted."""

from __future__ import annotations

import pytest

from kafka_core.errors import AuthError
from kafka_core.wire.sasl.gssapi import GssapiMechanism


class Context:
    """One that is established after `rounds` of the broker's tokens, and wraps by adding a letter."""

    user = "ann"

    def __init__(self, rounds: int) -> None:
        self.first = b"first"
        self._left = rounds

    @property
    def established(self) -> bool:
        return not self._left

    @established.setter
    def established(self, value: bool) -> None:
        raise AssertionError

    def step(self, token: bytes) -> bytes:
        self._left -= 1
        return b"answer to " + token if self._left else b""

    def wrap(self, message: bytes) -> bytes:
        return b"W" + message

    def unwrap(self, message: bytes) -> bytes:
        if message[:1] != b"W":
            raise AuthError("bad proof")
        return message[1:]


def test_one_token_of_the_broker_then_its_offer() -> None:
    mechanism = GssapiMechanism(Context(1))
    assert mechanism.start() == b"first"
    assert mechanism.respond(b"proof") == b"", "nothing is left to say: the broker makes its offer"
    assert mechanism.respond(b"W\x07\x00\x10\x00") == b"W\x01\x00\x00\x00", "no layer, no size, no other identity"
    assert mechanism.respond(b"") is None


def test_several_tokens_and_none() -> None:
    mechanism = GssapiMechanism(Context(2))
    assert mechanism.respond(b"1") == b"answer to 1"
    assert mechanism.respond(b"2") == b""
    assert mechanism.respond(b"W\x01\x00\x00\x00") == b"W\x01\x00\x00\x00"
    assert GssapiMechanism(Context(0)).respond(b"W\x01\x00\x00\x00") == b"W\x01\x00\x00\x00"


@pytest.mark.parametrize(
    ("offer", "text"),
    [
        (b"W\x06\x00\x10\x00", "demands a security layer"),
        (b"W\x01\x00\x00", "has 3 bytes instead of 4"),
        (b"W\x01\x00\x00\x00\x00", "has 5 bytes instead of 4"),
        (b"W", "has 0 bytes instead of 4"),
        (b"\x01\x00\x00\x00", "bad proof"),
    ],
)
def test_offers_that_are_refused(offer: bytes, text: str) -> None:
    mechanism = GssapiMechanism(Context(1))
    mechanism.respond(b"proof")
    with pytest.raises(AuthError, match=text):
        mechanism.respond(offer)


def test_words_after_the_end_are_refused() -> None:
    mechanism = GssapiMechanism(Context(0))
    mechanism.respond(b"W\x01\x00\x00\x00")
    with pytest.raises(AuthError, match="user ann with GSSAPI: the broker goes on after the end"):
        mechanism.respond(b"more")
