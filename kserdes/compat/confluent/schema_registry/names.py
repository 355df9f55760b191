"""Small public names of confluent_kafka.schema_registry that have no other home here.

Must not hold anything that serializers of ours need. Source: confluent_kafka 2.16, its docstrings and observed answers.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import cachetools

from kserdes.compat.confluent.schema_registry.bearer import full_jitter, normalize_identity_pool
from registry import RegisteredSchema, RuleMode, Schema
from registry.errors import RETRIABLE_STATUSES
from serdes import AssociatedNameStrategy as Associated
from serdes import (
    MessageField,
    SerializationContext,
    SubjectNameStrategyType,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from serdes.asks import Inquiry
from serdes.encryption.kms import kms_driver as get_kms_driver
from serdes.engine.drivers import drive, drive_async
from serdes.frames.framing import MAGIC as MAGIC_BYTE
from serdes.frames.schema_id import KEY_HEADER, VALUE_HEADER
from serdes.rules import Phase as RulePhase
from serdes.rules.engine import original_key
from serdes.rules.model import RuleBase
from serdes.subject import ANY_CLUSTER, FALLBACK_TYPE, KAFKA_CLUSTER_ID

__all__ = [
    "AVRO_TYPE",
    "DEFAULT_CACHE_CAPACITY",
    "ENCRYPT_ALTERNATE_KMS_KEY_IDS",
    "ENCRYPT_DEK_ALGORITHM",
    "ENCRYPT_DEK_EXPIRY_DAYS",
    "ENCRYPT_KEK_NAME",
    "ENCRYPT_KMS_KEY_ID",
    "ENCRYPT_KMS_TYPE",
    "FALLBACK_TYPE",
    "HAS_FAST",
    "JSON_TYPE",
    "KAFKA_CLUSTER_ID",
    "MAGIC_BYTE",
    "MILLIS_IN_DAY",
    "NAMESPACE_WILDCARD",
    "PROTOBUF_TYPE",
    "STRATEGY_TYPE_MAP",
    "AssociatedNameStrategy",
    "AsyncAssociatedNameStrategy",
    "ContextStringIO",
    "Migration",
    "ParsedSchemaCache",
    "RuleBase",
    "RulePhase",
    "clear_original_key",
    "full_jitter",
    "get_kms_driver",
    "get_original_key",
    "is_retriable",
    "is_success",
    "normalize_identity_pool",
    "set_original_key",
    "wildcard_match",
]

T = TypeVar("T")

STRATEGY_TYPE_MAP: Final = {
    SubjectNameStrategyType.TOPIC: topic_subject_name_strategy,
    SubjectNameStrategyType.RECORD: record_subject_name_strategy,
    SubjectNameStrategyType.TOPIC_RECORD: topic_record_subject_name_strategy,
}
DEFAULT_CACHE_CAPACITY: Final = 1000
"""Subjects that an AssociatedNameStrategy remembers by default."""

# The beginnings of frames, and the headers that name schemas.
_MAGIC_BYTE: Final = MAGIC_BYTE
_MAGIC_BYTE_V0: Final = MAGIC_BYTE
_MAGIC_BYTE_V1: Final = 1
_KEY_SCHEMA_ID: Final = KEY_HEADER
_VALUE_SCHEMA_ID: Final = VALUE_HEADER

# Parameters of encryption rules.
ENCRYPT_KEK_NAME: Final = "encrypt.kek.name"
ENCRYPT_KMS_KEY_ID: Final = "encrypt.kms.key.id"
ENCRYPT_KMS_TYPE: Final = "encrypt.kms.type"
ENCRYPT_DEK_ALGORITHM: Final = "encrypt.dek.algorithm"
ENCRYPT_DEK_EXPIRY_DAYS: Final = "encrypt.dek.expiry.days"
ENCRYPT_ALTERNATE_KMS_KEY_IDS: Final = "encrypt.alternate.kms.key.ids"
MILLIS_IN_DAY: Final = 86_400_000

# Of the legacy serializer: a codec that is compiled, and what holds a payload.
HAS_FAST: Final = True
ContextStringIO: Final = io.BytesIO

# Types of schemas, and what stands for any cluster in look-ups of associations.
AVRO_TYPE: Final = "AVRO"
JSON_TYPE: Final = "JSON"
PROTOBUF_TYPE: Final = "PROTOBUF"
NAMESPACE_WILDCARD: Final = ANY_CLUSTER

WILDCARDS: Final = {"**": ".*", "*": "[^.]*", "?": "[^.]"}


def wildcard_match(text: str, matcher: str) -> bool:
    """Whether a name with dots matches a pattern.

    Args:
        text: the name, as `com.acme.Order`.
        matcher: `?` is one character but a dot, `*` any number of them, `**` any text. A backslash takes its special
            meaning from the character behind it.
    """
    parts = re.findall(r"\\.|\*\*|\*|\?|.", matcher, re.DOTALL)
    pattern = [WILDCARDS[part] if part in WILDCARDS else re.escape(part[-1]) for part in parts]
    return re.fullmatch("".join(pattern), text, re.DOTALL) is not None


def schema_loads(schema_str: str) -> Schema:
    """An Avro schema of its text; the bare name of a primitive type is put into an object."""
    text = schema_str.strip()
    return Schema(text if text[0] in "{[" else f'{{"type":{text}}}', schema_type=AVRO_TYPE)


def is_success(status_code: int) -> bool:
    """Whether an HTTP status is a success."""
    return 200 <= status_code < 300


def is_retriable(status_code: int) -> bool:
    """Whether the same call may succeed after this HTTP status."""
    return status_code in RETRIABLE_STATUSES


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version of a schema to the next (`UPGRADE`) or the one before it (`DOWNGRADE`)."""

    rule_mode: RuleMode
    source: RegisteredSchema | None
    target: RegisteredSchema | None


class ParsedSchemaCache(Generic[T]):
    """A cache of parsed schemas, by schema; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parsed: dict[Schema, T] = {}

    def set(self, schema: Schema, parsed_schema: T) -> None:
        """Stores a parsed schema."""
        with self._lock:
            self._parsed[schema] = parsed_schema

    def get_parsed_schema(self, schema: Schema) -> T | None:
        """The parsed form of an equal schema; None if there is none."""
        with self._lock:
            return self._parsed.get(schema)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._parsed.clear()


def set_original_key(key: Any) -> None:
    """From now on, in this thread or task, rules of values have this as `RuleContext.original_key`.

    Typed clients say each message's key themselves, and so may `SerializationContext.key`, which counts first.
    """
    original_key.set(key)


def get_original_key() -> Any:
    """The key set by `set_original_key`; None otherwise."""
    return original_key.get()


def clear_original_key() -> None:
    """Forgets it."""
    original_key.set(None)


class AssociatedNameStrategy(Associated):
    """The strategy of `serdes`, also to be called: it asks the client it is given once per topic, field and record.

    Args:
        cache_capacity: how many subjects are kept.
    """

    def __init__(self, cache_capacity: int = DEFAULT_CACHE_CAPACITY) -> None:
        super().__init__()
        self._subjects: cachetools.LRUCache[tuple[Any, ...], str] = cachetools.LRUCache(cache_capacity)
        self._lock = threading.Lock()

    def __call__(
        self,
        ctx: SerializationContext | None,
        record_name: str | None,
        schema_registry_client: Any,
        conf: Mapping[str, Any] | None = None,
    ) -> Any:
        """The subject, None without a topic; `conf` as for the strategy of `serdes`.

        Raises:
            ValueError: there is no context, or no such fallback.
            SerializationError: as `serdes.AssociatedNameStrategy.subject`, and so for what the registry refuses.
        """
        return drive(schema_registry_client, self._find(ctx, record_name, schema_registry_client, conf))

    def clear_cache(self) -> None:
        """Forgets all subjects."""
        with self._lock:
            self._subjects.clear()

    def _find(
        self, ctx: SerializationContext | None, name: str | None, client: Any, conf: Mapping[str, Any] | None
    ) -> Inquiry[str | None]:
        topic: str | None = None if ctx is None else ctx.topic  # callers may give anything
        if ctx is not None and (client is None or topic is None):
            return None if topic is None else topic_subject_name_strategy(ctx, name)
        place = (topic, ctx is not None and ctx.field is MessageField.KEY, name)
        with self._lock:
            found = self._subjects.get(place)
        if found is None:
            found = yield from self.subject(ctx, name, conf)
            with self._lock:
                self._subjects[place] = found
        return found


class AsyncAssociatedNameStrategy(AssociatedNameStrategy):
    """The same for tasks: calls are awaited."""

    async def __call__(
        self,
        ctx: SerializationContext | None,
        record_name: str | None,
        schema_registry_client: Any,
        conf: Mapping[str, Any] | None = None,
    ) -> Any:
        """As `AssociatedNameStrategy.__call__`."""
        return await drive_async(schema_registry_client, self._find(ctx, record_name, schema_registry_client, conf))

    def set_async_cluster_id_resolver(self, resolver: Callable[[], Awaitable[str]]) -> None:
        """As `set_cluster_id_resolver`, with a coroutine function."""
        self.set_cluster_id_resolver(resolver)
