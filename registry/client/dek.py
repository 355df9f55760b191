"""The DEK registry: key-encryption keys (KEKs) and data-encryption keys (DEKs) of encrypted fields and payloads.

Must not know of encryption: data keys pass through as the registry keeps them. Names are those of confluent_kafka's
`DekRegistryClient`. Source: Confluent's DEK registry REST API, `/dek-registry/v1`.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, TypeVar
from urllib.parse import quote

import cachetools

from registry.client.blocking import SchemaRegistryClient, share_no_fork
from registry.client.config import ClientConfig
from registry.client.flows import read
from registry.client.steps import Call, Flow, send
from registry.dek_models import Dek, DekAlgorithm, Kek, given
from registry.errors import ResponseError, SchemaRegistryError

__all__ = ["Dek", "DekAlgorithm", "DekRegistryClient", "Kek"]

T = TypeVar("T")
KEKS = "/dek-registry/v1/keks"
NEWEST = -1
"""As a version: the newest one."""
BELIEVED_S: Final = 300.0
"""How long what may change (a key-encryption key, which data key is the newest) is believed, if not configured."""
RETRY_S: Final = 30.0
"""How long it is believed further while the registry has no answer."""
log = logging.getLogger("registry")


class DekRegistryClient:
    """A client of a DEK registry. Threads may share it.

    What it finds is cached: data keys of a version for good; key-encryption keys and which data key is the newest for
    `cache.latest.ttl.sec` (300 s if not set), and longer while the registry has no answer. A registration replaces the
    cached newest data key.

    Args:
        conf: properties of `SchemaRegistryClient`; a `mock://name` registry has data keys too.
        clock: the time, in seconds from any point; for the age of what is cached.

    Raises:
        ValueError, TypeError: as `SchemaRegistryClient`.
    """

    def __init__(self, conf: Mapping[str, Any], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = SchemaRegistryClient(dict(conf))
        ttl_s = ClientConfig.parse(conf).latest_ttl_s
        self._ttl_s = BELIEVED_S if math.isinf(ttl_s) else ttl_s
        self._clock = clock
        self._open()
        share_no_fork(self)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._cache: cachetools.LRUCache[tuple[Any, ...], tuple[Any, float]] = cachetools.LRUCache(10_000)

    def _after_fork(self) -> None:
        self._open()

    def __enter__(self) -> DekRegistryClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def new_client(conf: Mapping[str, Any]) -> DekRegistryClient:
        """A client for this configuration."""
        return DekRegistryClient(conf)

    def config(self) -> dict[str, object]:
        """The configuration the client was made with (a copy; it may hold secrets)."""
        return self._client.config()

    def close(self) -> None:
        """Closes all connections."""
        self._client.close()

    def register_kek(
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
        body = Kek(name, kms_type, kms_key_id, kms_props, doc, shared).to_dict()
        call = Call("POST", KEKS, given(context=context), body)
        return self._keep(("kek", name, False, context), self._ask(call, Kek.from_dict))

    def get_kek(self, name: str, deleted: bool = False, context: str | None = None) -> Kek:
        """A key-encryption key by name; cached.

        Raises:
            ResponseError: there is none (40470).
        """
        call = Call("GET", f"{KEKS}/{quote(name, safe='')}", given(deleted=deleted, context=context))
        return self._cached(("kek", name, deleted, context), call, Kek.from_dict)

    def register_dek(
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
        body = given(
            subject=subject,
            version=version,
            algorithm=DekAlgorithm(algorithm).value,
            encryptedKeyMaterial=encrypted_key_material,
        )
        path = f"{KEKS}/{quote(kek_name, safe='')}/deks"
        try:
            made = self._ask(Call("POST", f"{path}/{quote(subject, safe='')}", body=body), Dek.from_dict)
        except ResponseError as error:
            if error.http_status_code != 405:  # older registries have no subject in the path
                raise
            made = self._ask(Call("POST", path, body=body), Dek.from_dict)
        self.forget_newest(kek_name, subject, algorithm)
        return self._keep(("dek", kek_name, subject, algorithm, version, False), made)

    def get_dek(
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
        path = f"{KEKS}/{quote(kek_name, safe='')}/deks/{quote(subject, safe='')}/versions/{version}"
        call = Call("GET", path, given(algorithm=DekAlgorithm(algorithm).value, deleted=deleted))
        return self._cached(("dek", kek_name, subject, algorithm, version, deleted), call, Dek.from_dict)

    def forget_newest(self, kek_name: str, subject: str, algorithm: DekAlgorithm) -> None:
        """Forgets which data key is the newest."""
        with self._lock:
            for deleted in (False, True):
                self._cache.pop(("dek", kek_name, subject, algorithm, NEWEST, deleted), None)

    def _ask(self, call: Call, make: Callable[[Mapping[str, Any]], T]) -> T:
        def flow() -> Flow[T]:
            return read((yield from send(call)), make)

        return self._client._drive(flow())

    def _cached(self, key: tuple[Any, ...], call: Call, make: Callable[[Mapping[str, Any]], T]) -> T:
        with self._lock:
            known: tuple[T, float] | None = self._cache.get(key)
        if known is None:
            return self._keep(key, self._ask(call, make))
        value, stale_at_s = known
        if self._clock() < stale_at_s:
            return value
        try:
            return self._keep(key, self._ask(call, make))
        except SchemaRegistryError as error:
            if not error.retriable:
                with self._lock:
                    self._cache.pop(key, None)
                raise
            log.warning("%s can't be looked up again, what was known is used on: %s", call.path, error)
            with self._lock:
                self._cache[key] = (value, self._clock() + RETRY_S)
            return value

    def _keep(self, key: tuple[Any, ...], value: T) -> T:
        lasts = key[0] == "dek" and key[4] != NEWEST
        with self._lock:
            self._cache[key] = (value, math.inf if lasts else self._clock() + self._ttl_s)
        return value
