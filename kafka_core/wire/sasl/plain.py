"""SASL PLAIN: user name and password in one message.

Knows nothing of requests or sockets. The password is readable for whoever listens: use it over TLS.
Spec: RFC 4616.
"""

from __future__ import annotations

from kafka_core.wire.sasl.mechanism import failed, prepared


class PlainMechanism:
    """One authentication with PLAIN.

    Args:
        user: user name.
        password: its password.

    Raises:
        ConfigError: one of them has a control character.
    """

    name = "PLAIN"

    def __init__(self, user: str, password: str) -> None:
        self.user = user
        self._message = b"\0" + prepared(user, "sasl.username") + b"\0" + prepared(password, "sasl.password")

    def start(self) -> bytes:
        """The only message: no authorization id, user, password, with NUL between them."""
        return self._message

    def respond(self, challenge: bytes) -> bytes | None:
        """A broker that accepts says nothing.

        Raises:
            AuthError: it says something.
        """
        if challenge:
            raise failed(self.name, self.user, f"unexpected challenge of {len(challenge)} bytes from the broker")
        return None
