"""The server's side of SASL. SCRAM is checked with the examples of RFC 7677 and a client written for this test."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random

import pytest

from kafka_core.broker.security.sasl import SaslExchange, SaslFailure, SaslSettings, begin, scram_users

NOW_MS = 1_700_000_000_000
SETTINGS = SaslSettings({"alice": "secret", "odd,=name": "pw"})


def start(mechanism: str, settings: SaslSettings = SETTINGS) -> SaslExchange:
    return begin(mechanism, settings, scram_users(settings, random.Random(4)), lambda: NOW_MS, random.Random(3))


@pytest.mark.parametrize("mechanisms", [(), ("GSSAPI",)])
def test_mechanisms_must_be_known(mechanisms: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="SASL mechanisms must be some of"):
        SaslSettings(mechanisms=mechanisms)


@pytest.mark.parametrize("token", [b"\0alice\0secret", b"alice\0alice\0secret"])
def test_plain_takes_the_right_password(token: bytes) -> None:
    exchange = start("PLAIN")
    assert exchange.respond(token) == b""
    assert (exchange.done, exchange.principal) == (True, "alice")


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"\0alice\0wrong", "Invalid username or password"),
        (b"\0nobody\0secret", "Invalid username or password"),
        (b"bob\0alice\0secret", "authorization id"),
        (b"alice secret", "expected 3 tokens, got 1"),
    ],
)
def test_plain_refuses_the_rest(token: bytes, text: str) -> None:
    exchange = start("PLAIN")
    with pytest.raises(SaslFailure, match=text):
        exchange.respond(token)
    assert not exchange.done


class ScramClient:
    """RFC 5802 by the letter, for the tests."""

    def __init__(self, digest: str, user: str, password: str) -> None:
        self.digest, self.user, self.password = digest, user, password
        self.bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r=abc"

    def mac(self, key: bytes, data: bytes) -> bytes:
        return hmac.new(key, data, self.digest).digest()

    def first(self) -> bytes:
        return b"n,," + self.bare.encode()

    def final(self, challenge: bytes, nonce: str | None = None) -> bytes:
        fields = dict(item.split("=", 1) for item in challenge.decode().split(","))
        salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
        salted = hashlib.pbkdf2_hmac(self.digest, self.password.encode(), salt, rounds)
        without_proof = f"c=biws,r={nonce or fields['r']}"
        message = f"{self.bare},{challenge.decode()},{without_proof}".encode()
        client_key = self.mac(salted, b"Client Key")
        signature = self.mac(hashlib.new(self.digest, client_key).digest(), message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self.expected = b"v=" + base64.b64encode(self.mac(self.mac(salted, b"Server Key"), message))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


@pytest.mark.parametrize(("mechanism", "digest"), [("SCRAM-SHA-256", "sha256"), ("SCRAM-SHA-512", "sha512")])
@pytest.mark.parametrize(("user", "password"), [("alice", "secret"), ("odd,=name", "pw")])
def test_scram_proves_both_sides(mechanism: str, digest: str, user: str, password: str) -> None:
    exchange, client = start(mechanism), ScramClient(digest, user, password)
    challenge = exchange.respond(client.first())
    assert not exchange.done
    assert exchange.respond(client.final(challenge)) == client.expected
    assert (exchange.done, exchange.principal) == (True, user)


def test_scram_refuses_a_wrong_password_user_nonce_or_form() -> None:
    exchange, client = start("SCRAM-SHA-256"), ScramClient("sha256", "alice", "wrong")
    final = client.final(exchange.respond(client.first()))
    with pytest.raises(SaslFailure, match="invalid credentials"):
        exchange.respond(final)
    with pytest.raises(SaslFailure, match="invalid credentials"):
        start("SCRAM-SHA-256").respond(ScramClient("sha256", "nobody", "secret").first())
    exchange, client = start("SCRAM-SHA-256"), ScramClient("sha256", "alice", "secret")
    with pytest.raises(SaslFailure, match="nonce"):
        exchange.respond(client.final(exchange.respond(client.first()), nonce="abcd"))
    for token in (b"p=x,,n=alice,r=a", b"nonsense", b"\xff\xfe"):
        with pytest.raises(SaslFailure):
            start("SCRAM-SHA-256").respond(token)
    exchange = start("SCRAM-SHA-256")
    exchange.respond(ScramClient("sha256", "alice", "secret").first())
    with pytest.raises(SaslFailure, match="final message format"):
        exchange.respond(b"c=biws,r=x,p=@@@")


def jwt(claims: object, header: object = {"alg": "none"}, signature: str = "") -> bytes:  # never changed
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return b"n,,\x01auth=Bearer " + ".".join([*parts, signature]).encode() + b"\x01\x01"


def test_an_unsecured_token_names_the_user_and_the_end() -> None:
    exchange = start("OAUTHBEARER")
    assert exchange.respond(jwt({"sub": "alice", "exp": NOW_MS / 1000 + 60})) == b""
    assert (exchange.done, exchange.principal, exchange.expires_at_ms) == (True, "alice", NOW_MS + 60_000)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (jwt({"sub": "alice", "exp": NOW_MS / 1000}), "expired"),
        (jwt({"sub": "", "exp": NOW_MS}), "no sub"),
        (jwt({"sub": "alice"}), "no exp"),
        (jwt({"sub": "alice", "exp": True}), "no exp"),
        (jwt({"sub": "alice", "exp": NOW_MS}, {"alg": "RS256"}), "algorithm"),
        (jwt(["list"]), "algorithm"),
        (jwt({"sub": "alice", "exp": NOW_MS}, signature="sig"), "not an unsecured JWT"),
        (b"n,,\x01auth=Bearer !.!.\x01\x01", "base64url"),
        (b"n,,\x01\x01", "no bearer token"),
    ],
)
def test_other_tokens_are_refused_with_a_last_challenge(token: bytes, text: str) -> None:
    exchange = start("OAUTHBEARER")
    with pytest.raises(SaslFailure, match=text) as caught:
        exchange.respond(token)
    assert json.loads(caught.value.token or b"") == {"status": "invalid_token"}
    with pytest.raises(SaslFailure) as caught:
        exchange.respond(b"\x01")
    assert caught.value.token is None
    assert not exchange.done
