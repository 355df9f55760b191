"""GSSAPI: the tokens of a security context, then the agreement that nothing is encrypted or signed after them.

Knows nothing of Kerberos: the context does the cryptography.
Spec: RFC 4752; brokers know no security layers, TLS does that in Kafka.
"""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from kafka_core.errors import AuthError
from kafka_core.wire.sasl.mechanism import failed

NO_LAYER: Final = 1
CHOICE: Final = bytes((NO_LAYER, 0, 0, 0))
"""No layer, and so no largest size; no authorization identity: the broker takes the principal."""


@runtime_checkable
class SecurityContext(Protocol):
    """An initiator's context that has asked for its ticket.

    Attributes:
        user: the principal, for error texts; empty if the default one.
        first: the first token to the broker.
        established: whether both sides are authenticated.
    """

    user: str
    first: bytes
    established: bool

    def step(self, token: bytes) -> bytes:
        """The answer to the broker's token, perhaps empty. Raises AuthError."""
        ...

    def wrap(self, message: bytes) -> bytes:
        """The message with a proof of its integrity. Raises AuthError."""
        ...

    def unwrap(self, message: bytes) -> bytes:
        """The broker's message, unwrapped. Raises AuthError."""
        ...


class GssapiMechanism:
    """One authentication by a security context."""

    name = "GSSAPI"

    def __init__(self, context: SecurityContext) -> None:
        self.user = context.user
        self._context = context
        self._chosen = False

    def start(self) -> bytes:
        return self._context.first

    def respond(self, challenge: bytes) -> bytes | None:
        if self._chosen:
            if challenge:
                raise self._refusal("the broker goes on after the end")
            return None
        if not self._context.established:
            return self._context.step(challenge)  # empty when it is established: the broker's offer comes next
        offer = self._context.unwrap(challenge)
        if len(offer) != len(CHOICE):
            raise self._refusal(f"the broker's offer of security layers has {len(offer)} bytes instead of 4")
        if not offer[0] & NO_LAYER:
            raise self._refusal("the broker demands a security layer, which Kafka does not have; use TLS for that")
        self._chosen = True
        return self._context.wrap(CHOICE)

    def _refusal(self, reason: str) -> AuthError:
        return failed(self.name, self.user, reason)
