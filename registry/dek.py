"""The client of the DEK registry, which keeps the encryption keys of fields and payloads."""

from registry.client.dek import (
    Dek,
    DekAlgorithm,
    DekRegistryClient,
    Kek,
)

__all__ = [
    "Dek",
    "DekAlgorithm",
    "DekRegistryClient",
    "Kek",
]
