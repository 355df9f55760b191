"""Modules of confluent_kafka 2.16, and our modules behind them.

Holds names only and imports nothing: modules are looked up when somebody asks for a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["HOMES", "RENAMED", "ROOT"]

ROOT: Final = "confluent_kafka"

_HERE: Final = "kserdes.compat.confluent"
_CLIENT: Final = f"{_HERE}.client"
_CHECKS: Final = (f"{_CLIENT}.checks",)
_PARTS: Final = f"{_HERE}.schema_registry"
_SERDE_PARTS: Final = f"{_HERE}.serdes"

_ADMIN: Final = ("kafka_core.admin", "kafka_core")
_RULES: Final = ("serdes.rules", "serdes.rules.model", "serdes.rules.engine")
_CLIENTS: Final = f"{_PARTS}.clients"  # before `registry`, whose clients have no `_rest_client`
_NAMES: Final = (f"{_PARTS}.names", f"{_PARTS}.mock_clients")
_REGISTRY: Final = (_CLIENTS, "registry", "registry.errors", "registry.models", "serdes", *_NAMES, *_RULES)
_ENCRYPTION: Final = (
    "serdes.encryption",
    "serdes.encryption.executor",
    "serdes.encryption.cryptor",
    *_NAMES,
    f"{_PARTS}.keys",
    "registry.dek",
)
_SERDES: Final = (
    "serdes",
    *_NAMES,
    f"{_SERDE_PARTS}.building",
    "serdes.errors",
    *_RULES,
    "serdes.rules.dlq",
    _CLIENTS,
    "registry",
)
_FORMATS: Final = (*_SERDES, "serdes.builders")
_CEL: Final = (f"{_SERDE_PARTS}.cel",)
_VARIANTS: Final = ("serdes.variants", "serdes.variants.messages")
_LEGACY: Final = ("kserdes.compat.legacy",)
_REGISTRY_CLIENT: Final = (*_REGISTRY, f"{_PARTS}.rest", f"{_PARTS}.bearer")
_PROTOBUF: Final = (
    *("serdes.protobuf", *_FORMATS, "serdes.decimals", *_VARIANTS),
    *(f"{_SERDE_PARTS}.messages", f"{_SERDE_PARTS}.protobuf_parts", "serdes.rules.inline.protobuf"),
)

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("kafka_core", "serdes"),
    "cimpl": ("kafka_core", "kafka_core.admin", f"{_CLIENT}.cimpl"),
    "error": ("kafka_core.errors", "serdes.errors"),
    "_model": ("kafka_core.model", "kafka_core.listings", "kafka_core"),
    "_oauthbearer": (),
    "_serde_builder": (f"{_SERDE_PARTS}.building",),
    "_oauthbearer.aws": (),
    "_oauthbearer.aws.aws_autowire": (f"{_HERE}.aws.tokens",),
    "_oauthbearer.aws.aws_iam_marker": (f"{_HERE}.aws.settings",),
    "_oauthbearer.aws.aws_oauthbearer_config": (f"{_HERE}.aws.settings",),
    "_oauthbearer.aws.aws_sts_token_provider": (f"{_HERE}.aws.tokens",),
    "_oauthbearer.aws.jwt_extractor": (f"{_HERE}.aws.tokens",),
    "_oauthbearer.aws.sasl_extensions_parser": (f"{_HERE}.aws.extensions",),
    "_types": _CHECKS,
    "_util": _CHECKS,
    "_util.asyncinit": _CHECKS,
    "_util.conversion_util": _CHECKS,
    "_util.librdkafka_string_parser": (f"{_CLIENT}.strings",),
    "_util.validation_util": _CHECKS,
    "admin": _ADMIN,
    "admin._acl": _ADMIN,
    "admin._cluster": _ADMIN,
    "admin._config": _ADMIN,
    "admin._group": _ADMIN,
    "admin._listoffsets": (*_ADMIN, "kafka_core.admin_offsets"),
    "admin._metadata": (*_ADMIN, "kafka_core.listings"),
    "admin._records": _ADMIN,
    "admin._resource": _ADMIN,
    "admin._scram": _ADMIN,
    "admin._topic": _ADMIN,
    "aio": ("kafka_core.aio", "serdes"),
    "aio._AIOConsumer": ("kafka_core.aio",),
    "aio._AsyncDeserializingConsumer": ("serdes",),
    "aio._AsyncSerializingProducer": ("serdes",),
    "aio._common": (f"{_CLIENT}.loop_calls",),
    "aio.producer": ("kafka_core.aio",),
    "aio.producer._buffer_timeout_manager": (f"{_CLIENT}.batching",),
    "aio.producer._kafka_batch_executor": (f"{_CLIENT}.batching",),
    "aio.producer._message_batch": (f"{_CLIENT}.batching",),
    "aio.producer._producer_batch_processor": (f"{_CLIENT}.batching",),
    "aio.producer._AIOProducer": ("kafka_core.aio",),
    "avro": (*_LEGACY, "kafka_core"),
    "avro.cached_schema_registry_client": (*_LEGACY, f"{_PARTS}.rest"),
    "avro.error": _LEGACY,
    "avro.load": _LEGACY,
    "avro.serializer": _LEGACY,
    "avro.serializer.message_serializer": (*_LEGACY, f"{_PARTS}.names"),
    "deserializing_consumer": ("serdes", "serdes.errors", "kafka_core"),
    "deserializing_share_consumer": ("serdes", "serdes.errors", "kafka_core", "kafka_core.model"),
    "serializing_producer": ("serdes", "serdes.errors", "kafka_core"),
    "serialization": (f"{_SERDE_PARTS}.serialization", "serdes", "serdes.errors", "serdes.builders"),
    "schema_registry": (*_REGISTRY_CLIENT, "serdes.subject", "serdes.rules.dlq"),
    "schema_registry._async": (),
    "schema_registry._async.avro": ("serdes.avro", *_FORMATS, f"{_SERDE_PARTS}.avro_parts", "serdes.rules.inline.avro"),
    "schema_registry._async.json_schema": (
        "serdes.json_schema",
        *_FORMATS,
        f"{_SERDE_PARTS}.json_parts",
        "serdes.rules.inline.json",
    ),
    "schema_registry._async.mock_schema_registry_client": (f"{_PARTS}.mock_clients",),
    "schema_registry._async.protobuf": _PROTOBUF,
    "schema_registry._async.schema_registry_client": _REGISTRY_CLIENT,
    "schema_registry._async.serde": _SERDES,
    "schema_registry._sync": (),
    "schema_registry._sync.avro": ("serdes.avro", *_FORMATS, f"{_SERDE_PARTS}.avro_parts", "serdes.rules.inline.avro"),
    "schema_registry._sync.json_schema": (
        "serdes.json_schema",
        *_FORMATS,
        f"{_SERDE_PARTS}.json_parts",
        "serdes.rules.inline.json",
    ),
    "schema_registry._sync.mock_schema_registry_client": (f"{_PARTS}.mock_clients",),
    "schema_registry._sync.protobuf": _PROTOBUF,
    "schema_registry._sync.schema_registry_client": _REGISTRY_CLIENT,
    "schema_registry._sync.serde": _SERDES,
    "schema_registry.avro": ("serdes.avro", *_FORMATS, f"{_SERDE_PARTS}.avro_parts", "serdes.rules.inline.avro"),
    "schema_registry.common": _CHECKS,
    "schema_registry.common._httpx_compat": (f"{_PARTS}.bearer",),
    "schema_registry.common._oauthbearer": (f"{_PARTS}.bearer",),
    "schema_registry.common.avro": (
        f"{_PARTS}.names",
        "serdes.rules",
        f"{_SERDE_PARTS}.avro_parts",
        "serdes.rules.inline.avro",
    ),
    "schema_registry.common.json_schema": (
        f"{_PARTS}.names",
        "serdes.rules",
        f"{_SERDE_PARTS}.json_parts",
        "serdes.rules.inline.json",
    ),
    "schema_registry.common.protobuf": (
        f"{_PARTS}.names",
        "serdes.rules",
        "serdes.decimals",
        "decimal",
        *_VARIANTS,
        f"{_SERDE_PARTS}.messages",
        f"{_SERDE_PARTS}.protobuf_parts",
        "serdes.rules.inline.protobuf",
    ),
    "schema_registry.common.schema_registry_client": _REGISTRY_CLIENT,
    "schema_registry.common.serde": _SERDES,
    "schema_registry.confluent": (),
    "schema_registry.confluent.meta_pb2": (f"{_SERDE_PARTS}.meta",),
    "schema_registry.confluent.type": (),
    "schema_registry.confluent.type.decimal_pb2": ("serdes.decimals",),
    "schema_registry.confluent.type.decimal_utils": ("serdes.decimals", "decimal"),
    "schema_registry.confluent.type.variant_pb2": ("serdes.variants.messages",),
    "schema_registry.confluent.type.variant_utils": ("serdes.variants", f"{_SERDE_PARTS}.variant_bits"),
    "schema_registry.confluent.types": (),
    "schema_registry.confluent.types.decimal_pb2": ("serdes.decimals",),
    "schema_registry.error": ("registry.errors", f"{_PARTS}.names"),
    "schema_registry.json_schema": (
        "serdes.json_schema",
        *_FORMATS,
        f"{_SERDE_PARTS}.json_parts",
        "serdes.rules.inline.json",
    ),
    "schema_registry.protobuf": _PROTOBUF,
    "schema_registry.rule_registry": ("serdes.rules",),
    "schema_registry.rules": (),
    "schema_registry.rules.cel": (),
    "schema_registry.rules.cel.cel_executor": ("serdes.rules.cel.executor", *_CEL),
    "schema_registry.rules.cel.cel_field_executor": ("serdes.rules.cel.executor", *_CEL),
    "schema_registry.rules.cel.cel_field_presence": _CEL,
    "schema_registry.rules.cel.cel_validator": ("serdes.rules.inline.cel", *_CEL),
    "schema_registry.rules.cel.constraints": (*_CEL, f"{_SERDE_PARTS}.messages"),
    "schema_registry.rules.cel.decimal_funcs": _CEL,
    "schema_registry.rules.cel.extra_func": _CEL,
    "schema_registry.rules.cel.protobuf_result_writer": (
        *_CEL,
        f"{_SERDE_PARTS}.protobuf_parts",
        "serdes.rules.inline.protobuf",
    ),
    "schema_registry.rules.cel.string_format": _CEL,
    "schema_registry.rules.cel.timestamp_funcs": _CEL,
    "schema_registry.rules.cel.variant_funcs": _CEL,
    "schema_registry.rules.cel.variant_path": _CEL,
    "schema_registry.rules.dlq": (),
    "schema_registry.rules.dlq.dlq_action": ("serdes.rules.dlq",),
    "schema_registry.rules.encryption": (),
    **{
        f"schema_registry.rules.encryption.{folder}{module}": (f"serdes.encryption.{home}", f"{_PARTS}.keys")
        for folder, home, modules in (
            ("awskms", "aws", ("", ".aws_driver")),
            ("azurekms", "azure", ("", ".azure_driver", ".azure_client", ".azure_aead")),
            ("gcpkms", "gcp", ("", ".gcp_driver", ".gcp_client")),
            ("hcvault", "vault", ("", ".hcvault_driver", ".hcvault_client")),
            ("localkms", "local", ("", ".local_driver", ".local_client")),
        )
        for module in modules
    },
    "schema_registry.rules.encryption.dek_registry": (),
    "schema_registry.rules.encryption.dek_registry.mock_dek_registry_client": (f"{_PARTS}.mock_clients",),
    "schema_registry.rules.encryption.dek_registry.dek_registry_client": (
        "registry.dek",
        "registry.dek_models",
        f"{_PARTS}.keys",
    ),
    "schema_registry.rules.encryption.encrypt_executor": _ENCRYPTION,
    "schema_registry.rules.encryption.kms_driver_registry": _ENCRYPTION,
    "schema_registry.rules.jsonata": (),
    "schema_registry.rules.jsonata.jsonata_executor": ("serdes.rules.jsonata",),
    "schema_registry.schema_registry_client": _REGISTRY_CLIENT,
    "schema_registry.serde": _SERDES,
    "schema_registry.wildcard_matcher": (f"{_PARTS}.names",),
}
"""Module of confluent_kafka, without its root, to ours, in the order in which they are asked for a name."""

_PRIVATE: Final = {
    f"{_PARTS}.bearer": (
        "BearerFieldProvider",
        "AsyncBearerFieldProvider",
        "StaticFieldProvider",
        "AsyncStaticFieldProvider",
        "CustomOAuthClient",
        "AsyncCustomOAuthClient",
        "Kept",
        "AbstractOAuthClient",
        "AsyncAbstractOAuthClient",
        "Grant",
        "BlockingGrant",
        "AsyncGrant",
        "OAuthClient",
        "AsyncOAuthClient",
        "OAuthAzureIMDSClient",
        "AsyncOAuthAzureIMDSClient",
        "AbstractOAuthBearerFieldProviderBuilder",
        "AbstractOAuthBearerOIDCFieldProviderBuilder",
        "AbstractOAuthBearerOIDCAzureIMDSFieldProviderBuilder",
        "StaticOAuthBearerFieldProviderBuilder",
        "AbstractCustomOAuthBearerFieldProviderBuilder",
        "OAuthBearerOIDCFieldProviderBuilder",
        "OAuthBearerOIDCAzureIMDSFieldProviderBuilder",
        "CustomOAuthBearerFieldProviderBuilder",
        "StaticFieldProviderBuilder",
        "AsyncOAuthBearerOIDCFieldProviderBuilder",
        "AsyncOAuthBearerOIDCAzureIMDSFieldProviderBuilder",
        "AsyncCustomOAuthBearerFieldProviderBuilder",
        "AsyncStaticFieldProviderBuilder",
        "FieldProviderBuilder",
        "AsyncFieldProviderBuilder",
    ),
    f"{_PARTS}.rest": (
        "BaseRestClient",
        "RestClient",
        "AsyncBaseRestClient",
        "AsyncRestClient",
        "SchemaCache",
        "urlencode",
    ),
    f"{_PARTS}.names": ("schema_loads",),
}
"""Names that begin with an underscore there, by module of ours, where they don't."""

RENAMED: Final[Mapping[str, tuple[str, str]]] = {
    **{f"_{name}": (module, name) for module, found in _PRIVATE.items() for name in found},
    "AssociatedNameStrategy": (f"{_PARTS}.names", "AssociatedNameStrategy"),
    "AsyncBaseDeserializer": ("serdes.engine.aio", "AsyncDeserializer"),
    "AsyncBaseSerde": ("serdes.engine.owning", "AsyncOwner"),
    "AsyncBaseSerializer": ("serdes.engine.aio", "AsyncSerializer"),
    "AsyncDeserializingConsumer": ("serdes", "AIODeserializingConsumer"),
    "AsyncSerializingProducer": ("serdes", "AIOSerializingProducer"),
    "BaseDeserializer": ("serdes.engine.blocking", "BlockingDeserializer"),
    "BaseSerde": ("serdes.engine.owning", "Owner"),
    "BaseSerializer": ("serdes.engine.blocking", "BlockingSerializer"),
}
"""Names that are others here: (module, name)."""
