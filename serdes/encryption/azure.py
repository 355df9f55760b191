"""Key-encryption keys in Azure Key Vault, through its official client (extra `azure`).

Keys are `azure-kms://https://<vault>.vault.azure.net/keys/<name>[/<version>]`, RSA, used with RSA-OAEP-256. Source: Key
Vault's encrypt and decrypt operations; configuration keys and the `azure:v1:` prefix are those of confluent_kafka's
driver.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kserdes_base.extras import needed
from serdes.encryption.kms import KmsClient, register_kms_driver
from serdes.rules.model import RuleError

PREFIX: Final = "azure-kms://"
VERSION_SAVE: Final = "encrypt.azure.key.version.save"
VERSIONED = re.compile(rb"azure:v1:(?P<version>[^:]*):")
VERSION = re.compile(r"[0-9a-fA-F]{32}\Z")
REFUSALS: Final = (400, 404, 409, 410)
"""Statuses that are about the key and what was encrypted with it; others are about who asks, or the service."""
log = logging.getLogger("serdes")


class KeyId(NamedTuple):
    """A Key Vault key: the vault's URL, the key's name, its version (None: the newest)."""

    vault_url: str
    name: str
    version: str | None

    @classmethod
    def parse(cls, text: str) -> KeyId:
        """Reads `https://<vault>/keys/<name>[/<version>]`.

        Raises:
            RuleError: it is not of that form.
        """
        url = urlsplit(text)
        parts = [part for part in url.path.split("/") if part]
        if not url.scheme or not url.netloc or not 2 <= len(parts) <= 3 or parts[0] != "keys":
            raise RuleError(f"Azure key {text!r} is not https://<vault>.vault.azure.net/keys/<name>[/<version>]")
        return cls(f"{url.scheme}://{url.netloc}", parts[1], parts[2] if len(parts) == 3 else None)

    def at(self, version: str) -> str:
        """The key's URL with a version."""
        return f"{self.vault_url}/keys/{self.name}/{version}"


class AzureKmsClient:
    """One Key Vault key.

    Args:
        key_id: the key, as in its URL.
        crypto: makes an `azure.keyvault.keys.crypto.CryptographyClient` for a key's URL.
        newest: finds the newest version of the key, if versions are to be saved: Key Vault does not say in its output
            which version encrypted, so after a rotation an unversioned data key may not be readable any more. With it
            the output starts with `azure:v1:<version>:`. Such data keys are read in any case.
        release: called when this is closed.
    """

    def __init__(
        self,
        key_id: str,
        crypto: Callable[[str], Any],
        newest: Callable[[], str] | None = None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self._id = key_id
        self._key = KeyId.parse(key_id)
        self._crypto = crypto
        self._newest = newest
        self.close = release
        core = needed("azure.core.exceptions", "azure", RuleError)
        self._errors: tuple[type[Exception], ...] = (core.AzureError, ValueError)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key."""
        if self._newest is None:
            return self._call(self._id, "encrypt", plaintext)
        version = self._key.version or self._newest()
        if not VERSION.match(version):
            raise RuleError(f"Azure key {self._id}: version {version!r} is not of 32 hexadecimal digits")
        return b"azure:v1:" + version.encode() + b":" + self._call(self._key.at(version), "encrypt", plaintext)

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key, with the version it names, if it names one."""
        found = VERSIONED.match(ciphertext)
        if found is None:
            return self._call(self._id, "decrypt", ciphertext)
        version = found["version"].decode("ascii", "replace")
        if not VERSION.match(version):  # nobody has vouched for these bytes: they must not make up a URL
            raise RuleError(f"Azure key {self._id}: the data key names version {version!r}, which can't be one")
        return self._call(self._key.at(version), "decrypt", ciphertext[found.end() :])

    def _call(self, key_id: str, operation: str, data: bytes) -> bytes:
        algorithm = needed("azure.keyvault.keys.crypto", "azure", RuleError).EncryptionAlgorithm.rsa_oaep_256
        try:
            with contextlib.closing(self._crypto(key_id)) as crypto:
                answer = getattr(crypto, operation)(algorithm, data)
        except self._errors as error:
            refused = isinstance(error, ValueError) or getattr(error, "status_code", None) in REFUSALS
            text = f"Azure Key Vault: {operation} with {key_id} failed: {error}"
            raise RuleError(text, away=not refused) from error
        return bytes(answer.ciphertext if operation == "encrypt" else answer.plaintext)


class AzureKmsDriver:
    """Credentials: `tenant.id`, `client.id` and `client.secret`, else Azure's own search (`DefaultAzureCredential`).

    `encrypt.azure.key.version.save` = true writes the key's version in front of encrypted data keys.
    """

    def get_key_url_prefix(self) -> str:
        """`azure-kms://`."""
        return PREFIX

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client for one key; no call is made yet.

        Raises:
            RuleError: the key's URL can't be used.
        """
        key_id = key_url[len(PREFIX) :]
        key = KeyId.parse(key_id)
        signed_in = credential(conf)
        crypto = needed("azure.keyvault.keys.crypto", "azure", RuleError).CryptographyClient
        save = str(conf.get(VERSION_SAVE, False)).lower() == "true"
        if key.version is None and not save:
            log.warning(
                "Azure key %s has no version and %s is off: after its rotation, data keys encrypted before may not be "
                "readable any more",
                key_id,
                VERSION_SAVE,
            )
        newest = (lambda: newest_version(key, signed_in)) if save else None
        return AzureKmsClient(key_id, lambda url: crypto(url, signed_in), newest, signed_in.close)

    @classmethod
    def register(cls) -> None:
        """As confluent_kafka has it; here the driver is found without."""
        register_kms_driver(cls())


def credential(conf: Mapping[str, Any]) -> Any:
    """The credential: a client with its secret, or what Azure's library finds."""
    identity = needed("azure.identity", "azure", RuleError)
    parts = [conf.get(name) for name in ("tenant.id", "client.id", "client.secret")]
    return identity.ClientSecretCredential(*parts) if all(parts) else identity.DefaultAzureCredential()


def newest_version(key: KeyId, credential: Any) -> str:
    """Asks Key Vault for the newest version of a key.

    Raises:
        RuleError: it does not say.
    """
    keys = needed("azure.keyvault.keys", "azure", RuleError)
    core = needed("azure.core.exceptions", "azure", RuleError)
    try:
        with contextlib.closing(keys.KeyClient(vault_url=key.vault_url, credential=credential)) as client:
            found = client.get_key(key.name)
    except core.AzureError as error:
        raise RuleError(f"Azure Key Vault: key {key.name!r} of {key.vault_url} can't be looked up: {error}") from error
    version = KeyId.parse(str(found.id)).version
    if version is None:
        raise RuleError(f"Azure Key Vault: the id of key {key.name!r} has no version: {found.id}")
    return version
