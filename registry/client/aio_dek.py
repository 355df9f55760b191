"""The DEK registry's asyncio client: key-encryption keys (KEKs) and data-encryption keys (DEKs).

Must not know what an operation does (`dek_flows`). `tools/generate_twins.py` writes the client that waits from the one
that awaits; names are those of confluent_kafka's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from registry.client.aio import AsyncSchemaRegistryClient
from registry.client.config import ClientConfig
from registry.client.dek_flows import DekFlows
from registry.dek_models import Dek, DekAlgorithm, Kek


class AsyncDekRegistryClient:
    """The asyncio client of a DEK registry.

    What it finds is cached: data keys of a version for good; key-encryption keys and which data key is the newest for
    `cache.latest.ttl.sec` (300 s if not set), and longer while the registry has no answer. A registration replaces the
    cached newest data key.

    Args:
        conf: properties of `AsyncSchemaRegistryClient`; a `mock://name` registry has data keys too.
        clock: the time, in seconds from any point; for the age of what is cached.

    Raises:
        ValueError, TypeError: as `AsyncSchemaRegistryClient`.
    """

    def __init__(self, conf: Mapping[str, Any], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = AsyncSchemaRegistryClient(dict(conf))
        self._flows = DekFlows(ClientConfig.parse(conf).latest_ttl_s, clock)

    async def __aenter__(self) -> AsyncDekRegistryClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> AsyncDekRegistryClient:
        """A client for this configuration."""
        return AsyncDekRegistryClient(conf)

    def config(self) -> dict[str, object]:
        """The configuration the client was made with (a copy; it may hold secrets)."""
        return self._client.config()

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    async def register_kek(
        self,
        name: str,
        kms_type: str,
        kms_key_id: str,
        shared: bool = False,
        kms_props: Mapping[str, str] | None = None,
        doc: str | None = None,
        context: str | None = None,
    ) -> Kek:
        """Registers a key-encryption key.

        Args:
            name: its name here.
            kms_type: kind of the service.
            kms_key_id: the key's id there.
            shared: whether the registry may use it.
            kms_props: properties for the service's client.
            doc: a description.
            context: registry context; None is the default one.

        Raises:
            ResponseError: it is there with other values (409).
        """
        kek = Kek(name, kms_type, kms_key_id, kms_props, doc, shared)
        return await self._client._drive(self._flows.register_kek(kek, context))

    async def get_kek(self, name: str, deleted: bool = False, context: str | None = None) -> Kek:
        """A key-encryption key by name; cached.

        Raises:
            ResponseError: there is none (40470).
        """
        known = self._flows.known_kek(name, deleted, context)
        if known is not None:
            return known
        return await self._client._drive(self._flows.get_kek(name, deleted, context))

    async def register_dek(
        self,
        kek_name: str,
        subject: str,
        encrypted_key_material: str | None,
        algorithm: DekAlgorithm = DekAlgorithm.AES256_GCM,
        version: int = 1,
    ) -> Dek:
        """Registers a data key.

        Args:
            kek_name: what it is encrypted with.
            subject: whose values it encrypts.
            encrypted_key_material: the encrypted key, base64; None if the registry is to make one (shared keys).
            algorithm: what it is for.
            version: from 1.

        Raises:
            ResponseError: that version is there with another key (409), or there is no such key-encryption key.
        """
        return await self._client._drive(
            self._flows.register_dek(kek_name, subject, encrypted_key_material, algorithm, version)
        )

    async def get_dek(
        self,
        kek_name: str,
        subject: str,
        algorithm: DekAlgorithm = DekAlgorithm.AES256_GCM,
        version: int = 1,
        deleted: bool = False,
    ) -> Dek:
        """A data key; cached.

        Args:
            kek_name: what it is encrypted with.
            subject: whose values it encrypts.
            algorithm: what it is for.
            version: from 1; -1 is the newest.
            deleted: whether one that was deleted softly will do.

        Raises:
            ResponseError: there is none (40470).
        """
        known = self._flows.known_dek(kek_name, subject, algorithm, version, deleted)
        if known is not None:
            return known
        return await self._client._drive(self._flows.get_dek(kek_name, subject, algorithm, version, deleted))

    def forget_newest(self, kek_name: str, subject: str, algorithm: DekAlgorithm) -> None:
        """Forgets the newest data key."""
        self._flows.forget_newest(kek_name, subject, algorithm)
