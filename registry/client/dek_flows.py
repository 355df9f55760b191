"""The operations of the DEK registry, written once, and what is remembered of its keys.

Must not know of HTTP libraries, event loops or encryption: data keys pass through as the registry keeps them. Source:
Confluent's DEK registry REST API, `/dek-registry/v1`.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import cachetools

from kserdes_base.forks import share_no_fork
from registry.client.flows import read
from registry.client.steps import Call, Flow, segment, send
from registry.dek_models import Dek, DekAlgorithm, Kek, given
from registry.errors import ResponseError, SchemaRegistryError

T = TypeVar("T")
Key = tuple[Any, ...]
KEKS = "/dek-registry/v1/keks"
NEWEST: Final = -1
"""As a version: the newest one."""
BELIEVED_S: Final = 300.0
"""Default for how many seconds changeable facts (a key-encryption key, the newest data key) are believed."""
RETRY_S: Final = 30.0
"""Further seconds of belief while the registry has no answer."""
CAPACITY: Final = 10_000
log = logging.getLogger("registry")


class DekFlows:
    """The operations as flows, with one cache. Threads may share it.

    Args:
        latest_ttl_s: for how long what may change is believed; infinite: `BELIEVED_S`.
        clock: the time, in seconds from any point.
    """

    def __init__(self, latest_ttl_s: float, clock: Callable[[], float]) -> None:
        self._ttl_s = BELIEVED_S if math.isinf(latest_ttl_s) else latest_ttl_s
        self._clock = clock
        self._open()
        share_no_fork(self)

    def _open(self) -> None:
        self._lock = threading.Lock()  # held for a few instructions, never while somebody waits for an answer
        self._cache: cachetools.LRUCache[Key, tuple[Any, float]] = cachetools.LRUCache(CAPACITY)

    def _after_fork(self) -> None:
        self._open()

    # --- what is known

    def known_kek(self, name: str, deleted: bool, context: str | None) -> Kek | None:
        """A key-encryption key from the cache; None if it has to be looked up."""
        found: Kek | None = self._fresh(("kek", name, deleted, context))
        return found

    def known_dek(
        self, kek_name: str, subject: str, algorithm: DekAlgorithm, version: int, deleted: bool
    ) -> Dek | None:
        """A data key from the cache; None if it has to be looked up."""
        found: Dek | None = self._fresh(("dek", kek_name, subject, algorithm, version, deleted))
        return found

    def forget_newest(self, kek_name: str, subject: str, algorithm: DekAlgorithm) -> None:
        """Forgets the newest data key."""
        with self._lock:
            for deleted in (False, True):
                self._cache.pop(("dek", kek_name, subject, algorithm, NEWEST, deleted), None)

    # --- operations

    def register_kek(self, kek: Kek, context: str | None) -> Flow[Kek]:
        """Registers a key-encryption key."""
        made = yield from _asked(Call("POST", KEKS, given(context=context), kek.to_dict()), Kek.from_dict)
        return self._keep(("kek", kek.name, False, context), made)

    def get_kek(self, name: str, deleted: bool, context: str | None) -> Flow[Kek]:
        """Looks a key-encryption key up."""
        call = Call("GET", f"{KEKS}/{segment(name)}", given(deleted=deleted, context=context))
        return (yield from self._looked_up(("kek", name, deleted, context), call, Kek.from_dict))

    def register_dek(
        self,
        kek_name: str,
        subject: str,
        encrypted_key_material: str | None,
        algorithm: DekAlgorithm,
        version: int,
    ) -> Flow[Dek]:
        """Registers a data key."""
        body = given(
            subject=subject,
            version=version,
            algorithm=DekAlgorithm(algorithm).value,
            encryptedKeyMaterial=encrypted_key_material,
        )
        path = f"{KEKS}/{segment(kek_name)}/deks"
        try:
            made = yield from _asked(Call("POST", f"{path}/{segment(subject)}", body=body), Dek.from_dict)
        except ResponseError as error:
            if error.http_status_code != 405:  # older registries have no subject in the path
                raise
            made = yield from _asked(Call("POST", path, body=body), Dek.from_dict)
        self.forget_newest(kek_name, subject, algorithm)
        return self._keep(("dek", kek_name, subject, algorithm, version, False), made)

    def get_dek(self, kek_name: str, subject: str, algorithm: DekAlgorithm, version: int, deleted: bool) -> Flow[Dek]:
        """Looks a data key up."""
        path = f"{KEKS}/{segment(kek_name)}/deks/{segment(subject)}/versions/{version}"
        call = Call("GET", path, given(algorithm=DekAlgorithm(algorithm).value, deleted=deleted))
        key = ("dek", kek_name, subject, algorithm, version, deleted)
        return (yield from self._looked_up(key, call, Dek.from_dict))

    # --- the cache

    def _fresh(self, key: Key) -> Any:
        with self._lock:
            known: tuple[Any, float] | None = self._cache.get(key)
        return known[0] if known is not None and self._clock() < known[1] else None

    def _looked_up(self, key: Key, call: Call, make: Callable[[Mapping[str, Any]], T]) -> Flow[T]:
        """Asks the registry; if it does not answer, the cached value is used."""
        try:
            return self._keep(key, (yield from _asked(call, make)))
        except SchemaRegistryError as error:
            with self._lock:
                known: tuple[T, float] | None = self._cache.get(key)
                if known is None:
                    raise
                if not error.retriable:
                    self._cache.pop(key, None)
                    raise
                self._cache[key] = (known[0], self._clock() + RETRY_S)
            log.warning("%s can't be looked up again, the old answer is used: %s", call.path, error)
            return known[0]

    def _keep(self, key: Key, value: T) -> T:
        lasts = key[0] == "dek" and key[4] != NEWEST
        with self._lock:
            self._cache[key] = (value, math.inf if lasts else self._clock() + self._ttl_s)
        return value


def _asked(call: Call, make: Callable[[Mapping[str, Any]], T]) -> Flow[T]:
    return read((yield from send(call)), make)
