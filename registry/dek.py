"""The clients of the DEK registry, which keeps the encryption keys of fields and payloads."""

from registry.client.aio_dek import AsyncDekRegistryClient
from registry.client.dek import DekRegistryClient
from registry.dek_models import Dek, DekAlgorithm, Kek

__all__ = ["AsyncDekRegistryClient", "Dek", "DekAlgorithm", "DekRegistryClient", "Kek"]
