"""The interface of SASL mechanisms for the handshake, and their common rules for user names and passwords.

Knows nothing of requests or sockets: a mechanism turns challenges into answers.
Spec: RFC 4422; RFC 4013 (SASLprep) for what Kafka does not do, see `prepared`.
"""

from __future__ import annotations

from typing import Protocol

from kafka_core.errors import AuthError, ConfigError


class Mechanism(Protocol):
    """One authentication; not to be used twice.

    Attributes:
        name: as the broker lists it (`SCRAM-SHA-256`).
        user: the user, for error texts; empty if not known.
    """

    name: str
    user: str

    def start(self) -> bytes:
        """The first message to the broker."""
        ...

    def respond(self, challenge: bytes) -> bytes | None:
        """The answer to the broker's message; None if all is said and the broker has proved what it must.

        Raises:
            AuthError: the broker refuses, or its answer can't be trusted.
        """
        ...


def prepared(value: str, name: str) -> bytes:
    """A user name or password in the form in which it is sent and hashed.

    RFC 5802 wants SASLprep (mapping and normalising of non-ASCII letters), but Kafka's brokers and its Java client
    take the UTF-8 bytes as they are (ScramFormatter.normalize); normalising here would lock out passwords that work
    there. Kept of SASLprep is that control characters are refused: they are nearly always the line break at the end
    of a file that a secret was read from.

    Raises:
        ConfigError: there is a control character in it. The text does not show the value.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in value):
        raise ConfigError(f"{name} contains a control character (a line break at its end, perhaps?)", property=name)
    return value.encode()


def failed(mechanism: str, user: str, reason: str) -> AuthError:
    """The error for one failed authentication, in the words all mechanisms use."""
    who = f" for user {user}" if user else ""
    return AuthError(f"authentication failed{who} with {mechanism}: {reason}", mechanism=mechanism, user=user)
