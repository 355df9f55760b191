"""Key management services, which encrypt the data keys: one small interface, a driver for each service.

Must not know of data keys or rules. A key is named by a URL, `<type>://<key id>`; the prefixes are confluent_kafka's.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from typing import Any, Final, Protocol

from serdes.rules.model import RuleError

BUILT_IN: Final = {
    "local-kms://": ("serdes.encryption.local", "LocalKmsDriver"),
    "hcvault://": ("serdes.encryption.vault", "HcVaultKmsDriver"),
    "aws-kms://": ("serdes.encryption.aws", "AwsKmsDriver"),
    "azure-kms://": ("serdes.encryption.azure", "AzureKmsDriver"),
    "gcp-kms://": ("serdes.encryption.gcp", "GcpKmsDriver"),
}


class KmsClient(Protocol):
    """One key-encryption key in a service. Threads may share it. If it has a `close()`, that is called in the end."""

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key.

        Raises:
            RuleError: the service refuses, or can't be reached (with `away`).
        """
        ...

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key.

        Raises:
            RuleError: the service refuses, can't be reached (with `away`), or this was encrypted with another key.
        """
        ...


class KmsDriver(Protocol):
    """A kind of service."""

    def get_key_url_prefix(self) -> str:
        """The beginning of URLs of its keys, e.g. `local-kms://`."""
        ...

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        """A client for one key.

        Args:
            conf: the rule configuration of the serializer, with the properties of the key-encryption key over it.
            key_url: the key.

        Raises:
            RuleError: the key's name or the configuration can't be used, or the service's extra is not installed.
        """
        ...


def is_outage(error: BaseException) -> bool:
    """Whether an error of a service's client says nothing about the data key: nobody was reached, or let in.

    Args:
        error: a RuleError, which says it itself; of anything else it is looked for what the network gave.
    """
    if isinstance(error, RuleError):
        return error.away
    found: BaseException | None = error
    while found is not None and not isinstance(found, OSError):
        found = found.__cause__ or found.__context__
    return found is not None


_registered: list[KmsDriver] = []
_lock = threading.Lock()


def register_kms_driver(driver: KmsDriver) -> None:
    """Adds a driver; it precedes the built-in one of the same prefix, and those added earlier."""
    with _lock:
        _registered.insert(0, driver)


def reset_kms_drivers() -> None:
    """Removes the drivers that were added."""
    with _lock:
        _registered.clear()


def kms_driver(key_url: str) -> KmsDriver:
    """The driver for a key.

    Raises:
        RuleError: there is none, or the driver's extra is not installed.
    """
    with _lock:
        found = [driver for driver in _registered if key_url.startswith(driver.get_key_url_prefix())]
    if found:
        return found[0]
    for prefix, (module, name) in BUILT_IN.items():
        if key_url.startswith(prefix):
            driver: KmsDriver = getattr(importlib.import_module(module), name)()
            return driver
    known = ", ".join(BUILT_IN)
    raise RuleError(f"no KMS driver for key {key_url!r}: built in are {known}; register_kms_driver adds others")
