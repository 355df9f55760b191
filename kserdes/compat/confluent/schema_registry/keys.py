"""Small names of confluent_kafka's modules for encryption, for code that imports them.

Must not hold anything that encryption of ours needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from registry.dek import DekAlgorithm, Kek
from registry.dek_models import KekKmsProps, given
from serdes.encryption.azure import PREFIX as AZURE_KEYURI_PREFIX
from serdes.encryption.azure import VERSION, VERSIONED, KeyId, credential, newest_version
from serdes.encryption.azure import VERSION_SAVE as ENCRYPT_AZURE_KEY_VERSION_SAVE
from serdes.encryption.gcp import PREFIX as GCP_KEYURI_PREFIX
from serdes.encryption.keys import KeyServices
from serdes.encryption.vault import PREFIX as VAULT_KEYURI_PREFIX
from serdes.rules import RuleError

__all__ = [
    "AZURE_KEYURI_PREFIX",
    "ENCRYPT_AZURE_KEY_VERSION_SAVE",
    "GCP_KEYURI_PREFIX",
    "VAULT_KEYURI_PREFIX",
    "AeadWrapper",
    "AzureKmsAead",
    "CreateDekRequest",
    "CreateKekRequest",
    "DekId",
    "KekId",
    "get_versioned_key_id",
    "is_versionless",
    "with_version",
]

Crypto = Any
"""An `azure.keyvault.keys.crypto.CryptographyClient`."""
_CONTEXT_DELIMITER: Final = ":"
_CONTEXT_PREFIX: Final = ":."


@dataclass(frozen=True)
class KekId:
    """The name of a key-encryption key."""

    name: str
    deleted: bool
    context: str | None = None


@dataclass(frozen=True)
class DekId:
    """The name of a data key."""

    kek_name: str
    subject: str
    version: int
    algorithm: DekAlgorithm
    deleted: bool


@dataclass
class CreateKekRequest:
    """The request for a new key-encryption key; fields that are None are left out."""

    name: str | None
    kms_type: str | None
    kms_key_id: str | None
    kms_props: KekKmsProps | None
    doc: str | None
    shared: bool | None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return given(
            name=self.name,
            kmsType=self.kms_type,
            kmsKeyId=self.kms_key_id,
            kmsProps=None if self.kms_props is None else self.kms_props.to_dict(),
            doc=self.doc,
            shared=self.shared,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> CreateKekRequest:
        """Reads the REST form."""
        props = src_dict.get("kmsProps")
        return cls(
            src_dict.get("name"),
            src_dict.get("kmsType"),
            src_dict.get("kmsKeyId"),
            None if props is None else KekKmsProps.from_dict(props),
            src_dict.get("doc"),
            src_dict.get("shared"),
        )


@dataclass
class CreateDekRequest:
    """The request for a new data key; fields that are None are left out."""

    subject: str | None
    version: int | None
    algorithm: DekAlgorithm | None
    encrypted_key_material: str | None

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return given(
            subject=self.subject,
            version=self.version,
            algorithm=None if self.algorithm is None else self.algorithm.value,
            encryptedKeyMaterial=self.encrypted_key_material,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> CreateDekRequest:
        """Reads the REST form.

        Raises:
            ValueError: no such algorithm.
        """
        algorithm = src_dict.get("algorithm")
        return cls(
            src_dict.get("subject"),
            src_dict.get("version"),
            None if algorithm is None else DekAlgorithm(algorithm),
            src_dict.get("encryptedKeyMaterial"),
        )


class AeadWrapper:
    """Encrypts with a key-encryption key, or its alternates, through their key service.

    Args:
        config: what the service's driver needs.
        kek: the key-encryption key.

    Both methods raise `RuleError` if no key does, or for associated data, which key services do not take.
    """

    def __init__(self, config: Mapping[str, Any], kek: Kek) -> None:
        self._services = KeyServices(config)
        self._kek = kek

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Encrypts a data key."""
        return self._call("encrypt", plaintext, associated_data)

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Decrypts a data key."""
        return self._call("decrypt", ciphertext, associated_data)

    def _call(self, operation: str, data: bytes, associated_data: bytes) -> bytes:
        if associated_data:
            raise RuleError("key services take no associated data")
        return self._services.call(self._kek, operation, data)


class AzureKmsAead:
    """One Key Vault key, through clients that are given.

    Args:
        default_client: encrypts without `encrypt_target`, and decrypts what names no version of the key.
        algorithm: how, e.g. `EncryptionAlgorithm.rsa_oaep_256`.
        encrypt_target: gives the client that encrypts and its version, which the result then names.
        client_factory: makes a client for the version that something encrypted names.

    Both methods raise `RuleError` if the client refuses, or for a version that is none.
    """

    def __init__(
        self,
        default_client: Crypto,
        algorithm: Any,
        encrypt_target: Callable[[], tuple[Crypto, str]] | None = None,
        client_factory: Callable[[str], Crypto] | None = None,
    ) -> None:
        if not default_client:
            raise RuleError("client cannot be null.")
        self._default, self._algorithm = default_client, algorithm
        self._target, self._factory = encrypt_target, client_factory

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Encrypts a data key; associated data is not used."""
        if self._target is None:
            return self._call(self._default, "encrypt", plaintext)
        client, version = _made("for encryption", self._target)
        if not version or not VERSION.match(version):
            raise RuleError(f"kms key version '{version}' must be a 32-character hex string")
        return f"azure:v1:{version}:".encode() + self._call(client, "encrypt", plaintext)

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Decrypts a data key; associated data is not used."""
        found = VERSIONED.match(ciphertext)
        if found is None or len(found["version"]) != 32:
            return self._call(self._default, "decrypt", ciphertext)
        version, make = found["version"].decode("ascii", "replace"), self._factory
        if not VERSION.match(version):  # nobody has vouched for these bytes: they must not make up a URL
            raise RuleError(f"ciphertext carries an invalid azure:v1: key version: '{version}'")
        if make is None:
            raise RuleError("ciphertext names a version of its key, and there is no client factory for it")
        client = _made(f"for embedded key version '{version}'", lambda: make(version))
        return self._call(client, "decrypt", ciphertext[found.end() :])

    def _call(self, client: Crypto, operation: str, data: bytes) -> bytes:
        try:
            answer = getattr(client, operation)(self._algorithm, data)
        except ValueError as error:
            raise RuleError(str(error)) from error
        return bytes(answer.ciphertext if operation == "encrypt" else answer.plaintext)


def _made(what: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        raise RuleError(f"failed to resolve kms client {what}: {error}") from error


def is_versionless(kms_key_id: str) -> bool:
    """Whether a Key Vault key's URL names no version.

    Raises:
        RuleError: it is no such URL.
    """
    return KeyId.parse(kms_key_id).version is None


def with_version(kms_key_id: str, version: str) -> str:
    """A Key Vault key's URL with this version.

    Raises:
        RuleError: it is no such URL.
    """
    return KeyId.parse(kms_key_id).at(version)


def get_versioned_key_id(conf: Mapping[str, Any], kms_key_id: str) -> str:
    """A Key Vault key's URL with its version, or with the newest, which Key Vault is asked for.

    Raises:
        RuleError: it is no such URL, or Key Vault does not say.
    """
    key = KeyId.parse(kms_key_id)
    return kms_key_id if key.version is not None else key.at(newest_version(key, credential(conf)))


def _context_for(subject: str | None) -> str | None:
    """The context of a qualified subject (`:.context:subject`); None for the default one."""
    if subject is None or not subject.startswith(_CONTEXT_PREFIX):
        return None
    context = subject[1:].partition(_CONTEXT_DELIMITER)[0]
    return None if context == "." else context
