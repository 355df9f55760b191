"""Values of the DEK registry's API: key-encryption keys (KEKs) and data-encryption keys (DEKs), and their JSON forms.

Must not know of HTTP or of encryption. Source: Confluent's DEK registry REST API.
"""

from __future__ import annotations

import base64
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registry.models import whole_number


class DekAlgorithm(enum.StrEnum):
    """The algorithm that encrypts values with a data key."""

    AES128_GCM = "AES128_GCM"
    AES256_GCM = "AES256_GCM"
    AES256_SIV = "AES256_SIV"
    """Deterministic: equal values have equal bytes."""


class KekKmsProps(dict[str, str]):
    """Properties for a key management service's client; a dict. `.properties` is the same, as in confluent_kafka."""

    @property
    def properties(self) -> dict[str, str]:
        """The dict itself."""
        return self

    @properties.setter
    def properties(self, properties: Mapping[str, str]) -> None:
        taken = dict(properties)
        self.clear()
        self.update(taken)

    def to_dict(self) -> dict[str, str]:
        """The REST form."""
        return dict(self)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, str]) -> KekKmsProps:
        """Reads the REST form."""
        return cls(src_dict)


@dataclass(frozen=True, slots=True)
class Kek:
    """A key-encryption key: where the key that encrypts the data keys is kept.

    Attributes:
        name: its name here.
        kms_type: kind of the key management service, e.g. `aws-kms`.
        kms_key_id: the key's id there.
        kms_props: properties for the service's client.
        doc: a description.
        shared: whether the registry itself may use the key, and so makes and decrypts data keys.
        ts: when it was made, milliseconds since 1970-01-01 UTC.
        deleted: whether it was deleted softly.
    """

    name: str
    kms_type: str
    kms_key_id: str
    kms_props: Mapping[str, str] | None = None
    doc: str | None = None
    shared: bool = False
    ts: int | None = None
    deleted: bool = False

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Kek:
        """Reads the REST form.

        Raises:
            KeyError: it lacks its name, its type or the key's id.
        """
        return cls(
            name=src_dict["name"],
            kms_type=src_dict["kmsType"],
            kms_key_id=src_dict["kmsKeyId"],
            kms_props=None if src_dict.get("kmsProps") is None else KekKmsProps(src_dict["kmsProps"]),
            doc=src_dict.get("doc"),
            shared=bool(src_dict.get("shared", False)),
            ts=src_dict.get("ts"),
            deleted=bool(src_dict.get("deleted", False)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return given(
            name=self.name,
            kmsType=self.kms_type,
            kmsKeyId=self.kms_key_id,
            kmsProps=None if self.kms_props is None else dict(self.kms_props),
            doc=self.doc,
            shared=self.shared,
            ts=self.ts,
            deleted=self.deleted or None,
        )


@dataclass(frozen=True, slots=True)
class Dek:
    """A data key of a subject.

    Attributes:
        kek_name: what it is encrypted with.
        subject: whose values it encrypts.
        version: from 1; a rotation makes the next.
        algorithm: what it is for.
        encrypted_key_material: the encrypted key, base64; None if only the registry has it.
        key_material: the key, base64; only from a registry that shares the key-encryption key.
        ts: when it was made, milliseconds since 1970-01-01 UTC.
        deleted: whether it was deleted softly.
    """

    kek_name: str
    subject: str
    version: int
    algorithm: DekAlgorithm
    encrypted_key_material: str | None = None
    key_material: str | None = field(default=None, repr=False)
    ts: int | None = None
    deleted: bool = False

    @property
    def encrypted_key(self) -> bytes | None:
        """The encrypted key."""
        return None if self.encrypted_key_material is None else base64.b64decode(self.encrypted_key_material)

    @property
    def key(self) -> bytes | None:
        """The key itself, if it is known."""
        return None if self.key_material is None else base64.b64decode(self.key_material)

    def get_encrypted_key_material_bytes(self) -> bytes | None:
        """`encrypted_key`, as in confluent_kafka."""
        return self.encrypted_key

    def get_key_material_bytes(self) -> bytes | None:
        """`key`, as in confluent_kafka."""
        return self.key

    def set_key_material(self, key_material_bytes: bytes | None) -> None:
        """Keeps the key itself, or forgets it (None), as confluent_kafka has it; `with_key` makes another object."""
        text = None if key_material_bytes is None else base64.b64encode(key_material_bytes).decode()
        object.__setattr__(self, "key_material", text)

    def with_key(self, key: bytes) -> Dek:
        """The same with the key."""
        return replace(self, key_material=base64.b64encode(key).decode())

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Dek:
        """Reads the REST form.

        Raises:
            KeyError: a field is missing.
            ValueError: an unknown algorithm.
        """
        return cls(
            kek_name=src_dict["kekName"],
            subject=src_dict["subject"],
            version=whole_number(src_dict.get("version", 1)),
            algorithm=DekAlgorithm(src_dict["algorithm"]),
            encrypted_key_material=src_dict.get("encryptedKeyMaterial"),
            key_material=src_dict.get("keyMaterial"),
            ts=src_dict.get("ts"),
            deleted=bool(src_dict.get("deleted", False)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return given(
            kekName=self.kek_name,
            subject=self.subject,
            version=self.version,
            algorithm=self.algorithm.value,
            encryptedKeyMaterial=self.encrypted_key_material,
            keyMaterial=self.key_material,
            ts=self.ts,
            deleted=self.deleted or None,
        )


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
