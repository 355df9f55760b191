"""SASL SCRAM-SHA-256 and SCRAM-SHA-512: proof of a password without sending it, and proof that the broker knows it too.

Knows nothing of requests or sockets; the nonce is passed in.
Spec: RFC 5802, RFC 7677; KIP-84. No channel binding (Kafka has none).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

from kafka_core.errors import AuthError
from kafka_core.limits import MAX_SCRAM_ITERATIONS, MIN_SCRAM_ITERATIONS
from kafka_core.wire.sasl.mechanism import failed, prepared

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
GS2_HEADER: Final = "n,,"
ATTRIBUTE: Final = re.compile(r"([A-Za-z])=([^,]*)")


class ScramMechanism:
    """One authentication with SCRAM.

    Args:
        name: `SCRAM-SHA-256` or `SCRAM-SHA-512`.
        user: user name.
        password: its password.
        nonce: printable ASCII without comma, from a good random source and never used again.

    Raises:
        ConfigError: user or password has a control character.
    """

    def __init__(self, name: str, user: str, password: str, nonce: str) -> None:
        self.name = name
        self.user = user
        self._hash = HASHES[name]
        self._password = prepared(password, "sasl.password")
        self._nonce = nonce
        escaped = prepared(user, "sasl.username").decode().replace("=", "=3D").replace(",", "=2C")
        self._first_bare = f"n={escaped},r={nonce}"
        self._server_signature: bytes | None = None

    def start(self) -> bytes:
        """client-first-message."""
        return f"{GS2_HEADER}{self._first_bare}".encode()

    def respond(self, challenge: bytes) -> bytes | None:
        """client-final-message to the first challenge; None when the second one has proved the broker.

        Raises:
            AuthError: the broker refuses, breaks the protocol, asks for too little or too much work, or can't prove
                that it knows the password.
        """
        try:
            message = challenge.decode()
        except UnicodeDecodeError:
            raise self._failure("the broker's message is not text") from None
        if self._server_signature is None:
            return self._final_message(message)
        self._verify(message)
        return None

    def _final_message(self, server_first: str) -> bytes:
        nonce, salt, iterations = self._read_first(server_first)
        binding = base64.b64encode(GS2_HEADER.encode()).decode()
        without_proof = f"c={binding},r={nonce}"
        auth_message = f"{self._first_bare},{server_first},{without_proof}".encode()
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, iterations)
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash, client_key).digest(), auth_message)
        proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), auth_message)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def _read_first(self, message: str) -> tuple[str, bytes, int]:
        """(nonce, salt, iterations) of server-first-message, checked."""
        attributes = self._attributes(message)
        if [name for name, _ in attributes[:3]] != ["r", "s", "i"]:
            raise self._failure("the broker's first message is malformed or uses an extension we don't know")
        nonce, salt_text, iterations_text = (value for _, value in attributes[:3])
        if not nonce.startswith(self._nonce) or len(nonce) <= len(self._nonce):
            raise self._failure("the broker's nonce does not continue ours")
        salt = self._base64(salt_text, "salt")
        if not salt or not re.fullmatch(r"[1-9][0-9]{0,9}", iterations_text):
            raise self._failure("the broker's salt or iteration count is malformed")
        iterations = int(iterations_text)
        if not MIN_SCRAM_ITERATIONS <= iterations <= MAX_SCRAM_ITERATIONS:
            raise self._failure(
                f"the broker asks for {iterations} iterations; {MIN_SCRAM_ITERATIONS} to {MAX_SCRAM_ITERATIONS} are "
                "accepted"
            )
        return nonce, salt, iterations

    def _verify(self, message: str) -> None:
        """Compares the broker's signature with the one only a holder of the password can make."""
        attributes = dict(self._attributes(message))
        if "e" in attributes:
            raise self._failure(attributes["e"])
        signature = self._base64(attributes.get("v", ""), "signature")
        if self._server_signature is None or not hmac.compare_digest(signature, self._server_signature):
            raise self._failure("the broker could not prove that it knows the password; it may not be the real broker")

    def _attributes(self, message: str) -> list[tuple[str, str]]:
        pairs = [ATTRIBUTE.fullmatch(part) for part in message.split(",")]
        found = [(pair[1], pair[2]) for pair in pairs if pair is not None]
        if len(found) != len(pairs):
            raise self._failure("the broker's message is malformed")
        return found

    def _base64(self, value: str, what: str) -> bytes:
        try:
            return base64.b64decode(value.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise self._failure(f"the broker's {what} is malformed") from None

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._hash)

    def _failure(self, reason: str) -> AuthError:
        return failed(self.name, self.user, reason)
