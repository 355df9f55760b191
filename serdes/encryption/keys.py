"""Finds, creates, decrypts and rotates the data keys that values are encrypted with.

Must not know of fields. Source: the behaviour of confluent_kafka's encryption rules: `encrypt.kek.name`,
`encrypt.kms.type`, `encrypt.kms.key.id`, `encrypt.dek.algorithm`, `encrypt.dek.expiry.days`,
`encrypt.alternate.kms.key.ids`.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import cachetools

from registry import RuleMode, SchemaRegistryError
from registry.client.dek import DekRegistryClient
from registry.client.dek_flows import NEWEST
from registry.dek_models import Dek, DekAlgorithm, Kek
from serdes.encryption.cryptor import Cryptor
from serdes.encryption.kms import KmsClient, is_outage, kms_driver
from serdes.rules.model import RuleContext, RuleError

ALTERNATES: Final = "encrypt.alternate.kms.key.ids"
MS_PER_DAY: Final = 24 * 60 * 60 * 1000
PAUSE_MS: Final = 30_000
"""Milliseconds for which a data key is used on, once the next one could not be made."""
KEYS: Final = 10_000
"""The most decrypted data keys that are kept (in memory only)."""
REFUSALS: Final = (400, 409, 422)
"""Statuses of a registry that are about what is asked for; others are about who asks, or the registry."""
log = logging.getLogger("serdes")


@dataclass(frozen=True, slots=True)
class KeySettings:
    """A rule's settings of its keys.

    Attributes:
        kek_name: the key-encryption key.
        algorithm: how values are encrypted.
        expiry_days: age at which the next data key is made; 0 for never. If it is set, encrypted values name their
            data key's version.
        kms_type: service of the key-encryption key, needed to make one.
        kms_key_id: its id there.
    """

    kek_name: str
    algorithm: DekAlgorithm = DekAlgorithm.AES256_GCM
    expiry_days: int = 0
    kms_type: str | None = None
    kms_key_id: str | None = None

    @classmethod
    def of(cls, ctx: RuleContext) -> KeySettings:
        """Reads the parameters of a rule.

        Raises:
            RuleError: no name of a key-encryption key, an unknown algorithm, or an age that is no whole number from 0.
        """
        name = ctx.get_parameter("encrypt.kek.name")
        if not name:
            raise RuleError(f"rule {ctx.rule.name!r}: encrypt.kek.name is not set")
        algorithm = ctx.get_parameter("encrypt.dek.algorithm") or DekAlgorithm.AES256_GCM.value
        if algorithm not in DekAlgorithm.__members__:
            raise RuleError(f"encrypt.dek.algorithm {algorithm!r} is unknown: {', '.join(DekAlgorithm)}")
        days = ctx.get_parameter("encrypt.dek.expiry.days") or "0"
        if not days.isdecimal():
            raise RuleError(f"encrypt.dek.expiry.days must be a whole number from 0, not {days!r}")
        return cls(
            name,
            DekAlgorithm(algorithm),
            int(days),
            ctx.get_parameter("encrypt.kms.type"),
            ctx.get_parameter("encrypt.kms.key.id"),
        )

    @property
    def rotates(self) -> bool:
        """Whether data keys have an age."""
        return self.expiry_days > 0


class KeyServices:
    """Encrypts and decrypts data keys through key services. Threads may share it.

    Args:
        conf: what the services' drivers need; the properties of a key-encryption key are put over it.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        self._conf = conf
        self._services: dict[tuple[str, frozenset[tuple[str, str]]], KmsClient] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the services' clients."""
        with self._lock:
            services, self._services = list(self._services.values()), {}
        for service in services:
            close = getattr(service, "close", None)  # a driver of one's own need not have it
            try:
                if close is not None:
                    close()
            except Exception:
                log.warning("the client of a key service could not be closed", exc_info=True)

    def call(self, kek: Kek, operation: str, data: bytes) -> bytes:
        """Encrypts or decrypts a data key, with the alternate keys if the first one does not do.

        Raises:
            RuleError: none does.
        """
        conf = {**self._conf, **(kek.kms_props or {})}
        ids = [kek.kms_key_id, *(part.strip() for part in str(conf.get(ALTERNATES) or "").split(","))]
        failures: list[Exception] = []
        away = False
        for key_id in filter(None, ids):
            service: KmsClient | None = None
            try:
                service = self._service(f"{kek.kms_type}://{key_id}", conf)
                result: bytes = getattr(service, operation)(data)
                return result
            except Exception as error:  # of a driver of one's own it may be any; the next key may do
                log.warning("%s of a data key with %s, key id %s failed: %s", operation, kek.name, key_id, error)
                failures.append(error)
                away = away or service is None or is_outage(error)
        reasons = "; ".join(str(failure) for failure in failures)
        raise RuleError(f"failed to {operation} with all KEKs for {kek.name}: {reasons}", away=away) from failures[0]

    def _service(self, key_url: str, conf: Mapping[str, Any]) -> KmsClient:
        known = (key_url, frozenset((name, str(value)) for name, value in conf.items()))
        with self._lock:
            service = self._services.get(known)
        if service is None:
            made = kms_driver(key_url).new_kms_client(conf, key_url)
            service = made if hasattr(made, "encrypt") else TinkKmsClient(made, key_url)
            with self._lock:  # of two that were made at once the first stays
                service = self._services.setdefault(known, service)
        return service


class KeyRing:
    """Finds and makes keys. Threads may share it.

    Args:
        client: the DEK registry.
        rule_conf: the serializer's rule configuration: what the services' drivers need.
        now_ms: the time, milliseconds since 1970-01-01 UTC.
    """

    def __init__(self, client: DekRegistryClient, rule_conf: Mapping[str, Any], now_ms: Callable[[], int]) -> None:
        self._client = client
        self._now_ms = now_ms
        self._services = KeyServices(rule_conf)
        self._keys: cachetools.LRUCache[tuple[str, str, str], bytes] = cachetools.LRUCache(KEYS)
        self._failed_ms: cachetools.LRUCache[tuple[str, str, str], int] = cachetools.LRUCache(KEYS)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Forgets the keys and closes the services' clients."""
        with self._lock:
            self._keys.clear()
        self._services.close()

    def dek(self, ctx: RuleContext, settings: KeySettings, version: int | None) -> tuple[Dek, bytes]:
        """The data key for a value, and the key itself.

        Args:
            ctx: subject, and whether a value is written or read.
            settings: the rule's keys.
            version: the version a value names; None for the one (reading) or the one to use (writing).

        Raises:
            RuleError: a key is missing and can't be made, or the registry or the service refuses.
        """
        reading = ctx.rule_mode is RuleMode.READ
        kek = self._kek(ctx, settings, reading)
        wanted = (NEWEST if settings.rotates and not reading else 1) if version is None else version
        found = self._find(kek, ctx.subject, settings.algorithm, wanted, reading)
        if found is None and reading:
            raise RuleError(f"there is no data key of {kek.name!r} for subject {ctx.subject!r}, version {wanted}")
        if found is None:
            found = self._make(kek, ctx.subject, settings.algorithm, 1)
        elif not reading and self._too_old(found, settings):
            found = self._next(kek, found)
        return found, self._key(kek, found)

    def _key(self, kek: Kek, dek: Dek) -> bytes:
        """A data key's key: the registry's, one that is known, or decrypted by the service."""
        key = dek.key
        if key is not None:
            return key
        material = dek.encrypted_key_material
        if material is None:
            raise RuleError(f"the data key of {kek.name!r} for subject {dek.subject!r} has no key material")
        with self._lock:
            key = self._keys.get((kek.kms_type, kek.kms_key_id, material))
        if key is None:
            key = self._services.call(kek, "decrypt", base64.b64decode(material))
            self._keep(kek, material, key)
        return key

    def _keep(self, kek: Kek, material: str, key: bytes) -> None:
        with self._lock:
            self._keys[kek.kms_type, kek.kms_key_id, material] = key

    # --- the key-encryption key

    def _kek(self, ctx: RuleContext, settings: KeySettings, reading: bool) -> Kek:
        context = context_of(ctx.subject)
        kek = self._known_kek(settings.kek_name, context)
        if kek is None:
            if reading or not settings.kms_type or not settings.kms_key_id:
                lacking = "" if reading else "; to make it encrypt.kms.type and encrypt.kms.key.id must be set"
                raise RuleError(f"there is no key-encryption key {settings.kek_name!r}{lacking}")
            kek = self._new_kek(settings.kek_name, settings.kms_type, settings.kms_key_id, context)
        for what, asked, has in (
            ("encrypt.kms.type", settings.kms_type, kek.kms_type),
            ("encrypt.kms.key.id", settings.kms_key_id, kek.kms_key_id),
        ):
            if asked and asked != has:
                raise RuleError(f"key-encryption key {kek.name!r} has {what} {has!r}, the rule says {asked!r}")
        return kek

    def _known_kek(self, name: str, context: str | None) -> Kek | None:
        try:
            return self._client.get_kek(name, context=context)
        except SchemaRegistryError as error:
            if error.not_found:
                return None
            raise RuleError(
                f"key-encryption key {name!r} can't be looked up: {error}", away=_unanswered(error)
            ) from error

    def _new_kek(self, name: str, kms_type: str, kms_key_id: str, context: str | None) -> Kek:
        try:
            return self._client.register_kek(name, kms_type, kms_key_id, context=context)
        except SchemaRegistryError as error:
            found = self._known_kek(name, context) if error.http_status_code == 409 else None  # somebody was faster
            if found is None:
                text = f"key-encryption key {name!r} can't be registered: {error}"
                raise RuleError(text, away=error.retriable) from error
            return found

    # --- the data key

    def _find(self, kek: Kek, subject: str, algorithm: DekAlgorithm, version: int, deleted: bool) -> Dek | None:
        try:
            found = self._client.get_dek(kek.name, subject, algorithm, version, deleted)
        except SchemaRegistryError as error:
            if error.not_found:
                return None
            text = f"the data key of {kek.name!r}, {subject!r} can't be looked up: {error}"
            raise RuleError(text, away=_unanswered(error)) from error
        return found if found.encrypted_key_material or found.key_material else None

    def _too_old(self, dek: Dek, settings: KeySettings) -> bool:
        """Whether the next data key is due; a registry that does not say when one was made gets no new ones."""
        if not settings.rotates or dek.ts is None:
            return False
        return self._now_ms() - dek.ts > settings.expiry_days * MS_PER_DAY

    def _next(self, kek: Kek, current: Dek) -> Dek:
        """The data key after `current`; while it can't be made `current`, and none is tried for `PAUSE_MS`."""
        key = (kek.name, current.subject, current.algorithm.value)
        with self._lock:
            failed_ms = self._failed_ms.get(key)
        if failed_ms is not None and 0 <= self._now_ms() - failed_ms < PAUSE_MS:
            return current
        try:
            return self._make(kek, current.subject, current.algorithm, current.version + 1)
        except RuleError as error:
            with self._lock:
                self._failed_ms[key] = self._now_ms()
            log.warning("data key %d of %s is used on for %d s: %s", current.version, kek.name, PAUSE_MS // 1000, error)
            return current

    def _make(self, kek: Kek, subject: str, algorithm: DekAlgorithm, version: int) -> Dek:
        """Makes a data key. Of several makers the first wins, for all.

        Raises:
            RuleError: the service can't encrypt it, or the registry does not take it.
        """
        key = None if kek.shared else Cryptor(algorithm).generate_key()
        material = None if key is None else base64.b64encode(self._services.call(kek, "encrypt", key)).decode()
        try:
            made = self._client.register_dek(kek.name, subject, material, algorithm, version)
        except SchemaRegistryError as error:
            found = None
            if error.http_status_code == 409:  # somebody was faster: what was the newest is so no more
                self._client.forget_newest(kek.name, subject, algorithm)
                found = self._find(kek, subject, algorithm, version, False)
            if found is not None:
                return found
            text = f"data key {version} of {kek.name!r} for {subject!r} can't be registered: {error}"
            raise RuleError(text, away=error.retriable) from error
        if key is not None and material is not None and made.encrypted_key_material == material:
            self._keep(kek, material, key)  # the service need not decrypt it
        return made


class TinkKmsClient:
    """A client in the form that confluent_kafka's drivers give (tink's `KmsClient`), as one of ours."""

    def __init__(self, client: Any, key_url: str) -> None:
        self._aead = client.get_aead(key_url)

    def encrypt(self, plaintext: bytes) -> bytes:
        """Encrypts a data key."""
        encrypted: bytes = self._aead.encrypt(plaintext, b"")
        return encrypted

    def decrypt(self, ciphertext: bytes) -> bytes:
        """Decrypts a data key."""
        decrypted: bytes = self._aead.decrypt(ciphertext, b"")
        return decrypted


def _unanswered(error: SchemaRegistryError) -> bool:
    """Whether a look-up says nothing of the key; a damaged value may ask for a version that none can have."""
    return error.http_status_code not in REFUSALS


def context_of(subject: str) -> str | None:
    """The registry context in a qualified subject (`:.context:subject`); None for the default one."""
    if not subject.startswith(":."):
        return None
    context = subject[1:].partition(":")[0]
    return None if context == "." else context
