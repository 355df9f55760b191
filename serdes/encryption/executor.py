"""The rules `ENCRYPT` (tagged fields) and `ENCRYPT_PAYLOAD` (the encoded value).

Must not know how keys are found (`serdes.encryption.keys`). Source: the form of confluent_kafka's encrypted values:
text is base64; if data keys rotate, a zero byte and the data key's version (4 bytes, big-endian) come first.
"""

from __future__ import annotations

import base64
import binascii
import threading
import time
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, Final, Self

from registry import RuleMode
from registry.client.dek import DekRegistryClient
from registry.dek_models import DekAlgorithm
from serdes.encryption.cryptor import Cryptor
from serdes.encryption.keys import KeyRing, KeySettings
from serdes.rules.model import FieldContext, FieldRuleExecutor, FieldTransform, FieldType, RuleContext, RuleError
from serdes.rules.model import RuleExecutor as RuleExecutorBase

_VERSION: Final = Struct(">BI")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Clock:
    """The clock; a test of rotating keys brings its own."""

    def now(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return _now_ms()


class _Function(Clock):
    """A clock of a function."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.now = now_ms  # type: ignore[method-assign]


class EncryptionExecutorTransform:
    """Encrypts or decrypts the values of one rule.

    Args:
        executor: has the keys.
        cryptor: says the algorithm.
        kek_name: the key-encryption key.
        dek_expiry_days: as in `KeySettings`.
        kms: type of the key-encryption key's service and its id there, for one that has to be made.
    """

    def __init__(
        self,
        executor: EncryptionExecutor,
        cryptor: Cryptor,
        kek_name: str,
        dek_expiry_days: int,
        kms: tuple[str | None, str | None] = (None, None),
    ) -> None:
        self._executor = executor
        self._settings = KeySettings(kek_name, cryptor.dek_format, dek_expiry_days, *kms)

    def transform(self, ctx: RuleContext, field_type: FieldType, field_value: Any) -> Any:
        """As `EncryptionExecutor.apply`."""
        return self._executor.apply(ctx, self._settings, field_type, field_value)


class FieldEncryptionExecutorTransform:
    """The same for fields."""

    def __init__(self, executor_transform: EncryptionExecutorTransform) -> None:
        self.executor_transform = executor_transform

    def transform(self, ctx: RuleContext, field_ctx: FieldContext, field_value: Any) -> Any:
        """As `EncryptionExecutor.apply`."""
        return self.executor_transform.transform(ctx, field_ctx.field_type, field_value)


class EncryptionExecutor(RuleExecutorBase):
    """Encrypts whole payloads: rule type `ENCRYPT_PAYLOAD`.

    Args:
        clock: the time, milliseconds since 1970-01-01 UTC, or a `Clock`; for the age of data keys.

    Attributes:
        clock: what says how late it is.
    """

    def __init__(self, clock: Callable[[], int] | Clock = _now_ms) -> None:
        self.clock = _Function(clock) if callable(clock) else clock
        self._now_ms = self.clock.now
        self._lock = threading.Lock()
        self._client_conf: dict[str, Any] | None = None
        self._rule_conf: dict[str, Any] = {}
        self._client: DekRegistryClient | None = None
        self._ring: KeyRing | None = None
        self._cryptors: dict[DekAlgorithm, Cryptor] = {}
        self._closed = False

    def type(self) -> str:
        """`ENCRYPT_PAYLOAD`."""
        return "ENCRYPT_PAYLOAD"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Takes the registry and the services' settings; connects at first use, also after it was closed.

        Raises:
            RuleError: it has others already.
        """
        with self._lock:
            if self._closed:
                self._closed, self._client_conf, self._rule_conf = False, None, {}
            if client_conf and self._client_conf not in (None, dict(client_conf)):
                raise RuleError("the encryption executor is in use with another registry: give each its own")
            for key, value in rule_conf.items():
                if self._rule_conf.get(key, value) != value:
                    raise RuleError(f"rule configuration {key!r} is set to another value already")
            self._client_conf = dict(client_conf) or self._client_conf
            self._rule_conf.update(rule_conf)

    @property
    def client(self) -> DekRegistryClient:
        """The client of the registry that keeps the data keys; made at first use.

        Raises:
            RuleError: the executor is closed, or was not configured.
        """
        self._keys()
        client = self._client
        if client is None:
            raise RuleError("the encryption executor is closed")
        return client

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Encrypts or decrypts a payload."""
        return self.new_transform(ctx).transform(ctx, FieldType.BYTES, message)

    def new_transform(self, ctx: RuleContext) -> EncryptionExecutorTransform:
        """The transform that encrypts or decrypts the values of a rule.

        Raises:
            RuleError: as `KeySettings.of`.
        """
        said = KeySettings.of(ctx)
        cryptor, kms = self._cryptor(said.algorithm), (said.kms_type, said.kms_key_id)
        return EncryptionExecutorTransform(self, cryptor, said.kek_name, said.expiry_days, kms)

    def apply(self, ctx: RuleContext, settings: KeySettings, kind: FieldType, value: Any) -> Any:
        """Encrypts (writing) or decrypts (reading) one value; None stays None, and when reading also what can't have
        been encrypted.

        Raises:
            RuleError: neither text nor bytes, a key is missing, or the value can't be decrypted.
        """
        if value is None:
            return None
        if kind not in (FieldType.STRING, FieldType.BYTES):
            if ctx.rule_mode is RuleMode.READ:
                return value
            raise RuleError(f"only strings and bytes can be encrypted, this is {kind.name}")
        if not _is_of(kind, value):
            raise RuleError(f"a {kind.name} is needed to be encrypted, this is a {type(value).__name__}")
        cryptor = self._cryptor(settings.algorithm)
        if ctx.rule_mode is RuleMode.WRITE:
            plain = value.encode() if kind is FieldType.STRING else bytes(value)
            encrypted = self._encrypt(ctx, settings, cryptor, plain)
            return base64.b64encode(encrypted).decode() if kind is FieldType.STRING else encrypted
        if ctx.rule_mode is RuleMode.READ:
            decrypted = self._decrypt(ctx, settings, cryptor, _raw(kind, value))
            return decrypted.decode() if kind is FieldType.STRING else decrypted
        raise RuleError(f"encryption has no meaning in mode {ctx.rule_mode.value}")

    def close(self) -> None:
        """Closes the connections to the DEK registry and the key services, and forgets all keys. What it is asked
        after that fails, until it is configured again.
        """
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
            ring, self._ring = self._ring, None
        if ring is not None:
            ring.close()
        if client is not None:
            client.close()

    @classmethod
    def register(cls) -> None:
        """As in confluent_kafka; not needed here."""
        cls.register_with_clock(Clock())

    @classmethod
    def register_with_clock(cls, clock: Clock) -> Self:
        """Adds an executor with this clock to the global registry."""
        from serdes.rules.registry import RuleRegistry

        made = cls(clock)
        RuleRegistry.register_rule_executor(made)
        return made

    def _cryptor(self, algorithm: DekAlgorithm) -> Cryptor:
        cryptor = self._cryptors.get(algorithm)
        if cryptor is None:
            cryptor = self._cryptors[algorithm] = Cryptor(algorithm)
        return cryptor

    def _encrypt(self, ctx: RuleContext, settings: KeySettings, cryptor: Cryptor, plain: bytes) -> bytes:
        dek, key = self._keys().dek(ctx, settings, None)
        encrypted = cryptor.encrypt(key, plain)
        return _VERSION.pack(0, dek.version) + encrypted if settings.rotates else encrypted

    def _decrypt(self, ctx: RuleContext, settings: KeySettings, cryptor: Cryptor, encrypted: bytes) -> bytes:
        version = None
        if settings.rotates:
            if len(encrypted) < _VERSION.size or encrypted[0] != 0:
                raise RuleError("the encrypted value does not name the version of its data key")
            version = int(_VERSION.unpack_from(encrypted)[1])
            encrypted = encrypted[_VERSION.size :]
        return cryptor.decrypt(self._keys().dek(ctx, settings, version)[1], encrypted)

    def _keys(self) -> KeyRing:
        ring = self._ring
        if ring is None:
            with self._lock:
                if self._closed:
                    raise RuleError("the encryption executor is closed")
                if self._client_conf is None:
                    raise RuleError("encryption needs a registry for its data keys, and none is configured")
                if self._ring is None:
                    self._client = DekRegistryClient.new_client(self._client_conf)
                    self._ring = KeyRing(self._client, self._rule_conf, self._now_ms)
                ring = self._ring
        return ring


class FieldEncryptionExecutor(FieldRuleExecutor):
    """Encrypts the tagged fields of a value: rule type `ENCRYPT`.

    Args:
        clock: the time, milliseconds since 1970-01-01 UTC, or a `Clock`; for the age of data keys.
    """

    def __init__(self, clock: Callable[[], int] | Clock = _now_ms) -> None:
        self._payloads = EncryptionExecutor(clock)

    @property
    def executor(self) -> EncryptionExecutor:
        """The executor that encrypts and decrypts the fields; its `client` has the data keys."""
        return self._payloads

    def type(self) -> str:
        """`ENCRYPT`."""
        return "ENCRYPT"

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """As `EncryptionExecutor.configure`."""
        self._payloads.configure(client_conf, rule_conf)

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Encrypts or decrypts a field."""
        return FieldEncryptionExecutorTransform(self._payloads.new_transform(ctx)).transform

    def close(self) -> None:
        """As `EncryptionExecutor.close`."""
        self._payloads.close()

    @classmethod
    def register(cls) -> None:
        """As in confluent_kafka; not needed here."""
        cls.register_with_clock(Clock())

    @classmethod
    def register_with_clock(cls, clock: Clock) -> Self:
        """Adds an executor with this clock to the global registry."""
        from serdes.rules.registry import RuleRegistry

        made = cls(clock)
        RuleRegistry.register_rule_executor(made)
        return made


def _is_of(kind: FieldType, value: Any) -> bool:
    return isinstance(value, str if kind is FieldType.STRING else (bytes, bytearray, memoryview))


def _raw(kind: FieldType, value: Any) -> bytes:
    """The encrypted bytes of a field."""
    if kind is FieldType.BYTES:
        return bytes(value)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RuleError(f"the field is not encrypted: it is not base64 ({error})") from error
