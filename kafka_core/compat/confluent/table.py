"""Which modules of ours stand behind each module of confluent_kafka 2.16.

Holds names only and imports nothing: `kafka_core` does not know `registry` and `serdes`, which are looked up when
somebody asks for a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["HOMES", "RENAMED", "ROOT"]

ROOT: Final = "confluent_kafka"

_ADMIN: Final = ("kafka_core.admin", "kafka_core")
_RULES: Final = ("serdes.rules", "serdes.rules.model", "serdes.rules.engine")
_REGISTRY: Final = ("registry", "registry.errors", "registry.models", "serdes", "serdes.compat", *_RULES)
_ENCRYPTION: Final = ("serdes.encryption", "serdes.compat", "registry.dek")
_SERDES: Final = ("serdes", "serdes.compat", "serdes.errors", *_RULES, "registry")
_LEGACY: Final = ("serdes.legacy",)

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("kafka_core", "serdes"),
    "cimpl": ("kafka_core", "kafka_core.admin", "kafka_core.compat.confluent.cimpl"),
    "error": ("kafka_core.errors", "serdes.errors"),
    "_model": ("kafka_core.model", "kafka_core"),
    "admin": _ADMIN,
    "admin._acl": _ADMIN,
    "admin._cluster": _ADMIN,
    "admin._config": _ADMIN,
    "admin._group": _ADMIN,
    "admin._listoffsets": _ADMIN,
    "admin._metadata": (*_ADMIN, "kafka_core.model"),
    "admin._records": _ADMIN,
    "admin._resource": _ADMIN,
    "admin._scram": _ADMIN,
    "admin._topic": _ADMIN,
    "aio": ("kafka_core.aio", "serdes"),
    "aio._AIOConsumer": ("kafka_core.aio",),
    "aio._AsyncDeserializingConsumer": ("serdes",),
    "aio._AsyncSerializingProducer": ("serdes",),
    "aio.producer": ("kafka_core.aio",),
    "aio.producer._AIOProducer": ("kafka_core.aio",),
    "avro": (*_LEGACY, "kafka_core"),
    "avro.cached_schema_registry_client": _LEGACY,
    "avro.error": _LEGACY,
    "avro.load": _LEGACY,
    "avro.serializer": _LEGACY,
    "avro.serializer.message_serializer": _LEGACY,
    "deserializing_consumer": ("serdes", "serdes.errors", "kafka_core"),
    "serializing_producer": ("serdes", "serdes.errors", "kafka_core"),
    "serialization": ("serdes", "serdes.errors"),
    "schema_registry": (*_REGISTRY, "serdes.subject"),
    "schema_registry._async": (),
    "schema_registry._async.avro": ("serdes.avro", *_SERDES),
    "schema_registry._async.json_schema": ("serdes.json_schema", *_SERDES),
    "schema_registry._async.protobuf": ("serdes.protobuf", *_SERDES),
    "schema_registry._async.schema_registry_client": _REGISTRY,
    "schema_registry._async.serde": _SERDES,
    "schema_registry._sync": (),
    "schema_registry._sync.avro": ("serdes.avro", *_SERDES),
    "schema_registry._sync.json_schema": ("serdes.json_schema", *_SERDES),
    "schema_registry._sync.protobuf": ("serdes.protobuf", *_SERDES),
    "schema_registry._sync.schema_registry_client": _REGISTRY,
    "schema_registry._sync.serde": _SERDES,
    "schema_registry.avro": ("serdes.avro", *_SERDES),
    "schema_registry.common": (),
    "schema_registry.common._oauthbearer": ("serdes.compat",),
    "schema_registry.common.schema_registry_client": _REGISTRY,
    "schema_registry.common.serde": _SERDES,
    "schema_registry.error": ("registry.errors", "serdes.compat"),
    "schema_registry.json_schema": ("serdes.json_schema", *_SERDES),
    "schema_registry.protobuf": ("serdes.protobuf", *_SERDES),
    "schema_registry.rule_registry": ("serdes.rules",),
    "schema_registry.rules": (),
    "schema_registry.rules.encryption": (),
    "schema_registry.rules.encryption.dek_registry": (),
    "schema_registry.rules.encryption.dek_registry.dek_registry_client": ("registry.dek", "registry.dek_models"),
    "schema_registry.rules.encryption.encrypt_executor": _ENCRYPTION,
    "schema_registry.rules.encryption.kms_driver_registry": _ENCRYPTION,
    "schema_registry.schema_registry_client": _REGISTRY,
    "schema_registry.serde": _SERDES,
    "schema_registry.wildcard_matcher": ("serdes.compat",),
}
"""Module of confluent_kafka, without its root, to ours, in the order in which they are asked for a name."""

RENAMED: Final[Mapping[str, tuple[str, str]]] = {
    "AsyncDeserializingConsumer": ("serdes", "AIODeserializingConsumer"),
    "AsyncSerializingProducer": ("serdes", "AIOSerializingProducer"),
}
"""Names that are others here: (module, name)."""
