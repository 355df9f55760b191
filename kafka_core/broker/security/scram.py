"""SCRAM users of the embedded broker: what it keeps of a password, and who changes it.

Must not know: requests, exchanges. Spec: RFC 5802 §3, KIP-554 (users by request), KIP-84.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
SALT_BITS = 128
NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""Mechanism → its number in requests."""
MECHANISMS = {number: mechanism for mechanism, number in NUMBERS.items()}


@dataclass(frozen=True)
class Credential:
    """The proof of a password, without the password."""

    salt: bytes
    iterations: int
    salted_password: bytes


@dataclass(frozen=True)
class _OfPassword:
    """The credential of a user whose password is in the settings; hashed when somebody asks."""

    digest: str
    password: str
    salt: bytes
    iterations: int

    @cached_property
    def credential(self) -> Credential:
        salted = hashlib.pbkdf2_hmac(self.digest, self.password.encode(), self.salt, self.iterations)
        return Credential(self.salt, self.iterations, salted)


class ScramUsers:
    """Credentials by user and mechanism.

    Args:
        rng: source of salts.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._credentials: dict[tuple[str, str], Credential | _OfPassword] = {}

    def know(self, user: str, mechanism: str, password: str, iterations: int) -> None:
        """Adds a user by the password."""
        salt = self._rng.getrandbits(SALT_BITS).to_bytes(SALT_BITS // 8, "big")
        self._credentials[user, mechanism] = _OfPassword(DIGESTS[mechanism], password, salt, iterations)

    def put(self, user: str, mechanism: str, credential: Credential) -> None:
        """Sets a credential."""
        self._credentials[user, mechanism] = credential

    def remove(self, user: str, mechanism: str) -> None:
        """Removes a credential."""
        del self._credentials[user, mechanism]

    def get(self, user: str, mechanism: str) -> Credential | None:
        """A user's credential; None if there is none."""
        found = self._credentials.get((user, mechanism))
        return found.credential if isinstance(found, _OfPassword) else found

    def iterations(self, user: str) -> dict[str, int]:
        """Mechanism → iterations of a user's credentials."""
        return {mechanism: found.iterations for (name, mechanism), found in self._credentials.items() if name == user}

    def __iter__(self) -> Iterator[str]:
        """All users, each once."""
        return iter(dict.fromkeys(user for user, _ in self._credentials))
