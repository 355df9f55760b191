"""Small names of confluent_kafka's modules for encryption, for code that imports them.

Must not hold anything that encryption of ours needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from registry.dek_models import DekAlgorithm, KekKmsProps, given
from serdes.encryption.azure import PREFIX as AZURE_KEYURI_PREFIX
from serdes.encryption.azure import VERSION_SAVE as ENCRYPT_AZURE_KEY_VERSION_SAVE
from serdes.encryption.azure import KeyId, credential, newest_version
from serdes.encryption.gcp import PREFIX as GCP_KEYURI_PREFIX
from serdes.encryption.vault import PREFIX as VAULT_KEYURI_PREFIX

__all__ = [
    "AZURE_KEYURI_PREFIX",
    "ENCRYPT_AZURE_KEY_VERSION_SAVE",
    "GCP_KEYURI_PREFIX",
    "VAULT_KEYURI_PREFIX",
    "CreateDekRequest",
    "CreateKekRequest",
    "DekId",
    "KekId",
    "get_versioned_key_id",
    "is_versionless",
    "with_version",
]

_CONTEXT_DELIMITER: Final = ":"
_CONTEXT_PREFIX: Final = ":."


@dataclass(frozen=True)
class KekId:
    """What names a key-encryption key."""

    name: str
    deleted: bool
    context: str | None = None


@dataclass(frozen=True)
class DekId:
    """What names a data key."""

    kek_name: str
    subject: str
    version: int
    algorithm: DekAlgorithm
    deleted: bool


@dataclass
class CreateKekRequest:
    """What a registry is sent to make a key-encryption key; what is None is left out."""

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
    """What a registry is sent to make a data key; what is None is left out."""

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
