"""kafka_core.wire.sasl.scram: the RFCs' conversations, an independent server half, and brokers that lie."""

from __future__ import annotations

import base64
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_core.broker.security.sasl import SaslFailure, SaslSettings, begin, scram_users
from kafka_core.errors import AuthError
from kafka_core.wire.sasl import scram
from kafka_core.wire.sasl.scram import ScramMechanism

NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = NONCE + "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SALT = "W22ZaJ0SNY7soEsUEjb6gQ=="
SERVER_FIRST = f"r={SERVER_NONCE},s={SALT},i=4096".encode()
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def pencil(nonce: str = NONCE) -> ScramMechanism:
    return ScramMechanism("SCRAM-SHA-256", "user", "pencil", nonce)


def test_conversation_of_rfc_7677() -> None:
    mechanism = pencil()
    assert mechanism.start() == b"n,,n=user,r=" + NONCE.encode()
    assert mechanism.respond(SERVER_FIRST) == (
        f"c=biws,r={SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    )
    assert mechanism.respond(SERVER_FINAL) is None


def test_conversation_of_rfc_5802(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scram.HASHES, "SCRAM-SHA-1", "sha1")  # Kafka has no SHA-1; the steps are the same
    mechanism = ScramMechanism("SCRAM-SHA-1", "user", "pencil", "fyko+d2lbbFgONRv9qkxdawL")
    assert mechanism.start() == b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"
    nonce = "fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    final = mechanism.respond(f"r={nonce},s=QSXCR+Q6sek8bf92,i=4096".encode())
    assert final == f"c=biws,r={nonce},p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=".encode()
    assert mechanism.respond(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=") is None


NAMES = st.text(st.characters(min_codepoint=0x20, exclude_characters="\x7f", exclude_categories=["Cs"]), min_size=1)


@given(name=st.sampled_from(["SCRAM-SHA-256", "SCRAM-SHA-512"]), user=NAMES, password=NAMES, seed=st.integers(0, 99))
@settings(max_examples=25)
def test_any_user_and_password_pass_at_the_embedded_brokers_own_half(
    name: str, user: str, password: str, seed: int
) -> None:
    users = SaslSettings(users={user: password})
    server = begin(name, users, scram_users(users, random.Random(seed)), lambda: 0, random.Random(seed))
    client = ScramMechanism(name, user, password, "clientnonce")
    proof = client.respond(server.respond(client.start()))
    assert proof is not None
    assert client.respond(server.respond(proof)) is None
    assert server.principal == user


def test_wrong_password_is_noticed_by_both_sides() -> None:
    users = SaslSettings(users={"ann": "right"})
    server = begin("SCRAM-SHA-512", users, scram_users(users, random.Random(2)), lambda: 0, random.Random(1))
    client = ScramMechanism("SCRAM-SHA-512", "ann", "wrong", "clientnonce")
    proof = client.respond(server.respond(client.start()))
    assert proof is not None
    with pytest.raises(SaslFailure):
        server.respond(proof)


def test_special_characters_of_the_user_are_escaped() -> None:
    assert ScramMechanism("SCRAM-SHA-256", "a,b=c", "x", "n").start() == b"n,,n=a=2Cb=3Dc,r=n"


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (f"r=other,s={SALT},i=4096", "nonce does not continue ours"),
        (f"r={NONCE},s={SALT},i=4096", "nonce does not continue ours"),
        (f"r={SERVER_NONCE},s={SALT},i=4095", "4095 iterations; 4096 to"),
        (f"r={SERVER_NONCE},s={SALT},i=999999999", "999999999 iterations"),
        (f"r={SERVER_NONCE},s={SALT},i=-5", "iteration count is malformed"),
        (f"r={SERVER_NONCE},s={SALT},i=4096x", "iteration count is malformed"),
        (f"r={SERVER_NONCE},s=,i=4096", "salt or iteration count"),
        (f"r={SERVER_NONCE},s=!!,i=4096", "salt is malformed"),
        (f"r={SERVER_NONCE},s=é,i=4096", "salt is malformed"),
        (f"m=ext,r={SERVER_NONCE},s={SALT},i=4096", "extension"),
        (f"s={SALT},r={SERVER_NONCE},i=4096", "malformed"),
        (f"r={SERVER_NONCE},s={SALT}", "malformed"),
        ("", "malformed"),
        ("r", "malformed"),
    ],
)
def test_first_messages_that_are_not_accepted(first: str, reason: str) -> None:
    mechanism = pencil()
    with pytest.raises(AuthError, match=f"user user with SCRAM-SHA-256: .*{reason}"):
        mechanism.respond(first.encode())


def test_later_extensions_are_ignored() -> None:
    assert pencil().respond(SERVER_FIRST + b",x=new") is not None


@pytest.mark.parametrize(
    ("final", "reason"),
    [
        (b"v=" + base64.b64encode(bytes(32)), "could not prove"),
        (b"v=", "could not prove"),
        (b"", "malformed"),
        (b"v=*", "signature is malformed"),
        (b"e=invalid-proof", "invalid-proof"),
        (b"\xff\xfe", "is not text"),
    ],
)
def test_a_broker_that_can_not_prove_itself_is_refused(final: bytes, reason: str) -> None:
    mechanism = pencil()
    mechanism.respond(SERVER_FIRST)
    with pytest.raises(AuthError, match=re.escape(reason)):
        mechanism.respond(final)


def test_the_broker_can_not_skip_its_proof_by_sending_it_first() -> None:
    with pytest.raises(AuthError, match="malformed or uses an extension"):
        pencil().respond(SERVER_FINAL)


@given(st.binary(max_size=60))
def test_hostile_messages_give_auth_errors_only(message: bytes) -> None:
    for mechanism in (pencil(), pencil()):
        with pytest.raises(AuthError):
            mechanism.respond(message)
