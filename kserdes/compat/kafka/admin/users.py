"""SCRAM users of kafka-python 3.0 on `kafka_core.admin`.

Must not hold any protocol. Spec: KIP-554; `kafka.admin`'s names.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

from kafka_core import admin as ours
from kserdes.compat.kafka.admin.base import AdminBase, outcome
from kserdes.compat.kafka.failures import translating

__all__ = ["ScramMechanism", "UserCalls", "UserScramCredentialDeletion", "UserScramCredentialUpsertion"]

SALT_BYTES: Final = 24


class ScramMechanism(IntEnum):
    """Mechanism of a credential."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


HASHES: Final = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}


def mechanism_of(given: Any) -> ScramMechanism:
    """By name (`scram-sha-256`) or number; ValueError or KeyError if there is none."""
    if isinstance(given, str):
        return ScramMechanism[given.upper().replace("-", "_")]
    return ScramMechanism(given)


class UserScramCredentialDeletion:
    """Removes a user's credential of one mechanism."""

    def __init__(self, user: str, mechanism: ScramMechanism | str | int) -> None:
        self.user = user
        self.mechanism = mechanism_of(mechanism)

    def __repr__(self) -> str:
        return f"UserScramCredentialDeletion({self.user}, {self.mechanism.name})"


class UserScramCredentialUpsertion:
    """Sets a user's credential; the password is hashed here and never sent.

    Args:
        user: the name.
        mechanism: a ScramMechanism, or its name.
        password: text or bytes.
        iterations: how often it is hashed; None for 4096.
        salt: None for a random one.
    """

    DEFAULT_ITERATIONS: Final = 4096

    def __init__(
        self,
        user: str,
        mechanism: ScramMechanism | str | int,
        password: str | bytes,
        iterations: int | None = None,
        salt: bytes | None = None,
    ) -> None:
        self.user = user
        self.mechanism = mechanism_of(mechanism)
        self.iterations = self.DEFAULT_ITERATIONS if iterations is None else iterations
        self.salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
        self._password = password.encode() if isinstance(password, str) else password
        self.salted_password = hashlib.pbkdf2_hmac(HASHES[self.mechanism], self._password, self.salt, self.iterations)

    def __repr__(self) -> str:
        return f"UserScramCredentialUpsertion({self.user}, {self.mechanism.name}, iterations={self.iterations})"


class UserCalls(AdminBase):
    """The calls about SCRAM users."""

    def alter_user_scram_credentials(
        self, alterations: Sequence[UserScramCredentialDeletion | UserScramCredentialUpsertion]
    ) -> dict[str, str | None]:
        """Sets and removes credentials: None, or the broker's sentence, for each user."""
        with translating():
            answers = self._client.alter_user_scram_credentials([alteration(each) for each in alterations])
        failures = {user: outcome(answer) for user, answer in answers.items()}
        return {user: None if failure is None else failure.error.str() for user, failure in failures.items()}

    def describe_user_scram_credentials(self, users: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
        """Mechanisms and iterations of users; of all without an argument."""
        if not users:
            with translating():
                every = self._client.describe_user_scram_credentials().result()
            return {user: user_dict(found) for user, found in every.items()}
        with translating():
            answers = self._client.describe_user_scram_credentials(list(users))
        described = {}
        for user, answer in answers.items():
            failure = outcome(answer)
            described[user] = (
                user_dict(answer.result())
                if failure is None
                else {"error": failure.error.str(), "credential_infos": []}
            )
        return described


def alteration(given: Any) -> ours.UserScramCredentialAlteration:
    """One of ours."""
    mechanism = ours.ScramMechanism(int(given.mechanism))
    if isinstance(given, UserScramCredentialDeletion):
        return ours.UserScramCredentialDeletion(given.user, mechanism)
    if isinstance(given, UserScramCredentialUpsertion):
        info = ours.ScramCredentialInfo(mechanism, given.iterations)
        return ours.UserScramCredentialUpsertion(given.user, info, given._password, given.salt)
    raise TypeError(
        f"alterations are UserScramCredentialUpsertion or UserScramCredentialDeletion, not {type(given).__name__}"
    )


def user_dict(found: ours.UserScramCredentialsDescription) -> dict[str, Any]:
    """As kafka-python shows it."""
    return {
        "error": None,
        "credential_infos": [
            {"mechanism": ScramMechanism(each.mechanism.value), "iterations": each.iterations}
            for each in found.scram_credential_infos
        ],
    }
