"""The server's side of SASL: PLAIN, SCRAM-SHA-256/-512 and OAUTHBEARER with unsecured tokens.

Must not know: the client's mechanisms (a shared mistake would not show), requests, sockets. Time and random passed in.
Spec: RFC 4616 (PLAIN), RFC 5802 and RFC 7677 (SCRAM), RFC 7628 and KIP-255 (OAUTHBEARER), KIP-368 (lifetime).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kafka_core.broker.security.scram import DIGESTS, ScramUsers

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


class SaslFailure(Exception):
    """The client did not prove who it is; the text is what the client is told.

    `token` goes to the client as a last challenge first, where the mechanism has one (OAUTHBEARER).
    """

    def __init__(self, text: str, token: bytes | None = None) -> None:
        super().__init__(text)
        self.token = token


@dataclass(frozen=True, slots=True)
class SaslSettings:
    """Settings of logins.

    Attributes:
        users: passwords by user name, for PLAIN and SCRAM.
        mechanisms: those the broker offers, in its order.
        session_lifetime_ms: after this long a client must authenticate again (0: never); `connections.max.reauth.ms`.
        scram_iterations: of every user; clients must accept at least 4096.
    """

    users: Mapping[str, str] = field(default_factory=dict)
    mechanisms: tuple[str, ...] = MECHANISMS
    session_lifetime_ms: int = 0
    scram_iterations: int = 4096

    def __post_init__(self) -> None:
        unknown = [name for name in self.mechanisms if name not in MECHANISMS]
        if unknown or not self.mechanisms:
            raise ValueError(f"SASL mechanisms must be some of {', '.join(MECHANISMS)}, not {self.mechanisms!r}")


def scram_users(settings: SaslSettings | None, rng: random.Random) -> ScramUsers:
    """The users of the settings, with a credential for each SCRAM mechanism that is offered."""
    users = ScramUsers(rng)
    if settings is not None:
        for mechanism in settings.mechanisms:
            for user, password in settings.users.items() if mechanism in DIGESTS else ():
                users.know(user, mechanism, password, settings.scram_iterations)
    return users


class SaslExchange(Protocol):
    """One authentication on the way."""

    #: The user, once `done`.
    principal: str
    done: bool
    #: Wall-clock milliseconds at which the credential itself ends, None if it does not.
    expires_at_ms: int | None

    def respond(self, token: bytes) -> bytes:
        """Take the client's token and return the answer to it; SaslFailure if it proves nothing."""


def begin(
    mechanism: str, settings: SaslSettings, scram: ScramUsers, now_ms: Callable[[], int], rng: random.Random
) -> SaslExchange:
    """Start an exchange; the mechanism is one of `settings.mechanisms`."""
    if mechanism == "PLAIN":
        return PlainExchange(settings)
    if mechanism == "OAUTHBEARER":
        return OAuthBearerExchange(now_ms)
    return ScramExchange(scram, mechanism, rng)


class PlainExchange:
    """RFC 4616: authorization id, user and password in one message."""

    def __init__(self, settings: SaslSettings) -> None:
        self._settings = settings
        self.principal = ""
        self.done = False
        self.expires_at_ms: int | None = None

    def respond(self, token: bytes) -> bytes:
        """Check the one message of the exchange."""
        parts = token.split(b"\0")
        if len(parts) != 3:
            raise SaslFailure("Invalid SASL/PLAIN response: expected 3 tokens, got " + str(len(parts)))
        authorization_id, user, password = (part.decode("utf-8", "replace") for part in parts)
        expected = self._settings.users.get(user)
        if expected is None or not hmac.compare_digest(expected.encode(), password.encode()):
            raise SaslFailure("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise SaslFailure(
                "Authentication failed: Client requested an authorization id that is different from username"
            )
        self.principal, self.done = user, True
        return b""


class ScramExchange:
    """RFC 5802: the password is never sent, both sides prove that they know it."""

    def __init__(self, users: ScramUsers, mechanism: str, rng: random.Random) -> None:
        self._users = users
        self._mechanism = mechanism
        self._digest = DIGESTS[mechanism]
        self._rng = rng
        self._signed = ""
        self._nonce = ""
        self._salted = b""
        self._gs2_header = ""
        self.principal = ""
        self.done = False
        self.expires_at_ms: int | None = None

    def respond(self, token: bytes) -> bytes:
        """First call: the client's first message; second call: its proof."""
        try:
            text = token.decode()
        except UnicodeDecodeError as error:
            raise SaslFailure("Authentication failed during authentication due to invalid SCRAM message") from error
        return self._final(text) if self._nonce else self._first(text)

    def _first(self, text: str) -> bytes:
        parts = text.split(",", 2)
        if len(parts) != 3 or parts[0] not in ("n", "y"):
            raise SaslFailure("Invalid SCRAM client first message format")
        self._gs2_header = f"{parts[0]},{parts[1]},"
        fields = _attributes(parts[2])
        user = fields.get("n", "").replace("=2C", ",").replace("=3D", "=")
        credential = self._users.get(user, self._mechanism)
        if credential is None or not fields.get("r"):
            raise SaslFailure(
                "Authentication failed during authentication due to invalid credentials with SASL mechanism"
            )
        self.principal = user
        self._nonce = fields["r"] + f"{self._rng.getrandbits(128):032x}"
        self._salted = credential.salted_password
        answer = f"r={self._nonce},s={base64.b64encode(credential.salt).decode()},i={credential.iterations}"
        self._signed = f"{parts[2]},{answer}"
        return answer.encode()

    def _final(self, text: str) -> bytes:
        without_proof, _, proof_text = text.rpartition(",p=")
        fields = _attributes(without_proof)
        binding = base64.b64encode(self._gs2_header.encode()).decode()
        try:
            proof = base64.b64decode(proof_text, validate=True)
        except binascii.Error as error:
            raise SaslFailure("Invalid SCRAM client final message format") from error
        if fields.get("r") != self._nonce or fields.get("c") != binding:
            raise SaslFailure("Invalid client nonce in the final client message")
        message = f"{self._signed},{without_proof}".encode()
        client_key = self._mac(self._salted, b"Client Key")
        stored_key = hashlib.new(self._digest, client_key).digest()
        signature = self._mac(stored_key, message)
        expected = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        if not hmac.compare_digest(expected, proof):
            raise SaslFailure(
                "Authentication failed during authentication due to invalid credentials with SASL mechanism"
            )
        self.done = True
        server_signature = self._mac(self._mac(self._salted, b"Server Key"), message)
        return b"v=" + base64.b64encode(server_signature)

    def _mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._digest).digest()


class OAuthBearerExchange:
    """RFC 7628 with unsecured JWTs (RFC 7515 §6): `sub` names the user, `exp` is checked, nothing is signed."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._failed = False
        self.principal = ""
        self.done = False
        self.expires_at_ms: int | None = None

    def respond(self, token: bytes) -> bytes:
        """The token, or the client's acknowledgement of an error (the byte 1)."""
        if self._failed:
            raise SaslFailure("Authentication failed: the token was refused")
        try:
            self._check(token)
        except SaslFailure as failure:
            self._failed = True
            reason = json.dumps({"status": "invalid_token"}).encode()
            raise SaslFailure(str(failure), reason) from None
        self.done = True
        return b""

    def _check(self, token: bytes) -> None:
        fields = token.decode("utf-8", "replace").split("\x01")
        bearer = next((item for item in fields if item.lower().startswith("auth=bearer ")), None)
        if bearer is None:
            raise SaslFailure("Invalid OAUTHBEARER client first message: no bearer token")
        claims = _unsecured_claims(bearer[len("auth=bearer ") :].strip())
        subject, expiry_s = claims.get("sub"), claims.get("exp")
        if not isinstance(subject, str) or not subject:
            raise SaslFailure("Authentication failed: the token has no sub claim")
        if not isinstance(expiry_s, (int, float)) or isinstance(expiry_s, bool):
            raise SaslFailure("Authentication failed: the token has no exp claim")
        if expiry_s * 1000 <= self._now_ms():
            raise SaslFailure("Authentication failed: the token is expired")
        self.principal = subject
        self.expires_at_ms = int(expiry_s * 1000)


def _unsecured_claims(token: str) -> dict[str, object]:
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        raise SaslFailure("Authentication failed: not an unsecured JWT (header.claims. with no signature)")
    try:
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except ValueError as error:
        raise SaslFailure("Authentication failed: the token is not base64url-encoded JSON") from error
    if not isinstance(header, dict) or header.get("alg") != "none" or not isinstance(claims, dict):
        raise SaslFailure("Authentication failed: the token's algorithm is not 'none'")
    return claims


def _attributes(text: str) -> dict[str, str]:
    return {item[:1]: item[2:] for item in text.split(",") if item[1:2] == "="}
