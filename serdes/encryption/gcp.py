"""Key-encryption keys in Google Cloud KMS, through its official client (extra `gcp`).

Keys are `gcp-kms://projects/<p>/locations/<l>/keyRings/<r>/cryptoKeys/<k>`. Source: Cloud KMS's Encrypt and Decrypt;
configuration keys are those of confluent_kafka's driver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.encryption.kms import KmsClient, register_kms_driver
from serdes.rules.model import RuleError

PREFIX: Final = "gcp-kms://"
NAME = re.compile(r"projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+\Z")
ACCOUNT = {"client_id": "client.id", "client_email": "client.email"} | {
    "private_key_id": "private.key.id",
    "private_key": "private.key",
}
TOKEN_URI: Final = "https://oauth2.googleapis.com/token"
REFUSALS: Final = (400, 404)
"""Codes of errors that are about the key and what was encrypted with it; others are about who asks, or the service."""


class GcpKmsClient:
    """One Cloud KMS key.

    Args:
        client: a `google.cloud.kms_v1.KeyManagementServiceClient`.
        name: the key's resource name.
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._errors = (
            needed("google.api_core.exceptions", "gcp", RuleError).GoogleAPIError,
            needed("google.auth.exceptions", "gcp", RuleError).GoogleAuthError,
        )

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key."""
        return bytes(self._call("encrypt", plaintext=plaintext).ciphertext)

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key."""
        return bytes(self._call("decrypt", ciphertext=ciphertext).plaintext)

    def close(self) -> None:
        """Closes the connections."""
        self._client.transport.close()

    def _call(self, operation: str, **data: bytes) -> Any:
        try:
            return getattr(self._client, operation)(request={"name": self._name, **data})
        except self._errors as error:
            text = f"Google Cloud KMS: {operation} with {self._name} failed: {error}"
            raise RuleError(text, away=getattr(error, "code", None) not in REFUSALS) from error


class GcpKmsDriver:
    """Credentials: a service account by `client.id`, `client.email`, `private.key.id`, `private.key` (and `token.uri`),
    else Google's own search.
    """

    def get_key_url_prefix(self) -> str:
        """`gcp-kms://`."""
        return PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client for one key; no call is made yet.

        Raises:
            RuleError: not the name of a key, or credentials that can't be used.
        """
        name = key_url[len(PREFIX) :]
        if not NAME.match(name):
            raise RuleError(f"Google Cloud KMS key {name!r} is not projects/…/locations/…/keyRings/…/cryptoKeys/…")
        if conf.get("account.type", "service_account") != "service_account":
            raise RuleError("account.type must be service_account")
        kms = needed("google.cloud.kms_v1", "gcp", RuleError)
        errors = needed("google.auth.exceptions", "gcp", RuleError).GoogleAuthError
        try:
            return GcpKmsClient(kms.KeyManagementServiceClient(credentials=_credentials(conf)), name)
        except (errors, ValueError) as error:
            raise RuleError(f"Google Cloud KMS: no client for {name}: {error}") from error

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the driver is found without."""
        register_kms_driver(cls())


def _credentials(conf: Mapping[str, Any]) -> Any:
    """The service account's credentials, or None for Google's own search."""
    account = {name: conf.get(key) for name, key in ACCOUNT.items()}
    if not all(account.values()):
        return None
    service_account = needed("google.oauth2.service_account", "gcp", RuleError)
    info = {"type": "service_account", "token_uri": conf.get("token.uri") or TOKEN_URI, **account}
    return service_account.Credentials.from_service_account_info(info)
