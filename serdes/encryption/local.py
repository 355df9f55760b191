"""A key-encryption key made from a shared secret: for development and tests.

Source: confluent_kafka's `local-kms`: HKDF-SHA-256 (RFC 5869, no salt, no info) of the secret gives an AES-128 key;
AES-GCM with a nonce of 12 bytes in front.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from typing import Any, Final

from registry.dek_models import DekAlgorithm
from serdes.encryption.cryptor import Cryptor, write_key
from serdes.encryption.kms import KmsClient, register_kms_driver
from serdes.rules.model import RuleError

PREFIX: Final = "local-kms://"
SECRET: Final = "secret"
ENVIRONMENT: Final = "LOCAL_SECRET"


class LocalKmsClient:
    """Encrypts data keys with a key made from a secret.

    Args:
        secret: shared by all who write and read.
    """

    def __init__(self, secret: str) -> None:
        self._cryptor = Cryptor(DekAlgorithm.AES128_GCM)
        self._key = write_key(DekAlgorithm.AES128_GCM, _derive(secret.encode(), 16))

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key."""
        return self._cryptor.encrypt(self._key, plaintext)

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key.

        Raises:
            RuleError: it was encrypted with another secret.
        """
        return self._cryptor.decrypt(self._key, ciphertext)


class LocalKmsDriver:
    """Keys `local-kms://<any name>`; the secret comes from the property `secret`, or from `LOCAL_SECRET`."""

    def get_key_url_prefix(self) -> str:
        """`local-kms://`."""
        return PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client for the secret.

        Raises:
            RuleError: there is no secret.
        """
        secret = conf.get(SECRET) or os.environ.get(ENVIRONMENT)
        if not secret:
            raise RuleError(f"{key_url}: no secret: set it in the rule configuration (`secret`) or in {ENVIRONMENT}")
        return LocalKmsClient(str(secret))

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the driver is found without."""
        register_kms_driver(cls())


def _derive(secret: bytes, size_bytes: int) -> bytes:
    """HKDF-SHA-256 for at most one block of output."""
    extracted = hmac.digest(bytes(hashlib.sha256().digest_size), secret, "sha256")
    return hmac.digest(extracted, b"\x01", "sha256")[:size_bytes]
