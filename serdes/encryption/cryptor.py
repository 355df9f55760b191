"""Encrypting with a data key: the three algorithms, and the form in which a data key is kept.

Must not know where keys come from. Bytes are those of Tink's raw keys, so that other clients read them. Source:
Tink's `AesGcmKey` and `AesSivKey` messages (a data key is one of these, serialized), NIST SP 800-38D, RFC 5297.
"""

from __future__ import annotations

import os
from typing import ClassVar, Final, Protocol

from kserdes_base.extras import needed
from registry.dek_models import DekAlgorithm
from serdes.rules.model import RuleError

NONCE_BYTES: Final = 12
KEY_BYTES: Final = {DekAlgorithm.AES128_GCM: 16, DekAlgorithm.AES256_GCM: 32, DekAlgorithm.AES256_SIV: 64}
KEY_FIELD: Final = {DekAlgorithm.AES128_GCM: 3, DekAlgorithm.AES256_GCM: 3, DekAlgorithm.AES256_SIV: 2}
"""Number of the field that holds the key in Tink's message; its wire type is 2, bytes."""


class _Aead(Protocol):
    def encrypt(self, plaintext: bytes, associated: bytes) -> bytes: ...

    def decrypt(self, ciphertext: bytes, associated: bytes) -> bytes: ...


class Cryptor:
    """Encrypts and decrypts with one algorithm.

    Args:
        dek_format: AES128_GCM and AES256_GCM differ each time; AES256_SIV gives equal bytes for equal values.

    Attributes:
        is_deterministic: whether equal values give equal bytes.

    Raises:
        RuleError: the extra `encryption` is not installed.
    """

    EMPTY_AAD: ClassVar[bytes] = b""

    def __init__(self, dek_format: DekAlgorithm) -> None:
        self.dek_format = dek_format
        self.is_deterministic = dek_format is DekAlgorithm.AES256_SIV
        self._aead = needed("cryptography.hazmat.primitives.ciphers.aead", "encryption", RuleError)
        self._exceptions = needed("cryptography.exceptions", "encryption", RuleError)

    def generate_key(self) -> bytes:
        """A new data key, from the system's random source."""
        return write_key(self.dek_format, os.urandom(KEY_BYTES[self.dek_format]))

    def encrypt(self, dek: bytes, plaintext: bytes, associated_data: bytes = EMPTY_AAD) -> bytes:
        """Encrypts. The associated data is needed to decrypt, and not part of the result.

        Raises:
            RuleError: the data key is not one of this algorithm.
        """
        return self._primitive(dek).encrypt(plaintext, associated_data)

    def decrypt(self, dek: bytes, ciphertext: bytes, associated_data: bytes = EMPTY_AAD) -> bytes:
        """Decrypts.

        Raises:
            RuleError: the data key is not one of this algorithm, or not the one this was encrypted with, or the bytes
                were changed.
        """
        try:
            return self._primitive(dek).decrypt(ciphertext, associated_data)
        except self._exceptions.InvalidTag:
            raise RuleError(
                f"the value can't be decrypted: it was encrypted with another data key, or its {len(ciphertext)} bytes "
                "are damaged"
            ) from None

    def _primitive(self, dek: bytes) -> _Aead:
        key = read_key(self.dek_format, dek)
        if self.is_deterministic:
            return _Siv(self._aead.AESSIV(key))
        return _Gcm(self._aead.AESGCM(key))


class _Gcm:
    """A nonce, the encrypted value, a tag of 16 bytes."""

    def __init__(self, primitive: _GcmPrimitive) -> None:
        self._primitive = primitive

    def encrypt(self, plaintext: bytes, associated: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._primitive.encrypt(nonce, plaintext, associated)

    def decrypt(self, ciphertext: bytes, associated: bytes) -> bytes:
        if len(ciphertext) < NONCE_BYTES + 16:
            raise RuleError(f"the encrypted value has {len(ciphertext)} bytes, a nonce and a tag alone have 28")
        return self._primitive.decrypt(ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:], associated)


class _Siv:
    """The synthetic vector of 16 bytes, the encrypted value."""

    def __init__(self, primitive: _SivPrimitive) -> None:
        self._primitive = primitive

    def encrypt(self, plaintext: bytes, associated: bytes) -> bytes:
        return self._primitive.encrypt(plaintext, [associated])

    def decrypt(self, ciphertext: bytes, associated: bytes) -> bytes:
        if len(ciphertext) < 16:
            raise RuleError(f"the encrypted value has {len(ciphertext)} bytes, its synthetic vector alone has 16")
        return self._primitive.decrypt(ciphertext, [associated])


class _GcmPrimitive(Protocol):
    def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes) -> bytes: ...

    def decrypt(self, nonce: bytes, data: bytes, associated_data: bytes) -> bytes: ...


class _SivPrimitive(Protocol):
    def encrypt(self, data: bytes, associated_data: list[bytes]) -> bytes: ...

    def decrypt(self, data: bytes, associated_data: list[bytes]) -> bytes: ...


def write_key(algorithm: DekAlgorithm, key: bytes) -> bytes:
    """The key as Tink's message: its version (0) is left out, as Protobuf does with defaults."""
    return bytes((KEY_FIELD[algorithm] << 3 | 2, len(key))) + key


def read_key(algorithm: DekAlgorithm, dek: bytes) -> bytes:
    """The key of a serialized Tink message.

    Raises:
        RuleError: these bytes are no key of this algorithm.
    """
    tag, size = KEY_FIELD[algorithm] << 3 | 2, KEY_BYTES[algorithm]
    body = dek[2:] if dek[:2] == b"\x08\x00" else dek  # a version of 0 may be written out
    if len(body) != size + 2 or body[0] != tag or body[1] != size:
        raise RuleError(f"the data key of {len(dek)} bytes is not one of {algorithm.value}")
    return body[2:]
